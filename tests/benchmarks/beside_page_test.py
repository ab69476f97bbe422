"""The page of peers in one run: which times stand beside which, and what does not count."""
import json
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))
import report_beside


def timed(fw, fwbw, right=True, **more):
    return {"right": right, "fw_ms": fw, "fwbw_ms": fwbw} | more


def record(times, **more):
    return {"device": "a board", "date": "2026-11-29", "torch": "2", "cudnn": 9, "driver": "580", "jax": "0.11",
            "rows": [{"layer": "lstm B=16 T=1024 D=768", "times": times}]} | more


def page(made):
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "h200-beside.json").write_text(json.dumps(made))
        return report_beside.beside_page(pathlib.Path(folder))


class Beside(unittest.TestCase):
    def test_a_type_stands_beside_the_same_type_by_the_best_way_of_each(self):
        said = page(record({"rondo bf16": timed(2.0, 4.0, fw_graph_ms=1.0), "rondo fp32": timed(5.0, 10.0), "Haste fp32": timed(20.0, 30.0),
                            "torch fp16": timed(8.0, 10.0, fw_graph_ms=6.0, fwbw_graph_ms=12.0)}))
        self.assertIn("| Haste | fp32 | 20.000 | eager | 4.00 | 30.000 | eager | 3.00 |\n", said)
        self.assertIn("| cuDNN, by torch.nn | fp16 | 6.000 | graph | 6.00 | 10.000 | eager | 2.50 |\n", said)
        self.assertIn("| Rondo | bf16 | 1.000 | graph |  | 4.000 | eager |  |\n", said)
        flat = said.replace("\n", " ")
        self.assertIn("takes 4.00 times as long forward (Haste, fp32, lstm B=16 T=1024 D=768)", flat)
        self.assertIn("and 2.50 times as long for a training step (cuDNN, by torch.nn, fp16,", flat)

    def test_what_is_wrong_or_failed_has_no_time(self):
        said = page(record({"rondo bf16": timed(1.0, 2.0), "jax bf16": timed(0.1, 0.1, right=False), "FlashRNN-Triton bf16": {"error": "none"}}))
        self.assertIn("| JAX, `lax.scan` | bf16 | wrong results | | | | | |\n", said)
        self.assertIn("| FlashRNN Triton | bf16 | failed | | | | | |\n", said)
        self.assertNotIn("nearest", said)

    def test_a_loop_that_is_timed_as_a_graph_alone_has_its_ratio(self):
        said = page(record({"rondo bf16": timed(1.0, 2.0), "loop bf16 graphed": {"right": True, "fw_graph_ms": 9.0}}))
        self.assertIn("| a loop in PyTorch | bf16 | 9.000 | graph | 9.00 |  |  |  |\n", said)

    def test_peers_that_were_not_there_are_named(self):
        said = page(record({"rondo bf16": timed(1.0, 2.0)}, absent={"Haste": "no module"}))
        self.assertIn("Not timed, for they were not there: Haste (`no module`).", said.replace("\n", " "))

    def test_a_loop_that_rounds_its_sums_has_times_with_their_error_and_is_not_the_nearest(self):
        loop = timed(1.5, 2.5, right=False, rounded_sums=True, errors={"h": 0.004, "u": 0.004, "weights": 0.0834})
        said = page(record({"rondo bf16": timed(1.0, 2.0), "jax bf16": loop, "torch bf16": timed(7.0, 8.0)}))
        self.assertIn("| JAX, `lax.scan` | bf16 | 1.500 | eager | 1.50 | 2.500 | eager, 8% off\\* | 1.25 |\n", said)
        self.assertIn("\n\\* PyTorch and JAX sum the gradients", said)
        flat = said.replace("\n", " ")
        self.assertIn("takes 1.50 times as long forward (JAX, `lax.scan`, bf16,", flat)
        self.assertIn("and 4.00 times as long for a training step (cuDNN, by torch.nn, bf16,", flat)

    def test_reasons_stand_below_the_tables(self):
        failed = {"FlashRNN-Triton bf16": {"error": "CompilationError: at `exp`"}}
        made = record(failed | {"rondo bf16": timed(1.0, 2.0), "FlashRNN-alternating bf16": timed(9.0, 9.5, fwbw_not_captured="waits")})
        made["rows"].append({"layer": "another layer", "times": failed})
        said = page(made).replace("\n", " ")
        self.assertIn("Failed: FlashRNN Triton, bf16, lstm B=16 T=1024 D=768, another layer (`CompilationError: at 'exp'`).", said)
        self.assertIn("Not captured as CUDA graphs: FlashRNN alternating, a training step (`waits`).", said)
        self.assertNotIn("PyTorch and JAX sum", said)

    def test_without_a_record_there_is_no_page(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(report_beside.beside_page(pathlib.Path(folder)), "")


if __name__ == "__main__":
    unittest.main()
