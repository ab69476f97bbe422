#!/usr/bin/env python3
"""Tunes and times every row of a table with the `rondo` program, and writes one record.

usage: record.py RONDO ROWS.json RECORD.json DATABASE [--budget 20s]

The record holds the device, driver and compiler, the commit, the date, the copy bandwidth measured in the same run, and a
row for each measurement: cell, shape, dtype, pass, strategy, parameters, median ms, spread, bytes, share of the copy
bandwidth, target ms and peer ms. Needs a GPU. Exits non-zero if a row cannot be measured.
"""
import datetime
import json
import os
import subprocess
import sys


def rondo(program, *arguments):
    """Output of one `rondo ... --json` call as an object; raises with the program's own message if it fails."""
    done = subprocess.run([program, *arguments, "--json"], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"record: rondo {' '.join(arguments)} failed ({done.returncode}): {done.stderr.strip()}")
    return json.loads(done.stdout)


def query(fields):
    out = subprocess.run(["nvidia-smi", f"--query-gpu={fields}", "--format=csv,noheader"], capture_output=True, text=True)
    return out.stdout.strip().split(", ")


def measure(program, row, database, budget):
    """Tunes the passes of one row and times them in a second process, which finds kernel and cubin in the database."""
    shape = f"B={row['B']},T={row['T']},H=1,D={row['D']}"
    common = [row["cell"], "--shape", shape, "--dtype", row["dtype"], "--pass", "fw,fws,bw", "--db", database]
    tuned = rondo(program, "tune", *common, "--budget", budget)
    timed = rondo(program, "bench", *common)
    return tuned, timed


def add_rows(record, row, timed):
    by_pass = {r["pass"]: r for r in timed["rows"]}
    for name, r in by_pass.items():
        r["target_ms"] = row["target"].get(name)
        r["peer_ms"] = row["peer"].get(name)
        r["peer"] = row["peer_name"]
        r["copy_bytes_per_s"] = timed["copy_bytes_per_s"]
        record["rows"].append(r)
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
        record["rows"].append(both)


def main():
    program, rows_file, record_file, database = sys.argv[1:5]
    budget = sys.argv[6] if len(sys.argv) > 6 and sys.argv[5] == "--budget" else "20s"
    name, driver = query("name,driver_version")
    findings = rondo(program, "doctor")["findings"]
    record = {
        "device": name,
        "driver": driver,
        "compiler": next((f["found"] for f in findings if f["subject"] == "NVRTC"), "unknown"),
        "commit": os.environ.get("RONDO_COMMIT", "unknown"),
        "date": datetime.date.today().isoformat(),
        "timing": "median of 21 samples by CUDA events; a sample is back-to-back launches over rotating inputs for 2 ms",
        "tuning": [],
        "rows": [],
    }
    rondo(program, "calibrate", "--db", database)
    with open(rows_file) as file:
        rows = json.load(file)["rows"]
    for number, row in enumerate(rows):
        tuned, timed = measure(program, row, database, budget)
        record["tuning"].append(summary(row, tuned))
        add_rows(record, row, timed)
        best = {r["pass"]: round(r["median_ms"], 4) for r in timed["rows"]}
        print(f"{number + 1}/{len(rows)} {row['cell']} B={row['B']} T={row['T']} D={row['D']} {row['dtype']}: {best}", flush=True)
        record["copy_bytes_per_s"] = max(r["copy_bytes_per_s"] for r in record["rows"])
        with open(record_file + ".part", "w") as file:
            json.dump(record, file, indent=1)
        os.replace(record_file + ".part", record_file)


def summary(row, tuned):
    """How long tuning took and how much it tried, without the table of trials."""
    keep = ("tried", "total", "seconds", "end")
    passes = [{"pass": run["problem"]["pass"]} | {k: run[k] for k in keep} for run in tuned["passes"]]
    return {"cell": row["cell"], "B": row["B"], "T": row["T"], "D": row["D"], "dtype": row["dtype"], "passes": passes}


if __name__ == "__main__":
    main()
