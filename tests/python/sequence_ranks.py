"""Sequences over ranks, whose cases `ranks.py` runs in processes, and the same in one."""

import gc
import importlib.util
import itertools
import json
import os
import tempfile
import time
import weakref
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import rondo
import torch
import torch.utils.checkpoint

SOURCE = Path(__file__).resolve().parents[2]
BATCH, HEADS, DIM = 3, 2, 5
# Steps of each rank: a part that is shorter than a chunk, and one without steps.
PARTS = {2: (20, 41), 4: (23, 2, 0, 36)}
STEPS, CHUNK = 61, 4


@dataclass(frozen=True)
class Case:
    """A cell and how it is called. `keep`: of `affine`, the least coefficient of a state."""

    cell: str
    dtype: torch.dtype = torch.float64
    keep: float = 0.0
    forms: tuple[str, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)
    call: dict[str, Any] = field(default_factory=dict)
    maps: bool = False


CASES = {
    "affine": Case("affine"),
    "affine that keeps": Case("affine", keep=1.0),
    "affine that forgets, float32": Case("affine", torch.float32),
    "affine that remembers, bfloat16": Case("affine", torch.bfloat16, keep=0.9),
    "lru": Case("lru"),
    "hgrn": Case("hgrn"),
    "hgrn, reversed": Case("hgrn", call={"reverse": True}),
    "mingru with lengths and resets": Case("mingru", forms=("lengths", "resets")),
    "mingru, reversed with lengths": Case("mingru", forms=("lengths",), call={"reverse": True}),
    "mingru, time first": Case("mingru", torch.float32, call={"batch_first": False}),
    "indrnn": Case("indrnn"),
    "lif": Case("lif"),
    "paragru": Case("paragru"),
    "paragru, float32": Case("paragru", torch.float32),
    "paragru, clipped": Case("paragru", options={"clip_forward": 0.5, "clip_gradient": 0.1}),
    "paralstm": Case("paralstm"),
    "lstm": Case("lstm"),
    "maps of affine that keeps": Case("affine", keep=1.0, maps=True),
    "maps of affine, float32": Case("affine", torch.float32, maps=True),
    "maps of lru": Case("lru", maps=True),
    "maps of hgrn, reversed": Case("hgrn", call={"reverse": True}, maps=True),
    "maps of mingru with lengths and resets": Case("mingru", forms=("lengths", "resets"), maps=True),
}


def made(case):
    """The cell, its tensors by kind, flags, and weights of losses: of each output, and of each rank's last states."""
    torch.manual_seed(sum(map(ord, case.cell)))
    cell = rondo.Cell(case.cell, **case.options)
    sizes = {"B": BATCH, "T": STEPS, "H": HEADS, "D": DIM}

    def drawn(specs, dtype, low, high):
        return {spec.short: torch.empty(spec.shape(sizes)).uniform_(low, high).to(dtype) for spec in specs}

    wide = torch.float64 if case.dtype is torch.float64 else torch.float32
    plain = cell._plain
    x = drawn(plain.inputs, case.dtype, -1.5, 1.5)
    if case.cell == "affine":
        x["a"] = torch.empty(x["a"].shape).uniform_(case.keep, max(case.keep, 0.5)).to(case.dtype)
    kinds = {"x": x, "params": drawn(plain.params, wide, 0.1, 0.6), "initial": drawn(plain.initials, wide, -1, 1)}
    flags = {"lengths": torch.tensor([STEPS, 31, 3]), "resets": torch.rand(BATCH, STEPS) < 0.04}
    weights = drawn(plain.outputs, case.dtype, -1, 1), drawn(plain.lasts, torch.float64, -1, 1)
    return cell, kinds, {form: flags[form] for form in case.forms}, weights


def computed(cell, case, kinds, flags, weights, share):
    """Outputs, last states and gradients by name, of a loss to which last states add `share`."""
    time_first = not case.call.get("batch_first", True)
    leaves = {f"{kind} {name}": one.requires_grad_() for kind, some in kinds.items() for name, one in some.items()}
    x = {name: one.transpose(0, 1) if time_first else one for name, one in kinds["x"].items()}
    y, last = cell(x, params=kinds["params"], initial=kinds["initial"], **flags, **case.call)
    outputs = y if isinstance(y, dict) else {next(iter(weights[0])): y}
    outputs = {name: one.transpose(0, 1) if time_first else one for name, one in outputs.items()}
    loss = sum((one * weights[0][name].reshape(one.shape)).sum() for name, one in outputs.items())
    loss = loss + share * sum((one * weights[1][name].reshape(one.shape)).sum() for name, one in last.items())
    gradients = torch.autograd.grad(loss, list(leaves.values()))
    found = {f"y {name}": one for name, one in outputs.items()} | {f"last {name}": one for name, one in last.items()}
    found |= {f"gradient of {name}": one for name, one in zip(leaves, gradients, strict=True)}
    return {name: one.detach() for name, one in found.items()}


def bounds(world):
    return [0, *itertools.accumulate(PARTS[world])]


def cut(tensors, rank, world):
    begin, end = bounds(world)[rank : rank + 2]
    return {name: one[:, begin:end].clone() for name, one in tensors.items()}


def facts(cell):
    return {f"{name} {what}": getattr(one, what) for name, one in cell.records.items() for what in ("rounds", "again")}


def values(kind, rank, world):
    """What this rank has; each rank's last states count as much as its number, from 1."""
    case = CASES[kind]
    cell, kinds, flags, weights = made(case)
    kinds["x"] = cut(kinds["x"], rank, world)
    if "resets" in flags:
        flags |= cut({"resets": flags["resets"]}, rank, world)
    over = rondo.nn.split_sequence(cell, chunk=CHUNK, maps=case.maps)
    found = computed(over, case, kinds, flags, (cut(weights[0], rank, world), weights[1]), rank + 1.0)
    with torch.no_grad():
        inputs = kinds["x"]["x"] if list(kinds["x"]) == ["x"] else kinds["x"]
        if case.call.get("batch_first", True):
            y, _ = over(inputs, params=kinds["params"], initial=kinds["initial"], **flags, **case.call)
            found["y without gradients"] = next(iter(y.values())) if isinstance(y, dict) else y
    return found | facts(over)


def whole(kind, world):
    """The same of one process."""
    case = CASES[kind]
    return computed(*made(case)[:1], case, *made(case)[1:], sum(range(1, world + 1)))


def in_order(kind, world):
    """What one process makes of the pieces of all ranks, one after another; forward."""
    case = CASES[kind]
    cell, kinds, _, _ = made(case)
    states, parts = kinds["initial"], []
    from rondo._torch.pieces import pieces_of

    for begin, end in itertools.pairwise(bounds(world)):
        for first, last in pieces_of(end - begin, CHUNK, True, True):
            some = {name: one[:, begin + first : begin + last] for name, one in kinds["x"].items()}
            y, states = cell(some, params=kinds["params"], initial=states)
            parts.append(y)
    return torch.cat(parts, 1), states


def layer(kind, rank, world, around=lambda one: one):
    """A layer with projections, whose weights have the sum of the ranks' gradients."""
    whole_layer, u = made_layer(kind)
    part = rondo.nn.split_sequence(whole_layer, chunk=CHUNK)
    assert part.input_projection is whole_layer.input_projection
    assert not isinstance(whole_layer.cell, rondo.nn.PartOfSequence)
    (u,) = cut({"u": u}, rank, world).values()
    return trained(part, u, 1 / world, around(part)) | facts(part.cell)


def checkpointed(one):
    return lambda u: torch.utils.checkpoint.checkpoint(one, u, use_reentrant=False)


def compiled(one):
    return torch.compile(one, backend="aot_eager")


def made_layer(kind):
    torch.manual_seed(3)
    u = torch.randn(BATCH, STEPS, 6, dtype=torch.float64)
    return getattr(rondo.nn, kind)(6, 8, heads=2, dtype=torch.float64), u


def trained(one, u, share, call=None):
    y, last = (one if call is None else call)(u.requires_grad_())
    loss = y.square().sum() + share * sum(state.sum() for state in last.values())
    loss.backward()
    found = {"y": y.detach(), "gradient of u": u.grad}
    return found | {f"share of {name}": weight.grad for name, weight in one.named_parameters()}


def twice(kind, rank, world):
    """Bits of one call and of another."""
    return {"first": values(kind, rank, world), "second": values(kind, rank, world)}


def long(kind, rank, world):
    """How much is walked again of a longer sequence. `kind`: the least and the largest coefficient of the state."""
    low, high = map(float, kind.split(" to "))
    torch.manual_seed(rank)
    cell = rondo.nn.split_sequence(rondo.Cell("affine"), chunk=64)
    a = torch.empty(2, 1000, 1, 8).uniform_(low, high).requires_grad_()
    y, _ = cell({"a": a, "b": torch.randn(a.shape)})
    y.sum().backward()
    return facts(cell)


def nothing(kind, rank, world):
    """A batch without rows, and a sequence without steps: what they give, and the gradient of the initial state."""
    cell, rows = rondo.nn.split_sequence(rondo.Cell("hgrn"), chunk=CHUNK, maps=kind == "maps"), {}
    for name, batch, steps in (("rows", 0, 20), ("steps", 2, 0)):
        x = torch.zeros(batch, steps, 2, 4, requires_grad=True)
        first, low = torch.ones(batch, 4, requires_grad=True), torch.full((1, 4), 0.5, requires_grad=True)
        y, last = cell(x, params={"low": low}, initial={"h": first})
        (y.sum() + last["h"].sum()).backward()
        rows |= {name: (y.detach(), last["h"].detach(), first.grad, low.grad, x.grad)}
    return rows


def tensors_at_most(most, seconds):
    """How many tensors Python knows, once there are no more than `most` or `seconds` are over. A thread of Gloo lets
    go of a message's tensors a moment after the wait for it returns, so that a count at once may see those too."""
    end = time.monotonic() + seconds
    while True:
        count = sum(isinstance(one, torch.Tensor) for one in gc.get_objects())
        if count <= most or time.monotonic() > end:
            return count
        time.sleep(0.01)


def freed(kind, rank, world):
    """Whether the tensors of a pass are gone when nobody has them any more, without Python's collector of cycles."""
    cell = rondo.nn.split_sequence(rondo.Cell("paralstm" if kind == "guesses" else "lru"), chunk=CHUNK, maps=kind == "maps")
    sizes = {"B": 2, "T": 20, "H": 1, "D": 4}
    params = {spec.short: torch.zeros(spec.shape(sizes), requires_grad=True) for spec in cell._plain.params}

    def step():
        x = torch.randn(cell._plain.inputs[0].shape(sizes), requires_grad=True)
        y, _ = cell(x, params=params)
        y.sum().backward()
        return x, y, x.grad

    gc.collect()
    gc.disable()
    try:
        kept = step()
        known = [weakref.ref(one) for one in kept]
        before = tensors_at_most(0, seconds=0.5)
        del kept
        _again = step()
        after = tensors_at_most(before, seconds=10)
        return {"left": sum(one() is not None for one in known), "more": after - before}
    finally:
        gc.enable()


def refused(kind, rank, world):
    """What is said where arguments are wrong."""
    try:
        WRONG[kind](rank)
    except rondo.RondoError as error:
        return {"said": f"{type(error).__name__}: {error}"}
    return {"said": "nothing"}


def _over(name="mingru", **options):
    return rondo.nn.split_sequence(rondo.Cell(name), **options)


class Draws(rondo.Cell):
    draws = True


WRONG = {
    "other batch": lambda rank: _over()(torch.zeros(2 + rank, 5, 2, 4)),
    "other gradients": lambda rank: _over()(torch.zeros(2, 5, 2, 4, requires_grad=rank == 0)),
    "other cell": lambda rank: _over("mingru" if rank else "hgrn")(
        torch.zeros(2, 5, 2, 4), params={} if rank else {"low": torch.zeros(1, 4)}
    ),
    "other constant": lambda rank: rondo.nn.split_sequence(rondo.Cell("rglru", c=8 + rank))(
        torch.zeros(2, 5, 3, 4), params={"lambda": torch.zeros(1, 4)}
    ),
    "other type": lambda rank: _over()(torch.zeros(2, 5, 2, 4, dtype=[torch.float32, torch.float64][rank])),
    "directions": lambda rank: _over()(torch.zeros(2, 5, 2, 2, 4), directions=True),
    "step": lambda rank: _over().step(torch.zeros(2, 2, 4)),
    "chunk": lambda rank: _over(chunk=0),
    "draws": lambda rank: rondo.nn.split_sequence(Draws("mingru")),
    "no layer": lambda rank: rondo.nn.split_sequence(rondo.nn.LSTM(2, 3)),
    "maps": lambda rank: _over("paragru", maps=True),
    "maps of clipped": lambda rank: rondo.nn.split_sequence(rondo.Cell("mingru", clip_gradient=1.0), maps=True),
    "maps on one": lambda rank: _over(maps=rank == 0)(torch.zeros(2, 5, 2, 4)),
    "layer in chunks": lambda rank: rondo.nn.split_sequence(rondo.nn.MinGRU(2, 3, chunk=4)),
    "input": lambda rank: _over()(torch.zeros(2, 5, 3, 4)),
    "input on one": lambda rank: _over()(torch.zeros(2, 5, 2 + rank, 4)),
    "no tensor on one": lambda rank: _over()("x" if rank else torch.zeros(2, 5, 2, 4)),
    "twice": lambda rank: torch.autograd.functional.hessian(
        lambda x: _over()(x)[0].square().sum(), torch.ones(1, 5, 2, 4, dtype=torch.float64)
    ),
}


def dies(kind, rank, world):
    """The last rank ends before a call of its own."""
    cell = _over(chunk=CHUNK)
    for call in range(3):
        if rank == world - 1 and call == 1:
            os._exit(9)
        x = torch.randn(2, 20, 2, 4, requires_grad=kind == "backward")
        y, _ = cell(x)
        if kind == "backward":
            y.sum().backward()


def example(kind, rank, world):
    """What a script gives as torchrun starts it: the benchmark's record, or the example's losses."""
    if kind == "training":
        import sequence_parallel

        losses, again = sequence_parallel.main(TRAINING)
        return {"losses": torch.tensor(losses), "again": again}
    spec = importlib.util.spec_from_file_location("benchmark", SOURCE / "benchmarks/sequence_ranks.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "record.json"
        module.main([os.environ["RONDO_LIBRARY"], "--out", str(out), *BENCHMARK])
        return {"record": json.loads(out.read_text()) if rank == 0 else None}


def words(options):
    return [str(word) for name, value in options.items() for word in (f"--{name}", value)]


TRAINING = words({"size": 16, "batch": 2, "length": 48, "steps": 4, "chunk": 8, "device": "cpu"})
SIZES = {"steps": "120,240", "batch": 2, "channels": 8, "chunk": 16, "calls": 1, "samples": 2}
HOW = {"device": "cpu", "cells": "affine", "memories": "forgets,keeps", "hows": "guesses,maps", "dtype": "fp32"}
BENCHMARK = words(SIZES | HOW)
WAYS = {way.__name__: (way, {}) for way in (values, layer, twice, long, nothing, freed, refused, dies, example)}
WAYS |= {f"layer, {around.__name__}": (layer, {"around": around}) for around in (checkpointed, compiled)}
