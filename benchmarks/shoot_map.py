#!/usr/bin/env python3
"""Where shoot and where stream is chosen: B * D from 64 to 262144 and T from 128 to 1048576, tuned and by the model alone.

usage: shoot_map.py RONDO --out FILE [--minutes N] [--cells paragru,mingru] [--budget 2s] [--side 5] [--trials FILE] [--again REGEX]
                    [--model-again] [--commit HASH]

For each size: the best of each strategy, tuned apart; what `tune` chooses of all; what a choice without tuning takes; and
of the best of these its share of the copy bandwidth and its sweeps. Where the choice without tuning is shoot, and the cell paragru or paralstm, it is timed
once more beside stream with recurrent weights of standard deviation 5, where nothing converges. Needs a GPU.

The sizes lie on a grid with steps of 4 (the last of T is 8), and those of its every second row and column come first: these are 26 rows of
84. --side rows are measured side by side: what takes long is compiling, and programs take turns with the GPU
(runtime/device/gpu_turns.h). After --minutes no row is begun. What is measured is in FILE after each row, and a later run with
the same FILE goes on behind it; a FILE of another GPU is refused. Each row names its commit and budget. With --again REGEX rows
that FILE has are measured again, if their name (paragru 64 x 512) matches and they are of another commit or budget.

With --trials each configuration that a search timed, or could not, is added to a file, a line each, with what the model said. With
--model-again the rows that FILE has are kept, and only what the model chooses is timed again, by the program at hand: for a
model that has changed since. Each such row names the commit of it.
"""
import argparse
import json
import os
import re
import sys
import threading
import time as clock

from rondo_program import begun, query, shared_workers, side_by_side, tried, until_stopped, write

CHANNELS = tuple(64 << 2 * i for i in range(7))  # to 262144
TIMES = (*(128 << 2 * i for i in range(6)), 1 << 20)  # steps of 4, and one of 8 at the end
MOST_ELEMENTS = 1 << 31  # of B * D * T: tensors of 4 GB
WIDEST = 1024  # channels of one batch row
STRATEGIES = ("shoot", "stream")
NONLINEAR = ("paragru", "paralstm")
COMPILER_DROPPED = ("spill", "duplicate")


def sizes(channels=CHANNELS, times=TIMES):
    """(B * D, T), those of the coarse grid first."""
    all_sizes = [(c, t) for c in range(len(channels)) for t in range(len(times)) if channels[c] * times[t] <= MOST_ELEMENTS]
    all_sizes.sort(key=lambda size: size[0] % 2 + size[1] % 2 > 0)  # stable
    return [(channels[c], times[t]) for c, t in all_sizes]


def numbers(text):
    return tuple(int(word) for word in text.split(","))


def words_of(cell, channels, time):
    dim = min(channels, WIDEST)
    return [cell, "--shape", f"B={channels // dim},T={time},H=1,D={dim}", "--dtype", "bf16", "--pass", "fw", "--no-db"]


def timed(program, problem, found, *more):
    """A configuration that was found, timed on its own; its error if it has no time."""
    fixed = [word for name, value in found["parameters"].items() for word in ("--param", f"{name}={value}")]
    return figures(tried(program, "bench", *problem, "--strategy", found["strategy"], *fixed, *more))


def figures(answer):
    if not answer.get("rows"):
        return {"error": answer.get("error", "no row")}
    row = answer["rows"][0]
    return {"strategy": row["strategy"], "ms": row["median_ms"], "share": row["share_of_copy_bandwidth"],
            "convergence": row["convergence"], "parameters": row["parameters"]}


def winner(options, problem, *words):
    answer = tried(options.rondo, "tune", *problem, *words, "--budget", options.budget, *shared_workers(options.side))
    searched = (answer.get("passes") or [{}])[0]
    if options.trials:
        keep_trials(options.trials, problem, searched.get("rows", []))
    return searched.get("best") or {"error": answer.get("error", "no winner")}


def keep_trials(path, problem, rows):
    """Adds what was timed, and why the rest was not, to a file that others may add to at the same time."""
    kept = ("strategy", "parameters", "model_ms", "median_ms", "registers", "spill_bytes", "status", "reason")
    lines = [json.dumps({"problem": problem} | {key: row[key] for key in kept}) + "\n" for row in rows
             if row["status"] not in COMPILER_DROPPED]
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(file, "".join(lines).encode())
    os.close(file)


def row_of(options, cell, channels, time):
    problem = words_of(cell, channels, time)
    row = {"cell": cell, "channels": channels, "T": time, "commit": options.commit, "budget": options.budget, "tuned": {}}
    found = {strategy: winner(options, problem, "--strategy", strategy) for strategy in STRATEGIES}
    found["any"] = winner(options, problem)
    for name, configuration in found.items():
        result = configuration if "error" in configuration else timed(options.rondo, problem, configuration)
        row["chosen" if name == "any" else "tuned"] = result if name == "any" else row["tuned"] | {name: result}
    return with_model(options, row)


def with_model(options, row):
    """The row with what the model alone chooses, without records, and with the best of all that were timed."""
    problem = words_of(row["cell"], row["channels"], row["T"])
    by_model = figures(tried(options.rondo, "bench", *problem, environment={"RONDO_SHIPPED": "none"}))
    row = {name: value for name, value in row.items() if name != "worst"}
    if by_model.get("strategy") == "shoot" and row["cell"] in NONLINEAR:
        row["worst"] = worst_case(options, problem, by_model)
    right = [result for result in (*row["tuned"].values(), row["chosen"], by_model) if "ms" in result]
    best = min(right, key=lambda result: result["ms"]) if right else {"error": "nothing ran"}
    return row | {"by_model": by_model | ({"commit": options.commit} if options.model_again else {}), "best": best}


def worst_case(options, problem, found):
    """A configuration of shoot and what the model chooses of stream, on data of which no segment converges."""
    weights = ("--weights", "5")
    stream = figures(tried(options.rondo, "bench", *problem, "--strategy", "stream", *weights))
    walked = timed(options.rondo, problem, found, *weights)
    if "ms" not in walked or "ms" not in stream:
        return {"error": walked.get("error") or stream.get("error")}
    return {"ms": walked["ms"], "stream_ms": stream["ms"], "sweeps": walked["convergence"]["sweeps"]}


def options_of():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rondo")
    parser.add_argument("--out", required=True)
    parser.add_argument("--minutes", type=float, default=6)
    parser.add_argument("--cells", default="paragru,mingru")
    parser.add_argument("--channels", type=numbers, default=CHANNELS, help="of B * D, instead of the grid's")
    parser.add_argument("--times", type=numbers, default=TIMES, help="T, likewise")
    parser.add_argument("--budget", default="2s")
    parser.add_argument("--side", type=int, default=5)
    parser.add_argument("--trials", default="")
    parser.add_argument("--again", default="")
    parser.add_argument("--model-again", action="store_true")
    parser.add_argument("--commit", default="")
    options = parser.parse_args()
    options.end = clock.monotonic() + 60 * options.minutes
    return options


def is_left(options, row):
    if row is None:
        return not options.model_again
    if options.model_again:
        return row["by_model"].get("commit", row["commit"]) != options.commit
    return bool(options.again and re.search(options.again, "{} {} x {}".format(*key_of(row)))) and \
        (row["commit"], row["budget"]) != (options.commit, options.budget)


def key_of(row):
    return row["cell"], row["channels"], row["T"]


def main():
    options = options_of()
    record = begun(options.out, {"device": query("name")[0]})
    known = {key_of(row): row for row in record["rows"]}
    wanted = [(cell, *size) for size in sizes(options.channels, options.times) for cell in options.cells.split(",")]
    todo = [one for one in wanted if is_left(options, known.get(one))]
    place = {one: index for index, one in enumerate(wanted)}
    lock = threading.Lock()

    def measure(one):
        if clock.monotonic() >= options.end:
            return
        row = with_model(options, known[one]) if options.model_again else row_of(options, *one)
        if clock.monotonic() >= options.end and "error" in json.dumps(row):
            return  # cut off, when the time was over
        with lock:
            record["rows"] = [each for each in record["rows"] if key_of(each) != one] + [row]
            record["rows"].sort(key=lambda each: place.get(key_of(each), -1))
            write(record, options.out)
            print(*one, *(f"{name} {row[name].get('strategy', '')} {row[name].get('ms', -1):.4f} ms"
                          for name in ("best", "chosen", "by_model")), flush=True)

    side_by_side(options.side, measure, todo)
    print(f"{len(record['rows'])} of {len(wanted)} rows")
    return 0


if __name__ == "__main__":
    sys.exit(until_stopped(main))
