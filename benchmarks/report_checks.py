"""Pages of the GPU tests with their tunes, and of normalised cells, from *-tests.json, *-tunes.json and *-normalised.json: a part of report.py."""
import json

from report_text import median_text, wrapped


def read(results, pattern):
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(results.glob(pattern), reverse=True)]


def left_of(run):
    """How many tests were not reached; their names are kept only where a later call goes on with them."""
    return run["left"] if isinstance(run["left"], int) else len(run["left"])


def tests_table(record):
    text = f"""
## GPU tests, {record['device']}

| commit | date | under | tests | passed | skipped | failed | not reached |
|---|---|---|---|--:|--:|--:|--:|
"""
    notes = []
    for run in record["runs"]:
        which = "all" if run["filter"] == "*" else run.get("of", "a part")
        under = ", ".join(word for word in (run.get("backend", ""), run["tool"]) if word not in ("", "none"))
        text += (f"| {run['commit']} | {run['date']} | {under} | {which} | {run['passed']} | {run['skipped']} | "
                 f"{len(run['failed'])} | {left_of(run)} |\n")
        at = run["commit"] if run["tool"] == "none" else f"{run['commit']}, {run['tool']}"
        notes += [f"- {at}: `{name}` {why}." for name, why in run["failed"].items()]
        notes += [f"- {at}: {run['note']}."] if "note" in run else []
    return text + ("\n" + "\n".join(wrapped(note, "  ") for note in notes) + "\n" if notes else "")


def tunes_table(record):
    """A line for each commit and pass: seeds, tunes, winners."""
    text = f"""
## Tunes with several seeds, {record['device']}

| commit | pass | seeds | tunes | with a verified winner | with a wrong candidate |
|---|---|---|--:|--:|--:|
"""
    for commit, which in sorted({(row["commit"], row["pass"]) for row in record["rows"]}):
        rows = [row for row in record["rows"] if (row["commit"], row["pass"]) == (commit, which)]
        seeds = ", ".join(str(seed) for seed in sorted({row["seed"] for row in rows}))
        text += (f"| {commit} | {which} | {seeds} | {len(rows)} | {sum(row['winner'] for row in rows)} | "
                 f"{sum(row.get('wrong', 0) > 0 for row in rows)} |\n")
    return text


def random_cells_table(record):
    """A line for the simulator, and one for LLVM's kernels on a CPU."""
    text = """
## Random cells, without a GPU

| kernels | commit | date | cells | agree | called wrong | no strategy | not finite | ill-conditioned |
|---|---|---|--:|--:|--:|--:|--:|--:|
"""
    names = {"simulator": "in the simulator: three types, fw and bw", "native": "by LLVM, on a CPU: one type each, fws and bw"}
    for row in record["rows"]:
        text += (f"| {names[row['which']]} | {row['commit']} | {row['date']} | {row['cells']} | {row['passed']} | {row['failures']} | "
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

| cell | shape | commit | pass | ms | of the plain cell | PyTorch ms | / ours |
|---|---|---|---|--:|--:|--:|--:|
"""
        for row in record["rows"]:
            for which in ("fw", "fwbw"):
                ours, plain, torch = (row.get(key, {}).get(which) for key in ("ours", "plain_cell", "torch"))
                ms, beside = (found.get("ms") if found else None for found in (ours, plain))
                text += (f"| {row['cell']} | {row['shape']} | {row['commit']} | {which} | {median_text(ms) if ms else ''} | {f'{ms / beside:.2f}' if ms and beside else ''} | "
                         f"{median_text(torch) if torch else ''} | {f'{torch / ms:.0f}x' if torch and ms else ''} |\n")
    if not text:
        return ""
    return "# Normalised cells\n\n" + wrapped("""Passes of cells that normalise over the head, as a multiple of the plain cell's time in the same run, bf16,
tuned; the aim is 1.3. PyTorch runs the same step as a batched product, `layer_norm` and elementwise operations, the whole sequence in one CUDA
graph (`benchmarks/normalised.py`).""") + "\n" + text
