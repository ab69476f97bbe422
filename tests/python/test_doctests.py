"""The examples in docstrings give what they say."""

import doctest
import importlib
import inspect
import os
import pkgutil
import re

import pytest

torch = pytest.importorskip("torch", reason="no PyTorch: examples in docstrings are not run")

import rondo

MODULES = sorted(module.name for module in pkgutil.walk_packages(rondo.__path__, "rondo."))


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    try:
        module = importlib.import_module(name)
    except rondo.LibraryNotFoundError as error:
        # Flax is in no environment of the tests; JAX and Equinox are where RONDO_TEST_JAX says so, as in CI.
        wanted = name != "rondo.jax.nnx" if os.environ.get("RONDO_TEST_JAX") else not name.startswith("rondo.jax")
        if wanted:
            raise
        pytest.skip(str(error))
    failed, _ = doctest.testmod(module)
    assert not failed


def test_there_are_examples():
    finder = doctest.DocTestFinder(exclude_empty=True)
    modules = [importlib.import_module(name) for name in MODULES if not name.startswith("rondo.jax")]
    assert len([test for module in modules for test in finder.find(module) if test.examples]) >= 6


def test_everything_public_has_a_docstring():
    for name in rondo.__all__:
        assert getattr(rondo, name).__doc__, name
    for name in rondo.nn.__all__:
        assert getattr(rondo.nn, name).__doc__, name


PUBLIC = [(f"{module.__name__}.{name}", getattr(module, name)) for module in (rondo, rondo.nn) for name in module.__all__]
NO_ARGUMENTS_OF_ITS_OWN = "as in `Recurrent`"
DESCRIBED = [
    (name, one)
    for name, one in PUBLIC
    if callable(one)
    and not (inspect.isclass(one) and issubclass(one, Exception))
    and NO_ARGUMENTS_OF_ITS_OWN not in one.__doc__
    and one is not rondo.PolicyScope  # which `policy` makes
]


@pytest.mark.parametrize(("name", "one"), DESCRIBED, ids=[name for name, _ in DESCRIBED])
def test_every_argument_is_described(name, one):
    """In a docstring's list of parameters or attributes, as numpydoc reads it, or between backticks."""
    said = inspect.getdoc(one)
    lists = re.findall(r"^([*\w, ]+?)(?: :.*)?$", said, re.MULTILINE)
    described = set(re.findall(r"\w+", " ".join(lists))) | set(re.findall(r"`(\w+)`", said))
    assert set(inspect.signature(one).parameters) <= described, name
