"""`rondo.jax` where JAX has a CUDA GPU: values and gradients beside `lax.scan`, forms, second derivatives, and launches that XLA
captures in its command buffers. On the CPU these are tests/python/test_jax*.py's."""

import os
import pathlib
import subprocess
import sys

import pytest

# Other processes share the GPU, PyTorch in this one does too.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
jax = pytest.importorskip("jax", reason="no JAX: rondo.jax is not tested")

import jax.numpy as jnp
import numpy as np
import rondo.jax
from on_device import ON_GPU, needs_gpu

from jax_parts import STATES, assert_close, by_scan, drawn

pytestmark = needs_gpu
# Of results beside scans in float32, whose products XLA computes in full.
TOLERANCE = {"float32": 1e-4, "bfloat16": 3e-2}


@pytest.fixture(autouse=True, scope="module")
def in_full():
    if ON_GPU:
        assert jax.default_backend() == "gpu", "JAX has no GPU, where the tests are to run on one"
    with jax.default_matmul_precision("highest"):
        yield


def total(function, x, params):
    results = jax.tree.leaves(function(x, params))
    return sum((one.astype(jnp.float32) * (i + 1)).sum() for i, one in enumerate(results)), results


def run(function, x, params):
    """Results in a list, and gradients by x and parameters."""
    (_, results), grads = jax.jit(jax.value_and_grad(lambda *given: total(function, *given), (0, 1), has_aux=True))(x, params)
    return results, grads


def flat(cell, **options):
    def call(x, params):
        y, last = cell(x, params, **options)
        return (y, *last.values())

    return call


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("name", STATES)
def test_a_cell_agrees_with_a_scan(name, dtype):
    cell = rondo.jax.cell(name)
    x, params = drawn(cell, batch=3, steps=37, heads=2, dim=64, dtype=dtype)
    if name == "elman":  # chaotic with these matrices: inputs off by 1e-7 move its outputs by 1e-3 over so many steps
        params["R"] = params["R"] * 0.3
    found = run(flat(cell), x["x"], params)
    assert {one.platform for array in jax.tree.leaves(found) for one in array.devices()} == {"gpu"}
    assert_close(found, run(lambda x, p: by_scan(name, x, p), x["x"], params), TOLERANCE[dtype])


@pytest.mark.parametrize("name", ["lstm", "mingru"])
def test_forms_of_the_sequence(name):
    resets = np.random.default_rng(3).random((3, 37)) < 0.1
    options = {"lengths": np.array([37, 0, 12]), "resets": resets, "reverse": True}
    cell = rondo.jax.cell(name)
    x, params = drawn(cell, batch=3, steps=37, dim=64)
    found = run(flat(cell, **options), x["x"], params)
    assert_close(found, run(lambda x, p: by_scan(name, x, p, **options), x["x"], params), TOLERANCE["float32"])


def test_many_data_and_many_parameters():
    cell = rondo.jax.cell("gru")
    x, params = drawn(cell, batch=2, steps=9, heads=1, dim=32)
    many = jnp.stack([x["x"], 0.5 * x["x"]])
    found = jax.jit(jax.vmap(lambda x: cell(x, params)[0]))(many)
    assert_close(found[1], cell(many[1], params)[0], TOLERANCE["float32"])
    both = jax.tree.map(lambda one: jnp.stack([one, -one]), params)
    found = jax.jit(jax.vmap(lambda p: cell(x["x"], p)[0]))(both)
    assert_close(found[1], cell(x["x"], jax.tree.map(jnp.negative, params))[0], TOLERANCE["float32"])


def test_products_with_the_second_derivative():
    cell = rondo.jax.cell("gru")
    x, params = drawn(cell, batch=2, steps=7, heads=1, dim=32)

    def product(function):
        gradient = jax.grad(lambda x: (function(x) ** 2).sum())
        return jax.jit(lambda x: jax.vjp(gradient, x)[1](jnp.ones_like(x))[0])(x["x"])

    wanted = product(lambda x: by_scan("gru", x, params)[0])
    assert_close(product(lambda x: cell(x, params)[0]), wanted, 1e-3)


CAPTURED = """
import sys
import jax, numpy as np, rondo.jax
from jax_parts import drawn
from rondo.jax import _sites
cell = rondo.jax.cell("lstm")
x, params = drawn(cell, batch=4, steps=20, heads=1, dim=64)
step = jax.jit(jax.grad(lambda x, p: (cell(x, p)[0] ** 2).sum(), (0, 1)))
for _ in range(5):
    made = jax.block_until_ready(step(x["x"], params))
before = _sites.SHIM.launches()
for _ in range(10):
    made = jax.block_until_ready(step(x["x"], params))
np.savez(sys.argv[1], *jax.tree.leaves(made))
print("launches", _sites.SHIM.launches() - before)
"""


def captured(flags, out):
    """What a step of training gives in another process, in whose programs XLA captures commands as the flags say, and how often
    ten of them came to librondo_jax."""
    here = pathlib.Path(__file__).resolve().parents[1]
    environment = os.environ | {
        "XLA_FLAGS": flags,
        "PYTHONPATH": os.pathsep.join([str(here), os.environ.get("PYTHONPATH", "")]),
    }
    done = subprocess.run([sys.executable, "-c", CAPTURED, out], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    with np.load(out) as arrays:
        return [arrays[name] for name in arrays.files], int(done.stdout.split("launches")[-1])


def test_launches_in_command_buffers_give_the_same_bits(tmp_path):
    plain, launches = captured("--xla_gpu_enable_command_buffer=", str(tmp_path / "plain.npz"))
    assert launches == 20  # forward and backward, each of ten times
    some, replayed = captured("--xla_gpu_graph_min_graph_size=1", str(tmp_path / "captured.npz"))
    assert replayed < 20, "XLA captured nothing"
    for one, other in zip(plain, some, strict=True):
        np.testing.assert_array_equal(one, other)
