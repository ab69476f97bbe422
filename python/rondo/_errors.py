"""What goes wrong, one class for each status of librondo. All of them are a `RondoError`.

Where Python has a class of its own for the same thing, the error is that too: `InputError` is a `ValueError`,
`UnsupportedError` a `NotImplementedError`.
"""

from __future__ import annotations

from dataclasses import dataclass


class RondoError(RuntimeError):
    """An error of Rondo.

    Attributes
    ----------
    hint : str
        What to do about it; empty where there is nothing to say.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(f"{message} ({hint})" if hint else message)
        self.hint = hint


class InputError(RondoError, ValueError):
    """An argument is wrong."""


class UnsupportedError(RondoError, NotImplementedError):
    """Valid, but this version, GPU or driver cannot do it."""


class MissingError(RondoError):
    """A library, device, file or record that is needed is not there."""


class LibraryNotFoundError(MissingError, ImportError):
    """librondo itself is not there or cannot be loaded, or PyTorch is not there or too old where it is needed."""


class DatabaseError(RondoError):
    """The tuning database cannot be read or written."""


class DeviceError(RondoError):
    """The GPU or its driver reported a failure."""


class CompileError(RondoError):
    """The compiler rejected generated code."""


class WrongResultError(RondoError):
    """A computed result differs from the reference."""


class CancelledError(RondoError):
    """Stopped by a callback or by a time limit."""


class InternalError(RondoError):
    """A defect of Rondo."""


class HostMemoryError(RondoError, MemoryError):
    """The host's memory is short."""


class NotDifferentiableError(UnsupportedError):
    """A derivative that Rondo has not: a third one, one of a step, or of a gradient that is bounded."""


@dataclass(frozen=True)
class Diagnostic:
    """An error in a cell's text.

    Attributes
    ----------
    line, column, length : int
        Where it stands, from 1; columns count characters.
    message, help : str
        What is wrong, and what to do; `help` may be empty.
    rendered : str
        All of it for people, with the line and a caret.
    """

    line: int
    column: int
    length: int
    message: str
    help: str
    rendered: str


class CellError(InputError):
    """A cell's text has errors.

    Attributes
    ----------
    diagnostics : tuple of Diagnostic
        Every error of the text, in its order.
    """

    def __init__(self, message: str, hint: str = "", diagnostics: tuple[Diagnostic, ...] = ()) -> None:
        super().__init__(message, hint)
        self.diagnostics = diagnostics


class PerformanceWarning(UserWarning):
    """Something runs, and takes much longer than it has to."""


BY_STATUS: dict[int, type[RondoError]] = {
    1: InputError,
    2: UnsupportedError,
    3: MissingError,
    4: DatabaseError,
    5: DeviceError,
    6: CompileError,
    7: WrongResultError,
    8: CancelledError,
    9: InternalError,
    10: HostMemoryError,
}
