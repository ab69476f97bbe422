"""A progress bar, where tqdm is installed."""

from __future__ import annotations

from types import TracebackType
from typing import Any


class Bar:
    """`total` pieces of work. Without tqdm, or with `shown` false, it is silent."""

    def __init__(self, total: int, title: str, shown: bool) -> None:
        self._bar: Any = None
        if shown:
            try:
                from tqdm.auto import tqdm
            except ImportError:
                return
            self._bar = tqdm(total=total, desc=title)

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.close()

    def done(self) -> None:
        if self._bar is not None:
            self._bar.update()

    def say(self, words: str) -> None:
        if self._bar is not None:
            self._bar.set_postfix_str(words)
