#!/usr/bin/env python3
"""Lets the service of examples/service answer requests of random sizes for some minutes. Needs a GPU and a C compiler.

usage: service.py FOLDER OUT.json [--minutes 60] [--limit SECONDS] [--dim 128] [--compiler cc] [--commit HASH]
                  [--note TEXT]

FOLDER holds rondo and librondo_rt.a (build/release). The service is built with its package inside, for the GPU at hand: an
LSTM of --dim channels in fp32. OUT.json says how many requests were answered, the median and the 99th percentile of
their latency, and the memory of host and device at the ends of the run's quarters. Ends with 1 if memory has grown or a request failed."""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from rondo_program import query, write

SOURCE = pathlib.Path(__file__).resolve().parent.parent
SHAPES = ("B=1,T=1", "B=16,T=256")
LINE = re.compile(r"(ok|error:) load (\d+) requests in (\d+) s: p50 (\S+) ms, p99 (\S+) ms, host memory ((?:\d+ ){5})KB, "
                  r"free device memory ((?:\d+ ){5})bytes(?:: GROWN)?\n")


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"service: {command[0]} failed ({done.returncode}): {done.stderr.strip()}")


def built(folder, binaries, compiler, capability, dim):
    kernels, program = folder / "lstm_kernels.c", folder / "service"
    shapes = [word for shape in SHAPES for word in ("--shape", f"{shape},D={dim}")]
    run(binaries / "rondo", "package", "build", "lstm", "--dtype", "fp32", "--pass", "fw", *shapes, "--arch", f"sm_{capability}", "--no-db", "--embed",
        kernels)
    run(compiler, "-std=c11", "-O2", "-I", SOURCE / "include", SOURCE / "examples/service/service.c", kernels, binaries / "librondo_rt.a", "-o",
        program, "-ldl", "-lm", "-lpthread")
    return program


def read(text):
    """The figures of the service's line; None if there is none."""
    found = LINE.search(text)
    if not found:
        return None
    requests, seconds, p50, p99, host, device = found.groups()[1:]
    return {"requests": int(requests), "seconds": int(seconds), "p50_ms": float(p50), "p99_ms": float(p99),
            "host_kb": list(map(int, host.split())), "free_device_bytes": list(map(int, device.split())), "grown": found.group(1) != "ok"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binaries", type=pathlib.Path)
    parser.add_argument("out")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--limit", type=float, default=0, help="seconds for all, the build included; 0: none")
    parser.add_argument("--dim", type=int, default=128)
    parser.add_argument("--compiler", default="cc")
    parser.add_argument("--commit", default=os.environ.get("RONDO_COMMIT", "unknown"))
    parser.add_argument("--note", help="kept in the record, and printed on its page")
    options = parser.parse_args()
    device, capability = query("name,compute_cap")
    minutes = min(options.minutes, (options.limit - 40) / 60) if options.limit else options.minutes
    if minutes <= 0:
        raise SystemExit("service: no time is left")
    with tempfile.TemporaryDirectory() as folder:
        program = built(pathlib.Path(folder), options.binaries, options.compiler, capability.replace(".", ""), options.dim)
        done = subprocess.run([program, "--minutes", f"{minutes:.3f}"], capture_output=True, text=True, check=False)
    found = read(done.stdout)
    if not found:
        raise SystemExit(f"service: it said nothing ({done.returncode}): {done.stderr.strip() or done.stdout.strip()}")
    write({"device": device, "commit": options.commit, "shapes": SHAPES, "dim": options.dim} | found | ({"note": options.note} if options.note else {}),
          options.out)
    print(done.stdout.strip())
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
