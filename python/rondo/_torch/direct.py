"""Rondo's operators as Python calls them, and as graphs of torch.compile and torch.export do: where nothing looks at a call
that comes again, it goes to the shim at once. PyTorch's dispatcher would call a kernel in Python for each, which takes as long
as the launch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from . import autograd, operators, shim

Known = Callable[..., "list[torch.Tensor] | None"]  # what the shim gives; None: it does not know the call


def _may_ask(tensors: Any, how: Any) -> bool:
    """Whether the shim may be asked. What is no call of the operator's is for PyTorch to refuse, and a mode of
    `__torch_function__` is to see the operator."""
    return (
        type(tensors) is list
        and type(how) is str
        and not torch._C._len_torch_function_stack()
        and not autograd.is_seen(tensors)
    )


def _forward(tensors: Any, how: Any, given: Any, time_major: Any) -> list[torch.Tensor] | None:
    return operators.known_forward(tensors, how, given, time_major, False) if _may_ask(tensors, how) else None


def _forward_save(tensors: Any, how: Any, given: Any, time_major: Any) -> list[torch.Tensor] | None:
    return operators.known_forward(tensors, how, given, time_major, True) if _may_ask(tensors, how) else None


def _backward(tensors: Any, how: Any, grads: Any, given: Any, wanted: Any, time_major: Any) -> list[torch.Tensor] | None:
    return operators.known_backward(tensors, how, grads, given, wanted, time_major) if _may_ask(tensors, how) else None


def _step(tensors: Any, states: Any, outputs: Any, how: Any) -> list[torch.Tensor] | None:
    if not type(tensors) is type(states) is type(outputs) is list:
        return None
    everything = [*tensors, *states, *outputs]
    return operators.known_step(everything, how) if _may_ask(everything, how) else None


def _go_through(known: Known, operator: Any, arguments: int, gives: bool = True) -> None:
    """Puts `known` before the way into PyTorch's dispatcher. An operator that does not give anything gives None."""
    way = operator._op  # what OpOverload.__call__ calls

    def call(*given: Any, **named: Any) -> Any:
        found = None if named or len(given) != arguments else known(*given)
        if found is None:
            return way(*given, **named)
        return found if gives else None

    operator._op = call


if shim.SHIM is not None:
    _go_through(_forward, operators.forward, 4)
    _go_through(_forward_save, operators.forward_save, 4)
    _go_through(_backward, operators.backward, 6)
    _go_through(_step, operators.step, 4, gives=False)
