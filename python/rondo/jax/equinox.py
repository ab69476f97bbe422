"""A recurrent layer of Equinox."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp

from .._described import Described
from ._layer import DTYPE, PARAMETERS, Layer, needs

try:
    import equinox
except ModuleNotFoundError as error:
    raise needs("equinox", "equinox", error) from None


class Recurrent(equinox.Module):
    __doc__ = f"""A recurrent layer of any cell, over batches: it is not to be mapped over rows. `parameters` are by name: those
    of the cell, and `input_kernel`, `input_bias`, `output_kernel`, `output_bias` and `proj_kernel`.
{PARAMETERS}{DTYPE}    key : array
        By which first parameters are drawn.
    """

    parameters: dict[str, Any]
    form: Layer = equinox.field(static=True)

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
        key: Any,
    ) -> None:
        name = type(self).__name__
        self.form = Layer(cell, input_size, hidden_size, heads, output_size, bias, batch_first, reverse, proj_size, name)
        self.parameters = self.form.init(key, dtype)

    def __call__(
        self, input: Any, initial: Mapping[str, Any] | None = None, *, lengths: Any = None, resets: Any = None
    ) -> tuple[Any, dict[str, Any]]:
        """The output `[B, T, features]`, and the last states by name, which may be given as `initial` again."""
        return self.form(self.parameters, input, initial, lengths=lengths, resets=resets)
