"""A recurrence over sequences of which each of several ranks has some steps. All ranks walk their parts at once, from guesses
of the states that the parts begin with, tell each other how they end, and put right what began elsewhere, until all of it
agrees to the bit: what comes out is what one process would have that walked the same pieces one after another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import torch
import torch.distributed as dist

from .._errors import NotDifferentiableError
from . import maps
from .pieces import Backward, Chain, Forward, Part, Tensors, differ, packed, unpacked


@dataclass(frozen=True)
class Line:
    """The ranks of a group, in the order in which what is carried comes to them."""

    group: Any
    rank: int
    world: int
    backwards: bool = False

    @property
    def place(self) -> int:
        return self.world - 1 - self.rank if self.backwards else self.rank

    @property
    def turned(self) -> Line:
        return replace(self, backwards=not self.backwards)

    def gather(self, mine: torch.Tensor) -> list[torch.Tensor]:
        """Of all, in their order. `mine` has one axis, and the same length everywhere."""
        if self.world == 1 or not mine.numel():
            return [mine] * self.world
        found = mine.new_empty(self.world * mine.numel())
        dist.all_gather_into_tensor(found, mine, group=self.group)
        rows = list(found.view(self.world, -1).unbind())
        return rows[::-1] if self.backwards else rows


@dataclass(frozen=True)
class Record:
    """What a pass over ranks took on this one.

    Attributes
    ----------
    rounds : int
        How often the ranks told each other what their parts end with.
    again : int
        Steps that were walked another time.
    """

    rounds: int
    again: int


def settle(line: Line, chain: Chain, pieces: Sequence[tuple[int, int]], shares: Tensors | None = None) -> tuple[Any, Record]:
    """Walks all ranks' chains until each begins with what the one before it ends with. Gives what the last of them ends with,
    and what that took. `shares`: the first chain is to begin with the sum of all ranks' shares, not with what it began with."""
    chain.all()
    count = packed(chain.last).numel()
    found = line.gather(packed([*chain.last, *(shares or ())]))
    begin = None if shares is None else unpacked(_sum([row[count:] for row in found]), chain.last)
    rounds = 1
    # Each turn makes one rank more right, whatever guesses are worth.
    for turn in range(1, line.world + (begin is not None and line.world > 1)):
        before = unpacked(found[line.place - 1][:count], chain.last) if line.place else begin
        moved = torch.zeros((), dtype=torch.bool, device=found[0].device)
        # In the first turn nothing is looked at: all is submitted while the device is still at the chain.
        if before is not None and (turn == 1 or bool(differ(before, chain.first))):
            moved = chain.from_other(before)
        flags = torch.cat(line.gather(moved.to(torch.int32).view(1))).tolist()
        if not any(flags):
            break
        ended = False
        if flags[line.place]:
            ended = chain.rest()
        found = line.gather(packed([*chain.last, chain.last[0].new_full((1,), float(ended))]))
        rounds += 1
        if not any(torch.stack([row[count] for row in found[:-1]]).tolist()):
            break
    again = sum(pieces[piece][1] - pieces[piece][0] for piece in chain.again)
    return unpacked(found[-1][:count], chain.last), Record(rounds, again)


def _sum(rows: Tensors) -> torch.Tensor:
    """In an order that is always the same."""
    total = rows[0]
    for row in rows[1:]:
        total = total + row
    return total


@dataclass
class Setting:
    """All of a call but for tensors that have derivatives. `by_maps`: what parts begin with is found by their maps, and not by
    guesses. `records`: what its passes took, by their names."""

    part: Part  # without those tensors
    line: Line
    by_maps: bool
    records: dict[str, Record] = field(default_factory=dict)

    def with_tensors(self, tensors: Tensors) -> Part:
        count = len(self.part.structure.inputs)
        return replace(self.part, inputs=list(tensors[:count]), params=list(tensors[count:]))


class Walked(NamedTuple):
    """What a forward pass over ranks gives."""

    results: list[torch.Tensor]  # outputs of this part, and the last states of all
    forward: Forward
    maps: list[torch.Tensor]  # of all ranks, in the order of the line, where they were taken


def forward(setting: Setting, tensors: Tensors, initial: Any, saving: bool) -> Walked:
    """`tensors`: inputs and parameters; `initial`: states, or None."""
    part, line = setting.with_tensors(tensors), setting.line
    first, found = part.first_states(initial), []
    if setting.by_maps:
        whole = maps.joined(first)
        rows = line.gather(packed(maps.of_part(part, first)))
        begin, end, found = maps.through(rows, line.place, whole)
        walked = Forward(part, maps.parted(begin, part.structure), saving)
        walked.all()
        last, record = maps.parted(end, part.structure), Record(1, part.sizes["T"])
    else:
        walked = Forward(part, first, saving)
        last, record = settle(line, walked, part.pieces)
    setting.records["forward"] = record
    # Last states are each their own, to be changed in place.
    results = [*walked.outputs, *(state.clone(memory_format=torch.contiguous_format) for state in last)]
    return Walked(results, walked, found)


def backward(
    setting: Setting, walk: Callable[[Sequence[bool], Tensors], Backward], wanted: Any, shares: Tensors, found: Tensors
) -> tuple[Backward, Tensors]:
    """The pass of this rank, and the gradients of the states that the whole sequences begin with. `walk` makes a pass for those
    that are `wanted`, from gradients of last states, whose sum are the `shares` of all ranks; `found`: the maps."""
    line, part = setting.line.turned, setting.part
    nothing = [torch.zeros_like(share) for share in shares]
    if not found:
        walked = walk(wanted, nothing if line.place else shares)
        last, setting.records["backward"] = settle(line, walked, part.pieces, shares)
        return walked, last
    probe = walk([False] * len(wanted), nothing)  # it writes no gradient but that of the first states
    probe.all()
    mine = maps.joined(probe.last)
    rows = line.gather(packed([mine, maps.joined(shares)]))
    last = _sum([row[mine.numel() :] for row in rows]).view(mine.shape)
    given, first = maps.back([row[: mine.numel()] for row in rows], line.place, last, found[::-1])
    walked = walk(wanted, [one.contiguous() for one in maps.parted(given, part.structure)])
    walked.all()
    setting.records["backward"] = Record(1, part.sizes["T"])
    return walked, maps.parted(first, part.structure)


class OverRanks(torch.autograd.Function):
    """`forward` with its backward pass. Each rank's loss counts: the gradients that it gets are of the sum of all losses, and
    those of what all ranks have alike, parameters and initial states, are its share."""

    @staticmethod
    def forward(ctx: Any, setting: Setting, *given: torch.Tensor | None) -> tuple[torch.Tensor, ...]:  # type: ignore[override]
        structure = setting.part.structure
        count = len(structure.inputs) + len(structure.params)
        tensors: Any = given[:count]
        results, walked, ctx.maps = forward(setting, tensors, given[count:], True)
        ctx.setting, ctx.types = setting, [None if one is None else one.dtype for one in given]
        ctx.counts = [len(saved) for saved in walked.saved]
        states = [state for piece in walked.states for state in piece]
        saved = [one for piece in walked.saved for one in piece]
        ctx.save_for_backward(*tensors, *walked.outputs, *states, *saved)
        ctx.set_materialize_grads(False)
        return tuple(results)

    @staticmethod
    def backward(ctx: Any, *coming: torch.Tensor | None) -> tuple[Any, ...]:  # type: ignore[override]
        setting, structure = ctx.setting, ctx.setting.part.structure
        if torch.is_grad_enabled():  # by create_graph
            raise NotDifferentiableError(
                f"{structure.name}: a sequence over ranks has no second derivative", "call the cell itself on whole sequences"
            )
        saved = list(ctx.saved_tensors)

        def take(count: int) -> list[torch.Tensor]:
            taken = saved[:count]
            del saved[:count]
            return taken

        inputs, params = len(structure.inputs), len(structure.params)
        part = setting.with_tensors(take(inputs + params))
        outputs = take(len(structure.outputs))
        states = [take(len(structure.initials)) for _ in part.pieces]
        kept = [take(count) for count in ctx.counts]
        states_like = part.first_states([None] * len(structure.initials))
        shares = [
            torch.zeros_like(state) if grad is None else grad.to(state.dtype).contiguous()
            for grad, state in zip(coming[len(outputs) :], states_like, strict=True)
        ]
        wanted = ctx.needs_input_grad[1 : 1 + inputs + params]

        def walk(some: Sequence[bool], carried: Tensors) -> Backward:
            return Backward(part, outputs, states, kept, coming[: len(outputs)], some, carried)

        walked, last = backward(setting, walk, wanted, shares, ctx.maps)
        line = setting.line
        return None, *_of_given(ctx, walked, last, line.place == 0)


def _of_given(ctx: Any, walked: Backward, last: Tensors, is_first: bool) -> list[torch.Tensor | None]:
    """The gradients of what was given, in its types. That of initial states belongs to the rank that begins with them."""
    made = [*walked.inputs, *walked.of_params()]
    part = walked.part
    wanted = ctx.needs_input_grad[1 : 1 + len(part.inputs) + len(part.params)]
    rest = iter(made)
    found = [next(rest) if one else None for one in wanted]
    tensors = [*part.inputs, *part.params]
    found = [
        torch.zeros_like(tensor) if one and grad is None else grad
        for one, grad, tensor in zip(wanted, found, tensors, strict=True)
    ]
    initial = [grad if is_first else torch.zeros_like(grad) for grad in last]
    found += [grad if one else None for grad, one in zip(initial, ctx.needs_input_grad[1 + len(wanted) :], strict=True)]
    return [None if grad is None else grad.to(dtype) for grad, dtype in zip(found, ctx.types, strict=True)]
