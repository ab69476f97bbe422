"""librondo, loaded once a process: calls that raise, contexts of devices, databases."""

from __future__ import annotations

import ctypes as c
import os
import threading
from pathlib import Path
from typing import Any

from . import _errors, _nvrtc, _remarks
from ._structs import CALLS, LOG_FUNCTION, TEXTS, rondo_context_options, rondo_database_options, sized


def library_path() -> Path:
    """Where librondo is: `RONDO_LIBRARY`, or `lib` beside this file.

    Raises
    ------
    LibraryNotFoundError
        There is none.
    """
    given = os.environ.get("RONDO_LIBRARY")
    if given:
        path = Path(given)
        if path.is_dir():
            path = path / "librondo.so"
        if not path.exists():
            raise _errors.LibraryNotFoundError(
                f"RONDO_LIBRARY names '{given}', which is not there", "name librondo.so, or unset it"
            )
        return path
    folder = Path(__file__).resolve().parent / "lib"
    found = sorted(folder.glob("librondo.so*"))
    if not found:
        raise _errors.LibraryNotFoundError(
            f"librondo.so is not in {folder}, where a wheel has it",
            "install the wheel of rondo-rnn, or set RONDO_LIBRARY to build/release/librondo.so of a checkout",
        )
    return found[0]


@LOG_FUNCTION
def _log(_user: Any, level: int, message: bytes) -> None:
    _remarks.remark(level, message.decode(errors="replace"))


class Library:
    """The calls of librondo. Each raises the error of its status."""

    def __init__(self, path: Path) -> None:
        _nvrtc.offer_nvrtc()
        try:
            self._calls = c.CDLL(str(path))
            for name, arguments in CALLS.items():
                function = getattr(self._calls, name)
                function.restype, function.argtypes = c.c_int32, arguments
            for name, arguments in TEXTS.items():
                function = getattr(self._calls, name)
                function.restype, function.argtypes = c.c_char_p, arguments
        except (OSError, AttributeError) as error:
            raise _errors.LibraryNotFoundError(f"{path} cannot be used: {error}", "install the wheel again") from error
        self.path = path
        # The two calls that run at every step of a program are taken without a look-up; fail() reads what they say.
        self.launch = self._calls.rondo_launch
        self.step = self._calls.rondo_step
        self._lock = threading.RLock()
        self._contexts: dict[tuple[int, int], c.c_void_p] = {}
        self._databases: dict[str, c.c_void_p] = {}

    @property
    def version(self) -> str:
        return self._calls.rondo_version().decode()

    def call(self, name: str, *arguments: Any) -> None:
        status = getattr(self._calls, name)(*arguments)
        if status:
            self.fail(status)

    def address(self, name: str) -> int | None:
        """Of a function, for libraries that call it themselves."""
        return c.cast(getattr(self._calls, name), c.c_void_p).value

    def handle(self, name: str, *arguments: Any) -> c.c_void_p:
        """The handle that a call makes. Its place is the last argument, and not among those given."""
        made = c.c_void_p()
        self.call(name, *arguments, c.byref(made))
        return made

    def fail(self, status: int, where: str = "") -> None:
        """Raises what the last call of this thread said."""
        message = self._calls.rondo_message().decode(errors="replace")
        hint = self._calls.rondo_hint().decode(errors="replace")
        kind = _errors.BY_STATUS.get(status, _errors.RondoError)
        raise kind(f"{where}: {message}" if where else message, hint)

    def context(self, device: int, ordinal: int) -> c.c_void_p:
        key = device, ordinal
        with self._lock:
            if key not in self._contexts:
                options = sized(rondo_context_options, device=device, ordinal=ordinal, log=c.cast(_log, c.c_void_p))
                self._contexts[key] = self.handle("rondo_context_create", c.byref(options))
            return self._contexts[key]

    def database(self, path: str | None) -> c.c_void_p | None:
        """None: none. "": the user's own."""
        if path is None:
            return None
        with self._lock:
            if path not in self._databases:
                options = sized(rondo_database_options, path=os.fsencode(path) if path else None)
                self._databases[path] = self.handle("rondo_database_open", c.byref(options))
            return self._databases[path]

    def after_fork(self) -> None:
        """In a child: another thread of the parent may have held the lock, and SQLite's connections are the parent's."""
        self._lock = threading.RLock()
        self._databases = {}


_loaded: Library | None = None
_loading = threading.RLock()


def library() -> Library:
    """The library, loaded at the first call."""
    global _loaded
    if _loaded is None:
        with _loading:
            if _loaded is None:
                _loaded = Library(library_path())
    return _loaded


def _after_fork() -> None:
    global _loading
    _loading = threading.RLock()
    if _loaded is not None:
        _loaded.after_fork()


os.register_at_fork(after_in_child=_after_fork)


def version() -> str:
    """The version of librondo that is loaded, such as "0.1.0"."""
    return library().version
