"""Passes whose results per step go to memory that is there: a part of a tensor that others fill too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from .. import _structs as s
from .._structure import of_mask, structure_of
from . import operators, sites
from .launch import Call, fit, plan_of, remember, remembered

Tensors = Sequence[torch.Tensor]


def forward(tensors: Tensors, how: str, given: int, time_major: bool, saving: bool, outputs: Tensors) -> list[torch.Tensor]:
    """Writes `outputs`, and gives last states, and behind them, where it is `saving`, what a backward pass reads. Arguments as
    of `operators.forward`; there is a row and a step at least."""
    pass_ = s.PASS_FORWARD_SAVE if saving else s.PASS_FORWARD

    def make() -> Call:
        structure = structure_of(how)
        specs = of_mask(structure.given, given)
        sizes = structure.sizes(specs, [tensor.shape for tensor in tensors])
        more = structure.saved if saving else []
        device, storage = tensors[0].device, tensors[0].dtype
        plan = plan_of(structure, pass_, sizes, device, storage, torch.are_deterministic_algorithms_enabled(), saving)
        asked, possible = structure.lasts + more, structure.results + more
        return Call(plan, specs + structure.outputs, asked, possible, sizes, device, storage, time_major)

    return _run(operators.family_of("into", pass_, how, given, time_major), tensors[0], tensors, outputs, make)


def backward(
    tensors: Tensors, how: str, grads: int, given: int, wanted: int, time_major: bool, gradients: Tensors
) -> list[torch.Tensor]:
    """Writes `gradients`, of those inputs that are `wanted`, and gives what else is, in the types of the pass. Arguments as of
    `operators.backward`."""
    like = tensors[grads.bit_count()]

    def make() -> Call:
        structure = structure_of(how)
        specs, _ = operators.split(how, grads, given, wanted)
        sizes = structure.sizes(specs, [tensor.shape for tensor in tensors])
        plan = plan_of(structure, s.PASS_BACKWARD, sizes, like.device, like.dtype, torch.are_deterministic_algorithms_enabled())
        asked = of_mask(structure.grads_out, wanted)
        given_there, asked = asked[: len(gradients)], asked[len(gradients) :]
        return Call(plan, specs + given_there, asked, structure.grads_out, sizes, like.device, like.dtype, time_major)

    family = operators.family_of("into", s.PASS_BACKWARD, how, grads, given, wanted, time_major)
    return _run(family, like, tensors, gradients, make)


def _run(
    family: tuple[Any, ...], like: torch.Tensor, tensors: Tensors, there: Tensors, make: Callable[[], Call]
) -> list[torch.Tensor]:
    everything = [*tensors, *there]
    found = sites.launched(family, everything) if sites.may_know(everything) else None
    if found is not None:
        return found
    key = operators.key_of(family, like, everything)
    call = remembered(key)
    if call is None:
        call = remember(key, make())
    elif sites.plain(everything):
        sites.tell(family, call, everything)
    # What a launch would copy to lay it out otherwise it would write for nobody.
    aside = [
        memory
        if taken is None or fit(memory, taken) is memory
        else torch.empty(memory.shape, dtype=memory.dtype, device=memory.device)
        for memory, taken in zip(there, call.taken[len(tensors) :], strict=True)
    ]
    found = call([*tensors, *aside])
    for memory, written in zip(there, aside, strict=True):
        if written is not memory:
            memory.copy_(written)
    return found
