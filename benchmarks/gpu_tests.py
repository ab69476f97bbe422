#!/usr/bin/env python3
"""Runs the GPU tests, alone or under a tool of compute-sanitizer, and records what they said. Needs a GPU.

usage: gpu_tests.py TEST_GPU RECORD.json [--tool none] [--backend NAME] [--filter GTEST_FILTER] [--seconds N] [--side 14]
                    [--gpus N] [--together N] [--commit HASH]

TOOL is none, memcheck, racecheck, initcheck or synccheck. --side processes run side by side on each of --gpus GPUs, each with some tests at a
time, --together of them: 16, and 4 under a tool, which says what it found when its process ends. After --seconds no test is
begun, and those that run are ended. The record holds an entry for each tool, filter and commit: how many tests passed or were
skipped, the names of those that failed, with the reason, and of those that were not reached. A later call with the same three
goes on with the latter. Without --filter a tool other than `none` runs every cell, type and pass in each form, odd numbers of
channels, and each single operation. With --backend, nvrtc or llvm, kernels are compiled by that one (RONDO_BACKEND), which has
entries of its own.

A test that fails where threads waited for each other in vain runs once more when all others have ended, alone: beside others a
tool slows kernels down so much that they give up. What it says then counts.

One tool at a time: beside each other and beside the tests they came on ten times more slowly, for processes that use the GPU
take turns, and racecheck keeps it busy.

The processes share what they compile, and so do calls for which RONDO_TEST_CODE names one file.

Ends with 1 if a test failed, and with 0 also where tests are left, which the last line says."""
import argparse
import collections
import contextlib
import datetime
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

from rondo_program import Gpus, query, side_by_side, write

TOOLS = ("none", "memcheck", "racecheck", "initcheck", "synccheck")
EVERY_FORM = ("Cells/EveryCell.OneLaunchOfEachForm/*:Cells/DenseCell.OddChannels/*:Cells/DenseCell.Splits/*:Cells/Warpgroups.*:"
              "Units.*:Gpu/StreamCell.FewSteps/*:Gpu/MatrixCell.FewSteps/*:Cells/ShootCell.FewSteps/*")
TOGETHER = {"none": 16}      # tests of one process; its start takes a second
# Tests of half a minute and more, for they verify many plans: they begin first, each in a process of its own, so that none is
# the last to end. Under racecheck they take minutes, and begin last.
LONG = re.compile(r"StreamCells|MatrixCells|RandomCells|ShippedCells|AtShape|LargeHead|TunesAndVerifies")
TOGETHER_UNDER_A_TOOL = 4
LONGEST = {"none": 240}      # seconds of one test
LONGEST_UNDER_A_TOOL = 420
FOUND_ERRORS = 9             # exit status by which compute-sanitizer says that it found errors
VERDICT = re.compile(r"^\[ +(OK|FAILED|SKIPPED) +\] (\S+?),? .*\(\d+ ms\)$", re.M)
GAVE_UP = "for each other and gave up"  # what a test prints whose kernel waited in vain
RUNS = re.compile(r"^\[ RUN      \] (\S+)", re.M)
COMPARED = re.compile(r"^(\d+) compared, (\d+) not finite, (\d+) ill-conditioned", re.M)


def names(program, pattern):
    """Of the tests that the filter takes, in the program's order."""
    done = subprocess.run([program, f"--gtest_filter={pattern}", "--gtest_list_tests"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"gpu_tests: {program} does not list its tests ({done.returncode}): {done.stderr.strip()[-300:]}")
    found, suite = [], ""
    for line in done.stdout.splitlines():
        if line.startswith("  "):
            found.append(suite + line.split()[0])
        elif line.split() and line.split()[0].endswith("."):
            suite = line.split()[0]
    return found


class Queue:
    """Tests that wait, and what the others said. Threads take and tell."""

    def __init__(self, tests, deadline, long_first=True):
        self.waiting = collections.deque(sorted(tests, key=lambda name: bool(LONG.search(name)) != long_first))
        self.deadline = deadline
        self.verdicts = {}  # by test: passed, skipped, or why it failed
        self.later = []  # those that gave up beside others
        self.compared = [0, 0, 0]
        self.lock = threading.Lock()

    def take(self, most):
        with self.lock:
            if time.monotonic() >= self.deadline:
                return []
            if self.waiting and LONG.search(self.waiting[0]):
                most = 1
            return [self.waiting.popleft() for _ in range(min(most, len(self.waiting)))]

    def tell(self, verdicts, again, later, compared):
        with self.lock:
            self.verdicts |= verdicts
            self.later += later
            self.waiting.extendleft(reversed(again))
            self.compared = [a + b for a, b in zip(self.compared, compared)]


def read(text, tests):
    """Verdicts that the output gives, the test that was running at its end, and those that were not begun."""
    said = {name: {"OK": "passed", "SKIPPED": "skipped", "FAILED": "failed"}[word] for word, name in VERDICT.findall(text)}
    begun = RUNS.findall(text)
    running = [name for name in begun[-1:] if name not in said]
    return said, running, [name for name in tests if name not in said and name not in running]


def gave_up(text, said):
    """Tests that failed after a kernel had waited in vain."""
    parts = re.split(r"^\[ RUN      \] (\S+)", text, flags=re.M)
    return [name for name, its_text in zip(parts[1::2], parts[2::2]) if said.get(name) == "failed" and GAVE_UP in its_text]


def descendants(process):
    """The process and all that it started, itself first."""
    found = [process]
    for one in found:
        with contextlib.suppress(FileNotFoundError):
            found += map(int, pathlib.Path(f"/proc/{one}/task/{one}/children").read_text(encoding="utf-8").split())
    return found


def output_of(command, seconds, environment=None):
    """What the command prints and its status; None if it did not end in time. It is killed then, and what it started."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=os.environ | (environment or {})) as process:
        try:
            text, _ = process.communicate(timeout=seconds)
            status = process.returncode
        except subprocess.TimeoutExpired:
            for started in descendants(process.pid):  # compute-sanitizer starts the tests, and they would go on without it
                with contextlib.suppress(ProcessLookupError):
                    os.kill(started, signal.SIGKILL)
            text, _ = process.communicate()
            status = None
    return text.decode(errors="replace"), status


def run_some(options, queue, tests, gpu, alone=False):
    """On the GPU that the environment `gpu` names."""
    command = [options.test_gpu, "--gtest_filter=" + ":".join(tests)]
    if options.tool != "none":
        # The runtime looks for a kernel in each of a plan's modules, and being told that one lacks it is no fault.
        quiet = ["--report-api-errors", "no"] if options.tool == "memcheck" else []
        command = ["compute-sanitizer", "--tool", options.tool, *quiet, "--error-exitcode", str(FOUND_ERRORS), *command]
    longest = len(tests) * LONGEST.get(options.tool, LONGEST_UNDER_A_TOOL)
    seconds = max(1, min(longest, queue.deadline - time.monotonic()))
    text, status = output_of(command, seconds, gpu)
    with open(options.log, "a", encoding="utf-8") as log:
        log.write(text)
    if status is None and options.tool != "none":
        text = ""  # what the tool found it says at the end, so these tests have no verdict
    said, running, rest = read(text, tests)
    compared = [sum(map(int, numbers)) for numbers in zip(*COMPARED.findall(text))] or [0, 0, 0]
    if status is None and time.monotonic() >= queue.deadline:
        rest = running + rest  # the time is over: nobody's fault
    elif status is None and options.tool != "none" and len(tests) > 1:
        rest = tests  # each runs again alone
    elif status is None:
        running = running or tests
        said |= {name: f"did not end in {seconds:.0f} s" for name in running}
        rest = [name for name in tests if name not in said]
    else:
        said |= {name: f"ended the program with status {status}" for name in running}
        if status not in (0, None) and not running and "failed" not in said.values():
            said, rest = blamed(text, status, tests, said, rest)
    later = [] if alone else gave_up(text, said)
    queue.tell({name: verdict for name, verdict in said.items() if name not in later}, rest, later, compared)


def blamed(text, status, tests, said, rest):
    """The program failed and no test did: the sanitizer's findings, or something at the end. Of several tests each runs again alone."""
    if len(tests) > 1:
        return {}, tests
    summary = [line.strip("= ") for line in text.splitlines() if "SUMMARY" in line]
    return said | {tests[0]: (summary or [f"ended with status {status}"])[-1]}, rest


def work(options, queue, gpu):
    most = options.together or TOGETHER.get(options.tool, TOGETHER_UNDER_A_TOOL)
    alone = set()
    while tests := queue.take(most):
        if alone & set(tests):  # came back: one after the other
            for test in tests:
                run_some(options, queue, [test], gpu)
        else:
            run_some(options, queue, tests, gpu)
        alone |= {test for test in tests if test not in queue.verdicts}


def run_later(options, queue, gpu):
    while queue.later and time.monotonic() < queue.deadline:
        run_some(options, queue, [queue.later.pop(0)], gpu, alone=True)


def run_all(options, queue):
    gpus = Gpus(options.gpus, options.side)
    gpus.check_alike()

    def one(_):
        with gpus.take() as gpu:
            work(options, queue, gpu)

    side_by_side(gpus.slots(), one, range(gpus.slots()))
    with gpus.take() as gpu:
        run_later(options, queue, gpu)


def entry_of(record, options):
    """The one that this call goes on with, or a new one with all tests left."""
    for entry in record["runs"]:
        if all(entry.get(key, "") == getattr(options, key) for key in ("tool", "filter", "commit", "backend")):
            return entry
    entry = {"tool": options.tool, "filter": options.filter, "commit": options.commit, "date": "", "passed": 0, "skipped": 0,
             "failed": {}, "compared": 0, "not_finite": 0, "ill_conditioned": 0, "left": names(options.test_gpu, options.filter)}
    if options.backend:
        entry["backend"] = options.backend
    record["runs"].append(entry)
    return entry


def add(entry, queue):
    verdicts = queue.verdicts
    entry["date"] = datetime.date.today().isoformat()
    entry["passed"] += sum(verdict == "passed" for verdict in verdicts.values())
    entry["skipped"] += sum(verdict == "skipped" for verdict in verdicts.values())
    entry["failed"] |= {name: verdict for name, verdict in verdicts.items() if verdict not in ("passed", "skipped")}
    for key, count in zip(("compared", "not_finite", "ill_conditioned"), queue.compared):
        entry[key] += count
    entry["left"] = [name for name in entry["left"] if name not in verdicts]


def begin(path):
    device, driver = query("name,driver_version")
    head = {"what": "GPU tests, alone and under compute-sanitizer", "device": device, "driver": driver, "runs": []}
    if not os.path.exists(path):
        return head
    record = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    if record.get("device") != device:
        raise SystemExit(f"gpu_tests: {path} is of {record.get('device')}, this is {device}: take another file")
    return record | {"driver": driver}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("test_gpu")
    parser.add_argument("record")
    parser.add_argument("--tool", choices=TOOLS, default="none")
    parser.add_argument("--backend", choices=("", "nvrtc", "llvm"), default="")
    parser.add_argument("--filter", default=None)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--side", type=int, default=14, help="processes side by side on each GPU")
    parser.add_argument("--gpus", type=int, default=1, help="GPUs of this machine that are used, all of one kind")
    parser.add_argument("--together", type=int, default=0, help="tests of one process; 0: as many as suit the tool")
    parser.add_argument("--commit", default=os.environ.get("RONDO_COMMIT", "unknown"))
    parser.add_argument("--log", default="", help="what the tests print; RECORD.TOOL.log without")
    options = parser.parse_args()
    options.filter = options.filter or ("*" if options.tool == "none" else EVERY_FORM)
    options.log = options.log or f"{options.record}.{options.backend or options.tool}.log"
    if options.backend:
        os.environ["RONDO_BACKEND"] = options.backend
    record = begin(options.record)
    entry = entry_of(record, options)
    queue = Queue(entry["left"], time.monotonic() + options.seconds, options.tool != "racecheck")
    memory = pathlib.Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None, prefix="rondo-gpu-tests-") as folder:
        os.environ.setdefault("RONDO_TEST_CODE", f"{folder}/code.db")  # the processes share what they compile
        run_all(options, queue)
    add(entry, queue)
    write(record, options.record)
    for name, why in entry["failed"].items():
        print(f"FAILED {name}: {why}")
    print(f"{options.tool}: {entry['passed']} passed, {entry['skipped']} skipped, {len(entry['failed'])} failed, {len(entry['left'])} left")
    return 1 if entry["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
