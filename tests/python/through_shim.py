"""What tests of the shim share: calls that are to go through it, compared with the same without it."""

import os

import pytest
import torch
from rondo._torch import shim, sites

from parts import assert_close

if shim.SHIM is None:
    assert not os.environ.get("RONDO_TEST_SHIM"), "librondo_torch.so was compiled, and is not used"
needs_shim = pytest.mark.skipif(shim.SHIM is None, reason="no librondo_torch.so beside librondo, or PyTorch is older than 2.10")
ENOUGH = 4  # calls after which the shim knows of one: the first makes the plan, the next ones tell


def launches_of(run):
    """How many launches of the shim a call makes, and what it gives."""
    before = shim.SHIM.launches()
    found = run()
    return shim.SHIM.launches() - before, found


def without_shim(run, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(shim, "SHIM", None)
        patch.setattr(sites, "_families", {})
        return run()


def training(run, leaves):
    """`run`, whose results and gradients of `leaves` are wanted."""

    def step():
        found = run()
        total = sum((tensor.float() ** 2).sum() for tensor in found)
        return [*found, *torch.autograd.grad(total, leaves)]

    return step


def check_shim(run, wanted_launches, monkeypatch, tolerance=0.0):
    for _ in range(ENOUGH):
        run()
    count, found = launches_of(run)
    assert count == wanted_launches
    for one, other in zip(found, without_shim(run, monkeypatch), strict=True):
        assert one.dtype is other.dtype and one.stride() == other.stride()
        assert_close(one, other, tolerance)
