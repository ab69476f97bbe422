#!/usr/bin/env python3
"""Measures with the `rondo` program what benchmarks/*_rows.json names, and writes one record. Needs a GPU.

usage: record.py RONDO ROWS.json RECORD.json DATABASE [--budget 20s] [--stages rows,dense,parts,sweeps,ready,exhaustive]

  rows        tunes every problem and times it in a second process, which finds kernel and choice in the database
  dense       the same for cells with matrices, from dense_rows.json beside the table
  parts       what a step of each dense row is made of: timed whole and without one part after the other, with the choice that the
              database has
  sweeps      how time depends on T, D and B, from the same file
  ready       from the parsed cell to a loaded kernel: compiled cold, and found in the database, each in its own process
  exhaustive  what the search chose, timed beside the best of every configuration there is
  saved       tunes and times the training passes of the dense rows with products saved in between
  peers       times PyTorch's layers (cuDNN) on the dense rows that they compute; needs PyTorch
  again       times the rows there are once more, each with the configuration that the record has for it: no search
  memory      what a training step of each dense row takes beside its tensors, with products multiplied again and with
              products saved, and FlashRNN's by count. Needs no GPU: alone, it adds to the record there is

The record holds device, driver, compiler, commit and date, and a section for each stage. Sections of stages that are not
run, and rows outside --only, stay if the record there is of the same device and compiler; what is of another commit says so. Exits non-zero if anything cannot be
measured; what was measured before is in the record.
"""
import argparse
import datetime
import json
import os
import re
import subprocess
import sys
import tempfile

from parameter_names import completed
from rondo_program import WrongResults, query, rondo, write

BY_COUNT = 8  # FlashRNN's batches are multiples of it
WITHOUT_GPU = {"memory"}
HEAD = ("device", "compiler")
READY_PROCESSES = 3  # the first one of all may have to read NVRTC from the disk


def compiler_version(findings):
    """"NVRTC 13.0": where the library lies is the machine's business."""
    found = next((f["found"] for f in findings if f["subject"] == "NVRTC"), "")
    version = re.match(r"\d+(\.\d+)*", found)
    return f"NVRTC {version.group(0)}" if version else "unknown"


def begin(program, record_file):
    """A new record, with the sections of the one that is there if it was measured on the same things."""
    device, driver = query("name,driver_version")
    record = {
        "device": device,
        "driver": driver,
        "compiler": compiler_version(rondo(program, "doctor")["findings"]),
        "commit": os.environ.get("RONDO_COMMIT", "unknown"),
        "date": datetime.date.today().isoformat(),
        "timing": "median of 21 samples by CUDA events; a sample is back-to-back launches over rotating inputs for 2 ms",
    }
    try:
        with open(record_file, encoding="utf-8") as file:
            before = json.load(file)
    except FileNotFoundError:
        return record
    if any(before.get(key) != record[key] for key in HEAD):
        return record
    if before["commit"] != record["commit"]:
        stamp(before)
    return before | record


def stamp(record):
    """Says with each part of a record what commit it is of; parts that say so already stay."""
    for section in record.values():
        parts = [section] if isinstance(section, dict) else section if isinstance(section, list) else []
        for part in parts:
            part.setdefault("commit", record["commit"])


def existing(record_file):
    """The record that stages without a GPU add to."""
    try:
        with open(record_file, encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        raise SystemExit(f"record: there is no {record_file}; run the stages that measure first") from None


def problem_arguments(row):
    shape = f"B={row['B']},T={row['T']},H={row.get('H', 1)},D={row['D']}"
    return [row["cell"], "--shape", shape, "--dtype", row["dtype"], "--pass", row["pass"]]


def problem_text(row):
    return f"{row['cell']} B={row['B']} T={row['T']} D={row['D']} {row['dtype']} {row['pass']}"


# --- rows ---

def add_rows(rows, row, timed):
    by_pass = {r["pass"]: r for r in timed["rows"]}
    for name, r in by_pass.items():
        r["target_ms"] = row["target"].get(name)
        r["peer_ms"] = row["peer"].get(name)
        r["peer"] = row["peer_name"]
        r["copy_bytes_per_s"] = timed["copy_bytes_per_s"]
        rows.append(r)
    if "fwbw" in row["target"]:
        both = dict(by_pass["fws"])
        both.update({
            "pass": "fwbw",
            "median_ms": by_pass["fws"]["median_ms"] + by_pass["bw"]["median_ms"],
            "bytes": by_pass["fws"]["bytes"] + by_pass["bw"]["bytes"],
            "parameters": {"fws": by_pass["fws"]["parameters"], "bw": by_pass["bw"]["parameters"]},
            "spread": max(by_pass["fws"]["spread"], by_pass["bw"]["spread"]),
            "target_ms": row["target"]["fwbw"],
            "peer_ms": row["peer"].get("fwbw"),
        })
        both["share_of_copy_bandwidth"] = both["bytes"] / (both["median_ms"] * 1e-3) / timed["copy_bytes_per_s"]
        rows.append(both)


def tuning_summary(row, tuned):
    """How long tuning took and how much it tried, without the table of trials."""
    keep = ("tried", "total", "seconds", "end")
    passes = [{"pass": run["problem"]["pass"]} | {k: run[k] for k in keep} for run in tuned["passes"]]
    return {"cell": row["cell"], "B": row["B"], "T": row["T"], "D": row["D"], "dtype": row["dtype"], "passes": passes}


def measure_rows(record, table, options):
    tune_and_time(record, table, options, "rows")


def dense_table(options):
    with open(os.path.join(os.path.dirname(options.rows), "dense_rows.json"), encoding="utf-8") as file:
        return json.load(file)


def measure_dense(record, _, options):
    """Rows of cells with matrices, kept apart: their tuning comes on top of the other rows'."""
    tune_and_time(record, dense_table(options), options, "dense")


def wanted(table, options):
    return [row for row in table["rows"] if re.search(options.only, problem_text(row | {"pass": ""}))]


def same_problem(r, row):
    shape = {axis: row.get(axis, 1) for axis in ("B", "T", "H", "D")}
    # Parts of the first records have no dtype: all were bf16.
    return (r["cell"], r["shape"], r.get("dtype", "bf16")) == (row["cell"], shape, row["dtype"])


def chosen(record, section, row, which, names=completed):
    """Options that name the recorded choice for a row; none where it was not measured. `names`: completed, or current for
    a program that does not know what was added since."""
    for r in record.get(section, []):
        if same_problem(r, row) and r["pass"] == which:
            parameters = names(r["strategy"], r["parameters"])
            return ["--strategy", r["strategy"], *(word for name, value in parameters.items() for word in ("--param", f"{name}={value}"))]
    return []


def put_rows(record, section, table, row, timed):
    """The row's new measurements take the place of what the record has for it; the order stays the table's."""
    new = []
    add_rows(new, row, timed)
    kept = record.get(section, [])
    ordered = []
    for each in table["rows"]:
        ordered += new if each is row else [r for r in kept if same_problem(r, each)]
    record[section] = ordered
    record["copy_bytes_per_s"] = max(r["copy_bytes_per_s"] for r in new)


def keep_others(record, section, replaced):
    """Starts a section of rows with those that are not measured now; each says of what commit it is."""
    before = record.get(section, {"rows": []})
    old = before.get("commit", record["commit"])
    kept = [r if old == record["commit"] else {"commit": old} | r for r in before["rows"] if not replaced(r)]
    record[section] = {"commit": record["commit"], "rows": kept}


def measure_again(record, table, options):
    for section, rows in (("rows", table), ("dense", dense_table(options))):
        todo = [row for row in wanted(rows, options) if any(same_problem(r, row) for r in record.get(section, []))]
        for row in todo:
            timed = {"rows": []}
            for which in ("fw", "fws", "bw"):
                once = rondo(options.rondo, "bench", *problem_arguments(row | {"pass": which}), "--no-db",
                             *chosen(record, section, row, which))
                timed["rows"] += once["rows"]
                timed["copy_bytes_per_s"] = once["copy_bytes_per_s"]
            put_rows(record, section, rows, row, timed)
            write(record, options.record)
            print(f"{problem_text(row | {'pass': ''})} again: { {r['pass']: round(r['median_ms'], 4) for r in timed['rows']} }", flush=True)


def measure_parts(record, _, options):
    """What a step of the dense rows is made of, by leaving parts out of the configurations that the record has for them."""
    rows = wanted(dense_table(options), options)
    keep_others(record, "parts", lambda r: any(same_problem(r, row) for row in rows))
    for number, row in enumerate(rows):
        whole = {}
        for which in ("fw", "bw"):
            choice = chosen(record, "dense", row, which)
            if not choice:
                raise SystemExit(f"record: {problem_text(row | {'pass': which})} is not in the record; the stage dense measures it")
            timed = rondo(options.rondo, "bench", *problem_arguments(row | {"pass": which}), "--no-db", *choice, "--ablate")
            record["parts"]["rows"] += timed["rows"]
            whole[which] = round(timed["rows"][0]["whole_ns"])
        write(record, options.record)
        print(f"{number + 1}/{len(rows)} {problem_text(row | {'pass': ''})} in parts: {whole} ns a step", flush=True)


def measure_sweeps(record, _, options):
    """How time depends on T, D and B: one pass each, along one axis at a time."""
    rows = wanted({"rows": dense_table(options)["sweeps"]}, options)
    keep_others(record, "sweeps", lambda r: any(
        same_problem(r, row) and (r["pass"], r["along"]) == (row["pass"], row["along"]) for row in rows))
    for row in rows:
        common = [*problem_arguments(row), "--db", options.database]
        rondo(options.rondo, "tune", *common, "--budget", options.budget)
        timed = rondo(options.rondo, "bench", *common)["rows"][0]
        record["sweeps"]["rows"].append({"along": row["along"]} | timed)
        write(record, options.record)
        print(f"{row['along']}: {problem_text(row)} H={row['H']}: {timed['median_ms']:.4f} ms", flush=True)


def measure_saved(record, _, options):
    """The training passes of the dense rows when forward (training) leaves backward the products of its matrices."""
    rows = wanted(dense_table(options), options)
    keep_others(record, "saved", lambda r: any(same_problem(r, row) for row in rows))
    for number, row in enumerate(rows):
        common = [*problem_arguments(row | {"pass": "fws,bw"}), "--save", "products", "--db", options.database]
        try:
            rondo(options.rondo, "tune", *common, "--budget", options.budget)
        except WrongResults:
            shape = {axis: row[axis] for axis in ("B", "T", "H", "D")}
            record["saved"]["rows"].append({"cell": row["cell"], "shape": shape, "dtype": row["dtype"], "pass": "refused"})
            write(record, options.record)
            print(f"{number + 1}/{len(rows)} {problem_text(row | {'pass': ''})} with products saved: refused, wrong results", flush=True)
            continue
        timed = rondo(options.rondo, "bench", *common)["rows"]
        record["saved"]["rows"] += timed
        write(record, options.record)
        best = {r["pass"]: round(r["median_ms"], 4) for r in timed}
        print(f"{number + 1}/{len(rows)} {problem_text(row | {'pass': ''})} with products saved: {best}", flush=True)


def measure_peers(record, _, options):
    """What PyTorch's layers take on the same machine, in the same run."""
    here = os.path.dirname(os.path.abspath(__file__))
    done = subprocess.run([sys.executable, os.path.join(here, "peers.py"), os.path.join(os.path.dirname(options.rows), "dense_rows.json")],
                          capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"record: peers.py failed ({done.returncode}): {done.stderr.strip()[-2000:]}")
    record["peers"] = {"commit": record["commit"]} | json.loads(done.stdout)
    write(record, options.record)
    for row in record["peers"]["rows"]:
        print(f"cuDNN fp16 {row['cell']} {row['shape']}: {row['fw_ms']:.3f} / {row['fwbw_ms']:.3f} ms", flush=True)


def tune_and_time(record, table, options, section):
    rows = wanted(table, options)
    record.setdefault("tuning", [])
    for number, row in enumerate(rows):
        common = [*problem_arguments(row | {"pass": "fw,fws,bw"}), "--db", options.database]
        tuned = rondo(options.rondo, "tune", *common, "--budget", options.budget)
        timed = rondo(options.rondo, "bench", *common)
        same = {"cell": row["cell"], "B": row["B"], "T": row["T"], "D": row["D"], "dtype": row["dtype"]}
        record["tuning"] = [t for t in record["tuning"] if any(t[key] != value for key, value in same.items())]
        record["tuning"].append(tuning_summary(row, tuned))
        put_rows(record, section, table, row, timed)
        write(record, options.record)
        best = {r["pass"]: round(r["median_ms"], 4) for r in timed["rows"]}
        print(f"{number + 1}/{len(rows)} {problem_text(row | {'pass': ''})}: {best}", flush=True)


# --- memory ---

def plan_memory(record, options, row, which, save):
    """Bytes of the workspace and of what is saved, and of the inputs, for one pass by the plan's own figures."""
    checked = rondo(options.rondo, "check", *problem_arguments(row | {"pass": which}), "--save", save, "--arch",
                    record["device"], *(chosen(record, "dense", row, which) if save == "states" else []))
    plan = next((s for s in checked["strategies"] if s["legal"]), None)
    if plan is None:
        raise SystemExit(f"record: {problem_text(row | {'pass': which})}: no strategy computes it")
    inputs = sum(t["bytes"] for t in checked["tensors"] if t["kind"] == "input")
    return {"saved": plan["saved_bytes"], "workspace": plan["workspace_bytes"], "inputs": inputs}


def training_memory(record, options, row, save):
    """Bytes of a training step beside outputs, parameters and their gradients. The backward pass reads the inputs again, so
    they are held, and writes their gradient."""
    forward, backward = (plan_memory(record, options, row, which, save) for which in ("fws", "bw"))
    held = forward["saved"] + forward["inputs"]
    return {"saved_bytes": forward["saved"], "input_bytes": forward["inputs"], "held_bytes": held,
            "forward_workspace_bytes": forward["workspace"], "backward_workspace_bytes": backward["workspace"],
            "peak_bytes": held + max(forward["workspace"], backward["workspace"] + backward["inputs"])}


def flashrnn_memory(counts, row, inputs):
    """What FlashRNN holds and its peak, by count: tensors with a time axis, 16-bit, beside the output and its gradient."""
    padded = (row["B"] + BY_COUNT - 1) // BY_COUNT * BY_COUNT
    vector = row["H"] * row["D"] * 2
    output = row["T"] * row["B"] * vector
    states = counts["states"] * (row["T"] + 1) * padded * vector
    gates = counts["gates"] * row["T"] * padded * vector
    held = states - output + gates
    # Forward, the inputs are there too. Backward, the gates' place becomes the gradient of the inputs, and the gradient of
    # all states comes in.
    return {"held_bytes": held, "peak_bytes": held + max(inputs, states - output)}


def measure_memory(record, _, options):
    table = dense_table(options)
    rows = []
    for row in table["rows"]:
        states = training_memory(record, options, row, "states")
        products = training_memory(record, options, row, "products")
        rows.append({key: row[key] for key in ("cell", "B", "T", "H", "D", "dtype")} | states |
                    {"products_saved": {key: products[key] for key in products if key != "input_bytes"},
                     "flashrnn": flashrnn_memory(table["flashrnn_saves"][row["cell"]], row, states["input_bytes"])})
    record["memory"] = {"commit": os.environ.get("RONDO_COMMIT", "unknown"), "rows": rows}
    write(record, options.record)
    print(f"memory of {len(rows)} rows", flush=True)


# --- ready ---

def ready_times(options, row, *where, from_cache):
    """Milliseconds of a few processes, each from the parsed cell to a loaded kernel."""
    times = []
    for _ in range(READY_PROCESSES):
        timed = rondo(options.rondo, "bench", *problem_arguments(row), "--samples", "3", *where)["rows"][0]
        if timed["from_cache"] != from_cache:
            raise SystemExit(f"record: {problem_text(row)}: from_cache is {timed['from_cache']}, not {from_cache}")
        times.append(timed["ready_ms"])
    return times


def measure_ready(record, table, options):
    record["ready"] = {"commit": record["commit"], "cold_target_ms": table["ready"]["cold_target_ms"],
                       "database_target_ms": table["ready"]["database_target_ms"], "rows": []}
    for row in table["ready"]["rows"]:
        cold = ready_times(options, row, "--no-db", from_cache=False)
        rondo(options.rondo, "tune", *problem_arguments(row), "--db", options.database, "--budget", "5s")
        found = ready_times(options, row, "--db", options.database, from_cache=True)
        record["ready"]["rows"].append(row | {"cold_ms": cold, "database_ms": found})
        write(record, options.record)
        print(f"{problem_text(row)}: cold {max(cold):.0f} ms, from the database {max(found):.1f} ms at worst", flush=True)


# --- exhaustive ---

def measure_exhaustive(record, table, options):
    """Tunes as usual, then tries everything; that second search times the first one's choice beside its own leaders."""
    record["exhaustive"] = {"ratio_target": table["exhaustive"]["ratio_target"], "rows": []}
    with tempfile.TemporaryDirectory() as folder:
        database = os.path.join(folder, "exhaustive.db")
        rondo(options.rondo, "calibrate", "--db", database)
        for row in table["exhaustive"]["rows"]:
            common = ["tune", *problem_arguments(row), "--db", database]
            searched = rondo(options.rondo, *common, "--budget", options.budget)["passes"][0]
            everything = rondo(options.rondo, *common, "--exhaustive")["passes"][0]
            record["exhaustive"]["rows"].append(row | compared(row, searched, everything))
            write(record, options.record)
            done = record["exhaustive"]["rows"][-1]
            print(f"{problem_text(row)}: {done['search_ms']:.4f} ms after {done['search_tried']} of {done['total']}, "
                  f"{done['best_ms']:.4f} ms after all: {done['ratio']:.3f}", flush=True)


def compared(row, searched, everything):
    best, known = everything["best"], everything["known_before"]
    if not known or known["median_ms"] is None or known["confirmed"] != best["confirmed"]:
        raise SystemExit(f"record: {problem_text(row)}: the search's choice was not timed beside the best: {known}")
    if everything["tried"] != everything["total"]:
        raise SystemExit(f"record: {problem_text(row)}: only {everything['tried']} of {everything['total']} were tried")
    return {"search_ms": known["median_ms"], "best_ms": best["median_ms"],
            "ratio": known["median_ms"] / best["median_ms"], "spread": max(known["spread"], best["spread"]),
            "search_parameters": known["parameters"], "best_parameters": best["parameters"],
            "search_tried": searched["tried"], "search_seconds": searched["seconds"],
            "total": everything["total"], "exhaustive_seconds": everything["seconds"]}


MEASURED = {"rows": measure_rows, "dense": measure_dense, "parts": measure_parts, "sweeps": measure_sweeps, "ready": measure_ready,
            "exhaustive": measure_exhaustive, "memory": measure_memory}
STAGES = MEASURED | {"saved": measure_saved, "peers": measure_peers, "again": measure_again}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("rondo", "rows", "record", "database"):
        parser.add_argument(name)
    parser.add_argument("--budget", default="20s", help="of tuning, for each pass")
    parser.add_argument("--stages", default=",".join(MEASURED), help="of " + ", ".join(STAGES))
    parser.add_argument("--only", default="", help="rows whose text, as it is printed, matches this regular expression")
    options = parser.parse_args()
    stages = options.stages.split(",")
    unknown = [stage for stage in stages if stage not in STAGES]
    if unknown:
        sys.exit(f"record: no stage '{unknown[0]}'; there are {', '.join(STAGES)}")
    with open(options.rows, encoding="utf-8") as file:
        table = json.load(file)
    record = existing(options.record) if set(stages) <= WITHOUT_GPU else begin(options.rondo, options.record)
    if {"rows", "dense", "saved", "sweeps", "ready"} & set(stages):
        rondo(options.rondo, "calibrate", "--db", options.database)
    for stage in stages:
        STAGES[stage](record, table, options)


if __name__ == "__main__":
    main()
