#!/usr/bin/env python3
"""librondo in a program of another folder: what it opens on demand is found beside the library, and a forward pass of minGRU
on the CPU is right: by the strategy that is the default there, by the reference, and tuned. So is training of an LSTM over
rows of different length, in both directions.  usage: capi_ctypes_test.py LIBRONDO.so STRATEGY"""
import ctypes
import math
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "benchmarks"))
from capi_ctypes import CHOOSE_TUNE, CPU, Failed, Forward, Library, Training  # noqa: E402 (lies in the folder above)

TIME, DIM = 3, 20


def main():
    library = Library(sys.argv[1])
    context = library.context(CPU)
    try:
        library.cell("no such cell")
        raise SystemExit("a cell that does not exist was found")
    except Failed as failed:
        assert "no such cell" in str(failed), failed
    cell = library.cell("mingru")
    for strategy in (None, "reference", sys.argv[2]):
        plan = Forward(library, context, cell, 1, TIME, DIM, strategy)
        assert plan.info().strategy.decode() == (strategy or sys.argv[2]), (strategy, sys.argv[2])
        check(plan)
    tuned = Forward(library, context, cell, 1, TIME, DIM, choose=CHOOSE_TUNE, budget_s=20)
    assert tuned.info().strategy.decode() == sys.argv[2]
    assert tuned.info().verified == 1
    check(tuned)
    for backwards in (0, 1):
        check_lengths(library, context, backwards)


def check_lengths(library, context, backwards):
    rows, time, dim, lengths = 3, 5, 2, (5, 2, 0)
    training = Training(library, context, library.cell("lstm", lengths=1, reversed=backwards), rows, time, dim)
    memory = {}
    calls = []
    for plan, shared in ((training.forward, {}), (training.backward, training.shared)):
        for name, (_, size) in plan.tensors().items():
            if name not in shared and not name.endswith(("_first", "_last")):
                memory[name] = (ctypes.c_float * (size // 4))()
        addresses = {name: ctypes.addressof(memory[shared.get(name, name)]) for name in plan.tensors() if not name.endswith(("_first", "_last"))}
        work = (ctypes.c_char * (plan.workspace_bytes() + 256))()
        at = ctypes.addressof(work)
        calls.append((plan, plan.arguments(addresses, at + -at % 256, len(work) - 256), work))
    draw = random.Random(7)
    for name in ("x", "R", "b"):
        memory[name][:] = [draw.uniform(-1, 1) for _ in memory[name]]
    (ctypes.c_int32 * rows).from_buffer(memory["lengths"])[:] = lengths
    memory["grad_h_out"][:] = [1.0] * len(memory["grad_h_out"])
    for plan, arguments, _ in calls:
        plan.launch(arguments)

    def sum_of_h():
        found = lstm(memory, rows, time, dim, lengths, backwards)
        return sum(found), found

    _, wanted = sum_of_h()
    worst = max(abs(a - b) for a, b in zip(memory["h_out"], wanted))
    assert worst < 1e-6, f"backwards {backwards}: h is off by {worst}"
    for name, place in (("R", 3), ("b", 5), ("x", 4 * dim + 1), ("x", (time + 1) * 4 * dim + 2), ("x", (time + 3) * 4 * dim)):
        before, sums = memory[name][place], []
        for step in (2 ** -7, -2 ** -7):
            memory[name][place] = before + step
            sums.append(sum_of_h()[0])
        memory[name][place] = before
        difference = (sums[0] - sums[1]) * 2 ** 6
        gradient = memory[f"grad_{name}"][place]
        assert abs(gradient - difference) < 1e-3 * (1 + abs(difference)), f"backwards {backwards}: {name}[{place}] {gradient}, by differences {difference}"


def lstm(memory, rows, time, dim, lengths, backwards):
    """h [B, T, D] of the cell's equations."""
    sigmoid = lambda a: 1 / (1 + math.exp(-a))
    x, r, b = (memory[name] for name in ("x", "R", "b"))
    out = [0.0] * (rows * time * dim)
    for row in range(rows):
        h, c = [0.0] * dim, [0.0] * dim
        steps = range(lengths[row])
        for t in reversed(steps) if backwards else steps:
            g = [[sum(r[(gate * dim + i) * dim + j] * h[j] for j in range(dim)) + x[((row * time + t) * 4 + gate) * dim + i] + b[gate * dim + i]
                  for i in range(dim)] for gate in range(4)]
            c = [sigmoid(g[1][i]) * c[i] + sigmoid(g[0][i]) * math.tanh(g[2][i]) for i in range(dim)]
            h = [sigmoid(g[3][i]) * math.tanh(c[i]) for i in range(dim)]
            out[(row * time + t) * dim:(row * time + t + 1) * dim] = h
    return out


def check(plan):
    x = (ctypes.c_float * (TIME * 2 * DIM))(*([0.0] * DIM + [1.0] * DIM) * TIME)  # z = 1/2, and 1 is what comes in
    h = (ctypes.c_float * (TIME * DIM))()
    work = (ctypes.c_char * (plan.workspace_bytes() + 256))()
    at = ctypes.addressof(work)
    plan.launch(plan.arguments({"x": ctypes.addressof(x), "h_out": ctypes.addressof(h)}, at + -at % 256, len(work) - 256))
    wanted = [1 - 0.5 ** (t + 1) for t in range(TIME) for _ in range(DIM)]
    worst = max(abs(a - b) for a, b in zip(h, wanted))
    assert worst < 1e-6, f"off by {worst}: {list(h)}"


if __name__ == "__main__":
    main()
