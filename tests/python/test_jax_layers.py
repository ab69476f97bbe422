"""Layers of `rondo.jax`: without a framework beside `rondo.nn.Recurrent`, in Flax NNX and in Equinox where these are, and the
example that is made of them."""

import sys

import pytest

jax = pytest.importorskip("jax", reason="no JAX: rondo.jax is not tested")

import jax.numpy as jnp
import numpy as np
import rondo
import rondo.jax
from rondo.jax import Layer

from conftest import SOURCE
from jax_parts import assert_close, draw

sys.path.insert(0, str(SOURCE / "examples/python"))

import jax_lm


def of_nnx(*sizes, **options):
    flax = pytest.importorskip("flax", reason="no Flax: its layer is not tested")
    import rondo.jax.nnx

    layer = rondo.jax.nnx.Recurrent(*sizes, **options, rngs=flax.nnx.Rngs(0))
    graph, state = flax.nnx.split(layer)
    return layer, state, lambda state: flax.nnx.merge(graph, state)


def of_equinox(*sizes, **options):
    equinox = pytest.importorskip("equinox", reason="no Equinox: its layer is not tested")
    import rondo.jax.equinox

    layer = rondo.jax.equinox.Recurrent(*sizes, **options, key=jax.random.key(0))
    arrays, rest = equinox.partition(layer, equinox.is_array)
    return layer, arrays, lambda arrays: equinox.combine(arrays, rest)


@pytest.mark.parametrize(("make", "proj_size"), [(of_nnx, None), (of_equinox, 6)])
def test_a_layer_computes_and_learns(make, proj_size):
    options = {"heads": 2, "output_size": 5, "proj_size": proj_size}
    layer, weights, layer_of = make(rondo.jax.cell("slstm", strategy="reference"), 6, 32, **options)
    u = draw(3, 4, 6)

    @jax.jit
    def descend(weights):
        loss, grads = jax.value_and_grad(lambda weights: ((layer_of(weights)(u)[0] - 1) ** 2).mean())(weights)
        return loss, jax.tree.map(lambda one, grad: one - 0.3 * grad, weights, grads)

    losses = []
    for _ in range(8):
        loss, weights = descend(weights)
        losses.append(float(loss))
    assert losses[-1] < 0.5 * losses[0]
    y, last = layer(u, lengths=[4, 1, 0])
    assert y.shape == (3, 4, 5) and sorted(last) == ["c", "h", "m", "n"]
    assert_close(layer(u[:, 2:], layer(u[:, :2])[1])[0], layer(u)[0][:, 2:])


@pytest.mark.parametrize("name", ["nnx", "equinox"])
def test_a_framework_that_is_not_there_is_told(monkeypatch, name):
    package = {"nnx": "flax"}.get(name, name)
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, f"rondo.jax.{name}", raising=False)
    with pytest.raises(rondo.LibraryNotFoundError, match=f"rondo.jax.{name} needs {package}, which is not installed"):
        __import__(f"rondo.jax.{name}")


@pytest.mark.parametrize("cell", ["lnlstm", "affine"])
def test_a_layer_is_as_the_layer_of_pytorch(cell):
    torch = pytest.importorskip("torch", reason="no PyTorch: layers are not compared with its own")
    options = {"heads": 2, "output_size": 5, "batch_first": False, "reverse": True}
    theirs = rondo.nn.Recurrent(rondo.Cell(cell, strategy="reference"), 6, 32, **options)
    layer = Layer(rondo.jax.cell(cell, strategy="reference"), 6, 32, **options)
    weights = {name: jnp.asarray(one.detach().numpy()) for name, one in theirs.named_parameters()}
    renamed = {}
    for name, one in weights.items():
        where, _, kind = name.rpartition("_projection.")
        renamed[f"{where}_{'kernel' if kind == 'weight' else kind}" if where else name] = one.T if kind == "weight" else one
    first = layer.init(jax.random.key(0))
    assert {name: one.shape for name, one in first.items()} == {name: one.shape for name, one in renamed.items()}
    assert all((first[name] == 1).all() for name in first if name.startswith("gamma"))
    u = draw(4, 3, 6)
    wanted, last = theirs(torch.from_numpy(np.array(u)))
    found = layer(renamed, u)
    assert_close(found, (wanted.detach().numpy(), {name: one.detach().numpy() for name, one in last.items()}))


def test_a_layer_with_a_projection_is_torchs():
    torch = pytest.importorskip("torch", reason="no PyTorch: layers are not compared with its own")
    theirs = torch.nn.LSTM(6, 16, proj_size=5, batch_first=True)
    layer = Layer(rondo.jax.cell("lstm", strategy="reference"), 6, 16, proj_size=5)
    w_ih, w_hh, b_ih, b_hh, w_hr = (jnp.asarray(one.detach().numpy()) for one in theirs.parameters())
    weights = {"input_kernel": w_ih.T, "input_bias": b_ih, "proj_kernel": w_hr.T[None]}
    weights |= {"R": w_hh.reshape(1, 4, 16, 5), "b": b_hh.reshape(1, 4, 16)}
    first = layer.init(jax.random.key(0))
    assert {name: one.shape for name, one in first.items()} == {name: one.shape for name, one in weights.items()}
    u = draw(3, 7, 6)
    y, last = layer(weights, u)
    wanted, (_, c) = theirs(torch.from_numpy(np.array(u)))
    assert_close((y, last["c"][:, 0]), (wanted.detach().numpy(), c[0].detach().numpy()))
    grad = jax.grad(lambda weights: (layer(weights, u)[0] ** 2).sum())(weights)["proj_kernel"]
    wanted.square().sum().backward()
    assert_close(grad[0].T, theirs.weight_hr_l0.grad.numpy())


WRONG = {
    "input_size is 0": {"input_size": 0},
    "hidden_size is 1.5": {"hidden_size": 1.5},
    "output_size is True": {"output_size": True},
    "hidden_size=8 is no multiple of heads=3": {"heads": 3},
    "proj_size is 0": {"proj_size": 0},
    "proj_size=2: cell mingru has not what it is for .that is at least one matrix": {"proj_size": 2},
}


@pytest.mark.parametrize("words", WRONG)
def test_wrong_sizes_are_told(words):
    with pytest.raises(rondo.InputError, match=f"Layer: {words}"):
        Layer("mingru", **{"input_size": 4, "hidden_size": 8, **WRONG[words]})


def test_a_wrong_input_is_told():
    layer = Layer("mingru", 4, 8)
    with pytest.raises(rondo.InputError, match=r"Layer: input has shape \[2, 3, 5\] \(it is \[B, T, 4\]\)"):
        layer(layer.init(jax.random.key(0)), draw(2, 3, 5))


def test_a_language_model_learns():
    text = jax_lm.corpus(200_000)
    assert len(text) == 200_000 and b"import" in bytes(text[:100_000])
    found = jax_lm.train("mingru", size=32, layers=2, batch=8, length=16, steps=30, text=text)
    assert found["bits"][0] > 7 and found["bits"][-1] < found["bits"][0] - 1
    assert found["tokens_per_s"] > 0


def test_the_language_model_as_a_command(capsys):
    jax_lm.main(["--layer", "mingru", "--size", "16", "--batch", "2", "--length", "8", "--steps", "4"])
    assert "tokens a second" in capsys.readouterr().out
