"""tools/lint --commits: subjects that follow the rules pass, and each rule that is broken is told."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
GOOD = ["Add a strategy for few channels", "Pass the target as one value", "Speed up the solver", "Embed the cells", "Keep " + "x" * 67]


class Commits(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        (self.folder / "tools").mkdir()
        shutil.copy(ROOT / "tools/lint", self.folder / "tools/lint")
        self.git("init", "-q")
        self.commit("Begin")

    def git(self, *words):
        who = {f"GIT_{which}_{what}": "a@example.org" for which in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        subprocess.run(["git", *words], cwd=self.folder, env=os.environ | who | {"GIT_CONFIG_GLOBAL": "/dev/null"}, check=True)

    def commit(self, message):
        self.git("commit", "-q", "--allow-empty", "-m", message)

    def lint(self, commits):
        return subprocess.run([self.folder / "tools/lint", "--commits", commits], capture_output=True, text=True, check=False)

    def test_good_subjects_pass(self):
        for subject in GOOD:
            self.commit(subject + "\n\nIts body may say anything; The why, at any length.")
        done = self.lint(f"HEAD~{len(GOOD)}..")
        self.assertEqual((done.returncode, done.stdout), (0, "lint: clean\n"), done.stderr)

    def test_each_rule_is_told(self):
        for subject, told in (("Keep " + "x" * 68, "73 characters, more than 72"), ("Add this; mend that", "two subjects"),
                              ("The solver is faster", "'The' is no verb"), ("Docs: a page of tests", "'Docs:' is no verb"),
                              ("add a page", "'add' is no verb"), ("Added a page", "not 'Adds', 'Added'"), ("Fixes a page", "not 'Adds'"),
                              ("Adding a page", "or 'Adding'")):
            self.commit(subject)
            done = self.lint("HEAD~1..")
            self.assertEqual(done.returncode, 1, subject)
            self.assertIn(f"'{subject}': ", done.stdout)
            self.assertIn(told, done.stdout)

    def test_only_the_range_counts(self):
        self.commit("Added a page")
        self.commit("Add a page")
        self.assertEqual(self.lint("HEAD~1..").returncode, 0)
        self.assertEqual(self.lint("HEAD~2..").returncode, 1)

    def test_no_commits_are_clean_and_no_range_is_an_error(self):
        self.assertEqual(self.lint("HEAD..").returncode, 0)
        self.assertEqual(self.lint("nowhere..").returncode, 2)


if __name__ == "__main__":
    unittest.main()
