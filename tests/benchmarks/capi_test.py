"""benchmarks/capi.py with the real bench_capi and bench_capi_rt over a driver that computes nothing, and a `rondo bench` that
answers from a table; and what these programs say of bad input.

usage: capi_test.py FOLDER_OF_BINARIES FAKE_CUDA
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import stand_in

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))
import capi  # noqa: E402 (lies beside the scripts)
import report_layers  # noqa: E402
import rondo_program  # noqa: E402

SMALL = {"cell": "lstm", "B": 2, "T": 16, "H": 1, "D": 64, "dtype": "bf16", "pass": "fw"}
FAKE, BUILD = sys.argv.pop(2), pathlib.Path(sys.argv.pop(1))

# Packages are built by the real program, for the model's choice; times are those of a table.
RONDO = r'''
import json, os, subprocess, sys
words = sys.argv[1:]
build = os.environ["BUILD"]
if words[0] == "package":
    at = words.index("--db")
    sys.exit(subprocess.run([build + "/rondo", *words[:at], "--no-db", *words[at + 2:]]).returncode)
def option(name):
    return words[words.index(name) + 1]
told = subprocess.run([build + "/bench_capi", "host", "--cell", words[1], "--shape", option("--shape"), "--dtype", option("--dtype"),
                       "--pass", option("--pass")], capture_output=True, text=True, check=True).stdout
told = json.loads(told)
sys.path.insert(0, os.environ["SCRIPTS"])
import parameter_names
parameters = parameter_names.from_text(told["parameters"])
parameters.update(json.loads(os.environ.get("OTHER", "{}")))
print(json.dumps({"device": "h100", "rows": [{"strategy": told["strategy"], "parameters": parameters, "origin": "by model",
                                              "median_ms": 0.005, "spread": 0.01}]}))
'''

class Capi(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        for name in ("bench_capi", "bench_capi_rt"):
            (self.folder / name).symlink_to((BUILD / name).resolve())

    def program(self, name, *words, **environment):
        return subprocess.run([BUILD / name, *map(str, words)], capture_output=True, text=True,
                              env=os.environ | {"RONDO_LIBCUDA": FAKE} | environment)

    def package(self, cell="mingru", shape="B=2,T=64,D=64", arch="h100"):
        path = self.folder / "kernels.rondo"
        done = self.program("rondo", "package", "build", cell, "--dtype", "bf16", "--pass", "fw", "--shape", shape, "--arch", arch,
                            "--ptx", "none", "--no-self-test", "--no-db", "-o", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        return path

    def test_every_mode_answers_in_json_with_and_without_the_compiler(self):
        package = self.package()
        for program in ("bench_capi", "bench_capi_rt"):
            for mode, keys in (("time", {"median_ms", "first_ms", "open_ms"}), ("host", {"launch_us", "driver_us"}),
                               ("check", {"graph_equal", "threads_equal", "devices_equal"})):
                done = self.program(program, mode, "--cell", "mingru", "--shape", "B=2,T=64,H=1,D=64", "--package", package)
                self.assertEqual(done.returncode, 0, done.stderr)
                told = json.loads(done.stdout)
                self.assertLessEqual(keys, set(told))
                self.assertEqual((told["cell"], told["origin"], told["tensors"]), ("mingru", "package", 4))
        done = self.program("bench_capi", "host", "--cell", "lstm", "--shape", "B=1,T=1,D=64")
        self.assertEqual(json.loads(done.stdout)["tensors"], 8)

    def test_without_a_gpu_a_package_or_a_shape_it_says_so(self):
        none = self.program("bench_capi_rt", "time", "--cell", "lstm", RONDO_LIBCUDA="/nonexistent")
        self.assertEqual(none.returncode, 77)
        self.assertEqual(self.program("bench_capi_rt", "time", "--cell", "lstm").returncode, 2)
        for words in (("nonsense",), ("time", "--shape", "B=0"), ("time", "--what", "1"), ("time", "--cell")):
            self.assertEqual(self.program("bench_capi", *words).returncode, 2, words)
        missing = self.program("bench_capi_rt", "time", "--package", self.folder / "none.rondo")
        self.assertEqual(missing.returncode, 77)
        self.assertIn("cannot open the package", missing.stderr)
        other = self.program("bench_capi_rt", "time", "--cell", "gru", "--package", self.package())
        self.assertIn("holds no gru", other.stderr)

    def test_a_tune_through_c_ends_without_a_winner_where_nothing_is_computed(self):
        done = self.program("bench_capi", "time", "--cell", "mingru", "--shape", "B=2,T=64,H=1,D=64", "--tune", "1",
                            RONDO_WORKER=str(BUILD / "rondo"), RONDO_SHIPPED="none")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertRegex(done.stderr, "wrong")

    def test_shoot_finds_the_numbers_that_rondo_bench_draws(self):
        done = self.program("bench_capi", "time", "--cell", "paralstm", "--shape", "B=2,T=8,H=1,D=16", "--strategy", "shoot",
                            "--samples", "1", RONDO_FAKE_L2="1024")
        told = json.loads(done.stdout)
        self.assertEqual((told["strategy"], told["sets"]), ("shoot", 8))
        # RunSets.AreTheNumbersOfTheRecords (tests/engine/measure/run_data_test.cpp) has them too.
        for name, values in {"x": [0.1328125, 0.4921875, 0.94140625], "a": [0.42544505, 0.0801572427, -0.349145681],
                             "h_first": [0.112149797, -0.369487852, -0.373865008]}.items():
            self.assertEqual(told["last_set"][name], values)

    def capi(self, rows, checked=(), words=(), **environment):
        """The record that capi.py writes of these rows."""
        stand_in.program(self.folder, "rondo", RONDO)
        stand_in.program(self.folder, "nvidia-smi", 'print("NVIDIA Test, 1.2")')
        out = self.folder / "out.json"
        environment = {"PATH": f"{self.folder}:{os.environ['PATH']}", "RONDO_LIBCUDA": FAKE, "BUILD": str(BUILD), "SCRIPTS": str(ROOT / "benchmarks"),
                       "RONDO_COMMIT": "abc", "RONDO_SHIPPED": "none"} | environment
        words = ["capi.py", str(self.folder), str(self.folder / "tuned.db"), str(out), "--turns", "2", "--most-turns", "2", *words]
        with mock.patch.dict(os.environ, environment), mock.patch.object(sys, "argv", words), \
                mock.patch.multiple(capi, rows=lambda: rows, HOSTS=[SMALL], HOST_PROCESSES=1, FIRST=SMALL, FIRST_PROCESSES=1, CHECKED=list(checked), TUNED=[]):
            self.assertEqual(capi.main(), 0)
        return json.loads(out.read_text(encoding="utf-8"))

    def test_the_record_has_ratios_host_time_and_first_launches(self):
        told = self.capi([SMALL, SMALL | {"pass": "bw"}], words=("--most-turns", "4"))
        self.assertEqual([row["pass"] for row in told["rows"]], ["fw", "bw"])
        for row in told["rows"]:
            self.assertEqual({name: len(ms) for name, ms in row["ms"].items()}, {"bench": 2, "capi": 2, "package": 2})
            self.assertGreater(row["package_ratio"], 0)
        self.assertEqual([(host["tensors"], host["T"]) for host in told["hosts"]], [(8, SMALL["T"])])
        for name in ("package_cold", "package_warm", "database_warm", "compiled"):
            self.assertEqual(len(told["first"][name]), 1)
        self.assertEqual(told["summary"]["capi_ratio"]["rows"], 2)
        with mock.patch.object(capi, "measured", side_effect=AssertionError("it is measured again")):
            self.assertEqual(len(self.capi([SMALL], words=("--most-turns", "4"))["rows"]), 2)

    def test_processes_that_differ_get_more_turns(self):
        with mock.patch.object(rondo_program, "SETTLED", 0.5):  # a driver that computes nothing always says the same
            [row] = self.capi([SMALL], words=("--most-turns", "3"))["rows"]
        self.assertEqual([len(ms) for ms in (*row["ms"].values(), *row["spreads"].values())], [3] * 6)

    def test_rows_of_several_gpus_are_one_record(self):
        told = self.capi([SMALL, SMALL | {"pass": "fws"}, SMALL | {"pass": "bw"}], words=("--gpus", "2", "--note", "Two."))
        self.assertEqual((sorted(row["pass"] for row in told["rows"]), told["note"]), (["bw", "fw", "fws"], "Two."))

    def test_the_page_says_what_a_record_has(self):
        told = self.capi([SMALL])
        self.assertEqual(told["summary"]["package_ratio"]["rows"], 1)
        none = {key: value for key, value in told.items() if key != "summary"} | {"rows": []}
        for record, said in ((told, "of 1 rows through the C interface"), (none, "No row was reached.")):
            (self.folder / "gpu-capi.json").write_text(json.dumps(record), encoding="utf-8")
            page = " ".join(report_layers.capi_page(self.folder).split())
            self.assertIn(said, page)
            self.assertRegex(page, r"\| persistent \| 8 \| 2, 16, 1, 64 \| \d+\.\d \|")

    def test_another_choice_is_no_comparison(self):
        with self.assertRaisesRegex(SystemExit, "launched"):
            self.capi([SMALL], OTHER='{"stages": 99}')

    def test_equal_bits_of_nothing_are_no_proof(self):
        with self.assertRaisesRegex(SystemExit, "nothing was computed"):
            self.capi([], checked=[SMALL])

    def test_words_of_parameters_are_read(self):
        self.assertEqual(capi.from_text("exchange=global steps=32"), {"exchange": 1, "steps": 32})

    def test_the_rows_are_those_of_the_record(self):
        rows = capi.rows()
        self.assertEqual(len({capi.text(row) for row in rows}), len(rows))
        self.assertIn("lstm B=16 T=1024 H=1 D=768 bf16 bw", {capi.text(row) for row in rows})
        self.assertIn("mingru B=8 T=4096 H=1 D=1536 bf16 fw", {capi.text(row) for row in rows})


if __name__ == "__main__":
    unittest.main()
