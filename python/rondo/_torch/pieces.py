"""Some steps of a recurrence in pieces of time, each of which begins with the states that the piece before it has left. Where
other first states are found to be the right ones, pieces are walked again until the states at the end of one are the same to
the bit as before: all that follows is right then as it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch

from .._structure import Structure, TensorSpec
from . import into
from .launch import result_strides
from .types import dtype_of_spec, wide_type

Tensors = Sequence[torch.Tensor]
GROWTH = 8  # of one piece over the one before it, from each end of a part on


def pieces_of(steps: int, least: int, begin: bool, end: bool, growth: int = GROWTH) -> list[tuple[int, int]]:
    """From where to where the pieces of a part go, in the order of time. They are short, `least` steps, where first states may
    be put right, at the `begin` of the part, or gradients of last ones, at its `end`, and grow from there."""
    ahead: list[int] = []
    behind: list[int] = []
    size, left = least, steps
    while (begin or end) and left >= (begin + end + 1) * size:
        if begin:
            ahead.append(size)
        if end:
            behind.append(size)
        left -= (begin + end) * size
        size *= growth
    sizes = [*ahead, *([left] if left else []), *reversed(behind)]
    bounds = [0]
    for size in sizes:
        bounds.append(bounds[-1] + size)
    return list(pairwise(bounds))


class Chain:
    """Pieces, each of which makes of what is carried to it what is carried on."""

    def __init__(self, order: Sequence[int], first: Tensors) -> None:
        self.order = order
        self.first = list(first)
        self.ends: list[list[torch.Tensor]] = []
        self.again: list[int] = []  # which pieces were walked another time, and how often each

    def walk(self, piece: int, carried: Tensors) -> list[torch.Tensor]:
        """What a piece carries on."""
        raise NotImplementedError

    @property
    def last(self) -> list[torch.Tensor]:
        return self.ends[-1] if self.ends else self.first

    def all(self) -> None:
        carried: Tensors = self.first
        for piece in self.order:
            self.ends.append(self.walk(piece, carried))
            carried = self.ends[-1]

    def from_other(self, first: Tensors) -> torch.Tensor:
        """Walks the first piece from there. Whether it ends elsewhere than before: on the device, so that nothing is waited
        for."""
        former, self.first = self.last if not self.ends else self.ends[0], list(first)
        if not self.order:
            return differ(former, self.first)
        self._walk_again(0, self.first)
        return differ(former, self.ends[0])

    def rest(self) -> bool:
        """Walks on from where the first piece ends now, as long as ends are others than before. Whether the last one is."""
        for place in range(1, len(self.order)):
            former = self.ends[place]
            self._walk_again(place, self.ends[place - 1])
            if not bool(differ(former, self.ends[place])):
                return False
        return True

    def _walk_again(self, place: int, carried: Tensors) -> None:
        self.ends[place] = self.walk(self.order[place], carried)
        self.again.append(self.order[place])


def packed(tensors: Tensors) -> torch.Tensor:
    """All numbers of these in a row."""
    return tensors[0].reshape(-1) if len(tensors) == 1 else torch.cat([tensor.reshape(-1) for tensor in tensors])


def unpacked(flat: torch.Tensor, like: Tensors) -> list[torch.Tensor]:
    parts = flat.split([tensor.numel() for tensor in like])
    return [part.view(tensor.shape) for part, tensor in zip(parts, like, strict=True)]


def differ(some: Tensors, others: Tensors) -> torch.Tensor:
    """Whether a bit does: a NaN is the same as itself."""
    one, other = packed(some), packed(others)
    bits = torch.int64 if one.dtype is torch.float64 else torch.int32
    return (one.contiguous().view(bits) != other.contiguous().view(bits)).any()


@dataclass
class Part:
    """What one rank has: tensors as operators take them, all of them given, and how time is cut."""

    how: str
    structure: Structure
    time_major: bool
    inputs: list[torch.Tensor]
    params: list[torch.Tensor]
    lengths: list[torch.Tensor]  # none, or of each piece
    resets: torch.Tensor | None
    pieces: list[tuple[int, int]]
    reverse: bool
    sizes: dict[str, Any]

    @property
    def given(self) -> int:
        return (1 << len(self.structure.given)) - 1

    @property
    def order(self) -> list[int]:
        """In which pieces are walked."""
        numbers = list(range(len(self.pieces)))
        return numbers[::-1] if self.reverse else numbers

    def tensors(self, piece: int, states: Tensors) -> list[torch.Tensor]:
        """What the passes of a piece are given."""
        flags = [self.lengths[piece]] if self.lengths else []
        resets = self.cut([self.resets], piece) if self.resets is not None else []
        return [*self.cut(self.inputs, piece), *self.params, *states, *flags, *resets]

    def cut(self, tensors: Tensors, piece: int) -> list[torch.Tensor]:
        begin, end = self.pieces[piece]
        return [tensor.narrow(1, begin, end - begin) for tensor in tensors] if len(self.pieces) > 1 else list(tensors)

    def memory(self, specs: Sequence[TensorSpec], zero: bool = False) -> list[torch.Tensor]:
        """For results of all steps."""
        like, made = self.inputs[0], []
        for spec in specs:
            shape, dtype = spec.shape(self.sizes), dtype_of_spec(spec, like.dtype)
            made.append(like.new_empty_strided(shape, result_strides(spec, shape, self.time_major), dtype=dtype))
            if zero:
                made[-1].zero_()
        return made

    def first_states(self, given: Sequence[torch.Tensor | None]) -> list[torch.Tensor]:
        """Those that are given, and for others what the cell's text says."""
        like = self.inputs[0]
        dtype = wide_type(like.dtype)
        return [
            like.new_full(spec.shape(self.sizes), spec.first, dtype=dtype) if state is None else state.to(dtype).contiguous()
            for spec, state in zip(self.structure.initials, given, strict=True)
        ]


class Forward(Chain):
    """The forward pass over a part. What a backward pass reads is kept by piece, where it is `saving`."""

    def __init__(self, part: Part, states: Tensors, saving: bool) -> None:
        super().__init__(part.order, states)
        self.part, self.saving = part, saving
        self.outputs = part.memory(part.structure.outputs)
        self.states: list[list[torch.Tensor]] = [[] for _ in part.pieces]
        self.saved: list[list[torch.Tensor]] = [[] for _ in part.pieces]

    def walk(self, piece: int, carried: Tensors) -> list[torch.Tensor]:
        part, states, count = self.part, carried, len(carried)
        tensors = part.tensors(piece, states)
        found = into.forward(tensors, part.how, part.given, part.time_major, self.saving, part.cut(self.outputs, piece))
        if self.saving:
            self.states[piece], self.saved[piece] = list(states), found[count:]
        return found[:count]


class Backward(Chain):
    """The backward pass over a part. `wanted`: of which inputs and parameters gradients are; `coming`: those of outputs, or
    None."""

    def __init__(
        self,
        part: Part,
        outputs: Tensors,
        states: Sequence[Tensors],
        saved: Sequence[Tensors],
        coming: Sequence[torch.Tensor | None],
        wanted: Sequence[bool],
        carried: Tensors,
    ) -> None:
        super().__init__(part.order[::-1], carried)
        self.part, self.outputs, self.states, self.saved = part, outputs, states, saved
        structure = part.structure
        count = len(structure.inputs)
        self.coming = [grad for grad in coming if grad is not None]
        self.grads = sum(1 << number for number, grad in enumerate(coming) if grad is not None)
        self.grads |= ((1 << len(structure.lasts)) - 1) << len(structure.outputs)
        begin = len(wanted)
        self.wanted = sum(1 << number for number, one in enumerate(wanted) if one)
        self.wanted |= ((1 << len(structure.initials)) - 1) << begin
        self.inputs = part.memory([spec for spec, one in zip(structure.grads_out[:count], wanted) if one])
        self.params: list[list[torch.Tensor]] = [[] for _ in part.pieces]
        self.count = sum(wanted[count:])

    def walk(self, piece: int, carried: Tensors) -> list[torch.Tensor]:
        part, structure = self.part, self.part.structure
        outputs, saved = part.cut(self.outputs, piece), self.saved[piece]
        made = [*outputs, *[None] * len(structure.lasts), *saved]
        kept: list[Any] = [made[place] for place in structure.kept_places]
        tensors = [*part.cut(self.coming, piece), *carried, *part.tensors(piece, self.states[piece]), *kept]
        there = part.cut(self.inputs, piece)
        found = into.backward(tensors, part.how, self.grads, part.given, self.wanted, part.time_major, there)
        self.params[piece] = found[: self.count]
        return found[self.count :]

    def of_params(self) -> list[torch.Tensor | None]:
        """The sums over all pieces, in their order; None of a part without steps."""
        sums: list[torch.Tensor | None] = [None] * self.count
        for found in self.params:
            sums = [grad if sum_ is None else sum_ + grad for sum_, grad in zip(sums, found, strict=True)]
        return sums
