#!/usr/bin/env python3
"""Tries the cells of the literature (tests/literature) as a new user would, on the GPU or on this machine's CPUs, and records what came of it.

usage: all_cells.py RONDO RECORD.json [--arch cpu] [--only REGEX] [--shape B=3,T=33,H=2,D=32] [--types bf16,fp32] [--seeds N] [--tune 2s]
                    [--side 1] [--seconds N] [--commit HASH]

Each cell is run on data that `rondo data` makes, verified forward, saving and backward in each type with seeds 1 to N, and tuned for its
backward pass. The record says of each cell and type how many tensors agreed, were wrong, or could not be told in any of their runs, and what
failed. A pass in which a tensor is said to be wrong is a false alarm until a kernel is found wrong. Ends with 1 if anything failed, or if more
than 2 of 100 tensors could not be told. After --seconds none is begun; a later run with the same RECORD does what is left.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from rondo_program import begun, side_by_side, until_stopped, write

LITERATURE = pathlib.Path(__file__).resolve().parent.parent / "tests/literature"
UNTOLD, WRONG = 2, 8  # statuses of `rondo verify`
MOST_UNTOLD = 0.02


def cells():
    return sorted(LITERATURE.glob("*.cell"))


def called(options, *words):
    """Status, standard output and the first line of the error."""
    done = subprocess.run([options.rondo, *map(str, words)], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, (done.stderr.strip().splitlines() or [""])[0]


def told(passes):
    """Of each pass and tensor what its runs of several steps said: "agrees" if one did, "wrong" if one was."""
    found = {}
    for one in passes:
        for check in [each for each in one["checks"] if ",T=1," not in each["where"]] or one["checks"]:
            key = f"{one['problem']['pass']} {check['tensor']}"
            said = {found.get(key, "cannot tell"), check["verdict"]}
            found[key] = "wrong" if "wrong" in said else "agrees" if "agrees" in said else "cannot tell"
    return found


def verify(options, cell, kind):
    counts = {"agrees": 0, "wrong": 0, "cannot tell": 0}
    failed, untold = [], []
    for seed in range(1, options.seeds + 1):
        for walk in ("fw", "fws", "bw"):
            status, out, error = called(options, "verify", cell, "--no-db", *options.where, "--shape", options.shape, "--dtype", kind,
                                        "--pass", walk, "--seed", seed, "--json", "--no-full-shape")
            passes = json.loads(out).get("passes") if out.startswith("{") else None
            if status not in (0, UNTOLD, WRONG) or passes is None:
                failed.append(f"verify {walk} seed {seed}: status {status}: {error}")
                continue
            for tensor, said in told(passes).items():
                counts[said] += 1
                if said != "agrees":
                    untold.append(f"{tensor} seed {seed}: {said}")
    return counts, failed, untold


def run(options, cell, kind, folder):
    """By the command that `rondo data` ends with."""
    status, out, error = called(options, "data", cell, "--shape", options.shape, "-o", folder, "--force")
    if status != 0:
        return [f"data: status {status}: {error}"]
    words = out.strip().splitlines()[-1].split()[1:]
    status, _, error = called(options, *words, "--no-db", *options.where, "--dtype", kind)
    return [] if status == 0 else [f"run: status {status}: {error}"]


def tune(options, cell, kind):
    if options.tune == "0":
        return []
    with tempfile.TemporaryDirectory() as folder:
        status, _, error = called(options, "tune", cell, "--db", f"{folder}/tune.db", *options.where, "--shape", options.shape, "--dtype",
                                  kind, "--pass", "bw", "--budget", options.tune)
    return [] if status == 0 else [f"tune: status {status}: {error}"]


def one(options, cell, kind):
    counts, failed, untold = verify(options, cell, kind)
    with tempfile.TemporaryDirectory() as folder:
        failed += run(options, cell, kind, folder)
    failed += tune(options, cell, kind)
    return {"cell": cell.stem, "dtype": kind, **counts, "failed": failed, "untold": untold}


def parsed(words=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rondo")
    parser.add_argument("record")
    parser.add_argument("--arch", default="")
    parser.add_argument("--only", default="")
    parser.add_argument("--shape", default="B=3,T=33,H=2,D=32")
    parser.add_argument("--types", default="bf16,fp32")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--tune", default="2s")
    parser.add_argument("--side", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--commit", default="")
    options = parser.parse_args(words)
    options.end = time.monotonic() + options.seconds
    options.where = ["--arch", options.arch] if options.arch else []
    return options


def summary(rows):
    counts = {name: sum(row[name] for row in rows) for name in ("agrees", "wrong", "cannot tell")}
    return counts | {"failed": sum(len(row["failed"]) for row in rows), "cells": len({row["cell"] for row in rows})}


def is_good(found):
    return found["failed"] == 0 and found["wrong"] == 0 and found["cannot tell"] <= MOST_UNTOLD * (found["agrees"] + found["cannot tell"])


def main():
    options = parsed()
    record = begun(options.record, {"what": "cells of the literature", "arch": options.arch or "gpu", "shape": options.shape,
                                    "seeds": options.seeds, "tune": options.tune, "commit": options.commit})
    done = {(row["cell"], row["dtype"]) for row in record["rows"]}

    def work(item):
        if time.monotonic() > options.end:
            return
        row = one(options, *item)
        record["rows"].append(row)
        record["all"] = summary(record["rows"])
        write(record, options.record)
        print(row, flush=True)

    left = [(cell, kind) for cell in cells() for kind in options.types.split(",")
            if (cell.stem, kind) not in done and re.search(options.only, cell.stem)]
    side_by_side(options.side, work, left)
    found = summary(record["rows"])
    print(found)
    return int(not is_good(found))


if __name__ == "__main__":
    sys.exit(until_stopped(main))
