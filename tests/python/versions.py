#!/usr/bin/env python3
"""The tests of the package over installed wheels, with other versions of Python and of PyTorch.
usage: versions.py WHEELS PYTHON ... [--torch VERSION] [--environments FOLDER] [-- pytest options]
WHEELS is the folder that tools/wheel wrote. Each PYTHON gets an environment in FOLDER, or in one that is removed in the end, with
the wheels, NumPy and pytest, and with PyTorch if a version is named: `2.8.0`, or `newest`. Style is not tested, nor the wheel
itself. A line for each says what was run; ends with 1 if something failed."""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
LEFT_OUT = ("test_wheel.py", "test_style.py")
VERSIONS = """
import importlib.metadata as m, platform
print(f"Python {platform.python_version()}, NumPy {m.version('numpy')},", end=" ")
try:
    print("PyTorch", m.version("torch"))
except m.PackageNotFoundError:
    print("no PyTorch")
"""


def said(*words, **options):
    done = subprocess.run(
        list(map(str, words)), check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options
    )
    return done.returncode, done.stdout


def made(python, wheels, torch, folder):
    """The Python of a new environment, or what went wrong."""
    folder.mkdir(parents=True, exist_ok=True)
    place = pathlib.Path(tempfile.mkdtemp(prefix=pathlib.Path(python).name + "-", dir=folder))
    status, text = said(python, "-m", "venv", place)
    if status:
        return None, text
    packages = ["numpy", "pytest", "pytest-xdist"]
    if torch:
        packages.append("torch>=2.8" if torch == "newest" else f"torch=={torch}")
    status, text = said(place / "bin/pip", "install", "-q", "--no-cache-dir", *wheels, *packages)
    return (None, text) if status else (place / "bin/python", "")


def tested(python, options, with_torch):
    environment = {**os.environ, "RONDO_TEST_INSTALLED": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    environment |= {"RONDO_TEST_TORCH": "1"} if with_torch else {}
    environment.pop("RONDO_LIBRARY", None)
    ignored = [f"--ignore={FOLDER / name}" for name in LEFT_OUT]
    words = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", FOLDER.parents[1], *options]
    return said(*words, *ignored, FOLDER, env=environment)


def main():
    at = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    words, options = sys.argv[1:at], sys.argv[at + 1 :]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheels", type=pathlib.Path, metavar="WHEELS")
    parser.add_argument("pythons", nargs="+", metavar="PYTHON")
    parser.add_argument("--torch")
    parser.add_argument("--environments", type=pathlib.Path)
    given = parser.parse_args(words)
    wheels = sorted(given.wheels.glob("rondo_rnn*.whl"))
    if not wheels:
        parser.error(f"there are no wheels in {given.wheels}: tools/wheel {given.wheels} makes them")
    wrong = 0
    with tempfile.TemporaryDirectory() as own:
        for python in given.pythons:
            found, text = made(python, wheels, given.torch, given.environments or pathlib.Path(own))
            if found is None:
                wrong += 1
                print(f"{python}: no environment:\n{text}", flush=True)
                continue
            status, text = tested(found, options, bool(given.torch))
            wrong += status != 0
            print(text if status else "", end="")
            print(f"{said(found, '-c', VERSIONS)[1].strip()}: {text.strip().splitlines()[-1].strip('= ')}", flush=True)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
