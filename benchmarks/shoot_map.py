#!/usr/bin/env python3
"""Where shoot and where stream is chosen: B * D from 64 to 262144 and T from 128 to 1048576, tuned and by the model alone.

usage: shoot_map.py RONDO --out FILE [--cells paragru,mingru] [--budget 4s] [--commit HASH]

For each size: the best of each strategy, tuned apart; the strategy that a choice without tuning takes, and its time; the
share of the copy bandwidth and the sweeps of the best.
"""
import argparse
import sys

from rondo_program import tried, write

CHANNELS = (64, 512, 4096, 32768, 262144)
TIMES = (128, 1024, 8192, 65536, 1048576)
MOST_ELEMENTS = 1 << 31  # of B * D * T: tensors of 16 GB


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rondo")
    parser.add_argument("--out", required=True)
    parser.add_argument("--cells", default="paragru,mingru")
    parser.add_argument("--budget", default="4s")
    parser.add_argument("--commit", default="")
    options = parser.parse_args()
    record = {"device": "", "commit": options.commit, "budget": options.budget, "rows": []}
    for cell in options.cells.split(","):
        for channels in CHANNELS:
            for time in TIMES:
                if channels * time > MOST_ELEMENTS:
                    continue
                dim = min(channels, 1024)
                problem = [cell, "--shape", f"B={channels // dim},T={time},H=1,D={dim}", "--dtype", "bf16", "--pass", "fw", "--no-db"]
                row = {"cell": cell, "channels": channels, "T": time}
                for strategy in ("shoot", "stream"):
                    tuned = tried(options.rondo, "tune", *problem, "--strategy", strategy, "--budget", options.budget)
                    best = tuned.get("passes", [{}])[0].get("best")
                    if not best:
                        row[strategy] = {"error": tuned.get("error", "no winner")}
                        continue
                    fixed = [word for name, value in best["parameters"].items() for word in ("--param", f"{name}={value}")]
                    timed = tried(options.rondo, "bench", *problem, "--strategy", strategy, *fixed)
                    if "rows" not in timed:
                        row[strategy] = {"error": timed["error"]}
                        continue
                    found = timed["rows"][0]
                    record["device"] = timed["device"]
                    row[strategy] = {"ms": found["median_ms"], "share": found["share_of_copy_bandwidth"],
                                     "convergence": found["convergence"], "parameters": best["parameters"]}
                chosen = tried(options.rondo, "bench", *problem)
                if "rows" in chosen:
                    row["by_model"] = {"strategy": chosen["rows"][0]["strategy"], "ms": chosen["rows"][0]["median_ms"]}
                record["rows"].append(row)
                print(cell, channels, time, {s: round(row[s].get("ms", -1), 4) for s in ("shoot", "stream")}, row.get("by_model"), flush=True)
                write(record, options.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
