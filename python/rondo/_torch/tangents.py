"""What a backward pass is given that is differentiated once more, by the tangent cell (`_tangents.py`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch

from .._errors import NotDifferentiableError
from .._tangents import Passes, is_tangent_cell, numbers_of
from .._tangents import passes_of as _passes_of

Tensors = Sequence[torch.Tensor]
Maybe = Sequence["torch.Tensor | None"]


def passes_of(how: str) -> Passes:
    """Of the tangent cell.

    Raises
    ------
    NotDifferentiableError
        The cell is one.
    """
    if is_tangent_cell(how):
        raise NotDifferentiableError(
            "Rondo differentiates twice, of which once in forward mode",
            "take reverse mode for one of two derivatives; there is no third one",
        )
    return _passes_of(how)


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
        return passes_of(self.how).of_a_gradient()

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
