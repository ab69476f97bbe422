"""Training over ranks: what several processes make of a batch is what one makes of it. `ranks.py` is what each computes."""

import fcntl
import re
import sys

import pytest

torch = pytest.importorskip("torch", reason="no PyTorch: training over ranks is not tested")

from conftest import SOURCE

sys.path.insert(0, str(SOURCE / "examples/python"))

import ddp

import ranks

# Of the mean of a batch in pieces.
EXACT, BF16 = 2e-6, 1e-2
DEAR = ("ddp, compiled", "fsdp, compiled", "fsdp, bf16")  # which take seconds with larger models
JOBS = {
    "two": [
        2,
        *(f"{way}: {kind}" for way in ("ddp", "fsdp") for kind in ("LSTM", "heads", "diagonal", "chunks")),
        *(f"{way}: LSTM" for way in ranks.WAYS if way.startswith("ddp, ") and way not in DEAR),
        *(f"{way}: heads" for way in ranks.WAYS if way.startswith("fsdp, ") and way not in DEAR),
        *(f"{way}: diagonal" for way in DEAR),
        "fsdp, bf16: LSTM",
        "fsdp, checkpointed: chunks",
        "heads: heads",
    ],
    "four": [4, "ddp: heads", "fsdp: LSTM", "fsdp: heads", "fsdp, from meta: heads", "heads: heads"],
    "ddp": [3, "dies: ddp"],
    "fsdp": [3, "dies: fsdp"],
    "alone": [1, "sharded alone: heads"],
    "example of ddp": [2, "example: ddp"],
    "example of fsdp": [2, "example: fsdp"],
}


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What all processes of all jobs found, once for all processes of pytest-xdist, which share a folder."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "popen-" in base.name else base) / "ranks"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return ranks.computed(folder, JOBS)


@pytest.mark.parametrize("job", ["two", "four"])
def test_ranks_train_as_one_process(job, found):
    _, *cases = JOBS[job]
    for rank, (status, of_rank, said) in enumerate(found[job]):
        assert status == 0, f"rank {rank}: {[one for one in of_rank.values() if isinstance(one, str)]}\n{said[-3000:]}"
    alone = {kind: ranks.alone(kind) for kind in ranks.MODELS}
    wrong = []
    for case in cases:
        wanted = alone[case.split(": ")[1]]
        for rank, (_, of_rank, _) in enumerate(found[job]):
            assert of_rank[case].keys() == wanted.keys(), (case, sorted(of_rank[case].keys() ^ wanted.keys()))
            error = max(float((of_rank[case][name] - value).detach().abs().max()) for name, value in wanted.items())
            if not error <= (BF16 if "bf16" in case else EXACT):
                wrong.append(f"{case}, rank {rank}: {error:.1e}")
    assert not wrong, wrong


def test_training_changes_what_is_compared():
    """By more than what is tolerated, so that the test above sees whether ranks train."""
    for kind in ranks.MODELS:
        first = dict(ranks.made(kind).named_parameters())
        trained = ranks.alone(kind)
        for name, weight in first.items():
            moved = float((trained[name] - weight.detach()).abs().max())
            assert moved > 10 * EXACT, (kind, name, moved)


@pytest.mark.parametrize("way", ["ddp", "fsdp"])
def test_a_rank_that_dies_ends_the_others(way, found):
    """Each with one error of PyTorch's."""
    *others, last = found[way]
    assert last[0] == 9 and not last[1]
    for status, of_rank, said in others:
        assert status == 1 and said.count("Traceback") == 1, said
        assert re.match(r"(RuntimeError|DistBackendError|DistNetworkError): ", of_rank[f"dies: {way}"]), of_rank


def test_what_is_sharded_is_whole_within_its_layer_alone(found):
    ((status, of_rank, said),) = found["alone"]
    assert status == 0, said
    assert "slstm: params['R'] is sharded" in of_rank["sharded alone: heads"], of_rank


@pytest.mark.parametrize("how", ["ddp", "fsdp"])
def test_the_example_has_the_losses_of_one_process(how, found):
    processes = found[f"example of {how}"]
    assert all(status == 0 for status, _, _ in processes), processes[0][2][-3000:]
    wanted = torch.tensor(ddp.main(ranks.EXAMPLE))
    for _, of_rank, _ in processes:
        assert (of_rank[f"example: {how}"]["losses"] - wanted).abs().max() < 1e-4
    (_, _, first), (_, _, second) = processes
    assert "bits a byte in the end" in first and "on 2 ranks" in first
    assert "bits a byte" not in second


def test_the_example_refuses_a_batch_that_does_not_divide(monkeypatch, capsys):
    monkeypatch.setenv("WORLD_SIZE", "3")
    with pytest.raises(SystemExit):
        ddp.main(["--batch", "4", "--device", "cpu"])
    assert "--batch 4 is no multiple of 3 ranks" in capsys.readouterr().err
