"""A recurrence as a function of JAX's arrays that `jax.grad` and `jax.vjp` differentiate, once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import jax

from .. import _structs as s
from .._structure import mask_of, structure_of
from ._primitive import launch, varying
from ._sites import Pass

_Zero = jax.custom_derivatives.SymbolicZero


@partial(jax.tree_util.register_dataclass, data_fields=["tensors", "saved"], meta_fields=["wanted"])
@dataclass
class _Kept:
    """What a backward pass needs: what was given, what the forward pass saved, and which gradients are wanted."""

    tensors: list[Any]
    saved: list[Any]
    wanted: int


@lru_cache(maxsize=4096)
def recurrence(how: str, given: int) -> Any:
    """The function of those tensors of `structure.given` whose bit is in `given`. It gives outputs and last states."""
    structure = structure_of(how)
    numbers = [number for number in range(len(structure.given)) if given >> number & 1]

    @jax.custom_vjp
    def run(*tensors: Any) -> tuple[Any, ...]:
        return tuple(launch(Pass(how, s.PASS_FORWARD, given), tensors))

    def forward(*primals: Any) -> tuple[Any, _Kept]:
        tensors = [primal.value for primal in primals]
        wanted = 0
        for number, primal in zip(numbers, primals, strict=True):
            if primal.perturbed and number < len(structure.differentiable):
                wanted |= 1 << number
        made = launch(Pass(how, s.PASS_FORWARD_SAVE, given), tensors)
        kept = _Kept(tensors, [made[place] for place in structure.kept_places], wanted)
        return tuple(made[: len(structure.results)]), kept

    def backward(kept: _Kept, cotangents: Any) -> tuple[Any, ...]:
        coming = [None if isinstance(one, _Zero) else one for one in cotangents]
        there = [one for one in coming if one is not None]
        if not kept.wanted or not there:
            return (None,) * len(numbers)
        what = Pass(how, s.PASS_BACKWARD, given, mask_of(coming), kept.wanted)
        found = iter(launch(what, [*there, *kept.tensors, *kept.saved]))
        return tuple(
            _as_given(next(found), tensor) if kept.wanted >> number & 1 else None
            for number, tensor in zip(numbers, kept.tensors, strict=True)
        )

    run.defvjp(forward, backward, symbolic_zeros=True)
    return run


def _as_given(gradient: Any, tensor: Any) -> Any:
    """A gradient has the type of what it belongs to. Within shard_map, what devices share has the sum of their gradients."""
    gradient = gradient.astype(tensor.dtype)
    axes = varying(jax.typeof(gradient)) - varying(jax.typeof(tensor))
    return jax.lax.psum(gradient, tuple(axes)) if axes else gradient
