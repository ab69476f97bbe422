"""A layer as one node of the autograd graph, where the shim is there and nothing looks into the layer: the product of its
input, the recurrence, and both backward. Small layers that are called eagerly take as long as their nodes do, which would be
fifteen.

Tensors are as `torch.nn` has them here: `u`, `[T, B, F]` or `[B, T, F]`, matrices `[rows * D, D]`, states `[B, D]`. Those of
both directions lie one behind the other: `[2 * rows * D, D]`, `[B, 2 * D]`. What the recurrence takes has the same memory, so
the shim is told of them as they are, and does all of a pass in one call then. Where it does not know them, the recurrence's
operators are called with views.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch.autograd import forward_ad

from .. import _structs as s
from .._structure import TensorSpec, structure_of
from .._torch import again, autograd, operators, shim, sites
from .._torch.types import wide, wide_type

_SAVED = (s.ROLE_HISTORY, s.ROLE_PRODUCTS)  # tensors that the layer does not look into
_R = 2  # the place of the recurrence's matrix
_HALVES = (torch.bfloat16, torch.float16)
_LAST = (s.ROLE_LAST_STATE, s.ROLE_INITIAL_STATE_GRADIENT)
_BelowAutograd = torch._C._AutoDispatchBelowAutograd
# What a pass does beside the launch (python/shim/layer.h).
_BIAS_IN_PRODUCT, _BIAS, _SUM, _STATE_UNIT = 1, 2, 4, 8
_OF_INPUT, _OF_MATRIX, _OF_BIAS = 1, 2, 4
_NARROW_MATRIX, _NARROW_BIAS, _TWO_BIASES = 8, 16, 32


def serves(tensors: Sequence[torch.Tensor]) -> bool:
    """Whether a call may be one node: none of compilers, of torch.func and of autocast sees what is in it. `tensors`: all that
    are given, the input and its matrix first."""
    u = tensors[0]
    return (
        not torch.compiler.is_compiling()
        and shim.SHIM is not None
        and (u.is_cuda or u.is_cpu)
        and u.dtype is tensors[1].dtype
        and u.numel() > 0
        and not torch._C._are_functorch_transforms_active()
        and forward_ad._current_level < 0
        and not (torch._C._is_any_autocast_enabled() and torch.is_autocast_enabled(u.device.type))
        and sites.plain(tensors)
    )


class Layer(NamedTuple):
    """What one layer is, whatever the sizes."""

    how: str  # the text of the recurrence
    given: int  # which of its tensors there are
    time_major: bool
    bias: bool  # whether it has two
    apart: bool  # of these the first is of the product of the input; else the recurrence takes their sum
    converts: bool  # last states are to have the type of the input
    heads: int = 1  # two where it has both directions, whose rows and channels lie one head behind the other


def run(layer: Layer, tensors: Sequence[torch.Tensor], lengths: torch.Tensor | None) -> Sequence[torch.Tensor]:
    """`h`, `[T, B, heads * D]` as the input is, and the last states, `[1, B, heads * D]`. `tensors`: the input u, W and R, both
    biases where the layer has any, and the states that there are."""
    call = _call_of(layer)
    if len(tensors) > call.state:
        states = wide_type(tensors[_R].dtype)
        tensors = [*tensors[: call.state], *[_as(state, states) for state in tensors[call.state :]]]
    given = tensors if lengths is None else [*tensors, lengths]
    if autograd.wants_gradient(tensors):
        return WholeLayer.apply(call, *given)  # pyright: ignore[reportAttributeAccessIssue]
    with _BelowAutograd():
        return call.forward(given, False)[0]


class _Call:
    """The passes of a layer. Its methods are to be called below autograd."""

    def __init__(self, layer: Layer) -> None:
        self.layer, self.structure = layer, structure_of(layer.how)
        self.state = 5 if layer.bias else 3  # the place of the first
        self.summed = layer.bias and not layer.apart
        self.beside = 4 if layer.bias and layer.apart else 3  # the place of what the recurrence takes behind R
        self.results = len(self.structure.results)
        self.form = _BIAS_IN_PRODUCT * (self.beside == 4) + _BIAS * layer.bias + _SUM * self.summed
        self.form += _STATE_UNIT * (self.results - 1) if layer.converts else 0
        self.what = [(pass_, layer.how, layer.given, layer.time_major) for pass_ in (s.PASS_FORWARD, s.PASS_FORWARD_SAVE)]
        self.backward_of = lru_cache(maxsize=256)(lambda *what: _Backward(self, *what))

    def forward(self, tensors: Sequence[torch.Tensor], saving: bool) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
        """Outputs and last states; and what the backward pass takes: what the recurrence was given, what it saved, W and u."""
        beside = list(tensors[self.beside :])
        other = beside.pop(1) if self.summed else None
        converts = self.summed or (self.layer.bias and beside[0].dtype is not wide_type(beside[0].dtype))
        family = operators.family_of("layer", *self.what[saving])
        known = saving and again.is_known()
        found: Any = None if known else _asked("layer_forward", tensors, family, self.form)
        if found is not None:
            if converts:
                beside[0] = found.pop()
            x = found.pop()
            results = found[: self.results]
        else:
            if converts:
                beside[0] = wide(beside[0]) if other is None else wide(beside[0]) + other
            x = F.linear(tensors[0], tensors[1], tensors[3] if self.beside == 4 else None)
            everything = [x, tensors[_R], *beside]
            found = (self._known(everything) if known else None) or self._launch(family, everything, saving)
            results = self._converted(found[: self.results], tensors[0].dtype)
        if not saving:
            return results, []
        saved = [found[place] for place in self.structure.kept_places]
        return results, [x, tensors[_R], *beside, *saved, tensors[1], tensors[0]]

    def _converted(self, results: list[torch.Tensor], dtype: torch.dtype) -> list[torch.Tensor]:
        return [results[0], *[_as(state, dtype) for state in results[1:]]] if self.layer.converts else results

    def _launch(self, family: Any, tensors: list[torch.Tensor], saving: bool) -> list[torch.Tensor]:
        """Outputs, last states, and what is saved."""
        found = sites.launched(family, tensors)
        if found is not None:
            return found
        what, structure = self.what[saving], self.structure
        sizes, views = self._views_of_forward(tensors)
        made = operators.run_forward(views, *what[1:], saving)
        plain = self._plain(structure.results + (structure.saved if saving else []), sizes, made)
        call = operators.remembered_call(operators.family_of(*what), views[0], views)
        sites.tell_as_given(family, call, tensors, views, plain, made)
        return plain

    def _known(self, tensors: list[torch.Tensor]) -> list[torch.Tensor] | None:
        """The same of outputs, where they are known."""
        sizes, views = self._views_of_forward(tensors)
        made = again.computed(views, *self.what[True][1:])
        return None if made is None else self._plain(self.structure.results + self.structure.saved, sizes, made)

    def _views_of_forward(self, tensors: list[torch.Tensor]) -> tuple[dict[str, int], list[torch.Tensor]]:
        sizes = self._sizes(*tensors[:2])
        return sizes, self._views(operators.of_mask(self.structure.given, self.layer.given), sizes, tensors)

    def backward(self, of: _Backward, tensors: list[torch.Tensor], by_rule: bool) -> Sequence[torch.Tensor]:
        """The gradients that `of` asks for. `tensors`: those of results, and what the forward pass has kept. `by_rule`: they
        are differentiated, or the former are under a vmap."""
        *everything, w, u = tensors
        if by_rule:
            found: Any = of.twice(self._by_rule(of, everything))
        else:
            family = operators.family_of("layer", *of.what)
            found = _asked("layer_backward", tensors, family, of.form | of.narrow)
            if found is not None:
                return found
            found = of.twice(self._launch_backward(family, of, everything))
        if not of.form:
            return found
        x, *found = found
        flat = _as(x, w.dtype).reshape(-1, w.shape[0])
        made = [torch.mm(flat, w).view(u.shape)] if of.form & _OF_INPUT else []
        if of.form & _OF_MATRIX:
            made.append(torch.mm(flat.t(), u.reshape(-1, w.shape[1])))
        if of.form & _OF_BIAS:
            made.append(flat.sum(0))
        return [*made, *found]

    def _launch_backward(self, family: Any, of: _Backward, everything: list[torch.Tensor]) -> list[torch.Tensor]:
        """The gradients of those tensors of the recurrence that are wanted, in the plan's types."""
        found = sites.launched(family, everything)
        if found is not None:
            return found
        sizes, views = self._views_of_backward(of, everything)
        made = operators.run_backward(views, *of.what[1:])
        plain = self._plain(operators.of_mask(self.structure.grads_out, of.wanted), sizes, made)
        call = operators.remembered_call(operators.family_of(*of.what), views[of.grads.bit_count()], views)
        sites.tell_as_given(family, call, everything, views, plain, made)
        return plain

    def _by_rule(self, of: _Backward, everything: list[torch.Tensor]) -> list[torch.Tensor]:
        """The same by the recurrence's own node, which has derivatives and a rule for vmap."""
        sizes, views = self._views_of_backward(of, everything)
        made: Any = autograd.gradients(views, *of.what[1:])
        return self._plain(operators.of_mask(self.structure.grads_out, of.wanted), sizes, made)

    def _views_of_backward(self, of: _Backward, everything: list[torch.Tensor]) -> tuple[dict[str, int], list[torch.Tensor]]:
        structure, count = self.structure, of.grads.bit_count()
        sizes = self._sizes(*everything[count : count + 2])
        specs = operators.of_mask(structure.grads_in, of.grads) + operators.of_mask(structure.given, self.layer.given)
        return sizes, self._views(specs + structure.kept, sizes, everything)

    def connected(self, kept: Sequence[torch.Tensor], biases: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """What the forward pass has kept, with the graph that leads there from what the layer was given."""
        x, r, *others, w, u = kept
        if self.layer.bias:
            others[0] = _with_graph(others[0], wide(biases[0]) + biases[1] if self.summed else wide(biases[1]))
        return [_with_graph(x, F.linear(u, w, biases[0] if self.beside == 4 else None)), r, *others, w, u]

    def _sizes(self, x: torch.Tensor, w_hh: torch.Tensor) -> dict[str, int]:
        steps, batch = x.shape[:2] if self.layer.time_major else x.shape[1::-1]
        return {"B": batch, "T": steps, "H": self.layer.heads, "D": w_hh.shape[1]}

    def _views(self, specs: Sequence[TensorSpec], sizes: dict[str, int], tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """As the recurrence has them."""
        views = []
        for spec, tensor in zip(specs, tensors, strict=True):
            shape = spec.shape(sizes)
            if spec.role in _SAVED:
                views.append(tensor)
            elif self.layer.time_major and spec.timed:
                views.append(tensor.reshape(shape[1], shape[0], *shape[2:]).transpose(0, 1))
            else:
                views.append(tensor.reshape(shape))
        return views

    def _plain(self, specs: Sequence[TensorSpec], sizes: dict[str, int], tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """As the layer has them."""
        plain = []
        for spec, tensor in zip(specs, tensors, strict=True):
            if spec.role in _SAVED:
                plain.append(tensor)
            elif spec.timed:
                plain.append((tensor.transpose(0, 1) if self.layer.time_major else tensor).flatten(2))
            elif spec.role in _LAST:
                plain.append(tensor.reshape(1, sizes["B"], -1))
            else:  # of a matrix, or of a bias
                plain.append(tensor.reshape(-1, sizes["D"]) if len(spec.axes) == 4 else tensor.reshape(-1))
        return plain


_call_of = lru_cache(maxsize=4096)(_Call)


class _Backward:
    """What a backward pass of a layer computes: the gradients of those tensors that need one, where those results have one
    whose bit is in `grads`. `narrow`: whether matrices, and biases, are of 16 bits: a plan has their gradients in fp32."""

    def __init__(self, call: _Call, needs: Sequence[bool], grads: int, narrow: tuple[bool, bool]) -> None:
        layer, structure = call.layer, call.structure
        of_u, of_w, of_r = needs[:3]
        of_b_x, of_b = needs[3:5] if layer.bias else (False, False)
        of_sum = of_b_x and layer.apart
        of_bias = of_b or (of_b_x and not layer.apart)
        self.grads = grads
        self.form = of_u * _OF_INPUT + of_w * _OF_MATRIX + of_sum * _OF_BIAS
        self.wanted = bool(self.form) | of_r << 1 | of_bias << 2
        first = len(structure.inputs) + len(structure.params)
        numbers = [number for number in range(first, len(structure.differentiable)) if layer.given >> number & 1]
        self.states = needs[call.state : call.state + len(numbers)]  # lengths, behind them, have none
        for number, wanted in zip(numbers, self.states, strict=True):
            self.wanted |= wanted << number
        self.what = (s.PASS_BACKWARD, layer.how, grads, layer.given, self.wanted, layer.time_major)
        # Which of them the shim converts, by one operator with that of the matrix; what both biases have is converted twice.
        of_matrix, of_both = of_r and narrow[0], of_bias and narrow[1]
        two = of_both and of_b and of_b_x and not layer.apart
        self.narrow = of_matrix * _NARROW_MATRIX + of_both * _NARROW_BIAS + two * _TWO_BIASES
        # Which of the gradients that are computed each tensor gets.
        computed = iter(range(len(needs) + 1))
        u, w, sum_, r, bias, other, *states = [
            next(computed) if wanted else None for wanted in (of_u, of_w, of_sum, of_r, of_bias, two, *self.states)
        ]
        self._bias = bool(self.form) + of_r if two else None
        first = sum_ if layer.apart else other if two else bias
        biases = [first if of_b_x else None, bias if of_b else None] if layer.bias else []
        sources = [u, w, r, *biases, *states]
        self.sources: list[int | None] = sources + [None] * (len(needs) - len(sources))

    def twice(self, found: list[torch.Tensor]) -> list[torch.Tensor]:
        """What the recurrence gives, with the gradient of the bias twice where the shim would give it so."""
        if self._bias is not None:
            found.insert(self._bias, found[self._bias])
        return found


class WholeLayer(torch.autograd.function._SingleLevelFunction):
    """`run` where a gradient is wanted. Its `apply` is that of functions that torch.func does not look into, which `serves` has
    made sure of. Where a gradient has another type than what it belongs to, autograd converts it."""

    @staticmethod
    def forward(ctx: Any, call: _Call, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:  # type: ignore[override]
        with _BelowAutograd():
            found, kept = call.forward(tensors, True)
        ctx.call = call
        ctx.biases = tensors[3:5] if call.layer.bias else ()  # for their graph alone, whatever their values come to be
        ctx.save_for_backward(*kept)
        ctx.set_materialize_grads(False)
        return tuple(found)

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor | None) -> tuple[Any, ...]:
        coming = [grad for grad in grads if grad is not None]
        if not coming:
            return (None,) * len(ctx.needs_input_grad)
        saved = ctx.saved_tensors  # once: what a checkpoint computes again it gives a single time
        if torch.is_grad_enabled():  # a graph of the gradients is wanted
            return _gradients(ctx, ctx.call.connected(saved, ctx.biases), grads, coming, True)
        if autograd.in_batches(coming) or autograd.has_tangents(coming):
            return _gradients(ctx, saved, grads, coming, True)
        with _BelowAutograd():
            return _gradients(ctx, saved, grads, coming, False)


def _gradients(
    ctx: Any,
    saved: Sequence[torch.Tensor],
    grads: Sequence[torch.Tensor | None],
    coming: list[torch.Tensor],
    by_rule: bool,
) -> tuple[Any, ...]:
    """Of all that WholeLayer takes. `saved`: what its forward pass did."""
    call = ctx.call
    narrow = saved[-1].dtype in _HALVES
    of = call.backward_of(
        ctx.needs_input_grad[1:],
        operators.mask_of(grads),
        (narrow, narrow and all(bias.dtype is saved[-1].dtype for bias in ctx.biases[0 if call.summed else 1 :])),
    )
    if not of.wanted:
        return (None,) * len(ctx.needs_input_grad)
    states, of_output = wide_type(saved[1].dtype), grads[0] is not None
    tensors = [(grad if of_output and number == 0 else _as(grad, states)).contiguous() for number, grad in enumerate(coming)]
    if autograd.in_batches(tensors):
        found = autograd.of_batches(lambda many: call.backward(of, [*many, *saved], True), tensors)
    else:
        found = call.backward(of, [*tensors, *saved], by_rule)
    result = [None if source is None else found[source] for source in of.sources]
    for number, wanted in enumerate(of.states, call.state):
        if wanted:
            result[number] = found[of.sources[number]].squeeze(0)
    return (None, *result)


def _asked(name: str, tensors: Sequence[torch.Tensor], family: Any, form: int) -> Any:
    """What a pass of a layer gives that the shim knows; None: it does not."""
    number = sites.number_of(family)
    if number is None:
        return None
    try:
        results, known = getattr(shim.SHIM, name)(tensors, number, form)
    except NotImplementedError:  # tensors of another kind, such as meta
        return None
    return results if known else None


def _with_graph(tensor: torch.Tensor, made: torch.Tensor) -> torch.Tensor:
    """The tensor, to the bit, with the graph of `made`, which once gave it."""
    return tensor.detach() + (made - made.detach())


def _as(tensor: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    return tensor if tensor.dtype is dtype else tensor.to(dtype)
