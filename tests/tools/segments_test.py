#!/usr/bin/env python3
"""segments_test.py RONDO: where time is cut into segments, results are finite wherever a walk in order has them so.

The cells beside this script grow without bound, but for the states that they have: factors of a segment overflow, and
are multiplied by zero. `rondo verify` compares the choice by model with the reference, on CPUs and in the simulator. Where
RONDO_TURN is set, a run takes every eighth of these comparisons."""
import os
import pathlib
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent / "cells"
SHORT, LONG = ["--shape", "B=1,T=1200,H=1,D=64"], ["--shape", "B=1,T=3000,H=1,D=64"]
CASES = (["growth_zero", "--dtype", "fp32", "--pass", "fw,fws", *SHORT],
         ["growth_fast", "--dtype", "fp32", "--pass", "fw", "--forms", "resets", *SHORT],
         ["growth_fast", "--dtype", "fp32", "--pass", "fw", "--forms", "resets,lengths,reversed", *SHORT],
         ["early_loss", "--pass", "bw", *LONG])
WHERE = (["--arch", "cpu"], ["--simulate", "--no-gpu", "--arch", "sm_80"], ["--simulate", "--no-gpu", "--arch", "sm_90"])


def comparisons():
    turn = os.environ.get("RONDO_TURN")
    every = [(*case, where) for case in CASES for where in WHERE]
    return every if turn is None else [one for number, one in enumerate(every) if (number + int(turn)) % 8 == 0]


def main():
    environment = dict(os.environ, RONDO_SHIPPED="none", RONDO_LIBCUDA="none")
    bad = 0
    for name, *words, where in comparisons():
        done = subprocess.run([sys.argv[1], "verify", "-v", FOLDER / f"{name}.cell", "--no-db", "--no-full-shape", "--seed", "1",
                               *words, *where], capture_output=True, text=True, env=environment)
        cut = "segments=1 " not in done.stdout and "segments=" in done.stdout
        if done.returncode != 0 or not cut:
            print(f"{name} {words} {where}: status {done.returncode}, "
                  f"{'in segments' if cut else 'NOT in segments'}: {done.stderr}{done.stdout}")
            bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
