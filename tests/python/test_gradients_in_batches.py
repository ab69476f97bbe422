"""Many gradients in one backward pass: `is_grads_batched=True` of torch.autograd.grad, and Jacobians that are vectorized."""

import pytest

torch = pytest.importorskip("torch", reason="no PyTorch: derivatives are not tested")

import rondo
from torch._vmap_internals import _vmap

from parts import assert_close, leaf, lstm_tensors, pair


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_gradients_in_batches(kind):
    """Of the input, the state and a matrix, where the output and the last state have many gradients, or one."""
    _, layer = pair(kind)
    u, h = leaf(3, 5, 8), leaf(1, 3, 16)
    y, last = layer(u, (h, torch.zeros(1, 3, 16)) if kind == "LSTM" else h)
    last = last[0] if kind == "LSTM" else last
    sources = (u, h, layer.weight_hh_l0)
    many = (torch.randn(4, *y.shape), torch.randn(4, *last.shape))
    found = torch.autograd.grad((y, last), sources, many, retain_graph=True, is_grads_batched=True)
    one_by_one = [torch.autograd.grad((y, last), sources, one, retain_graph=True) for one in zip(*many, strict=True)]
    for batch, each in zip(found, zip(*one_by_one, strict=True), strict=True):
        assert_close(batch, torch.stack(each), 1e-5)


def test_gradients_of_a_cell_in_batches():
    x, params = lstm_tensors()
    x.requires_grad_()
    y, _ = rondo.Cell("lstm")(x, params=params)
    many = torch.randn(4, *y.shape)
    (found,) = torch.autograd.grad(y, x, many, retain_graph=True, is_grads_batched=True)
    assert_close(found, torch.stack([torch.autograd.grad(y, x, one, retain_graph=True)[0] for one in many]))


def test_a_vectorized_jacobian():
    reference, layer = pair()
    u = torch.randn(1, 2, 8)
    wanted = torch.autograd.functional.jacobian(lambda v: reference(v)[0], u)
    assert_close(torch.autograd.functional.jacobian(lambda v: layer(v)[0], u, vectorize=True), wanted)


def test_batches_of_batches_raise():
    """Of PyTorch's older vmap in itself, which has no rules for functions."""
    _, layer = pair()
    u = leaf(2, 3, 8)
    y = layer(u)[0]

    def one(gradient):
        return torch.autograd.grad(y, u, gradient, retain_graph=True)[0]

    with pytest.raises(rondo.UnsupportedError, match="no gradients in batches of batches"):
        _vmap(_vmap(one))(torch.randn(2, 3, *y.shape))
