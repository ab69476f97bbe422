"""Times two builds of rondo with the same parameters on the rows of a record, in turns, on the GPU at hand:

    benchmarks/compare.py BEFORE AFTER RECORD OUT.json [SECONDS [TURNS [REGEX]]]

BEFORE and AFTER are programs; parameters are those of the record, so nothing is tuned. In each turn (1) each row is timed once
by each program, and who comes first alternates. Writes the medians of the turns and all times, and prints the ratios after /
before. Rows that are sums of passes are left out, and those of which REGEX does not match "CELL B=.. T=.. D=.. TYPE PASS".
"""
import json, re, statistics, subprocess, sys, time

from parameter_names import completed, current

if len(sys.argv) not in (5, 6, 7, 8):
    sys.exit(__doc__)
before, after, record, out = sys.argv[1:5]
limit, turns, only = (*sys.argv[5:], *(520, 1, "")[len(sys.argv) - 5:])
limit, turns = float(limit), int(turns)
rec = json.load(open(record))
start = time.time()
rows = [r for r in rec["rows"] + rec.get("dense", []) if r["pass"] in ("fw", "fws", "bw")]
seen, jobs = set(), []
for r in rows:
    key = (r["cell"], json.dumps(r["shape"], sort_keys=True), r["dtype"], r["pass"], r.get("save"), r["strategy"])
    text = f"{r['cell']} B={r['shape']['B']} T={r['shape']['T']} D={r['shape']['D']} {r['dtype']} {r['pass']}"
    if key in seen or not re.search(only, text): continue
    seen.add(key); jobs.append(r)
def bench(binary, r):
    s = r["shape"]
    cmd = [binary, "bench", r["cell"], "--shape", f"B={s['B']},T={s['T']},H={s['H']},D={s['D']}", "--dtype", r["dtype"],
           "--pass", r["pass"], "--strategy", r["strategy"], "--no-db", "--json", "--samples", "9"]
    if r.get("save"): cmd += ["--save", r["save"]]
    if r.get("math"): cmd += ["--math", r["math"]]
    for names in (completed, current):  # a program knows nothing of parameters that were added after it
        words = [word for k, v in names(r["strategy"], r["parameters"]).items() for word in ("--param", f"{k}={v}")]
        p = subprocess.run(cmd + words, capture_output=True, text=True, timeout=60)
        if p.returncode == 0: break
    if p.returncode != 0: return {"error": p.stderr.strip()[-300:]}
    d = json.loads(p.stdout)
    d = d["rows"][0] if isinstance(d, dict) and "rows" in d else d[0] if isinstance(d, list) else d
    return {"ms": d["median_ms"], "spread": d["spread"], "ready_ms": d["ready_ms"]}
result = [{k: r.get(k) for k in ("cell", "shape", "dtype", "pass", "save", "strategy")} for r in jobs]
for turn in range(turns):
    for i, (r, row) in enumerate(zip(jobs, result)):
        if time.time() - start > limit: break
        for name in ("before", "after") if (i + turn) % 2 == 0 else ("after", "before"):
            one = bench({"before": before, "after": after}[name], r)
            if turn and "ms" in one and "ms" in row[name]:
                every = [*row[name].get("all_ms", [row[name]["ms"]]), one["ms"]]
                one |= {"ms": statistics.median(every), "spread": max(one["spread"], row[name]["spread"]), "all_ms": every}
            row[name] = one
result = [row for row in result if "after" in row and "before" in row]
json.dump({"jobs": len(jobs), "rows": result}, open(out, "w"), indent=1)
ok = [r for r in result if "ms" in r["after"] and "ms" in r["before"]]
ratio = sorted((r["after"]["ms"] / r["before"]["ms"], r["cell"], r["pass"], json.dumps(r["shape"])) for r in ok)
print(len(jobs), "jobs,", len(result), "run,", len(ok), "both ok, seconds", round(time.time() - start))
if ratio:
    print("ratio new/base: min", ratio[0], "median", ratio[len(ratio)//2][0], "max", ratio[-1])
    for q in ratio[-6:]: print("  slow", q)
    for q in ratio[:4]: print("  fast", q)
for r in result:
    for n in ("after", "before"):
        if "error" in r[n]: print(n, r["cell"], r["shape"], r["pass"], r[n]["error"][:200])
