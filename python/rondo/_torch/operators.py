"""Rondo's operators in PyTorch: `rondo::forward`, `forward_save`, `backward` and `step`, which serve every recurrence.

    forward(Tensor[] tensors, str how, int given, bool time_major) -> Tensor[]
        The outputs and last states. `how` is the text of a description, `tensors` what the structure of it calls `given`, and
        bit i of `given` says whether tensor i is among them. It has autograd: where a gradient is wanted it runs the next two.
    forward_save(...) -> Tensor[]
        The same, and behind them what the backward pass reads.
    backward(Tensor[] tensors, str how, int grads, int given, int wanted, bool time_major) -> Tensor[]
        The gradients of those differentiable tensors whose bit is in `wanted`. `tensors`: gradients of results (`grads` says
        which), then those given to the forward pass, then what that has kept.
    step(Tensor[] tensors, Tensor(a!)[] states, Tensor(b!)[] outputs, str how) -> ()
        Writes the outputs of one step, whose states stay in place.

A graph that `torch.export` writes holds these names and `how`, and so runs wherever `import rondo` was said.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import torch

from .. import _policy
from .. import _structs as s
from .._structure import TensorSpec, of_mask, structure_of
from .._structure import mask_of as mask_of  # others take it from here
from . import sites
from .launch import Call, plan_of, remember, remembered, result_strides
from .types import dtype_of_spec

Tensors = Sequence[torch.Tensor]

LIBRARY = torch.library.Library("rondo", "DEF")
_TAGS = (torch.Tag.pt2_compliant_tag, torch.Tag.needs_exact_strides)
LIBRARY.define("forward(Tensor[] tensors, str how, int given, bool time_major) -> Tensor[]", tags=_TAGS)
LIBRARY.define("forward_save(Tensor[] tensors, str how, int given, bool time_major) -> Tensor[]", tags=_TAGS)
LIBRARY.define("backward(Tensor[] tensors, str how, int grads, int given, int wanted, bool time_major) -> Tensor[]", tags=_TAGS)
LIBRARY.define("step(Tensor[] tensors, Tensor(a!)[] states, Tensor(b!)[] outputs, str how) -> ()", tags=_TAGS)


def family_of(*what: Any) -> tuple[Any, ...]:
    """All that a launch depends on but for its tensors."""
    return (*what, torch._C._get_deterministic_algorithms(), _policy.current_number())


def key_of(family: tuple[Any, ...], like: torch.Tensor, tensors: Tensors) -> tuple[Any, ...]:
    """All that a launch depends on but for addresses and strides. `like` has the type of inputs."""
    return (family, like.dtype, like.get_device(), *[t.shape for t in tensors])


def remembered_call(family: tuple[Any, ...], like: torch.Tensor, tensors: Tensors) -> Call | None:
    return remembered(key_of(family, like, tensors))


# --- forward ---


def _forward(tensors: Tensors, how: str, given: int, time_major: bool, pass_: int) -> list[torch.Tensor]:
    family = family_of(pass_, how, given, time_major)
    found = sites.launched(family, tensors)
    if found is not None:
        return found
    key = key_of(family, tensors[0], tensors)
    call = remembered(key)
    if call is not None:
        sites.tell(family, call, tensors)
    else:
        structure = structure_of(how)
        specs = of_mask(structure.given, given)
        sizes = structure.sizes(specs, [t.shape for t in tensors])
        results = structure.results + (structure.saved if pass_ == s.PASS_FORWARD_SAVE else [])
        storage, device = tensors[0].dtype, tensors[0].device
        if sizes["B"] == 0 or sizes["T"] == 0:
            return _of_nothing(tensors[0], tensors, specs, results, sizes, time_major)
        trains = pass_ == s.PASS_FORWARD_SAVE and any(tensor.requires_grad for tensor in tensors)
        plan = plan_of(structure, pass_, sizes, device, storage, torch.are_deterministic_algorithms_enabled(), trains)
        call = remember(key, Call(plan, specs, results, results, sizes, device, storage, time_major))
    return call(tensors)


# Where what a pass carries through no steps comes from: the name of a state, and this behind it.
_CARRIED = {s.ROLE_LAST_STATE: "_first", s.ROLE_INITIAL_STATE_GRADIENT: "_last"}


def _of_nothing(
    like: torch.Tensor,
    tensors: Tensors,
    specs: Sequence[TensorSpec],
    results: Sequence[TensorSpec],
    sizes: dict[str, int],
    time_major: bool,
) -> list[torch.Tensor]:
    """No rows, or no steps: the last state is the first, the gradient of the first is that of the last, and all else is zero.
    A first state that is not given is what the cell's text says. librondo says the same, by a plan that would be compiled for
    it."""
    given = {spec.name: tensor for spec, tensor in zip(specs, tensors, strict=True)}
    made = _empty(like, results, sizes, time_major)
    for spec, out in zip(results, made, strict=True):
        carried = given.get(spec.short + _CARRIED[spec.role]) if spec.role in _CARRIED else None
        if carried is None:
            out.fill_(spec.first)
        else:
            out.copy_(carried)
    return made


def _empty(like: torch.Tensor, specs: Sequence[TensorSpec], sizes: dict[str, Any], time_major: bool) -> list[torch.Tensor]:
    made = []
    for spec in specs:
        shape = spec.shape(sizes)
        dtype = dtype_of_spec(spec, like.dtype)
        made.append(like.new_empty_strided(shape, result_strides(spec, shape, time_major), dtype=dtype))
    return made


def _forward_fake(tensors: Tensors, how: str, given: int, time_major: bool) -> list[torch.Tensor]:
    structure = structure_of(how)
    sizes = structure.sizes(of_mask(structure.given, given), [t.shape for t in tensors])
    return _empty(tensors[0], structure.results, sizes, time_major)


def _forward_save_fake(tensors: Tensors, how: str, given: int, time_major: bool) -> list[torch.Tensor]:
    structure = structure_of(how)
    sizes = structure.sizes(of_mask(structure.given, given), [t.shape for t in tensors])
    return _empty(tensors[0], structure.results + structure.saved, sizes, time_major)


# --- backward ---


@lru_cache(maxsize=4096)
def split(how: str, grads: int, given: int, wanted: int) -> tuple[list[TensorSpec], tuple[int, ...]]:
    """What the tensors of a backward pass are, and which of them each wanted gradient belongs to."""
    structure = structure_of(how)
    specs = of_mask(structure.grads_in, grads) + of_mask(structure.given, given) + structure.kept
    places, place = {}, grads.bit_count()
    for number in range(len(structure.given)):
        if given >> number & 1:
            places[number] = place
            place += 1
    return specs, tuple(places[number] for number in range(wanted.bit_length()) if wanted >> number & 1)


def _backward(tensors: Tensors, how: str, grads: int, given: int, wanted: int, time_major: bool) -> list[torch.Tensor]:
    family = family_of(s.PASS_BACKWARD, how, grads, given, wanted, time_major)
    specs, places = split(how, grads, given, wanted)
    found = sites.launched(family, tensors)
    if found is not None:
        return _as_given(tensors, places, found)
    like = tensors[grads.bit_count()]  # an input: it has the type of inputs
    key = key_of(family, like, tensors)
    call = remembered(key)
    if call is not None:
        sites.tell(family, call, tensors)
    else:
        structure = structure_of(how)
        sizes = structure.sizes(specs, [t.shape for t in tensors])
        asked = of_mask(structure.grads_out, wanted)
        if sizes["B"] == 0 or sizes["T"] == 0:
            return _as_given(tensors, places, _of_nothing(like, tensors, specs, asked, sizes, time_major))
        exact = torch.are_deterministic_algorithms_enabled()
        plan = plan_of(structure, s.PASS_BACKWARD, sizes, like.device, like.dtype, exact)
        made = Call(plan, specs, asked, structure.grads_out, sizes, like.device, like.dtype, time_major)
        call = remember(key, made)
    return _as_given(tensors, places, call(tensors))


def _as_given(tensors: Tensors, places: Sequence[int], grads: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """Gradients have the types of what they belong to."""
    return [grad if grad.dtype is tensors[place].dtype else grad.to(tensors[place].dtype) for place, grad in zip(places, grads)]


def _backward_fake(tensors: Tensors, how: str, grads: int, given: int, wanted: int, time_major: bool) -> list[torch.Tensor]:
    structure = structure_of(how)
    specs, places = split(how, grads, given, wanted)
    sizes = structure.sizes(specs, [t.shape for t in tensors])
    like = tensors[grads.bit_count()]
    return _as_given(tensors, places, _empty(like, of_mask(structure.grads_out, wanted), sizes, time_major))


# --- one step ---


def _step(tensors: Tensors, states: Tensors, outputs: Tensors, how: str) -> None:
    everything = [*tensors, *states, *outputs]
    family = family_of("step", how)
    if sites.launched(family, everything) is not None:
        return
    key = key_of(family, tensors[0], everything)
    call = remembered(key)
    if call is not None:
        sites.tell(family, call, everything)
    else:
        structure = structure_of(how)
        specs = structure.inputs + structure.params + structure.initials + structure.outputs
        sizes = structure.sizes(specs, [t.shape for t in everything])
        if sizes["B"] == 0:
            return
        storage, device = tensors[0].dtype, tensors[0].device
        exact = torch.are_deterministic_algorithms_enabled()
        plan = plan_of(structure, s.PASS_FORWARD, sizes, device, storage, exact)
        call = remember(key, Call(plan, specs, [], structure.outputs, sizes, device, storage, stepping=True))
    call(everything)


def _step_fake(tensors: Tensors, states: Tensors, outputs: Tensors, how: str) -> None:
    structure = structure_of(how)
    specs = structure.inputs + structure.params + structure.initials + structure.outputs
    structure.sizes(specs, [t.shape for t in (*tensors, *states, *outputs)])


def _register() -> None:
    def forward(tensors: Tensors, how: str, given: int, time_major: bool) -> list[torch.Tensor]:
        return _forward(tensors, how, given, time_major, s.PASS_FORWARD)

    def forward_save(tensors: Tensors, how: str, given: int, time_major: bool) -> list[torch.Tensor]:
        return _forward(tensors, how, given, time_major, s.PASS_FORWARD_SAVE)

    kernels = {
        "forward": (forward, _forward_fake),
        "forward_save": (forward_save, _forward_save_fake),
        "backward": (_backward, _backward_fake),
        "step": (_step, _step_fake),
    }
    for name, (kernel, fake) in kernels.items():
        for device in ("CPU", "CUDA"):
            LIBRARY.impl(name, kernel, device)
        torch.library.register_fake(f"rondo::{name}", fake, lib=LIBRARY)


_register()
forward = torch.ops.rondo.forward.default
forward_save = torch.ops.rondo.forward_save.default
backward = torch.ops.rondo.backward.default
step = torch.ops.rondo.step.default


# --- from Python, without autograd: the shortest way ---

_BelowAutograd = torch._C._AutoDispatchBelowAutograd


def known_forward(tensors: Tensors, how: str, given: int, time_major: bool, saving: bool) -> list[torch.Tensor] | None:
    """What `forward`, or `forward_save`, gives, if the shim knows the call. Nothing may look at it."""
    return sites.launched(family_of(s.PASS_FORWARD_SAVE if saving else s.PASS_FORWARD, how, given, time_major), tensors)


def known_backward(
    tensors: Tensors, how: str, grads: int, given: int, wanted: int, time_major: bool
) -> list[torch.Tensor] | None:
    """The same of `backward`."""
    found = sites.launched(family_of(s.PASS_BACKWARD, how, grads, given, wanted, time_major), tensors)
    return None if found is None else _as_given(tensors, split(how, grads, given, wanted)[1], found)


def known_step(everything: Tensors, how: str) -> list[torch.Tensor] | None:
    """No tensors, if the shim has made the step. `everything`: what goes in, the states, and the outputs."""
    return sites.launched(family_of("step", how), everything)


def run_forward(tensors: Tensors, how: str, given: int, time_major: bool, saving: bool) -> Sequence[torch.Tensor]:
    """`forward`, or `forward_save`."""
    found = known_forward(tensors, how, given, time_major, saving) if sites.may_know(tensors) else None
    if found is not None:
        return found
    with _BelowAutograd():
        return (forward_save if saving else forward)(tensors, how, given, time_major)


def run_backward(tensors: Tensors, how: str, grads: int, given: int, wanted: int, time_major: bool) -> Sequence[torch.Tensor]:
    """`backward`."""
    found = known_backward(tensors, how, grads, given, wanted, time_major) if sites.may_know(tensors) else None
    if found is not None:
        return found
    with _BelowAutograd():
        return backward(tensors, how, grads, given, wanted, time_major)
