"""The examples in Python run at small size, and learn."""

import json
import sys

import pytest

torch = pytest.importorskip("torch", reason="no PyTorch: the examples in Python are not run")

from conftest import SOURCE

sys.path.insert(0, str(SOURCE / "examples/python"))

import charlm
import dreamer_gru
import own_cell
import state_tracking


def test_the_text_is_there():
    text = charlm.corpus()
    assert len(text) >= 1 << 20 and text.dtype is torch.uint8
    assert b"import" in bytes(text[:100_000].tolist())


@pytest.mark.parametrize("layer", charlm.LAYERS)
def test_a_language_model_learns(layer):
    found = charlm.train(layer, size=32, batch=8, length=16, steps=30, text=charlm.corpus(200_000))
    assert found["bits"][0] > 7 and found["bits"][-1] < found["bits"][0] - 1
    assert found["tokens_per_s"] > 0


def test_torchs_layer_has_the_same_losses():
    ours, theirs = (charlm.train("GRU", size=32, batch=4, length=16, steps=6, layers=2, peer=peer) for peer in (False, True))
    assert max(abs(a - b) for a, b in zip(ours["bits"], theirs["bits"], strict=True)) < 1e-3


def test_charlm_as_a_command(tmp_path, capsys):
    small = ["--layer", "MinGRU", "--size", "16", "--batch", "2", "--length", "8", "--steps", "4", "--device", "cpu"]
    picture = tmp_path / "curve.png"
    charlm.main([*small, "--json", str(tmp_path / "record.json"), "--picture", str(picture)])
    said = capsys.readouterr().out
    assert "tokens a second" in said
    assert picture.exists() or "matplotlib is not installed" in said
    assert json.loads((tmp_path / "record.json").read_text())["layer"] == "MinGRU"


WRONG = {
    "--layer SLSTM --peer": "torch has no SLSTM: --peer goes with LSTM and GRU",
    "--how graphed --device cpu": "--how graphed needs a GPU",
}


@pytest.mark.parametrize("words", WRONG)
def test_wrong_words_are_told(words, capsys):
    with pytest.raises(SystemExit):
        charlm.main(words.split())
    assert WRONG[words] in capsys.readouterr().err


def test_words_of_s5_are_products():
    symbols, answers = state_tracking.words("s5", 3, 7, torch.Generator().manual_seed(1))
    for row in range(3):
        now = (0, 1, 2, 3, 4)
        for t in range(7):
            generator = state_tracking.PERMUTATIONS[state_tracking.GENERATORS[symbols[row, t]]]
            now = tuple(now[place] for place in generator)
            assert state_tracking.PERMUTATIONS[answers[row, t]] == now


def test_parity_needs_more_than_a_linear_recurrence():
    ours = state_tracking.run("parity", "RNN", size=32, batch=64, steps=400)
    linear = state_tracking.run("parity", "MinGRU", size=32, batch=64, steps=150)
    assert ours["trained"] > 0.95 and ours["longer"] > 0.9
    assert linear["trained"] < 0.7


def test_products_of_permutations_need_more_than_a_linear_recurrence():
    ours = state_tracking.run("s5", "LSTM", length=8, steps=1000)
    linear = state_tracking.run("s5", "MinGRU", length=8, steps=500)
    assert ours["trained"] > 0.95
    assert linear["trained"] < 0.4


def test_state_tracking_as_a_command(capsys):
    state_tracking.main(["--task", "s5", "--size", "16", "--length", "4", "--steps", "2", "--device", "cpu"])
    said = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in said] == [["s5", "LSTM"], ["s5", "MinGRU"]]
    assert all("right after 4 symbols" in line and "after 16; 2 steps" in line for line in said)


def test_an_own_cell_learns():
    losses = own_cell.train(steps=200)
    assert sum(losses[-10:]) / 10 < 0.05 < losses[0]


def test_a_world_model_learns_and_dreams():
    model, losses = dreamer_gru.train(steps=120)
    assert losses[0] > 7 and sum(losses[-10:]) / 10 < 2.5
    assert dreamer_gru.dream(model)["places"] > 0.9


def test_a_world_model_learns_step_by_step():
    losses = dreamer_gru.train(posterior="state", size=32, batch=8, length=12, steps=60)[1]
    assert losses[0] > 7 and sum(losses[-10:]) / 10 < 6


def test_the_sequence_of_a_world_model_is_its_steps():
    """Values and gradients of one launch are those of the step loop, and those of `cell.step` without gradients."""
    model, batch = dreamer_gru.WorldModel(32), dreamer_gru.Corridor(4, 1).record(12)
    first, layer = batch["first"], model.recurrence
    assert first[:, 1:].any(), "no row has a second episode"
    whole, z, _ = model.observe(batch)
    driven = model.driven(z, batch["action"], first)
    state, parts = None, []
    for t in range(12):
        h, state = layer(driven[:, t : t + 1], state, resets=first[:, t : t + 1])
        parts.append(h)
    steps = torch.cat(parts, 1)
    assert torch.allclose(whole, steps, atol=1e-5)
    weights = list(layer.parameters())
    grads = [torch.autograd.grad(h.square().sum(), weights, retain_graph=True) for h in (whole, steps)]
    for a, b in zip(*grads, strict=True):
        assert torch.allclose(a, b, rtol=1e-4, atol=1e-5)
    state = None
    with torch.no_grad():
        for t in range(12):
            if state is not None:
                state["h"][first[:, t]] = 0
            y, state = layer.cell.step(layer.project(driven[:, t]), state, params=layer.params())
            assert torch.allclose(y.flatten(1), whole[:, t], atol=1e-5)


@pytest.mark.parametrize("posterior", ["observation", "state"])
def test_a_world_model_forgets_at_a_reset(posterior):
    model, batch = dreamer_gru.WorldModel(32, posterior=posterior), dreamer_gru.Corridor(4, 1).record(12)
    row, t = torch.nonzero(batch["first"][:, 1:])[0].tolist()  # an episode begins at t + 1
    other = {name: value.clone() for name, value in batch.items()}
    other["seen"][row, : t + 1] += 1
    other["action"][row, : t + 1] += 1
    found = []
    for one in (batch, other):
        torch.manual_seed(3)
        found.append(model.observe(one)[0])
    assert not torch.allclose(found[0][row, t], found[1][row, t])
    assert torch.equal(found[0][row, t + 1 :], found[1][row, t + 1 :])


def test_the_world_model_as_a_command(capsys):
    dreamer_gru.main(["--steps", "3", "--size", "16", "--device", "cpu"])
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("step    0: loss ") and "of the places" in said[-1]
