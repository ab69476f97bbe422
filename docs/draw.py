#!/usr/bin/env python3
"""Makes what of the documentation follows from the program. In the gallery of cells these are the pictures cells/CELL.svg, by
`rondo emit --stage graph`, and in its pages the tables of what cells cost, between the marks <!-- costs --> and <!-- end -->.
roofline.svg and floors.svg are the record's measured times beside what the machine allows, by `rondo report --picture`. why.md has
what `rondo why` prints of one problem, by model and as the record h200-why.json has it, between <!-- by model --> or
<!-- measured --> and <!-- end -->.

usage: draw.py RONDO [--check]

Times of the tables are those of the model on an H200, and beside them those of the record benchmarks/results/h200.json for the
same problem. With --check nothing is written: the exit status is 1 if a file differs. Needs no GPU, no database and Python 3.9.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap

DOCS = pathlib.Path(__file__).resolve().parent
ROOT, CELLS = DOCS.parent, DOCS / "cells"
BOARD = "h200"
RECORD = ROOT / f"benchmarks/results/{BOARD}.json"
OF_RECORD = ("roofline", "floors")  # pictures, as `rondo report --picture` names them
SHAPES = {True: {"B": 16, "T": 1024, "H": 1, "D": 768}, False: {"B": 8, "T": 4096, "H": 1, "D": 1536}}  # with a matrix; without
STATE_SHAPE = {"B": 1, "T": 4096, "H": 32, "D": 128}  # with a matrix as a state
KEYS = "[64"  # what the text of such a cell has; its picture has keys of two numbers
COSTS = re.compile(r"<!-- costs -->\n.*?<!-- end -->\n", re.DOTALL)
WHY_RECORD = ROOT / f"benchmarks/results/{BOARD}-why.json"
WHY = {"cell": "lstm", "shape": {"B": 16, "T": 1024, "H": 1, "D": 768}, "dtype": "bf16", "pass": "fw"}
WIDTH, INDENT = 118, " " * 11  # of what is shown of its lines
HEADING = "| cell | problem | strategy | forward | forward and backward | measured | saved for backward |\n|---|---|---|--:|--:|--:|--:|\n"


def run(rondo, *words, environment=None):
    done = subprocess.run([rondo, *words], capture_output=True, text=True, check=False, env=environment)
    if done.returncode != 0:
        sys.exit(f"draw: rondo {' '.join(map(str, words))}: {done.stderr.strip()}")
    return done.stdout


def text_of(cell):
    return (ROOT / f"cells/{cell}.cell").read_text(encoding="utf-8")


def picture(rondo, cell):
    if KEYS not in text_of(cell):
        return run(rondo, "emit", cell, "--stage", "graph")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / f"{cell}.cell"
        path.write_text(text_of(cell).replace(KEYS, "[2"), encoding="utf-8")
        return run(rondo, "emit", str(path), "--stage", "graph")


def checked(rondo, cell, shape, pass_):
    text = ",".join(f"{name}={extent}" for name, extent in shape.items())
    return json.loads(run(rondo, "check", cell, "--json", "--arch", BOARD, "--shape", text, "--pass", pass_))


def first_choice(found):
    """The strategy that the model takes, its milliseconds, and what the pass before it has to save."""
    legal = [one for one in found["strategies"] if one["legal"]]
    times = [(float(re.search(r"about ([0-9.]+) ms by model", one["choice"])[1]), one) for one in legal]
    took, best = min(times, key=lambda pair: pair[0])
    return best["name"], took, best["saved_bytes"]


def measured(record, cell, shape):
    """Forward, and forward and backward in ms of the record; empty without a row."""
    rows = {row["pass"]: row["median_ms"] for row in record["rows"] + record["dense"]
            if row["cell"] == cell and row["shape"] == shape and row["dtype"] == "bf16" and row.get("save") != "products"}
    return f"{rows['fw']:.2g}, {rows['fwbw']:.2g}" if {"fw", "fwbw"} <= set(rows) else ""


def costs_of(rondo, record, cells):
    table = HEADING
    for cell in cells:
        found = json.loads(run(rondo, "check", cell, "--json", "--arch", BOARD))
        shape = STATE_SHAPE if KEYS in text_of(cell) else SHAPES[found["structure"]["has_matrix"]]
        passes = {pass_: first_choice(checked(rondo, cell, shape, pass_)) for pass_ in ("fw", "fws", "bw")}
        strategy, forward, _ = passes["fw"]
        problem = " ".join(f"{name}={shape[name]}" for name in "BTHD" if name != "H" or shape[name] > 1)
        saved = passes["bw"][2] / (shape["B"] * shape["T"] * shape["H"] * shape["D"])
        table += (f"| {cell} | {problem} | {strategy} | {forward:.2g} | {passes['fws'][1] + passes['bw'][1]:.2g} | "
                  f"{measured(record, cell, shape)} | {saved:.3g} |\n")
    return table


def shown_lines(lines):
    wrapped = [part for line in lines for part in textwrap.wrap(line, WIDTH, subsequent_indent=INDENT, break_on_hyphens=False)]
    return "```\n" + "\n".join(wrapped) + "\n```\n"


def why_page(rondo, page):
    """The page with what the program and the record say now."""
    shape = ",".join(f"{name}={extent}" for name, extent in WHY["shape"].items())
    with tempfile.TemporaryDirectory() as folder:  # where no database is: the choice is what is shipped
        nobodys = {name: value for name, value in os.environ.items() if name != "RONDO_DB"} | {"XDG_DATA_HOME": folder}
        by_model = run(rondo, "why", WHY["cell"], "--shape", shape, "--arch", BOARD, environment=nobodys).splitlines()
    rows = json.loads(WHY_RECORD.read_text(encoding="utf-8"))["rows"]
    measured = next(row["text"] for row in rows if all(row[key] == WHY[key] for key in WHY))
    text = page.read_text(encoding="utf-8")
    for mark, lines in (("by model", by_model), ("measured", measured)):
        begin, end = f"<!-- {mark} -->\n", "<!-- end -->\n"
        if text.count(begin) != 1:
            sys.exit(f"draw: {page.name} has no single {begin.strip()}")
        before, after = text.split(begin)
        text = before + begin + shown_lines(lines) + end + after.split(end, 1)[1]
    return text


def files(rondo):
    """What every file is to hold, by path."""
    cells = sorted(path.stem for path in (ROOT / "cells").glob("*.cell"))
    made = {CELLS / f"{cell}.svg": picture(rondo, cell) for cell in cells}
    made |= {DOCS / f"{name}.svg": run(rondo, "report", "--record", RECORD, "--picture", name) for name in OF_RECORD}
    made[DOCS / "why.md"] = why_page(rondo, DOCS / "why.md")
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    shown = []
    for page in sorted(CELLS.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        of_page = re.findall(r"\]\((\w+)\.svg\)", text)
        shown += of_page
        if COSTS.search(text):
            made[page] = COSTS.sub(lambda _, names=of_page: f"<!-- costs -->\n{costs_of(rondo, record, names)}<!-- end -->\n", text)
    if sorted(shown) != cells:
        sys.exit(f"draw: each shipped cell is on one page; not so: {' '.join(sorted(set(shown) ^ set(cells)))}")
    return made


def main(words):
    if not words or words[0].startswith("-") or words[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    stale = [(path, text) for path, text in files(words[0]).items()
             if not path.exists() or path.read_text(encoding="utf-8") != text]
    if words[1:]:
        if stale:
            sys.exit(f"draw: out of date: {', '.join(path.name for path, _ in stale)}; run docs/draw.py RONDO")
        return
    for path, text in stale:
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path.name}")


if __name__ == "__main__":
    main(sys.argv[1:])
