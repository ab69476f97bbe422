"""Rondo's operators as Python calls them: what the shim knows goes to it at once, and what looks at a call sees the operator."""

import pytest

torch = pytest.importorskip("torch", reason="no PyTorch: its shim is not tested")

import rondo
from rondo._torch import autograd
from torch.fx.experimental.proxy_tensor import make_fx
from torch.overrides import TorchFunctionMode

from parts import assert_close, assert_equal, lstm_tensors
from through_shim import ENOUGH, check_shim, launches_of, needs_shim, training

ops = torch.ops.rondo
GIVEN = 0b111  # x and both parameters of cell lstm


@pytest.fixture(autouse=True)
def model_alone():
    rondo.policy(choose="model", database=False)


def refuse_kernels(monkeypatch):
    def refuse(*_):
        raise AssertionError("PyTorch's dispatcher called a kernel in Python")

    monkeypatch.setattr(autograd, "_is_differentiated", refuse)  # what each of them asks first


def the_lstm(steps=5):
    """The text of the cell, and its tensors."""
    x, params = lstm_tensors(steps=steps)
    return rondo.Cell("lstm").description.text, [x, params["R"], params["b"]]


def calls(dtype=torch.float32):
    """Each operator, as a function that gives the tensors that it gives or writes."""
    how, tensors = the_lstm()
    tensors = [tensors[0].to(dtype), tensors[1].to(dtype), tensors[2]]
    structure = rondo.Cell("lstm")._plain
    made = ops.forward_save.default(tensors, how, GIVEN, False)
    grads = [torch.randn_like(one) for one in made[: len(structure.results)]]
    kept = [made[place] for place in structure.kept_places]
    backward = ([*grads, *tensors, *kept], how, 0b111, GIVEN, 0b111, False)
    step = [tensors[0][:, :1].clone(), *tensors[1:]]

    def one_step():
        states, outputs = [torch.ones(3, 1, 1, 16), torch.ones(3, 1, 1, 16)], [torch.zeros(3, 1, 1, 1, 16, dtype=dtype)]
        assert ops.step.default(step, states, outputs, how) is None
        return [*states, *outputs]

    return {
        "forward": lambda: ops.forward.default(tensors, how, GIVEN, False),
        "forward_save": lambda: ops.forward_save.default(tensors, how, GIVEN, False),
        "backward": lambda: ops.backward.default(*backward),
        "step": one_step,
    }


@needs_shim
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("name", ["forward", "forward_save", "backward", "step"])
def test_an_operator_that_the_shim_knows_needs_no_kernel_in_python(name, dtype, monkeypatch):
    run = calls(dtype)[name]
    check_shim(run, 1, monkeypatch)
    wanted = run()

    refuse_kernels(monkeypatch)
    for one, other in zip(run(), wanted, strict=True):
        assert_equal(one, other)


@needs_shim
def test_derivatives_of_an_operator_that_the_shim_knows(monkeypatch):
    how, (x, R, b) = the_lstm()

    def run(x):
        return ops.forward.default([x, R, b], how, GIVEN, False)[0]

    for _ in range(ENOUGH):
        wanted = run(x)
    u = x.clone().requires_grad_()
    check_shim(training(lambda: [run(u)], [u]), 2, monkeypatch)
    (gradient,) = torch.autograd.grad(run(u).sum(), [u])
    assert_equal(torch.func.grad(lambda x: run(x).sum())(x), gradient)
    assert_close(torch.func.vmap(lambda one: run(one[None])[0])(x), wanted, 1e-6)
    cell = rondo.Cell("lstm")
    _, tangent = torch.func.jvp(lambda x: cell(x, params={"R": R, "b": b})[0], (x,), (torch.ones_like(x),))
    with torch.no_grad(), torch.autograd.forward_ad.dual_level():
        dual = run(torch.autograd.forward_ad.make_dual(x, torch.ones_like(x)))
        assert_equal(torch.autograd.forward_ad.unpack_dual(dual).tangent.view_as(tangent), tangent)


@needs_shim
def test_a_mode_of_functions_sees_the_operator():
    how, tensors = the_lstm()
    seen = []

    class Watch(TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            seen.append(str(function))
            return function(*args, **(kwargs or {}))

    for _ in range(ENOUGH):
        ops.forward.default(tensors, how, GIVEN, False)
    with Watch():
        ops.forward.default(tensors, how, GIVEN, False)
    assert seen[0] == "rondo.forward.default" and len(seen) == 1


@needs_shim
@pytest.mark.parametrize("ahead", [True, False])
def test_a_graph_has_the_operator(ahead):
    """Of tensors that are no fakes too, before autograd and behind it."""
    how, (x, R, b) = the_lstm()
    cell = rondo.Cell("lstm")

    def run(x):
        return ops.forward.default([x, R, b], how, GIVEN, False)[0], cell(x, params={"R": R, "b": b})[0]

    for _ in range(ENOUGH):
        run(x)
    graph = make_fx(run, pre_dispatch=ahead)(x).graph
    assert [node.target for node in graph.nodes if "rondo" in str(node.target)] == [ops.forward.default] * 2


@needs_shim
def test_a_bit_that_negates_is_heeded():
    how, (x, R, b) = the_lstm()
    for _ in range(ENOUGH):
        wanted = ops.forward.default([-x, R, b], how, GIVEN, False)
    found = ops.forward.default([torch._neg_view(x), R, b], how, GIVEN, False)
    for one, other in zip(found, wanted, strict=True):
        assert_equal(one, other)


@needs_shim
def test_other_ways_to_say_a_call_and_other_devices():
    how, tensors = the_lstm()
    for _ in range(ENOUGH):
        wanted = ops.forward.default(tensors, how, GIVEN, False)
    for found in (
        ops.forward.default(tuple(tensors), how, GIVEN, False),
        ops.forward.default(tensors, how=how, given=GIVEN, time_major=False),
        ops.forward(tensors, how, GIVEN, False),
    ):
        for one, other in zip(found, wanted, strict=True):
            assert_equal(one, other)
    meta = ops.forward.default([tensor.to("meta") for tensor in tensors], how, GIVEN, False)
    assert [one.shape for one in meta] == [one.shape for one in wanted] and meta[0].is_meta


@needs_shim
def test_what_is_wrong_is_said_as_before(monkeypatch):
    how, tensors = the_lstm()
    for _ in range(ENOUGH):
        ops.forward.default(tensors, how, GIVEN, False)
    x, R, b = tensors
    with pytest.raises(rondo.InputError):
        ops.forward.default([x, R, b[:, :3]], how, GIVEN, False)
    for arguments in ((tensors, how), (tensors, how, GIVEN, False, 1), (7, how, GIVEN, False), (tensors, 7, GIVEN, False)):
        with pytest.raises((RuntimeError, TypeError), match="forward"):
            ops.forward.default(*arguments)


@needs_shim
def test_results_that_are_to_be_the_same_in_each_run_are_of_other_calls():
    """Each size has its own plan then."""
    how, tensors = the_lstm()

    def run():
        return ops.forward.default(tensors, how, GIVEN, False)

    for _ in range(ENOUGH):
        run()
    torch.use_deterministic_algorithms(True)
    try:
        assert [launches_of(run)[0] for _ in range(3)] == [0, 0, 1]
    finally:
        torch.use_deterministic_algorithms(False)
    assert launches_of(run)[0] == 1


@needs_shim
def test_a_compiled_graph_goes_through_the_shim(monkeypatch):
    cell = rondo.Cell("lstm")
    x, params = lstm_tensors()
    x.requires_grad_()
    compiled = torch.compile(lambda x: cell(x, params=params)[0], backend="aot_eager", fullgraph=True)
    check_shim(training(lambda: [compiled(x)], [x]), 2, monkeypatch, 1e-6)
    refuse_kernels(monkeypatch)
    compiled(x).sum().backward()
