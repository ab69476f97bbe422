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


def counts(found):
    """Whether results are right, or a loop's but for what each step rounds off the sums of its weights' gradients."""
    return found.get("right") or found.get("rounded_sums", False)


def best(found, pass_):
    """(ms, how) of the quickest way to call a contender; None if it was not timed, or its results are wrong."""
    if not counts(found):
        return None
    times = [(found[pass_ + end], how) for end, how in WAYS.items() if pass_ + end in found]
    return min(times) if times else None


def ours_for(row, who, pass_):
    """Rondo's time in a contender's type, or in bf16 where it was not timed in that type."""
    times = row["times"]
    return next((one for type_ in (who.split()[1], "bf16") if (one := best(times.get(f"rondo {type_}", {}), pass_))), None)


def ratios(row):
    """(ratio, contender, pass) of every time of right results beside Rondo's."""
    for who, found in row["times"].items():
        for pass_ in PASSES:
            theirs, ours = best(found, pass_), ours_for(row, who, pass_)
            right = found.get("right") or pass_ == "fw"
            if theirs and ours and right and not who.startswith("rondo"):
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
    """Of what was not timed, and of errors beside times."""
    found = [(name_of(who), who.split()[1], row["layer"], one) for row in rows for who, one in row["times"].items()]
    if any(one.get("rounded_sums") for *_, one in found):
        yield """\\* PyTorch and JAX sum the gradients of a loop's weights over the steps in the type of the weights, and round each sum. The part is
the largest error of a weight's gradient, of its tensor's largest element; h and the gradient of the input are right."""
    if absent := record.get("absent", {}):
        yield "Not timed, for they were not there: " + "; ".join(f"{name} ({quoted(why)})" for name, why in absent.items()) + "."
    failed = {}  # layers by what they have in common
    for name, dtype, layer, one in found:
        if "error" in one:
            failed.setdefault((name, dtype, one["error"]), []).append(layer)
    if failed:
        yield "Failed: " + "; ".join(f"{name}, {dtype}, {', '.join(layers)} ({quoted(why)})" for (name, dtype, why), layers in failed.items()) + "."
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
        if "error" in found or not counts(found):
            text += f"{'failed' if 'error' in found else 'wrong results'} | | | | | |\n"
            continue
        cells = []
        for pass_ in PASSES:
            theirs, ours = best(found, pass_), ours_for(row, who, pass_)
            mark = f", {100 * found['errors']['weights']:.0f}% off\\*" if pass_ == "fwbw" and not found["right"] else ""
            cells += [median_text(theirs[0]), theirs[1] + mark] if theirs else ["", ""]
            cells.append(f"{theirs[0] / ours[0]:.2f}" if theirs and ours and not who.startswith("rondo") else "")
        text += " | ".join(cells) + " |\n"
    return text
