"""docs/results.svg, the rows with targets on one axis, and docs/peers.svg, some rows beside the peers' times."""
import math
from xml.sax.saxutils import escape

from report_text import ratio_to_target, shape_text

ROW_HEIGHT, TOP, LEFT, PLOT, RIGHT = 20, 92, 290, 500, 220
GOOD, BAD, PEER, INK, FAINT = "#2f7d4f", "#c0562f", "#3b5b92", "#222222", "#d5d5d5"


class Axis:
    """Time relative to the target on a logarithmic scale, powers of two from `low` to `high`."""

    def __init__(self, ratios):
        self.low = math.floor(min(-1.0, math.log2(min(ratios))))
        self.high = math.ceil(math.log2(max(ratios)) + 0.05)

    def x(self, ratio):
        return LEFT + PLOT * (math.log2(ratio) - self.low) / (self.high - self.low)

    def ticks(self):
        return [2.0 ** power for power in range(self.low, self.high + 1)]


def text_at(x, y, content, anchor="start", color=INK, weight="normal", size=12):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{color}" font-weight="{weight}" '
            f'font-size="{size}">{escape(content)}</text>')


def diamond(x, y, r=5):
    return f'<path d="M{x - r:.1f} {y:.1f}L{x:.1f} {y - r:.1f}L{x + r:.1f} {y:.1f}L{x:.1f} {y + r:.1f}Z" fill="{PEER}"/>'


def legend(y):
    x = LEFT
    parts = []
    for color, label, width in ((GOOD, "Rondo, target met", 150), (BAD, "Rondo, target missed", 165)):
        parts += [f'<rect x="{x}" y="{y - 9}" width="18" height="10" fill="{color}"/>', text_at(x + 24, y, label)]
        x += width
    parts += [diamond(x + 6, y - 4), text_at(x + 18, y, "peer")]
    return parts


def row_marks(row, y, axis):
    middle = y + ROW_HEIGHT / 2
    ratio = ratio_to_target(row)
    color = GOOD if ratio <= 1 else BAD
    marks = [text_at(LEFT - 10, middle + 4, f"{row['cell']} {shape_text(row)} {row['dtype']} {row['pass']}", "end"),
             f'<rect x="{LEFT}" y="{y + 4}" width="{axis.x(ratio) - LEFT:.1f}" height="{ROW_HEIGHT - 8}" fill="{color}"/>']
    label = f"{ratio:.2f} of target"
    if row.get("peer_ms"):
        marks.append(diamond(axis.x(row["peer_ms"] / row["target_ms"]), middle))
        label += f", {row['peer_ms'] / row['median_ms']:.2f}x peer's speed"
    return marks + [text_at(LEFT + PLOT + 10, middle + 4, label, color=color)]


def picture(record):
    rows = [row for row in record["rows"] if ratio_to_target(row) is not None]
    ratios = [ratio_to_target(row) for row in rows]
    ratios += [row["peer_ms"] / row["target_ms"] for row in rows if row.get("peer_ms")]
    axis = Axis(ratios)
    bottom = TOP + ROW_HEIGHT * len(rows)
    width, height = LEFT + PLOT + RIGHT + 20, bottom + 20
    title = f"Rondo on one {record['device']}: time relative to the target"
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
             f'font-family="Helvetica, Arial, sans-serif" role="img"><title>{escape(title)}</title>',
             f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
             text_at(LEFT, 24, title + " (less is better, logarithmic)", weight="bold", size=14), *legend(50)]
    for tick in axis.ticks():
        x = axis.x(tick)
        parts += [f'<line x1="{x:.1f}" y1="{TOP - 4}" x2="{x:.1f}" y2="{bottom}" stroke="{FAINT}"/>',
                  text_at(x, TOP - 10, "target" if tick == 1 else f"{tick:g}x", "middle", weight="bold" if tick == 1 else "normal")]
    for number, row in enumerate(rows):
        parts += row_marks(row, TOP + number * ROW_HEIGHT, axis)
    parts.append(f'<line x1="{axis.x(1):.1f}" y1="{TOP - 4}" x2="{axis.x(1):.1f}" y2="{bottom}" stroke="{INK}" stroke-width="1.5"/>')
    return "\n".join(parts) + "\n</svg>\n"


# --- docs/peers.svg ---

# The rows of the picture: cell, B, T, H, D, pass, and what a reader calls them. The last one is slower than its peer.
SHOWN = (
    ("lstm", 16, 1024, 12, 64, "fwbw", "LSTM, 12 heads of 64, training step"),
    ("lstm", 16, 1024, 1, 768, "fwbw", "LSTM, 768 channels, training step"),
    ("slstm", 16, 1024, 1, 768, "fwbw", "sLSTM, 768 channels, training step"),
    ("gru", 16, 1024, 1, 768, "fwbw", "GRU, 768 channels, training step"),
    ("hgrn", 8, 4096, 1, 1536, "fwbw", "HGRN, 8 x 1536, T = 4096, training step"),
    ("mingru", 8, 4096, 1, 1536, "fwbw", "minGRU, 8 x 1536, T = 4096, training step"),
    ("paragru", 16, 2048, 1, 2048, "fw", "ParaGRU, 16 x 2048, T = 2048, forward"),
    ("paragru", 1, 8192, 1, 1024, "fw", "ParaGRU, 1 x 1024, T = 8192, forward"),
)
LABELS, SCALE, LINE = 300, 430, 34


def shown_rows(record):
    """(label, row) of the rows in SHOWN that the record has."""
    found = []
    for cell, batch, time, heads, dim, what, label in SHOWN:
        shape = {"B": batch, "T": time, "H": heads, "D": dim}
        for row in record["rows"] + record.get("dense", []):
            if (row["cell"], row["shape"], row["dtype"], row["pass"]) == (cell, shape, "bf16", what) and row.get("peer_ms"):
                found.append((label, row))
    return found


def figure(milliseconds):
    return f"{milliseconds:.3g}"


def peers_picture(record):
    """Milliseconds on a logarithmic scale; empty if the record has none of the rows."""
    rows = shown_rows(record)
    if not rows:
        return ""
    times = [time for _, row in rows for time in (row["median_ms"], row["peer_ms"])]
    low, high = math.floor(math.log10(min(times))), math.ceil(math.log10(max(times)))
    top, width = 74, LABELS + SCALE + 250
    bottom = top + LINE * len(rows)

    def x_of(time):
        return LABELS + SCALE * (math.log10(time) - low) / (high - low)

    title = f"Milliseconds on one {record['device']}, bf16 (logarithmic; less is better)"
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{bottom + 12}" '
             f'viewBox="0 0 {width} {bottom + 12}" font-family="Helvetica, Arial, sans-serif" role="img">'
             f'<title>{escape(title)}</title>',
             f'<rect width="{width}" height="{bottom + 12}" fill="#ffffff"/>', text_at(12, 22, title, weight="bold", size=14),
             f'<circle cx="{LABELS + 6}" cy="40" r="6" fill="{GOOD}"/>', text_at(LABELS + 18, 44, "Rondo"),
             diamond(LABELS + 90, 40, 7), text_at(LABELS + 102, 44, "peer, timed in another run")]
    for power in range(low, high + 1):
        x = x_of(10.0 ** power)
        parts += [f'<line x1="{x:.1f}" y1="{top - 4}" x2="{x:.1f}" y2="{bottom}" stroke="{FAINT}"/>',
                  text_at(x, top - 8, f"{10.0 ** power:g}", "middle", size=11)]
    for number, (label, row) in enumerate(rows):
        middle = top + LINE * (number + 0.5)
        ours, theirs = x_of(row["median_ms"]), x_of(row["peer_ms"])
        peer = row["peer"].split(";")[0]
        ratio = row["peer_ms"] / row["median_ms"]
        parts += [text_at(LABELS - 14, middle + 4, label, "end"),
                  f'<line x1="{ours:.1f}" y1="{middle:.1f}" x2="{theirs:.1f}" y2="{middle:.1f}" stroke="{INK}"/>',
                  f'<circle cx="{ours:.1f}" cy="{middle:.1f}" r="6" fill="{GOOD if ratio > 1 else BAD}"/>',
                  diamond(theirs, middle, 7),
                  text_at(ours, middle - 9, figure(row["median_ms"]), "middle", GOOD if ratio > 1 else BAD, size=10),
                  text_at(theirs, middle + (17 if abs(ours - theirs) < 40 else -9), figure(row["peer_ms"]), "middle", PEER, size=10),
                  text_at(LABELS + SCALE + 14, middle + 1, f"{ratio:.1f} times", weight="bold", size=11),
                  text_at(LABELS + SCALE + 14, middle + 13, peer, size=10)]
    return "\n".join(parts) + "\n</svg>\n"
