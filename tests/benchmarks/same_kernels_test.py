"""benchmarks/same_kernels.py, with programs that print texts instead of `rondo`."""
import json
import pathlib
import subprocess
import sys
import unittest

import stand_in

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

# Prints the problem and a comment of its own; of gru another kernel, and no lstm at all, as told.
RONDO = r'''
import sys
words = sys.argv[1:]
assert words[0] == "emit"
if words[1] in REFUSED or VERSION == 1 and "stream_stores=0" in words:  # added after it
    sys.exit("no such strategy")
print("// by version", VERSION)
print("kernel", *(word for word in words[1:] if word in words[1:4] or word == "channels=32"), "another" if words[1] in CHANGED else "")
'''


def row(cell, which):
    return {"cell": cell, "shape": {"B": 1, "T": 2, "H": 1, "D": 4}, "dtype": "bf16", "pass": which, "strategy": "stream", "parameters": {"channels": 32}}


class SameKernels(unittest.TestCase):
    def setUp(self):
        self.folder = stand_in.folder_of(self, "")
        self.record = self.folder / "record.json"
        self.record.write_text(json.dumps({"rows": [row("mingru", "fw"), row("mingru", "fwbw")], "dense": [row("gru", "bw"), row("lstm", "fw")]}))

    def compare(self, changed=(), refused=(), refused_before=(), also=None):
        old = stand_in.program(self.folder, "old", f"VERSION, CHANGED, REFUSED = 1, (), {refused_before!r}\n{RONDO}")
        new = stand_in.program(self.folder, "new", f"VERSION, CHANGED, REFUSED = 2, {changed!r}, {refused!r}\n{RONDO}")
        words = []
        if also is not None:  # of commit abb, with other kernels of these cells
            words = ["--also", f"ab={stand_in.program(self.folder, 'also', f'VERSION, CHANGED, REFUSED = 3, {also!r}, (){chr(10)}{RONDO}')}"]
        done = subprocess.run([sys.executable, ROOT / "benchmarks/same_kernels.py", old, new, self.record, "--commit", "abc", *words],
                              env=stand_in.environment(self.folder), capture_output=True, text=True, check=False)
        return done, json.loads(self.record.read_text(encoding="utf-8"))["same_kernels"]

    def test_comments_are_no_kernels(self):
        done, found = self.compare()
        self.assertEqual((done.returncode, found), (0, {"commit": "abc", "rows": 3, "changed": [], "refused": []}), done.stderr)
        self.assertIn("3 of 3 rows", done.stdout)

    def test_another_kernel_and_a_refusal_are_named(self):
        done, found = self.compare(changed=("gru",), refused=("lstm",))
        self.assertEqual(done.returncode, 1)
        self.assertEqual(found["changed"], ["gru B=1 T=2 D=4 bf16 bw"])
        self.assertIn("lstm B=1 T=2 D=4 bf16 fw: status 1: no such strategy", found["refused"])
        self.assertIn("1 of 3 rows", done.stdout)

    def test_a_refusal_by_the_old_program_is_no_other_kernel(self):
        done, found = self.compare(refused_before=("gru",))
        self.assertEqual((done.returncode, found["changed"]), (1, []))
        self.assertEqual([said.split(":")[0] for said in found["refused"]], ["gru B=1 T=2 D=4 bf16 bw"])

    def test_rows_of_another_commit_are_compared_with_its_program(self):
        rows = [row("gru", "bw") | {"commit": "abbe"}, row("mingru", "fw") | {"commit": "77"}]
        self.record.write_text(json.dumps({"rows": [], "dense": rows}))
        # gru is another kernel than the record's program has, and that of its own commit.
        self.assertEqual(self.compare(changed=("gru",), also=("gru",))[1]["changed"], [])
        self.assertEqual(self.compare(changed=("gru",))[1]["changed"], ["gru B=1 T=2 D=4 bf16 bw"])
        self.assertEqual(self.compare(also=("mingru", "gru"))[1]["changed"], ["gru B=1 T=2 D=4 bf16 bw"])

    def test_what_was_measured_at_the_commit_is_not_compared(self):
        rows = [row("gru", "bw") | {"commit": "abc"}, row("lstm", "fw") | {"commit": "abb"}]
        self.record.write_text(json.dumps({"rows": [], "dense": rows}))
        done, found = self.compare(changed=("gru", "lstm"))
        self.assertEqual((done.returncode, found["rows"]), (1, 2))
        self.assertEqual(found["changed"], ["lstm B=1 T=2 D=4 bf16 fw"])

    def test_a_row_without_a_commit_was_measured_at_that_of_the_record(self):
        for commit, changed in (("abc", []), ("abb", ["gru B=1 T=2 D=4 bf16 bw"])):
            self.record.write_text(json.dumps({"commit": commit, "rows": [], "dense": [row("gru", "bw")]}))
            self.assertEqual(self.compare(changed=("gru",))[1]["changed"], changed)


if __name__ == "__main__":
    unittest.main()
