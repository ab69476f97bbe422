"""Drop-in layers for `torch.nn.LSTM`, `torch.nn.GRU` and `torch.nn.RNN`."""

from __future__ import annotations

from typing import Any

import torch

from .._errors import InputError
from .._torch.types import wide
from ..cell import Cell
from ._layers import Layers

_COMMON = """
    Parameters
    ----------
    input_size, hidden_size : int
    num_layers : int, optional
    bias, batch_first : bool, optional
    dropout : float, optional
        Between layers, in training.
    bidirectional : bool, optional
    device, dtype : optional
        Of the parameters.
    save : {"states", "products"}, optional
        What a training pass saves; `rondo.prepare` can choose.
    chunk : int, optional
        Most steps that a training pass takes at once. What it saves is then one chunk's at a time, and is computed again for
        the backward pass; between chunks the states are kept. Less memory, and one forward pass more, or less where outputs
        say most of it. None: all steps.
    math : {"default", "fast", "accurate", "tf32"}, optional

    Notes
    -----
    The layer is no subclass of torch's, which `torch.compile(fullgraph=True)` does not take. Parameters have its names, order
    and layout, so `load_state_dict` works both ways. States are float32 beside 16-bit types.

    Raises
    ------
    InputError
        An argument is of no use.
"""


class LSTM(Layers):
    __doc__ = (
        """`torch.nn.LSTM` by Rondo's cell lstm.
"""
        + _COMMON.replace(
            "    device, dtype : optional\n",
            "    proj_size : int, optional\n"
            "        If not 0, outputs and the state h have so many features: a matrix is applied to h (Sak et al. 2014). The\n"
            "        recurrence then multiplies by the product of two matrices, which is rounded to their type.\n"
            "    device, dtype : optional\n",
        )
        + """
    Examples
    --------
    >>> import torch, rondo
    >>> layer = rondo.nn.LSTM(8, 16, num_layers=2, batch_first=True)
    >>> missing = layer.load_state_dict(torch.nn.LSTM(8, 16, num_layers=2).state_dict())
    >>> y, (h, c) = layer(torch.zeros(3, 5, 8))
    >>> y.shape, h.shape
    (torch.Size([3, 5, 16]), torch.Size([2, 3, 16]))
    """
    )

    gates, states, mode = 4, 2, "LSTM"

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: torch.dtype | None = None,
        *,
        save: str = "states",
        math: str = "default",
        chunk: int | None = None,
    ) -> None:
        cell = Cell("lstm", save=save, math=math, without=_left_out(bias))
        super().__init__(
            cell,
            input_size,
            hidden_size,
            num_layers,
            bias,
            batch_first,
            dropout,
            bidirectional,
            proj_size,
            device,
            dtype,
            chunk,
        )

    # Both biases are one to the cell: what the product of the input does not add, its backward pass need not sum.
    def _biases(self, b_ih: Any, b_hh: Any) -> tuple[Any, Any]:
        return None, None if b_ih is None else wide(b_ih) + b_hh


class GRU(Layers):
    __doc__ = (
        """`torch.nn.GRU` by Rondo's cell gru, which has its equations: the reset gate acts after the matrix.
"""
        + _COMMON
    )

    gates, states, mode = 3, 1, "GRU"
    biases_apart = True

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: Any = None,
        dtype: torch.dtype | None = None,
        *,
        save: str = "states",
        math: str = "default",
        chunk: int | None = None,
    ) -> None:
        cell = Cell("gru", save=save, math=math, without=_left_out(bias))
        super().__init__(
            cell, input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, 0, device, dtype, chunk
        )

    # b_hh stands within the reset gate's product, b_ih outside.
    def _biases(self, b_ih: Any, b_hh: Any) -> tuple[Any, Any]:
        return b_ih, None if b_hh is None else wide(b_hh)


# torch.nn.RNN's second nonlinearity. The cell elman is the first.
_RELU = """cell elman_relu(D) {
  input x[D]
  param R[D, D], b[D]
  state h[D]

  next h = relu(R @ h + x + b)
  output h
}
"""


class RNN(Layers):
    __doc__ = """`torch.nn.RNN` by Rondo's cell elman, with tanh or relu.
""" + _COMMON.replace(
        "    num_layers : int, optional\n",
        '    num_layers : int, optional\n    nonlinearity : {"tanh", "relu"}, optional\n',
    )

    gates, states = 1, 1

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: Any = None,
        dtype: torch.dtype | None = None,
        *,
        save: str = "states",
        math: str = "default",
        chunk: int | None = None,
    ) -> None:
        if nonlinearity not in ("tanh", "relu"):
            raise InputError(f"RNN: nonlinearity is {nonlinearity!r}", "it is 'tanh' or 'relu'")
        cell = Cell("elman" if nonlinearity == "tanh" else _RELU, save=save, math=math, without=_left_out(bias))
        super().__init__(
            cell, input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, 0, device, dtype, chunk
        )
        self.nonlinearity = nonlinearity
        self.mode = "RNN_TANH" if nonlinearity == "tanh" else "RNN_RELU"

    def _biases(self, b_ih: Any, b_hh: Any) -> tuple[Any, Any]:
        return None, None if b_ih is None else wide(b_ih) + b_hh


def _left_out(bias: bool) -> tuple[str, ...]:
    """Of the cell's parameters."""
    return () if bias else ("b",)
