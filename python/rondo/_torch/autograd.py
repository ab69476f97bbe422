"""Derivatives of Rondo's operators: in reverse mode, in forward mode, and of a first derivative a second one by tangents.py.
What goes beyond raises, never wrong in silence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import torch
from torch._functorch import autograd_function as functorch
from torch.autograd import forward_ad

from .._errors import NotDifferentiableError, UnsupportedError
from .._structure import structure_of
from .._tangents import numbers_of
from . import again, operators, sites, vmap
from .tangents import Second, passes_of

Tensors = Sequence[torch.Tensor]
_BelowAutograd = torch._C._AutoDispatchBelowAutograd


@lru_cache(maxsize=4096)
def _wanted_of(how: str, given: int, needs: tuple[bool, ...]) -> tuple[int, tuple[int, ...], int]:
    """Which gradients a backward pass is to give, the places of their tensors among those given, and the number of the latter.
    `needs`: which of them need one; flags have none."""
    numbers = numbers_of(given)
    count = len(structure_of(how).differentiable)
    places = tuple(place for place, number in enumerate(numbers) if needs[place] and number < count)
    return sum(1 << numbers[place] for place in places), places, len(numbers)


class Recurrence(torch.autograd.Function):
    """A forward pass that saves, with its backward pass."""

    @staticmethod
    def forward(how: str, given: int, time_major: bool, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:  # type: ignore[override]
        found = again.computed(tensors, how, given, time_major) if again.is_known() else None
        return tuple(found or operators.run_forward(list(tensors), how, given, time_major, True))

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        how, given, time_major, *tensors = inputs
        structure = structure_of(how)
        ctx.how, ctx.given, ctx.time_major, ctx.structure = how, given, time_major, structure
        ctx.save_for_backward(*tensors, *(output[place] for place in structure.kept_places))
        if forward_ad._current_level >= 0:
            ctx.save_for_forward(*tensors)
        ctx.mark_non_differentiable(*output[len(structure.results) :])
        ctx.set_materialize_grads(False)

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor | None) -> tuple[Any, ...]:
        tensors = ctx.saved_tensors
        public = grads[: len(ctx.structure.results)]
        wanted, numbers, count = _wanted_of(ctx.how, ctx.given, ctx.needs_input_grad[3:])
        result: list[Any] = [None] * (3 + count)
        coming = [grad for grad in public if grad is not None]
        if not wanted or not coming:
            return tuple(result)
        arguments = (ctx.how, operators.mask_of(public), ctx.given, wanted, ctx.time_major)

        def by_rule(many: list[torch.Tensor]) -> Any:
            return Gradients.apply(*arguments, *many, *tensors)

        if torch._C._are_functorch_transforms_active():
            found: Any = by_rule(coming)
        elif in_batches(coming):
            found = of_batches(by_rule, coming)
        else:
            found = _backward([*coming, *tensors], *arguments)
        for at, grad in zip(numbers, found, strict=True):
            result[3 + at] = grad
        return tuple(result)

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        passes = passes_of(ctx.how)
        mask, many = passes.arguments(ctx.given, primals(ctx.saved_tensors), tangents[3:], torch.zeros_like)
        found = run(many, passes.how, mask, ctx.time_major)
        return (*[found[place] for place in passes.tangent_places], *[None] * len(ctx.structure.saved))

    @staticmethod
    def vmap(info: Any, in_dims: Any, *arguments: Any) -> Any:
        how, given, time_major, *tensors = arguments

        def run(many: Tensors) -> Any:
            return Recurrence.apply(how, given, time_major, *many)

        return vmap.forward(run, info.batch_size, in_dims[3:], tensors, how, given, saving=True)


class Gradients(torch.autograd.Function):
    """The backward pass. Its derivatives are those of a function of gradients that come in and of what the forward pass was
    given: what that has kept follows from it."""

    @staticmethod
    def forward(  # type: ignore[override]
        how: str, grads: int, given: int, wanted: int, time_major: bool, *tensors: torch.Tensor
    ) -> tuple[torch.Tensor, ...]:
        with _BelowAutograd():
            return tuple(operators.backward(list(tensors), how, grads, given, wanted, time_major))

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.what = inputs[:5]
        ctx.save_for_backward(*inputs[5:])
        if forward_ad._current_level >= 0:
            ctx.save_for_forward(*inputs[5:])
        ctx.set_materialize_grads(False)

    @staticmethod
    def backward(ctx: Any, *weights: Any) -> Any:
        second = _second_of(ctx.what, ctx.saved_tensors)
        count = len(second.coming)
        needs = ctx.needs_input_grad[5:]
        needs_coming, needs_given = needs[:count], needs[count : count + len(second.tensors)]
        there = [weight for weight in weights if weight is not None]
        result: list[Any] = [None] * (5 + len(needs))
        if there:

            def reverse(many: list[torch.Tensor]) -> list[torch.Tensor]:
                return _reverse(second, _beside(second, weights, many), needs_coming, needs_given)

            found = iter(of_batches(reverse, there) if in_batches(there) else reverse(there))
            for place, needed in enumerate([*needs_coming, *needs_given], 5):
                result[place] = next(found) if needed else None
        return tuple(result)

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        second = _second_of(ctx.what, primals(ctx.saved_tensors))
        count = len(second.coming)
        return tuple(_along(second, tangents[5 : 5 + count], tangents[5 + count : 5 + count + len(second.tensors)]))

    @staticmethod
    def vmap(info: Any, in_dims: Any, *arguments: Any) -> Any:
        how, grads, given, wanted, time_major, *tensors = arguments

        def run(many: Tensors) -> Any:
            return Gradients.apply(how, grads, given, wanted, time_major, *many)

        return vmap.backward(run, info.batch_size, in_dims[5:], tensors, how, grads, given, wanted)


def primals(tensors: Tensors) -> list[torch.Tensor]:
    return [forward_ad.unpack_dual(tensor).primal for tensor in tensors]


def _second_of(what: tuple[str, int, int, int, bool], saved: Tensors) -> Second:
    _, grads, given, _, _ = what
    count, end = grads.bit_count(), grads.bit_count() + given.bit_count()
    return Second(*what, saved[:count], saved[count:end], saved[end:])


def _beside(second: Second, weights: Sequence[Any], there: Tensors) -> list[torch.Tensor | None]:
    """The weight of each of `second.tensors`. `weights`: one a gradient that was wanted; `there`: those that are not None."""
    rest = iter(there)
    by_number = {
        number: None if weight is None else next(rest)
        for number, weight in zip(numbers_of(second.wanted), weights, strict=True)
    }
    return [by_number.get(number) for number in numbers_of(second.given)]


def _reverse(second: Second, weights: Any, needs_coming: Sequence[bool], needs: Sequence[bool]) -> list[torch.Tensor]:
    """The gradients of those of `coming`, and of those of `tensors`, that need one. `weights`: of what it has given, beside the
    tensor that each belongs to."""
    passes = second.passes
    mask, many = passes.arguments(second.given, second.tensors, weights, torch.zeros_like)
    found = run_saving(many, passes.how, mask, second.time_major)
    places = [passes.tangent_places[number] for number in numbers_of(second.grads)]
    made = [found[place] for place, needed in zip(places, needs_coming, strict=True) if needed]
    numbers = [number for number, needed in zip(numbers_of(second.given), needs, strict=True) if needed]
    if not numbers:
        return made
    return [*made, *gradients(*second.backward(mask, many, found, [None] * len(second.coming), numbers))]


def _along(second: Second, of_coming: Any, tangents: Any) -> Tensors:
    """How the gradients change along tangents of `coming` and of `tensors`."""
    if all(tangent is None for tangent in tangents):  # a backward pass is linear in what comes in
        there = [tangent for tangent in of_coming if tangent is not None]
        grads = sum(1 << number for number, one in zip(numbers_of(second.grads), of_coming, strict=True) if one is not None)
        tensors = [*there, *second.tensors, *second.kept]
        return gradients(tensors, second.how, grads, second.given, second.wanted, second.time_major)
    passes = second.passes
    mask, many = passes.arguments(second.given, second.tensors, tangents, torch.zeros_like)
    found = run_saving(many, passes.how, mask, second.time_major)
    return gradients(*second.backward(mask, many, found, of_coming, numbers_of(second.wanted)))


# Of `torch.autograd.grad(is_grads_batched=True)` and `torch.autograd.functional` with `vectorize=True`: their vmap is an older
# one than torch.func's, of this level, and asks no function for its rule.
_LEVEL = 1
_old: Any = torch  # it exports them without saying so
_is_batch: Callable[[torch.Tensor], bool] = _old._C._functorch.is_legacy_batchedtensor


def in_batches(gradients: Tensors) -> bool:
    """Whether one call of a backward pass is to serve many gradients."""
    return any(map(_is_batch, gradients))


def of_batches(run: Callable[[list[torch.Tensor]], Any], gradients: Tensors) -> list[torch.Tensor]:
    """What `run` gives of each of the gradients in batches, by torch.func's vmap, which has rules for all that it does."""
    dims = [0 if _is_batch(gradient) else None for gradient in gradients]
    plain = [_old._remove_batch_dim(one, _LEVEL, 1, 0) if dim == 0 else one for one, dim in zip(gradients, dims, strict=True)]
    if in_batches(plain):
        raise UnsupportedError("Rondo has no gradients in batches of batches", "take torch.func.vmap")

    def one(*some: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return tuple(run([*some]))

    found: Any = torch.func.vmap(one, tuple(dims))(*plain)
    return [_old._add_batch_dim(one, 0, _LEVEL) for one in found]


def wants_gradient(tensors: Tensors) -> bool:
    if torch.is_grad_enabled():
        for tensor in tensors:
            if tensor.requires_grad:
                return True
    return False


def no_step_gradient() -> NotDifferentiableError:
    return NotDifferentiableError(
        "step() has no derivative: its states stay in place", "call it under torch.no_grad(), or the cell on a sequence"
    )


def has_tangents(tensors: Tensors) -> bool:
    """Forward mode reaches operators whose inputs want no gradient in reverse."""
    if forward_ad._current_level >= 0:
        for tensor in tensors:
            if forward_ad.unpack_dual(tensor).tangent is not None:
                return True
    return False


def _is_differentiated(tensors: Tensors) -> bool:
    return wants_gradient(tensors) or has_tangents(tensors)


def is_seen(tensors: Tensors) -> bool:
    """Whether something looks at a call on these, or differentiates it. If not, the shim may be asked for what it gives."""
    return (
        not sites.plain(tensors)
        or torch._C._are_functorch_transforms_active()
        or wants_gradient(tensors)
        or (forward_ad._current_level >= 0 and has_tangents(tensors))
    )


# What the dispatcher calls at the key Autograd, where an operator is called and not one of the functions above: from a graph
# of torch.compile or torch.export. Under torch.func functorch has done its part there: what is left is one level of autograd.


def _one_level(function: Any) -> Any:
    members = {name: staticmethod(getattr(function, name)) for name in ("forward", "setup_context", "backward", "jvp")}
    return type(function.__name__, (torch.autograd.function._SingleLevelFunction,), members)


def _without_functorch(function: Any) -> Any:
    """The same with a `forward` that sets up the context itself: PyTorch reads the signature of another one at each call, which
    takes as long as the rest of the call."""

    def forward(ctx: Any, *arguments: Any) -> Any:
        output = function.forward(*arguments)
        function.setup_context(ctx, arguments, output)
        return output

    members = {name: staticmethod(getattr(function, name)) for name in ("backward", "jvp")}
    return type(function.__name__, (torch.autograd.Function,), {"forward": staticmethod(forward), **members})


_ONE_LEVEL = {function: _one_level(function) for function in (Recurrence, Gradients)}
_PLAIN = {function: _without_functorch(function) for function in (Recurrence, Gradients)}


def _apply(function: Any, *arguments: Any) -> Any:
    if not torch._C._are_functorch_transforms_active():
        return _PLAIN[function].apply(*arguments)
    with functorch.enable_single_level_autograd_function():  # pyright: ignore[reportPrivateImportUsage]
        return _ONE_LEVEL[function].apply(*arguments)


def _forward(tensors: Tensors, how: str, given: int, time_major: bool) -> Tensors:
    if _is_differentiated(tensors):
        return list(_apply(Recurrence, how, given, time_major, *tensors)[: len(structure_of(how).results)])
    return operators.run_forward(tensors, how, given, time_major, False)


def _forward_save(tensors: Tensors, how: str, given: int, time_major: bool) -> Tensors:
    if _is_differentiated(tensors):
        return list(_apply(Recurrence, how, given, time_major, *tensors))
    return operators.run_forward(tensors, how, given, time_major, True)


def _backward(tensors: Tensors, how: str, grads: int, given: int, wanted: int, time_major: bool) -> Tensors:
    if _is_differentiated(tensors):
        return list(_apply(Gradients, how, grads, given, wanted, time_major, *tensors))
    return operators.run_backward(tensors, how, grads, given, wanted, time_major)


def _step(tensors: Tensors, states: Tensors, outputs: Tensors, how: str) -> None:
    everything = [*tensors, *states]
    if _is_differentiated(everything):
        raise no_step_gradient()
    with _BelowAutograd():
        operators.step(tensors, states, outputs, how)


for _name, _kernel in (
    ("forward", _forward),
    ("forward_save", _forward_save),
    ("backward", _backward),
    ("step", _step),
):
    operators.LIBRARY.impl(_name, _kernel, "Autograd")


def run(tensors: list[torch.Tensor], how: str, given: int, time_major: bool) -> Sequence[torch.Tensor]:
    """Outputs and last states, by the shortest way that this call has."""
    if torch.compiler.is_compiling():
        return operators.forward(tensors, how, given, time_major)
    if torch._C._are_functorch_transforms_active():
        found: Any = Recurrence.apply(how, given, time_major, *tensors)
        return found[: len(structure_of(how).results)]
    if wants_gradient(tensors) or (forward_ad._current_level >= 0 and has_tangents(tensors)):
        return _PLAIN[Recurrence].apply(how, given, time_major, *tensors)[: len(structure_of(how).results)]
    return operators.run_forward(tensors, how, given, time_major, False)


def run_saving(tensors: list[torch.Tensor], how: str, given: int, time_major: bool) -> Tensors:
    """Outputs, last states and what a backward pass reads."""
    if torch._C._are_functorch_transforms_active():
        found: Any = Recurrence.apply(how, given, time_major, *tensors)
        return found
    return _forward_save(tensors, how, given, time_major)


def gradients(tensors: list[torch.Tensor], how: str, grads: int, given: int, wanted: int, time_major: bool) -> Tensors:
    """What a backward pass gives."""
    if torch._C._are_functorch_transforms_active():
        found: Any = Gradients.apply(how, grads, given, wanted, time_major, *tensors)
        return found
    return _backward(tensors, how, grads, given, wanted, time_major)


# vmap of the operators themselves, from such graphs.


def _forward_vmap(info: Any, in_dims: Any, tensors: Tensors, how: str, given: int, time_major: bool) -> Any:
    def run_many(many: Tensors) -> Any:
        return operators.forward(list(many), how, given, time_major)

    return _listed(vmap.forward(run_many, info.batch_size, in_dims[0], tensors, how, given, saving=False))


def _forward_save_vmap(info: Any, in_dims: Any, tensors: Tensors, how: str, given: int, time_major: bool) -> Any:
    def run_many(many: Tensors) -> Any:
        return operators.forward_save(list(many), how, given, time_major)

    return _listed(vmap.forward(run_many, info.batch_size, in_dims[0], tensors, how, given, saving=True))


def _backward_vmap(
    info: Any, in_dims: Any, tensors: Tensors, how: str, grads: int, given: int, wanted: int, time_major: bool
) -> Any:
    def run_many(many: Tensors) -> Any:
        return operators.backward(list(many), how, grads, given, wanted, time_major)

    return _listed(vmap.backward(run_many, info.batch_size, in_dims[0], tensors, how, grads, given, wanted))


def _listed(found: Any) -> Any:
    return list(found[0]), list(found[1])


for _name, _rule in (("forward", _forward_vmap), ("forward_save", _forward_save_vmap), ("backward", _backward_vmap)):
    torch.library.register_vmap(f"rondo::{_name}", _rule, lib=operators.LIBRARY)
