#!/usr/bin/env python3
"""Runs the tests of the Python package on a GPU (tests/python/gpu), by pytest in several processes, and records what passed.

usage: python_tests.py LIBRONDO.so OUT.json [--seconds N] [--processes 12] [--device cuda] [--only WORDS] [--commit HASH]

The tests are dealt out to the processes, which share a tuning database, so that a kernel is compiled once. --only is pytest's -k.
pytest and what it needs may lie in a folder `site` beside this tree, on a machine without them.
Status: 1 if a test failed, was not run or, on a GPU, was skipped, 4 without a GPU or pytest."""
import argparse
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as xml

from rondo_program import query, until_stopped, write

ROOT = pathlib.Path(__file__).resolve().parent.parent
TESTS = "tests/python/gpu"
MISSING = 4
# Seconds of tests, with kernels to compile, by what is in their names; of others about one.
LONG = {"is_one_graph": 26, "two_processes": 25, "captured": 20, "compiled|sizes_may_change|export": 12, "graph": 8, "checks": 5, "cells": 4, "parity": 4}


def environment_of(options, folder):
    paths = [str(ROOT / "python"), *([str(ROOT / "site")] if (ROOT / "site").is_dir() else [])]
    paths += [os.environ["PYTHONPATH"]] if os.environ.get("PYTHONPATH") else []
    return os.environ | {"RONDO_LIBRARY": str(options.library.resolve()), "RONDO_TEST_DEVICE": options.device, "RONDO_DB": f"{folder}/tuning.db",
                         "PYTHONPATH": os.pathsep.join(paths), "PYTHONDONTWRITEBYTECODE": "1",
                         "PYTHONUNBUFFERED": "1", "OMP_NUM_THREADS": "2"}


def pytest(*words):
    """With this tree as the root of names: a project around it that configures pytest would be taken otherwise."""
    return [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", str(ROOT), *words]


def collected(options, environment):
    """Names of all tests."""
    only = ["-k", options.only] if options.only else []
    done = subprocess.run(pytest("-q", "--collect-only", *only, TESTS), cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    names = [line for line in done.stdout.splitlines() if "::" in line]
    if not names:
        print(done.stdout[-3000:], done.stderr[-3000:], file=sys.stderr)
    return names


def seconds_of(name):
    """About what a test takes, with kernels to compile: what one process does is to end when that of another does."""
    return next((seconds for words, seconds in LONG.items() if re.search(words, name)), 1)


def dealt(names, processes):
    """The tests of each process: the longest first, each to whom has the least to do."""
    hands = [[0, number, []] for number in range(min(processes, len(names)))]
    for name in sorted(names, key=lambda name: -seconds_of(name)):
        hand = min(hands)
        hand[0] += seconds_of(name)
        hand[2].append(name)
    return [hand[2] for hand in hands]


def start(names, number, folder, environment):
    listed = pathlib.Path(folder, f"{number}.txt")
    listed.write_text("\n".join(names) + "\n")
    log = open(f"{folder}/{number}.log", "w")  # noqa: SIM115: the process writes to it
    return subprocess.Popen(pytest("-v", "--tb=short", f"--junitxml={folder}/{number}.xml", f"@{listed}"), cwd=ROOT, env=environment, stdout=log,
                            stderr=subprocess.STDOUT)


def results(folder):
    """Of each test: its state, seconds, and what it said."""
    found = {}
    for path in sorted(pathlib.Path(folder).glob("*.xml")):
        for case in xml.parse(path).getroot().iter("testcase"):
            name = f"{case.get('classname', '').rpartition('.')[2]}::{case.get('name')}"
            said = {child.tag: (child.get("message") or child.text or "")[:300] for child in case if child.tag in ("failure", "error", "skipped")}
            state = next((tag for tag in ("failure", "error", "skipped") if tag in said), "passed")
            found[name] = {"state": "failed" if state in ("failure", "error") else state, "seconds": float(case.get("time", 0)),
                           **({"said": said[state]} if state in said else {})}
    return found | {name: one for name, one in ended_results(folder).items() if name not in found}


def ended_results(folder):
    """The same of processes that were ended, from what they had printed."""
    found = {}
    for log in sorted(pathlib.Path(folder).glob("*.log")):
        if not log.with_suffix(".xml").exists():
            for file, name, state in re.findall(r"^\S*?(\w+)\.py::(.+?) (PASSED|FAILED|ERROR|SKIPPED)", log.read_text(errors="replace"), re.MULTILINE):
                state = {"PASSED": "passed", "SKIPPED": "skipped"}.get(state, "failed")
                found[f"{file}::{name}"] = {"state": state, "seconds": 0.0, "said": "its process was ended"}
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", type=pathlib.Path)
    parser.add_argument("out")
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--processes", type=int, default=12)
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--only", default="")
    parser.add_argument("--commit", default="unknown")
    options = parser.parse_args()
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        environment = environment_of(options, folder)
        if subprocess.run([sys.executable, "-c", "import pytest, torch"], env=environment, check=False).returncode:
            print(f"python_tests: needs pytest and PyTorch of {sys.executable}", file=sys.stderr)
            return MISSING
        names = collected(options, environment)
        started = [start(hand, number, folder, environment) for number, hand in enumerate(dealt(names, options.processes))]
        for process in started:
            try:
                process.wait(max(1, options.seconds - (time.monotonic() - begin)))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        found = results(folder)
        for log in sorted(pathlib.Path(folder).glob("*.log")):
            text = log.read_text(errors="replace")
            if log.with_suffix(".xml").exists():  # else the process was ended: what it said last says where
                text = text[text.find("=== FAILURES"):] if "=== FAILURES" in text else ""
            if text.strip():
                print(f"--- {log.name} ---\n{text[-6000:]}")
    counts = {state: sum(one["state"] == state for one in found.values()) for state in ("passed", "failed", "skipped")}
    counts["not run"] = len(names) - len(found)
    gpu = query("name,driver_version") if options.device == "cuda" else ["no GPU", ""]
    record = {"device": gpu[0], "driver": gpu[1], "commit": options.commit, "date": datetime.date.today().isoformat(),
              "seconds": round(time.monotonic() - begin, 1), "counts": counts,
              "failed": {name: one for name, one in found.items() if one["state"] == "failed"},
              "skipped": sorted({one.get("said", "") for one in found.values() if one["state"] == "skipped"}),
              "slowest": sorted(((name, one["seconds"]) for name, one in found.items()), key=lambda pair: -pair[1])[:10],
              "files": {file: sum(one["state"] == "passed" for name, one in found.items() if name.startswith(file + "::"))
                        for file in sorted({name.split("::")[0] for name in found})}}
    write(record, options.out)
    print(f"python_tests: {counts} in {record['seconds']} s")
    for name, one in record["failed"].items():
        print(f"python_tests: FAILED {name}: {one['said'].splitlines()[0][:200] if one['said'] else ''}")
    # What the CPU leaves to a GPU is skipped there alone.
    left_out = options.device == "cuda" and counts["skipped"]
    return 1 if counts["failed"] or counts["not run"] or left_out or not names else 0


if __name__ == "__main__":
    sys.exit(until_stopped(main))
