"""The page of the layers of rondo.nn, from the records of benchmarks/layers.py and language_model.py: a part of report.py."""
import statistics

from report_text import median_text, read, wrapped

TYPES = ("fp16", "bf16")
PASSES = (("fw", "Forward"), ("fwbw", "Forward and backward"))
HOWS = (("", "eager"), ("_graph", "as CUDA graphs"))


def python_layers_page(results):
    """Of all records *-layers.json in the folder `results`; empty without one."""
    text = "".join(layers_section(record) for record in read(results, "*-layers.json"))
    return "# Layers of rondo.nn\n" + text if text else ""


def language_model_page(results):
    """Of all records *-language.json; empty without one."""
    text = "".join(language_model_section(record) for record in read(results, "*-language.json"))
    return "# Language models with layers of rondo.nn\n" + text if text else ""


def layers_costs_page(results):
    """What the same records say of memory, of the host and of first calls; empty without one."""
    text = "".join(costs_section(record) for record in read(results, "*-layers.json"))
    return "# What layers of rondo.nn cost beside their time\n" + text if text else ""


def best_of(row, who, key):
    """The least time of that side in fp16 and bf16, and the type; None without one."""
    found = [(row["times"][f"{who} {type_}"][key], type_) for type_ in TYPES if key in row["times"].get(f"{who} {type_}", {})]
    return min(found) if found else None


def ratios_of(row, pass_):
    """How many times as long cuDNN's best takes as Rondo's: of each way to call, and of the best way of each side. None unless both were timed."""
    keys = [f"{pass_}{how}_ms" for how, _ in HOWS]
    ours, theirs = ([best_of(row, who, key) for key in keys] for who in ("rondo", "torch"))
    if None in ours or None in theirs:
        return None
    return [their[0] / our[0] for our, their in zip(ours, theirs)] + [min(theirs)[0] / min(ours)[0]]


def whole(row):
    """Whether both sides were timed, and cuDNN in both types."""
    return ratios_of(row, "fw") and all(f"torch {type_}" in row["times"] for type_ in TYPES)


def layers_section(record):
    """Of a record with times; empty of another one."""
    rows = [row for row in record["rows"] if whole(row)]
    left = [row["layer"] for row in record["rows"] if not whole(row)]
    if not record["rows"]:
        return ""
    text = head_of(record, how_timed() if rows else "")
    for pass_, title in PASSES if rows else ():
        text += f"\n### {title}\n\n" + wrapped(said_of(rows, pass_)) + "\n\n" + layers_table(rows, pass_)
    if left:
        text += "\n" + wrapped(f"Not timed on both sides before the run's time was over: {', '.join(left)}.") + "\n"
    return text


def costs_section(record):
    rows = [row for row in record["rows"] if whole(row)]
    return head_of(record) + memory_of(rows) + memory_section(record) + host_section(record) + first_section(record) + left_out(record)


def head_of(record, more=""):
    text = f"\n## {record['device']}, {record['date']}\n\n"
    return text + wrapped(f"PyTorch {record['torch']}, cuDNN {record['cudnn']}, driver {record['driver']}.{more}") + "\n"


def left_out(record):
    """What the run's time was over for, or what it was not asked for."""
    missing = [what for what, key in (("the host's time of a call", "host"), ("first calls", "first_call")) if not record[key]]
    return f"\nNot measured in this run: {', '.join(missing)}.\n" if missing else ""


def how_timed():
    return """ `benchmarks/layers.py` timed both sides in one run, with the product of the input; every row's results were first compared with
float64. Times are milliseconds, medians of single calls between two events. *fp16* or *bf16* behind a time is the type in which that side was
faster. The last columns say how many times as long cuDNN's best takes: called eagerly, as CUDA graphs, and with the best way of each side. PyTorch brings
weights together once where they are fp16; those in bf16 cuDNN brings together at each call."""


def said_of(rows, pass_):
    """What a table shows, in one sentence or two."""
    graphed = sorted(ratios_of(row, pass_)[1] for row in rows)
    eager = sorted(ratios_of(row, pass_)[0] for row in rows)
    slow = [row for row in rows if ratios_of(row, pass_)[0] < 1]
    host = ": as graphs they are faster, so that it is the host that takes the time" if all(ratios_of(row, pass_)[1] > 1 for row in slow) else ""
    said = (f"As CUDA graphs cuDNN's best takes {graphed[0]:.2f} to {graphed[-1]:.2f} times as long as Rondo's (median {statistics.median(graphed):.2f}), "
            f"and eagerly {eager[0]:.2f} to {eager[-1]:.2f} times (median {statistics.median(eager):.2f}).")
    return said + (f" Eagerly Rondo is slower for {' and '.join(row['layer'] for row in slow)}{host}." if slow else "")


def layers_table(rows, pass_):
    text = """| layer | Rondo eager | Rondo graph | cuDNN eager | cuDNN graph | eager | graph | best |
|---|--:|--:|--:|--:|--:|--:|--:|
"""
    for row in rows:
        times = [best_of(row, who, f"{pass_}{how}_ms") for who in ("rondo", "torch") for how, _ in HOWS]
        cells = [row["layer"], *(f"{median_text(time)} {type_}" for time, type_ in times), *(f"{ratio:.2f}" for ratio in ratios_of(row, pass_))]
        text += "| " + " | ".join(cells) + " |\n"
    return text


def memory_of(rows):
    """What the peak of a training step is beside that of cuDNN in its lower type."""
    parts = []
    for row in rows:
        ours, theirs = best_of(row, "rondo", "peak_MiB"), best_of(row, "torch", "peak_MiB")
        if ours and theirs:
            parts.append(ours[0] / theirs[0])
    if not parts:
        return ""
    return "\n" + wrapped(f"The peak of a training step's memory is {min(parts):.2f} to {max(parts):.2f} of cuDNN's in the type in which cuDNN needs less.") + "\n"


def memory_section(record):
    """What a training step needs by what Rondo's layer saves; empty without a record of it."""
    known = {layer: {who: found["peak_MiB"] for who, found in sides.items() if found.get("right")} for layer, sides in record.get("memory", {}).items()}
    known = {layer: peaks for layer, peaks in known.items() if {who.split()[0] for who in peaks} == {"rondo", "torch"}}
    if not known:
        return ""
    least = {layer: {side: min((peak, who) for who, peak in peaks.items() if who.startswith(side)) for side in ("torch", "rondo")}
             for layer, peaks in known.items()}
    more = [layer for layer, sides in least.items() if sides["rondo"][0] > sides["torch"][0]]
    text = "\n### Memory of a training step\n\n" + wrapped(f"""MiB at the peak of a forward and a backward pass beyond what was there before, by PyTorch's
allocator, in the type in which cuDNN's layer needs less and in bf16 for Rondo's: with its states saved, also with the products of its matrices, and
either in chunks of a quarter of the steps, whose states are computed again. Results were compared with float64 first. The last column is Rondo's least
as a share of cuDNN's. {f"Rondo needs more for {', '.join(more)}." if more else "No layer needs more than cuDNN's."}""") + "\n\n"
    text += "| layer | cuDNN | states | products | states, chunks | products, chunks | least / cuDNN |\n|---|--:|--:|--:|--:|--:|--:|\n"
    for layer, peaks in known.items():
        ways = {}
        for who, peak in peaks.items():
            name, _, *how = who.split()
            ways.setdefault((name, how[0] if name == "rondo" else "", len(how) > 1), peak)
        shown = [ways.get(("rondo", save, chunked)) for chunked in (False, True) for save in ("states", "products")]
        theirs, of = least[layer]["torch"]
        cells = [f"{theirs:.1f} {of.split()[1]}", *("" if peak is None else f"{peak:.1f}" for peak in shown), f"{least[layer]['rondo'][0] / theirs:.2f}"]
        text += f"| {layer} | {' | '.join(cells)} |\n"
    return text


def host_section(record):
    if not record["host"]:
        return ""
    text = "\n### Host\n\n" + wrapped("Microseconds of the host for a call on the smallest layers (B=1 T=1 D=64, bf16), while the GPU runs behind.") + "\n\n| call | µs |\n|---|--:|\n"
    return text + "".join(f"| {name} | {value:.1f} |\n" for name, value in record["host"].items())


def training_cells(times):
    """Of a step, and of its backward pass, which older records have not apart."""
    if "backward_s" not in times:
        return [f"{times['training_s']:.2f}", ""]
    return [f"{times['forward_saving_s'] + times['backward_s']:.2f}", f"{times['backward_s']:.2f}"]


def first_section(record):
    if not record["first_call"]:
        return ""
    text = "\n### First calls\n\n" + wrapped("""Seconds of the first forward pass and of the first training step in a fresh process, whose
CUDA context exists already. A step's backward pass is made while its forward pass is: its own seconds are what was left to wait for.""")
    text += "\n\n| layer | process | forward s | training s | of it backward s |\n|---|---|--:|--:|--:|\n"
    for layer, found in record["first_call"].items():
        for which, times in found.items():
            cells = ["failed", "", ""] if "forward_s" not in times else [f"{times['forward_s']:.2f}", *training_cells(times)]
            text += f"| {layer} | {which} | {' | '.join(cells)} |\n"
    return text


def language_model_section(record):
    ways = {}
    for row in record["rows"]:
        if "tokens_per_s" in row:
            ways.setdefault((row["shape"], row["layer"], row["how"]), {}).setdefault(row["who"], []).append(row)
    both = {key: sides for key, sides in ways.items() if {"rondo", "torch"} <= set(sides)}
    text = f"\n## {record['device']}\n\n" + wrapped(f"""{record['date']}, PyTorch {record['torch']}.
`benchmarks/language_model.py` trains a model of bytes with Adam, in one run with each layer: tokens a second, and the bits for a byte at the end,
by which both learn alike. PyTorch's layer is shown in the type in which it is faster.""") + "\n\n"
    text += wrapped(best_ways(both)) + "\n\n"
    text += "| model | layer | called | Rondo tokens/s | PyTorch tokens/s | type | times | bits, Rondo | PyTorch |\n|---|---|---|--:|--:|---|--:|--:|--:|\n"
    for (shape, layer, how), sides in both.items():
        ours, theirs = (fastest(sides[who]) for who in ("rondo", "torch"))
        text += (f"| {shape} | {layer} | {how} | {ours['tokens_per_s']:,} | {theirs['tokens_per_s']:,} | {theirs['type']} | "
                 f"{ours['tokens_per_s'] / theirs['tokens_per_s']:.2f} | {ours['last_bits']:.3f} | {theirs['last_bits']:.3f} |\n")
    return text


def fastest(rows):
    return max(rows, key=lambda row: row["tokens_per_s"])


def best_ways(both):
    """The best way to call each side, of every model."""
    said = []
    for model in dict.fromkeys((shape, layer) for shape, layer, _ in both):
        ours, theirs = (fastest([row for key, sides in both.items() if key[:2] == model for row in sides[who]]) for who in ("rondo", "torch"))
        said.append(f"{' '.join(model)}: {ours['tokens_per_s']:,} tokens a second ({ours['how']}), {ours['tokens_per_s'] / theirs['tokens_per_s']:.2f} times "
                    f"PyTorch's best ({theirs['tokens_per_s']:,}, {theirs['how']}, {theirs['type']}).")
    return " ".join(said)


def jax_page(results):
    """Of all records *-jax.json in the folder `results`; empty without one."""
    text = "".join(jax_section(record) for record in read(results, "*-jax.json"))
    return "# Layers of rondo.jax\n" + text if text else ""


def jax_section(record):
    """Layers of rondo.jax beside those of rondo.nn, and the host's time of a call."""
    rows = [row for row in record["rows"] if "fw_ratio" in row]
    host = next((row for row in record["rows"] if row["name"] == "host"), None)
    text = f"\n## {record['device']}, {record['date']}\n\n" + wrapped(f"""JAX {record['jax']}, PyTorch {record['torch']}, driver
{record['driver']}. `benchmarks/jax_layers.py` timed layers of both frameworks in turns, which launch the same kernels, in bf16 with the product of the
input: milliseconds, the mean of calls one after another until the device had done the last. JAX's calls are compiled programs and PyTorch's are eager, so that short ones
tell of the host.""") + "\n\n"
    text += "| layer | JAX fw | PyTorch fw | JAX / PyTorch | JAX fwbw | PyTorch fwbw | JAX / PyTorch |\n|---|--:|--:|--:|--:|--:|--:|\n"
    for row in rows:
        cells = [row["name"]]
        for pass_ in ("fw", "fwbw"):
            cells += [f"{row[f'jax_{pass_}_ms']:.3f}", f"{row[f'torch_{pass_}_ms']:.3f}", f"{row[f'{pass_}_ratio']:.2f}"]
        text += "| " + " | ".join(cells) + " |\n"
    if host:
        text += "\n" + wrapped(f"""The host takes {host['jax_fw_us']:.0f} us for the call of a small layer in JAX and {host['torch_fw_us']:.0f} in PyTorch,
{host['jax_fwbw_us']:.0f} and {host['torch_fwbw_us']:.0f} with its gradients.""") + "\n"
    language = next((row for row in record["rows"] if row["name"] == "language"), None)
    if language:
        jax, eager, graphed = (language[f"{who}_tokens_per_s"] / 1e6 for who in ("jax", "torch_eager", "torch_graphed"))
        text += "\n" + wrapped(f"""The byte model of the examples, trained by `jax_lm.py`, takes {jax:.2f} million tokens a second, and by `charlm.py` with
PyTorch {eager:.2f} eager and {graphed:.2f} as a CUDA graph: the step of JAX is compiled whole.""") + "\n"
    return text
