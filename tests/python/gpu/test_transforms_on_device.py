"""What PyTorch does with an operator, on a device: compiled, exported, checked, mapped, differentiated again, checkpointed."""

import pytest
from on_device import COMPILER, DEVICE, close, draw, leaf, lstm_tensors, pair, rondo, torch, twin, without_cudnn
from torch._dynamo.testing import CompileCounter

pytestmark = pytest.mark.long


@pytest.fixture(autouse=True)
def fresh_compiler():
    torch._dynamo.reset()


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_a_layer_is_one_graph(kind):
    reference, layer = pair(kind, num_layers=2, bidirectional=True)
    compiled = torch.compile(layer, fullgraph=True, backend=COMPILER)
    u = leaf(3, 6, 8)
    v = twin(u)
    y, z = compiled(u)[0], reference(v)[0]
    close(y, z)
    y.square().sum().backward()
    z.square().sum().backward()
    close(u.grad, v.grad)
    for one, other in zip(layer.parameters(), reference.parameters(), strict=True):
        close(one.grad, other.grad, 2e-5)
    with torch.no_grad():
        close(compiled(u)[0], reference(v)[0])


def test_sizes_may_change():
    reference, layer = pair()
    counter = CompileCounter()
    counted = torch.compile(layer, fullgraph=True, dynamic=True, backend=counter)
    compiled = torch.compile(layer, fullgraph=True, dynamic=True, backend=COMPILER)
    for batch, steps in ((3, 6), (4, 9), (7, 13)):
        u = draw(batch, steps, 8)
        close(compiled(u)[0], reference(u)[0])
        close(counted(u)[0], reference(u)[0])
    assert counter.frame_count == 1


def test_a_compiled_cell_with_forms():
    cell = rondo.Cell("mingru")
    lengths, resets = torch.tensor([9, 4], device=DEVICE), (torch.rand(2, 9) < 0.3).to(DEVICE)

    def run(x):
        return cell(x, lengths=lengths, resets=resets, reverse=True)[0].square().sum()

    x = leaf(2, 9, 3, 2, 16)
    y = twin(x)
    torch.compile(run, fullgraph=True, backend=COMPILER)(x).backward()
    run(y).backward()
    close(x.grad, y.grad)


def test_compiled_under_autocast():
    _, layer = pair()
    u = draw(3, 12, 8)

    def run(u):
        with torch.autocast(DEVICE, torch.bfloat16):
            return layer(u)[0]

    y = torch.compile(run, fullgraph=True, backend=COMPILER)(u)
    assert y.dtype == torch.bfloat16
    y.float().square().mean().backward()
    close(y.float(), run(u).float(), 1e-3)


def test_export():
    reference, layer = pair()
    names = {"input": {0: torch.export.Dim("b"), 1: torch.export.Dim("t")}}
    program = torch.export.export(layer, (draw(2, 5, 8),), dynamic_shapes=names)
    assert {str(node.target) for node in program.graph.nodes if "rondo" in str(node.target)} == {"rondo.forward.default"}
    u = draw(5, 4, 8)
    close(program.module()(u)[0], reference(u)[0])


@pytest.mark.parametrize("time_major", [False, True])
@pytest.mark.parametrize("name", ["lstm", "gru", "mingru", "lnlstm"])
def test_operators_pass_their_checks(name, time_major):
    cell = rondo.Cell(name)
    how, structure = cell.description.text, cell._plain
    sizes = {"B": 2, "T": 4, "H": 2, "D": 16}
    tensors = [leaf(*spec.shape(sizes), scale=0.5) for spec in structure.given]
    given = 2 ** len(tensors) - 1
    torch.library.opcheck(torch.ops.rondo.forward.default, (tensors, how, given, time_major))
    plain = [tensor.detach() for tensor in tensors]
    made = torch.ops.rondo.forward_save(plain, how, given, time_major)
    grads = [torch.randn_like(tensor) for tensor in made[: len(structure.results)]]
    kept = [made[place] for place in structure.kept_places]
    wanted = 2 ** len(structure.differentiable) - 1
    arguments = ([*grads, *plain, *kept], how, 2 ** len(grads) - 1, given, wanted, time_major)
    torch.library.opcheck(torch.ops.rondo.backward.default, arguments)


def test_vmap_and_gradients_of_functions():
    reference, layer = pair()
    many = draw(4, 2, 3, 8)
    close(torch.vmap(lambda u: layer(u)[0])(many), torch.stack([layer(u)[0] for u in many]))
    u = draw(2, 3, 8)

    def gradient(module):
        def loss(weights):
            return torch.func.functional_call(module, weights, (u,))[0].square().sum()

        return torch.func.grad(loss)(dict(module.named_parameters()))

    found = gradient(layer)
    with without_cudnn():  # it looks for the storage of weights, which those of a transform have not
        wanted = gradient(reference)
    for name, one in wanted.items():
        close(found[name], one, 2e-5)


def test_gradients_of_each_sample():
    _, layer = pair()
    weights = {name: weight.detach() for name, weight in layer.named_parameters()}
    u = draw(4, 3, 8)

    def loss(weights, one):
        return torch.func.functional_call(layer, weights, (one.unsqueeze(0),))[0].square().sum()

    found = torch.vmap(torch.func.grad(loss), (None, 0))(weights, u)
    for number in range(4):
        alone = torch.func.grad(loss)(weights, u[number])
        for name, one in alone.items():
            close(found[name][number], one, 2e-5)


def test_second_derivatives_and_forward_mode():
    reference, layer = pair()
    u = leaf(2, 3, 8)
    v = twin(u)
    found = []
    for module, one in ((layer, u), (reference, v)):
        with without_cudnn():  # which differentiates once
            y = module(one)[0]
        (gradient,) = torch.autograd.grad(y.square().sum(), one, create_graph=True)
        found.append(torch.autograd.grad(gradient.square().sum(), [one, *module.parameters()]))
    for one, other in zip(*found, strict=True):
        close(one / other.abs().max(), other / other.abs().max(), 1e-3)
    w = draw(2, 3, 8)
    _, tangent = torch.func.jvp(lambda u: layer(u)[0], (u.detach(),), (w,))
    step = 1e-2
    with torch.no_grad():
        ahead, behind = (reference(v + way * step * w.to(v))[0] for way in (1, -1))
    close(tangent, (ahead - behind) / (2 * step), 1e-3)


@pytest.mark.parametrize("reentrant", [False, True])
def test_checkpointing(reentrant):
    reference, layer = pair()
    u = leaf(2, 3, 8)
    v = twin(u)
    torch.utils.checkpoint.checkpoint(lambda w: layer(w)[0], u, use_reentrant=reentrant).sum().backward()
    reference(v)[0].sum().backward()
    close(u.grad, v.grad)


def test_deterministic_mode_gives_the_same_bits():
    cell = rondo.Cell("lstm")
    x, params = lstm_tensors(batch=5, steps=33)
    before = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(True)
    try:
        gradients = []
        for _ in range(2):
            R = twin(params["R"])
            cell(x, params={"R": R, "b": params["b"]})[0].square().sum().backward()
            gradients.append(R.grad)
        assert torch.equal(*gradients)
    finally:
        torch.use_deterministic_algorithms(before)
