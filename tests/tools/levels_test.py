#!/usr/bin/env python3
"""levels_test.py RONDO: cells of the library as code of every level of CPUs that this machine has, each verified; a level
that it has not, and the architecture of other CPUs, end with an error and with no kernel of another in its place.

A short run takes each cell with one level, type and pass, and where RONDO_TURN is set every third cell; `tools/test long`
(RONDO_LONG_TESTS) takes all of them."""
import os
import pathlib
import subprocess
import sys
import tempfile

CELLS = pathlib.Path(__file__).resolve().parents[2] / "cells"
LEVELS = ["x86-64-v2", "x86-64-v3", "x86-64-v4", "x86-64-v4-amx"]
TYPES = ["fp32", "bf16", "fp16"]
PASSES = ["fw", "fws", "bw"]
SMALL = ["--shape", "B=1,T=2,H=1,D=8"]


def rondo(program, *words):
    environment = dict(os.environ, RONDO_SHIPPED="none", RONDO_LIBCUDA="none")
    return subprocess.run([program, *words], capture_output=True, text=True, env=environment)


def cases(levels):
    """(cell, level, type, pass): all, or one of each cell, or of each cell whose turn it is."""
    turn = int(os.environ.get("RONDO_TURN", "0"))
    all_of_them = "RONDO_LONG_TESTS" in os.environ and "RONDO_TURN" not in os.environ
    for place, path in enumerate(sorted(CELLS.glob("*.cell"))):
        if "RONDO_TURN" in os.environ and (place + turn) % 3:
            continue
        these = [(path.stem, level, kind, walk) for kind in TYPES for walk in PASSES for level in levels]
        yield from these if all_of_them else [these[(place * 5 + turn // 3) % len(these)]]


def refused(program, folder, arch):
    """What does not say that there are no such CPUs here."""
    run = ["run", "mingru", "--input", f"x={folder}/x.npy", "--out", f"h={folder}/h.npy", "--no-db"]
    for words in (run, ["verify", "mingru", *SMALL, "--no-db"], ["bench", "mingru", *SMALL, "--no-db"]):
        done = rondo(program, *words, "--arch", arch)
        if done.returncode != 4 or arch not in done.stderr:
            yield f"{words[0]} --arch {arch}: status {done.returncode}: {done.stderr}"


def failures(program, folder):
    levels = [level for level in LEVELS
              if rondo(program, "verify", "mingru", *SMALL, "--no-db", "--arch", level).returncode == 0]
    if "x86-64-v2" not in levels:
        yield "no code of x86-64-v2 runs here"
    for cell, level, kind, walk in cases(levels):
        channels = 64 if level.endswith("amx") else 40  # whole tiles of bf16
        done = rondo(program, "verify", cell, "--no-db", "--shape", f"B=2,T=7,H=2,D={channels}", "--dtype", kind, "--pass", walk,
                     "--arch", level)
        if done.returncode != 0:
            yield f"{cell} {level} {kind} {walk}: status {done.returncode}: {done.stderr}{done.stdout[:400]}"
    for arch in ["aarch64"] + [level for level in LEVELS if level not in levels]:
        yield from refused(program, folder, arch)


def array(path, shape):
    """A .npy file of fp32 numbers that are all 0.25."""
    count = 1
    for extent in shape:
        count *= extent
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {tuple(shape)}, }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() +
                     b"\x00\x00\x80\x3e" * count)


def main():
    if os.uname().machine != "x86_64":
        return 0
    with tempfile.TemporaryDirectory() as folder:
        array(pathlib.Path(folder) / "x.npy", (1, 2, 1, 2, 8))
        bad = list(failures(sys.argv[1], folder))
    for line in bad:
        print(line)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
