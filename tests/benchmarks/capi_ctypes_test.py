#!/usr/bin/env python3
"""librondo in a program of another folder: what it opens on demand is found beside the library, and a forward pass of minGRU
on the CPU is right.  usage: capi_ctypes_test.py LIBRONDO.so STRATEGY"""
import ctypes
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "benchmarks"))
from capi_ctypes import CPU, Failed, Forward, Library  # noqa: E402 (lies in the folder above)

TIME, DIM = 3, 20


def main():
    library = Library(sys.argv[1])
    context = library.context(CPU)
    try:
        library.cell("no such cell")
        raise SystemExit("a cell that does not exist was found")
    except Failed as failed:
        assert "no such cell" in str(failed), failed
    plan = Forward(library, context, library.cell("mingru"), 1, TIME, DIM, None if sys.argv[2] == "reference" else sys.argv[2])
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
