"""benchmarks/cpu.py and its page: which passes memory bounds, and whether those reach their share of a copy."""
import pathlib
import sys
import types
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))
import report_layers  # noqa: E402 (lies beside the scripts)
jax = types.ModuleType("jax")  # which need not be installed here
jax.numpy = types.ModuleType("jax.numpy")
with mock.patch.dict(sys.modules, {"jax": jax, "jax.numpy": jax.numpy}):
    import cpu  # noqa: E402


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


def kernel(streams, ahead=2):
    return f"ahead={ahead} lanes=16 stream_stores={streams} vectors=64"


class CpuSteps(unittest.TestCase):
    def share(self, parameters_of_parts):
        """Of a pass of 100 MiB whose launches take 1 ms, and all of its 512 steps 64 ms."""

        def rondo(_program, _cell, _batch, steps, *_):
            self.steps.append(steps)
            whole = steps == 512
            return {"ms": [1.0 + steps / 8, 9.0 + steps], "bytes": steps * (100 << 20) // 512, "share_of_copy": 0.5, "copy_ms": 3.0,
                    "parameters": kernel(1) if whole else parameters_of_parts}

        self.steps = []
        with mock.patch.object(cpu, "rondo", rondo):
            return cpu.share("cpu_bench", ("mingru", 8, 512, 1, 1024), "fw", "fp32")

    def test_steps_are_those_of_a_part_that_a_cache_holds(self):
        self.assertAlmostEqual(self.share(kernel(0))["steps_ms"], 64.0)
        self.assertEqual(self.steps, [512, 64, 32] * cpu.TURNS)

    def test_parts_have_the_kernel_of_all_steps(self):
        with self.assertRaises(SystemExit):
            self.share(kernel(0, ahead=0))

    def test_a_part_moves_half_of_16_mib_or_more(self):
        mib = 1 << 20
        self.assertEqual([cpu.parts_of(size * mib) for size in (15, 16, 24, 32, 48, 160)], [1, 2, 2, 4, 4, 16])


if __name__ == "__main__":
    unittest.main()
