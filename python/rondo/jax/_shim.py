"""librondo_jax: what XLA calls to launch Rondo's plans (`python/ffi`), loaded once and registered with JAX.

It is looked for beside librondo. `RONDO_JAX_SHIM` names another file.
"""

from __future__ import annotations

import ctypes as c
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax

from .. import _structs as s
from .._errors import LibraryNotFoundError, RondoError
from .._library import library, library_path

TARGET = "rondo"  # the name of the call in programs
VARIABLE = "RONDO_JAX_SHIM"
INTERNAL = 9  # the status of a defect

rondo_jax_hidden = s.struct(
    "rondo_jax_hidden", ("place", c.c_int32), ("reserved", c.c_int32), ("offset", c.c_int64), sized=False
)
rondo_jax_site = s.struct(
    "rondo_jax_site",
    ("plan", c.c_void_p),
    ("args", c.c_void_p),
    ("places", c.c_void_p),
    ("place_count", c.c_size_t),
    ("hidden", c.c_void_p),
    ("hidden_count", c.c_size_t),
    ("buffer_bytes", c.c_int64),
)
rondo_jax_calls = s.struct(
    "rondo_jax_calls",
    ("launch", c.c_void_p),
    ("message", c.c_void_p),
    ("hint", c.c_void_p),
    ("make", c.c_void_p),
)
STRUCTS: tuple[Any, ...] = (rondo_jax_hidden, rondo_jax_site, rondo_jax_calls)
_MAKE = c.CFUNCTYPE(None, c.c_void_p, c.c_size_t, c.c_int32, c.c_int32, c.c_void_p)

Make = Callable[[str, bool, int], Any]  # the site of a text, on a CUDA GPU or not, with its ordinal


def _status_of(error: Exception) -> int:
    from .._errors import BY_STATUS

    return next((status for status, kind in BY_STATUS.items() if isinstance(error, kind)), INTERNAL)


class Shim:
    """The library. `make` answers when a program runs whose launch is not known yet, as after it was read from a file."""

    def __init__(self, path: Path, make: Make) -> None:
        try:
            self._calls = c.CDLL(str(path))
            self._begin, self._give = self._calls.rondo_jax_begin, self._calls.rondo_jax_give
            self._refuse, self.forget = self._calls.rondo_jax_refuse, self._calls.rondo_jax_forget
            self._launches = self._calls.rondo_jax_launches
        except (OSError, AttributeError) as error:
            raise LibraryNotFoundError(f"{path} cannot be used: {error}", "install the wheel again") from error
        self._begin.argtypes, self._begin.restype = (c.c_void_p,), c.c_int32
        self._give.argtypes, self._give.restype = (c.c_void_p, c.c_void_p), c.c_int32
        self._refuse.argtypes, self._refuse.restype = (c.c_void_p, c.c_int32, c.c_char_p), None
        self.forget.argtypes, self.forget.restype = (), None
        self._launches.argtypes, self._launches.restype = (), c.c_int64
        self.path = path
        self._make = _MAKE(self._answer)
        self._maker = make
        known = library()
        addresses = {name: known.address(f"rondo_{name}") for name in ("launch", "message", "hint")}
        if self._begin(c.byref(s.sized(rondo_jax_calls, make=c.cast(self._make, c.c_void_p), **addresses))) != 1:
            raise LibraryNotFoundError(f"{path} is of another version than the package", "install the wheel again")
        self._register()

    def _register(self) -> None:
        for platform, suffix in (("cpu", "cpu"), ("CUDA", "cuda")):
            stages = {"initialize": f"rondo_jax_prepare_{suffix}", "execute": f"rondo_jax_launch_{suffix}"}
            handlers = {stage: jax.ffi.pycapsule(getattr(self._calls, name)) for stage, name in stages.items()}
            jax.ffi.register_ffi_target(TARGET, handlers, platform=platform)

    # XLA calls it on a thread of its own, where nobody takes an exception: its text becomes the program's error.
    def _answer(self, text: int, size: int, on_cuda: int, ordinal: int, answer: int) -> None:
        try:
            site = self._maker(c.string_at(text, size).decode(), on_cuda == 1, ordinal)  # owns what the struct points at
            if self._give(answer, c.byref(site.struct)) != 1:
                raise RondoError(f"{self.path} is of another version than the package", "install the wheel again")
        except Exception as error:
            self._refuse(answer, _status_of(error), f"{type(error).__name__}: {error}".encode())

    def launches(self) -> int:
        """How many launches there were."""
        return self._launches()


def load(make: Make) -> Shim:
    """The library of this package.

    Raises
    ------
    LibraryNotFoundError
        It is not there, or of another version.
    """
    given = os.environ.get(VARIABLE)
    path = Path(given) if given else library_path().parent / "librondo_jax.so"
    if not path.exists():
        where = f"{VARIABLE} names '{given}', which is not there" if given else f"{path} is not there"
        raise LibraryNotFoundError(
            where, "install the wheel of rondo-rnn; tools/wheel says whether it found the headers of jaxlib for it"
        )
    return Shim(path, make)
