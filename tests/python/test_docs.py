"""The Python of pages runs as it stands, but for devices and sizes."""

import pytest

torch = pytest.importorskip("torch", reason="no PyTorch: the Python of the pages is not run")

from conftest import SOURCE
from pages import blocks_of


@pytest.mark.parametrize("page", ["README.md", "docs/python.md", "docs/training-over-ranks.md", "docs/jax.md"])
def test_the_python_of_a_page_runs(page, capsys):
    if page == "docs/jax.md":
        pytest.importorskip("jax", reason="no JAX: the Python of its page is not run")
    blocks = blocks_of(SOURCE / page)
    assert blocks
    names = {}
    for block in blocks:
        exec(compile(block, page, "exec"), names)
        said = capsys.readouterr().out.splitlines()
        # What a block prints stands behind it, or in lines of comments.
        for line in said:
            assert f"# {line}" in block, line
