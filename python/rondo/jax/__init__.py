"""Rondo in JAX: a cell as a function of JAX's arrays, on CPUs and CUDA GPUs.

    run = rondo.jax.cell("lstm")                        # a rondo.Cell, a shipped name, a text or a path
    y, last = run(x, {"R": R, "b": b}, {"h": h0})       # under jit, grad, vmap, shard_map, export
    layer = rondo.jax.Layer("lstm", 256, 512)           # with a projection; rondo.jax.nnx and .equinox hold its parameters

It needs `librondo_jax.so`, which the wheel has beside librondo.
"""

from __future__ import annotations

from .._errors import LibraryNotFoundError

OLDEST = (0, 6, 2)


def _check() -> None:
    what = "JAX {}.{}.{} or newer".format(*OLDEST)
    hint = "pip install 'jax>={}.{}.{}'".format(*OLDEST)
    try:
        import jax
    except ModuleNotFoundError as error:
        if error.name != "jax":  # it is there, and not whole: its own message is the better one
            raise
        raise LibraryNotFoundError(f"rondo.jax needs {what}, which is not installed", hint) from None
    if jax.__version_info__[:3] < OLDEST:
        raise LibraryNotFoundError(f"rondo.jax needs {what}, and {jax.__version__} is installed", hint)


_check()

from ._cell import Recurrence, cell  # noqa: E402
from ._layer import Layer  # noqa: E402

__all__ = ["Layer", "Recurrence", "cell"]
