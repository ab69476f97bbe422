#!/usr/bin/env python3
"""The Python wheels, built from a build of Rondo and installed into an environment of their own: their tags, what is in
them, the program, and the library from another process. Nothing is compiled for it.  usage: wheel_test.py BUILD
Ends with 77 where tools/setup made no environment that can build wheels."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOLS = ROOT / ".deps/python-build/bin"
BUILD = pathlib.Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else ROOT / "build/release"
HAS_LLVM = (BUILD / "librondo_llvm.so").exists()
MOST_BYTES = 15_000_000
VERSION = re.search(r"project\(rondo VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)


def run(*command, status=0, **options):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode != status:
        raise AssertionError(f"{' '.join(map(str, command))} ends with {done.returncode}, not {status}:\n{done.stdout}")
    return done.stdout


class Wheels(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="rondo-wheel-")
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.wheels = cls.folder / "wheels"
        cls.said = run(ROOT / "tools/wheel", cls.wheels, BUILD)
        cls.wheel = next(cls.wheels.glob(f"rondo_rnn-{VERSION}-*.whl"))
        cls.environment = cls.folder / "environment"
        run(TOOLS / "uv", "venv", "-q", "--python", TOOLS / "python", cls.environment)
        cls.python = cls.environment / "bin/python"
        cls.program = cls.environment / "bin/rondo"
        what = "rondo-rnn[llvm]" if HAS_LLVM else "rondo-rnn"
        cls.pip("install", "--no-index", "--no-deps", "--find-links", cls.wheels, what, *(["rondo-rnn-llvm"] if HAS_LLVM else []))
        cls.packages = pathlib.Path(run(cls.python, "-c", "import sysconfig; print(sysconfig.get_path('platlib'))").strip())
        # A machine of a user: no compiler, nothing of the build, a home of its own.
        cls.user = {"PATH": f"{cls.environment / 'bin'}:/usr/bin:/bin", "HOME": str(cls.folder), "RONDO_LIBCUDA": "none",
                    "RONDO_SHIPPED": "none", "RONDO_DB": str(cls.folder / "user.db")}

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    @classmethod
    def pip(cls, action, *words):
        return run(TOOLS / "uv", "pip", action, "-q", "--no-cache", "--python", cls.python, *words)

    def test_tags_say_which_systems_they_serve(self):
        machine = os.uname().machine
        for wheel in self.wheels.glob("*.whl"):
            self.assertIn(f"-py3-none-manylinux_2_34_{machine}.whl", wheel.name)
            shown = " ".join(run(TOOLS / "auditwheel", "show", wheel).split())
            self.assertIn(f'is consistent with the following platform tag: "manylinux_2_34_{machine}"', shown)
            self.assertIn(wheel.name, self.said)

    def test_what_is_in_them(self):
        self.assertLess(self.wheel.stat().st_size, MOST_BYTES)
        with zipfile.ZipFile(self.wheel) as opened:
            names = [name for name in opened.namelist() if not name.endswith("/")]
            self.assertIsNone(opened.testzip())
        notes = f"rondo_rnn-{VERSION}.dist-info"
        for name in ("rondo/lib/librondo.so", "rondo/lib/rondo", f"rondo_rnn-{VERSION}.data/scripts/rondo", f"{notes}/licenses/LICENSE"):
            self.assertIn(name, names)
        for name in names:
            self.assertRegex(name, r"^rondo/(lib/(librondo\.so|rondo)$|.*\.pyi?$|py\.typed$)|^rondo_rnn-[0-9.]+\.(dist-info|data)/")
        source = {f"rondo/{path.relative_to(ROOT / 'python/rondo')}" for path in (ROOT / "python/rondo").rglob("*.py")}
        self.assertEqual(source, {name for name in names if name.endswith(".py")})

    def test_what_they_say_of_themselves(self):
        said = (self.packages / f"rondo_rnn-{VERSION}.dist-info/METADATA").read_text()
        for line in ("Name: rondo-rnn", f"Version: {VERSION}", "Requires-Python: >=3.10", "Provides-Extra: llvm",
                     f"Requires-Dist: rondo-rnn-llvm=={VERSION}; extra == 'llvm'"):
            self.assertIn(line, said.replace('"', "'").splitlines())

    def test_the_program_runs(self):
        self.assertIn(VERSION, run(self.program, "--version", env=self.user))
        self.assertIn("lstm", run(self.program, "check", "lstm", env=self.user))
        self.assertIn("no such cell", run(self.program, "check", "no such cell", status=4, env=self.user))  # its own status

    @unittest.skipUnless(HAS_LLVM, "built without LLVM")
    def test_the_extra_is_found(self):
        said = subprocess.run([self.program, "doctor"], env=self.user, capture_output=True, text=True).stdout
        named = re.search(r"ok +LLVM: [^(]*\(([^)]*)\)", said)
        self.assertIsNotNone(named, said)
        self.assertEqual(pathlib.Path(named.group(1)).resolve(), (self.packages / "rondo_llvm/librondo_llvm.so").resolve())

    @unittest.skipIf("libnvrtc.so" in run("/sbin/ldconfig", "-p"), "the system's own NVRTC comes first")
    def test_nvrtc_of_the_environment_is_found(self):
        """Where PyTorch for CUDA 12 and 13 brings it: that of the build stands in."""
        toolkits = (pathlib.Path(os.environ.get("CUDA_HOME", "/usr/local/cuda")), pathlib.Path("/usr/local/cuda"), ROOT / ".deps/cuda")
        real = next((file for toolkit in toolkits for file in sorted(toolkit.glob("lib*/libnvrtc.so.1?"))), None)
        if real is None:
            self.skipTest("there is no NVRTC")
        for place in ("nvidia/cuda_nvrtc/lib/libnvrtc.so.12", "nvidia/cu13/lib/libnvrtc.so.13"):
            library = self.packages / place
            library.parent.mkdir(parents=True)
            library.symlink_to(real)
            said = subprocess.run([self.program, "doctor"], env=self.user, capture_output=True, text=True).stdout
            library.unlink()
            self.assertIn(str(library), said)

    def test_the_library_computes(self):
        test = ROOT / "tests/benchmarks/capi_ctypes_test.py"
        run(self.python, test, self.packages / "rondo/lib/librondo.so", "host" if HAS_LLVM else "reference", env=self.user)

    @unittest.skipUnless((ROOT / "python/rondo").exists(), "the package is not there yet")
    def test_the_package_is_imported(self):
        self.assertIn(str(self.packages), run(self.python, "-c", "import rondo; print(rondo.__file__)", env=self.user))

    def test_what_is_taken_away_leaves_nothing(self):
        other = self.folder / "other"
        run(TOOLS / "uv", "venv", "-q", "--python", TOOLS / "python", other)
        before = {path for path in other.rglob("*") if path.is_file()}
        for action in (["install", "--no-index", "--no-deps", *self.wheels.glob("*.whl")],
                       ["uninstall", "rondo-rnn", *(["rondo-rnn-llvm"] if HAS_LLVM else [])]):
            run(TOOLS / "uv", "pip", action[0], "-q", "--no-cache", "--python", other / "bin/python", *action[1:])
        self.assertEqual({path for path in other.rglob("*") if path.is_file()} - before, {other / ".lock"})  # of uv

    def test_a_command_without_its_package_says_so(self):
        said = run(TOOLS / "python", "-I", ROOT / "python/command.py", status=1)
        self.assertIn("has no package rondo-rnn", said)


class ToolsWheel(unittest.TestCase):
    def test_a_build_that_is_none(self):
        said = run(ROOT / "tools/wheel", "/nowhere", "/nowhere/build", status=1)
        self.assertIn("nothing is configured in /nowhere/build", said)

    def test_usage(self):
        self.assertIn("tools/wheel [OUT] [BUILD]", run(ROOT / "tools/wheel", "--help", status=2))


if __name__ == "__main__":
    if not (TOOLS / "auditwheel").exists():
        print("tools/setup makes the environment .deps/python-build, which builds wheels")
        sys.exit(77)
    unittest.main()
