#!/usr/bin/env python3
"""Times whole layers of rondo.nn, with the product of their input, beside torch.nn, compiled loops and other packages, in one run.

usage: layers.py LIBRONDO.so --out FILE [--seconds N] [--stages S,...] [--only REGEX] [--database FILE] [--threads 8] [--device cuda] [--commit HASH]

Forward without gradients, and forward and backward with the gradients of the input and of all weights; medians of single calls
between two events, eager and as CUDA graphs. Before a time counts, h and all gradients are compared with float64 on the same weights:
errors may be twice those of torch.nn in the same type, or 8 units of the type, of a tensor's largest element (layers_shapes.WITHIN).

Stages, in order:
  table    the eight layers of the project's aims: Rondo and torch.nn in bf16 and fp16
  first    seconds of the first call in a fresh process: without a database, in a second process with it, and without one where
           kernels are verified beside their use
  host     host time of an operator and of small layers, microseconds
  tf32     the eight layers in fp32 with tf32
  more     twelve more layers in bf16
  proj     LSTMs with a projection (proj_size) in bf16 and fp16
  memory   peak of a training step of the eight, and what it keeps between its passes, MiB: torch.nn in bf16 and fp16, and Rondo in
           bf16 by what it saves and in chunks of a quarter of the steps
  compiled torch.compile of both, of the eight
  peers    other packages, where they import; the record names those that do not
  loop     a compiled loop of the same cell, of the eight and of cells that torch has not

Plans of a stage are made first, side by side. FILE is written after each result, and what it has is not measured again: a run
that --seconds ended is gone on with by the same call. --device cpu is a rehearsal with small layers.
Status: 1 if a result is wrong, 4 without a GPU."""
import argparse
import concurrent.futures
import contextlib
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from rondo_program import begun, query, told, until_stopped, write

BEGIN = time.monotonic()
ROOT = pathlib.Path(__file__).resolve().parent.parent
NO_GPU = 4
STAGES = ("table", "first", "host", "tf32", "more", "proj", "memory", "compiled", "peers", "loop")
NEEDS = {"first": 45, "host": 40, "memory": 15, "compiled": 20, "peers": 20, "loop": 25}  # seconds without which a stage or its next layer is not begun
SHOWN = ("error", "right", "fw_ms", "fwbw_ms", "fw_graph_ms", "fwbw_graph_ms", "peak_MiB", "kept_MiB")
NN = {"lstm": "LSTM", "gru": "GRU", "rnn": "RNN", "slstm": "SLSTM", "mingru": "MinGRU", "paragru": "ParaGRU",
      "lnlstm": "LayerNormLSTM"}


def options_of(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", type=pathlib.Path)
    parser.add_argument("--out", required=True)
    parser.add_argument("--seconds", type=float, default=1e6)
    parser.add_argument("--stages", default=",".join(STAGES))
    parser.add_argument("--only", default="", help="layers whose name matches")
    parser.add_argument("--database", default="", help="tuning database; without, a new one that is dropped")
    parser.add_argument("--threads", type=int, default=8, help="plans made side by side")
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--commit", default="unknown")
    parser.add_argument("--first-call", default="", help=argparse.SUPPRESS)  # what a process of the stage first does
    parser.add_argument("--verify", default="strict", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    options.stages = options.stages.split(",")
    if wrong := [stage for stage in options.stages if stage not in STAGES]:
        parser.error(f"no stage {', '.join(wrong)}; there are {', '.join(STAGES)}")
    return options


def use_rondo(library):
    """The package of this tree over a built library. Before `rondo` is imported."""
    os.environ["RONDO_LIBRARY"] = str(library.resolve())
    sys.path.insert(0, str(ROOT / "python"))


# --- contenders ---

class Contenders:
    """Modules of a layer by name, and the results that they are compared with."""

    def __init__(self, device):
        import layers_shapes
        import torch
        self.torch, self.shapes, self.device = torch, layers_shapes, device
        self.exact_of, self.saves = (None, None), {}

    def data(self, layer, dtype, batch_first):
        u, gradient = (one.to(self.device, self.shapes.DTYPES[dtype]) for one in self.shapes.data_of(layer))
        return (u, gradient) if batch_first else (u.transpose(0, 1).contiguous(), gradient.transpose(0, 1).contiguous())

    def weights(self, layer):
        return self.shapes.weights_of(layer)

    def placed(self, module, dtype):
        module = module.to(self.device, self.shapes.DTYPES[dtype])
        if isinstance(module, self.torch.nn.RNNBase) and self.device == "cuda":
            module.flatten_parameters()  # .to() leaves them apart
        return module

    def rondo(self, layer, dtype, save="states", chunk=None):
        import rondo
        kind = getattr(rondo.nn, NN[layer.cell])
        stacked = dict(batch_first=True, **layer.options) if layer.is_torchs else {}
        module = kind(layer.D, layer.D, chunk=chunk, **stacked)
        module.load_state_dict(self.weights(layer))
        module.cell = module.cell.with_options(save=save, math="tf32" if dtype == "tf32" and self.device == "cuda" else "default")
        return self.placed(module, dtype)

    def torchs(self, layer, dtype):
        module = self.shapes.TORCH[layer.cell](layer.D, layer.D, **layer.options)
        module.load_state_dict(self.weights(layer))
        return self.placed(module, dtype)

    def loop(self, layer, dtype, compiled=True):
        import torch._dynamo
        torch._dynamo.reset()
        step = self.shapes.STEPS[layer.cell][0]
        if compiled:
            step = self.torch.compile(step, fullgraph=True, dynamic=False)
        return self.placed(self.shapes.Loop(layer, self.weights(layer), step), dtype)

    def made(self, layer, who):
        """A module, and whether batches come first in its input. Words behind the type say how: compiled, what is saved, `chunk=N`."""
        name, dtype, *how = who.split()
        if name == "rondo":
            save = next((word for word in how if word in ("states", "products")), self.saves.get((layer.name, dtype), "states"))
            chunk = next((int(word[6:]) for word in how if word.startswith("chunk=")), None)
            module, first = self.rondo(layer, dtype, save, chunk), True
        elif name == "torch":
            module, first = self.torchs(layer, dtype), False
        elif name == "loop":
            module, first = self.loop(layer, dtype, how == ["compiled"]), False
        else:
            import layers_peers
            peer = layers_peers.PEERS[name]
            module, first = self.placed(peer.make(layer, self.weights(layer)), dtype), peer.batch_first
        if how == ["compiled"] and name != "loop":
            import torch._dynamo
            torch._dynamo.reset()
            return self.torch.compile(module, fullgraph=name == "rondo"), module, first
        return module, module, first

    def exact(self, layer):
        if self.exact_of[0] != layer:
            self.exact_of = (None, None)
            self.exact_of = (layer, self.shapes.exact_results(layer, self.device))
        return self.exact_of[1]

    def results(self, passes, module, batch_first):
        """As `exact` has them."""
        passes.training()
        turn = (lambda one: one.transpose(0, 1)) if batch_first else (lambda one: one)
        names = getattr(module, "names", {})
        return {"h": turn(passes.h), "u": turn(module.restored(passes.leaf.grad) if hasattr(module, "restored") else passes.leaf.grad),
                **{names.get(name, name): weight.grad for name, weight in module.named_parameters() if weight.grad is not None}}

    def passes_of(self, layer, who):
        """A module's passes, the module, and whether batches come first in its input."""
        from layers_time import Passes
        dtype = who.split()[1]
        self.torch.backends.cuda.matmul.allow_tf32 = self.torch.backends.cudnn.allow_tf32 = dtype != "fp32"
        run, module, batch_first = self.made(layer, who)
        u, gradient = self.data(layer, dtype, batch_first)
        if hasattr(module, "arranged"):  # a peer has its input as it likes it best
            u = module.arranged(u)
        return Passes(run, u, gradient), module, batch_first

    def checked(self, layer, who, of_torch):
        """A module's passes, the module, and the errors of its results."""
        passes, module, batch_first = self.passes_of(layer, who)
        errors = self.shapes.errors_of(self.results(passes, module, batch_first), self.exact(layer))
        return passes, module, self.shapes.judged(errors, of_torch, who.split()[1], layer.T if who.startswith("loop") else 0)

    def memory(self, layer, who, of_torch):
        """Errors first, then the memory of a training step."""
        passes, _, row = self.checked(layer, who, of_torch)
        return row | passes.memory(self.device)

    def measure(self, layer, who, of_torch):
        """Errors first, then times."""
        passes, module, row = self.checked(layer, who, of_torch)
        if who.startswith("rondo"):
            row["save"] = module.cell.save
        slow = who.startswith("loop")
        return row | passes.measure(self.device, least=3 if slow else 5, eager="graphed" not in who)


# --- the run ---

class Run:
    def __init__(self, options, record, contenders):
        self.options, self.record, self.contenders = options, record, contenders
        self.wrong = False

    def left(self):
        return self.options.seconds - (time.monotonic() - BEGIN)

    def save(self):
        write(self.record, self.options.out)

    def row_of(self, layer, in_table):
        for row in self.record["rows"]:
            if row["layer"] == layer.name:
                return row
        row = {"layer": layer.name, "cell": layer.cell, "shape": {"B": layer.B, "T": layer.T, "D": layer.D}, "layers": layer.layers,
               "directions": layer.directions, "table": in_table, "times": {}}
        self.record["rows"].append(row)
        return row

    def chosen(self, layers):
        return [layer for layer in layers if re.search(self.options.only, layer.name)]

    def prepare(self, layers, dtypes):
        """Plans of Rondo's layers, and what each had better save."""
        import rondo

        def one(layer, dtype):
            module = self.contenders.rondo(layer, dtype)
            rondo.prepare(module, [(layer.B, layer.T)], choose_save=True, progress=False)
            self.contenders.saves[layer.name, dtype] = module.cell.save

        jobs = [(layer, dtype) for layer in layers for dtype in dtypes]
        self.side_by_side([job for job in jobs if f"rondo {job[1]}" not in self.row_of(job[0], job[0] in self.table)["times"]], one)

    def side_by_side(self, jobs, one):
        """Makes plans: `one` those of a job, a layer and words."""
        begin = time.monotonic()

        def guarded(job):
            try:
                one(*job)
            except Exception as error:  # the layer's own row says so
                print(f"layers: plans of {job[0].name} {job[1]}: {error}", flush=True)

        with concurrent.futures.ThreadPoolExecutor(max(1, self.options.threads)) as pool:
            list(pool.map(guarded, jobs))
        if jobs:
            print(f"layers: plans of {len(jobs)} layers in {time.monotonic() - begin:.1f} s", flush=True)

    def contend(self, layer, who, need=8):
        """One contender of one layer, unless the record has it or the time is over."""
        row = self.row_of(layer, layer in self.table)
        self.found(row["times"], layer, who, self.contenders.measure, need)

    def found(self, results, layer, who, measure, need):
        """What `measure` finds of a contender, into `results`."""
        if who in results or self.left() < need:
            return
        begin = time.monotonic()
        of_torch = results.get(f"torch {who.split()[1]}", {}).get("errors")
        try:
            results[who] = measure(layer, who, of_torch)
            self.wrong |= who.startswith("rondo") and not results[who]["right"]
        except Exception as error:  # a contender that fails must not end the run
            results[who] = {"error": told(error)}
            self.wrong |= who.startswith("rondo")
        one = results[who]
        shown = {key: one[key] for key in SHOWN if key in one}
        print(f"layers: {layer.name} | {who} | {shown} ({time.monotonic() - begin:.1f} s)", flush=True)
        self.save()
        if self.options.device == "cuda":
            self.contenders.torch.cuda.empty_cache()

    @property
    def table(self):
        shapes = self.contenders.shapes
        return shapes.TABLE if self.options.device == "cuda" else shapes.REHEARSAL[:3]

    @property
    def more(self):
        shapes = self.contenders.shapes
        return shapes.MORE if self.options.device == "cuda" else shapes.REHEARSAL[3:]

    def compare(self, layers, dtypes, first="rondo"):
        self.prepare(layers, dtypes)
        for layer in layers:
            for dtype in dtypes:
                for name in ("torch", "rondo") if layer.is_torchs else ("rondo",):
                    self.contend(layer, f"{name} {dtype}")
            if layer.is_torchs and dtypes == ("bf16",):
                self.contend(layer, "torch fp16")

    # --- stages ---

    def stage_table(self):
        self.compare(self.chosen(self.table), ("bf16", "fp16"))

    def stage_tf32(self):
        self.compare(self.chosen(self.table), ("tf32",))

    def stage_more(self):
        for group in (self.more[:6], self.more[6:]):  # so that a run that ends early has some
            if self.left() > 40:
                self.compare(self.chosen(group), ("bf16",))

    def stage_proj(self):
        shapes = self.contenders.shapes
        self.compare(self.chosen(shapes.PROJECTED if self.options.device == "cuda" else shapes.REHEARSAL_PROJECTED), ("bf16", "fp16"))

    def ways_of(self, layer):
        """Of Rondo's layer, in which its memory differs."""
        saves = ["states", "products"] if self.contenders.rondo(layer, "bf16").cell.may_save_products else ["states"]
        return [*saves, *(f"{save} chunk={max(1, layer.T // 4)}" for save in saves)]

    def stage_memory(self):
        import rondo
        layers = self.chosen(self.table)
        results = {layer: self.record["memory"].setdefault(layer.name, {}) for layer in layers}
        jobs = [(layer, f"rondo bf16 {way}") for layer in layers for way in self.ways_of(layer)]
        self.side_by_side([(layer, who) for layer, who in jobs if who not in results[layer]],
                          lambda layer, who: rondo.prepare(self.contenders.made(layer, who)[1], [(layer.B, layer.T)], progress=False))
        for layer in layers:
            for who in ("torch bf16", "torch fp16", *(who for of, who in jobs if of == layer)):
                self.found(results[layer], layer, who, self.contenders.memory, NEEDS["memory"])

    def stage_compiled(self):
        for layer in self.chosen(self.table):
            for who in ("torch bf16 compiled", "rondo bf16 compiled"):
                self.contend(layer, who, NEEDS["compiled"])

    def stage_loop(self):
        own = [layer for layer in self.more if not layer.is_torchs]
        for layer in self.chosen((*self.table, *own)):
            self.contend(layer, "loop bf16 compiled", NEEDS["loop"])

    def stage_peers(self):
        import layers_peers
        there, self.record["absent"] = layers_peers.present()
        self.record["present"] = there
        self.save()
        for name in there:
            for layer in self.chosen((*self.more, *self.table)):
                for who in layers_peers.named(name, layer):
                    self.contend(layer, who, NEEDS["peers"])

    def stage_first(self):
        """Fresh processes, the first without a database and what is compiled; the second finds it."""
        for layer in self.chosen(self.table[:1] + self.table[3:4]):
            key = f"{layer.name} bf16"
            if key in self.record["first_call"] or self.left() < NEEDS["first"]:
                continue
            with tempfile.TemporaryDirectory() as folder:
                found = {}
                for which in ("cold", "warm"):
                    found[which] = first_call_in_a_process(self.options, layer, f"{folder}/rondo.db", self.left())
                found["cold, verified behind"] = first_call_in_a_process(self.options, layer, f"{folder}/other.db", self.left(), "background")
            self.record["first_call"][key] = found
            print(f"layers: first call of {key}: {found}", flush=True)
            self.save()

    def stage_host(self):
        if not self.record["host"]:
            self.record["host"] = host_times(self.contenders)
            print(f"layers: host {self.record['host']}", flush=True)
            self.save()


def first_call_in_a_process(options, layer, database, left, verify="strict"):
    words = [sys.executable, str(pathlib.Path(__file__).resolve()), str(options.library), "--out", os.devnull, "--device", options.device,
             "--first-call", layer.name, "--database", database, "--verify", verify]
    done = subprocess.run(words, capture_output=True, text=True, timeout=max(10, min(left, 120)), check=False)
    try:
        return json.loads(done.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        return {"error": (done.stderr.strip().splitlines() or ["nothing was said"])[-1][:300]}


def first_call(options, contenders):
    """Seconds until a forward pass, and both passes of a training step, have ended, each for the first time. PyTorch and its context
    are there before, and what it imports when a gradient is given to `backward` for the first time (2 s). The plan of the backward
    pass is made while the forward one is: `backward_s` is what is left to wait for."""
    import rondo
    from layers_time import Passes, sync, timed
    shapes = contenders.shapes
    layer = next(one for one in (*shapes.TABLE, *shapes.REHEARSAL) if one.name == options.first_call)
    rondo.policy(database=options.database, verify=options.verify)
    module = contenders.rondo(layer, "bf16")
    passes = Passes(module, *contenders.data(layer, "bf16", True))
    product = contenders.torch.nn.functional.linear(passes.leaf, contenders.torch.zeros_like(passes.u[0, :1]))
    product.backward(contenders.torch.zeros_like(product))
    passes.drop()
    sync(options.device)
    found = {}
    for names in (("forward",), ("forward_saving", "backward")):
        for again, digits in (("", 3), ("_again", 5)):
            for name in names:
                found[f"{name}{again}_s"] = round(timed(lambda: (getattr(passes, name)(), sync(options.device))), digits)
    found["plans"] = [{"pass": plan.pass_, "strategy": plan.strategy, "origin": plan.origin, "verified": plan.verified, "seconds": round(plan.seconds, 3)}
                      for plan in rondo.plans()]
    print(json.dumps(found))
    return 0


def host_times(contenders):
    """Of the smallest layers, where the host is all there is."""
    from layers_shapes import Layer
    from layers_time import Passes, host_us
    torch, device = contenders.torch, contenders.device
    found = {}
    layer = Layer("lstm", 1, 1, 64)
    module = contenders.rondo(layer, "bf16")
    cell = module.cell
    tensors = [torch.randn(1, 1, 1, 4, 64), torch.randn(1, 4, 64, 64), torch.randn(1, 4, 64)]
    tensors = [tensors[0].to(device, torch.bfloat16), tensors[1].to(device, torch.bfloat16), tensors[2].to(device)]
    given = 7  # x and both parameters, no initial states
    how = cell.description.text
    operator = torch.ops.rondo.forward.default
    with torch.no_grad():
        found["operator forward"] = host_us(lambda: operator(tensors, how, given, False), device)
        found["cell forward"] = host_us(lambda: cell(tensors[0], params={"R": tensors[1], "b": tensors[2]}), device)
        found["torch.mm"] = host_us(lambda: torch.mm(tensors[1][0, 0], tensors[1][0, 0]), device)
        # What an operator takes at least: memory for its results, and a launch.
        found["torch.empty, twice"] = host_us(lambda: (torch.empty(1, 1, 1, 64, device=device), torch.empty(1, 1, 64, device=device)), device)
        found["a launch of PyTorch (zero_)"] = host_us(tensors[2].zero_, device)
    for kind in ("lstm", "gru"):
        for name, one, first in (("rondo", contenders.rondo(Layer(kind, 1, 1, 64), "bf16"), True), ("torch", contenders.torchs(Layer(kind, 1, 1, 64), "bf16"), False)):
            passes = Passes(one, *contenders.data(Layer(kind, 1, 1, 64), "bf16", first))
            found[f"{kind} layer forward, {name}"] = host_us(passes.forward, device)
            found[f"{kind} layer forward + backward, {name}"] = host_us(passes.training, device)
            with torch.autograd.set_multithreading_enabled(False):
                found[f"{kind} layer forward + backward in one thread, {name}"] = host_us(passes.training, device)
    found["a node of PyTorch, forward + backward"] = host_us(lambda: one_node(torch, tensors[1]), device)
    return found


def one_node(torch, tensor):
    """What autograd takes for any layer: to a GPU's thread and back."""
    leaf = tensor.detach().requires_grad_()
    leaf.clone().backward(tensor)


def head_of(torch, device):
    gpu = query("name,driver_version") if device == "cuda" else ["no GPU", ""]
    cudnn = torch.backends.cudnn.version() if device == "cuda" else 0
    return {"device": gpu[0], "driver": gpu[1], "torch": torch.__version__, "cudnn": cudnn, "cuda": torch.version.cuda or "",
            "python": ".".join(map(str, sys.version_info[:3])), "cores": len(os.sched_getaffinity(0))}


def main():
    options = options_of(sys.argv[1:])
    use_rondo(options.library)
    import torch
    if options.device == "cuda" and not torch.cuda.is_available():
        print("layers: PyTorch finds no GPU", file=sys.stderr)
        return NO_GPU
    import rondo
    contenders = Contenders(options.device)
    if options.first_call:
        return first_call(options, contenders)
    record = begun(options.out, head_of(torch, options.device))
    for key in ("host", "first_call", "memory"):
        record.setdefault(key, {})
    record |= {"commit": options.commit, "date": datetime.date.today().isoformat(), "rondo": rondo.version()}
    with contextlib.ExitStack() as kept:
        rondo.policy(database=options.database or f"{kept.enter_context(tempfile.TemporaryDirectory())}/rondo.db")
        run = Run(options, record, contenders)
        for stage in options.stages:
            if run.left() < NEEDS.get(stage, 10):
                print(f"layers: {stage}: not begun, the time is over", flush=True)
                continue
            getattr(run, f"stage_{stage}")()
            run.save()
        if options.device == "cuda":
            torch.cuda.synchronize()
        rondo.check()
    return 1 if run.wrong else 0


if __name__ == "__main__":
    sys.exit(until_stopped(main))
