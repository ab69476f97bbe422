"""The notebook runs on the CPU, shows what it says, and holds what it showed. RONDO_UPDATE_GOLDEN=1 writes what it shows into it."""

import base64
import json
import os
import re
from xml.etree import ElementTree

import pytest

pytest.importorskip("torch", reason="no PyTorch: the notebook is not run")
# tools/setup python installs them beside PyTorch, so where that is to be, as in CI, they are to be there too.
if not os.environ.get("RONDO_TEST_TORCH"):
    for name in ("nbformat", "nbclient", "ipykernel", "matplotlib"):
        pytest.importorskip(name, reason=f"no {name}: the notebook is not run")

import nbclient
import nbformat
from jupyter_client.manager import AsyncKernelManager

from conftest import SOURCE

NOTEBOOK = SOURCE / "examples/rondo.ipynb"
MOST_BYTES = 300_000
PNG = b"\x89PNG\r\n\x1a\n"


def cells_of(notebook):
    """The code cells by their first lines."""
    return {cell.source.split("\n", 1)[0]: cell for cell in notebook.cells if cell.cell_type == "code"}


def printed(cell):
    return "".join(output.text for output in cell.outputs if output.output_type == "stream" and output.name == "stdout")


def shown(cell, kind):
    return ["".join(output.data[kind]) for output in cell.outputs if kind in output.get("data", {})]


@pytest.fixture(scope="session")
def executed(tmp_path_factory):
    """The notebook after its cells were run, in a kernel of this environment and over this package."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    for cell in cells_of(notebook).values():
        cell.outputs, cell.execution_count = [], None
    environment = {**os.environ, "PYTHONWARNINGS": "default"}
    if not os.environ.get("RONDO_TEST_INSTALLED"):
        environment["PYTHONPATH"] = str(SOURCE / "python")
    kernel = AsyncKernelManager(kernel_name="python3", transport="ipc", ip=str(tmp_path_factory.mktemp("kernel") / "socket"))
    place = {"metadata": {"path": str(NOTEBOOK.parent)}}
    nbclient.NotebookClient(notebook, km=kernel, timeout=300, record_timing=False, resources=place).execute(env=environment)
    notebook.metadata = {**notebook.metadata, "language_info": {"name": "python"}}
    if os.environ.get("RONDO_UPDATE_GOLDEN"):
        NOTEBOOK.write_text(nbformat.writes(notebook) + "\n")
    return notebook


def test_no_cell_fails_or_warns(executed):
    for cell in cells_of(executed).values():
        for output in cell.outputs:
            assert output.output_type != "error", output
            assert output.get("name") != "stderr", output


def test_it_draws_the_cell_and_its_backward_step(executed):
    cells = cells_of(executed)
    pictures = [shown(cells["cell"], "image/svg+xml"), shown(cells["SVG(cell.picture(backward=True))"], "image/svg+xml")]
    for (picture,), box in zip(pictures, ("next h, output h", "∂ previous lost"), strict=True):
        texts = [element.text for element in ElementTree.fromstring(picture).iter("{http://www.w3.org/2000/svg}text")]
        assert box in texts


def test_its_gradients_agree(executed):
    cells = cells_of(executed)
    assert "gradcheck: True" in printed(cells["def outputs(x, R, keep, back):"])
    lines = printed(cells["def gradients(given):"]).splitlines()
    assert [line.split()[0] for line in lines] == ["x", "R", "keep", "back"]
    for line in lines:
        assert 0 < float(line.split()[1]) < 1e-5, line


def test_the_loop_computes_the_same(executed):
    said = printed(cells_of(executed)["def loop(x, R, keep, back):"])
    assert float(re.search(r"largest difference of outputs: (\S+)", said)[1]) < 1e-4
    assert re.search(r"(?m)^the loop takes [0-9.]+ times as long$", said)


def test_it_learns_and_shows_the_curve(executed):
    cells = cells_of(executed)
    said = printed(cells["class Adder(torch.nn.Module):"])
    first, last = map(float, re.fullmatch(r"mean squared error: (\S+) at first, (\S+) in the end\n", said).groups())
    assert last < 0.03 < 0.167 < first
    (curve,) = shown(cells["figure, axes = pyplot.subplots(figsize=(6, 3))"], "image/png")
    assert base64.b64decode(curve).startswith(PNG)


def as_lines(cell):
    """What a cell shows, with each number as 0 but in pictures of the cell, which are always the same."""
    found = []
    for output in cell.outputs:
        if output.output_type == "stream":
            found += [re.sub(r" *[0-9][0-9.e+-]*", " 0", line) for line in output.text.splitlines()]
        else:
            data = output.data
            found += [data["image/svg+xml"]] if "image/svg+xml" in data else [sorted(data)]
    return found


def test_it_holds_what_it_shows(executed):
    stored = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(stored)
    for line, cell in cells_of(stored).items():
        assert as_lines(cell) == as_lines(cells_of(executed)[line]), f"{line}: run this test with RONDO_UPDATE_GOLDEN=1"


def test_the_file_is_small_and_tells_nothing_of_a_machine():
    text = NOTEBOOK.read_text()
    assert len(text.encode()) < MOST_BYTES
    stored = json.loads(text)
    assert stored["metadata"] == {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    assert all(cell["metadata"] == {} for cell in stored["cells"])
    assert [cell["execution_count"] for cell in stored["cells"] if cell["cell_type"] == "code"] == list(
        range(1, 1 + sum(cell["cell_type"] == "code" for cell in stored["cells"]))
    )
    assert not re.search(r"/(home|root|tmp|work|usr)/", text)


def test_its_links_lead_somewhere():
    words = "".join(cell.source for cell in nbformat.read(NOTEBOOK, as_version=4).cells if cell.cell_type == "markdown")
    links = re.findall(r"\]\(([^)#]+)", words)
    assert links
    for link in links:
        assert (NOTEBOOK.parent / link).exists(), link
