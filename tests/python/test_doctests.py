"""The examples in docstrings give what they say."""

import doctest
import importlib
import pkgutil

import pytest

torch = pytest.importorskip("torch", reason="no PyTorch: examples in docstrings are not run")

import rondo

MODULES = sorted(module.name for module in pkgutil.walk_packages(rondo.__path__, "rondo."))


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert not failed


def test_there_are_examples():
    finder = doctest.DocTestFinder(exclude_empty=True)
    found = [t for name in MODULES for t in finder.find(importlib.import_module(name)) if t.examples]
    assert len(found) >= 6


def test_everything_public_has_a_docstring():
    for name in rondo.__all__:
        assert getattr(rondo, name).__doc__, name
    for name in rondo.nn.__all__:
        assert getattr(rondo.nn, name).__doc__, name
