"""The page of layers: what a training step's memory is beside cuDNN's, and runs of some stages."""
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))
import report_python

LAYER = "lstm B=16 T=1024 D=768"


def found(peak, right=True):
    return {"right": right, "peak_MiB": peak, "kept_MiB": peak / 2}


def record(**ours):
    sides = {"torch bf16": found(240.0), "torch fp16": found(200.0)}
    return {"memory": {LAYER: sides | {f"rondo bf16 {way.replace('_', ' ').replace(' is ', '=')}": one for way, one in ours.items()}}}


class Memory(unittest.TestCase):
    def test_all_ways_stand_in_a_row_with_the_least(self):
        said = report_python.memory_section(record(states=found(190.0), products=found(220.5), states_chunk_is_256=found(100.0)))
        self.assertIn(f"| {LAYER} | 200.0 fp16 | 190.0 | 220.5 | 100.0 |  | 0.50 |\n", said)
        self.assertIn("No layer needs more than cuDNN's.", said.replace("\n", " "))

    def test_a_layer_that_needs_more_is_named(self):
        said = report_python.memory_section(record(states=found(210.0)))
        self.assertIn(f"Rondo needs more for {LAYER}.", said.replace("\n", " "))
        self.assertIn("| 1.05 |\n", said)

    def test_what_is_wrong_or_failed_does_not_count(self):
        said = report_python.memory_section(record(states=found(210.0), products=found(10.0, right=False), states_chunk_is_256={"error": "none"}))
        self.assertIn(f"| {LAYER} | 200.0 fp16 | 210.0 |  |  |  | 1.05 |\n", said)

    def test_without_a_record_nothing_is_said(self):
        self.assertEqual(report_python.memory_section({}), "")
        self.assertEqual(report_python.memory_section(record(states=found(1.0, right=False))), "")


class Stages(unittest.TestCase):
    def test_a_run_without_the_table_has_what_it_measured(self):
        run = {"device": "a board", "date": "2026-11-28", "torch": "2", "cudnn": 9, "driver": "580", "rows": [], "first_call": {},
               "host": {"operator forward": 36.61}}
        said = report_python.costs_section(run)
        self.assertIn("| operator forward | 36.6 |", said)
        self.assertIn("Not measured in this run: first calls.", said)
        self.assertEqual(report_python.layers_section(run), "")  # of times there is nothing to say

    def test_first_calls_tell_both_passes_of_a_step(self):
        times = {"forward_s": 0.5, "forward_saving_s": 1.25, "backward_s": 0.75, "backward_again_s": 0.001}
        older = {"forward_s": 0.5, "training_s": 2.0}
        said = report_python.first_section({"first_call": {LAYER: {"cold": times, "warm": older, "behind": {"error": "none"}}}})
        self.assertIn(f"| {LAYER} | cold | 0.50 | 2.00 | 0.75 |\n| {LAYER} | warm | 0.50 | 2.00 |  |\n| {LAYER} | behind | failed |  |  |\n", said)


if __name__ == "__main__":
    unittest.main()
