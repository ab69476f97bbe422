"""Training in chunks of time: between them only states are kept. What a chunk saves is computed again for its backward pass, so
memory for that and for workspace is one chunk's, at the cost of one forward pass more, or less: where outputs say most of
it, it is computed of these (`_torch/again.py`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import torch
from torch.autograd import forward_ad
from torch.utils.checkpoint import checkpoint

from .._errors import InputError, UnsupportedError
from .._torch import again, autograd
from ..cell import Cell

# Of some steps of tensors, the states before them, and lengths and resets of these steps: outputs, and the states after them.
Run = Callable[[Sequence[torch.Tensor], Any, Any, Any], tuple[Sequence[torch.Tensor], Any]]


class Walk(NamedTuple):
    """What chunks gave: the pieces of each output in the order of time. `outputs` tells them of the whole, if anything does."""

    outputs: again.Outputs | None
    pieces: list[Sequence[torch.Tensor]]


def check(layer: str, chunk: Any, cell: Cell) -> None:
    """Raises where there can be no chunks of so many steps."""
    if chunk is None:
        return
    if not isinstance(chunk, int) or isinstance(chunk, bool) or chunk < 1:
        raise InputError(f"{layer}: chunk is {chunk!r}", "it is a number of steps, from 1, or None")
    if cell.draws:
        raise UnsupportedError(
            f"{layer}: chunk={chunk}: cell {cell.name} draws random numbers, which chunks would repeat", "leave chunk out"
        )


def lengths_of(steps: int, chunk: int | None) -> list[int]:
    """Of the chunks of so many steps: they differ by one at most, so that few plans serve them."""
    if chunk is None or steps <= chunk:
        return [steps]
    count = -(-steps // chunk)
    return [steps * (n + 1) // count - steps * n // count for n in range(count)]


def wanted(chunk: int | None, steps: int, tensors: Sequence[torch.Tensor]) -> bool:
    """Whether a call with these tensors is cut: one without a backward pass saves nothing, and a graph that is exported runs
    without one."""
    if chunk is None or torch.compiler.is_exporting():
        return False
    return steps > chunk and autograd.wants_gradient(tensors)


def over_time(
    run: Run, tensors: Sequence[torch.Tensor], first: Any, lengths: Any, resets: Any, *, chunk: int, axis: int, reverse: bool
) -> tuple[Walk, Any]:
    """`run` over chunks of the tensors' `axis`, the last one first where time is reversed. `joined` makes the outputs of it."""
    sizes = lengths_of(tensors[0].shape[axis], chunk)
    begins = [0, *accumulate(sizes)]
    pieces = [part.split(sizes, axis) for part in tensors]
    flags = [None] * len(sizes) if resets is None else resets.split(sizes, axis)
    made: list[Any] = [None] * len(sizes)
    state, outputs = first, None if torch.compiler.is_compiling() or _is_seen() else again.Outputs()
    for number in reversed(range(len(sizes))) if reverse else range(len(sizes)):
        left = None if lengths is None else (lengths - begins[number]).clamp(0, sizes[number])
        arguments = [piece[number] for piece in pieces], state, left, flags[number]
        if torch._C._are_functorch_transforms_active():  # which take no checkpoints
            made[number], state = run(*arguments)
            continue
        options: dict[str, Any] = dict(use_reentrant=False, preserve_rng_state=False)
        if outputs is not None:
            options["context_fn"] = again.Chunk(outputs, axis, begins[number], sizes[number], 1 if reverse else -1).contexts
        made[number], state = checkpoint(run, *arguments, **options)
    return Walk(outputs, list(zip(*made, strict=True))), state


def joined(walks: Sequence[Walk], axis: int) -> Sequence[torch.Tensor]:
    """The outputs of all steps; of several walks the channels of one behind those of the other."""
    outputs = [walk.outputs for walk in walks if walk.outputs is not None]
    if len(outputs) == len(walks):
        pieces = [piece for walk in walks for some in walk.pieces for piece in some]
        found: Any = again.Joined.apply(outputs, axis, len(walks[0].pieces), *pieces)
        return found
    rows = zip(*([torch.cat(list(some), axis) for some in walk.pieces] for walk in walks), strict=True)
    return [some[0] if len(some) == 1 else torch.cat(list(some), -1) for some in rows]


def _is_seen() -> bool:
    """Whether something looks into a call that takes no function of autograd's."""
    return torch._C._are_functorch_transforms_active() or forward_ad._current_level >= 0
