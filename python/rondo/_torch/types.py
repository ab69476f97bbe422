"""PyTorch's types and devices as librondo has them."""

from __future__ import annotations

import torch

from .. import _structs as s
from .._errors import InputError
from .._plans import CPU, Device
from .._structure import TensorSpec

TYPE_OF = {
    torch.float32: s.TYPE_F32,
    torch.bfloat16: s.TYPE_BF16,
    torch.float16: s.TYPE_F16,
    torch.float64: s.TYPE_F64,
}
_DTYPE_OF = {
    s.TYPE_F32: torch.float32,
    s.TYPE_BF16: torch.bfloat16,
    s.TYPE_F16: torch.float16,
    s.TYPE_I32: torch.int32,
    s.TYPE_U8: torch.uint8,
    s.TYPE_F64: torch.float64,
}
RONDO_TYPE_OF = {dtype: type_ for type_, dtype in _DTYPE_OF.items()}


def dtype_of(type_: int | None, storage: torch.dtype) -> torch.dtype:
    """Of a TensorSpec's type, where inputs are `storage`: what is float32 beside 16-bit inputs is float64 beside float64."""
    if type_ is None:
        return storage
    return torch.float64 if type_ == s.TYPE_F32 and storage is torch.float64 else _DTYPE_OF[type_]


def dtype_of_spec(spec: TensorSpec, storage: torch.dtype) -> torch.dtype:
    return dtype_of(spec.half_type if storage is torch.float16 else spec.type, storage)


def type_of(dtype: torch.dtype, name: str, device: torch.device) -> int:
    """The type of inputs.

    Raises
    ------
    InputError
        Rondo does not compute in it, there.
    """
    found = TYPE_OF.get(dtype)
    if found is None:
        raise InputError(f"{name}: x is {str(dtype)[6:]}", "Rondo computes in float32, bfloat16 and float16: convert it")
    if found == s.TYPE_F64 and device.type == "cuda":
        raise InputError(f"{name}: x is float64 on {device}", "only CPUs compute in it: move it to the CPU, or convert it")
    return found


def device_of(ordinal: int) -> Device:
    """Of what `Tensor.get_device()` says: -1 is the CPU."""
    return CPU if ordinal < 0 else Device(s.DEVICE_CUDA, ordinal)


def check_device(device: torch.device) -> None:
    """Raises for a device on which Rondo computes nothing."""
    if device.type not in ("cpu", "cuda", "meta"):
        raise InputError(f"x is on {device}", "Rondo computes on CPUs and CUDA GPUs")


def wide_type(dtype: torch.dtype) -> torch.dtype:
    """Of what is neither an input nor a matrix, in a cell whose inputs are of this type: float32 at least."""
    return torch.float64 if dtype is torch.float64 else torch.float32


def wide(tensor: torch.Tensor) -> torch.Tensor:
    """A bias as cells take it. A launch that had to convert it itself could not be told to the shim."""
    dtype = wide_type(tensor.dtype)
    return tensor if tensor.dtype is dtype else tensor.to(dtype)
