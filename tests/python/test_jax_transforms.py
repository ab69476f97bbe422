"""Transformations of `rondo.jax.cell`: jit, vmap, checkpoint, donation, meshes of devices, and export."""

import subprocess
import sys

import pytest

jax = pytest.importorskip("jax", reason="no JAX: rondo.jax is not tested")

import jax.numpy as jnp
import numpy as np
from jax import export
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

from conftest import SOURCE
from jax_parts import assert_close, draw, loss, lstm, lstm_arrays, mesh_of

BY_ALL = jax.grad(loss, (0, 1, 2))


def test_jit_gives_the_same_bits():
    arrays = lstm_arrays()
    for one, other in zip(jax.jit(BY_ALL)(*arrays), BY_ALL(*arrays), strict=True):
        np.testing.assert_array_equal(one, other)


def test_checkpoint_and_donation():
    arrays = lstm_arrays()
    wanted = BY_ALL(*arrays)
    again = jax.jit(jax.grad(jax.checkpoint(loss), (0, 1, 2)), donate_argnums=0)
    assert_close(again(arrays[0] + 0, *arrays[1:]), wanted)


def test_a_scan_over_layers():
    x, r, b = lstm_arrays(dim=16)
    deep = jax.jit(lambda x, rs: jax.lax.scan(lambda h, r: (jnp.stack([lstm(h, r, b)] * 4, 2), None), x, rs)[0])
    rs = jnp.stack([r, -r])
    wanted = x
    for one in rs:
        wanted = jnp.stack([lstm(wanted, one, b)] * 4, 2)
    assert_close(deep(x, rs), wanted)


# Mapped: x, R, b, lengths.
MAPS = {"data": (0, None, None, None), "heads": (None, 0, 0, None), "all": (0, 0, None, None), "neither": (0, 0, None, 0)}


@pytest.mark.parametrize("axes", MAPS)
def test_vmap_is_a_loop(axes):
    """Many data become rows of one launch, many parameters heads of one; lengths that go with parameters make launches."""
    axes = MAPS[axes]
    x, r, b = lstm_arrays()
    arrays = [jnp.stack([one, 0.5 * one]) if axis == 0 else one for one, axis in zip((x, r, b), axes)]
    lengths = jnp.array([[1, 5, 0], [4, 2, 3]]) if axes[3] == 0 else jnp.array([1, 5, 0])

    def both(x, r, b, lengths):
        return jax.value_and_grad(lambda *some: loss(*some, lengths=lengths), (0, 1, 2))(x, r, b)

    found = jax.jit(jax.vmap(both, axes))(*arrays, lengths)
    for number in range(2):
        given = [one[number] if axis == 0 else one for one, axis in zip((*arrays, lengths), axes)]
        assert_close(jax.tree.map(lambda one, at=number: one[at], found), both(*given))


def test_vmap_of_another_axis_within_another_one():
    _, r, b = lstm_arrays()
    many = draw(2, 3, 5, 2, 4, 16)  # [i, B, T, j, 4, D]
    found = jax.vmap(jax.vmap(lstm, (0, None, None)), (3, None, None))(many, r, b)
    assert found.shape == (2, 2, 3, 5, 16)
    assert_close(found[1, 0], lstm(many[0, :, :, 1], r, b))


def test_gradients_of_each_sample_and_a_jacobian():
    x, r, b = lstm_arrays()
    each = jax.vmap(jax.grad(lambda r, x: loss(x[None], r, b)), (None, 0))(r, x)
    assert_close(each.sum(0), jax.grad(lambda r: loss(x, r, b))(r))

    def small(b):
        return lstm(x[:1, :2, :, :2], r[:, :2, :2], b).ravel()

    rows = jax.jacrev(small)(b[:, :2])
    assert_close(rows[1], jax.grad(lambda b: small(b)[1])(b[:, :2]))


def test_shard_map_over_the_batch():
    x, r, b = lstm_arrays(batch=4)
    mapped = jax.shard_map(
        lambda *some: jax.lax.psum(loss(*some), "b"), mesh=mesh_of("b"), in_specs=(P("b"), P(), P()), out_specs=P()
    )
    assert_close(jax.jit(jax.value_and_grad(mapped, (0, 1, 2)))(x, r, b), jax.value_and_grad(loss, (0, 1, 2))(x, r, b))


def test_shard_map_over_heads():
    x, r, b = draw(2, 5, 4, 4, 16), draw(4, 4, 16, 16, scale=0.3), draw(4, 4, 16)
    over = P(None, None, "h")
    mapped = jax.shard_map(lstm, mesh=mesh_of("h"), in_specs=(over, P("h"), P("h")), out_specs=over)

    def total(function):
        return jax.jit(jax.value_and_grad(lambda *some: (function(*some) ** 2).sum(), (0, 1, 2)))

    assert_close(total(mapped)(x, r, b), total(lstm)(x, r, b))


def test_pmap():
    x, r, b = lstm_arrays(batch=4)
    parts = x.reshape(2, 2, *x.shape[1:])
    mean = jax.pmap(lambda *some: jax.lax.psum(BY_ALL(*some)[1], "i"), "i", in_axes=(0, None, None))
    assert_close(mean(parts, r, b)[0], BY_ALL(x, r, b)[1])


def test_sharded_arrays_under_jit():
    x, r, b = lstm_arrays(batch=4)
    spread = jax.device_put(x, NamedSharding(mesh_of("b"), P("b")))
    assert_close(jax.jit(BY_ALL)(spread, r, b), BY_ALL(x, r, b))


RELOAD = """
import sys; sys.path.insert(0, sys.argv[1])
import jax, numpy as np, rondo.jax
from jax import export
given = np.load(sys.argv[2] + "/arrays.npz")
found = export.deserialize(open(sys.argv[2] + "/program", "rb").read())
y, grads = found.call(*given.values()), found.vjp().call(*given.values(), np.ones((3, 5, 16), np.float32))
assert rondo.plans()
np.savez(sys.argv[2] + "/found.npz", y, *grads)
"""


def test_a_program_is_run_by_another_process(tmp_path):
    pytest.importorskip("flatbuffers", reason="jax.export writes files with it")
    arrays = lstm_arrays()
    known = export.DisabledSafetyCheck.custom_call("rondo")
    program = export.export(jax.jit(lstm), disabled_checks=[known])(*arrays)
    (tmp_path / "program").write_bytes(program.serialize(vjp_order=1))
    np.savez(tmp_path / "arrays.npz", *arrays)
    subprocess.run([sys.executable, "-c", RELOAD, SOURCE / "python", tmp_path], check=True)
    found = [*np.load(tmp_path / "found.npz").values()]
    y, back = jax.vjp(lstm, *arrays)
    assert_close(found, [y, *back(jnp.ones_like(y))])
