"""A language model of bytes, trained by several processes, each of which has a part of the batch.

    torchrun --nproc_per_node 8 ddp.py             # on GPUs by NCCL, without them on CPUs by gloo
    torchrun --nproc_per_node 8 ddp.py --how fsdp  # weights, their gradients and the optimiser's state are dealt out too
    python ddp.py                                  # one process, the same batch

The model and the text are those of charlm.py. Any number of processes sees the same batches, so the losses are the same but
for rounding. What each of them computes in Rondo's kernels needs nothing of the others: DistributedDataParallel and
fully_shard wrap `rondo.nn`'s layers as they wrap `torch.nn`'s.
"""

import argparse
import math
import os
import time

import charlm
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.nn.parallel import DistributedDataParallel

WAYS = ("ddp", "fsdp")


def device_of_rank(kind):
    """Of this process, which joins the others where torchrun has started it."""
    device = torch.device(kind, int(os.environ.get("LOCAL_RANK", 0))) if kind == "cuda" else torch.device(kind)
    if kind == "cuda":
        torch.cuda.set_device(device)
    if "RANK" in os.environ:
        dist.init_process_group("nccl" if kind == "cuda" else "gloo")
    return device


def spread(model, how, device):
    """The model over all ranks; they begin with the same weights."""
    half = torch.bfloat16 if device.type == "cuda" else None
    if how == "ddp":
        return DistributedDataParallel(model, gradient_as_bucket_view=True)
    policy = MixedPrecisionPolicy(param_dtype=half, reduce_dtype=torch.float32)
    for layer in model.layers:
        fully_shard(layer, mp_policy=policy)
    fully_shard(model, mp_policy=policy)
    return model


def train(
    device, *, layer="LSTM", how="ddp", size=512, layers=2, batch=64, length=256, steps=300, rate=2e-3, text=None, say=print
):
    """The losses in bits a byte, of the whole batch."""
    together = dist.is_initialized()
    rank, world = (dist.get_rank(), dist.get_world_size()) if together else (0, 1)
    model = charlm.model_of(layer, size, layers).to(device)
    call = spread(model, how, device) if together else model
    optimiser = torch.optim.AdamW(model.parameters(), rate)
    batches = charlm.Batches(charlm.corpus() if text is None else text, batch, length, device)
    half = device.type == "cuda" and not (together and how == "fsdp")
    losses, mark = [], time.perf_counter()
    for step in range(steps):
        mine = batches.next().chunk(world)[rank]
        with torch.autocast(device.type, torch.bfloat16, enabled=half):
            logits = call(mine[:, :-1])
        loss = F.cross_entropy(logits.float().flatten(0, 1), mine[:, 1:].flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        mean = loss.detach().clone()
        if together:
            dist.all_reduce(mean)
        losses.append(mean.item() / world / math.log(2))
        if rank == 0 and step % max(1, steps // 10) == 0:
            say(f"step {step:5}: {losses[-1]:.3f} bits a byte")
    if rank == 0:
        seconds = time.perf_counter() - mark
        say(
            f"{losses[-1]:.3f} bits a byte in the end, {steps * batch * length / seconds:,.0f} tokens a second on {world} ranks"
        )
    return losses


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layer", default="LSTM", choices=charlm.LAYERS)
    parser.add_argument("--how", default="ddp", choices=WAYS)
    parser.add_argument("--size", type=int, default=512, help="channels")
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--batch", type=int, default=64, help="rows of all ranks together")
    parser.add_argument("--length", type=int, default=256, help="bytes of each row")
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    options = vars(parser.parse_args(arguments))
    world = int(os.environ.get("WORLD_SIZE", 1))
    if options["batch"] % world:
        parser.error(f"--batch {options['batch']} is no multiple of {world} ranks")
    losses = train(device_of_rank(options.pop("device")), **options)
    if dist.is_initialized():
        dist.destroy_process_group()
    return losses


if __name__ == "__main__":
    main()
