#!/usr/bin/env python3
"""Launches through Rondo's C interface and from packages, beside `rondo bench`, on the GPU at hand, in one run.

usage: capi.py FOLDER DATABASE OUT.json [--only REGEX] [--turns 3] [--most-turns 11] [--gpus 1] [--limit SECONDS] [--note TEXT]

FOLDER holds rondo, bench_capi and bench_capi_rt (build/release); DATABASE the choices, so that all three launch the same
kernels (what it lacks is the model's choice, and the record says so). For each row of dense_rows.json and stream_rows.json
and each pass, times are taken in turns, on one of --gpus GPUs, and compared: a ratio is C interface / `rondo bench`, each the
mean of the middle half of its processes. Processes with the same kernel may differ: where they do by more than 0.5% after
--turns turns, --most-turns are taken. Before the rows come the host time of launches of eight tensors; the time to the first launch
with and without a package, cold and warm; whether a captured graph, two threads on two streams, and all devices give equal bits;
and problems that are tuned through the C interface to a verified winner. OUT.json is written after each row, and rows that it
holds are skipped if they were measured on the same device by the same commit. Ends with 1 where bits differ."""
import argparse
import datetime
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import rondo_program
from parameter_names import from_text

HERE = os.path.dirname(os.path.abspath(__file__))
PASSES = ("fw", "fws", "bw")
WITHIN = 1.01
FIRST_PROCESSES, HOST_PROCESSES = 3, 7
# Of eight tensors: three kernels (alternating, one step); one; two, the second of which must have all its blocks resident.
HOSTS = [{"cell": "lstm", "B": batch, "T": time_, "H": heads, "D": dim, "dtype": "bf16", "pass": "fw"}
         for batch, time_, heads, dim in ((1, 1, 1, 2304), (16, 64, 12, 64), (16, 64, 1, 768))]
FIRST = {"cell": "lstm", "B": 16, "T": 1024, "H": 1, "D": 768, "dtype": "bf16", "pass": "fw"}
CHECKED = [
    {"cell": "lstm", "B": 16, "T": 256, "H": 1, "D": 768, "dtype": "bf16", "pass": "fw"},
    {"cell": "lstm", "B": 16, "T": 256, "H": 12, "D": 64, "dtype": "bf16", "pass": "bw"},
    {"cell": "gru", "B": 16, "T": 256, "H": 1, "D": 512, "dtype": "bf16", "pass": "fws"},
    {"cell": "mingru", "B": 8, "T": 4096, "H": 1, "D": 1536, "dtype": "bf16", "pass": "fw"},
]

TUNED = [CHECKED[1] | {"pass": "fw"}, {"cell": "hgrn", "B": 8, "T": 4096, "H": 1, "D": 1536, "dtype": "bf16", "pass": "bw"}]
TUNE_SECONDS = 8
BUILT_TOGETHER = 8  # packages, while nothing is timed


def rows():
    found = []
    for name in ("dense_rows.json", "stream_rows.json"):
        with open(os.path.join(HERE, name), encoding="utf-8") as file:
            for row in json.load(file)["rows"]:
                found += [{key: row.get(key, 1) for key in ("cell", "B", "T", "H", "D", "dtype")} | {"pass": which}
                          for which in PASSES]
    return found


def text(row):
    return f"{row['cell']} B={row['B']} T={row['T']} H={row['H']} D={row['D']} {row['dtype']} {row['pass']}"


def shape(row):
    return ",".join(f"{axis}={row[axis]}" for axis in "BTHD")


class Programs:
    """The programs, run on the GPU that the environment `gpu` names, or on all."""

    def __init__(self, options, folder, gpu=None):
        self.options, self.folder, self.gpu = options, folder, gpu or {}
        os.environ.setdefault("RONDO_WORKER", self.path("rondo"))  # of tuning through the C interface

    def on(self, gpu):
        return Programs(self.options, self.folder, gpu)

    def path(self, name):
        return os.path.join(self.options.folder, name)

    def run(self, *words):
        done = subprocess.run(words, capture_output=True, text=True, env=os.environ | self.gpu)
        if done.returncode != 0:
            raise SystemExit(f"capi: {' '.join(words)} failed ({done.returncode}): {done.stderr.strip() or done.stdout.strip()}")
        return done.stdout

    def bench(self, row):
        """`rondo bench`: milliseconds, and the choice."""
        out = json.loads(self.run(self.path("rondo"), "bench", row["cell"], "--shape", shape(row), "--dtype", row["dtype"],
                                  "--pass", row["pass"], "--db", self.options.database, "--json"))
        return out["rows"][0] | {"device": out["device"]}

    def capi(self, mode, row, program="bench_capi", *more):
        return json.loads(self.run(self.path(program), mode, "--cell", row["cell"], "--shape", shape(row), "--dtype", row["dtype"],
                                   "--pass", row["pass"], *more))

    def package(self, row, device):
        """A package of the row's kernels, by the same choice."""
        path = os.path.join(self.folder, re.sub(r"[^a-z0-9]+", "-", text(row).lower()) + ".rondo")
        self.run(self.path("rondo"), "package", "build", row["cell"], "--shape", shape(row), "--dtype", row["dtype"], "--pass",
                 row["pass"], "--arch", device, "--ptx", "none", "--no-self-test", "--db", self.options.database, "-o", path)
        return path


def choice_of(timed):
    """Strategy and parameters, as `rondo bench` or bench_capi tell them."""
    given = timed["parameters"]
    return timed["strategy"], from_text(given) if isinstance(given, str) else given


def measured(programs, row, package, options):
    """The row's three ways in turns. The first process, which is not counted, leaves compiled code in the database."""
    first = programs.bench(row)
    ways = {"bench": lambda: programs.bench(row),
            "capi": lambda: programs.capi("time", row, "bench_capi", "--db", programs.options.database),
            "package": lambda: programs.capi("time", row, "bench_capi_rt", "--package", package)}
    found, spreads = {name: [] for name in ways}, {name: [] for name in ways}
    for turn in range(max(options.turns, options.most_turns)):
        if turn >= options.turns and rondo_program.settled(found):
            break
        for name in sorted(ways, reverse=turn % 2 == 1):
            timed = ways[name]()
            if choice_of(timed) != choice_of(first):
                raise SystemExit(f"capi: {text(row)}: {name} launched {choice_of(timed)}, not {choice_of(first)}")
            found[name].append(timed["median_ms"])
            spreads[name].append(timed["spread"])
    typical = {name: rondo_program.middle(ms) for name, ms in found.items()}
    return row | {"strategy": first["strategy"], "origin": first["origin"], "ms": found, "spreads": spreads,
                  "capi_ratio": typical["capi"] / typical["bench"], "package_ratio": typical["package"] / typical["bench"]}


def forget(path):
    """Drops a file from the page cache, as far as the system does that."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def first_launches(programs):
    """Milliseconds from a context that exists to the end of the first launch; each in a process of its own."""
    device = programs.bench(FIRST)["device"]
    package = programs.package(FIRST, device)
    parts = ("open_ms", "plan_ms", "launch_ms", "first_ms")

    def times(cold, *words):
        found = []
        for _ in range(FIRST_PROCESSES):
            if cold:
                forget(package)
            timed = programs.capi("time", FIRST, *words, "--samples", "3")
            found.append({part: timed[part] for part in parts})
        return found

    return {"problem": FIRST, "unit": "ms", "package_bytes": os.path.getsize(package),
            "package_cold": times(True, "bench_capi_rt", "--package", package),
            "package_warm": times(False, "bench_capi_rt", "--package", package),
            "database_warm": times(False, "bench_capi", "--db", programs.options.database),
            "compiled": times(False, "bench_capi")}


def hosts(programs):
    """Host time of a launch: of some processes the one whose time is in the middle."""
    found = []
    for row in HOSTS:
        package = programs.package(row, programs.bench(row)["device"])
        told = sorted((programs.capi("host", row, "bench_capi_rt", "--package", package) for _ in range(HOST_PROCESSES)),
                      key=lambda one: one["launch_us"])
        typical = told[len(told) // 2]
        found.append(row | {key: typical[key] for key in ("tensors", "strategy", "parameters", "launch_us", "launch_us_p90", "new_us", "driver_us")} |
                     {"processes_us": [[one[key] for key in ("launch_us", "new_us", "driver_us")] for one in told]})
    return found


def checks(programs):
    found = []
    for row in CHECKED:
        package = programs.package(row, programs.bench(row)["device"])
        for program, words in (("bench_capi", ("--db", programs.options.database)), ("bench_capi_rt", ("--package", package))):
            told = programs.capi("check", row, program, *words)
            if not told["inputs_matter"]:
                raise SystemExit(f"capi: {text(row)}: other inputs give the same results: nothing was computed")
            found.append(row | {"program": program} | {key: told[key] for key in told if key.endswith(("_equal", "devices", "_alike", "_bytes"))})
    return found


def tuned(programs):
    """Problems tuned through the C interface, without a database: the winner beside the model's choice."""
    found = []
    for row in TUNED:
        begin = time.monotonic()
        winner = programs.capi("time", row, "bench_capi", "--tune", str(TUNE_SECONDS))
        seconds = time.monotonic() - begin
        model = programs.capi("time", row, "bench_capi")
        found.append(row | {key: winner[key] for key in ("strategy", "parameters", "origin", "verified")} |
                     {"budget_s": TUNE_SECONDS, "seconds": seconds, "ms": winner["median_ms"], "model_ms": model["median_ms"]})
        if not winner["verified"]:
            raise SystemExit(f"capi: {text(row)}: the winner of a tune through the C interface is not verified: {found[-1]}")
    return found


def begun(options):
    device, driver = rondo_program.query("name,driver_version")[:2]
    new = {"device": device, "driver": driver, "commit": os.environ.get("RONDO_COMMIT", "unknown"), "turns": options.turns,
           "most_turns": options.most_turns, "settled": rondo_program.SETTLED}
    if options.note:
        new["note"] = options.note
    try:
        with open(options.out, encoding="utf-8") as file:
            before = json.load(file)
    except FileNotFoundError:
        before = {}
    if any(before.get(key) != value for key, value in new.items()):
        before = {}
    return {"rows": []} | before | new | {
        "date": datetime.date.today().isoformat(),
        "timing": "each as rondo bench does: median of 21 samples by CUDA events; ratios of the middle of processes in turns"}


def summary(measured_rows):
    found = {}
    for name in ("capi_ratio", "package_ratio"):
        ratios = [row[name] for row in measured_rows]
        if ratios:
            found[name] = {"rows": len(ratios), "median": statistics.median(ratios), "worst": max(ratios),
                           "within_1_percent": sum(ratio <= WITHIN for ratio in ratios)}
    return found


def time_rows(programs, options, gpus, result):
    """The rows that `result` lacks, until the limit; it is written after each."""
    known = {text(row) for row in result["rows"]}
    todo = [row for row in rows() if text(row) not in known and re.search(options.only, text(row))]
    together = BUILT_TOGETHER * len(gpus.names)
    for first in range(0, len(todo), together):
        if not time_some(programs, options, gpus, result, todo[first:first + together]):
            print("the limit is reached", flush=True)
            return


def over(options):
    return options.limit and time.monotonic() - options.begin > options.limit


def time_some(programs, options, gpus, result, todo):
    """Builds the packages of the rows side by side, and then times one row after the other on each GPU. False if the limit came before
    the last."""
    if over(options):
        return False
    with gpus.take() as gpu:
        device = programs.on(gpu).bench(todo[0])["device"]
    packages = rondo_program.side_by_side(BUILT_TOGETHER * len(gpus.names), lambda row: programs.package(row, device), todo)
    lock = threading.Lock()

    def one(item):
        with gpus.take() as gpu:
            if over(options):
                return False
            last = measured(programs.on(gpu), *item, options)
        with lock:
            result["rows"] = ordered(result["rows"] + [last])
            result["summary"] = summary(result["rows"])
            rondo_program.write(result, options.out)
            print(f"{text(last)}: C interface {last['capi_ratio']:.4f}, package {last['package_ratio']:.4f} ({last['origin']})", flush=True)
        return True

    return all(rondo_program.side_by_side(gpus.slots(), one, zip(todo, packages)))


def ordered(timed):
    """As the list has them, whichever GPU was ready first."""
    place = {text(row): number for number, row in enumerate(rows())}
    return sorted(timed, key=lambda row: place.get(text(row), len(place)))


def time_calls(programs, options, result):
    """What `result` lacks of the host's times, first launches, and tunes through the interface."""
    if "hosts" not in result:
        result["hosts"] = hosts(programs)
        rondo_program.write(result, options.out)
        for host in result["hosts"]:
            print(f"host time of a launch of {host['tensors']} tensors, {text(host)} ({host['strategy']}): {host['launch_us']} us, "
                  f"{host['new_us']} us the first time, of an empty kernel {host['driver_us']} us", flush=True)
    if "first" not in result:
        result["first"] = first_launches(programs)
        rondo_program.write(result, options.out)
        print("first launch: " + ", ".join(f"{name} {max(t['first_ms'] for t in times):.1f} ms at worst"
                                           for name, times in result["first"].items() if isinstance(times, list)), flush=True)
    if "tuned" not in result:
        result["tuned"] = tuned(programs)
        rondo_program.write(result, options.out)
        print("tuned through the C interface: " + ", ".join(f"{text(row)} {row['ms']:.4f} ms (the model's {row['model_ms']:.4f})"
                                                            for row in result["tuned"]), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("folder", "database", "out"):
        parser.add_argument(name)
    parser.add_argument("--only", default="", help="rows whose text, as it is printed, matches this regular expression")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--most-turns", type=int, default=11, help="where processes of one way differ by more than 0.5%% after --turns")
    parser.add_argument("--gpus", type=int, default=1, help="GPUs of this machine that rows are timed on, all of one kind")
    parser.add_argument("--note", help="kept in the record, and printed on its page")
    parser.add_argument("--limit", type=float, default=0, help="seconds for all; 0: none")
    options = parser.parse_args()
    gpus = rondo_program.Gpus(options.gpus)
    gpus.check_alike()
    result = begun(options)
    options.begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        programs = Programs(options, folder)
        with gpus.take() as gpu:
            time_calls(programs.on(gpu), options, result)
        if "checks" not in result:  # of all devices
            result["checks"] = checks(programs)
            rondo_program.write(result, options.out)
            print(f"{len(result['checks'])} times graph, threads and devices: equal bits", flush=True)
        time_rows(programs, options, gpus, result)
    print(json.dumps(result.get("summary", {})))
    return 0


if __name__ == "__main__":
    sys.exit(main())
