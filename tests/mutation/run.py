#!/usr/bin/env python3
"""Plants the faults of faults.py, one at a time, and says what finds them.

    tests/mutation/run.py [--only REGEX] [--jobs N] [--timeout SECONDS] [--list]

Builds `rondo`, or the tests that find the chosen faults, in build/mutation. For each fault it changes one file, builds,
runs the fault's commands in three types, and puts the file back (after Ctrl-C, too). A fault is found in a type if `rondo verify` ends with the status for wrong
results and names a tensor or a fault of the simulator; a crash, an error or a time-out is none. Every command must pass
before faults are planted. What was found goes to score.json beside this script, after each fault; the test `mutation`
reads it. Neither a GPU nor CUDA is needed; for the package rondo the environment of `tools/setup python` is.
"""
import argparse
import concurrent.futures
import contextlib
import hashlib
import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = ROOT / "build" / "mutation"
SCORE = HERE / "score.json"
WRONG = 8  # exit status for results that differ (docs/command-line.md)

sys.path.insert(0, str(HERE))
import faults as planted  # noqa: E402 (lies beside this script)


def command(case, storage):
    """The words of one run of a case, after the program."""
    words = shlex.split(planted.CASES[case])
    arch = [] if "--arch" in words else ["--arch", "sm_90"]
    return ["verify", *words, "--dtype", storage, "--simulate", "--no-gpu", "--no-db", *arch, "--seed", "1"]


def digest(fault):
    """Changes with the fault or with what runs on it, so that a record of another one is not taken for its own."""
    parts = [fault["file"], fault["old"], fault["new"], fault["test"], [planted.CASES[c] for c in fault["cases"]]]
    for cells in (planted.ROWS, planted.DRAWS, planted.HEADS, planted.OVER_HEAD, planted.SUMS, planted.AHEAD, planted.ALONG):
        if any(cells in planted.CASES[case] for case in fault["cases"]):
            parts.append((ROOT / cells).read_text(encoding="utf-8"))
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def runs_of(fault):
    """[(type, case)]; one ("test", program and filter) where a test finds the fault."""
    if fault["test"]:
        return [("test", fault["test"])]
    return [(storage, case) for storage in planted.TYPES for case in fault["cases"]]


def finding_of_verify(status, text):
    """What a run of `rondo verify` found, or None: the first wrong tensor and the first fault of the simulator."""
    if status != WRONG:
        return None
    found = {}
    tensor = re.search(r"^  (\w+): (.*): WRONG$", text, re.M)
    if tensor:
        found["tensor"] = tensor.group(1)
        found["says"] = tensor.group(2)
    fault = re.search(r"^  fault: (.*)$", text, re.M)
    if fault:
        found["fault"] = fault.group(1)[:200]
    return found or None


def finding_of_test(status, text):
    """The first test or check that failed, or None. A program that died did not end with a summary of what failed."""
    failed = re.search(r"^\[  FAILED  \] (\w+\.\w+)", text, re.M)
    if status == 1 and failed and " FAILED TEST" in text:
        return {"test": failed.group(1)}
    failed = re.search(r"^FAILED \S*?(\w+\.py::\S+)", text, re.M)
    if status == 1 and failed and re.search(r"^\d+ failed", text, re.M):
        return {"test": failed.group(1)}
    failed = re.search(r"^\S*?(\w+\.[ch]):\d+: (.*)$", text, re.M)  # of a test in C (tests/capi/check.h)
    counted = re.search(r"^\d+ checks, [1-9]\d* failed$", text, re.M)
    return {"test": f"{failed.group(1)}: {failed.group(2)[:120]}"} if status == 1 and failed and counted else None


def words_of_test(what):
    """Program and words: a filter of its tests, or what a test in C is given, settings and files of the build."""
    program, *words = what.split()
    if program == "python":
        return [sys.executable, str(ROOT / "tests/python/run.py"), str(BUILD), "python", "--tb=no", "-m", "not long",
                "-k", " ".join(words)]
    if program.startswith("capi_"):
        settings = [word for word in words if "=" in word]
        return ["env", *settings, str(BUILD / program), *(str(BUILD / word) for word in words if word not in settings)]
    return [str(BUILD / program), *(f"--gtest_filter={word}" for word in words)]


class Runner:
    def __init__(self, jobs, timeout, chosen):
        self.jobs = jobs
        self.timeout = timeout
        programs = {fault["test"].split()[0] if fault["test"] else "rondo" for fault in chosen}
        if any(program.startswith("capi_") for program in programs):
            programs.add("fake_cuda")
        if "python" in programs:
            programs |= {"rondo", "rondo_shared", "fake_cuda"}
        self.programs = sorted(programs - {"python"})
        self.compiles_shim = threading.Lock()  # what runs the package's tests does, in one folder

    def build(self, log):
        with open(log, "w", encoding="utf-8") as out:
            return subprocess.run(["ninja", "-C", str(BUILD), f"-j{self.jobs}", *self.programs], stdout=out,
                                  stderr=subprocess.STDOUT, check=False).returncode == 0

    def configure(self, chosen):
        # Files of one folder may not go together in every grouping, so whole folders are taken apart; but the simulator
        # must stay fast.
        alone = sorted({f["file"] if "/simulator/" in f["file"] else str(pathlib.PurePosixPath(f["file"]).parent)
                        for f in chosen})
        subprocess.run(["cmake", "-G", "Ninja", "-S", str(ROOT), "-B", str(BUILD), "-DCMAKE_BUILD_TYPE=Release",
                        "-DRONDO_UNITY=ON", f"-DRONDO_ALONE={';'.join(alone)}",
                        f"-DCMAKE_PROJECT_rondo_INCLUDE={HERE / 'alone.cmake'}"],
                       check=True, stdout=subprocess.DEVNULL)

    def start(self, run):
        """(status, text) of one run; status None after a time-out."""
        kind, what = run
        words = words_of_test(what) if kind == "test" else [str(BUILD / "rondo"), *command(what, kind)]
        alone = self.compiles_shim if what.startswith("python ") else contextlib.nullcontext()
        try:
            with alone:
                done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, errors="replace", check=False,
                                      timeout=self.timeout)
        except subprocess.TimeoutExpired:
            return None, f"no end after {self.timeout} s"
        return done.returncode, done.stdout + done.stderr

    def start_all(self, runs):
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            return list(zip(runs, pool.map(self.start, runs)))

    def check_sound(self, chosen):
        """Without a fault every run must pass: else finding one says nothing."""
        runs = list(dict.fromkeys(run for fault in chosen for run in runs_of(fault)))
        bad = [f"{kind}: {what}: status {status}: {text.strip().splitlines()[-1:]}"
               for (kind, what), (status, text) in self.start_all(runs)
               if status != 0 or "0 tests from 0" in text or (what.startswith("python ") and " passed" not in text)]
        if bad:
            sys.exit("these runs do not pass without a fault:\n  " + "\n  ".join(bad))
        print(f"{len(runs)} runs pass without a fault", flush=True)

    def plant(self, fault):
        """{type: finding}, with {"missed": why} for what did not find it."""
        path = ROOT / fault["file"]
        original = path.read_text(encoding="utf-8")
        if original.count(fault["old"]) != 1:
            return {"all": {"missed": f"the text stands {original.count(fault['old'])} times in {fault['file']}"}}
        try:
            path.write_text(original.replace(fault["old"], fault["new"]), encoding="utf-8")
            log = BUILD / "fault.log"
            if not self.build(log):
                errors = [line for line in log.read_text(errors="replace").splitlines() if "error" in line]
                return {"all": {"missed": "it does not compile: " + " ".join(errors[:1])}}
            found = {}
            for (kind, what), (status, text) in self.start_all(runs_of(fault)):
                finding = (finding_of_test if kind == "test" else finding_of_verify)(status, text)
                last = (text.strip().splitlines() or [""])[-1]
                now = {"case": what, **finding} if finding else {"missed": f"{what}: status {status}: {last[:160]}"}
                if kind not in found or "missed" in found[kind]:  # any of its cases may find it
                    found[kind] = now
            return found
        finally:
            path.write_text(original, encoding="utf-8")


def load_score(path=SCORE):
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"faults": {}}


def save_score(score):
    """In the order of the list; what the list no longer has goes."""
    names = [fault["name"] for fault in planted.FAULTS]
    score["faults"] = {name: score["faults"][name] for name in names if name in score["faults"]}
    temporary = SCORE.with_suffix(".tmp")
    temporary.write_text(json.dumps(score, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    temporary.rename(SCORE)


def summary(found):
    parts = []
    for kind, finding in found.items():
        what = finding.get("missed") and "MISSED (" + finding["missed"] + ")"
        parts.append(f"{kind}: {what or finding.get('tensor') or finding.get('test') or finding.get('fault')}")
    return "; ".join(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="REGEX", help="faults whose name it matches")
    parser.add_argument("--new", action="store_true", help="only faults that score.json does not have as found")
    parser.add_argument("--list", action="store_true", help="print the faults and their commands, and do nothing")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at once (default: all cores)")
    parser.add_argument("--timeout", type=float, default=300, help="seconds of one run (default: 300)")
    options = parser.parse_args()
    score = load_score()

    def is_found(fault):
        known = score["faults"].get(fault["name"], {})
        return known.get("digest") == digest(fault) and known["found"] and all("missed" not in f for f in known["found"].values())

    chosen = [f for f in planted.FAULTS if re.search(options.only, f["name"]) and not (options.new and is_found(f))]
    if options.list:
        for fault in chosen:
            print(f"{fault['name']}\n  {fault['file']}")
            for kind, what in runs_of(fault):
                print("  " + (shlex.join(words_of_test(what)) if kind == "test" else "rondo " + " ".join(command(what, kind))))
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # as Ctrl-C: files are put back
    runner = Runner(options.jobs, options.timeout, chosen)
    runner.configure(chosen)
    print("building", flush=True)
    if not runner.build(BUILD / "first.log"):
        sys.exit(f"the build failed: see {BUILD / 'first.log'}")
    runner.check_sound(chosen)
    begin = time.monotonic()
    missed = 0
    for number, fault in enumerate(chosen, 1):
        found = runner.plant(fault)
        missed += any("missed" in finding for finding in found.values())
        score["faults"][fault["name"]] = {"file": fault["file"], "digest": digest(fault), "found": found}
        save_score(score)
        left = (time.monotonic() - begin) / number * (len(chosen) - number)
        print(f"{number:3}/{len(chosen)} {left / 60:4.0f} min left  {fault['name']}\n      {summary(found)}", flush=True)
    runner.build(BUILD / "last.log")
    print(f"{len(chosen) - missed} of {len(chosen)} faults found")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
