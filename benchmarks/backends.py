#!/usr/bin/env python3
"""Compiles the same kernels with NVRTC and with LLVM, and times both in one run. Needs a GPU.

usage: backends.py RONDO --out FILE [--only REGEX] [--passes fw,bw] [--side 1] [--seconds N] [--commit HASH]

The rows are those of the record (stream_rows.json, dense_rows.json), with the model's choice of parameters, so that both
backends get the same KernelIR. Each is verified once with LLVM, and timed in four processes, whose backends take turns:
NVRTC, LLVM, LLVM, NVRTC. The record says of each row both medians, the times until the kernels were ready, and their
registers and spills. --side rows are measured side by side, and take turns with the GPU (runtime/device/gpu_turns.h). After
--seconds none is begun; a later run with the same FILE does what is left, and one with another GPU or commit is refused. At the
end NVRTC, nvJitLink and ptxas are hidden, and a kernel is made with LLVM and the driver alone.
"""
import argparse
import json
import pathlib
import re
import statistics
import sys
import threading
import time

from rondo_program import begun, query, side_by_side, tried, until_stopped, write

HERE = pathlib.Path(__file__).resolve().parent


def rows():
    for name in ("stream_rows.json", "dense_rows.json"):
        yield from json.loads((HERE / name).read_text(encoding="utf-8"))["rows"]


def measure(program, problem):
    verified = tried(program, "verify", *problem, "--backend", "llvm", "--no-db")
    row = {"verified": "error" not in verified, "error": verified.get("error", "")}
    times = {"nvrtc": [], "llvm": []}
    for backend in ("nvrtc", "llvm", "llvm", "nvrtc"):
        timed = tried(program, "bench", *problem, "--backend", backend, "--no-db")
        if "error" in timed:
            row["error"] = timed["error"]
            return row
        times[backend].append(timed["rows"][0])
    for backend, found in times.items():
        row[backend] = {"ms": statistics.mean(f["median_ms"] for f in found), "spread": max(f["spread"] for f in found),
                        "ready_ms": min(f["ready_ms"] for f in found), "parameters": found[0]["parameters"]}
    row["ratio"] = row["llvm"]["ms"] / row["nvrtc"]["ms"]
    return row


def problems(options):
    """Rows of the record by pass, without figures, in the record's order."""
    for given in rows():
        shape = f"B={given['B']},T={given['T']},H={given.get('H', 1)},D={given['D']}"
        for which in options.passes.split(","):
            if re.search(options.only, f"{given['cell']} {shape} {given['dtype']} {which}"):
                yield {"cell": given["cell"], "shape": shape, "dtype": given["dtype"], "pass": which}


def name_of(row):
    return " ".join(row[key] for key in ("cell", "shape", "dtype", "pass"))


def driver_alone(program):
    hidden = {"RONDO_NVRTC": "none", "RONDO_NVJITLINK": "none", "RONDO_PTXAS": "none"}
    alone = tried(program, "bench", "mingru", "--shape", "B=8,T=4096,H=1,D=1536", "--backend", "llvm", "--no-db", environment=hidden)
    return alone if "error" in alone else {key: alone["rows"][0][key] for key in ("cell", "median_ms", "ready_ms")}


def options_of():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rondo")
    parser.add_argument("--out", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--passes", default="fw,bw")
    parser.add_argument("--side", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--commit", default="")
    options = parser.parse_args()
    options.end = time.monotonic() + options.seconds
    return options


def main():
    options = options_of()
    record = begun(options.out, {"device": query("name")[0], "commit": options.commit})
    wanted = list(problems(options))
    known = {name_of(row) for row in record["rows"]}
    place = {name_of(row): index for index, row in enumerate(wanted)}
    lock = threading.Lock()

    def one(problem):
        if time.monotonic() >= options.end:
            return
        row = problem | measure(options.rondo, [problem["cell"], "--shape", problem["shape"], "--dtype", problem["dtype"], "--pass",
                                                problem["pass"]])
        with lock:
            record["rows"].append(row)
            record["rows"].sort(key=lambda each: place.get(name_of(each), -1))
            write(record, options.out)
            said = f"{row['nvrtc']['ms']:.4f} {row['llvm']['ms']:.4f} {row['ratio']:.3f}" if "ratio" in row else row["error"]
            print(name_of(row), said, "" if row["verified"] else "NOT VERIFIED", flush=True)

    side_by_side(options.side, one, [problem for problem in wanted if name_of(problem) not in known])
    record["driver_alone"] = driver_alone(options.rondo)
    write(record, options.out)
    print(f"{len(record['rows'])} of {len(wanted)} rows")
    return 0


if __name__ == "__main__":
    sys.exit(until_stopped(main))
