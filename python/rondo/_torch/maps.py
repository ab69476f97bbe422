"""The maps of parts of time in cells that are affine in their states: what a part ends with is A x + b of what it begins with.
Once all ranks know all maps, each knows what it begins with, however long the cell remembers."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from .._structure import Structure
from . import operators
from .pieces import Part, Tensors, unpacked
from .tangents import passes_of

MOST_ROWS = 4  # of all states: a map has their square for each channel, and takes a walk for each of them
STEPS = 65536  # of a piece at most: outputs that nobody reads are in memory for one at a time


def rows_of(structure: Structure) -> list[int]:
    """Of each state."""
    return [int(spec.axes[spec.rows_axis]) for spec in structure.initials]


def has_map(structure: Structure) -> bool:
    """Whether maps of its parts are small: each channel has its own, of few numbers, and gradients go through it unbounded."""
    info = structure.info
    by_channel = all(spec.axes[-1] == "D" and len(spec.axes) == 4 for spec in structure.initials)
    is_free = info.affine == 1 and info.all_diagonal == 1 and structure.description.clip_gradient == 0
    return is_free and by_channel and sum(rows_of(structure)) <= MOST_ROWS


def joined(states: Tensors) -> torch.Tensor:
    """All rows of all states, `[B, H, rows, D]`."""
    return torch.cat([*states], 2)


def parted(states: torch.Tensor, structure: Structure) -> list[torch.Tensor]:
    return list(states.split(rows_of(structure), 2))


def of_part(part: Part, first: Tensors) -> tuple[torch.Tensor, torch.Tensor]:
    """What a part ends with, that begins with `first`, and the A of its map, `[B, H, rows of ends, rows of begins, D]`."""
    like = joined(first)
    ends, columns = like, []
    for row in range(like.shape[2]):
        tangent = torch.zeros_like(like)
        tangent[:, :, row] = 1
        ends, column = _walked(part, like, tangent)
        columns.append(column)
    return ends, torch.stack(columns, 3)


def _walked(part: Part, states: torch.Tensor, tangent: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """States and their tangents behind all steps: a Jacobian times a vector, by the tangent cell."""
    passes = passes_of(part.how)
    structure, count = part.structure, len(part.structure.outputs)
    for piece in part.order:
        tensors = part.tensors(piece, parted(states, structure))
        tangents = [*map(_still, tensors[: len(structure.inputs)]), *map(torch.zeros_like, part.params)]
        tangents += [*parted(tangent, structure), *[None] * len(structure.flags)]
        mask, many = passes.arguments(part.given, tensors, tangents, torch.zeros_like)
        found = operators.run_forward(many, passes.how, mask, part.time_major, False)
        states = joined([found[place] for place in passes.value_places[count:]])
        tangent = joined([found[place] for place in passes.tangent_places[count:]])
    return states, tangent


def _still(tensor: torch.Tensor) -> torch.Tensor:
    """Zero, the same memory for all steps."""
    return tensor.new_zeros((1, 1, *tensor.shape[2:])).expand(tensor.shape)


def applied(map_: torch.Tensor, states: torch.Tensor, transposed: bool = False) -> torch.Tensor:
    """A x, or the transpose of A for gradients, always added up in one order."""
    return (map_ * (states.unsqueeze(3) if transposed else states.unsqueeze(2))).sum(2 if transposed else 3)


def through(rows: Tensors, place: int, first: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, list[torch.Tensor]]:
    """Of what `of_part` has given on all ranks, packed: what the rank at `place` begins with, what the last one ends with, and
    all A."""
    states, begin, maps = first, first, []
    shape = (*first.shape[:3], *first.shape[2:])
    for number, row in enumerate(rows):
        if number == place:
            begin = states
        ends, map_ = unpacked(row, [first, first.new_empty(shape)])
        maps.append(map_)
        states = ends + applied(map_, states - first) if number else ends
    return begin, states, maps


def back(rows: Tensors, place: int, last: torch.Tensor, maps: Sequence[torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
    """The same of gradients, which come to the last rank first: what the rank at `place` is given, and what the states that all
    begins with have. `rows`: what each rank gives to the one before it if it is given nothing; `maps`: of the same ranks."""
    gradient, given = last, last
    for number, (row, map_) in enumerate(zip(rows, maps, strict=True)):
        if number == place:
            given = gradient
        gradient = row.view(last.shape) + applied(map_, gradient, transposed=True)
    return given, gradient
