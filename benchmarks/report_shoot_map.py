"""The page of where shoot pays, from the records of benchmarks/shoot_map.py: a part of report.py."""
import json

from report_shoot import WORST_CASE
from report_text import median_text, wrapped

WITHIN = (("tuned", "chosen", 1.1), ("by the model alone", "by_model", 1.3))  # of the best


def shoot_map_page(results):
    """Of all records *-shoot-map.json in the folder `results`; empty without one."""
    records = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(results.glob("*-shoot-map.json"), reverse=True)]
    records = [record for record in records if record["rows"]]
    if not records:
        return ""
    said = wrapped("""The forward pass of paragru and mingru in bf16, from few channels and many steps to many and few: B x D channels in
rows of at most 1024, on a grid with steps of 4 or, where a run was short, of 16. *best* is the fastest of all that were
measured: [stream](../strategies/stream.md) and [shoot](../strategies/shoot.md) tuned apart, what `rondo tune` chose of all
strategies, and what the model chose without tuning. The next columns say how much slower the two choices are. The last one
has what the model's choice takes, where it is shoot and the cell is not affine, with recurrent weights of standard
deviation 5, which leave nearly everything to the walk in order: times the time of stream; it may be 1.5.""")
    return "# Where shoot pays\n\n" + said + "\n" + "".join(section(record) for record in records)


def times_best(row, choice):
    """None where one of the two has no time."""
    ms, best = row[choice].get("ms"), row["best"].get("ms")
    return ms / best if ms and best else None


def worst(rows, choice):
    """(times the best, row) of the worst choice."""
    known = [(times_best(row, choice), row) for row in rows if times_best(row, choice)]
    return max(known, key=lambda each: each[0], default=(None, None))


def at(row):
    return f"{row['cell']} {row['channels']} x {row['T']}"


def summary(rows):
    (tuned, tuned_at), (model, model_at) = (worst(rows, choice) for _, choice, _ in WITHIN)
    line = f"Worst choice: {tuned:.2f} of best" if tuned else "No choice has a time"
    if model:
        line += f" (by model {model:.2f})"
    line += "."
    for name, row in (("tuned", tuned_at), ("by model", model_at)):
        line += f" The worst {name} is {at(row)}." if row else ""
    for name, choice, limit in WITHIN:
        over = [row for row in rows if (times_best(row, choice) or 0) > limit]
        line += f" Over {limit} {name}: {len(over)} of {len(rows)} rows."
    walked = [(times_stream(row), row) for row in rows if times_stream(row)]
    if walked:
        most, row = max(walked, key=lambda each: each[0])
        line += f" With weights of 5: at most {most:.2f} of stream ({at(row)}), over {WORST_CASE} {sum(each > WORST_CASE for each, _ in walked)} of {len(walked)}."
    failed = [row for row in rows if any("error" in row[choice] for choice in ("best", "chosen", "by_model"))]
    return line + (f" Without a time: {', '.join(at(row) for row in failed)}." if failed else "")


def sweeps_text(result):
    found = result.get("convergence")
    return str(found["sweeps"]) if found else ""


def choice_text(row, choice):
    ratio = times_best(row, choice)
    return f"{row[choice]['strategy']} {ratio:.2f}" if ratio else row[choice].get("error", "")[:40]


def times_stream(row):
    """With weights of 5; None where that was not measured."""
    found = row.get("worst", {})
    return found["ms"] / found["stream_ms"] if "ms" in found else None


def worst_text(row):
    return f"{times_stream(row):.2f}" if times_stream(row) else row.get("worst", {}).get("error", "")[:40]


def groups_of(rows, key):
    """[(key, names of its rows)], the largest group first."""
    groups = {}
    for row in rows:
        groups.setdefault(key(row), []).append(at(row))
    return sorted(groups.items(), key=lambda group: -len(group[1]))


def told_of(rows):
    """After how long a search the rows were measured."""
    (budget, _), *others = groups_of(rows, lambda row: row["budget"])
    return f"Searches of {budget}." + "".join(f" Of {other}: {', '.join(names)}." for other, names in others)


def section(record):
    rows = sorted(record["rows"], key=lambda row: (row["cell"], row["channels"], row["T"]))
    text = f"""
## {record['device']}

{wrapped(summary(rows))}

{wrapped(told_of(rows))}

| cell | B x D | T | best | ms | of copy | sweeps | tuned | by model | weights 5 |
|---|--:|--:|---|--:|--:|--:|---|---|--:|
"""
    for row in rows:
        best = row["best"]
        measured = "ms" in best
        cells = [row["cell"], str(row["channels"]), str(row["T"]), best["strategy"] if measured else best["error"],
                 median_text(best["ms"]) if measured else "", f"{best['share'] * 100:.0f}%" if measured else "",
                 sweeps_text(best), choice_text(row, "chosen"), choice_text(row, "by_model"), worst_text(row)]
        text += "| " + " | ".join(cells) + " |\n"
    return text
