"""benchmarks/shoot_map.py and its page, with a `rondo` that answers from a table instead of a GPU."""
import json
import pathlib
import subprocess
import sys
import unittest

import stand_in

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))
import report  # noqa: E402 (lies beside the scripts)
import report_shoot_map  # noqa: E402
import shoot_map  # noqa: E402

# shoot takes 2 ms, stream 1 ms with many channels and 4 with few; tune chooses shoot always, the model stream always; with
# 4096 channels nothing runs.
RONDO = r'''
import json, os, sys
words = sys.argv[1:]
def option(name):
    return words[words.index(name) + 1] if name in words else None
shape = {a: int(n) for a, n in (p.split("=") for p in option("--shape").split(","))}
channels = shape["B"] * shape["D"]
if channels == 4096:
    sys.exit("nothing runs")
if words[0] == "tune":
    assert option("--budget") == "2s"
    assert option("--workers") == str(max(1, len(os.sched_getaffinity(0)) // 5)), "the five side by side share the cores"
    best = {"strategy": option("--strategy") or "shoot", "parameters": {"channels": 64}}
    row = best | {"model_ms": 3.0, "median_ms": 2.0, "registers": 40, "spill_bytes": 0, "status": "ok", "reason": ""}
    print(json.dumps({"passes": [{"best": best, "rows": [row, row | {"median_ms": None, "status": "timeout"}, row | {"status": "spill"}]}]}))
    sys.exit(0)
by_model = option("--strategy") is None
assert by_model == (os.environ.get("RONDO_SHIPPED") == "none")
strategy = option("--strategy") or os.environ.get("MODEL", "stream")
if option("--weights") == "5":
    ms = 7.0 if strategy == "shoot" else 5.0
else:
    ms = float(os.environ.get("MODEL_MS", 0)) if by_model and os.environ.get("MODEL_MS") else 2.0 if strategy == "shoot" else 1.0 if channels >= 1024 else 4.0
print(json.dumps({"rows": [{"strategy": strategy, "median_ms": ms, "share_of_copy_bandwidth": 0.5 / ms, "parameters": {},
                            "convergence": {"sweeps": 2} if strategy == "shoot" else None}]}))
'''


class ShootMap(unittest.TestCase):
    def setUp(self):
        self.folder = stand_in.folder_of(self, RONDO)
        self.out = self.folder / "test-shoot-map.json"

    def run_map(self, *words, **more):
        environment = stand_in.environment(self.folder, **more)
        environment.pop("RONDO_SHIPPED", None)
        return subprocess.run([sys.executable, ROOT / "benchmarks/shoot_map.py", self.folder / "rondo", "--out", self.out, *words],
                              capture_output=True, text=True, env=environment, check=False)

    def record(self):
        return json.loads(self.out.read_text(encoding="utf-8"))

    def test_the_coarse_grid_comes_first(self):
        sizes = shoot_map.sizes()
        coarse = [(c, t) for c in (64, 1024, 16384, 262144) for t in (128, 2048, 32768, 1048576) if c * t <= 1 << 31]
        self.assertEqual(sizes[:len(coarse)], coarse)
        self.assertEqual(len(coarse), 13)
        self.assertEqual(len(sizes), len(set(sizes)))
        self.assertIn((64, 1048576), sizes)
        self.assertIn((256, 512), sizes)
        self.assertNotIn((262144, 32768), sizes)

    def test_a_run_goes_on_where_the_last_one_ended(self):
        first = self.run_map("--minutes", "0")
        self.assertEqual(first.returncode, 0, first.stderr)
        self.assertFalse(self.out.exists())
        few = ("--cells", "mingru", "--channels", "64,256", "--times", "128,512")
        full = self.run_map(*few)
        self.assertEqual(full.returncode, 0, full.stderr)
        record = self.record()
        self.assertEqual([(row["channels"], row["T"]) for row in record["rows"]],
                         [(64, 128), (64, 512), (256, 128), (256, 512)])
        # Rows that are there are not measured again.
        record["rows"] = record["rows"][1:3]
        record["rows"][0]["best"]["ms"] = 77
        self.out.write_text(json.dumps(record), encoding="utf-8")
        again = self.run_map(*few)
        self.assertEqual(again.returncode, 0, again.stderr)
        rows = self.record()["rows"]
        self.assertEqual([(row["channels"], row["T"]) for row in rows], [(64, 128), (64, 512), (256, 128), (256, 512)])
        self.assertEqual([row["best"]["ms"] == 77 for row in rows], [False, True, False, False])
        # But for those that are asked for by name, once.
        for _ in range(2):
            self.assertEqual(self.run_map(*few, "--commit", "another", "--again", "mingru 64 x 512$").returncode, 0)
            rows = self.record()["rows"]
            self.assertEqual([row["commit"] for row in rows], ["", "another", "", ""])
        self.assertNotEqual(rows[1]["best"]["ms"], 77)
        record = self.record() | {"device": "NVIDIA Other"}
        self.out.write_text(json.dumps(record), encoding="utf-8")
        refused = self.run_map()
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("take another file", refused.stderr)

    def test_a_changed_model_is_timed_again_and_nothing_else_is(self):
        few = ("--cells", "mingru", "--channels", "64", "--times", "128,512")
        self.assertEqual(self.run_map(*few, "--commit", "before").returncode, 0)
        self.assertEqual([row["best"]["ms"] for row in self.record()["rows"]], [2.0, 2.0])
        again = (*few, "--commit", "after", "--model-again")
        self.assertEqual(self.run_map(*again, MODEL_MS="1.5").returncode, 0)
        record = self.record()
        for row in record["rows"]:
            self.assertEqual((row["commit"], row["by_model"]["commit"]), ("before", "after"))
            self.assertEqual((row["by_model"]["ms"], row["best"]["ms"], row["chosen"]["ms"]), (1.5, 1.5, 2.0))
        self.assertIn("\nSearches of 2s.\n", report_shoot_map.shoot_map_page(self.folder))
        # Rows that this commit has timed are not timed once more.
        self.assertEqual(self.run_map(*again, MODEL_MS="1.25").returncode, 0)
        self.assertEqual([row["by_model"]["ms"] for row in self.record()["rows"]], [1.5, 1.5])

    def test_a_choice_that_may_walk_in_order_is_timed_where_nothing_converges(self):
        few = ("--cells", "mingru,paragru", "--channels", "64", "--times", "128")
        self.assertEqual(self.run_map(*few, MODEL="shoot").returncode, 0)
        affine, nonlinear = self.record()["rows"]
        self.assertNotIn("worst", affine)
        self.assertEqual(nonlinear["worst"], {"ms": 7.0, "stream_ms": 5.0, "sweeps": 2})
        self.assertIn("With weights of 5: at most 1.40 of stream (paragru 64 x 128), over 1.5 0 of 1.", report_shoot_map.shoot_map_page(self.folder).replace("\n", " "))
        # stream does not walk in order.
        self.assertEqual(self.run_map(*few, "--commit", "after", "--model-again").returncode, 0)
        self.assertNotIn("worst", self.record()["rows"][1])

    def test_what_was_timed_is_kept_beside_what_the_model_said(self):
        trials = self.folder / "trials"
        self.assertEqual(self.run_map("--cells", "mingru", "--channels", "64", "--times", "128", "--trials", str(trials)).returncode, 0)
        lines = [json.loads(line) for line in trials.read_text(encoding="utf-8").splitlines()]
        self.assertEqual([(line["strategy"], line["model_ms"], line["median_ms"], line["status"]) for line in lines],
                         [(strategy, 3.0, *came) for strategy in ("shoot", "stream", "shoot") for came in ((2.0, "ok"), (None, "timeout"))])

    def test_the_page_says_how_bad_the_choices_are(self):
        self.assertEqual(self.run_map("--channels", "64,1024,4096", "--times", "128,2048").returncode, 0)
        page = report_shoot_map.shoot_map_page(self.folder)
        self.assertIn("Worst choice: 2.00 of best (by model 2.00).", page)
        self.assertIn("Over 1.1 tuned:", page)
        self.assertIn("| paragru | 64 | 128 | shoot | 2.000 | 25% | 2 | shoot 1.00 | stream 2.00 |", page)
        self.assertIn("| mingru | 1024 | 2048 | stream | 1.000 | 50% |  | shoot 2.00 | stream 1.00 |", page)
        self.assertIn("Without a time: mingru 4096 x 128", page)
        self.assertIn("| mingru | 4096 | 128 | nothing ran |", page)
        self.assertTrue(all(len(line) < 120 for line in page.splitlines() if not line.startswith("|")))

    def test_without_a_record_there_is_no_page(self):
        self.assertEqual(report_shoot_map.shoot_map_page(self.folder), "")
        self.assertIn("shoot-map", report.OF_RECORDS)


if __name__ == "__main__":
    unittest.main()
