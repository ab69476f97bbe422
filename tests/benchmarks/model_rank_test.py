"""benchmarks/model_rank.py and its page, with a `rondo` that answers from a table."""
import json
import pathlib
import subprocess
import sys
import unittest

import stand_in

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))
import report_model  # noqa: E402 (lies beside the scripts)

# Ten trials of stream, of 1 to 10 ms, which the model sees in the opposite order but for the fastest, its sixth; two of shoot.
RONDO = r'''
import json, os, sys
words = sys.argv[1:]
shape = {"B": 8, "T": 64, "H": 1, "D": 32}
if words[:2] == ["db", "list"]:
    print(json.dumps({"problems": [{"cell": "abc", "cell_name": "mingru"}]}))
    sys.exit(0)
assert words[:3] == ["db", "show", "abc"]
def trial(ms, model, strategy="stream", status="ok"):
    return {"strategy": strategy, "status": status, "median_ms": ms, "model_ms": model, "parameters": {"stages": model}}
trials = [trial(float(ms), 20.0 - ms) for ms in range(2, 11)] + [trial(1.0, 14.5), trial(0.5, None), trial(None, 1.0), trial(0.1, 0.1, status="wrong")]
trials += [trial(1.0, 1.0, "shoot"), trial(2.0, 2.0, "shoot")]
trials += [trial(9.0, 14.5), trial(30.0, 14.5)]  # the fastest, timed again
problem = {"shape": shape, "dtype": "bf16", "math": "fast", "pass": "fw", "device": "h200", "trials": trials}
print(json.dumps({"problems": [problem] + [problem | {"device": name} for name in os.environ.get("OTHERS", "").split()]}))
'''


class ModelRank(unittest.TestCase):
    def setUp(self):
        self.folder = stand_in.folder_of(self, RONDO)
        self.out = self.folder / "test-model.json"

    def run_script(self, *words, **more):
        return subprocess.run([sys.executable, ROOT / "benchmarks/model_rank.py", self.folder / "rondo", "t.db", "--out", self.out, *words],
                              capture_output=True, text=True, env=stand_in.environment(self.folder, **more), check=False)

    def test_what_the_model_puts_first_is_held_against_the_best(self):
        done = self.run_script("--commit", "abc1234")
        self.assertEqual(done.returncode, 0, done.stderr)
        record = json.loads(self.out.read_text(encoding="utf-8"))
        row, = record["rows"]  # shoot has too few trials
        self.assertEqual(row["problem"], "mingru B=8,T=64,H=1,D=32 bf16 fw")
        self.assertEqual((row["trials"], row["best_ms"], row["first"], row["of_first"], row["model_of_best"]), (10, 1.0, 10.0, 1.0, 14.5))
        self.assertEqual(record["summary"]["stream"]["first"], {"mean": 10.0, "nine_of_ten": 10.0, "most": 10.0})
        page = report_model.model_page(self.folder)
        self.assertIn("| stream | 1 | 10 | 10.000 | 10.00 | 10.00 | 1.000 | 1.00 |", page)
        self.assertIn("\n## h200\n", page)
        self.assertEqual(record["commit"], "abc1234")

    def test_a_few_trials_count_where_they_are_asked_for(self):
        self.assertEqual(self.run_script("--least", "2").returncode, 0)
        self.assertEqual([row["strategy"] for row in json.loads(self.out.read_text(encoding="utf-8"))["rows"]], ["shoot", "stream"])

    def test_a_database_of_two_gpus_or_of_nothing_timed_is_refused(self):
        two = self.run_script(OTHERS="h100")
        self.assertNotEqual(two.returncode, 0)
        self.assertIn("trials of h100, h200: take one GPU's", two.stderr)
        none = self.run_script("--least", "50")
        self.assertNotEqual(none.returncode, 0)
        self.assertIn("no problem with 50 timed trials", none.stderr)
        self.assertFalse(self.out.exists())


if __name__ == "__main__":
    unittest.main()
