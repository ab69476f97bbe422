#!/usr/bin/env python3
"""Kernels for CPUs beside JAX and the reference executor, in one run.

    benchmarks/cpu.py CPU_BENCH OUT.json --note TEXT [--commit HASH]

CPU_BENCH is build/release/cpu_bench. The note says what the machine is and what else it does; it stands above the table.
JAX must be installed for the Python that runs this: a virtual environment with `pip install jax` will do. The cells are
written for jax.lax.scan under jit, as a user would. Both sides take turns, and the least of all times counts: other work on the
machine only ever adds. The shares of a copy are those of `rondo bench`: medians of samples in turns with copies, the median of
all turns.

Cells without matrices may be bound by memory. Of these the record has, in two types, the share of the copy, and what says
whether memory bounds them: the time that the steps alone take. That is of a part of the steps, whose tensors the last cache
holds, and of half of it: what the part takes longer, as often as the half is in all steps, so that what a launch costs is left
out. Parts move 4 to 16 MiB: as much as the cores' own caches hold, and so little that their kernels may not write past the
last one. They are then those of all steps but for that, which is checked.
"""
import argparse
import json
import math
import pathlib
import platform
import statistics
import subprocess
import time

import jax
import jax.numpy as jnp

ROWS = [  # cell, B, T, H, D
    ("lstm", 16, 128, 1, 256),
    ("lstm", 16, 64, 1, 768),
    ("gru", 16, 128, 1, 256),
    ("mingru", 8, 512, 1, 1024),
    ("hgrn", 8, 512, 1, 1024),
]
WITHOUT_MATRICES = [(cell, 8, 512, 1, 1024) for cell in ("affine", "mingru", "minlstm", "hgrn", "rglru", "sru", "indrnn", "paragru")]
PART_BYTES = 16 << 20  # a part of the steps moves less
TURNS, RUNS, CACHED_RUNS = 3, 4, 100


def cells():
    """By name: (rows of x, whether there is a matrix and of how many rows, step of (params, state, x))."""

    def lstm(p, s, x):
        h, c = s
        z = x + jnp.einsum("gij,bj->bgi", p["R"], h) + p["b"]
        i, f, g, o = (z[:, k] for k in range(4))
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    def gru(p, s, x):
        (h,) = s
        z = jnp.einsum("gij,bj->bgi", p["R"], h) + p["b"]
        r = jax.nn.sigmoid(x[:, 0] + z[:, 0])
        u = jax.nn.sigmoid(x[:, 1] + z[:, 1])
        n = jnp.tanh(x[:, 2] + r * z[:, 2])
        h = (1 - u) * n + u * h
        return (h,), h

    def mingru(p, s, x):
        (h,) = s
        z = jax.nn.sigmoid(x[:, 0])
        h = (1 - z) * h + z * x[:, 1]
        return (h,), h

    def hgrn(p, s, x):
        (h,) = s
        f = p["low"] + (1 - p["low"]) * jax.nn.sigmoid(x[:, 0])
        h = f * h + (1 - f) * jax.nn.silu(x[:, 1])
        return (h,), h

    return {"lstm": (4, 4, 2, lstm), "gru": (3, 3, 1, gru), "mingru": (2, 0, 1, mingru), "hgrn": (2, 0, 1, hgrn)}


def jax_times(name, batch, steps, dim, gradients):
    rows, matrices, states, step = cells()[name]
    key = jax.random.PRNGKey(0)
    params = {}
    if matrices:
        params = {"R": jax.random.normal(key, (matrices, dim, dim)) / dim**0.5, "b": jnp.zeros((matrices, dim))}
    if name == "hgrn":
        params = {"low": jnp.full((dim,), 0.25)}
    x = jax.random.normal(key, (steps, batch, rows, dim))
    start = tuple(jnp.zeros((batch, dim)) for _ in range(states))

    def forward(p, x):
        return jax.lax.scan(lambda s, xt: step(p, s, xt), start, x)[1]

    run = forward
    if gradients:
        def run(p, x):
            out, pull = jax.vjp(forward, p, x)
            return pull(out)
    run = jax.jit(run)
    jax.block_until_ready(run(params, x))
    times = []
    for _ in range(RUNS):
        begin = time.perf_counter()
        jax.block_until_ready(run(params, x))
        times.append((time.perf_counter() - begin) * 1e3)
    return times


def rondo(program, cell, batch, steps, heads, dim, pass_, dtype="fp32", runs=RUNS):
    words = [program, cell, *map(str, (batch, steps, heads, dim)), pass_, dtype, str(runs)]
    return json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)


def parts_of(whole_bytes):
    """The least power of two so that a part of so many moves less than PART_BYTES."""
    return 2 ** max(0, math.floor(math.log2(whole_bytes / PART_BYTES)) + 1)


def share(program, problem, pass_, dtype):
    """A pass beside the copy: its share, and the milliseconds of its steps on data that a cache holds and of the copy."""
    cell, batch, steps, heads, dim = problem
    shares, copies, least = [], [], {}
    for _ in range(TURNS):
        whole = rondo(program, cell, batch, steps, heads, dim, pass_, dtype)
        shares.append(whole["share_of_copy"])
        copies.append(whole["copy_ms"])
        parts = parts_of(whole["bytes"])
        for number in (parts, 2 * parts):
            cached = rondo(program, cell, batch, steps // number, heads, dim, pass_, dtype, CACHED_RUNS)
            if cached["parameters"] != whole["parameters"].replace("stream_stores=1", "stream_stores=0"):
                raise SystemExit(f"{cell} {dtype} {pass_}: a part has {cached['parameters']}, all steps {whole['parameters']}")
            least[number] = min(least.get(number, math.inf), *cached["ms"])
    return {"cell": cell, "B": batch, "T": steps, "H": heads, "D": dim, "dtype": dtype, "pass": pass_,
            "share_of_copy": statistics.median(shares), "copy_ms": statistics.median(copies),
            "steps_ms": 2 * parts * (least[parts] - least[2 * parts]), "parameters": whole["parameters"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cpu_bench")
    parser.add_argument("out")
    parser.add_argument("--note", required=True)
    parser.add_argument("--commit", default="unknown")
    options = parser.parse_args()
    rows = []
    for cell, batch, steps, heads, dim in ROWS:
        row = {"cell": cell, "B": batch, "T": steps, "H": heads, "D": dim, "dtype": "fp32"}
        best = {}
        for _ in range(TURNS):
            for pass_ in ("fw", "fws", "bw"):
                one = rondo(options.cpu_bench, cell, batch, steps, heads, dim, pass_)
                known = best.setdefault(pass_, one)
                known["reference_ms"] = min(known["reference_ms"], one["reference_ms"])
                known.setdefault("shares", []).append(one["share_of_copy"])
                known["ms"] = sorted(known["ms"] + one["ms"])
            for key, gradients in (("jax_fw_ms", False), ("jax_gradients_ms", True)):
                row[key] = min(jax_times(cell, batch, steps, dim, gradients) + [row.get(key, 1e30)])
        row["fw_ms"] = best["fw"]["ms"][0]
        row["gradients_ms"] = best["fws"]["ms"][0] + best["bw"]["ms"][0]
        row["reference_ms"] = best["fw"]["reference_ms"]
        row["share_of_copy_fw"] = statistics.median(best["fw"]["shares"])
        row["share_of_copy_bw"] = statistics.median(best["bw"]["shares"])
        row["ready_ms"] = best["fw"]["ready_ms"]
        row["parameters"] = {pass_: best[pass_]["parameters"] for pass_ in best}
        rows.append(row)
        print(json.dumps(row), flush=True)
    shares = []
    for problem in WITHOUT_MATRICES:
        for dtype in ("fp32", "bf16"):
            for pass_ in ("fw", "bw"):
                shares.append(share(options.cpu_bench, problem, pass_, dtype))
                print(json.dumps(shares[-1]), flush=True)
    record = {
        "commit": options.commit,
        "note": options.note,
        "jax": jax.__version__,
        "machine": platform.processor() or platform.machine(),
        "target": best["fw"]["target"],
        "threads": best["fw"]["threads"],
        "rows": rows,
        "shares": shares,
    }
    pathlib.Path(options.out).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
