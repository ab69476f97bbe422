"""A sequence over ranks gives what one process makes of it. `sequence_ranks.py` is what each process computes."""

import fcntl
import re
import sys
from functools import lru_cache
from itertools import pairwise

import pytest

torch = pytest.importorskip("torch", reason="no PyTorch: sequences over ranks are not tested")

import rondo
from rondo._torch import into
from rondo._torch.pieces import pieces_of

import ranks
import sequence_ranks
from conftest import SOURCE

sys.path.insert(0, str(SOURCE / "examples/python"))

import sequence_parallel

FOUR = ("affine", "affine that keeps", "hgrn", "hgrn, reversed", "lif", "paragru", "mingru with lengths and resets")
FOUR += tuple(name for name in sequence_ranks.CASES if name.startswith("maps") and "float32" not in name)
TWO = tuple(name for name in sequence_ranks.CASES if name not in ("hgrn", "lif", "mingru with lengths and resets"))
LONG = ("0.1 to 0.3", "0.9 to 0.99", "1 to 1")
AGAIN = ("paragru, float32", "maps of lru")
LAYERS = ("layer: HGRN", "layer, checkpointed: HGRN", "layer, compiled: MinLSTM")
JOBS = {
    "two": [
        2,
        *(f"values: {name}" for name in TWO),
        *LAYERS,
        *(f"twice: {name}" for name in AGAIN),
        *(f"long: {one}" for one in LONG),
        *(f"{what}: {way}" for what in ("nothing", "freed") for way in ("guesses", "maps")),
    ],
    "four": [4, *(f"values: {name}" for name in FOUR), "layer: ParaGRU"],
    "wrong": [2, *(f"refused: {name}" for name in sequence_ranks.WRONG)],
    "benchmark": [2, "example: benchmark"],
    "example": [2, "example: training"],
    "dies forward": [3, "dies: forward"],
    "dies backward": [3, "dies: backward"],
}
# Of the largest element.
WITHIN = {torch.float64: 1e-13, torch.float32: 2e-6, torch.bfloat16: 1.6e-2}


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What all processes of all jobs found, once for all processes of pytest-xdist, which share a folder."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "popen-" in base.name else base) / "sequences"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return ranks.computed(folder, JOBS, "sequence_ranks")


def of(found, job, case):
    """What the ranks of a job found of a case."""
    for rank, (status, of_rank, said) in enumerate(found[job]):
        assert status == 0, f"rank {rank}: {[one for one in of_rank.values() if isinstance(one, str)]}\n{said[-3000:]}"
    return [of_rank[case] for _, of_rank, _ in found[job]]


@lru_cache
def wanted_of(name, world):
    return sequence_ranks.whole(name, world)


def joined(parts, name):
    """What ranks have together: parts of what has steps, the same last states, and shares of other gradients."""
    tensors = [part[name] for part in parts]
    if name.startswith(("y", "gradient of x")):
        return torch.cat(tensors, 1)
    if name.startswith("last"):
        assert all(torch.equal(one, tensors[0]) for one in tensors)
        return tensors[0]
    return sum(tensors)


def apart(one, other):
    scale = other.abs().max().item()
    return (one.double() - other.double()).abs().max().item() / (scale or 1)


@pytest.mark.parametrize(("job", "name"), [("two", name) for name in TWO] + [("four", name) for name in FOUR])
def test_ranks_give_what_one_process_gives(job, name, found):
    parts = of(found, job, f"values: {name}")
    wanted = wanted_of(name, len(parts))
    within = WITHIN[sequence_ranks.CASES[name].dtype]
    errors = {one: apart(joined(parts, one), value) for one, value in wanted.items()}
    if "y without gradients" in parts[0]:
        errors["without gradients"] = apart(joined(parts, "y without gradients"), joined(parts, next(iter(wanted))))
    assert not {one: error for one, error in errors.items() if not error <= within}, errors
    # What is compared depends on what another rank has.
    assert all(value.abs().max() > 0 for value in wanted.values())


def test_gradients_of_initial_states_are_of_the_rank_that_begins(found):
    first, *others = of(found, "four", "values: hgrn")
    assert first["gradient of initial h"].abs().max() > 0
    assert all(one["gradient of initial h"].abs().max() == 0 for one in others)
    *others, last = of(found, "four", "values: hgrn, reversed")
    assert last["gradient of initial h"].abs().max() > 0
    assert all(one["gradient of initial h"].abs().max() == 0 for one in others)


@pytest.mark.parametrize("name", ["paragru, float32", "affine that forgets, float32", "lstm"])
def test_values_are_to_the_bit_those_of_pieces_in_order(name, found):
    parts = of(found, "two", f"values: {name}")
    y, last = sequence_ranks.in_order(name, 2)
    assert torch.equal(torch.cat([part[f"y {next(iter(last))}"] for part in parts], 1), y)
    for state, value in last.items():
        assert torch.equal(parts[0][f"last {state}"], value)


@pytest.mark.parametrize("name", AGAIN)
def test_a_call_gives_the_same_bits_again(name, found):
    for part in of(found, "two", f"twice: {name}"):
        assert part["first"].keys() == part["second"].keys()
        for name, value in part["first"].items():
            assert torch.equal(torch.as_tensor(value), torch.as_tensor(part["second"][name])), name


@pytest.mark.parametrize(("job", "case"), [*(("two", case) for case in LAYERS), ("four", "layer: ParaGRU")])
def test_a_layer_over_ranks(job, case, found):
    parts, kind = of(found, job, case), case.split(": ")[1]
    wanted = sequence_ranks.trained(*sequence_ranks.made_layer(kind), 1.0)
    for name, value in wanted.items():
        tensors = [part[name] for part in parts]
        whole = sum(tensors) if name.startswith("share") else torch.cat(tensors, 1)
        assert apart(whole, value) <= WITHIN[torch.float64], name


def test_little_is_walked_again_by_what_forgets(found):
    """Of 1000 steps in pieces of 64, 872 and 64."""
    forgets, remembers, keeps = (of(found, "two", f"long: {one}") for one in LONG)
    for pass_, other in (("forward", 1), ("backward", 0)):
        assert forgets[other][f"{pass_} again"] == 64 and forgets[other][f"{pass_} rounds"] == 1
        assert 64 < remembers[other][f"{pass_} again"] < 1000
        assert keeps[other][f"{pass_} again"] == 1000
    assert all(part["forward again"] == 0 for part in (forgets[0], remembers[0], keeps[0]))


@pytest.mark.parametrize("way", ["guesses", "maps"])
def test_no_rows_and_no_steps(way, found):
    for rank, part in enumerate(of(found, "two", f"nothing: {way}")):
        y, last, of_first, of_low, of_x = part["rows"]
        assert y.shape == (0, 20, 4) and last.shape == of_first.shape == (0, 4) and of_x.shape == (0, 20, 2, 4)
        assert of_low.shape == (1, 4) and not of_low.any()
        y, last, of_first, of_low, of_x = part["steps"]
        assert y.shape == (2, 0, 4) and torch.equal(last, torch.ones(2, 4)) and not of_low.any()
        # Both ranks' losses have the last state, which is the first one.
        assert torch.equal(of_first, torch.full((2, 4), 0.0 if rank else 2.0))


@pytest.mark.parametrize("way", ["guesses", "maps"])
def test_memory_of_a_pass_is_free_after_it(way, found):
    for part in of(found, "two", f"freed: {way}"):
        assert part["left"] == 0 and part["more"] == 0, part


SAID = {
    "other batch": r"InputError: mingru: ranks differ in B: (2 here on rank 0, and 3 on rank 1|3 here on rank 1, and 2 on rank 0)",
    "other gradients": "InputError: mingru: ranks differ in whether a gradient is wanted",
    "other cell": "InputError: (mingru|hgrn): ranks differ in the cell",
    "other constant": "InputError: rglru: ranks differ in the cell",
    "other type": "InputError: mingru: ranks differ in the type of x",
    "directions": "UnsupportedError: mingru: directions over ranks",
    "step": "UnsupportedError: mingru: one step does not lie over ranks",
    "chunk": "InputError: split_sequence: chunk is 0",
    "draws": "UnsupportedError: split_sequence: cell mingru draws random numbers",
    "no layer": "InputError: split_sequence: layer is LSTM",
    "maps": "UnsupportedError: split_sequence: maps=True: parts of cell paragru have no",
    "maps of clipped": "UnsupportedError: split_sequence: maps=True: parts of cell mingru have no",
    "maps on one": "InputError: mingru: ranks differ in maps",
    "layer in chunks": "UnsupportedError: split_sequence: chunk=4 of the layer",
    "input": "InputError: mingru: 'x' has shape",
    "input on one": "InputError: mingru: ('x' has shape|rank 1 was given what it cannot take)",
    "no tensor on one": "InputError: mingru: (x is str|rank 1 was given what it cannot take)",
    "twice": "NotDifferentiableError: ",
}


@pytest.mark.parametrize("name", sequence_ranks.WRONG)
def test_what_is_wrong_is_told_on_every_rank(name, found):
    for part in of(found, "wrong", f"refused: {name}"):
        assert re.match(SAID[name], part["said"]), part["said"]


def test_without_ranks_it_says_so():
    with pytest.raises(rondo.InputError, match="there are no ranks"):
        rondo.nn.split_sequence(rondo.Cell("mingru"))


@pytest.mark.parametrize("way", ["forward", "backward"])
def test_a_rank_that_dies_ends_the_others(way, found):
    """Each with one error of PyTorch's."""
    *others, last = found[f"dies {way}"]
    assert last[0] == 9 and not last[1]
    for status, of_rank, said in others:
        assert status == 1 and said.count("Traceback") == 1, said
        assert re.match(r"(RuntimeError|DistBackendError|DistNetworkError): ", of_rank[f"dies: {way}"]), of_rank


def test_pieces_are_short_where_something_may_change():
    assert pieces_of(1000, 64, True, True) == [(0, 64), (64, 936), (936, 1000)]
    assert pieces_of(1000, 64, True, False) == [(0, 64), (64, 1000)]
    assert pieces_of(10_000, 64, True, False) == [(0, 64), (64, 576), (576, 4672), (4672, 10_000)]
    assert pieces_of(100, 64, True, True) == [(0, 100)]
    assert pieces_of(1000, 64, False, False) == [(0, 1000)]
    assert pieces_of(0, 64, True, True) == []
    for steps in range(1, 400, 7):
        for ends in ((True, True), (False, True)):
            cuts = pieces_of(steps, 3, *ends)
            assert cuts[0][0] == 0 and cuts[-1][1] == steps
            assert all(one[1] == other[0] and one[0] < one[1] for one, other in pairwise(cuts))


def test_the_benchmark_measures_what_it_says(found):
    record = of(found, "benchmark", "example: benchmark")[0]["record"]
    assert record["world"] == 2 and len(record["rows"]) == 16
    assert {row["how"] for row in record["rows"]} == {"guesses", "maps"}
    for row in record["rows"]:
        assert row["same_bits"] and min(row["ms"], row["alone_ms"], row["part_ms"]) > 0
        assert row["strong"] == row["alone_ms"] / row["ms"]
        assert (row["weak"] is None) == (row["steps"] == 120)
        assert (row["error"] is None) == (row["steps"] == 240)
        assert row["error"] is None or row["error"] < 1e-6
        assert (row["memory"], row["how"]) == ("forgets", "guesses") or row["again"] == row["steps"] // 2


def test_the_example_has_the_losses_of_one_process(found):
    wanted, again = sequence_parallel.main(sequence_ranks.TRAINING)
    assert again == 0
    for part in of(found, "example", "example: training"):
        assert (part["losses"] - torch.tensor(wanted)).abs().max() < 1e-5
        assert part["again"] > 0
    (_, _, first), (_, _, last) = found["example"]
    assert "bytes a second on 2 ranks" in first and "walked" in last


def test_the_example_refuses_sequences_that_do_not_divide(monkeypatch, capsys):
    monkeypatch.setenv("WORLD_SIZE", "3")
    with pytest.raises(SystemExit):
        sequence_parallel.main(["--length", "64", "--device", "cpu"])
    assert "--length 64 is no multiple of 3 ranks" in capsys.readouterr().err


def test_outputs_are_written_where_a_launch_cannot_write_itself():
    """Memory whose channels do not lie side by side."""
    cell = rondo.Cell("mingru")
    x, first = torch.randn(2, 7, 1, 2, 4), torch.randn(2, 1, 1, 4)
    y, last = cell(x, initial={"h": first})
    memory = torch.full((2, 7, 1, 1, 8), 3.0)
    for out in (memory[..., ::2], torch.full((2, 7, 1, 1, 4), 3.0)):
        (found,) = into.forward([x, first], cell.text(False, False, "forward"), 0b11, False, False, [out])
        assert torch.equal(out.squeeze(3), y)
        assert torch.equal(found.squeeze(2), last["h"])
    assert (memory[..., 1::2] == 3).all()
