"""benchmarks/service.py with the real program, library and service, over a driver that computes nothing.

usage: service_record_test.py FOLDER_OF_BINARIES FAKE_CUDA C_COMPILER
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import stand_in

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
COMPILER, FAKE, BUILD = (sys.argv.pop() for _ in range(3))


class ServiceRecord(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        stand_in.program(self.folder, "nvidia-smi", "print('NVIDIA Test, 9.0')")
        stand_in.program(self.folder, "rondo", f"import os, sys\nos.execv({BUILD + '/rondo'!r}, ['rondo', *sys.argv[1:], '--no-self-test'])")
        (self.folder / "librondo_rt.a").symlink_to(pathlib.Path(BUILD, "librondo_rt.a").resolve())

    def service(self, *words, **environment):
        done = subprocess.run([sys.executable, ROOT / "benchmarks/service.py", self.folder, self.folder / "out.json", "--commit", "abc", "--dim", "32", "--compiler", COMPILER,
                               *words], capture_output=True, text=True, check=False,
                              env=stand_in.environment(self.folder, RONDO_LIBCUDA=FAKE, RONDO_SHIPPED="none", **environment))
        out = self.folder / "out.json"
        return done, json.loads(out.read_text(encoding="utf-8")) if out.exists() else None

    def test_a_record_of_a_run(self):
        done, record = self.service("--minutes", "0.02")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(record["requests"], 0)
        self.assertEqual((record["device"], record["commit"], record["grown"]), ("NVIDIA Test", "abc", False))
        self.assertGreaterEqual(record["p99_ms"], record["p50_ms"])

    def test_a_leak_fails(self):
        done, record = self.service("--minutes", "0.02", RONDO_FAKE_LEAK="device")
        self.assertEqual(done.returncode, 1)
        self.assertTrue(record["grown"])

    def test_no_time_is_left(self):
        done, record = self.service("--limit", "30")
        self.assertIn("no time is left", done.stderr)
        self.assertIsNone(record)


if __name__ == "__main__":
    unittest.main()
