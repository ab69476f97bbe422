"""PyTorch's types and devices as librondo has them."""

from __future__ import annotations

import torch

from .. import _structs as s
from .._errors import InputError, UnsupportedError
from .._plans import CPU, Device

TYPE_OF = {torch.float32: s.TYPE_F32, torch.bfloat16: s.TYPE_BF16, torch.float16: s.TYPE_F16}
DTYPE_OF = {
    s.TYPE_F32: torch.float32,
    s.TYPE_BF16: torch.bfloat16,
    s.TYPE_F16: torch.float16,
    s.TYPE_I32: torch.int32,
    s.TYPE_U8: torch.uint8,
}


def type_of(dtype: torch.dtype, name: str) -> int:
    """The type of inputs.

    Raises
    ------
    UnsupportedError
        Rondo does not compute in it.
    """
    found = TYPE_OF.get(dtype)
    if found is None:
        known = "float32, bfloat16 and float16"
        raise UnsupportedError(f"{name}: x is {str(dtype)[6:]}", f"Rondo computes in {known}: convert it")
    return found


def device_of(ordinal: int) -> Device:
    """Of what `Tensor.get_device()` says: -1 is the CPU."""
    return CPU if ordinal < 0 else Device(s.DEVICE_CUDA, ordinal)


def check_device(device: torch.device) -> None:
    """Raises for a device on which Rondo computes nothing."""
    if device.type not in ("cpu", "cuda", "meta"):
        raise InputError(f"x is on {device}", "Rondo computes on CPUs and CUDA GPUs")
