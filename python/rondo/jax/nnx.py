"""A recurrent layer of Flax NNX."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp

from .._described import Described
from ._layer import DTYPE, PARAMETERS, Layer, needs

try:
    from flax import nnx  # pyright: ignore[reportMissingImports]
except ModuleNotFoundError as error:
    raise needs("flax", "nnx", error) from None


class Recurrent(nnx.Module):
    __doc__ = f"""A recurrent layer of any cell. Its parameters are `nnx.Param`s: those of the cell by their names, and
    `input_kernel`, `input_bias`, `output_kernel`, `output_bias` and `proj_kernel`.
{PARAMETERS}{DTYPE}    rngs : nnx.Rngs
        Where first parameters are drawn, from its stream `params`.
    """

    def __init__(
        self,
        cell: Described | str | os.PathLike[str],
        input_size: int,
        hidden_size: int,
        *,
        heads: int = 1,
        output_size: int | None = None,
        bias: bool = True,
        batch_first: bool = True,
        reverse: bool = False,
        proj_size: int | None = None,
        dtype: Any = jnp.float32,
        rngs: nnx.Rngs,
    ) -> None:
        name = type(self).__name__
        self.form = Layer(cell, input_size, hidden_size, heads, output_size, bias, batch_first, reverse, proj_size, name)
        first = self.form.init(rngs.params(), dtype)
        self._names = tuple(first)
        for name, value in first.items():
            setattr(self, name, nnx.Param(value))

    def __call__(
        self, input: Any, initial: Mapping[str, Any] | None = None, *, lengths: Any = None, resets: Any = None
    ) -> tuple[Any, dict[str, Any]]:
        """The output `[B, T, features]`, and the last states by name, which may be given as `initial` again."""
        return self.form(
            {name: getattr(self, name)[...] for name in self._names}, input, initial, lengths=lengths, resets=resets
        )
