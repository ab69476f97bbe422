"""CUDA graphs and streams, threads, and training in two processes."""

import os
import socket
import subprocess
import sys
import threading

import pytest
from on_device import DEVICE, ON_GPU, checked, close, draw, leaf, needs_gpu, pair, torch


def warmed(run, times=3):
    """Runs on a stream of its own, as a capture wants it."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(times):
            run()
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()


@needs_gpu
def test_a_graph_of_inference_replays_on_other_input():
    reference, layer = pair(num_layers=2)
    u = draw(3, 20, 8)
    with torch.no_grad():
        warmed(lambda: layer(u))
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            y = layer(u)[0]
        for _ in range(3):
            u.normal_()
            graph.replay()
            close(y, reference(u)[0], 1e-5)
            assert torch.equal(y, layer(u)[0])
    checked()


@needs_gpu
def test_a_graph_of_training_replays():
    reference, layer = pair(bidirectional=True)
    u = leaf(3, 20, 8)

    def train():
        for weight in layer.parameters():
            weight.grad = None
        u.grad = None
        layer(u)[0].square().sum().backward()

    warmed(train)
    graph = torch.cuda.CUDAGraph()
    layer.zero_grad(set_to_none=True)
    u.grad = None
    with torch.cuda.graph(graph):
        layer(u)[0].square().sum().backward()
    for _ in range(2):
        with torch.no_grad():
            u.normal_()
        graph.replay()
        v = u.detach().clone().requires_grad_()
        reference.zero_grad(set_to_none=True)
        reference(v)[0].square().sum().backward()
        close(u.grad, v.grad, 2e-5)
        for one, other in zip(layer.parameters(), reference.parameters(), strict=True):
            close(one.grad, other.grad, 5e-5)
    checked()


@needs_gpu
def test_graphed_callables():
    reference, layer = pair()
    u = leaf(3, 20, 8)
    graphed = torch.cuda.make_graphed_callables(layer, (u,))
    v = u.detach().clone().requires_grad_()
    graphed(u)[0].sum().backward()
    reference(v)[0].sum().backward()
    close(u.grad, v.grad)


# A broken capture would break torch's generator for all that follows, so this is a program of its own. cuBLAS cannot begin
# while a stream is captured, so a product is made before.
CAPTURED = """
import rondo, torch
torch.set_grad_enabled(False)
layer = rondo.nn.LSTM(8, 72, batch_first=True).cuda()
u, v = torch.randn(3, 20, 8, device="cuda"), torch.ones(4, device="cuda")
torch.nn.functional.linear(u, layer.weight_ih_l0, layer.bias_ih_l0)
torch.cuda.synchronize()

def refused():
    try:
        layer(u)
    except rondo.RondoError as error:
        assert "the stream is being captured" in str(error), error
        assert "before the capture" in str(error), error
        return True
    return False

graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    assert refused()
    w = 2 * v
v.fill_(3)
graph.replay()
assert w.tolist() == [6.0] * 4
try:
    with torch.cuda.graph(torch.cuda.CUDAGraph()):
        layer(u)
except rondo.RondoError as error:
    assert "the stream is being captured" in str(error), error
else:
    raise AssertionError("nothing was raised")
assert torch.randn(5, device="cuda").isfinite().all()
y = layer(u)[0]
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    z = layer(u)[0]
graph.replay()
assert torch.equal(y, z)
torch.cuda.synchronize()
rondo.check()
"""


@needs_gpu
def test_a_plan_is_not_made_while_a_stream_is_captured():
    """It is refused, and the capture goes on, or ends as one does."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", CAPTURED], env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]


@needs_gpu
def test_streams():
    """Launches on four streams, each behind the work of its own."""
    _, layer = pair()
    u = draw(3, 200, 8)
    wanted = layer(u)[0]
    torch.cuda.synchronize()
    found = []
    for _ in range(4):
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            v = torch.zeros_like(u)
            torch.cuda._sleep(2_000_000)
            v.copy_(u)
            found.append(layer(v)[0])
    torch.cuda.synchronize()
    for y in found:
        assert torch.equal(y, wanted)
    checked()


def test_threads_share_a_layer():
    _, layer = pair()
    u = draw(3, 20, 8)

    def gradient():
        return torch.autograd.grad(layer(u)[0].square().sum(), layer.weight_hh_l0)[0]

    wanted, wrong = gradient(), []

    def work():
        try:
            wrong.extend(1 for _ in range(10) if not torch.equal(gradient(), wanted))
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong, wrong
    checked()


TRAINED = """
import sys, torch, rondo
import torch.distributed as dist
rank, size, port, out, device = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4], sys.argv[5]
torch.set_num_threads(1)
torch.backends.cuda.matmul.allow_tf32 = False
if size > 1:
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=size)
torch.manual_seed(0)
layer = rondo.nn.LSTM(8, 16, num_layers=2, bidirectional=True, batch_first=True).to(device)
model = torch.nn.parallel.DistributedDataParallel(layer) if size > 1 else layer
optimiser = torch.optim.SGD(layer.parameters(), 0.1)
u = torch.randn(4, 6, 8).to(device)
mine = u.chunk(size)[rank]
for _ in range(3):
    optimiser.zero_grad()
    model(mine)[0].square().mean().backward()
    optimiser.step()
if rank == 0:
    torch.save({name: weight.cpu() for name, weight in layer.state_dict().items()}, out)
"""


def trained(size, folder):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    out = folder / f"{size}.pt"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    rest = [str(size), port, str(out), DEVICE]
    started = [subprocess.Popen([sys.executable, "-c", TRAINED, str(rank), *rest], env=environment) for rank in range(size)]
    try:
        assert [process.wait(timeout=400) for process in started] == [0] * size
    finally:
        for process in started:
            process.kill()
    return torch.load(out)


@pytest.mark.long
def test_two_processes_train_as_one(tmp_path):
    """By gloo, which also serves two processes on one GPU; NCCL wants a GPU for each."""
    one, two = trained(1, tmp_path), trained(2, tmp_path)
    for name, weight in one.items():
        assert (weight - two[name]).abs().max() < (1e-5 if ON_GPU else 1e-6), name
