"""The pages of docs/results on cells with matrices. Each is empty for a record that was made without its stage."""
from parameter_names import current
from report_text import median_text, shape_text, stands, table, wrapped


def dense_page(record):
    rows = record.get("dense")
    if not rows:
        return ""
    return ("# Cells with matrices\n\nEach head has recurrent matrices of its own. [results.md](../results.md) says how rows are"
            " timed.\n" + stands(rows) + "\n## All rows\n\n" + table(rows))


def dense_times(record, row):
    """Milliseconds of fw and fwbw that the record has for the row's cell and shape."""
    found = {r["pass"]: r["median_ms"] for r in record.get("dense", []) if (r["cell"], r["shape"]) == (row["cell"], row["shape"])}
    return found.get("fw"), found.get("fwbw")


def layers_page(record):
    peers = record.get("peers")
    if not peers:
        return ""
    said = wrapped(f"""`benchmarks/peers.py` timed PyTorch's layers on the same machine (PyTorch {peers['torch']}, cuDNN
{peers['cudnn']}, fp16, medians in milliseconds). The layers also multiply the input weights, which they cannot leave out
and which Rondo's rows do not contain. A device copy ran at {peers['copy_bytes_per_s'] / 1e12:.2f} TB/s. `fw` is the
forward pass, `fwbw` a training step.""")
    text = f"""# Beside PyTorch's layers

{said}

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


def saved_page(record):
    saved = record.get("saved")
    if not saved:
        return ""
    text = f"""# With products saved

With `--save products` the forward pass of training (`fws`) stores the products of the recurrent matrices for the
backward pass (`bw`). By default (`--save states`) the backward pass multiplies the saved states again; the last column
gives its time. Times are in milliseconds.

| cell | shape | fws | bw | fwbw | fwbw, multiplied again |
|---|---|--:|--:|--:|--:|
"""
    rows = saved["rows"]
    for row in rows:
        if row["pass"] == "refused":
            text += f"| {row['cell']} | {shape_text(row)} | refused: rounded products give wrong gradients | | | |\n"
        if row["pass"] != "fws":
            continue
        bw = next(r for r in rows if r["pass"] == "bw" and (r["cell"], r["shape"]) == (row["cell"], row["shape"]))
        _, training = dense_times(record, row)
        text += (f"| {row['cell']} | {shape_text(row)} | {row['median_ms']:.3f} | {bw['median_ms']:.3f} | "
                 f"{row['median_ms'] + bw['median_ms']:.3f} | {'' if training is None else format(training, '.3f')} |\n")
    return text


def megabytes(count):
    return f"{count / 1e6:.0f}" if count >= 1e7 else f"{count / 1e6:.1f}"


MEMORY = ("saved_bytes", "held_bytes", "forward_workspace_bytes", "backward_workspace_bytes", "peak_bytes")


def memory_page(record):
    memory = record.get("memory")
    if not memory:
        return ""
    text = f"""# Memory of a training step

The table counts megabytes beside outputs, parameters and parameter gradients.

- *Saved* is what the forward pass stores for the backward pass: states that no output carries and, with
  `--save products`, the products of the recurrent matrices.
- *Held* is what stays allocated from the forward to the backward pass. For Rondo it is the inputs, which the backward
  pass reads again, and what is saved. For FlashRNN it is all states and all gates, without the inputs.
- *Workspace* holds products that are multiplied again where they were not saved, and partial sums.
- *Peak* is the most at any time. Rondo reaches it in the backward pass: held memory, workspace and input gradients.
  FlashRNN writes the input gradients over its gates.
- The last column divides Rondo's held memory and its peak by FlashRNN's.

Rondo's figures come from its plans, for the choice that was measured. Those with products saved are for the cost
model's choice and were not measured. FlashRNN's figures are counted from its code (`benchmarks/dense_rows.json`) and
cover tensors with a time axis only.

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


# The parts in the order of columns. Records from before `rondo bench --ablate` timed them used the names that follow.
PARTS = ("products", "exchange", "loads", "clears", "messages", "barriers", "inputs", "stores", "functions", "ahead")
EARLIER_NAMES = {"exchange": "loads", "waiting": "exchange", "clearing": "clears"}
WHAT_PARTS_ARE = {
    "products": "the tensor-core products",
    "exchange": "waiting for other blocks (the kernel reads each word or flag once)",
    "loads": "all loads of words that other blocks sent",
    "clears": "clearing the exchange words (measured in a kernel that does not wait)",
    "messages": "what blocks send each other (in a kernel that neither waits nor clears)",
    "barriers": "barriers of the block in loops, and mbarriers (in a kernel that sends no messages)",
    "inputs": "asynchronous copies of inputs to shared memory",
    "stores": "stores of results",
    "functions": "special functions (tanh, exp, division)",
    "ahead": "the part of the next step that is computed early",
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


def parts_page(record):
    parts = record.get("parts")
    if not parts:
        return ""
    rows = [(row, *parts_row(row)) for row in parts["rows"]]
    columns = [part for part in PARTS if any(part in saved for _, _, _, saved, _ in rows)]
    launched = any(launches for *_, launches in rows)
    text = f"""# What a step is made of

`rondo bench --ablate` times each kernel again without one of its parts. Column *all* gives the nanoseconds of a step;
the other columns give how many nanoseconds fewer a step takes without that part. Parts overlap, so the columns need
not add up to the whole.

""" + "\n".join(f"- *{part}*: {WHAT_PARTS_ARE[part]}" for part in columns) + "\n"
    if launched:
        text += "- *launches*: each launch of a pass that has several\n"
    text += ("\n| cell | shape | pass | form | all | " + " | ".join(columns) + " |" + (" launches |" if launched else "") +
             "\n|---|---|---|---|--:|" + "--:|" * len(columns) + ("---|" if launched else "") + "\n")
    for row, form, whole, saved, launches in rows:
        cells = [row["cell"], shape_text(row), row["pass"], form, f"{whole:.0f}",
                 *(f"{saved[part]:.0f}" if part in saved else "" for part in columns)]
        if launched:
            cells.append(", ".join(f"{name} {ns:.0f}" for name, ns in launches.items()))
        text += "| " + " | ".join(cells) + " |\n"
    return text


def sweeps_page(record):
    sweeps = record.get("sweeps")
    if not sweeps:
        return ""
    text = (f"# Along T, D and B\n\nOne size varies in each group of rows; the others stay fixed."
            " All rows are bf16.\n\n| along | cell | shape | pass | median ms | ns per step |\n|---|---|---|---|--:|--:|\n")
    for row in sweeps["rows"]:
        text += (f"| {row['along']} | {row['cell']} | {shape_text(row)} | {row['pass']} | {median_text(row['median_ms'])} | "
                 f"{row['median_ms'] * 1e6 / row['shape']['T']:.0f} |\n")
    return text
