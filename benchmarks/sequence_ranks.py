#!/usr/bin/env python3
"""Times cells over sequences that lie over ranks (rondo.nn.split_sequence) beside one device with the whole sequence, in one run.

usage: torchrun --nproc_per_node N sequence_ranks.py LIBRONDO.so --out FILE [--device cuda] [--cells affine] [--memories forgets,...]
           [--steps 65536,131072,...] [--batch 8] [--channels 1536] [--dtype bf16] [--chunk 512] [--calls 5] [--samples 7]
           [--passes fw,fwbw] [--hows guesses,maps] [--seconds N] [--verify strict] [--commit HASH]

For each number of steps, first rank 0 computes the whole sequence alone, then all ranks compute it, each a part. A time is that of
`calls` calls one after another over their number, from one synchronisation to the next, of the slowest rank; the median of the
samples. Where one device's memory does not hold the whole sequence, that row has no time of it.

Rows have, by cell, memory, pass and how parts are joined (guesses, or maps=True of split_sequence; fw: forward without gradients; fwbw: forward and backward with all gradients):
  alone_ms   rank 0 alone, the whole sequence
  part_ms    all ranks at once, each its own part and nothing of the others: what ranks cost is `ms` less this
  ms         all ranks, the whole sequence
  strong     alone_ms / ms: how many times as fast as one device
  weak       alone_ms of one rank's share of the steps / ms: 1 where ranks cost nothing
  again      most steps that a rank walked again, of either pass; rounds: how often ranks told each other their states
  same_bits  whether three calls gave the same bits on all ranks
  error      largest difference to rank 0 alone of outputs and gradients of inputs, over the largest element; of the least steps

Memories say what the coefficients of `affine` are: forgets (0.8 to 1), remembers (0.99 to 1), keeps (1). Other cells take inputs of
variance 1 and parameters in [-1/2, 1/2]. With --device cpu it is a rehearsal by gloo. FILE is written after each row, by rank 0."""
import argparse
import datetime
import json
import os
import pathlib
import statistics
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TYPES = {"bf16": "bfloat16", "fp16": "float16", "fp32": "float32", "fp64": "float64"}
MEMORIES = {"forgets": 0.8, "remembers": 0.99, "keeps": 1.0}  # the least coefficient of `affine`
BLOCK = 4096  # steps whose inputs are drawn by one seed, so that any rank can draw its own
SHARE = 0.85  # of a device's free memory that may be planned with


def options_of(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", type=pathlib.Path)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--cells", default="affine")
    parser.add_argument("--memories", default="forgets")
    parser.add_argument("--steps", default="65536,131072,262144,524288,1048576")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--channels", type=int, default=1536)
    parser.add_argument("--dtype", default="bf16", choices=TYPES)
    parser.add_argument("--chunk", type=int, default=512)
    parser.add_argument("--calls", type=int, default=5, help="calls of a sample")
    parser.add_argument("--samples", type=int, default=7)
    parser.add_argument("--passes", default="fw,fwbw")
    parser.add_argument("--hows", default="guesses")
    parser.add_argument("--seconds", type=float, default=1e6, help="after which no other row is begun")
    parser.add_argument("--verify", default="strict", choices=("strict", "background", "trust"))
    parser.add_argument("--commit", default=os.environ.get("RONDO_COMMIT", "unknown"))
    options = parser.parse_args(arguments)
    options.steps = sorted(int(word) for word in options.steps.split(","))
    for name, known in (("memories", MEMORIES), ("passes", ("fw", "fwbw")), ("hows", ("guesses", "maps"))):
        found = getattr(options, name).split(",")
        if wrong := [word for word in found if word not in known]:
            parser.error(f"--{name}: no {', '.join(wrong)}; there are {', '.join(known)}")
        setattr(options, name, found)
    return options


class Bench:
    """One process of all."""

    def __init__(self, options):
        import rondo
        import torch
        import torch.distributed as dist
        self.options, self.rondo, self.torch, self.dist = options, rondo, torch, dist
        self.on_cuda = options.device == "cuda"
        local = int(os.environ.get("LOCAL_RANK", 0))
        self.device = torch.device("cuda", local) if self.on_cuda else torch.device("cpu")
        if self.on_cuda:
            torch.cuda.set_device(self.device)
        bound = {"device_id": self.device} if self.on_cuda else {}
        dist.init_process_group("nccl" if self.on_cuda else "gloo", timeout=datetime.timedelta(minutes=20), **bound)
        rondo.policy(verify=options.verify)
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        self.dtype = getattr(torch, TYPES[options.dtype])

    # --- data ---

    def inputs(self, cell, memory, begin, end):
        """Of the steps from `begin` to `end` of one sequence, whoever draws them."""
        torch, options = self.torch, self.options
        made = {}
        for number, spec in enumerate(cell._plain.inputs):
            shape = spec.shape({"B": options.batch, "T": end - begin, "H": 1, "D": options.channels})
            x = torch.empty(shape, dtype=self.dtype, device=self.device)
            for first in range(begin - begin % BLOCK, end, BLOCK):
                generator = torch.Generator(self.device).manual_seed(first * 8 + number)
                block = torch.empty((shape[0], BLOCK, *shape[2:]), dtype=self.dtype, device=self.device)
                if cell.name == "affine" and spec.name == "a":
                    least = MEMORIES[memory]
                    block.uniform_(0, 1, generator=generator).mul_(1 - least).add_(least)
                else:
                    block.normal_(generator=generator)
                some = slice(max(begin, first) - first, min(end, first + BLOCK) - first)
                x[:, max(begin, first) - begin:min(end, first + BLOCK) - begin] = block[:, some]
            made[spec.name] = x
        return made

    def params(self, cell):
        generator = self.torch.Generator().manual_seed(1)
        made = {}
        for spec in cell._plain.params:
            shape = spec.shape({"H": 1, "D": self.options.channels})
            made[spec.name] = (self.torch.rand(shape, generator=generator) - 0.5).to(self.device).requires_grad_()
        return made

    def fits(self, cell, steps, pass_):
        """Whether the tensors of so many steps fit: inputs and outputs, and for a backward pass the gradients of both."""
        if not self.on_cuda:
            return True
        width = sum(_numbers(spec, self.options.channels) for spec in cell._plain.inputs + cell._plain.outputs)
        total = self.options.batch * steps * width * self.dtype.itemsize * (2 if pass_ == "fwbw" else 1)
        self.torch.cuda.empty_cache()
        return total < SHARE * self.torch.cuda.mem_get_info()[0]

    # --- measuring ---

    def work_of(self, cell, x, params, pass_):
        """What is timed. It gives outputs, and gradients of inputs and parameters."""
        torch = self.torch
        if pass_ == "fw":
            def forward():
                with torch.no_grad():
                    return [cell(x, params=params)[0]]
            return forward
        leaves = [one.requires_grad_() for one in x.values()] + list(params.values())
        shape = next(iter(x.values())).shape
        weight = torch.ones((shape[0], shape[1], 1, self.options.channels), dtype=self.dtype, device=self.device)

        def both():
            y = cell(x, params=params)[0]
            return [y.detach(), *torch.autograd.grad([y], leaves, [weight])]
        return both

    def together(self):
        if self.on_cuda:
            self.torch.cuda.synchronize()
        self.dist.barrier()
        if self.on_cuda:
            self.torch.cuda.synchronize()

    def time_ms(self, work, all_ranks=True):
        """Of a call; of the slowest rank, where all take part."""
        for _ in range(3):
            work()
        times = []
        for _ in range(self.options.samples):
            if all_ranks:
                self.together()
            elif self.on_cuda:
                self.torch.cuda.synchronize()
            begin = time.perf_counter()
            for _ in range(self.options.calls):
                work()
            if self.on_cuda:
                self.torch.cuda.synchronize()
            times.append((time.perf_counter() - begin) * 1e3 / self.options.calls)
        if all_ranks:
            slowest = self.torch.tensor(times, dtype=self.torch.float64, device=self.device)
            self.dist.all_reduce(slowest, op=self.dist.ReduceOp.MAX)
            times = slowest.tolist()
        return statistics.median(times)

    def bits(self, results):
        """A number that hardly stays the same where a bit changes."""
        torch, found = self.torch, []
        for one in results:
            whole = one.contiguous().view(torch.uint8).flatten()
            words = whole[:whole.numel() // 4 * 4].view(torch.int32)
            found.append(words.sum(dtype=torch.int64))
            found.append(words[::3].sum(dtype=torch.int64))
        return torch.stack(found)

    def of_all(self, number, how="MAX"):
        tensor = self.torch.tensor([float(number)], dtype=self.torch.float64, device=self.device)
        self.dist.all_reduce(tensor, op=getattr(self.dist.ReduceOp, how))
        return tensor.item()

    def rows(self, cell, memory, steps, pass_, check):
        """What one number of steps takes, in each way; none where not even a part fits."""
        bounds = [steps * rank // self.world for rank in range(self.world + 1)]
        begin, end = bounds[self.rank], bounds[self.rank + 1]
        if not self.of_all(self.fits(cell, end - begin, pass_), "MIN"):
            return
        row = {"cell": cell.name, "memory": memory, "steps": steps, "pass": pass_, "alone_ms": None, "error": None}
        alone, params = None, self.params(cell)
        if self.of_all(self.rank == 0 and self.fits(cell, steps, pass_)):
            if self.rank == 0:
                work = self.work_of(cell, self.inputs(cell, memory, 0, steps), params, pass_)
                row["alone_ms"] = self.time_ms(work, all_ranks=False)
                alone = work() if check else None
                del work
            row["alone_ms"] = self.told(row["alone_ms"])
            if check:
                alone = self.parts_of(cell, alone, bounds, pass_)
        x = self.inputs(cell, memory, begin, end)
        row["part_ms"] = self.time_ms(self.work_of(cell, x, params, pass_))
        for how in self.options.hows:
            if how == "maps" and not (cell.is_affine and cell.is_diagonal):
                continue
            over = self.rondo.nn.split_sequence(cell, chunk=self.options.chunk, maps=how == "maps")
            work = self.work_of(over, x, params, pass_)
            found = row | {"how": how, "ms": self.time_ms(work)} | self.facts(over, work)
            if alone is not None:
                found["error"] = self.of_all(max(_apart(one, other) for one, other in zip(work(), alone)))
            yield found

    def facts(self, over, work):
        bits = [self.bits(work()) for _ in range(3)]
        same = all(self.torch.equal(one, bits[0]) for one in bits)
        records = over.records.values()
        return {"same_bits": self.of_all(same, "MIN") == 1.0,
                "again": int(self.of_all(max(record.again for record in records))),
                "rounds": int(self.of_all(max(record.rounds for record in records)))}

    def parts_of(self, cell, alone, bounds, pass_):
        """Of what rank 0 has alone, this rank's part: outputs and gradients of inputs."""
        count = 1 + (len(cell._plain.inputs) if pass_ == "fwbw" else 0)
        shapes = [tuple(one.shape) for one in alone[:count]] if self.rank == 0 else None
        shapes = self.told(shapes)
        found = []
        for number, shape in enumerate(shapes):
            for rank in range(self.world):
                size = (shape[0], bounds[rank + 1] - bounds[rank], *shape[2:])
                part = self.torch.empty(size, dtype=self.dtype, device=self.device)
                if self.rank == 0:
                    part.copy_(alone[number][:, bounds[rank]:bounds[rank + 1]])
                self.dist.broadcast(part, 0)
                if rank == self.rank:
                    found.append(part)
        return found

    def told(self, thing):
        """What rank 0 has."""
        box = [thing]
        self.dist.broadcast_object_list(box, 0)
        return box[0]


def _apart(one, other):
    scale = other.abs().max().item()
    return (one.float() - other.float()).abs().max().item() / scale if scale else 0.0


def _numbers(spec, channels):
    count = 1
    for axis in spec.axes[2:]:
        count *= {"H": 1, "D": channels}.get(axis, axis)
    return count


def with_weak(rows, world):
    """The rows with what they say of each other."""
    alone = {(row["cell"], row["memory"], row["pass"], row["steps"]): row["alone_ms"] for row in rows}
    for row in rows:
        row["strong"] = row["alone_ms"] and row["alone_ms"] / row["ms"]
        one = alone.get((row["cell"], row["memory"], row["pass"], row["steps"] // world))
        row["weak"] = one and one / row["ms"]
    return rows


def main(arguments=None):
    options = options_of(arguments)
    os.environ["RONDO_LIBRARY"] = str(options.library.resolve())
    sys.path.insert(0, str(ROOT / "python"))
    begin = time.monotonic()
    bench = Bench(options)
    torch = bench.torch
    record = {
        "device": torch.cuda.get_device_name() if bench.on_cuda else "CPU", "world": bench.world, "torch": torch.__version__,
        "commit": options.commit, "date": datetime.date.today().isoformat(),
        "shape": f"B={options.batch},H=1,D={options.channels}", "dtype": options.dtype, "chunk": options.chunk, "rows": []}
    for cell in map(bench.rondo.Cell, options.cells.split(",")):
        for memory in options.memories if cell.name == "affine" else ["-"]:
            for steps in options.steps:
                for pass_ in options.passes:
                    if bench.of_all(time.monotonic() - begin > options.seconds):
                        continue
                    for row in bench.rows(cell, memory, steps, pass_, steps == options.steps[0]):
                        record["rows"].append(row)
                        if bench.rank == 0:
                            with_weak(record["rows"], bench.world)
                            options.out.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
                            print(json.dumps(row), flush=True)
    bench.dist.destroy_process_group()


if __name__ == "__main__":
    main()
