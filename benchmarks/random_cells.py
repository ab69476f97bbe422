#!/usr/bin/env python3
"""Runs the tests of random cells on many more of them than CI has time for, and records what became of them. Needs no GPU.

usage: random_cells.py TEST_ENGINE RECORD.json [--simulator N] [--native N] [--commit HASH]

--simulator: cells whose kernels run in the simulator, forward and backward in three types, so six verifications each (FalseAlarms.*, with the
shipped cells and the hard ones). --native: cells that LLVM compiles for this machine, in one type each (NativeRandomCells.*). Each of these is
compared with the reference in double. RECORD.json is written after each of the two; what it has of the other stays.

Ends with 1 if a kernel was called wrong. Of the simulator the record holds the number, and the output the cells; the native tests stop at the
first wrong cell, which the output shows, and what the record had of them stays.
"""
import argparse
import datetime
import os
import re
import subprocess
import sys

from rondo_program import begun, write

COUNTS = {
    "simulator": ("FalseAlarms.*:*HardCells*", re.compile(
        r"(?P<all>\d+) verifications of random cells: (?P<passed>\d+) passed, (?P<no_strategy>\d+) of no strategy, "
        r"(?P<not_finite>\d+) not finite, (?P<ill_conditioned>\d+) ill-conditioned")),
    "native": ("NativeRandomCells.Agree*", re.compile(
        r"(?P<passed>\d+) passes compared, (?P<no_strategy>\d+) not computed by the strategy, (?P<not_finite>\d+) not finite")),
}


def failures_of(text):
    return len(re.findall(r"^\S+:\d+: Failure$", text, re.MULTILINE))


def counts_of(which, text):
    """What a run printed, as numbers. Ends the program where the tests came to no end, as the native ones do at the first wrong cell."""
    found = COUNTS[which][1].search(text)
    if found is None:
        raise SystemExit(f"the tests of random cells ({which}) did not come to their end; no record of them:\n{text[-4000:]}")
    return {name: int(value) for name, value in found.groupdict().items()} | {"failures": failures_of(text)}


def run(program, which, cells, commit):
    environment = os.environ | {"RONDO_RANDOM_CELLS": str(cells), "RONDO_LONG_TESTS": "1"}
    done = subprocess.run([program, f"--gtest_filter={COUNTS[which][0]}"], env=environment, text=True, capture_output=True, check=False)
    row = {"cells": cells, "commit": commit, "date": datetime.date.today().isoformat()} | counts_of(which, done.stdout)
    if row["failures"] or done.returncode:
        print(done.stdout)
    return row, done.returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("record")
    parser.add_argument("--simulator", type=int, default=2000)
    parser.add_argument("--native", type=int, default=1000)
    parser.add_argument("--commit", default="")
    options = parser.parse_args()
    record = begun(options.record, {"what": "random cells against the reference in double"})
    bad = 0
    for which, cells in (("simulator", options.simulator), ("native", options.native)):
        if cells == 0:
            continue
        row, status = run(options.program, which, cells, options.commit)
        record["rows"] = [each for each in record["rows"] if each["which"] != which] + [{"which": which} | row]
        write(record, options.record)
        print(which, row, flush=True)
        bad |= status != 0
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
