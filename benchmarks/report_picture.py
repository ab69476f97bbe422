"""docs/results.svg: the rows with targets on one axis."""
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
