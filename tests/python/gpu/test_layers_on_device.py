"""Layers and cells on a device: shapes, layouts, types, forms, autocast, packed sequences, derivatives."""

import copy
import io
import pickle

import pytest
from on_device import DEVICE, checked, close, draw, leaf, lstm_tensors, pair, rondo, torch, twin

READY = ["SLSTM", "MinGRU", "MinLSTM", "HGRN", "ParaGRU", "ParaLSTM", "BlockGRU", "LayerNormLSTM"]
CELLS = ["lstm", "gru", "elman", "mingru", "minlstm", "hgrn", "indrnn", "janet", "lngru", "lnlstm", "mgu", "sru", "slstm"]

pytestmark = pytest.mark.long


@pytest.fixture(autouse=True)
def no_launch_failed():
    yield
    checked()


def test_state_dict_both_ways():
    reference, layer = pair(num_layers=2, bidirectional=True)
    assert list(reference.state_dict()) == list(layer.state_dict())
    layer.reset_parameters()
    reference.load_state_dict(layer.state_dict())
    u = draw(3, 5, 8)
    close(layer(u)[0], reference(u)[0])


def test_copies():
    reference, layer = pair()
    u = draw(2, 5, 8)
    stream = io.BytesIO()
    torch.save(layer, stream)
    stream.seek(0)
    for other in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer)), torch.load(stream, weights_only=False)):
        close(other(u)[0], reference(u)[0])


def test_without_a_batch():
    reference, layer = pair()
    u = draw(5, 8)
    (y, (h, c)), (y2, (h2, c2)) = layer(u), reference(u)
    close(y, y2)
    close(h, h2)
    close(c, c2)


@pytest.mark.parametrize("shape", [(0, 5, 8), (2, 0, 8)])
def test_no_rows_and_no_steps(shape):
    _, layer = pair()
    u = leaf(*shape)
    hx = tuple(leaf(1, shape[0], 16) for _ in range(2))
    y, (h, c) = layer(u, hx)
    (y.sum() + h.sum() + 2 * c.sum()).backward()
    assert y.shape == (*shape[:2], 16) and u.grad.shape == shape
    if shape[1] == 0:
        close(h, hx[0])
        close(hx[0].grad, torch.ones_like(h))
        close(hx[1].grad, 2 * torch.ones_like(c))


@pytest.mark.parametrize("bidirectional", [False, True])
def test_packed_sequences(bidirectional):
    reference, layer = pair(bidirectional=bidirectional)
    u = draw(4, 9, 8)
    hx = tuple(draw(1 + bidirectional, 4, 16) for _ in range(2))
    packed = torch.nn.utils.rnn.pack_padded_sequence(u, torch.tensor([9, 2, 7, 1]), batch_first=True, enforce_sorted=False)
    y, (h, c) = layer(packed, hx)
    z, (h2, c2) = reference(packed, hx)
    assert torch.equal(y.batch_sizes, z.batch_sizes) and torch.equal(y.unsorted_indices, z.unsorted_indices)
    close(y.data, z.data)
    close(h, h2)
    close(c, c2)


LAYOUTS = {
    "strides in B and T of more than a step": lambda x: wide(x),
    "an inner stride": lambda x: spread(x),
    "T outermost": lambda x: x.transpose(0, 1).contiguous().transpose(0, 1),
    "an odd address": lambda x: shifted(x),
}


def wide(x):
    made = draw(*x.shape[:3], 8, x.shape[-1])
    made[:, :, :, 2:6] = x
    return made[:, :, :, 2:6]


def spread(x):
    made = torch.empty(*x.shape[:-1], 2 * x.shape[-1], device=DEVICE)[..., ::2]
    return made.copy_(x)


def shifted(x):
    return torch.empty(x.numel() + 1, device=DEVICE)[1:].view(x.shape).copy_(x)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout):
    cell = rondo.Cell("lstm")
    x, params = lstm_tensors()
    wanted = cell(x, params=params)[0]
    close(cell(LAYOUTS[layout](x), params=params)[0], wanted, 1e-6)


def test_inputs_that_repeat():
    cell = rondo.Cell("lstm")
    x, params = lstm_tensors()
    same = x[:, :1].expand_as(x)
    close(cell(same, params=params)[0], cell(same.contiguous(), params=params)[0], 1e-6)


def test_expanded_gradients_and_odd_parameters():
    cell = rondo.Cell("lstm")
    x, params = lstm_tensors()
    one, other = twin(x), twin(x)
    cell(one, params=params)[0].sum().backward()
    h = cell(other, params={"R": shifted(params["R"]), "b": params["b"]})[0]
    h.backward(torch.ones_like(h))
    close(one.grad, other.grad, 1e-6)
    turned = params["R"].transpose(-1, -2).contiguous().transpose(-1, -2)
    close(cell(x, params={"R": turned, "b": params["b"]})[0], h, 1e-6)


@pytest.mark.parametrize("which", ["R", "b", "x", "h"])
def test_only_some_gradients(which):
    cell = rondo.Cell("lstm")
    x, params = lstm_tensors()
    made = {"x": x, **params, "h": draw(3, 1, 16)}

    def gradient(wanted):
        leaves = {name: twin(one) if name in wanted else one for name, one in made.items()}
        y, last = cell(leaves["x"], params={"R": leaves["R"], "b": leaves["b"]}, initial={"h": leaves["h"]})
        (y.sum() + last["c"].sum()).backward()
        return leaves[which].grad

    close(gradient({which}), gradient(set(made)), 1e-6)


def test_the_last_state_alone():
    cell = rondo.Cell("lstm")
    x, params = lstm_tensors()
    one = twin(x)
    cell(one, params=params)[1]["c"].sum().backward()
    assert one.grad.abs().sum() > 0


def test_autocast():
    reference, layer = pair()
    u = draw(3, 12, 8)
    with torch.autocast(DEVICE, torch.bfloat16):
        y, (h, c) = layer(u)
        loss = y.float().square().mean()
    loss.backward()
    assert y.dtype == h.dtype == c.dtype == torch.bfloat16
    assert layer.weight_hh_l0.grad.dtype == torch.float32
    assert float((y.float() - reference(u)[0]).detach().abs().max()) < 2e-2


@pytest.mark.parametrize(("dtype", "limit"), [(torch.bfloat16, 3e-2), (torch.float16, 4e-3)])
def test_half_types(dtype, limit):
    reference, layer = pair()
    u = draw(3, 12, 8)
    exact = reference(u)[0].detach()
    y, _ = layer.to(dtype)(u.to(dtype))
    y.float().square().sum().backward()
    assert y.dtype == dtype and layer.weight_hh_l0.grad.dtype == dtype
    assert float((y.float() - exact).detach().abs().max()) < limit


def loop_of_gru(x, R, b, h, lengths=None, resets=None, reverse=False):
    """Cell gru by torch, step by step, in the type of its arguments."""
    batch, steps = x.shape[:2]
    outputs = [h] * steps
    for t in reversed(range(steps)) if reverse else range(steps):
        start = h if resets is None else torch.where(resets[:, t, None, None], 0.0, h)
        g = torch.einsum("hgij,bhj->bhgi", R, start) + b
        r, z = torch.sigmoid(x[:, t, :, 0] + g[:, :, 0]), torch.sigmoid(x[:, t, :, 1] + g[:, :, 1])
        n = torch.tanh(x[:, t, :, 2] + r * g[:, :, 2])
        new = (1 - z) * n + z * start
        live = (torch.ones(batch, dtype=torch.bool, device=DEVICE) if lengths is None else t < lengths)[:, None, None]
        outputs[t] = torch.where(live, new, 0.0)
        h = torch.where(live, new, h)
    return torch.stack(outputs, 1), h


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("form", ["plain", "lengths", "resets", "both"])
def test_forms(form, reverse):
    """Values and all gradients with two heads, against a loop in float64."""
    cell = rondo.Cell("gru")
    x, R, b, h = draw(4, 9, 2, 3, 16), draw(2, 3, 16, 16, scale=0.25), draw(2, 3, 16), draw(4, 2, 16)
    how = {}
    if form in ("lengths", "both"):
        how["lengths"] = torch.tensor([9, 4, 0, 7], device=DEVICE)
    if form in ("resets", "both"):
        how["resets"] = (torch.rand(4, 9) < 0.3).to(DEVICE)
    leaves = [twin(one) for one in (x, R, b, h)]
    y, last = cell(leaves[0], params={"R": leaves[1], "b": leaves[2]}, initial={"h": leaves[3]}, reverse=reverse, **how)
    (y.square().sum() + last["h"].sum()).backward()
    others = [twin(one.double()) for one in (x, R, b, h)]
    z, end = loop_of_gru(*others, reverse=reverse, **how)
    (z.square().sum() + end.sum()).backward()
    close(y, z)
    close(last["h"], end)
    for one, other in zip(leaves, others, strict=True):
        close(one.grad, other.grad, 1e-4)


@pytest.mark.parametrize("keep", [0.5, 0.25])
def test_a_text_with_a_constant(keep):
    cell = rondo.Cell(
        "cell leak(N) {\n input x[N]\n state h[N]\n const keep = 0.5\n next h = keep * h + x\n output h\n}", keep=keep
    )
    x = draw(2, 6, 1, 16)
    h, wanted = torch.zeros_like(x[:, 0]), []
    for t in range(6):
        h = keep * h + x[:, t]
        wanted.append(h)
    close(cell(x)[0], torch.stack(wanted, 1))


@pytest.mark.parametrize("name", CELLS)
def test_shipped_cells_are_the_reference(name):
    """Values and gradients on the device beside those of the reference on the CPU."""
    cell = rondo.Cell(name)
    by_reference = cell.with_options(strategy="reference")
    sizes = {"B": 2, "T": 5, "H": 2, "D": 16}
    kinds = {"x": cell._plain.inputs, "params": cell._plain.params}
    made = {kind: {s.short: torch.randn(s.shape(sizes)) * 0.3 for s in specs} for kind, specs in kinds.items()}

    def results(one, device):
        leaves = {kind: {n: twin(t.to(device)) for n, t in values.items()} for kind, values in made.items()}
        y, last = one(leaves["x"], params=leaves["params"])
        outputs = list(y.values()) if isinstance(y, dict) else [y]
        sum((o.square().sum() for o in (*outputs, *last.values())), torch.zeros((), device=device)).backward()
        gradients = [t.grad for values in leaves.values() for t in values.values()]
        return [t.detach().cpu() for t in (*outputs, *last.values(), *gradients)]

    for found, wanted in zip(results(cell, DEVICE), results(by_reference, "cpu"), strict=True):
        error = float((found - wanted).abs().max() / wanted.abs().max().clamp_min(1e-6))
        assert error < 1e-3, error


@pytest.mark.parametrize("name", READY)
def test_ready_layers_train(name):
    layer = getattr(rondo.nn, name)(8, 32, heads=2, output_size=5).to(DEVICE)
    u = leaf(3, 6, 8)
    y, last = layer(u)
    assert y.shape == (3, 6, 5) and all(state.shape[:2] == (3, 2) for state in last.values())
    y.square().sum().backward()
    assert u.grad.abs().sum() > 0
    assert all(weight.grad is not None and weight.grad.isfinite().all() for weight in layer.parameters())


def test_steps_are_the_sequence():
    cell = rondo.Cell("lstm")
    x, params = lstm_tensors()
    wanted, last = cell(x, params=params)
    state = None
    with torch.no_grad():
        for t in range(x.shape[1]):
            y, state = cell.step(x[:, t], state, params=params)
            close(y, wanted[:, t])
    for name, one in last.items():
        close(state[name], one)


def test_training_is_as_torchs():
    """20 steps of Adam give the same curve."""
    curves = []
    start = torch.nn.Linear(16, 1).state_dict()
    u, wanted = draw(8, 15, 8), draw(8, 1)
    for layer in pair():
        head = torch.nn.Linear(16, 1).to(DEVICE)
        head.load_state_dict(start)
        optimiser = torch.optim.Adam([*layer.parameters(), *head.parameters()], 1e-2)
        curve = []
        for _ in range(20):
            optimiser.zero_grad()
            loss = (head(layer(u)[0][:, -1]) - wanted).square().mean()
            loss.backward()
            optimiser.step()
            curve.append(loss.item())
        curves.append(curve)
    assert curves[0][-1] < 0.9 * curves[0][0]
    assert max(abs(a - b) for a, b in zip(*curves, strict=True)) < 1e-4


def test_replace():
    reference, _ = pair(num_layers=2)
    model = torch.nn.ModuleDict({"rnn": copy.deepcopy(reference)})
    assert rondo.replace(model).replaced == ["rnn"]
    u = draw(3, 5, 8)
    close(model["rnn"](u)[0], reference(u)[0])
    assert next(model.parameters()).device.type == torch.device(DEVICE).type
