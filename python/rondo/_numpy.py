"""A cell on NumPy's arrays, on the CPU: forward passes, for who has no PyTorch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import _structs as s
from ._arguments import inputs_of, named
from ._errors import InputError
from ._launch import WORKSPACE_ALIGNMENT, Arguments, workspace_bytes
from ._library import library
from ._plans import CPU, PlanRequest, plan_for
from ._shapes import axes_to_add, lacks_heads
from ._structure import Structure, TensorSpec

np: Any
try:
    import numpy as np
except ImportError:
    np = None


def _types() -> dict[Any, int]:
    return {np.dtype(np.float32): s.TYPE_F32, np.dtype(np.float16): s.TYPE_F16, np.dtype(np.float64): s.TYPE_F64}


def _dtype(type_: int, storage: int) -> Any:
    """What is float32 beside 16-bit inputs is float64 beside float64."""
    if type_ == s.TYPE_F32 and storage == s.TYPE_F64:
        type_ = s.TYPE_F64
    return {
        s.TYPE_F32: np.float32,
        s.TYPE_F16: np.float16,
        s.TYPE_I32: np.int32,
        s.TYPE_U8: np.uint8,
        s.TYPE_F64: np.float64,
    }[type_]


def _array(plain: Structure, argument: str, spec: TensorSpec, value: Any) -> Any:
    array = np.asarray(value)
    for place in axes_to_add(plain.name, argument, spec, array.ndim, array.shape):
        array = np.expand_dims(array, place)
    return array


def run(
    structure: Structure,
    plain: Structure,
    x: Any,
    params: Mapping[str, Any] | None,
    initial: Mapping[str, Any] | None,
    lengths: Any,
    resets: Any,
    batch_first: bool,
) -> tuple[Any, dict[str, Any]]:
    """As `Cell.__call__`, whose arguments these are."""
    if np is None or any(not isinstance(value, np.ndarray) for value in inputs_of(plain, x).values()):
        raise InputError(
            f"{plain.name}: x is {type(x).__name__}",
            "give a tensor of PyTorch or an array of NumPy; rondo.jax.cell takes JAX's",
        )
    headless, storage = False, None
    specs: list[TensorSpec] = []
    arrays: list[Any] = []
    for spec, argument, value in named(plain, "x", plain.inputs, inputs_of(plain, x), True):
        storage = storage or value.dtype
        if value.dtype not in _types() or value.dtype != storage:
            raise InputError(f"{plain.name}: {argument} is {value.dtype}", "give float32, float64 or float16, all of one type")
        headless = lacks_heads(spec, value.ndim)
        specs.append(spec)
        arrays.append(_array(plain, argument, spec, value if batch_first else np.swapaxes(value, 0, 1)))
    for argument, some, values, required in (
        ("params", plain.params, params, True),
        ("initial", plain.initials, initial, False),
    ):
        for spec, name, value in named(plain, argument, some, values, required):
            if value is not None:
                specs.append(spec)
                arrays.append(_array(plain, name, spec, value))
    for spec in structure.flags:
        value = lengths if spec.role == s.ROLE_LENGTHS else resets
        swap = spec.role == s.ROLE_RESETS and not batch_first
        specs.append(spec)
        arrays.append(np.swapaxes(np.asarray(value), 0, 1) if swap else np.asarray(value))
    sizes = structure.sizes(specs, [array.shape for array in arrays])
    results = _launched(structure, specs, arrays, sizes, storage)
    return _shaped(plain, results, headless, batch_first)


def _launched(
    structure: Structure, specs: list[TensorSpec], arrays: list[Any], sizes: dict[str, int], storage: Any
) -> dict[str, Any]:
    """Results by the names of their specs."""
    type_ = _types()[storage]
    made = {
        spec.name: np.zeros(spec.shape(sizes), _dtype(type_ if spec.type is None else spec.type, type_))
        for spec in structure.results
    }
    if sizes["B"] == 0 or sizes["T"] == 0:  # the last state is the first
        first = {spec.name: array for spec, array in zip(specs, arrays, strict=True)}
        for spec in structure.lasts:
            made[spec.name][...] = first.get(f"{spec.short}_first", spec.first)
        return made
    request = PlanRequest(structure.description.text, s.PASS_FORWARD, CPU, type_, *(sizes[axis] for axis in "BTHD"))
    plan = plan_for(request)
    bound = [
        np.ascontiguousarray(array, _dtype(plan.tensors[spec.name].type, type_))
        for spec, array in zip(specs, arrays, strict=True)
    ]
    bound = [_aligned(array, plan.tensors[spec.name].alignment) for spec, array in zip(specs, bound, strict=True)]
    names = [spec.name for spec in specs] + list(made)
    made = {name: _aligned(array, plan.tensors[name].alignment) for name, array in made.items()}
    size = workspace_bytes(plan, names, sizes)
    ready = Arguments(plan, names, sizes, size)
    for place, array in zip(ready.places, [*bound, *made.values()], strict=True):
        ready.words[place.data] = array.ctypes.data
    work = np.empty(size + WORKSPACE_ALIGNMENT, np.uint8)
    ready.args.workspace = work.ctypes.data + -work.ctypes.data % WORKSPACE_ALIGNMENT
    status = library().launch(plan.handle, ready.reference)
    if status:
        library().fail(status, structure.name)
    return made


def _aligned(array: Any, alignment: int) -> Any:
    """The array, or a copy at an address that is a multiple of `alignment`."""
    if array.ctypes.data % alignment == 0:
        return array
    memory = np.empty(array.nbytes + alignment, np.uint8)
    at = -memory.ctypes.data % alignment
    made = memory[at : at + array.nbytes].view(array.dtype).reshape(array.shape)
    made[...] = array
    return made


def _shaped(plain: Structure, results: dict[str, Any], headless: bool, batch_first: bool) -> tuple[Any, dict[str, Any]]:
    outputs: dict[str, Any] = {}
    last: dict[str, Any] = {}
    for spec in plain.results:
        array = results[spec.name]
        rows = spec.rows_axis
        axes = tuple(axis for axis, gone in ((rows - 1, headless), (rows, spec.has_one_row)) if gone)
        array = np.squeeze(array, axes)
        if spec.role != s.ROLE_OUTPUT:
            last[spec.short] = array
        else:
            outputs[spec.short] = array if batch_first else np.swapaxes(array, 0, 1)
    return (next(iter(outputs.values())) if len(outputs) == 1 else outputs), last
