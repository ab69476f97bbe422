#!/usr/bin/env python3
"""librondo in a program of another folder: what it opens on demand is found beside the library, and a forward pass of minGRU
on the CPU is right: by the strategy that is the default there, by the reference, and tuned.  usage: capi_ctypes_test.py LIBRONDO.so STRATEGY"""
import ctypes
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "benchmarks"))
from capi_ctypes import CHOOSE_TUNE, CPU, Failed, Forward, Library  # noqa: E402 (lies in the folder above)

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
