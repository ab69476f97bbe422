"""The page of the strategy shoot, from the records of benchmarks/shoot_table.py: a part of report.py."""
import json
import statistics

from report_text import against, median_text, wrapped

INPUTS = {"paragru": 3, "paralstm": 3}  # rows of x: numbers a channel and step
WORST_CASE = 1.5  # of stream's time, where no segment converges


def shoot_page(results):
    """Of all records *-shoot.json in the folder `results`; empty without one."""
    records = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(results.glob("*-shoot.json"), reverse=True)]
    if not records:
        return ""
    said = wrapped("""The forward pass of nonlinear cells with few channels and many steps. The strategy is [shoot](../strategies/shoot.md),
where the tuner chose it. The number of sweeps depends on how fast a cell forgets, so each row is timed with recurrent weights of
standard deviation 0.1, 1 and 5; with 5 nearly nothing converges and segments are walked in order. *stream* is that strategy with
the model's choice, in the same run; with weights of 5 shoot may take at most 1.5 times its time. The peer is ParaRNN's fused
kernel, fp32, built from its sources and timed in the same run. Of a row above its target it says what the time is made of:
without which part of the kernel how much of a step is left. The targets were set for an
H200, and rows of another GPU, which copies more slowly, stand beside them.""")
    return "# Few channels, many steps\n\n" + said + "\n" + "".join(section(record) for record in records)


WITHOUT = {"stream_stores=1": "as they come", "keep_inputs=shared": "read again", "keep_inputs=registers": "read again",
           "exchange=launch": "in one launch"}


def kept_page(results):
    """What benchmarks/shoot_kept.py recorded in *-shoot-kept.json; empty without one."""
    text = ""
    for path in sorted(results.glob("*-shoot-kept.json"), reverse=True):
        record = json.loads(path.read_text(encoding="utf-8"))
        text += f"""
## {record['device']}

| cell | shape | dtype | way | weights | sweeps | ms | without, ms | without / with | of stream | |
|---|---|---|---|--:|--:|--:|--:|--:|--:|---|
"""
        problem = lambda row: (row["cell"], row["shape"], row["dtype"])
        stream = {problem(row): row["weights"] for row in record["rows"] if row["way"] == "stream"}
        for row in record["rows"]:
            if row["way"] == "stream":
                continue
            for weights, found in row["weights"].items() if "error" not in row else ():
                other = found.get("without", {})
                compared = (f"{median_text(other['ms'])}, {WITHOUT[row['way']]} | {other['ms'] / found['ms']:.2f}" if "ms" in other
                            else f"{other.get('error', '')} |")
                beside = stream.get(problem(row), {}).get(weights)
                worst = found["ms"] / beside["ms"] if beside else 0
                bound = f"{worst:.2f} | {against(worst, WORST_CASE) if weights == '5' else ''}" if worst else " | "
                text += (f"| {row['cell']} | {row['shape']} | {row['dtype']} | {row['way']} | {weights} | {found['sweeps']} | "
                         f"{median_text(found['ms'])} | {compared} | {bound} |\n")
    if not text:
        return ""
    return "# Inputs kept between sweeps, and a launch for each\n\n" + wrapped("""Each row is a configuration of [shoot](../strategies/shoot.md), of the
model's choice, that keeps inputs from sweep to sweep or has a launch for each sweep, beside one that reads inputs again, all sweeps in one launch
(`benchmarks/shoot_kept.py`); but for that, the length of its ring and how blocks exchange within a launch it is the same. *Usual* is what the model chooses with everything free. Most cells sweep once with
weights of 0.1, and again with weights of 1; with weights of 5 they walk in order, and may take 1.5 times as long as
stream. A way that a problem has no row for has no point in its space.""") + "\n" + text


def section(record):
    text = f"""
## {record['device']}

| cell | B x D, T | dtype | weights 0.1 ms | of copy | target ms | | peer ms | speed-up | weights 1 ms | weights 5 ms | of stream | |
|---|---|---|--:|--:|--:|---|--:|--:|--:|--:|--:|---|
"""
    for row in record["rows"]:
        mild, middling, wild = (row["weights"][w] for w in ("0.1", "1.0", "5.0"))
        ms, peer = mild["rondo"]["ms"], mild.get("peer_ms")
        worst = wild["rondo"]["ms"] / wild["stream_by_model_ms"]
        met = against(ms, row["target_ms"]) if "H200" in record["device"] else ""
        cells = [row["cell"], f"{row['B']} x {row['D']}, {row['T']}", row["dtype"], median_text(ms),
                 f"{mild['rondo']['share'] * 100:.0f}%", f"{row['target_ms']:.3f}", met,
                 median_text(peer) if peer else "", f"{peer / ms:.1f}x" if peer else "", median_text(middling["rondo"]["ms"]),
                 median_text(wild["rondo"]["ms"]), f"{worst:.2f}", against(worst, WORST_CASE)]
        text += "| " + " | ".join(cells) + " |\n"
    text += "\n" + wrapped(budgets_of(record["rows"])) + "\n"
    misses = [miss(row) for row in record["rows"] if "made_of" in row]
    return text + ("\n" + "".join(misses) if misses else "")


def name_of(row):
    return f"{row['cell']}, {row['B']} x {row['D']}, T={row['T']}, {row['dtype']}"


def budgets_of(rows):
    """After how long a search rows were measured: that of most, and which had another."""
    usual = statistics.mode(row["budget"] for row in rows)
    others = "".join(f" {name_of(row)}: {row['budget']}." for row in rows if row["budget"] != usual)
    return f"Each row was tuned for {usual}." + (f" But for these:{others}" if others else "")


def miss(row):
    """By how much a row is above its target, and what its time is made of."""
    first, parts = row["weights"]["0.1"]["rondo"], row["made_of"]
    size = {"fp32": 4, "bf16": 2}[row["dtype"]]
    moved = row["B"] * row["T"] * row["D"] * (INPUTS[row["cell"]] + 1) * size / 1e6
    without = ", ".join(f"{ns:.1f} without {name}" for name, ns in parts["without_ns"].items())
    sweeps = first["convergence"]["sweeps"] if first.get("convergence") else 1
    return wrapped(f"""- {name_of(row)}: {first['ms'] / row['target_ms']:.2f} of the target.
{sweeps} sweep{'s' if sweeps != 1 else ''} of {moved:.1f} MB. Of {parts['whole_ns']:.1f} ns a step {without} are left (`bench --ablate`).""", "  ") + "\n"
