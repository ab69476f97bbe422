"""Heads over ranks: each rank has some heads of a layer, which need nothing of the others."""

from __future__ import annotations

import copy
from typing import Any, TypeVar

import torch

from .._errors import InputError, UnsupportedError
from .recurrent import Recurrent

_Layer = TypeVar("_Layer", bound=Recurrent)
# Methods in which a subclass may look from one head to another.
_OF_A_SUBCLASS = ("project", "params", "mix", "forward")


def split_heads(layer: _Layer, rank: int, world: int) -> _Layer:
    """The heads of a layer that one of several ranks has: a layer of the same kind, with copies of their weights.

    Parameters
    ----------
    layer : Recurrent
        The whole layer, the same on all ranks. It stays as it is.
    rank : int
        Which part, from 0.
    world : int
        How many parts there are; `layer.heads` is a multiple of it.

    Returns
    -------
    part : Recurrent
        Its output has the channels of its heads, of each of the cell's outputs, as have its last states. With `output_size`
        its output is a summand: the sum over all ranks is the output of the whole layer, whose bias rank 0 alone has.

    Notes
    -----
    Nothing is sent between ranks within the layer. Each has the whole input, and its gradient of the input is a summand too.

    Raises
    ------
    InputError
        `layer` is no Recurrent or is sharded, `world` does not divide its heads, or there is no such rank.
    UnsupportedError
        The layer takes heads together, or its cell draws random numbers.

    Examples
    --------
    >>> import torch, rondo
    >>> layer, u = rondo.nn.SLSTM(8, 32, heads=4), torch.randn(3, 5, 8)
    >>> parts = [rondo.nn.split_heads(layer, rank, 2) for rank in range(2)]
    >>> parts[0](u)[0].shape
    torch.Size([3, 5, 16])
    >>> torch.allclose(torch.cat([part(u)[0] for part in parts], -1), layer(u)[0], atol=1e-6)
    True
    """
    axes = _axes_of(layer)
    for argument, value, least in (("world", world, 1), ("rank", rank, 0)):
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise InputError(f"split_heads: {argument} is {value!r}", f"it is a whole number from {least}")
    if layer.heads % world:
        raise InputError(f"split_heads: world={world} does not divide heads={layer.heads}")
    if rank >= world:
        raise InputError(f"split_heads: rank is {rank}", f"it is less than world={world}")
    count = layer.heads // world
    # A copy that finds these in the place of the layer's own, which are not copied.
    instead: dict[int, Any] = {id(layer.cell): layer.cell}
    for name, weight in layer.named_parameters():
        if name in axes:
            some = _some(name, weight, axes[name], layer.heads, rank * count, count)
            instead[id(weight)] = torch.nn.Parameter(some, weight.requires_grad)
    part = copy.deepcopy(layer, instead)
    part.heads, part.hidden_size = count, layer.hidden_size // world
    for one in part.modules():
        if isinstance(one, torch.nn.Linear):
            one.out_features, one.in_features = one.weight.shape
    if part.output_projection is not None and rank:
        part.output_projection.register_parameter("bias", None)  # it is added once
    return part


def _axes_of(layer: Any) -> dict[str, tuple[int, int]]:
    """`layer.by_head()`, once the layer is known to divide by head, and to be whole."""
    kind = type(layer).__name__
    if not isinstance(layer, Recurrent):
        raise InputError(f"split_heads: layer is {kind}", "it is a rondo.nn.Recurrent with several heads")
    if layer.cell.draws:
        raise UnsupportedError(
            f"split_heads: cell {layer.cell.name} draws random numbers by the number of the head",
            "each rank would draw those of the first heads",
        )
    depth = {name: _depth(layer, name) for name in (*_OF_A_SUBCLASS, "by_head")}
    own = [name for name in _OF_A_SUBCLASS if depth[name] < depth["by_head"]]
    if own:
        raise UnsupportedError(
            f"split_heads: {kind} has its own {' and '.join(own)}, which may take heads together",
            "if they do not, give it a by_head() that says how its parameters divide",
        )
    axes = layer.by_head()
    for name, weight in (*layer.named_parameters(), *layer.named_buffers()):
        if name not in axes and name != "output_projection.bias":
            raise UnsupportedError(f"split_heads: {name} of {kind} does not divide by head", "by_head() does not name it")
        if hasattr(weight, "placements"):
            raise InputError(f"split_heads: {name} is sharded", "split the heads first, and shard the parts")
    return axes


def _depth(layer: Recurrent, method: str) -> int:
    """How far the class that has the method lies behind the layer's own."""
    return next(depth for depth, one in enumerate(type(layer).__mro__) if method in vars(one))


def _some(name: str, weight: torch.Tensor, how: tuple[int, int], heads: int, first: int, count: int) -> torch.Tensor:
    """A copy of what some heads have of a parameter."""
    axis, times = how
    if weight.shape[axis] % (times * heads):
        raise InputError(
            f"split_heads: {name} has {weight.shape[axis]} rows along axis {axis}",
            f"by_head() says that {heads} heads lie there {times} times",
        )
    by_head = weight.detach().unflatten(axis, (times, heads, -1))
    return by_head.narrow(axis + 1, first, count).flatten(axis, axis + 2).clone(memory_format=torch.contiguous_format)
