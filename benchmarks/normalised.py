#!/usr/bin/env python3
"""Times normalised LSTMs and GRUs beside the plain ones, and beside a loop of PyTorch's in a CUDA graph. Needs a GPU.

usage: normalised.py RONDO --out FILE [--only REGEX] [--budget 8s] [--turns 3] [--torch] [--commit HASH]

Each pass of each problem is tuned (with --budget 0s the model chooses), then timed in turns with the plain cell of the
same shape; the least of the turns counts. `fwbw` is forward for training plus backward. With --torch the same steps run
in PyTorch, a step at a time: R h as one batched product, torch's layer_norm, elementwise operations; a whole sequence is
recorded once as a CUDA graph, and its replay is timed. Its results are compared with the fp64 loop of PyTorch, so that
it computes what the cell says. Bf16, as ours. FILE is written after each row."""
import argparse
import os
import re
import statistics
import sys
import tempfile

from rondo_program import query, rondo, tried, write

SHAPES = ((16, 1024, 1, 768), (16, 1024, 12, 64))
NORMALISED = {"lnlstm": "lstm", "rmslstm": "lstm", "lngru": "gru"}
GATES = {"lstm": 4, "gru": 3}
PASSES = ("fw", "fws", "bw")
EPS = 1e-5
SLOWEST = 1.3  # times the plain cell, the aim
WITHIN = 0.06  # of the largest output: bf16 through a few hundred steps of a contracting cell


def milliseconds(program, cell, shape, which, database):
    answer = tried(program, "bench", cell, "--shape", shape, "--dtype", "bf16", "--pass", which, "--db", database)
    return answer["rows"][0] if answer.get("rows") else {"error": answer.get("error", "no row")}


def measure(options, cell, shape, database):
    """{pass: {"ms", "strategy", "parameters"} or {"error"}} of the cell and of the plain one, in turns."""
    both = (cell, NORMALISED[cell])
    found = {name: {} for name in both}
    for name in both:
        for which in PASSES:
            if options.budget != "0s":
                tried(options.rondo, "tune", name, "--shape", shape, "--dtype", "bf16", "--pass", which, "--db", database, "--budget",
                      options.budget)
    for _ in range(options.turns):
        for which in PASSES:
            for name in both:
                row = milliseconds(options.rondo, name, shape, which, database)
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
    """Outputs [B, H, D] of all steps, and the steps of cells/*.cell in their words."""
    import torch
    x, recurrent, bias, gamma, gamma_h, beta_h = tensors  # x [T, B, H, gates, D]; recurrent [H, D, gates * D]
    steps, batch, heads, gates, dim = x.shape
    h = x.new_zeros(batch, heads, dim)
    c = torch.zeros_like(h)
    outputs = []
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
        outputs.append(h)
    return torch.stack(outputs)


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
    times = []
    for _ in range(6):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
    return statistics.median(times[1:])


def torch_ms(cell, shape):
    import torch
    short = torch_tensors(cell, shape, 32)
    exact = torch_loop(cell, short)
    error = (torch_loop(cell, [t.bfloat16() for t in short]).double() - exact).abs().max() / exact.abs().max()
    if not error < WITHIN:
        raise ValueError(f"PyTorch's loop in bf16 is off by {error:.3f} from fp64")
    tensors = [t.bfloat16() for t in torch_tensors(cell, shape, shape[1])]

    def forward():
        with torch.no_grad():
            torch_loop(cell, tensors)

    leaves = [t.clone().requires_grad_() for t in tensors]

    def training():
        torch.autograd.grad(torch_loop(cell, leaves).sum(), leaves, allow_unused=True)

    return {"fw": replayed_ms(forward), "fwbw": replayed_ms(training), "torch": torch.__version__}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rondo")
    parser.add_argument("--out", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--budget", default="8s")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--torch", action="store_true")
    parser.add_argument("--commit", default=os.environ.get("RONDO_COMMIT", "unknown"))
    options = parser.parse_args()
    record = {"device": query("name")[0], "commit": options.commit, "budget": options.budget, "slowest": SLOWEST, "rows": []}
    with tempfile.TemporaryDirectory() as folder:
        database = f"{folder}/normalised.db"
        rondo(options.rondo, "calibrate", "--db", database)
        for shape in SHAPES:
            text = "B={},T={},H={},D={}".format(*shape)
            for cell, plain in NORMALISED.items():
                if not re.search(options.only, f"{cell} {text}"):
                    continue
                found = measure(options, cell, text, database)
                row = {"cell": cell, "plain": plain, "shape": text, "ours": found[cell], "plain_cell": found[plain]}
                if options.torch:
                    try:
                        row["torch"] = torch_ms(cell, shape)
                    except Exception as error:  # said in the record, and the other rows go on
                        row["torch"] = {"error": str(error).splitlines()[0]}
                record["rows"].append(row)
                write(record, options.out)
                print(cell, text, {which: round(found[cell][which]["ms"] / found[plain][which]["ms"], 3) for which in ("fw", "fws", "bw", "fwbw")
                                   if "ms" in found[cell].get(which, {}) and "ms" in found[plain].get(which, {})}, row.get("torch", ""), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
