"""What `rondo.jax` says of wrong calls, and of what it has not."""

import sys
from types import SimpleNamespace

import pytest

jax = pytest.importorskip("jax", reason="no JAX: rondo.jax is not tested")

import numpy as np
import rondo
import rondo.jax
from jax import export
from rondo.jax import _primitive, _shim, _sites

from conftest import SOURCE
from jax_parts import LSTM, lstm, lstm_arrays
from test_structs import compare_structs
from texts import STILL

X, R, B = lstm_arrays()
P = {"R": R, "b": B}
WRONG = {
    "x is list": (lambda: LSTM([1.0], P), "lstm: x is list (give an array of JAX or NumPy)"),
    "x is int32": (lambda: LSTM(X.astype(int), P), "lstm: x is int32 (Rondo computes in float32, bfloat16 and float16"),
    "x has too few axes": (
        lambda: LSTM(X[0, 0], P),
        "lstm: x has shape [4, 16] (it is [B, T, H, 4, D], or [B, T, 4, D] for one",
    ),
    "x has other rows": (lambda: LSTM(X[:, :, :3], P), "lstm: 'x' has shape [3, 5, 1, 3, 16], not [3, 5, 1, 4, D]"),
    "no R": (lambda: LSTM(X, {"b": B}), "lstm: params lacks 'R' (it is [H, 4, D, D], or [4, D, D] for one head)"),
    "an unknown parameter": (lambda: LSTM(X, {**P, "a": B}), "lstm: params has 'a', which the cell has not"),
    "R of other channels": (lambda: LSTM(X, {**P, "R": R[:, :8, :8]}), "'R' has shape [1, 4, 8, 8], not [1, 4, 16, 16]"),
    "R is int32": (lambda: LSTM(X, {**P, "R": R.astype(int)}), "lstm: params['R'] is int32 (give floating point)"),
    "params is a list": (lambda: LSTM(X, [R, B]), "lstm: params is list (give a dict by name)"),
    "a state of another batch": (lambda: LSTM(X, P, {"h": X[:2, 0, 0]}), "'h' has shape [2, 1, 1, 16], not [3, 1, 1, 16]"),
    "an unknown state": (lambda: LSTM(X, P, {"m": X[:, 0, 0]}), "lstm: initial has 'm', which the cell has not (it has h, c)"),
    "lengths of another batch": (lambda: LSTM(X, P, lengths=[1]), "lstm: lengths has shape [1] (it is [B], and B is 3)"),
    "lengths are no integers": (lambda: LSTM(X, P, lengths=[1.0] * 3), "lstm: lengths is float32 (give integers)"),
    "resets of other steps": (
        lambda: LSTM(X, P, resets=np.zeros((3, 4), bool)),
        "lstm: resets has shape [3, 4] (it is [B, T] = [3, 5])",
    ),
    "resets are no truths": (lambda: LSTM(X, P, resets=np.zeros((3, 5))), "lstm: resets is float32 (give bool or uint8)"),
    "both ways": (lambda: LSTM(X, P, reverse=True, directions=True), "lstm: reverse and directions"),
    "no inputs": (lambda: rondo.jax.cell(STILL)(X), "still: a cell without inputs has no steps"),
    "options of a cell": (lambda: rondo.jax.cell(LSTM, save="products"), "cell: lstm is a cell, and has its options"),
    "JAX in rondo.Cell": (lambda: rondo.Cell("lstm")(X, params=P), "rondo.jax.cell takes JAX's"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_call_says_what_is_wrong(case):
    call, words = WRONG[case]
    with pytest.raises(rondo.InputError) as said:
        call()
    assert words in str(said.value)


def test_symbols_for_sizes_are_refused():
    (batch,) = export.symbolic_shape("n")
    x = jax.ShapeDtypeStruct((batch, *X.shape[1:]), X.dtype)
    known = export.DisabledSafetyCheck.custom_call("rondo")
    with pytest.raises(rondo.UnsupportedError, match="lstm: B is n, and a plan is made for numbers"):
        export.export(jax.jit(lambda x: lstm(x, R, B)), disabled_checks=[known])(x)


def test_an_error_of_a_launch_is_one_of_the_program(monkeypatch):
    """As where a program was written by another version, or the machine that runs it has not what it needs."""
    run = jax.jit(lambda x: lstm(x, R, B))
    compiled = run.lower(X[:1]).compile()
    monkeypatch.setattr(_sites, "VERSION", 0)
    _sites.SHIM.forget()
    with pytest.raises(jax.errors.JaxRuntimeError, match="INVALID_ARGUMENT.*a version of Rondo whose launches are of form 1"):
        compiled(X[:1])
    monkeypatch.undo()
    np.testing.assert_array_equal(compiled(X[:1]), lstm(X[:1], R, B))


def test_a_workspace_that_is_too_small_is_replaced(monkeypatch):
    """As where a program was written on a machine whose plan needs less."""
    cell = rondo.jax.cell("gru")

    def compiled():
        return jax.jit(jax.grad(lambda x: cell(x, {"R": R[:3], "b": B[:3]})[0].sum())).lower(X[:, :, :3]).compile()

    monkeypatch.setattr(_primitive, "site_of", lambda *_: SimpleNamespace(buffer_bytes=0))
    small = compiled()
    monkeypatch.undo()
    large = compiled()
    assert small.as_text().count("u8[0]") > large.as_text().count("u8[0]")
    np.testing.assert_array_equal(small(X[:, :, :3]), large(X[:, :, :3]))


def test_structs_are_those_of_the_header(tmp_path):
    compare_structs(tmp_path, _shim.STRUCTS, SOURCE / "python/ffi/interface.h")


def test_a_library_that_is_not_there_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("RONDO_JAX_SHIM", "/nowhere.so")
    with pytest.raises(rondo.LibraryNotFoundError, match=r"RONDO_JAX_SHIM names '/nowhere.so', which is not there"):
        _shim.load(None)
    monkeypatch.setenv("RONDO_JAX_SHIM", str(SOURCE / "README.md"))
    with pytest.raises(rondo.LibraryNotFoundError, match="README.md cannot be used"):
        _shim.load(None)
    monkeypatch.delenv("RONDO_JAX_SHIM")
    monkeypatch.setattr(_shim, "library_path", lambda: tmp_path / "librondo.so")
    with pytest.raises(rondo.LibraryNotFoundError, match="librondo_jax.so is not there.*tools/wheel says whether"):
        _shim.load(None)


def test_a_jax_that_is_not_there_or_too_old_is_told(monkeypatch):
    monkeypatch.setattr(jax, "__version_info__", (0, 4, 30))
    with pytest.raises(rondo.LibraryNotFoundError, match=r"rondo.jax needs JAX 0.6.2 or newer, and .* is installed"):
        rondo.jax._check()
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(ImportError, match=r"rondo.jax needs JAX 0.6.2 or newer, which is not installed \(pip install"):
        rondo.jax._check()


def test_numbers_of_a_launch_travel_as_text():
    launch = _sites.Launch(_sites.Pass(LSTM.text(True, False, "reverse"), 2, 7, 1, 5, 3), 0, 2, 3, 4, 16)
    assert _sites.read_launch(launch.text) == launch
