#!/usr/bin/env python3
"""What is shipped, without tuning, beside a fresh tune of some seconds, on the GPU at hand, in one run.

usage: shipped_check.py RONDO OUT.json [--seconds 60] [--listed 10] [--beside 10] [--seed 1] [--side 1] [--gpus 1] [--limit SECONDS]

Draws problems from the list of shipped.py, and others beside it: another B, T, D or type, and cells of one's own that are
like a shipped one. Each is taken once with an empty database, so that the choice is what is shipped (or the model's, where
nothing serves), and once tuned with nothing shipped; --side problems are tuned side by side on each of --gpus GPUs, as many as
have room in its memory. Both are timed in turns, on one GPU, in three processes each, and in eleven where those of one way
differ by more than 0.5%; the means of the middle halves are compared. A ratio above 1 says that the fresh tune is faster.
OUT.json is written after each problem, and problems that it holds are skipped, if they were measured with this seed and budget on this GPU. RONDO_SHIPPED names another export to check than the
one that RONDO carries."""
import argparse
import datetime
import json
import os
import random
import statistics
import sys
import tempfile
import threading
import time

import record
import rondo_program
import shipped

LIMITS = {"listed": 1.05, "beside": 1.15}
TURNS, MOST_TURNS = 3, 11  # processes of each way: more of them where those of one way differ

# Cells of a user's own, each with the name of the shipped one that it is like.
OWN = {
    "lstm": """cell peephole(D) {
  input x[4, D]
  param R[4, D, D], b[4, D], p[D]
  state h[D], c[D]

  g = R @ h + x + b
  next c = sigmoid(g[1] + p * c) * c + sigmoid(g[0]) * tanh(g[2])
  next h = sigmoid(g[3]) * tanh(next c)
  output h
}
""",
    "mingru": """cell leaky(D) {
  input x[2, D]
  param w[D]
  state s[D]
  a = sigmoid(x[0] + w)
  next s = a * s + (1 - a) * tanh(x[1])
  output s
}
""",
}


def beside(chance, base):
    """A problem that differs from one of the list in one thing."""
    problem = dict(base)
    dense = problem["cell"] in ("lstm", "gru", "slstm")
    what = chance.choice(["B", "T", "D", "dtype"] + (["own"] if problem["cell"] in OWN else []))
    if what == "B":
        problem["B"] = chance.choice([b for b in ([2, 4, 8, 32, 48, 128] if dense else [1, 2, 4, 16, 32]) if b != base["B"]])
    elif what == "T":
        problem["T"] = chance.choice([100, 256, 777, 2048, 5000] if dense else [1000, 2048, 16384, 30000])
    elif what == "D":
        problem["D"] = chance.choice([96, 160, 320] if problem["H"] > 1 else [384, 640, 896, 1280] if dense else [768, 1280, 2560])
    elif what == "dtype":
        problem["dtype"] = chance.choice(["fp16", "fp32"])
    else:
        problem["own"] = True
    return problem


def drawn(seed, listed, others):
    """The problems of a run: the same seed gives the same ones."""
    chance = random.Random(seed)
    everything = shipped.problems()
    rows = [{"kind": "listed"} | problem for problem in chance.sample(everything, listed)]
    while sum(row["kind"] == "beside" for row in rows) < others:
        row = {"kind": "beside"} | beside(chance, chance.choice(everything))
        if row not in rows:
            rows.append(row)
    return rows


def arguments(row, folder):
    words = shipped.arguments(row)
    if row.get("own"):
        words[0] = os.path.join(folder, row["cell"] + ".cell")
        with open(words[0], "w", encoding="utf-8") as file:
            file.write(OWN[row["cell"]])
    return words


def measured(options, row, gpu, side):
    """The row with its times, on the GPU that the environment `gpu` names, where `side` rows like it run at the same time."""
    with tempfile.TemporaryDirectory() as folder:
        words = arguments(row, folder)
        # Both databases know the speeds of this GPU, as a user's does.
        ways = {"shipped": (gpu, os.path.join(folder, "empty.db")),
                "tuned": (gpu | {"RONDO_SHIPPED": "none"}, os.path.join(folder, "tuned.db"))}
        for environment, database in ways.values():
            rondo_program.rondo(options.rondo, "db", "import", options.profile, "--db", database, environment=environment)
        environment, database = ways["tuned"]
        rondo_program.rondo(options.rondo, "tune", *words, "--db", database, "--budget", f"{options.seconds:g}s",
                            *rondo_program.shared_workers(side), environment=environment)
        found = {name: {"ms": []} for name in ways}
        for turn in range(MOST_TURNS):
            if turn >= TURNS and rondo_program.settled({name: way["ms"] for name, way in found.items()}):
                break
            for name in sorted(ways, reverse=turn % 2 == 1):
                environment, database = ways[name]
                timed = rondo_program.rondo(options.rondo, "bench", *words, "--db", database, environment=environment)["rows"][0]
                found[name]["ms"].append(timed["median_ms"])
                found[name] |= {key: timed[key] for key in ("origin", "strategy", "parameters")}
    ratio = rondo_program.middle(found["shipped"]["ms"]) / rondo_program.middle(found["tuned"]["ms"])
    return row | found | {"ratio": ratio}


def head(options):
    device, driver = rondo_program.query("name,driver_version")
    return {"device": device, "driver": driver, "seed": options.seed, "seconds": options.seconds, "limits": LIMITS,
            "compiler": record.compiler_version(rondo_program.rondo(options.rondo, "doctor")["findings"]),
            "commit": os.environ.get("RONDO_COMMIT", "unknown")}


def begun(options):
    """The record to go on with: the one that is there if it is of the same run, else a new one."""
    new = head(options)
    try:
        with open(options.out, encoding="utf-8") as file:
            before = json.load(file)
    except FileNotFoundError:
        before = {}
    rows = before.get("rows", []) if all(before.get(key) == value for key, value in new.items()) else []
    timing = (f"medians of rondo bench in turns, {TURNS} processes each, {MOST_TURNS} where those of one way differ; ratio: shipped / tuned, "
              "each the mean of the middle half")
    return new | {"date": datetime.date.today().isoformat(), "timing": timing, "rows": rows}


def problem_of(row):
    """What was asked of a row, without what was found."""
    return tuple((key, value) for key, value in row.items() if key not in ("shipped", "tuned", "ratio"))


def summary(rows):
    found = {}
    for kind, limit in LIMITS.items():
        ratios = [row["ratio"] for row in rows if row["kind"] == kind]
        if ratios:
            found[kind] = {"rows": len(ratios), "median": statistics.median(ratios), "worst": max(ratios),
                           "within": sum(ratio <= limit for ratio in ratios)}
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rondo")
    parser.add_argument("out")
    parser.add_argument("--seconds", type=float, default=60, help="of each fresh tune")
    parser.add_argument("--listed", type=int, default=10)
    parser.add_argument("--beside", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--side", type=int, default=1, help="problems that are tuned side by side on each GPU")
    parser.add_argument("--gpus", type=int, default=1, help="GPUs of this machine that are used, all of one kind")
    parser.add_argument("--limit", type=float, default=0, help="seconds for all; 0: none")
    options = parser.parse_args()
    gpus = rondo_program.Gpus(options.gpus, options.side)
    gpus.check_alike()
    memory = shipped.gpu_memory(gpus)
    result = begun(options)
    wanted = drawn(options.seed, options.listed, options.beside)
    order = {problem_of(row): place for place, row in enumerate(wanted)}
    done = [dict(problem_of(row)) for row in result["rows"]]
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        calibrated = os.path.join(folder, "calibrated.db")
        options.profile = os.path.join(folder, "profile.json")
        rondo_program.rondo(options.rondo, "calibrate", "--db", calibrated)
        code, _, err = shipped.rondo(options.rondo, "db", "export", "--db", calibrated, "-o", options.profile)
        if code != 0:
            raise SystemExit(f"shipped_check: rondo db export failed ({code}): {err}")
        lock = threading.Lock()

        def one(row):
            slots = shipped.slots_of(row, options.side, memory)
            with gpus.take(slots) as gpu:
                if options.limit and time.monotonic() - begin + options.seconds + shipped.START_SECONDS > options.limit:
                    return
                found = measured(options, row, gpu, gpus.slots() // slots)
            with lock:
                result["rows"].append(found)
                result["rows"].sort(key=lambda each: order[problem_of(each)])
                result["summary"] = summary(result["rows"])
                rondo_program.write(result, options.out)
                print(f"{row['kind']} {'own cell like ' if row.get('own') else ''}{shipped.text(row)}: "
                      f"{found['shipped']['origin']} / tuned {found['ratio']:.3f}", flush=True)

        rondo_program.side_by_side(gpus.slots(), one, [row for row in wanted if row not in done])
        if len(result["rows"]) < len(wanted):
            print("the limit is reached", flush=True)
    print(json.dumps(result.get("summary", {})))
    return 0


if __name__ == "__main__":
    sys.exit(main())
