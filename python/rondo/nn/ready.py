"""Layers of shipped cells, each with the surroundings that its paper gives it."""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F

from .._errors import InputError, UnsupportedError
from .recurrent import Recurrent


class _Ready(Recurrent):
    source = ""

    def __init__(self, input_size: int, hidden_size: int, **options: Any) -> None:
        super().__init__(self.source, input_size, hidden_size, **options)


class SLSTM(_Ready):
    """sLSTM of xLSTM (Beck et al. 2024): exponential input gate, normaliser and stabiliser. Options as in `Recurrent`.

    The forget gate's bias begins between 3 and 6 over the channels of a head, as the authors have it.
    """

    source = "slstm"
    b: torch.nn.Parameter

    def reset_parameters(self) -> None:
        super().reset_parameters()
        with torch.no_grad():  # by operators of the tensor alone, which may be sharded
            number = torch.ones_like(self.b[:, 1], dtype=torch.float32).cumsum(-1) - 1
            self.b[:, 1] = 3 + number * 3 / max(1, self.b.shape[-1] - 1)


class MinGRU(_Ready):
    """minGRU (Feng et al. 2024). Options as in `Recurrent`."""

    source = "mingru"


class MinLSTM(_Ready):
    """minLSTM (Feng et al. 2024), independent of length. Options as in `Recurrent`."""

    source = "minlstm"


class HGRN(_Ready):
    """HGRN (Qin et al. 2023), real-valued: a forget gate with a learned lower bound, and a gate of the output.

    Parameters
    ----------
    input_size, hidden_size : int
    lower_bound : float, optional
        Where the lower bound of the forget gate begins, in (0, 1): higher in upper layers, which remember for longer.
    **options
        As in `Recurrent`.
    """

    source = "hgrn"
    low: torch.nn.Parameter

    def __init__(self, input_size: int, hidden_size: int, *, lower_bound: float = 0.1, **options: Any) -> None:
        if not 0 < lower_bound < 1:
            raise InputError(f"HGRN: lower_bound is {lower_bound!r}", "it lies between 0 and 1")
        self._lower_bound = lower_bound
        super().__init__(input_size, hidden_size, **options)
        device, dtype = options.get("device"), options.get("dtype")
        self.gate = torch.nn.Linear(input_size, hidden_size, options.get("bias", True), device, dtype)

    def reset_parameters(self) -> None:
        super().reset_parameters()
        torch.nn.init.constant_(self.low, math.log(self._lower_bound / (1 - self._lower_bound)))

    def by_head(self) -> dict[str, tuple[int, int]]:
        return super().by_head() | {"gate.weight": (0, 1), "gate.bias": (0, 1)}

    def params(self) -> dict[str, torch.Tensor]:
        """The bound is learned as its logit, so that it stays between 0 and 1."""
        return {"low": torch.sigmoid(self.low.to(torch.promote_types(self.low.dtype, torch.float32)))}

    def mix(self, h: torch.Tensor, u: torch.Tensor) -> torch.Tensor:
        return h * F.silu(self.gate(u))


class ParaGRU(_Ready):
    """ParaGRU (ParaRNN, 2026): a GRU with diagonal recurrent weights. Options as in `Recurrent`."""

    source = "paragru"
    a: torch.nn.Parameter

    def reset_parameters(self) -> None:
        super().reset_parameters()
        _diagonal(self.a)


class ParaLSTM(_Ready):
    """ParaLSTM (ParaRNN, 2026): an LSTM with diagonal recurrent weights and coupled gates. Options as in `Recurrent`."""

    source = "paralstm"
    a: torch.nn.Parameter

    def reset_parameters(self) -> None:
        super().reset_parameters()
        _diagonal(self.a)


class BlockGRU(_Ready):
    """The GRU of DreamerV3's world model (Hafner et al. 2023): heads are its blocks. Options as in `Recurrent`.

    The projected input is normalised by its root mean square over all rows, as there.
    """

    source = "blockgru"

    def __init__(self, input_size: int, hidden_size: int, **options: Any) -> None:
        super().__init__(input_size, hidden_size, **options)
        self.norm = torch.nn.RMSNorm(
            self.input_projection.out_features, device=options.get("device"), dtype=options.get("dtype")
        )

    def by_head(self) -> dict[str, tuple[int, int]]:
        raise UnsupportedError(
            "split_heads: BlockGRU normalises its projected input over all heads", "Recurrent('blockgru') does not"
        )

    def project(self, u: torch.Tensor) -> dict[str, torch.Tensor]:
        return self._inputs(self.norm(self.input_projection(u)))


class LayerNormLSTM(_Ready):
    """Layer-normalised LSTM (Ba et al. 2016) with the equations of Haste. Options as in `Recurrent`.

    The projected input is normalised over all rows of a head, the product of the state within the step, and so is the cell.
    """

    source = "lnlstm"

    def __init__(self, input_size: int, hidden_size: int, **options: Any) -> None:
        super().__init__(input_size, hidden_size, **options)
        shape = (self.heads, self._widths[0])
        weight = torch.ones(shape, device=options.get("device"), dtype=options.get("dtype"))
        self.gamma_x = torch.nn.Parameter(weight)

    def reset_parameters(self) -> None:
        super().reset_parameters()
        if hasattr(self, "gamma_x"):
            torch.nn.init.ones_(self.gamma_x)

    def by_head(self) -> dict[str, tuple[int, int]]:
        return super().by_head() | {"gamma_x": (0, 1)}

    def project(self, u: torch.Tensor) -> dict[str, torch.Tensor]:
        x = self.input_projection(u).unflatten(-1, (self.heads, self._widths[0]))
        return self._inputs((F.layer_norm(x, x.shape[-1:]) * self.gamma_x).flatten(-2))


def _diagonal(weight: torch.Tensor) -> None:
    """Weights of one channel each: a fan-in of one would give 1, and states that begin small are safer."""
    torch.nn.init.uniform_(weight, -0.5, 0.5)
