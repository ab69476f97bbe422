"""A recurrence as a line of text: the cell, its forms and constants, and how it is to be computed.

Operators and caches know a recurrence by this text and not by a handle of librondo. So a graph of `torch.export` holds all that
another process needs to run it, and equal recurrences share their plans.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from typing import Any

from . import _structs as s
from ._errors import InputError

MATHS = {
    "default": s.MATH_DEFAULT,
    "fast": s.MATH_FAST,
    "accurate": s.MATH_ACCURATE,
    "tf32": s.MATH_TF32,
}
SAVES = {"states": s.SAVE_STATES, "products": s.SAVE_PRODUCTS}


@dataclass(frozen=True)
class Description:
    """What defines the numbers of a recurrence.

    Attributes
    ----------
    source : str
        The name of a shipped cell, or the text of a cell file.
    cell : str or None
        Which cell of the file; None: its only one.
    constants : tuple of (str, float)
        Those that have other values than in the text, by name in order.
    clip_forward, clip_gradient : float
        Bounds of the recurrent path; 0: none.
    resets, lengths, reverse, directions, tangents : bool
        Forms of the sequence.
    save : str
        What a training pass saves, "states" or "products".
    math : str
        "default", "fast", "accurate" or "tf32".
    strategy : str
        The strategy that is to compute it; "": any.
    without : tuple of str
        Parameters that are not given, by name in order: biases, which count as zero.
    """

    source: str
    cell: str | None = None
    constants: tuple[tuple[str, float], ...] = ()
    clip_forward: float = 0.0
    clip_gradient: float = 0.0
    resets: bool = False
    lengths: bool = False
    reverse: bool = False
    directions: bool = False
    save: str = "states"
    math: str = "default"
    strategy: str = ""
    without: tuple[str, ...] = ()
    tangents: bool = False
    text: str = field(init=False, repr=False, compare=False, default="")

    def __post_init__(self) -> None:
        for name, known in (("save", SAVES), ("math", MATHS)):
            value = getattr(self, name)
            if value not in known:
                raise InputError(f"{name}={value!r} is not known", "it is one of " + ", ".join(known))
        for name in ("clip_forward", "clip_gradient"):
            value = getattr(self, name)
            if not (value >= 0 and math.isfinite(value)):
                raise InputError(f"{name}={value!r} is no bound", "give a positive number, or 0 for none")
        # What has its default stays out, so that the text of a plain cell is short.
        said = {f.name: getattr(self, f.name) for f in fields(self) if f.init and getattr(self, f.name) != f.default}
        object.__setattr__(self, "text", json.dumps(said, separators=(",", ":"), ensure_ascii=False))

    @property
    def is_text(self) -> bool:
        """Whether `source` is the text of a cell and no name: a name has no braces."""
        return "{" in self.source or "\n" in self.source

    def with_(self, **changes: Any) -> Description:
        return replace(self, **changes)


def constants_of(values: Mapping[str, float]) -> tuple[tuple[str, float], ...]:
    """Constants by name, in order.

    Raises
    ------
    InputError
        A value is no number.
    """
    made = []
    for name, value in sorted(values.items()):
        try:
            made.append((name, float(value)))
        except (TypeError, ValueError):
            raise InputError(f"constant '{name}' is {value!r}, which is no number") from None
    return tuple(made)


@lru_cache(maxsize=4096)
def read_description(text: str) -> Description:
    """The description that has this text."""
    said = json.loads(text)
    if "constants" in said:
        said["constants"] = tuple((name, value) for name, value in said["constants"])
    if "without" in said:
        said["without"] = tuple(said["without"])
    return Description(**said)
