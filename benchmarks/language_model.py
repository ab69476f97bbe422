#!/usr/bin/env python3
"""Trains examples/python/charlm.py with Rondo's layers and with torch's own, in one run: losses, and tokens a second.

usage: language_model.py LIBRONDO.so --out FILE [--seconds N] [--steps 200] [--database FILE] [--device cuda] [--commit HASH]

LSTM of B32 T256 D512 and three layers of B16 T1024 D768, in bf16 by autocast, and in fp16 for torch, whose kernels for it are faster;
eager, graphed (the whole step as a CUDA graph) and compiled. The first weights and the text are the same for all. Then Rondo's other layers.
FILE is written after each; what it has is not measured again. Status: 1 if a run failed, 4 without a GPU."""
import argparse
import contextlib
import datetime
import os
import pathlib
import sys
import tempfile
import time

from rondo_program import begun, query, until_stopped, write

BEGIN = time.monotonic()
ROOT = pathlib.Path(__file__).resolve().parent.parent
SHAPES = {"B32 T256 D512": dict(batch=32, length=256, size=512, layers=1), "3 layers of B16 T1024 D768": dict(batch=16, length=1024, size=768, layers=3)}
RUNS = (  # layer, peer, how, type
    ("LSTM", False, "eager", "bfloat16"), ("LSTM", True, "eager", "bfloat16"), ("LSTM", True, "eager", "float16"),
    ("LSTM", False, "graphed", "bfloat16"), ("LSTM", True, "graphed", "bfloat16"), ("LSTM", True, "graphed", "float16"),
    ("LSTM", False, "compiled", "bfloat16"), ("LSTM", True, "compiled", "bfloat16"), ("LSTM", True, "compiled", "float16"),
)
OTHERS = ("GRU", "SLSTM", "MinGRU", "ParaGRU")
NO_GPU = 4


def plan():
    """(shape, layer, peer, how, type), in the order in which a run that ends early should have them."""
    wanted = [(shape, *run) for shape in SHAPES for run in RUNS]
    first = next(iter(SHAPES))
    wanted += [(first, layer, False, "eager", "bfloat16") for layer in OTHERS] + [(first, "GRU", True, "eager", "bfloat16")]
    return wanted


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", type=pathlib.Path)
    parser.add_argument("--out", required=True)
    parser.add_argument("--seconds", type=float, default=1e6)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--database", default="")
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--commit", default="unknown")
    options = parser.parse_args()
    os.environ["RONDO_LIBRARY"] = str(options.library.resolve())
    sys.path[:0] = [str(ROOT / "python"), str(ROOT / "examples/python")]
    import torch
    if options.device == "cuda" and not torch.cuda.is_available():
        print("language_model: PyTorch finds no GPU", file=sys.stderr)
        return NO_GPU
    import charlm
    import rondo
    gpu = query("name,driver_version") if options.device == "cuda" else ["no GPU", ""]
    record = begun(options.out, {"device": gpu[0], "driver": gpu[1], "torch": torch.__version__})
    record |= {"commit": options.commit, "date": datetime.date.today().isoformat()}
    torch.backends.cuda.matmul.allow_tf32 = True
    text = charlm.corpus()
    failed = False
    with contextlib.ExitStack() as kept:
        rondo.policy(database=options.database or f"{kept.enter_context(tempfile.TemporaryDirectory())}/rondo.db")
        for shape, layer, peer, how, type_ in plan():
            key = f"{shape} | {'torch' if peer else 'rondo'} {layer} {how} {type_}"
            if any(row["key"] == key for row in record["rows"]) or (options.device == "cpu" and how == "graphed"):
                continue
            if options.seconds - (time.monotonic() - BEGIN) < (35 if how == "compiled" else 15):
                print(f"language_model: {key}: not begun, the time is over", flush=True)
                continue
            begin = time.monotonic()
            more = SHAPES[shape] if options.device == "cuda" else dict(batch=2, length=16, size=32, layers=1)
            steps = options.steps if more["length"] < 1000 else options.steps // 2
            try:
                torch._dynamo.reset()
                row = charlm.train(layer, **more, steps=steps, device=options.device, peer=peer, how=how, half=getattr(torch, type_), text=text)
            except Exception as error:  # one that fails must not end the run
                row = {"error": f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"}
                failed |= not peer
            record["rows"].append({"key": key, "shape": shape, **row})
            write(record, options.out)
            shown = {name: row[name] for name in ("error", "tokens_per_s", "ms_per_step", "warm_s", "last_bits") if name in row}
            print(f"language_model: {key}: {shown} ({time.monotonic() - begin:.1f} s)", flush=True)
            if options.device == "cuda":
                torch.cuda.empty_cache()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(until_stopped(main))
