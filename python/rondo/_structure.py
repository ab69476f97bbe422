"""What a recurrence takes and gives: the tensors of its passes, in the order in which operators have them."""

from __future__ import annotations

import ctypes as c
import os
import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from . import _structs as s
from ._description import MATHS, SAVES, Description, read_description
from ._errors import BY_STATUS, CellError, Diagnostic, InputError
from ._library import Library, library

Axis = str | int  # "B", "T", "H", "D", or the number of rows


@dataclass(frozen=True)
class TensorSpec:
    """A tensor of a pass.

    Attributes
    ----------
    name : str
        As librondo has it: "x", "h_first", "h_out", "grad_R".
    axes : tuple
        "B", "T", "H", "D" or a number, such as `("B", "T", "H", 4, "D")`.
    role : int
        ROLE_ of `_structs`.
    type : int or None
        TYPE_ of `_structs`; None: the type of inputs, whatever that is.
    timed : bool
        Its first axes are B and T, and their strides are free.
    half_type : int or None
        `type` beside inputs of float16, where saved states that float16 may not hold are float32.
    first : float
        What each element of an initial state is where it is not given, and of a last state after no steps; 0 of all others.
    """

    name: str
    axes: tuple[Axis, ...]
    role: int
    type: int | None
    timed: bool
    half_type: int | None = None
    first: float = 0.0
    # Of the above, for calls that take tens of microseconds: the name in the cell ("h" of "h_first"), which axis counts rows
    # (the one after H; -1 without H), and whether there is one row.
    short: str = field(init=False, compare=False)
    rows_axis: int = field(init=False, compare=False)
    has_one_row: bool = field(init=False, compare=False)

    def __post_init__(self) -> None:
        short = self.name
        if self.role not in (s.ROLE_PARAM, s.ROLE_INPUT):
            short = re.sub("_(first|last|out)$", "", short)
        object.__setattr__(self, "short", short)
        rows = self.axes.index("H") + 1 if "H" in self.axes else -1
        object.__setattr__(self, "rows_axis", rows)
        object.__setattr__(self, "has_one_row", self.axes[rows] == 1)

    def shape(self, sizes: dict[str, Any]) -> tuple[Any, ...]:
        return tuple(sizes[axis] if isinstance(axis, str) else axis for axis in self.axes)

    def written(self, sizes: dict[str, Any] | None = None) -> str:
        """For people: "[B, T, H, 4, D]", or with the numbers of `sizes`."""
        known = sizes or {}
        return "[" + ", ".join(str(known.get(axis, axis)) if isinstance(axis, str) else str(axis) for axis in self.axes) + "]"


def dense_strides(shape: Sequence[int]) -> tuple[int, ...]:
    strides, stride = [], 1
    for extent in reversed(shape):
        strides.append(stride)
        stride *= extent
    return tuple(reversed(strides))


# A plan's storage type while its tensors are asked for: what has it follows the inputs.
_PROBED_TYPE = s.TYPE_BF16


def spec_of(info: Any, probed: int = _PROBED_TYPE) -> TensorSpec:
    words = info.shape.decode()[1:-1].split(", ")
    axes = tuple(int(word) if word.isdigit() else word for word in words)
    kind = None if info.type == probed else info.type
    return TensorSpec(info.name.decode(), axes, info.role, kind, info.strided == 1, kind, info.first_value)


def tensors_of_plan(lib: Library, plan: c.c_void_p) -> list[Any]:
    info = s.sized(s.rondo_plan_info)
    lib.call("rondo_plan_get_info", plan, c.byref(info))
    tensors = []
    for index in range(info.tensors):
        tensor = s.sized(s.rondo_tensor_info)
        lib.call("rondo_plan_get_tensor", plan, index, c.byref(tensor))
        tensors.append(tensor)
    return tensors


def _diagnostics(lib: Library, handle: c.c_void_p) -> tuple[Diagnostic, ...]:
    count = c.c_int32()
    lib.call("rondo_diagnostics_count", handle, c.byref(count))
    found = []
    for index in range(count.value):
        one = s.sized(s.rondo_diagnostic)
        lib.call("rondo_diagnostics_get", handle, index, c.byref(one))
        found.append(
            Diagnostic(one.line, one.column, one.length, one.message.decode(), one.help.decode(), one.rendered.decode())
        )
    lib.call("rondo_diagnostics_destroy", handle)
    return tuple(found)


def make_cell(description: Description) -> c.c_void_p:
    """librondo's handle of a cell with its forms.

    Raises
    ------
    CellError
        The text has errors; its `diagnostics` are all of them.
    MissingError
        There is no shipped cell or file of that name.
    InputError
        It is to be without something that is no bias of it.
    """
    lib = library()
    options = s.sized(
        s.rondo_cell_options,
        name=description.cell.encode() if description.cell else None,
        clip_forward=description.clip_forward,
        clip_gradient=description.clip_gradient,
        resets=int(description.resets),
        lengths=int(description.lengths),
        reversed=int(description.reverse),
        directions=int(description.directions),
        tangents=int(description.tangents),
    )
    if description.without:
        names = (c.c_char_p * len(description.without))(*(name.encode() for name in description.without))
        options.without, options.without_count = c.cast(names, c.c_void_p), len(names)
    source = description.source.encode()
    if description.is_text:
        options.text, options.text_bytes = source, len(source)
    else:
        options.path = source
    made, wrong = c.c_void_p(), c.c_void_p()
    try:
        lib.call("rondo_cell_create", c.byref(options), c.byref(made), c.byref(wrong))
    except BY_STATUS[1] as error:
        if not wrong.value:
            raise
        text, hint = str(error), error.hint
        raise CellError(text if not hint else text[: -len(hint) - 3], hint, _diagnostics(lib, wrong)) from None
    return made


class Structure:
    """A recurrence's tensors. Made once for each description; it does not change.

    Attributes
    ----------
    inputs, params, initials, flags : list of TensorSpec
        What a forward pass takes; `given` is all of it in this order. Initial states may be left out.
    outputs, lasts, saved : list of TensorSpec
        What a forward pass gives; `saved` of a training pass alone.
    grads_in, kept, grads_out : list of TensorSpec
        Of a backward pass: the gradients that come in, what it reads of the forward pass's results, and the gradients of
        `differentiable`.
    """

    def __init__(self, description: Description) -> None:
        self.description = description
        self.handle = make_cell(description)
        lib = library()
        self.info = s.sized(s.rondo_cell_info)
        lib.call("rondo_cell_get_info", self.handle, c.byref(self.info))
        self.name = self.info.name.decode()
        self._check_constants(lib)
        values = description.constants
        self._names = [name.encode() for name, _ in values]
        self._constants = (s.rondo_constant * max(1, len(values)))(
            *(s.rondo_constant(name, value) for name, (_, value) in zip(self._names, values, strict=True))
        )
        save = SAVES[description.save]
        if save == s.SAVE_PRODUCTS and not self.info.saves_products:
            raise InputError(f"save='products': cell {self.name} has no products to save", "take save='states'")
        passes = {kind: self._specs(lib, kind, save) for kind in (s.PASS_FORWARD_SAVE, s.PASS_BACKWARD)}
        forward, backward = passes[s.PASS_FORWARD_SAVE], passes[s.PASS_BACKWARD]

        def of(*roles: int) -> list[TensorSpec]:
            return [spec for role in roles for spec in forward if spec.role == role]

        self.inputs, self.params, self.initials = of(s.ROLE_INPUT), of(s.ROLE_PARAM), of(s.ROLE_INITIAL_STATE)
        self.flags = of(s.ROLE_LENGTHS, s.ROLE_RESETS)
        self.given = self.inputs + self.params + self.initials + self.flags
        self.outputs, self.lasts = of(s.ROLE_OUTPUT), of(s.ROLE_LAST_STATE)
        self.results = self.outputs + self.lasts
        self.saved = of(s.ROLE_HISTORY, s.ROLE_PRODUCTS)
        named = {spec.name: spec for spec in backward}
        self.differentiable = self.inputs + self.params + self.initials
        self.grads_in = [named[f"grad_{spec.name}"] for spec in self.results]
        self.grads_out = [named[f"grad_{spec.name}"] for spec in self.differentiable]
        made = self.results + self.saved
        self.kept_places = [i for i, spec in enumerate(made) if spec.role != s.ROLE_LAST_STATE and spec.name in named]
        self.kept = [made[i] for i in self.kept_places]

    def _check_constants(self, lib: Library) -> None:
        known = self.constants
        for name, _ in self.description.constants:
            if name not in known:
                has = "has none" if not known else "has " + ", ".join(known)
                raise InputError(f"cell {self.name} has no constant '{name}'", has)

    def picture(self, backward: bool) -> str:
        text = c.c_char_p()
        library().call("rondo_cell_get_picture", self.handle, int(backward), c.byref(text))
        return (text.value or b"").decode()

    @property
    def constants(self) -> dict[str, float]:
        """The cell's constants and their defaults."""
        found = {}
        for index in range(self.info.constants):
            one = s.rondo_constant()
            library().call("rondo_cell_get_constant", self.handle, index, c.byref(one))
            found[one.name.decode()] = one.value
        return found

    def _specs(self, lib: Library, pass_: int, save: int) -> list[TensorSpec]:
        of_half = {spec.name: spec.type for spec in self._specs_for(lib, pass_, save, s.TYPE_F16)}
        return [replace(spec, half_type=of_half[spec.name]) for spec in self._specs_for(lib, pass_, save, _PROBED_TYPE)]

    # A plan of the reference says what a pass has: it costs a fifth of a millisecond, and nothing is compiled.
    def _specs_for(self, lib: Library, pass_: int, save: int, probed: int) -> list[TensorSpec]:
        heads = 2 if self.description.directions else 1
        problem = self.problem({"B": 1, "T": 1, "H": heads, "D": 16}, probed, pass_, save, math=s.MATH_DEFAULT)
        options = s.sized(s.rondo_plan_options, strategy=b"reference")
        context = lib.context(s.DEVICE_CPU, 0)
        plan = lib.handle("rondo_plan_create", context, self.handle, c.byref(problem), c.byref(options))
        specs = [spec_of(info, probed) for info in tensors_of_plan(lib, plan)]
        lib.call("rondo_plan_destroy", plan)
        return specs

    def problem(self, sizes: dict[str, int], type_: int, pass_: int, save: int | None = None, math: int | None = None) -> Any:
        """The struct of librondo. It holds no memory of its own: this structure must outlive it."""
        if math is None:
            math = MATHS[self.description.math]
            if math == s.MATH_TF32 and type_ != s.TYPE_F32:  # of fp32 alone
                math = s.MATH_DEFAULT
        problem = s.sized(s.rondo_problem, batch=sizes["B"], time=sizes["T"], heads=sizes["H"], dim=sizes["D"])
        problem.type, problem.math = type_, math
        setattr(problem, "pass", pass_)
        problem.save = SAVES[self.description.save] if save is None else save
        count = len(self._names)
        if count:
            problem.constants, problem.constant_count = c.addressof(self._constants), count
            problem.constant_size = c.sizeof(s.rondo_constant)
        return problem

    def sizes(self, specs: Sequence[TensorSpec], shapes: Sequence[Any]) -> dict[str, Any]:
        """B, T, H and D of tensors that have these shapes (None: not given).

        Raises
        ------
        InputError
            A shape contradicts the cell or another one, or none says D.
        """
        sizes: dict[str, Any] = {}
        origin: dict[str, str] = {}
        for spec, shape in zip(specs, shapes, strict=True):
            if shape is None:
                continue
            if len(shape) != len(spec.axes):
                raise InputError(f"{self.name}: '{spec.short}' has shape {list(shape)}", f"it is {spec.written(sizes)}")
            for place, (axis, extent) in enumerate(zip(spec.axes, shape, strict=True)):
                wanted = axis if isinstance(axis, int) else sizes.setdefault(axis, extent)
                if wanted != extent:
                    by = f", by '{origin[axis]}'" if axis in origin else ""
                    if isinstance(axis, str):
                        hint = f"{axis} is {wanted}{by}"
                    elif place == spec.rows_axis:
                        hint = f"the cell declares {axis} rows"
                    else:
                        hint = f"the cell's extent is {axis}: give it as a constant, by its name, where it is another"
                    raise InputError(f"{self.name}: '{spec.short}' has shape {list(shape)}, not {spec.written(sizes)}", hint)
                if isinstance(axis, str):
                    origin.setdefault(axis, spec.short)
        if "D" not in sizes:
            raise InputError(f"{self.name}: no tensor that is given says D", "give an initial state")
        return sizes


def of_mask(specs: Sequence[TensorSpec], mask: int) -> list[TensorSpec]:
    """Those whose bit is set."""
    return [spec for number, spec in enumerate(specs) if mask >> number & 1]


def mask_of(tensors: Sequence[Any]) -> int:
    """A bit for each, set where it is there."""
    mask, bit = 0, 1
    for tensor in tensors:
        if tensor is not None:
            mask |= bit
        bit <<= 1
    return mask


def axis_of_many(mapped: Sequence[TensorSpec], results: Sequence[TensorSpec]) -> str:
    """Of a pass that is run for many values of some tensors, as `vmap` does: which axis they all can share. Many data become
    rows of one batch, "B", many parameters become heads, "H"; "" where neither does."""
    # A gradient of a parameter is a sum over rows of the batch, so rows cannot be kept apart there, and heads can.
    if all("B" in spec.axes for spec in (*mapped, *results)):
        return "B"
    return "H" if all("H" in spec.axes for spec in mapped) else ""


_structures: dict[str, Structure] = {}
_lock = threading.RLock()


def structure_of(text: str) -> Structure:
    """The structure of a description's text."""
    found = _structures.get(text)
    if found is None:
        with _lock:
            found = _structures.get(text)
            if found is None:
                found = _structures[text] = Structure(read_description(text))
    return found


def _after_fork() -> None:
    global _lock
    _lock = threading.RLock()


os.register_at_fork(after_in_child=_after_fork)
