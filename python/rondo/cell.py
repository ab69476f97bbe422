"""`rondo.Cell`: a recurrence on PyTorch's tensors, with derivatives, or on NumPy's arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import _numpy
from ._described import Described
from ._errors import InputError, LibraryNotFoundError
from ._structure import structure_of

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


class Cell(Described):
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
            bfloat16 or float16, is that of inputs and outputs. On CPUs also float64: then all is.
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
