#!/usr/bin/env python3
"""What resets, lengths and reversed time cost: passes with and without them, in one run. Needs a GPU.

usage: forms.py RONDO --out FILE [--only REGEX] [--budget 8s] [--turns 3] [--side 1] [--gpus 1] [--seconds N] [--commit HASH]

Rows that FILE has and that are not measured now stay in it; each says of what commit it is. FILE of another GPU is refused.

Each problem is tuned without forms, and again with each of FORMS where --budget is not 0s (the model chooses then). The
forms of a problem are timed in turns with the plain pass, and the least of the turns counts. A form is also timed with the
configuration of the plain pass, so that a search that found less does not count as the cost of the form. The test data set no reset and
all lengths to T, so that every form does the work of the plain pass. --side problems are measured side by side on each of
--gpus GPUs: what takes long is compiling, and programs take turns with a GPU (runtime/device/gpu_turns.h). After --seconds none is begun.
"""
import argparse
import re
import sys
import tempfile
import threading
import time as clock

from rondo_program import Gpus, begun, query, rondo, shared_workers, side_by_side, tried, until_stopped, write

PROBLEMS = (  # cell, shape
    ("lstm", "B=16,T=1024,H=1,D=768"),
    ("lstm", "B=16,T=1024,H=12,D=64"),
    ("lnlstm", "B=16,T=1024,H=1,D=768"),
    ("lnlstm", "B=16,T=1024,H=12,D=64"),
    ("gru", "B=16,T=1024,H=1,D=768"),
    ("blockgru", "B=16,T=512,H=8,D=64"),
    ("mingru", "B=8,T=4096,H=1,D=1536"),
    ("paragru", "B=8,T=2048,H=1,D=1024"),
)
FORMS = ("", "resets", "lengths", "resets,lengths", "reversed")


def measure(options, problem, database, gpu, side):
    """{form: {"ms", "strategy"}} or {form: {"error"}}, on the GPU that the environment `gpu` names, one of `side` that are measured now."""
    program, found = options.rondo, {}
    words = {form: [*problem, *(["--forms", form] if form else []), "--db", database] for form in FORMS}
    for form in FORMS:
        if options.budget == "0s":
            continue
        answer = tried(program, "tune", *words[form], "--budget", options.budget, *shared_workers(side), environment=gpu)
        if "error" in answer:
            found[form] = {"error": answer["error"]}
    for _ in range(options.turns):
        of_plain = []
        for form in FORMS:
            if "error" in found.get(form, {}):
                continue
            answer = tried(program, "bench", *words[form], environment=gpu)
            if not answer.get("rows"):
                found[form] = {"error": answer.get("error", "no row")}
                continue
            of_plain = of_plain or fixed(answer["rows"][0])
            rows = answer["rows"] + (tried(program, "bench", *words[form], *of_plain, environment=gpu).get("rows", []) if form else [])
            row = min(rows, key=lambda each: each["median_ms"])
            if row["median_ms"] <= found.get(form, {}).get("ms", row["median_ms"]):
                found[form] = {"ms": row["median_ms"], "strategy": row["strategy"]}
    return {form: found[form] for form in FORMS}


def fixed(row):
    """Words that ask for the configuration of a row of `bench`. A form that it is not legal for gives no row."""
    return ["--strategy", row["strategy"], *(word for name, value in row["parameters"].items() for word in ("--param", f"{name}={value}"))]


def put(record, new):
    """In the place of the row of the same problem, or last."""
    same = [i for i, row in enumerate(record["rows"]) if all(row[key] == new[key] for key in ("cell", "shape", "dtype", "pass"))]
    for i in same:
        record["rows"][i] = new
    if not same:
        record["rows"].append(new)


def options_of():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rondo")
    parser.add_argument("--out", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--budget", default="8s")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--side", type=int, default=1)
    parser.add_argument("--gpus", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--commit", default="")
    options = parser.parse_args()
    options.end = clock.monotonic() + options.seconds
    return options


def main():
    options = options_of()
    record = begun(options.out, {"device": query("name")[0]})
    for row in record["rows"]:  # of a record that had one commit for all
        row.setdefault("commit", record.get("commit", "unknown"))
    record.pop("commit", None)
    record["budget"] = options.budget
    wanted = [(cell, shape, which) for cell, shape in PROBLEMS for which in ("fw", "bw") if re.search(options.only, f"{cell} {shape} {which}")]
    gpus, lock = Gpus(options.gpus, options.side), threading.Lock()
    gpus.check_alike()
    with tempfile.TemporaryDirectory() as folder:
        database = f"{folder}/forms.db"
        rondo(options.rondo, "calibrate", "--db", database)

        def one(asked):
            cell, shape, which = asked
            if clock.monotonic() >= options.end:
                return
            with gpus.take() as gpu:
                found = measure(options, [cell, "--shape", shape, "--dtype", "bf16", "--pass", which], database, gpu, gpus.slots())
            with lock:
                put(record, {"cell": cell, "shape": shape, "dtype": "bf16", "pass": which, "commit": options.commit, "forms": found})
                write(record, options.out)
                print(cell, shape, which, *(f"{form or 'plain'} {result.get('ms', result.get('error'))}"
                                            for form, result in found.items()), flush=True)

        side_by_side(gpus.slots(), one, wanted)
    return 0


if __name__ == "__main__":
    sys.exit(until_stopped(main))
