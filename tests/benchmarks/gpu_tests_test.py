"""benchmarks/gpu_tests.py, tunes.py, normalised.py, their pages, and tools/gpu-check, with programs that stand in for the GPU's."""
import importlib.machinery
import importlib.util
import json
import math
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import unittest

import stand_in

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))
import gpu_tests  # noqa: E402 (lies beside the scripts)
import normalised  # noqa: E402
import report_checks  # noqa: E402

# Suite.a passes, b fails, c is skipped, and d is what the variable D says; 20 more pass.
TEST_GPU = r'''
import os, sys, time
names = ["a", "b", "c", "d", *(f"e{i}" for i in range(20))]
pattern = sys.argv[1].split("=", 1)[1]
wanted = [n for n in names if pattern == "*" or f"Suite.{n}" in pattern.split(":")]
if "--gtest_list_tests" in sys.argv:
    print("Running main()\nSuite.  # of tests")
    print("".join(f"  {n}  # GetParam\n" for n in wanted))
    sys.exit(0)
if "SEEN" in os.environ:
    open(os.environ["SEEN"], "a").write(os.environ["CUDA_VISIBLE_DEVICES"] + "\n")
    time.sleep(0.2)  # so that no process takes all tests before the others begin
for n in wanted:
    print(f"[ RUN      ] Suite.{n}", flush=True)
    what = "SKIPPED " if n == "e0" and os.environ.get("RONDO_BACKEND") == "llvm" else "FAILED  " if n == "b" else "SKIPPED " if n == "c" else "     OK "
    if n == "d" and os.environ.get("D") == "crash":
        os.abort()
    if n == "d" and os.environ.get("D") == "hang":
        time.sleep(60)
    if n == "d" and os.environ.get("D") == "gives up" and (len(wanted) > 1 or not os.environ.get("ALONE")):
        print("threads of kernel_fw waited more than 4 s for each other and gave up")
        print(f"[  FAILED  ] Suite.{n} (5 ms)", flush=True)
        continue
    print("2 compared, 1 not finite, 0 ill-conditioned")
    print(f"[  {what}] Suite.{n}, where GetParam() = 7 (5 ms)" if n == "b" else f"[  {what}] Suite.{n} (5 ms)", flush=True)
sys.exit(1 if "b" in wanted else 0)
'''

SANITIZER = r'''
import subprocess, sys
child = subprocess.Popen(sys.argv[sys.argv.index("9") + 1:], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
bad = False
for line in child.stdout:
    print(line, end="", flush=True)
    bad |= "Suite.e7 (" in line
status = child.wait()
print(f"========= ERROR SUMMARY: {int(bad)} errors")
sys.exit(9 if bad else status)
'''


def script(name, folder, *words, **environment):
    return subprocess.run([sys.executable, ROOT / "benchmarks" / name, *words], env=stand_in.environment(folder, **environment),
                          capture_output=True, text=True, check=False)


class GpuTests(unittest.TestCase):
    def setUp(self):
        self.folder = stand_in.folder_of(self, "")
        stand_in.program(self.folder, "test_gpu", TEST_GPU)
        stand_in.program(self.folder, "compute-sanitizer", SANITIZER)
        stand_in.program(self.folder, "nvidia-smi", "print('NVIDIA Test, 1.2')")
        self.record = self.folder / "test-tests.json"

    def run_tests(self, *words, **environment):
        done = script("gpu_tests.py", self.folder, self.folder / "test_gpu", self.record, "--commit", "abc", "--side", "3", *words, **environment)
        return done, json.loads(self.record.read_text(encoding="utf-8"))["runs"] if self.record.exists() else []

    def test_all_gpus_have_their_part(self):
        seen = self.folder / "seen"
        _, (run,) = self.run_tests("--gpus", "2", "--together", "2", SEEN=str(seen))
        self.assertEqual((run["passed"], run["left"]), (22, []))
        self.assertEqual(set(seen.read_text(encoding="utf-8").split()), {"0", "1"})

    def test_what_does_not_end_in_time_is_ended_with_all_that_it_started(self):
        text, status = gpu_tests.output_of(["sh", "-c", "sh -c 'sleep 100 & echo $!; wait' & wait"], 1)
        self.assertIsNone(status)
        end = time.monotonic() + 20  # a busy machine takes its time to end what was killed; the program would sleep for 100 s
        while self.is_running(int(text)) and time.monotonic() < end:
            time.sleep(0.05)
        self.assertFalse(self.is_running(int(text)))

    @staticmethod
    def is_running(process):
        try:
            return pathlib.Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
        except FileNotFoundError:
            return False

    def test_every_test_has_one_verdict(self):
        done, (run,) = self.run_tests()
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual((run["passed"], run["skipped"], run["failed"], run["left"]), (22, 1, {"Suite.b": "failed"}, []))
        self.assertEqual((run["compared"], run["not_finite"]), (48, 24))
        page = report_checks.gpu_tests_page(self.folder)
        self.assertIn("|  | all | 22 | 1 | 1 | 0 |", page)
        self.assertIn("`Suite.b` failed", page)

    def test_a_crash_is_blamed_on_the_test_that_ran_and_the_others_go_on(self):
        _, (run,) = self.run_tests(D="crash")
        self.assertEqual(run["failed"], {"Suite.b": "failed", "Suite.d": "ended the program with status -6"})
        self.assertEqual((run["passed"], run["left"]), (21, []))

    def test_what_gives_up_beside_others_runs_once_more_alone(self):
        _, (run,) = self.run_tests(D="gives up", ALONE="passes")
        self.assertEqual((run["passed"], run["failed"], run["left"]), (22, {"Suite.b": "failed"}, []))
        self.record.unlink()
        _, (run,) = self.run_tests(D="gives up")
        self.assertEqual(run["failed"], {"Suite.b": "failed", "Suite.d": "failed"})

    def test_what_the_time_cuts_off_is_left_for_the_next_call(self):
        begin = time.monotonic()
        done, (run,) = self.run_tests("--seconds", "3", D="hang")
        self.assertLess(time.monotonic() - begin, 30)
        self.assertIn("Suite.d", run["left"])
        self.assertIn(f"{len(run['left'])} left", done.stdout)
        self.assertEqual(run["passed"] + run["skipped"] + len(run["failed"]) + len(run["left"]), 24)
        _, (again,) = self.run_tests()
        self.assertEqual((again["passed"], again["left"]), (22, []))
        _, runs = self.run_tests("--tool", "memcheck", "--filter", "Suite.a")
        self.assertEqual([run["tool"] for run in runs], ["none", "memcheck"])

    def test_long_tests_begin_first_and_alone(self):
        queue = gpu_tests.Queue(["A.a", "Gpu/StreamCells.x/0", "A.b", "Seeds/RandomCells.Pass/1"], time.monotonic() + 100)
        self.assertEqual([queue.take(16) for _ in range(4)], [["Gpu/StreamCells.x/0"], ["Seeds/RandomCells.Pass/1"], ["A.a", "A.b"], []])

    def test_what_the_sanitizer_finds_is_blamed_on_one_test(self):
        _, (run,) = self.run_tests("--tool", "memcheck", "--filter", ":".join(f"Suite.e{i}" for i in range(20)))
        self.assertEqual(run["failed"], {"Suite.e7": "ERROR SUMMARY: 1 errors"})
        self.assertEqual((run["passed"], run["left"]), (19, []))

    def test_what_a_tool_had_no_time_to_say_is_no_verdict(self):
        done, (run,) = self.run_tests("--tool", "memcheck", "--filter", "Suite.a:Suite.d", "--seconds", "3", D="hang")
        self.assertEqual((run["passed"], run["failed"]), (0, {}), done.stdout)
        self.assertEqual(run["left"], ["Suite.a", "Suite.d"])
        _, (again,) = self.run_tests("--tool", "memcheck", "--filter", "Suite.a:Suite.d")
        self.assertEqual((again["passed"], again["left"]), (2, []))

    def test_each_backend_has_an_entry(self):
        self.run_tests()
        _, runs = self.run_tests("--backend", "llvm")
        self.assertEqual([(run.get("backend"), run["passed"], run["skipped"]) for run in runs], [(None, 22, 1), ("llvm", 21, 2)])
        self.assertIn("| llvm | all | 21 | 2 | 1 | 0 |", report_checks.gpu_tests_page(self.folder))

    def test_another_gpu_is_another_record(self):
        self.run_tests()
        stand_in.program(self.folder, "nvidia-smi", "print('NVIDIA Other, 1.2')")
        self.assertIn("take another file", self.run_tests()[0].stderr)


# Seed 12 finds a wrong candidate, seed 13 no winner, seed 14 says nothing that can be read, and seed 15 is ended by a signal.
TUNE = r'''
import json, sys
seed = sys.argv[sys.argv.index("--seed") + 1]
if seed == "14":
    sys.exit("no such seed")
if seed == "15":
    sys.exit(130)
best = None if seed == "13" else {"strategy": "stream", "median_ms": 0.5}
print(json.dumps({"passes": [{"best": best, "rows": [{"status": "wrong" if seed == "12" else "ok"}]}]}))
sys.exit(8 if seed == "13" else 0)
'''


class Tunes(unittest.TestCase):
    def setUp(self):
        self.folder = stand_in.folder_of(self, TUNE)
        self.record = self.folder / "test-tunes.json"

    def tunes(self, seeds, *words):
        done = script("tunes.py", self.folder, self.folder / "rondo", self.record, "--only", "mingru B=8,T=4096.* fw", "--seeds", seeds, *words)
        return done, json.loads(self.record.read_text(encoding="utf-8"))["rows"] if self.record.exists() else []

    def test_winners(self):
        done, rows = self.tunes("11")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertTrue(rows and all(row["winner"] and row["wrong"] == 0 for row in rows))
        self.assertIn(f"| fw | 11 | {len(rows)} | {len(rows)} | 0 |", report_checks.checks_page(self.folder))
        self.assertEqual(len(self.tunes("11")[1]), len(rows))  # not repeated

    def test_what_is_no_winner(self):
        for seed, said in (("12", "a wrong candidate"), ("13", "no winner"), ("14", "no such seed")):
            self.record.unlink(missing_ok=True)
            done, rows = self.tunes(seed)
            self.assertEqual(done.returncode, 1)
            self.assertIn(said, done.stdout)
            self.assertEqual(rows[0]["winner"], seed == "12")

    def test_the_time_is_over(self):
        self.assertEqual(self.tunes("11", "--seconds", "0")[1], [])

    def test_a_tune_that_a_signal_ended_is_left(self):
        self.assertEqual(self.tunes("15")[1], [])
        rows = self.tunes("11")[1]
        self.record.write_text(json.dumps({"device": "NVIDIA Test", "rows": [rows[0] | {"status": 130, "winner": False, "commit": "old"}]}))
        self.assertTrue(all(row["winner"] for row in self.tunes("11")[1]))


# Plain cells take 1 ms; lnlstm 1.5, and 1.25 in a later turn; rmslstm is refused.
BENCH = r'''
import json, os, sys, time
words = sys.argv[1:]
if words[0] == "calibrate":
    open(words[words.index("--db") + 1], "w").close()
if words[0] != "bench":
    print("{}")
    sys.exit(0)
if words[1] == "rmslstm":
    sys.exit("not here")
if os.environ.get("STAND_IN_WAITS") and words[1] == "lngru":
    time.sleep(60)
database = words[words.index("--db") + 1]
key = " ".join(words[1:7])
again = key in open(database).read().split("\n")
open(database, "a").write(key + "\n")
ms = 1.0 if words[1] in ("lstm", "gru") else 1.25 if again else 1.5
print(json.dumps({"rows": [{"strategy": "persistent", "median_ms": ms, "parameters": {}}]}))
'''


class Normalised(unittest.TestCase):
    def test_record_and_page(self):
        folder = stand_in.folder_of(self, BENCH)
        out = folder / "test-normalised.json"
        done = script("normalised.py", folder, folder / "rondo", "--out", out, "--only", "lstm .*768", "--torch", "--turns", "2")
        self.assertEqual(done.returncode, 0, done.stderr)
        first, second = json.loads(out.read_text(encoding="utf-8"))["rows"]
        self.assertEqual((first["cell"], first["ours"]["fw"]["ms"], first["ours"]["fwbw"]["ms"]), ("lnlstm", 1.25, 2.5))
        self.assertEqual(second["ours"]["fw"], {"error": "not here"})
        self.assertIn("error", first["torch"])  # no PyTorch, or no GPU
        page = report_checks.normalised_page(folder)
        self.assertIn("| lnlstm | B=16,T=1024,H=1,D=768 | fw | 1.250 | 1.25 |  |  |", page)
        self.assertIn("| rmslstm | B=16,T=1024,H=1,D=768 | fw |  |  |  |  |", page)


    def run_rows(self, folder, *words, **environment):
        out = folder / "test-normalised.json"
        done = script("normalised.py", folder, folder / "rondo", "--out", out, "--only", "768", "--turns", "1", *words, **environment)
        return done, json.loads(out.read_text(encoding="utf-8"))["rows"] if out.exists() else []

    def test_a_later_run_does_what_is_left(self):
        folder = stand_in.folder_of(self, BENCH)
        done, rows = self.run_rows(folder, "--seconds", "0")
        self.assertEqual((done.returncode, rows), (0, []), done.stderr)
        self.assertIn("3 of 3 rows are left", done.stdout)
        self.assertEqual(len(self.run_rows(folder, "--only", "^lnlstm.*768")[1]), 1)
        done, rows = self.run_rows(folder)
        self.assertEqual([row["cell"] for row in rows], ["lnlstm", "rmslstm", "lngru"], done.stderr)
        self.assertNotIn("lnlstm", done.stdout)
        done, rows = self.run_rows(folder, "--only", "^rmslstm.*768", "--again", "--commit", "another")
        self.assertEqual([(row["cell"], row["commit"] == "another") for row in rows], [("lnlstm", False), ("rmslstm", True), ("lngru", False)])
        refused, rows = self.run_rows(folder, "--budget", "3s")
        self.assertIn("take another file", refused.stderr)
        self.assertEqual(len(rows), 3)

    def test_a_signal_ends_it_with_the_rows_that_were_done(self):
        folder = stand_in.folder_of(self, BENCH)
        out = folder / "test-normalised.json"
        run = subprocess.Popen([sys.executable, ROOT / "benchmarks/normalised.py", folder / "rondo", "--out", out, "--only", "768", "--turns", "1"],
                               env=stand_in.environment(folder, STAND_IN_WAITS="1", PYTHONUNBUFFERED="1"), stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, start_new_session=True)
        for _ in range(2):
            run.stdout.readline()  # a row is done
        os.killpg(run.pid, signal.SIGINT)
        said = run.communicate(timeout=50)[1]
        self.assertEqual(run.returncode, 130, said)
        self.assertEqual(said.strip().splitlines()[-1], "ended by a signal: the record has the rows that were done")
        self.assertNotIn("normalised.py", said)  # no trace of the script's own
        self.assertEqual(len(json.loads(out.read_text(encoding="utf-8"))["rows"]), 2)


class NormalisedGate(unittest.TestCase):
    """PyTorch's loop is timed only where it is the cell: the errors that say so, on lists of numbers."""

    def setUp(self):
        self.exact = [math.sin(i) for i in range(1000)]

    def refusal(self, **changed):
        """With the states of fp32 and bf16 as they should be, or those that are given."""
        found = {}
        for kind, rounding in (("fp32", 1e-7), ("bf16", 4e-3)):
            good = [x * (1 + rounding * (-1) ** i) for i, x in enumerate(self.exact)]
            found[kind] = {"h": normalised.errors(good, self.exact), "c": normalised.errors(changed.get(kind, good), self.exact)}
        return normalised.refusal(found)

    def test_rounding_passes(self):
        self.assertEqual(self.refusal(), "")

    def test_one_wrong_number_in_fp32_is_refused(self):
        wrong = self.exact[:7] + [self.exact[7] + 1e-3] + self.exact[8:]
        self.assertIn("fp32: the largest error of c over the first 16 steps is 0.001", self.refusal(fp32=wrong))

    def test_a_loop_in_bf16_that_computes_something_else_is_refused(self):
        self.assertIn("bf16: the rms error of c", self.refusal(bf16=[1.1 * x for x in self.exact]))
        self.assertIn("bf16", self.refusal(bf16=[0.0] * 1000))

    def test_what_is_no_number_is_refused(self):
        for kind in ("fp32", "bf16"):
            self.assertIn(kind, self.refusal(**{kind: [math.nan] + self.exact[1:]}))

    def test_one_that_is_far_off_in_bf16_is_chaos_and_many_are_not(self):
        self.assertEqual(self.refusal(bf16=[self.exact[0] + 0.3] + self.exact[1:]), "")
        self.assertIn("bf16", self.refusal(bf16=[x + 0.3 * (i < 100) for i, x in enumerate(self.exact)]))


class GpuCheck(unittest.TestCase):
    def setUp(self):
        self.folder = stand_in.folder_of(self, TUNE)
        stand_in.program(self.folder, "test_gpu", TEST_GPU)
        stand_in.program(self.folder, "nvidia-smi", "print('NVIDIA Test, 1.2')")

    def check(self, *words, **environment):
        return subprocess.run([ROOT / "tools/gpu-check", self.folder, self.folder / "out", *words], capture_output=True, text=True, check=False,
                              env=stand_in.environment(self.folder, RONDO_COMMIT="abc", **environment))

    def test_a_wrong_call_says_all_at_once(self):
        done = self.check("tests", "all", "min")
        self.assertEqual(done.returncode, 2)
        self.assertIn("no stage 'all'", done.stderr)
        self.assertIn("librondo.so is missing, which the stage min needs", done.stderr)

    def test_no_gpu(self):
        stand_in.program(self.folder, "nvidia-smi", "import sys\nsys.exit(9)")
        self.assertEqual(self.check("tests").returncode, 4)

    def test_a_stage_writes_record_and_log(self):
        done = self.check("--budget", "3s", "tests")  # stages behind options as well
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)  # Suite.b fails
        self.assertIn("tests: FAILED with status 1", done.stdout)
        run, = json.loads((self.folder / "out/tests.json").read_text(encoding="utf-8"))["runs"]
        self.assertEqual((run["commit"], run["passed"]), ("abc", 22))
        self.assertIn("22 passed", (self.folder / "out/tests.log").read_text(encoding="utf-8"))

    def test_the_limit_ends_a_stage_and_keeps_what_it_has(self):
        done = self.check("tests", "tunes", "--seconds", "2", D="hang")
        self.assertEqual(done.returncode, 1)
        self.assertIn("tunes: not begun, the time is over", done.stdout)
        run, = json.loads((self.folder / "out/tests.json").read_text(encoding="utf-8"))["runs"]
        self.assertIn("Suite.d", run["left"])

    def test_what_is_packed_is_unpacked_where_it_is_used(self):
        shutil.copy(shutil.which("true"), self.folder / "librondo.so")
        (self.folder / "librondo_rt.a").write_bytes(bytes(20 << 20))
        for name in ("rondo", "test_gpu"):  # strip takes programs of a machine only
            shutil.copy(shutil.which("true"), self.folder / name)
        packed = self.folder / "packed"
        done = subprocess.run([ROOT / "tools/gpu-check", self.folder, packed, "--pack"], capture_output=True, text=True, check=True)
        self.assertIn("bench_capi is missing", done.stdout)
        self.assertEqual(sorted(file.name for file in packed.iterdir()), ["librondo.so", "librondo_rt.a.xz", "rondo", "test_gpu"])
        done = subprocess.run([ROOT / "tools/gpu-check", packed, self.folder / "out", "service"], capture_output=True, text=True, check=False,
                              env=stand_in.environment(self.folder))
        self.assertNotEqual(done.returncode, 2, done.stderr)
        self.assertEqual((packed / "librondo_rt.a").read_bytes(), bytes(20 << 20))

    def test_every_stage_names_a_script_with_its_options(self):
        loader = importlib.machinery.SourceFileLoader("gpu_check", str(ROOT / "tools/gpu-check"))
        gpu_check = importlib.util.module_from_spec(importlib.util.spec_from_loader("gpu_check", loader))
        sys.modules["gpu_check"] = gpu_check
        sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
        self.addCleanup(setattr, sys, "dont_write_bytecode", before)
        loader.exec_module(gpu_check)
        options = gpu_check.options_of([str(self.folder), str(self.folder), "--budget", "1s"])
        for name, stage in gpu_check.STAGES.items():
            words = gpu_check.command(options, stage, 60)
            text = pathlib.Path(words[1]).read_text(encoding="utf-8")
            for word in words[2:]:
                if word.startswith("--"):
                    self.assertIn(f'"{word}"', text, f"{name}: {words[1]}")


if __name__ == "__main__":
    unittest.main()
