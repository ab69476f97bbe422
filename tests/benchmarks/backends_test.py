"""benchmarks/backends.py, with a `rondo` that answers from a table instead of a GPU."""
import json
import pathlib
import subprocess
import sys
import unittest

import stand_in

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))
import report_backends  # noqa: E402 (lies beside the scripts)

# LLVM's kernels take 0.9 ms and NVRTC's 1; an LSTM of LLVM is wrong. With the driver alone a kernel is ready after 7 ms.
RONDO = r'''
import json, os, sys
words = sys.argv[1:]
backend = words[words.index("--backend") + 1]
if words[0] == "verify":
    if words[1] == "lstm":
        sys.exit("lstm is wrong")
    print("{}")
    sys.exit(0)
with open(os.environ["CALLS"], "a") as file:
    file.write(backend + "\n")
alone = os.environ.get("RONDO_NVRTC") == "none"
assert not alone or os.environ["RONDO_PTXAS"] == os.environ["RONDO_NVJITLINK"] == "none"
print(json.dumps({"rows": [{"cell": words[1], "median_ms": 0.9 if backend == "llvm" else 1.0, "spread": 0.01, "ready_ms": 7.0 if alone else 3.0,
                            "parameters": {}}]}))
'''


class Backends(unittest.TestCase):
    def setUp(self):
        self.folder = stand_in.folder_of(self, RONDO)
        self.out = self.folder / "test-llvm.json"
        self.calls = self.folder / "calls"

    def run_script(self, *words):
        done = subprocess.run([sys.executable, ROOT / "benchmarks/backends.py", self.folder / "rondo", "--out", str(self.out), *words],
                              capture_output=True, text=True, env=stand_in.environment(self.folder, CALLS=str(self.calls)), check=False)
        return done, json.loads(self.out.read_text(encoding="utf-8"))

    def test_both_backends_take_turns_and_what_is_wrong_is_said(self):
        done, record = self.run_script("--only", "(lstm|sru) .*bf16 fw", "--side", "3")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(record["device"], "NVIDIA Test")
        self.assertEqual({row["pass"] for row in record["rows"]}, {"fw"})
        self.assertTrue(all(abs(row["ratio"] - 0.9) < 1e-9 for row in record["rows"]))
        self.assertTrue(all(row["verified"] == (row["cell"] != "lstm") for row in record["rows"]))
        self.assertIn("NOT VERIFIED", done.stdout)
        self.assertEqual(record["driver_alone"]["ready_ms"], 7.0)
        calls = self.calls.read_text(encoding="utf-8").split()
        self.assertEqual((calls.count("nvrtc"), calls.count("llvm")), (2 * len(record["rows"]), 2 * len(record["rows"]) + 1))

    def test_a_run_goes_on_where_the_last_one_ended(self):
        _, none = self.run_script("--only", "lstm .*bf16 fw", "--seconds", "0")
        self.assertEqual(none["rows"], [])
        _, first = self.run_script("--only", "lstm .*D=64 bf16 fw")
        _, second = self.run_script("--only", "lstm .*bf16 fw")
        self.assertGreater(len(second["rows"]), len(first["rows"]))
        again = self.calls.read_text(encoding="utf-8").count("nvrtc")
        self.assertEqual(again, 2 * len(second["rows"]))
        refused = subprocess.run([sys.executable, ROOT / "benchmarks/backends.py", self.folder / "rondo", "--out", str(self.out), "--commit", "other"],
                                 capture_output=True, text=True, env=stand_in.environment(self.folder, CALLS=str(self.calls)), check=False)
        self.assertIn("take another file", refused.stderr)


class BackendsPage(unittest.TestCase):
    def setUp(self):
        self.folder = stand_in.folder_of(self, "")

    def page(self):
        return " ".join(report_backends.backends_page(self.folder).split())

    def test_rows_beyond_a_twentieth_are_counted_and_the_worst_is_named(self):
        def row(cell, llvm):
            return {"cell": cell, "shape": "B=1,T=2", "dtype": "bf16", "pass": "fw", "verified": True, "ratio": llvm,
                    "nvrtc": {"ms": 1.0, "ready_ms": 5.0}, "llvm": {"ms": llvm, "ready_ms": 3.0}}
        record = {"device": "NVIDIA Test", "commit": "abc", "rows": [row("a", 1.049), row("b", 1.06), row("c", 0.9)],
                  "driver_alone": {"cell": "a", "median_ms": 1.0, "ready_ms": 343.4}}
        (self.folder / "test-llvm.json").write_text(json.dumps(record), encoding="utf-8")
        page = self.page()
        self.assertIn("1 take more than 1.05 of NVRTC's time and 1 less than 0.95. The slowest is b B=1 T=2 bf16 fw, 1.060", page)
        self.assertIn("is ready after 343 ms", page)
        self.assertNotIn("Registers", page)

    def test_a_list_of_the_compilers_gives_exceptions_by_subject(self):
        (self.folder / "llvm-sm_90.txt").write_text("""lstm stream fw bf16 sm_90 lstm_stream_fw 90 0 1.5 100 0 3.0
lstm stream bw bf16 sm_90 lstm_stream_bw 112 8 1.0 100 0 1.0
lstm stream bw bf16 sm_90 lstm_grad_b 111 0 1.0 100 4 1.0
lstm stream bw bf16 sm_90 lstm_grad_c 89 0 0.5 100 0 1.0
""", encoding="utf-8")
        page = self.page()
        for said in ("of 4 kernels", "within 10% of NVRTC's registers | 1 |", "fewer than 90% | 1 |",
                     "more than 110% | 2: 1 stream bw, 1 grad_b; at most 112% (112 and 100, lstm stream bw bf16)",
                     "spill where NVRTC's does not | 1: lstm stream bw bf16 8 bytes", "NVRTC's spill and LLVM's do not | 1 |",
                     "0.67 of NVRTC's"):
            self.assertIn(said, page)

    def test_without_records_there_is_no_page(self):
        self.assertEqual(report_backends.backends_page(self.folder), "")


if __name__ == "__main__":
    unittest.main()
