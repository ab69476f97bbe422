#!/usr/bin/env python3
"""Compiles the same kernels with NVRTC and with LLVM, and times both in one run. Needs a GPU.

usage: backends.py RONDO --out FILE [--only REGEX] [--passes fw,bw] [--commit HASH]

The rows are those of the record (stream_rows.json, dense_rows.json), with the model's choice of parameters, so that both
backends get the same KernelIR. Each is verified once with LLVM, and timed in four processes, whose backends take turns:
NVRTC, LLVM, LLVM, NVRTC. The record says of each row both medians, the times until the kernels were ready, and their
registers and spills. At the end NVRTC and ptxas are hidden, and a kernel is made with LLVM and the driver alone.
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


def rondo(program, words, hidden=None):
    run = subprocess.run([program, *words, "--no-db", "--json"], capture_output=True, text=True, env={**os.environ, **(hidden or {})})
    if run.returncode != 0:
        return {"error": (run.stderr.strip().splitlines() or [f"status {run.returncode}"])[0]}
    return json.loads(run.stdout)


def rows():
    for name in ("stream_rows.json", "dense_rows.json"):
        yield from json.loads((HERE / name).read_text(encoding="utf-8"))["rows"]


def measure(program, problem):
    verified = rondo(program, ["verify", *problem, "--backend", "llvm"])
    row = {"verified": "error" not in verified, "error": verified.get("error", "")}
    times = {"nvrtc": [], "llvm": []}
    for backend in ("nvrtc", "llvm", "llvm", "nvrtc"):
        timed = rondo(program, ["bench", *problem, "--backend", backend])
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
    hidden = {"RONDO_NVRTC": "/nowhere", "CUDA_HOME": "/nowhere", "PATH": "/usr/bin:/bin"}
    alone = rondo(options.rondo, ["bench", "mingru", "--shape", "B=8,T=4096,H=1,D=1536", "--backend", "llvm"], hidden)
    record["driver_alone"] = alone if "error" in alone else {k: alone["rows"][0][k] for k in ("cell", "median_ms", "ready_ms")}
    write(record, options.out)
    return 0


def write(record, path):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(record, file, indent=1)


if __name__ == "__main__":
    sys.exit(main())
