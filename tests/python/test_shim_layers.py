"""Layers through librondo_torch, as one node of the graph."""

import pytest

torch = pytest.importorskip("torch", reason="no PyTorch: its shim is not tested")

import rondo
from rondo.nn import _whole

from parts import KINDS, assert_close, assert_equal, leaf, pair
from through_shim import ENOUGH, check_shim, needs_shim, training


@pytest.fixture(autouse=True)
def model_alone():
    rondo.policy(choose="model", database=False)


@needs_shim
@pytest.mark.turns
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_layers_through_the_shim(kind, bias, batch_first, dtype, monkeypatch):
    layer = KINDS[kind][1](8, 16, bias=bias, batch_first=batch_first, dtype=dtype)
    u, h = leaf(3, 5, 8, dtype=dtype), leaf(1, 3 if batch_first else 5, 16, dtype=dtype)
    hx = (h, leaf(*h.shape, dtype=dtype)) if kind == "LSTM" else h
    fine = dtype is torch.float32

    def run():
        y, last = layer(u, hx)
        return [y, *(last if isinstance(last, tuple) else (last,))]

    def infer():
        with torch.no_grad():
            return run()

    check_shim(infer, 1, monkeypatch, 1e-6 if fine else 1e-2)
    check_shim(
        training(run, [u, *layer.parameters(), *(hx if kind == "LSTM" else [hx])]), 2, monkeypatch, 1e-5 if fine else 2e-2
    )


@needs_shim
@pytest.mark.parametrize("save", ["states", "products"])
def test_a_stack_of_layers_through_the_shim(save, monkeypatch):
    layer = rondo.nn.LSTM(8, 16, num_layers=2, bidirectional=True, save=save).to(torch.bfloat16)
    u = torch.randn(5, 3, 8, dtype=torch.bfloat16, requires_grad=True)

    def run():
        y, last = layer(u)
        return [y, *last]

    check_shim(training(run, [u, *layer.parameters()]), 4, monkeypatch, 2e-2)  # both directions are one launch


@needs_shim
def test_packed_sequences_through_the_shim(monkeypatch):
    layer = rondo.nn.GRU(8, 16)
    u = torch.randn(3, 5, 8)
    packed = torch.nn.utils.rnn.pack_padded_sequence(u, [5, 3, 2], batch_first=True)

    def run():
        with torch.no_grad():
            y, h = layer(packed)
        return [y.data, h]

    check_shim(run, 1, monkeypatch, 1e-6)


@needs_shim
@pytest.mark.parametrize("kind", KINDS)
def test_some_gradients_of_a_layer(kind, monkeypatch):
    """What needs none is not computed; a backward pass may run again; gradients that are expanded are taken."""
    layer = KINDS[kind][1](8, 16)
    u = torch.randn(5, 3, 8)

    def run():
        layer.zero_grad()
        y, last = layer(u)
        y.sum().backward(retain_graph=True)
        (last[1] if kind == "LSTM" else last).sum().backward()
        return [p.grad for p in layer.parameters() if p.grad is not None]

    for frozen in ((), ("weight_ih_l0",), ("weight_hh_l0", "bias_hh_l0"), ("bias_ih_l0", "bias_hh_l0", "weight_ih_l0")):
        for name, parameter in layer.named_parameters():
            parameter.requires_grad_(name not in frozen)
        check_shim(run, 3, monkeypatch, 1e-5)


@needs_shim
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("kind", KINDS)
def test_a_pass_of_a_layer_is_one_call(kind, dtype, monkeypatch):
    """Products, types of states and sums of biases too are the shim's, once it knows the layer."""
    layer = KINDS[kind][1](8, 16, dtype=dtype)
    u = leaf(5, 3, 8, dtype=dtype)
    run = training(lambda: [layer(u)[0]], [u, *layer.parameters()])
    for _ in range(ENOUGH):
        wanted = run()

    def refuse(*_):
        raise AssertionError("a product of PyTorch's was asked for from Python")

    monkeypatch.setattr(torch, "mm", refuse)
    monkeypatch.setattr(_whole.F, "linear", refuse)
    monkeypatch.setattr(_whole, "wide", refuse)
    for one, other in zip(run(), wanted, strict=True):
        assert_equal(one, other)


@needs_shim
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("kind", KINDS)
def test_all_that_a_layer_gives_is_of_one_node(kind, dtype):
    """In the types that it is to have, so that nothing stands between the node and the caller."""
    layer = KINDS[kind][1](8, 16, dtype=dtype)
    u = leaf(5, 3, 8, dtype=dtype)
    for _ in range(ENOUGH):
        y, last = layer(u)
        for state in last if kind == "LSTM" else (last,):
            assert state.grad_fn is y.grad_fn and state.dtype is dtype


@needs_shim
@pytest.mark.parametrize(
    "size", [16, 5]
)  # what is converted lies in one piece of memory, or apart where it would not be aligned
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_converted_in_one_is_each_its_own(kind, size, monkeypatch):
    """Gradients of a matrix and of biases, and last states, of 16 bits: to change one leaves the others."""
    layer = KINDS[kind][1](8, size, dtype=torch.bfloat16)
    u = leaf(5, 3, 8, dtype=torch.bfloat16)

    def run():
        y, last = layer(u)
        found = [y, *(last if isinstance(last, tuple) else (last,))]
        grads = torch.autograd.grad(sum(one.float().square().sum() for one in found), [u, *layer.parameters()])
        return [one.detach() for one in found] + list(grads)

    check_shim(run, 2, monkeypatch, 2e-2)
    found, wanted = run(), run()
    for number, tensor in enumerate(found):
        assert tensor.dtype is torch.bfloat16 and tensor.is_contiguous()
        tensor.fill_(float("nan"))
        for other, same in zip(found[number + 1 :], wanted[number + 1 :], strict=True):
            assert_equal(other, same)


@needs_shim
@pytest.mark.parametrize("frozen", ["bias_ih_l0", "bias_hh_l0", "weight_hh_l0"])
@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
def test_some_gradients_of_16_bits(kind, frozen, monkeypatch):
    layer = KINDS[kind][1](8, 16, dtype=torch.bfloat16)
    layer.get_parameter(frozen).requires_grad_(False)
    u = torch.randn(5, 3, 8, dtype=torch.bfloat16)
    leaves = [parameter for parameter in layer.parameters() if parameter.requires_grad]
    check_shim(training(lambda: [layer(u)[0]], leaves), 2, monkeypatch, 2e-2)


@needs_shim
@pytest.mark.parametrize("kind", KINDS)
def test_inputs_that_are_not_dense(kind, monkeypatch):
    layer = KINDS[kind][1](8, 16, batch_first=True)
    u = leaf(5, 3, 8)
    run = training(lambda: [layer(u.transpose(0, 1))[0]], [u, *layer.parameters()])
    check_shim(run, 2, monkeypatch, 1e-5)


@needs_shim
@pytest.mark.parametrize("kind", KINDS)
def test_inputs_that_begin_within_other_memory(kind, monkeypatch):
    layer = KINDS[kind][1](8, 16)
    u = leaf(9, 3, 8)
    run = training(lambda: [layer(u[2:7])[0]], [u, *layer.parameters()])
    check_shim(run, 2, monkeypatch, 1e-5)


@needs_shim
def test_biases_of_another_type(monkeypatch):
    layer = rondo.nn.LSTM(8, 16).to(torch.bfloat16)
    layer.bias_ih_l0 = torch.nn.Parameter(layer.bias_ih_l0.detach().float())
    u = leaf(5, 3, 8, dtype=torch.bfloat16)
    check_shim(training(lambda: [layer(u)[0]], [u, *layer.parameters()]), 2, monkeypatch, 2e-2)


@needs_shim
@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_second_derivatives_of_a_layer(kind):
    reference, layer = pair(kind, by_reference=True)
    u, h = leaf(3, 5, 8), leaf(1, 3, 16)
    for _ in range(ENOUGH):
        layer(u)[0].sum().backward()
    found = []
    for module in (layer, reference):
        tensors = [u, h, *module.parameters()]
        y = module(u, (h, torch.zeros_like(h)) if kind == "LSTM" else h)[0]
        if module is layer:
            assert "WholeLayer" in y.grad_fn.name()
        grads = torch.autograd.grad(y.square().sum(), tensors, create_graph=True)
        found.append(torch.autograd.grad(sum(grad.square().sum() for grad in grads), tensors))
    for mine, theirs in zip(*found, strict=True):
        assert_close(mine / theirs.abs().max(), theirs / theirs.abs().max(), 1e-5)


@needs_shim
def test_the_gradient_of_a_layer_is_the_same_with_a_graph():
    layer = rondo.nn.LSTM(8, 16)
    u = leaf(5, 3, 8)
    found = []
    for turn in range(2 * ENOUGH):
        y = layer(u)[0]
        with torch.no_grad():
            layer.bias_ih_l0.add_(0)  # its value is in no gradient
        found.append(torch.autograd.grad(y.square().sum(), [u, *layer.parameters()], create_graph=turn % 2 == 1))
    for graph in (0, 1):
        for one, other in zip(found[graph], found[-1], strict=True):
            assert_equal(one, other)


@needs_shim
def test_weights_that_have_changed_are_noticed():
    layer = rondo.nn.LSTM(8, 16)
    for _ in range(ENOUGH):
        y = layer(torch.randn(5, 3, 8))[0]
    with torch.no_grad():
        layer.weight_hh_l0.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
