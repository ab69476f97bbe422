"""Launches of plans on PyTorch's tensors."""

from __future__ import annotations

import ctypes as c
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

from .. import _structs as s
from .._errors import RondoError
from .._launch import WORKSPACE_ALIGNMENT, Arguments, workspace_bytes
from .._library import library
from .._plans import Plan, PlanRequest, again_plan, make_ahead, on_forget, plan_for
from .._structure import Structure, TensorSpec, dense_strides
from . import sites
from .types import RONDO_TYPE_OF, device_of, dtype_of, dtype_of_spec, type_of

# Layouts of the same sizes that the shim is told of: strides hardly change from call to call.
MOST_TOLD = 16


class Taken(NamedTuple):
    """How a launch takes a tensor."""

    dtype: torch.dtype
    timed: bool
    alignment: int
    name: str


class Made(NamedTuple):
    """A tensor that a launch gives. `asked`: for the caller; else the plan alone wants it."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: torch.dtype
    asked: bool
    bound: bool


def fit(tensor: torch.Tensor, how: Taken) -> torch.Tensor:
    """The tensor as a launch takes it: its type, inner axes dense, strides in B and T aligned. Copies where it has to."""
    if tensor.dtype is not how.dtype:
        tensor = tensor.to(how.dtype)
    if tensor.is_contiguous():
        return tensor if tensor.data_ptr() % how.alignment == 0 else tensor.clone()
    if not how.timed:
        return fit(tensor.contiguous(), how)
    shape, strides = tensor.shape, tensor.stride()
    dense = dense_strides(shape)
    inner = all(shape[axis] == 1 or strides[axis] == dense[axis] for axis in range(2, len(shape)))
    size = tensor.element_size()
    outer = all(shape[axis] == 1 or strides[axis] * size % how.alignment == 0 for axis in (0, 1))
    if inner and outer and tensor.data_ptr() % how.alignment == 0:
        return tensor
    return fit(tensor.contiguous(), how)


def result_strides(spec: TensorSpec, shape: Sequence[Any], time_major: bool) -> tuple[Any, ...]:
    """Dense, or with T outermost."""
    strides = list(dense_strides(shape))
    if time_major and spec.timed:
        strides[0], strides[1] = strides[1], strides[1] * shape[0]
    return tuple(strides)


class Call:
    """Launches of a plan at one B and T, with the same tensors given and asked for."""

    def __init__(
        self,
        plan: Plan,
        given: Sequence[TensorSpec],
        asked: Sequence[TensorSpec],
        possible: Sequence[TensorSpec],
        sizes: dict[str, int],
        device: torch.device,
        storage: torch.dtype,
        time_major: bool = False,
        stepping: bool = False,
    ) -> None:
        self.plan, self.device, self.sizes = plan, device, sizes
        self.on_cuda, self.ordinal = device.type == "cuda", device.index
        self.batch, self.time = sizes["B"], sizes["T"]
        lib = library()
        self.launch = lib.step if stepping else lib.launch
        self.told, self.forgotten = 0, False  # how often the shim was told of it, and whether it may be no more
        self.taken: list[Taken | None] = []
        self.names: list[str] = []
        for spec in given:
            bound = plan.tensors.get(spec.name)
            if bound is None:  # what this pass does not read
                self.taken.append(None)
                continue
            self.taken.append(Taken(dtype_of(bound.type, storage), bound.timed, bound.alignment, spec.short))
            self.names.append(spec.name)
        wanted = {spec.name for spec in asked}
        given_names = set(self.names)  # outputs of a step are given
        self.made: list[Made] = []
        for spec in possible:
            bound = plan.tensors.get(spec.name)
            is_bound = bound is not None and (spec.name in wanted or bound.required) and spec.name not in given_names
            if spec.name not in wanted and not is_bound:
                continue
            shape = spec.shape(sizes)
            dtype = dtype_of_spec(spec, storage)
            self.made.append(Made(shape, result_strides(spec, shape, time_major), dtype, spec.name in wanted, is_bound))
            if is_bound:
                self.names.append(spec.name)
        missing = [name for name, bound in plan.tensors.items() if bound.required and name not in self.names]
        if missing:
            raise RondoError(f"{plan.info.cell}: the plan needs {', '.join(missing)}, which nothing gives")
        self.workspace = plan.step_workspace_bytes(self.batch) if stepping else workspace_bytes(plan, self.names, sizes)
        self._pool: list[Arguments] = []

    def __call__(self, tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        bound: list[torch.Tensor] = []
        for tensor, taken in zip(tensors, self.taken):
            if taken is None:
                continue
            if tensor.dtype is not taken.dtype or not tensor.is_contiguous() or tensor.data_ptr() % taken.alignment:
                tensor = fit(tensor, taken)
            bound.append(tensor)
        results: list[torch.Tensor] = []
        device = self.device
        for shape, strides, dtype, asked, is_bound in self.made:
            made = torch.empty_strided(shape, strides, dtype=dtype, device=device)
            if is_bound:
                bound.append(made)
            else:  # not saved by this plan: what should read it all the same would show it
                made.fill_(float("nan"))
            if asked:
                results.append(made)
        try:
            ready = self._pool.pop()  # of this call alone: other threads take others
        except IndexError:
            ready = Arguments(self.plan, self.names, self.sizes, self.workspace)
        self.fill(ready, bound)
        work = self._workspace(ready)
        status = self.launch(self.plan.handle, ready.reference)
        self._pool.append(ready)
        del work
        if status:
            library().fail(status, self.plan.info.cell)
        return results

    @property
    def address(self) -> int | None:
        """Of librondo's function that launches."""
        return c.cast(self.launch, c.c_void_p).value

    def may_be_told(self, tensors: Sequence[torch.Tensor]) -> bool:
        """Whether a launch with tensors that are laid out as these needs no copies, and gives all that is asked for."""
        if self.told == MOST_TOLD or not all(made.bound for made in self.made):
            return False
        for tensor, taken in zip(tensors, self.taken):
            if tensor.dtype not in RONDO_TYPE_OF or tensor.dim() > s.MOST_AXES:
                return False
            if taken is not None and fit(tensor, taken) is not tensor:
                return False
        return True

    def fill(self, ready: Arguments, bound: Sequence[torch.Tensor]) -> None:
        words = ready.words
        for place, tensor in zip(ready.places, bound):
            at, at_b, at_t, timed, dense_b, dense_t = place
            words[at] = tensor.data_ptr()
            if timed:
                if tensor.is_contiguous():
                    words[at_b], words[at_t] = dense_b, dense_t
                else:
                    words[at_b] = tensor.stride(0) if self.batch > 1 else dense_b
                    words[at_t] = tensor.stride(1) if self.time > 1 else dense_t
        if self.on_cuda:
            ready.args.stream = torch._C._cuda_getCurrentRawStream(self.ordinal)

    @property
    def first_made(self) -> int:
        """The place of what is made first: it is bound behind what is given. Of calls whose `made` are all bound."""
        return len(self.names) - len(self.made)

    def fill_made(self, ready: Arguments) -> None:
        """The strides of what is made, whose addresses are not known yet."""
        for place, made in zip(ready.places[self.first_made :], self.made):
            if place.timed:
                ready.words[place.stride_b] = made.strides[0] if self.batch > 1 else place.dense_b
                ready.words[place.stride_t] = made.strides[1] if self.time > 1 else place.dense_t

    def _workspace(self, ready: Arguments) -> torch.Tensor | None:
        """Of PyTorch's allocator, so that it is of the stream that the launch is on."""
        if not self.workspace:
            return None
        if self.on_cuda:
            work = torch.empty(self.workspace, dtype=torch.uint8, device=self.device)
            ready.args.workspace = work.data_ptr()
        else:
            work = torch.empty(self.workspace + WORKSPACE_ALIGNMENT, dtype=torch.uint8)
            at = work.data_ptr()
            ready.args.workspace = at + -at % WORKSPACE_ALIGNMENT
        return work


def _may_make(structure: Structure, sizes: dict[str, int], device: torch.device) -> None:
    """Plans are made before a stream is captured: compilers and verification do what a capture forbids."""
    if device.type == "cuda" and torch.cuda.is_current_stream_capturing():
        raise RondoError(
            f"{structure.name}: a plan for B={sizes['B']}, T={sizes['T']} is not there yet, and the stream is being captured",
            "call it once before the capture, or rondo.prepare() the module",
        )


def plan_of(
    structure: Structure,
    pass_: int,
    sizes: dict[str, int],
    device: torch.device,
    storage: torch.dtype,
    exact: bool,
    trains: bool = False,
) -> Plan:
    """The plan of these sizes, which is made at its first use. Where a forward pass `trains`, the plan of the backward pass,
    which comes next, is made beside it."""
    request = _request_of(structure, pass_, sizes, device, storage)

    def may_make() -> None:
        _may_make(structure, sizes, device)
        if trains:
            make_ahead(request._replace(pass_=s.PASS_BACKWARD), exact)

    return plan_for(request, exact, may_make)


def again_plan_of(
    structure: Structure, sizes: dict[str, int], device: torch.device, storage: torch.dtype, exact: bool
) -> Plan | None:
    """That of `RONDO_PASS_AGAIN`, where there is one. While a stream is captured none is made."""
    captured = device.type == "cuda" and torch.cuda.is_current_stream_capturing()
    return again_plan(_request_of(structure, s.PASS_AGAIN, sizes, device, storage), exact, not captured)


def _request_of(
    structure: Structure, pass_: int, sizes: dict[str, int], device: torch.device, storage: torch.dtype
) -> PlanRequest:
    ordinal = -1 if device.type == "cpu" else device.index
    if ordinal >= 0:
        torch.cuda.init()
    type_ = type_of(storage, structure.name, device)
    return PlanRequest(structure.description.text, pass_, device_of(ordinal), type_, *(sizes[axis] for axis in "BTHD"))


_calls: dict[Any, Call] = {}
MOST_CALLS = 4096


def remembered(key: Any) -> Call | None:
    return _calls.get(key)


def remember(key: Any, call: Call) -> Call:
    """Calls are cheap to make again: when there are many, as with lengths that differ in each batch, all are forgotten."""
    if len(_calls) >= MOST_CALLS:
        _calls.clear()
    _calls[key] = call
    return call


def forget_calls() -> None:
    """Calls hold plans: after a tune others are to be taken."""
    held = list(_calls.values())
    _calls.clear()
    sites.forget(held)


on_forget(forget_calls)
