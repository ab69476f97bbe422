"""`rondo.prepare`: compiles and verifies ahead what a run will want."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any

import torch

from . import _structs as s
from ._plans import Plan, PlanInfo, PlanRequest, again_plan, best_save, plan_for
from ._progress import Bar
from ._requests import Shape, layers_of, requests_of
from .cell import Cell

MOST_THREADS = 8


def prepare(
    what: torch.nn.Module | Cell,
    shapes: Iterable[Shape],
    *,
    dtype: torch.dtype | None = None,
    device: Any = None,
    training: bool | None = None,
    lengths: bool = False,
    resets: bool = False,
    choose_save: bool = False,
    progress: bool = True,
) -> list[PlanInfo]:
    """Makes the plans that a run will want, side by side, so that its first steps take no longer than others.

    A plan serves all sizes between two powers of two, so one shape of each range is enough.

    Parameters
    ----------
    what : module or Cell
        All layers of Rondo in the module are prepared.
    shapes : list of tuple of int
        `(B, T)` for a module, `(B, T, H, D)` for a cell.
    dtype, device : optional
        Of the inputs; by default those of the parameters. Under autocast that is the type of autocast.
    training : bool, optional
        Whether gradients are wanted; by default `module.training`, and yes for a cell.
    lengths, resets : bool, optional
        Whether lengths are given, as with packed sequences, and resets.
    choose_save : bool, optional
        Lets each layer of a module save what takes less time at the first of the shapes.
    progress : bool, optional
        Shows a bar, if tqdm is installed.

    Returns
    -------
    list of PlanInfo
        What is ready.

    Raises
    ------
    InputError
        There is no layer of Rondo in the module, or a shape is none.

    Examples
    --------
    >>> import torch, rondo
    >>> layer = rondo.nn.GRU(8, 16).eval()
    >>> [plan.pass_ for plan in rondo.prepare(layer, [(4, 32)], progress=False)]
    ['fw']
    """
    options: dict[str, Any] = dict(dtype=dtype, device=device, training=training, lengths=lengths, resets=resets)
    shapes = list(shapes) if isinstance(shapes, Iterable) else shapes
    requests = requests_of(what, shapes, caller="prepare", again=True, **options)
    if choose_save and isinstance(what, torch.nn.Module):
        _choose_save(what, shapes, options)
        requests = requests_of(what, shapes, caller="prepare", again=True, **options)
    if any(request.device.kind == s.DEVICE_CUDA for request in requests):
        torch.cuda.init()
    return _made(requests, progress)


def _made(requests: list[PlanRequest], progress: bool) -> list[PlanInfo]:
    workers = max(1, min(len(requests), os.cpu_count() or 1, MOST_THREADS))
    pool = ThreadPoolExecutor(workers, "rondo-prepare")
    try:
        with Bar(len(requests), "rondo.prepare", progress) as bar:
            makers: dict[int, Callable[[PlanRequest], Plan | None]] = {s.PASS_AGAIN: again_plan}
            futures = [pool.submit(makers.get(request.pass_, plan_for), request) for request in requests]
            for future in as_completed(futures):
                made = future.result()
                bar.say("" if made is None else made.info.cell)
                bar.done()
            return [made.info for future in futures if (made := future.result()) is not None]
    finally:  # what is being compiled ends; what was not begun is dropped
        pool.shutdown(wait=True, cancel_futures=True)


def _choose_save(module: torch.nn.Module, shapes: Any, options: dict[str, Any]) -> None:
    for one in layers_of(module):
        layer: Any = one
        cell = layer.cell
        if not isinstance(cell, Cell) or not cell.may_save_products:
            continue
        wanted = requests_of(layer, shapes[:1], caller="prepare", **{**options, "training": True})
        saving = next(request for request in wanted if request.pass_ == s.PASS_FORWARD_SAVE)
        layer.cell = cell.with_options(save=best_save(saving))
