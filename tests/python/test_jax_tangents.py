"""All shipped cells beside `lax.scan` over steps that are written in JAX by hand: values and gradients of rondo.jax, forward mode of
PyTorch, and products with the second derivative."""

import pytest

torch = pytest.importorskip("torch", reason="no PyTorch: derivatives are not tested")
jax = pytest.importorskip("jax", reason="no JAX: derivatives are not compared with its")

import numpy as np
import rondo
import rondo.jax

import jax_steps
from conftest import SOURCE
from jax_parts import TOLERANCE, assert_close

SHIPPED = sorted(path.stem for path in (SOURCE / "cells").glob("*.cell"))
SIZES = {"B": 2, "T": 4, "H": 2, "D": 8}
OPTIONS = {"zoneout": {"training": 0}}
# Where a state begins with something else than random numbers: an empty cell of slstm has n = 0.
ABOVE = {
    "slstm": {"n": 1.5},
    "hgrn": {"low": 0.5},
    "gated_deltanet": {"beta": 0.5, "g": -1.0},
    "linear_attention": {"k": 1.5, "q": 1.5, "z": 1.5},
    "rwkv4": {"b": 1.5},
    "rwkv7": {"w": 0.5, "a": 0.5},
}


class Case:
    """A cell, a point and a direction: by kind ("x", "params", "initial") and name."""

    def __init__(self, name):
        self.cell = rondo.Cell(name, strategy="reference", **OPTIONS.get(name, {}))
        self.step = getattr(jax_steps, name)
        plain, draw = self.cell._plain, np.random.default_rng(len(name)).standard_normal
        self.point, self.direction = {}, {}
        for kind, specs in (("x", plain.inputs), ("params", plain.params), ("initial", plain.initials)):
            for spec in specs:
                if spec.short == "seed":
                    continue
                shape = [
                    extent
                    for place, extent in enumerate(spec.shape(SIZES))
                    if not (spec.has_one_row and place == spec.rows_axis)
                ]
                at = ABOVE.get(name, {}).get(spec.short, 0.0)
                self.point[kind, spec.short] = (at + 0.3 * draw(shape)).astype(np.float32)
                self.direction[kind, spec.short] = draw(shape).astype(np.float32)

    def grouped(self, tensors):
        groups = {"x": {}, "params": {}, "initial": {}}
        for (kind, name), tensor in tensors.items():
            groups[kind][name] = tensor
        return groups

    def ours(self, tensors):
        groups = self.grouped(tensors)
        if "seed" in self.cell.params:
            groups["params"]["seed"] = torch.zeros(SIZES["H"])
        y, last = self.cell(groups["x"], params=groups["params"], initial=groups["initial"])
        return {
            **(y if isinstance(y, dict) else {next(iter(self.cell.outputs)): y}),
            **{f"last {key}": last[key] for key in last},
        }

    def theirs(self, tensors):
        groups = self.grouped(tensors)
        made, last = jax_steps.run(self.step, groups["x"], groups["params"], groups["initial"])
        return {**{name: made[name] for name in self.cell.outputs}, **{f"last {key}": last[key] for key in last}}

    def torchs(self, arrays):
        return {key: torch.tensor(array) for key, array in arrays.items()}

    def in_jax(self, tensors):
        """As `ours`, by rondo.jax."""
        groups = self.grouped(tensors)
        if "seed" in self.cell.params:
            groups["params"]["seed"] = jax.numpy.zeros(SIZES["H"])
        cell = rondo.jax.cell(self.cell.name, strategy="reference", **OPTIONS.get(self.cell.name, {}))
        y, last = cell(groups["x"], groups["params"], groups["initial"])
        return {
            **(y if isinstance(y, dict) else {next(iter(self.cell.outputs)): y}),
            **{f"last {key}": last[key] for key in last},
        }

    def rounded(self, dtype):
        """The point, with inputs and matrices of that type."""
        matrices = {spec.short for spec in self.cell._plain.params if len(spec.axes) == 4}
        return {
            (kind, name): jax.numpy.asarray(array, dtype if kind == "x" or name in matrices else np.float32)
            for (kind, name), array in self.point.items()
        }


def along(function, point, direction):
    """In JAX: the value, and its derivative along the direction."""
    return jax.jit(lambda at, tangent: jax.jvp(function, (at,), (tangent,)))(point, direction)


def assert_all_close(found, wanted, tolerance):
    """Of dicts of arrays, each by its greatest."""
    assert found.keys() == wanted.keys()
    for name, other in wanted.items():
        one, other = np.asarray(found[name].detach(), np.float64), np.asarray(other, np.float64)
        assert one.shape == other.shape, name
        error = np.abs(one - other).max() / max(1.0, np.abs(other).max())
        assert error <= tolerance, f"{name}: error {error:.2e}, at most {tolerance:.0e}"


def values_and_gradients(function, point):
    """Of a number in which every result has its own share."""

    def total(tensors):
        results = function(tensors)
        shares = [(results[name].astype(np.float32) * (i + 1)).sum() for i, name in enumerate(sorted(results))]
        return sum(shares), results

    (_, results), gradients = jax.jit(jax.value_and_grad(total, has_aux=True))(point)
    return results, gradients


@pytest.mark.turns
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_cell_agrees_with_a_scan(name, dtype):
    case = Case(name)
    point = case.rounded(dtype)
    found = values_and_gradients(case.in_jax, point)
    wide = {key: array.astype(np.float32) for key, array in point.items()}
    assert {str(array.dtype) for key, array in found[1].items() if key[0] == "x"} == {dtype}
    assert_close(found, values_and_gradients(case.theirs, wide), TOLERANCE[dtype])


@pytest.mark.turns  # JAX compiles for a second or two a cell
@pytest.mark.parametrize("name", [name for name in SHIPPED if name != "viterbi"])  # max-plus products have no tangents
def test_forward_mode(name):
    case = Case(name)
    values, tangents = torch.func.jvp(case.ours, (case.torchs(case.point),), (case.torchs(case.direction),))
    wanted_values, wanted = along(case.theirs, case.point, case.direction)
    assert_all_close(values, wanted_values, 1e-5)
    assert_all_close(tangents, wanted, 1e-5)


@pytest.mark.parametrize("name", ["gru", "lstm"])
def test_products_with_the_second_derivative(name):
    case = Case(name)

    def loss(run, square):
        return lambda tensors: sum(square(made).sum() for made in run(tensors).values())

    leaves = {key: tensor.requires_grad_() for key, tensor in case.torchs(case.point).items()}
    grads = torch.autograd.grad(loss(case.ours, torch.square)(leaves), list(leaves.values()), create_graph=True)
    found = torch.autograd.grad(grads, list(leaves.values()), list(case.torchs(case.direction).values()))
    gradient = jax.grad(loss(case.theirs, jax.numpy.square))
    _, wanted = along(gradient, case.point, case.direction)
    assert_all_close(dict(zip(leaves, found, strict=True)), wanted, 1e-5)
