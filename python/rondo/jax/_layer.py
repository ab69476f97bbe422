"""`rondo.jax.Layer`: a layer of any cell without a framework. Those of `nnx` and `equinox` hold its parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from .._errors import InputError, LibraryNotFoundError
from .._structure import TensorSpec
from ._cell import cell as cell_of

# What every layer takes, for the documentation of each.
PARAMETERS = """
    Parameters
    ----------
    cell : Recurrence, rondo.Cell, str or path
        The recurrence, as `rondo.jax.cell` takes it.
    input_size : int
        Features of the input.
    hidden_size : int
        Channels of the output, of all heads together.
    heads : int, optional
        Heads, each with its own parameters; `hidden_size` is a multiple of it.
    output_size : int, optional
        Features of the result, by a matrix behind the recurrence; None: `hidden_size`, without one.
    bias : bool, optional
        Whether the projection of the input has one.
    batch_first : bool, optional
        Whether arrays are `[B, T, ...]`; False: `[T, B, ...]`.
    reverse : bool, optional
        Walks from the last step to the first.
    proj_size : int, optional
        Features of each head's output, by a matrix `proj_kernel`, `[heads, D, proj_size]`, that the cell's matrices follow,
        which are then `[heads, rows, D, proj_size]` (Sak et al. 2014). Of cells with matrices and one output. States are the
        cell's own, of D channels. None: without one.
"""
DTYPE = """    dtype : optional
        Of the parameters.
"""


def needs(package: str, name: str, error: ModuleNotFoundError) -> LibraryNotFoundError:
    """What is said where a framework is not there; `error` itself where it is there and not whole."""
    if error.name != package:
        raise error
    return LibraryNotFoundError(f"rondo.jax.{name} needs {package}, which is not installed", f"pip install {package}")


@dataclass(frozen=True)
class Layer:
    __doc__ = f"""A recurrent layer of any cell, as a function of its parameters: a projection of the input, heads, the
    recurrence, and a projection of its output. It holds no arrays, and equal ones are the same program.
{PARAMETERS}
    Raises
    ------
    InputError
        Sizes do not fit each other.
    """

    cell: Any  # a Recurrence, whatever is given
    input_size: int
    hidden_size: int
    heads: int = 1
    output_size: int | None = None
    bias: bool = True
    batch_first: bool = True
    reverse: bool = False
    proj_size: int | None = None
    name: str = "Layer"  # in messages

    def __post_init__(self) -> None:
        object.__setattr__(self, "cell", cell_of(self.cell))
        for argument in ("input_size", "hidden_size", "heads", "output_size", "proj_size"):
            value = getattr(self, argument)
            may_be_none = argument in ("output_size", "proj_size")
            if (value is not None or not may_be_none) and (type(value) is not int or value < 1):
                raise InputError(f"{self.name}: {argument} is {value!r}", "it is a whole number from 1")
        if self.hidden_size % self.heads:
            raise InputError(f"{self.name}: hidden_size={self.hidden_size} is no multiple of heads={self.heads}")
        if self.proj_size is not None and (not any(map(_is_matrix, self.cell._plain.params)) or len(self.cell.outputs) > 1):
            raise InputError(
                f"{self.name}: proj_size={self.proj_size}: cell {self.cell.name} has not what it is for",
                "that is at least one matrix, and one output",
            )

    @property
    def dim(self) -> int:
        return self.hidden_size // self.heads

    @property
    def _features(self) -> int:
        """Of the outputs of a head, side by side."""
        return self.proj_size or self.dim * len(self.cell.outputs)

    def _widths(self) -> list[int]:
        return [_width(spec, self.dim) for spec in self.cell._plain.inputs]

    def init(self, key: Any, dtype: Any = jnp.float32) -> dict[str, Any]:
        """First parameters: those of the cell by their names, `input_kernel`, `input_bias`, `output_kernel`, `output_bias` and
        `proj_kernel`. Matrices are uniform as PyTorch's, vectors of the cell zero, or one if their name begins with "gamma"."""
        keys = iter(jax.random.split(key, 4 + len(self.cell.params) + (self.proj_size is not None)))

        def uniform(shape: tuple[int, ...], inputs: int) -> Any:
            return jax.random.uniform(next(keys), shape, dtype, -(inputs**-0.5), inputs**-0.5)

        rows = self.heads * sum(self._widths())
        made = {"input_kernel": uniform((self.input_size, rows), self.input_size)}
        if self.bias:
            made["input_bias"] = uniform((rows,), self.input_size)
        if self.output_size is not None:
            features = self.heads * self._features
            made["output_kernel"] = uniform((features, self.output_size), features)
            made["output_bias"] = uniform((self.output_size,), features)
        for spec in self.cell._plain.params:
            shape = spec.shape({"H": self.heads, "D": self.dim})
            is_matrix, is_scale = _is_matrix(spec), spec.name.startswith("gamma")
            if is_matrix and self.proj_size is not None:
                shape = (*shape[:-1], self.proj_size)
            made[spec.name] = uniform(shape, self.dim) if is_matrix else jnp.full(shape, float(is_scale), dtype)
        if self.proj_size is not None:
            made["proj_kernel"] = uniform((self.heads, self.dim, self.proj_size), self.dim)
        return made

    def __call__(
        self,
        parameters: Mapping[str, Any],
        input: Any,
        initial: Mapping[str, Any] | None = None,
        *,
        lengths: Any = None,
        resets: Any = None,
    ) -> tuple[Any, dict[str, Any]]:
        """The output `[B, T, features]`, and the last states by name, which may be given as `initial` again."""
        if input.ndim != 3 or input.shape[-1] != self.input_size:
            wanted = ("[B, T, {}]" if self.batch_first else "[T, B, {}]").format(self.input_size)
            raise InputError(f"{self.name}: input has shape {list(input.shape)}", f"it is {wanted}")
        x = input @ parameters["input_kernel"]
        if self.bias:
            x = x + parameters["input_bias"]
        y, last = self.cell(
            self._inputs(x),
            {spec.name: self._of_cell(spec, parameters) for spec in self.cell._plain.params},
            initial,
            lengths=lengths,
            resets=resets,
            reverse=self.reverse,
            batch_first=self.batch_first,
        )
        outputs = list(y.values()) if isinstance(y, dict) else [y]
        if self.proj_size is not None:
            outputs = [jnp.einsum("...hd,hdp->...hp", one, parameters["proj_kernel"]) for one in outputs]
        h = jnp.concatenate([one.reshape(*one.shape[:2], -1) for one in outputs], -1)
        if self.output_size is None:
            return h, last
        return h @ parameters["output_kernel"] + parameters["output_bias"], last

    def _of_cell(self, spec: TensorSpec, parameters: Mapping[str, Any]) -> Any:
        """A parameter as the cell takes it: a matrix that follows a projection is their product."""
        own = parameters[spec.name]
        if self.proj_size is None or not _is_matrix(spec):
            return own
        return jnp.einsum("hrdp,hep->hrde", own, parameters["proj_kernel"])

    def _inputs(self, x: Any) -> dict[str, Any]:
        x = x.reshape(*x.shape[:2], self.heads, -1)
        made, begin = {}, 0
        for spec, width in zip(self.cell._plain.inputs, self._widths(), strict=True):
            part = x[..., begin : begin + width]
            rows = int(spec.axes[spec.rows_axis])
            made[spec.name] = part.reshape(*part.shape[:-1], rows, -1) if spec.axes[-1] == "D" else part
            begin += width
        return made


def _is_matrix(spec: TensorSpec) -> bool:
    return len(spec.axes) == 4


def _width(spec: TensorSpec, dim: int) -> int:
    """Numbers of an input for each step and head."""
    width = 1
    for axis in spec.axes[spec.rows_axis :]:
        width *= dim if axis == "D" else int(axis)
    return width
