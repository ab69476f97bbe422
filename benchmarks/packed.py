#!/usr/bin/env python3
"""Times layers over sequences of different length beside torch.nn with a PackedSequence (cuDNN). Needs a GPU and PyTorch.

usage: packed.py LIBRONDO.so --out FILE [--only REGEX] [--budget 8s] [--side 1] [--turns 3] [--seconds N] [--commit HASH]

LSTM and GRU, in one direction and in both, B=64, T=1024, D=512, bf16 and fp16; lengths are drawn evenly from 1 to T. `fw` is
inference, `fwbw` forward and backward with the gradients of the layer's input and of all weights. Both sides begin with
u and end with h of the same layer:

- torch.nn takes a PackedSequence that was made before, and multiplies its valid steps by the input weights;
- Rondo takes u padded to T steps. torch.addmm multiplies all of them by the input weights, in the timed region; then come
  the kernels of the cell with lengths, for the second direction those of the reversed cell; backward the products for the
  gradients of u and of the input weights.

`longest` is Rondo's time when each row is as long as the longest of its batch tile. Results of a smaller problem are compared
with torch.nn in fp64 on the same weights, gradients too; a row whose errors are larger than WITHIN says is no result. All plans are
tuned first, --side of them side by side, by the program `rondo` beside the library (--budget 0s: the model chooses). FILE is written
after each row, and rows that it has and that are not measured now stay; after --seconds no tune and no row is begun. Status: 1 if a row is wrong, 4 without a GPU."""
import argparse
import os
import pathlib
import random
import re
import sys
import tempfile
import time as clock

from rondo_program import begun, query, rondo, shared_workers, side_by_side, tried, until_stopped, write

BATCH, TIME, DIM = 64, 1024, 512
SHAPE = f"B={BATCH},T={TIME},H=1,D={DIM}"
SMALL_BATCH, SMALL_TIME = 16, 96  # of the comparison
GATES = {"lstm": 4, "gru": 3}
UNITS = {"bf16": 2 ** -8, "fp16": 2 ** -11}  # half an ulp at 1
WITHIN = (2, 8)  # an error may be so many times that of cuDNN, or so many units of the type, of a tensor's largest element
CLOSE = 1.1  # of `longest`, the aim
NO_GPU = 4


def lengths_of(batch, time, seed=1):
    """Steps of each row, from 1 to `time`; one row has all of them."""
    draw = random.Random(seed)
    return [time] + [draw.randint(1, time) for _ in range(batch - 1)]


def rows_of_tile(parameters):
    """Batch rows that a block has, by the parameters of a plan ("units=16 batch_tiles=2")."""
    tiles = re.search(r"\bbatch_tiles=(\d+)", parameters)
    return 8 * int(tiles.group(1)) if tiles else 1


def longest_of_tiles(lengths, rows):
    return [max(lengths[first - first % rows:first - first % rows + rows]) for first in range(len(lengths))]


def within(ours, theirs, dtype):
    """Whether errors by name are as small as they may be."""
    return all(ours[name] <= max(WITHIN[0] * theirs[name], WITHIN[1] * UNITS[dtype]) for name in theirs)


# --- Rondo ---

class Direction:
    """The kernels of one direction of a layer, and their memory. `launch` makes h of x; `train` saves, too, and `back` makes
    the gradients."""

    def __init__(self, library, context, database, cell, dtype, batch, time, backwards):
        import capi_ctypes as capi
        import torch
        self.torch, self.capi = torch, capi
        self.types = {capi.F32: torch.float32, capi.BF16: torch.bfloat16, capi.F16: torch.float16, capi.I32: torch.int32}
        handle = library.cell(cell, lengths=1, reversed=int(backwards))
        more = {"type_": {"bf16": capi.BF16, "fp16": capi.F16}[dtype], "database": database}
        self.plan = capi.Forward(library, context, handle, batch, time, DIM, **more)
        self.training = capi.Training(library, context, handle, batch, time, DIM, **more)
        self.memory, self.calls = {}, {}
        self.add(self.plan, "", {})
        self.add(self.training.forward, "saved ", {})
        self.add(self.training.backward, "back ", self.training.shared)

    def add(self, plan, prefix, shared):
        """Memory and arguments of a plan's launch. Parameters, x, lengths and h are the same for all."""
        addresses = {}
        for name, (kind, size) in plan.tensors().items():
            if name.endswith(("_first", "_last")):
                continue  # zero, or not asked for
            key = shared.get(name, name)
            key = key if key in ("x", "R", "b", "lengths", "h_out") else f"{'saved ' if name in shared else prefix}{key}"
            if key not in self.memory:
                element = self.torch.empty(0, dtype=self.types[kind]).element_size()
                self.memory[key] = self.torch.zeros(size // element, dtype=self.types[kind], device="cuda")
            addresses[name] = self.memory[key].data_ptr()
        work = self.torch.empty(plan.workspace_bytes() + 256, dtype=self.torch.uint8, device="cuda")
        self.memory[f"{prefix}workspace"] = work
        at = work.data_ptr() + -work.data_ptr() % 256
        stream = self.torch.cuda.current_stream().cuda_stream or None
        self.calls[prefix] = (plan, plan.arguments(addresses, at, work.numel() - 256, stream))

    def run(self, prefix):
        plan, arguments = self.calls[prefix]
        plan.launch(arguments)

    def of(self, name, *shape):
        return self.memory[name].view(*shape)

    def words(self):
        return [f"{plan.info().strategy.decode()} {plan.info().parameters.decode()}" for plan, _ in self.calls.values()]


class Ours:
    """A layer of torch.nn with the same weights, computed by Rondo: u [B, T, D] padded."""

    def __init__(self, library, context, database, cell, dtype, layer, u, lengths):
        import torch
        self.torch, self.gates, self.u = torch, GATES[cell], u
        batch, time, _ = u.shape
        self.sizes = (batch, time)
        self.directions = []
        for which in range(2 if layer.bidirectional else 1):
            end = "_l0_reverse" if which else "_l0"
            direction = Direction(library, context, database, cell, dtype, batch, time, bool(which))
            direction.input_weights, direction.input_bias = getattr(layer, f"weight_ih{end}").detach(), getattr(layer, f"bias_ih{end}").detach()
            direction.of("R", -1).copy_(getattr(layer, f"weight_hh{end}").detach().reshape(-1))
            direction.of("b", -1).copy_(getattr(layer, f"bias_hh{end}").detach().reshape(-1))
            self.directions.append(direction)
        self.set_lengths(lengths)

    def set_lengths(self, lengths):
        for direction in self.directions:
            direction.of("lengths", -1).copy_(self.torch.tensor(lengths, dtype=self.torch.int32))

    def rows(self):
        return max(rows_of_tile(words) for direction in self.directions for words in direction.words()[:2])

    def multiply(self, direction):
        flat = self.u.view(-1, DIM)
        self.torch.addmm(direction.input_bias, flat, direction.input_weights.t(), out=direction.of("x", flat.shape[0], self.gates * DIM))

    def forward(self):
        for direction in self.directions:
            self.multiply(direction)
            direction.run("")

    def training(self, gradient):
        """`gradient` [B, T, directions * D] of h. Gives those of u and of the weights, by torch.nn's names."""
        found, of_u = {}, None
        flat = self.u.view(-1, DIM)
        for which, direction in enumerate(self.directions):
            self.multiply(direction)
            direction.run("saved ")
            direction.of("back grad_h_out", *self.sizes, DIM).copy_(gradient[..., which * DIM:(which + 1) * DIM])
            direction.run("back ")
            of_x = direction.of("back grad_x", flat.shape[0], self.gates * DIM)
            part = of_x @ direction.input_weights
            of_u = part if of_u is None else of_u.add_(part)
            end = "_l0_reverse" if which else "_l0"
            found[f"weight_ih{end}"], found[f"bias_ih{end}"] = of_x.t() @ flat, of_x.sum(0)
            found[f"weight_hh{end}"] = direction.of("back grad_R", self.gates * DIM, DIM)
            found[f"bias_hh{end}"] = direction.of("back grad_b", self.gates * DIM)
        return found | {"u": of_u.view(*self.sizes, DIM)}

    def h(self):
        return self.torch.cat([direction.of("h_out", *self.sizes, DIM) for direction in self.directions], -1)


# --- PyTorch ---

def packed(u, lengths):
    import torch
    return torch.nn.utils.rnn.pack_padded_sequence(u, torch.tensor(lengths), batch_first=True, enforce_sorted=False)


def padded(sequence, time):
    import torch
    return torch.nn.utils.rnn.pad_packed_sequence(sequence, batch_first=True, total_length=time)[0]


def problem(cell, dtype, both, batch, time):
    """A layer of torch.nn, u padded with zeros, lengths, and the gradient of h, zero past the lengths."""
    import torch
    torch.manual_seed(1)
    kind = {"bf16": torch.bfloat16, "fp16": torch.float16}[dtype]
    layer = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU}[cell](DIM, DIM, batch_first=True, bidirectional=both).cuda().to(kind)
    layer.flatten_parameters()  # .to() leaves them apart, and cuDNN would bring them together at each call
    lengths = lengths_of(batch, time)
    valid = (torch.arange(time)[None] < torch.tensor(lengths)[:, None])[..., None].cuda()
    u = torch.randn(batch, time, DIM, device="cuda").mul(valid).to(kind)
    gradient = torch.randn(batch, time, DIM * (2 if both else 1), device="cuda").mul(valid).to(kind)
    return layer, u, lengths, gradient


def torch_results(layer, u, lengths, gradient):
    """h and all gradients, padded, by name."""
    leaf = u.clone().requires_grad_()
    layer.zero_grad(set_to_none=True)
    h = padded(layer(packed(leaf, lengths))[0], u.shape[1])
    h.backward(gradient)
    return {"h": h.detach(), "u": leaf.grad, **{name: weight.grad.clone() for name, weight in layer.named_parameters()}}


def errors_of(found, exact):
    """The largest error of each tensor, as a part of its largest element."""
    return {name: float((found[name].double().reshape(exact[name].shape) - exact[name]).abs().max() / exact[name].abs().max())
            for name in exact}


def compared(library, context, database, cell, dtype, both):
    """{"right", "ours", "torch"}: errors against fp64 on a smaller problem."""
    import copy
    layer, u, lengths, gradient = problem(cell, dtype, both, SMALL_BATCH, SMALL_TIME)
    exact = torch_results(copy.deepcopy(layer).double(), u.double(), lengths, gradient.double())
    theirs = errors_of(torch_results(layer, u, lengths, gradient), exact)
    mine = Ours(library, context, database, cell, dtype, layer, u, lengths)
    ours = errors_of(mine.training(gradient) | {"h": mine.h()}, exact)
    return {"right": within(ours, theirs, dtype), "ours": ours, "torch": theirs}


def timed(library, context, database, turns, cell, dtype, both):
    """Milliseconds of both passes, in turns, the least of each."""
    import torch
    from torch_times import median_ms
    layer, u, lengths, gradient = problem(cell, dtype, both, BATCH, TIME)
    mine = Ours(library, context, database, cell, dtype, layer, u, lengths)
    sequence = packed(u, lengths)
    leaf = sequence._replace(data=sequence.data.clone().requires_grad_())
    of_h = packed(gradient, lengths).data

    def forward():
        with torch.no_grad():
            layer(sequence)

    def training():
        layer.zero_grad(set_to_none=True)
        leaf.data.grad = None
        layer(leaf)[0].data.backward(of_h)

    work = {("torch", "fw"): forward, ("torch", "fwbw"): training}
    for name in ("ours", "longest"):
        work |= {(name, "fw"): mine.forward, (name, "fwbw"): lambda: mine.training(gradient)}
    longest = longest_of_tiles(lengths, mine.rows())
    found = {"ours": {}, "longest": {}, "torch": {}}
    for _ in range(turns):
        for (name, which), one in work.items():
            mine.set_lengths(longest if name == "longest" else lengths)
            ms = median_ms(one)
            found[name][which] = min(ms, found[name].get(which, ms))
    return found | {"rows_of_tile": mine.rows(), "kernels": mine.directions[0].words()}


# --- all rows ---

def tune(options, program, wanted, database):
    """All plans of the rows, into the database. What has no winner is left to the model, and said."""
    rondo(program, "calibrate", "--db", database)
    if options.budget == "0s":
        return
    kinds = dict.fromkeys((cell, dtype, forms) for cell, dtype, both in wanted for forms in ("lengths", "lengths,reversed")[:1 + both])

    def one(asked):
        cell, dtype, forms, passes = asked
        if clock.monotonic() >= options.end:
            return
        answer = tried(program, "tune", cell, "--shape", SHAPE, "--dtype", dtype, "--forms", forms, *passes, "--db", database, "--budget",
                       options.budget, *shared_workers(options.side))
        if "error" in answer:
            print(f"not tuned: {cell} {dtype} {forms} {passes[1]}: {answer['error']}", flush=True)

    side_by_side(options.side, one, [(*kind, passes) for kind in kinds for passes in (("--pass", "fw"), ("--pass", "fws,bw", "--save", "auto"))])


def options_of():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", type=pathlib.Path)
    parser.add_argument("--out", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--budget", default="8s")
    parser.add_argument("--side", type=int, default=1)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--commit", default=os.environ.get("RONDO_COMMIT", "unknown"))
    options = parser.parse_args()
    options.end = clock.monotonic() + options.seconds
    return options


def name_of(row):
    return row["cell"], row["dtype"], row["directions"]


def main():
    options = options_of()
    try:
        import torch
        if not torch.cuda.is_available():
            raise ImportError("PyTorch finds no GPU")
    except ImportError as error:
        print(f"packed: it needs a GPU and PyTorch with CUDA: {error}", file=sys.stderr)
        return NO_GPU
    import capi_ctypes as capi
    program = options.library.resolve().parent / "rondo"
    os.environ.setdefault("RONDO_WORKER", str(program))
    library = capi.Library(options.library.resolve())
    context = library.context(capi.CUDA)
    record = begun(options.out, {"device": query("name")[0], "torch": torch.__version__, "cudnn": torch.backends.cudnn.version(),
                                 "shape": SHAPE, "close": CLOSE, "budget": options.budget})
    wanted = [(cell, dtype, both) for cell in GATES for dtype in UNITS for both in (False, True)
              if re.search(options.only, f"{cell} {dtype} {'both' if both else 'one'}")]
    wrong = False
    with tempfile.TemporaryDirectory() as folder:
        tune(options, str(program), wanted, f"{folder}/packed.db")
        database = library.database(f"{folder}/packed.db")
        for cell, dtype, both in wanted:
            if clock.monotonic() >= options.end:
                print("the time is over: rows are left", flush=True)
                break
            row = {"cell": cell, "dtype": dtype, "directions": 2 if both else 1, "commit": options.commit}
            try:
                row["errors"] = compared(library, context, database, cell, dtype, both)
                row |= timed(library, context, database, options.turns, cell, dtype, both)
            except (capi.Failed, RuntimeError) as error:  # said in the record, and the other rows go on
                row["error"] = str(error).splitlines()[0]
            wrong = wrong or "error" in row or not row["errors"]["right"]
            known = [i for i, other in enumerate(record["rows"]) if name_of(other) == name_of(row)]
            at = known[0] if known else len(record["rows"])
            record["rows"][at:at + 1] = [row]
            write(record, options.out)
            print(cell, dtype, row["directions"], row.get("error") or {key: row[key] for key in ("ours", "longest", "torch")},
                  "" if row.get("errors", {}).get("right") else "WRONG", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(until_stopped(main))
