"""Derivatives of cells: what they are, which are asked for, and that those that Rondo has not raise."""

import pytest

torch = pytest.importorskip("torch", reason="no PyTorch: derivatives are not tested")

import rondo

from parts import assert_close, assert_equal, leaf, lstm_tensors, pair
from test_cell import LAYER, SCALAR, STILL

LEAK = """cell leak(N) {
  input x[N]
  state h[N]
  const keep = 0.5
  next h = keep * h + x
  output h
}
"""


def gru_loop(x, R, b, h, lengths=None, resets=None, reverse=False):
    """The cell gru in PyTorch, step by step."""
    steps = x.shape[1]
    outputs = [None] * steps
    for t in reversed(range(steps)) if reverse else range(steps):
        start = h if resets is None else torch.where(resets[:, t, None, None], 0.0, h)
        g = torch.einsum("hgij,bhj->bhgi", R, start) + b
        r, z = torch.sigmoid(x[:, t, :, 0] + g[:, :, 0]), torch.sigmoid(x[:, t, :, 1] + g[:, :, 1])
        n = torch.tanh(x[:, t, :, 2] + r * g[:, :, 2])
        new = (1 - z) * n + z * start
        live = torch.ones(len(x), dtype=torch.bool) if lengths is None else t < lengths
        outputs[t] = torch.where(live[:, None, None], new, 0.0)
        h = torch.where(live[:, None, None], new, h)
    return torch.stack(outputs, 1), h


def test_two_directions_agree_with_a_loop():
    tensors = [leaf(4, 9, 2, 3, 16), leaf(2, 3, 16, 16, scale=0.25), leaf(2, 3, 16), leaf(4, 2, 16)]
    how = {"lengths": torch.tensor([9, 4, 0, 7]), "resets": torch.rand(4, 9) < 0.3}
    x, R, b, h = tensors
    y, last = rondo.Cell("gru")(x, params={"R": R, "b": b}, initial={"h": h}, directions=True, **how)
    (y.square().sum() + last["h"].sum()).backward()
    exact = [tensor.detach().double().requires_grad_() for tensor in tensors]
    x, R, b, h = exact
    halves = [
        gru_loop(x[:, :, way : way + 1], R[way : way + 1], b[way : way + 1], h[:, way : way + 1], reverse=way == 1, **how)
        for way in (0, 1)
    ]
    z, end = torch.cat([z for z, _ in halves], 2), torch.cat([end for _, end in halves], 1)
    (z.square().sum() + end.sum()).backward()
    assert_close(y, z)
    assert_close(last["h"], end)
    for mine, theirs in zip(tensors, exact, strict=True):
        assert_close(mine.grad, theirs.grad, 1e-4)


@pytest.mark.parametrize("extent", [5, 24])
def test_gradients_of_an_input_of_another_extent(extent):
    tensors = [leaf(3, 7, 2, extent), leaf(2, 2, 16, extent, scale=0.3), leaf(2, 16, 16, scale=0.25)]
    u, w, r = tensors
    lengths = torch.tensor([7, 0, 4])
    with torch.no_grad():
        u[1], u[2, 4:] = torch.nan, torch.nan
    y, _ = rondo.Cell(LAYER, E=extent)(u, params={"W": w, "R": r}, lengths=lengths)
    y.square().sum().backward()
    exact = [tensor.detach().double().nan_to_num().requires_grad_() for tensor in tensors]
    x, h = torch.einsum("hgij,bthj->btghi", exact[1], exact[0]), torch.zeros(3, 2, 16, dtype=torch.float64)
    outputs = []
    for t in range(7):
        h = torch.tanh(torch.einsum("hij,bhj->bhi", exact[2], h) + x[:, t, 0]) + x[:, t, 1]
        outputs.append(torch.where((t < lengths)[:, None, None], h, 0.0))
    z = torch.stack(outputs, 1)
    z.square().sum().backward()
    assert_close(y, z)
    for mine, theirs in zip(tensors, exact, strict=True):
        assert_close(mine.grad, theirs.grad, 1e-4)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("form", ["plain", "lengths", "resets", "both"])
def test_forms_agree_with_a_loop(form, reverse):
    batch, steps, heads, dim = 4, 9, 2, 16
    tensors = [
        leaf(batch, steps, heads, 3, dim),
        leaf(heads, 3, dim, dim, scale=0.25),
        leaf(heads, 3, dim),
        leaf(batch, heads, dim),
    ]
    how = {}
    if form in ("lengths", "both"):
        how["lengths"] = torch.tensor([9, 4, 0, 7])
    if form in ("resets", "both"):
        how["resets"] = torch.rand(batch, steps) < 0.3
    x, R, b, h = tensors
    y, last = rondo.Cell("gru")(x, params={"R": R, "b": b}, initial={"h": h}, reverse=reverse, **how)
    (y.square().sum() + last["h"].sum()).backward()
    exact = [tensor.detach().double().requires_grad_() for tensor in tensors]
    z, end = gru_loop(*exact, reverse=reverse, **how)
    (z.square().sum() + end.sum()).backward()
    assert_close(y, z)
    assert_close(last["h"], end)
    for tensor, wanted in zip(tensors, exact, strict=True):
        assert_close(tensor.grad, wanted.grad, 1e-4)


@pytest.mark.parametrize("which", ["x", "R", "b", "h"])
def test_one_gradient_is_that_among_all(which):
    x, params = lstm_tensors()
    tensors = {"x": x, **params, "h": torch.randn(3, 1, 16)}

    def gradient(leaves):
        for name, tensor in tensors.items():
            tensor.grad = None
            tensor.requires_grad_(name in leaves)
        y, last = rondo.Cell("lstm")(x, params=params, initial={"h": tensors["h"]})
        (y.sum() + last["c"].sum()).backward()
        return tensors[which].grad

    assert_equal(gradient([which]), gradient(list(tensors)))


def test_the_last_state_alone_has_a_gradient():
    x, params = lstm_tensors()
    x.requires_grad_()
    rondo.Cell("lstm")(x, params=params)[1]["c"].sum().backward()
    assert x.grad.abs().sum() > 0


def test_states_that_are_saved_are_no_results():
    """What a training pass saves cannot be reached, and a mark of it cannot leak."""
    x, params = lstm_tensors()
    y, last = rondo.Cell("lstm")(x.requires_grad_(), params=params)
    assert set(last) == {"h", "c"} and y.requires_grad and last["c"].requires_grad


@pytest.mark.parametrize("by_reference", [False, True])
def test_states_beyond_float16_have_gradients(by_reference):
    """A cell state that adds up passes 65504, where float16 ends: what is saved of it is float32."""
    x, params = lstm_tensors()
    x = x.half().float()
    gradients = []
    for dtype in (torch.float16, torch.float32):
        given = x.to(dtype).requires_grad_()
        cell = rondo.Cell("lstm", strategy="reference") if by_reference or dtype == torch.float32 else rondo.Cell("lstm")
        y, last = cell(given, params=params, initial={"c": torch.full((3, 1, 16), 1.5e5)})
        (y.float().sum() + last["c"].sum()).backward()
        gradients.append(given.grad.float())
    largest = gradients[1].abs().max()
    assert_close(gradients[0] / largest, gradients[1] / largest, 5e-3)


@pytest.mark.parametrize("time_major", [False, True])
def test_layouts_are_one_and_the_same(time_major):
    cell = rondo.Cell("lstm")
    x, params = lstm_tensors()

    def run(x, **how):
        if time_major:
            return cell(x.transpose(0, 1), batch_first=False, **how)[0].transpose(0, 1)
        return cell(x, **how)[0]

    wanted = run(x, params=params)
    wide = torch.randn(3, 5, 1, 8, 16)
    wide[:, :, :, 2:6] = x
    assert_equal(run(wide[:, :, :, 2:6], params=params), wanted)  # strides in B and T of more than a step
    inner = torch.empty(3, 5, 1, 4, 32)[..., ::2]
    inner.copy_(x)
    assert_equal(run(inner, params=params), wanted)
    turned = x.transpose(0, 1).contiguous().transpose(0, 1)
    assert_equal(run(turned, params=params), wanted)
    shifted = torch.empty(x.numel() + 1)[1:].view(x.shape)
    shifted.copy_(x)
    assert_equal(run(shifted, params=params), wanted)  # an address that is not aligned
    same = x[:, :1].expand(3, 5, 1, 4, 16)
    assert_equal(run(same, params=params), run(same.contiguous(), params=params))  # a stride of 0 in T
    R = params["R"]
    moved = torch.empty(R.numel() + 1)[1:].view(R.shape)
    moved.copy_(R)
    assert_equal(run(x, params={**params, "R": moved}), wanted)
    crossed = R.transpose(-1, -2).contiguous().transpose(-1, -2)
    assert_equal(run(x, params={**params, "R": crossed}), wanted)


def test_an_expanded_gradient():
    x, params = lstm_tensors()
    one, other = x.clone().requires_grad_(), x.clone().requires_grad_()
    rondo.Cell("lstm")(one, params=params)[0].sum().backward()
    y = rondo.Cell("lstm")(other, params=params)[0]
    y.backward(torch.ones_like(y))
    assert_equal(one.grad, other.grad)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_gradients_have_the_types_of_what_they_belong_to(dtype):
    x, params = lstm_tensors()
    x = x.to(dtype).requires_grad_()
    R, b = params["R"].requires_grad_(), params["b"].to(dtype).requires_grad_()
    y, last = rondo.Cell("lstm", strategy="reference")(x, params={"R": R, "b": b})
    y.float().sum().backward()
    assert (y.dtype, last["h"].dtype) == (dtype, torch.float32)
    assert (x.grad.dtype, R.grad.dtype, b.grad.dtype) == (dtype, torch.float32, dtype)


@pytest.mark.parametrize("shape", [(0, 5), (2, 0)])
def test_no_rows_or_no_steps(shape):
    batch, steps = shape
    x, params = lstm_tensors(batch, steps)
    first = {name: leaf(batch, 1, 16) for name in ("h", "c")}
    x.requires_grad_()
    y, last = rondo.Cell("lstm")(x, params=params, initial=first)
    (y.sum() + last["h"].sum() + 2 * last["c"].sum()).backward()
    assert y.shape == (batch, steps, 1, 16) and x.grad.shape == x.shape
    assert_equal(last["h"], first["h"])
    assert_equal(first["h"].grad, torch.ones(batch, 1, 16))
    assert_equal(first["c"].grad, 2 * torch.ones(batch, 1, 16))


def test_a_step_at_a_time_is_the_sequence():
    x, params = lstm_tensors()
    cell = rondo.Cell("lstm")
    y, last = cell(x, params=params)
    state = None
    for t in range(x.shape[1]):
        y_t, state = cell.step(x[:, t], state, params=params)
        assert_close(y_t, y[:, t], 1e-6)
    assert_close(state["c"], last["c"], 1e-6)


# What a state begins with where none is given: by its text, by a constant of it, and zero.
BEGUN = """cell begun(D) {
  const least = -1e30
  input x[D]
  state h[D], v[D] = 0.125, m[D] = least

  next h = 0.5 * h + x
  next v = 0.5 * v + x
  next m = max(m, x)
  output y = h + v + m
}
"""
BEGINS = {"h": 0.0, "v": 0.125, "m": -2.0}
TYPES = [torch.float32, torch.float64, torch.bfloat16]


@pytest.mark.parametrize("dtype", TYPES)
def test_steps_without_a_state_begin_with_first_values(dtype):
    cell = rondo.Cell(BEGUN, least=-2)
    x = torch.randn(3, 5, 1, 16, dtype=dtype) - 3
    y, last = cell(x)
    state = None
    for t in range(x.shape[1]):
        y_t, state = cell.step(x[:, t], state)
        assert_close(y_t, y[:, t], 1e-6)
    for name, first in BEGINS.items():
        begun = torch.full_like(last[name], first)
        assert_equal(last[name], cell(x, initial={name: begun})[1][name])
        assert_close(state[name], last[name], 1e-6)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(3, 0, 2, 16), (0, 5, 2, 16)])
def test_no_steps_leave_first_values(shape, dtype):
    cell = rondo.Cell(BEGUN, least=-2)
    x, given = torch.zeros(shape, dtype=dtype, requires_grad=True), torch.ones(shape[0], 2, 16, requires_grad=True)
    for saving in (False, True):
        with torch.set_grad_enabled(saving):
            _, last = cell(x, initial={"h": given})
        for name, first in {**BEGINS, "h": 1.0}.items():
            assert_close(last[name], torch.full((shape[0], 2, 16), first), 1e-8)
    (last["h"].sum() + last["v"].sum()).backward()
    assert_equal(given.grad, torch.ones_like(given))
    assert_equal(x.grad, torch.zeros_like(x))


def test_a_step_stays_in_place():
    x, params = lstm_tensors()
    state = {"h": torch.zeros(3, 1, 16), "c": torch.zeros(3, 1, 16)}
    places = {name: tensor.data_ptr() for name, tensor in state.items()}
    _, same = rondo.Cell("lstm").step(x[:, 0], state, params=params)
    assert same is state and all(state[name].data_ptr() == place for name, place in places.items())
    assert state["h"].abs().sum() > 0


def test_a_cell_without_heads_in_its_steps():
    cell = rondo.Cell(LEAK)
    x = torch.randn(3, 5, 16)
    state = None
    for t in range(5):
        y, state = cell.step(x[:, t], state)
    assert y.shape == state["h"].shape == (3, 16)
    assert_close(y, cell(x)[0][:, -1], 1e-6)


SHIPPED = [
    "affine", "blockgru", "elman", "gru", "hgrn", "indrnn", "janet", "lngru", "lnlstm", "lru", "lstm", "mgu", "mingru", "minlstm",
    "onlstm", "paragru", "paralstm", "peephole", "rglru", "rmslstm", "slstm", "sru", "zoneout", "rwkv4",
]  # fmt: skip


def draw_for(cell, batch=2, steps=5, heads=2, dim=16):
    sizes = {"B": batch, "T": steps, "H": heads, "D": dim}
    x = {spec.short: leaf(*spec.shape(sizes), scale=0.5) for spec in cell._plain.inputs}
    params = {spec.short: leaf(*spec.shape(sizes), scale=0.3) for spec in cell._plain.params}
    if "seed" in params:
        params["seed"] = torch.full((heads, 1), 3.0)
    return x, params


@pytest.mark.turns
@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_cell_agrees_with_the_reference(name):
    native, exact = rondo.Cell(name), rondo.Cell(name, strategy="reference")
    x, params = draw_for(native)
    leaves = [tensor for tensor in (*x.values(), *params.values()) if tensor.requires_grad]

    def run(cell):
        y, last = cell(x, params=params)
        results = [*(y.values() if isinstance(y, dict) else [y]), *last.values()]
        grads = torch.autograd.grad(sum((r * (i + 1)).sum() for i, r in enumerate(results)), leaves)
        return [*results, *grads]

    with torch.no_grad():
        y, last = native(x, params=params)
    found, wanted = run(native), run(exact)
    for plain, trained in zip([*(y.values() if isinstance(y, dict) else [y]), *last.values()], found, strict=False):
        assert_close(plain, trained, 1e-5)
    for one, other in zip(found, wanted, strict=True):
        assert float((one - other).abs().max()) <= 1e-3 * max(float(other.abs().max()), 1e-6)


def test_products_may_be_saved():
    x, params = lstm_tensors()
    x.requires_grad_()
    one = torch.autograd.grad(rondo.Cell("lstm")(x, params=params)[0].sum(), x)[0]
    other = torch.autograd.grad(rondo.Cell("lstm", save="products")(x, params=params)[0].sum(), x)[0]
    assert_close(one, other)


def test_clipping_bounds_the_state():
    x = torch.full((1, 20, 16), 3.0)
    assert rondo.Cell(LEAK, clip_forward=2.0)(x)[0].max() == 2.0


def test_deterministic_mode_gives_the_same_bits():
    """A plan of these very sizes is taken, whatever was run before."""
    x, params = lstm_tensors(batch=3, steps=6)
    cell = rondo.Cell("lstm")
    torch.use_deterministic_algorithms(True)
    try:
        before = len(rondo.plans())
        one = cell(x, params=params)[0]
        mine = rondo.plans()[before:]
        two = cell(x, params=params)[0]
    finally:
        torch.use_deterministic_algorithms(False)
    assert torch.equal(one, two)
    assert all((plan.batch, plan.time) == (3, 6) for plan in mine)


def test_a_gradient_with_create_graph_is_right_itself():
    reference, layer = pair()
    u = leaf(2, 3, 8)
    (grad,) = torch.autograd.grad(layer(u)[0].square().sum(), u, create_graph=True)
    (wanted,) = torch.autograd.grad(reference(u)[0].square().sum(), u)
    assert_close(grad, wanted)


def test_a_step_has_no_derivative():
    x, params = lstm_tensors()
    with pytest.raises(rondo.NotDifferentiableError, match="step.. has no derivative: its states stay in place"):
        rondo.Cell("lstm").step(x[:, 0].requires_grad_(), params=params)


def test_a_state_says_how_many_channels_a_step_has():
    cell = rondo.Cell(SCALAR)
    x, h = torch.randn(2, 1), torch.ones(2, 1, 16)
    wanted = 0.5 * h + x[:, :, None]
    y, state = cell.step(x, {"h": h})
    assert_close(y, wanted)
    assert_close(state["h"], wanted)


X, PARAMS = lstm_tensors()
WRONG = {
    "no inputs": (lambda: rondo.Cell(STILL)({}), "still: a cell without inputs has no steps"),
    "no channels": (lambda: rondo.Cell(SCALAR)(torch.zeros(2, 6, 1)), "scalar: no tensor that is given says D .give an initial"),
    "a step without channels": (lambda: rondo.Cell(SCALAR).step(torch.zeros(2, 1)), "scalar: no tensor that is given says D"),
    "complex": (lambda: rondo.Cell(LEAK)(torch.zeros(2, 3, 8).cfloat()), "leak: x is complex64"),
    "integers": (lambda: rondo.Cell(LEAK)(torch.zeros(2, 3, 8).int()), "leak: x is int32"),
    "rank": (lambda: rondo.Cell(LEAK)(torch.zeros(3, 8)), r"x has shape \[3, 8\] .it is \[B, T, H, D\], or \[B, T, D\] for one head"),
    "rows": (lambda: rondo.Cell("lstm")(X[:, :, :, :3], params=PARAMS), "'x' has shape .*the cell declares 4 rows"),
    "no params": (lambda: rondo.Cell("lstm")(X), r"params lacks 'R' .it is \[H, 4, D, D\], or \[4, D, D\] for one head"),
    "unknown params": (lambda: rondo.Cell("lstm")(X, params={**PARAMS, "W": X}), "params has 'W', which the cell has not"),
    "params of another D": (
        lambda: rondo.Cell("lstm")(X, params={**PARAMS, "b": torch.zeros(4, 8)}),
        r"'b' has shape \[1, 4, 8\], not \[1, 4, 16\] .D is 16, by 'x'",
    ),
    "params that are no tensor": (lambda: rondo.Cell("lstm")(X, params={**PARAMS, "b": 0.0}), r"params\['b'\] is float .give a tensor"),
    "params of integers": (
        lambda: rondo.Cell("lstm")(X, params={**PARAMS, "b": torch.zeros(4, 16).int()}),
        r"params\['b'\] is int32 .give floating point",
    ),
    "params elsewhere": (
        lambda: rondo.Cell("lstm")(X, params={**PARAMS, "b": torch.zeros(4, 16, device="meta")}),
        r"params\['b'\] is on meta, and x is on cpu",
    ),
    "initial of another batch": (
        lambda: rondo.Cell("lstm")(X, params=PARAMS, initial={"h": torch.zeros(4, 1, 16)}),
        "'h' has shape .*B is 3, by",
    ),
    "unknown initial": (
        lambda: rondo.Cell("lstm")(X, params=PARAMS, initial={"k": X}),
        "initial has 'k', which the cell has not .it has h, c",
    ),
    "lengths of another batch": (
        lambda: rondo.Cell("lstm")(X, params=PARAMS, lengths=[1, 2]),
        r"lengths has shape \[2\] .it is \[B\], and B is 3",
    ),
    "lengths that are no integers": (
        lambda: rondo.Cell("lstm")(X, params=PARAMS, lengths=[1.0, 2.0, 3.0]),
        "lengths is float32 .give integers",
    ),
    "resets of another shape": (
        lambda: rondo.Cell("lstm")(X, params=PARAMS, resets=torch.zeros(5, 3, dtype=torch.bool)),
        r"resets has shape \[5, 3\] .it is \[B, T\] = \[3, 5\]",
    ),
    "resets that are no truth values": (
        lambda: rondo.Cell("lstm")(X, params=PARAMS, resets=torch.zeros(3, 5)),
        "resets is float32 .give bool or uint8",
    ),
    "one tensor of two inputs": (lambda: rondo.Cell("affine")(torch.zeros(2, 3, 8)), "the cell has the inputs a, b"),
    "inputs of two types": (
        lambda: rondo.Cell("affine")({"a": torch.zeros(2, 3, 8), "b": torch.zeros(2, 3, 8).half()}),
        r"x\['b'\] is float16, and x is float32",
    ),
    "a step with a sequence": (lambda: rondo.Cell("lstm").step(X, params=PARAMS), "x has shape"),
    "a state of 16 bits": (
        lambda: rondo.Cell(LEAK).step(torch.zeros(2, 8), {"h": torch.zeros(2, 8).half()}),
        r"state\['h'\] is float16 .it is to be float32 and dense",
    ),
    "a state that is not there": (lambda: rondo.Cell("lstm").step(X[:, 0], {"h": torch.zeros(3, 1, 16)}, params=PARAMS), "state lacks 'c'"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_wrong_use_is_told(case):
    wrong, message = WRONG[case]
    with pytest.raises(rondo.InputError, match=message):
        wrong()
