"""What librondo remarks, through `logging`, and what costs much time, through `warnings`."""

from __future__ import annotations

import logging
import warnings

from ._errors import PerformanceWarning

logger = logging.getLogger("rondo")
logger.addHandler(logging.NullHandler())


def remark(level: int, message: str) -> None:
    """A remark of a context, on the thread of the call that makes it. All levels that there are today are notes."""
    del level
    logger.info("%s", message)


_said: set[str] = set()


def warn_once(key: str, message: str) -> None:
    """Warns of what costs time, once a process for each `key`."""
    if key not in _said:
        _said.add(key)
        warnings.warn(message, PerformanceWarning, stacklevel=2)
