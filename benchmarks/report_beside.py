"""The page of Rondo beside its peers in one run, from the records of benchmarks/beside.py: a part of report.py."""
from report_text import median_text, read, wrapped

NAMES = {"torch": "cuDNN, by torch.nn", "jax": "JAX, `lax.scan`", "loop graphed": "a loop in PyTorch", "loop compiled": "a loop in PyTorch, its step compiled",
         "rondo": "Rondo", "FlashRNN-fused": "FlashRNN fused", "FlashRNN-alternating": "FlashRNN alternating", "FlashRNN-Triton": "FlashRNN Triton"}
PASSES = ("fw", "fwbw")
WAYS = {"_ms": "eager", "_graph_ms": "graph"}  # ends of keys, and how a call is made


def beside_page(results):
    """Of all records *-beside.json in the folder `results`; empty without one."""
    text = "".join(section(record) for record in read(results, "*-beside.json"))
    return "# Beside its peers in one run\n" + text if text else ""


def name_of(who):
    name, _, *how = who.split()
    return NAMES.get(" ".join([name, *how]), name)


def best(found, pass_):
    """(ms, how) of the quickest way to call a contender; None if it was not timed, or its results are wrong."""
    if not found.get("right"):
        return None
    times = [(found[pass_ + end], how) for end, how in WAYS.items() if pass_ + end in found]
    return min(times) if times else None


def ours_for(row, who, pass_):
    """Rondo's time in a contender's type, or in bf16 where it was not timed in that type."""
    times = row["times"]
    return next((one for type_ in (who.split()[1], "bf16") if (one := best(times.get(f"rondo {type_}", {}), pass_))), None)


def ratios(row):
    """(ratio, contender, pass) of every time beside Rondo's."""
    for who, found in row["times"].items():
        for pass_ in PASSES:
            theirs, ours = best(found, pass_), ours_for(row, who, pass_)
            if theirs and ours and not who.startswith("rondo"):
                yield theirs[0] / ours[0], who, pass_


def section(record):
    rows = [row for row in record["rows"] if row["times"]]
    if not rows:
        return ""
    jax = f", JAX {record['jax']}" if "jax" in record else ""
    text = f"\n## {record['device']}, {record['date']}\n\n" + wrapped(f"""PyTorch {record['torch']}, cuDNN {record['cudnn']}{jax}, driver {record['driver']}.
`benchmarks/beside.py` timed all of them in one run, and compared their results with float64 first. A time is the median of single calls, by the
quicker of two ways: called eagerly, or as a CUDA graph. The ratio is to Rondo's time in the same type, or in bf16 where Rondo was not timed in
it. Layers have the product of their input. FlashRNN has none: the rows marked *alone* are the recurrence, of Rondo's too.""") + "\n\n"
    if all_ratios := [one + (row["layer"],) for row in rows for one in ratios(row)]:
        text += wrapped(summary(all_ratios)) + "\n"
    for row in rows:
        text += f"\n### {row['layer']}\n\n" + table(row)
    return text + "".join("\n" + wrapped(one) + "\n" for one in notes(record, rows))


def notes(record, rows):
    """Of what was not timed."""
    found = [(name_of(who), who.split()[1], row["layer"], one) for row in rows for who, one in row["times"].items()]
    if absent := record.get("absent", {}):
        yield "Not timed, for they were not there: " + "; ".join(f"{name} ({quoted(why)})" for name, why in absent.items()) + "."
    if failed := [f"{name}, {dtype}, {layer} ({quoted(one['error'])})" for name, dtype, layer, one in found if "error" in one]:
        yield "Failed: " + "; ".join(failed) + "."
    uncaptured = {}  # one reason of each, for it hardly depends on the layer
    for name, dtype, layer, one in found:
        for pass_, what in zip(PASSES, ("forward", "a training step")):
            if f"{pass_}_not_captured" in one:
                uncaptured.setdefault(f"{name}, {what}", one[f"{pass_}_not_captured"])
    if uncaptured:
        yield "Not captured as CUDA graphs: " + "; ".join(f"{name} ({quoted(why)})" for name, why in uncaptured.items()) + "."


def quoted(words):
    """Of a program, as it said them."""
    return "`" + words.replace("`", "'") + "`"


def summary(all_ratios):
    said = []
    for pass_, what in zip(PASSES, ("forward", "for a training step")):
        of_pass = [one for one in all_ratios if one[2] == pass_]
        if of_pass:
            least, who, _, layer = min(of_pass)
            said.append(f"{least:.2f} times as long {what} ({name_of(who)}, {who.split()[1]}, {layer})")
    return f"The nearest of all takes {' and '.join(said)}."


def table(row):
    text = "| | type | fw ms | | / Rondo | fwbw ms | | / Rondo |\n|---|---|--:|---|--:|--:|---|--:|\n"
    for who, found in row["times"].items():
        text += f"| {name_of(who)} | {who.split()[1]} | "
        if "error" in found or not found.get("right"):
            text += f"{'failed' if 'error' in found else 'wrong results'} | | | | | |\n"
            continue
        cells = []
        for pass_ in PASSES:
            theirs, ours = best(found, pass_), ours_for(row, who, pass_)
            cells += [median_text(theirs[0]), theirs[1]] if theirs else ["", ""]
            cells.append(f"{theirs[0] / ours[0]:.2f}" if theirs and ours and not who.startswith("rondo") else "")
        text += " | ".join(cells) + " |\n"
    return text
