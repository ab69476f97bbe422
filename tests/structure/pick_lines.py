"""Picks lines of code at random, to ask a reader of README.md and docs/overview.md in which folder each one lies:

    tests/structure/pick_lines.py SEED [COUNT]

Prints COUNT (10) lines with the two around each, numbered, then the answers. Short lines, includes, braces and comments
are left out.
"""
import pathlib
import random
import sys

root = pathlib.Path(__file__).resolve().parents[2]
chooser = random.Random(int(sys.argv[1]))
count = int(sys.argv[2]) if len(sys.argv) > 2 else 10
places = []
for top in ("compiler", "tuning_db", "runtime", "engine", "tuner", "tools"):
    for path in sorted((root / top).rglob("*.cpp")):
        lines = path.read_text().split("\n")
        for number, line in enumerate(lines):
            text = line.strip()
            if len(text) > 30 and not text.startswith(("//", "#", "}", "using", "namespace")):
                places.append((path.relative_to(root), number, lines))
answers = []
for number, (path, line, lines) in enumerate(chooser.sample(places, count), 1):
    print(f"{number}.\n" + "\n".join("    " + text for text in lines[max(0, line - 1):line + 2]))
    answers.append(f"{number} {path.parent}")
print("answers:", "; ".join(answers))
