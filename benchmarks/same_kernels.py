#!/usr/bin/env python3
"""Says whether the kernels of a record's rows are still those that were measured. Needs no GPU.

usage: same_kernels.py RONDO-OF-THE-RECORD RONDO RECORD.json [--commit HASH] [--also COMMIT=RONDO ...] [--arch sm_90]

RONDO-OF-THE-RECORD was built at the record's commit, RONDO at the commit HASH; rows that were measured at a COMMIT of --also (its
first digits) are compared with the program that was built there. For every row of both tables each prints the CUDA
text of the recorded configuration. Texts that differ in more than comments, spaces and names of RENAMED are other kernels, and
their rows are to be measured again. Rows that say they were measured at HASH are not compared. RECORD.json then holds under
"same_kernels" what was found, which the pages repeat.

Ends with 1 if a row has another kernel, which the last lines name."""
import argparse
import json
import pathlib
import re
import subprocess
import sys

import record as records
from parameter_names import completed, current
from rondo_program import write


# Names in texts as they were, and as they are. A number may follow that tells values of one name apart.
RENAMED = {"kFirstLoader": "kFirstProducer", "kFirstWriter": "kFirstStoreThread", "number": "head_value", "number_line": "head_value_line",
           "number_step": "head_value_step", "numbers_at": "head_values_at"}
OLD_NAME = re.compile(rf"\b({'|'.join(RENAMED)})(?=(_\d+)*\b)")


def text_of(program, arguments):
    """The text without its comments, with today's names; of a program that refuses, what it says."""
    done = subprocess.run([program, "emit", *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return f"status {done.returncode}: {done.stderr.strip()}"
    lines = (" ".join(line.split("  // ")[0].split()) for line in done.stdout.splitlines())
    return OLD_NAME.sub(lambda found: RENAMED[found[1]], "\n".join(line for line in lines if not line.startswith("//")))


def rows_of(record):
    """(name, arguments of emit, commit) of every row, in the record's order; arguments with what was added to the parameters
    since, and without; the commit at which the row was measured, which is that of the record where the row names none."""
    for section in ("rows", "dense"):
        for row in record[section]:
            if row["pass"] == "fwbw":  # the sum of two others
                continue
            problem = row | row["shape"]
            choices = [records.chosen(record, section, problem, row["pass"], names) for names in (completed, current)]
            yield (records.problem_text(problem), [[*records.problem_arguments(problem), "--no-db", *choice] for choice in choices],
                   row.get("commit", record.get("commit")))


def compare(old_of, new, record, commit, arch):
    """`old_of`: the program of a commit."""
    changed, refused = [], []
    count = 0
    for name, (arguments, as_recorded), measured_at in rows_of(record):
        count += 1
        if measured_at == commit:
            continue
        old = old_of(measured_at)
        before, after = (text_of(program, [*arguments, "--arch", arch]) for program in (old, new))
        if before.startswith("status "):  # it knows nothing of what was added after it
            before = text_of(old, [*as_recorded, "--arch", arch])
        said = [text for text in (before, after) if text.startswith("status ")]
        if said:
            refused.append(f"{name}: {said[-1]}")
        elif before != after:
            changed.append(name)
    return count, changed, refused


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("record")
    parser.add_argument("--commit", default="unknown")
    parser.add_argument("--also", action="append", default=[], metavar="COMMIT=RONDO")
    parser.add_argument("--arch", default="sm_90")
    options = parser.parse_args()
    record = json.loads(pathlib.Path(options.record).read_text(encoding="utf-8"))
    others = dict(each.split("=", 1) for each in options.also)

    def old_of(commit):
        return next((program for at, program in others.items() if commit and commit.startswith(at)), options.old)
    count, changed, refused = compare(old_of, options.new, record, options.commit, options.arch)
    record["same_kernels"] = {"commit": options.commit, "rows": count, "changed": changed, "refused": refused}
    write(record, options.record)
    for name in changed:
        print(f"{name}: another kernel")
    for said in refused:
        print(said)
    print(f"{count - len(changed) - len(refused)} of {count} rows have the kernels that were measured")
    return 1 if changed or refused else 0


if __name__ == "__main__":
    sys.exit(main())
