"""`rondo.nn.split_heads`: the parts of a layer together are the layer. Over ranks: test_distributed.py."""

import pytest

torch = pytest.importorskip("torch", reason="no PyTorch: heads of layers are not tested")

import rondo

from parts import assert_close, assert_equal, leaf

READY = ["SLSTM", "MinGRU", "MinLSTM", "HGRN", "ParaGRU", "ParaLSTM", "LayerNormLSTM"]
TWO_OUTPUTS = """cell mine(D) {
  input x[2, D], m
  param a[D], s
  state h[D]
  next h = s * a * h + x[0] * m
  output h, y = h * x[1]
}"""
LAYERS = {
    **{name: lambda name=name, **options: getattr(rondo.nn, name)(8, 32, heads=4, **options) for name in READY},
    "two outputs": lambda **options: rondo.nn.Recurrent(
        TWO_OUTPUTS, 8, 32, heads=4, init=dict.fromkeys("as", torch.nn.init.uniform_), **options
    ),
    "matrix state": lambda **options: rondo.nn.Recurrent("linear_attention", 8, 32, heads=4, **options),
}


def made(kind, **options):
    """In float64: gradients of states that grow are large."""
    return LAYERS[kind](dtype=torch.float64, **options)


def parts_of(layer, world):
    return [rondo.nn.split_heads(layer, rank, world) for rank in range(world)]


def whole_of(layer, parts):
    """Weights or gradients of the whole layer, of those of its parts."""
    found = {}
    for name, weight in layer.named_parameters():
        if name == "output_projection.bias":
            found[name] = parts[0][name]
            continue
        axis, times = layer.by_head()[name]
        pieces = [part[name].unflatten(axis, (times, -1)) for part in parts]
        found[name] = torch.cat(pieces, axis + 1).flatten(axis, axis + 1)
        assert found[name].shape == weight.shape
    return found


@pytest.mark.parametrize("world", [1, 2, 4])
@pytest.mark.parametrize("kind", LAYERS)
def test_parts_are_the_layer(kind, world):
    layer, u = made(kind), leaf(3, 5, 8, dtype=torch.float64)
    y, last = layer(u)
    weights = dict(layer.named_parameters())
    wanted = torch.autograd.grad(y.square().sum(), [u, *weights.values()])
    grads, outputs, lasts, of_u = [], [], [], 0
    for part in parts_of(layer, world):
        one, state = part(u)
        own = dict(part.named_parameters())
        of_input, *others = torch.autograd.grad(one.square().sum(), [u, *own.values()])
        of_u = of_u + of_input
        grads.append(dict(zip(own, others, strict=True)))
        outputs.append(one.unflatten(-1, (len(layer.cell.outputs), -1)))
        lasts.append(state)
    assert_close(torch.cat(outputs, -1).flatten(-2), y)
    for name, state in last.items():
        assert_close(torch.cat([one[name] for one in lasts], 1), state)
    assert_close(of_u, wanted[0])
    for name, grad in zip(weights, wanted[1:], strict=True):
        assert_close(whole_of(layer, grads)[name], grad)


@pytest.mark.parametrize("kind", ["SLSTM", "HGRN", "two outputs"])
def test_outputs_of_projections_are_summands(kind):
    layer, u = made(kind, output_size=5), torch.randn(3, 5, 8, dtype=torch.float64)
    parts = parts_of(layer, 2)
    assert_close(sum(part(u)[0] for part in parts), layer(u)[0])
    assert parts[0].output_projection.bias is not None and parts[1].output_projection.bias is None
    assert parts[1].output_projection.in_features == len(layer.cell.outputs) * 16


def test_a_part_is_a_layer_of_its_own():
    layer = rondo.nn.SLSTM(8, 32, heads=4, reverse=True, batch_first=False)
    layer.b.requires_grad_(False)
    part = rondo.nn.split_heads(layer, 1, 2)
    assert type(part) is rondo.nn.SLSTM and part.cell is layer.cell and part.reverse and not part.batch_first
    assert (part.heads, part.hidden_size, part.input_projection.out_features) == (2, 16, 64)
    assert "8, 16, heads=2" in repr(part)
    assert_equal(part.R, layer.R[2:])
    assert part.R.is_contiguous() and part.R.untyped_storage().nbytes() == 4 * part.R.numel()
    assert part.R.requires_grad and not part.b.requires_grad
    part.reset_parameters()
    assert part.b[:, 1].min() == 3 and part.b[:, 1].max() == 6
    assert layer.R.shape[0] == 4 and (layer.heads, layer.hidden_size) == (4, 32)


def test_a_part_of_a_part():
    layer, u = made("SLSTM"), torch.randn(3, 5, 8, dtype=torch.float64)
    last = rondo.nn.split_heads(rondo.nn.split_heads(layer, 1, 2), 1, 2)
    assert_close(last(u)[0], layer(u)[0][..., 24:])


class Scaled(rondo.nn.MinGRU):
    """A subclass whose channels are scaled."""

    def __init__(self, *sizes, **options):
        super().__init__(*sizes, **options)
        self.scale = torch.nn.Parameter(torch.randn(self.hidden_size))

    def mix(self, h, u):
        return h * self.scale


class ScaledByHead(Scaled):
    def by_head(self):
        return super().by_head() | {"scale": (0, 1)}


class WrongByHead(Scaled):
    def by_head(self):
        return super().by_head() | {"scale": (0, 3)}


class WithMore(rondo.nn.MinGRU):
    def __init__(self, *sizes, **options):
        super().__init__(*sizes, **options)
        self.register_buffer("more", torch.ones(3))


def test_a_subclass_says_how_it_divides():
    layer, u = ScaledByHead(8, 32, heads=4), torch.randn(3, 5, 8)
    assert_close(torch.cat([part(u)[0] for part in parts_of(layer, 2)], -1), layer(u)[0])


def four(kind=rondo.nn.MinGRU):
    return kind(8, 32, heads=4)


WRONG = {
    "layer": (lambda: rondo.nn.split_heads(rondo.nn.LSTM(8, 16), 0, 1), "layer is LSTM .it is a rondo.nn.Recurrent"),
    "world": (lambda: rondo.nn.split_heads(four(), 0, 3), "world=3 does not divide heads=4"),
    "no world": (lambda: rondo.nn.split_heads(four(), 0, 0), "world is 0 .it is a whole number from 1"),
    "rank": (lambda: rondo.nn.split_heads(four(), 4, 4), "rank is 4 .it is less than world=4"),
    "negative": (lambda: rondo.nn.split_heads(four(), -1, 4), "rank is -1 .it is a whole number from 0"),
    "truth": (lambda: rondo.nn.split_heads(four(), True, 4), "rank is True"),
    "rows": (lambda: rondo.nn.split_heads(four(WrongByHead), 0, 2), "scale has 32 rows along axis 0 .by_head.. says that 4"),
}
UNSUPPORTED = {
    "draws": (lambda: rondo.nn.Recurrent("zoneout", 8, 32, heads=4), "cell zoneout draws random numbers"),
    "normalised": (lambda: four(rondo.nn.BlockGRU), "BlockGRU normalises its projected input over all heads"),
    "subclass": (lambda: four(Scaled), "Scaled has its own mix, which may take heads together"),
    "buffer": (lambda: four(WithMore), "more of WithMore does not divide by head"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_use_is_told(case):
    wrong, message = WRONG[case]
    with pytest.raises(rondo.InputError, match=message):
        wrong()


@pytest.mark.parametrize("case", UNSUPPORTED)
def test_what_does_not_divide_is_told(case):
    make, message = UNSUPPORTED[case]
    layer = make()
    with pytest.raises(rondo.UnsupportedError, match=message):
        rondo.nn.split_heads(layer, 0, 2)
