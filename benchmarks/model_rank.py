#!/usr/bin/env python3
"""How well the cost models rank what searches have timed. Needs no GPU: times are those of a tuning database.

usage: model_rank.py RONDO DATABASE --out FILE [--least 8] [--commit HASH]

Of each problem and strategy with at least --least timed trials: how many times as long as the fastest of them takes the one that the model
of this RONDO puts first, and the best of the first six, which is what a short search tries; and what the model says of the
fastest over its time. A configuration that several searches have timed counts once, by its least time; what the model says nothing
of (`rondo db show`) is left out. A search tries what an earlier
model liked, so of configurations that no model has liked this tells nothing. The GPU is the one that the database names."""
import argparse
import statistics
import sys

from rondo_program import rondo, until_stopped, write

FIRST = 6
DEFAULT_MATH = {"bf16": "fast", "fp16": "fast", "fp32": "accurate"}


def timed(program, database):
    """(problem, strategy) -> {parameters: (measured, by the model)}, in milliseconds; and the devices."""
    names = {}
    for problem in rondo(program, "db", "list", "--db", database)["problems"]:
        names[problem["cell"]] = problem["cell_name"]
    found, devices = {}, set()
    for cell in names:
        for problem in rondo(program, "db", "show", cell, "--db", database)["problems"]:
            devices.add(problem["device"])
            shape = ",".join(f"{axis}={problem['shape'][axis]}" for axis in "BTHD")
            for trial in problem["trials"]:
                if trial["status"] == "ok" and trial["median_ms"] and trial["model_ms"]:
                    math = "" if problem["math"] == DEFAULT_MATH[problem["dtype"]] else f" {problem['math']}"
                    key = (f"{names[cell]} {shape} {problem['dtype']}{math} {problem['pass']}", cell, trial["strategy"])
                    of, point = found.setdefault(key, {}), str(trial["parameters"])
                    now = (trial["median_ms"], trial["model_ms"])
                    of[point] = min(of.get(point, now), now)
    return found, sorted(devices)


def ranked(points):
    trials = list(points.values())
    best, of_best = min(trials)
    order = sorted(trials, key=lambda trial: trial[1])
    return {"trials": len(trials), "best_ms": best, "first": order[0][0] / best,
            "of_first": min(measured for measured, _ in order[:FIRST]) / best, "model_of_best": of_best / best}


def ninth(values):
    """What nine of ten do not exceed."""
    ordered = sorted(values)
    return ordered[(9 * len(ordered) + 9) // 10 - 1]


def summary(rows):
    found = {}
    for strategy in sorted({row["strategy"] for row in rows}):
        of = [row for row in rows if row["strategy"] == strategy]
        found[strategy] = {"problems": len(of), "trials": sum(row["trials"] for row in of)} | {
            name: {"mean": statistics.mean(row[name] for row in of), "nine_of_ten": ninth(row[name] for row in of),
                   "most": max(row[name] for row in of)} for name in ("first", "of_first")}
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rondo")
    parser.add_argument("database")
    parser.add_argument("--out", required=True)
    parser.add_argument("--least", type=int, default=8)
    parser.add_argument("--commit", default="unknown", help="of this RONDO")
    options = parser.parse_args()
    found, devices = timed(options.rondo, options.database)
    if len(devices) > 1:
        raise SystemExit(f"model_rank: {options.database} has trials of {', '.join(devices)}: take one GPU's")
    rows = [{"problem": problem, "strategy": strategy} | ranked(points)
            for (problem, _, strategy), points in sorted(found.items(), key=lambda of: (of[0][0], of[0][2], of[0][1]))
            if len(points) >= options.least]
    if not rows:
        raise SystemExit(f"model_rank: {options.database} has no problem with {options.least} timed trials")
    record = {"device": devices[0], "commit": options.commit, "least": options.least, "summary": summary(rows), "rows": rows}
    write(record, options.out)
    for strategy, of in record["summary"].items():
        print(f"{strategy}: {of['problems']} problems, {of['trials']} trials: the model's first takes {of['first']['mean']:.3f} times as long "
              f"as the best on average, {of['first']['most']:.2f} at most; of its first {FIRST} the best {of['of_first']['mean']:.3f} and {of['of_first']['most']:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(until_stopped(main))
