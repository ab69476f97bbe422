#!/usr/bin/env python3
"""Times normalised LSTMs and GRUs beside the plain ones, and beside a loop of PyTorch's in a CUDA graph. Needs a GPU.

usage: normalised.py RONDO --out FILE [--only REGEX] [--budget 8s] [--side 1] [--turns 3] [--torch] [--again] [--seconds N] [--commit HASH]

All passes of all problems are tuned first, --side of them side by side (with --budget 0s the model chooses). Each is then timed
in turns with the plain cell of the same shape; the least of the turns counts. `fwbw` is forward for training plus backward. With --torch the same steps run
in PyTorch, a step at a time: R h as one batched product, torch's layer_norm, elementwise operations; a whole sequence is
recorded once as a CUDA graph, and its replay is timed. Bf16, as ours.

So that the loop computes what the cell says, its states after each of the first steps are compared with the same loop in
fp64: in fp32, which shows a wrong formula, and in bf16, in which it is timed. Only a few steps, for with random weights
these recurrences are chaotic: what bf16 rounds away in one step has grown a hundredfold 32 steps later in an lnlstm of
64 channels. The record says how many steps, and the errors.

FILE is written after each row. After --seconds none is finished any more; a later run with the same FILE does what is left,
and with --again also those that FILE has; each row says of what commit it is. One with another GPU or budget is refused."""
import argparse
import math
import os
import re
import sys
import tempfile
import time as clock

from rondo_program import begun, query, rondo, shared_workers, side_by_side, tried, until_stopped, write
from torch_times import median_ms

SHAPES = ((16, 1024, 1, 768), (16, 1024, 12, 64))
NORMALISED = {"lnlstm": "lstm", "rmslstm": "lstm", "lngru": "gru"}
GATES = {"lstm": 4, "gru": 3}
PASSES = ("fw", "fws", "bw")
EPS = 1e-5
SLOWEST = 1.3  # times the plain cell, the aim
CHECKED = 16  # steps of PyTorch's loop that are compared with fp64
# What its states may be off by: the largest error as a part of the largest value, and the root mean squares of both. Of
# fp32 and bf16 3e-6 and 0.015 were seen; in bf16 the largest of 200,000 errors says less, for it grows from step to step.
WITHIN = {"fp32": ("largest", 1e-4), "bf16": ("rms", 0.03)}


class TimeOver(Exception):
    """The row at hand would end after --seconds."""


def asked(options, command, cell, shape, which, database, *words):
    """What `rondo` answers, if there is time to ask."""
    if clock.monotonic() >= options.end:
        raise TimeOver
    return tried(options.rondo, command, cell, "--shape", shape, "--dtype", "bf16", "--pass", which, "--db", database, *words)


def tune(options, rows, database):
    """All passes of the rows' cells and of the plain ones, as many as there is time for."""
    def one(problem):
        try:
            asked(options, "tune", *problem, database, "--budget", options.budget, *shared_workers(options.side))
        except TimeOver:
            pass  # as for the row that wants it

    if options.budget != "0s":
        side_by_side(options.side, one, dict.fromkeys((name, shape_text(shape), which) for cell, shape in rows
                                                      for name in (cell, NORMALISED[cell]) for which in PASSES))


def milliseconds(options, cell, shape, which, database):
    answer = asked(options, "bench", cell, shape, which, database)
    return answer["rows"][0] if answer.get("rows") else {"error": answer.get("error", "no row")}


def measure(options, cell, shape, database):
    """{pass: {"ms", "strategy", "parameters"} or {"error"}} of the cell and of the plain one, in turns."""
    both = (cell, NORMALISED[cell])
    found = {name: {} for name in both}
    for _ in range(options.turns):
        for which in PASSES:
            for name in both:
                row = milliseconds(options, name, shape, which, database)
                before = found[name].get(which)
                if "error" in row:
                    found[name].setdefault(which, {"error": row["error"]})
                elif before is None or "ms" not in before or row["median_ms"] < before["ms"]:
                    found[name][which] = {"ms": row["median_ms"], "strategy": row["strategy"], "parameters": row["parameters"]}
    for passes in found.values():
        if all("ms" in passes[which] for which in ("fws", "bw")):
            passes["fwbw"] = {"ms": passes["fws"]["ms"] + passes["bw"]["ms"]}
    return found


# --- PyTorch ---

def moments(v, centre):
    """v [B, H, gates * D] normalised over the last axis: by mean and variance, or by the mean square alone."""
    import torch
    if centre:
        return torch.nn.functional.layer_norm(v, v.shape[-1:], eps=EPS)
    return v * torch.rsqrt(v.square().mean(-1, keepdim=True) + EPS)


def torch_loop(cell, tensors):
    """States [T, B, H, D] after each step by name; h, the output, is the first. The steps are those of cells/*.cell in their words."""
    import torch
    x, recurrent, bias, gamma, gamma_h, beta_h = tensors  # x [T, B, H, gates, D]; recurrent [H, D, gates * D]
    steps, batch, heads, gates, dim = x.shape
    h = x.new_zeros(batch, heads, dim)
    c = torch.zeros_like(h)
    states = {"h": []} if cell == "lngru" else {"h": [], "c": []}
    for t in range(steps):
        product = torch.bmm(h.transpose(0, 1), recurrent).transpose(0, 1)
        g = (gamma * moments(product, cell != "rmslstm") + bias).reshape(batch, heads, gates, dim)
        if cell == "lngru":
            r, z = torch.sigmoid(x[t][:, :, 0] + g[:, :, 0]), torch.sigmoid(x[t][:, :, 1] + g[:, :, 1])
            n = torch.tanh(x[t][:, :, 2] + r * g[:, :, 2])
            h = (1 - z) * n + z * h
        else:
            i, f, u, o = (g + x[t]).unbind(2)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(u)
            normal = gamma_h * moments(c, True) + beta_h if cell == "lnlstm" else c
            h = torch.sigmoid(o) * torch.tanh(normal)
            states["c"].append(c)
        states["h"].append(h)
    return {name: torch.stack(values) for name, values in states.items()}


def torch_tensors(cell, shape, steps):
    import torch
    batch, _, heads, dim = shape
    gates = GATES[NORMALISED[cell]]
    generator = torch.Generator("cuda").manual_seed(1)
    draw = lambda *sizes: torch.randn(*sizes, device="cuda", generator=generator, dtype=torch.float64)
    return [draw(steps, batch, heads, gates, dim), draw(heads, dim, gates * dim) / dim ** 0.5, 0.1 * draw(heads, gates * dim),
            1 + 0.1 * draw(heads, gates * dim), 1 + 0.1 * draw(heads, dim), 0.1 * draw(heads, dim)]


def replayed_ms(work):
    """Median time of a replay of the CUDA graph that `work` is recorded in."""
    import torch
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        work()
    side.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        work()
    return median_ms(graph.replay, samples=5, warm_up=1)


def errors(values, exact):
    """Of one list of numbers against another, as parts of the largest and of the root mean square of `exact`."""
    differences = [value - right for value, right in zip(values, exact, strict=True)]
    largest = max(math.inf if math.isnan(x) else abs(x) for x in differences)
    return {"largest": largest / max(map(abs, exact)), "rms": math.sqrt(sum(x * x for x in differences) / sum(x * x for x in exact))}


def refusal(found):
    """Why errors {type: {state: errors()}} show that the loop is not the cell; "" if they do not."""
    for kind, (measure, within) in WITHIN.items():
        for state, error in found[kind].items():
            if not error[measure] <= within:
                return (f"PyTorch's loop in {kind}: the {measure} error of {state} over the first {CHECKED} steps is {error[measure]:.2g}, "
                        f"over {within}")
    return ""


def torch_errors(cell, shape):
    """{type: {state: errors()}} of the first steps. Rounding of what comes in is no error of the loop."""
    import torch
    drawn, found = torch_tensors(cell, shape, CHECKED), {}
    for kind, type_ in (("fp32", torch.float32), ("bf16", torch.bfloat16)):
        rounded = [t.to(type_) for t in drawn]
        exact = torch_loop(cell, [t.double() for t in rounded])
        found[kind] = {name: errors(values.double().flatten().tolist(), exact[name].flatten().tolist())
                       for name, values in torch_loop(cell, rounded).items()}
    return found


def torch_ms(cell, shape):
    import torch
    found = torch_errors(cell, shape)
    checked = {"steps": CHECKED, "errors": found}
    if why := refusal(found):
        return {"error": why, "checked": checked}
    tensors = [t.bfloat16() for t in torch_tensors(cell, shape, shape[1])]

    def forward():
        with torch.no_grad():
            torch_loop(cell, tensors)

    leaves = [t.clone().requires_grad_() for t in tensors]

    def training():
        torch.autograd.grad(torch_loop(cell, leaves)["h"].sum(), leaves, allow_unused=True)

    return {"fw": replayed_ms(forward), "fwbw": replayed_ms(training), "torch": torch.__version__,
            "checked": checked}


def row_of(options, cell, shape, database):
    text = shape_text(shape)
    found = measure(options, cell, text, database)
    row = {"cell": cell, "plain": NORMALISED[cell], "shape": text, "ours": found[cell], "plain_cell": found[NORMALISED[cell]]}
    if options.torch:
        try:
            row["torch"] = torch_ms(cell, shape)
        except Exception as error:  # said in the record, and the other rows go on
            row["torch"] = {"error": str(error).splitlines()[0]}
    return row


def shape_text(shape):
    return "B={},T={},H={},D={}".format(*shape)


def told(row):
    ours, plain = row["ours"], row["plain_cell"]
    print(row["cell"], row["shape"], {which: round(ours[which]["ms"] / plain[which]["ms"], 3) for which in ("fw", "fws", "bw", "fwbw")
                                      if "ms" in ours.get(which, {}) and "ms" in plain.get(which, {})}, row.get("torch", ""), flush=True)


def options_of():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rondo")
    parser.add_argument("--out", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--budget", default="8s")
    parser.add_argument("--side", type=int, default=1)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--torch", action="store_true")
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--commit", default=os.environ.get("RONDO_COMMIT", "unknown"))
    options = parser.parse_args()
    options.end = clock.monotonic() + options.seconds
    return options


def main():
    options = options_of()
    record = begun(options.out, {"device": query("name")[0], "budget": options.budget, "slowest": SLOWEST})
    known = {(row["cell"], row["shape"]): place for place, row in enumerate(record["rows"])}
    wanted = [(cell, shape) for shape in SHAPES for cell in NORMALISED if re.search(options.only, f"{cell} {shape_text(shape)}")]
    left = [(cell, shape) for cell, shape in wanted if options.again or (cell, shape_text(shape)) not in known]
    with tempfile.TemporaryDirectory() as folder:
        database = f"{folder}/normalised.db"
        rondo(options.rondo, "calibrate", "--db", database)
        tune(options, left, database)
        for done, (cell, shape) in enumerate(left):
            try:
                row = row_of(options, cell, shape, database)
            except TimeOver:
                print(f"the time is over: {len(left) - done} of {len(wanted)} rows are left to a later run", flush=True)
                break
            place = known.get((row["cell"], row["shape"]), len(record["rows"]))
            record["rows"][place:place + 1] = [row | {"commit": options.commit}]
            write(record, options.out)
            told(row)
    return 0


if __name__ == "__main__":
    sys.exit(until_stopped(main))
