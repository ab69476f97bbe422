"""A layer of any cell: projection of the input, heads, the recurrence, and a projection of its output."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import torch

from .._errors import InputError
from .._structure import TensorSpec
from ..cell import Cell
from . import _chunks

Initialiser = Callable[[torch.Tensor], Any]


class Recurrent(torch.nn.Module):
    """A recurrent layer of any cell.

    Parameters
    ----------
    cell : Cell, str or path
        The recurrence.
    input_size : int
        Features of the input.
    hidden_size : int
        Channels of the output, of all heads together.
    heads : int, optional
        Heads, each with its own parameters; `hidden_size` is a multiple of it.
    output_size : int, optional
        Features of the result, by a matrix behind the recurrence; None: `hidden_size`, without one.
    bias : bool, optional
        Whether the projection of the input has one.
    batch_first : bool, optional
        Whether tensors are `[B, T, ...]`; False: `[T, B, ...]`.
    reverse : bool, optional
        Walks from the last step to the first.
    init : dict of str to callable, optional
        Initialisers of the cell's parameters, in place. By default matrices are uniform as in `torch.nn`, and vectors zero, or
        one if their name begins with "gamma".
    chunk : int, optional
        Most steps of the recurrence that a training pass takes at once. What it saves is then one chunk's at a time, and is
        computed again for the backward pass; between chunks the states are kept. None: all steps.
    device, dtype : optional
        Of the parameters.

    Attributes
    ----------
    cell : Cell
    input_projection : torch.nn.Linear
        To all rows of all inputs, in the order of `cell.inputs`.
    output_projection : torch.nn.Linear or None

    Raises
    ------
    InputError
        Sizes do not fit each other, or the cell has an output of no known size.
    UnsupportedError
        `chunk` is given, and the cell draws random numbers.

    Examples
    --------
    >>> import torch, rondo
    >>> layer = rondo.nn.Recurrent("slstm", 8, 32, heads=4)
    >>> y, last = layer(torch.zeros(3, 5, 8))
    >>> y.shape, sorted(last)
    (torch.Size([3, 5, 32]), ['c', 'h', 'm', 'n'])
    """

    def __init__(
        self,
        cell: Cell | str | os.PathLike[str],
        input_size: int,
        hidden_size: int,
        *,
        heads: int = 1,
        output_size: int | None = None,
        bias: bool = True,
        batch_first: bool = True,
        reverse: bool = False,
        init: Mapping[str, Initialiser] | None = None,
        chunk: int | None = None,
        device: Any = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.cell = cell if isinstance(cell, Cell) else Cell(cell)
        name = type(self).__name__
        sizes = {"input_size": input_size, "hidden_size": hidden_size, "heads": heads}
        for argument, value in sizes.items() if output_size is None else {**sizes, "output_size": output_size}.items():
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise InputError(f"{name}: {argument} is {value!r}", "it is a whole number from 1")
        if hidden_size % heads:
            raise InputError(f"{name}: hidden_size={hidden_size} is no multiple of heads={heads}")
        _chunks.check(name, chunk, self.cell)
        self.chunk = chunk
        self.input_size, self.hidden_size, self.heads = input_size, hidden_size, heads
        self.batch_first, self.reverse, self.init = batch_first, reverse, dict(init or {})
        self._widths = [_width(spec, hidden_size // heads) for spec in self.cell._plain.inputs]
        self.input_projection = torch.nn.Linear(input_size, heads * sum(self._widths), bias, device, dtype)
        self.output_projection = None
        if output_size is not None:
            self.output_projection = torch.nn.Linear(self._outputs() * hidden_size, output_size, True, device, dtype)
        for spec in self.cell._plain.params:
            shape = spec.shape({"H": heads, "D": hidden_size // heads})
            weight = torch.nn.Parameter(torch.empty(shape, device=device, dtype=dtype))
            self.register_parameter(spec.name, weight)
        for key in self.init:
            if key not in self.cell.params:
                raise InputError(
                    f"{name}: init has '{key}'", "the cell's parameters are " + (", ".join(self.cell.params) or "none")
                )
        self.reset_parameters()

    def _outputs(self) -> int:
        return len(self.cell.outputs)

    def reset_parameters(self) -> None:
        """First values for all parameters, also those of modules within, so that a layer that was made on the device "meta" can
        have them once it has memory. Parameters may be sharded."""
        for child in self.children():
            if callable(reset := getattr(child, "reset_parameters", None)):
                reset()
        for spec in self.cell._plain.params:
            weight = getattr(self, spec.name)
            if spec.name in self.init:
                with torch.no_grad():
                    self.init[spec.name](weight)
            elif len(spec.axes) == 4:
                bound = (self.hidden_size // self.heads) ** -0.5
                torch.nn.init.uniform_(weight, -bound, bound)
            elif spec.name.startswith("gamma"):
                torch.nn.init.ones_(weight)
            else:
                torch.nn.init.zeros_(weight)

    def extra_repr(self) -> str:
        return f"{self.cell.name}, {self.input_size}, {self.hidden_size}" + (f", heads={self.heads}" if self.heads > 1 else "")

    def by_head(self) -> dict[str, tuple[int, int]]:
        """How parameters divide by head, for `split_heads`: of each the axis along which all heads lie one behind the other,
        and how often they do so. A subclass with parameters of its own, or with a `project`, `mix`, `params` or `forward`
        that takes each head alone, says so by a method of its own."""
        found = {"input_projection.weight": (0, 1), "input_projection.bias": (0, 1)}
        found["output_projection.weight"] = (1, self._outputs())
        return found | {spec.name: (spec.axes.index("H"), 1) for spec in self.cell._plain.params}

    def project(self, u: torch.Tensor) -> dict[str, torch.Tensor]:
        """The cell's inputs of all steps."""
        return self._inputs(self.input_projection(u))

    def _inputs(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        x = x.unflatten(-1, (self.heads, sum(self._widths)))
        parts = x.split(self._widths, -1)
        made = {}
        for spec, part in zip(self.cell._plain.inputs, parts, strict=True):
            rows = int(spec.axes[spec.rows_axis])
            made[spec.name] = part.unflatten(-1, (rows, -1)) if spec.axes[-1] == "D" else part
        return made

    def params(self) -> dict[str, torch.Tensor]:
        """The cell's parameters, as it takes them."""
        return {spec.name: getattr(self, spec.name) for spec in self.cell._plain.params}

    def mix(self, h: torch.Tensor, u: torch.Tensor) -> torch.Tensor:
        """What becomes of the recurrence's output before the output's projection: nothing, here."""
        return h

    def _recurrence(self, x: dict[str, torch.Tensor], initial: Any, lengths: Any, resets: Any) -> tuple[Any, dict[str, Any]]:
        """The cell's outputs and last states; in training in chunks of time, if it is to be."""
        params = self.params()

        def run(parts: Any, states: Any, left: Any, flags: Any) -> Any:
            y, last = self.cell(
                dict(zip(x, parts, strict=True)),
                params=params,
                initial=states,
                lengths=left,
                resets=flags,
                reverse=self.reverse,
                batch_first=self.batch_first,
            )
            return list(y.values()) if isinstance(y, dict) else [y], last

        parts, axis = list(x.values()), 1 if self.batch_first else 0
        given = [state for state in (initial or {}).values() if isinstance(state, torch.Tensor)]
        if self.chunk is None or not _chunks.wanted(self.chunk, parts[0].shape[axis], [*parts, *params.values(), *given]):
            return run(parts, initial, lengths, resets)
        device = parts[0].device
        lengths = None if lengths is None else torch.as_tensor(lengths, device=device)
        resets = None if resets is None else torch.as_tensor(resets, device=device)
        options: Any = dict(chunk=self.chunk, axis=axis, reverse=self.reverse)
        walk, last = _chunks.over_time(run, parts, initial, lengths, resets, **options)
        return _chunks.joined([walk], axis), last

    def forward(
        self,
        input: torch.Tensor,
        initial: Mapping[str, torch.Tensor] | None = None,
        *,
        lengths: Any = None,
        resets: Any = None,
    ) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        """Runs the layer.

        Parameters
        ----------
        input : tensor
            `[B, T, input_size]`, or `[T, B, input_size]` without `batch_first`.
        initial : dict of str to tensor, optional
            Initial states, as this method gives them.
        lengths, resets : optional
            As `Cell` takes them.

        Returns
        -------
        output : tensor
            `[B, T, output_size]`, or `hidden_size` features without an output's projection.
        last : dict of str to tensor
            The last states, `[B, H, D]` or `[B, H, rows, D]`, in float32.

        Raises
        ------
        InputError
            An argument has another shape than it is to have.
        """
        if input.dim() != 3 or input.shape[-1] != self.input_size:
            wanted = "[B, T, {}]" if self.batch_first else "[T, B, {}]"
            name = type(self).__name__
            raise InputError(f"{name}: input has shape {list(input.shape)}", f"it is {wanted.format(self.input_size)}")
        outputs, last = self._recurrence(self.project(input), initial, lengths, resets)
        h = torch.cat([one.flatten(2) for one in outputs], -1) if len(outputs) > 1 else outputs[0].flatten(2)
        h = self.mix(h, input)
        return h if self.output_projection is None else self.output_projection(h), last


def _width(spec: TensorSpec, dim: int) -> int:
    """Numbers of an input for each step and head."""
    width = 1
    for axis in spec.axes[spec.rows_axis :]:
        width *= dim if axis == "D" else int(axis)
    return width
