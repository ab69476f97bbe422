"""The Python of pages, as it stands but for devices and sizes. As a program it runs that of the pages it is given."""

import pathlib
import re
import sys

SMALLER = {'"cuda"': '"cpu"', "4096": "8", "1536": "16"}


def blocks_of(page):
    """Blocks of Python of a page, which share their names."""
    blocks = re.findall(r"^```python\n(.*?)^```", pathlib.Path(page).read_text(), re.DOTALL | re.MULTILINE)
    for large, small in SMALLER.items():
        blocks = [block.replace(large, small) for block in blocks]
    return blocks


if __name__ == "__main__":
    for page in sys.argv[1:]:
        names = {}
        for block in blocks_of(page):
            exec(compile(block, page, "exec"), names)
        print(f"{page} runs")
