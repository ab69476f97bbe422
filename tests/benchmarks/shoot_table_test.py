"""benchmarks/shoot_table.py and its page, with a `rondo` that answers from a table instead of a GPU."""
import json
import pathlib
import subprocess
import sys
import unittest

import stand_in

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))
import report_shoot  # noqa: E402 (lies beside the scripts)

# With few steps a run takes 0.04 ms, above every target, and else 0.001; with weights of 5 twice as long, and stream always 0.05.
RONDO = r'''
import json, sys
words = sys.argv[1:]
def option(name):
    return words[words.index(name) + 1] if name in words else None
shape = {a: int(n) for a, n in (p.split("=") for p in option("--shape").split(","))}
if words[0] == "tune":
    print(json.dumps({"passes": [{"tried": 40, "total": 498, "seconds": 5.0, "end": "time budget used", "rows": []}]}))
elif "--ablate" in words:
    assert option("--weights") == "0.1"
    print(json.dumps({"rows": [{"whole_ns": 60.5, "parts": [{"part": "stores", "without_ns": 40.25}]}]}))
else:
    ms = 0.04 if shape["T"] == 512 else 0.001
    ms = 0.05 if option("--strategy") == "stream" else 2 * ms if option("--weights") == "5.0" else ms
    row = {"strategy": "shoot", "parameters": {"channels": 64}, "median_ms": ms, "spread": 0.01, "share_of_copy_bandwidth": 0.5,
           "convergence": {"sweeps": 1}}
    print(json.dumps({"rows": [row], "copy_bytes_per_s": 4e12}))
'''


class ShootTable(unittest.TestCase):
    def setUp(self):
        self.folder = stand_in.folder_of(self, RONDO)
        self.out = self.folder / "test-shoot.json"

    def run_table(self, *words):
        return subprocess.run([sys.executable, ROOT / "benchmarks/shoot_table.py", self.folder / "rondo", "--out", self.out, *words],
                              capture_output=True, text=True, env=stand_in.environment(self.folder), check=False)

    def names(self):
        return [(row["B"], row["T"], row["dtype"]) for row in json.loads(self.out.read_text(encoding="utf-8"))["rows"]]

    def test_a_run_goes_on_where_the_last_one_ended(self):
        self.assertEqual(self.run_table("--seconds", "0").returncode, 0)
        self.assertFalse(self.out.exists())
        first = self.run_table("--only", "paragru 8x1024 T=512")
        self.assertEqual(first.returncode, 0, first.stderr)
        self.assertEqual(self.names(), [(8, 512, "fp32"), (8, 512, "bf16")])
        second = self.run_table("--only", "paragru 8x1024 T=(512|2048)")
        self.assertEqual(second.stdout.count("\n"), 2, second.stdout)
        self.assertEqual(self.names(), [(8, 512, "fp32"), (8, 512, "bf16"), (8, 2048, "fp32"), (8, 2048, "bf16")])
        record = json.loads(self.out.read_text(encoding="utf-8")) | {"device": "NVIDIA Other"}
        self.out.write_text(json.dumps(record), encoding="utf-8")
        self.assertIn("take another file", self.run_table().stderr)

    def test_a_row_again_replaces_the_first_one(self):
        self.assertEqual(self.run_table("--only", "paragru 8x1024 T=512", "--budget", "5s", "--commit", "old").returncode, 0)
        self.assertIn("Each row was tuned for 5s.\n", report_shoot.shoot_page(self.folder))
        again = self.run_table("--only", "paragru 8x1024 T=512 bf16", "--budget", "500ms", "--commit", "new", "--again")
        self.assertEqual(again.stdout.count("\n"), 1, again.stdout)
        self.assertEqual(self.names(), [(8, 512, "fp32"), (8, 512, "bf16")])
        self.assertIn("Each row was tuned for 5s. But for these: paragru, 8 x 1024, T=512, bf16: 500ms.",
                      report_shoot.shoot_page(self.folder).replace("\n", " "))

    def test_a_row_says_how_far_its_search_came(self):
        self.assertEqual(self.run_table("--only", "paragru 8x1024 T=512 fp32").returncode, 0)
        row = json.loads(self.out.read_text(encoding="utf-8"))["rows"][0]
        self.assertEqual(row["search"], {"tried": 40, "total": 498, "seconds": 5.0, "end": "time budget used"})

    def test_the_page_says_what_a_missed_row_is_made_of(self):
        self.assertEqual(self.run_table("--only", "paragru 8x1024 T=(512|2048)").returncode, 0)
        page = report_shoot.shoot_page(self.folder)
        self.assertIn("- paragru, 8 x 1024, T=512, fp32: 1.33 of the target. 1 sweep of 67.1 MB. Of 60.5 ns a step 40.2 without", page)
        self.assertEqual(page.count("of the target."), 2)  # bf16 as well, and not the rows of 2048 steps
        self.assertIn("| 0.0800 | 1.60 | **missed** |", page)
        self.assertTrue(all(len(line) < 120 for line in page.splitlines() if not line.startswith("|")))


if __name__ == "__main__":
    unittest.main()
