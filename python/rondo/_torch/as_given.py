"""A cell's call that comes again, without a derivative: the shim knows it with the caller's own tensors, so that none is
checked and reshaped once more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from .._structure import Structure, TensorSpec
from . import autograd, operators, shim, sites

Short = tuple[Any, list[torch.Tensor]]  # what is computed, and of which tensors


def short_of(
    plain: Structure, how: str, x: Any, params: Any, initial: Any, flags: Sequence[tuple[Any, torch.dtype]], batch_first: bool
) -> Short | None:
    """None where an argument is not plainly right, or where something looks at the call or differentiates it. `flags`: lengths
    and resets, those that are given, and their types."""
    mask, tensors = _gathered(plain, x, params, initial, flags)
    return (operators.family_of("cell", how, mask, batch_first), tensors) if mask else None


def _gathered(plain: Structure, x: Any, params: Any, initial: Any, flags: Any) -> tuple[int, list[Any]]:
    """Which of `plain.given` there are, and the tensors; 0 where a call is to go the long way."""
    nothing: tuple[int, list[Any]] = 0, []
    if shim.SHIM is None:
        return nothing
    tensors: list[Any] = []
    if isinstance(x, torch.Tensor) and len(plain.inputs) == 1:
        tensors.append(x)
    elif not _add(tensors, plain.inputs, x):
        return nothing
    if (plain.params or params) and not _add(tensors, plain.params, params):
        return nothing
    number = len(tensors)
    mask = (1 << number) - 1
    if initial:
        if type(initial) is not dict:
            return nothing
        for spec in plain.initials:
            if spec.short in initial:
                tensors.append(initial[spec.short])
                mask |= 1 << number
            number += 1
        if mask.bit_count() - len(plain.inputs) - len(plain.params) != len(initial):
            return nothing
    for flag, dtype in flags:
        if not isinstance(flag, torch.Tensor) or flag.dtype is not dtype:
            return nothing
        tensors.append(flag)
    return nothing if autograd.is_seen(tensors) else (mask, tensors)


def _add(tensors: list[Any], specs: Sequence[TensorSpec], values: Any) -> bool:
    """Adds what is given by name. Whether that is all, and nothing else."""
    if type(values) is not dict or len(values) != len(specs):
        return False
    for spec in specs:
        tensors.append(values.get(spec.short))
    return True


def results_of(plain: Structure, found: Sequence[torch.Tensor]) -> tuple[Any, dict[str, Any]]:
    """What the shim has given, as a cell gives it."""
    count = len(plain.outputs)
    last = {spec.short: tensor for spec, tensor in zip(plain.lasts, found[count:])}
    if count == 1:
        return found[0], last
    return {spec.short: tensor for spec, tensor in zip(plain.outputs, found)}, last


def tell(
    short: Short, plain: Structure, what: Any, tensors: Sequence[torch.Tensor], found: Sequence[torch.Tensor], results: Any
) -> None:
    """Tells the shim of a call. `what`, `tensors` and `found`: the recurrence's, of which `results` are views."""
    family, given = short
    y, last = results
    made = [*(y.values() if isinstance(y, dict) else (y,)), *(last[spec.short] for spec in plain.lasts)]
    call = operators.remembered_call(operators.family_of(*what), tensors[0], tensors)
    sites.tell_as_given(family, call, given, tensors, made, found)


# The shapes of a step's outputs, as a cell gives them, by the step and the shape of its first input.
_shapes: dict[Any, list[torch.Size]] = {}
_MOST_SHAPES = 4096


def step_of(structure: Structure, how: str, x: Any, state: Any, params: Any) -> Short | None:
    """As `short_of`, of one step."""
    mask, tensors = _gathered(structure, x, params, state, ())
    count = len(structure.inputs) + len(structure.params) + len(structure.initials)
    return (operators.family_of("cell step", how), tensors) if mask and len(tensors) == count else None


def stepped(short: Short) -> list[torch.Tensor] | None:
    """The outputs of a step that the shim knows."""
    family, tensors = short
    x = tensors[0]
    shapes = _shapes.get((family, x.shape))
    if shapes is None:
        return None
    outputs = [x.new_empty(shape) for shape in shapes]
    return None if sites.launched(family, [*tensors, *outputs]) is None else outputs


def tell_step(
    short: Short, how: str, tensors: Sequence[torch.Tensor], found: Sequence[torch.Tensor], outputs: Sequence[torch.Tensor]
) -> None:
    """As `tell`. `tensors`: the step's and its states."""
    family, given = short
    everything = [*tensors, *found]
    call = operators.remembered_call(operators.family_of("step", how), tensors[0], everything)
    sites.tell_as_given(family, call, [*given, *outputs], everything, [], [])
    if len(_shapes) >= _MOST_SHAPES:
        _shapes.clear()
    _shapes[family, given[0].shape] = [tensor.shape for tensor in outputs]
