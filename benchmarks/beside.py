#!/usr/bin/env python3
"""Times Rondo beside all that its users would take instead, in one run: cuDNN in four types, Haste, FlashRNN's three kernels, a loop of
PyTorch compiled and as a CUDA graph, and `lax.scan` of JAX.

usage: beside.py LIBRONDO.so --out FILE [--seconds N] [--only REGEX] [--who REGEX] [--compile] [--database FILE] [--threads 8] [--device cuda] [--commit HASH]

Whole layers with the product of their input where a peer has them. FlashRNN has the recurrence alone, and so is timed beside Rondo's
cell alone; the name of such a row says so. Forward without gradients, and forward and backward with the gradients of the input and of all
weights: medians of single calls, eager and as CUDA graphs; JAX's until the device has done a call. The loop's steps are compiled, for
PyTorch unrolls a loop over time; as a graph it is timed plain too. Before a time counts results are compared as layers.py does. A loop's
gradients of weights are sums over the steps, rounded at each: where they alone are worse, and no worse than that makes them, the record
says `rounded_sums`. What cannot be captured as a graph is timed eagerly, and the record says why.

Packages of peers are taken where they import; the record names those that do not. --compile compiles what Rondo, JAX and PyTorch will
compile and times nothing, so that it may run beside the build of a peer: all keep what they compiled, Rondo in the database.
FILE is written after each result, and what it has is not measured again: a run that --seconds ended is gone on with by the same call.
--device cpu is a rehearsal with small layers. Status: 1 if a result of Rondo's is wrong, 4 without a GPU."""
import argparse
import contextlib
import dataclasses
import datetime
import os
import pathlib
import re
import sys
import tempfile

import layers
from rondo_program import begun, told, until_stopped

NEED = 6  # seconds without which a contender is not begun
ALONE = ("lstm", "gru", "slstm")


def beside(shapes, batch, steps, dim, heads):
    """The layers, and of cells alone those with one head and with several."""
    whole = [shapes.Layer(cell, batch, steps, dim) for cell in ("lstm", "gru", "slstm", "lnlstm")]
    bare = [shapes.Layer(cell, batch, steps, dim, bare=True) for cell in ALONE]
    return whole + bare + [dataclasses.replace(layer, heads=heads) for layer in bare if layer.cell != "gru"]


def contenders_of(layer, there):
    """Those of a layer, the quick ones first; `there`: the packages that import."""
    import layers_peers
    of_peers = [who for name in there for who in layers_peers.named(name, layer)]
    if layer.bare:
        return ["rondo bf16", *of_peers]
    torchs = [f"torch {dtype}" for dtype in ("bf16", "fp16", "tf32", "fp32")] if layer.is_torchs else []
    types = ("bf16", "fp16", "tf32", "fp32") if layer.is_torchs else ("bf16", "tf32", "fp32") if layer.cell == "lnlstm" else ("bf16",)
    return torchs + [f"rondo {dtype}" for dtype in types] + of_peers + ["jax bf16", "jax tf32", "loop bf16 graphed", "loop bf16 compiled"]


class Contenders(layers.Contenders):
    """With the recurrence alone, and JAX's loop."""

    def rondo(self, layer, dtype, save="states", chunk=None):
        if not layer.bare:
            return super().rondo(layer, dtype, save, chunk)
        import rondo
        module = rondo.nn.Recurrent(layer.cell, layer.gates * layer.D, layer.D, heads=layer.heads, batch_first=True)
        module.input_projection = self.torch.nn.Identity()
        module.load_state_dict(self.weights(layer))
        module.cell = module.cell.with_options(save=save)
        return self.placed(module, dtype)

    def measure(self, layer, who, of_torch):
        if not who.startswith("jax"):
            return super().measure(layer, who, of_torch)
        from layers_jax import JaxScan
        dtype = who.split()[1]
        scan = JaxScan(layer, self.weights(layer), dtype, *self.shapes.data_of(layer))
        found = {name: one.to(self.device) for name, one in scan.results().items()}
        errors = self.shapes.errors_of(found, self.exact(layer))
        return self.shapes.judged(errors, of_torch, dtype, layer.T) | scan.measure()

    def compile(self, layer, who):
        """What `measure` would compile of JAX, of a peer or of a loop; of the loop a few steps, for each is the same."""
        import layers_peers
        if who.startswith("jax"):
            from layers_jax import JaxScan
            JaxScan(layer, self.weights(layer), who.split()[1], *self.shapes.data_of(layer))
        elif who.endswith("compiled") or who.split()[0] in layers_peers.PEERS:
            passes = self.passes_of(dataclasses.replace(layer, T=3) if who.endswith("compiled") else layer, who)[0]
            passes.forward()
            passes.training()


class Run(layers.Run):
    def __init__(self, options, record, contenders):
        super().__init__(options, record, contenders)
        import layers_peers
        there, absent = layers_peers.present()
        sizes = (16, 1024, 768, 12) if options.device == "cuda" else (4, 16, 32, 2)
        chosen = self.chosen(beside(contenders.shapes, *sizes))
        self.jobs = [(layer, who) for layer in chosen for who in contenders_of(layer, there) if re.search(options.who, who)]
        wanted = {name for name in absent for layer in chosen if layers_peers.serves(name, layer)}
        of_jax = {name: why for name, why in record.get("absent", {}).items() if name == "jax"}  # another process may have looked for it
        record["present"], record["absent"] = there, {name: absent[name] for name in sorted(wanted)} | of_jax

    def plans(self):
        """Of Rondo's layers, side by side, each with what it had better save."""
        for dtype in ("bf16", "fp16", "tf32", "fp32"):
            self.prepare([layer for layer, who in self.jobs if who == f"rondo {dtype}"], (dtype,))

    def contend_all(self):
        """What takes seconds to compile comes late, of all layers, and JAX last of all: its threads begin when it looks for the device,
        and while a CUDA graph is captured a call of theirs fails, which ends both the capture and JAX's stream."""
        for begins in ("", "loop", "jax"):
            jobs = [(layer, who) for layer, who in self.jobs if who.startswith(("loop", "jax")) == bool(begins) and who.startswith(begins)]
            if begins == "jax" and jobs and not self.finds_jax():
                break
            for layer, who in jobs:
                self.contend(layer, who, NEED)

    def finds_jax(self):
        """Whether JAX imports and has the device; why not goes to the record."""
        self.record["absent"].pop("jax", None)
        try:
            import jax
            self.record["jax"] = jax.__version__
            backend = jax.default_backend()
            why = f"it runs on {backend}" if self.options.device == "cuda" and backend != "gpu" else ""
        except (ImportError, RuntimeError) as error:
            why = told(error)
        if why:
            self.record["absent"]["jax"] = why
        return not why

    def compile_all(self):
        for layer, who in self.jobs:
            try:
                self.contenders.compile(layer, who)
            except Exception as error:  # its own row will say so
                print(f"beside: {layer.name} | {who} | {told(error)}", flush=True)


def options_of(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", type=pathlib.Path)
    parser.add_argument("--out", required=True)
    parser.add_argument("--seconds", type=float, default=1e6)
    parser.add_argument("--only", default="", help="layers whose name matches")
    parser.add_argument("--who", default="", help="contenders whose name matches")
    parser.add_argument("--compile", action="store_true", help="compile what will be compiled, and time nothing")
    parser.add_argument("--database", default="", help="tuning database; without, a new one that is dropped")
    parser.add_argument("--threads", type=int, default=8, help="plans made side by side")
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--commit", default="unknown")
    return parser.parse_args(arguments)


def main():
    options = options_of(sys.argv[1:])
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", os.path.join(tempfile.gettempdir(), "beside-jax"))
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
    layers.use_rondo(options.library)
    import torch
    if options.device == "cuda" and not torch.cuda.is_available():
        print("beside: PyTorch finds no GPU", file=sys.stderr)
        return layers.NO_GPU
    import rondo
    contenders = Contenders(options.device)
    record = begun(options.out, layers.head_of(torch, options.device)) if not options.compile else {"rows": []}
    record |= {"commit": options.commit, "date": datetime.date.today().isoformat(), "rondo": rondo.version()}
    with contextlib.ExitStack() as kept:
        rondo.policy(database=options.database or f"{kept.enter_context(tempfile.TemporaryDirectory())}/rondo.db")
        run = Run(options, record, contenders)
        run.plans()
        if options.compile:
            run.compile_all()
            return 0
        run.contend_all()
        run.save()
        if options.device == "cuda":
            torch.cuda.synchronize()
        rondo.check()
    return 1 if run.wrong else 0


if __name__ == "__main__":
    sys.exit(until_stopped(main))
