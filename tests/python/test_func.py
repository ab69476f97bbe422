"""torch.func: gradients, vmap by rule, gradients of each sample, and ensembles."""

import copy

import pytest

torch = pytest.importorskip("torch", reason="no PyTorch: torch.func is not tested")

import rondo

from parts import assert_close, pair


def loss_of(module):
    def loss(weights, u):
        return torch.func.functional_call(module, weights, (u,))[0].square().sum()

    return loss


def weights_of(module):
    return dict(module.named_parameters())


def assert_all_close(found, wanted, tolerance=2e-5):
    assert list(found) == list(wanted)
    for name in wanted:
        assert_close(found[name], wanted[name], tolerance)


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
def test_grad(kind):
    reference, layer = pair(kind)
    u = torch.randn(2, 3, 8)
    found = torch.func.grad(loss_of(layer))(weights_of(layer), u)
    assert_all_close(found, torch.func.grad(loss_of(reference))(weights_of(reference), u))


def test_jacrev():
    reference, layer = pair()
    u = torch.randn(2, 3, 8)
    found = torch.func.jacrev(lambda v: layer(v)[0].sum((0, 2)))(u)
    assert_close(found, torch.func.jacrev(lambda v: reference(v)[0].sum((0, 2)))(u))


@pytest.mark.parametrize("mode", [torch.enable_grad, torch.no_grad])
@pytest.mark.parametrize("dim", [0, 1, 2])
def test_vmap_of_data(dim, mode):
    reference, layer = pair()
    u = torch.randn(4, 2, 3, 8)
    with mode():
        found = torch.vmap(lambda v: layer(v)[0], in_dims=dim)(u.movedim(0, dim))
    assert_close(found, torch.stack([reference(v)[0] for v in u]))


def test_vmap_of_data_is_one_launch():
    """By rule: rows of one batch, and no loop."""
    cell = rondo.Cell("mingru")
    before = len(rondo.plans())
    torch.vmap(lambda x: cell(x)[0])(torch.randn(40, 3, 5, 1, 2, 16))
    made = rondo.plans()[before:]
    assert [plan.batch for plan in made] == [120]


def ensemble(reference, size=3):
    members = [copy.deepcopy(reference) for _ in range(size)]
    for member in members:
        member.reset_parameters()
    return members, torch.func.stack_module_state(members)[0]


def test_vmap_of_parameters():
    reference, layer = pair()
    u = torch.randn(2, 3, 8)
    members, stacked = ensemble(reference)
    run = torch.vmap(lambda w, v: torch.func.functional_call(layer, w, (v,))[0], in_dims=(0, None))
    assert_close(run(stacked, u), torch.stack([member(u)[0] for member in members]))


def test_vmap_of_parameters_in_both_directions():
    reference, layer = pair(bidirectional=True)
    u = torch.randn(4, 3, 8)
    members, stacked = ensemble(reference)
    found = torch.vmap(torch.func.grad(loss_of(layer)), in_dims=(0, None))(stacked, u)
    each = [torch.func.grad(loss_of(reference))(weights_of(member), u) for member in members]
    assert_all_close(found, {name: torch.stack([one[name] for one in each]) for name in found})


def test_vmap_of_parameters_is_one_launch():
    """By rule: heads."""
    cell = rondo.Cell("lstm")
    x, b = torch.randn(3, 5, 1, 4, 16), torch.zeros(1, 4, 16)
    before = len(rondo.plans())
    with torch.no_grad():
        torch.vmap(lambda R: cell(x, params={"R": R, "b": b})[0])(torch.randn(7, 1, 4, 16, 16))
    assert [plan.heads for plan in rondo.plans()[before:]] == [7]


def test_vmap_of_parameters_with_gradients():
    reference, layer = pair()
    u = torch.randn(2, 3, 8)
    members, stacked = ensemble(reference)
    found = torch.vmap(torch.func.grad(loss_of(layer)), in_dims=(0, None))(stacked, u)
    each = [torch.func.grad(loss_of(reference))(weights_of(member), u) for member in members]
    assert_all_close(found, {name: torch.stack([one[name] for one in each]) for name in found})


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
def test_gradients_of_each_sample(kind):
    reference, layer = pair(kind)
    u = torch.randn(4, 2, 3, 8)
    found = torch.vmap(torch.func.grad(loss_of(layer)), in_dims=(None, 0))(weights_of(layer), u)
    each = [torch.func.grad(loss_of(reference))(weights_of(reference), v) for v in u]
    assert_all_close(found, {name: torch.stack([one[name] for one in each]) for name in found})


def test_vmap_of_lengths_beside_parameters():
    """Neither rows nor heads hold that: one after the other."""
    cell = rondo.Cell("lstm")
    x, b = torch.randn(3, 5, 1, 4, 16), torch.zeros(1, 4, 16)
    matrices, lengths = torch.randn(2, 1, 4, 16, 16), torch.tensor([[5, 2, 1], [3, 3, 4]])

    def run(R, steps):
        return cell(x, params={"R": R, "b": b}, lengths=steps)[0]

    found = torch.vmap(run)(matrices, lengths)
    assert_close(found, torch.stack([run(R, steps) for R, steps in zip(matrices, lengths, strict=True)]))


def test_vmap_of_lengths_beside_data():
    cell = rondo.Cell("mingru")
    x, lengths = torch.randn(2, 3, 5, 1, 2, 16), torch.tensor([[5, 2, 1], [3, 3, 4]])
    found = torch.vmap(lambda v, steps: cell(v, lengths=steps)[0])(x, lengths)
    assert_close(found, torch.stack([cell(v, lengths=steps)[0] for v, steps in zip(x, lengths, strict=True)]))


def test_a_compiled_vmap():
    _, layer = pair()
    u = torch.randn(4, 2, 3, 8)
    torch._dynamo.reset()
    compiled = torch.compile(lambda v: torch.vmap(lambda w: layer(w)[0])(v), backend="aot_eager", fullgraph=True)
    assert_close(compiled(u), torch.stack([layer(v)[0] for v in u]))


def test_a_compiled_gradient():
    _, layer = pair()
    layer.requires_grad_(False)
    u = torch.randn(2, 3, 8)
    torch._dynamo.reset()

    def gradient(v):
        return torch.func.grad(lambda w: layer(w)[0].square().sum())(v)

    assert_close(torch.compile(gradient, backend="aot_eager", fullgraph=True)(u), gradient(u))
