"""Second derivatives of `rondo.jax.cell` on the CPU, beside those of `lax.scan`, and under transformations."""

import re

import pytest

jax = pytest.importorskip("jax", reason="no JAX: rondo.jax is not tested")

import jax.numpy as jnp
import numpy as np
import rondo
import rondo.jax
from jax.sharding import PartitionSpec as P
from rondo import _structs as s

from jax_parts import LSTM, STATES, assert_close, by_scan, draw, drawn, loss, lstm, lstm_arrays, mesh_of


def numbers(function):
    """Of all results of the function one number, whose second derivative is not constant."""
    return lambda *arrays: sum((one.astype(jnp.float32) ** 2 + one).sum() for one in jax.tree.leaves(function(*arrays)))


def product(function, direction):
    """The second derivative of the function's numbers times the direction, in reverse mode of reverse mode."""
    gradient = jax.grad(numbers(function), tuple(range(len(direction))))
    return jax.jit(lambda *arrays: jax.vjp(gradient, *arrays)[1](direction))


def by_jax(function):
    """Compiled by XLA without the passes that take seconds for a scan."""
    return jax.jit(function, compiler_options={"xla_backend_optimization_level": 0})


def product_of_scans(function, direction):
    """As `product`, in forward mode of reverse mode, which JAX compiles in half the time."""
    gradient = jax.grad(numbers(function), tuple(range(len(direction))))
    return by_jax(lambda *arrays: jax.jvp(gradient, arrays, direction)[1])


def point_and_direction(cell, dtype=np.float32, **sizes):
    """x, parameters and initial states."""
    x, params = drawn(cell, steps=4, dim=8, dtype=dtype, **sizes)
    batch, _, heads, _, dim = x["x"].shape
    point = x["x"], params, {name: draw(batch, heads, dim, seed=9, scale=0.5) for name in STATES[cell.name]}
    return point, jax.tree.map(lambda one: draw(*one.shape, seed=one.ndim, dtype=one.dtype), point)


FORMS = {"lengths": [4, 0, 3], "resets": np.array([[0, 1, 0, 0], [1, 0, 0, 1], [0, 0, 0, 0]]), "reverse": True}


@pytest.mark.turns  # JAX compiles for two seconds a cell
@pytest.mark.parametrize(("name", "batch", "forms"), [("gru", 2, {}), ("lstm", 3, FORMS)])
def test_products_with_the_second_derivative(name, batch, forms):
    cell = rondo.jax.cell(name, strategy="reference")
    point, direction = point_and_direction(cell, batch=batch)
    found = product(lambda *some: cell(*some, **forms), direction)(*point)
    wanted = product_of_scans(lambda *some: by_scan(name, *some, **forms), direction)(*point)
    assert_close(found, wanted, 1e-5)


def test_kernels():
    """Those of a CPU have the second derivatives of the reference."""
    (x, params, _), (v, w, _) = point_and_direction(rondo.jax.cell("mingru"))
    found, exact = (product(rondo.jax.cell("mingru", strategy=by), (v, w))(x, params) for by in ("", "reference"))
    assert_close(found, exact, 1e-5)


def test_16_bits():
    (x, params, _), (v, w, _) = point_and_direction(LSTM)
    exact = product(LSTM, (v, w))(x, params)
    narrow = [one.astype(jnp.bfloat16) for one in (x, v)]  # and parameters that are rounded, with gradients that are not
    found = product(LSTM, (narrow[1], w))(narrow[0], params)
    assert (found[0].dtype, found[1]["R"].dtype) == (jnp.bfloat16, jnp.float32)
    assert_close(found, exact, 3e-2)


def test_two_directions():
    cell = rondo.jax.cell("mingru", strategy="reference")
    (x, params, first), (v, _, u) = point_and_direction(cell)

    def halves(x, first):
        """Each by itself."""
        walks = (slice(0, 1), False), (slice(1, 2), True)
        made = [cell(x[:, :, at], params, {"h": first["h"][:, at]}, reverse=reverse) for at, reverse in walks]
        return jnp.concatenate([y for y, _ in made], 2), jnp.concatenate([last["h"] for _, last in made], 1)

    found = product(lambda x, first: cell(x, params, first, directions=True), (v, u))(x, first)
    assert_close(found, product(halves, (v, u))(x, first), 0.0)


def test_hessians():
    """By data, whose many directions become rows of a launch, and by parameters, where they become heads."""
    cell = rondo.jax.cell("elman", strategy="reference")
    x, params = drawn(cell, batch=2, steps=2, heads=1, dim=2)
    point = x["x"], params["R"]

    def run(x, r):
        return cell(x, {"R": r, "b": params["b"]})

    by_row = jax.jit(lambda v, r: product(run, (v, r))(*point))
    zeros = [np.zeros(one.shape, np.float32) for one in point]
    wanted = []
    for place, zero in enumerate(zeros):
        rows = []
        for number in np.ndindex(zero.shape):
            unit = [one.copy() for one in zeros]
            unit[place][number] = 1.0
            rows.append([np.asarray(one) for one in by_row(*unit)])
        wanted.append([np.stack(some).reshape(zero.shape + some[0].shape) for some in zip(*rows, strict=True)])
    for once in (jax.jacrev, jax.grad):
        assert_close(jax.jit(jax.jacrev(once(numbers(run), (0, 1)), (0, 1)))(*point), wanted, 1e-5)


def test_a_penalty_of_the_gradient():
    """Under vmap, checkpoint and shard_map."""
    arrays = lstm_arrays(batch=4)

    def penalty(function):
        return jax.grad(lambda *some: (jax.grad(function)(*some) ** 2).sum(), (0, 1, 2))

    wanted = jax.jit(penalty(loss))(*arrays)
    of_row = penalty(jax.checkpoint(lambda x, r, b: loss(x[None], r, b)))
    by_x, *by_params = jax.jit(jax.vmap(of_row, (0, None, None)))(*arrays)
    assert_close((by_x, *(each.sum(0) for each in by_params)), wanted)
    mapped = jax.shard_map(penalty(loss), mesh=mesh_of("b"), in_specs=(P("b"), P(), P()), out_specs=(P("b"), P(), P()))
    assert_close(jax.jit(mapped)(*arrays), wanted)


def launches(function, *arrays):
    """The kinds of passes in the program of the function, whose text has that number before four others."""
    text = jax.jit(function).lower(*arrays).as_text()
    return sorted(int(kind) for kind in re.findall(r"@rondo\(.*?,(\d)(?:,\d+){4}\]", text))


def test_what_nobody_wants_is_not_computed():
    x, r, b = lstm_arrays()
    y, pull = jax.vjp(lambda x: lstm(x, r, b), x)
    both = [s.PASS_FORWARD_SAVE, s.PASS_BACKWARD]
    assert launches(jax.grad(loss), x, r, b) == both
    # By the gradient that comes in, a backward pass is linear: a forward pass of the tangent cell.
    assert launches(jax.grad(lambda g: (pull(g)[0] ** 2).sum()), y) == sorted([s.PASS_BACKWARD, s.PASS_FORWARD])
    # Both of the tangent cell, and both of the cell: nobody wants the gradient itself.
    assert launches(jax.grad(lambda x: jax.grad(loss)(x, r, b).sum()), x) == sorted(2 * both)


def test_what_is_not_there_raises():
    x, r, b = lstm_arrays()
    bounded = LSTM.with_options(clip_gradient=1.0)

    def again(function):
        return jax.grad(lambda x: function(x).sum())

    thrice = again(again(again(lambda x: lstm(x, r, b))))
    with pytest.raises(rondo.NotDifferentiableError, match=r"differentiates twice in JAX .there is no third derivative"):
        jax.eval_shape(thrice, x)
    with pytest.raises(rondo.NotDifferentiableError, match="clip_gradient bounds a gradient"):
        jax.eval_shape(again(again(lambda x: bounded(x, {"R": r, "b": b})[0])), x)
    for forward in (jax.jacfwd(lambda x: lstm(x, r, b)), jax.hessian(lambda x: loss(x, r, b))):
        with pytest.raises(TypeError, match="forward-mode"):  # by JAX, which knows that one in reverse mode is given
            jax.eval_shape(forward, x)


def test_no_steps():
    x, (_, r, b) = jnp.zeros((2, 0, 4, 16)), lstm_arrays()

    def cubes(h):
        return (LSTM(x, {"R": r, "b": b}, {"h": h})[1]["h"] ** 3).sum()

    found = jax.jit(jax.grad(lambda h: (jax.grad(cubes)(h) ** 2).sum()))(jnp.ones((2, 16)))
    np.testing.assert_array_equal(found, 36)  # of (3 h^2)^2
