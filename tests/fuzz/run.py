#!/usr/bin/env python3
"""Builds the fuzz targets of this folder (libFuzzer with the address and undefined-behaviour sanitizers), and runs them.

    tests/fuzz/run.py [TARGET ...] [--seconds N] [--jobs N] [--seed N] [--keep] [--record FILE]
    tests/fuzz/run.py TARGET --input FILE        # one input again, with all that the sanitizers say

A target is NAME.cpp here and `rondo_fuzz(NAME ...)` in CMakeLists.txt. It starts from corpus/NAME and the folders of
SEEDS. For each target one line is printed: runs, edges covered, inputs, the most memory, the verdict. A target fails by
a crash, an exception, undefined behaviour, a leak, a property that does not hold, or one of the bounds below. The input
that did it is kept below build/fuzz/found, and its end of the log is printed. The status is 1 if a target fails.

--by-turns takes every fourth target at odd numbers of RONDO_TURN, which says whose turn it is, and none at even ones: at
some of these tools/sanitize makes its build, which takes as long. The status is 77 where none of those named has its turn.

--keep puts what was found into corpus/NAME, as few files as cover the same edges. --record writes a record of the run.
"""
import argparse
import concurrent.futures
import datetime
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = ROOT / "build" / "fuzz"

# What an input may cost, in a program whose sanitizers take a part of it. A record of a few kilobytes that asks for more
# is a finding. The time only tells an end from none: it is hundreds of times what the slowest input takes.
MEMORY_MB = 768  # of the process
PIECE_MB = 64  # in one piece
INPUT_S = 20  # for one input
TURNS = 4  # until all targets had theirs
SKIPPED = 77  # status of a test of CTest that had nothing to do

# Of each target: the longest input in bytes, the dictionary, folders of inputs beside corpus/NAME.
TARGETS = {
    "cell": (4096, "cell.dict", ["cells", "tests/errors", "tests/mutation/cells"]),
    "npy": (512, "npy.dict", []),
    "profile": (2048, "json.dict", []),
    "exchange": (4096, "json.dict", []),
    "lock": (2048, "json.dict", []),
    "database": (20480, None, []),
    "rows": (256, "rows.dict", []),
    "messages": (4096, None, []),
    "object": (4096, None, []),
    "package": (8192, None, []),
}


def whose_turn(names, turn):
    """Those of the names that have their turn: all where there are no turns (None), and none at even ones."""
    if turn is None:
        return names
    every = list(TARGETS)
    return [name for name in names if turn % 2 == 1 and (every.index(name) + turn // 2) % TURNS == 0]


def environment(folder):
    """Of a run: the sanitizers' options, and a folder in memory for files. Freed memory is kept aside for a while, so
    that its use is noticed; no more than is needed, because it counts as the process's."""
    return {**os.environ, "TMPDIR": folder, "ASAN_OPTIONS": "quarantine_size_mb=32:malloc_context_size=12",
            "UBSAN_OPTIONS": "print_stacktrace=1"}


def program(name):
    """The command of a target. Where the kernel places memory more freely than Clang 14's sanitizers expect, they do not
    start in some of the runs: then it is told to place it always alike, if it lets itself be told."""
    fixed = ["setarch", "x86_64", "-R"]
    bits = pathlib.Path("/proc/sys/vm/mmap_rnd_bits")
    try:
        free = int(bits.read_text()) > 28 and subprocess.run([*fixed, "true"], check=False).returncode == 0
    except OSError:
        free = False
    return [*(fixed if free else []), str(BUILD / f"fuzz_{name}")]


def bounds():
    return [f"-rss_limit_mb={MEMORY_MB}", f"-malloc_limit_mb={PIECE_MB}", f"-timeout={INPUT_S}"]


def build(names):
    if shutil.which("clang++") is None:
        sys.exit("fuzz: clang++ is missing; tools/setup installs it")
    for command in (["cmake", "--preset", "fuzz"],
                    ["ninja", "-C", str(BUILD), *(f"fuzz_{name}" for name in names)]):
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"fuzz: '{' '.join(command)}' failed:\n{(done.stdout + done.stderr)[-4000:]}")


def fresh(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def kept(name):
    """Folders of inputs that are part of the source tree."""
    return [folder for folder in [HERE / "corpus" / name, *(ROOT / seed for seed in TARGETS[name][2])] if folder.is_dir()]


def figure(text, pattern, default=0):
    found = re.findall(pattern, text)
    return int(found[-1]) if found else default


def verdict_of(status, text):
    """What ended the run, in a few words."""
    if status == 0:
        return "clean"
    said = re.findall(r"^(?:SUMMARY: |does not hold: |==\d+== ERROR: )(.*)$", text, re.M)
    runtime = re.findall(r"runtime error: (.*)$", text, re.M)
    return "FAILED: " + ((runtime or said or [f"status {status}"])[0])


def run(name, options, folder):
    """The record of a run of one target, and the end of its log where it failed."""
    work = fresh(BUILD / "work" / name)
    found = BUILD / "found" / name
    found.mkdir(parents=True, exist_ok=True)
    longest, dictionary, _ = TARGETS[name]
    command = [*program(name), *bounds(), f"-max_total_time={options.seconds}", f"-max_len={longest}",
               f"-seed={options.seed}", "-print_final_stats=1", "-print_pcs=0", f"-artifact_prefix={found}/",
               *([f"-dict={HERE / dictionary}"] if dictionary else []), str(work), *map(str, kept(name))]
    files = tempfile.mkdtemp(dir=folder)
    done = subprocess.run(command, cwd=BUILD, env=environment(files), capture_output=True, text=True, errors="replace",
                          check=False)
    shutil.rmtree(files, ignore_errors=True)
    (BUILD / f"{name}.log").write_text(done.stderr, encoding="utf-8")
    result = {"runs": figure(done.stderr, r"(?:stat::number_of_executed_units: |^#)(\d+)"),
              "edges": figure(done.stderr, r" cov: (\d+)"),
              "inputs": figure(done.stderr, r" corp: (\d+)/"),
              "memory_mb": figure(done.stderr, r"(?:stat::peak_rss_mb: | rss: )\s*(\d+)"),
              "verdict": verdict_of(done.returncode, done.stderr)}
    return result, "" if done.returncode == 0 else done.stderr[-6000:]


def keep(name):
    """Replaces corpus/NAME by as few inputs as cover the edges of those that were kept and found."""
    least = fresh(BUILD / "least" / name)
    sources = [str(folder) for folder in [*kept(name), BUILD / "work" / name]]
    with tempfile.TemporaryDirectory() as files:
        subprocess.run([*program(name), "-merge=1", "-use_counters=0", f"-max_len={TARGETS[name][0]}", *bounds(), str(least),
                        *sources], env=environment(files), check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
    corpus = fresh(HERE / "corpus" / name)
    seeds = {path.read_bytes() for folder in TARGETS[name][2] for path in (ROOT / folder).iterdir() if path.is_file()}
    for path in least.iterdir():
        if path.read_bytes() not in seeds:
            shutil.copyfile(path, corpus / path.name)


def write_record(path, options, results):
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True, check=True)
    record = {"what": "fuzz targets (tests/fuzz/run.py), with the address and undefined-behaviour sanitizers",
              "commit": commit.stdout.strip(), "date": datetime.date.today().isoformat(), "seconds": options.seconds,
              "bounds": {"memory_mb": MEMORY_MB, "piece_mb": PIECE_MB, "input_s": INPUT_S}, "targets": results}
    path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def one_input(name, path, folder):
    return subprocess.run([*program(name), *bounds(), str(path)], env=environment(folder), check=False).returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(TARGETS)}; all unless named")
    parser.add_argument("--seconds", type=int, default=60, help="of each target (default: 60)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="targets at once (default: all cores)")
    parser.add_argument("--seed", type=int, default=1, help="of the random changes (default: 1; 0: another at each run)")
    parser.add_argument("--build", action="store_true", help="only build")
    parser.add_argument("--built", action="store_true", help="do not build")
    parser.add_argument("--by-turns", action="store_true", help="only those whose turn it is, by RONDO_TURN")
    parser.add_argument("--keep", action="store_true", help="keep what was found in corpus/")
    parser.add_argument("--record", type=pathlib.Path, metavar="FILE", help="where the record goes")
    parser.add_argument("--input", type=pathlib.Path, metavar="FILE", help="run the target on this input alone")
    options = parser.parse_args()
    names = options.targets or list(TARGETS)
    unknown = [name for name in names if name not in TARGETS]
    if unknown:
        parser.error(f"no target {unknown[0]}; there are {', '.join(TARGETS)}")
    if options.by_turns and os.environ.get("RONDO_TURN"):
        names = whose_turn(names, int(os.environ["RONDO_TURN"]))
        if not names:
            print("fuzz: not the turn of", *(options.targets or ["any target"]))
            return 0 if options.build else SKIPPED
    if not options.built:
        build(names)
    if options.build:
        return 0
    memory = pathlib.Path("/dev/shm")  # databases are written anew for every input
    results, failed = {}, False
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None, prefix="rondo-fuzz-") as folder:
        if options.input:
            return one_input(names[0], options.input.resolve(), folder)
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for name, (result, log) in zip(names, pool.map(lambda name: run(name, options, folder), names)):
                results[name] = result
                print("{:9} {runs:>9} runs, {edges:>5} edges, {inputs:>5} inputs, {memory_mb:>4} MB: {verdict}".format(
                    name, **result), flush=True)
                if log:
                    failed = True
                    print(f"{log}\nfuzz: the input lies in {BUILD / 'found' / name}; run it again by\n"
                          f"  tests/fuzz/run.py {name} --input FILE", flush=True)
                elif options.keep:
                    keep(name)
    if options.record:
        write_record(options.record, options, results)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
