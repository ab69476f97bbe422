"""A launch's arguments, ready but for addresses.

Filling a `rondo_tensor` through ctypes costs some microseconds for each tensor. So the structs of a call are laid out once, and
a call writes addresses, and strides where they are not dense, as 64-bit words into them.
"""

from __future__ import annotations

import ctypes as c
from collections.abc import Sequence
from typing import NamedTuple

from . import _structs as s
from ._library import library
from ._plans import Plan
from ._structure import dense_strides

WORDS = c.sizeof(s.rondo_tensor) // 8
WORKSPACE_ALIGNMENT = 256
_DATA = s.rondo_tensor.data.offset // 8
_EXTENTS = s.rondo_tensor.extents.offset // 8
_STRIDES = s.rondo_tensor.strides.offset // 8


class Place(NamedTuple):
    """Where a tensor's words are, and what its strides in B and T are when it is dense."""

    data: int
    stride_b: int
    stride_t: int
    timed: bool
    dense_b: int
    dense_t: int


def workspace_bytes(plan: Plan, names: Sequence[str], sizes: dict[str, int]) -> int:
    """What launches need that bind tensors `names` of a plan: less than others that leave out results."""
    count = c.c_int64()
    asked = Arguments(plan, names, sizes, 0)  # it owns what `reference` refers to
    library().call("rondo_plan_launch_workspace_bytes", plan.handle, asked.reference, c.byref(count))
    return count.value


class Arguments:
    """Arguments of launches that bind tensors `names` of a plan, for B rows of T steps. For one thread at a time."""

    __slots__ = ("args", "memory", "places", "reference", "words")

    def __init__(self, plan: Plan, names: Sequence[str], sizes: dict[str, int], workspace_bytes: int) -> None:
        self.memory = (s.rondo_tensor * max(1, len(names)))()
        self.words = memoryview(self.memory).cast("B").cast("q")
        self.places: list[Place] = []
        for number, name in enumerate(names):
            bound = plan.tensors[name]
            tensor = self.memory[number]
            tensor.index, tensor.type, tensor.bytes = bound.place, bound.type, -1
            shape = bound.spec.shape(sizes)
            strides = dense_strides(shape)
            if bound.timed:
                tensor.rank = len(shape)
                tensor.extents[: len(shape)] = shape
                tensor.strides[: len(shape)] = strides
            at = WORDS * number
            dense = strides[:2] if bound.timed else (0, 0)
            self.places.append(Place(at + _DATA, at + _STRIDES, at + _STRIDES + 1, bound.timed, *dense))
        self.args = s.sized(
            s.rondo_launch_args,
            tensor_size=c.sizeof(s.rondo_tensor),
            tensors=c.addressof(self.memory),
            tensor_count=len(names),
            batch=sizes["B"],
            time=sizes["T"],
            workspace_bytes=workspace_bytes,
        )
        self.reference = c.byref(self.args)
