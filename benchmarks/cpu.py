#!/usr/bin/env python3
"""Kernels for CPUs beside JAX and the reference executor, in one run.

    benchmarks/cpu.py CPU_BENCH OUT.json --note TEXT [--commit HASH]

CPU_BENCH is build/release/cpu_bench. The note says what the machine is and what else it does; it stands above the table.
JAX must be installed for the Python that runs this: a virtual environment with `pip install jax` will do. The cells are
written for jax.lax.scan under jit, as a user would. Both sides take turns, and the least of all times counts: other work on the
machine only ever adds. With gradients, cells with matrices are timed with states saved in between and with products saved too, as
`rondo tune --save auto` does, and the faster way counts; JAX saves what it needs by itself. Beside them stands what their products alone
take at the rate of a large product of NumPy or JAX in the same run, whichever is faster: no kernel that multiplies each step's
vectors is much below. The shares of a copy are those of `rondo bench`: medians of samples in turns with copies, the median of
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
import numpy

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
PRODUCT = 2048  # rows and columns of the large product
PRODUCTS = {"fw": 1, "gradients": 3}  # of each matrix a step: forward; with the state's gradient and the matrix's


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


def library_product_rate():
    """Multiply-adds a second of a large fp32 product by the faster of two libraries."""
    left, right = numpy.random.default_rng(1).random((2, PRODUCT, PRODUCT), dtype=numpy.float32)
    on_jax, multiply = (jnp.asarray(left), jnp.asarray(right)), jax.jit(jnp.matmul)
    least = math.inf
    for run in (lambda: left @ right, lambda: jax.block_until_ready(multiply(*on_jax))):
        run()
        for _ in range(RUNS):
            begin = time.perf_counter()
            run()
            least = min(least, time.perf_counter() - begin)
    return PRODUCT**3 / least


def products_alone_ms(problem, rate):
    """What the products of a row take at that rate, forward and with gradients; nothing without matrices."""
    cell, batch, steps, heads, dim = problem
    matrices = cells()[cell][1]
    return {which: count * matrices * batch * steps * heads * dim**2 / rate * 1e3 for which, count in PRODUCTS.items()} if matrices else {}


def rondo(program, cell, batch, steps, heads, dim, pass_, dtype="fp32", runs=RUNS, save="states"):
    words = [program, cell, *map(str, (batch, steps, heads, dim)), pass_, dtype, str(runs), save]
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


def beside_jax(program, problem):
    """By what is saved and pass: all times of it, sorted, with the least time of the reference; and JAX's least times."""
    cell, batch, steps, _, dim = problem
    ways = ["states", *(["products"] if cells()[cell][1] else [])]
    best, of_jax = {}, {}
    for _ in range(TURNS):
        for save, pass_ in [("states", "fw"), *((save, pass_) for save in ways for pass_ in ("fws", "bw"))]:
            one = rondo(program, *problem, pass_, save=save)
            known = best.setdefault((save, pass_), one)
            known["reference_ms"] = min(known["reference_ms"], one["reference_ms"])
            known.setdefault("shares", []).append(one["share_of_copy"])
            known["ms"] = sorted(known["ms"] + one["ms"])
        for which in PRODUCTS:
            times = jax_times(cell, batch, steps, dim, which == "gradients")
            of_jax[which] = min([*times, of_jax.get(which, math.inf)])
    return best, of_jax


def row_of(problem, best, of_jax):
    """A row of the record; with gradients by the faster of the ways that were timed."""
    forward = best["states", "fw"]
    ways = {save: best[save, "fws"]["ms"][0] + best[save, "bw"]["ms"][0] for save, pass_ in best if pass_ == "bw"}
    save = min(ways, key=ways.get)
    row = dict(zip(("cell", "B", "T", "H", "D"), problem)) | {"dtype": "fp32"}
    return row | {
        "jax_fw_ms": of_jax["fw"], "jax_gradients_ms": of_jax["gradients"], "fw_ms": forward["ms"][0],
        "gradients_ms": ways[save], "save": save, "gradients_by_save_ms": ways, "reference_ms": forward["reference_ms"],
        "share_of_copy_fw": statistics.median(forward["shares"]), "share_of_copy_bw": statistics.median(best[save, "bw"]["shares"]),
        "ready_ms": forward["ready_ms"],
        "parameters": {"fw": forward["parameters"]} | {pass_: best[save, pass_]["parameters"] for pass_ in ("fws", "bw")}}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cpu_bench")
    parser.add_argument("out")
    parser.add_argument("--note", required=True)
    parser.add_argument("--commit", default="unknown")
    options = parser.parse_args()
    rate = max(library_product_rate() for _ in range(TURNS))
    rows, target, threads = [], "", 0
    for problem in ROWS:
        best, of_jax = beside_jax(options.cpu_bench, problem)
        rows.append(row_of(problem, best, of_jax) | {"products_alone_ms": products_alone_ms(problem, rate)})
        target, threads = best["states", "fw"]["target"], best["states", "fw"]["threads"]
        print(json.dumps(rows[-1]), flush=True)
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
        "target": target,
        "threads": threads,
        "product_rate": rate,
        "rows": rows,
        "shares": shares,
    }
    pathlib.Path(options.out).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
