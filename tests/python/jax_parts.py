"""What tests of `rondo.jax` share: cells and their arrays, scans of steps, and comparisons that say the error."""

import jax
import jax.numpy as jnp
import numpy as np
import rondo.jax
from jax.sharding import AxisType

import jax_steps
from conftest import SOURCE

SHIPPED = sorted(path.stem for path in (SOURCE / "cells").glob("*.cell"))
# Of results, by their greatest: some roundings of the type.
TOLERANCE = {"float32": 2e-5, "bfloat16": 2e-2}


def assert_close(found, wanted, tolerance=TOLERANCE["float32"]):
    """Of arrays or trees of them."""
    pairs = zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True)
    for one, other in ((np.asarray(a, np.float64), np.asarray(b, np.float64)) for a, b in pairs):
        assert one.shape == other.shape, (one.shape, other.shape)
        error, most = (float(np.abs(some).max()) if one.size else 0.0 for some in (one - other, other))
        assert error <= tolerance * max(most, 1.0), f"error {error:.2e} beside {most:.2e}, at most {tolerance:.0e} of it"


def draw(*shape, seed=0, scale=1.0, dtype=np.float32):
    return jnp.asarray(np.random.default_rng(seed).standard_normal(shape) * scale, dtype)


def drawn(cell, batch=2, steps=5, heads=2, dim=16, dtype=np.float32):
    """x and parameters of a cell, by name: vectors are float32 whatever the type is."""
    sizes = {"B": batch, "T": steps, "H": heads, "D": dim}
    x = {spec.short: draw(*spec.shape(sizes), seed=7, scale=0.5, dtype=dtype) for spec in cell._plain.inputs}
    params = {}
    for number, spec in enumerate(cell._plain.params):
        is_matrix = len(spec.axes) == 4
        params[spec.short] = draw(*spec.shape(sizes), seed=number, scale=0.3, dtype=dtype if is_matrix else np.float32)
    if "seed" in params:  # a whole number
        params["seed"] = jnp.full_like(params["seed"], 3.0)
    return x, params


def lstm_arrays(batch=3, steps=5, dim=16, dtype=np.float32):
    """x, R and b of cell lstm, with one head, which is left out."""
    x, r = draw(batch, steps, 4, dim, dtype=dtype), draw(4, dim, dim, seed=1, scale=dim**-0.5, dtype=dtype)
    return x, r, draw(4, dim, seed=2, scale=0.5)


# By the reference: no kernel is compiled where something else is tested.
LSTM = rondo.jax.cell("lstm", strategy="reference")


def lstm(x, r, b, **options):
    return LSTM(x, {"R": r, "b": b}, **options)[0]


def loss(x, r, b, **options):
    return (lstm(x, r, b, **options).astype(jnp.float32) ** 2).sum()


def mesh_of(name):
    """Of two devices."""
    assert len(jax.devices()) == 2, "tests of meshes need XLA_FLAGS=--xla_force_host_platform_device_count=2"
    return jax.make_mesh((2,), (name,), axis_types=(AxisType.Auto,))


# Cells whose own kernels are compared with scans of jax_steps, and their states in order.
STATES = {"lstm": ["h", "c"], "gru": ["h"], "elman": ["h"], "mingru": ["h"], "paragru": ["h"]}


def _rows(array, axis):
    """Without the axis of a single row, as steps take it; in float32."""
    return (array.squeeze(axis) if array.shape[axis] == 1 else array).astype(jnp.float32)


def by_scan(name, x, params, initial=None, *, lengths=None, resets=None, reverse=False):
    """Outputs [B, T, H, D] and last states of the cell by `lax.scan`. x and params have all their axes, and so has each initial
    state, `[B, H, D]`, where they are given: all or none."""
    step, (batch, steps) = getattr(jax_steps, name), x.shape[:2]
    resets = jnp.zeros((batch, steps), bool) if resets is None else jnp.asarray(resets, bool)
    lengths = jnp.full(batch, steps) if lengths is None else jnp.asarray(lengths)

    def head(x, p, first, resets, length):  # [T, rows, D], [T], a number
        def one(state, now):
            x, again, number = now
            made = step({key: jnp.where(again, 0.0, old) for key, old in state.items()}, {"x": x}, p)
            there = number < length
            return {key: jnp.where(there, made[key], old) for key, old in state.items()}, jnp.where(there, made["h"], 0.0)

        last, y = jax.lax.scan(one, first, (x, resets, jnp.arange(steps)), reverse=reverse)
        return y, [last[key] for key in STATES[name]]

    if initial is None:
        initial = {key: jnp.zeros((batch, x.shape[2], x.shape[-1])) for key in STATES[name]}
    heads = jax.vmap(head, in_axes=(1, 0, 0, None, None), out_axes=(1, 0))
    params = {key: _rows(value, 1) for key, value in params.items()}
    return jax.vmap(heads, in_axes=(0, None, 0, 0, 0))(_rows(x, 3), params, initial, resets, lengths)
