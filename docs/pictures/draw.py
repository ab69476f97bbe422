#!/usr/bin/env python3
"""Draws the pictures of the documentation: overview.svg and one picture a strategy, beside this script.

usage: draw.py [--check]

With --check nothing is written: the exit status is 1 if a picture differs from what the script draws. Needs Python 3.9
and nothing else.
"""
import pathlib
import sys
from xml.sax.saxutils import escape

FOLDER = pathlib.Path(__file__).resolve().parent
INK, FAINT, PAPER = "#222222", "#c9c9c9", "#ffffff"
COPY, COMPUTE, TALK, STORE, PLAIN = "#c9d8ee", "#cfe6d4", "#f3d9b8", "#e3d3ea", "#f1f1f1"
LEFT = 190  # of the time axis in pictures of roles


class Picture:
    def __init__(self, width, height, title):
        self.size = (width, height)
        self.title = title
        self.parts = []

    def text(self, x, y, content, anchor="middle", size=12, weight="normal", color=INK):
        self.parts.append(f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" font-size="{size}" font-weight="{weight}" '
                          f'fill="{color}">{escape(content)}</text>')

    def box(self, x, y, width, height, lines, color=PLAIN, size=12, weight="normal"):
        """A rectangle with centred lines of text."""
        self.parts.append(f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="3" fill="{color}" '
                          f'stroke="{INK}" stroke-width="0.8"/>')
        lines = [lines] if isinstance(lines, str) else lines
        first = y + height / 2 + size * 0.35 - (len(lines) - 1) * (size + 2) / 2
        for number, line in enumerate(lines):
            self.text(x + width / 2, first + number * (size + 2), line, size=size, weight=weight if number == 0 else "normal")

    def line(self, x1, y1, x2, y2, color=FAINT, dash=""):
        style = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="{color}"{style}/>')

    def arrow(self, x1, y1, x2, y2):
        self.parts.append(f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="{INK}" stroke-width="1.1" '
                          'marker-end="url(#head)"/>')

    def svg(self):
        width, height = self.size
        return "\n".join([
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
            f'font-family="Helvetica, Arial, sans-serif" role="img"><title>{escape(self.title)}</title>',
            '<defs><marker id="head" markerWidth="8" markerHeight="8" refX="7" refY="4" orient="auto">'
            f'<path d="M0 0L8 4L0 8Z" fill="{INK}"/></marker></defs>',
            f'<rect width="{width}" height="{height}" fill="{PAPER}"/>', *self.parts, "</svg>\n"])


def role(picture, y, name, bars, height=28):
    """One role's row: its name, and (begin, end, text, colour) of what it does."""
    picture.text(LEFT - 12, y + height / 2 + 4, name, anchor="end")
    for begin, end, content, color in bars:
        picture.box(LEFT + begin, y, end - begin, height, content, color, size=11)


def heading(picture, y, content):
    picture.text(12, y, content, anchor="start", weight="bold", size=13)


def overview():
    p = Picture(900, 330, "From the text of a cell to launches")
    stages = (("cell text", "mingru.cell", PLAIN), ("StepIR", "one step, a graph", COMPUTE),
              ("strategy", "and parameters", COMPUTE), ("KernelIR", "a thread's text", COMPUTE),
              ("CUDA text", "and NVRTC", COPY), ("Executable", "code, launches", COPY), ("launches", "on your stream", TALK))
    width, step, top = 112, 126, 120
    for number, (name, about, color) in enumerate(stages):
        x = 14 + number * step
        p.box(x, top, width, 52, [name, about], color, size=11, weight="bold")
        if number:
            p.arrow(x - step + width, top + 26, x, top + 26)
    for number, above in ((1, "differentiate, simplify"), (3, "simplify, verify")):
        x = 14 + number * step
        p.text(x + width / 2, top - 10, above, size=11)
    beside = ((1, ["reference executor", "any cell, on the CPU"]), (3, ["simulator", "CPU; finds races"]),
              (2, ["cost model,", "constraint solver"]), (5, ["tuning database", "best choices, cubins"]))
    for number, lines in beside:
        x = 14 + number * step - 14
        p.box(x, 236, width + 28 - 16, 48, lines, PLAIN, size=11)
        middle = x + (width + 12) / 2
        if number in (2, 5):
            p.arrow(middle, 236, middle, top + 54)
        else:
            p.arrow(middle, top + 52, middle, 234)
    p.text(14, 30, "From the text of a cell to launches", anchor="start", weight="bold", size=14)
    p.text(14, 52, "Green stages need no GPU and no CUDA installation; emitting CUDA text needs none either.", anchor="start")
    p.text(14, 312, "The tuner measures candidates, checks them against the reference executor, and stores the best in the "
           "database.", anchor="start")
    return p


def stream():
    p = Picture(900, 500, "Roles of a block over time in stream")
    heading(p, 22, "segments = 1: a thread walks its channels through all of time")
    role(p, 36, "copies in flight", [(n * 170, n * 170 + 166, f"stage {n + 2} into slot {(n + 2) % 3}", COPY) for n in range(4)])
    role(p, 70, "compute threads", [(n * 170, n * 170 + 166, f"steps of stage {n}", COMPUTE) for n in range(4)])
    role(p, 104, "results to memory", [(n * 170 + 14, n * 170 + 166, f"stage {n}, each step", STORE) for n in range(4)])
    for n in range(1, 4):
        p.line(LEFT + n * 170 - 2, 32, LEFT + n * 170 - 2, 136, INK, "3 2")
    p.text(LEFT + 168, 150, "one barrier per stage: stage n + 1 has landed, the slot of n - 1 is free", anchor="start", size=11)

    heading(p, 186, "segments > 1: groups of threads work on parts of a stage at once")
    for k in range(3):
        role(p, 200 + 30 * k, f"segment {k}", [
            (0, 150, "local scan", COMPUTE), (180, 262, "prefix scan", TALK), (262, 400, "apply, store", COMPUTE),
            (418, 568, "local scan", COMPUTE), (598, 680, "prefix scan", TALK)], height=24)
    for x in (164, 582):
        p.line(LEFT + x, 196, LEFT + x, 290, INK, "3 2")
    p.text(LEFT + 166, 304, "barrier: every segment's affine map is in shared memory", anchor="start", size=11)

    heading(p, 342, "time_split > 1, pipeline_depth = 2: blocks share channels, a scan warp carries the state")
    role(p, 356, "compute warps", [(0, 150, "local scan, round n", COMPUTE), (154, 300, "apply, round n - 1", COMPUTE),
                                   (304, 454, "local scan, round n + 1", COMPUTE), (458, 604, "apply, round n", COMPUTE)])
    role(p, 396, "scan warp", [(160, 246, "send map n", TALK), (250, 360, "carries of n - 1", TALK),
                               (466, 552, "send n + 1", TALK), (556, 690, "carries of n", TALK)])
    role(p, 436, "other blocks", [(176, 270, "send map n", TALK), (482, 576, "send n + 1", TALK)])
    p.arrow(LEFT + 150, 384, LEFT + 166, 395)
    p.arrow(LEFT + 454, 384, LEFT + 472, 395)
    p.arrow(LEFT + 246, 424, LEFT + 262, 435)
    p.arrow(LEFT + 270, 436, LEFT + 560, 424)
    p.text(LEFT, 484, "The maps of round n travel while the compute warps already work on round n + 1.", anchor="start", size=11)
    return p


def persistent():
    p = Picture(900, 380, "Roles of a block over time in persistent")
    heading(p, 22, "Two steps of one block (the matrices stay in registers and shared memory)")
    role(p, 40, "producer warps", [(0, 330, "copy inputs of a later stage", COPY),
                                   (340, 690, "copy inputs of the next stage", COPY)])
    role(p, 90, "computing warps", [(0, 60, "wait", PLAIN), (64, 190, "products, share 0", COMPUTE), (194, 290, "gates", COMPUTE),
                                    (294, 340, "send", TALK), (344, 404, "wait", PLAIN), (408, 534, "products, share 0", COMPUTE),
                                    (538, 634, "gates", COMPUTE), (638, 686, "send", TALK)])
    role(p, 140, "multiplying warps", [(0, 60, "wait", PLAIN), (64, 180, "products, share k", COMPUTE), (344, 404, "wait", PLAIN),
                                       (408, 524, "products, share k", COMPUTE)])
    role(p, 190, "store warps", [(0, 330, "store results of an earlier stage", STORE),
                                 (340, 690, "store results of the stage before", STORE)])
    role(p, 260, "other blocks", [(294, 340, "send", TALK), (344, 404, "wait", PLAIN), (638, 686, "send", TALK)])
    p.arrow(LEFT + 180, 140, LEFT + 194, 119)
    p.arrow(LEFT + 524, 140, LEFT + 538, 119)
    p.arrow(LEFT + 340, 262, LEFT + 368, 170)
    p.arrow(LEFT + 340, 116, LEFT + 380, 258)
    for number, line in enumerate((
            "send: the block's part of the vector of step n + 1 goes to all blocks of the team.",
            "wait: until the parts of all blocks are there; the inputs' ring is waited for once a stage (full, empty).",
            "Results leave through a second ring (filled, drained), so no access to global memory stands in the chain.")):
        p.text(LEFT - 178, 322 + 18 * number, line, anchor="start")
    return p


def alternating():
    p = Picture(900, 330, "Launches and warps in alternating")
    heading(p, 22, "Launches of a cell with one level of products (LSTM, forward)")
    bars = ((0, 90, "pack matrices", COPY), (94, 190, "stage 0, step 0", COMPUTE),
            (194, 356, "step 0, and stage 0 of 1", COMPUTE), (360, 522, "step 1, and stage 0 of 2", COMPUTE), (526, 688, "step 2, and stage 0 of 3", COMPUTE))
    role(p, 36, "stream of launches", bars)
    for x in (92, 192, 358, 524):
        p.line(LEFT + x, 32, LEFT + x, 72, INK, "3 2")
    p.text(LEFT + 94, 86, "the end of a launch is the barrier between all blocks", anchor="start", size=11)
    heading(p, 126, "Inside the launch of a step: one block")
    chunks = (("warp 0", ("chunk 0", "chunk W", "chunk 2W")), ("warp 1", ("chunk 1", "W + 1", "...")),
              ("warp W - 1", ("W - 1", "...", "...")))
    for number, (name, texts) in enumerate(chunks):
        role(p, 140 + 34 * number, name, [(64 * k, 64 * k + 60, content, COPY) for k, content in enumerate((*texts, "..."))])
    p.box(LEFT + 270, 140, 130, 96, ["sums of the warps", "in shared memory,", "in a fixed order"], TALK, size=11)
    p.box(LEFT + 410, 140, 130, 96, ["gates and states,", "one channel per thread"], COMPUTE, size=11)
    p.box(LEFT + 550, 140, 138, 96, ["stage 0 of the next", "step; the rounded", "vector to memory"], COMPUTE, size=11)
    p.line(LEFT + 260, 134, LEFT + 260, 244, INK, "3 2")
    p.line(LEFT + 405, 134, LEFT + 405, 244, INK, "3 2")
    p.text(12, 278, "Each warp has a ring of chunks for itself, so no barrier stands in its loop over the columns.", anchor="start")
    p.text(12, 298, "Every byte of a matrix is read by one warp; the matrices were packed in the order in which lanes want them.",
           anchor="start")
    return p


PICTURES = {"overview.svg": overview, "stream.svg": stream, "persistent.svg": persistent, "alternating.svg": alternating}


def main():
    checking = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not checking:
        sys.exit(__doc__)
    stale = []
    for name, draw in PICTURES.items():
        path, text = FOLDER / name, draw().svg()
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        stale.append(name)
        if not checking:
            path.write_text(text, encoding="utf-8")
            print(f"wrote {name}")
    if checking and stale:
        sys.exit(f"draw: out of date: {', '.join(stale)}; run docs/pictures/draw.py")


if __name__ == "__main__":
    main()
