"""What LSTM, GRU and RNN share: torch.nn's constructor, names of parameters, stacks, directions and packed sequences."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from .._errors import InputError
from .._torch.autograd import run
from ..cell import Cell
from . import _chunks, _projected, _whole

State = torch.Tensor | None


class Layers(torch.nn.Module):
    """A stack of recurrent layers whose weights are those of `torch.nn`.

    A subclass says the cell, its rows of gates and its number of states, and how both biases come to it.
    """

    gates = 0
    states = 0
    mode = ""
    biases_apart = False  # whether the cell cannot have the sum of both

    input_size: int
    hidden_size: int
    num_layers: int
    bias: bool
    batch_first: bool
    dropout: float
    bidirectional: bool
    proj_size: int
    chunk: int | None

    def __init__(
        self,
        cell: Cell,
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
        chunk: int | None = None,
    ) -> None:
        super().__init__()
        _chunks.check(type(self).__name__, chunk, cell)
        _check(type(self).__name__, input_size, hidden_size, num_layers, dropout, proj_size)
        self.input_size, self.hidden_size, self.num_layers = input_size, hidden_size, num_layers
        self.bias, self.batch_first, self.dropout = bias, batch_first, float(dropout)
        self.bidirectional, self.proj_size = bidirectional, proj_size
        self.cell, self.chunk = cell, chunk
        # Of the weights of each layer and direction.
        self._names: list[tuple[str, ...]] = []
        for layer in range(num_layers):
            for direction in range(self.directions):
                end = f"_l{layer}_reverse" if direction else f"_l{layer}"
                inputs = input_size if layer == 0 else self.output_size * self.directions
                rows = self.gates * hidden_size
                shapes = [("weight_ih", (rows, inputs)), ("weight_hh", (rows, self.output_size))]
                if bias:
                    shapes += [("bias_ih", (rows,)), ("bias_hh", (rows,))]
                if proj_size:
                    shapes.append(("weight_hr", (proj_size, hidden_size)))
                self._names.append(tuple(name + end for name, _ in shapes))
                for name, shape in shapes:
                    weight = torch.empty(shape, device=device, dtype=dtype)
                    self.register_parameter(name + end, torch.nn.Parameter(weight))
        self.reset_parameters()

    @property
    def directions(self) -> int:
        return 2 if self.bidirectional else 1

    @property
    def output_size(self) -> int:
        """Of each direction's output."""
        return self.proj_size or self.hidden_size

    @property
    def all_weights(self) -> list[list[torch.nn.Parameter]]:
        """The parameters of each layer and direction, as `torch.nn` has them."""
        return [[getattr(self, name) for name in names] for names in self._names]

    def reset_parameters(self) -> None:
        bound = self.hidden_size**-0.5
        for weight in self.parameters():
            torch.nn.init.uniform_(weight, -bound, bound)

    def flatten_parameters(self) -> None:
        """Nothing: weights stay where they are."""

    def extra_repr(self) -> str:
        words = [f"{self.input_size}, {self.hidden_size}"]
        for name, default in (
            ("proj_size", 0),
            ("num_layers", 1),
            ("bias", True),
            ("batch_first", False),
            ("dropout", 0.0),
            ("bidirectional", False),
        ):
            if getattr(self, name) != default:
                words.append(f"{name}={getattr(self, name)}")
        return ", ".join(words)

    def _weights(self, names: Sequence[str]) -> list[Any]:
        """Of the input, of the recurrence, and both biases, None where there are none; then that of a projection, if any."""
        own = self._parameters  # a module's attributes are looked for in three places before
        weights: list[Any] = [own[name] if name in own else getattr(self, name) for name in names]
        return weights if self.bias else [*weights[:2], None, None, *weights[2:]]

    def _biases(self, b_ih: Any, b_hh: Any) -> tuple[Any, Any]:
        """The bias of the product of the input, and the cell's; None where there is none."""
        raise NotImplementedError

    # --- forward ---

    def forward(self, input: Any, hx: Any = None) -> tuple[Any, Any]:
        """As `torch.nn` has it.

        Parameters
        ----------
        input : tensor or PackedSequence
            `[T, B, input_size]`, `[B, T, input_size]` with `batch_first`, or `[T, input_size]` without a batch.
        hx : tensor or tuple of two, optional
            Initial states, `[num_layers * directions, B, hidden_size]`; zero if left out. With `proj_size` the first has so
            many features.

        Returns
        -------
        output : tensor or PackedSequence
            `[T, B, directions * hidden_size]`, or `directions * proj_size`, laid out as the input.
        hx : tensor or tuple of two
            The last states.

        Raises
        ------
        InputError
            The input or hx has another shape than it is to have.
        """
        if isinstance(input, PackedSequence):
            return self._packed(input, hx)
        name = type(self).__name__
        if not isinstance(input, torch.Tensor):
            raise InputError(f"{name}: input is {type(input).__name__}", "give a tensor or a PackedSequence")
        if input.dim() not in (2, 3):
            raise InputError(f"{name}: input has {input.dim()} axes", "it has 3, or 2 without a batch")
        if input.shape[-1] != self.input_size:
            raise InputError(f"{name}: the last axis of input is {input.shape[-1]}", f"input_size is {self.input_size}")
        if hx is None and self.chunk is None and len(self._names) == 1 and not self.proj_size and input.dim() == 3:
            found = self._at_once(input)
            if found is not None:
                return found
        alone = input.dim() == 2
        u = input.unsqueeze(0 if self.batch_first else 1) if alone else input
        first = self._given(hx, u.shape[0 if self.batch_first else 1], alone)
        h, last = self._sequence(u, first, None, self.batch_first)
        if alone:
            h, last = h.squeeze(0 if self.batch_first else 1), [state.squeeze(1) for state in last]
        return h, self._taken(last)

    def _at_once(self, u: torch.Tensor) -> Any:
        """What a single layer in one direction gives without initial states, where its pass may be one node of the graph; else
        None. It is what the methods below would give, which take longer for what is not there."""
        weights = self._weights(self._names[0])
        tensors = [u, *(weights if self.bias else weights[:2])]
        if not _whole.serves(tensors):
            return None
        how = self.cell.text(False, False, "forward")
        mask = 0b111 if self.bias else 0b11
        layer = _whole.Layer(how, mask, not self.batch_first, self.bias, self.biases_apart, True)
        h, *last = _whole.run(layer, tensors, None)
        return h, self._taken(last)

    def _packed(self, packed: PackedSequence, hx: Any) -> tuple[PackedSequence, Any]:
        """Sequences of different length: padding is not walked. Rows are in the order of `packed`, longest first."""
        u, lengths = pad_packed_sequence(PackedSequence(packed.data, packed.batch_sizes), batch_first=True)
        if u.shape[-1] != self.input_size:
            raise InputError(f"{type(self).__name__}: input has {u.shape[-1]} features", f"input_size is {self.input_size}")
        first = self._given(hx, u.shape[0], False)
        order, back = packed.sorted_indices, packed.unsorted_indices
        if order is not None:
            first = [None if state is None else state.index_select(1, order) for state in first]
        h, last = self._sequence(u, first, lengths.to(device=u.device, dtype=torch.int32), True)
        made = pack_padded_sequence(h, lengths, batch_first=True)
        if back is not None:
            last = [state.index_select(1, back) for state in last]
        return PackedSequence(made.data, packed.batch_sizes, order, back), self._taken(last)

    def _sequence(
        self, u: torch.Tensor, first: Sequence[State], lengths: torch.Tensor | None, batch_first: bool
    ) -> tuple[torch.Tensor, list[torch.Tensor]]:
        """`first`: states of all layers and directions, or None."""
        lasts: list[list[torch.Tensor]] = []
        for layer in range(self.num_layers):
            begin = layer * self.directions
            start = [None if state is None else state[begin : begin + self.directions] for state in first]
            u, last = self._layer(u, start, self._names[begin : begin + self.directions], lengths, batch_first)
            lasts.append(last)
            if self.dropout and layer + 1 < self.num_layers:
                u = F.dropout(u, self.dropout, self.training)
        if len(self._names) == 1:
            return u, [state if state.dtype is u.dtype else state.to(u.dtype) for state in lasts[0]]
        return u, [torch.cat([last[number] for last in lasts]).to(u.dtype) for number in range(self.states)]

    def _layer(
        self,
        u: torch.Tensor,
        first: Sequence[State],
        names: Sequence[Sequence[str]],
        lengths: torch.Tensor | None,
        batch_first: bool,
    ) -> tuple[torch.Tensor, list[torch.Tensor]]:
        """A layer in all its directions. `first` and the last states: `[directions, B, D]`."""
        weights = [self._weights(some) for some in names]
        if not self.proj_size:
            return self._walk(u, [*first, None], weights, lengths, batch_first)
        projections = [some.pop() for some in weights]
        r, c = first
        gates = None if r is None else _projected.gates_of(r, [some[1] for some in weights])
        for some, projection in zip(weights, projections, strict=True):
            some[1] = _projected.matrix_of(some[1], projection)
        steps = u.shape[1 if batch_first else 0]
        h, last = self._walk(u, [None, c, gates if steps else None], weights, lengths, batch_first)
        last[0] = _projected.of_states(last[0], projections) if steps or r is None else r
        return _projected.of_outputs(h, projections), last

    def _walk(
        self,
        u: torch.Tensor,
        first: Sequence[State],
        weights: Sequence[list[Any]],
        lengths: torch.Tensor | None,
        batch_first: bool,
    ) -> tuple[torch.Tensor, list[torch.Tensor]]:
        """The recurrence of a layer in all its directions; in training in chunks of time, if it is to be. `first`: the states,
        and what joins the gates of each row's first step, `[directions, B, gates * D]`, or None. Chunks follow each other one
        way, so two directions in chunks are two walks."""
        axis = 1 if batch_first else 0
        tensors = [one for one in (u, *[weight for some in weights for weight in some], *first) if one is not None]
        if self.chunk is not None and _chunks.wanted(self.chunk, u.shape[axis], tensors):
            made = [
                self._chunked(u, [None if state is None else state[way] for state in first], some, walk, lengths, axis)
                for way, (some, walk) in enumerate(zip(weights, ("forward", "reverse"), strict=False))
            ]
            walks, lasts = zip(*made, strict=True)
            (u,) = _chunks.joined(walks, axis)
            return u, [states[0] if len(states) == 1 else torch.cat(states) for states in zip(*lasts, strict=True)]
        if len(weights) == 1:
            start = [None if state is None else state[0] for state in first]
            return self._one(u, start, weights[0], "forward", lengths, batch_first)
        # One walk of both: heads, of which the second walks back.
        kinds = list(zip(*weights, strict=True))
        both: list[Any] = [None if some[0] is None else torch.cat(some) for some in kinds]
        if self.bias and not self.biases_apart:
            # Halves of one tensor. Of two tensors, whose sum is taken, a direction's biases would have their gradients in the
            # same memory, and what adds to both or scales both in place would do so twice.
            both[2:4] = torch.cat([bias for some in kinds[2:4] for bias in some]).chunk(2)
        start = [None if state is None else state.transpose(0, 1).flatten(1) for state in first]
        return self._one(u, start, both, "directions", lengths, batch_first)

    def _chunked(
        self,
        u: torch.Tensor,
        first: Sequence[State],
        weights: Sequence[Any],
        walk: str,
        lengths: torch.Tensor | None,
        axis: int,
    ) -> tuple[_chunks.Walk, list[torch.Tensor]]:
        """One direction in chunks of time. The product of the input is within them."""
        assert self.chunk is not None

        def run(parts: Sequence[torch.Tensor], states: Sequence[State], left: Any, _: Any) -> Any:
            h, last = self._one(parts[0], states, weights, walk, left, axis == 1)
            return (h,), [*(state.squeeze(0) for state in last), _projected.gates_left(states[-1], left)]

        back = walk == "reverse"
        made, last = _chunks.over_time(run, [u], first, lengths, None, chunk=self.chunk, axis=axis, reverse=back)
        return made, [state.unsqueeze(0) for state in last[:-1]]

    def _one(
        self,
        u: torch.Tensor,
        first: Sequence[State],
        weights: Sequence[Any],
        walk: str,
        lengths: torch.Tensor | None,
        batch_first: bool,
    ) -> tuple[torch.Tensor, list[torch.Tensor]]:
        """One walk over time, of the heads of one direction or of both: `first`, as in `_walk`, are `[B, heads * D]`, weights
        have the rows of one head behind those of the other, and the last states are `[heads, B, D]`."""
        *first, gates = first
        # Which of the cell's tensors there are: x, R, b where it has one, states and lengths.
        mask = 0b111 if self.bias else 0b11
        for number, one in enumerate((*first, lengths), 3 if self.bias else 2):
            if one is not None:
                mask |= 1 << number
        states = [state for state in first if state is not None]
        how = self.cell.text(lengths is not None, False, walk)
        heads, size = 2 if walk == "directions" else 1, self.hidden_size
        tensors = [u, *weights, *states] if self.bias else [u, *weights[:2], *states]
        if gates is None and _whole.serves(tensors):
            # Between chunks states stay as they are.
            converts = len(self._names) == 1 and self.chunk is None
            layer = _whole.Layer(how, mask, not batch_first, self.bias, self.biases_apart, converts, heads)
            h, *last = _whole.run(layer, tensors, lengths)
            # Of one direction they are the node's own.
            return h, last if heads == 1 else [_by_head(state, heads, size) for state in last]
        w_ih, w_hh, b_ih, b_hh = weights
        b_x, b = self._biases(b_ih, b_hh)
        x = F.linear(u, w_ih, b_x).unflatten(-1, (heads, self.gates, size))
        if gates is not None:
            x = _projected.at_first_steps(x, gates, walk, lengths, batch_first)
        # All shapes are known to be right here, so the cell's checks of them are left out.
        tensors = [x if batch_first else x.transpose(0, 1), w_hh.view(heads, self.gates, size, size)]
        if b is not None:
            tensors.append(b.view(heads, self.gates, size))
        tensors += [state.reshape(-1, heads, 1, size) for state in states]
        if lengths is not None:
            tensors.append(lengths)
        h, *last = run(tensors, how, mask, not batch_first)
        h = h.flatten(2)
        return h if batch_first else h.transpose(0, 1), [_by_head(state, heads, size) for state in last]

    def _given(self, hx: Any, batch: int, alone: bool) -> list[State]:
        """Initial states, one of each kind, with a batch."""
        name = type(self).__name__
        if hx is None:
            return [None] * self.states
        states = list(hx) if self.states > 1 and isinstance(hx, tuple | list) else [hx]
        if len(states) != self.states or any(not isinstance(state, torch.Tensor) for state in states):
            wanted = "a tensor" if self.states == 1 else "a tuple of two tensors, (h, c)"
            raise InputError(f"{name}: hx is not what it is to be", f"give {wanted}")
        for number, state in enumerate(states):
            size = self.hidden_size if number else self.output_size
            wanted = [self.num_layers * self.directions, *([] if alone else [batch]), size]
            if list(state.shape) != wanted:
                which = "hx" if self.states == 1 else f"hx[{number}]"
                raise InputError(f"{name}: {which} has shape {list(state.shape)}", f"it is {wanted}")
        return [state.unsqueeze(1) if alone else state for state in states]

    def _taken(self, last: list[torch.Tensor]) -> Any:
        return tuple(last) if self.states > 1 else last[0]


def _by_head(state: torch.Tensor, heads: int, size: int) -> torch.Tensor:
    """States of a batch, of all heads, as `[heads, B, D]`."""
    return state.view(1, -1, size) if heads == 1 else state.view(-1, heads, size).transpose(0, 1)


def _check(name: str, input_size: Any, hidden_size: Any, num_layers: Any, dropout: Any, proj_size: Any) -> None:
    for argument, value in (("input_size", input_size), ("hidden_size", hidden_size), ("num_layers", num_layers)):
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise InputError(f"{name}: {argument} is {value!r}", "it is a whole number from 1")
    if not isinstance(dropout, numbers.Number) or isinstance(dropout, bool) or not 0 <= dropout <= 1:  # type: ignore[operator]
        raise InputError(f"{name}: dropout is {dropout!r}", "it is a probability, from 0 to 1")
    if not isinstance(proj_size, int) or isinstance(proj_size, bool) or not 0 <= proj_size < hidden_size:
        raise InputError(
            f"{name}: proj_size is {proj_size!r}", f"it is a whole number from 0, less than hidden_size={hidden_size}"
        )
