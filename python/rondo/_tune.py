"""`rondo.tune`: measures, and keeps what is best in the tuning database."""

from __future__ import annotations

import ctypes as c
import re
from collections.abc import Iterable, Mapping
from typing import Any

import torch

from . import _structs as s
from ._errors import CancelledError, InputError
from ._plans import PASS_NAMES, PlanInfo, PlanRequest, Tuning, tune_plan
from ._progress import Bar
from ._remarks import logger
from ._requests import Shape, requests_of
from ._structure import structure_of
from ._torch.launch import forget_calls
from .cell import Cell


def tune(
    what: torch.nn.Module | Cell,
    shapes: Iterable[Shape],
    *,
    budget: float | str = "60s",
    dtype: torch.dtype | None = None,
    device: Any = None,
    training: bool | None = None,
    lengths: bool = False,
    resets: bool = False,
    data: Mapping[str, torch.Tensor] | None = None,
    workers: int = 0,
    progress: bool = True,
) -> list[PlanInfo]:
    """Searches for the fastest kernels at these shapes. Later calls take them, and so do later processes, by the database.

    Parameters
    ----------
    what : module or Cell
        All layers of Rondo in the module are tuned.
    shapes : list of tuple of int
        `(B, T)` for a module, `(B, T, H, D)` for a cell.
    budget : float or str, optional
        Seconds for all of it, or text such as "90s", "10m", "1h".
    dtype, device, training, lengths, resets : optional
        As in `prepare`.
    data : mapping of str to Tensor, optional
        Numbers of your own in the place of random ones, for cells that random numbers take out of their domain: by the names
        of inputs `[B, T, H, rows..., D]`, parameters `[H, rows..., D]`, and states `[B, H, rows..., D]` (what they begin
        with). B and T may be smaller than those of a shape: rows and steps are repeated.
    workers : int, optional
        Processes that compile; 0: as many as there are cores but one.
    progress : bool, optional
        Shows a bar, if tqdm is installed.

    Returns
    -------
    list of PlanInfo
        The best of each, `expected_ms` as measured.

    Raises
    ------
    InputError
        There is no layer of Rondo in the module, a shape or the budget is none, or the data are not of the cell.
    KeyboardInterrupt
        After it was pressed: what was measured until then is in the database.
    """
    seconds = seconds_of(budget)
    options: dict[str, Any] = dict(dtype=dtype, device=device, training=training, lengths=lengths, resets=resets)
    requests = requests_of(what, shapes, caller="tune", **options)
    if not isinstance(workers, int) or workers < 0:
        raise InputError(f"tune: workers is {workers!r}", "it is a whole number from 0")
    if any(request.device.kind == s.DEVICE_CUDA for request in requests):
        torch.cuda.init()
    arrays = _arrays_of(data or {})
    found = []
    try:
        with Bar(len(requests), "rondo.tune", progress) as bar:
            for request in requests:
                found.append(_tuned(request, Tuning(seconds / len(requests), workers, None, arrays), bar).info)
                bar.done()
    finally:
        forget_calls()
    return found


def seconds_of(budget: float | str) -> float:
    """Seconds of a number, or of a text with a unit."""
    words = re.fullmatch(r"\s*([0-9.]+)\s*(s|m|h|)\s*", budget) if isinstance(budget, str) else None
    try:
        seconds = float(words[1]) * {"s": 1, "": 1, "m": 60, "h": 3600}[words[2]] if words else float(budget)
    except (TypeError, ValueError):
        seconds = 0.0
    if not 0 < seconds < 1e9:
        raise InputError(f"tune: budget is {budget!r}", "give seconds, or a text such as '90s', '10m' or '1h'")
    return seconds


def _arrays_of(data: Mapping[str, torch.Tensor]) -> Any:
    """As C takes them; what they point at lives as long."""
    arrays = (s.rondo_array * len(data))()
    kept = []
    for to, (name, given) in zip(arrays, data.items(), strict=True):
        if not isinstance(given, torch.Tensor):
            raise InputError(f"tune: data[{name!r}] is {type(given).__name__}", "give a tensor")
        tensor = given.detach().to("cpu", torch.float32).contiguous()
        shape = (c.c_int64 * tensor.ndim)(*tensor.shape)
        to.name, to.values, to.shape, to.rank = name.encode(), tensor.data_ptr(), c.addressof(shape), tensor.ndim
        kept += [tensor, shape]
    arrays.kept = kept
    return arrays


def _tuned(request: PlanRequest, tuning: Tuning, bar: Bar) -> Any:
    """An interrupt that comes during the call stops the search; it is raised when the call has ended."""
    stopped: list[BaseException] = []
    title = f"{structure_of(request.how).name} {PASS_NAMES[request.pass_]}"

    def heard(_user: Any, progress: Any) -> int:
        try:
            now = progress.contents
            best = f"{now.best.decode()}, {now.best_ms:.4g} ms" if now.best_ms else "nothing yet"
            bar.say(f"{title}: {now.tried} of {now.total}, {best}")
        except BaseException as error:  # nothing may be thrown through C
            stopped.append(error)
        return len(stopped)

    call = s.PROGRESS_FUNCTION(heard)
    try:
        plan = tune_plan(request, tuning._replace(progress=call))
    except CancelledError:
        if stopped:
            raise stopped[0] from None
        raise
    if stopped:
        raise stopped[0]
    logger.info("%s tuned: %s, %.4g ms", title, plan.info.note, plan.info.expected_ms)
    return plan
