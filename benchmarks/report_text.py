"""What rows of the record say, as text: shared by the parts of report.py."""
import json
import textwrap

WIDTH = 118  # of a line of prose


def wrapped(paragraph, indent=""):
    """A paragraph in lines of at most WIDTH characters; the lines after the first begin with `indent`."""
    return textwrap.fill(" ".join(paragraph.split()), WIDTH, subsequent_indent=indent, break_long_words=False,
                         break_on_hyphens=False)


def read(results, pattern):
    """The records of the pattern, each with its name: "h200-later" is h200-later-capi.json."""
    return [{"name": path.name.removesuffix(pattern.lstrip("*")), **json.loads(path.read_text(encoding="utf-8"))}
            for path in sorted(results.glob(pattern), reverse=True)]


def shape_text(row):
    shape = row["shape"]
    return f"B={shape['B']} T={shape['T']} D={shape['D']}" + (f" H={shape['H']}" if shape["H"] != 1 else "")


def ratio_to_target(row):
    """Median over target: 1 or less is met. None without a target."""
    return row["median_ms"] / row["target_ms"] if row.get("target_ms") else None


def verdict(row):
    ratio = ratio_to_target(row)
    if ratio is None:
        return ""
    if ratio <= 1:
        return f"{ratio:.2f} met"
    over = (ratio - 1) * 100
    return f"{ratio:.2f} **missed by {over:.1f}%**" if over < 10 else f"{ratio:.2f} **missed by {over:.0f}%**"


def milliseconds(value):
    """Four figures at most, as many as the spread allows."""
    if not value:
        return ""
    return f"{value:.3g}" if value < 1 else f"{value:.2f}"


def median_text(value):
    return f"{value:.4f}" if value < 1 else f"{value:.3f}"


def speed_up(row):
    return f"{row['peer_ms'] / row['median_ms']:.2f}x" if row.get("peer_ms") else ""


def missed(rows):
    return [row for row in rows if (ratio_to_target(row) or 0) > 1]


def table(rows):
    lines = ["| cell | shape | dtype | pass | median ms | spread | MB | of copy | target ms | of target | peer ms | speed-up | peer |",
             "|---|---|---|---|--:|--:|--:|--:|--:|---|--:|--:|---|"]
    for row in rows:
        cells = [row["cell"], shape_text(row), row["dtype"], row["pass"], median_text(row["median_ms"]),
                 spread_text(row), f"{row['bytes'] / 1e6:.1f}", f"{row['share_of_copy_bandwidth'] * 100:.0f}%",
                 milliseconds(row.get("target_ms")), verdict(row), milliseconds(row.get("peer_ms")), speed_up(row),
                 row["peer"] if row.get("peer_ms") else ""]
        lines.append("| " + " | ".join(cells) + " |")
    notes = [wrapped(f"{row['cell']} {shape_text(row)} {row['dtype']} {row['pass']}: {row['note']}.") for row in rows
             if "note" in row]
    return "\n".join(lines) + "\n" + "".join(f"\n{note}\n" for note in notes)


def spread_text(row):
    """Nothing where it was not kept."""
    return "" if row["spread"] is None else f"{row['spread'] * 100:.1f}%"


def counts(rows):
    """How many rows meet their targets and are faster than the peer, in one sentence."""
    with_target = [row for row in rows if ratio_to_target(row) is not None]
    with_peer = [row for row in rows if row.get("peer_ms")]
    faster = [row for row in with_peer if row["median_ms"] < row["peer_ms"]]
    return (f"{len(with_target) - len(missed(rows))} of {len(with_target)} targets are met; "
            f"{len(faster)} of {len(with_peer)} rows are faster than the peer.")


def row_name(row):
    return f"{row['cell']} {shape_text(row)} {row['dtype']} {row['pass']}"


def slower(rows):
    return [row for row in rows if row.get("peer_ms") and row["median_ms"] >= row["peer_ms"]]


def stands(rows):
    """The counts, each row that misses its target, and each that is slower than the peer."""
    text = f"\n## Where they stand\n\n{counts(rows)}\n"
    late = missed(rows)
    if late:
        text += ("\nThese rows miss their targets; the largest miss comes first. Channels are B x H x D, the number of\n"
                 "recurrences that run side by side.\n\n")
        for row in sorted(late, key=ratio_to_target, reverse=True):
            shape = row["shape"]
            over = (ratio_to_target(row) - 1) * 100
            text += (f"- {row_name(row)}: {median_text(row['median_ms'])} ms, "
                     f"target {milliseconds(row['target_ms'])} (+{over:.{1 if over < 10 else 0}f}%), "
                     f"{row['share_of_copy_bandwidth'] * 100:.0f}% of copy, "
                     f"{shape['B'] * shape['H'] * shape['D']} channels\n")
    if slower(rows):
        text += "\nThese rows are slower than the peer:\n\n"
        for row in slower(rows):
            text += (f"- {row_name(row)}: {median_text(row['median_ms'])} ms, "
                     f"{row['peer']} {milliseconds(row['peer_ms'])}\n")
    return text


def against(value, target):
    return "met" if value <= target else "**missed**"
