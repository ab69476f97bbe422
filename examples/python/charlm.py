"""A language model of bytes, trained on the sources of Python's standard library, which every machine has.

    python charlm.py                            # an LSTM of 512 channels
    python charlm.py --layer MinGRU --layers 3  # or GRU, SLSTM, ParaGRU
    python charlm.py --peer                     # torch's own layer, the same way
    python charlm.py --picture curve.png        # the loss over the steps, if matplotlib is there

Says the loss in bits a byte and the tokens a second; the first steps, in which kernels are made, are not counted. On a GPU
it computes in bfloat16 by autocast. `--how compiled` is torch.compile of the model; `--how graphed` records a whole training
step once as a CUDA graph and replays it.
"""

import argparse
import json
import math
import pathlib
import sysconfig
import time

import torch
import torch.nn.functional as F

LAYERS = ("LSTM", "GRU", "SLSTM", "MinGRU", "ParaGRU")
PEERS = ("LSTM", "GRU")  # that torch has
WAYS = ("eager", "compiled", "graphed")
BYTES = 4 << 20  # of text at most
WARM = 10  # steps that are not counted


def corpus(size=BYTES):
    """The sources of the standard library one after another, as a tensor of bytes."""
    folder, parts, found = pathlib.Path(sysconfig.get_paths()["stdlib"]), [], 0
    for path in sorted(folder.glob("*.py")) + sorted(folder.glob("*/*.py")):
        if "site-packages" in path.parts or "dist-packages" in path.parts:
            continue
        text = path.read_bytes()
        parts.append(text)
        found += len(text)
        if found >= size:
            break
    return torch.frombuffer(bytearray(b"".join(parts)[:size]), dtype=torch.uint8)


class Model(torch.nn.Module):
    """Bytes to logits of the next byte. A layer gives its output first, and its states second."""

    def __init__(self, layers, size):
        super().__init__()
        self.embedding = torch.nn.Embedding(256, size)
        self.layers = torch.nn.ModuleList(layers)
        self.norms = torch.nn.ModuleList(torch.nn.LayerNorm(size) for _ in layers)
        self.head = torch.nn.Linear(size, 256)

    def forward(self, text):
        h = self.embedding(text)
        for norm, layer in zip(self.norms, self.layers, strict=True):
            y = layer(norm(h))[0]
            h = h + y if len(self.layers) > 1 else y  # residual connections in deep models
        return self.head(h)


def model_of(kind, size, layers, peer=False):
    """The same first weights for `peer` and for Rondo's layers."""
    torch.manual_seed(11)
    if peer:
        return Model([getattr(torch.nn, kind)(size, size, batch_first=True) for _ in range(layers)], size)
    import rondo

    more = {"batch_first": True} if kind in ("LSTM", "GRU") else {}
    return Model([getattr(rondo.nn, kind)(size, size, **more) for _ in range(layers)], size)


class Batches:
    """Pieces of the text, drawn with a seed of their own: all runs see the same."""

    def __init__(self, text, batch, length, device):
        self.text, self.batch, self.length, self.device = text.to(device), batch, length, device
        self.generator = torch.Generator().manual_seed(7)
        self.inner = torch.arange(length + 1, device=device)

    def next(self):
        starts = torch.randint(0, len(self.text) - self.length - 1, (self.batch, 1), generator=self.generator)
        return self.text[starts.to(self.device) + self.inner].long()


class Trainer:
    """Steps of AdamW on batches of `[B, T + 1]` bytes."""

    def __init__(self, model, device, how, rate=2e-3, half=None):
        self.model, self.device, self.half = model.to(device), device, half
        for layer in model.layers:
            if isinstance(layer, torch.nn.RNNBase):
                layer.flatten_parameters()
        self.call = torch.compile(model) if how == "compiled" else model
        self.graph, self.graphed = None, how == "graphed"
        capturable = {"capturable": True} if self.graphed else {}
        self.optimiser = torch.optim.AdamW(model.parameters(), rate, fused=device == "cuda", **capturable)

    def _step(self, text):
        with torch.autocast(self.device, self.half or torch.bfloat16, enabled=self.half is not None):
            logits = self.call(text[:, :-1])
        loss = F.cross_entropy(logits.float().flatten(0, 1), text[:, 1:].flatten())
        loss.backward()
        self.optimiser.step()
        return loss.detach()

    def step(self, text):
        if not self.graphed:
            self.optimiser.zero_grad(set_to_none=True)
            return self._step(text)
        if self.graph is None:
            self._record(text)
        self.text.copy_(text)
        self.graph.replay()
        return self.loss.clone()

    def _record(self, text):
        """Kernels are made and memory is found on a side stream; what was learned there is undone."""
        self.text = text.clone()
        before = [weight.detach().clone() for weight in self.model.parameters()]
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                self.optimiser.zero_grad(set_to_none=True)
                self._step(self.text)
        torch.cuda.current_stream().wait_stream(side)
        self.graph = torch.cuda.CUDAGraph()
        self.optimiser.zero_grad(set_to_none=True)
        with torch.cuda.graph(self.graph):
            self.loss = self._step(self.text)
        with torch.no_grad():
            for weight, first in zip(self.model.parameters(), before, strict=True):
                weight.copy_(first)
            for state in self.optimiser.state.values():
                for value in state.values():
                    value.zero_()


def train(
    kind, *, size=512, layers=1, batch=32, length=256, steps=300, device="cpu", peer=False, how="eager", half=None, text=None
):
    """Trains, and gives what a record holds: losses in bits a byte, tokens a second."""
    model = model_of(kind, size, layers, peer)
    trainer = Trainer(model, device, how, half=half)
    batches = Batches(corpus() if text is None else text, batch, length, device)
    losses, begin, mark = [], time.perf_counter(), 0.0
    warm = min(WARM, steps // 2)
    for step in range(steps):
        if step == warm:
            _wait(device)
            mark = time.perf_counter()
        losses.append(trainer.step(batches.next()))
    _wait(device)
    seconds = time.perf_counter() - mark
    bits = [loss / math.log(2) for loss in torch.stack(losses).tolist()]
    return {
        "layer": kind, "who": "torch" if peer else "rondo", "how": how, "type": str(half or torch.float32)[6:],
        "B": batch, "T": length, "D": size, "layers": layers, "steps": steps,
        "tokens_per_s": round((steps - warm) * batch * length / seconds),
        "ms_per_step": round(1e3 * seconds / (steps - warm), 3),
        "warm_s": round(mark - begin, 2), "bits": [round(one, 4) for one in bits],
        "last_bits": round(sum(bits[-20:]) / len(bits[-20:]), 4),
    }  # fmt: skip


def _wait(device):
    if device == "cuda":
        torch.cuda.synchronize()


def picture(found, path):
    """The loss over the steps. Whether matplotlib was there."""
    try:
        import matplotlib
    except ImportError:
        return False
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4))
    axes.plot(found["bits"], label=f"{found['who']} {found['layer']}, {found['tokens_per_s']:,} tokens a second")
    axes.set(xlabel="step", ylabel="bits a byte", ylim=(0, 8.2))
    axes.legend()
    figure.savefig(path, dpi=120, bbox_inches="tight")
    return True


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layer", default="LSTM", choices=LAYERS)
    parser.add_argument("--peer", action="store_true", help="torch's own layer")
    parser.add_argument("--how", default="eager", choices=WAYS)
    parser.add_argument("--layers", type=int, default=1)
    parser.add_argument("--size", type=int, default=512, help="channels")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--length", type=int, default=256, help="bytes of each row")
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--picture", help="a file for the loss curve")
    parser.add_argument("--json", help="a file for the record")
    options = parser.parse_args(arguments)
    if options.peer and options.layer not in PEERS:
        parser.error(f"torch has no {options.layer}: --peer goes with {' and '.join(PEERS)}")
    if options.how == "graphed" and options.device != "cuda":
        parser.error("--how graphed needs a GPU")
    found = train(
        options.layer,
        size=options.size,
        layers=options.layers,
        batch=options.batch,
        length=options.length,
        steps=options.steps,
        device=options.device,
        peer=options.peer,
        how=options.how,
        half=torch.bfloat16 if options.device == "cuda" else None,
    )
    for step in range(0, options.steps, max(1, options.steps // 10)):
        print(f"step {step:5}: {found['bits'][step]:.3f} bits a byte")
    print(f"{found['last_bits']:.3f} bits a byte in the end, {found['tokens_per_s']:,} tokens a second")
    if options.picture and not picture(found, options.picture):
        print("no picture: matplotlib is not installed")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(found) + "\n")
    return found


if __name__ == "__main__":
    main()
