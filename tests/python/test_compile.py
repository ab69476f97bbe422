"""torch.compile, torch.export, autocast, checkpointing and the operators' own checks."""

import os
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch", reason="no PyTorch: torch.compile and torch.export are not tested")

import rondo
from torch._dynamo.testing import CompileCounter

from parts import assert_close, leaf, pair


@pytest.fixture(autouse=True)
def fresh_compiler():
    torch._dynamo.reset()


def trained_alike(layer, reference, compiled):
    u = leaf(3, 6, 8)
    v = u.detach().clone().requires_grad_()
    y, z = compiled(u)[0], reference(v)[0]
    assert_close(y, z)
    y.square().sum().backward()
    z.square().sum().backward()
    assert_close(u.grad, v.grad)
    for (name, one), (_, other) in zip(layer.named_parameters(), reference.named_parameters(), strict=True):
        assert_close(one.grad, other.grad, 2e-5), name
    with torch.no_grad():
        assert_close(compiled(u)[0], reference(v)[0])


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_a_layer_is_one_graph(kind):
    reference, layer = pair(kind, num_layers=2, bidirectional=True)
    trained_alike(layer, reference, torch.compile(layer, fullgraph=True, backend="aot_eager"))


def test_the_default_compiler():
    reference, layer = pair()
    trained_alike(layer, reference, torch.compile(layer, fullgraph=True))


def test_sizes_may_change():
    """Another B and T needs no other graph."""
    reference, layer = pair()
    counter = CompileCounter()
    counted = torch.compile(layer, fullgraph=True, dynamic=True, backend=counter)
    compiled = torch.compile(layer, fullgraph=True, dynamic=True, backend="aot_eager")
    for batch, steps in ((3, 6), (4, 9), (7, 13)):
        u = torch.randn(batch, steps, 8)
        assert_close(compiled(u)[0], reference(u)[0])
        counted(u)
    assert counter.frame_count == 1


def test_a_cell_with_forms_is_one_graph():
    cell = rondo.Cell("mingru")
    lengths, resets = torch.tensor([9, 4]), torch.rand(2, 9) < 0.3

    def run(x):
        return cell(x, lengths=lengths, resets=resets, reverse=True)[0].square().sum()

    x = leaf(2, 9, 3, 2, 16)
    torch.compile(run, fullgraph=True, backend="aot_eager")(x).backward()
    y = x.detach().clone().requires_grad_()
    run(y).backward()
    assert_close(x.grad, y.grad)


def test_a_step_is_one_graph():
    cell = rondo.Cell("mingru")
    state = {"h": torch.zeros(3, 1, 16)}
    other = {"h": torch.zeros(3, 1, 16)}
    step = torch.compile(lambda x, h: cell.step(x, {"h": h})[0], fullgraph=True, backend="aot_eager")
    with torch.no_grad():
        for _ in range(3):
            x = torch.randn(3, 1, 2, 16)
            assert_close(step(x, state["h"]), cell.step(x, other)[0])
    assert_close(state["h"], other["h"])


# Its compiler says what it cannot follow instead of the error, and has no shape for pad_packed_sequence.
newer_than_28 = pytest.mark.skipif(torch.__version__.startswith("2.8."), reason="PyTorch 2.8 cannot")


@newer_than_28
def test_wrong_use_is_told_while_it_is_compiled():
    _, layer = pair()
    with pytest.raises(Exception, match="the last axis of input is 9"):
        torch.compile(layer, fullgraph=True, backend="aot_eager")(torch.randn(2, 3, 9))


@newer_than_28
def test_packed_sequences_compile():
    reference, layer = pair()
    packed = torch.nn.utils.rnn.pack_padded_sequence(
        torch.randn(3, 6, 8), torch.tensor([6, 2, 4]), batch_first=True, enforce_sorted=False
    )
    compiled = torch.compile(lambda p: layer(p)[0].data, backend="aot_eager")
    assert_close(compiled(packed), reference(packed)[0].data)


LOADED = """
import sys, torch, rondo
rondo.nn  # the operators
program = torch.export.load(sys.argv[1]).module()
u, wanted = torch.load(sys.argv[2])
y = program(u)[0]
assert (y - wanted).abs().max() < 1e-6, (y - wanted).abs().max()
print("loaded", program(torch.randn(5, 4, 8))[0].shape)
"""


def test_an_exported_layer_runs_in_another_process(tmp_path):
    _, layer = pair()
    u = torch.randn(2, 3, 8)
    names = {"input": {0: torch.export.Dim("b"), 1: torch.export.Dim("t")}}
    program = torch.export.export(layer, (u,), dynamic_shapes=names)
    targets = {str(node.target) for node in program.graph.nodes if "rondo" in str(node.target)}
    assert targets == {"rondo.forward.default"}
    torch.export.save(program, tmp_path / "layer.pt2")
    torch.save((u, layer(u)[0].detach()), tmp_path / "data.pt")
    done = subprocess.run(
        [sys.executable, "-c", LOADED, tmp_path / "layer.pt2", tmp_path / "data.pt"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
    )
    assert done.stdout == "loaded torch.Size([5, 4, 16])\n", done.stderr


def test_a_compiled_library_of_a_cell(tmp_path):
    """AOTInductor: the library calls the operator by its name."""

    class Small(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.cell = rondo.Cell("mingru")

        def forward(self, x):
            return self.cell(x)[0]

    module, x = Small(), torch.randn(2, 5, 1, 2, 16)
    program = torch.export.export(module, (x,), dynamic_shapes={"x": {0: torch.export.Dim("b")}})
    path = torch._inductor.aoti_compile_and_package(program, package_path=str(tmp_path / "cell.pt2"))
    library = torch._inductor.aoti_load_package(path)
    assert_close(library(x), module(x))
    assert_close(library(torch.cat([x, x]))[2:], module(x))


def test_an_exported_layer_has_derivatives():
    reference, layer = pair()
    program = torch.export.export(layer, (torch.randn(2, 3, 8),)).module()
    u = leaf(2, 3, 8)
    v = u.detach().clone().requires_grad_()
    program(u)[0].sum().backward()
    reference(v)[0].sum().backward()
    assert_close(u.grad, v.grad)
    w = u.detach()
    assert_close(torch.func.grad(lambda x: program(x)[0].sum())(w), v.grad)
    many = torch.randn(3, 2, 3, 8)
    assert_close(torch.vmap(lambda x: program(x)[0])(many), torch.stack([layer(x)[0] for x in many]))


def test_autocast():
    reference, layer = pair()
    u = torch.randn(3, 12, 8)
    with torch.autocast("cpu", torch.bfloat16):
        y, (h, c) = layer(u)
    y.float().square().mean().backward()
    assert y.dtype == h.dtype == c.dtype == torch.bfloat16
    assert layer.weight_hh_l0.grad.dtype == torch.float32
    assert_close(y, reference(u)[0], 2e-2)


@pytest.mark.parametrize("reentrant", [False, True])
def test_checkpointing(reentrant):
    reference, layer = pair()
    u = leaf(2, 3, 8)
    v = u.detach().clone().requires_grad_()
    torch.utils.checkpoint.checkpoint(lambda w: layer(w)[0], u, use_reentrant=reentrant).sum().backward()
    reference(v)[0].sum().backward()
    assert_close(u.grad, v.grad)


def arguments(cell, batch=2, steps=4, heads=2, dim=16):
    sizes = {"B": batch, "T": steps, "H": heads, "D": dim}
    return [leaf(*spec.shape(sizes), scale=0.5) for spec in cell._plain.given]


@pytest.mark.parametrize("time_major", [False, True])
@pytest.mark.parametrize("name", ["lstm", "mingru", "lnlstm"])
def test_operators_pass_their_checks(name, time_major):
    cell = rondo.Cell(name)
    how, structure = cell.description.text, cell._plain
    tensors = arguments(cell)
    given = 2 ** len(tensors) - 1
    torch.library.opcheck(torch.ops.rondo.forward.default, (tensors, how, given, time_major))
    plain = [tensor.detach() for tensor in tensors]
    torch.library.opcheck(torch.ops.rondo.forward.default, (plain, how, given, time_major))
    made = torch.ops.rondo.forward_save(plain, how, given, time_major)
    grads = [torch.randn_like(tensor) for tensor in made[: len(structure.results)]]
    kept = [made[place] for place in structure.kept_places]
    wanted = 2 ** len(structure.differentiable) - 1
    everything = [*grads, *plain, *kept]
    mask = 2 ** len(grads) - 1
    torch.library.opcheck(torch.ops.rondo.backward.default, (everything, how, mask, given, wanted, time_major))


def test_the_step_passes_its_checks():
    cell = rondo.Cell("lstm")
    x, R, b, h, c = (tensor.detach() for tensor in arguments(cell, steps=1))
    outputs = [torch.zeros(2, 1, 2, 1, 16)]
    torch.library.opcheck(torch.ops.rondo.step.default, ([x, R, b], [h, c], outputs, cell.description.text))


def test_fake_tensors_have_shapes_and_no_data():
    with torch.device("meta"):
        y, (h, _) = rondo.nn.LSTM(8, 16, batch_first=True)(torch.empty(3, 5, 8))
    assert y.device.type == "meta" and y.shape == (3, 5, 16) and h.shape == (1, 3, 16)
