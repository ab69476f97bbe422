"""librondo_torch: launches from C++ (`python/shim`), where the package has it. Without it they go through ctypes, which gives
the same and takes longer.

It is looked for beside librondo. `RONDO_TORCH_SHIM` names another file, or is "none".
"""

from __future__ import annotations

import ctypes as c
import os
from pathlib import Path
from typing import Any

import torch

from .. import _remarks
from .. import _structs as s
from .._errors import MissingError, RondoError
from .._library import library_path

OLDEST = (2, 10)  # of PyTorch, whose stable interface has what the library is made of
VARIABLE = "RONDO_TORCH_SHIM"

rondo_torch_layout = s.struct(
    "rondo_torch_layout",
    ("type", c.c_int32),
    ("rank", c.c_int32),
    ("sizes", c.c_int64 * s.MOST_AXES),
    ("strides", c.c_int64 * s.MOST_AXES),
    sized=False,
)
rondo_torch_given = s.struct(
    "rondo_torch_given", ("layout", rondo_torch_layout), ("place", c.c_int32), ("alignment", c.c_int32), sized=False
)
rondo_torch_made = s.struct(
    "rondo_torch_made", ("layout", rondo_torch_layout), ("place", c.c_int32), ("is_result", c.c_int32), sized=False
)
rondo_torch_site = s.struct(
    "rondo_torch_site",
    ("family", c.c_int64),
    ("plan", c.c_void_p),
    ("launch", c.c_void_p),
    ("on_cuda", c.c_int32),
    ("ordinal", c.c_int32),
    ("batch", c.c_int64),
    ("time", c.c_int64),
    ("workspace_bytes", c.c_int64),
    ("tensors", c.c_void_p),
    ("given", c.c_void_p),
    ("made", c.c_void_p),
    ("tensor_count", c.c_size_t),
    ("given_count", c.c_size_t),
    ("made_count", c.c_size_t),
)
STRUCTS: tuple[Any, ...] = (rondo_torch_layout, rondo_torch_given, rondo_torch_made, rondo_torch_site)


class Shim:
    """The library, and the operators that it has defined."""

    def __init__(self, path: Path) -> None:
        torch.ops.load_library(str(path))
        # Calls keep Python's lock: a fork, which has it too, never sees a table that is half changed.
        calls = c.PyDLL(str(path))
        self._add, self._forget = calls.rondo_torch_add, calls.rondo_torch_forget
        self._add.argtypes, self._add.restype = (c.c_void_p,), c.c_int32
        self._forget.argtypes, self._forget.restype = (), None
        self._launches = calls.rondo_torch_launches
        self._launches.argtypes, self._launches.restype = (), c.c_int64
        calls.rondo_torch_after_fork.argtypes, calls.rondo_torch_after_fork.restype = (), None
        os.register_at_fork(after_in_child=calls.rondo_torch_after_fork)
        self.path = path
        # Who calls it has seen to derivatives: keys of autograd are passed by, which costs less than to leave them out.
        self._passing = torch.library.Library("rondo", "IMPL")
        self._passing.impl("launch_known", torch.library.fallthrough_kernel, "Autograd")
        # What OpOverload.__call__ calls: the rest of it is for operators that Python traces.
        self.launch_known: Any = torch.ops.rondo.launch_known.default._op
        self.layer_forward: Any = torch.ops.rondo.layer_forward.default._op
        self.layer_backward: Any = torch.ops.rondo.layer_backward.default._op

    def add(self, site: Any) -> bool:
        return self._add(c.byref(site)) == 1

    def forget(self) -> None:
        self._forget()

    def launches(self) -> int:
        """How many launches it has made."""
        return self._launches()


def _version() -> tuple[int, ...]:
    return tuple(int(word) for word in torch.__version__.split("+")[0].split(".")[:2])


def _load() -> Shim | None:
    given = os.environ.get(VARIABLE, "")
    if given == "none":
        return None
    if given:
        try:
            return Shim(Path(given))
        except (OSError, AttributeError) as error:
            raise MissingError(  # no ImportError, which would say that PyTorch is not there
                f"{VARIABLE} names '{given}', which cannot be used: {error}", "name librondo_torch.so, or 'none'"
            ) from error
    try:
        path = library_path().parent / "librondo_torch.so"
    except RondoError:  # of which the first call that needs librondo tells
        return None
    if not path.exists() or _version() < OLDEST:
        return None
    try:
        return Shim(path)
    except (OSError, AttributeError) as error:
        _remarks.logger.info("%s is left alone, and calls take longer: %s", path, error)
        return None


SHIM = _load()
