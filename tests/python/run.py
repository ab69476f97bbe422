#!/usr/bin/env python3
"""The tests of the package rondo, by pytest.
usage: run.py BUILD ENVIRONMENT [--wheel] [pytest options]
They run over the sources of the package and the library of BUILD; with --wheel those of the wheels that are made of it run, and
no others. ENVIRONMENT is one of .deps that tools/setup makes: python-build, without PyTorch, whose tests are skipped then, or
python, which has it (`tools/setup python`) and fails without it. Ends with 77 where there is no such environment."""

import os
import pathlib
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
SKIPPED = 77  # as ctest knows it


def main(build: str, environment: str, *options: str) -> int:
    python = ROOT / ".deps" / environment / "bin/python"
    if not python.exists():
        print(f"there is no {python}: run tools/setup{' python' if environment == 'python' else ''}")
        return SKIPPED
    folder = pathlib.Path(build).resolve()
    seen = {**os.environ, "RONDO_LIBRARY": str(folder / "librondo.so"), "PYTHONDONTWRITEBYTECODE": "1"}
    if environment == "python":
        seen["RONDO_TEST_TORCH"] = "1"
    if "--wheel" in options:
        seen["RONDO_TEST_WHEEL"] = str(folder)
        what = [FOLDER / "test_wheel.py"]
    else:
        what = [f"--ignore={FOLDER / 'test_wheel.py'}", FOLDER]
    more = [option for option in options if option != "--wheel"]
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", ROOT, *more, *what]
    return subprocess.run(list(map(str, command)), env=seen, check=False).returncode


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
