"""Arguments of a cell by name, for PyTorch and NumPy alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ._errors import InputError
from ._shapes import allowed
from ._structure import Structure, TensorSpec


def named(
    structure: Structure, argument: str, specs: list[TensorSpec], given: Mapping[str, Any] | None, required: bool
) -> Iterator[tuple[TensorSpec, str, Any]]:
    """Each spec with what messages call it and what is given for it, or None.

    Raises
    ------
    InputError
        A name is not known, or one that is required is not given.
    """
    values = given or {}
    if not isinstance(values, Mapping):
        raise InputError(f"{structure.name}: {argument} is {type(values).__name__}", "give a dict by name")
    if sum(spec.short in values for spec in specs) != len(values):
        unknown = next(name for name in values if all(spec.short != name for spec in specs))
        has = ", ".join(spec.short for spec in specs) or "none"
        raise InputError(f"{structure.name}: {argument} has '{unknown}', which the cell has not", f"it has {has}")
    for spec in specs:
        value = values.get(spec.short)
        if value is None and required:
            raise InputError(f"{structure.name}: {argument} lacks '{spec.short}'", f"it is {allowed(spec)}")
        yield spec, f"{argument}['{spec.short}']", value


def inputs_of(structure: Structure, x: Any) -> Mapping[str, Any]:
    """Inputs by name: x itself is the only one.

    Raises
    ------
    InputError
        The cell has no inputs, or several and x is one.
    """
    if not structure.inputs:
        raise InputError(f"{structure.name}: a cell without inputs has no steps", "declare an input")
    if isinstance(x, Mapping):
        return x
    if len(structure.inputs) != 1:
        has = ", ".join(spec.short for spec in structure.inputs) or "none"
        raise InputError(f"{structure.name}: x is one tensor, and the cell has the inputs {has}", "give a dict by name")
    return {structure.inputs[0].short: x}
