"""How plans are chosen: from which database or lock file, by what, and how much is verified. One policy for the process."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass, replace
from typing import Any, Literal

from . import _structs as s
from ._errors import InputError

Choose = Literal["default", "recorded", "model"]
Verify = Literal["strict", "background", "trust"]
CHOICES = {"default": s.CHOOSE_DEFAULT, "recorded": s.CHOOSE_RECORDED, "model": s.CHOOSE_MODEL}
VERIFIES = ("strict", "background", "trust")


@dataclass(frozen=True)
class Policy:
    """How plans are chosen.

    Attributes
    ----------
    choose : str
        "default": what is recorded or shipped, else the model's choice; "recorded": only what is recorded; "model": the
        model's choice.
    database : str or None
        Path of the tuning database; "": the user's own, that of the command `rondo`; None: none.
    lock : str or None
        A file of `rondo db lock`, which pins every choice.
    verify : str
        "strict": what is not known to be right on this machine is verified before it is used; "background": while it is
        used; "trust": it is not.
    """

    choose: Choose = "default"
    database: str | None = ""
    lock: str | None = None
    verify: Verify = "strict"

    def __post_init__(self) -> None:
        if self.choose not in CHOICES:
            hint = "rondo.tune() measures" if self.choose == "tune" else "it is one of " + ", ".join(CHOICES)
            raise InputError(f"choose={self.choose!r} is not known", hint)
        if self.verify not in VERIFIES:
            raise InputError(f"verify={self.verify!r} is not known", "it is one of " + ", ".join(VERIFIES))
        if self.lock is not None and self.choose == "model":
            raise InputError("choose='model' and lock: the file pins the choice", "leave one of the two out")


_lock = threading.RLock()
_numbers: dict[Policy, int] = {}
_current = Policy()
_current_number = 0
_numbers[_current] = 0


def current() -> Policy:
    return _current


def current_number() -> int:
    """A number that stands for the current policy: equal ones have equal numbers."""
    return _current_number


def _set(policy: Policy) -> None:
    global _current, _current_number
    with _lock:
        _current_number = _numbers.setdefault(policy, len(_numbers))
        _current = policy


class PolicyScope:
    """What `policy()` gives: the policy that holds now. As a context manager it puts the former one back."""

    def __init__(self, policy: Policy, former: Policy) -> None:
        self.policy, self._former = policy, former

    def __enter__(self) -> Policy:
        return self.policy

    def __exit__(self, *_: Any) -> None:
        _set(self._former)

    def __repr__(self) -> str:
        return repr(self.policy)


def policy(
    *,
    choose: Choose | None = None,
    database: str | os.PathLike[str] | Literal[False] | None = None,
    lock: str | os.PathLike[str] | Literal[False] | None = None,
    verify: Verify | None = None,
) -> PolicyScope:
    """Sets how plans are chosen from now on, in all threads. What is not given stays as it is.

    Parameters
    ----------
    choose : {"default", "recorded", "model"}, optional
        "default" takes what is recorded in the database or shipped with Rondo, else the model's choice. "recorded" raises
        `MissingError` where nothing is recorded. "model" takes the model's choice.
    database : path or False, optional
        The tuning database, which also keeps compiled kernels: without one each process compiles anew. "" is the user's own,
        the default; False is none.
    lock : path or False, optional
        A file of `rondo db lock`, so that a fleet of machines runs the same kernels.
    verify : {"strict", "background", "trust"}, optional
        What is done with a kernel that comes from a record, and was not verified on this machine before. "strict" verifies it
        before its first use. "background" uses it at once and verifies it meanwhile; one that is wrong is replaced, with a
        `RuntimeWarning`, and makes the next `rondo.check()` raise. "trust" uses it unverified. Kernels that others compiled are
        always verified first.

    Returns
    -------
    PolicyScope
        With `with` the policy holds for a block only.

    Raises
    ------
    InputError
        A value is not known, or two contradict each other.

    Examples
    --------
    >>> import rondo
    >>> with rondo.policy(choose="model", database=False):
    ...     print(rondo.Cell("mingru").name)
    mingru
    """
    changes: dict[str, Any] = {}
    if choose is not None:
        changes["choose"] = choose
    if verify is not None:
        changes["verify"] = verify
    for name, path in (("database", database), ("lock", lock)):
        if isinstance(path, bool):
            if path:
                raise InputError(f"{name}=True names no file", "give a path, or False for none")
            changes[name] = None
        elif path is not None:
            changes[name] = os.fspath(path)
    former = _current
    made = replace(former, **changes)
    _set(made)
    return PolicyScope(made, former)


def _after_fork() -> None:
    global _lock
    _lock = threading.RLock()


os.register_at_fork(after_in_child=_after_fork)
