"""`rondo.Cell`: a recurrence on PyTorch's tensors, with derivatives, or on NumPy's arrays."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from . import _numpy
from ._description import Description, constants_of
from ._errors import InputError, LibraryNotFoundError, MissingError
from ._structure import Structure, TensorSpec, structure_of

torch: Any = None
_torch_call: Any = None
_unusable: LibraryNotFoundError | None = None
try:
    import torch

    from ._torch import call as _torch_call
except LibraryNotFoundError as error:
    _unusable = error
except ImportError:  # NumPy alone
    torch = None


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


class Cell:
    """A recurrence cell: the step of a recurrent network, over whole sequences.

    Parameters
    ----------
    source : str or path
        The name of a shipped cell ("lstm"), a text in the cell language, or the path of a `.cell` file.
    cell : str, optional
        Which cell of the text, where it has several.
    clip_forward, clip_gradient : float, optional
        Bounds of the recurrent path and of its gradient; 0: none.
    save : {"states", "products"}, optional
        What a training pass saves: the states alone, or also the products of its matrices, which takes more memory and may
        take less time. `rondo.prepare` can choose.
    math : {"default", "fast", "accurate", "tf32"}, optional
        "default" is fast for 16-bit types and accurate for fp32; "tf32" is of fp32 alone.
    strategy : str, optional
        The strategy that is to compute it; "": any.
    without : str or list of str, optional
        Parameters that are not given, by name: biases, which count as zero and have no gradient. The cell is as if its text did
        not have them.
    **constants : float
        Constants of the cell that are to have other values.

    Attributes
    ----------
    name : str
    inputs, params, states, outputs : dict of str to str
        Names and shapes: `{"x": "[B, T, H, 4, D]"}`.
    constants : dict of str to float
    structure : str
        For people: how the next states depend on the previous ones.
    is_affine, is_diagonal, has_matrix, has_reduction, draws : bool
    hash : str
        Equal for texts that mean the same.

    Raises
    ------
    CellError
        The text has errors: all of them are in `diagnostics`, with line and column.
    MissingError
        No cell of that name is shipped, or the file is not there.
    InputError
        There is no such constant or option, or what is left out is no bias.

    Examples
    --------
    >>> import torch, rondo
    >>> cell = rondo.Cell("mingru")
    >>> cell.inputs, cell.is_affine
    ({'x': '[B, T, H, 2, D]'}, True)
    >>> y, last = cell(torch.zeros(3, 7, 1, 2, 16))
    >>> y.shape, last["h"].shape
    (torch.Size([3, 7, 1, 16]), torch.Size([3, 1, 16]))
    """

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
        return f"Cell({', '.join(parts)})" if source != "..." else f"<Cell {self.name}: {self.structure}>"

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

    def with_options(self, **changes: Any) -> Cell:
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
        made = object.__new__(Cell)
        made._set(self.description.with_(**changes))
        return made

    def text(self, lengths: bool, resets: bool, walk: str) -> str:
        """The text by which operators know this cell with these forms; `walk`: "forward", "reverse" or "directions"."""
        return self._texts[lengths, resets, walk]

    # --- what it computes ---

    def __call__(
        self,
        x: Any,
        *,
        params: Mapping[str, Any] | None = None,
        initial: Mapping[str, Any] | None = None,
        lengths: Any = None,
        resets: Any = None,
        reverse: bool = False,
        batch_first: bool = True,
        directions: bool = False,
    ) -> tuple[Any, dict[str, Any]]:
        """Runs the cell over sequences.

        Parameters
        ----------
        x : tensor or dict of them
            The input, `[B, T, H, rows, D]`, or a dict by name where the cell has several. The axis of a single row may be
            left out, and so may that of heads where there is one: results are without it too then. Its type, float32,
            bfloat16 or float16, is that of inputs and outputs. On the CPU also float64, by the reference: then all is.
        params : dict of str to tensor, optional
            Parameters by name: matrices `[H, rows, D, D]`, vectors `[H, rows, D]`. They are converted to what is computed
            in: matrices to the type of x, all others to float32.
        initial : dict of str to tensor, optional
            Initial states by name, `[B, H, D]` or `[B, H, rows, D]`; those left out begin with what the cell's text says, or
            with zero.
        lengths : tensor or list of int, optional
            Steps that each row has, `[B]`: later ones leave the states as they are, and their outputs are zero.
        resets : tensor, optional
            `[B, T]`, bool or uint8: where it is set, the states before the step are what they begin with.
        reverse : bool, optional
            Walks from the last step to the first.
        batch_first : bool, optional
            False: x, resets and outputs have T before B.
        directions : bool, optional
            The first half of the heads walks as without it, the second half as with `reverse`.

        Returns
        -------
        y : tensor or dict of them
            The output, `[B, T, H, D]`, or a dict by name where the cell has several.
        last : dict of str to tensor
            The last states, `[B, H, D]` or `[B, H, rows, D]`, in float32.

        Raises
        ------
        InputError
            An argument is missing, of no known name, or of another shape or type.
        NotDifferentiableError
            A third derivative, one in forward mode of another such, or a second one of a cell whose gradient is bounded.
        """
        first = next(iter(x.values()), None) if isinstance(x, Mapping) else x
        if reverse and directions:
            raise InputError(f"{self.name}: reverse and directions", "directions reverses half of the heads: give one of them")
        form = (lengths is not None, resets is not None, "directions" if directions else "reverse" if reverse else "forward")
        if torch is not None and isinstance(first, torch.Tensor):
            if _unusable is not None:
                raise _unusable
            return _torch_call.run(
                self._plain, self._texts[form], form[0], form[1], x, params, initial, lengths, resets, batch_first
            )
        structure = structure_of(self._texts[form])
        return _numpy.run(structure, self._plain, x, params, initial, lengths, resets, batch_first)

    def step(
        self, x: Any, state: dict[str, Any] | None = None, *, params: Mapping[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Runs one step, for generation: the states stay in the memory that they have.

        Parameters
        ----------
        x : tensor or dict of them
            The input of the step, `[B, H, rows, D]`; axes may be left out as in a call.
        state : dict of str to tensor, optional
            The states, float32 and dense. Each is overwritten with the state after the step. None: those are made
            that the cell's text begins with.
        params : dict of str to tensor, optional
            As in a call.

        Returns
        -------
        y : tensor or dict of them
            The output of the step, `[B, H, D]`.
        state : dict of str to tensor
            The dict that was given, or the one that was made.

        Raises
        ------
        InputError
            An argument is missing, of no known name, or of another shape or type.
        NotDifferentiableError
            A gradient is wanted: a step has none.
        """
        first = next(iter(x.values()), None) if isinstance(x, Mapping) else x
        if torch is None or not isinstance(first, torch.Tensor):
            raise InputError(f"{self.name}: x is {type(first).__name__}", "step() takes PyTorch's tensors")
        if _unusable is not None:
            raise _unusable
        return _torch_call.run_step(self._plain, self._texts[False, False, "forward"], x, state, params)


def _shapes(specs: list[TensorSpec]) -> dict[str, str]:
    """Without the axis of a single row, as results have them."""
    found = {}
    for spec in specs:
        axes = [a for place, a in enumerate(spec.axes) if not (place == spec.rows_axis and spec.has_one_row)]
        found[spec.short] = "[" + ", ".join(map(str, axes)) + "]"
    return found
