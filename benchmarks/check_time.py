#!/usr/bin/env python3
"""Seconds of processor time that `rondo check` takes for each cell, on one core: check_time.py RONDO CELL ...

CELL is the name of a shipped cell or a file. Options of `rondo check` may follow after `--`.
"""
import os
import subprocess
import sys


def seconds(program, cell, options):
    """Of the user and the system together: what waits for other processes does not count."""
    started = subprocess.Popen([program, "check", cell, *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(started.pid, 0)
    return used.ru_utime + used.ru_stime, os.waitstatus_to_exitcode(status)


def main():
    words = sys.argv[1:]
    options = words[words.index("--") + 1 :] if "--" in words else []
    program, *cells = words[: words.index("--")] if "--" in words else words
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    for cell in cells:
        took, status = seconds(program, cell, options)
        print(f"{os.path.basename(cell):28} {took:7.2f} s  exit {status}", flush=True)


if __name__ == "__main__":
    main()
