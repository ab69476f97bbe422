"""The primitive of JAX that is a launch: its shapes, how programs call it, and what `vmap` makes of it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import ShapedArray
from jax.extend.core import Primitive
from jax.interpreters import batching, mlir
from jax.sharding import NamedSharding, PartitionSpec

from .. import _structs as s
from .._errors import UnsupportedError
from .._launch import WORKSPACE_ALIGNMENT
from .._plans import CPU, Device
from .._structure import TensorSpec, axis_of_many, structure_of
from . import _shim
from ._sites import Launch, Pass, current_policy, site_of, tensors_of
from ._types import dtype_of_spec, type_of

launch_p = Primitive("rondo")
launch_p.multiple_results = True


def launch(one: Pass, tensors: Sequence[Any]) -> list[Any]:
    """What the pass gives of these tensors, which are converted to the types that it takes."""
    one = one._replace(policy=current_policy())
    taken, made = tensors_of(one)
    storage = tensors[one.like].dtype
    tensors = [tensor.astype(dtype_of_spec(spec, storage)) for spec, tensor in zip(taken, tensors, strict=True)]
    sizes = structure_of(one.how).sizes(taken, [tensor.shape for tensor in tensors])
    if _is_nothing(sizes):
        return _of_nothing(taken, tensors, made, sizes, storage)
    return launch_p.bind(*tensors, what=one)


def _is_nothing(sizes: dict[str, Any]) -> bool:
    return any(isinstance(sizes[axis], int) and sizes[axis] == 0 for axis in "BT")


# Where what a pass carries through no steps comes from: the name of a state, and this behind it.
_CARRIED = {s.ROLE_LAST_STATE: "_first", s.ROLE_INITIAL_STATE_GRADIENT: "_last"}


def _of_nothing(
    taken: Sequence[TensorSpec], tensors: Sequence[Any], made: Sequence[TensorSpec], sizes: dict[str, Any], storage: Any
) -> list[Any]:
    """No rows, or no steps: the last state is the first, the gradient of the first is that of the last, all else is zero."""
    given = {spec.name: tensor for spec, tensor in zip(taken, tensors, strict=True)}
    found = []
    for spec in made:
        carried = given.get(spec.short + _CARRIED[spec.role]) if spec.role in _CARRIED else None
        shape, dtype = spec.shape(sizes), dtype_of_spec(spec, storage)
        found.append(jnp.full(shape, spec.first, dtype) if carried is None else carried.astype(dtype))
    return found


# --- shapes ---


def varying(aval: Any) -> frozenset[Any]:
    """The axes of a mesh, within shard_map, along which devices have values of their own."""
    axes = getattr(aval, "manual_axis_type", None)  # of newer JAX
    return axes.varying if axes is not None else aval.vma


def _result(avals: Sequence[Any], shape: tuple[int, ...], dtype: Any) -> Any:
    """Devices compute alone: what comes of values of their own is their own."""
    axes = frozenset().union(*map(varying, avals))
    if not axes:
        return ShapedArray(shape, dtype)
    like = next(aval for aval in avals if varying(aval))
    sharding = NamedSharding(like.sharding.mesh, PartitionSpec(*[None] * len(shape)))
    kind = getattr(like, "manual_axis_type", None)
    named: dict[str, Any] = {"vma": axes} if kind is None else {"manual_axis_type": type(kind)(varying=axes)}
    return ShapedArray(shape, dtype, sharding=sharding, **named)


@launch_p.def_abstract_eval
def _shapes(*avals: Any, what: Pass) -> list[Any]:
    taken, made = tensors_of(what)
    sizes = structure_of(what.how).sizes(taken, [aval.shape for aval in avals])
    storage = avals[what.like].dtype
    return [_result(avals, spec.shape(sizes), dtype_of_spec(spec, storage)) for spec in made]


# --- programs ---


@lru_cache(maxsize=4096)
def _compiled(what: Pass) -> Any:
    return jax.jit(lambda *tensors: launch_p.bind(*tensors, what=what))


@launch_p.def_impl
def _run(*tensors: Any, what: Pass) -> Any:
    return _compiled(what)(*tensors)


def _launch_of(what: Pass, avals: Sequence[Any]) -> Launch:
    structure = structure_of(what.how)
    sizes = structure.sizes(tensors_of(what)[0], [aval.shape for aval in avals])
    for axis in "BTHD":
        if not isinstance(sizes[axis], int):
            raise UnsupportedError(
                f"{structure.name}: {axis} is {sizes[axis]}, and a plan is made for numbers",
                "export it at the sizes that are run",
            )
    return Launch(what, type_of(avals[what.like].dtype, structure.name), *(sizes[axis] for axis in "BTHD"))


def _lower(device: Device, ctx: Any, *operands: Any, what: Pass) -> Any:
    """A call of librondo_jax (`python/ffi`), with the workspace of this machine's plan as one more result."""
    known = _launch_of(what, ctx.avals_in)
    size = site_of(known, device).buffer_bytes
    work = ShapedArray((size + WORKSPACE_ALIGNMENT - 1 if size else 0,), np.uint8)
    rule = jax.ffi.ffi_lowering(_shim.TARGET)
    return rule(ctx.replace(avals_out=[*ctx.avals_out, work]), *operands, text=known.text)[:-1]


def _lower_on_cpu(ctx: Any, *operands: Any, what: Pass) -> Any:
    return _lower(CPU, ctx, *operands, what=what)


def _lower_on_cuda(ctx: Any, *operands: Any, what: Pass) -> Any:
    # A program runs on any GPU of its kind: the first one's plan says how much workspace it needs.
    return _lower(Device(s.DEVICE_CUDA, 0), ctx, *operands, what=what)


mlir.register_lowering(launch_p, _lower_on_cpu, platform="cpu")
mlir.register_lowering(launch_p, _lower_on_cuda, platform="cuda")


# --- transformations ---


def _batched(tensors: Sequence[Any], dims: Sequence[Any], *, what: Pass) -> Any:
    """Many data become rows of one batch, many parameters become heads."""
    taken, made = tensors_of(what)
    many = next(tensor.shape[dim] for tensor, dim in zip(tensors, dims, strict=True) if dim is not None)
    mapped = [spec for spec, dim in zip(taken, dims, strict=True) if dim is not None]
    axis = axis_of_many(mapped, made)
    if not axis:  # lengths or resets that are mapped beside mapped parameters fit neither rows nor heads
        return _one_by_one(tensors, dims, many, what)
    behind = 1 if axis == "H" else 0  # the heads there are, of which halves may walk in two directions and stay together
    folded = []
    for tensor, dim, spec in zip(tensors, dims, taken, strict=True):
        if axis not in spec.axes:  # parameters beside rows, lengths and resets beside heads: one for all
            folded.append(tensor)
            continue
        at = spec.axes.index(axis)
        if dim is None:
            tensor = jnp.broadcast_to(jnp.expand_dims(tensor, at + behind), _with(tensor.shape, at + behind, many))
        else:
            tensor = jnp.moveaxis(tensor, dim, at + behind)
        folded.append(tensor.reshape(*tensor.shape[:at], -1, *tensor.shape[at + 2 :]))
    found, places = [], []
    for result, spec in zip(launch_p.bind(*folded, what=what), made, strict=True):
        at = spec.axes.index(axis)
        each = result.shape[at] // many
        found.append(result.reshape(*result.shape[:at], *((each, many) if behind else (many, each)), *result.shape[at + 1 :]))
        places.append(at + behind)
    return found, places


def _with(shape: tuple[int, ...], at: int, extent: int) -> tuple[int, ...]:
    return (*shape[:at], extent, *shape[at:])


def _one_by_one(tensors: Sequence[Any], dims: Sequence[Any], many: int, what: Pass) -> Any:
    found = [
        launch_p.bind(
            *(
                tensor if dim is None else jax.lax.index_in_dim(tensor, number, dim, keepdims=False)
                for tensor, dim in zip(tensors, dims, strict=True)
            ),
            what=what,
        )
        for number in range(many)
    ]
    return [jnp.stack(each) for each in zip(*found, strict=True)], [0] * len(found[0])


batching.primitive_batchers[launch_p] = _batched
