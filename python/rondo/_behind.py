"""Plans that are made behind the caller's back: those that are wanted next, and the proofs of those that are used already."""

from __future__ import annotations

import os
import threading
import warnings
from collections import deque
from collections.abc import Callable

from . import _remarks
from ._errors import RondoError, WrongResultError


class _Worker:
    """Does one thing after the other on a thread that lives as long as there is something to do. The process waits at its end
    for what is under way, and drops the rest."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.waiting: deque[Callable[[], None]] = deque()
        self.thread: threading.Thread | None = None

    def add(self, task: Callable[[], None]) -> None:
        with self.lock:
            self.waiting.append(task)
            if self.thread is None:
                self.thread = threading.Thread(target=self._run, name="rondo-proofs")
                self.thread.start()

    def _run(self) -> None:
        while True:
            with self.lock:
                if not self.waiting or not threading.main_thread().is_alive():
                    self.waiting.clear()
                    self.thread = None
                    return
                task = self.waiting.popleft()
            task()

    def wait(self) -> None:
        """Until all that was asked for is done."""
        with self.lock:
            thread = self.thread
        if thread is not None:
            thread.join()


_proofs = _Worker()
_ahead: set[threading.Thread] = set()
_wrong: list[str] = []


def verify(what: str, prove: Callable[[], bool]) -> None:
    """Has `prove` called on another thread. It says whether the plan of `what` is the one that is verified; that it is not is
    warned of, and raised by the next `rondo.check()`."""

    def task() -> None:
        try:
            agrees, why = prove(), "another kernel was found right, and is used from now on"
        except WrongResultError as error:
            agrees, why = False, str(error)
        except RondoError as error:  # nothing is known of it: it could not be compared
            _remarks.logger.warning("%s could not be verified: %s", what, error)
            return
        if not agrees:
            text = f"{what} was used before it was verified, and is wrong: {why}. Results since then are to be computed again"
            _wrong.append(text)
            warnings.warn(text, RuntimeWarning, stacklevel=2)

    _proofs.add(task)


def raise_wrong() -> None:
    """Raises once for what was found wrong.

    Raises
    ------
    WrongResultError
        A kernel that was used before it was verified is wrong.
    """
    found, _wrong[:] = list(_wrong), []
    if found:
        raise WrongResultError("; ".join(found))


def wait() -> None:
    """Until all plans that are wanted next are made, and all that are used are verified, or were found wrong."""
    for thread in list(_ahead):
        thread.join()
    _proofs.wait()


def make(task: Callable[[], object]) -> None:
    """Has a plan made that is wanted soon. What goes wrong is found again, and raised, by the call that wants it."""

    def run() -> None:
        try:
            task()
        except RondoError as error:
            _remarks.logger.info("made ahead in vain: %s", error)
        finally:
            _ahead.discard(threading.current_thread())

    thread = threading.Thread(target=run, name="rondo-ahead")
    _ahead.add(thread)
    try:
        thread.start()
    except RuntimeError:  # no thread is to be had: the call that wants the plan makes it
        _ahead.discard(thread)


def _after_fork() -> None:
    global _proofs, _ahead
    _proofs, _ahead = _Worker(), set()


os.register_at_fork(after_in_child=_after_fork)
