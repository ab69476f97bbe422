"""Plans: made once for a recurrence, a pass, a device and a range of sizes, and kept until the process ends.

They are never dropped, since a CUDA graph may replay what one of them launched.
"""

from __future__ import annotations

import ctypes as c
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from . import _behind, _policy, _remarks
from . import _structs as s
from ._errors import MissingError, RondoError, UnsupportedError
from ._library import library
from ._structure import Structure, TensorSpec, spec_of, structure_of, tensors_of_plan

PASS_NAMES = {
    s.PASS_FORWARD: "forward",
    s.PASS_FORWARD_SAVE: "forward (training)",
    s.PASS_BACKWARD: "backward",
    s.PASS_AGAIN: "forward (training) again, of outputs",
}
BY_MODEL = "by model"  # the origin of what no record gave
BYTES_OF = {s.TYPE_F32: 4, s.TYPE_BF16: 2, s.TYPE_F16: 2, s.TYPE_I32: 4, s.TYPE_U8: 1, s.TYPE_F64: 8}


class Device(NamedTuple):
    """A device as librondo names it."""

    kind: int  # DEVICE_CUDA or DEVICE_CPU
    ordinal: int


CPU = Device(s.DEVICE_CPU, 0)


class Bound(NamedTuple):
    """A tensor of a plan."""

    place: int
    type: int
    timed: bool
    alignment: int
    required: bool
    spec: TensorSpec


@dataclass(frozen=True)
class PlanInfo:
    """What a plan is, for people and for tests. The fields are those of `rondo_plan_info`.

    Attributes
    ----------
    cell, pass_, type, math : str
        What it computes: the cell's name, "fw", "fws" or "bw", the storage type and the arithmetic.
    strategy, parameters, origin, note : str
        How it does so, where that choice comes from, and a remark for people.
    batch, time, heads, dim : int
        The sizes that it was made for. It serves others of the same range.
    verified : bool
        Whether it was compared with the reference on this machine.
    expected_ms : float
        Milliseconds of a launch, by model or as measured.
    device : Device
        Where it runs.
    seconds : float
        What it took to make it.
    """

    cell: str
    pass_: str
    type: str
    math: str
    strategy: str
    parameters: str
    origin: str
    note: str
    batch: int
    time: int
    heads: int
    dim: int
    verified: bool
    expected_ms: float
    device: Device
    seconds: float


class Plan:
    """A plan of librondo."""

    def __init__(self, handle: c.c_void_p, device: Device, seconds: float) -> None:
        lib = library()
        self.handle, self.device = handle, device
        found = s.sized(s.rondo_plan_info)
        lib.call("rondo_plan_get_info", handle, c.byref(found))
        words = {
            name: getattr(found, name).decode() for name in ("cell", "type", "math", "strategy", "parameters", "origin", "note")
        }
        self.info = PlanInfo(
            **words,
            pass_=getattr(found, "pass").decode(),
            batch=found.batch,
            time=found.time,
            heads=found.heads,
            dim=found.dim,
            verified=found.verified == 1,
            expected_ms=found.expected_ms,
            device=device,
            seconds=seconds,
        )
        self.tensors: dict[str, Bound] = {}
        for index, one in enumerate(tensors_of_plan(lib, handle)):
            spec = spec_of(one)
            self.tensors[spec.name] = Bound(index, one.type, spec.timed, one.alignment, one.need == s.NEED_REQUIRED, spec)

    def step_workspace_bytes(self, batch: int) -> int:
        count = c.c_int64()
        library().call("rondo_plan_step_workspace_bytes", self.handle, batch, c.byref(count))
        return count.value

    def check(self) -> None:
        library().call("rondo_plan_check", self.handle)


def alignment(structure: Structure, sizes: dict[str, int], type_: int) -> int:
    """Bytes to which every dense step of the inputs' type is aligned, 16 at most."""
    together = 0
    for spec in structure.given + structure.results + structure.saved:
        if spec.timed and spec.type is None:
            count = BYTES_OF[type_]
            for extent in spec.shape(sizes)[2:]:
                count *= extent
            together |= count
    return next(bytes_ for bytes_ in (16, 8, 4, 2) if together % bytes_ == 0)


class PlanRequest(NamedTuple):
    """What a plan is made for."""

    how: str  # the text of a description
    pass_: int
    device: Device
    type: int
    batch: int
    time: int
    heads: int
    dim: int

    def key(self, exact: bool) -> tuple[Any, ...]:
        """One plan serves sizes between two powers of two; where results are to be the same in each run, each has its own."""
        if exact:
            sizes: tuple[int, ...] = (self.batch, self.time)
        else:
            sizes = (-(self.batch - 1).bit_length(), -(self.time - 1).bit_length())
        return (*self[:4], self.heads, self.dim, *sizes, _policy.current_number())


class Tuning(NamedTuple):
    """How a plan is tuned, where it is."""

    budget_s: float
    workers: int
    progress: Any  # a PROGRESS_FUNCTION
    data: Any = ()  # an array of rondo_array, which keeps what it points at


def options_for(policy: _policy.Policy, alignment_: int, strategy: str, tuning: Tuning | None = None) -> Any:
    options = s.sized(
        s.rondo_plan_options,
        choose=_policy.CHOICES[policy.choose],
        strict=s.PROOF_NOW if policy.verify == "strict" else s.PROOF_LATER,
        database=database_of(policy),
        alignment=alignment_,
        strategy=strategy.encode() or None,
        lock=os.fsencode(policy.lock) if policy.lock else None,
    )
    if tuning is not None:
        options.choose, options.budget_s, options.workers = s.CHOOSE_TUNE, tuning.budget_s, tuning.workers
        options.progress = c.cast(tuning.progress, c.c_void_p)
        if len(tuning.data) > 0:
            options.data, options.data_count, options.data_size = (
                c.addressof(tuning.data),
                len(tuning.data),
                c.sizeof(s.rondo_array),
            )
    return options


def database_of(policy: _policy.Policy) -> c.c_void_p | None:
    """The policy's database. Without the user's own, which may lie where nothing can be written, work goes on."""
    try:
        return library().database(policy.database)
    except RondoError as error:
        if policy.database:
            raise
        _remarks.warn_once("database", f"no tuning database: {error}. Kernels are compiled anew in each process")
        return None


def _make(request: PlanRequest, policy: _policy.Policy, tuning: Tuning | None = None) -> Plan:
    lib, structure = library(), structure_of(request.how)
    sizes = {"B": request.batch, "T": request.time, "H": request.heads, "D": request.dim}
    problem = structure.problem(sizes, request.type, request.pass_)
    options = options_for(policy, alignment(structure, sizes, request.type), structure.description.strategy, tuning)
    context = lib.context(request.device.kind, request.device.ordinal)
    begin = time.perf_counter()
    try:
        handle = lib.handle("rondo_plan_create", context, structure.handle, c.byref(problem), c.byref(options))
    except MissingError as error:
        raise type(error)(f"{structure.name}, {PASS_NAMES[request.pass_]}: {error}") from None
    plan = Plan(handle, request.device, time.perf_counter() - begin)
    if plan.info.strategy == "reference" != structure.description.strategy:
        _remarks.warn_once(
            "reference",
            f"cell {structure.name} is computed by the reference, which is slow: {plan.info.note}. "
            "Install the extra rondo-rnn[llvm] for kernels of the CPU",
        )
    _remarks.logger.info(
        "%s, %s, B=%d T=%d H=%d D=%d %s: %s %s (%s), ready in %.2f s",
        structure.name,
        PASS_NAMES[request.pass_],
        request.batch,
        request.time,
        request.heads,
        request.dim,
        plan.info.type,
        plan.info.strategy,
        plan.info.parameters,
        plan.info.note,
        plan.info.seconds,
    )
    return plan


def _verify_behind(key: Any, request: PlanRequest, policy: _policy.Policy, plan: Plan) -> None:
    """Verifies what a record gave; the model's choice is no record, and is as good as its kernels are."""
    if plan.info.verified or plan.info.origin == BY_MODEL or plan.info.strategy == "reference":
        return

    def prove() -> bool:
        proven = _make(request, replace(policy, verify="strict"))
        same = (plan.info.strategy, plan.info.parameters) == (proven.info.strategy, proven.info.parameters)
        with _cache.lock:
            if _cache.plans.get(key) is plan:
                _cache.plans[key] = proven
        if not same:
            _forget()
        return same

    _behind.verify(f"{plan.info.cell}, {PASS_NAMES[request.pass_]}, by {plan.info.strategy} {plan.info.parameters}", prove)


# Called when plans are replaced: what holds launches of them forgets these.
_forgetting: list[Callable[[], None]] = []


def _forget() -> None:
    for forget in _forgetting:
        forget()


def on_forget(forget: Callable[[], None]) -> None:
    _forgetting.append(forget)


class _Cache:
    """Plans by key. Threads that ask for one plan wait for the first of them; others are made meanwhile."""

    def __init__(self) -> None:
        self.plans: dict[Any, Plan] = {}
        self.lock = threading.RLock()
        self.making: dict[Any, threading.Lock] = {}
        self.absent: set[Any] = set()  # keys of plans that are not to be had

    def get(self, key: Any, make: Callable[[], Plan]) -> Plan:
        found = self.plans.get(key)
        if found is not None:
            return found
        with self.lock:
            making = self.making.setdefault(key, threading.Lock())
        with making:
            found = self.plans.get(key)
            if found is None:
                found = self.plans[key] = make()
        return found

    def after_fork(self) -> None:
        """In a child the locks are free, whoever held them, and plans of GPUs are of the parent's contexts."""
        self.lock, self.making = threading.RLock(), {}
        self.plans = {key: plan for key, plan in self.plans.items() if plan.device.kind == s.DEVICE_CPU}


_cache = _Cache()
os.register_at_fork(after_in_child=lambda: _cache.after_fork())


def plan_for(request: PlanRequest, exact: bool = False, may_make: Callable[[], None] | None = None) -> Plan:
    """The plan of a request under the current policy.

    Parameters
    ----------
    exact : bool
        The plan is that of these very sizes, and not of others between the same powers of two.
    may_make : callable, optional
        Called before a plan is made; it raises where none may be.
    """
    policy = _policy.current()
    key = request.key(exact)

    def make() -> Plan:
        if may_make is not None:
            may_make()
        plan = _make(request, policy)
        if policy.verify == "background":
            _verify_behind(key, request, policy, plan)
        return plan

    return _cache.get(key, make)


def again_plan(request: PlanRequest, exact: bool = False, may_make: bool = True) -> Plan | None:
    """The plan of a request for PASS_AGAIN. None where there is no such pass or it is no faster than the forward pass, and
    where the plan is not there and may not be made."""
    key = request.key(exact)
    if key in _cache.absent:
        return None
    if not may_make:
        return _cache.plans.get(key)
    try:
        return plan_for(request, exact)
    except UnsupportedError:
        _cache.absent.add(key)
        return None


def make_ahead(request: PlanRequest, exact: bool) -> None:
    """Has the plan of a request made on another thread, if it is not there: the caller is about to make another one, and wants
    this one next."""
    if request.key(exact) not in _cache.plans:
        _behind.make(lambda: plan_for(request, exact))


def tune_plan(request: PlanRequest, tuning: Tuning) -> Plan:
    """Measures, and takes what is best for later calls."""
    plan = _make(request, _policy.current(), tuning)
    with _cache.lock:
        for exact in (False, True):
            _cache.plans[request.key(exact)] = plan
    return plan


def best_save(request: PlanRequest) -> str:
    """What a training pass of these sizes had better save: what takes less time in sum."""
    lib, structure = library(), structure_of(request.how)
    sizes = {"B": request.batch, "T": request.time, "H": request.heads, "D": request.dim}
    problem = structure.problem(sizes, request.type, s.PASS_FORWARD_SAVE, s.SAVE_AUTO)
    step = alignment(structure, sizes, request.type)
    options = options_for(_policy.current(), step, structure.description.strategy)
    context = lib.context(request.device.kind, request.device.ordinal)
    training = lib.handle("rondo_training_create", context, structure.handle, c.byref(problem), c.byref(options))
    info = s.sized(s.rondo_training_info)
    lib.call("rondo_training_get_info", training, c.byref(info))
    lib.call("rondo_training_destroy", training)
    return "products" if info.save == s.SAVE_PRODUCTS else "states"


def plans() -> list[PlanInfo]:
    """All plans that this process has made, in the order in which they were."""
    return [plan.info for plan in list(dict.fromkeys(_cache.plans.values()))]


def check() -> None:
    """Raises if a launch that has ended is known to have failed on its GPU. To be called after a synchronisation.

    Raises
    ------
    DeviceError
        Blocks of a launch waited for each other in vain: its results are wrong.
    WrongResultError
        A kernel that was used before it was verified (`policy(verify="background")`) has been found wrong.
    """
    _behind.raise_wrong()
    for plan in list(_cache.plans.values()):
        plan.check()
