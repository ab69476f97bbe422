#!/usr/bin/env python3
"""Verifies cells in each form of the sequence, type and pass, alone or under a tool of compute-sanitizer, and records what was found.

usage: every_form.py RONDO RECORD.json [--cells lif,alif,…] [--tool none] [--types bf16,fp16,fp32] [--forms LIST;LIST] [--arch cpu] [--simulate]
                     [--shape B=3,T=9,H=2,D=40] [--side 14] [--seconds N] [--commit HASH]

Without --cells all shipped cells are taken. TOOL is none, memcheck, racecheck, initcheck or synccheck. A row is a cell, a type and a form; it
verifies forward, saving and backward by the model's choice, and says of each pass how many tensors agreed, were wrong, or could not be told.
A row that fails beside others runs once more when all have ended, alone, for a tool slows kernels down so much that those of several blocks
give up waiting for each other; what it says then counts. A form that a cell cannot have is a row that says why. After --seconds no row is begun, and a later call with the same RECORD goes on.
Ends with 1 if a row failed, and with 0 also where rows are left, which the last line says."""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

from rondo_program import begun, side_by_side, until_stopped, write

SHIPPED = pathlib.Path(__file__).resolve().parent.parent / "cells"

FORMS = ("", "resets", "lengths", "resets,lengths,reset_states", "reversed,lengths", "directions,lengths", "tangents")
PASSES = "fw,fws,bw"
REFUSED = (2, 3)  # exit statuses of a form that a cell cannot have, with the reason
FOUND_ERRORS = 9  # exit status by which compute-sanitizer says that it found errors
UNUSED = "terminated before first instrumented API call"  # what it says, with a status of its own, of a program that used no GPU
LONGEST = 300     # seconds of one row


def command(options, cell, kind, forms, log):
    words = [options.rondo, "verify", cell, "--no-db", "--shape", options.shape, "--dtype", kind, "--pass", PASSES, "--seed", "1", "--json",
             "--no-full-shape", *(["--forms", forms] if forms else []), *(["--arch", options.arch] if options.arch else []),
             *(["--simulate"] if options.simulate else [])]
    if options.tool == "none":
        return words
    # The runtime looks for a kernel in each of a plan's modules, and being told that one lacks it is no fault.
    quiet = ["--report-api-errors", "no"] if options.tool == "memcheck" else []
    return ["compute-sanitizer", "--tool", options.tool, *quiet, "--log-file", log, "--error-exitcode", str(FOUND_ERRORS), *words]


def verified(options, cell, kind, forms):
    """The row of one call: "failed" is empty, or says what was wrong."""
    with tempfile.NamedTemporaryFile("r") as log:
        try:
            done = subprocess.run(command(options, cell, kind, forms, log.name), capture_output=True, text=True, timeout=LONGEST, check=False)
        except subprocess.TimeoutExpired:
            return {"cell": cell, "dtype": kind, "forms": forms, "tool": options.tool, "passes": [], "failed": f"more than {LONGEST} s"}
        said = log.read() + done.stderr
    found = json.loads(done.stdout) if done.stdout.startswith("{") else {}
    row = {"cell": cell, "dtype": kind, "forms": forms, "tool": options.tool, "passes": [
        {"pass": one["problem"]["pass"], "strategy": one["strategy"], **{key: one[key] for key in ("agree", "wrong", "cannot_tell")}}
        for one in found.get("passes", [])]}
    complete = len(row["passes"]) == len(PASSES.split(",")) and all(one["agree"] > 0 for one in row["passes"])
    said = said.strip().splitlines() or ["nothing"]
    if any(UNUSED in line for line in said):
        plain = verified(argparse.Namespace(**vars(options) | {"tool": "none"}), cell, kind, forms)
        watched = {} if "refused" in plain else {"failed": f"{options.tool} saw no use of the GPU"}
        return plain | {"tool": options.tool} | watched
    if done.returncode in REFUSED:
        return row | {"failed": "", "refused": next((line for line in said if "error: " in line), said[-1])}
    row["failed"] = "" if done.returncode == 0 and complete else f"status {done.returncode}: {' | '.join(said[:2] + said[-2:])}"[:600]
    return row


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rondo")
    parser.add_argument("record")
    parser.add_argument("--cells", default="")
    parser.add_argument("--tool", default="none", choices=("none", "memcheck", "racecheck", "initcheck", "synccheck"))
    parser.add_argument("--types", default="bf16,fp16,fp32")
    parser.add_argument("--forms", default=";".join(FORMS))
    parser.add_argument("--arch", default="")
    parser.add_argument("--simulate", action="store_true")
    parser.add_argument("--shape", default="B=3,T=9,H=2,D=40")
    parser.add_argument("--side", type=int, default=14)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--commit", default="")
    return parser.parse_args()


def main():
    options = parsed()
    end = time.monotonic() + options.seconds
    cells = options.cells.split(",") if options.cells else sorted(path.stem for path in SHIPPED.glob("*.cell"))
    record = begun(options.record, {"what": "each form, type and pass of cells", "shape": options.shape, "commit": options.commit})

    def key(row):
        return (row["cell"], row["dtype"], row["forms"])

    done = {key(row) for row in record["rows"] if row["tool"] == options.tool}
    again = []

    def work(item, alone=False):
        if time.monotonic() > end:
            return
        row = verified(options, *item)
        if row["failed"] and not alone:
            again.append(item)
            return
        record["rows"].append(row)
        write(record, options.record)
        if row["failed"]:
            print(row, flush=True)

    items = [(cell, kind, forms) for cell in cells for kind in options.types.split(",") for forms in options.forms.split(";")
             if (cell, kind, forms) not in done]
    side_by_side(options.side, work, items)
    for item in again:
        work(item, alone=True)
    rows = [row for row in record["rows"] if row["tool"] == options.tool]
    passes = [one for row in rows for one in row["passes"]]
    failed = [row for row in rows if row["failed"]]
    left = len(set(items) - {key(row) for row in rows})
    refused = sum("refused" in row for row in rows)
    print(f"{options.tool}: {len(rows)} rows, {len(failed)} failed, {refused} refused, {left} left, {len(again)} run again; tensors: "
          + ", ".join(f"{sum(one[what] for one in passes)} {what}" for what in ("agree", "wrong", "cannot_tell")))
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(until_stopped(main))
