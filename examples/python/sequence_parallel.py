"""A language model of bytes on sequences that are too long for one GPU: each process has some of their steps.

    torchrun --nproc_per_node 8 sequence_parallel.py --length 1048576  # on GPUs by NCCL, without them on CPUs by gloo
    python sequence_parallel.py                                        # one process, the same sequences

The model and the text are those of charlm.py. What takes each byte alone, its projections and norms, needs nothing of the other
processes. The recurrences do: `rondo.nn.split_sequence` has each process walk its own steps at once, and then puts right the
few first ones for which it matters what came before. The sum of all gradients is that of the whole sequence; here
DistributedDataParallel takes their mean, since each process has the mean loss of its own bytes.
"""

import argparse
import math
import os
import time

import charlm
import rondo
import torch
import torch.distributed as dist
import torch.nn.functional as F
from ddp import device_of_rank
from torch.nn.parallel import DistributedDataParallel

LAYERS = ("MinGRU", "ParaGRU", "SLSTM")


def part_of(tensor, rank, world):
    """The steps of a rank, and the byte behind them, which its last step is to say."""
    steps = (tensor.shape[1] - 1) // world
    return tensor[:, rank * steps : (rank + 1) * steps + 1]


def train(device, *, layer="MinGRU", size=512, layers=2, batch=1, length=65536, steps=100, rate=2e-3, chunk=512, text=None):
    """The losses in bits a byte of whole sequences, and how many steps this rank's layers walked again in the last pass."""
    together = dist.is_initialized()
    rank, world = (dist.get_rank(), dist.get_world_size()) if together else (0, 1)
    model = charlm.model_of(layer, size, layers).to(device)
    if together:
        for number, one in enumerate(model.layers):
            model.layers[number] = rondo.nn.split_sequence(one, chunk=chunk)
    call = DistributedDataParallel(model) if together else model
    optimiser = torch.optim.AdamW(model.parameters(), rate)
    batches = charlm.Batches(charlm.corpus() if text is None else text, batch, length, device)
    losses, mark = [], time.perf_counter()
    for step in range(steps):
        mine = part_of(batches.next(), rank, world)
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
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
            print(f"step {step:5}: {losses[-1]:.3f} bits a byte")
    again = sum(record.again for one in model.layers for record in getattr(one.cell, "records", {}).values())
    if rank == 0:
        seconds = time.perf_counter() - mark
        rate = steps * batch * length / seconds
        print(f"{losses[-1]:.3f} bits a byte in the end, {rate:,.0f} bytes a second on {world} ranks")
    if rank == world - 1:
        print(f"of {length // world} steps a layer, the last rank's {layers} layers walked {again} again, both passes together")
    return losses, again


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layer", default="MinGRU", choices=LAYERS)
    parser.add_argument("--size", type=int, default=512, help="channels")
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--batch", type=int, default=1, help="sequences")
    parser.add_argument("--length", type=int, default=65536, help="bytes of each, of all ranks together")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--chunk", type=int, default=512, help="the fewest steps that a rank walks again")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    options = vars(parser.parse_args(arguments))
    world = int(os.environ.get("WORLD_SIZE", 1))
    if options["length"] % world:
        parser.error(f"--length {options['length']} is no multiple of {world} ranks")
    found = train(device_of_rank(options.pop("device")), **options)
    if dist.is_initialized():
        dist.destroy_process_group()
    return found


if __name__ == "__main__":
    main()
