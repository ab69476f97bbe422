"""benchmarks/floors.py with a stand-in for nvcc, whose programs print what a GPU would have taken."""
import json
import pathlib
import subprocess
import sys
import unittest

import stand_in

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
NVCC = r'''
import os, pathlib, sys
source, program = pathlib.Path(sys.argv[-3]), pathlib.Path(sys.argv[-1])
assert source.exists() and sys.argv[-2] == "-o", sys.argv
device = "Other" if source.stem == os.environ.get("ELSEWHERE") else "Test"
status = 3 if source.stem == os.environ.get("GIVES_UP") else 0
program.write_text(f"""#!/bin/sh
echo '{{"device": "{device}", "{source.stem}_ns": 7.5}}'
echo gave up >&2
exit {status}
""")
program.chmod(0o755)
'''


class Floors(unittest.TestCase):
    def setUp(self):
        self.folder = stand_in.folder_of(self, "")
        stand_in.program(self.folder, "nvcc", NVCC)
        self.out = self.folder / "out.json"

    def run_script(self, *words, **more):
        return subprocess.run([sys.executable, ROOT / "benchmarks/floors.py", self.out, "--commit", "abc", *words], capture_output=True,
                              text=True, env=stand_in.environment(self.folder, **more), check=False)

    def test_every_program_is_run(self):
        done = self.run_script()
        self.assertEqual(done.returncode, 0, done.stderr)
        names = [source.stem for source in (ROOT / "benchmarks/floors").glob("*.cu")]
        self.assertGreaterEqual(len(names), 3)
        self.assertEqual(json.loads(self.out.read_text(encoding="utf-8")),
                         {"device": "Test", "commit": "abc", "unit": "ns", "floors": {name: {f"{name}_ns": 7.5} for name in names}})

    def test_what_was_printed_elsewhere_is_read(self):
        for source in (ROOT / "benchmarks/floors").glob("*.cu"):
            (self.folder / f"{source.stem}.json").write_text('{"device": "Far", "x_ns": 1}\n', encoding="utf-8")
        self.assertEqual(self.run_script("--from", self.folder).returncode, 0)
        self.assertEqual(json.loads(self.out.read_text(encoding="utf-8"))["device"], "Far")

    def test_a_program_that_gives_up_leaves_no_record(self):
        done = self.run_script(GIVES_UP="team_moments")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("gave up", done.stderr)
        self.assertFalse(self.out.exists())

    def test_figures_of_two_devices_are_no_record(self):
        done = self.run_script(ELSEWHERE="team_exchange")
        self.assertIn("several devices: Other, Test", done.stderr)
        self.assertFalse(self.out.exists())


if __name__ == "__main__":
    unittest.main()
