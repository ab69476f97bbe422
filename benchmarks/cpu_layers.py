#!/usr/bin/env python3
"""Whole layers of rondo.nn on CPUs beside PyTorch's of the same weights, on the same threads, in one run.

usage: cpu_layers.py LIBRONDO.so --out FILE --note TEXT [--threads 2] [--samples 20] [--commit HASH]

Both take turns, and the least of all times counts: other work on the machine only ever adds. A time is that of one call: forward
without gradients, or forward and backward with the gradients of inputs and all parameters. Beside them stands what the layer's
products alone take (`floor_fw_ms`, `floor_fwbw_ms`) at the rate of PyTorch's fastest large product in the same run. In fp32 that is
near what the cores can do; of matrix tiles, whose rate some machines change from one moment to the next, it is not. A layer whose outputs are not PyTorch's is not timed: the script ends with 1. The note says what the machine is and what else it does. FILE is written after each row.
"""
import argparse
import itertools
import json
import os
import pathlib
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROWS = [  # layer, B, T, D
    ("LSTM", 16, 128, 256),
    ("LSTM", 1, 256, 128),
    ("LSTM", 32, 64, 512),
    ("GRU", 16, 128, 256),
    ("GRU", 1, 256, 128),
]
GATES = {"LSTM": 4, "GRU": 3}
TYPES = {"fp32": "float32", "bf16": "bfloat16"}
MOST_ERROR = {"fp32": 1e-5, "bf16": 2e-2}  # of outputs within [-1, 1]


def options_of(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", type=pathlib.Path)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--note", required=True)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--samples", type=int, default=20)
    parser.add_argument("--commit", default=os.environ.get("RONDO_COMMIT", "unknown"))
    return parser.parse_args(arguments)


def took(call):
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def least_ms(calls, samples):
    """Of each call, in turns."""
    for call in calls:
        for _ in range(3):
            call()
    least = [float("inf")] * len(calls)
    for _ in range(samples):
        least = [min(before, took(call)) for before, call in zip(least, calls)]
    return [1e3 * one for one in least]


def product_rate(torch, dtype):
    """Multiply-adds a second, each two operations, of large products."""
    best = 0.0
    for size in (512, 1024, 2048):
        left, right = torch.randn(size, size, dtype=dtype), torch.randn(size, size, dtype=dtype)
        best = max(best, 2e3 * size**3 / least_ms([lambda left=left, right=right: left @ right], 10)[0])
    return best


def row_of(torch, rondo, layer, batch, steps, dim, kind, rate, samples):
    torch.manual_seed(0)
    dtype = getattr(torch, TYPES[kind])
    theirs = getattr(torch.nn, layer)(dim, dim, batch_first=True, dtype=dtype)
    ours = getattr(rondo.nn, layer)(dim, dim, batch_first=True, dtype=dtype)
    ours.load_state_dict(theirs.state_dict())
    x = torch.randn(batch, steps, dim, dtype=dtype)

    def forward(module):
        with torch.no_grad():
            return module(x)[0]

    def both(module):
        own = x.clone().requires_grad_(True)
        module(own)[0].sum().backward()

    error = (forward(ours) - forward(theirs)).abs().max().item()
    if not error < MOST_ERROR[kind]:  # nor where it is no number
        raise SystemExit(f"{layer} {kind} B{batch} T{steps} D{dim}: outputs differ from PyTorch's by {error:.2e}: nothing of it is timed")
    fw = least_ms([lambda: forward(theirs), lambda: forward(ours)], samples)
    fwbw = least_ms([lambda: both(theirs), lambda: both(ours)], samples)
    operations = 2 * batch * steps * 2 * GATES[layer] * dim * dim  # of the products forward: of inputs and of states
    return {
        "layer": layer, "B": batch, "T": steps, "D": dim, "dtype": kind, "error": error,
        "torch_fw_ms": fw[0], "fw_ms": fw[1], "fw_times": fw[0] / fw[1], "floor_fw_ms": 1e3 * operations / rate,
        "torch_fwbw_ms": fwbw[0], "fwbw_ms": fwbw[1], "fwbw_times": fwbw[0] / fwbw[1],
        "floor_fwbw_ms": 3e3 * operations / rate,
    }  # fmt: skip


def main(arguments):
    options = options_of(arguments)
    os.environ["RONDO_LIBRARY"] = str(options.library.resolve())
    os.environ.setdefault("RONDO_TORCH_SHIM", str(options.library.resolve().parent / "librondo_torch.so"))
    os.environ["RONDO_THREADS"] = str(options.threads)
    sys.path.insert(0, str(ROOT / "python"))
    import torch

    import rondo
    import rondo.nn

    torch.set_num_threads(options.threads)
    rates = {kind: product_rate(torch, getattr(torch, name)) for kind, name in TYPES.items()}
    record = {"commit": options.commit, "note": options.note, "torch": torch.__version__, "threads": options.threads,
              "product_rates": rates, "rows": []}  # fmt: skip
    for kind, (layer, batch, steps, dim) in itertools.product(TYPES, ROWS):
        row = row_of(torch, rondo, layer, batch, steps, dim, kind, rates[kind], options.samples)
        record["rows"].append(row)
        options.out.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        print(f"{layer} {kind} B{batch} T{steps} D{dim}: " + ", ".join(f"{key} {row[key]:.3g}" for key in row if key.endswith(("ms", "times"))), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
