"""Pages of layers end to end, CPUs, the C interface, forms and packed sequences, from the records min.json, *cpu.json,
*-capi.json, *-forms.json and *-packed.json: a part of report.py."""
import statistics

from report_text import against, median_text, read, wrapped


def min_page(results):
    """minGRU and minLSTM as layers; empty without a record."""
    text = ""
    for record in read(results, "min.json"):
        text += f"""
## {record['gpu'] or 'no GPU'}, {record['cores']} CPU cores

B={record['batch']}, D={record['dim']}, fp32, milliseconds. In brackets: the recurrence alone.

| cell | T | loop | CPU, one thread | CPU, all | GPU | loop / GPU |
|---|--:|--:|--:|--:|--:|--:|
"""
        for row in record["rows"]:
            forms = [row.get(form) for form in ("loop", "cpu 1", "cpu", "gpu")]
            shown = [f"{median_text(f['all'])} ({median_text(f['recurrence'])})" if f and "all" in f else "" for f in forms]
            ratio = f"{row['loop']['all'] / row['gpu']['all']:.0f}x" if shown[3] else ""
            text += f"| {row['cell']} | {row['T']} | {' | '.join(shown)} | {ratio} |\n"
    if not text:
        return ""
    return "# minGRU and minLSTM as layers\n\n" + wrapped("""A layer multiplies its input by the cell's weights, one product for
all steps, walks the recurrence, and projects the output by one product more. *loop* is NumPy a step at a time on one thread, as the
sequential form reads. The others are Rondo's kernels, compiled by LLVM for CPUs, between NumPy's products, and on the GPU between
PyTorch's. All give the same outputs. `benchmarks/min_table.py` makes the table on any machine.""") + "\n" + text


PASSES = ("fw", "fws", "bw")
OF_COPY = 0.7  # of the bandwidth of a copy, where memory bounds a pass


def cpu_shares(rows):
    """What memory bounds, and what arithmetic does."""
    if not rows:
        return ""
    text = "\n" + wrapped(f"""Cells without matrices, beside a copy of as many bytes. Memory bounds a pass whose steps alone, on data that a cache holds, take
less time than the copy; it is to reach {OF_COPY} of the copy. Where the steps take longer, arithmetic bounds it.""") + """

| cell | B, T, H, D | dtype | pass | copy ms | steps alone ms | bound by | of copy | |
|---|---|---|---|--:|--:|---|--:|---|
"""
    for row in rows:
        by_memory = row["steps_ms"] < row["copy_ms"]
        text += (f"| {row['cell']} | {row['B']}, {row['T']}, {row['H']}, {row['D']} | {row['dtype']} | {row['pass']} | {median_text(row['copy_ms'])} | "
                 f"{median_text(row['steps_ms'])} | {'memory' if by_memory else 'arithmetic'} | {row['share_of_copy']:.2f} | "
                 f"{against(OF_COPY, row['share_of_copy']) if by_memory else ''} |\n")
    return text


def products_alone(row):
    """Three cells of the table: milliseconds forward and with gradients, and these as a share of JAX's time."""
    alone = row.get("products_alone_ms")
    if not alone:
        return " | | "
    return f"{median_text(alone['fw'])} | {median_text(alone['gradients'])} | {alone['gradients'] / row['jax_gradients_ms']:.2f}"


def cpu_page(results):
    """Kernels for CPUs beside JAX and the reference; empty without a record."""
    text = ""
    for record in read(results, "*cpu.json"):
        text += f"""
{wrapped(record['note'][:1].upper() + record['note'][1:] + f". {record['threads']} threads, {record['target']}, JAX {record['jax']}.")}

| cell | B, T, H, D | forward ms | of JAX's | with gradients ms | of JAX's | reference / Rondo | products alone, fw | with gradients | of JAX's |
|---|---|--:|--:|--:|--:|--:|--:|--:|--:|
"""
        for row in record["rows"]:
            text += (f"| {row['cell']} | {row['B']}, {row['T']}, {row['H']}, {row['D']} | {median_text(row['fw_ms'])} | "
                     f"{row['fw_ms'] / row['jax_fw_ms']:.2f} | {median_text(row['gradients_ms'])} | "
                     f"{row['gradients_ms'] / row['jax_gradients_ms']:.2f} | {row['reference_ms'] / row['fw_ms']:.0f}x | "
                     f"{products_alone(row)} |\n")
        text += cpu_shares(record.get("shares", []))
    if not text:
        return ""
    return "# CPUs\n\n" + wrapped("""Kernels of the strategy [host](../strategies/host.md) beside `jax.lax.scan` under `jit` on the same CPU,
and beside the reference executor, fp32. Both sides take turns in one run (`benchmarks/cpu.py`). With gradients, products of the matrices are
saved in between where that is faster. *Products alone* is what the row's products take at the rate of one large product by NumPy or JAX.""") + "\n" + text


def host_times(records):
    """A line for each plan whose calls were timed: what the host takes, the first time too, and what an empty kernel takes, where known."""
    text = "| record | host time of a call | tensors | B, T, H, D | again, us | the first time | an empty kernel |\n|---|---|--:|---|--:|--:|--:|\n"
    for record in records:
        for host in record.get("hosts") or [record["host"]]:
            shown = [f"{host[key]:.1f}" if key in host else "" for key in ("launch_us", "new_us", "driver_us")]
            shape = ", ".join(str(host[axis]) for axis in "BTHD" if axis in host)
            text += f"| {record['name']} | {host['strategy']} | {host['tensors']} | {shape} | {' | '.join(shown)} |\n"
    return text


def first_times(records):
    """The longest time to the end of the first launch, by where its code comes from."""
    text = "| record | ms to the first result: from a package | not in the page cache | from a database | compiled |\n|---|--:|--:|--:|--:|\n"
    for record in records:
        worst = {name: max(times["first_ms"] for times in found) for name, found in record["first"].items() if isinstance(found, list)}
        text += (f"| {record['name']} | {worst['package_warm']:.1f} | {worst['package_cold']:.1f} | {worst['database_warm']:.0f} | "
                 f"{worst['compiled']:.0f} |\n")
    return text


def tuned_there(records):
    """Problems that were tuned through the C interface, to a verified winner."""
    text = "| record | tuned through the C interface | B, T, H, D | pass | s | ms | of the model's choice |\n|---|---|---|---|--:|--:|--:|\n"
    for record in records:
        for row in record.get("tuned", []):
            text += (f"| {record['name']} | {row['cell']} | {row['B']}, {row['T']}, {row['H']}, {row['D']} | {row['pass']} | "
                     f"{row['seconds']:.0f} | {median_text(row['ms'])} | {median_text(row['model_ms'])} |\n")
    return text


def within(record):
    """How many rows are within 1% of `rondo bench`, and the longest."""
    if "summary" not in record:
        return "No row was reached."
    said = [f"{found['within_1_percent']} of {found['rows']} rows {name} (longest: {found['worst']:.3f})"
            for found, name in ((record["summary"]["capi_ratio"], "through the C interface"), (record["summary"]["package_ratio"], "from packages"))]
    return f"At most 1% longer than by `rondo bench`: {said[0]}, {said[1]}."


def devices_checked(record):
    """Where the machine had several GPUs of the kind: what one process launched on."""
    count = min((check.get("devices_alike", 1) for check in record["checks"]), default=1)
    return f", and all {count} GPUs in one process" if count > 1 else ""


def capi_table(rows):
    """A line for each problem: of each pass the time by `rondo bench` and both ratios, then its processes and what they differ by."""
    text = "| cell | B, T, H, D | dtype | fw ms | C | package | fws ms | C | package | bw ms | C | package | processes | among them |\n"
    text += "|---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|---|\n"
    problems = {}
    for row in rows:
        problems.setdefault(tuple(row[key] for key in ("cell", "B", "T", "H", "D", "dtype")), {})[row["pass"]] = row
    for (cell, *shape, dtype), passes in problems.items():
        ms = {which: row["ms"]["bench"] for which, row in passes.items()}
        shown = [f"{median_text(statistics.median(ms[which]))} | {passes[which]['capi_ratio']:.3f} | {passes[which]['package_ratio']:.3f}"
                 if which in passes else " | | " for which in PASSES]
        text += (f"| {cell} | {', '.join(map(str, shape))} | {dtype} | {' | '.join(shown)} | {', '.join(str(len(each)) for each in ms.values())} | "
                 f"{', '.join(f'{max(each) / min(each):.3f}' for each in ms.values())} |\n")
    return text


def capi_page(results):
    """Launches through the C interface and from packages; empty without a record."""
    records = read(results, "*-capi.json")
    text = f"\n## Calls, first launches, and tuning\n\n{host_times(records)}\n{first_times(records)}\n{tuned_there(records)}" if records else ""
    for record in records:
        said = wrapped(f"""{record.get('note', '')} In all {len(record['checks'])} checks a captured graph, and two threads on two
streams{devices_checked(record)}, gave the same bits as one launch. {within(record)}""".strip())
        text += f"""
## {record['device']}, record {record['name']}

{said}

{capi_table(record["rows"])}"""
    if not text:
        return ""
    return "# The C interface and packages\n\n" + wrapped("""The tables compare three ways to launch the same kernels, with the same
strategy and parameters: `rondo bench`, a program that uses `librondo`, and one that launches a package through `librondo_rt`
(`benchmarks/capi.py`). *C* and *package* are the GPU's time in such a program divided by that of `rondo bench`: 1.010 is 1% longer. The
ways take turns, three *processes* of each; where those of one way differ by more than 0.5%, there are eleven. A way's time is the mean of
the middle half of its processes, of three the median. *Among them* is the longest time of `rondo bench` divided by its shortest. A record has the rows
and passes that were asked for, as far as there was time. The *host's time* is that of a call from a package that comes again, with the same
arguments, and of one that does not; beside it stands what an empty kernel takes the driver in the same process. The *first launch* is timed
from a context that exists to the end of its kernels.""") + "\n" + text


def service_page(results):
    """The service of examples/ under load; empty without a record."""
    text = ""
    for record in read(results, "*-service.json"):
        seconds = record["seconds"]
        grown = {"Host memory": record["host_kb"][-1] - record["host_kb"][0],
                 "the device's": (record["free_device_bytes"][0] - record["free_device_bytes"][-1]) // 1024}
        memory = " and ".join(f"{whose} {f'grew by {kb} KB' if kb > 0 else 'stayed as it was'}" for whose, kb in grown.items())
        text += f"\n## {record['device']}\n\n" + wrapped(f"""The service of
`examples/service` answered {record['requests']} requests of random sizes in {f"{seconds} s" if seconds < 120 else f"{seconds / 60:.0f} minutes"}
(`benchmarks/service.py`): median latency {median_text(record['p50_ms'])} ms, 99th percentile {median_text(record['p99_ms'])} ms. {memory}.
{record.get('note', '')}""".strip()) + "\n"
    return "# The service under load\n" + text if text else ""


def forms_page(results):
    """What forms of the sequence cost; empty without a record."""
    text = ""
    for record in read(results, "*-forms.json"):
        names = [form for form in record["rows"][0]["forms"] if form]
        text += f"""
## {record['device']}

| cell | shape | pass | plain ms | {' | '.join(names)} |
|---|---|---|--:|{'--:|' * len(names)}
"""
        for row in record["rows"]:
            plain = row["forms"][""].get("ms")
            shown = [f"{row['forms'][form]['ms'] / plain:.3f}" if plain and "ms" in row["forms"][form] else "" for form in names]
            text += (f"| {row['cell']} | {row['shape']} | {row['pass']} | "
                     f"{median_text(plain) if plain else ''} | {' | '.join(shown)} |\n")
    if not text:
        return ""
    return "# What forms cost\n\n" + wrapped("""A pass with [resets, lengths or reversed time](../forms.md), as a multiple of the plain
pass in the same run, bf16. No reset is set and all lengths are T, so that both do the same work (`benchmarks/forms.py`).""") + "\n" + text


def packed_page(results):
    """Layers over sequences of different length beside cuDNN; empty without a record."""
    text = ""
    for record in read(results, "*-packed.json"):
        text += f"""
## {record['device']}, PyTorch {record['torch']}, cuDNN {record['cudnn']}

{record['shape']}, lengths drawn evenly from 1 to T.

| cell | dtype | directions | pass | ms | PyTorch ms | / ours | longest ms | of the longest | results |
|---|---|--:|---|--:|--:|--:|--:|--:|---|
"""
        for row in record["rows"]:
            name = f"| {row['cell']} | {row['dtype']} | {row['directions']} |"
            if "error" in row:
                text += f"{name} | | | | | | {row['error']} |\n"
                continue
            for which in ("fw", "fwbw"):
                ours, theirs, longest = (row[key][which] for key in ("ours", "torch", "longest"))
                text += (f"{name} {which} | {median_text(ours)} | {median_text(theirs)} | {theirs / ours:.2f}x | {median_text(longest)} | "
                         f"{ours / longest:.2f} | {'within rounding' if row['errors']['right'] else 'WRONG'} |\n")
    if not text:
        return ""
    return "# Packed sequences\n\n" + wrapped("""LSTM and GRU layers over sequences of [different length](../forms.md#lengths) beside `torch.nn`
with a PackedSequence (cuDNN), in one run, in turns (`benchmarks/packed.py`). `fw` is inference; `fwbw` is forward and backward, with the
gradients of the layer's input and of all weights. Both sides multiply the layer's input by the input weights: PyTorch inside the layer and the valid steps
alone, Rondo by `torch.addmm` and all T steps of each row, before its kernels. A second direction is a reversed cell. *Longest* is Rondo's time when each row is as long as the
longest of its batch tile; the aim is within 1.1 of it. PyTorch brings weights together once where they are fp16 (`flatten_parameters`); those
in bf16 it leaves apart, and says that cuDNN brings them together at each call. Results and gradients of a smaller problem are compared with fp64.""") + "\n" + text
