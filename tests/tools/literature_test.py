#!/usr/bin/env python3
"""literature_test.py RONDO: cells of the literature (tests/literature), as code of this machine's CPUs, each verified.

No kernel of them is called wrong, and of nearly all tensors it can be told. A short run takes every eighth cell in one type;
`tools/test long` (RONDO_LONG_TESTS) takes all of them in three. benchmarks/all_cells.py runs and tunes them too, on GPUs as well."""
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))
import all_cells  # noqa: E402

TYPES = ["fp32", "bf16", "fp16"]
SHARE = 8


def whole():
    return "RONDO_LONG_TESTS" in os.environ and "RONDO_TURN" not in os.environ


def cases():
    turn = int(os.environ.get("RONDO_TURN", "0"))
    for place, cell in enumerate(all_cells.cells()):
        if whole():
            yield from ((cell, kind) for kind in TYPES)
        elif place % SHARE == turn % SHARE:
            yield cell, TYPES[(place // SHARE + turn) % len(TYPES)]


def turned_by_small_numbers(program):
    """Whether skip has a verdict whatever is drawn: its gate turns at a half, where the sigmoid of a small number lies, and where states
    that are stored in 16 bits come to lie."""
    seeds = (1, 3, 7) if whole() else ((1, 3, 7)[int(os.environ.get("RONDO_TURN", "0")) % 3],)
    words = [program, "verify", str(ROOT / "tests/literature/skip.cell"), "--shape", "B=2,T=9,H=1,D=32", "--dtype", "bf16", "--pass", "bw",
             "--arch", "cpu", "--no-db"]
    said = [subprocess.run([*words, "--seed", str(seed)], capture_output=True, text=True, check=False) for seed in seeds]
    print("".join(one.stdout + one.stderr for one in said))
    return all(one.returncode == 0 for one in said)


def main():
    os.environ |= {"RONDO_SHIPPED": "none", "RONDO_LIBCUDA": "none"}
    options = all_cells.parsed([sys.argv[1], "", "--arch", "cpu", "--shape", "B=2,T=9,H=1,D=32"])
    rows = []
    for cell, kind in cases():
        counts, failed, untold = all_cells.verify(options, cell, kind)
        rows.append({"cell": cell.stem, **counts, "failed": failed})
        if failed or untold:
            print(f"{cell.stem} {kind}: {', '.join(failed + untold)}")
    found = all_cells.summary(rows)
    print(found)
    assert found["cells"] >= len(all_cells.cells()) // SHARE, "nothing was tried"
    assert turned_by_small_numbers(sys.argv[1]), "cannot tell"
    return int(not all_cells.is_good(found))


if __name__ == "__main__":
    sys.exit(main())
