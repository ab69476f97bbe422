"""benchmarks/packed.py as far as it needs no GPU, and its page."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

import stand_in

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))
import packed  # noqa: E402 (lies in another folder)
import report_layers  # noqa: E402


def record_of(**more):
    row = {"cell": "lstm", "dtype": "bf16", "directions": 2, "commit": "abc", "ours": {"fw": 2.0, "fwbw": 6.0}, "longest": {"fw": 1.9, "fwbw": 5.0},
           "torch": {"fw": 5.0, "fwbw": 9.0}, "errors": {"right": True}} | more
    return {"device": "NVIDIA Test", "torch": "2.9", "cudnn": 91000, "shape": "B=64,T=1024,H=1,D=512", "rows": [row]}


# Writes down what it is asked to tune, or calibrates.
RONDO = r"""
import sys
words = sys.argv[1:]
with open(words[words.index("--db") + 1], "a") as log:
    log.write(" ".join(word for word in words if word != words[words.index("--db") + 1]) + "\n")
print("{}")
"""


class Tuned(unittest.TestCase):
    def tuned(self, seconds, budget="3s"):
        folder = stand_in.folder_of(self, RONDO)
        options = argparse.Namespace(budget=budget, side=2, end=time.monotonic() + seconds)
        packed.tune(options, str(folder / "rondo"), [("lstm", "bf16", False), ("lstm", "bf16", True), ("gru", "fp16", False)], str(folder / "log"))
        return (folder / "log").read_text(encoding="utf-8").splitlines()

    def test_each_plan_is_tuned_once_before_any_row(self):
        first, *said = self.tuned(100)
        self.assertIn("calibrate", first)
        self.assertEqual(len(said), 6)  # two directions of the LSTM and one of the GRU, inference and training
        self.assertEqual(sum("--forms lengths,reversed" in line for line in said), 2)
        self.assertEqual(sum("--pass fws,bw --save auto" in line for line in said), 3)
        self.assertTrue(all("--shape B=64,T=1024,H=1,D=512" in line and "--budget 3s" in line for line in said))

    def test_nothing_is_begun_past_the_end_or_without_a_budget(self):
        self.assertEqual(len(self.tuned(-1)), 1)
        self.assertEqual(len(self.tuned(100, budget="0s")), 1)


class SideBySide(unittest.TestCase):
    def test_results_come_in_order_and_a_failure_ends_the_rest(self):
        self.assertEqual(packed.side_by_side(2, lambda number: number * number, range(5)), [0, 1, 4, 9, 16])
        done = []

        def one(number):
            if number == 1:
                raise ValueError("no")
            time.sleep(0.05)
            done.append(number)

        with self.assertRaises(ValueError):
            packed.side_by_side(1, one, range(50))
        time.sleep(0.1)
        self.assertLess(len(done), 5)


class Packed(unittest.TestCase):
    def test_lengths_are_the_same_in_every_run_and_reach_the_end(self):
        lengths = packed.lengths_of(64, 1024)
        self.assertEqual(lengths, packed.lengths_of(64, 1024))
        self.assertNotEqual(lengths, packed.lengths_of(64, 1024, seed=2))
        self.assertEqual((len(lengths), max(lengths)), (64, 1024))
        self.assertGreaterEqual(min(lengths), 1)
        self.assertTrue(400 < sum(lengths) / 64 < 650)

    def test_rows_of_a_tile_are_as_long_as_its_longest(self):
        self.assertEqual(packed.rows_of_tile("persistent blocks=2 batch_tiles=2 steps=4"), 16)
        self.assertEqual(packed.rows_of_tile("stream channels=64"), 1)
        self.assertEqual(packed.longest_of_tiles([3, 1, 2, 5, 4], 2), [3, 3, 5, 5, 4])
        self.assertEqual(packed.longest_of_tiles([3, 1, 2], 8), [3, 3, 3])

    def test_errors_may_be_twice_those_of_cudnn_or_a_few_roundings(self):
        unit = packed.UNITS["bf16"]
        self.assertTrue(packed.within({"h": 8 * unit, "u": 0.1}, {"h": 0.0, "u": 0.05}, "bf16"))
        self.assertFalse(packed.within({"h": 9 * unit}, {"h": 0.0}, "bf16"))
        self.assertFalse(packed.within({"h": 8 * unit}, {"h": 0.0}, "fp16"))

    def test_without_a_gpu_it_says_so(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder, "packed.json")
            done = subprocess.run([sys.executable, ROOT / "benchmarks/packed.py", "librondo.so", "--out", out], capture_output=True, text=True,
                                  check=False, env=os.environ | {"CUDA_VISIBLE_DEVICES": "", "PYTHONDONTWRITEBYTECODE": "1"})
            self.assertEqual(done.returncode, packed.NO_GPU)
            self.assertIn("it needs a GPU and PyTorch with CUDA", done.stderr)
            self.assertFalse(out.exists())

    def page_of(self, record):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "test-packed.json").write_text(json.dumps(record), encoding="utf-8")
            return report_layers.packed_page(pathlib.Path(folder))

    def test_the_page(self):
        page = self.page_of(record_of())
        self.assertIn("| lstm | bf16 | 2 | fw | 2.000 | 5.000 | 2.50x | 1.900 | 1.05 | within rounding |", page)
        self.assertIn("| lstm | bf16 | 2 | fwbw | 6.000 | 9.000 | 1.50x | 5.000 | 1.20 | within rounding |", page)
        self.assertIn("WRONG", self.page_of(record_of(errors={"right": False})))
        self.assertIn("| lstm | bf16 | 2 | | | | | | | no kernel |", self.page_of(record_of(error="no kernel")))

    def test_no_record_gives_no_page(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(report_layers.packed_page(pathlib.Path(folder)), "")


if __name__ == "__main__":
    unittest.main()
