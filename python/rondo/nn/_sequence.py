"""Sequences over ranks: each rank has some steps of them."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from itertools import accumulate
from typing import Any, TypeVar, overload
from zlib import crc32

import torch
import torch.distributed as dist

from .._errors import InputError, RondoError, UnsupportedError
from .._structure import structure_of
from .._torch import autograd
from .._torch.call import Arguments, results_of
from .._torch.maps import MOST_ROWS, STEPS, has_map
from .._torch.over_ranks import Line, OverRanks, Record, Setting, forward
from .._torch.pieces import GROWTH, Part, Tensors, pieces_of
from ..cell import Cell
from .recurrent import Recurrent

_Layer = TypeVar("_Layer", bound=Recurrent)
LEAST = 512
# What ranks agree on, and what they are told of a rank that was given something wrong.
AGREED = ("the cell", "B", "H", "D", "the type of x", "whether a gradient is wanted", "whether there are lengths", "maps")
WRONG = -1
TYPES = (torch.float32, torch.bfloat16, torch.float16, torch.float64)


@overload
def split_sequence(layer: _Layer, group: Any = None, *, chunk: int = LEAST, maps: bool = False) -> _Layer: ...


@overload
def split_sequence(layer: Cell, group: Any = None, *, chunk: int = LEAST, maps: bool = False) -> PartOfSequence: ...


def split_sequence(layer: Any, group: Any = None, *, chunk: int = LEAST, maps: bool = False) -> Any:
    """A cell or layer whose sequences lie over ranks: each rank calls it with its own steps.

    Rank 0 has the first steps, rank 1 those that follow, and so on; parts need not be of one length. All ranks walk their parts
    at once, from a guess of the states that they begin with. Then they tell each other how their parts end, and each walks
    those of its steps again for which that matters: until, at the end of a piece of its part, the states are the same to the
    bit. What they give is what one process gives that walks the same pieces one after another, to the bit if it runs the same
    kernels. The backward pass does the same from the end.

    Parameters
    ----------
    layer : Recurrent or Cell
        A layer; what is given back shares its parameters. Or a cell.
    group : ProcessGroup, optional
        The ranks, of `torch.distributed`; None: all of them.
    chunk : int, optional
        Steps of a part's first piece and, in training, of its last one, the least that are walked again. Other pieces grow
        from there.
    maps : bool, optional
        For cells that are affine by channel, such as MinGRU and HGRN, and remember for as long as a rank's part, or longer:
        each rank takes the map of its part first, last states as a function of first ones, and then walks once from what all
        maps say. It takes each pass about twice, whatever the cell remembers; results are exact but for rounding.

    Returns
    -------
    part : Recurrent or PartOfSequence
        It is called as the layer or the cell is, on all ranks alike, with this rank's steps of inputs and resets; `lengths`
        and `initial` are those of the whole sequences, the same on all ranks. Outputs are those of this rank's steps; last
        states are those of the whole sequences, on all ranks. `records` of the cell says what its last passes took.

    Notes
    -----
    What is differentiated is the sum of all ranks' losses, so all of them must run a backward pass through what they got.
    Gradients of inputs are whole. Those of parameters and initial states are the rank's share: their sum over the ranks is the
    gradient, and DistributedDataParallel takes the mean.

    A pass takes little more than its part's own time if the cell forgets within some pieces. If it forgets within one rank's
    part, that part is walked at most twice. A cell that remembers for longer is as right, and gains little or nothing.

    Raises
    ------
    InputError
        `layer` or `chunk` is something else, or `torch.distributed` has not begun. In a call: ranks differ in what they give.
    UnsupportedError
        The cell draws random numbers, or the layer walks in chunks.

    Examples
    --------
    >>> import rondo
    >>> part = rondo.nn.split_sequence(rondo.nn.MinGRU(8, 16))    # doctest: +SKIP
    >>> y, last = part(u.chunk(world, 1)[rank])                   # doctest: +SKIP
    """
    if isinstance(layer, Recurrent):
        if layer.chunk is not None:
            raise UnsupportedError(f"split_sequence: chunk={layer.chunk} of the layer", "make the layer without it")
        made = copy.copy(layer)
        made.cell = split_sequence(layer.cell, group, chunk=chunk, maps=maps)
        return made
    if not isinstance(layer, Cell):
        raise InputError(
            f"split_sequence: layer is {type(layer).__name__}",
            "it is a rondo.nn.Recurrent or a rondo.Cell; rondo.nn.Recurrent('lstm', ...) is a layer of any cell",
        )
    if not isinstance(chunk, int) or isinstance(chunk, bool) or chunk < 1:
        raise InputError(f"split_sequence: chunk is {chunk!r}", "it is a number of steps, from 1")
    if layer.draws:
        raise UnsupportedError(
            f"split_sequence: cell {layer.name} draws random numbers by the number of the step",
            "each rank would draw those of the first steps",
        )
    if not dist.is_available() or not dist.is_initialized():
        raise InputError("split_sequence: there are no ranks", "call torch.distributed.init_process_group() first")
    if maps and not has_map(layer._plain):
        raise UnsupportedError(
            f"split_sequence: maps=True: parts of cell {layer.name} have no small maps",
            f"cells have that are affine by channel, with {MOST_ROWS} rows of states at most and without clip_gradient",
        )
    return PartOfSequence(layer, group, chunk, maps)


class PartOfSequence(Cell):
    """A cell whose calls have one rank's steps: what `split_sequence` gives.

    Parameters
    ----------
    cell : Cell
        The cell that walks.
    group : ProcessGroup or None
        The ranks.
    chunk : int
        Steps of the shortest pieces.
    maps : bool
        Whether parts are joined by their maps.

    Attributes
    ----------
    records : dict of str to Record
        Of the last call's passes, "forward" and "backward": `rounds`, how often the ranks told each other what their parts end
        with, and `again`, how many steps this one has walked again.
    """

    def __init__(self, cell: Cell, group: Any, chunk: int, maps: bool) -> None:
        self._set(cell.description)
        self.group, self.chunk, self.maps = group, chunk, bool(maps)
        self.rank, self.world = dist.get_rank(group), dist.get_world_size(group)
        if self.rank < 0:
            raise InputError("split_sequence: this process is not in the group", "call it on the ranks of the group alone")
        self.records: dict[str, Record] = {}
        self._agreed: set[tuple[int, ...]] = set()
        self._number = crc32(repr((self.hash, sorted(self.constants.items()))).encode())  # stands for the cell

    def __deepcopy__(self, memo: Any) -> PartOfSequence:
        return PartOfSequence(self, self.group, self.chunk, self.maps)

    def __reduce__(self) -> Any:
        raise UnsupportedError(
            f"{self.name}: a part of a sequence belongs to its process", "write the cell or layer it was made of"
        )

    def with_options(self, **changes: Any) -> PartOfSequence:
        made = Cell.__new__(Cell)
        made._set(self.description)
        return split_sequence(made.with_options(**changes), self.group, chunk=self.chunk, maps=self.maps)

    def step(self, *_: Any, **__: Any) -> Any:
        raise UnsupportedError(f"{self.name}: one step does not lie over ranks", "call step() of the cell itself")

    def __call__(
        self,
        x: Any,
        *,
        params: Mapping[str, Any] | None = None,
        initial: Mapping[str, Any] | None = None,
        lengths: Any = None,
        resets: Any = None,
        reverse: bool = False,
        batch_first: bool = True,
        directions: bool = False,
    ) -> tuple[Any, dict[str, Any]]:
        """Runs the cell over this rank's steps, as `Cell` does over all."""
        if directions:
            raise UnsupportedError(f"{self.name}: directions over ranks", "call it once more with reverse for the second half")
        return _outside_of_graphs(self, x, params, initial, lengths, resets, reverse, batch_first)

    def _walked(
        self, arguments: Arguments, sizes: dict[str, int], lengths: Any, resets: Any, reverse: bool, batch_first: bool
    ) -> Tensors:
        """Outputs of this rank's steps, and the last states."""
        plain = self._plain
        by_name = {spec.name: tensor for spec, tensor in zip(arguments.specs, arguments.tensors, strict=True)}
        tensors = [by_name[spec.name] for spec in plain.inputs + plain.params]
        first = [by_name.get(spec.name) for spec in plain.initials]
        saving = autograd.wants_gradient(arguments.tensors)
        self._agree(arguments, sizes, saving, lengths is not None)
        steps, many = sizes["T"] if sizes["B"] else 0, self.world > 1
        begin, end = (many and saving, many) if reverse else (many, many and saving)
        by_maps = self.maps and many
        pieces = pieces_of(steps, STEPS if by_maps else self.chunk, begin, end, 1 if by_maps else GROWTH)
        if lengths is not None:
            lengths = self._left(lengths, sizes["T"], pieces)
        how = self.text(lengths is not None, resets is not None, "reverse" if reverse else "forward")
        part = Part(how, structure_of(how), not batch_first, [], [], lengths or [], resets, pieces, reverse, sizes)
        setting = Setting(part, Line(self.group, self.rank, self.world, reverse), by_maps)
        self.records = setting.records
        if saving:
            found: Any = OverRanks.apply(setting, *tensors, *first)  # pyright: ignore[reportCallIssue]
            return found
        with torch.no_grad():
            return forward(setting, tensors, first, False).results

    def _gathered(self, numbers: list[int], device: Any) -> list[list[int]]:
        line = Line(self.group, self.rank, self.world)
        return [row.tolist() for row in line.gather(torch.tensor(numbers, dtype=torch.int64, device=device))]

    def _agree(self, arguments: Arguments, sizes: dict[str, int], saving: bool, has_lengths: bool) -> None:
        """All ranks are to give the same but for steps: looked at when a call is the first of its kind."""
        kind = TYPES.index(arguments.storage)
        numbers = (*(sizes[axis] for axis in "BHD"), kind, saving, has_lengths, self.maps)
        mine = (self._number, *map(int, numbers))
        if mine in self._agreed:
            return
        for rank, theirs in enumerate(self._gathered(list(mine), arguments.device)):
            if theirs[0] == WRONG:
                raise InputError(f"{self.name}: rank {rank} was given what it cannot take", "its own error says what")
            for name, one, other in zip(AGREED, mine, theirs, strict=True):
                if one != other:
                    raise InputError(
                        f"{self.name}: ranks differ in {name}: {one} here on rank {self.rank}, and {other} on rank {rank}",
                        "all ranks give the same but for their steps",
                    )
        self._agreed.add(mine)

    def _tell_of_error(self, x: Any) -> None:
        """Ends the first call of the others, who wait for what this rank gives: later ones are not agreed on."""
        if self._agreed:
            return
        first = next(iter(x.values()), None) if isinstance(x, Mapping) else x
        on_cuda = dist.get_backend(self.group) == "nccl"
        device = first.device if isinstance(first, torch.Tensor) else torch.device("cuda" if on_cuda else "cpu")
        self._gathered([WRONG] * len(AGREED), device)

    def _left(self, lengths: torch.Tensor, steps: int, pieces: list[tuple[int, int]]) -> list[torch.Tensor]:
        """Of each piece, how many of its steps each row has."""
        all_steps = [found[0] for found in self._gathered([steps], lengths.device)]
        begin = [0, *accumulate(all_steps)][self.rank]
        return [(lengths - begin - at).clamp(0, end - at) for at, end in pieces]


def _over_ranks(
    cell: PartOfSequence,
    x: Any,
    params: Any,
    initial: Any,
    lengths: Any,
    resets: Any,
    reverse: bool,
    batch_first: bool,
) -> tuple[Any, dict[str, Any]]:
    plain = cell._plain
    try:
        arguments = Arguments(plain, x, True, batch_first)
        arguments.add_named("params", plain.params, params, True)
        arguments.add_named("initial", plain.initials, initial, False)
        flags = arguments.flags(lengths, resets, batch_first)
        sizes = plain.sizes(arguments.specs, [tensor.shape for tensor in arguments.tensors])
    except RondoError:
        cell._tell_of_error(x)
        raise
    lengths, resets = flags[0] if lengths is not None else None, flags[-1] if resets is not None else None
    found = cell._walked(arguments, sizes, lengths, resets, reverse, batch_first)
    return results_of(plain, plain.results, found, arguments.headless, batch_first)


# It looks at what other ranks have sent, which no graph can hold.
_outside_of_graphs: Any = torch.compiler.disable(_over_ranks)
