"""The Python of README.md and docs/python.md runs as it stands, but for devices and sizes."""

import re

import pytest

torch = pytest.importorskip("torch", reason="no PyTorch: the Python of the pages is not run")

from conftest import SOURCE

SMALLER = {'"cuda"': '"cpu"', "4096": "8", "1536": "16"}


@pytest.mark.parametrize("page", ["README.md", "docs/python.md"])
def test_the_python_of_a_page_runs(page, capsys):
    path = SOURCE / page
    blocks = re.findall(r"^```python\n(.*?)^```", path.read_text(), re.DOTALL | re.MULTILINE)
    assert blocks
    names = {}
    for block in blocks:
        for large, small in SMALLER.items():
            block = block.replace(large, small)
        exec(compile(block, page, "exec"), names)
        said = capsys.readouterr().out.splitlines()
        # What a block prints stands behind it, or in lines of comments.
        for line in said:
            assert f"# {line}" in block, line
