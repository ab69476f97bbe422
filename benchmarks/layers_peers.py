"""Layers of other packages for benchmarks/layers.py, where they import. Each has the weights of `layers_shapes.weights_of`; a layer that
computes something else is found by the comparison that comes before any time."""
import importlib

import torch


class Projected(torch.nn.Module):
    """The projection of the input; a subclass has the recurrence. u is [B, T, D]."""

    def __init__(self, layer, weights):
        super().__init__()
        self.layer = layer
        self.input_projection = torch.nn.Linear(layer.D, layer.gates * layer.D)
        self.input_projection.load_state_dict({name.split(".")[1]: w for name, w in weights.items() if name.startswith("input_projection.")})
        for name, weight in weights.items():
            if "." not in name:
                self.register_parameter(name, torch.nn.Parameter(weight))


class AcceleratedScan(Projected):
    """Its Triton kernel, which wants [B, C, T]."""

    def forward(self, u):
        scan = importlib.import_module("accelerated_scan.scalar").scan
        z, candidate = self.input_projection(u).transpose(1, 2).chunk(2, 1)
        z = torch.sigmoid(z)
        return (scan((1 - z).contiguous(), (z * candidate).contiguous()).transpose(1, 2),)


class Fla(Projected):
    """The chunked HGRN, of which minGRU is an instance: h = exp(g) h + x."""

    def forward(self, u):
        chunk_hgrn = importlib.import_module("fla.ops.hgrn").chunk_hgrn
        z, candidate = self.input_projection(u).chunk(2, -1)
        gate = torch.nn.functional.logsigmoid(-z)
        return (chunk_hgrn((torch.sigmoid(z) * candidate).contiguous(), gate.contiguous())[0],)


class ParaRnn(torch.nn.Module):
    """pararnn-torch's ParaGRU by fused Newton iterations."""

    def __init__(self, layer, weights):
        super().__init__()
        pararnn = importlib.import_module("pararnn")
        self.cell = pararnn.ParaGRU(layer.D, layer.D)
        self.layer = pararnn.ParaRNN(self.cell)
        with torch.no_grad():
            self.cell.W_x.weight.copy_(weights["input_projection.weight"])
            self.cell.W_x.bias.copy_(weights["input_projection.bias"])
            for number, name in enumerate(("a_z", "a_r", "a_n")):
                getattr(self.cell, name).copy_(weights["a"][0, number])

    def forward(self, u):
        h = self.layer(u)
        return (h[0] if isinstance(h, tuple) else h,)


class FlashRnn(Projected):
    """Its fused kernels, one head: rows [B, T, G, N, D]."""

    def forward(self, u):
        run = importlib.import_module("flashrnn").flashrnn
        kind = {"lstm": "lstm", "slstm": "slstm"}[self.layer.cell]
        x = self.input_projection(u).unflatten(-1, (self.layer.gates, 1, self.layer.D))
        h, _ = run(x, self.R.transpose(0, 1), self.b.transpose(0, 1), function=kind, backend="cuda_fused", dtype="bfloat16")
        return (h[0].flatten(2),)


class Haste(torch.nn.Module):
    """haste_pytorch's layers, in fp32."""

    def __init__(self, layer, weights):
        super().__init__()
        haste = importlib.import_module("haste_pytorch")
        self.layer = {"lstm": haste.LSTM, "gru": haste.GRU}[layer.cell](layer.D, layer.D, batch_first=True)
        self.layer.from_native_weights(*(weights[f"{name}_l0"] for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")))

    def forward(self, u):
        return (self.layer(u)[0],)


# name: (module, cells it serves, type, class)
PEERS = {
    "FlashRNN": ("flashrnn", ("slstm",), "bf16", FlashRnn),
    "Haste": ("haste_pytorch", ("lstm", "gru"), "tf32", Haste),
    "accelerated-scan": ("accelerated_scan.scalar", ("mingru",), "bf16", AcceleratedScan),
    "fla": ("fla.ops.hgrn", ("mingru",), "bf16", Fla),
    "ParaRNN": ("pararnn", ("paragru",), "bf16", ParaRnn),
}


def present():
    """The peers that import, and why the others do not."""
    there, absent = [], {}
    for name, (module, *_) in PEERS.items():
        try:
            importlib.import_module(module)
            there.append(name)
        except BaseException as error:  # a package that builds its kernels at import can fail in any way
            absent[name] = f"{type(error).__name__}: {str(error).strip().splitlines()[0][:100] if str(error).strip() else ''}"
    return there, absent


def serves(name, layer):
    return layer.cell in PEERS[name][1] and layer.layers == layer.directions == 1
