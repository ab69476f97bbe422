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
with mock.patch.dict(sys.modules, {"jax": jax, "jax.numpy": jax.numpy, "numpy": types.ModuleType("numpy")}):
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


MATRIX_ROW = ("lstm", 16, 128, 1, 256)


class CpuGradients(unittest.TestCase):
    def row(self, problem, **times):
        """Of passes that take so long by what is saved, beside 8 and 40 ms of JAX."""

        def rondo(_program, *words, save):
            self.asked.add((save, words[-1]))
            ms = {"fw": 4.0, "fws": 5.0, "bw": times.get(save, 1.0)}[words[-1]]
            return {"ms": [ms + 1, ms], "reference_ms": 40.0, "share_of_copy": 0.5, "ready_ms": 7.0, "parameters": f"{save} {words[-1]}"}

        self.asked = set()
        with mock.patch.object(cpu, "rondo", rondo), mock.patch.object(cpu, "jax_times", lambda *words: [40.0 if words[-1] else 8.0]):
            row = cpu.row_of(problem, *cpu.beside_jax("cpu_bench", problem))
        return row | {"products_alone_ms": cpu.products_alone_ms(problem, 1e11)}

    def test_the_faster_way_to_save_counts(self):
        row = self.row(MATRIX_ROW, states=20.0, products=15.0)
        self.assertEqual((row["save"], row["gradients_ms"], row["gradients_by_save_ms"]["states"]), ("products", 20.0, 25.0))
        self.assertEqual(row["parameters"], {"fw": "states fw", "fws": "products fws", "bw": "products bw"})
        self.assertEqual(self.row(MATRIX_ROW, states=14.0, products=15.0)["save"], "states")

    def test_cells_without_matrices_have_one_way(self):
        row = self.row(("mingru", 8, 512, 1, 1024))
        self.assertEqual(row["save"], "states")
        self.assertEqual(self.asked, {("states", pass_) for pass_ in ("fw", "fws", "bw")})
        self.assertEqual(report_layers.products_alone(row), " | | ")

    def test_products_alone_are_counted_from_sizes(self):
        row = self.row(MATRIX_ROW)
        least = 4 * 16 * 128 * 256**2 / 1e11 * 1e3
        self.assertAlmostEqual(row["products_alone_ms"]["fw"], least)
        self.assertAlmostEqual(row["products_alone_ms"]["gradients"], 3 * least)
        self.assertIn(f"{3 * least / 40:.2f}", report_layers.products_alone(row))


if __name__ == "__main__":
    unittest.main()
