"""Rules of style and types: ruff over the package and its tests, and pyright (basedpyright, which brings its own Node) over the
package. Both are in the environment that has PyTorch, whose types they look at."""

import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = ROOT / "python"


def tool(name):
    found = pathlib.Path(sys.executable).parent / name
    if not found.exists():
        assert not os.environ.get("RONDO_TEST_TORCH"), f"there is no {found}: run tools/setup python again"
        pytest.skip(f"no {name} in this environment")
    return found


def run(name, *arguments):
    done = subprocess.run([tool(name), *arguments], cwd=PYTHON, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


PLACES = (".", ROOT / "tests/python")


# Users have rondo installed, so it stands among the other packages in examples.
EXAMPLES = ("--config", "ruff.toml", ROOT / "examples/python")


@pytest.mark.parametrize("places", [PLACES, (*EXAMPLES, "--ignore", "I001")], ids=["package and tests", "examples"])
def test_rules_of_ruff(places):
    status, said = run("ruff", "check", "--no-cache", *places)
    assert status == 0, said


@pytest.mark.parametrize("places", [PLACES, EXAMPLES], ids=["package and tests", "examples"])
def test_format_of_ruff(places):
    status, said = run("ruff", "format", "--no-cache", "--check", *places)
    assert status == 0, said


def test_types():
    status, said = run("basedpyright", "-p", "pyrightconfig.json", "--pythonpath", sys.executable)
    assert status == 0, said


def test_a_wrong_type_and_an_unused_name_are_found(tmp_path):
    bad = tmp_path / "bad.py"
    bad.write_text("import os\n\nx: int = 'a text'\n")
    status, said = run("ruff", "check", "--no-cache", bad)
    assert status == 1 and "F401" in said
    status, said = run("basedpyright", "--pythonpath", sys.executable, bad)
    assert status == 1 and "reportAssignmentType" in said
