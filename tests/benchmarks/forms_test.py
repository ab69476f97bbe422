"""benchmarks/forms.py and its page, with a `rondo` that answers from a table instead of a GPU."""
import json
import pathlib
import subprocess
import sys
import unittest

import stand_in

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))
import report_layers  # noqa: E402 (lies beside the scripts)

# The plain pass takes 2 ms, resets 3, then 2.5 in each later turn; lengths are not served. What is reversed takes 4, with the
# plain pass's configuration 2.25.
RONDO = r'''
import json, os, sys
words = sys.argv[1:]
if words[0] == "calibrate":
    open(words[words.index("--db") + 1], "w").close()
    print("{}")
    sys.exit(0)
form = words[words.index("--forms") + 1] if "--forms" in words else ""
if "lengths" in form:
    sys.exit("no lengths here")
database = words[words.index("--db") + 1]
assert os.path.exists(database)
if words[0] == "tune":
    print("{}")
    sys.exit(0)
again = form in open(database).read().split()
open(database, "a").write(form + "\n")
if "SEEN" in os.environ:
    open(os.environ["SEEN"], "a").write(os.environ["CUDA_VISIBLE_DEVICES"] + "\n")
ms = 2.0 if form == "" else 2.5 if again else 3.0
if form == "reversed":
    ms = 2.25 if "blocks=7" in words else 4.0
elif "blocks=7" in words:
    sys.exit("not legal here")
print(json.dumps({"rows": [{"strategy": "persistent", "median_ms": ms, "parameters": {"blocks": 7}}]}))
'''


class FormsRecord(unittest.TestCase):
    def setUp(self):
        self.folder = stand_in.folder_of(self, RONDO)

    def run_forms(self, *words, only="^(lstm|gru) .*768 fw", **environment):
        out = self.folder / "test-forms.json"
        done = subprocess.run([sys.executable, ROOT / "benchmarks/forms.py", self.folder / "rondo", "--out", out, "--only", only, *words],
                              env=stand_in.environment(self.folder, **environment), capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(out.read_text(encoding="utf-8"))

    def test_the_least_of_the_turns_counts(self):
        record = self.run_forms()
        self.assertEqual([(row["cell"], row["pass"]) for row in record["rows"]], [("lstm", "fw"), ("gru", "fw")])
        forms = record["rows"][0]["forms"]
        self.assertEqual(forms[""], {"ms": 2.0, "strategy": "persistent"})
        self.assertEqual(forms["resets"]["ms"], 2.5)
        self.assertEqual(forms["reversed"]["ms"], 2.25)
        self.assertEqual(self.run_forms("--turns", "1")["rows"][0]["forms"]["resets"]["ms"], 3.0)

    def test_problems_side_by_side_and_none_past_the_end(self):
        record = self.run_forms("--side", "3")
        self.assertEqual({(row["cell"], row["forms"]["resets"]["ms"]) for row in record["rows"]}, {("lstm", 2.5), ("gru", 2.5)})
        (self.folder / "test-forms.json").unlink()
        done = subprocess.run([sys.executable, ROOT / "benchmarks/forms.py", self.folder / "rondo", "--out", self.folder / "none.json", "--seconds",
                               "0"], env=stand_in.environment(self.folder), capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, (self.folder / "none.json").exists()), (0, False), done.stderr)

    def test_all_gpus_have_their_part(self):
        seen = self.folder / "seen"
        self.assertEqual(len(self.run_forms("--gpus", "2", SEEN=str(seen))["rows"]), 2)
        self.assertEqual(set(seen.read_text(encoding="utf-8").split()), {"0", "1"})

    def test_what_is_not_served_says_why_and_has_no_ratio(self):
        forms = self.run_forms()["rows"][0]["forms"]
        self.assertEqual(forms["lengths"], {"error": "no lengths here"})
        page = report_layers.forms_page(self.folder)
        self.assertIn("| lstm | B=16,T=1024,H=1,D=768 | fw | 2.000 | 1.250 |  |  | 1.125 |", page)

    def test_rows_that_are_not_measured_stay_and_say_of_what_commit_they_are(self):
        self.run_forms("--commit", "abc")
        record = self.run_forms("--commit", "def", only="^gru.*768 fw")
        self.assertEqual([(row["cell"], row["commit"]) for row in record["rows"]], [("lstm", "abc"), ("gru", "def")])

    def test_no_record_gives_no_page(self):
        self.assertEqual(report_layers.forms_page(self.folder), "")


if __name__ == "__main__":
    unittest.main()
