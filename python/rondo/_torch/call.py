"""A cell's arguments in PyTorch: checked, brought into librondo's shapes, and results brought back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from .. import _structs as s
from .._arguments import inputs_of, named
from .._errors import InputError
from .._shapes import axes_to_add, lacks_heads
from .._structure import Structure, TensorSpec
from . import as_given, autograd, operators, sites
from . import direct as direct  # operators are called so
from .types import check_device, dtype_of_spec, type_of


def _tensor(structure: Structure, argument: str, value: Any, device: torch.device | None) -> torch.Tensor:
    if not isinstance(value, torch.Tensor):
        raise InputError(f"{structure.name}: {argument} is {type(value).__name__}", "give a tensor")
    if not torch.compiler.is_compiling() and hasattr(value, "placements"):
        raise InputError(
            f"{structure.name}: {argument} is sharded over ranks",
            "call the layer that fully_shard has wrapped, or give what to_local() has",
        )
    if device is not None and value.device != device:
        raise InputError(f"{structure.name}: {argument} is on {value.device}, and x is on {device}", "move one of them")
    return value


def _widened(tensor: torch.Tensor, spec: TensorSpec, storage: torch.dtype) -> torch.Tensor:
    """As a launch takes it, where that has more bits: one that had to convert it itself could not be told to the shim. What a
    launch rounds to fewer is left as it is, for its gradient is not rounded."""
    wanted = dtype_of_spec(spec, storage)
    return tensor.to(wanted) if wanted.itemsize > tensor.dtype.itemsize else tensor


def _whole(structure: Structure, argument: str, spec: TensorSpec, tensor: torch.Tensor) -> torch.Tensor:
    for place in axes_to_add(structure.name, argument, spec, tensor.dim(), tensor.shape):
        tensor = tensor.unsqueeze(place)
    return tensor


def _flag(structure: Structure, argument: str, value: Any, device: torch.device, dtype: torch.dtype) -> torch.Tensor:
    """Lengths and resets: integers, or truth values."""
    tensor = torch.as_tensor(value, device=device)
    if tensor.is_floating_point() or tensor.is_complex():
        wanted = "integers" if dtype is torch.int32 else "bool or uint8"
        raise InputError(f"{structure.name}: {argument} is {str(tensor.dtype)[6:]}", f"give {wanted}")
    return tensor.to(torch.bool).to(dtype) if dtype is torch.uint8 and tensor.dtype is not dtype else tensor.to(dtype)


class Arguments:
    """What a caller gives, as operators take it."""

    def __init__(self, structure: Structure, x: Any, timed: bool, batch_first: bool) -> None:
        self.structure = structure
        self.tensors: list[torch.Tensor] = []
        self.specs: list[TensorSpec] = []
        self.headless, self.device = False, None
        self.storage = torch.float32
        for spec, argument, value in named(structure, "x", structure.inputs, inputs_of(structure, x), True):
            name = argument if isinstance(x, Mapping) else "x"
            tensor = _tensor(structure, name, value, self.device)
            rank = tensor.dim() + (0 if timed else 1)
            if self.device is None:
                check_device(tensor.device)
                type_of(tensor.dtype, structure.name, tensor.device)
                self.device, self.storage = tensor.device, tensor.dtype
                self.headless = lacks_heads(spec, rank)
            elif tensor.dtype is not self.storage:
                raise InputError(f"{structure.name}: {name} is {str(tensor.dtype)[6:]}, and x is {str(self.storage)[6:]}")
            if not timed:
                tensor = tensor.unsqueeze(1)
            elif not batch_first:
                tensor = tensor.transpose(0, 1)
            self.add(spec, _whole(structure, name, spec, tensor))

    def add(self, spec: TensorSpec, tensor: torch.Tensor) -> None:
        self.specs.append(spec)
        self.tensors.append(tensor)

    def add_named(self, argument: str, specs: list[TensorSpec], given: Any, required: bool) -> None:
        for spec, name, value in named(self.structure, argument, specs, given, required):
            if value is not None:
                tensor = _tensor(self.structure, name, value, self.device)
                if not tensor.is_floating_point():
                    raise InputError(f"{self.structure.name}: {name} is {str(tensor.dtype)[6:]}", "give floating point")
                self.add(spec, _whole(self.structure, name, spec, _widened(tensor, spec, self.storage)))

    def flags(self, lengths: Any, resets: Any, batch_first: bool) -> list[torch.Tensor]:
        """Lengths and resets, those that are there, as operators take them."""
        name, x, made = self.structure.name, self.tensors[0], []
        batch, steps = x.shape[0], x.shape[1]
        if lengths is not None:
            flag = _flag(self.structure, "lengths", lengths, x.device, torch.int32)
            if flag.dim() != 1 or flag.shape[0] != batch:
                raise InputError(f"{name}: lengths has shape {list(flag.shape)}", f"it is [B], and B is {batch}")
            made.append(flag)
        if resets is not None:
            flag = _flag(self.structure, "resets", resets, x.device, torch.uint8)
            flag = flag if batch_first or flag.dim() != 2 else flag.transpose(0, 1)
            if flag.dim() != 2 or flag.shape[0] != batch or flag.shape[1] != steps:
                shape = list(flag.shape if batch_first else flag.shape[::-1])
                said = f"[B, T] = [{batch}, {steps}]" if batch_first else f"[T, B] = [{steps}, {batch}]"
                raise InputError(f"{name}: resets has shape {shape}", f"it is {said}")
            made.append(flag)
        return made

    @property
    def given(self) -> int:
        """Which tensors of `structure.given` are there; flags are behind them and are not counted here."""
        names = {spec.name for spec in self.specs}
        return operators.mask_of([spec if spec.name in names else None for spec in self.structure.given])


def run(
    plain: Structure,
    how: str,
    has_lengths: bool,
    has_resets: bool,
    x: Any,
    params: Mapping[str, Any] | None,
    initial: Mapping[str, Any] | None,
    lengths: Any,
    resets: Any,
    batch_first: bool,
) -> tuple[Any, dict[str, Any]]:
    """`plain`: the structure without forms, whose tensors `how` has too, before those of forms."""
    short = None
    if not torch.compiler.is_compiling():
        flags = [one for one in ((lengths, torch.int32), (resets, torch.uint8)) if one[0] is not None]
        short = as_given.short_of(plain, how, x, params, initial, flags, batch_first)
        known = None if short is None else sites.launched(*short)
        if known is not None:
            return as_given.results_of(plain, known)
    arguments = Arguments(plain, x, True, batch_first)
    arguments.add_named("params", plain.params, params, True)
    arguments.add_named("initial", plain.initials, initial, False)
    mask, tensors = arguments.given, arguments.tensors
    flags = arguments.flags(lengths if has_lengths else None, resets if has_resets else None, batch_first)
    for place, flag in enumerate(flags, len(plain.given)):
        tensors.append(flag)
        mask |= 1 << place
    found = autograd.run(tensors, how, mask, not batch_first)
    results = results_of(plain, plain.results, found, arguments.headless, batch_first)
    if short is not None:
        as_given.tell(short, plain, (s.PASS_FORWARD, how, mask, not batch_first), tensors, found, results)
    return results


def results_of(
    structure: Structure, specs: Sequence[TensorSpec], found: Sequence[torch.Tensor], headless: bool, batch_first: bool
) -> tuple[Any, dict[str, Any]]:
    outputs: dict[str, Any] = {}
    last: dict[str, Any] = {}
    for spec, tensor in zip(specs, found):
        rows = spec.rows_axis
        if headless:
            tensor = tensor.squeeze((rows - 1, rows) if spec.has_one_row else rows - 1)
        elif spec.has_one_row:
            tensor = tensor.squeeze(rows)
        if spec.role != s.ROLE_OUTPUT:
            last[spec.short] = tensor
        else:
            outputs[spec.short] = tensor if batch_first else tensor.transpose(0, 1)
    return (next(iter(outputs.values())) if len(outputs) == 1 else outputs), last


def run_step(
    structure: Structure, how: str, x: Any, state: dict[str, Any] | None, params: Mapping[str, Any] | None
) -> tuple[Any, dict[str, Any]]:
    short = None
    if state is not None and not torch.compiler.is_compiling():
        short = as_given.step_of(structure, how, x, state, params)
        known = None if short is None else as_given.stepped(short)
        if known is not None:
            return as_given.results_of(structure, known)[0], state
    arguments = Arguments(structure, x, False, True)
    arguments.add_named("params", structure.params, params, True)
    if state is None:
        sizes = structure.sizes(arguments.specs, [tensor.shape for tensor in arguments.tensors])
        state = _first_states(structure, sizes, arguments)
    states = []
    for spec, name, value in named(structure, "state", structure.initials, state, True):
        tensor = _tensor(structure, name, value, arguments.device)
        wanted = dtype_of_spec(spec, arguments.storage)
        if tensor.dtype is not wanted or not tensor.is_contiguous():
            raise InputError(f"{structure.name}: {name} is {str(tensor.dtype)[6:]}", f"it is to be {str(wanted)[6:]} and dense")
        states.append(_whole(structure, name, spec, tensor))
    sizes = structure.sizes(arguments.specs + structure.initials, [t.shape for t in (*arguments.tensors, *states)])
    if not torch.compiler.is_compiling() and autograd.wants_gradient([*arguments.tensors, *states]):
        raise autograd.no_step_gradient()
    x = arguments.tensors[0]
    found = [x.new_empty(spec.shape(sizes)) for spec in structure.outputs]
    operators.step(arguments.tensors, states, found, how)
    outputs: dict[str, Any] = {}
    for spec, tensor in zip(structure.outputs, found):
        tensor = tensor.squeeze(1)  # T
        rows = spec.rows_axis - 1
        tensor = tensor.squeeze(rows) if spec.has_one_row else tensor
        outputs[spec.short] = tensor.squeeze(rows - 1) if arguments.headless else tensor
    if short is not None:
        as_given.tell_step(short, how, [*arguments.tensors, *states], found, list(outputs.values()))
    return (next(iter(outputs.values())) if len(outputs) == 1 else outputs), state


def _first_states(structure: Structure, sizes: dict[str, Any], arguments: Arguments) -> dict[str, Any]:
    """What the cell's text says that states begin with."""
    made = {}
    for spec in structure.initials:
        shape = [extent for place, extent in enumerate(spec.shape(sizes)) if not _left_out(spec, place, arguments.headless)]
        made[spec.short] = torch.full(shape, spec.first, dtype=dtype_of_spec(spec, arguments.storage), device=arguments.device)
    return made


def _left_out(spec: TensorSpec, place: int, headless: bool) -> bool:
    return (place == spec.rows_axis and spec.has_one_row) or (place == spec.rows_axis - 1 and headless)
