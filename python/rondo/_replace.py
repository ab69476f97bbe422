"""`rondo.replace`: puts Rondo's layers where torch.nn's are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch

from ._errors import InputError
from ._remarks import logger
from ._torch.types import TYPE_OF
from .nn import GRU, LSTM, RNN
from .nn._layers import Layers

_STEPS = (torch.nn.LSTMCell, torch.nn.GRUCell, torch.nn.RNNCell)


@dataclass(frozen=True)
class Left:
    """A module that stayed as it was.

    Attributes
    ----------
    name : str
        Where it is: "encoder.rnn"; "" is the model itself.
    kind : str
        Its class.
    why : str
        Why it stayed.
    """

    name: str
    kind: str
    why: str


@dataclass
class Replacement:
    """What `replace` did.

    Attributes
    ----------
    model : torch.nn.Module
        The model; another object only if it was a recurrent layer itself.
    replaced : list of str
        Names of the layers that are Rondo's now.
    left : list of Left
        Recurrent modules that stayed, and why.
    """

    model: torch.nn.Module
    replaced: list[str] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)

    def __str__(self) -> str:
        lines = [
            f"{len(self.replaced)} replaced"
            + (": " + ", ".join(n or "the model" for n in self.replaced) if self.replaced else "")
        ]
        lines += [f"left {one.name or 'the model'} ({one.kind}): {one.why}" for one in self.left]
        return "\n".join(lines)


def replace(model: torch.nn.Module, *, save: str = "states", math: str = "default", chunk: int | None = None) -> Replacement:
    """Puts Rondo's LSTM, GRU and RNN where torch.nn's are, in place. Parameters stay the same objects, so optimisers go on.

    Parameters
    ----------
    model : torch.nn.Module
    save, math, chunk : optional
        As the layers take them.

    Returns
    -------
    Replacement
        The model, what was replaced, and what was left and why. Printed, it is a line for each.

    Raises
    ------
    InputError
        `model` is no module, or an option is of no use to a layer.

    Examples
    --------
    >>> import torch, rondo
    >>> model = torch.nn.Sequential(torch.nn.LSTM(8, 16, proj_size=4), torch.nn.LSTMCell(4, 16))
    >>> print(rondo.replace(model))
    1 replaced: 0
    left 1 (LSTMCell): it computes one step; rondo.Cell has step()
    """
    if not isinstance(model, torch.nn.Module):
        raise InputError(f"replace: model is {type(model).__name__}", "give a torch.nn.Module")
    report = Replacement(model)
    made: dict[int, torch.nn.Module] = {}  # a module may stand in several places
    report.model = _visited("", model, report, made, {"save": save, "math": math, "chunk": chunk})
    for line in str(report).splitlines():
        logger.info("replace: %s", line)
    return report


def _visited(name: str, module: torch.nn.Module, report: Replacement, made: dict[int, Any], options: Any) -> torch.nn.Module:
    """The module, or the layer that takes its place."""
    if id(module) in made:
        return made[id(module)]
    made[id(module)] = module
    if isinstance(module, torch.nn.RNNBase | _STEPS[0] | _STEPS[1] | _STEPS[2]):
        why = _why_not(module)
        if why:
            report.left.append(Left(name, type(module).__name__, why))
        else:
            made[id(module)] = _rondos(module, options)
            report.replaced.append(name)
        return made[id(module)]
    for child_name, child in list(module.named_children()):
        new = _visited(f"{name}.{child_name}" if name else child_name, child, report, made, options)
        if new is not child:
            setattr(module, child_name, new)
    return module


def _why_not(module: torch.nn.Module) -> str:
    """Why a recurrent module has to stay; "": it has not."""
    if isinstance(module, _STEPS):
        return "it computes one step; rondo.Cell has step()"
    if type(module) not in (torch.nn.LSTM, torch.nn.GRU, torch.nn.RNN):
        return "its class is derived from torch.nn's, and may compute something else"
    for kind in ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks"):
        if getattr(module, kind):
            return "it has hooks, which another module would not have"
    for weight in module.parameters():
        if weight.dtype not in TYPE_OF or (weight.dtype is torch.float64 and weight.device.type == "cuda"):
            return f"its parameters are {str(weight.dtype)[6:]} on {weight.device}, in which Rondo does not compute there"
        if weight.device.type not in ("cpu", "cuda", "meta"):
            return f"it is on {weight.device}, and Rondo computes on CPUs and CUDA GPUs"
    return ""


def _rondos(module: Any, options: dict[str, Any]) -> Layers:
    kind: Any = {torch.nn.LSTM: LSTM, torch.nn.GRU: GRU, torch.nn.RNN: RNN}[type(module)]
    own = {LSTM: ("proj_size",), GRU: (), RNN: ("nonlinearity",)}[kind]
    layer = kind(
        module.input_size,
        module.hidden_size,
        num_layers=module.num_layers,
        bias=module.bias,
        batch_first=module.batch_first,
        dropout=module.dropout,
        bidirectional=module.bidirectional,
        device="meta",
        **{name: getattr(module, name) for name in own},
        **options,
    )
    for name, _ in list(layer.named_parameters()):
        setattr(layer, name, getattr(module, name))
    return layer.train(module.training)
