"""JAX's types as librondo has them."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from .. import _structs as s
from .._errors import InputError
from .._structure import TensorSpec

_DTYPE_OF = {
    s.TYPE_F32: np.dtype(np.float32),
    s.TYPE_BF16: np.dtype(jnp.bfloat16),
    s.TYPE_F16: np.dtype(np.float16),
    s.TYPE_I32: np.dtype(np.int32),
    s.TYPE_U8: np.dtype(np.uint8),
    s.TYPE_F64: np.dtype(np.float64),
}
_TYPE_OF = {dtype: type_ for type_, dtype in _DTYPE_OF.items() if type_ not in (s.TYPE_I32, s.TYPE_U8)}


def dtype_of_spec(spec: TensorSpec, storage: Any) -> Any:
    """Of a tensor where inputs are `storage`: what is float32 beside 16-bit inputs is float64 beside float64."""
    type_ = spec.half_type if storage == np.float16 else spec.type
    if type_ is None:
        return storage
    return np.dtype(np.float64) if type_ == s.TYPE_F32 and storage == np.float64 else _DTYPE_OF[type_]


def type_of(dtype: Any, name: str) -> int:
    """The type of inputs.

    Raises
    ------
    InputError
        Rondo does not compute in it.
    """
    found = _TYPE_OF.get(dtype)
    if found is None:
        raise InputError(f"{name}: x is {dtype}", "Rondo computes in float32, bfloat16 and float16: convert it")
    return found
