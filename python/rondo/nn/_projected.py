"""The projection of `torch.nn.LSTM(proj_size=P)`: a step gives r = W_hr h, of P features, and the gates of the next one have
W_hh r (Sak et al. 2014, https://arxiv.org/abs/1402.1128). It has no kernel of its own: the gates are those of an LSTM whose
matrix is W_hh W_hr, and W_hr multiplies the outputs of all steps at once. A first r that is given need be no W_hr h. So the
first h is zero, and W_hh r joins the gates of each row's first step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F

Matrices = Sequence[torch.Tensor]  # one a direction: W_hh, [gates * D, P], or W_hr, [P, D]


def matrix_of(w_hh: torch.Tensor, w_hr: torch.Tensor) -> torch.Tensor:
    """Of the recurrence, `[gates * D, D]`. It is rounded to the type of the product, once."""
    return torch.mm(w_hh, w_hr)


def of_outputs(h: torch.Tensor, w_hr: Matrices) -> torch.Tensor:
    """`[..., directions * P]` of outputs `[..., directions * D]`."""
    if len(w_hr) == 1:
        return F.linear(h, w_hr[0])
    return torch.cat([F.linear(part, one) for part, one in zip(h.chunk(len(w_hr), -1), w_hr, strict=True)], -1)


def of_states(h: torch.Tensor, w_hr: Matrices) -> torch.Tensor:
    """`[directions, B, P]` of states `[directions, B, D]`, which are rounded as outputs are."""
    return torch.stack([F.linear(one.to(matrix.dtype), matrix) for one, matrix in zip(h, w_hr, strict=True)])


def gates_of(r: torch.Tensor, w_hh: Matrices) -> torch.Tensor:
    """What a first r, `[directions, B, P]`, adds to the gates of the first step: `[directions, B, gates * D]`."""
    return torch.stack([F.linear(one, matrix) for one, matrix in zip(r, w_hh, strict=True)])


def gates_left(gates: torch.Tensor | None, lengths: torch.Tensor | None) -> torch.Tensor | None:
    """What of it, `[B, gates * D]`, is for later chunks of time: that of rows which have no step in one with these lengths."""
    return None if gates is None or lengths is None else gates * (lengths == 0).unsqueeze(1)


def at_first_steps(
    x: torch.Tensor, gates: torch.Tensor, walk: str, lengths: torch.Tensor | None, batch_first: bool
) -> torch.Tensor:
    """`x`, `[T, B, heads, rows, D]`, or B before T, with `gates`, `[B, heads * rows * D]`, at the step that each row walks
    first. A row without steps walks none. Of two heads the second walks back."""
    batch, steps = x.shape[:2] if batch_first else x.shape[1::-1]
    heads = x.shape[2]
    begin = torch.zeros(batch, dtype=torch.long, device=x.device)
    end = begin + (steps - 1) if lengths is None else (lengths.long() - 1).clamp(min=0)
    step = torch.stack({"forward": [begin], "reverse": [end], "directions": [begin, end]}[walk], 1)
    row, head = torch.arange(batch, device=x.device).unsqueeze(1), torch.arange(heads, device=x.device)
    place: Any = (row, step, head) if batch_first else (step, row, head)
    return x.index_put(place, gates.reshape(batch, *x.shape[2:]).to(x.dtype), accumulate=True)
