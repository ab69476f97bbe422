"""`rondo.jax.cell`: a recurrence on JAX's arrays."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from .._described import Described
from .._errors import InputError
from . import _call


class Recurrence(Described):
    """A cell over whole sequences, as a function that JAX traces. It holds no arrays; `rondo.Cell` documents what it says of
    itself. Equal ones compute the same."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Recurrence) and self.description == other.description

    def __hash__(self) -> int:
        return hash(self.description)

    def __call__(
        self,
        x: Any,
        params: Mapping[str, Any] | None = None,
        initial: Mapping[str, Any] | None = None,
        *,
        lengths: Any = None,
        resets: Any = None,
        reverse: bool = False,
        batch_first: bool = True,
        directions: bool = False,
    ) -> tuple[Any, dict[str, Any]]:
        """Runs the cell over sequences.

        Parameters
        ----------
        x : array or dict of them
            The input, `[B, T, H, rows, D]`, or a dict by name where the cell has several. The axis of a single row may be
            left out, and so may that of heads where there is one: results are without it too then. Its type, float32,
            bfloat16 or float16, is that of inputs and outputs. On CPUs also float64.
        params : dict of str to array, optional
            Parameters by name: matrices `[H, rows, D, D]`, vectors `[H, rows, D]`.
        initial : dict of str to array, optional
            Initial states by name, `[B, H, D]` or `[B, H, rows, D]`; those left out begin with what the cell's text says, or
            with zero.
        lengths : array or list of int, optional
            Steps that each row has, `[B]`: later ones leave the states as they are, and their outputs are zero.
        resets : array, optional
            `[B, T]`, bool or uint8: where it is set, the states before the step are what they begin with.
        reverse : bool, optional
            Walks from the last step to the first.
        batch_first : bool, optional
            False: x, resets and outputs have T before B.
        directions : bool, optional
            The first half of the heads walks as without it, the second half as with `reverse`.

        Returns
        -------
        y : array or dict of them
            The output, `[B, T, H, D]`, or a dict by name where the cell has several.
        last : dict of str to array
            The last states, `[B, H, D]` or `[B, H, rows, D]`, in float32.

        Raises
        ------
        InputError
            An argument is missing, of no known name, or of another shape or type.
        NotDifferentiableError
            A third derivative, or a second one beside `clip_gradient`.
        """
        if reverse and directions:
            raise InputError(f"{self.name}: reverse and directions", "directions reverses half of the heads: give one of them")
        walk = "directions" if directions else "reverse" if reverse else "forward"
        how = self.text(lengths is not None, resets is not None, walk)
        return _call.run(self._plain, how, x, params, initial, lengths, resets, batch_first)


def cell(source: Described | str | os.PathLike[str], **options: Any) -> Recurrence:
    """A cell as a function of JAX's arrays.

    Parameters
    ----------
    source : rondo.Cell, str or path
        A cell, or what `rondo.Cell` takes: a shipped name, a text or a path.
    **options : optional
        Those of `rondo.Cell`, and constants, where the source is no cell.

    Returns
    -------
    Recurrence
        To be called with the input, parameters and initial states.

    Raises
    ------
    CellError, MissingError, InputError
        As `rondo.Cell`.
    """
    if not isinstance(source, Described):
        return Recurrence(source, **options)
    if options:
        raise InputError(f"cell: {source.name} is a cell, and has its options", "call its with_options()")
    made = object.__new__(Recurrence)
    made._set(source.description)
    return made
