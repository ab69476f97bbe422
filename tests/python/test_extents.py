"""Cells of which states and matrices have extents of their own, and cells that multiply by transposes: beside PyTorch's LSTM
with a projection, beside loops, and by gradcheck."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="no PyTorch: these cells are not compared with it")

import rondo

from parts import assert_close, leaf

LSTMP = """cell lstmp(D, P = 12) {
  input x[4, D]
  param R[4, D, P], W[P, D]
  state r[P], c[D]
  g = R @ r + x
  next c = sigmoid(g[1]) * c + sigmoid(g[0]) * tanh(g[2])
  next r = W @ (sigmoid(g[3]) * tanh(next c))
  output r
}
"""
LOW_RANK = """cell lowrank(D, K = 5) {
  input x[D]
  param U[D, K], V[K, D]
  state h[D]
  next h = tanh(U @ (V @ h) + x)
  output h
}
"""
ANTISYMMETRIC = """cell antisymmetric(D) {
  input x[D]
  param R[D, D]
  state h[D]
  next h = h + 0.25 * tanh(R @ h - transpose(R) @ h - 0.1 * h + x)
  output h
}
"""


@pytest.mark.parametrize("projected", [1, 6, 16])
def test_lstm_with_a_projection_is_pytorchs(projected):
    """PyTorch's gates are i, f, g and o, as the cell's are."""
    batch, steps, size, dim = 3, 7, 5, 16
    theirs = torch.nn.LSTM(size, dim, proj_size=projected, batch_first=True) if projected < dim else None
    u, first_r, first_c = leaf(batch, steps, size), leaf(batch, 1, projected), leaf(batch, 1, dim)
    w_in, R, W = leaf(4 * dim, size, scale=0.3), leaf(1, 4, dim, projected, scale=0.3), leaf(1, projected, dim, scale=0.3)
    x = torch.nn.functional.linear(u, w_in).reshape(batch, steps, 1, 4, dim)
    cell = rondo.Cell(LSTMP, P=projected)
    assert cell.params == {"R": f"[H, 4, D, {projected}]", "W": f"[H, {projected}, D]"}
    y, last = cell(x, params={"R": R, "W": W}, initial={"r": first_r, "c": first_c})
    assert y.shape == (batch, steps, 1, projected) and last["r"].shape == (batch, 1, projected)
    (y.square().sum() + last["c"].sum() + last["r"].sum()).backward()
    mine = [u, first_r, first_c, w_in, R, W]
    exact = [tensor.detach().double().requires_grad_() for tensor in mine]
    if theirs is None:  # PyTorch takes smaller projections alone
        z, r, c = projected_loop(*exact)
    else:
        names = ("weight_ih_l0", "weight_hh_l0", "weight_hr_l0")
        weights = dict(zip(names, (exact[3], exact[4].flatten(0, 2), exact[5][0]), strict=True))
        weights |= {name: torch.zeros(4 * dim, dtype=torch.float64) for name in ("bias_ih_l0", "bias_hh_l0")}
        hx = (exact[1].transpose(0, 1), exact[2].transpose(0, 1))
        z, (r, c) = torch.func.functional_call(theirs.double(), weights, (exact[0], hx))
        z, r, c = z.unsqueeze(2), r.transpose(0, 1), c.transpose(0, 1)
    (z.square().sum() + c.sum() + r.sum()).backward()
    for one, other in ((y, z), (last["r"], r), (last["c"], c)):
        assert_close(one, other)
    for one, other in zip(mine, exact, strict=True):
        assert_close(one.grad, other.grad, 1e-4)


def projected_loop(u, r, c, w_in, R, W):
    outputs = []
    for t in range(u.shape[1]):
        g = torch.nn.functional.linear(u[:, t], w_in).reshape(len(u), 4, -1) + torch.einsum("hgij,bhj->bgi", R, r)
        c = torch.sigmoid(g[:, 1:2]) * c + torch.sigmoid(g[:, :1]) * torch.tanh(g[:, 2:3])
        r = torch.einsum("hpd,bhd->bhp", W, torch.sigmoid(g[:, 3:]) * torch.tanh(c))
        outputs.append(r)
    return torch.stack(outputs, 1), r, c


@pytest.mark.parametrize("how", ["plain", "directions"])
def test_a_matrix_of_low_rank_is_the_product_of_two(how):
    heads = 2 if how == "directions" else 1
    x, U, V = leaf(3, 9, heads, 16), leaf(heads, 16, 3, scale=0.5), leaf(heads, 3, 16, scale=0.5)
    exact = [tensor.detach().clone().requires_grad_() for tensor in (x, U, V)]
    options = {"directions": True} if how == "directions" else {}
    y, _ = rondo.Cell(LOW_RANK, K=3)(x, params={"U": U, "V": V}, **options)
    R = exact[1] @ exact[2]
    z, _ = rondo.Cell("elman")(exact[0], params={"R": R, "b": torch.zeros(heads, 16)}, **options)
    weights = torch.randn_like(y)
    (y * weights).sum().backward()
    (z * weights).sum().backward()
    assert_close(y, z)
    for one, other in zip((x, U, V), exact, strict=True):
        assert_close(one.grad, other.grad, 1e-4)


def test_a_matrix_less_its_transpose():
    x, R = leaf(3, 9, 2, 16), leaf(2, 16, 16, scale=0.5)
    exact = [tensor.detach().double().requires_grad_() for tensor in (x, R)]
    y, _ = rondo.Cell(ANTISYMMETRIC)(x, params={"R": R})
    h, outputs = torch.zeros(3, 2, 16, dtype=torch.float64), []
    for t in range(9):
        a = torch.einsum("hij,bhj->bhi", exact[1] - exact[1].mT, h) - 0.1 * h + exact[0][:, t]
        h = h + 0.25 * torch.tanh(a)
        outputs.append(h)
    z = torch.stack(outputs, 1)
    y.square().sum().backward()
    z.square().sum().backward()
    assert_close(y, z)
    for one, other in zip((x, R), exact, strict=True):
        assert_close(one.grad, other.grad, 1e-4)


@pytest.mark.parametrize(
    ("text", "shapes"), [(LSTMP, [(2, 3, 2, 4, 4), (2, 4, 4, 3), (2, 3, 4)]), (ANTISYMMETRIC, [(2, 3, 2, 4), (2, 4, 4)])]
)
def test_gradcheck_twice(text, shapes):
    leaves = [(torch.randn(shape, dtype=torch.float64) / 2).requires_grad_() for shape in shapes]
    cell = rondo.Cell(text, P=3) if "P" in text else rondo.Cell(text)

    def run(x, *params):
        return cell(x, params=dict(zip(cell.params, params, strict=True)))[0]

    assert torch.autograd.gradcheck(run, leaves)
    assert torch.autograd.gradgradcheck(run, leaves)


def test_from_numpy_and_what_does_not_fit():
    x, R, W = (
        np.random.default_rng(0).standard_normal(shape).astype(np.float32) for shape in ((2, 5, 4, 16), (4, 16, 6), (6, 16))
    )
    cell = rondo.Cell(LSTMP, P=6)
    y, last = cell(x, params={"R": R, "W": W / 4})
    assert y.shape == (2, 5, 6) and last["r"].shape == (2, 6) and last["c"].shape == (2, 16)
    with pytest.raises(rondo.InputError, match="'W' has shape"):
        cell(x, params={"R": R, "W": W[:5]})
    with pytest.warns(rondo.PerformanceWarning, match="computed by the reference"):  # the largest extent is not D
        y, _ = rondo.Cell(LSTMP, P=20)(x, params={"R": np.zeros((4, 16, 20), np.float32), "W": np.zeros((20, 16), np.float32)})
    assert y.shape == (2, 5, 20)
