"""Derivatives beyond the first backward pass: forward mode, and second ones. In float64 by differences, in float32 beside
PyTorch's own layers in float64."""

import pytest

torch = pytest.importorskip("torch", reason="no PyTorch: derivatives are not tested")

import rondo
from torch.autograd import forward_ad

from parts import assert_close, leaf, lstm_tensors, pair
from test_gradcheck import SMOOTH, arguments_of

F64 = torch.float64


@pytest.mark.turns
@pytest.mark.parametrize("name", SMOOTH)
def test_cells_by_differences(name):
    """Forward mode, reverse mode of reverse mode, and forward mode of reverse mode."""
    run, leaves = arguments_of(name, {"B": 2, "T": 3, "H": 2, "D": 3})
    assert torch.autograd.gradcheck(run, leaves, fast_mode=True, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(run, leaves, fast_mode=True, check_fwd_over_rev=True)


@pytest.mark.parametrize("walk", [{}, {"reverse": True}, {"directions": True}])
def test_forms_by_differences(walk):
    cell = rondo.Cell("gru")
    flags = {"lengths": torch.tensor([4, 2]), "resets": torch.tensor([[0, 0, 1, 0], [0, 1, 0, 0]], dtype=torch.bool)}
    leaves = [leaf(*shape, dtype=F64) for shape in ((2, 4, 2, 3, 3), (2, 3, 3, 3), (2, 3, 3), (2, 2, 3))]

    def run(x, R, b, h):
        y, last = cell(x, params={"R": R, "b": b}, initial={"h": h}, **flags, **walk)
        return y, last["h"]

    assert torch.autograd.gradcheck(run, leaves, fast_mode=True, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(run, leaves, fast_mode=True, check_fwd_over_rev=True)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_layers_by_differences(kind, bias):
    layer = getattr(rondo.nn, kind)(2, 3, bidirectional=bias, bias=bias).double()
    names = [name for name, _ in layer.named_parameters()]

    def run(u, *values):
        return torch.func.functional_call(layer, dict(zip(names, values, strict=True)), (u,))[0]

    leaves = (leaf(3, 2, 2, dtype=F64), *layer.parameters())
    assert torch.autograd.gradcheck(run, leaves, fast_mode=True, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(run, leaves, fast_mode=True)


def products(layer, u, v):
    """Of the second derivative of a loss with vectors: those of the input and of all parameters."""
    tensors = [u, *layer.parameters()]
    grads = torch.autograd.grad(layer(u)[0].square().sum(), tensors, create_graph=True)
    directions = [torch.cos(v + number * torch.arange(grad.numel()).view(grad.shape)) for number, grad in enumerate(grads)]
    return torch.autograd.grad(grads, tensors, [one.to(grad.dtype) for one, grad in zip(directions, grads, strict=True)])


@pytest.mark.parametrize(("kind", "by_reference"), [("LSTM", True), ("GRU", False)])
def test_products_with_the_second_derivative(kind, by_reference):
    """In float32, by the kernels of the CPU where it has any, and where a layer is one node of the graph."""
    reference, layer = pair(kind, by_reference=by_reference)
    exact, u = reference.double(), leaf(3, 7, 8)
    for turn in range(3):
        found, wanted = products(layer, u, turn), products(exact, u.detach().double().requires_grad_(), turn)
        for one, other in zip(found, wanted, strict=True):
            assert_close(one / other.abs().max(), other / other.abs().max(), 1e-5)


def test_a_penalty_of_the_gradient():
    """What is trained with it: parameters get a gradient through the gradient of the input."""
    reference, layer = pair("GRU", by_reference=True)
    u = leaf(3, 5, 8)
    grads = []
    for one in (layer, reference):
        (grad,) = torch.autograd.grad(one(u)[0].sum(), u, create_graph=True)
        loss = one(u)[0].square().mean() + (grad.norm() - 1).square()
        grads.append(torch.autograd.grad(loss, list(one.parameters())))
    for mine, theirs in zip(*grads, strict=True):
        assert_close(mine, theirs, 1e-5)


@pytest.mark.parametrize("way", ["func", "dual"])
def test_forward_mode(way):
    """Of input and parameters."""
    reference, layer = pair("LSTM", by_reference=True)
    u, weights = torch.randn(3, 5, 8), dict(layer.named_parameters())
    tangents = {name: torch.randn_like(weight) for name, weight in weights.items()}
    v = torch.randn_like(u)

    def run(module, u, weights):
        y, (_, c) = torch.func.functional_call(module, weights, (u,))
        return y, c

    exact = {name: weight.detach().double() for name, weight in weights.items()}
    double = {name: tangent.double() for name, tangent in tangents.items()}
    _, wanted = torch.autograd.functional.jvp(
        lambda u, *values: run(reference.double(), u, dict(zip(exact, values, strict=True))),
        (u.double(), *exact.values()),
        (v.double(), *double.values()),
    )
    if way == "func":
        _, found = torch.func.jvp(lambda u, weights: run(layer, u, weights), (u, weights), (v, tangents))
    else:
        with forward_ad.dual_level():
            duals = {name: forward_ad.make_dual(weights[name].detach(), tangent) for name, tangent in tangents.items()}
            made = run(layer, forward_ad.make_dual(u, v), duals)
            found = [forward_ad.unpack_dual(one).tangent for one in made]
    for one, other in zip(found, wanted, strict=True):
        assert_close(one, other, 2e-5)


def test_tangents_of_some_tensors():
    """The others have none, or zero; what nothing depends on has none."""
    x, params = lstm_tensors()
    cell = rondo.Cell("lstm", strategy="reference")
    initial = {"c": torch.randn(3, 1, 16)}
    v = torch.randn(3, 1, 16)
    with forward_ad.dual_level():
        y, last = cell(x, params=params, initial={"c": forward_ad.make_dual(initial["c"], v)})
        tangent = forward_ad.unpack_dual(y).tangent
        assert forward_ad.unpack_dual(cell(x, params=params)[0]).tangent is None
    step = 1e-3
    ahead, behind = (cell(x, params=params, initial={"c": initial["c"] + way * step * v})[0] for way in (1, -1))
    assert_close(tangent, (ahead - behind) / (2 * step), 1e-3)
    assert not forward_ad.unpack_dual(last["c"]).tangent


def test_second_derivatives_by_torch_func():
    """`hessian` is forward mode of reverse mode, each under vmap."""
    reference, layer = pair("GRU", hidden=4, by_reference=True)
    reference, layer = reference.double(), layer.double()
    u = torch.randn(1, 2, 8, dtype=F64)
    wanted = torch.autograd.functional.hessian(lambda v: reference(v)[0].square().sum(), u)

    def loss(v):
        return layer(v)[0].square().sum()

    assert_close(torch.func.hessian(loss)(u), wanted, 1e-12)
    assert_close(torch.func.jacrev(torch.func.jacrev(loss))(u), wanted, 1e-12)
    assert_close(torch.func.jacrev(torch.func.jacfwd(loss))(u), wanted, 1e-12)
    assert_close(torch.autograd.functional.hessian(loss, u, vectorize=True), wanted, 1e-12)
    v = torch.randn_like(u)
    _, product = torch.autograd.functional.vhp(loss, u, v)
    assert_close(product, torch.einsum("btfBTF,btf->BTF", wanted, v), 1e-12)


def test_second_derivatives_of_each_sample():
    reference, layer = pair("GRU", by_reference=True)
    u = torch.randn(3, 4, 8)

    def twice(module):
        once = torch.func.grad(lambda one: module(one[None])[0].square().sum())
        return torch.func.grad(lambda one: once(one).square().sum())

    found = torch.vmap(twice(layer))(u)
    assert_close(found, torch.stack([twice(reference)(one) for one in u]), 2e-5)


def test_gradients_in_batches_have_derivatives():
    reference, layer = pair("LSTM", by_reference=True)
    u = leaf(2, 3, 8)
    grads = []
    for one in (layer, reference):
        y = one(u)[0]
        many = torch.linspace(-1, 1, 4 * y.numel()).view(4, *y.shape)
        (found,) = torch.autograd.grad(y, u, many, create_graph=True, is_grads_batched=True)
        grads.append(torch.autograd.grad(found.square().sum(), u)[0])
    assert_close(*grads, 2e-5)


def test_in_chunks():
    u = leaf(11, 3, 8, dtype=F64)
    layer = rondo.nn.GRU(8, 16, chunk=4, dtype=F64)
    found = []
    for layer.chunk in (4, None):
        (grad,) = torch.autograd.grad(layer(u)[0].square().sum(), u, create_graph=True)
        found.append(torch.autograd.grad(grad.square().sum(), [u, *layer.parameters()]))
    for one, other in zip(*found, strict=True):
        assert_close(one, other, 1e-10)


# --- what Rondo has not raises ---


def test_third_derivatives_raise():
    layer = rondo.nn.GRU(8, 16, dtype=F64)
    u = leaf(3, 2, 8, dtype=F64)
    (grad,) = torch.autograd.grad(layer(u)[0].square().sum(), u, create_graph=True)
    (again,) = torch.autograd.grad(grad.square().sum(), u, create_graph=True)
    with pytest.raises(rondo.NotDifferentiableError, match="differentiates twice"):
        again.sum().backward()


def test_forward_mode_of_forward_mode_raises():
    layer = rondo.nn.GRU(8, 16, dtype=F64)
    u = torch.randn(3, 2, 8, dtype=F64)
    with pytest.raises(rondo.NotDifferentiableError, match="once in forward mode .take reverse mode"):
        torch.func.jvp(lambda v: torch.func.jvp(lambda w: layer(w)[0], (v,), (u,))[1], (u,), (u,))


def test_a_bounded_gradient_has_no_derivative():
    x, params = lstm_tensors()
    cell = rondo.Cell("lstm", clip_gradient=1.0, strategy="reference")
    x.requires_grad_()
    (grad,) = torch.autograd.grad(cell(x, params=params)[0].sum(), x, create_graph=True)
    with pytest.raises(rondo.NotDifferentiableError, match="clip_gradient bounds a gradient"):
        grad.sum().backward()
    v = torch.randn_like(x)
    plain = rondo.Cell("lstm", strategy="reference")
    found = [torch.func.jvp(lambda x, of=of: of(x, params=params)[0], (x.detach(),), (v,))[1] for of in (cell, plain)]
    assert_close(*found, 0.0)
