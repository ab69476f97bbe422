#!/usr/bin/env python3
"""Compiles the same kernels with NVRTC and with LLVM, and times both in one run. Needs a GPU.

usage: backends.py RONDO --out FILE [--only REGEX] [--passes fw,bw] [--commit HASH]

The rows are those of the record (stream_rows.json, dense_rows.json), with the model's choice of parameters, so that both
backends get the same KernelIR. Each is verified once with LLVM, and timed in four processes, whose backends take turns:
NVRTC, LLVM, LLVM, NVRTC. The record says of each row both medians, the times until the kernels were ready, and their
registers and spills. At the end NVRTC, nvJitLink and ptxas are hidden, and a kernel is made with LLVM and the driver alone.
"""
import argparse
import json
import pathlib
import re
import statistics
import sys

from rondo_program import tried, until_stopped, write

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
        row["device"] = timed["device"]
    for backend, found in times.items():
        row[backend] = {"ms": statistics.mean(f["median_ms"] for f in found), "spread": max(f["spread"] for f in found),
                        "ready_ms": min(f["ready_ms"] for f in found), "parameters": found[0]["parameters"]}
    row["ratio"] = row["llvm"]["ms"] / row["nvrtc"]["ms"]
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rondo")
    parser.add_argument("--out", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--passes", default="fw,bw")
    parser.add_argument("--commit", default="")
    options = parser.parse_args()
    record = {"device": "", "commit": options.commit, "rows": []}
    for given in rows():
        shape = f"B={given['B']},T={given['T']},H={given.get('H', 1)},D={given['D']}"
        for which in options.passes.split(","):
            if not re.search(options.only, f"{given['cell']} {shape} {given['dtype']} {which}"):
                continue
            problem = [given["cell"], "--shape", shape, "--dtype", given["dtype"], "--pass", which]
            row = {"cell": given["cell"], "shape": shape, "dtype": given["dtype"], "pass": which, **measure(options.rondo, problem)}
            record["device"] = row.pop("device", record["device"])
            record["rows"].append(row)
            said = f"{row['nvrtc']['ms']:.4f} {row['llvm']['ms']:.4f} {row['ratio']:.3f}" if "ratio" in row else row["error"]
            print(given["cell"], shape, given["dtype"], which, said, "" if row["verified"] else "NOT VERIFIED", flush=True)
            write(record, options.out)
    hidden = {"RONDO_NVRTC": "none", "RONDO_NVJITLINK": "none", "RONDO_PTXAS": "none"}
    alone = tried(options.rondo, "bench", "mingru", "--shape", "B=8,T=4096,H=1,D=1536", "--backend", "llvm", "--no-db",
                  environment=hidden)
    record["driver_alone"] = alone if "error" in alone else {k: alone["rows"][0][k] for k in ("cell", "median_ms", "ready_ms")}
    write(record, options.out)
    return 0


if __name__ == "__main__":
    sys.exit(until_stopped(main))
