"""The wheels, built from a build of Rondo and installed into an environment of their own: their tags, what is in them, the
program, and the library from another process. Nothing is compiled for it. `run.py BUILD python-build --wheel` runs them."""

import os
import pathlib
import re
import subprocess
import zipfile

import pytest

from conftest import SOURCE

TOOLS = SOURCE / ".deps/python-build/bin"
BUILD = pathlib.Path(os.environ.get("RONDO_TEST_WHEEL", ""))
# As tools/wheel decides it: what the build was to have. A plugin that is missing from it is a failure.
_NINJA = BUILD / "build.ninja"
HAS_LLVM = _NINJA.exists() and re.search(r"^build librondo_llvm\.so:", _NINJA.read_text(), re.MULTILINE) is not None
MOST_BYTES = 15_000_000
VERSION = re.search(r"project\(rondo VERSION ([0-9.]+)", (SOURCE / "CMakeLists.txt").read_text())[1]
MACHINE = os.uname().machine
NAMES = ["rondo-rnn", *(["rondo-rnn-llvm"] if HAS_LLVM else [])]

pytestmark = pytest.mark.skipif("RONDO_TEST_WHEEL" not in os.environ, reason="no build is named to make wheels of")


def run(*command, status=0, **options):
    done = subprocess.run(
        list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **options
    )
    assert done.returncode == status, f"{' '.join(map(str, command))} ends with {done.returncode}:\n{done.stdout}"
    return done.stdout


def pip(python, action, *words):
    return run(TOOLS / "uv", "pip", action, "-q", "--no-cache", "--python", python, *words)


def files_of(folder):
    return {path for path in folder.rglob("*") if path.is_file()}


class Installed:
    """The wheels, and an environment that has them. `user` is the process environment of a machine without compilers."""

    def __init__(self, folder):
        self.wheels = folder / "wheels"
        # All of it: the environment is there before PyTorch is, which tools/setup may be installing now.
        self.pytorch_was_there = (SOURCE / ".deps/python/packages.txt").exists()
        self.said = run(SOURCE / "tools/wheel", self.wheels, BUILD)
        self.has_shim = "librondo_torch.so is left out" not in self.said  # as where PyTorch was not installed yet
        self.has_jax = "librondo_jax.so is left out" not in self.said
        self.wheel = next(self.wheels.glob(f"rondo_rnn-{VERSION}-*.whl"))
        environment = folder / "environment"
        run(TOOLS / "uv", "venv", "-q", "--python", TOOLS / "python", environment)
        self.python, self.program = environment / "bin/python", environment / "bin/rondo"
        extra = "rondo-rnn[llvm]" if HAS_LLVM else "rondo-rnn"
        pip(self.python, "install", "--no-index", "--find-links", self.wheels, extra)
        found = run(self.python, "-c", "import sysconfig; print(sysconfig.get_path('platlib'))")
        self.packages = pathlib.Path(found.strip())
        self.user = {
            "PATH": f"{environment / 'bin'}:/usr/bin:/bin",
            "HOME": str(folder),
            "RONDO_LIBCUDA": "none",
            "RONDO_SHIPPED": "none",
            "RONDO_DB": str(folder / "user.db"),
        }

    def doctor(self):
        command = [self.program, "doctor"]
        return subprocess.run(command, env=self.user, capture_output=True, text=True, check=False).stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    return Installed(tmp_path_factory.mktemp("wheel"))


def test_tags_say_which_systems_the_wheels_serve(installed):
    for wheel in installed.wheels.glob("*.whl"):
        assert f"-py3-none-manylinux_2_34_{MACHINE}.whl" in wheel.name
        assert wheel.name in installed.said
        shown = " ".join(run(TOOLS / "auditwheel", "show", wheel).split())
        tag = f'platform tag{{}} "manylinux_2_34_{MACHINE}"'
        if installed.has_shim and wheel == installed.wheel:  # what it needs of PyTorch is no system's, and its symbols are
            assert "This constrains the " + tag.format(" to") in shown
        else:
            assert "is consistent with the following " + tag.format(":") in shown


def test_what_is_in_the_wheel(installed):
    assert installed.wheel.stat().st_size < MOST_BYTES
    with zipfile.ZipFile(installed.wheel) as opened:
        assert opened.testzip() is None
        names = {name for name in opened.namelist() if not name.endswith("/")}
    notes = f"rondo_rnn-{VERSION}.dist-info"
    # The command as an entry point: a script of the wheel does not run in an environment whose path has a blank.
    command = {"rondo_command.py", f"{notes}/entry_points.txt"}
    package = {
        f"rondo/{path.relative_to(SOURCE / 'python/rondo')}"
        for path in files_of(SOURCE / "python/rondo")
        if path.suffix in (".py", ".pyi", ".typed") or path.name == "py.typed"
    }
    wanted = {"rondo/lib/librondo.so", "rondo/lib/rondo", *command, f"{notes}/licenses/LICENSE", *package}
    if installed.has_shim:
        wanted.add("rondo/lib/librondo_torch.so")
    if installed.has_jax:
        wanted.add("rondo/lib/librondo_jax.so")
    assert {name for name in names if not name.startswith(f"{notes}/") or name in wanted} == wanted


def test_what_the_wheel_says_of_itself(installed):
    said = (installed.packages / f"rondo_rnn-{VERSION}.dist-info/METADATA").read_text().replace('"', "'").splitlines()
    wanted = (
        "Name: rondo-rnn",
        f"Version: {VERSION}",
        "Requires-Python: >=3.10",
        "Provides-Extra: llvm",
        f"Requires-Dist: rondo-rnn-llvm=={VERSION}; extra == 'llvm'",
    )
    for line in wanted:
        assert line in said


def test_the_program_runs(installed):
    assert VERSION in run(installed.program, "--version", env=installed.user)
    assert "lstm" in run(installed.program, "check", "lstm", env=installed.user)
    said = run(installed.program, "check", "no such cell", status=4, env=installed.user)  # the program's own status
    assert "no such cell" in said


@pytest.mark.skipif(not HAS_LLVM, reason="built without LLVM")
def test_the_extra_is_found(installed):
    named = re.search(r"ok +LLVM: [^(]*\(([^)]*)\)", installed.doctor())
    assert named is not None
    assert pathlib.Path(named[1]).resolve() == (installed.packages / "rondo_llvm/librondo_llvm.so").resolve()


@pytest.mark.parametrize("place", ["nvidia/cuda_nvrtc/lib/libnvrtc.so.12", "nvidia/cu13/lib/libnvrtc.so.13"])
def test_nvrtc_of_the_environment_is_found(installed, place):
    """Where PyTorch for CUDA 12 and 13 brings it: that of the build stands in. Python takes it; the program alone takes the
    system's own before it."""
    toolkits = (pathlib.Path(os.environ.get("CUDA_HOME", "/usr/local/cuda")), SOURCE / ".deps/cuda")
    real = next((file for toolkit in toolkits for file in sorted(toolkit.glob("lib*/libnvrtc.so.1?"))), None)
    assert real, "there is no NVRTC to stand in: run tools/setup"
    library = installed.packages / place
    library.parent.mkdir(parents=True)
    library.symlink_to(real)
    try:
        text = "import os, rondo; print(rondo.version()); print(os.environ['RONDO_NVRTC'])"
        taken = run(installed.python, "-c", text, env=installed.user).splitlines()[-1]
        named = re.search(r"ok +NVRTC: [^(]*\(([^)]*)\)", installed.doctor())
    finally:
        library.unlink()
    assert taken == str(library)
    assert named is not None
    systems = "libnvrtc.so" in run("/sbin/ldconfig", "-p")
    assert (named[1] == str(library)) is not systems


def test_the_library_computes(installed):
    test, library = SOURCE / "tests/benchmarks/capi_ctypes_test.py", installed.packages / "rondo/lib/librondo.so"
    run(installed.python, test, library, "host" if HAS_LLVM else "reference", env=installed.user)


def test_the_package_is_imported_and_knows_its_library(installed):
    text = "import rondo; print(rondo.__file__); print(rondo.Cell('lstm').name)"
    said = run(installed.python, "-c", text, env=installed.user)
    assert said.splitlines() == [str(installed.packages / "rondo/__init__.py"), "lstm"]


def test_pytorch_loads_its_shim(installed):
    python = SOURCE / ".deps/python/bin/python"
    if not installed.pytorch_was_there:
        assert "RONDO_TEST_SHIM" not in os.environ, "RONDO_TEST_SHIM asks for it, and PyTorch is not in .deps/python"
        pytest.skip("the wheel was made without PyTorch in .deps/python: tools/setup python installs it")
    assert installed.has_shim, f"PyTorch is in .deps/python, and the wheel has no shim for it:\n{installed.said}"
    text = """
import sys; sys.path.insert(0, sys.argv[1])
import torch, rondo
rondo.policy(choose="model", database=False)
cell, x = rondo.Cell("mingru"), torch.zeros(2, 3, 2, 16)
for _ in range(4): cell(x)
from rondo._torch.shim import SHIM
print(SHIM.path, SHIM.launches())
"""
    environment = {**installed.user, "PYTHONDONTWRITEBYTECODE": "1"}
    said = run(python, "-W", "ignore", "-c", text, installed.packages, env=environment).splitlines()[-1].split()
    assert said[0] == str(installed.packages / "rondo/lib/librondo_torch.so")
    assert int(said[1]) > 0


def test_jax_finds_its_library(installed):
    python = SOURCE / ".deps/python/bin/python"
    if not installed.pytorch_was_there:
        assert "RONDO_TEST_SHIM" not in os.environ, "RONDO_TEST_SHIM asks for .deps/python, which is not there"
        pytest.skip("the wheel was made without .deps/python, which has JAX: tools/setup python installs it")
    assert installed.has_jax, f".deps/jaxlib has the headers, and the wheel has no library for JAX:\n{installed.said}"
    text = """
import sys; sys.path.insert(0, sys.argv[1])
import numpy, rondo.jax
from rondo.jax import _sites
y, last = rondo.jax.cell("mingru")(numpy.zeros((2, 3, 2, 16), numpy.float32))
print(_sites.SHIM.path, y.shape, _sites.SHIM.launches())
"""
    environment = {**installed.user, "PYTHONDONTWRITEBYTECODE": "1"}
    said = run(python, "-c", text, installed.packages, env=environment).splitlines()[-1]
    assert said == f"{installed.packages / 'rondo/lib/librondo_jax.so'} (2, 3, 16) 1"


def test_what_is_taken_away_leaves_nothing(installed, tmp_path):
    other = tmp_path / "other"
    run(TOOLS / "uv", "venv", "-q", "--python", TOOLS / "python", other)
    before = files_of(other)
    pip(other / "bin/python", "install", "--no-index", "--no-deps", *installed.wheels.glob("*.whl"))
    assert other / "bin/rondo" in files_of(other)
    pip(other / "bin/python", "uninstall", *NAMES)
    assert files_of(other) - before == {other / ".lock"}  # of uv


def test_a_command_without_its_package_says_so():
    said = run(TOOLS / "python", "-I", SOURCE / "python/rondo_command.py", status=1)
    assert "has no package rondo-rnn" in said


def test_a_build_that_is_none_is_refused():
    said = run(SOURCE / "tools/wheel", "/nowhere", "/nowhere/build", status=1)
    assert "nothing is configured in /nowhere/build" in said
    assert "tools/wheel [OUT] [BUILD]" in run(SOURCE / "tools/wheel", "--help", status=2)
