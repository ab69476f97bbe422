"""`torch.vmap` of a recurrence by rule: many data become rows of one batch, many parameters become heads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from .._structure import TensorSpec, axis_of_many, of_mask, structure_of

Tensors = Sequence[torch.Tensor]
Run = Callable[[Tensors], Any]


def forward(run: Run, many: int, dims: Sequence[Any], tensors: Tensors, how: str, given: int, saving: bool) -> Any:
    structure = structure_of(how)
    results = structure.results + (structure.saved if saving else [])
    return _mapped(run, many, dims, tensors, of_mask(structure.given, given), results)


def backward(run: Run, many: int, dims: Sequence[Any], tensors: Tensors, how: str, grads: int, given: int, wanted: int) -> Any:
    structure = structure_of(how)
    specs = of_mask(structure.grads_in, grads) + of_mask(structure.given, given) + structure.kept
    return _mapped(run, many, dims, tensors, specs, of_mask(structure.grads_out, wanted))


def _mapped(
    run: Run,
    many: int,
    dims: Sequence[Any],
    tensors: Tensors,
    specs: Sequence[TensorSpec],
    results: Sequence[TensorSpec],
) -> Any:
    """`dims`: the mapped axis of each tensor, or None. Gives results and their mapped axes."""
    mapped = [spec for spec, dim in zip(specs, dims, strict=True) if dim is not None]
    axis = axis_of_many(mapped, results)
    if axis:
        return _folded(axis, run, many, dims, tensors, specs, results)
    return _one_by_one(run, many, dims, tensors, results)


def _folded(
    axis: str,
    run: Run,
    many: int,
    dims: Sequence[Any],
    tensors: Tensors,
    specs: Sequence[TensorSpec],
    results: Sequence[TensorSpec],
) -> Any:
    behind = 1 if axis == "H" else 0  # the heads there are, of which halves may walk in two directions and stay together
    folded = []
    for tensor, dim, spec in zip(tensors, dims, specs, strict=True):
        if axis not in spec.axes:  # parameters beside rows, lengths and resets beside heads: one for all
            folded.append(tensor)
            continue
        at = spec.axes.index(axis)
        if dim is None:
            tensor = tensor.unsqueeze(at + behind)
            tensor = tensor.expand(*tensor.shape[: at + behind], many, *tensor.shape[at + behind + 1 :])
        else:
            tensor = tensor.movedim(dim, at + behind)
        folded.append(tensor.flatten(at, at + 1))
    found = run(folded)
    places = [spec.axes.index(axis) for spec in results]
    unfolded = []
    for out, at in zip(found, places, strict=True):
        each = out.shape[at] // many
        unfolded.append(out.unflatten(at, (each, many) if behind else (many, each)))
    return tuple(unfolded), tuple(place + behind for place in places)


def _one_by_one(run: Run, many: int, dims: Sequence[Any], tensors: Tensors, results: Sequence[TensorSpec]) -> Any:
    """Lengths or resets that are mapped beside mapped parameters fit neither rows nor heads."""
    found = [
        run([tensor if dim is None else tensor.select(dim, number) for tensor, dim in zip(tensors, dims, strict=True)])
        for number in range(many)
    ]
    stacked = tuple(torch.stack([one[place] for one in found]) for place in range(len(results)))
    return stacked, (0,) * len(results)
