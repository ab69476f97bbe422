"""rondo.nn's drop-in layers as modules: state_dict, copies, types, shapes, and messages of wrong use."""

import copy
import io
import pickle

import pytest

torch = pytest.importorskip("torch", reason="no PyTorch: layers are not tested")

import rondo

from parts import KINDS, assert_close, assert_equal, leaf, pair

OPTIONS = dict(num_layers=2, bidirectional=True)


@pytest.mark.parametrize("kind", KINDS)
def test_state_dict_both_ways(kind):
    theirs, ours = KINDS[kind]
    reference, layer = theirs(8, 16, **OPTIONS), ours(8, 16, **OPTIONS)
    assert list(reference.state_dict()) == list(layer.state_dict())
    layer.load_state_dict(reference.state_dict())
    layer.reset_parameters()
    reference.load_state_dict(layer.state_dict())
    u = torch.randn(5, 3, 8)
    assert_close(layer(u)[0], reference(u)[0])


@pytest.mark.parametrize("kind", KINDS)
def test_both_directions_are_one_launch(kind):
    layer = KINDS[kind][1](8, 20, bidirectional=True)
    u = torch.randn(5, 3, 8)
    before = len(rondo.plans())
    layer(u)[0].sum().backward()
    with torch.no_grad():
        layer(u)
    assert [(plan.pass_, plan.heads, plan.dim) for plan in rondo.plans()[before:]] == [(p, 2, 20) for p in ("fws", "bw", "fw")]


@pytest.mark.parametrize("kind", KINDS)
def test_attributes_are_those_of_torch(kind):
    theirs, ours = KINDS[kind]
    options = dict(num_layers=2, bias=False, batch_first=True, dropout=0.5, bidirectional=True)
    reference, layer = theirs(8, 16, **options), ours(8, 16, **options)
    for name in (
        "input_size",
        "hidden_size",
        "num_layers",
        "bias",
        "batch_first",
        "dropout",
        "bidirectional",
        "proj_size",
        "mode",
    ):
        assert getattr(reference, name) == getattr(layer, name), name
    assert [[w.shape for w in ws] for ws in reference.all_weights] == [[w.shape for w in ws] for ws in layer.all_weights]
    assert reference.extra_repr() == layer.extra_repr()
    layer.flatten_parameters()
    assert not isinstance(layer, torch.nn.RNNBase)


def test_the_same_draw_of_weights():
    torch.manual_seed(1)
    reference = torch.nn.LSTM(8, 16, **OPTIONS)
    torch.manual_seed(1)
    layer = rondo.nn.LSTM(8, 16, **OPTIONS)
    for one, other in zip(reference.parameters(), layer.parameters(), strict=True):
        assert_equal(one, other)


def test_copies():
    reference, layer = pair()
    u = torch.randn(2, 5, 8)
    stream = io.BytesIO()
    torch.save(layer, stream)
    stream.seek(0)
    for twin in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer)), torch.load(stream, weights_only=False)):
        assert_close(twin(u)[0], reference(u)[0])


@pytest.mark.parametrize("batch_first", [False, True])
def test_without_a_batch(batch_first):
    reference, layer = pair(batch_first=batch_first, num_layers=2)
    u = torch.randn(5, 8)
    hx = (torch.randn(2, 16), torch.randn(2, 16))
    for given in (None, hx):
        (y, (h, c)), (y2, (h2, c2)) = layer(u, given), reference(u, given)
        assert_close(y, y2)
        assert_close(h, h2)
        assert_close(c, c2)


def test_relu():
    reference, layer = pair("RNN", nonlinearity="relu")
    u = torch.randn(2, 5, 8)
    assert_close(layer(u)[0], reference(u)[0])
    assert layer.mode == reference.mode == "RNN_RELU"


def test_dropout_is_of_training_alone():
    _, layer = pair(num_layers=2, dropout=0.9)
    u = torch.randn(2, 5, 8)
    assert not torch.equal(layer(u)[0], layer(u)[0])
    layer.eval()
    assert torch.equal(layer(u)[0], layer(u)[0])


@pytest.mark.parametrize("shape", [(0, 5, 8), (2, 0, 8)])
def test_nothing_is_no_error(shape):
    _, layer = pair()
    u = torch.randn(shape).requires_grad_()
    hx = tuple(leaf(1, shape[0], 16) for _ in range(2))
    y, (h, c) = layer(u, hx)
    (y.sum() + h.sum() + 2 * c.sum()).backward()
    assert y.shape == (*shape[:2], 16) and u.grad.shape == shape
    if shape[1] == 0:
        assert_equal(h, hx[0])
        assert_equal(hx[0].grad, torch.ones_like(h))
        assert_equal(hx[1].grad, 2 * torch.ones_like(c))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_types(dtype):
    reference, layer = pair(by_reference=True)
    u = torch.randn(3, 12, 8)
    exact = reference(u)[0]
    y, (h, _) = layer.to(dtype)(u.to(dtype))
    y.float().square().sum().backward()
    assert y.dtype == h.dtype == layer.weight_hh_l0.grad.dtype == dtype
    assert_close(y, exact, 3e-2)


@pytest.mark.parametrize(
    "options", [{}, {"bidirectional": True}, {"num_layers": 2, "bidirectional": True, "chunk": 2}], ids=str
)
@pytest.mark.parametrize("how", ["eager", "compiled"])
@pytest.mark.parametrize("kind", KINDS)
def test_gradients_of_batches_add_up(kind, how, options):
    """In place, in what is each parameter's own memory."""
    reference, layer = pair(kind, **{name: value for name, value in options.items() if name != "chunk"})
    layer.chunk = options.get("chunk")
    torch._dynamo.reset()
    call = torch.compile(layer, backend="aot_eager", fullgraph=True) if how == "compiled" else layer
    for _ in range(3):
        u = torch.randn(3, 5, 8)
        for one in (reference, call):
            one(u)[0].square().mean().backward()
    for name, weight in reference.named_parameters():
        assert_close(getattr(layer, name).grad, weight.grad)
    whose = {}
    for name, weight in layer.named_parameters():
        whose.setdefault(weight.grad.data_ptr(), []).append(name)
    assert len(whose) == len(list(layer.parameters())), whose
    for one in (reference, layer):
        torch.nn.utils.clip_grad_norm_(one.parameters(), 1e-2)
    for name, weight in reference.named_parameters():
        assert_close(getattr(layer, name).grad, weight.grad)


def test_training_is_torchs():
    """The losses of 20 steps of Adam."""
    curves = []
    for layer in pair():
        torch.manual_seed(0)
        head = torch.nn.Linear(16, 1)
        optimiser = torch.optim.Adam([*layer.parameters(), *head.parameters()], 1e-2)
        u, wanted = torch.randn(8, 15, 8), torch.randn(8, 1)
        curve = []
        for _ in range(20):
            optimiser.zero_grad()
            loss = (head(layer(u)[0][:, -1]) - wanted).square().mean()
            loss.backward()
            optimiser.step()
            curve.append(loss.item())
        curves.append(curve)
    assert max(abs(one - other) for one, other in zip(*curves, strict=True)) < 1e-4
    assert curves[0][-1] < 0.5 * curves[0][0]


U = torch.zeros(2, 3, 8)
WRONG = {
    "sizes": (lambda: rondo.nn.LSTM(0, 16), rondo.InputError, "LSTM: input_size is 0 .it is a whole number from 1"),
    "hidden": (lambda: rondo.nn.GRU(8, 1.5), rondo.InputError, "GRU: hidden_size is 1.5"),
    "layers": (lambda: rondo.nn.LSTM(8, 16, num_layers=0), rondo.InputError, "LSTM: num_layers is 0"),
    "dropout": (lambda: rondo.nn.LSTM(8, 16, dropout=2), rondo.InputError, "LSTM: dropout is 2 .it is a probability"),
    "projection": (
        lambda: rondo.nn.LSTM(8, 16, proj_size=16),
        rondo.InputError,
        "LSTM: proj_size is 16 .it is a whole number from 0, less than hidden_size=16",
    ),
    "no size of a projection": (lambda: rondo.nn.LSTM(8, 16, proj_size=-1), rondo.InputError, "LSTM: proj_size is -1"),
    "shape of a projected h": (
        lambda: rondo.nn.LSTM(8, 16, proj_size=4)(U, (torch.zeros(1, 3, 16), torch.zeros(1, 3, 16))),
        rondo.InputError,
        r"LSTM: hx\[0\] has shape \[1, 3, 16\] .it is \[1, 3, 4\]",
    ),
    "nonlinearity": (lambda: rondo.nn.RNN(8, 16, nonlinearity="sin"), rondo.InputError, "RNN: nonlinearity is 'sin'"),
    "save": (lambda: rondo.nn.LSTM(8, 16, save="some"), rondo.InputError, "save='some' is not known"),
    "axes": (lambda: rondo.nn.LSTM(8, 16)(U[None]), rondo.InputError, "LSTM: input has 4 axes .it has 3, or 2 without"),
    "features": (
        lambda: rondo.nn.LSTM(9, 16)(U),
        rondo.InputError,
        "LSTM: the last axis of input is 8 .input_size is 9",
    ),
    "no tensor": (
        lambda: rondo.nn.LSTM(8, 16)([1]),
        rondo.InputError,
        "LSTM: input is list .give a tensor or a PackedSequence",
    ),
    "one state of two": (
        lambda: rondo.nn.LSTM(8, 16)(U, U),
        rondo.InputError,
        "LSTM: hx is not .*give a tuple of two tensors",
    ),
    "two states of one": (lambda: rondo.nn.GRU(8, 16)(U, (U, U)), rondo.InputError, "GRU: hx is not .*give a tensor"),
    "shape of hx": (
        lambda: rondo.nn.GRU(8, 16)(U, torch.zeros(2, 3, 16)),
        rondo.InputError,
        r"GRU: hx has shape \[2, 3, 16\] .it is \[1, 3, 16\]",
    ),
    "shape of c": (
        lambda: rondo.nn.LSTM(8, 16)(U, (torch.zeros(1, 3, 16), torch.zeros(1, 3, 15))),
        rondo.InputError,
        r"LSTM: hx\[1\] has shape \[1, 3, 15\]",
    ),
    "features of a packed sequence": (
        lambda: rondo.nn.LSTM(9, 16)(torch.nn.utils.rnn.pack_sequence([U[0]])),
        rondo.InputError,
        "LSTM: input has 8 features",
    ),
    "complex": (
        lambda: rondo.nn.LSTM(8, 16, dtype=torch.complex64)(U.to(torch.complex64)),
        rondo.InputError,
        "lstm: x is complex64",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_use_is_told(case):
    wrong, kind, message = WRONG[case]
    with pytest.raises(kind, match=message):
        wrong()
