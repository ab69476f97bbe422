#!/usr/bin/env python3
"""What shoot gains by keeping inputs between sweeps, and loses by one launch a sweep. Needs a GPU.

usage: shoot_kept.py RONDO --out FILE [--only REGEX] [--turns 3] [--side 1] [--commit HASH] [--seconds N]

For each problem and each of WAYS the model chooses the other parameters. That configuration is timed, and the one that differs
from it in nothing but the way: inputs read again, all sweeps in one launch. Both take turns, with recurrent weights of standard
deviation 0.1, where most cells sweep once, of 1, where they sweep again, and of 5, where they walk in order; the least of the
turns counts. `usual` is what the model chooses with everything free, and `stream` what it chooses of that strategy: with weights
of 5 shoot may take 1.5 times as long. A way for which the space has no point says so. --side problems are measured side by side:
what takes long is compiling, and programs take turns with the GPU. FILE is written whole, after --seconds none is begun."""
import argparse
import re
import sys
import time as clock

from rondo_program import query, side_by_side, tried, until_stopped, write

PROBLEMS = (  # cell, shape, type
    ("paragru", "B=8,T=512,H=1,D=1024", "bf16"),
    ("paragru", "B=1,T=2048,H=1,D=1024", "bf16"),
    ("paragru", "B=1,T=8192,H=1,D=1024", "fp32"),
    ("paragru", "B=1,T=4096,H=1,D=256", "bf16"),
    ("paragru", "B=1,T=16384,H=1,D=256", "bf16"),
    ("paragru", "B=1,T=2048,H=1,D=64", "bf16"),
    ("paralstm", "B=1,T=4096,H=1,D=256", "fp32"),
    ("paralstm", "B=8,T=2048,H=1,D=1024", "bf16"),
)
WAYS = ("stream", "usual", "stream_stores=1", "keep_inputs=shared", "keep_inputs=registers", "exchange=launch")
WEIGHTS = ("0.1", "1", "5")


def without(way, point):
    """The parameters of `point` that make it read inputs again, in one launch."""
    changed = dict(point)
    if way == "exchange=launch":
        changed["exchange"] = 1 if point["time_split"] > 1 else 0
    changed["keep_inputs"] = changed["stream_stores"] = 0
    changed["stages"] = min(point["stages"], 4, 96 // point["steps"])  # what the space has for rings that hold no segment
    return [word for name, value in changed.items() for word in ("--param", f"{name}={value}")]


def timed(options, problem, weights, words):
    answer = tried(options.rondo, "bench", *problem, "--no-db", "--weights", weights, *words)
    if not answer.get("rows"):
        return {"error": answer.get("error", "no row")}
    row = answer["rows"][0]
    return {"ms": row["median_ms"], "sweeps": (row["convergence"] or {"sweeps": 1})["sweeps"], "parameters": row["parameters"]}


def words_of(way):
    """Of a configuration that goes that way, and of the one beside it; the second none where there is nothing to compare."""
    strategy = ["--strategy", "stream" if way == "stream" else "shoot"]
    if way in ("stream", "usual"):
        return strategy, None
    return [*strategy, "--param", way], strategy


def least(turns):
    good = [turn for turn in turns if "ms" in turn]
    return min(good, key=lambda turn: turn["ms"]) if good else turns[0]


def measure(options, item):
    (cell, shape, dtype), way = item
    if clock.monotonic() >= options.end:
        return None
    problem = [cell, "--shape", shape, "--dtype", dtype, "--pass", "fw"]
    words, beside = words_of(way)
    row = {"cell": cell, "shape": shape, "dtype": dtype, "way": way, "weights": {}}
    for weights in WEIGHTS:
        first = timed(options, problem, weights, words)
        if "error" in first:
            return row | {"error": first["error"]}
        row["parameters"] = first.pop("parameters")
        other = beside and [*beside, *without(way, row["parameters"])]
        with_it, rest = [first], []
        for turn in range(options.turns):
            if other:
                rest.append(timed(options, problem, weights, other))
            if turn > 0:
                with_it.append(timed(options, problem, weights, words))
        found = {"ms": least(with_it)["ms"], "sweeps": first["sweeps"]}
        if rest:
            found["without"] = {key: value for key, value in least(rest).items() if key != "parameters"}
        row["weights"][weights] = found
    return row


def said_of(row):
    if "error" in row:
        return row["error"]
    parts = []
    for weights, found in row["weights"].items():
        other = found.get("without", {})
        parts.append(f"weights of {weights}: {found['ms']:.4f} ms, {found['sweeps']} sweeps" +
                     (f", without {other['ms']:.4f}" if "ms" in other else f", {other['error']}" if other else ""))
    return "; ".join(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rondo")
    parser.add_argument("--out", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--side", type=int, default=1)
    parser.add_argument("--commit", default="unknown")
    parser.add_argument("--seconds", type=float, default=1e9)
    options = parser.parse_args()
    options.end = clock.monotonic() + options.seconds
    items = [(problem, way) for problem in PROBLEMS for way in WAYS if re.search(options.only, " ".join(problem) + " " + way)]
    rows = [row for row in side_by_side(options.side, lambda item: measure(options, item), items) if row]
    for row in rows:
        print(f"{row['cell']} {row['shape']} {row['dtype']} {row['way']}: {said_of(row)}", flush=True)
    write({"device": query("name")[0], "commit": options.commit, "turns": options.turns, "rows": rows}, options.out)
    return 0


if __name__ == "__main__":
    sys.exit(until_stopped(main))
