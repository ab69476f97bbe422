"""Training in chunks of time: the same numbers as in one piece, from less memory."""

import pytest

torch = pytest.importorskip("torch", reason="no PyTorch: layers are not tested")

import rondo
from rondo._torch import again as of_outputs
from rondo.nn import _chunks, _whole
from rondo.nn._chunks import lengths_of
from torch.func import functional_call
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from torch.utils.checkpoint import checkpoint

from parts import KINDS, assert_close, leaf

F64 = torch.float64


@pytest.mark.parametrize(
    ("steps", "chunk", "wanted"), [(11, 4, [3, 4, 4]), (8, 4, [4, 4]), (3, 4, [3]), (5, 1, [1] * 5), (9, None, [9])]
)
def test_chunks_differ_by_one_step_at_most(steps, chunk, wanted):
    assert lengths_of(steps, chunk) == wanted


def both(layer, call, leaves):
    """Values and all gradients of a weighted sum of them, in chunks and in one piece."""
    chunk = layer.chunk
    leaves = [*leaves, *layer.parameters()]
    found = []
    for layer.chunk in (chunk, None):
        torch.manual_seed(5)
        values = call()
        loss = sum((value * torch.randn_like(value)).sum() for value in values)
        found.append([*values, *torch.autograd.grad(loss, leaves)])
    layer.chunk = chunk
    return found


def check_same(layer, call, leaves, tolerance=1e-11):
    for one, other in zip(*both(layer, call, leaves), strict=True):
        assert_close(one, other, tolerance * max(1.0, float(other.detach().abs().max())))


LAYERS = {
    "plain": dict(),
    "time major": dict(batch_first=False),
    "both directions": dict(bidirectional=True),
    "2 layers, no bias": dict(num_layers=2, bias=False, batch_first=False),
    "2 layers, both directions": dict(num_layers=2, bidirectional=True),
}


@pytest.mark.turns
@pytest.mark.parametrize("packed", [False, True], ids=["dense", "packed"])
@pytest.mark.parametrize("options", LAYERS)
@pytest.mark.parametrize("kind", KINDS)
def test_layers_in_float64(kind, options, packed):
    layer = KINDS[kind][1](6, 8, chunk=4, dtype=F64, **{"batch_first": True, **LAYERS[options]})
    u = leaf(3, 11, 6, dtype=F64) if layer.batch_first else leaf(11, 3, 6, dtype=F64)
    rows = layer.num_layers * layer.directions
    hx = [leaf(rows, 3, 8, dtype=F64) for _ in range(layer.states)]

    def call():
        x = pack_padded_sequence(u, [11, 2, 8], layer.batch_first, enforce_sorted=False) if packed else u
        y, last = layer(x, tuple(hx) if len(hx) > 1 else hx[0])
        y = pad_packed_sequence(y, layer.batch_first)[0] if packed else y
        return [y, *(last if isinstance(last, tuple) else (last,))]

    check_same(layer, call, [u, *hx])


@pytest.mark.turns
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("save", ["states", "products"])
@pytest.mark.parametrize("kind", KINDS)
def test_layers_by_kernels(kind, save, dtype):
    """Without initial states, which the first chunk has not either."""
    layer = KINDS[kind][1](8, 16, chunk=5, bidirectional=True, save=save, dtype=dtype)
    u = leaf(12, 3, 8, dtype=dtype)

    def call():
        y, last = layer(u)
        return [y, *(last if isinstance(last, tuple) else (last,))]

    check_same(layer, call, [u], 1e-5 if dtype is torch.float32 else 3e-2)


@pytest.mark.turns
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("options", LAYERS)
@pytest.mark.parametrize("kind", KINDS)
def test_states_between_chunks_are_not_rounded(kind, options, dtype, monkeypatch):
    """They stay in fp32, as within a chunk, whatever layers there are."""
    layer = KINDS[kind][1](8, 16, chunk=5, dtype=dtype, **LAYERS[options])
    seen = []

    def watched(run, parts, states, *others, **_):
        seen.extend(state.dtype for state in states if state is not None)
        return run(parts, states, *others)

    monkeypatch.setattr(_chunks, "checkpoint", watched)
    layer(leaf(12, 12, 8, dtype=dtype))
    layers = layer.num_layers * layer.directions
    assert seen == [torch.float32] * (2 * layers * layer.states)  # three chunks, of which the first has none


TWO_INPUTS = """cell two(N) {
  input x[2, N], g[N]
  param R[N, N], b[N]
  state h[N] = 0.5, c[N]
  next c = 0.5 * c + x[0] * sigmoid(g)
  next h = tanh(R @ h + next c + b) + x[1]
  output h
  output y = next c * g
}
"""
CELLS = {
    "slstm": dict(heads=2),
    "mingru": dict(),
    "paralstm": dict(),
    "lnlstm": dict(heads=2),
    TWO_INPUTS: dict(),
}
FORMS = {
    "plain": (),
    "lengths": ("lengths",),
    "resets": ("resets",),
    "all": ("lengths", "resets", "initial"),
    "initial": ("initial",),
}


@pytest.mark.turns
@pytest.mark.parametrize("reverse", [False, True], ids=["forwards", "backwards"])
@pytest.mark.parametrize("forms", FORMS)
@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: cell.split("(")[0].replace("cell ", ""))
def test_any_cell_in_float64(cell, forms, reverse):
    batch_first = forms != "all"
    layer = rondo.nn.Recurrent(
        cell, 6, 8, chunk=3, reverse=reverse, batch_first=batch_first, output_size=5, dtype=F64, **CELLS[cell]
    )
    with torch.no_grad():
        for weight in layer.parameters():
            weight.copy_(torch.randn_like(weight) / 3)
    u = leaf(4, 10, 6, dtype=F64)
    options, leaves = {}, [u]
    if "lengths" in FORMS[forms]:
        options["lengths"] = [10, 0, 4, 7]
    if "resets" in FORMS[forms]:
        resets = torch.rand(4, 10) < 0.25
        options["resets"] = resets if batch_first else resets.t()
    if "initial" in FORMS[forms]:
        dims = (4, layer.heads, 8 // layer.heads)
        options["initial"] = {name: leaf(*dims, dtype=F64) for name in layer.cell.states}
        leaves += options["initial"].values()

    def call():
        y, last = layer(u if batch_first else u.transpose(0, 1), **options)
        return [y, *last.values()]

    check_same(layer, call, leaves)


@pytest.fixture
def again(monkeypatch):
    """How many chunks ran their forward pass again, and how many were computed again of outputs."""
    counts = [0, 0]
    computed = of_outputs.computed

    def watched(*arguments):
        found = computed(*arguments)
        counts[found is not None] += 1
        return found

    monkeypatch.setattr(of_outputs, "computed", watched)
    return counts


def by_host(layer):
    """Where a strategy is asked for, what is computed again of outputs is so whether that is faster or not."""
    layer.cell = layer.cell.with_options(strategy="host")
    return layer


@pytest.mark.turns
@pytest.mark.parametrize("shim", [True, False], ids=["one node", "nodes"])
@pytest.mark.parametrize("dtype", [F64, torch.float32, torch.bfloat16])
@pytest.mark.parametrize("options", LAYERS)
def test_what_outputs_say(options, dtype, shim, again, monkeypatch):
    """All chunks but those that are walked first are computed of what the layers gave."""
    if not shim:
        monkeypatch.setattr(_whole, "serves", lambda _: False)
    layer = by_host(rondo.nn.LSTM(6, 8, chunk=4, dtype=dtype, **LAYERS[options]))
    u = leaf(3, 11, 6, dtype=dtype) if layer.batch_first else leaf(11, 3, 6, dtype=dtype)

    def call():
        y, last = layer(u)
        return [y, *last]

    check_same(layer, call, [u], {F64: 1e-11, torch.float32: 1e-5, torch.bfloat16: 3e-2}[dtype])
    walks = layer.num_layers * layer.directions
    assert again == [walks, 2 * walks]


OWN = """cell own(N) {
  input x[4, N], a[N]
  param R[4, N, N]
  state c[N], h[N]
  g = R @ h + x
  next c = sigmoid(g[0]) * c + sigmoid(g[1]) * tanh(g[2])
  next h = sigmoid(g[3]) * tanh(next c)
  output other = next c * a
  output y = next h
}
"""


@pytest.mark.turns
@pytest.mark.parametrize("reverse", [False, True], ids=["forwards", "backwards"])
@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("cell", ["slstm", OWN, "gru", "mingru"], ids=["slstm", "own", "gru", "mingru"])
def test_what_outputs_of_any_cell_say(cell, batch_first, reverse, again):
    layer = rondo.nn.Recurrent(cell, 6, 8, chunk=3, reverse=reverse, batch_first=batch_first, dtype=F64)
    with torch.no_grad():
        for weight in layer.parameters():
            weight.copy_(torch.randn_like(weight) / 3)
    by_host(layer)
    u = leaf(4, 10, 6, dtype=F64) if batch_first else leaf(10, 4, 6, dtype=F64)

    def call():
        y, last = layer(u)
        return [y, *last.values()]

    check_same(layer, call, [u])
    assert again == ([4, 0] if cell in ("gru", "mingru") else [1, 3])


def test_outputs_that_were_changed(again):
    """The forward pass runs again where its outputs are not as it left them. Where nobody has them they are there."""
    layer = by_host(rondo.nn.LSTM(6, 8, chunk=4, dtype=F64))
    u, w = leaf(11, 3, 6, dtype=F64), torch.randn(11, 3, 8, dtype=F64)
    found, counts = [], []
    for change in (lambda y: None, lambda y: y.detach().zero_(), lambda y: y.data.zero_()):
        y, _ = layer(u)
        loss = (y * w).sum()
        change(y)
        again[:] = 0, 0
        found.append(torch.autograd.grad(loss, [u, *layer.parameters()]))
        counts.append(tuple(again))
    y = loss = None
    loss = (layer(u)[0] * w).sum()
    again[:] = 0, 0
    found.append(torch.autograd.grad(loss, [u, *layer.parameters()]))
    counts.append(tuple(again))
    assert counts == [(1, 2), (3, 0), (1, 2), (1, 2)]
    for number in (1, 3):
        for one, other in zip(found[0], found[number], strict=True):
            assert_close(one, other, 1e-11)
    # PyTorch sees no change that is made through `data`: what was computed of it shows that outputs are read.
    assert any(float((one - other).abs().max()) > 1e-3 for one, other in zip(found[0], found[2], strict=True))


def test_outputs_that_are_changed_within_another_checkpoint():
    """It keeps them by hooks, past which autograd sees no change."""
    layer = by_host(rondo.nn.LSTM(6, 8, chunk=4, dtype=F64))
    u, w = leaf(11, 3, 6, dtype=F64), torch.randn(11, 3, 8, dtype=F64)
    grads = []
    for run in (lambda x: layer(x)[0].relu_(), lambda x: layer(x)[0].relu()):
        y = checkpoint(run, u, use_reentrant=False)
        grads.append(torch.autograd.grad((y * w).sum(), [u, *layer.parameters()]))
    layer.chunk = None
    grads.append(torch.autograd.grad((layer(u)[0].relu() * w).sum(), [u, *layer.parameters()]))
    for some in grads[:2]:
        for one, other in zip(some, grads[2], strict=True):
            assert_close(one, other, 1e-11)


def test_chunks_of_outputs_twice_over_and_differentiated_twice(again):
    layer = by_host(rondo.nn.LSTM(4, 8, chunk=4, dtype=F64))
    u = leaf(9, 2, 4, dtype=F64)
    found = []
    for layer.chunk in (4, None):
        y, _ = layer(u)
        loss = y.square().sum()
        (first,) = torch.autograd.grad(loss, u, retain_graph=True)
        (grad,) = torch.autograd.grad(loss, u, create_graph=True)
        assert_close(first, grad, 1e-12)
        found.append(torch.autograd.grad(grad.square().sum(), [u, *layer.parameters()]))
    assert again[1] >= 4
    for one, other in zip(*found, strict=True):
        assert_close(one, other, 1e-10 * max(1.0, float(other.abs().max())))


def test_prepare_makes_what_computes_chunks_again(again):
    layer = by_host(rondo.nn.LSTM(8, 40, chunk=6))
    made = rondo.prepare(layer, [(3, 16)], progress=False)
    assert len(made) == 7  # of 5 and of 6 steps three passes, and the forward pass of all
    before = len(rondo.plans())
    y, _ = layer(torch.randn(16, 3, 8, requires_grad=True))
    y.sum().backward()
    assert len(rondo.plans()) == before and again == [1, 2]


def test_a_gradient_of_parts_alone():
    """Only the last state counts, and only one weight is trained."""
    layer = rondo.nn.GRU(6, 8, chunk=4, batch_first=True, dtype=F64).requires_grad_(False)
    layer.weight_hh_l0.requires_grad_()
    u = torch.randn(3, 11, 6, dtype=F64)
    grads = []
    for layer.chunk in (4, None):
        grads += torch.autograd.grad(layer(u)[1].sum(), [layer.weight_hh_l0])
    assert_close(*grads, 1e-11)


def saved_bytes(layer, u):
    """Of what autograd keeps between the passes."""
    kept = {}

    def pack(tensor):
        kept[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        y, _ = layer(u)
    kept.pop(y.untyped_storage().data_ptr(), None)  # which who calls has
    held = sum(kept.values())
    y.sum().backward()
    return held


def test_less_is_kept():
    layer = rondo.nn.LSTM(8, 32, chunk=8)
    u = torch.randn(64, 3, 8)
    chunked = saved_bytes(layer, u)
    layer.chunk = None
    whole = saved_bytes(layer, u)
    assert whole > 64 * 3 * 32 * 4 and chunked < whole / 8, (chunked, whole)


def test_plans_are_of_chunks_in_training_alone():
    layer = rondo.nn.LSTM(8, 24, chunk=4)
    u = torch.randn(11, 3, 8)
    layer(u)[0].sum().backward()
    layer.chunk = 3
    with torch.no_grad():
        layer(u)
    made = {(plan.pass_, plan.time) for plan in rondo.plans() if plan.dim == 24}
    assert made and all(time <= 4 for pass_, time in made if pass_ != "fw") and ("fw", 11) in made
    assert not any(pass_ == "fw" and time < 11 for pass_, time in made)


def test_prepare_makes_the_plans_of_chunks():
    layer = rondo.nn.GRU(8, 40, chunk=6)
    ready = rondo.prepare(layer, [(3, 16)], progress=False)
    assert {plan.pass_ for plan in ready} == {"fw", "fws", "bw"}
    assert all(plan.time in ((16,) if plan.pass_ == "fw" else (5, 6)) for plan in ready)
    before = len(rondo.plans())
    layer(torch.randn(16, 3, 8))[0].sum().backward()
    assert len(rondo.plans()) == before
    rondo.prepare(layer, [(3, 16)], choose_save=True, progress=False)


def test_a_replaced_model_has_chunks():
    model = torch.nn.Sequential(torch.nn.LSTM(8, 16))
    rondo.replace(model, chunk=7)
    assert model[0].chunk == 7


def test_within_a_compiled_graph():
    layer = rondo.nn.LSTM(8, 16, chunk=4, dtype=F64)
    u = leaf(11, 3, 8, dtype=F64)
    compiled = torch.compile(layer, fullgraph=True, backend="aot_eager")
    grads = [torch.autograd.grad(run(u)[0].square().sum(), [u, *layer.parameters()]) for run in (layer, compiled)]
    for one, other in zip(*grads, strict=True):
        assert_close(one, other, 1e-10)


@pytest.mark.parametrize("strict", [False, True])
def test_an_exported_graph_is_of_one_piece(strict):
    layer = rondo.nn.LSTM(8, 16, chunk=4)
    u = torch.randn(11, 3, 8)
    exported = torch.export.export(layer, (u,), strict=strict)
    assert exported.graph.python_code("self").src.count("rondo.forward") == 1
    assert_close(exported.module()(u)[0], layer(u)[0])


def test_under_autocast_and_within_another_checkpoint():
    layer = rondo.nn.GRU(8, 16, chunk=4)
    u = leaf(11, 3, 8)

    def call(x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return layer(x)[0]

    y = checkpoint(call, u, use_reentrant=False)
    assert y.dtype is torch.bfloat16
    (grad,) = torch.autograd.grad(y.float().square().sum(), u)
    layer.chunk = None
    (whole,) = torch.autograd.grad(call(u).float().square().sum(), u)
    assert_close(grad, whole, 3e-2 * float(whole.abs().max()))


@pytest.mark.parametrize("shape", [(0, 3, 8), (11, 0, 8)])
def test_of_nothing(shape):
    layer = rondo.nn.GRU(8, 16, chunk=4)
    y, last = layer(torch.zeros(shape, requires_grad=True))
    assert y.shape == (*shape[:2], 16) and last.shape == (1, shape[1], 16)
    y.sum().backward()


def test_with_parameters_of_a_call():
    """What is computed again has the parameters that the call had."""
    layer = rondo.nn.LSTM(8, 16, chunk=4, dtype=F64)
    other = {name: torch.randn_like(weight, requires_grad=True) for name, weight in layer.named_parameters()}
    u = torch.randn(11, 3, 8, dtype=F64)
    grads = []
    for layer.chunk in (4, None):
        y, _ = functional_call(layer, other, (u,))
        grads.append(torch.autograd.grad(y.square().sum(), list(other.values())))
    for one, whole in zip(*grads, strict=True):
        assert_close(one, whole, 1e-10)


def test_under_torch_func():
    layer = rondo.nn.GRU(8, 16, chunk=4, dtype=F64)
    u = torch.randn(11, 3, 8, dtype=F64)
    grads = []
    for layer.chunk in (4, None):
        grads.append(torch.func.grad(lambda x: layer(x)[0].square().sum())(u))
    assert_close(*grads, 1e-10)


WRONG = {
    "none": (lambda: rondo.nn.LSTM(8, 16, chunk=0), rondo.InputError, "LSTM: chunk is 0 .it is a number of steps, from 1"),
    "a part": (lambda: rondo.nn.GRU(8, 16, chunk=2.5), rondo.InputError, "GRU: chunk is 2.5"),
    "truth": (lambda: rondo.nn.SLSTM(8, 16, chunk=True), rondo.InputError, "SLSTM: chunk is True"),
    "draws": (
        lambda: rondo.nn.Recurrent("zoneout", 8, 16, chunk=4),
        rondo.UnsupportedError,
        "Recurrent: chunk=4: cell zoneout draws random numbers, which chunks would repeat .leave chunk out",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_use_is_told(case):
    wrong, kind, message = WRONG[case]
    with pytest.raises(kind, match=message):
        wrong()
