#!/usr/bin/env python3
"""Tunes what Rondo ships (tuning_db/shipped) on the GPU at hand, and writes the export of it.

usage: shipped.py RONDO DATABASE [--seconds 12] [--side 1] [--gpus 1] [--share 1/1] [--only REGEX] [--again REGEX] [--limit SECONDS]
                  [--out FILE.json] [--dry-run]

The list is below: LSTM, GRU and sLSTM by heads and batch, scans by channels and length, and states that are matrices, in bf16, for
the passes fw, fws and bw. The most useful problems come first, so a run that is cut short has covered them. --share i/n takes every
n-th problem, from the i-th on (`rondo db merge` brings the databases of several machines together); --only those that match an
expression.

What the database holds as tuned is skipped, so a second run goes on where the first one ended; to go on with an export, bring it
into a new database by `rondo db import`. Two kinds of problems are tuned again. Those that are slower than other tuned problems show
that they can be (`poor`) get twice the time, and those that still are so are named at the end. Those that match --again ("" for all;
"mingru .* fw$") get the usual time: a search starts from the best of the problem and of those near it, so the list gains by being gone
through twice.

--side problems are tuned side by side on each of --gpus GPUs, fewer where the GPU's memory is short: what takes long is compiling, and
programs take turns with the GPU (runtime/device/gpu_turns.h). With --limit no problem is begun that might end later. --out writes
what the database holds, as `rondo db export --best` does. A database is for one kind of GPU.

The GPU is calibrated first, unless the database has its profile. Ends with 1 if a problem could not be tuned; those are named, and the
others are done nevertheless."""
import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import threading
import time

from rondo_program import Gpus, query, shared_workers

PASSES = ("fw", "fws", "bw")
SCAN_ROWS = 8  # batch rows of the scans
SLACK = 1.03  # by how much a problem may be slower than others show that it can be
START_SECONDS = 8  # what tuning a problem takes beside its budget: the reference, the data, the comparison at the end


def dense(cell, heads, dim, batch):
    return {"cell": cell, "B": batch, "T": 1024, "H": heads, "D": dim}


def scan(cell, dim, time_steps):
    return {"cell": cell, "B": SCAN_ROWS, "T": time_steps, "H": 1, "D": dim}


LSTM_HEADS = [(1, 768), (1, 512), (1, 1024), (12, 64), (3, 256), (6, 128), (1, 2048)]
OTHER_HEADS = [(1, 768), (12, 64), (1, 512), (1, 1024), (3, 256), (6, 128), (1, 2048)]
SCANS = ("mingru", "hgrn", "affine")
MATRIX_STATES = ("gated_deltanet", "linear_attention", "mlstm", "rwkv7")


def shapes():
    """The list, the most useful first: generation and ordinary batches of the common shapes, then the scans, then the rest."""
    main = [dense("lstm", *heads, batch) for heads in LSTM_HEADS[:4] for batch in (16, 1)]
    main += [scan(cell, 2048, 4096) for cell in SCANS]
    main += [dense(cell, *heads, 16) for heads in OTHER_HEADS[:2] for cell in ("gru", "slstm")]
    more = [dense("lstm", *heads, batch) for heads in LSTM_HEADS for batch in (16, 1, 64)]
    more += [scan(cell, dim, steps) for steps in (4096, 65536) for dim in (1024, 2048, 4096, 1536, 3072) for cell in SCANS]
    more += [dense(cell, *heads, 16) for heads in OTHER_HEADS for cell in ("gru", "slstm")]
    more += [{"cell": cell, "B": 1, "T": 4096, "H": 32, "D": 128} for cell in MATRIX_STATES]
    found = []
    for shape in main + more:
        if shape not in found:
            found.append(shape)
    return found


def problems():
    """One for each pass of each shape; a training step wants the last two together."""
    return [shape | {"dtype": "bf16", "pass": which} for shape in shapes() for which in PASSES]


def shape_text(problem):
    return ",".join(f"{axis}={problem[axis]}" for axis in "BTHD")


def text(problem):
    return f"{problem['cell']} {shape_text(problem)} {problem['dtype']} {problem['pass']}"


def arguments(problem):
    return [problem["cell"], "--shape", shape_text(problem), "--dtype", problem["dtype"], "--pass", problem["pass"]]


def share_of(items, share):
    """Every n-th from the i-th on, for "i/n"."""
    number, of = (int(part) for part in share.split("/"))
    if not 1 <= number <= of:
        raise SystemExit(f"shipped: --share {share}: the first number is from 1 to the second")
    return items[number - 1::of]


def rondo(program, *words, environment=None):
    done = subprocess.run([program, *words], capture_output=True, text=True, env=os.environ | (environment or {}))
    return done.returncode, done.stdout, done.stderr.strip()


def tuned(program, database):
    """Milliseconds of what the database holds a best of, by the list's names."""
    code, out, _ = rondo(program, "db", "list", "--db", database, "--json")
    if code != 0:  # there is none yet
        return {}
    found = {}
    for each in json.loads(out)["problems"]:
        if each.get("best") is not None:
            shape = {axis: each["shape"][axis] for axis in "BTHD"}
            found[text({"cell": each["cell_name"], "dtype": each["dtype"], "pass": each["pass"]} | shape)] = each["best"]["median_ms"]
    return found


def calls_of(problem, other):
    """With how many calls of the other problem's kernel the first can be computed; 0: it cannot."""
    if any(problem[key] != other[key] for key in ("cell", "H", "D", "dtype")):
        return 0
    same_shape = all(problem[axis] == other[axis] for axis in "BT")
    if problem["pass"] != other["pass"]:  # a pass that also stores what training needs
        return 1 if same_shape and (problem["pass"], other["pass"]) == ("fw", "fws") else 0
    if same_shape or problem["B"] < other["B"] or problem["T"] < other["T"]:
        return 0
    return -(-problem["B"] // other["B"]) * -(-problem["T"] // other["T"])


def part_of(problem, other):
    """Which part of the other scan, of up to half as many channels more, the first one is: it moves that part of the bytes. 0: none."""
    if problem["cell"] not in SCANS or any(problem[key] != other[key] for key in ("cell", "B", "T", "H", "dtype", "pass")):
        return 0
    return problem["D"] / other["D"] if problem["D"] < other["D"] <= 1.5 * problem["D"] else 0


def poor(times):
    """Why, by name: problems that take longer than calls of another one's kernel would, and scans that move their bytes more slowly
    than one of somewhat more channels."""
    found = {}
    listed = [problem for problem in problems() if text(problem) in times]
    for problem in listed:
        for other in listed:
            share = calls_of(problem, other) or part_of(problem, other)
            if share and times[text(problem)] > SLACK * share * times[text(other)]:
                found[text(problem)] = f"{times[text(problem)]:.3g} ms, and {share:.3g} x {times[text(other)]:.3g} ms: {text(other)}"
    return found


INPUT_ROWS = {"affine": 2, "mingru": 2, "hgrn": 3, "gru": 3, "lstm": 4, "slstm": 4}
# Bytes that a tune holds of each number of 16 bits: where it is timed, and twice where a kernel is compared with the plain one in fp32.
BYTES_A_NUMBER = 8


def slots_of(problem, side, memory):
    """Of `side` slots that share a GPU's `memory` in bytes (0: it is not known), those that a tune of the problem takes."""
    if not memory:
        return 1
    inputs = INPUT_ROWS.get(problem["cell"], max(INPUT_ROWS.values()))
    rows = 2 * inputs + 2 if problem["pass"] == "bw" else inputs + 1  # of a step: inputs, output, and their gradients
    needed = BYTES_A_NUMBER * rows * problem["B"] * problem["T"] * problem["H"] * problem["D"]
    return min(side, max(1, -(-needed * side // memory)))


class Stopped(Exception):
    """Ctrl-C reached a tune."""


def mebibytes(text):
    """Of "143771 MiB"; 0 if it is none."""
    number, _, unit = text.partition(" ")
    return int(number) if unit == "MiB" and number.isdigit() else 0


def gpu_memory(gpus):
    """Bytes of each of the GPUs; 0 if it is not known."""
    return mebibytes(query("memory.total", gpus.names[0])[0]) << 20


def tune_all(options, wanted):
    """The names of those that failed."""
    known = tuned(options.rondo, options.database)
    worse = poor(known)
    todo = [problem for problem in wanted if text(problem) not in known or text(problem) in worse]
    if options.again is not None:
        todo += [problem for problem in wanted if problem not in todo and re.search(options.again, text(problem))]
    seconds_of = lambda problem: options.seconds * (2 if text(problem) in worse else 1)
    gpus = Gpus(options.gpus, options.side)
    memory = 0
    if not options.dry_run:
        gpus.check_alike()
        memory = gpu_memory(gpus)
    number_of = lambda problem: slots_of(problem, options.side, memory)
    print(f"{len(wanted)} problems, {sum(text(problem) in known for problem in wanted)} of them tuned already, {len(todo)} to tune; about "
          f"{sum((seconds_of(problem) + START_SECONDS) * number_of(problem) for problem in todo) / gpus.slots() / 60:.0f} minutes", flush=True)
    failed, done, begin, lock = [], [], time.monotonic(), threading.Lock()
    stopped = threading.Event()

    def one(problem):
        with gpus.take(number_of(problem)) as environment:
            if not stopped.is_set():
                tune(problem, environment)

    def tune(problem, environment):
        words = ["tune", *arguments(problem), "--db", options.database, "--budget", f"{seconds_of(problem):g}s",
                 *shared_workers(gpus.slots() // number_of(problem))]
        if options.dry_run:
            print(" ".join([options.rondo, *words]))
            return
        if options.limit and time.monotonic() - begin + seconds_of(problem) + START_SECONDS > options.limit:
            return
        code, out, err = rondo(options.rondo, *words, environment=environment)
        if code == 130:
            stopped.set()
            raise Stopped
        with lock:
            done.append(problem)
            if code != 0:
                failed.append(text(problem))
            print(f"{len(done)}/{len(todo)} {text(problem)}: {'failed: ' + err if code != 0 else out.strip().splitlines()[-1]}", flush=True)

    with concurrent.futures.ThreadPoolExecutor(gpus.slots()) as pool:
        try:
            for _ in pool.map(one, todo):
                pass
        except (Stopped, KeyboardInterrupt):
            stopped.set()
            pool.shutdown(cancel_futures=True)
            raise SystemExit("shipped: stopped; what was tuned is in the database")
    if len(done) < len(todo) and not options.dry_run:
        print(f"the limit is reached; {len(todo) - len(done)} are left", flush=True)
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rondo")
    parser.add_argument("database")
    parser.add_argument("--seconds", type=float, default=12, help="of tuning, for each problem")
    parser.add_argument("--side", type=int, default=1, help="problems that are tuned side by side on each GPU")
    parser.add_argument("--gpus", type=int, default=1, help="GPUs of this machine that are used, all of one kind")
    parser.add_argument("--share", default="1/1", help="i/n: every n-th problem, from the i-th on")
    parser.add_argument("--only", metavar="REGEX", default="", help="these alone")
    parser.add_argument("--again", metavar="REGEX", help="tune these again too, once each")
    parser.add_argument("--limit", type=float, default=0, help="seconds for all; 0: none")
    parser.add_argument("--out", help="export of what the database holds, for tuning_db/shipped")
    parser.add_argument("--dry-run", action="store_true", help="print the commands instead of running them")
    options = parser.parse_args()
    wanted = [problem for problem in share_of(problems(), options.share) if re.search(options.only, text(problem))]
    if not options.dry_run:
        code, out, _ = rondo(options.rondo, "db", "export", "--db", options.database)
        if code != 0 or '"measured"' not in out:
            code, _, err = rondo(options.rondo, "calibrate", "--db", options.database)
            if code != 0:
                sys.exit(f"shipped: rondo calibrate failed ({code}): {err}")
    failed = tune_all(options, wanted)
    if options.out and not options.dry_run:
        code, _, err = rondo(options.rondo, "db", "export", "--best", "--db", options.database, "-o", options.out)
        if code != 0:
            sys.exit(f"shipped: rondo db export failed ({code}): {err}")
    for name in failed:
        print(f"not tuned: {name}")
    for name, why in poor(tuned(options.rondo, options.database)).items():
        print(f"slower than need be, run again: {name}: {why}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
