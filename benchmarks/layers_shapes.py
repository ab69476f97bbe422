"""The layers that benchmarks/layers.py and beside.py time: what each is, its weights, and what it computes, in float64."""
import dataclasses
import math

import torch

GATES = {"lstm": 4, "gru": 3, "rnn": 1, "mingru": 2, "paragru": 3, "slstm": 4, "lnlstm": 4}
TORCH = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU, "rnn": torch.nn.RNN}
DTYPES = {"bf16": torch.bfloat16, "fp16": torch.float16, "tf32": torch.float32, "fp32": torch.float32}
EPS = 1e-5  # of layer normalisation


@dataclasses.dataclass(frozen=True)
class Layer:
    """A layer, or a stack of layers, over B sequences of T steps. D is the size of its input and of each direction's state; its
    output has `proj` features, if that is not 0, else D too. A bare one is the recurrence alone: its input is what the product of the
    input would give, [B, T, heads * gates * D / heads], and it may have several heads, each with a matrix of its own."""

    cell: str
    B: int
    T: int
    D: int
    layers: int = 1
    directions: int = 1
    proj: int = 0
    heads: int = 1
    bare: bool = False

    @property
    def name(self):
        more = (f" x{self.layers}" if self.layers > 1 else "") + (" bi" if self.directions > 1 else "")
        more += f" proj={self.proj}" if self.proj else ""
        more += (f" heads={self.heads}" if self.heads > 1 else "") + (" alone" if self.bare else "")
        return f"{self.cell} B={self.B} T={self.T} D={self.D}{more}"

    @property
    def is_torchs(self):
        return self.cell in TORCH and not self.bare

    @property
    def dim(self):
        return self.D // self.heads

    @property
    def gates(self):
        return GATES[self.cell]

    @property
    def options(self):
        """Of `torch.nn` beside sizes."""
        return dict(num_layers=self.layers, bidirectional=self.directions > 1, **({"proj_size": self.proj} if self.proj else {}))


# The eight of which the project's aims are told, and twelve more.
TABLE = (
    Layer("lstm", 16, 1024, 768), Layer("lstm", 64, 512, 512), Layer("gru", 16, 1024, 768), Layer("lstm", 32, 256, 1024),
    Layer("lstm", 256, 128, 256), Layer("lstm", 1, 2048, 512), Layer("lstm", 512, 32, 64), Layer("lstm", 32, 512, 512, 2, 2),
)
MORE = (
    Layer("lstm", 64, 128, 128), Layer("lstm", 256, 32, 64), Layer("lstm", 8, 256, 1536), Layer("lstm", 16, 512, 256, 3),
    Layer("gru", 64, 512, 512), Layer("gru", 1, 2048, 512), Layer("gru", 32, 512, 512, 2, 2), Layer("rnn", 16, 1024, 768),
    Layer("rnn", 64, 512, 512), Layer("slstm", 16, 1024, 768), Layer("mingru", 8, 4096, 1024), Layer("paragru", 8, 2048, 1024),
)
PROJECTED = (Layer("lstm", 16, 512, 1024, proj=512), Layer("lstm", 32, 256, 1024, proj=512))
REHEARSAL_PROJECTED = (Layer("lstm", 4, 16, 32, proj=16),)
REHEARSAL = (Layer("lstm", 4, 16, 32), Layer("gru", 4, 16, 32, 2, 2), Layer("rnn", 4, 16, 32), Layer("slstm", 4, 16, 32),
             Layer("mingru", 4, 16, 32), Layer("paragru", 4, 16, 32))  # on a CPU, to see whether the script runs


def weights_of(layer):
    """By torch.nn's names, or for other cells by those of `rondo.nn.Recurrent`. They are rounded to bf16, so that all types have them."""
    torch.manual_seed(1)
    if layer.is_torchs:
        made = TORCH[layer.cell](layer.D, layer.D, **layer.options).state_dict()
    else:
        rows, bound = layer.gates * layer.D, layer.dim ** -0.5
        made = {}
        if not layer.bare:
            made |= {"input_projection.weight": torch.empty(rows, layer.D).uniform_(-bound, bound),
                     "input_projection.bias": torch.empty(rows).uniform_(-bound, bound)}
        if layer.cell not in ("mingru", "paragru"):
            made |= {"R": torch.empty(layer.heads, layer.gates, layer.dim, layer.dim).uniform_(-bound, bound),
                     "b": torch.empty(layer.heads, layer.gates, layer.dim).uniform_(-bound, bound)}
        if layer.cell == "lnlstm":  # gains that keep the recurrence from being chaotic: what is rounded away would grow from step to step
            made |= {"gamma": torch.empty(1, 4, layer.D).uniform_(0.1, 0.3), "gamma_x": torch.empty(1, rows).uniform_(0.8, 1.2),
                     "gamma_h": torch.empty(1, 1, layer.D).uniform_(0.5, 0.8), "beta_h": torch.empty(1, 1, layer.D).uniform_(-0.1, 0.1)}
            made["input_projection.bias"].zero_()  # Haste has none
        if layer.cell == "paragru":
            made |= {"a": torch.empty(1, 3, layer.D).uniform_(-0.5, 0.5)}
    return {name: weight.bfloat16().float() for name, weight in made.items()}


def data_of(layer):
    """u [B, T, D], or of a bare layer what takes its place; and the gradient of h."""
    torch.manual_seed(2)
    u = torch.randn(layer.B, layer.T, layer.D * (layer.gates if layer.bare else 1)).bfloat16().float()
    return u, torch.randn(layer.B, layer.T, (layer.proj or layer.D) * layer.directions).bfloat16().float()


# --- the same layer as a loop ---

def lstm(x, state, R, b):
    h, c = state
    i, f, g, o = (x + torch.nn.functional.linear(h, R, b)).chunk(4, -1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), (torch.sigmoid(o) * torch.tanh(c), c)


def gru(x, state, R, b):
    (h,) = state
    (r, z, n), (r2, z2, n2) = x.chunk(3, -1), torch.nn.functional.linear(h, R, b).chunk(3, -1)
    z = torch.sigmoid(z + z2)
    h = (1 - z) * torch.tanh(n + torch.sigmoid(r + r2) * n2) + z * h
    return h, (h,)


def rnn(x, state, R, b):
    h = torch.tanh(x + torch.nn.functional.linear(state[0], R, b))
    return h, (h,)


def slstm(x, state, R, b):
    """States h, c, n, m; an empty cell (n = 0) takes the scale of its first input."""
    h, c, n, m = state
    i, f, z, o = (x + torch.nn.functional.linear(h, R, b)).chunk(4, -1)
    kept = torch.nn.functional.logsigmoid(f) + m
    scale = torch.where(n == 0, i, torch.maximum(kept, i))
    enters, stays = torch.exp(i - scale), torch.exp((kept - scale).clamp(max=0))
    c, n = stays * c + enters * torch.tanh(z), stays * n + enters
    h = torch.sigmoid(o) * c / n
    return h, (h, c, n, scale)


def normalised(v):
    return torch.nn.functional.layer_norm(v, v.shape[-1:], eps=EPS)


def lnlstm(x, state, R, b):
    """R holds the matrix and the gains; x is normalised."""
    h, c = state
    R, gamma, gamma_h, beta_h = R
    i, f, g, o = (x + gamma * normalised(torch.nn.functional.linear(h, R)) + b).chunk(4, -1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    h = torch.sigmoid(o) * torch.tanh(gamma_h * normalised(c) + beta_h)
    return h, (h, c)


def mingru(x, state, R, b):
    z, candidate = x.chunk(2, -1)
    h = torch.lerp(state[0], candidate, torch.sigmoid(z))
    return h, (h,)


def paragru(x, state, R, b):
    """R holds the three diagonals."""
    (h,) = state
    z, r, n = x.chunk(3, -1)
    h = torch.lerp(h, torch.tanh(R[2] * (h * torch.sigmoid(R[1] * h + r)) + n), torch.sigmoid(R[0] * h + z))
    return h, (h,)


STEPS = {"lstm": (lstm, 2), "gru": (gru, 1), "rnn": (rnn, 1), "slstm": (slstm, 4), "mingru": (mingru, 1), "paragru": (paragru, 1),
         "lnlstm": (lnlstm, 2)}


class Loop(torch.nn.Module):
    """The layer of one head as a loop over time in PyTorch: `step` is one of STEPS, compiled or not. u [T, B, D] to h."""

    def __init__(self, layer, weights, step):
        super().__init__()
        self.layer, self.step, self.states = layer, step, STEPS[layer.cell][1]
        self.names = {name.replace(".", "_"): name for name in weights}
        for name, weight in weights.items():
            self.register_parameter(name.replace(".", "_"), torch.nn.Parameter(weight))

    def of(self, which, end):
        layer = self.layer
        if layer.is_torchs:
            return getattr(self, f"{which}{end}")
        there = {"weight_ih": "input_projection_weight", "bias_ih": "input_projection_bias", "weight_hh": "R", "bias_hh": "b"}[which]
        if which == "weight_hh" and layer.cell == "paragru":
            return self.a[0]
        if which == "weight_hh" and layer.cell == "lnlstm":
            return self.R.flatten(0, 2), self.gamma.flatten(), self.gamma_h.flatten(), self.beta_h.flatten()
        found = getattr(self, there, None)
        if which == "weight_hh" and found is not None:
            return found.flatten(0, 2)
        return found.flatten() if which == "bias_hh" and found is not None else found

    def forward(self, u):
        for number in range(self.layer.layers):
            outputs = []
            for direction in range(self.layer.directions):
                end = f"_l{number}" + ("_reverse" if direction else "")
                x = u if self.layer.bare else torch.nn.functional.linear(u, self.of("weight_ih", end), self.of("bias_ih", end))
                x = self.gamma_x[0] * normalised(x) if self.layer.cell == "lnlstm" else x
                outputs.append(self.walk(x, self.of("weight_hh", end), self.of("bias_hh", end), bool(direction)))
            u = outputs[0] if len(outputs) == 1 else torch.cat(outputs, -1)
        return (u,)

    def walk(self, x, R, b, backwards):
        zero = x.new_zeros(x.shape[1], self.layer.D)
        zero = zero.requires_grad_() if x.requires_grad else zero  # as later states, so that one compiled step serves all
        state = (zero,) * self.states
        found = []
        steps = x.unbind(0)
        for one in reversed(steps) if backwards else steps:
            h, state = self.step(one, state, R, b)
            found.append(h)
        return torch.stack(found[::-1] if backwards else found)


# --- agreement ---

UNITS = {"bf16": 2 ** -8, "fp16": 2 ** -11, "tf32": 2 ** -11, "fp32": 2 ** -21}  # half an ulp at 1; of fp32 that of three terms of tf32
WITHIN = (2, 8)  # an error may be so many times that of torch.nn in the same type, or so many units, of a tensor's largest element


def exact_results(layer, device):
    """h, the gradient of u and those of all weights in float64, h and u as [T, B, D]; by torch.nn where it has the layer."""
    return exact_of(layer, weights_of(layer), *data_of(layer), device) if layer.heads == 1 else exact_of_heads(layer, device)


def exact_of_heads(layer, device):
    """Of a bare layer as one head, whose matrices are zero but in the blocks of the heads: a loop a head would take as long each."""
    weights, (u, gradient) = weights_of(layer), data_of(layer)
    heads, gates, dim = layer.heads, layer.gates, layer.dim
    whole = torch.stack([torch.block_diag(*weights["R"][:, gate]) for gate in range(gates)])[None]
    one = {"R": whole, "b": weights["b"].transpose(0, 1).reshape(1, gates, layer.D)}
    rows_first = u.unflatten(-1, (heads, gates, dim)).transpose(-3, -2).flatten(-3)
    found = exact_of(dataclasses.replace(layer, heads=1), one, rows_first, gradient, device)
    blocks = [slice(head * dim, (head + 1) * dim) for head in range(heads)]
    return {"h": found["h"], "u": found["u"].unflatten(-1, (gates, heads, dim)).transpose(-3, -2).flatten(-3),
            "R": torch.stack([found["R"][0][:, block, block] for block in blocks]),
            "b": found["b"].reshape(gates, heads, dim).transpose(0, 1)}


def exact_of(layer, weights, u, gradient, device):
    if layer.is_torchs:
        module = TORCH[layer.cell](layer.D, layer.D, **layer.options)
        module.load_state_dict(weights)
    else:
        module = Loop(layer, weights, STEPS[layer.cell][0])
    module = module.to(device, torch.float64)
    leaf = u.transpose(0, 1).to(device, torch.float64).contiguous().requires_grad_()
    h = module(leaf)[0]
    h.backward(gradient.transpose(0, 1).to(device, torch.float64))
    names = getattr(module, "names", None)
    found = {"h": h.detach(), "u": leaf.grad}
    return found | {(names[name] if names else name): weight.grad for name, weight in module.named_parameters()}


def errors_of(found, exact):
    """Of each tensor, its largest error as a part of its largest element; the greatest of h, of u and of all weights."""
    errors = {"h": 0.0, "u": 0.0, "weights": 0.0}
    for name, wanted in exact.items():
        if name not in found:  # a peer has no such weight
            continue
        scale = float(wanted.abs().max()) or 1.0
        error = float((found[name].double().reshape(wanted.shape) - wanted).abs().max()) / scale
        which = name if name in errors else "weights"
        errors[which] = max(errors[which], error if math.isfinite(error) else math.inf)
    return {name: float(f"{error:.3g}") for name, error in errors.items()}


def within(errors, of_torch, dtype):
    """Whether errors are as small as they may be. Where torch has no such layer the type's unit is the measure."""
    return all(error <= max(WITHIN[0] * (of_torch or {}).get(name, 0.0), WITHIN[1] * UNITS[dtype]) for name, error in errors.items())


def judged(errors, of_torch, dtype, steps=0):
    """What a record says of results. `steps`: of a loop whose weights' gradients are summed over so many steps in the weights' own type,
    as PyTorch and JAX sum what they differentiate. The rounding of each step walks like a drunkard, to the root of their number in
    units: then all else is right, the sums are as good as that type allows, and they are named for what they are."""
    found = {"errors": errors, "right": within(errors, of_torch, dtype)}
    rounded = not found["right"] and within(errors | {"weights": 0.0}, of_torch, dtype) and errors["weights"] <= math.sqrt(steps) * UNITS[dtype]
    return found | ({"rounded_sums": True} if rounded else {})
