"""Training over several processes, by gloo on the CPU, and the same in one.
usage: ranks.py FOLDER JOBS [MODULE]
JOBS are, in JSON and by name, how many processes there are and the cases that they compute one after another. What each process
of a job found goes to FOLDER/JOB-RANK.pt, what it said to a `.txt` beside it, and what all ended with to FOLDER/JOB.json. They
are forks of one that has imported PyTorch, which takes longer than what they compute."""

import importlib
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time
import traceback
import warnings
from datetime import timedelta

import rondo
import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard
from torch.nn.parallel import DistributedDataParallel
from torch.utils.checkpoint import checkpoint

BATCH, TIME, FEATURES, SIZE, CHANNELS, STEPS = 8, 6, 3, 8, 16, 3
SECONDS = 120  # that a job may take, and a process may wait for the others


class Model(torch.nn.Module):
    """Two layers between projections."""

    def __init__(self, first, second):
        super().__init__()
        self.begin, self.end = torch.nn.Linear(FEATURES, SIZE), torch.nn.Linear(CHANNELS, 2)
        self.first, self.second = first, second

    def forward(self, u):
        return self.end(self.second(self.first(self.begin(u))[0])[0])


MODELS = {
    "LSTM": lambda: Model(
        rondo.nn.LSTM(SIZE, CHANNELS, 2, batch_first=True, bidirectional=True),
        rondo.nn.LSTM(2 * CHANNELS, CHANNELS, proj_size=0, batch_first=True),
    ),
    "heads": lambda: Model(
        rondo.nn.SLSTM(SIZE, CHANNELS, heads=4), rondo.nn.LayerNormLSTM(CHANNELS, CHANNELS, heads=4, output_size=CHANNELS)
    ),
    "diagonal": lambda: Model(
        rondo.nn.MinGRU(SIZE, CHANNELS, output_size=SIZE), rondo.nn.HGRN(SIZE, CHANNELS, lower_bound=0.5)
    ),
    "chunks": lambda: Model(
        rondo.nn.GRU(SIZE, CHANNELS, batch_first=True, chunk=2), rondo.nn.HGRN(CHANNELS, CHANNELS, chunk=4, lower_bound=0.5)
    ),
}


def made(kind):
    torch.manual_seed(5)
    return MODELS[kind]()


def batch():
    generator = torch.Generator().manual_seed(7)
    return torch.randn(BATCH, TIME, FEATURES, generator=generator), torch.randn(BATCH, TIME, 2, generator=generator)


def whole(tensor):
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor.detach().clone()


def trained(model, call, u, wanted, parts=1, last_part=None, scale=1.0):
    """Losses, and gradients and weights in the end, of some steps of SGD. `parts`: pieces of the batch whose gradients are
    added; before each `last_part` is told whether it is the last. `scale`: of the loss that is differentiated."""
    optimiser = torch.optim.SGD(model.parameters(), 0.2)
    found = {"losses": torch.zeros(STEPS)}
    for step in range(STEPS):
        optimiser.zero_grad()
        for number, (one, target) in enumerate(zip(u.chunk(parts), wanted.chunk(parts), strict=True)):
            if last_part is not None:
                last_part(number == parts - 1)
            loss = (call(one) - target).square().mean() / parts
            (loss * scale).backward()
            found["losses"][step] += loss.detach()
        found |= {f"gradient of {name}": whole(weight.grad) for name, weight in model.named_parameters()}
        optimiser.step()
    return found | {name: whole(weight) for name, weight in model.named_parameters()}


def of_rank(tensors, rank, world):
    return [tensor.chunk(world)[rank] for tensor in tensors]


def mean_of_losses(found, world):
    dist.all_reduce(found["losses"])
    found["losses"] /= world
    return found


def ddp(kind, rank, world, *, compiled=False, checkpointed=False, parts=1, **options):
    model = made(kind)
    over = DistributedDataParallel(model, **options)
    call = torch.compile(over, backend="aot_eager") if compiled else over
    if checkpointed:
        call = lambda u: checkpoint(over, u, use_reentrant=False)

    def last_part(is_last):
        over.require_backward_grad_sync = is_last  # as no_sync() has it

    found = trained(model, call, *of_rank(batch(), rank, world), parts, last_part if parts > 1 else None)
    return mean_of_losses(found, world)


def sharded(model, half=None, **options):
    """Each layer, and what is left. `half`: the type in which they compute."""
    if half is not None:
        options["mp_policy"] = MixedPrecisionPolicy(param_dtype=half, reduce_dtype=torch.float32)
    for layer in (model.first, model.second, model):
        fully_shard(layer, **options)
    return model


def scale_of_loss():
    """One, but where FSDP2 adds gradients up by gloo and does not divide them, of any layer, as that of PyTorch 2.8 does."""
    alone = torch.nn.Linear(1, 1, bias=False)
    fully_shard(alone)
    alone(torch.ones(1, 1)).sum().backward()
    return 1 / whole(alone.weight.grad).item()


def fsdp(kind, rank, world, *, compiled=False, checkpointed=False, parts=1, **options):
    model = sharded(made(kind), **options)
    call = torch.compile(model, backend="aot_eager") if compiled else model
    if checkpointed:
        call = lambda u: checkpoint(model, u, use_reentrant=False)
    last_part = model.set_requires_gradient_sync if parts > 1 else None
    mine, scale = of_rank(batch(), rank, world), scale_of_loss()
    return mean_of_losses(trained(model, call, *mine, parts, last_part, scale), world)


def fsdp_from_meta(kind, rank, world):
    """Sharded before it has memory; first values are given to shards, and then come those of a checkpoint."""
    from torch.distributed.checkpoint.state_dict import StateDictOptions, set_model_state_dict

    wanted = made(kind)
    with torch.device("meta"):
        model = sharded(MODELS[kind]())
    model.to_empty(device="cpu")
    with torch.no_grad():
        for weight in model.parameters():
            weight.fill_(float("nan"))
    for module in model.modules():
        if hasattr(module, "reset_parameters"):
            module.reset_parameters()
    first = {name: whole(weight) for name, weight in model.named_parameters()}
    for name, weight in first.items():
        assert weight.isfinite().all(), name
    if kind == "heads":
        assert (first["first.b"] - wanted.first.b).abs().max() < 1e-6, "first values of sLSTM's bias"
    options = StateDictOptions(full_state_dict=True, broadcast_from_rank0=True)
    set_model_state_dict(model, wanted.state_dict() if rank == 0 else {}, options=options)
    mine = of_rank(batch(), rank, world)
    return mean_of_losses(trained(model, model, *mine, scale=scale_of_loss()), world)


class HeadsOverRanks(torch.nn.Module):
    """A layer, some of whose heads are here."""

    def __init__(self, layer, mesh):
        super().__init__()
        self.part = rondo.nn.split_heads(layer, mesh.get_rank(), mesh.size())
        self.mesh = mesh
        self.sums = layer.output_projection is not None

    def forward(self, u):
        u = DTensor.from_local(u, self.mesh, [Replicate()]).to_local(grad_placements=[Partial()])
        y, last = self.part(u)
        return DTensor.from_local(y, self.mesh, [Partial() if self.sums else Shard(-1)]).full_tensor(), last


def heads(kind, rank, world):
    """Each has the whole batch, and some of the heads."""
    mesh, model = init_device_mesh("cpu", (world,)), made(kind)
    axes = {}
    for name in ("first", "second"):
        layer = getattr(model, name)
        axes |= {f"{name}.{weight}": axis for weight, (axis, _) in layer.by_head().items()}
        setattr(model, name, HeadsOverRanks(layer, mesh))
    found = {}
    for name, value in trained(model, model, *batch()).items():
        name = name.replace(".part.", ".")
        if name.removeprefix("gradient of ") in axes:
            parts = [torch.empty_like(value) for _ in range(world)]
            dist.all_gather(parts, value.contiguous())
            value = torch.cat(parts, axes[name.removeprefix("gradient of ")])
        found[name] = value
    added_once = "second.output_projection.bias"
    assert (added_once in found) == (rank == 0)
    for name in (added_once, f"gradient of {added_once}"):
        dist.broadcast(found.setdefault(name, torch.empty(CHANNELS)), 0)
    return found


def sharded_alone(kind, rank, world):
    """What is sharded is whole within a call of its layer alone."""
    layer = rondo.nn.SLSTM(SIZE, CHANNELS)
    fully_shard(layer)
    try:
        layer.cell(torch.randn(2, 3, 1, 4, CHANNELS), params=layer.params())
    except rondo.InputError as error:
        return str(error)
    return "no error"


def dies(way, rank, world):
    """The last rank ends in the middle of the second backward pass."""
    model = made("LSTM")
    over = sharded(model) if way == "fsdp" else DistributedDataParallel(model)
    passes = []

    def end(_):
        passes.append(1)
        if rank == world - 1 and len(passes) == 2:
            os._exit(9)

    u, wanted = of_rank(batch(), rank, world)
    for _ in range(STEPS):
        hidden = over(u)
        hidden.register_hook(end)
        (hidden - wanted).square().mean().backward()


def example(how, rank, world):
    """The losses that examples/python/ddp.py has, as torchrun starts it."""
    import ddp as module

    return {"losses": torch.tensor(module.main([*EXAMPLE, "--how", how]))}


EXAMPLE = ["--size", "16", "--layers", "2", "--batch", "4", "--length", "8", "--steps", "4", "--device", "cpu"]
# Of each: the function, and its options.
WAYS = {
    "ddp": (ddp, {}),
    "ddp, static graph": (ddp, {"static_graph": True}),
    "ddp, looking for unused": (ddp, {"find_unused_parameters": True}),
    "ddp, views of buckets": (ddp, {"gradient_as_bucket_view": True}),
    "ddp, checkpointed": (ddp, {"checkpointed": True}),
    "ddp, static graph, checkpointed": (ddp, {"static_graph": True, "checkpointed": True}),
    "ddp, in two parts": (ddp, {"parts": 2}),
    "ddp, compiled": (ddp, {"compiled": True}),
    "fsdp": (fsdp, {}),
    "fsdp, kept after the forward pass": (fsdp, {"reshard_after_forward": False}),
    "fsdp, checkpointed": (fsdp, {"checkpointed": True}),
    "fsdp, in two parts": (fsdp, {"parts": 2}),
    "fsdp, bf16": (fsdp, {"half": torch.bfloat16}),
    "fsdp, compiled": (fsdp, {"compiled": True}),
    "fsdp, from meta": (fsdp_from_meta, {}),
    "heads": (heads, {}),
    "dies": (dies, {}),
    "sharded alone": (sharded_alone, {}),
    "example": (example, {}),
}


def alone(kind):
    """What the ways above are to give: one process has the whole batch."""
    model = made(kind)
    return trained(model, model, *batch())


# What FSDP2 says of layers whose output is a view, and DTensor of first values on the CPU.
EXPECTED = ("FSDP2-wrapped module", "DTensor random operators")


def compute(rank, world, port, out, cases, ways):
    for words in EXPECTED:
        warnings.filterwarnings("ignore", words)
    torch.set_num_threads(1)
    os.environ.update(
        MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), RANK=str(rank), WORLD_SIZE=str(world), LOCAL_RANK=str(rank)
    )
    if not any(case.startswith("example") for case in cases):  # which join each other themselves
        dist.init_process_group("gloo", timeout=timedelta(seconds=SECONDS))
    found = {}
    for case in cases:
        way, kind = case.split(": ")
        work, options = ways[way]
        begin = time.monotonic()
        try:
            found[case] = work(kind, rank, world, **options)
        except Exception as error:
            found[case] = f"{type(error).__name__}: {error}"
            raise  # the others wait for what this one does not do
        finally:
            torch.save(found, out)
        print(f"{case}: {time.monotonic() - begin:.1f} s", flush=True)
    if dist.is_initialized():
        dist.destroy_process_group()


def forked(rank, world, port, out, cases, ways):
    """The number of a process that computes; it says what it says to a file."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        log = os.open(out.with_suffix(".txt"), os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
        os.dup2(log, 1)
        os.dup2(log, 2)
        compute(rank, world, port, out, cases, ways)
        status = 0
    except Exception:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(status)


def ended(children):
    """Their statuses, once all have ended. Those that wait for nothing are killed."""
    found, until = {}, time.monotonic() + SECONDS
    while len(found) < len(children):
        for child in set(children) - found.keys():
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                found[child] = os.waitstatus_to_exitcode(status)
            elif time.monotonic() > until:
                os.kill(child, signal.SIGKILL)
        time.sleep(0.05)
    return [found[child] for child in children]


# What steps of optimisers and torch.compile import at their first use.
LATER = ("rondo.nn", "torch._dynamo", "torch._inductor.compile_fx", "torch.distributed.checkpoint.state_dict")


def main(folder, jobs, ways="ranks"):
    for module in LATER:
        importlib.import_module(module)
    known = importlib.import_module(ways).WAYS
    folder = pathlib.Path(folder)
    for job, (world, *cases) in json.loads(jobs).items():
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        children = [forked(rank, world, port, folder / f"{job}-{rank}.pt", cases, known) for rank in range(world)]
        (folder / f"{job}.json").write_text(json.dumps(ended(children)))


def computed(folder, jobs, ways="ranks"):
    """Of each job what each process ended with, found and said. Of jobs that were computed in this folder before it is what they
    gave then. `ways`: the module that says what cases compute."""
    if not all((folder / f"{job}.json").exists() for job in jobs):
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}
        subprocess.run([sys.executable, __file__, str(folder), json.dumps(jobs), ways], env=environment, check=True)
    return {job: of_job(folder, job) for job in jobs}


def of_job(folder, job):
    processes = []
    for rank, status in enumerate(json.loads((folder / f"{job}.json").read_text())):
        out = folder / f"{job}-{rank}.pt"
        found = torch.load(out) if out.exists() else {}
        processes.append((status, found, out.with_suffix(".txt").read_text()))
    return processes


if __name__ == "__main__":
    main(*sys.argv[1:])
