"""benchmarks/backends.py, with a `rondo` that answers from a table instead of a GPU."""
import json
import pathlib
import subprocess
import sys
import unittest

import stand_in

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

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


if __name__ == "__main__":
    unittest.main()
