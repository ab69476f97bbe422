"""What a cell is, whatever arrays it is called with: its description, its tensors and its options."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

from ._description import Description, constants_of
from ._errors import InputError, MissingError, UnsupportedError
from ._structure import Structure, TensorSpec, structure_of


def _source_of(source: str | os.PathLike[str]) -> str:
    """A shipped cell's name, or a text: that of a file is read, so that a graph that holds it can travel."""
    if isinstance(source, os.PathLike) or (isinstance(source, str) and source.endswith(".cell")):
        path = Path(source)
        try:
            return path.read_text()
        except OSError as error:
            raise MissingError(
                f"cannot read the cell '{path}': {error.strerror}", "give a shipped name, a text or a path"
            ) from None
    if not isinstance(source, str):
        raise InputError(f"source is {type(source).__name__}", "give a shipped name, a text or a path")
    return source


def _names_of(without: Any) -> tuple[str, ...]:
    names = (without,) if isinstance(without, str) else tuple(without) if isinstance(without, Iterable) else (without,)
    for name in names:
        if not isinstance(name, str):
            raise InputError(f"without: {name!r} is no name", "give names of parameters")
    return tuple(sorted(names))


# Which way heads walk over time, by the forms that say so.
_WALKS: dict[str, dict[str, bool]] = {"forward": {}, "reverse": {"reverse": True}, "directions": {"directions": True}}


_Own = TypeVar("_Own", bound="Described")


class Described:
    """A recurrence cell without what calls it: `rondo.Cell` documents its arguments and attributes."""

    def __init__(
        self,
        source: str | os.PathLike[str],
        *,
        cell: str | None = None,
        clip_forward: float = 0.0,
        clip_gradient: float = 0.0,
        save: str = "states",
        math: str = "default",
        strategy: str = "",
        without: str | Iterable[str] = (),
        **constants: float,
    ) -> None:
        self._set(
            Description(
                _source_of(source),
                cell,
                constants_of(constants),
                float(clip_forward),
                float(clip_gradient),
                save=save,
                math=math,
                strategy=strategy,
                without=_names_of(without),
            )
        )

    def _set(self, description: Description) -> None:
        self.description = description
        # torch.compile can follow a look-up, and no call of librondo: texts of all forms are made here.
        self._texts = {
            (lengths, resets, walk): description.with_(lengths=lengths, resets=resets, **_WALKS[walk]).text
            for lengths in (False, True)
            for resets in (False, True)
            for walk in _WALKS
        }
        self._plain: Structure = structure_of(self._texts[False, False, "forward"])
        for text in self._texts.values():
            structure_of(text)

    def __getstate__(self) -> dict[str, Any]:
        return {"description": self.description}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._set(state["description"])

    def __repr__(self) -> str:
        source = "..." if self.description.is_text else self.description.source
        parts = [repr(source), *(f"{name}={value:g}" for name, value in self.description.constants)]
        parts += [f"without={list(self.description.without)}"] if self.description.without else []
        kind = type(self).__name__
        return f"{kind}({', '.join(parts)})" if source != "..." else f"<{kind} {self.name}: {self.structure}>"

    # --- what it is ---

    @property
    def name(self) -> str:
        return self._plain.name

    @property
    def hash(self) -> str:
        return self._plain.info.hash.decode()

    @property
    def structure(self) -> str:
        return self._plain.info.structure.decode()

    @property
    def constants(self) -> dict[str, float]:
        return {**self._plain.constants, **dict(self.description.constants)}

    @property
    def inputs(self) -> dict[str, str]:
        return _shapes(self._plain.inputs)

    @property
    def params(self) -> dict[str, str]:
        return _shapes(self._plain.params)

    @property
    def states(self) -> dict[str, str]:
        return _shapes(self._plain.initials)

    @property
    def outputs(self) -> dict[str, str]:
        return _shapes(self._plain.outputs)

    @property
    def is_affine(self) -> bool:
        return self._plain.info.affine == 1

    @property
    def is_diagonal(self) -> bool:
        return self._plain.info.all_diagonal == 1

    @property
    def has_matrix(self) -> bool:
        return self._plain.info.has_matrix == 1

    @property
    def has_reduction(self) -> bool:
        return self._plain.info.has_reduction == 1

    @property
    def draws(self) -> bool:
        """Whether its steps draw random numbers."""
        return self._plain.info.draws == 1

    @property
    def may_save_products(self) -> bool:
        """Whether `save="products"` is for this cell."""
        return self._plain.info.saves_products == 1

    @property
    def save(self) -> str:
        """What a training pass saves: "states" or "products"."""
        return self.description.save

    def picture(self, backward: bool = False) -> str:
        """The step as a graph, or the derived backward step: an SVG document. A notebook shows it of a cell.

        Raises
        ------
        UnsupportedError
            There are too many values for a picture.
        """
        return self._plain.picture(backward)

    def _repr_svg_(self) -> str | None:
        try:
            return self.picture()
        except UnsupportedError:
            return None  # a notebook shows the text of repr() then

    def with_options(self: _Own, **changes: Any) -> _Own:
        """The same cell with other options: `save`, `math`, `strategy`, `clip_forward`, `clip_gradient`.

        Raises
        ------
        InputError
            There is no such option, or no such value of it.
        """
        known = ("save", "math", "strategy", "clip_forward", "clip_gradient")
        for name in changes:
            if name not in known:
                raise InputError(f"with_options: no option '{name}'", "there are " + ", ".join(known))
        made = object.__new__(type(self))
        made._set(self.description.with_(**changes))
        return made

    def text(self, lengths: bool, resets: bool, walk: str) -> str:
        """The text by which operators know this cell with these forms; `walk`: "forward", "reverse" or "directions"."""
        return self._texts[lengths, resets, walk]


def _shapes(specs: list[TensorSpec]) -> dict[str, str]:
    """Without the axis of a single row, as results have them."""
    found = {}
    for spec in specs:
        axes = [a for place, a in enumerate(spec.axes) if not (place == spec.rows_axis and spec.has_one_row)]
        found[spec.short] = "[" + ", ".join(map(str, axes)) + "]"
    return found
