"""The tangent cell of a cell: the same recurrence with `NAME_tangent` beside each tensor NAME that has a derivative. By it
second derivatives are computed.

Its forward pass is a Jacobian times a vector, `J v`, where the tangents that are given are v. The first backward pass gives
`J^T g`, of gradients g that come in. Seen from there, with w for the gradients of what it has given: the gradient of g is
`J w`, and that of inputs, parameters and initial states is the one of `g^T J w`, which is the backward pass of the tangent cell
with g for the tangents of results and nothing for the results themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from . import _structs as s
from ._errors import NotDifferentiableError
from ._structure import TensorSpec, structure_of


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

    def of_a_gradient(self) -> Passes:
        """The same, for a derivative of what a backward pass gives.

        Raises
        ------
        NotDifferentiableError
            That is bounded.
        """
        if self.bounds_gradient:
            raise NotDifferentiableError(
                "clip_gradient bounds a gradient, which then is no derivative, and has none", "take the cell without it"
            )
        return self

    def arguments(
        self, given: int, tensors: Sequence[Any], tangents: Sequence[Any], zeros_like: Callable[[Any], Any]
    ) -> tuple[int, list[Any]]:
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
                tensor = zeros_like(tensor) if tangent is None else tangent
            mask |= 1 << number
            many.append(tensor)
        return mask, many

    def wanted(self, numbers: Sequence[int]) -> int:
        """Which gradients are those of these tensors of the plain cell."""
        return sum(1 << place for place, taken in enumerate(self.takes) if not taken.is_tangent and taken.number in numbers)


def _tangent_name(spec: TensorSpec) -> str:
    return spec.short + "_tangent" + spec.name[len(spec.short) :]


def is_tangent_cell(how: str) -> bool:
    """Such a cell has no tangent cell: there is no third derivative."""
    return structure_of(how).description.tangents


passes_of = lru_cache(maxsize=1024)(Passes)


def numbers_of(mask: int) -> list[int]:
    return [number for number in range(mask.bit_length()) if mask >> number & 1]
