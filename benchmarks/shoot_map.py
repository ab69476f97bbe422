#!/usr/bin/env python3
"""Where shoot and where stream is chosen: B * D from 64 to 262144 and T from 128 to 1048576, tuned and by the model alone.

usage: shoot_map.py RONDO --out FILE [--minutes N] [--cells paragru,mingru] [--budget 2s] [--side 5] [--commit HASH]

For each size: the best of each strategy, tuned apart; what `tune` chooses of all; what a choice without tuning takes; and
of the best of these its share of the copy bandwidth and its sweeps. Needs a GPU.

The sizes lie on a grid with steps of 4 (the last of T is 8), and those of its every second row and column come first: these are 26 rows of
84. --side rows are measured side by side: what takes long is compiling, and programs take turns with the GPU
(runtime/device/gpu_turns.h). After --minutes no row is begun. What is measured is in FILE after each row, and a later run with
the same FILE goes on behind it; a FILE of another GPU, commit or budget is refused.
"""
import argparse
import concurrent.futures
import sys
import threading
import time as clock

from rondo_program import begun, query, tried, until_stopped, write

CHANNELS = tuple(64 << 2 * i for i in range(7))  # to 262144
TIMES = (*(128 << 2 * i for i in range(6)), 1 << 20)  # steps of 4, and one of 8 at the end
MOST_ELEMENTS = 1 << 31  # of B * D * T: tensors of 4 GB
WIDEST = 1024  # channels of one batch row
STRATEGIES = ("shoot", "stream")


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


def timed(program, problem, found):
    """A configuration that was found, timed on its own; its error if it has no time."""
    fixed = [word for name, value in found["parameters"].items() for word in ("--param", f"{name}={value}")]
    return figures(tried(program, "bench", *problem, "--strategy", found["strategy"], *fixed))


def figures(answer):
    if not answer.get("rows"):
        return {"error": answer.get("error", "no row")}
    row = answer["rows"][0]
    return {"strategy": row["strategy"], "ms": row["median_ms"], "share": row["share_of_copy_bandwidth"],
            "convergence": row["convergence"], "parameters": row["parameters"]}


def winner(program, problem, budget, *words):
    answer = tried(program, "tune", *problem, *words, "--budget", budget)
    best = (answer.get("passes") or [{}])[0].get("best")
    return best or {"error": answer.get("error", "no winner")}


def row_of(program, cell, channels, time, budget):
    problem = words_of(cell, channels, time)
    row = {"cell": cell, "channels": channels, "T": time, "tuned": {}}
    found = {strategy: winner(program, problem, budget, "--strategy", strategy) for strategy in STRATEGIES}
    found["any"] = winner(program, problem, budget)
    times = []
    for name, configuration in found.items():
        result = configuration if "error" in configuration else timed(program, problem, configuration)
        row["chosen" if name == "any" else "tuned"] = result if name == "any" else row["tuned"] | {name: result}
        times.append(result)
    # No records: the model alone.
    row["by_model"] = figures(tried(program, "bench", *problem, environment={"RONDO_SHIPPED": "none"}))
    times.append(row["by_model"])
    right = [result for result in times if "ms" in result]
    row["best"] = min(right, key=lambda result: result["ms"]) if right else {"error": "nothing ran"}
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rondo")
    parser.add_argument("--out", required=True)
    parser.add_argument("--minutes", type=float, default=6)
    parser.add_argument("--cells", default="paragru,mingru")
    parser.add_argument("--channels", type=numbers, default=CHANNELS, help="of B * D, instead of the grid's")
    parser.add_argument("--times", type=numbers, default=TIMES, help="T, likewise")
    parser.add_argument("--budget", default="2s")
    parser.add_argument("--side", type=int, default=5)
    parser.add_argument("--commit", default="")
    options = parser.parse_args()
    end = clock.monotonic() + 60 * options.minutes
    record = begun(options.out, {"device": query("name")[0], "commit": options.commit, "budget": options.budget})
    known = {(row["cell"], row["channels"], row["T"]) for row in record["rows"]}
    wanted = [(cell, *size) for size in sizes(options.channels, options.times) for cell in options.cells.split(",")]
    todo = [one for one in wanted if one not in known]
    place = {one: index for index, one in enumerate(wanted)}
    lock = threading.Lock()

    def measure(one):
        if clock.monotonic() >= end:
            return
        row = row_of(options.rondo, *one, options.budget)
        with lock:
            record["rows"].append(row)
            record["rows"].sort(key=lambda row: place.get((row["cell"], row["channels"], row["T"]), -1))
            write(record, options.out)
            print(*one, *(f"{name} {row[name].get('strategy', '')} {row[name].get('ms', -1):.4f} ms"
                          for name in ("best", "chosen", "by_model")), flush=True)

    with concurrent.futures.ThreadPoolExecutor(options.side) as pool:
        list(pool.map(measure, todo))
    print(f"{len(record['rows'])} of {len(wanted)} rows")
    return 0


if __name__ == "__main__":
    sys.exit(until_stopped(main))
