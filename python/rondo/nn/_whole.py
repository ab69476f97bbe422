"""A layer as one node of the autograd graph, where the shim is there and nothing looks into the layer: the product of its
input, the recurrence, and both backward. Small layers that are called eagerly take as long as their nodes do, which would be
fifteen.

Tensors are as `torch.nn` has them here: `u`, `[T, B, F]` or `[B, T, F]`, matrices `[rows * D, D]`, states `[B, D]`. What the
recurrence takes has the same memory, so the shim is told of them as they are. Where it does not know them, the recurrence's
operators are called with views.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import torch
import torch.nn.functional as F
from torch.autograd import forward_ad

from .. import _structs as s
from .._errors import NotDifferentiableError
from .._structure import TensorSpec, structure_of
from .._torch import autograd, operators, shim, sites

Biases = Callable[[Any, Any], tuple[Any, Any]]
_SAVED = (s.ROLE_HISTORY, s.ROLE_PRODUCTS)  # tensors that the layer does not look into
_U = 2  # the place of the input among what WholeLayer takes: behind it weights, lengths and states
_BelowAutograd = torch._C._AutoDispatchBelowAutograd


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


def run(
    how: str, given: int, time_major: bool, biases: Biases, tensors: Sequence[torch.Tensor], what: Sequence[Any]
) -> Sequence[torch.Tensor]:
    """`h`, `[T, B, D]` as the input is, and the last states, `[1, B, D]`. `how` and `given` are those of the recurrence.
    `what`: the input, four weights and lengths, None for those that are not there, and the states that are. `tensors`: those
    of floating point among them."""
    call = _call_of(how, given, time_major)
    if autograd.wants_gradient(tensors):
        return WholeLayer.apply(call, biases, *what)
    with _BelowAutograd():
        return call.forward(_taken(biases, *what)[0], False)[: len(call.structure.results)]


def _taken(
    biases: Biases, u: torch.Tensor, w_ih: torch.Tensor, w_hh: torch.Tensor, b_ih: Any, b_hh: Any, lengths: Any, *states: Any
) -> tuple[list[torch.Tensor], bool]:
    """What the recurrence takes, and whether the product of the input has a bias."""
    b_x, b = biases(b_ih, b_hh)
    tensors = [F.linear(u, w_ih, b_x), w_hh]
    if b is not None:
        tensors.append(b)
    wide = torch.promote_types(w_hh.dtype, torch.float32)
    for state in states:
        tensors.append(_as(state, wide))
    if lengths is not None:
        tensors.append(lengths)
    return tensors, b_x is not None


class _Call:
    """The recurrence of a layer. Its methods are to be called below autograd."""

    __slots__ = ("given", "how", "inferring", "saving", "structure", "time_major")

    def __init__(self, how: str, given: int, time_major: bool) -> None:
        self.how, self.given, self.time_major = how, given, time_major
        self.inferring, self.saving = ((pass_, how, given, time_major) for pass_ in (s.PASS_FORWARD, s.PASS_FORWARD_SAVE))
        self.structure = structure_of(how)

    def forward(self, tensors: list[torch.Tensor], saving: bool) -> list[torch.Tensor]:
        """Outputs, last states, and what is saved."""
        what = self.saving if saving else self.inferring
        family = operators.family_of("layer", *what)
        found = sites.launched(family, tensors)
        if found is not None:
            return found
        structure, sizes = self.structure, self._sizes(*tensors[:2])
        views = self._views(operators.of_mask(structure.given, self.given), sizes, tensors)
        made = operators.run_forward(views, *what[1:], saving)
        plain = self._plain(structure.results + (structure.saved if saving else []), sizes, made)
        call = operators.remembered_call(operators.family_of(*what), views[0], views)
        self._tell(family, call, tensors, views, plain, made)
        return plain

    def backward(self, coming: list[torch.Tensor], tensors: list[torch.Tensor], grads: int, wanted: int) -> list[torch.Tensor]:
        """The gradients of those tensors of the recurrence that are `wanted`, in the plan's types. `coming`: those of its
        results."""
        what = (s.PASS_BACKWARD, self.how, grads, self.given, wanted, self.time_major)
        family = operators.family_of("layer", *what)
        everything = [*coming, *tensors]
        found = sites.launched(family, everything)
        if found is not None:
            return found
        structure, sizes = self.structure, self._sizes(*tensors[:2])
        specs = operators.of_mask(structure.grads_in, grads) + operators.of_mask(structure.given, self.given)
        views = self._views(specs + structure.kept, sizes, everything)
        made = operators.run_backward(views, *what[1:])
        plain = self._plain(operators.of_mask(structure.grads_out, wanted), sizes, made)
        call = operators.remembered_call(operators.family_of(*what), views[len(coming)], views)
        self._tell(family, call, everything, views, plain, made)
        return plain

    def _tell(self, family: Any, call: Any, tensors: Any, views: Any, results: Any, made: Any) -> None:
        pairs = [*zip(tensors, views, strict=True), *zip(results, made, strict=True)]
        if call is not None and call.told and all(one.data_ptr() == other.data_ptr() for one, other in pairs):
            sites.tell(family, call, views, tensors, results)

    def _sizes(self, x: torch.Tensor, w_hh: torch.Tensor) -> dict[str, int]:
        steps, batch = x.shape[:2] if self.time_major else x.shape[1::-1]
        return {"B": batch, "T": steps, "H": 1, "D": w_hh.shape[1]}

    def _views(self, specs: Sequence[TensorSpec], sizes: dict[str, int], tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """As the recurrence has them."""
        views = []
        for spec, tensor in zip(specs, tensors, strict=True):
            shape = spec.shape(sizes)
            if spec.role in _SAVED:
                views.append(tensor)
            elif self.time_major and spec.timed:
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
                plain.append((tensor.transpose(0, 1) if self.time_major else tensor).flatten(2))
            elif spec.role in (s.ROLE_LAST_STATE, s.ROLE_INITIAL_STATE_GRADIENT):
                plain.append(tensor.reshape(1, sizes["B"], -1))
            else:  # of a matrix, or of a bias
                plain.append(tensor.reshape(-1, sizes["D"]) if len(spec.axes) == 4 else tensor.reshape(-1))
        return plain


_call_of = lru_cache(maxsize=4096)(_Call)


class WholeLayer(torch.autograd.Function):
    """`run` where a gradient is wanted."""

    @staticmethod
    def forward(  # type: ignore[override]
        ctx: Any,
        call: _Call,
        biases: Biases,
        u: torch.Tensor,
        w_ih: torch.Tensor,
        w_hh: torch.Tensor,
        b_ih: Any,
        b_hh: Any,
        lengths: Any,
        *states: torch.Tensor,
    ) -> tuple[torch.Tensor, ...]:
        with _BelowAutograd():
            tensors, bias_in_product = _taken(biases, u, w_ih, w_hh, b_ih, b_hh, lengths, *states)
            found = call.forward(tensors, True)
        types = [None if one is None else one.dtype for one in (b_ih, b_hh, *states)]
        ctx.layer = call, types, bias_in_product
        ctx.save_for_backward(u, w_ih, *tensors, *[found[place] for place in call.structure.kept_places])
        ctx.set_materialize_grads(False)
        return tuple(found[: len(call.structure.results)])

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor | None) -> tuple[Any, ...]:
        coming = [grad for grad in grads if grad is not None]
        if not coming:
            return (None,) * len(ctx.needs_input_grad)
        saved = ctx.saved_tensors  # once: what a checkpoint computes again it gives a single time
        if not torch.is_grad_enabled():
            return _gradients(ctx, saved, grads)
        # A graph of the gradients is wanted: one that raises, whatever is asked of it.
        return _Once.apply(lambda: _gradients(ctx, saved, grads), *coming, *saved)

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        raise NotDifferentiableError(autograd.FORWARD_MODE, autograd.HINT)


class _Once(torch.autograd.Function):
    """Gradients, which can be computed and not be differentiated."""

    @staticmethod
    def forward(ctx: Any, compute: Callable[[], Any], *tensors: torch.Tensor) -> Any:  # type: ignore[override]
        return compute()

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        raise NotDifferentiableError(autograd.SECOND, autograd.HINT)


def _gradients(ctx: Any, saved: Sequence[torch.Tensor], grads: Sequence[torch.Tensor | None]) -> tuple[Any, ...]:
    """Of all that WholeLayer takes. `saved`: what its forward pass did."""
    u, w_ih, *tensors = saved
    call, types, in_product = ctx.layer
    needs = ctx.needs_input_grad
    _, _, of_u, of_w_ih, of_w_hh, of_b_ih, of_b_hh, _, *of_states = needs
    of_bias = of_b_hh or (of_b_ih and not in_product)
    of_x = of_u or of_w_ih or (of_b_ih and in_product)
    wanted = of_x | of_w_hh << 1 | of_bias << 2
    if of_states:
        structure = call.structure
        first = len(structure.inputs) + len(structure.params)
        numbers = [number for number in range(first, len(structure.differentiable)) if call.given >> number & 1]
        for number, state in zip(numbers, of_states, strict=True):
            wanted |= state << number
    result: list[Any] = [None] * len(needs)
    if not wanted:
        return tuple(result)
    with _BelowAutograd():
        coming = [grad if grad.is_contiguous() else grad.contiguous() for grad in grads if grad is not None]
        found = iter(call.backward(coming, tensors, operators.mask_of(grads), wanted))
        if of_x:
            x = _as(next(found), w_ih.dtype).view(-1, w_ih.shape[0])
            if of_u:
                result[_U] = torch.mm(x, w_ih).view(u.shape)
            if of_w_ih:
                result[_U + 1] = torch.mm(x.t(), u.reshape(-1, w_ih.shape[1]))
            if of_b_ih and in_product:
                result[_U + 3] = _as(x.sum(0), types[0])
        if of_w_hh:
            result[_U + 2] = _as(next(found), w_ih.dtype)
        if of_bias:
            bias = next(found)
            if of_b_hh:
                result[_U + 4] = _as(bias, types[1])
            if of_b_ih and not in_product:
                result[_U + 3] = _as(bias, types[0])
        for number, state in enumerate(of_states):
            if state:
                result[_U + 6 + number] = _as(next(found).squeeze(0), types[2 + number])
    return tuple(result)


def _as(tensor: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    return tensor if tensor.dtype is dtype else tensor.to(dtype)
