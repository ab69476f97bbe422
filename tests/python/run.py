#!/usr/bin/env python3
"""The tests of the package rondo, by pytest, over the sources of the package and the library of a build.
usage: run.py BUILD ENVIRONMENT [pytest options]
ENVIRONMENT is one of .deps that tools/setup makes: python-build, without PyTorch, whose tests are then skipped, or python,
which has it (`tools/setup python`). Ends with 77 where there is no such environment, or no test. A wheel has tests of its
own: wheel_test.py."""
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
NO_TESTS, SKIPPED = 5, 77  # of pytest, and of ctest


def main(build, environment, *options):
    python = ROOT / ".deps" / environment / "bin/python"
    if not python.exists():
        print(f"there is no {python}: run tools/setup{' python' if environment == 'python' else ''}")
        return SKIPPED
    seen = {"RONDO_LIBRARY": str(pathlib.Path(build).resolve() / "librondo.so"), "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": os.pathsep.join([str(ROOT / "python"), *filter(None, [os.environ.get("PYTHONPATH")])])}
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--ignore={ROOT / 'tests/python/wheel_test.py'}", *options,
               ROOT / "tests/python"]
    status = subprocess.run(list(map(str, command)), env={**os.environ, **seen}).returncode
    return SKIPPED if status == NO_TESTS else status


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
