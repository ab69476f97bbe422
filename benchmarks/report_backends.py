"""The page of the two backends for GPUs, from the records of benchmarks/backends.py and what the compilers said of the kernels of
all shipped cells (llvm-*.txt, written by the tests LlvmCompile.Spills*): a part of report.py."""
import json

from report_text import median_text, wrapped

NEAR = 0.05  # rows beyond it are named
REGISTERS = 0.10  # more or fewer than NVRTC's count as near


def backends_page(results):
    """Of all records *-llvm.json and lists llvm-*.txt in the folder `results`; empty without one."""
    records = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(results.glob("*-llvm.json"), reverse=True)]
    lists = sorted(results.glob("llvm-*.txt"))
    if not records and not lists:
        return ""
    said = wrapped("""[NVRTC and LLVM](../llvm.md) compile the same KernelIR: the rows of the record with the model's choice of parameters.
Each row was verified with LLVM's kernel, and timed in four processes whose backends took turns. *Ready* is the time from the
parsed cell to a loaded kernel that no database has.""")
    text = "# NVRTC and LLVM, side by side\n\n" + said + "\n"
    return text + "".join(timed(record) for record in records) + "".join(compiled(path) for path in lists)


def timed(record):
    rows = [row for row in record["rows"] if "ratio" in row]
    worst, best = max(rows, key=ratio), min(rows, key=ratio)
    slower = [row for row in rows if ratio(row) > 1 + NEAR]
    faster = sum(ratio(row) < 1 - NEAR for row in rows)
    said = f"""Of {len(record['rows'])} rows {sum(row['verified'] for row in rows)} are verified. With LLVM {len(slower)} take more than
{1 + NEAR:.2f} of NVRTC's time and {faster} less than {1 - NEAR:.2f}. The slowest is {name_of(worst)}, {ratio(worst):.3f}, and the fastest
{name_of(best)}, {ratio(best):.3f}."""
    alone = record.get("driver_alone", {})
    if "ready_ms" in alone:
        said += f""" With NVRTC, nvJitLink and ptxas hidden, {alone['cell']} (the first row's shape) is ready after {alone['ready_ms']:.0f} ms
and takes {alone['median_ms']:.4f} ms: LLVM writes PTX, and the driver assembles it."""
    text = f"\n## {record['device']}\n\n{wrapped(said)}\n\n"
    text += "| cell | shape | dtype | pass | nvrtc ms | llvm ms | ratio | ready ms, nvrtc | llvm |\n|---|---|---|---|--:|--:|--:|--:|--:|\n"
    for row in rows:
        nvrtc, llvm = row["nvrtc"], row["llvm"]
        cells = [row["cell"], row["shape"].replace(",", " "), row["dtype"], row["pass"], median_text(nvrtc["ms"]),
                 median_text(llvm["ms"]), f"{ratio(row):.3f}", f"{nvrtc['ready_ms']:.0f}", f"{llvm['ready_ms']:.0f}"]
        text += "| " + " | ".join(cells) + " |\n"
    return text


def ratio(row):
    return row["ratio"]


def name_of(row):
    return f"{row['cell']} {row['shape'].replace(',', ' ')} {row['dtype']} {row['pass']}"


def compiled(path):
    """Registers, spills and time to compile of every kernel in a list, by LLVM and by NVRTC."""
    kernels = [kernel_of(line.split()) for line in path.read_text(encoding="utf-8").splitlines()]
    of = [kernel["llvm"][0] / kernel["nvrtc"][0] for kernel in kernels]
    more = [kernel for kernel, share in zip(kernels, of) if share > 1 + REGISTERS]
    most = max(kernels, key=lambda kernel: kernel["llvm"][0] / kernel["nvrtc"][0])
    alone = [kernel for kernel in kernels if kernel["llvm"][1] and not kernel["nvrtc"][1]]
    spared = [kernel for kernel in kernels if kernel["nvrtc"][1] and not kernel["llvm"][1]]
    milliseconds = [sum(kernel[who][2] for kernel in kernels) for who in ("llvm", "nvrtc")]
    said = f"""The model's choice of every shipped cell, pass, type and strategy, B=8, T=512, H=1, D=256, compiled both ways for
{path.stem.removeprefix('llvm-')} with ptxas behind both. [The list](../../benchmarks/results/{path.name}) says of each kernel registers,
spilled bytes and milliseconds, by LLVM and by NVRTC. These are figures of the compilers."""
    text = f"\n## Registers and spills, {path.stem.removeprefix('llvm-')}\n\n{wrapped(said)}\n\n"
    text += f"| of {len(kernels)} kernels | |\n|---|---|\n"
    text += f"| within {REGISTERS:.0%} of NVRTC's registers | {sum(abs(share - 1) <= REGISTERS for share in of)} |\n"
    text += f"| fewer than {1 - REGISTERS:.0%} | {sum(share < 1 - REGISTERS for share in of)} |\n"
    text += (f"| more than {1 + REGISTERS:.0%} | {len(more)}: {counted(more)}; at most {max(of):.0%} "
             f"({most['llvm'][0]} and {most['nvrtc'][0]}, {most['name']}) |\n")
    text += f"| spill where NVRTC's does not | {len(alone)}: {spilled(alone)} |\n" if alone else ""
    text += f"| NVRTC's spill and LLVM's do not | {len(spared)} |\n"
    return text + f"| time to compile, all of them | {milliseconds[0] / milliseconds[1]:.2f} of NVRTC's (one run, beside other work) |\n"


def kernel_of(words):
    cell, strategy, which, dtype, _, kernel = words[:6]
    figures = [float(word) if "." in word else int(word) for word in words[6:]]
    return {"cell": cell, "strategy": strategy, "pass": which, "dtype": dtype, "kernel": kernel,
            "name": f"{cell} {strategy} {which} {dtype}", "llvm": figures[:3], "nvrtc": figures[3:]}


def subject_of(kernel):
    """Kernels around the strategy's own, such as a gradient of matrices, go by their own name."""
    own = kernel["kernel"].removeprefix(kernel["cell"] + "_")
    return f"{kernel['strategy']} {kernel['pass']}" if own.startswith(kernel["strategy"]) else own


def counted(kernels):
    by = {}
    for kernel in kernels:
        by[subject_of(kernel)] = by.get(subject_of(kernel), 0) + 1
    return ", ".join(f"{count} {subject}" for subject, count in sorted(by.items(), key=lambda item: -item[1]))


def spilled(kernels):
    return ", ".join(f"{kernel['name']} {kernel['llvm'][1]} bytes" for kernel in kernels)
