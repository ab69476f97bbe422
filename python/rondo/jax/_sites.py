"""Launches as programs of XLA know them: a text that says which recurrence, which pass, which sizes and which tensors.

A program holds the text and no handle, so it can be written to a file and be run by another process, and XLA's own cache of
compiled programs finds it again. What the text leaves open, the plan, is the machine's that runs it.
"""

from __future__ import annotations

import ctypes as c
import json
from functools import lru_cache
from typing import Any, NamedTuple

from .. import _policy
from .. import _structs as s
from .._errors import InputError, RondoError
from .._launch import WORKSPACE_ALIGNMENT, Arguments, workspace_bytes
from .._plans import BYTES_OF, CPU, Device, Plan, PlanRequest, make_ahead, on_forget, plan_for
from .._structure import TensorSpec, of_mask, structure_of
from . import _shim

VERSION = 1  # of the text


class Pass(NamedTuple):
    """A pass of a recurrence. Masks say which tensors there are, bit i for the i-th of the structure's list: `given` of what a
    forward pass takes, `grads` of the gradients of results that a backward pass takes, `wanted` of those that it gives.
    `policy` is the number of the policy under which a program was made: under another one it is another program.
    """

    how: str
    kind: int
    given: int
    grads: int = 0
    wanted: int = 0
    policy: int = 0

    @property
    def like(self) -> int:
        """The place of an input among what it takes: it has the type of inputs."""
        return self.grads.bit_count()


@lru_cache(maxsize=4096)
def tensors_of(one: Pass) -> tuple[list[TensorSpec], list[TensorSpec]]:
    """What a pass takes and what it gives."""
    structure = structure_of(one.how)
    given = of_mask(structure.given, one.given)
    if one.kind == s.PASS_BACKWARD:
        taken = of_mask(structure.grads_in, one.grads) + given + structure.kept
        return taken, of_mask(structure.grads_out, one.wanted)
    return given, structure.results + (structure.saved if one.kind == s.PASS_FORWARD_SAVE else [])


class Launch(NamedTuple):
    """A pass at these sizes."""

    what: Pass
    type: int
    batch: int
    time: int
    heads: int
    dim: int

    @property
    def text(self) -> str:
        return json.dumps([VERSION, *self[1:], *self.what], separators=(",", ":"), ensure_ascii=False)

    @property
    def sizes(self) -> dict[str, int]:
        return {"B": self.batch, "T": self.time, "H": self.heads, "D": self.dim}

    def request(self, device: Device) -> PlanRequest:
        return PlanRequest(self.what.how, self.what.kind, device, *self[1:])


def read_launch(text: str) -> Launch:
    version, *words = json.loads(text)
    if version != VERSION:
        raise InputError(
            f"the program was written by a version of Rondo whose launches are of form {version}", "export it anew"
        )
    return Launch(Pass(*words[5:]), *words[:5])


class Site:
    """A launch on a device: its plan, and which tensor of the plan is which operand or result of the call."""

    def __init__(self, launch: Launch, plan: Plan) -> None:
        taken, made = tensors_of(launch.what)
        bound = [spec.name for spec in (*taken, *made) if spec.name in plan.tensors]
        hidden = [
            tensor.spec for name, tensor in plan.tensors.items() if tensor.required and name not in bound and _is_result(tensor)
        ]
        missing = [
            name for name, tensor in plan.tensors.items() if tensor.required and name not in bound and not _is_result(tensor)
        ]
        if missing:
            raise RondoError(f"{plan.info.cell}: the plan needs {', '.join(missing)}, which nothing gives")
        sizes = launch.sizes
        self.plan = plan
        names = [*bound, *(spec.name for spec in hidden)]
        workspace = workspace_bytes(plan, names, sizes)
        self._arguments = Arguments(plan, names, sizes, workspace)
        numbers = {name: number for number, name in enumerate(bound)}
        places = [numbers.get(spec.name, -1) for spec in (*taken, *made)]
        self._places = (c.c_int32 * max(1, len(places)))(*places)
        self._hidden = (_shim.rondo_jax_hidden * max(1, len(hidden)))()
        end = _aligned(workspace)
        for number, spec in enumerate(hidden):
            self._hidden[number].place, self._hidden[number].offset = len(bound) + number, end
            end += _aligned(_bytes_of(plan, spec, sizes))
        self.buffer_bytes = end
        self.struct = s.sized(
            _shim.rondo_jax_site,
            plan=plan.handle,
            args=c.addressof(self._arguments.args),
            places=c.addressof(self._places),
            place_count=len(places),
            hidden=c.addressof(self._hidden),
            hidden_count=len(hidden),
            buffer_bytes=self.buffer_bytes,
        )


def _is_result(tensor: Any) -> bool:
    return tensor.spec.role in (s.ROLE_INPUT_GRADIENT, s.ROLE_PARAM_GRADIENT, s.ROLE_INITIAL_STATE_GRADIENT)


def _aligned(size: int) -> int:
    return size + -size % WORKSPACE_ALIGNMENT


def _bytes_of(plan: Plan, spec: TensorSpec, sizes: dict[str, int]) -> int:
    size = BYTES_OF[plan.tensors[spec.name].type]
    for extent in spec.shape(sizes):
        size *= extent
    return size


def site_of(launch: Launch, device: Device) -> Site:
    """The site of a launch; its plan is made at the first one. Where a forward pass trains, the plan of the backward pass is
    made beside it."""
    request = launch.request(device)

    def ahead() -> None:
        if launch.what.kind == s.PASS_FORWARD_SAVE:
            make_ahead(request._replace(pass_=s.PASS_BACKWARD), False)

    return Site(launch, plan_for(request, False, ahead))


def _make(text: str, on_cuda: bool, ordinal: int) -> Site:
    return site_of(read_launch(text), Device(s.DEVICE_CUDA, ordinal) if on_cuda else CPU)


def current_policy() -> int:
    return _policy.current_number()


SHIM = _shim.load(_make)
on_forget(SHIM.forget)
