"""benchmarks/record.py and report.py, with a `rondo` that answers from a table instead of a GPU."""
import copy
import json
import os
import pathlib
import subprocess
import sys
import unittest

import stand_in
from stand_in import program

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))
import parameter_names  # noqa: E402 (lies beside the scripts)

# Answers like the program: slower by its model (--no-db) than tuned, and with everything tried 4% better than searched.
RONDO = r'''
import json, sys
words = sys.argv[1:]
def option(name):
    return words[words.index(name) + 1] if name in words else None
def run(milliseconds):
    return {"median_ms": milliseconds, "spread": 0.01, "confirmed": True, "parameters": {"channels": 64}}
passes = (option("--pass") or "").split(",")
shape = {"B": 1, "T": 1, "H": 1, "D": 1} | {a: int(n) for a, n in (p.split("=") for p in (option("--shape") or "B=1").split(","))}
fixed = {n: int(v) for n, v in (words[i + 1].split("=") for i, w in enumerate(words) if w == "--param")}
if words[0] == "doctor":
    answer = {"findings": [{"subject": "rondo", "found": "version 1"},
                           {"subject": "NVRTC", "found": "13.0 (/some/where/libnvrtc.so.13), for sm_80"}]}
elif words[0] == "calibrate":
    answer = {}
elif words[0] == "tune":
    every = "--exhaustive" in words
    answer = {"passes": [{"problem": {"pass": p}, "tried": 300 if every else 40, "total": 300, "seconds": 2.5, "end": "done",
                          "best": run(1.0 if every else 1.04), "known_before": KNOWN if every else None} for p in passes]}
elif words[0] == "check":
    backward = option("--pass") == "bw"
    chosen = [w for w in words if w.startswith("blocks=")]
    products = option("--save") == "products"
    answer = {"strategies": [{"name": "stream", "legal": False, "workspace_bytes": 0, "saved_bytes": 0},
                             {"name": "persistent", "legal": True, "workspace_bytes": (2000000 if products else 5000000) if backward else 1000000,
                              "saved_bytes": 11000000 if products else 7000000 if chosen else 9}],
              "tensors": [{"kind": "input", "bytes": 20000000}, {"kind": "output", "bytes": 1}]}
elif "--ablate" in words:
    def parts_of(whole, launches):
        found = [("products", "", 300), ("exchange", "", 500), ("clears", "exchange", 450)]
        found += [("launch " + name, "", whole - 100) for name in launches]
        return [{"part": name, "beside": beside, "without_ns": without, "difference_ns": (500 if beside else whole) - without,
                 "spread": 0.01} for name, beside, without in found]
    answer = {"device": "NVIDIA Test", "rows": [
        {"cell": words[1], "shape": shape, "dtype": option("--dtype"), "pass": p, "origin": "given",
         "strategy": "persistent", "parameters": {"blocks": 48, "grid" if p == "bw" else "exchange": 1, "reduce_scatter": int(p == "bw")},
         "whole_ns": 1000.4, "spread": 0.01, "parts": parts_of(1000.4, ["sweep"] if p == "bw" else [])} for p in passes]}
else:
    cold = "--no-db" in words
    answer = {"copy_bytes_per_s": 4e12, "rows": [
        {"cell": words[1], "shape": shape, "dtype": option("--dtype"), "pass": p, "strategy": "stream",
         "parameters": fixed or {"channels": 64}, "origin": "given" if fixed else "tuned", "median_ms": 1.5 if fixed else 2.0, "spread": 0.01, "bytes": 1000000,
         "share_of_copy_bandwidth": 0.5, "ready_ms": 1600.0 if cold else 7.5, "from_cache": not cold} for p in passes]}
print(json.dumps(answer))
'''
KNOWN = 'run(1.04)'


class Benchmarks(unittest.TestCase):
    def setUp(self):
        self.folder = stand_in.folder_of(self, RONDO, "NVIDIA Test, 1.2")
        self.record_file = self.folder / "record.json"
        self.pretend()
        table = json.loads((ROOT / "benchmarks/stream_rows.json").read_text(encoding="utf-8"))
        table["rows"] = table["rows"][:1]
        (self.folder / "rows.json").write_text(json.dumps(table), encoding="utf-8")
        dense = json.loads((ROOT / "benchmarks/dense_rows.json").read_text(encoding="utf-8"))
        dense["rows"] = [row | {"B": 20, "T": 100, "H": 1, "D": 64} for row in dense["rows"] if row["cell"] == "gru"]
        dense["sweeps"] = []
        (self.folder / "dense_rows.json").write_text(json.dumps(dense), encoding="utf-8")

    def pretend(self, known=KNOWN):
        program(self.folder, "rondo", RONDO.replace("KNOWN", known))

    def record(self, stages, *more, commit="abc"):
        environment = os.environ | {"PATH": f"{self.folder}:{os.environ['PATH']}", "RONDO_COMMIT": commit,
                                    "PYTHONPATH": str(self.folder)}
        return subprocess.run([sys.executable, ROOT / "benchmarks/record.py", self.folder / "rondo", self.folder / "rows.json",
                               self.record_file, self.folder / "db", "--stages", stages, *more],
                              capture_output=True, text=True, env=environment)

    def recorded(self, *arguments, **options):
        done = self.record(*arguments, **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(self.record_file.read_text(encoding="utf-8"))

    def report(self, *arguments):
        return subprocess.run([sys.executable, ROOT / "benchmarks/report.py", "--record", self.record_file, "--docs", self.folder,
                               *arguments], capture_output=True, text=True)

    def page(self, name):
        return (self.folder / "results" / f"{name}.md").read_text(encoding="utf-8")

    def test_all_stages_in_one_record(self):
        record = self.recorded("rows,ready,exhaustive")
        self.assertEqual(record["compiler"], "NVRTC 13.0")
        self.assertEqual([row["pass"] for row in record["rows"]], ["fw", "fws", "bw", "fwbw"])
        self.assertEqual(record["ready"]["rows"][0]["cold_ms"], [1600.0] * 3)
        self.assertAlmostEqual(record["exhaustive"]["rows"][0]["ratio"], 1.04)

    def test_a_later_stage_keeps_the_others_and_says_of_what_commit_they_are(self):
        self.recorded("rows")
        self.assertNotIn("commit", self.recorded("exhaustive")["rows"][0])
        record = self.recorded("dense", commit="other")
        self.assertEqual((record["commit"], record["rows"][0]["commit"], record["exhaustive"]["commit"]), ("other", "abc", "abc"))
        self.assertNotIn("commit", record["dense"][0])
        record["compiler"] = "another"
        self.record_file.write_text(json.dumps(record), encoding="utf-8")
        self.assertNotIn("rows", self.recorded("exhaustive"))

    def test_again_times_the_recorded_configurations(self):
        self.recorded("rows,dense")
        record = self.recorded("again", commit="other")
        for row in (record["rows"][0], record["dense"][0]):
            self.assertEqual((row["median_ms"], row["parameters"]["channels"], row["parameters"]["time_split"]), (1.5, 64, 1))
            self.assertNotIn("commit", row)
        self.assertEqual(len(record["rows"]), 4)

    def test_again_reads_configurations_recorded_under_earlier_names(self):
        record = self.recorded("rows")
        record["rows"][0]["parameters"] = {"channels": 64, "cluster": 4, "behind": 1, "loaders": 0}
        self.record_file.write_text(json.dumps(record), encoding="utf-8")
        self.assertEqual(self.recorded("again")["rows"][0]["parameters"],
                         {"channels": 64, "time_split": 4, "pipeline_depth": 2, "producer_warps": 0, "exchange": 0,
                          "stream_stores": 0, "interleaved_copies": 0})

    def test_products_saved_stand_beside_products_multiplied_again(self):
        self.recorded("rows,dense")
        record = self.recorded("saved")
        self.assertEqual([row["pass"] for row in record["saved"]["rows"]], ["fws", "bw"])
        self.assertEqual(self.report().returncode, 0)
        text = self.page("saved")
        self.assertIn("| gru | B=20 T=100 D=64 | 2.000 | 2.000 | 4.000 | 4.000 |", text)

    def test_saved_products_that_give_wrong_results_are_refused_and_the_next_row_is_measured(self):
        self.recorded("rows,dense")
        refusing = 'import sys\nif "tune" in sys.argv and "products" in sys.argv: sys.exit("wrong") if STATUS == 1 else sys.exit(STATUS)\n'
        program(self.folder, "rondo", refusing.replace("STATUS", "8") + RONDO.replace("KNOWN", KNOWN))
        record = self.recorded("saved")
        self.assertEqual([(row["cell"], row["pass"]) for row in record["saved"]["rows"]], [("gru", "refused")])
        self.report()
        self.assertIn("refused", self.page("saved"))
        program(self.folder, "rondo", refusing.replace("STATUS", "1") + RONDO.replace("KNOWN", KNOWN))
        self.assertNotEqual(self.record("saved").returncode, 0)

    def test_peers_that_cannot_be_timed_end_the_run(self):
        (self.folder / "torch.py").write_text('raise ImportError("no PyTorch here")', encoding="utf-8")
        done = self.record("peers")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("peers.py failed", done.stderr)
        self.assertIn("no PyTorch here", done.stderr)

    def test_only_some_rows_again(self):
        before = self.recorded("rows,dense")
        record = self.recorded("again", "--only", "^gru", commit="other")
        self.assertEqual(record["rows"][0]["median_ms"], before["rows"][0]["median_ms"])
        self.assertEqual((record["rows"][0]["commit"], record["dense"][0]["median_ms"]), ("abc", 1.5))

    def test_a_choice_that_was_not_timed_beside_the_best_is_refused(self):
        for known in ("None", 'run(None)', 'run(1.04) | {"confirmed": False}'):
            self.pretend(known)
            done = self.record("exhaustive")
            self.assertEqual(done.returncode, 1)
            self.assertIn("not timed beside the best", done.stderr)

    def test_parts_of_recorded_rows_only(self):
        self.assertIn("is not in the record", self.record("parts").stderr)
        row = self.recorded("dense,parts")["parts"]["rows"][1]
        self.assertEqual((row["pass"], row["whole_ns"], row["parameters"]["blocks"]), ("bw", 1000.4, 48))
        self.assertEqual(row["parts"][2]["beside"], "exchange")
        self.assertEqual(len(self.recorded("parts")["parts"]["rows"]), 2)

    def test_memory_needs_a_record_and_no_gpu(self):
        (self.folder / "nvidia-smi").unlink()
        self.assertIn("run the stages that measure first", self.record("memory").stderr)
        choice = {"cell": "gru", "shape": {"B": 20, "T": 100, "H": 1, "D": 64}, "dtype": "bf16", "strategy": "persistent",
                  "parameters": {"blocks": 2}}
        self.record_file.write_text(json.dumps({"device": "NVIDIA Test", "dense": [choice | {"pass": "fws"}, choice | {"pass": "bw"}]}),
                                    encoding="utf-8")
        row = self.recorded("memory")["memory"]["rows"][0]
        self.assertEqual(row["saved_bytes"], 7000000, "by the recorded choice, not the model's")
        self.assertEqual(row["held_bytes"], 27000000)
        self.assertEqual(row["peak_bytes"], 27000000 + 5000000 + 20000000)
        self.assertEqual(row["products_saved"], {
            "saved_bytes": 11000000, "held_bytes": 31000000, "forward_workspace_bytes": 1000000,
            "backward_workspace_bytes": 2000000, "peak_bytes": 31000000 + 2000000 + 20000000})
        # GRU, a batch of 20 in three tiles of 8: one state for 101 steps, without the output's 100 of 20, and 7 gates.
        vector = 64 * 2
        states = 101 * 24 * vector - 100 * 20 * vector
        held = states + 7 * 100 * 24 * vector
        self.assertEqual(row["flashrnn"], {"held_bytes": held, "peak_bytes": held + 20000000})

    def test_unknown_stage(self):
        self.assertIn("no stage 'all'", self.record("all").stderr)

    def test_report_shows_what_is_there_and_says_what_is_missed(self):
        self.recorded("rows")
        self.assertEqual(self.report().returncode, 0)
        self.assertNotIn("ready.md", (self.folder / "results.md").read_text(encoding="utf-8"))
        self.assertFalse((self.folder / "results/ready.md").exists())
        self.recorded("ready,exhaustive")
        self.assertEqual(self.report().returncode, 0)
        self.assertIn("results/ready.md", (self.folder / "results.md").read_text(encoding="utf-8"))
        page = self.page("ready")
        self.assertIn("| 1600 | **missed** | 7.5 | met |", page)
        self.assertIn("| 1.040 | 40 | 1.000 | 300 | 1.040 | met |", page)

    def test_report_shows_memory(self):
        self.recorded("rows,dense,memory")
        self.assertEqual(self.report().returncode, 0)
        page = self.page("memory")
        self.assertIn("| gru | B=20 T=100 D=64 | products again | 0.0 | 20 | 1.0 | 5.0 | 45 |", page)
        self.assertIn("| gru | B=20 T=100 D=64 | products saved | 11 | 31 | 1.0 | 2.0 | 53 |", page)
        self.assertIn("| gru | B=20 T=100 D=64 | FlashRNN |  | 2.2 |  |  | 22 |", page)

    def test_report_shows_parts_of_records_of_any_age(self):
        record = self.recorded("rows,dense,parts")
        self.report()
        page = self.page("parts")
        self.assertIn("| all | products | exchange | clears | launches |", page)
        self.assertIn("| gru | B=20 T=100 D=64 | fw | grid, 48 blocks | 1000 | 700 | 500 | 50 |  |", page)
        self.assertIn("| bw | grid, 48 blocks, reduce-scatter | 1000 | 700 | 500 | 50 | sweep 100 |", page)
        earlier = {"cell": "lstm", "shape": {"B": 1, "T": 2, "H": 1, "D": 3}, "pass": "fw", "form": "grid, 2 blocks",
                   "ns_per_step": {"all": 900, "products": 400, "exchange": 350, "waiting": 200, "clearing": 100}}
        record["parts"]["rows"] = [earlier]
        self.record_file.write_text(json.dumps(record), encoding="utf-8")
        self.assertIn(earlier, self.recorded("parts")["parts"]["rows"])
        self.record_file.write_text(json.dumps(record), encoding="utf-8")
        self.report()
        page = self.page("parts")
        self.assertIn("| all | products | exchange | loads | clears |", page)
        self.assertIn("| lstm | B=1 T=2 D=3 | fw | grid, 2 blocks | 900 | 400 | 200 | 350 | 100 |", page)

    def test_check_finds_stale_pages_and_writes_nothing(self):
        record = self.recorded("rows")
        self.assertEqual(self.report("--check").returncode, 1)
        self.assertFalse((self.folder / "results.md").exists())
        self.report()
        self.assertEqual(self.report("--check").returncode, 0)
        changed = copy.deepcopy(record)
        changed["rows"][0]["median_ms"] *= 1.1
        self.record_file.write_text(json.dumps(changed), encoding="utf-8")
        stale = self.report("--check")
        self.assertEqual(stale.returncode, 1)
        self.assertIn("diagonal.md, results.md, results.svg", stale.stderr)

    def test_pages_of_an_earlier_record_are_found_and_removed(self):
        self.recorded("rows,ready")
        self.report()
        own = self.folder / "results/own.md"
        own.write_text("# Written by hand\n", encoding="utf-8")
        record = json.loads(self.record_file.read_text(encoding="utf-8"))
        del record["ready"]
        self.record_file.write_text(json.dumps(record), encoding="utf-8")
        self.assertIn("ready.md", self.report("--check").stderr)
        self.report()
        self.assertFalse((self.folder / "results/ready.md").exists())
        self.assertTrue(own.exists())
        self.assertEqual(self.report("--check").returncode, 0)

    def test_the_picture_beside_peers_has_the_rows_that_were_measured(self):
        record = self.recorded("rows,dense")
        self.report()
        self.assertFalse((self.folder / "peers.svg").exists())
        shown = {"cell": "gru", "shape": {"B": 16, "T": 1024, "H": 1, "D": 768}, "dtype": "bf16", "pass": "fwbw",
                 "peer_ms": 30.0, "peer": "some peer; another 9"}
        record["dense"] = [record["dense"][0] | shown | {"median_ms": 3.0}]
        self.record_file.write_text(json.dumps(record), encoding="utf-8")
        self.report()
        picture = (self.folder / "peers.svg").read_text(encoding="utf-8")
        self.assertIn(">10.0 times<", picture)
        self.assertIn(">some peer<", picture)


if __name__ == "__main__":
    unittest.main()
