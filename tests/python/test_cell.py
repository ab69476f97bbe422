"""Cells without PyTorch: what they say of themselves, their errors, and forward passes on NumPy's arrays."""

import pickle
from xml.etree import ElementTree

import pytest
import rondo

np = pytest.importorskip("numpy", reason="no NumPy: forward passes on arrays are not tested")

from texts import SCALAR, STILL

LEAK = """cell leak(N) {
  input x[N]
  state h[N]
  const keep = 0.5
  next h = keep * h + x
  output h
}
"""

BEGUN = """cell begun(N) {
  const keep = 0.5
  input x[N]
  state h[N] = keep
  next h = keep * h + x
  output h
}
"""


BIASED = """cell leak(N) {
  input x[N]
  param b[N]
  state h[N]
  next h = 0.5 * h + x + b
  output h
}
"""


LAYER = """cell layer(D, E = 12) {
  input u[E]
  param W[2, D, E], R[D, D]
  state h[D]
  x = W @ u
  next h = tanh(R @ h + x[0]) + x[1]
  output h
}
"""


def draw(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def leaked(x, keep, h=0.0):
    out = []
    for t in range(x.shape[1]):
        h = keep * h + x[:, t]
        out.append(h)
    return np.stack(out, 1)


def texts_of(svg):
    return [element.text for element in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


def test_a_picture_has_the_boxes_of_the_step():
    cell = rondo.Cell(LEAK)
    assert texts_of(cell.picture()) == ["h", "keep × ·", "next_h = · + x", "next h, output h"]
    assert "∂ previous h" in texts_of(cell.picture(backward=True))
    assert cell._repr_svg_() == cell.picture()


def test_a_step_of_many_values_has_no_picture():
    many = "".join(f"  a{i} = sigmoid({'h' if i == 0 else f'a{i - 1}'} + {i})\n" for i in range(300))
    cell = rondo.Cell(f"cell many(N) {{\n  input x[N]\n  state h[N]\n{many}  next h = a299 * x\n  output h\n}}\n")
    with pytest.raises(rondo.UnsupportedError, match="One step of many has more than 240 boxes, too many for a picture"):
        cell.picture()
    assert cell._repr_svg_() is None and "many" in repr(cell)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("steps", [0, 4])
def test_first_values_of_a_state(steps, dtype):
    cell = rondo.Cell(BEGUN, keep=0.25)
    y, last = cell(np.zeros((3, steps, 1, 16), dtype))
    assert np.array_equal(last["h"], np.full((3, 1, 16), 0.25 ** (steps + 1), dtype))
    assert y.shape == (3, steps, 1, 16) and last["h"].dtype == dtype


def test_a_cell_says_what_it_is():
    cell = rondo.Cell("lstm")
    assert cell.name == "lstm" and repr(cell) == "Cell('lstm')"
    assert cell.inputs == {"x": "[B, T, H, 4, D]"}
    assert cell.params == {"R": "[H, 4, D, D]", "b": "[H, 4, D]"}
    assert cell.states == {"h": "[B, H, D]", "c": "[B, H, D]"}
    assert cell.outputs == {"h": "[B, T, H, D]"}
    assert (cell.has_matrix, cell.is_affine, cell.is_diagonal, cell.has_reduction) == (True, False, False, False)
    assert "dense" in cell.structure and len(cell.hash) == 64
    assert rondo.Cell("mingru").is_affine and not rondo.Cell("paragru").is_affine


def test_equal_meaning_is_equal_hash():
    assert rondo.Cell(LEAK).hash == rondo.Cell("# with a comment\n" + LEAK).hash
    assert rondo.Cell(LEAK).hash != rondo.Cell(LEAK.replace("0.5", "0.25")).hash


@pytest.mark.parametrize("keep", [0.5, 0.25])
def test_a_text_with_a_constant_computes(keep):
    x = draw(2, 6, 16)
    y, last = rondo.Cell(LEAK, keep=keep)(x)
    np.testing.assert_allclose(y, leaked(x, keep), atol=1e-6)
    np.testing.assert_allclose(last["h"], y[:, -1], atol=1e-6)
    assert rondo.Cell(LEAK, keep=keep).constants == {"keep": keep}


@pytest.mark.parametrize("extent", [None, 5, 20])
def test_an_input_of_another_extent(extent):
    cell = rondo.Cell(LAYER) if extent is None else rondo.Cell(LAYER, E=extent)
    extent = extent or 12
    assert cell.inputs == {"u": f"[B, T, H, {extent}]"}
    assert cell.params == {"W": f"[H, 2, D, {extent}]", "R": "[H, D, D]"}
    u, w, r = draw(2, 5, 2, extent), draw(2, 2, 8, extent, seed=1), draw(2, 8, 8, seed=2) / 3
    y, last = cell(u, params={"W": w, "R": r})
    h, x = np.zeros((2, 2, 8), np.float32), np.einsum("hgij,bthj->btghi", w, u)
    for t in range(5):
        h = np.tanh(np.einsum("hij,bhj->bhi", r, h) + x[:, t, 0]) + x[:, t, 1]
        np.testing.assert_allclose(y[:, t], h, rtol=0, atol=1e-5)
    np.testing.assert_allclose(last["h"], h, rtol=0, atol=1e-5)


def test_a_file_is_read(tmp_path):
    path = tmp_path / "leak.cell"
    path.write_text(LEAK)
    assert rondo.Cell(path).hash == rondo.Cell(str(path)).hash == rondo.Cell(LEAK).hash


def test_initial_states_and_layouts():
    x, h = draw(2, 6, 3, 16), draw(2, 3, 16, seed=1)
    y, last = rondo.Cell(LEAK)(x, initial={"h": h})
    np.testing.assert_allclose(y, leaked(x, 0.5, h), atol=1e-6)
    major, last_major = rondo.Cell(LEAK)(np.swapaxes(x, 0, 1), initial={"h": h}, batch_first=False)
    np.testing.assert_array_equal(np.swapaxes(major, 0, 1), y)
    np.testing.assert_array_equal(last_major["h"], last["h"])
    with_rows, _ = rondo.Cell(LEAK)(x[:, :, :, None])
    without, _ = rondo.Cell(LEAK)(x)
    np.testing.assert_array_equal(with_rows, without)


def test_two_directions():
    x = draw(3, 5, 4, 16)
    cell = rondo.Cell(LEAK)
    lengths = np.array([5, 2, 0])
    y, last = cell(x, lengths=lengths, directions=True)
    for heads, reverse in ((slice(0, 2), False), (slice(2, 4), True)):
        alone, end = cell(np.ascontiguousarray(x[:, :, heads]), lengths=lengths, reverse=reverse)
        np.testing.assert_array_equal(y[:, :, heads], alone)
        np.testing.assert_array_equal(last["h"][:, heads], end["h"])
    with pytest.raises(rondo.InputError, match="reverse and directions"):
        cell(x, directions=True, reverse=True)
    with pytest.raises(rondo.InputError, match="H is 3"):
        cell(x[:, :, :3], directions=True)


def test_reverse_lengths_and_resets():
    x = draw(3, 5, 16)
    cell = rondo.Cell(LEAK)
    np.testing.assert_allclose(cell(x, reverse=True)[0], leaked(x[:, ::-1], 0.5)[:, ::-1], atol=1e-6)
    lengths = np.array([5, 2, 0])
    y, last = cell(x, lengths=lengths)
    for row, steps in enumerate(lengths):
        np.testing.assert_allclose(y[row, :steps], leaked(x, 0.5)[row, :steps], atol=1e-6)
        assert not y[row, steps:].any()
    assert not last["h"][2].any()
    resets = np.zeros((3, 5), bool)
    resets[:, 2] = True
    y, _ = cell(x, resets=resets)
    np.testing.assert_allclose(y[:, 2:], leaked(x[:, 2:], 0.5), atol=1e-6)


@pytest.mark.parametrize("shape", [(0, 4, 16), (2, 0, 16)])
def test_nothing_leaves_states_as_they_are(shape):
    h = draw(shape[0], 16)
    y, last = rondo.Cell(LEAK)(np.zeros(shape, np.float32), initial={"h": h})
    assert y.shape == shape
    np.testing.assert_array_equal(last["h"], h)


def test_half_precision():
    x = draw(2, 6, 16)
    y, last = rondo.Cell(LEAK)(x.astype(np.float16))
    assert y.dtype == np.float16 and last["h"].dtype == np.float32
    np.testing.assert_allclose(y, leaked(x, 0.5), atol=5e-3)


def test_a_cell_travels():
    cell = pickle.loads(pickle.dumps(rondo.Cell(LEAK, keep=0.25)))
    assert cell.constants == {"keep": 0.25}
    x = draw(2, 6, 16)
    np.testing.assert_allclose(cell(x)[0], leaked(x, 0.25), atol=1e-6)


def test_a_cell_without_a_bias():
    cell = rondo.Cell("lstm", without="b")
    assert cell.params == {"R": "[H, 4, D, D]"} and repr(cell) == "Cell('lstm', without=['b'])"
    x, R = draw(2, 6, 4, 16), draw(4, 16, 16, seed=1) / 4
    y, last = cell(x, params={"R": R})
    zero, last_zero = rondo.Cell("lstm")(x, params={"R": R, "b": np.zeros((4, 16), np.float32)})
    np.testing.assert_allclose(y, zero, atol=1e-6)
    np.testing.assert_allclose(last["c"], last_zero["c"], atol=1e-6)
    travelled = pickle.loads(pickle.dumps(cell.with_options(save="products")))
    assert travelled.params == cell.params and travelled.save == "products"
    assert rondo.Cell(BIASED, without=["b"]).hash == rondo.Cell(BIASED.replace("+ b", "").replace("  param b[N]\n", "")).hash


def test_options_make_another_cell():
    cell = rondo.Cell("lstm")
    assert cell.with_options(save="products").save == "products" and cell.save == "states"
    assert cell.may_save_products and not rondo.Cell("mingru").may_save_products


def test_all_errors_of_a_text_are_told():
    with pytest.raises(rondo.CellError, match="unknown name 'hh'") as caught:
        rondo.Cell(LEAK.replace("* h", "* hh").replace("output h", "output hhh"))
    first = caught.value.diagnostics[0]
    assert (first.line, first.column, first.length, first.message) == (5, 19, 2, "unknown name 'hh'")
    assert "^~" in first.rendered and "did you mean" in first.help
    assert len(caught.value.diagnostics) == 2
    assert isinstance(caught.value, ValueError)


def test_a_state_may_say_how_many_channels_there_are():
    y, last = rondo.Cell(SCALAR)(draw(2, 6, 1), initial={"h": np.ones((2, 1, 16), np.float32)})
    assert y.shape == (2, 6, 1, 16) and last["h"].shape == (2, 1, 16)


X, LSTM_X = draw(2, 6, 16), draw(2, 6, 4, 16)
WRONG = {
    "no such cell": (lambda: rondo.Cell("lstmm"), rondo.MissingError, "lstmm"),
    "no such file": (
        lambda: rondo.Cell("/nowhere/x.cell"),
        rondo.MissingError,
        "cannot read the cell '/nowhere/x.cell'",
    ),
    "source of another type": (lambda: rondo.Cell(3), rondo.InputError, "source is int"),
    "no such constant": (
        lambda: rondo.Cell(LEAK, kep=1.0),
        rondo.InputError,
        "cell leak has no constant 'kep' .has keep",
    ),
    "a constant of no constants": (lambda: rondo.Cell("lstm", k=1.0), rondo.InputError, "has none"),
    "a constant that is no number": (lambda: rondo.Cell(LEAK, keep="a"), rondo.InputError, "constant 'keep' is 'a'"),
    "without a matrix": (
        lambda: rondo.Cell("lstm", without="R"),
        rondo.InputError,
        "cell lstm cannot be without 'R': that is no bias, which is only added .it may be without: b",
    ),
    "without no parameter": (
        lambda: rondo.Cell(LEAK, without=["x"]),
        rondo.InputError,
        "cell leak has no parameter 'x' .it has no parameter that is only added",
    ),
    "without a number": (lambda: rondo.Cell("lstm", without=3), rondo.InputError, "without: 3 is no name"),
    "without the same": (lambda: rondo.Cell("lstm", without=["b", "b"]), rondo.InputError, "'b' is left out twice"),
    "a bias that is left out": (
        lambda: rondo.Cell("lstm", without="b")(LSTM_X, params={"R": draw(4, 16, 16), "b": draw(4, 16)}),
        rondo.InputError,
        "params has 'b', which the cell has not .it has R",
    ),
    "save": (
        lambda: rondo.Cell("lstm", save="all"),
        rondo.InputError,
        "save='all' is not known .it is one of states, products",
    ),
    "products of a cell without": (
        lambda: rondo.Cell("mingru", save="products"),
        rondo.InputError,
        "no products to save",
    ),
    "math": (lambda: rondo.Cell("lstm", math="f"), rondo.InputError, "math='f' is not known"),
    "clip": (lambda: rondo.Cell("lstm", clip_forward=-1), rondo.InputError, "clip_forward=-1.0 is no bound"),
    "option": (lambda: rondo.Cell("lstm").with_options(sav="states"), rondo.InputError, "no option 'sav'"),
    "x of no known type": (lambda: rondo.Cell(LEAK)([1.0]), rondo.InputError, "leak: x is list"),
    "x of integers": (lambda: rondo.Cell(LEAK)(X.astype(np.int64)), rondo.InputError, "is int64 .give float32"),
    "x without axes": (
        lambda: rondo.Cell(LEAK)(X[0]),
        rondo.InputError,
        r"has shape \[6, 16\] .it is \[B, T, H, D\], or \[B, T, D\]",
    ),
    "rows": (
        lambda: rondo.Cell("lstm")(LSTM_X[:, :, :3], params={"R": draw(4, 16, 16), "b": draw(4, 16)}),
        rondo.InputError,
        "'x' has shape .*the cell declares 4 rows",
    ),
    "another extent": (
        lambda: rondo.Cell(LAYER, E=5)(draw(2, 5, 6), params={"W": draw(2, 8, 5), "R": draw(8, 8)}),
        rondo.InputError,
        "'u' has shape .*the cell's extent is 5: give it as a constant",
    ),
    "no extent": (
        lambda: rondo.Cell(LAYER, E=2.5)(draw(2, 5, 2), params={"W": draw(2, 8, 2), "R": draw(8, 8)}),
        rondo.InputError,
        "E of cell layer is 2.5, but it is the extent of a tensor",
    ),
    "no params": (lambda: rondo.Cell("lstm")(LSTM_X), rondo.InputError, r"params lacks 'R' .it is \[H, 4, D, D\]"),
    "unknown params": (
        lambda: rondo.Cell("lstm")(LSTM_X, params={"W": X}),
        rondo.InputError,
        "params has 'W', which the cell has not .it has R, b",
    ),
    "params of another D": (
        lambda: rondo.Cell("lstm")(LSTM_X, params={"R": draw(4, 8, 8), "b": draw(4, 8)}),
        rondo.InputError,
        "'R' has shape .* .D is 16, by 'x'",
    ),
    "params that are no dict": (lambda: rondo.Cell("lstm")(LSTM_X, params=[X]), rondo.InputError, "params is list"),
    "unknown initial": (
        lambda: rondo.Cell(LEAK)(X, initial={"c": X}),
        rondo.InputError,
        "initial has 'c', which the cell has not .it has h",
    ),
    "initial of another batch": (
        lambda: rondo.Cell(LEAK)(X, initial={"h": draw(3, 16)}),
        rondo.InputError,
        "'h' has shape .*B is 2, by 'x'",
    ),
    "one tensor for two inputs": (lambda: rondo.Cell("affine")(X), rondo.InputError, "the cell has the inputs a, b"),
    "no inputs": (lambda: rondo.Cell(STILL)({}), rondo.InputError, "still: a cell without inputs has no steps .declare an"),
    "no channels": (
        lambda: rondo.Cell(SCALAR)(draw(2, 6, 1)),
        rondo.InputError,
        "scalar: no tensor that is given says D .give an initial state",
    ),
    "no channels of no steps": (
        lambda: rondo.Cell(SCALAR)(draw(2, 0, 1)),
        rondo.InputError,
        "scalar: no tensor that is given says D",
    ),
    "one of two inputs": (lambda: rondo.Cell("affine")({"a": X}), rondo.InputError, "x lacks 'b'"),
    "a step of arrays": (lambda: rondo.Cell(LEAK).step(X[:, 0]), rondo.InputError, "step.. takes PyTorch's tensors"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_use_is_told(case):
    wrong, kind, message = WRONG[case]
    with pytest.raises(kind, match=message):
        wrong()
