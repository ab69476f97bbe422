#!/usr/bin/env python3
"""Times layers of rondo.jax beside those of rondo.nn, which launch the same kernels, and the host's time of a call.

usage: jax_layers.py LIBRONDO.so --out FILE [--seconds N] [--database FILE] [--device cuda] [--steps 20] [--commit HASH]

Layers with the product of their input, in bf16: forward, and forward and backward with the gradients of the input and of all weights.
A time is the mean of calls one after another, from the first call to the end of the last on the device; the two take turns, and
the median of five turns counts. PyTorch's calls are eager.
`host` is the time of a call of a small layer while the device runs behind. Then `jax_lm.py` beside `charlm.py`: tokens a second.
FILE is written after each result, and what it has is not measured again. Status: 4 without a GPU or JAX for it."""
import argparse
import datetime
import os
import pathlib
import statistics
import sys
import tempfile
import time

from rondo_program import begun, query, until_stopped, write

BEGIN = time.monotonic()
ROOT = pathlib.Path(__file__).resolve().parent.parent
LAYERS = (("lstm", 16, 1024, 768), ("lstm", 64, 512, 512), ("gru", 16, 1024, 768), ("lstm", 32, 256, 1024), ("mingru", 8, 4096, 1024),
          ("paragru", 8, 2048, 1024))
SMALL = ("gru", 4, 8, 64)
REHEARSAL = (("lstm", 4, 16, 32), ("mingru", 4, 16, 32))
NO_GPU, TURNS = 4, 5


def of_jax(cell, batch, steps, dim, dtype):
    """Two calls, forward and with gradients, which return arrays to wait for."""
    import jax
    import jax.numpy as jnp
    import rondo.jax
    layer = rondo.jax.Layer(cell, dim, dim)
    weights = layer.init(jax.random.key(0), jnp.dtype(dtype))
    x, grad = (jax.random.normal(jax.random.key(i), (batch, steps, dim), dtype) for i in (1, 2))
    forward = jax.jit(lambda w, x: layer(w, x)[0])

    @jax.jit
    def training(w, x, grad):
        y, pull = jax.vjp(lambda w, x: layer(w, x)[0], w, x)
        return y, pull(grad)
    return lambda: forward(weights, x), lambda: training(weights, x, grad), jax.block_until_ready


def of_torch(cell, batch, steps, dim, dtype, device):
    import torch
    import rondo.nn
    from layers_time import Passes, sync
    kinds = {"lstm": rondo.nn.LSTM, "gru": rondo.nn.GRU}
    kind = getattr(torch, dtype)
    options = dict(batch_first=True, device=device, dtype=kind)
    layer = kinds[cell](dim, dim, **options) if cell in kinds else rondo.nn.Recurrent(cell, dim, dim, **options)
    u, gradient = (torch.randn(batch, steps, dim, device=device, dtype=kind) for _ in range(2))
    passes = Passes(layer, u, gradient)
    return passes.forward, passes.training, lambda _: sync(device)


def mean_ms(call, wait, steps):
    begin = time.perf_counter()
    for _ in range(steps):
        last = call()
    wait(last)
    return 1e3 * (time.perf_counter() - begin) / steps


def host_us(call, wait, steps=300):
    """Until the last call has returned."""
    wait(call())
    begin = time.perf_counter()
    for _ in range(steps):
        last = call()
    spent = time.perf_counter() - begin
    wait(last)
    return 1e6 * spent / steps


def beside(shape, dtype, device, steps):
    jax_calls, torch_calls = of_jax(*shape, dtype), of_torch(*shape, dtype, device)
    row = {}
    for number, name in enumerate(("fw", "fwbw")):
        sides = {"jax": (jax_calls[number], jax_calls[2]), "torch": (torch_calls[number], torch_calls[2])}
        for call, wait in sides.values():
            for _ in range(3):
                wait(call())
        times = {side: [] for side in sides}
        for _ in range(TURNS):
            for side, (call, wait) in sides.items():
                times[side].append(mean_ms(call, wait, steps))
        for side, found in times.items():
            row[f"{side}_{name}_ms"] = round(statistics.median(found), 4)
        row[f"{name}_ratio"] = round(row[f"jax_{name}_ms"] / row[f"torch_{name}_ms"], 4)
    return row


def host_of(dtype, device):
    row = {}
    for side, (forward, training, wait) in (("jax", of_jax(*SMALL, dtype)), ("torch", of_torch(*SMALL, dtype, device))):
        for name, call in (("fw", forward), ("fwbw", training)):
            for _ in range(20):
                wait(call())
            row[f"{side}_{name}_us"] = round(min(host_us(call, wait) for _ in range(5)), 2)
    return row


def language(device, in_bf16):
    """Tokens a second of the two examples."""
    import charlm
    import jax_lm
    import torch
    shape = dict(size=32, batch=2, length=16, steps=8) if device == "cpu" else dict(size=512, batch=32, length=256, steps=100)
    found = {"jax_tokens_per_s": jax_lm.train("lstm", **shape)["tokens_per_s"]}
    for how in ("eager", "graphed") if device != "cpu" else ("eager",):
        found[f"torch_{how}_tokens_per_s"] = charlm.train("LSTM", device=device, how=how, half=torch.bfloat16 if in_bf16 else None, **shape)["tokens_per_s"]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", type=pathlib.Path)
    parser.add_argument("--out", required=True)
    parser.add_argument("--seconds", type=float, default=1e6)
    parser.add_argument("--database", default="")
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--commit", default="unknown")
    options = parser.parse_args()
    os.environ["RONDO_LIBRARY"] = str(options.library.resolve())
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    sys.path[:0] = [str(ROOT / "python"), str(ROOT / "examples/python")]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["RONDO_DB"] = options.database or f"{folder}/tuning.db"
        import jax
        import torch
        if options.device == "cuda" and (jax.default_backend() != "gpu" or not torch.cuda.is_available()):
            print(f"jax_layers: JAX runs on {jax.default_backend()}, PyTorch {'finds a' if torch.cuda.is_available() else 'finds no'} GPU",
                  file=sys.stderr)
            return NO_GPU
        measure(options, jax.__version__, torch.__version__)
    return 0


def measure(options, jax_version, torch_version):
    on_gpu = options.device == "cuda"
    dtype = "bfloat16" if on_gpu else "float32"
    gpu = query("name,driver_version") if on_gpu else ["no GPU", ""]
    record = begun(options.out, {"device": gpu[0], "driver": gpu[1], "jax": jax_version, "torch": torch_version})
    record |= {"commit": options.commit, "date": datetime.date.today().isoformat(), "flags": os.environ.get("XLA_FLAGS", "")}
    stages = [(f"{cell} B={b} T={t} D={d}", lambda s=(cell, b, t, d): beside(s, dtype, options.device, options.steps))
              for cell, b, t, d in (LAYERS if on_gpu else REHEARSAL)]
    stages.insert(2, ("host", lambda: host_of(dtype, options.device)))
    stages.append(("language", lambda: language(options.device, on_gpu)))
    for name, run in stages:
        if any(row["name"] == name for row in record["rows"]) or time.monotonic() - BEGIN > options.seconds - 15:
            continue
        record["rows"].append({"name": name, **run()})
        write(record, options.out)
        print(f"jax_layers: {record['rows'][-1]}", flush=True)


if __name__ == "__main__":
    sys.exit(until_stopped(main))
