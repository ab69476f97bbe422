"""Rondo: recurrent cells, compiled and tuned, in PyTorch.

    cell = rondo.Cell("lstm")                       # a shipped cell, or a text of your own
    y, last = cell(x, params={"R": R, "b": b})      # with autograd, on CPUs and CUDA GPUs
    layer = rondo.nn.LSTM(256, 512, num_layers=2)   # torch.nn.LSTM's interface and state_dict

`rondo.replace` swaps the layers of a model, `rondo.prepare` makes kernels ahead, `rondo.tune` measures, and `rondo.policy` says
how kernels are chosen. Remarks go to the logger "rondo".
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._errors import (
    CancelledError,
    CellError,
    CompileError,
    DatabaseError,
    DeviceError,
    Diagnostic,
    HostMemoryError,
    InputError,
    InternalError,
    LibraryNotFoundError,
    MissingError,
    NotDifferentiableError,
    PerformanceWarning,
    RondoError,
    UnsupportedError,
    WrongResultError,
)
from ._library import version
from ._plans import PlanInfo, check, plans
from ._policy import Policy, PolicyScope, policy

if TYPE_CHECKING:
    from . import nn
    from ._prepare import prepare
    from ._replace import Left, Replacement, replace
    from ._tune import tune
    from .cell import Cell

# What needs PyTorch, which takes a second to import, comes when it is asked for.
_LATER = {
    "Cell": "cell",
    "Left": "_replace",
    "Replacement": "_replace",
    "prepare": "_prepare",
    "replace": "_replace",
    "tune": "_tune",
}
_MODULES = ("nn",)

__all__ = [
    "CancelledError",
    "Cell",
    "CellError",
    "CompileError",
    "DatabaseError",
    "DeviceError",
    "Diagnostic",
    "HostMemoryError",
    "InputError",
    "InternalError",
    "Left",
    "LibraryNotFoundError",
    "MissingError",
    "NotDifferentiableError",
    "PerformanceWarning",
    "PlanInfo",
    "Policy",
    "PolicyScope",
    "Replacement",
    "RondoError",
    "UnsupportedError",
    "WrongResultError",
    "check",
    "nn",
    "plans",
    "policy",
    "prepare",
    "replace",
    "tune",
    "version",
]


def __getattr__(name: str) -> Any:
    if name in _LATER:
        if name != "Cell":
            importlib.import_module("._torch", __name__)  # says what is missing where PyTorch is
        value = getattr(importlib.import_module(f".{_LATER[name]}", __name__), name)
    elif name in _MODULES:
        value = importlib.import_module(f".{name}", __name__)
    else:
        raise AttributeError(f"module 'rondo' has no attribute '{name}'")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
