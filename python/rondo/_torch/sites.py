"""Which launches the shim knows. A call that comes again, with tensors as they are to be, is told to it, and goes through it
from then on."""

from __future__ import annotations

import ctypes as c
import itertools
import os
import threading
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import torch

from .. import _structs as s
from .._launch import Arguments
from . import shim
from .types import RONDO_TYPE_OF

if TYPE_CHECKING:
    from .launch import Call

_PLAIN = frozenset((torch.Tensor, torch.nn.Parameter))
# Asked at each call, and so by names of this module. Modes that see operators before autograd does, as those of torch.export,
# have a stack of their own.
_modes, _is_tracing = torch._C._len_torch_dispatch_stack, torch._C._is_tracing
_is_included, _AHEAD = torch._C._dispatch_tls_is_dispatch_key_included, torch._C.DispatchKey.PreDispatch
_families: dict[Any, int] = {}
_numbers = itertools.count()
_lock = threading.RLock()  # of what is told and forgotten


def plain(tensors: Sequence[torch.Tensor]) -> bool:
    """Whether an operator on these would reach its kernel: nothing traces the call, and no tensor is of a class of its own."""
    return not (_modes() or _is_tracing() or _is_included(_AHEAD)) and _PLAIN.issuperset(map(type, tensors))


def may_know(tensors: Sequence[torch.Tensor]) -> bool:
    """Whether it is worth asking for a call on these outside of an operator's kernel."""
    return bool(_families) and plain(tensors)


def launched(family: Any, tensors: Sequence[torch.Tensor]) -> Any:
    """The results of a call that the shim knows, without a derivative; None: it does not. `family` stands for what is computed,
    whatever the sizes."""
    number = _families.get(family)
    if number is None:
        return None
    try:
        results, known = shim.SHIM.launch_known(tensors, number)  # type: ignore[union-attr]
    except NotImplementedError:  # tensors of another kind, such as meta
        return None
    return results if known else None


def number_of(family: Any) -> int | None:
    """The shim's number of what is computed; None: it knows no call of it."""
    return _families.get(family)


def tell(
    family: Any,
    call: Call,
    tensors: Sequence[torch.Tensor],
    given: Sequence[torch.Tensor] | None = None,
    results: Sequence[torch.Tensor] | None = None,
) -> None:
    """Tells the shim of a call with these tensors, if it is one that needs no copies and gives all that is asked for.

    `given` and `results` are what is given and asked for in the call's place, where the caller has other views of the memory.
    """
    if shim.SHIM is not None and call.may_be_told(tensors):
        with _lock:
            if not call.forgotten:  # meanwhile
                _tell(shim.SHIM, family, call, tensors, given or tensors, results)


def tell_as_given(family: Any, call: Call | None, given: Any, tensors: Any, results: Any, made: Any) -> None:
    """Tells the shim of a call whose caller has other views: `given` of `tensors`, and `results` of what it has `made`."""
    pairs = [*zip(given, tensors, strict=True), *zip(results, made, strict=True)]
    if call is not None and call.told and all(one.data_ptr() == other.data_ptr() for one, other in pairs):
        tell(family, call, tensors, given, results)


def _tell(to: shim.Shim, family: Any, call: Call, tensors: Any, given: Sequence[torch.Tensor], results: Any) -> None:
    number = _families.get(family)
    if number is None:
        number = next(_numbers)
    ready = Arguments(call.plan, call.names, call.sizes, call.workspace)
    call.fill(ready, [tensor for tensor, taken in zip(tensors, call.taken) if taken is not None])
    call.fill_made(ready)
    taken = _given(call, given)
    made = _made(call, results)
    site = s.sized(
        shim.rondo_torch_site,
        family=number,
        plan=call.plan.handle,
        launch=call.address,
        on_cuda=int(call.on_cuda),
        ordinal=call.ordinal or 0,
        batch=call.batch,
        time=call.time,
        workspace_bytes=call.workspace,
        tensors=c.addressof(ready.memory),
        given=c.addressof(taken),
        made=c.addressof(made),
        tensor_count=len(call.names),
        given_count=len(taken),
        made_count=len(call.made),
    )
    if to.add(site):
        call.told += 1
        _families[family] = number


def _given(call: Call, tensors: Sequence[torch.Tensor]) -> Any:
    given = (shim.rondo_torch_given * len(tensors))()
    place = 0
    for one, tensor, taken in zip(given, tensors, call.taken):
        _lay_out(one.layout, tensor.dtype, tensor.shape, tensor.stride())
        one.place, one.alignment = (-1, 1) if taken is None else (place, taken.alignment)
        place += taken is not None
    return given


def _made(call: Call, results: Sequence[torch.Tensor] | None) -> Any:
    made = (shim.rondo_torch_made * max(1, len(call.made)))()
    asked = iter(results or ())
    for place, (one, (shape, strides, dtype, is_asked, _)) in enumerate(zip(made, call.made), call.first_made):
        if results is not None and is_asked:
            result = next(asked)
            shape, strides = result.shape, result.stride()
        _lay_out(one.layout, dtype, shape, strides)
        one.place, one.is_result = place, int(is_asked)
    return made


def _lay_out(layout: Any, dtype: torch.dtype, shape: Sequence[int], strides: Sequence[int]) -> None:
    layout.type, layout.rank = RONDO_TYPE_OF[dtype], len(shape)
    layout.sizes[: len(shape)] = shape
    layout.strides[: len(shape)] = strides


def forget(calls: Iterable[Call]) -> None:
    """Forgets all that the shim was told. It is told of these calls no more."""
    with _lock:
        for call in calls:
            call.forgotten = True
        _families.clear()
        if shim.SHIM is not None:
            shim.SHIM.forget()


def _after_fork() -> None:
    global _lock
    _lock = threading.RLock()


os.register_at_fork(after_in_child=_after_fork)
