#!/usr/bin/env python3
"""What a newcomer does, in a bare system without compilers: pip installs the wheels, and some lines give a result.
usage: newcomer.py WHEELS [--suite bookworm] [--torch] [--root FOLDER]
WHEELS is the folder that tools/wheel wrote. The system is Debian's SUITE with python3 and python3-venv alone, which debootstrap
unpacks into FOLDER, or into one that is removed in the end; a FOLDER that has a system is taken as it is. In it, one environment
each gets the wheels without and with NumPy, and with --torch one more PyTorch, of 5 GB, without NumPy: there the Python of the
pages and examples runs on the CPU. Needs root and debootstrap. Ends with 1 where a step fails, and with 77 where it cannot begin."""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
CANNOT = 77  # as ctest knows it
PACKAGES = "python3,python3-venv,ca-certificates"
COMPILERS = ["cc", "gcc", "g++", "c++", "clang", "clang++", "ld", "as", "make", "cmake", "ninja", "nvcc"]
SCRIPTS = pathlib.Path("/usr/share/debootstrap/scripts")
PLACE = "tmp/newcomer"  # in the system
TO_PIP = ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_TRUSTED_HOST", "HTTP_PROXY", "HTTPS_PROXY", "https_proxy")

WITHOUT_NUMPY = """
import rondo
print(rondo.version(), rondo.Cell("lstm").inputs)
for attempt in (lambda: rondo.Cell("mingru")([[1.0]]), lambda: rondo.nn.LSTM(3, 4)):
    try:
        attempt()
    except rondo.RondoError as error:
        print(error)
"""

WITH_NUMPY = """
import numpy as np, rondo

cell = rondo.Cell("mingru")
x = np.random.default_rng(1).standard_normal((8, 64, 2, 32)).astype("float32")
y, last = cell(x)

gate, h = 1 / (1 + np.exp(-x[:, :, 0])), np.zeros((8, 32), "float32")
for t in range(64):
    h = (1 - gate[:, t]) * h + gate[:, t] * x[:, t, 1]
    assert np.abs(y[:, t] - h).max() < 1e-5
print("minGRU over", x.shape, "gives", y.shape, "as NumPy does")
"""

SHIM = """
import torch, rondo
cell, x = rondo.Cell("mingru"), torch.zeros(2, 3, 2, 16)
for _ in range(4):
    cell(x)
from rondo._torch.shim import SHIM
print(f"calls of PyTorch {torch.__version__} through the shim:", SHIM.launches() if SHIM.path else "none, the wheel has no shim")
"""

EXAMPLES = {
    "own_cell.py": ["--steps", "60"],
    "state_tracking.py": ["--task", "parity", "--layer", "RNN", "--size", "32", "--steps", "60"],
    "dreamer_gru.py": ["--steps", "30"],
    "charlm.py": ["--layer", "GRU", "--size", "16", "--batch", "2", "--length", "8", "--steps", "4", "--device", "cpu"],
    "sequence_parallel.py": ["--size", "16", "--length", "64", "--steps", "4", "--device", "cpu"],
    "ddp.py": ["--size", "16", "--batch", "2", "--length", "8", "--steps", "4", "--device", "cpu"],
}


class Failed(Exception):
    pass


def say(text):
    print(f"newcomer: {text}", flush=True)


def unpacked(root, suite):
    """The system: what is in `root`, or a new one."""
    if not (root / "usr/bin/python3").exists():
        say(f"Debian {suite} with {PACKAGES} by debootstrap")
        words = ["debootstrap", "--variant=minbase", f"--include={PACKAGES}", suite, str(root)]
        if not (SCRIPTS / suite).exists():  # one that is newer than debootstrap
            words += ["http://deb.debian.org/debian", "sid"]
        done = subprocess.run(words, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            raise Failed(f"debootstrap ends with {done.returncode}:\n" + "\n".join(done.stdout.splitlines()[-15:]))
    for name in ("etc/resolv.conf", "etc/hosts", "etc/ssl/certs/ca-certificates.crt"):  # it reaches what this machine reaches
        if pathlib.Path("/", name).exists():
            shutil.copyfile(pathlib.Path("/", name), root / name)


class System:
    def __init__(self, root):
        self.root = root
        self.environment = {
            "PATH": "/usr/bin:/bin",
            "HOME": f"/{PLACE}",
            "LANG": "C.UTF-8",
            "PIP_CERT": "/etc/ssl/certs/ca-certificates.crt",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PIP_NO_CACHE_DIR": "1",
            **{name: os.environ[name] for name in TO_PIP if name in os.environ},
        }

    def run(self, *words):
        """What a command says that runs in the system, with processes and mounts of its own."""
        begin = time.monotonic()
        command = ["unshare", "--mount", "--pid", "--fork", "--kill-child", f"--root={self.root}", f"--wd=/{PLACE}"]
        done = subprocess.run(
            [*command, "--mount-proc=/proc", *words],
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=self.environment,
        )
        shown = " ".join(words) if len(words[-1]) < 200 else " ".join(words[:-1])
        if done.returncode:
            raise Failed(f"{shown} ends with {done.returncode}:\n{done.stdout}")
        say(f"{shown} ({time.monotonic() - begin:.0f} s)")
        return done.stdout

    def show(self, *words):
        print("    " + self.run(*words).strip().replace("\n", "\n    "), flush=True)

    def has(self, command):
        return any((self.root / folder / command).exists() for folder in ("usr/bin", "usr/local/bin", "usr/sbin"))

    def place(self, *files):
        """Files of the tree, beside each other."""
        for file in files:
            shutil.copyfile(file, self.root / PLACE / file.name)


def with_environment(system, name, *packages):
    """An environment with the wheels and `packages`; its Python."""
    system.run("python3", "-m", "venv", name)
    wheels = sorted(path.name for path in (system.root / PLACE).glob("*.whl"))
    system.run(f"{name}/bin/pip", "install", "-q", *wheels, *packages)
    return f"{name}/bin/python"


def welcome(system, wheels, torch):
    """All that a newcomer does."""
    found = [name for name in COMPILERS if system.has(name)]
    if found:
        raise Failed(f"the system is not bare: it has {', '.join(found)}")
    (system.root / PLACE).mkdir(parents=True, exist_ok=True)
    system.place(*wheels)
    system.show("python3", "--version")
    say(f"it has none of {', '.join(COMPILERS)}")
    python = with_environment(system, "bare")
    system.show(python, "-c", WITHOUT_NUMPY)
    system.run("bare/bin/rondo", "check", "mingru")
    system.show(with_environment(system, "arrays", "numpy"), "-W", "error", "-c", WITH_NUMPY)
    if torch:
        python = with_environment(system, "tensors", "torch>=2.8")
        pages = ROOT / "README.md", ROOT / "docs/python.md"
        system.place(ROOT / "tests/python/pages.py", *pages, *(ROOT / "examples/python").glob("*.py"))
        system.show(python, "-W", "ignore", "pages.py", *(page.name for page in pages))
        system.show(python, "-c", SHIM)
        for example, words in EXAMPLES.items():
            said = system.run(python, "-W", "ignore", example, *words)
            print(f"    {said.splitlines()[-1]}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheels", type=pathlib.Path, metavar="WHEELS")
    parser.add_argument("--suite", default="bookworm")
    parser.add_argument("--torch", action="store_true")
    parser.add_argument("--root", type=pathlib.Path)
    options = parser.parse_args()
    wheels = sorted(options.wheels.glob("rondo_rnn*.whl"))
    if not wheels:
        parser.error(f"there are no wheels in {options.wheels}: tools/wheel {options.wheels} makes them")
    if os.geteuid() != 0 or not shutil.which("debootstrap") or not re.fullmatch("[a-z]+", options.suite):
        say("root, debootstrap (apt-get install debootstrap) and the name of a suite are needed")
        return CANNOT
    own = None if options.root else tempfile.mkdtemp(prefix="newcomer-")
    root = (options.root or pathlib.Path(own)).resolve()
    try:
        unpacked(root, options.suite)
        welcome(System(root), wheels, options.torch)
    except Failed as failed:
        say(str(failed))
        return 1
    finally:
        if own:
            shutil.rmtree(own, ignore_errors=True)
    say("all of it works")
    return 0


if __name__ == "__main__":
    sys.exit(main())
