"""Layers of other packages for benchmarks/layers.py and beside.py, where they import. Each has the weights of
`layers_shapes.weights_of`; a layer that computes something else is found by the comparison that comes before any time."""
import dataclasses
import functools
import importlib
from collections.abc import Callable

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


class FlashRnn(torch.nn.Module):
    """Its recurrence alone, for it has no product of the input. What it reads lies in memory as the backend has it within, so that it
    copies nothing into another order."""

    KEPT = {"cuda_fused": "TBHDG", "cuda": "TBHGD", "triton_fused": "BTGHD", "vanilla": "TBGHD"}  # axes of its input

    def __init__(self, backend, layer, weights):
        super().__init__()
        self.layer, self.backend = layer, backend
        for name, weight in weights.items():
            self.register_parameter(name, torch.nn.Parameter(weight))

    def order(self, given, wanted):
        return [given.index(axis) for axis in wanted]

    def arranged(self, u):
        """From [T, B, H * G * D]."""
        u = u.unflatten(-1, (self.layer.heads, self.layer.gates, self.layer.dim))
        return u.permute(self.order("TBHGD", self.KEPT[self.backend])).contiguous()

    def restored(self, u):
        return u.permute(self.order(self.KEPT[self.backend], "TBHGD")).flatten(2)

    def weights(self):
        """R [G, H, D, D] and b [G, H, D]. Its GRU has the candidate first, with one bias of the state's part and one of the input's."""
        R, b = self.R.transpose(0, 1), self.b.transpose(0, 1)
        if self.layer.cell != "gru":
            return R, b
        return torch.stack((R[2], R[0], R[1])), torch.stack((b[2], b[0], b[1], torch.zeros_like(b[0])))

    def forward(self, u):
        run = importlib.import_module("flashrnn").flashrnn
        x = u.permute(self.order(self.KEPT[self.backend], "BTGHD"))
        backend = self.backend if u.is_cuda else "vanilla"
        h, _ = run(x, *self.weights(), function=self.layer.cell, backend=backend, dtype="bfloat16" if u.is_cuda else "float32")
        return (h[0].transpose(0, 1).flatten(2),)


class Haste(torch.nn.Module):
    """haste_pytorch's layers: by their own names the gates of an LSTM are i, g, f, o, and there is one bias. Its GRU lets cuBLAS round
    what it multiplies to half (CUBLAS_TENSOR_OP_MATH), whose mantissas are those of tf32; the others do as PyTorch is set."""

    def __init__(self, layer, weights):
        super().__init__()
        haste = importlib.import_module("haste_pytorch")
        self.layer = {"lstm": haste.LSTM, "gru": haste.GRU, "lnlstm": haste.LayerNormLSTM}[layer.cell](layer.D, layer.D)
        if layer.cell == "lnlstm":
            self.take(weights)
        else:
            self.layer.from_native_weights(*(weights[f"{name}_l0"] for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")))

    def take(self, weights):
        def gates(rows):  # the last axis
            i, f, g, o = rows.chunk(4, -1)
            return torch.cat((i, g, f, o), -1)

        of = self.layer
        with torch.no_grad():
            of.kernel.copy_(gates(weights["input_projection.weight"].T))
            of.recurrent_kernel.copy_(gates(weights["R"].flatten(0, 2).T))
            of.bias.copy_(gates(weights["b"].flatten()))
            of.gamma.copy_(torch.stack((gates(weights["gamma_x"][0]), gates(weights["gamma"].flatten()))))
            of.gamma_h.copy_(weights["gamma_h"].flatten())
            of.beta_h.copy_(weights["beta_h"].flatten())

    def forward(self, u):
        self.layer.train(torch.is_grad_enabled())  # else it stores the gates too
        return (self.layer(u)[0],)


@dataclasses.dataclass(frozen=True)
class Peer:
    module: str  # that is imported
    cells: dict  # and the types of each
    make: Callable  # (layer, weights) -> module
    batch_first: bool = True
    bare: bool = False  # of the recurrence alone
    dims: Callable = lambda layer: True  # whether it has kernels of that size


def flashrnn(backend, cells, dims=lambda layer: True):
    return Peer("flashrnn", dict.fromkeys(cells, ("bf16",)), functools.partial(FlashRnn, backend), batch_first=False, bare=True, dims=dims)


PEERS = {
    "FlashRNN-fused": flashrnn("cuda_fused", ("lstm", "slstm")),
    "FlashRNN-alternating": flashrnn("cuda", ("lstm", "slstm", "gru")),
    "FlashRNN-Triton": flashrnn("triton_fused", ("lstm", "slstm"), lambda layer: layer.dim <= 128),
    "Haste": Peer("haste_pytorch", {"lstm": ("fp32", "tf32"), "gru": ("tf32",), "lnlstm": ("fp32", "tf32")}, Haste, batch_first=False),
    "accelerated-scan": Peer("accelerated_scan.scalar", {"mingru": ("bf16",)}, AcceleratedScan),
    "fla": Peer("fla.ops.hgrn", {"mingru": ("bf16",)}, Fla),
    "ParaRNN": Peer("pararnn", {"paragru": ("bf16",)}, ParaRnn),
}


def present():
    """The peers that import, and why the others do not."""
    there, absent = [], {}
    for name, peer in PEERS.items():
        try:
            importlib.import_module(peer.module)
            there.append(name)
        except BaseException as error:  # a package that builds its kernels at import can fail in any way
            absent[name] = f"{type(error).__name__}: {str(error).strip().splitlines()[0][:100] if str(error).strip() else ''}"
    return there, absent


def named(name, layer):
    """As contenders of a layer: a peer in each of its types, if it serves the layer."""
    return [f"{name} {dtype}" for dtype in PEERS[name].cells[layer.cell]] if serves(name, layer) else []


def serves(name, layer):
    peer = PEERS[name]
    return layer.cell in peer.cells and layer.layers == layer.directions == 1 and layer.bare == peer.bare and peer.dims(layer)
