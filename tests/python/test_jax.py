"""`rondo.jax.cell` on the CPU: values and gradients beside `lax.scan`, beside the reference in double precision, and beside
PyTorch, whose launches are the same. Forms, layouts and types."""

import pickle
import subprocess
import sys

import pytest

jax = pytest.importorskip("jax", reason="no JAX: rondo.jax is not tested")

import jax.numpy as jnp
import numpy as np
import rondo
import rondo.jax
from jax.test_util import check_grads

from conftest import SOURCE
from jax_parts import LSTM, SHIPPED, STATES, TOLERANCE, assert_close, by_scan, draw, drawn, lstm, lstm_arrays
from texts import SCALAR

torch = pytest.importorskip("torch", reason="no PyTorch: JAX is not compared with it")


def weighted(results):
    """A number in which each result has its own share."""
    return sum((one.astype(jnp.float32) * (i + 1)).sum() for i, one in enumerate(results))


def run(function, x, params):
    """Results in a list, and gradients by x and parameters."""

    def total(x, params):
        results = jax.tree.leaves(function(x, params))
        return weighted(results), results

    (_, results), grads = jax.jit(jax.value_and_grad(total, (0, 1), has_aux=True))(x, params)
    return results, grads


def flat(cell, **options):
    """Results of a call in the order of the cell, which a dict in a tree has not."""

    def call(x, params):
        y, last = cell(x, params, **options)
        return (*(y.values() if isinstance(y, dict) else [y]), *last.values())

    return call


@pytest.mark.turns
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("name", STATES)
def test_a_cell_agrees_with_a_scan(name, dtype):
    cell = rondo.jax.cell(name)
    x, params = drawn(cell, dtype=dtype)
    found = run(flat(cell), x["x"], params)
    assert [one.dtype for one in found[0]] == [dtype, *["float32"] * len(STATES[name])]
    assert_close(found, run(lambda x, p: by_scan(name, x, p), x["x"], params), TOLERANCE[dtype])


FORMS = {
    "reversed": ("mingru", {"reverse": True}),
    "lengths": ("lstm", {"lengths": np.array([3, 0, 5])}),
    "resets": ("mingru", {"resets": np.array([[0, 1, 0, 0, 1], [1, 0, 0, 1, 0], [0, 0, 0, 0, 0]])}),
    "all": ("lstm", {"reverse": True, "lengths": [4, 1, 5], "resets": np.array([[0, 1, 0, 0, 0]] * 3, bool)}),
}


@pytest.mark.parametrize("form", FORMS)
def test_forms_of_the_sequence_agree_with_a_scan(form):
    name, options = FORMS[form]
    cell = rondo.jax.cell(name, strategy="reference")
    x, params = drawn(cell, batch=3)
    found = run(flat(cell, **options), x["x"], params)
    assert_close(found, run(lambda x, p: by_scan(name, x, p, **options), x["x"], params))


def test_a_row_of_no_steps_has_no_strange_gradient():
    x, r, b = lstm_arrays()
    found = jax.grad(lambda x: (LSTM(x, {"R": r, "b": b}, lengths=[0, 1, 5])[1]["c"] ** 2).sum())(x)
    assert np.isfinite(found).all() and not found[0].any() and not found[1, 1:].any() and found[1, 0].any()


def to_torch(array, dtype=None):
    made = torch.from_numpy(np.array(array, np.float32)).to(dtype or getattr(torch, str(array.dtype)))
    return made.requires_grad_()


def run_in_torch(cell, x, params, dtype=None):
    """As `run`."""
    x, params = ({key: to_torch(value, dtype) for key, value in some.items()} for some in (x, params))
    y, last = cell(x, params=params)
    results = [*(y.values() if isinstance(y, dict) else [y]), *last.values()]
    total = sum((one.to(dtype or torch.float32) * (i + 1)).sum() for i, one in enumerate(results))
    leaves = [*x.values(), *params.values()]
    found = torch.autograd.grad(total, leaves, allow_unused=True)
    grads = [torch.zeros_like(leaf) if one is None else one for leaf, one in zip(leaves, found, strict=True)]
    return results, (dict(zip(x, grads)), dict(zip(params, grads[len(x) :])))


def check_beside_torch(cell, dtype):
    """The same launches give the same bits."""
    x, params = drawn(cell, dtype=dtype)
    found, wanted = run(flat(rondo.jax.cell(cell)), x, params), run_in_torch(cell, x, params)
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
        assert str(one.dtype) == str(other.dtype)[6:]
        np.testing.assert_array_equal(np.asarray(one, np.float32), other.detach().float().numpy())
    return found, x, params


@pytest.mark.turns
@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_cell_agrees_with_double_precision(name):
    exact = rondo.Cell(name, strategy="reference")
    found, x, params = check_beside_torch(exact, np.float32)
    wanted = jax.tree.map(lambda one: one.detach().numpy(), run_in_torch(exact, x, params, torch.float64))
    assert_close(found, wanted)


@pytest.mark.turns
@pytest.mark.parametrize(
    ("name", "dtype"), [*((name, "bfloat16") for name in SHIPPED), *((name, "float16") for name in ("hgrn", "slstm", "lstm"))]
)
def test_a_shipped_cell_in_16_bits_is_as_in_pytorch(name, dtype):
    check_beside_torch(rondo.Cell(name, strategy="reference"), dtype)


@pytest.mark.long
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_cell_by_its_own_kernels_is_as_in_pytorch(name, dtype):
    check_beside_torch(rondo.Cell(name), dtype)


def test_double_precision():
    jax.config.update("jax_enable_x64", True)
    try:
        cell = rondo.jax.cell("lstm")
        x, params = drawn(cell, batch=1, steps=2, dtype=np.float64)
        params = {key: value.astype(np.float64) for key, value in params.items()}
        y, last = cell(x, params)
        assert y.dtype == last["h"].dtype == np.float64
        check_grads(lambda *some: cell(*some)[0], (x, params), order=2, modes=["rev"])
    finally:
        jax.config.update("jax_enable_x64", False)


def test_layouts():
    """Without the axis of one row or of one head, and with time first."""
    cell = rondo.jax.cell("elman")
    x, r, b, h = draw(2, 5, 16), draw(16, 16, seed=1, scale=0.2), draw(16, seed=2), draw(2, 16, seed=3)
    y, last = cell(x, {"R": r, "b": b}, {"h": h})
    assert y.shape == (2, 5, 16) and last["h"].shape == (2, 16)
    whole = cell(x[:, :, None, None], {"R": r[None, None], "b": b[None, None]}, {"h": h[:, None]})
    np.testing.assert_array_equal(whole[0][:, :, 0], y)
    resets = np.zeros((2, 5), bool)
    resets[1, 2] = True
    wanted = cell(x, {"R": r, "b": b}, resets=resets)[0]
    major = cell(jnp.swapaxes(x, 0, 1), {"R": r, "b": b}, resets=resets.T, batch_first=False)[0]
    np.testing.assert_array_equal(jnp.swapaxes(major, 0, 1), wanted)


def test_two_directions():
    cell = rondo.jax.cell("mingru")
    x = draw(2, 5, 4, 2, 16)
    y = cell(x, directions=True)[0]
    for heads, reverse in ((slice(0, 2), False), (slice(2, 4), True)):
        np.testing.assert_array_equal(y[:, :, heads], cell(x[:, :, heads], reverse=reverse)[0])


@pytest.mark.parametrize("shape", [(0, 5), (2, 0)])
def test_no_rows_and_no_steps(shape):
    x, r, b = lstm_arrays()
    x, h = jnp.zeros((*shape, 4, 16)), draw(shape[0], 16)
    y, last = LSTM(x, {"R": r, "b": b}, {"h": h})
    assert y.shape == (*shape, 16) and not last["c"].any()
    np.testing.assert_array_equal(last["h"], h)
    grads = jax.grad(lambda h, r: LSTM(x, {"R": r, "b": b}, {"h": h})[1]["h"].sum(), (0, 1))(h, r)
    assert (grads[0] == 1).all() and not grads[1].any()


def test_a_parameter_of_more_bits_has_a_gradient_that_is_not_rounded():
    x, r, b = lstm_arrays(dtype=jnp.bfloat16)
    wide = jax.grad(lambda r: lstm(x, r, b).astype(jnp.float32).sum())(r.astype(jnp.float32))
    narrow = jax.grad(lambda r: lstm(x, r, b).astype(jnp.float32).sum())(r)
    assert (wide.dtype, narrow.dtype) == (jnp.float32, jnp.bfloat16)
    assert (wide != wide.astype(jnp.bfloat16)).any()
    np.testing.assert_array_equal(wide.astype(jnp.bfloat16), narrow)


def test_gradients_that_nobody_wants_are_not_computed():
    """The text of a launch in the program says which gradients it gives: those by x and b, from that of the output alone."""
    x, r, b = lstm_arrays()
    text = jax.jit(jax.grad(lambda x, b: lstm(x, r, b).sum(), (0, 1))).lower(x, b).as_text()
    backward = [line for line in text.splitlines() if "@rondo(" in line][-1]
    assert ",7,1,5,0]" in backward, backward  # given: x, R, b; gradients of h; wanted: x and b


def test_gradients_that_only_the_plan_wants_lie_in_the_workspace():
    """By the kernels of a CPU the gradient of x is computed whether it is wanted or not."""
    x, r, b = lstm_arrays()
    cell = rondo.jax.cell("lstm")

    def total(x, r, b):
        return (cell(x, {"R": r, "b": b})[0] ** 2).sum()

    alone, together = jax.grad(total, 2)(x, r, b), jax.grad(total, (0, 1, 2))(x, r, b)[2]
    np.testing.assert_array_equal(alone, together)


def test_a_cell_of_scalars():
    y, _ = rondo.jax.cell(SCALAR)(jnp.ones((2, 3, 1)), initial={"h": jnp.ones((2, 16))})
    np.testing.assert_array_equal(y[0, :, 0, 5], [1.5, 1.75, 1.875])


def test_a_cell_says_what_it_is():
    cell = rondo.jax.cell(rondo.Cell("lstm", save="products"))
    assert (cell.name, cell.save, cell.has_matrix) == ("lstm", "products", True)
    assert repr(cell) == "Recurrence('lstm')" and cell.params == {"R": "[H, 4, D, D]", "b": "[H, 4, D]"}
    assert pickle.loads(pickle.dumps(cell)).with_options(save="states").hash == cell.hash
    assert rondo.jax.cell("blockgru", update_bias=0.0).constants["update_bias"] == 0


def test_products_may_be_saved():
    x, r, b = lstm_arrays()
    saving = LSTM.with_options(save="products")
    found = jax.grad(lambda x: saving(x, {"R": r, "b": b})[0].sum())(x)
    assert_close(found, jax.grad(lambda x: lstm(x, r, b).sum())(x))


def test_a_policy_makes_other_programs():
    x, r, b = lstm_arrays(steps=3)
    lower = jax.jit(lambda x: lstm(x, r, b)).lower
    first = lower(x).as_text()
    with rondo.policy(choose="model", database=False):
        assert jax.jit(lambda x: lstm(x, r, b)).lower(x).as_text() != first


def test_pytorch_is_not_imported():
    text = (
        "import sys; sys.path.insert(0, sys.argv[1]); import rondo.jax; rondo.jax.cell('lstm'); print('torch' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", text, SOURCE / "python"], check=True, capture_output=True, text=True)
    assert found.stdout.strip() == "False"
