#!/usr/bin/env python3
"""`rondo tune --list` on CPUs: nothing is tuned twice, shards meet in one database, and what failed or was stopped is made up.

usage: tune_list_test.py RONDO"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

RONDO = ""
PROBLEMS = [{"cell": "mingru", "shape": ["B=1,T=64,H=1,D=32", "B=2,T=64,H=1,D=32"], "dtype": "fp32", "pass": "fw,bw"},
            {"cell": "lstm", "shape": "B=1,T=8,H=1,D=16", "dtype": "fp32"}]
NAMES = ["mingru B=1,T=64,H=1,D=32 fp32 fw", "mingru B=1,T=64,H=1,D=32 fp32 bw", "mingru B=2,T=64,H=1,D=32 fp32 fw",
         "mingru B=2,T=64,H=1,D=32 fp32 bw", "lstm B=1,T=8,H=1,D=16 fp32 fw"]
CLUSTERS = ("SLURM_ARRAY_TASK_ID", "SLURM_PROCID", "RANK", "JOB_COMPLETION_INDEX")


class TuneList(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.environment = {key: value for key, value in os.environ.items() if key not in CLUSTERS}
        self.write(PROBLEMS)

    def write(self, problems):
        text = json.dumps({"format": "rondo-package-list", "version": 1, "problems": problems})
        (self.folder / "list.json").write_text(text, encoding="utf-8")

    def words(self, *more, budget="200ms"):
        return [RONDO, "tune", "--list", self.folder / "list.json", "--arch", "cpu", "--db", self.folder / "tuning.db", "--budget", budget,
                "--json", *more]

    def tune(self, *more, status=0, environment=None):
        done = subprocess.run(self.words(*more), capture_output=True, text=True, env=self.environment | (environment or {}), check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return (json.loads(done.stdout) if done.stdout else None), done.stderr

    def trials(self, database="tuning.db"):
        done = subprocess.run([RONDO, "db", "list", "--db", self.folder / database, "--json"], capture_output=True, text=True, check=True)
        return {(each["cell_name"], each["shape"]["B"], each["pass"]): each["trials"] for each in json.loads(done.stdout)["problems"]}

    def test_what_is_tuned_is_skipped(self):
        told, said = self.tune("--side", "2")
        self.assertEqual([each["problem"] for each in told["problems"]], NAMES)
        self.assertEqual({each["status"] for each in told["problems"]}, {"tuned"})
        self.assertTrue(all(each["median_ms"] > 0 and each["strategy"] == "host" for each in told["problems"]))
        self.assertIn("5 problems, 0 of them tuned already, 5 to tune, 2 at a time", said)
        self.assertIn("5/5 ", said)
        trials = self.trials()
        self.assertEqual(len(trials), 5)
        told, said = self.tune()
        self.assertEqual({each["status"] for each in told["problems"]}, {"known"})
        self.assertEqual(self.trials(), trials)
        # What is named twice is tuned once.
        self.write([*PROBLEMS, PROBLEMS[1], {"cell": "lstm", "shape": "T=8,B=1,D=16,H=1", "dtype": "fp32", "pass": "fw"}])
        self.assertEqual(len(self.tune()[0]["problems"]), 5)

    def test_shards_meet_in_one_database(self):
        first, said = self.tune("--shard", "1/2")
        self.assertEqual([each["problem"] for each in first["problems"]], NAMES[::2])
        self.assertIn(f"`rondo db merge {self.folder}/tuning.1-of-2.db --db {self.folder}/tuning.db`", said)
        second, said = self.tune(environment={"RANK": "1", "WORLD_SIZE": "2"})
        self.assertIn("part 2/2 (RANK)", said)
        self.assertEqual([each["problem"] for each in second["problems"]], NAMES[1::2])
        self.assertFalse(set(self.trials("tuning.1-of-2.db")) & set(self.trials("tuning.2-of-2.db")))
        self.assertFalse((self.folder / "tuning.db").exists())
        # The second shard was lost: the next run makes up what is not there.
        merge = [RONDO, "db", "merge", self.folder / "tuning.1-of-2.db", "--db", self.folder / "tuning.db"]
        subprocess.run(merge, check=True, capture_output=True)
        self.assertEqual([each["status"] for each in self.tune("--shard", "1/2")[0]["problems"]], ["known"] * 3)
        whole, _ = self.tune()
        self.assertEqual([each["status"] for each in whole["problems"]], ["known", "tuned", "known", "tuned", "known"])

    def test_what_cannot_be_tuned_is_told_of_and_the_rest_is_tuned(self):
        problems = [{"cell": "own.cell", "shape": "B=1,T=8,H=1,D=16", "dtype": "fp32"}, PROBLEMS[1]]
        self.write(problems)
        cell = self.folder / "own.cell"
        cell.write_text("cell own(D) {\n  input x[D]\n  state h[D]\n  next h = h + x\n  output h\n}\n", encoding="utf-8")
        _, said = self.tune("--strategy", "nosuch", status=2)
        self.assertIn("2 of 2 problems could not be tuned, the first of them", said)
        self.assertIn("skips what is tuned", said)
        told, _ = self.tune()
        self.assertEqual([each["status"] for each in told["problems"]], ["tuned", "tuned"])

    def test_a_wrong_list_is_refused_whole(self):
        self.write([{"cell": "nosuch", "shape": "B=1,T=8,H=1,D=16"}, {"cell": "lstm", "shape": "B=0,D=16"}, {"cell": "gru", "shape": "B=1", "pas": "fw"}])
        _, said = self.tune(status=2)
        self.assertIn("problems[2] has an unknown member 'pas'", said)
        self.write([{"cell": "nosuch", "shape": "B=1,T=8,H=1,D=16"}, {"cell": "lstm", "shape": "B=-1,D=16"}])
        _, said = self.tune(status=4)
        self.assertIn("problems[0]", said)
        self.assertIn("problems[1]", said)
        self.assertFalse(list(self.folder.glob("*.db")))
        for words, text in ((["--shard", "3/2"], "3/2"), (["--gpus", "0"], "--arch cpu tunes for CPUs"), (["lstm"], "a cell and --list"),
                            (["--no-db"], "--list needs a database")):
            self.write(PROBLEMS)
            self.assertIn(text, self.tune(*words, status=2)[1])
        done = subprocess.run([RONDO, "tune", "lstm", "--gpus", "all"], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, "--gpus without --list" in done.stderr), (2, True))

    def test_after_ctrl_c_the_rest_is_left_and_made_up(self):
        with subprocess.Popen(self.words(budget="2s"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.environment) as process:
            for line in process.stderr:
                if "1/5 " in line:
                    process.send_signal(signal.SIGINT)
                    break
            out, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        statuses = [each["status"] for each in json.loads(out)["problems"]]
        self.assertEqual(statuses[0], "tuned")
        self.assertIn("left", statuses)
        self.assertEqual(statuses[-1], "left")
        subprocess.run([RONDO, "db", "check", "--db", self.folder / "tuning.db"], check=True, capture_output=True)
        told, _ = self.tune()
        self.assertEqual({each["status"] for each in told["problems"]}, {"tuned", "known"})


if __name__ == "__main__":
    RONDO = sys.argv.pop(1)
    unittest.main()
