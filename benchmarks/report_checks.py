"""Pages of the GPU tests with their tunes, and of normalised cells, from *-tests.json, *-tunes.json and *-normalised.json: a part of report.py."""
import re

from report_text import median_text, read, wrapped


def left_of(run):
    """How many tests were not reached; their names are kept only where a later call goes on with them."""
    return run["left"] if isinstance(run["left"], int) else len(run["left"])


def tests_table(record):
    text = f"""
## GPU tests, {record['device']}

| run | date | under | tests | passed | skipped | failed | not reached |
|--:|---|---|---|--:|--:|--:|--:|
"""
    notes = []
    number_of = {run["commit"]: number for number, run in reversed(list(enumerate(record["runs"], 1)))}
    told = lambda words: re.sub(r"\b[0-9a-f]{7,8}\b", lambda found: f"run {number_of[found[0]]}" if found[0] in number_of else found[0], words)
    for number, run in enumerate(record["runs"], 1):
        which = "all" if run["filter"] == "*" else told(run.get("of", "a part"))
        under = ", ".join(word for word in (run.get("backend", ""), run["tool"]) if word not in ("", "none"))
        text += (f"| {number} | {run['date']} | {under} | {which} | {run['passed']} | {run['skipped']} | "
                 f"{len(run['failed'])} | {left_of(run)} |\n")
        at = f"Run {number}" + ("" if run["tool"] == "none" else f", {run['tool']}")
        for why in dict.fromkeys(run["failed"].values()):
            names = [f"`{name}`" for name, other in run["failed"].items() if other == why]
            notes.append(f"- {at}: {', '.join(names)} {why}.")
        notes += [f"- {at}: {told(run['note'])}."] if "note" in run else []
    return text + ("\n" + "\n".join(wrapped(note, "  ") for note in notes) + "\n" if notes else "")


def tunes_table(record):
    """A line for each pass: seeds, tunes, winners."""
    text = f"""
## Tunes with several seeds, {record['device']}

| pass | seeds | tunes | with a verified winner | with a wrong candidate |
|---|---|--:|--:|--:|
"""
    for which in sorted({row["pass"] for row in record["rows"]}):
        rows = [row for row in record["rows"] if row["pass"] == which]
        seeds = ", ".join(str(seed) for seed in sorted({row["seed"] for row in rows}))
        text += (f"| {which} | {seeds} | {len(rows)} | {sum(row['winner'] for row in rows)} | "
                 f"{sum(row.get('wrong', 0) > 0 for row in rows)} |\n")
    return text


def random_cells_table(record):
    """A line for the simulator, and one for LLVM's kernels on a CPU."""
    text = """
## Random cells, without a GPU

| kernels | date | cells | agree | called wrong | no strategy | not finite | ill-conditioned |
|---|---|--:|--:|--:|--:|--:|--:|
"""
    names = {"simulator": "in the simulator: three types, fw and bw", "native": "by LLVM, on a CPU: one type each, fws and bw"}
    for row in record["rows"]:
        text += (f"| {names[row['which']]} | {row['date']} | {row['cells']} | {row['passed']} | {row['failures']} | "
                 f"{row['no_strategy']} | {row['not_finite']} | {row.get('ill_conditioned', '')} |\n")
    return text


def gpu_tests_page(results):
    """What tests on GPUs said; empty without a record."""
    text = "".join(tests_table(record) for record in read(results, "*-tests.json"))
    if not text:
        return ""
    return "# GPU tests\n\n" + wrapped("""The tests of `test_gpu` compare every kernel with the fp64 reference, alone and under a tool of
compute-sanitizer (`benchmarks/gpu_tests.py`). A test that was not reached waits for the next run.""") + "\n" + text


def checks_page(results):
    """What random cells and tunes said; empty without a record."""
    text = "".join(random_cells_table(record) for record in read(results, "random-cells.json"))
    text += "".join(tunes_table(record) for record in read(results, "*-tunes.json"))
    if not text:
        return ""
    return "# Correctness\n\n" + wrapped("""Kernels of random cells are compared with the fp64 reference in the simulator and, compiled by LLVM,
on a CPU (`benchmarks/random_cells.py`). A tune verifies every candidate (`benchmarks/tunes.py`).""") + "\n" + text


def normalised_page(results):
    """Normalised cells beside plain ones and PyTorch; empty without a record."""
    text = ""
    for record in read(results, "*-normalised.json"):
        text += f"""
## {record['device']}

| cell | shape | pass | ms | of the plain cell | PyTorch ms | / ours |
|---|---|---|--:|--:|--:|--:|
"""
        for row in record["rows"]:
            for which in ("fw", "fwbw"):
                ours, plain, torch = (row.get(key, {}).get(which) for key in ("ours", "plain_cell", "torch"))
                ms, beside = (found.get("ms") if found else None for found in (ours, plain))
                text += (f"| {row['cell']} | {row['shape']} | {which} | {median_text(ms) if ms else ''} | {f'{ms / beside:.2f}' if ms and beside else ''} | "
                         f"{median_text(torch) if torch else ''} | {f'{torch / ms:.0f}x' if torch and ms else ''} |\n")
    if not text:
        return ""
    return "# Normalised cells\n\n" + wrapped("""Passes of cells that normalise over the head, as a multiple of the plain cell's time in the same run, bf16,
tuned; the aim is 1.3. PyTorch runs the same step as a batched product, `layer_norm` and elementwise operations, the whole sequence in one CUDA
graph (`benchmarks/normalised.py`).""") + "\n" + text
