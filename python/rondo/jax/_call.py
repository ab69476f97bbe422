"""A cell's arguments in JAX: checked, brought into librondo's shapes, and results brought back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .. import _structs as s
from .._arguments import inputs_of, named
from .._errors import InputError
from .._shapes import axes_to_add, lacks_heads
from .._structure import Structure, TensorSpec, mask_of
from ._derivative import recurrence
from ._types import dtype_of_spec, type_of


def _array(structure: Structure, argument: str, value: Any) -> Any:
    if not isinstance(value, jax.Array | np.ndarray):
        raise InputError(f"{structure.name}: {argument} is {type(value).__name__}", "give an array of JAX or NumPy")
    return jnp.asarray(value)


def _whole(structure: Structure, argument: str, spec: TensorSpec, array: Any) -> Any:
    return jnp.expand_dims(array, axes_to_add(structure.name, argument, spec, array.ndim, array.shape))


def _widened(array: Any, spec: TensorSpec, storage: Any) -> Any:
    """As a launch takes it, where that has more bits. What a launch rounds to fewer is left as it is, for its gradient is not
    rounded."""
    wanted = dtype_of_spec(spec, storage)
    return array.astype(wanted) if wanted.itemsize > array.dtype.itemsize else array


def _flag(structure: Structure, argument: str, value: Any, dtype: Any) -> Any:
    """Lengths and resets: integers, or truth values."""
    array = jnp.asarray(value)
    if array.dtype != bool and not jnp.issubdtype(array.dtype, jnp.integer):
        wanted = "integers" if dtype == np.int32 else "bool or uint8"
        raise InputError(f"{structure.name}: {argument} is {array.dtype}", f"give {wanted}")
    return (array != 0).astype(dtype) if dtype == np.uint8 else array.astype(dtype)


def _flags(
    plain: Structure, form: tuple[bool, bool], lengths: Any, resets: Any, batch_first: bool, batch: int, steps: int
) -> list[Any]:
    found = []
    if form[0]:
        flag = _flag(plain, "lengths", lengths, np.int32)
        if flag.shape != (batch,):
            raise InputError(f"{plain.name}: lengths has shape {list(flag.shape)}", f"it is [B], and B is {batch}")
        found.append(flag)
    if form[1]:
        flag = _flag(plain, "resets", resets, np.uint8)
        if flag.shape != ((batch, steps) if batch_first else (steps, batch)):
            said = f"[B, T] = [{batch}, {steps}]" if batch_first else f"[T, B] = [{steps}, {batch}]"
            raise InputError(f"{plain.name}: resets has shape {list(flag.shape)}", f"it is {said}")
        found.append(flag if batch_first else flag.T)
    return found


def run(
    plain: Structure,
    how: str,
    x: Any,
    params: Mapping[str, Any] | None,
    initial: Mapping[str, Any] | None,
    lengths: Any,
    resets: Any,
    batch_first: bool,
) -> tuple[Any, dict[str, Any]]:
    """`plain`: the structure without forms, whose tensors `how` has too, before those of forms."""
    given: dict[str, Any] = {}
    headless, storage = False, None
    for spec, argument, value in named(plain, "x", plain.inputs, inputs_of(plain, x), True):
        name = argument if isinstance(x, Mapping) else "x"
        array = _array(plain, name, value)
        if storage is None:
            type_of(array.dtype, plain.name)
            storage, headless = array.dtype, lacks_heads(spec, array.ndim)
        elif array.dtype != storage:
            raise InputError(f"{plain.name}: {name} is {array.dtype}, and x is {storage}")
        given[spec.name] = _whole(plain, name, spec, array if batch_first else jnp.swapaxes(array, 0, 1))
    batch, steps = next(iter(given.values())).shape[:2]
    for kind, specs, values, required in (
        ("params", plain.params, params, True),
        ("initial", plain.initials, initial, False),
    ):
        for spec, name, value in named(plain, kind, specs, values, required):
            if value is None:
                continue
            array = _array(plain, name, value)
            if not jnp.issubdtype(array.dtype, jnp.floating):
                raise InputError(f"{plain.name}: {name} is {array.dtype}", "give floating point")
            given[spec.name] = _whole(plain, name, spec, _widened(array, spec, storage))
    # Before autograd, so that what is wrong is told in the caller's words.
    specs = [spec for spec in plain.given if spec.name in given]
    plain.sizes(specs, [given[spec.name].shape for spec in specs])
    form = (lengths is not None, resets is not None)
    flags = _flags(plain, form, lengths, resets, batch_first, batch, steps)
    mask = mask_of([given.get(spec.name) for spec in plain.given] + flags)
    found = recurrence(how, mask)(*(given[spec.name] for spec in specs), *flags)
    return _results(plain.results, found, headless, batch_first)


def _results(
    specs: Sequence[TensorSpec], found: Sequence[Any], headless: bool, batch_first: bool
) -> tuple[Any, dict[str, Any]]:
    outputs: dict[str, Any] = {}
    last: dict[str, Any] = {}
    for spec, array in zip(specs, found, strict=True):
        rows = spec.rows_axis
        array = jnp.squeeze(array, tuple(axis for axis, gone in ((rows - 1, headless), (rows, spec.has_one_row)) if gone))
        if spec.role != s.ROLE_OUTPUT:
            last[spec.short] = array
        else:
            outputs[spec.short] = array if batch_first else jnp.swapaxes(array, 0, 1)
    return (next(iter(outputs.values())) if len(outputs) == 1 else outputs), last
