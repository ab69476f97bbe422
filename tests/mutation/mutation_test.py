"""The list of planted faults can still be planted, its cases are still points of their spaces, and its record says that each fault was
found; without building.

usage: mutation_test.py RONDO
"""
import copy
import pathlib
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE))
import faults as planted  # noqa: E402 (lies beside this test)
import run  # noqa: E402

LEAST = 500  # faults
RONDO = sys.argv.pop(1)


def faults_of_list(faults, cases):
    """What is wrong with the list: texts that do not stand exactly once in their file, cases that there are not."""
    wrong = []
    if len(faults) < LEAST:
        wrong.append(f"{len(faults)} faults, fewer than {LEAST}")
    if len({fault["name"] for fault in faults}) < len(faults):
        wrong.append("a name twice")
    for fault in faults:
        path = ROOT / fault["file"]
        times = path.read_text(encoding="utf-8").count(fault["old"]) if path.is_file() else 0
        if times != 1:
            wrong.append(f"{fault['name']}: the text stands {times} times in {fault['file']}")
        if fault["old"] == fault["new"]:
            wrong.append(f"{fault['name']}: it changes nothing")
        if bool(fault["test"]) == bool(fault["cases"]):
            wrong.append(f"{fault['name']}: it has cases or a test, and not both")
        wrong += [f"{fault['name']}: no case '{case}'" for case in fault["cases"] if case not in cases]
    return wrong


def faults_of_record(faults, record):
    """What is wrong with the record: faults that were not run as they are now, or not found in one of their types."""
    wrong = []
    for fault in faults:
        known = record["faults"].get(fault["name"])
        if known is None or known["digest"] != run.digest(fault):
            wrong.append(f"{fault['name']}: not run as it is now; run tests/mutation/run.py --new")
            continue
        for kind in ["test"] if fault["test"] else planted.TYPES:
            found = known["found"].get(kind, {})
            if not any(found.get(key) for key in ("tensor", "fault", "test")):
                wrong.append(f"{fault['name']}: not found in {kind}")
    return wrong


class Mutation(unittest.TestCase):
    def test_every_fault_can_be_planted(self):
        self.assertEqual(faults_of_list(planted.FAULTS, planted.CASES), [])

    def test_every_case_can_be_built(self):
        for case in planted.CASES:
            for storage in planted.TYPES:
                words = [word for word in run.command(case, storage)[1:] if word not in ("--simulate", "--no-gpu")]
                words[words.index("--seed"):] = []
                done = subprocess.run([RONDO, "emit", *words, "--stage", "launches"], capture_output=True, text=True, check=False, cwd=ROOT)
                self.assertEqual(done.returncode, 0, f"{case} {storage}: {done.stderr}")

    def test_every_fault_was_found_in_every_type(self):
        self.assertEqual(faults_of_record(planted.FAULTS, run.load_score()), [])

    def test_a_bad_list_is_found(self):
        def damaged(**changes):
            return faults_of_list([*planted.FAULTS[1:], planted.FAULTS[0] | changes], planted.CASES)

        self.assertIn("stands 0 times", damaged(old="a text that stands nowhere")[0])
        self.assertIn("stands 0 times", damaged(file="compiler/no_file.cpp")[0])
        self.assertGreater(len(damaged(old="Value")), 0)  # more than once
        self.assertIn("changes nothing", damaged(new=planted.FAULTS[0]["old"])[0])
        self.assertIn("no case", damaged(cases=["no such case"])[0])
        self.assertIn("cases or a test", damaged(cases=[])[0])
        self.assertIn("a name twice", damaged(name=planted.FAULTS[1]["name"])[0])
        self.assertIn("fewer than", faults_of_list(planted.FAULTS[:LEAST - 1], planted.CASES)[0])

    def test_a_bad_record_is_found(self):
        record = run.load_score()
        fault = next(fault for fault in planted.FAULTS if fault["cases"])
        name = fault["name"]

        def damaged(change):
            bad = copy.deepcopy(record)
            change(bad["faults"])
            return [line for line in faults_of_record(planted.FAULTS, bad) if line.startswith(name)]

        self.assertIn("not run", damaged(lambda all_faults: all_faults.pop(name))[0])
        self.assertIn("not run", damaged(lambda all_faults: all_faults[name].update(digest=""))[0])
        self.assertIn("not found in fp16", damaged(lambda all_faults: all_faults[name]["found"].pop("fp16"))[0])
        self.assertIn("not found in fp32", damaged(
            lambda all_faults: all_faults[name]["found"].update(fp32={"missed": "status 0"}))[0])

    def test_only_a_wrong_result_counts(self):
        wrong = "  h_out: error 1.0e+00 (limit 2.0e-03, by rounding 1.0e-05) at B=3,T=41: WRONG\n"
        self.assertEqual(run.finding_of_verify(run.WRONG, wrong)["tensor"], "h_out")
        self.assertEqual(run.finding_of_verify(run.WRONG, "  fault: B=1: race\n")["fault"], "B=1: race")
        self.assertIsNone(run.finding_of_verify(-11, wrong))  # a crash
        self.assertIsNone(run.finding_of_verify(70, "  fault: a defect\n"))
        self.assertIsNone(run.finding_of_verify(None, ""))  # a time-out
        self.assertIsNone(run.finding_of_verify(0, "  h_out: error 1.0e-05\n"))
        failed = "[  FAILED  ] Clip.One (0 ms)\n 1 FAILED TEST\n"
        self.assertEqual(run.finding_of_test(1, failed)["test"], "Clip.One")
        self.assertIsNone(run.finding_of_test(-6, failed))
        self.assertIsNone(run.finding_of_test(0, "[  PASSED  ] 3 tests.\n"))
        in_c = "/a/launch_test.c:12: it does not hold that a == b\n9 checks, 1 failed\n"
        self.assertEqual(run.finding_of_test(1, in_c)["test"], "launch_test.c: it does not hold that a == b")
        self.assertIsNone(run.finding_of_test(-11, in_c))
        self.assertIsNone(run.finding_of_test(1, "/a/launch_test.c:12: it does not hold that a == b\n"))
        self.assertIsNone(run.finding_of_test(0, "9 checks, 0 failed\n"))
        in_python = "FAILED ../tests/python/test_chunks.py::test_lengths[gru] - assert 1\n1 failed, 9 passed in 2.00s\n"
        self.assertEqual(run.finding_of_test(1, in_python)["test"], "test_chunks.py::test_lengths[gru]")
        self.assertIsNone(run.finding_of_test(2, "ERROR ../tests/python/test_chunks.py\n1 error in 2.00s\n"))
        self.assertIsNone(run.finding_of_test(-11, in_python))


if __name__ == "__main__":
    unittest.main()
