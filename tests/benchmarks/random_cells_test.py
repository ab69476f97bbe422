"""benchmarks/random_cells.py with a program that stands in for test_engine, and its table."""
import json
import pathlib
import subprocess
import sys
import unittest

import stand_in

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))
import report_checks  # noqa: E402 (lies beside the scripts)

TEST_ENGINE = r'''
import os, sys
if os.environ.get("ENDS"):
    sys.exit(3)
cells = int(os.environ["RONDO_RANDOM_CELLS"])
wrong = bool(os.environ.get("WRONG"))
if wrong:
    print("/src/false_alarms_test.cpp:73: Failure\nh_out: 2 times the limit")
if "Native" in sys.argv[1]:
    print(f"{2 * cells - 1} passes compared, 1 not computed by the strategy, 0 not finite")
else:
    print(f"{6 * cells} verifications of random cells: {6 * cells - 3} passed, 0 of no strategy, 2 not finite, 1 ill-conditioned")
sys.exit(wrong)
'''


class RandomCells(unittest.TestCase):
    def setUp(self):
        self.folder = stand_in.folder_of(self, "")
        self.program = stand_in.program(self.folder, "test_engine", TEST_ENGINE)
        self.record = self.folder / "random-cells.json"

    def run_script(self, *words, **variables):
        return subprocess.run([sys.executable, ROOT / "benchmarks/random_cells.py", self.program, str(self.record), "--commit", "abc1234", *words],
                              env=stand_in.environment(self.folder, **variables), text=True, capture_output=True, check=False)

    def rows(self):
        return {row["which"]: row for row in json.loads(self.record.read_text(encoding="utf-8"))["rows"]}

    def test_counts_are_those_that_the_tests_print(self):
        done = self.run_script("--simulator", "20", "--native", "10")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = self.rows()
        self.assertEqual((rows["simulator"]["passed"], rows["simulator"]["ill_conditioned"], rows["native"]["passed"]), (117, 1, 19))
        page = report_checks.checks_page(self.folder)
        self.assertRegex(page, r"\| [0-9-]+ \| 20 \| 117 \| 0 \| 0 \| 2 \| 1 \|")

    def test_what_is_called_wrong_is_counted_and_fails(self):
        done = self.run_script("--simulator", "20", "--native", "0", WRONG="1")
        self.assertEqual((done.returncode, self.rows()["simulator"]["failures"]), (1, 1))
        self.assertIn("2 times the limit", done.stdout)

    def test_one_that_comes_to_no_end_is_no_record(self):
        done = self.run_script("--native", "0", ENDS="1")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("did not come to their end", done.stderr)
        self.assertFalse(self.record.exists())


if __name__ == "__main__":
    unittest.main()
