"""Derivatives beyond the first backward pass, by the tangent cell: the same recurrence with `NAME_tangent` beside each tensor
NAME that has a derivative.

Its forward pass is a Jacobian times a vector, `J v`, where the tangents that are given are v. The first backward pass gives
`J^T g`, of gradients g that come in. Seen from there, with w for the gradients of what it has given: the gradient of g is
`J w`, and that of inputs, parameters and initial states is the one of `g^T J w`, which is the backward pass of the tangent cell
with g for the tangents of results and nothing for the results themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import torch

from .. import _structs as s
from .._errors import NotDifferentiableError
from .._structure import TensorSpec, structure_of

Tensors = Sequence[torch.Tensor]
Maybe = Sequence["torch.Tensor | None"]

LIMIT = "Rondo differentiates twice, of which once in forward mode"
LIMIT_HINT = "take reverse mode for one of two derivatives; there is no third one"


class Taken(NamedTuple):
    """A tensor that the tangent cell takes."""

    number: int  # of the tensor of the plain cell, of which this is the value or the tangent
    is_tangent: bool
    may_lack: bool  # it is zero where it is not given


class Passes:
    """What the passes of a tangent cell take and give, beside those of its plain cell.

    Attributes
    ----------
    how : str
        Its text.
    takes : list of Taken
        For each tensor of `given` of its structure.
    value_places, tangent_places : list of int
        Where its results have those of the plain cell, and their tangents.
    """

    def __init__(self, how: str) -> None:
        plain = structure_of(how)
        if plain.description.tangents:
            raise NotDifferentiableError(LIMIT, LIMIT_HINT)
        # Bounds of the gradient change no value and no tangent. What trains saves states: nothing else is legal everywhere.
        changes = dict(tangents=True, clip_gradient=0.0, save="states")
        changes |= {} if plain.description.strategy == "reference" else {"strategy": ""}
        self.bounds_gradient = plain.description.clip_gradient != 0
        self.how = plain.description.with_(**changes).text
        self.structure = structure_of(self.how)
        values = {spec.name: number for number, spec in enumerate(plain.given)}
        tangents = {_tangent_name(spec): number for number, spec in enumerate(plain.given)}
        self.takes = [
            Taken(
                values[spec.name] if spec.name in values else tangents[spec.name],
                spec.name not in values,
                spec.role == s.ROLE_INITIAL_STATE,
            )
            for spec in self.structure.given
        ]
        results = {spec.name: place for place, spec in enumerate(self.structure.results)}
        self.value_places = [results[spec.name] for spec in plain.results]
        self.tangent_places = [results[_tangent_name(spec)] for spec in plain.results]

    def arguments(self, given: int, tensors: Tensors, tangents: Maybe) -> tuple[int, list[torch.Tensor]]:
        """`given` and the tensors of a forward pass, of those of the plain cell; tangents that are None are zero."""
        places = {number: place for place, number in enumerate(numbers_of(given))}
        mask, many = 0, []
        for number, taken in enumerate(self.takes):
            if taken.number not in places:
                continue
            tensor = tensors[places[taken.number]]
            if taken.is_tangent:
                tangent = tangents[places[taken.number]]
                if tangent is None and taken.may_lack:
                    continue
                tensor = torch.zeros_like(tensor) if tangent is None else tangent
            mask |= 1 << number
            many.append(tensor)
        return mask, many

    def wanted(self, numbers: Sequence[int]) -> int:
        """Which gradients are those of these tensors of the plain cell."""
        return sum(1 << place for place, taken in enumerate(self.takes) if not taken.is_tangent and taken.number in numbers)


def _tangent_name(spec: TensorSpec) -> str:
    return spec.short + "_tangent" + spec.name[len(spec.short) :]


passes_of = lru_cache(maxsize=1024)(Passes)


def numbers_of(mask: int) -> list[int]:
    return [number for number in range(mask.bit_length()) if mask >> number & 1]


class Second(NamedTuple):
    """A backward pass that is differentiated: what it was given. `coming` are the gradients of results, `tensors` what the
    forward pass was given, and `kept` what that has kept."""

    how: str
    grads: int
    given: int
    wanted: int
    time_major: bool
    coming: Tensors
    tensors: Tensors
    kept: Tensors

    @property
    def passes(self) -> Passes:
        passes = passes_of(self.how)
        if passes.bounds_gradient:
            raise NotDifferentiableError(
                "clip_gradient bounds a gradient, which then is no derivative, and has none", "take the cell without it"
            )
        return passes

    def backward(
        self, mask: int, many: Tensors, found: Tensors, of_values: Maybe, numbers: Sequence[int]
    ) -> tuple[list[torch.Tensor], str, int, int, int, bool]:
        """The arguments of a backward pass of the tangent cell, for the tensors of the plain one that have these numbers.
        `mask`, `many`, `found`: its forward pass. The gradients of tangents of results are `coming`, those of results
        themselves `of_values`."""
        passes = self.passes
        by_place = {}
        for number, tensor, of_value in zip(numbers_of(self.grads), self.coming, of_values, strict=True):
            by_place[passes.tangent_places[number]] = tensor
            if of_value is not None:
                by_place[passes.value_places[number]] = of_value
        places = sorted(by_place)
        kept = [found[place] for place in passes.structure.kept_places]
        tensors = [*[by_place[place] for place in places], *many, *kept]
        return tensors, passes.how, sum(1 << place for place in places), mask, passes.wanted(numbers), self.time_major
