#!/usr/bin/env python3
"""The headers of the C interface, as a program sees them: a status that nobody looks at is a warning.

usage: headers_test.py C_COMPILER CXX_COMPILER
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CC, CXX = (sys.argv.pop(1), sys.argv.pop(1)) if len(sys.argv) > 2 else ("cc", "c++")
LANGUAGES = [(CC, "c", "c11"), (CC, "c", "c2x"), (CXX, "c++", "c++17"), (CXX, "c++", "c++20")]


def warnings(compiler, language, standard, body):
    """What the compiler says of a program with this body; "" where it says nothing."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "program"
        path.write_text(f"#include <rondo/rondo.h>\nint main(void) {{\n  {body}\n}}\n")
        command = [compiler, "-x", language, f"-std={standard}", "-Wall", "-Wextra", "-Wpedantic", "-c", "-o", f"{folder}/program.o",
                   "-I", ROOT / "include", path]
        return subprocess.run(command, capture_output=True, text=True, check=True).stderr


class Statuses(unittest.TestCase):
    def test_all_calls_but_those_that_destroy_want_a_look(self):
        calls = [call for header in sorted((ROOT / "include/rondo").glob("*.h"))
                 for call in re.findall(r"^(.*)RONDO_API\s+rondo_status\s+(\w+)\(", header.read_text(encoding="utf-8"), re.M)]
        self.assertGreater(len(calls), 40)
        for before, name in calls:
            self.assertEqual(before.strip(), "" if name.endswith("_destroy") else "RONDO_MUST_USE", name)

    def test_a_compiler_warns_of_a_status_that_is_ignored(self):
        for language in LANGUAGES:
            self.assertIn("-Wunused-result", warnings(*language, "rondo_launch(NULL, NULL); return 0;"), language)

    def test_a_compiler_warns_of_nothing_else(self):
        for language in LANGUAGES:
            self.assertEqual(warnings(*language, "rondo_plan_destroy(NULL); return rondo_launch(NULL, NULL) == RONDO_OK;"), "", language)


if __name__ == "__main__":
    unittest.main()
