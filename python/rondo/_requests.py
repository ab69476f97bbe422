"""Which plans a cell or the layers of a module will want at given shapes: what `prepare` makes and `tune` measures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import torch

from . import _structs as s
from ._errors import InputError
from ._plans import PlanRequest
from ._torch.types import check_device, device_of, type_of
from .cell import Cell
from .nn._chunks import lengths_of
from .nn._layers import Layers
from .nn.recurrent import Recurrent

Shape = Sequence[int]


class Use:
    """A cell as a layer uses it: heads, channels, type and device; and which way its heads walk."""

    def __init__(
        self, cell: Cell, heads: int, dim: int, walk: str, like: torch.Tensor | None, chunk: int | None = None
    ) -> None:
        self.cell, self.heads, self.dim, self.walk, self.like = cell, heads, dim, walk, like
        self.chunk = chunk

    def walks(self, steps: int, pass_: int) -> list[tuple[str, int, int]]:
        """Of the plans of a pass over so many steps: which way heads walk, how many there are, and over how many steps. Where a
        layer is cut in chunks, each of its directions walks alone."""
        chunks = sorted(set(lengths_of(steps, None if pass_ == s.PASS_FORWARD else self.chunk)))
        if pass_ == s.PASS_AGAIN and (chunks == [steps] or self.cell.description.save != "states"):
            return []
        if self.walk != "directions" or chunks == [steps]:
            return [(self.walk, self.heads, some) for some in chunks]
        return [(walk, self.heads // 2, some) for walk in ("forward", "reverse") for some in chunks]


def layers_of(module: torch.nn.Module) -> Iterator[torch.nn.Module]:
    """Layers of Rondo within a module, itself among them."""
    for one in module.modules():
        if isinstance(one, Layers | Recurrent):
            yield one


def _use_of(layer: torch.nn.Module) -> Use:
    like = next(layer.parameters())
    if isinstance(layer, Recurrent):
        walk = "reverse" if layer.reverse else "forward"
        return Use(layer.cell, layer.heads, layer.hidden_size // layer.heads, walk, like, layer.chunk)
    assert isinstance(layer, Layers)
    walk = "directions" if layer.bidirectional else "forward"
    return Use(layer.cell, layer.directions, layer.hidden_size, walk, like, layer.chunk)


def uses_of(what: Any, caller: str) -> list[Use]:
    """Of a module: one for each layer in it.

    Raises
    ------
    InputError
        It is neither a cell nor a module with layers of Rondo.
    """
    if isinstance(what, Cell):
        return [Use(what, 0, 0, "forward", None)]
    if not isinstance(what, torch.nn.Module):
        raise InputError(f"{caller}: {type(what).__name__} is neither a module nor a rondo.Cell")
    found = [_use_of(layer) for layer in layers_of(what)]
    if not found:
        raise InputError(f"{caller}: no layer of rondo.nn is in {type(what).__name__}", "rondo.replace() puts them there")
    return found


def _checked(shapes: Iterable[Shape], axes: str, caller: str) -> list[tuple[int, ...]]:
    made = []
    for shape in shapes if isinstance(shapes, Iterable) else [shapes]:
        numbers = tuple(shape) if isinstance(shape, Sequence) and not isinstance(shape, str) else ()
        if len(numbers) != len(axes) or any(not isinstance(n, int) or n < 1 for n in numbers):
            raise InputError(f"{caller}: {shape!r} in shapes", f"give ({', '.join(axes)}), whole numbers from 1")
        made.append(numbers)
    if not made:
        raise InputError(f"{caller}: shapes is empty", f"give at least one ({', '.join(axes)})")
    return made


def requests_of(
    what: Any,
    shapes: Iterable[Shape],
    *,
    caller: str,
    dtype: torch.dtype | None,
    device: Any,
    training: bool | None,
    lengths: bool,
    resets: bool,
    again: bool = False,
) -> list[PlanRequest]:
    """Requests without repetition, in the order in which a run wants them. `again`: with those of chunks that are computed
    again of outputs, for which there need be no plans."""
    uses = uses_of(what, caller)
    is_cell = isinstance(what, Cell)
    wanted = _checked(shapes, "BTHD" if is_cell else "BT", caller)
    trains = training if training is not None else (is_cell or what.training)
    passes = [s.PASS_FORWARD, *([s.PASS_FORWARD_SAVE, s.PASS_BACKWARD] if trains else [])]
    if again and trains and not (lengths or resets):
        passes.append(s.PASS_AGAIN)
    made: dict[PlanRequest, None] = {}
    for use in uses:
        place = torch.device(device) if device is not None else use.like.device if use.like is not None else torch.device("cpu")
        check_device(place)
        kind = dtype or (use.like.dtype if use.like is not None else torch.float32)
        ordinal = -1 if place.type == "cpu" else place.index if place.index is not None else torch.cuda.current_device()
        for shape in wanted:
            batch, steps = shape[:2]
            type_ = type_of(kind, use.cell.name, place)
            for pass_ in passes:
                for walk, own_heads, some in use.walks(steps, pass_):
                    heads, dim = shape[2:] if is_cell else (own_heads, use.dim)
                    how = use.cell.text(lengths, resets, walk)
                    made[PlanRequest(how, pass_, device_of(ordinal), type_, batch, some, heads, dim)] = None
    return list(made)
