"""A recurrence as a function of JAX's arrays that `jax.grad` and `jax.vjp` differentiate twice: the second time by its tangent
cell (`_tangents.py`), which says why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import jax
import jax.numpy as jnp

from .. import _structs as s
from .._errors import NotDifferentiableError
from .._structure import mask_of, structure_of
from .._tangents import Passes, is_tangent_cell, numbers_of, passes_of
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
def recurrence(how: str, given: int, kind: int = s.PASS_FORWARD) -> Any:
    """The function of those tensors of `structure.given` whose bit is in `given`. It gives outputs and last states, and as
    PASS_FORWARD_SAVE also what is saved, by which nothing is differentiated: it follows from what is given."""
    structure = structure_of(how)
    numbers = numbers_of(given)

    @jax.custom_vjp
    def run(*tensors: Any) -> tuple[Any, ...]:
        return tuple(launch(Pass(how, kind, given), tensors))

    def forward(*primals: Any) -> tuple[Any, _Kept]:
        tensors = [primal.value for primal in primals]
        wanted = 0
        for number, primal in zip(numbers, primals, strict=True):
            if primal.perturbed and number < len(structure.differentiable):
                wanted |= 1 << number
        made = recurrence(how, given, s.PASS_FORWARD_SAVE)(*tensors)  # a function, not a launch, for the second derivative
        kept = _Kept(tensors, [made[place] for place in structure.kept_places], wanted)
        return made if kind == s.PASS_FORWARD_SAVE else made[: len(structure.results)], kept

    def backward(kept: _Kept, cotangents: Any) -> tuple[Any, ...]:
        coming = [None if isinstance(one, _Zero) else one for one in cotangents[: len(structure.results)]]
        there = [one for one in coming if one is not None]
        if not kept.wanted or not there:
            return (None,) * len(numbers)
        what = Pass(how, s.PASS_BACKWARD, given, mask_of(coming), kept.wanted)
        found = iter(_gradients(what)(there, kept.tensors, kept.saved))
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


@partial(jax.tree_util.register_dataclass, data_fields=["coming", "tensors"], meta_fields=["by_coming", "by_tensors"])
@dataclass
class _Given:
    """What a backward pass was given that is differentiated: the gradients of results, what the forward pass was given, and
    whether a gradient by the former is wanted, and for which of the latter."""

    coming: list[Any]
    tensors: list[Any]
    by_coming: bool
    by_tensors: tuple[bool, ...]


@lru_cache(maxsize=4096)
def _gradients(what: Pass) -> Any:
    """A backward pass as a function of gradients that come in, of what the forward pass was given, and of what that has kept.
    By the last nothing is differentiated: it follows from what was given."""

    @jax.custom_vjp
    def run(coming: Sequence[Any], tensors: Sequence[Any], saved: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(launch(what, [*coming, *tensors, *saved]))

    def forward(*primals: Sequence[Any]) -> tuple[Any, _Given]:
        coming, tensors, saved = ([primal.value for primal in some] for some in primals)
        by_coming, by_tensors = (tuple(primal.perturbed for primal in some) for some in primals[:2])
        return _gradients(what)(coming, tensors, saved), _Given(coming, tensors, any(by_coming), by_tensors)

    def backward(kept: _Given, cotangents: Any) -> tuple[Any, Any, None]:
        weights = [None if isinstance(one, _Zero) else one for one in cotangents]
        return (None, None, None) if mask_of(weights) == 0 else (*_second(what, kept, weights), None)

    run.defvjp(forward, backward, symbolic_zeros=True)
    return run


def _second(what: Pass, kept: _Given, weights: Sequence[Any]) -> tuple[Any, list[Any]]:
    """The gradients of `coming` and of `tensors`. `weights`: those of what the backward pass gave."""
    passes = _passes_of(what.how)
    by_number = dict(zip(numbers_of(what.wanted), weights, strict=True))
    beside = [by_number.get(number) for number in numbers_of(what.given)]
    wanted = [place for place, perturbed in enumerate(kept.by_tensors) if perturbed]

    def along(values: Sequence[Any]) -> list[Any]:
        """The tangents of results, of these values of the tensors that are wanted."""
        tensors = list(kept.tensors)
        for place, value in zip(wanted, values, strict=True):
            tensors[place] = value
        mask, many = passes.arguments(what.given, tensors, beside, jnp.zeros_like)
        found = recurrence(passes.how, mask)(*many)
        return [found[passes.tangent_places[number]] for number in numbers_of(what.grads)]

    gradients: list[Any] = [None] * len(kept.tensors)
    values = [kept.tensors[place] for place in wanted]
    made, pull = jax.vjp(along, values)
    for place, gradient in zip(wanted, pull(kept.coming)[0], strict=True):
        gradients[place] = gradient
    return made if kept.by_coming else None, gradients


def _passes_of(how: str) -> Passes:
    if is_tangent_cell(how):
        raise NotDifferentiableError("Rondo differentiates twice in JAX", "there is no third derivative")
    return passes_of(how).of_a_gradient()
