"""Forward passes of training whose outputs are known, since they ran before: the chunk of a sequence that is computed again for
its backward pass. An output that is a state says what the matrices multiplied at every step, so their products are made for all
steps at once, and what is left to walk are the other states (`RONDO_PASS_AGAIN`). Of an LSTM that is its `c`."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Sequence
from itertools import accumulate
from math import prod
from typing import Any

import torch

from .. import _structs as s
from .._plans import Plan
from .._structure import Structure, TensorSpec, of_mask, structure_of
from . import operators
from .launch import Call, again_plan_of, remember, remembered
from .types import dtype_of_spec

Tensors = Sequence[torch.Tensor]


class Outputs:
    """The outputs of all steps, while the backward pass goes through them and nobody changes them."""

    def __init__(self) -> None:
        self._told: list[tuple[torch.Tensor, int]] = []

    def tell(self, tensors: Tensors) -> None:
        self._told = [(tensor, tensor._version) for tensor in tensors]

    @property
    def tensors(self) -> list[torch.Tensor]:
        return [tensor for tensor, version in self._told if tensor._version == version]


class Chunk:
    """Some steps of them, `[begin, begin + steps)` on an axis, of which the step before each is `step` away. As a context: what
    runs in it runs again."""

    def __init__(self, outputs: Outputs, axis: int, begin: int, steps: int, step: int) -> None:
        self._outputs, self._axis, self._begin, self._steps, self._step = outputs, axis, begin, steps, step

    def __enter__(self) -> None:
        _running.chunks.append(self)

    def __exit__(self, *_: Any) -> None:
        _running.chunks.pop()

    def contexts(self) -> tuple[Any, Any]:
        """Of `torch.utils.checkpoint`: those of the first run and of the second one."""
        return contextlib.nullcontext(), self

    def found(self) -> tuple[list[torch.Tensor], list[torch.Tensor]] | None:
        """The outputs of these steps, and those of the steps before them. None where there are none before the first."""
        tensors, before = self._outputs.tensors, self._begin + self._step
        if not tensors or not 0 <= before <= tensors[0].shape[self._axis] - self._steps:
            self._outputs.tell([])  # the backward pass ends with these steps
            return None
        return self._at(tensors, self._begin), self._at(tensors, before)

    def _at(self, tensors: Tensors, begin: int) -> list[torch.Tensor]:
        return [tensor.narrow(self._axis, begin, self._steps) for tensor in tensors]


class Joined(torch.autograd.Function):
    """Pieces of outputs as one tensor each. The backward pass goes through it first, and tells the chunks behind it of the
    outputs, which it keeps: unless somebody has changed them, and they are to run again.

    `walks`: those whose pieces these are, each with so many pieces of each output; the channels of one lie behind those of the
    other."""

    @staticmethod
    def forward(ctx: Any, walks: Sequence[Outputs], axis: int, outputs: int, *pieces: torch.Tensor) -> tuple[torch.Tensor, ...]:  # type: ignore[override]
        count = len(pieces) // (len(walks) * outputs)
        rows = [torch.cat(pieces[at : at + count], axis) for at in range(0, len(pieces), count)]
        results = [torch.cat(rows[at::outputs], -1) if len(walks) > 1 else rows[at] for at in range(outputs)]
        ctx.walks, ctx.axis = walks, axis
        ctx.steps = [[piece.shape[axis] for piece in pieces[at : at + count]] for at in range(0, len(pieces), count)]
        ctx.channels = [rows[at].shape[-1] for at in range(0, len(rows), outputs)]
        ctx.versions = [result._version for result in results]
        ctx.save_for_backward(*results)
        ctx.set_materialize_grads(False)
        return tuple(results)

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor | None) -> tuple[Any, ...]:
        tensors = [tensor.detach() for tensor in _unchanged(ctx)]
        for walk, some in zip(ctx.walks, _ways(tensors, ctx.channels), strict=True):
            walk.tell(some)
        rows = [grad for some in _ways(grads, ctx.channels) for grad in some]
        pieces: list[Any] = []
        for grad, steps in zip(rows, ctx.steps, strict=True):
            pieces += [None] * len(steps) if grad is None else grad.split(steps, ctx.axis)
        return (None, None, None, *pieces)


def _ways(tensors: Sequence[Any], channels: Sequence[int]) -> list[list[Any]]:
    """Of each walk its part of the tensors."""
    if len(channels) == 1:
        return [[*tensors]]
    begins = [0, *accumulate(channels)]
    return [[None if one is None else one.narrow(-1, begin, many) for one in tensors] for begin, many in zip(begins, channels)]


def _unchanged(ctx: Any) -> Tensors:
    """What is saved; nothing where it is no longer what was saved. Where hooks keep it, as those of a checkpoint around all of
    this, autograd does not look."""
    try:
        tensors = ctx.saved_tensors
    except RuntimeError as error:
        if "modified by an inplace operation" not in str(error):
            raise
        return []
    return tensors if [tensor._version for tensor in tensors] == ctx.versions else []


class _Running(threading.local):
    """The chunks that a thread is computing again, one within the other."""

    def __init__(self) -> None:
        self.chunks: list[Chunk] = []


_running = _Running()


def is_known() -> bool:
    """Whether a forward pass runs again."""
    return bool(_running.chunks)


def computed(tensors: Tensors, how: str, given: int, time_major: bool) -> list[torch.Tensor] | None:
    """What `forward_save` gives, of the outputs that it gave before. None where these are not known, or where running it again
    takes no longer. Nobody reads the last states, and they are not there: they are nan."""
    found = _running.chunks[-1].found() if _running.chunks else None
    structure = structure_of(how)
    if found is None or structure.flags or structure.description.save != "states":
        return None
    specs, like = of_mask(structure.given, given), tensors[0]
    sizes = structure.sizes(specs, [tensor.shape for tensor in tensors])
    if any(not _fits(structure, some, sizes, like, time_major) for some in found):
        return None
    call = _call_of(structure, how, given, sizes, tensors, time_major)
    if call is None:
        return None
    outputs, before = (
        [_plain(one, spec.shape(sizes), time_major) for one, spec in zip(some, structure.outputs)] for some in found
    )
    saved = call([*tensors, *(before[place] for place, _ in _known(structure, call.plan))])
    nan = float("nan")
    lasts = [like.new_full(spec.shape(sizes), nan, dtype=dtype_of_spec(spec, like.dtype)) for spec in structure.lasts]
    return [*outputs, *lasts, *saved]


def _plain(output: torch.Tensor, shape: Sequence[int], time_major: bool) -> torch.Tensor:
    """A layer's output as the recurrence gives it. Inner axes may lie in one there."""
    return (output.transpose(0, 1) if time_major else output).reshape(shape)


def _fits(structure: Structure, outputs: Tensors, sizes: dict[str, int], like: torch.Tensor, time_major: bool) -> bool:
    """Whether they are outputs of this recurrence."""
    steps = ("T", "B") if time_major else ("B", "T")
    return len(outputs) == len(structure.outputs) and all(
        one.dtype is like.dtype
        and one.shape[:2] == tuple(sizes[axis] for axis in steps)
        and one.numel() == prod(spec.shape(sizes))
        for one, spec in zip(outputs, structure.outputs)
    )


def _known(structure: Structure, plan: Plan) -> list[tuple[int, TensorSpec]]:
    """The outputs that the pass takes: which they are, and as what."""
    given = {spec.name for spec in structure.given}
    outputs = {spec.short: place for place, spec in enumerate(structure.outputs)}
    taken = [bound.spec for bound in plan.tensors.values() if bound.spec.role == s.ROLE_INPUT]
    return [(outputs[spec.name], spec) for spec in taken if spec.name not in given]


def _call_of(
    structure: Structure, how: str, given: int, sizes: dict[str, int], tensors: Tensors, time_major: bool
) -> Call | None:
    like = tensors[0]
    key = operators.key_of(operators.family_of(s.PASS_AGAIN, how, given, time_major), like, tensors)
    call = remembered(key)
    if call is None and like.numel() > 0:
        plan = again_plan_of(structure, sizes, like.device, like.dtype, torch.are_deterministic_algorithms_enabled())
        if plan is None:
            return None
        specs = [*of_mask(structure.given, given), *(spec for _, spec in _known(structure, plan))]
        call = remember(key, Call(plan, specs, structure.saved, structure.saved, sizes, like.device, like.dtype, time_major))
    return call
