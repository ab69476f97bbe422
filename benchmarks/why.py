#!/usr/bin/env python3
"""Asks `rondo why` of twelve rows of the record, on the GPU at hand, and writes what it says as one record.

usage: why.py RONDO OUT.json [--seconds N] [--arch auto] [--db DB] [--commit HASH]

A row is the answer to `rondo why --json`: floors, what binds, the model's parts, the time measured, whole and without each part, and
an account that adds up to it. With a database into which `rondo calibrate` has put the GPU's profile the floors are measured ones.
Status: 4 if nothing was measured."""
import argparse
import datetime
import sys
import time

from rondo_program import rondo, until_stopped, write

BEGIN = time.monotonic()
ROWS = (("lstm", "B=16,T=1024,H=1,D=768", "fw"), ("lstm", "B=16,T=1024,H=1,D=768", "bw"), ("mingru", "B=8,T=4096,H=1,D=1536", "fw"),
        ("gru", "B=16,T=1024,H=1,D=768", "fw"), ("paragru", "B=8,T=2048,H=1,D=1024", "fw"), ("slstm", "B=16,T=1024,H=1,D=768", "fw"),
        ("lstm", "B=64,T=512,H=1,D=512", "fw"), ("hgrn", "B=8,T=4096,H=1,D=1536", "bw"), ("lstm", "B=1,T=1024,H=1,D=768", "fw"),
        ("lstm", "B=16,T=1024,H=12,D=64", "fw"), ("affine", "B=8,T=4096,H=1,D=1536", "fw"), ("lstm", "B=16,T=512,H=1,D=2048", "fw"))
LONGEST = 15  # seconds of a row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rondo")
    parser.add_argument("out")
    parser.add_argument("--seconds", type=float, default=1e6)
    parser.add_argument("--arch", default="auto")
    parser.add_argument("--db", help="database with the GPU's profile; the default one is not read")
    parser.add_argument("--commit", default="unknown")
    options = parser.parse_args()
    record = {"what": "why kernels take as long as they do", "commit": options.commit, "date": datetime.date.today().isoformat(), "rows": []}
    for cell, shape, pass_ in ROWS:
        if time.monotonic() - BEGIN > options.seconds - LONGEST:
            break
        row = rondo(options.rondo, "why", cell, "--shape", shape, "--dtype", "bf16", "--pass", pass_, "--arch", options.arch,
                    *(["--db", options.db] if options.db else ["--no-db"]))
        record["rows"].append(row)
        write(record, options.out)
        account = row["account"]  # none of what was not measured
        unexplained = f"{account['not_explained_ms'] / row['measured_ms']:.0%} not explained" if account else "by model"
        print(f"why: {cell} {shape} {pass_}: {row['binds']} binds, {row['measured_ms']} ms, {unexplained}", flush=True)
    return 0 if any(row["measured_ms"] for row in record["rows"]) else 4


if __name__ == "__main__":
    sys.exit(until_stopped(main))
