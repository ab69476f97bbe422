#!/usr/bin/env python3
"""The tests of the package rondo, by pytest.
usage: run.py BUILD ENVIRONMENT [--wheel] [pytest options]
They run over the sources of the package and the library of BUILD; with --wheel those of the wheels that are made of it run, and
no others. ENVIRONMENT is one of .deps that tools/setup makes: python-build, without PyTorch, whose tests are skipped then, or
python, which has it and JAX (`tools/setup python`) and fails without them; librondo_torch.so and librondo_jax.so are compiled
beside the library for it, unless RONDO_TORCH_SHIM and RONDO_JAX_SHIM say which are to be taken. Ends with 77 where there is no
such environment."""

import os
import pathlib
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
SKIPPED = 77  # as ctest knows it
STABLE = "include/torch/csrc/stable/c/shim.h"  # of PyTorch 2.10 and newer


def torch_of(python: pathlib.Path) -> pathlib.Path:
    """The package; "." if there is none, of which pytest tells."""
    said = (
        "import importlib.util as u; found = u.find_spec('torch'); print(*(found.submodule_search_locations if found else ''))"
    )
    return pathlib.Path(subprocess.run([str(python), "-c", said], check=True, capture_output=True, text=True).stdout.strip())


def compile_shim(source: str, headers: str, folder: pathlib.Path) -> int:
    """Of the folder `source` of python, with the headers that an option of CMake names."""
    own = folder / source
    options = ["-G", "Ninja", headers, f"-DCMAKE_LIBRARY_OUTPUT_DIRECTORY={folder}"]
    for command in (["cmake", "-S", str(ROOT / "python" / source), "-B", str(own), *options], ["cmake", "--build", str(own)]):
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        if done.returncode:
            print(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
            return done.returncode
    return 0


def main(build: str, environment: str, *options: str) -> int:
    python = ROOT / ".deps" / environment / "bin/python"
    if not python.exists():
        print(f"there is no {python}: run tools/setup{' python' if environment == 'python' else ''}")
        return SKIPPED
    folder = pathlib.Path(build).resolve()
    seen = {**os.environ, "RONDO_LIBRARY": str(folder / "librondo.so"), "PYTHONDONTWRITEBYTECODE": "1"}
    if environment == "python":
        seen["RONDO_TEST_TORCH"] = seen["RONDO_TEST_JAX"] = "1"
        torch = torch_of(python)
        if "RONDO_TORCH_SHIM" not in seen and (torch / STABLE).exists():
            seen["RONDO_TEST_SHIM"] = "1"
            failed = compile_shim("shim", f"-DRONDO_TORCH={torch}", folder)
            if failed:
                return failed
        jaxlib = ROOT / ".deps/jaxlib"
        if "RONDO_JAX_SHIM" not in seen and jaxlib.exists():
            failed = compile_shim("ffi", f"-DRONDO_JAXLIB={jaxlib}", folder)
            if failed:
                return failed
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
