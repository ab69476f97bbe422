"""`rondo.nn.Recurrent`: a layer of any cell, and those that are ready made."""

import pytest

torch = pytest.importorskip("torch", reason="no PyTorch: layers of cells are not tested")

import rondo

from parts import assert_close, assert_equal, leaf

READY = ["SLSTM", "MinGRU", "MinLSTM", "HGRN", "ParaGRU", "ParaLSTM", "BlockGRU", "LayerNormLSTM"]


@pytest.mark.parametrize("name", READY)
def test_ready_layers_train(name):
    layer = getattr(rondo.nn, name)(8, 32, heads=2, output_size=5)
    layer.cell = layer.cell.with_options(strategy="reference")
    u = leaf(3, 6, 8)
    y, last = layer(u)
    assert y.shape == (3, 6, 5) and all(state.shape[:2] == (3, 2) for state in last.values())
    y.square().sum().backward()
    assert u.grad.abs().sum() > 0
    assert all(weight.grad is not None and weight.grad.isfinite().all() for weight in layer.parameters())


@pytest.mark.parametrize("name", READY)
def test_two_calls_are_one(name):
    """The last states go on where a sequence was cut."""
    layer = getattr(rondo.nn, name)(8, 32, heads=2)
    layer.cell = layer.cell.with_options(strategy="reference")
    u = torch.randn(3, 6, 8)
    with torch.no_grad():
        whole = layer(u)[0]
        first, state = layer(u[:, :2])
        second, _ = layer(u[:, 2:], state)
    assert_close(torch.cat([first, second], 1), whole)


def test_mingru_is_its_equations():
    layer = rondo.nn.MinGRU(8, 16)
    u = torch.randn(3, 6, 8)
    x = layer.input_projection(u).unflatten(-1, (2, 16))
    h = torch.zeros(3, 16)
    for t in range(6):
        z = torch.sigmoid(x[:, t, 0])
        h = (1 - z) * h + z * x[:, t, 1]
    assert_close(layer(u)[0][:, -1], h)


def test_layouts_and_reverse():
    layer = rondo.nn.Recurrent("mingru", 8, 16, reverse=True)
    major = rondo.nn.Recurrent("mingru", 8, 16, batch_first=False)
    major.load_state_dict(layer.state_dict())
    u = torch.randn(3, 6, 8)
    assert_close(layer(u)[0], major(u.flip(1).transpose(0, 1))[0].transpose(0, 1).flip(1))


def test_a_cell_with_two_inputs():
    layer = rondo.nn.Recurrent("affine", 8, 32, heads=2)
    assert layer(torch.randn(3, 6, 8))[0].shape == (3, 6, 32)
    assert layer.input_projection.out_features == 64


def test_a_cell_of_ones_own_with_two_outputs_and_a_number():
    text = """cell mine(D) {
      input x[2, D], m
      param a[D], s
      state h[D]
      next h = s * a * h + x[0] * m
      output h, y = h * x[1]
    }"""
    layer = rondo.nn.Recurrent(text, 8, 16, init={"a": torch.nn.init.ones_, "s": torch.nn.init.ones_})
    y, last = layer(torch.randn(3, 6, 8))
    assert y.shape == (3, 6, 32) and last["h"].shape == (3, 1, 16)
    assert torch.equal(layer.a, torch.ones(1, 1, 16)) and layer.s.shape == (1, 1)


def test_lengths_and_resets():
    layer = rondo.nn.SLSTM(8, 16)
    layer.cell = layer.cell.with_options(strategy="reference")
    u = torch.randn(3, 6, 8)
    y, last = layer(u, lengths=[6, 2, 0])
    assert not y[2].any() and not last["h"][2].any()
    assert_close(y[1, :2], layer(u[1:2, :2])[0][0])
    resets = torch.zeros(3, 6, dtype=torch.bool)
    resets[:, 3] = True
    assert_close(layer(u, resets=resets)[0][:, 3:], layer(u[:, 3:])[0])


def test_initial_values():
    layer = rondo.nn.SLSTM(8, 16)
    assert layer.b[0, 1].min() == 3 and layer.b[0, 1].max() == 6 and not layer.b[0, 0].any()
    assert (rondo.nn.LayerNormLSTM(8, 16).gamma == 1).all()
    low = rondo.nn.HGRN(8, 16, lower_bound=0.25).params()["low"]
    assert_close(low, torch.full_like(low, 0.25), 1e-6)


@pytest.mark.parametrize("name", READY)
def test_a_layer_without_memory_gets_its_first_values_later(name):
    """As where weights are sharded before they have memory."""
    with torch.device("meta"):
        layer = getattr(rondo.nn, name)(8, 32, heads=2, output_size=5)
    layer.to_empty(device="cpu")
    with torch.no_grad():
        for weight in layer.parameters():
            weight.fill_(float("nan"))
    other = getattr(rondo.nn, name)(8, 32, heads=2, output_size=5)
    for one in (layer, other):
        torch.manual_seed(1)
        one.reset_parameters()
    for weight, wanted in zip(layer.parameters(), other.parameters(), strict=True):
        assert_equal(weight, wanted)


U = torch.zeros(2, 3, 8)
WRONG = {
    "heads": (lambda: rondo.nn.Recurrent("lstm", 8, 16, heads=3), "hidden_size=16 is no multiple of heads=3"),
    "size": (lambda: rondo.nn.SLSTM(8, 0), "SLSTM: hidden_size is 0"),
    "output": (lambda: rondo.nn.Recurrent("lstm", 8, 16, output_size=-1), "Recurrent: output_size is -1"),
    "init": (
        lambda: rondo.nn.Recurrent("lstm", 8, 16, init={"W": print}),
        "init has 'W' .the cell's parameters are R, b",
    ),
    "input": (lambda: rondo.nn.MinGRU(8, 16)(U[0]), r"MinGRU: input has shape \[3, 8\] .it is \[B, T, 8\]"),
    "features": (lambda: rondo.nn.MinGRU(9, 16)(U), r"input has shape \[2, 3, 8\] .it is \[B, T, 9\]"),
    "initial": (lambda: rondo.nn.MinGRU(8, 16)(U, {"c": U}), "initial has 'c', which the cell has not"),
    "bound": (lambda: rondo.nn.HGRN(8, 16, lower_bound=1.5), "HGRN: lower_bound is 1.5"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_use_is_told(case):
    wrong, message = WRONG[case]
    with pytest.raises(rondo.InputError, match=message):
        wrong()
