"""PyTorch's own inputs for its recurrent modules, by `rondo.nn`: the module database of torch.testing._internal.

Each input is run as PyTorch's module tests do: forward and every gradient beside torch.nn with the same weights in float64,
the reference that the database gives for it, a copy by pickle, and a move to another type.
"""

import copy
import importlib.util
import pickle
import sys
import types
import unittest

import pytest
from on_device import DEVICE, ON_GPU, checked, close, rondo, torch, without_cudnn

# PyTorch's test utilities import this package for a base class alone, which is not used here.
if importlib.util.find_spec("expecttest") is None and "expecttest" not in sys.modules:
    stand_in = types.ModuleType("expecttest")
    stand_in.TestCase = unittest.TestCase
    sys.modules["expecttest"] = stand_in
from torch.testing._internal import common_modules as common

INFOS = {info.name.removeprefix("nn."): info for info in common.module_db if info.name in ("nn.LSTM", "nn.GRU", "nn.RNN")}


def inputs_of(kind, training):
    info = INFOS[kind]
    torch.manual_seed(1)
    return info.module_inputs_func(info, device=DEVICE, dtype=torch.float32, requires_grad=True, training=training)


ALL = [
    (kind, training, number) for kind in INFOS for training in (False, True) for number in range(len(inputs_of(kind, training)))
]


def tensors_in(value):
    if isinstance(value, torch.Tensor):
        return [value]
    return [t for one in value for t in tensors_in(one)] if isinstance(value, tuple | list) else []


def leaves_of(arguments, dtype=torch.float32):
    """The same arguments as leaves of their own."""
    if isinstance(arguments, torch.Tensor):
        return arguments.detach().clone().to(dtype).requires_grad_(arguments.requires_grad)
    return tuple(leaves_of(one, dtype) for one in arguments) if isinstance(arguments, tuple | list) else arguments


def run(module, arguments, dtype=torch.float32):
    given = leaves_of(arguments, dtype)
    found = tensors_in(module(*given))
    sum((one * (number + 1)).sum() for number, one in enumerate(found)).backward()
    gradients = [*(one.grad for one in tensors_in(given)), *(weight.grad for weight in module.parameters())]
    return [one.detach() for one in found], gradients


def close_to(exact, found, theirs, tolerance):
    """As `close`, against float64. On a GPU, where cuDNN rounds its own way, 4 times torch.nn's error is allowed too."""
    for number, (wanted, one, other) in enumerate(zip(exact, found, theirs, strict=True)):
        assert one.shape == wanted.shape and one.device == wanted.device
        error, of_torch = (float((t.double() - wanted).abs().max()) if t.numel() else 0.0 for t in (one, other))
        allowed = max(10 * tolerance, 4 * of_torch) if ON_GPU else tolerance
        assert error <= allowed, f"{number}: error {error:.2e}, at most {allowed:.2e}, and that of torch.nn is {of_torch:.2e}"


def test_the_database_has_the_inputs():
    assert len([1 for kind, *_ in ALL if kind in ("LSTM", "GRU")]) >= 96
    assert len([1 for k, t, n in ALL if inputs_of(k, t)[n].constructor_input.kwargs.get("proj_size")]) == 32


@pytest.mark.turns
@pytest.mark.parametrize(("kind", "training", "number"), ALL)
def test_an_input(kind, training, number):
    case = inputs_of(kind, training)[number]
    made = case.constructor_input
    layer = getattr(rondo.nn, kind)(*made.args, **made.kwargs).to(DEVICE).train(training)
    reference = getattr(torch.nn, kind)(*made.args, **made.kwargs).to(DEVICE).train(training)
    assert list(layer.state_dict()) == list(reference.state_dict())
    reference.load_state_dict(layer.state_dict())
    arguments = case.forward_input.args
    assert not case.forward_input.kwargs
    outputs, gradients = run(layer, arguments)
    with without_cudnn(not training):  # whose layers have no gradients in evaluation mode
        others, theirs = run(reference, arguments)
    with without_cudnn():
        exact, wanted = run(copy.deepcopy(reference).double(), arguments, torch.float64)
    close_to(exact, outputs, others, 1e-5)
    close_to(wanted, gradients, theirs, 2e-5)
    if case.reference_fn is not None:
        expected = tensors_in(case.reference_fn(layer, *leaves_of(arguments)))
        for one, other in zip(outputs, expected, strict=True):
            close(one, other)
    again = pickle.loads(pickle.dumps(layer))
    for one, other in zip(tensors_in(again(*leaves_of(arguments))), outputs, strict=True):
        close(one, other, 1e-6)
    half = layer.to(torch.float16)
    lower = leaves_of(arguments, torch.float16)
    assert all(one.dtype == torch.float16 for one in tensors_in(half(*lower)))
    checked()
