#!/usr/bin/env python3
"""Tunes and times the forward pass of diagonal cells with few channels, beside the fused kernels of ParaRNN. Needs a GPU.

usage: shoot_table.py RONDO --out FILE [--peer LIBRARY] [--budget 14s] [--only REGEX] [--again] [--commit HASH] [--seconds N]

For each row: `rondo tune` over all legal strategies; then, in the same run, the winner and the tuned stream kernel with
recurrent weights of standard deviation 0.1, 1 and 5, and the peer. LIBRARY is the peer's extension, built from its sources
(pip build of github.com/apple/ml-pararnn: parallel_reduce_cuda*.so); its kernels compute in fp32 and get their own layout,
[B, D, T, 3], without a copy. A row above its target says what its time is made of (`bench --ablate`). Every time is a
median of runs whose inputs take turns, so that none finds them in the L2.

FILE is written after each row. After --seconds none is begun; a later run with the same FILE does what is left, and one with
another GPU is refused. With --again it measures the rows that FILE has, too: with a larger budget, say. Each row names its
budget and commit.
"""
import argparse
import itertools
import re
import sys
import time as clock

from rondo_program import begun, query, rondo, until_stopped, write
from torch_times import median_ms

SHAPES = {
    "paragru": [(8, 512, 1024), (8, 2048, 1024), (8, 8192, 1024), (1, 8192, 1024), (1, 65536, 256)],
    "paralstm": [(8, 2048, 1024), (8, 8192, 1024), (1, 8192, 1024), (1, 65536, 256)],
}
# Milliseconds by (B, T, D) and type.
TARGETS = {
    "paragru": {(8, 512, 1024): (0.020, 0.030), (8, 2048, 1024): (0.055, 0.090), (8, 8192, 1024): (0.17, 0.31),
                (1, 8192, 1024): (0.040, 0.055), (1, 65536, 256): (0.075, 0.12)},
    "paralstm": {(8, 2048, 1024): (0.070, 0.11), (8, 8192, 1024): (0.21, 0.38), (1, 8192, 1024): (0.055, 0.080),
                 (1, 65536, 256): (0.10, 0.17)},
}
WEIGHTS = (0.1, 1.0, 5.0)
L2_BYTES = 50 << 20


def bench(program, problem, weights, *words):
    row = rondo(program, "bench", *problem, "--weights", str(weights), *words)
    found = row["rows"][0]
    return {"ms": found["median_ms"], "spread": found["spread"], "share": found["share_of_copy_bandwidth"],
            "strategy": found["strategy"], "convergence": found["convergence"], "parameters": found["parameters"]}, row["copy_bytes_per_s"]


def peer_ms(library, cell, batch, time, dim, weights):
    """The peer's forward kernel, fp32; inputs are normal as its own benchmark's are."""
    import torch
    torch.ops.load_library(library)
    generator = torch.Generator("cuda").manual_seed(1)
    draw = lambda *shape: torch.randn(*shape, device="cuda", generator=generator)
    sets = max(1, min(32, 2 * L2_BYTES // (batch * time * dim * 16) + 1))
    a = weights * draw(dim, 3)
    inputs = [draw(batch, dim, time, 3) for _ in range(sets)]
    if cell == "paragru":
        work = lambda x: torch.ops.parallel_reduce_cuda.fused_fwd_gru_diag_mh(a, x)
    else:
        peepholes = torch.zeros(dim, 2, device="cuda")
        work = lambda x: torch.ops.parallel_reduce_cuda.fused_fwd_lstm_cifg_diag_mh(a, x, peepholes)
    turns = itertools.cycle(inputs)
    return median_ms(lambda: work(next(turns)), samples=21)


def measure(options, cell, shape, dtype):
    batch, time, dim = shape
    problem = [cell, "--shape", f"B={batch},T={time},H=1,D={dim}", "--dtype", dtype, "--pass", "fw"]
    search = rondo(options.rondo, "tune", *problem, "--db", options.db, "--budget", options.budget)["passes"][0]
    tuned = rondo(options.rondo, "bench", *problem, "--db", options.db, "--samples", "1")["rows"][0]
    row = {"cell": cell, "B": batch, "T": time, "D": dim, "dtype": dtype, "budget": options.budget, "commit": options.commit,
           "strategy": tuned["strategy"], "parameters": tuned["parameters"],
           "search": {key: search[key] for key in ("tried", "total", "seconds", "end")},
           "target_ms": TARGETS[cell][shape][0 if dtype == "bf16" else 1], "weights": {}}
    for weights in WEIGHTS:
        ours, row["copy_bytes_per_s"] = bench(options.rondo, problem, weights, "--db", options.db)
        stream, _ = bench(options.rondo, problem, weights, "--no-db", "--strategy", "stream")
        row["weights"][str(weights)] = {"rondo": ours, "stream_by_model_ms": stream["ms"],
                                          "stream_parameters": stream["parameters"]}
    if row["weights"]["0.1"]["rondo"]["ms"] > row["target_ms"]:  # what a missed row's time is made of
        parts = rondo(options.rondo, "bench", *problem, "--weights", "0.1", "--db", options.db, "--ablate")["rows"][0]
        row["made_of"] = {"whole_ns": parts["whole_ns"], "without_ns": {part["part"]: part["without_ns"] for part in parts["parts"]}}
    if options.peer and dtype == "fp32":
        for weights in WEIGHTS[:2]:
            try:
                row["weights"][str(weights)]["peer_ms"] = peer_ms(options.peer, cell, *shape, weights)
            except Exception as error:  # said in the record, and the other rows go on
                row["weights"][str(weights)]["peer_error"] = str(error).splitlines()[0]
    return row


def name_of(cell, shape, dtype):
    return f"{cell} {shape[0]}x{shape[2]} T={shape[1]} {dtype}"


def said_of(row):
    mild, middling, wild = (row["weights"][str(weights)] for weights in WEIGHTS)
    return (f"{mild['rondo']['ms']:.4f} ms, target {row['target_ms']}, peer {mild.get('peer_ms')}, weights of 1: "
            f"{middling['rondo']['ms']:.4f}, of 5: {wild['rondo']['ms']:.4f} (stream {wild['stream_by_model_ms']:.4f})")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rondo")
    parser.add_argument("--out", required=True)
    parser.add_argument("--db", default="shoot_table.db")
    parser.add_argument("--peer", default="")
    parser.add_argument("--budget", default="14s")
    parser.add_argument("--only", default="")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--commit", default="")
    parser.add_argument("--seconds", type=float, default=1e9)
    options = parser.parse_args()
    end = clock.monotonic() + options.seconds
    record = begun(options.out, {"device": query("name")[0]})
    known = {name_of(row["cell"], (row["B"], row["T"], row["D"]), row["dtype"]): i for i, row in enumerate(record["rows"])}
    for cell, shape, dtype in ((c, s, d) for c, shapes in SHAPES.items() for s in shapes for d in ("fp32", "bf16")):
        name = name_of(cell, shape, dtype)
        if (name in known and not options.again) or not re.search(options.only, name):
            continue
        if clock.monotonic() >= end:
            break
        row = measure(options, cell, shape, dtype)
        if name in known:
            record["rows"][known[name]] = row
        else:
            record["rows"].append(row)
        write(record, options.out)
        print(f"{name}: {said_of(row)}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(until_stopped(main))
