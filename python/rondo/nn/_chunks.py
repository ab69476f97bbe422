"""Training in chunks of time: between them only states are kept. What a chunk saves is computed again for its backward pass, so
memory for that and for workspace is one chunk's, at the cost of one forward pass more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

import torch
from torch.utils.checkpoint import checkpoint

from .._errors import InputError, UnsupportedError
from .._torch import autograd
from ..cell import Cell

# Of some steps of tensors, the states before them, and lengths and resets of these steps: outputs, and the states after them.
Run = Callable[[Sequence[torch.Tensor], Any, Any, Any], tuple[Sequence[torch.Tensor], Any]]


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
) -> tuple[list[torch.Tensor], Any]:
    """`run` over chunks of the tensors' `axis`, the last one first where time is reversed."""
    sizes = lengths_of(tensors[0].shape[axis], chunk)
    begins = [0, *accumulate(sizes)]
    pieces = [part.split(sizes, axis) for part in tensors]
    flags = [None] * len(sizes) if resets is None else resets.split(sizes, axis)
    made: list[Any] = [None] * len(sizes)
    state = first
    for number in reversed(range(len(sizes))) if reverse else range(len(sizes)):
        left = None if lengths is None else (lengths - begins[number]).clamp(0, sizes[number])
        arguments = [piece[number] for piece in pieces], state, left, flags[number]
        if torch._C._are_functorch_transforms_active():  # which take no checkpoints
            made[number], state = run(*arguments)
        else:
            made[number], state = checkpoint(run, *arguments, use_reentrant=False, preserve_rng_state=False)
    return [torch.cat(outputs, axis) for outputs in zip(*made, strict=True)], state
