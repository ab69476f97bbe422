"""Gradients by `gradcheck`: in float64, which kernels for CPUs compute in, against central differences."""

import os

import pytest

torch = pytest.importorskip("torch", reason="no PyTorch: gradcheck is not run")

import rondo

from parts import assert_close

SMOOTH = ["affine", "elman", "gru", "hgrn", "lstm", "lnlstm", "mingru", "minlstm", "paragru", "paralstm", "slstm", "sru"]


def arguments_of(name, sizes):
    """A function of all tensors of a cell, that gives all of its results, and such tensors."""
    cell = rondo.Cell(name)
    specs = cell._plain.given
    leaves = [(torch.randn(spec.shape(sizes), dtype=torch.float64) / 2).requires_grad_() for spec in specs]
    kinds = [(kind, len(group)) for kind, group in (("x", cell.inputs), ("params", cell.params), ("initial", cell.states))]

    def run(*tensors):
        left, named = list(zip([spec.short for spec in specs], tensors, strict=True)), {}
        for kind, count in kinds:
            named[kind], left = dict(left[:count]), left[count:]
        y, last = cell(named["x"], params=named["params"], initial=named["initial"])
        return (*(y.values() if isinstance(y, dict) else [y]), *last.values())

    return run, leaves


@pytest.mark.turns
@pytest.mark.parametrize("name", SMOOTH)
def test_gradcheck(name):
    run, leaves = arguments_of(name, {"B": 2, "T": 3, "H": 2, "D": 3})
    assert torch.autograd.gradcheck(run, leaves, fast_mode=False)


@pytest.mark.parametrize("reverse", [False, True])
def test_gradcheck_of_forms(reverse):
    cell = rondo.Cell("gru")
    lengths = torch.tensor([4, 2])
    resets = torch.tensor([[0, 0, 1, 0], [0, 1, 0, 0]], dtype=torch.bool)
    shapes = [(2, 4, 3, 3), (3, 3, 3), (3, 3), (2, 3)]
    leaves = [torch.randn(shape, dtype=torch.float64).requires_grad_() for shape in shapes]

    def run(x, R, b, h):
        y, last = cell(x, params={"R": R, "b": b}, initial={"h": h}, lengths=lengths, resets=resets, reverse=reverse)
        return y, last["h"]

    assert torch.autograd.gradcheck(run, leaves)


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_gradcheck_of_layers(kind):
    layer = getattr(rondo.nn, kind)(2, 3, num_layers=2, bidirectional=True).double()
    u = torch.randn(3, 2, 2, dtype=torch.float64).requires_grad_()
    weights = list(layer.parameters())
    names = [name for name, _ in layer.named_parameters()]

    def run(u, *values):
        return torch.func.functional_call(layer, dict(zip(names, values, strict=True)), (u,))[0]

    assert torch.autograd.gradcheck(run, (u, *weights), fast_mode=True)


def test_kernels_compute_in_float64():
    """What gradcheck looks at are kernels, where there is a compiler for them, and they are as right as the reference."""
    native, exact = rondo.Cell("lstm"), rondo.Cell("lstm", strategy="reference")
    x = torch.randn(2, 5, 2, 4, 8, dtype=torch.float64).requires_grad_()
    R, b = (torch.randn(shape, dtype=torch.float64).requires_grad_() for shape in ((2, 4, 8, 8), (2, 4, 8)))

    def run(cell):
        y, _ = cell(x, params={"R": R / 4, "b": b})
        return [y, *torch.autograd.grad(y.square().sum(), (x, R, b))]

    for one, other in zip(run(native), run(exact), strict=True):
        assert_close(one, other, 1e-13)
    computed = [plan for plan in rondo.plans() if plan.type == "fp64" and plan.cell == "lstm" and plan.dim == 8]
    by_kernels = {plan.pass_ for plan in computed if plan.strategy == "host"}
    if not by_kernels and os.environ.get("RONDO_LLVM") == "none":
        pytest.skip("no compiler for CPUs")
    assert by_kernels == {"fws", "bw"}


def test_a_wrong_gradient_is_found():
    """gradcheck can fail here: a gradient that lacks a part is one."""
    cell = rondo.Cell("mingru")

    def run(x):
        return cell(x.detach() * 0.5 + x * 0.5)[0]

    with pytest.raises(RuntimeError, match="Jacobian mismatch"):
        torch.autograd.gradcheck(run, torch.randn(2, 3, 2, 3, dtype=torch.float64).requires_grad_())


def test_float64_is_torchs():
    reference, layer = torch.nn.LSTM(4, 8).double(), rondo.nn.LSTM(4, 8).double()
    layer.load_state_dict(reference.state_dict())
    u = torch.randn(5, 2, 4, dtype=torch.float64)
    (y, (h, c)), (z, (h2, c2)) = layer(u), reference(u)
    assert y.dtype == h.dtype == torch.float64
    for one, other in ((y, z), (h, h2), (c, c2)):
        assert_close(one, other, 1e-14)


def test_a_step_in_float64():
    cell, x = rondo.Cell("mingru"), torch.randn(2, 2, 8, dtype=torch.float64)
    y, state = cell.step(x)
    assert state["h"].dtype == torch.float64
    assert_close(y, cell(x[:, None])[0][:, 0], 1e-15)


def test_a_gpu_does_not_compute_in_float64():
    from rondo._torch.types import type_of

    with pytest.raises(rondo.InputError, match="x is float64 on cuda:0 .only CPUs compute in it"):
        type_of(torch.float64, "lstm", torch.device("cuda:0"))
