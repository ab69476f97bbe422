"""rondo.nn.LSTM with proj_size: as a module, in chunks of time, and where PyTorch looks into it. test_parity.py has its numbers."""

import copy

import pytest

torch = pytest.importorskip("torch", reason="no PyTorch: layers are not tested")

import rondo
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from parts import assert_close, assert_equal, leaf, pair
from test_chunks import F64, check_same

OPTIONS = dict(num_layers=2, bidirectional=True, proj_size=5)


def projected(dtype=F64, **options):
    return rondo.nn.LSTM(6, 8, proj_size=3, dtype=dtype, **options)


def states(layer, batch, dtype=F64):
    rows = layer.num_layers * layer.directions
    return leaf(rows, batch, layer.proj_size, dtype=dtype), leaf(rows, batch, layer.hidden_size, dtype=dtype)


@pytest.mark.parametrize("bias", [True, False])
def test_a_module_as_torchs(bias):
    torch.manual_seed(1)
    reference = torch.nn.LSTM(8, 16, bias=bias, **OPTIONS)
    torch.manual_seed(1)
    layer = rondo.nn.LSTM(8, 16, bias=bias, **OPTIONS)
    assert list(layer.state_dict()) == list(reference.state_dict())
    for one, other in zip(reference.parameters(), layer.parameters(), strict=True):
        assert_equal(one, other)
    assert layer.extra_repr() == reference.extra_repr() and layer.proj_size == 5
    assert [[w.shape for w in ws] for ws in reference.all_weights] == [[w.shape for w in ws] for ws in layer.all_weights]
    layer.reset_parameters()
    reference.load_state_dict(layer.state_dict())
    u = torch.randn(5, 3, 8)
    assert_close(layer(u)[0], reference(u)[0])


def test_without_a_batch():
    reference, layer = pair(proj_size=5, num_layers=2)
    u, hx = torch.randn(5, 8), (torch.randn(2, 5), torch.randn(2, 16))
    for given in (None, hx):
        (y, last), (y2, last2) = layer(u, given), reference(u, given)
        for one, other in zip((y, *last), (y2, *last2), strict=True):
            assert_close(one, other)


def test_a_sequence_without_steps():
    layer = projected()
    hx = states(layer, 2)
    y, (r, c) = layer(torch.zeros(0, 2, 6, dtype=F64), hx)
    assert y.shape == (0, 2, 3)
    assert_equal(r, hx[0])
    assert_equal(c, hx[1])


def test_a_replaced_layer_keeps_its_weights():
    model = torch.nn.Sequential(torch.nn.LSTM(8, 16, proj_size=4))
    weight, u = model[0].weight_hr_l0, torch.randn(5, 3, 8)
    wanted = model(u)[0]
    assert str(rondo.replace(model)) == "1 replaced: 0"
    assert model[0].weight_hr_l0 is weight
    assert_close(model(u)[0], wanted)


@pytest.mark.parametrize("given", [False, True], ids=["zero", "hx"])
@pytest.mark.parametrize("packed", [False, True], ids=["dense", "packed"])
@pytest.mark.parametrize("bidirectional", [False, True], ids=["forwards", "both directions"])
def test_in_chunks_of_time(bidirectional, packed, given):
    """A row that is reversed begins in the chunk that has its last step."""
    layer = projected(chunk=4, bidirectional=bidirectional)
    u, hx = leaf(11, 3, 6, dtype=F64), states(layer, 3) if given else None

    def call():
        y, last = layer(pack_padded_sequence(u, [11, 2, 8], enforce_sorted=False) if packed else u, hx)
        return [pad_packed_sequence(y)[0] if packed else y, *last]

    check_same(layer, call, [u, *(hx or ())])


def gradients(layer, u, hx):
    y, (r, c) = layer(u, hx)
    return torch.autograd.grad(y.square().sum() + r.sum() + c.sum(), [u, *hx, *layer.parameters()])


def test_within_a_compiled_graph():
    layer = projected(bidirectional=True)
    u, hx = leaf(7, 3, 6, dtype=F64), states(layer, 3)
    compiled = torch.compile(layer, fullgraph=True, backend="aot_eager")
    for one, other in zip(gradients(layer, u, hx), gradients(compiled, u, hx), strict=True):
        assert_close(one, other, 1e-10)


def test_mapped_over_states_alone():
    layer = projected(bidirectional=True)
    u, (r, c) = torch.randn(7, 3, 6, dtype=F64), states(layer, 12)

    def run(r, c):
        return layer(u, (r, c))[0]

    def parts(one):
        return one.detach().unflatten(1, (4, 3))

    found = torch.func.vmap(run, (1, 1))(parts(r), parts(c))
    for number in range(4):
        assert_close(found[number], run(parts(r)[:, number], parts(c)[:, number]), 1e-12)


def test_derivatives_of_both_kinds():
    layer = projected()
    tensors = (leaf(4, 2, 6, dtype=F64), *states(layer, 2))

    def run(u, r, c):
        y, last = layer(u, (r, c))
        return (y, *last)

    assert torch.autograd.gradcheck(run, tensors, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(run, tensors)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_under_autocast(dtype):
    """What torch.nn's layer gives, beside float64; the matrices' product is rounded as its factors are."""
    reference, layer = pair(hidden=32, proj_size=8)
    u, hx = torch.randn(3, 40, 8), (torch.randn(1, 3, 8), torch.randn(1, 3, 32))
    exact = copy.deepcopy(reference).double()(u.double(), tuple(state.double() for state in hx))[0]
    errors = []
    for one in (layer, reference):
        with torch.autocast("cpu", dtype=dtype):
            y = one(u, hx)[0]
        errors.append(float((y.double() - exact).abs().max()))
    assert errors[0] <= 2 * errors[1], errors
