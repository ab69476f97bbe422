"""Shapes as a caller may write them: without the axis of a single row, and without heads where there is one."""

from __future__ import annotations

from ._errors import InputError
from ._structure import TensorSpec


def axes_to_add(cell: str, argument: str, spec: TensorSpec, rank: int, shape: object) -> tuple[int, ...]:
    """Places at which a tensor of this rank lacks an axis of extent 1, from the first on; empty where it is whole.

    Raises
    ------
    InputError
        It has too few axes, or too many.
    """
    lacks = len(spec.axes) - rank
    rows = spec.rows_axis
    if lacks == 0:
        return ()
    if lacks == 1:
        return (rows,) if spec.has_one_row else (rows - 1,)
    if lacks == 2 and spec.has_one_row:
        return (rows - 1, rows)
    raise InputError(f"{cell}: {argument} has shape {list(shape)}", f"it is {allowed(spec)}")  # type: ignore[call-overload]


def lacks_heads(spec: TensorSpec, rank: int) -> bool:
    return len(spec.axes) - rank == (2 if spec.has_one_row else 1)


def allowed(spec: TensorSpec) -> str:
    """The shapes that are taken, for people: "[B, T, H, 4, D], or [B, T, 4, D] for one head"."""
    rows = spec.rows_axis
    whole = [axis for place, axis in enumerate(spec.axes) if not (place == rows and spec.has_one_row)]
    single = [axis for axis in whole if axis != "H"]

    def written(axes: list[str | int]) -> str:
        return "[" + ", ".join(map(str, axes)) + "]"

    return f"{written(whole)}, or {written(single)} for one head"
