#!/usr/bin/env python3
"""Record of what verification said on a GPU.

usage: verification.py OUT.json DEVICE DRIVER COMMIT:test_gpu.log ... [--tunes COMMIT:FILE.json] [--ready COMMIT:FILE.json]

Each log is what test_gpu printed, in any number of shards one after the other. FILE.json of --tunes holds a list of [cell, shape,
pass, dtype, seed, exit status, median ms of the winner or null, candidates found wrong] and that of --ready the times until a
kernel is ready; both are taken over as they are."""
import json
import pathlib
import re
import sys


def counts(log):
    """Of the tests of a log: passed, failed, skipped, and cut off by a time limit."""
    lines = {"OK": "       OK ", "FAILED": "  FAILED  ", "SKIPPED": "  SKIPPED "}
    named = {kind: set(re.findall(rf"^\[{text}\] ([^\s,]+).*\(\d+ ms\)$", log, re.M)) for kind, text in lines.items()}
    started = set(re.findall(r"^\[ RUN      \] (\S+)", log, re.M))
    said = [sum(map(int, numbers)) for numbers in zip(*re.findall(r"^(\d+) compared, (\d+) not finite, (\d+) ill-conditioned", log, re.M))]
    result = {"started": len(started), "passed": len(named["OK"]), "failed": sorted(named["FAILED"]), "skipped": len(named["SKIPPED"]),
              "cut_off": len(started - named["OK"] - named["FAILED"] - named["SKIPPED"])}
    if said:
        result["verifications"] = dict(zip(("compared", "not_finite", "ill_conditioned"), said))
    return result


def main():
    arguments = sys.argv[1:]
    if len(arguments) < 4:
        sys.exit(__doc__)
    out, device, driver, *rest = arguments
    record = {"what": "tests on the GPU; tuning with several seeds; ms until a kernel is ready (median, least)", "device": device, "driver": driver, "tests": []}
    while rest:
        key = rest.pop(0)
        value = rest.pop(0) if key.startswith("--") else key
        commit, path = value.split(":", 1)
        text = pathlib.Path(path).read_text(encoding="utf-8")
        if key in ("--tunes", "--ready"):
            record[key[2:]] = {"commit": commit, "rows": json.loads(text)}
        else:
            record["tests"].append({"commit": commit} | counts(text))
    pathlib.Path(out).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
