"""The sections of docs/results.md on cells with matrices. Each is empty for a record made without its stage."""
from parameter_names import current
from report_text import cell_text, median_text, of_commit, shape_text, summary, table


def dense_section(record):
    """Cells with matrices: the persistent strategy."""
    rows = record.get("dense")
    if not rows:
        return ""
    stands = summary(rows).lstrip().replace("## Where it stands", "### Where they stand", 1)
    return "\n## Cells with matrices\n\n" + stands + "\n" + table(rows)


def dense_times(record, row):
    """Milliseconds of fw and fwbw that the record has for the row's cell and shape."""
    found = {r["pass"]: r["median_ms"] for r in record.get("dense", []) if (r["cell"], r["shape"]) == (row["cell"], row["shape"])}
    return found.get("fw"), found.get("fwbw")


def peers_section(record):
    peers = record.get("peers")
    if not peers:
        return ""
    text = f"""
## Beside PyTorch's layers{of_commit(peers, record)}

`benchmarks/peers.py` on the same machine: PyTorch {peers['torch']}, cuDNN {peers['cudnn']}, fp16, medians, with the products of the input
weights, which the layer cannot leave out and Rondo's rows do not have. A copy ran at {peers['copy_bytes_per_s'] / 1e12:.2f} TB/s.

| cell | shape | cuDNN fw | cuDNN fwbw | Rondo fw | Rondo fwbw | times faster |
|---|---|--:|--:|--:|--:|--:|
"""
    for row in peers["rows"]:
        forward, training = dense_times(record, row)
        if forward is None or training is None:
            continue
        text += (f"| {row['cell']} | {shape_text(row)} | {row['fw_ms']:.3f} | {row['fwbw_ms']:.3f} | {forward:.3f} | {training:.3f} | "
                 f"{row['fw_ms'] / forward:.2f}, {row['fwbw_ms'] / training:.2f} |\n")
    return text


def saved_section(record):
    saved = record.get("saved")
    if not saved:
        return ""
    text = f"""
## With products saved{of_commit(saved, record)}

Training passes of cells with matrices when `fws` leaves `bw` the products of its matrices (`--save products`), beside multiplying the
saved states again (`--save states`).

| cell | shape | fws | bw | fwbw | fwbw, multiplied again |
|---|---|--:|--:|--:|--:|
"""
    rows = saved["rows"]
    for row in rows:
        if row["pass"] == "refused":
            text += f"| {cell_text(row)} | {shape_text(row)} | refused: rounded products give wrong gradients | | | |\n"
        if row["pass"] != "fws":
            continue
        bw = next(r for r in rows if r["pass"] == "bw" and (r["cell"], r["shape"]) == (row["cell"], row["shape"]))
        _, training = dense_times(record, row)
        text += (f"| {cell_text(row)} | {shape_text(row)} | {row['median_ms']:.3f} | {bw['median_ms']:.3f} | "
                 f"{row['median_ms'] + bw['median_ms']:.3f} | {'' if training is None else format(training, '.3f')} |\n")
    return text


def megabytes(count):
    return f"{count / 1e6:.0f}" if count >= 1e7 else f"{count / 1e6:.1f}"


MEMORY = ("saved_bytes", "held_bytes", "forward_workspace_bytes", "backward_workspace_bytes", "peak_bytes")


def memory_section(record):
    memory = record.get("memory")
    if not memory:
        return ""
    text = f"""
## Memory of a training step{of_commit(memory, record)}

MB beside outputs, parameters and their gradients. *Held* is what stays from the forward to the backward pass: for Rondo the inputs,
which it reads again, and what is *saved*: the states that no output carries and, with `--save products`, the products of the recurrent
matrices; for FlashRNN all states and all gates, and no inputs. *Peak* is the most at any time: for Rondo in the backward pass, with its
*workspace* (products that are multiplied again where they were not saved, partial sums) and the gradient of the inputs; FlashRNN writes that
gradient over its gates. Rondo's figures are the plans' own, of the choice that was measured, with products saved (not measured) of the model's;
FlashRNN's are counted from its code (`benchmarks/dense_rows.json`): tensors with a time axis only. *Of FlashRNN's* are held and peak.

| cell | shape | | saved | held | workspace fws | workspace bw | peak | of FlashRNN's |
|---|---|---|--:|--:|--:|--:|--:|--:|
"""
    for row in memory["rows"]:
        peer = row["flashrnn"]
        name = [row["cell"], shape_text({"shape": row})]
        for what, seen in (("products again", row), ("products saved", row.get("products_saved"))):
            if seen:
                ratios = ", ".join(f"{seen[key] / peer[key]:.2f}" for key in ("held_bytes", "peak_bytes"))
                text += "| " + " | ".join([*name, what, *(megabytes(seen[key]) for key in MEMORY), ratios]) + " |\n"
        text += "| " + " | ".join([*name, "FlashRNN", "", megabytes(peer["held_bytes"]), "", "", megabytes(peer["peak_bytes"]),
                                   ""]) + " |\n"
    return text


# What report and record call parts, in the order of columns; the names of records before `rondo bench --ablate` follow.
PARTS = ("products", "exchange", "loads", "clears", "inputs", "stores", "functions", "ahead")
EARLIER_NAMES = {"exchange": "loads", "waiting": "exchange", "clearing": "clears"}
WHAT_PARTS_ARE = {
    "products": "the products (mma)",
    "exchange": "waiting for other blocks (words and flags are looked at once)",
    "loads": "all loads of what other blocks sent",
    "clears": "clearing what was sent (measured without waiting)",
    "inputs": "asynchronous copies of inputs to shared memory",
    "stores": "stores of results",
    "functions": "special functions (tanh, exp, division)",
    "ahead": "what is computed ahead of the step",
}


def form_text(row):
    """How the blocks of a persistent kernel work together; of other strategies the name."""
    if row["strategy"] != "persistent":
        return row["strategy"]
    parameters = current("persistent", row["parameters"])
    blocks = parameters["blocks"]
    text = f"grid, {blocks} blocks" if parameters["exchange"] else "one block" if blocks == 1 else f"cluster of {blocks}"
    return text + (", reduce-scatter" if parameters["reduce_scatter"] else "")


def parts_row(row):
    """Form, nanoseconds a step, how many fewer without each part, and without each launch; of a record of any age."""
    if "ns_per_step" in row:
        saved = {EARLIER_NAMES.get(part, part): ns for part, ns in row["ns_per_step"].items() if part != "all"}
        return row["form"], row["ns_per_step"]["all"], saved, {}
    saved = {part["part"]: part["difference_ns"] for part in row["parts"]}
    launches = {part.removeprefix("launch "): ns for part, ns in saved.items() if part.startswith("launch ")}
    return form_text(row), row["whole_ns"], saved, launches


def parts_section(record):
    parts = record.get("parts")
    if not parts:
        return ""
    rows = [(row, *parts_row(row)) for row in parts["rows"]]
    columns = [part for part in PARTS if any(part in saved for _, _, _, saved, _ in rows)]
    launched = any(launches for *_, launches in rows)
    text = f"""
## What a step is made of{of_commit(parts, record)}

Nanoseconds a step, and how many fewer there are when a part is left out of the kernels:
""" + "\n".join(f"*{part}*, {WHAT_PARTS_ARE[part]};" for part in columns) + """
parts overlap, so they need not add up.
"""
    if launched:
        text += "*Launches*: what the others of several launches take, by leaving each out.\n"
    text += ("\n| cell | shape | pass | form | all | " + " | ".join(columns) + " |" + (" launches |" if launched else "") +
             "\n|---|---|---|---|--:|" + "--:|" * len(columns) + ("---|" if launched else "") + "\n")
    for row, form, whole, saved, launches in rows:
        cells = [cell_text(row), shape_text(row), row["pass"], form, f"{whole:.0f}",
                 *(f"{saved[part]:.0f}" if part in saved else "" for part in columns)]
        if launched:
            cells.append(", ".join(f"{name} {ns:.0f}" for name, ns in launches.items()))
        text += "| " + " | ".join(cells) + " |\n"
    return text


def sweeps_section(record):
    sweeps = record.get("sweeps")
    if not sweeps:
        return ""
    text = (f"\n## Along T, D and B{of_commit(sweeps, record)}\n\n"
            "| along | cell | shape | pass | median ms | ns a step |\n|---|---|---|---|--:|--:|\n")
    for row in sweeps["rows"]:
        text += (f"| {row['along']} | {cell_text(row)} | {shape_text(row)} | {row['pass']} | {median_text(row['median_ms'])} | "
                 f"{row['median_ms'] * 1e6 / row['shape']['T']:.0f} |\n")
    return text
