#!/usr/bin/env python3
"""Tunes the record's problems with several seeds: does every tune end with a verified winner? Needs a GPU.

usage: tunes.py RONDO RECORD.json [--seeds 11,12,13,14,15] [--budget 3s] [--side 2] [--seconds N] [--only REGEX] [--commit HASH]

The problems are those of stream_rows.json and dense_rows.json, for fw and bw. --side tunes run side by side, and
take turns with the GPU (runtime/device/gpu_turns.h). After --seconds none is begun. A tune that a signal ended is not recorded.
RECORD.json is written after each tune. A tune that it has is not repeated, whatever commit it is of; RECORD.json of another GPU is
refused.

Ends with 1 if a tune ended without a winner or found a candidate wrong; the record says which."""
import argparse
import json
import os
import pathlib
import re
import sys
import threading
import time

from rondo_program import finished, query, shared_workers, side_by_side, write

HERE = pathlib.Path(__file__).resolve().parent
PASSES = ("fw", "bw")
CANCELLED = 130  # exit status after a signal
KEYS = ("cell", "shape", "dtype", "pass", "seed")


def problems(seeds):
    rows = [row for name in ("stream_rows.json", "dense_rows.json") for row in json.loads((HERE / name).read_text(encoding="utf-8"))["rows"]]
    return [{"cell": row["cell"], "shape": f"B={row['B']},T={row['T']},H={row.get('H', 1)},D={row['D']}", "dtype": row["dtype"], "pass": which,
             "seed": seed} for seed in seeds for row in rows for which in PASSES]


def text(problem):
    return " ".join(str(problem[key]) for key in KEYS)


def tune(program, problem, options):
    done = finished(program, ["tune", problem["cell"], "--shape", problem["shape"], "--pass", problem["pass"], "--dtype", problem["dtype"],
                              "--budget", options.budget, "--seed", str(problem["seed"]), "--no-db", *shared_workers(options.side)], None)
    try:
        found = json.loads(done.stdout)["passes"][0]
    except (ValueError, KeyError, IndexError):
        return problem | {"status": done.returncode, "winner": False, "error": (done.stderr.strip().splitlines() or ["no output"])[-1]}
    best = found["best"]
    wrong = sum(row.get("status") == "wrong" for row in found.get("rows", found.get("trials", [])))
    return problem | {"status": done.returncode, "winner": done.returncode == 0 and best is not None, "wrong": wrong,
                      "strategy": best["strategy"] if best else None, "ms": best["median_ms"] if best else None}


def bad(row):
    return not row["winner"] or row.get("wrong", 0) > 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rondo")
    parser.add_argument("record")
    parser.add_argument("--seeds", default="11,12,13,14,15")
    parser.add_argument("--budget", default="3s")
    parser.add_argument("--side", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--only", default="")
    parser.add_argument("--commit", default=os.environ.get("RONDO_COMMIT", "unknown"))
    options = parser.parse_args()
    device = query("name")[0]
    record = {"what": "tunes of the record's problems with several seeds", "device": device, "rows": []}
    if os.path.exists(options.record):
        record = json.loads(pathlib.Path(options.record).read_text(encoding="utf-8"))
        if record["device"] != device:
            raise SystemExit(f"tunes: {options.record} is of {record['device']}, this is {device}: take another file")
    record["rows"] = [row for row in record["rows"] if row["status"] != CANCELLED]
    known = {text(row) for row in record["rows"]}
    wanted = [p for p in problems([int(seed) for seed in options.seeds.split(",")]) if re.search(options.only, text(p))]
    todo = [problem for problem in wanted if text(problem) not in known]
    end, lock = time.monotonic() + options.seconds, threading.Lock()

    def one(problem):
        if time.monotonic() >= end:
            return
        row = tune(options.rondo, problem, options) | {"commit": options.commit}
        if row["status"] == CANCELLED:
            return
        with lock:
            record["rows"].append(row)
            write(record, options.record)
            if bad(row):
                print(f"{text(problem)}: {row.get('error', 'no winner') if not row['winner'] else 'a wrong candidate'}", flush=True)

    side_by_side(options.side, one, todo)
    listed = {text(problem) for problem in wanted}
    done = [row for row in record["rows"] if text(row) in listed]
    print(f"{len(done)} of {len(wanted)} tunes, {sum(row['winner'] for row in done)} with a winner, "
          f"{sum(row.get('wrong', 0) > 0 for row in done)} with a wrong candidate")
    return 1 if any(bad(row) for row in done) else 0


if __name__ == "__main__":
    sys.exit(main())
