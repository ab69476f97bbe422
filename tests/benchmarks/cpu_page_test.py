"""The page of benchmarks/cpu.py: which passes memory bounds, and whether those reach their share of a copy."""
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))
import report_layers  # noqa: E402 (lies beside the scripts)


def row(steps_ms, share):
    return {"cell": "mingru", "B": 8, "T": 512, "H": 1, "D": 1024, "dtype": "fp32", "pass": "fw", "copy_ms": 1.5, "steps_ms": steps_ms,
            "share_of_copy": share}


class CpuShares(unittest.TestCase):
    def test_only_what_memory_bounds_is_held_to_the_copy(self):
        lines = report_layers.cpu_shares([row(1.0, 0.7), row(1.0, 0.69), row(1.6, 0.5)]).splitlines()[-3:]
        self.assertEqual([line.split("|")[7:10] for line in lines],
                         [[" memory ", " 0.70 ", " met "], [" memory ", " 0.69 ", " **missed** "], [" arithmetic ", " 0.50 ", "  "]])

    def test_a_record_without_shares_has_no_table(self):
        self.assertEqual(report_layers.cpu_shares([]), "")


if __name__ == "__main__":
    unittest.main()
