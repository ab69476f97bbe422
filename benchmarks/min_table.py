#!/usr/bin/env python3
"""minGRU and minLSTM as layers: input product, recurrence and output projection, on the CPU and on a GPU.

usage: min_table.py LIBRONDO.so --out FILE [--cells mingru,minlstm] [--times 256,1024,...] [--dim 256] [--batch 1] [--commit HASH]

A layer takes u [B, T, D], makes the rows of the cell's x by one product for all steps, runs the cell, and projects its
output by one product. It is timed, in fp32, four times: `loop`, NumPy a step at a time on one thread, as the paper's
sequential form reads; `cpu 1` and `cpu`, Rondo's compiled CPU kernels on one thread and on all, with NumPy's products;
and `gpu`, Rondo's kernels between PyTorch's products, where PyTorch finds a GPU. Needs NumPy. All forms must give the
same outputs. A time is the median of repeated runs, in milliseconds: products, recurrence, projection, all three."""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time as clock

FORMS = ("loop", "cpu 1", "cpu", "gpu")
TIMES = "256,1024,4096,16384,65536"
ROWS = {"mingru": 2, "minlstm": 3}  # of x
MOST_LOOP_STEPS = 16384  # beyond, the loop's time is that of this many steps, scaled
LEAST_SECONDS, LEAST_RUNS, MOST_RUNS = 0.3, 3, 200
WITHIN = 2e-3  # products of other libraries sum in other orders


def sigmoid(a):
    import numpy as np
    return 1 / (1 + np.exp(-a))


def loop(cell, x):
    """The recurrence a step at a time: x [B, T, rows, D] -> h [B, T, D]."""
    import numpy as np
    out = np.empty((x.shape[0], x.shape[1], x.shape[3]), np.float32)
    h = np.zeros_like(out[:, 0])
    for t in range(x.shape[1]):
        if cell == "mingru":
            z = sigmoid(x[:, t, 0])
            h = (1 - z) * h + z * x[:, t, 1]
        else:
            f, i = sigmoid(x[:, t, 0]), sigmoid(x[:, t, 1])
            h = f / (f + i) * h + i / (f + i) * x[:, t, 2]
        out[:, t] = h
    return out


def layer(batch, time, dim, rows):
    """u, W and V of a layer, the same in each process."""
    import numpy as np
    draw = np.random.default_rng(1).standard_normal
    scale = dim ** -0.5
    return (draw((batch, time, dim), np.float32), scale * draw((dim, rows * dim), np.float32),
            scale * draw((dim, dim), np.float32))


def median_ms(run):
    """`run` gives the seconds of its parts; the medians of all, in milliseconds, and of their sum."""
    run()
    parts, begin = [], clock.perf_counter()
    while len(parts) < LEAST_RUNS or (clock.perf_counter() - begin < LEAST_SECONDS and len(parts) < MOST_RUNS):
        parts.append(run())
    return [1e3 * statistics.median(p[i] for p in parts) for i in range(3)] + [1e3 * statistics.median(map(sum, parts))]


def on_cpu(options, cell, time, form):
    import numpy as np
    from capi_ctypes import CPU, Forward, Library
    u, w, v = layer(options.batch, time, options.dim, ROWS[cell])
    kept = {}
    if form != "loop":
        library = Library(options.library)
        plan = Forward(library, library.context(CPU), library.cell(cell), options.batch, time, options.dim, "host")
        work = np.empty(plan.workspace_bytes() + 256, np.uint8)
        aligned = -work.ctypes.data % 256 + work.ctypes.data
        h = np.empty((options.batch, time, options.dim), np.float32)

    def run():
        a = clock.perf_counter()
        x = (u.reshape(-1, options.dim) @ w).reshape(options.batch, time, ROWS[cell], options.dim)
        b = clock.perf_counter()
        if form == "loop":
            steps = min(time, MOST_LOOP_STEPS)
            states = loop(cell, x[:, :steps])
            c = b + (clock.perf_counter() - b) * time / steps
        else:
            plan.launch(plan.arguments({"x": x.ctypes.data, "h_out": h.ctypes.data}, aligned, work.size - 256))
            states = h
            c = clock.perf_counter()
        d = clock.perf_counter()
        kept["y"] = states.reshape(-1, options.dim) @ v
        return b - a, c - b, clock.perf_counter() - d

    return median_ms(run), kept["y"].reshape(options.batch, -1, options.dim)


def on_gpu(options, cell, time):
    import torch
    from capi_ctypes import CUDA, Forward, Library
    torch.backends.cuda.matmul.allow_tf32 = False
    u, w, v = (torch.from_numpy(a).cuda() for a in layer(options.batch, time, options.dim, ROWS[cell]))
    library = Library(options.library)
    plan = Forward(library, library.context(CUDA), library.cell(cell), options.batch, time, options.dim)
    work = torch.empty(plan.workspace_bytes() + 256, dtype=torch.uint8, device="cuda")
    x = torch.empty((options.batch * time, ROWS[cell] * options.dim), device="cuda")
    h = torch.empty((options.batch, time, options.dim), device="cuda")
    y = torch.empty((options.batch * time, options.dim), device="cuda")
    aligned = work.data_ptr() + -work.data_ptr() % 256
    arguments = plan.arguments({"x": x.data_ptr(), "h_out": h.data_ptr()}, aligned, work.numel() - 256,
                               torch.cuda.current_stream().cuda_stream or None)

    def run():
        marks = [torch.cuda.Event(enable_timing=True) for _ in range(4)]
        marks[0].record()
        torch.mm(u.reshape(-1, options.dim), w, out=x)
        marks[1].record()
        plan.launch(arguments)
        marks[2].record()
        torch.mm(h.reshape(-1, options.dim), v, out=y)
        marks[3].record()
        torch.cuda.synchronize()
        return [1e-3 * a.elapsed_time(b) for a, b in zip(marks, marks[1:])]

    return median_ms(run), y.reshape(options.batch, time, options.dim).cpu().numpy()


def measure(options, cell, time, form):
    """In this process. Prints times, and a few outputs that all forms must agree on."""
    if form in ("loop", "cpu 1"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    times, y = on_gpu(options, cell, time) if form == "gpu" else on_cpu(options, cell, time, form)
    sample = y[0, :: max(1, y.shape[1] // 64), :: max(1, options.dim // 16)] if form != "loop" or time <= MOST_LOOP_STEPS else None
    print(json.dumps({"ms": times, "sample": None if sample is None else sample.ravel().tolist()}))


def row_of(options, cell, time):
    row, samples = {"cell": cell, "T": time}, {}
    for form in options.forms:
        words = [sys.executable, __file__, options.library, "--out", os.devnull, "--batch", str(options.batch), "--dim",
                 str(options.dim), "--one", f"{cell},{time},{form}"]
        # What BLAS and Rondo take for the number of cores must hold from the start of the process.
        single = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
        run = subprocess.run(words, capture_output=True, text=True, check=False,
                             env={**os.environ, **(single if form in ("loop", "cpu 1") else {})})
        if run.returncode != 0:
            row[form] = {"error": (run.stderr.strip().splitlines() or ["ended by signal"])[-1]}
            continue
        found = json.loads(run.stdout)
        row[form] = dict(zip(("product", "recurrence", "projection", "all"), found["ms"]))
        samples[form] = found["sample"]
    known = [s for s in samples.values() if s]
    row["apart"] = max((abs(a - b) for s in known for a, b in zip(s, known[0])), default=None)
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("--out", required=True)
    parser.add_argument("--cells", default="mingru,minlstm")
    parser.add_argument("--times", default=TIMES)
    parser.add_argument("--dim", type=int, default=256)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--commit", default="")
    parser.add_argument("--one", help=argparse.SUPPRESS)  # cell,time,form: measured in this process
    options = parser.parse_args()
    options.library = os.path.abspath(options.library)
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    if options.one:
        cell, time, form = options.one.split(",")
        return measure(options, cell, int(time), form)
    gpu = subprocess.run([sys.executable, "-c", "import torch; print(torch.cuda.get_device_name(0))"], capture_output=True,
                         text=True, check=False)
    options.forms = FORMS if gpu.returncode == 0 else FORMS[:3]
    from rondo_program import write
    record = {"gpu": gpu.stdout.strip() if gpu.returncode == 0 else None, "cores": len(os.sched_getaffinity(0)),
              "commit": options.commit, "batch": options.batch, "dim": options.dim, "rows": []}
    wrong = False
    for cell in options.cells.split(","):
        for time in map(int, options.times.split(",")):
            row = row_of(options, cell, time)
            record["rows"].append(row)
            wrong = wrong or any("error" in row[form] for form in options.forms) or not row["apart"] <= WITHIN
            print(cell, f"T={time}", *(f"{form} {row[form].get('all', row[form].get('error'))}" for form in options.forms),
                  f"apart {row['apart']}", flush=True)
            write(record, options.out)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
