"""The structs and numbers of librondo's C interface, as ctypes has them.

Each class is named as in `include/rondo/launch.h` and `rondo.h`, which say what the fields mean. `tests/python/test_structs.py`
compiles a probe over those headers and compares size, offset and name of every field, and the value of every number.
"""

from __future__ import annotations

import ctypes as c
from typing import Any, TypeVar

MOST_AXES = 6
BATCH_EXTENT, TIME_EXTENT = -1, -2  # of rondo_tensor_info.extents

OK = 0
DEVICE_CUDA, DEVICE_CUDA_CURRENT, DEVICE_CPU = 0, 1, 2
TYPE_F32, TYPE_BF16, TYPE_F16, TYPE_I32, TYPE_U8, TYPE_F64 = range(6)
PASS_FORWARD, PASS_FORWARD_SAVE, PASS_BACKWARD, PASS_AGAIN = range(4)
SAVE_STATES, SAVE_PRODUCTS, SAVE_AUTO = range(3)
MATH_DEFAULT, MATH_FAST, MATH_ACCURATE, MATH_TF32 = range(4)
PROOF_NOW, PROOF_REQUIRED, PROOF_LATER = range(3)
CHOOSE_DEFAULT, CHOOSE_RECORDED, CHOOSE_MODEL, CHOOSE_TUNE = range(4)
NEED_REQUIRED, NEED_ZERO, NEED_DISCARD = range(3)
KIND_INPUT, KIND_PARAM, KIND_STATE, KIND_OUTPUT, KIND_RESET, KIND_LENGTH = range(6)
TAIL_SCALAR, TAIL_VECTOR, TAIL_MATRIX = range(3)
(
    ROLE_INPUT,
    ROLE_PARAM,
    ROLE_INITIAL_STATE,
    ROLE_OUTPUT,
    ROLE_HISTORY,
    ROLE_LAST_STATE,
    ROLE_PRODUCTS,
    ROLE_OUTPUT_GRADIENT,
    ROLE_LAST_STATE_GRADIENT,
    ROLE_INPUT_GRADIENT,
    ROLE_PARAM_GRADIENT,
    ROLE_INITIAL_STATE_GRADIENT,
) = range(12)
ROLE_RESETS, ROLE_LENGTHS = 20, 21

_i32, _i64, _text, _pointer, _size, _double = c.c_int32, c.c_int64, c.c_char_p, c.c_void_p, c.c_size_t, c.c_double

Kind = TypeVar("Kind", bound=c.Structure)


def struct(name: str, *fields: tuple[str, Any], sized: bool = True) -> Any:
    first = [("struct_size", _size)] if sized else []
    return type(name, (c.Structure,), {"_fields_": [*first, *fields]})


def _each(kind: Any, names: str) -> list[tuple[str, Any]]:
    return [(name, kind) for name in names.split()]


def sized(kind: type[Kind], **values: Any) -> Kind:
    """A struct with its size in its first field, and zeroes where nothing is given."""
    made: Any = kind(**values)
    made.struct_size = c.sizeof(kind)
    return made


LOG_FUNCTION = c.CFUNCTYPE(None, _pointer, _i32, _text)

rondo_context_options = struct(
    "rondo_context_options",
    *_each(_i32, "device ordinal"),
    *_each(_pointer, "log log_user"),
    *_each(_i32, "threads reserved"),
)
rondo_context_info = struct(
    "rondo_context_info",
    *_each(_i32, "device ordinal"),
    *_each(_text, "name arch"),
    *_each(_i64, "multiprocessors memory_bytes"),
)
rondo_plan_info = struct(
    "rondo_plan_info",
    *_each(_text, "cell cell_hash pass type math strategy parameters origin note producer"),
    *_each(_i64, "batch time heads dim"),
    *_each(_i32, "tensors verified"),
    ("expected_ms", _double),
    ("variant", _text),
    *_each(_i32, "outline reserved"),
)
rondo_tensor_info = struct(
    "rondo_tensor_info",
    *_each(_text, "name shape"),
    *_each(_i32, "role type need written strided alignment rank reserved"),
    ("extents", _i64 * MOST_AXES),
    ("first_value", _double),
)
rondo_tensor = struct(
    "rondo_tensor",
    *_each(_i32, "index type"),
    ("data", _pointer),
    ("bytes", _i64),
    *_each(_i32, "rank reserved"),
    ("extents", _i64 * MOST_AXES),
    ("strides", _i64 * MOST_AXES),
    sized=False,
)
rondo_launch_args = struct(
    "rondo_launch_args",
    ("tensor_size", _size),
    ("tensors", _pointer),
    ("tensor_count", _size),
    ("workspace", _pointer),
    *_each(_i64, "workspace_bytes batch time"),
    ("stream", _pointer),
)
rondo_cell_options = struct(
    "rondo_cell_options",
    ("text", _text),
    ("text_bytes", _size),
    *_each(_text, "path name"),
    *_each(_double, "clip_forward clip_gradient"),
    *_each(_i32, "resets lengths reversed reset_states"),
    ("without", _pointer),
    ("without_count", _size),
    *_each(_i32, "directions tangents"),
)
rondo_diagnostic = struct(
    "rondo_diagnostic", *_each(_i32, "line column length reserved"), *_each(_text, "message help rendered")
)
rondo_cell_info = struct(
    "rondo_cell_info",
    *_each(_text, "name hash dimension structure"),
    *_each(_i32, "tensors constants state_rows all_diagonal affine has_matrix has_reduction saves_products"),
    *_each(_double, "clip_forward clip_gradient"),
    *_each(_i32, "resets lengths reversed reset_states draws directions tangents reserved"),
)
rondo_cell_tensor = struct("rondo_cell_tensor", ("name", _text), *_each(_i32, "kind tail rows line"))
rondo_constant = struct("rondo_constant", ("name", _text), ("value", _double), sized=False)
rondo_database_options = struct("rondo_database_options", ("path", _text), *_each(_i32, "read_only reserved"))
rondo_problem = struct(
    "rondo_problem",
    *_each(_i64, "batch time heads dim"),
    *_each(_i32, "type math pass save"),
    ("constants", _pointer),
    *_each(_size, "constant_count constant_size"),
    ("every", _i64),
)
rondo_progress = struct(
    "rondo_progress",
    *_each(_text, "phase best"),
    *_each(_i64, "tried total"),
    *_each(_double, "best_ms seconds_left"),
)
PROGRESS_FUNCTION = c.CFUNCTYPE(_i32, _pointer, c.POINTER(rondo_progress))
rondo_plan_options = struct(
    "rondo_plan_options",
    *_each(_i32, "choose strict"),
    ("database", _pointer),
    *_each(_i32, "alignment workers"),
    ("budget_s", _double),
    *_each(_pointer, "progress progress_user"),
    *_each(_text, "strategy parameters lock"),
    ("data", _pointer),
    *_each(_size, "data_count data_size"),
    *_each(_i64, "most_workspace most_memory"),
)
rondo_array = struct(
    "rondo_array", ("name", _text), *_each(_pointer, "values shape"), *_each(_i32, "rank reserved"), sized=False
)
rondo_training_info = struct("rondo_training_info", *_each(_i32, "save shared"), ("every", _i64))
rondo_training_sizes = struct(
    "rondo_training_sizes", *_each(_i64, "saved_bytes forward_workspace_bytes backward_workspace_bytes parts")
)

STRUCTS: tuple[Any, ...] = tuple(value for name, value in list(globals().items()) if name.startswith("rondo_"))

# What each call takes. All of them return a status, but for those of TEXTS.
_H = _pointer  # a handle, or the address of a struct or of a place for a handle
CALLS: dict[str, tuple[Any, ...]] = {
    "rondo_context_create": (_H, _H),
    "rondo_context_destroy": (_H,),
    "rondo_context_get_info": (_H, _H),
    "rondo_plan_create": (_H, _H, _H, _H, _H),
    "rondo_plan_destroy": (_H,),
    "rondo_plan_get_info": (_H, _H),
    "rondo_plan_get_tensor": (_H, _i32, _H),
    "rondo_plan_launch_workspace_bytes": (_H, _H, _H),
    "rondo_plan_step_workspace_bytes": (_H, _i64, _H),
    "rondo_plan_check": (_H,),
    "rondo_plan_check_stream": (_H, _pointer, _H),
    "rondo_plan_largest_batch": (_H, _i64, _H),
    "rondo_plan_outline": (_H, _H, _H, _H, _H),
    "rondo_launch": (_H, _H),
    "rondo_step": (_H, _H),
    "rondo_cell_create": (_H, _H, _H),
    "rondo_cell_destroy": (_H,),
    "rondo_cell_get_info": (_H, _H),
    "rondo_cell_get_tensor": (_H, _i32, _H),
    "rondo_cell_get_constant": (_H, _i32, _H),
    "rondo_cell_get_picture": (_H, _i32, _H),
    "rondo_diagnostics_count": (_H, _H),
    "rondo_diagnostics_get": (_H, _i32, _H),
    "rondo_diagnostics_destroy": (_H,),
    "rondo_database_open": (_H, _H),
    "rondo_database_destroy": (_H,),
    "rondo_training_create": (_H, _H, _H, _H, _H),
    "rondo_training_destroy": (_H,),
    "rondo_training_outline": (_H, _H, _H, _H, _H),
    "rondo_training_get_info": (_H, _H),
    "rondo_training_get_plan": (_H, _i32, _H),
    "rondo_training_get_sizes": (_H, _i64, _i64, _H),
}
TEXTS: dict[str, tuple[Any, ...]] = {
    "rondo_version": (),
    "rondo_status_name": (_i32,),
    "rondo_message": (),
    "rondo_hint": (),
}
