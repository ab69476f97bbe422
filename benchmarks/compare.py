"""Times two builds of rondo with the same parameters on the rows of a record, in turns, on the GPU at hand:

    benchmarks/compare.py BEFORE AFTER RECORD OUT.json [SECONDS]

BEFORE and AFTER are programs; parameters are those of the record, so nothing is tuned. Each row is timed once by each
program, and who comes first alternates. Writes the times, and prints the ratios after / before. Rows that are sums of
passes are left out.
"""
import json, subprocess, sys, time

from parameter_names import completed, current

if len(sys.argv) not in (5, 6):
    sys.exit(__doc__)
before, after, record, out = sys.argv[1:5]
limit = float(sys.argv[5]) if len(sys.argv) == 6 else 520
rec = json.load(open(record))
start = time.time()
rows = [r for r in rec["rows"] + rec.get("dense", []) if r["pass"] in ("fw", "fws", "bw")]
seen, jobs = set(), []
for r in rows:
    key = (r["cell"], json.dumps(r["shape"], sort_keys=True), r["dtype"], r["pass"], r.get("save"), r["strategy"])
    if key in seen: continue
    seen.add(key); jobs.append(r)
result = []
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
for i, r in enumerate(jobs):
    if time.time() - start > limit: break
    order = ["before", "after"] if i % 2 == 0 else ["after", "before"]
    row = {k: r.get(k) for k in ("cell", "shape", "dtype", "pass", "save", "strategy")}
    for name in order:
        row[name] = bench({"before": before, "after": after}[name], r)
    result.append(row)
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
