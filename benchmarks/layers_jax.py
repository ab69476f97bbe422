"""Layers as a loop of JAX's `lax.scan`, for benchmarks/beside.py: the product of the input at once, and then a step after the other.
Products take and give the type that is asked for. States and functions are float32: XLA makes one kernel of a step's functions, so that
this costs no time. The gradients of weights are sums over the steps in the weights' type, as `lax.scan` makes them."""
import statistics
import time

import jax
import jax.numpy as jnp
import numpy
import torch

from layers_shapes import EPS

KINDS = {"bf16": (jnp.bfloat16, None), "tf32": (jnp.float32, "tensorfloat32"), "fp32": (jnp.float32, "highest")}


def normalised(v):
    v = v - v.mean(-1, keepdims=True)
    return v * jax.lax.rsqrt((v * v).mean(-1, keepdims=True) + EPS)


def product(h, R):
    """In the type of R, which its gradients have too: were it asked for in float32, XLA would multiply in float32 on the way back."""
    return jnp.dot(h.astype(R.dtype), R.T).astype(jnp.float32)


def lstm(state, x, w):
    h, c = state
    i, f, g, o = jnp.split(x + product(h, w["R"]) + w["b"], 4, -1)
    c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
    h = jax.nn.sigmoid(o) * jnp.tanh(c)
    return (h, c), h


def gru(state, x, w):
    (h,) = state
    r, z, n = jnp.split(x, 3, -1)
    r2, z2, n2 = jnp.split(product(h, w["R"]) + w["b"], 3, -1)
    z = jax.nn.sigmoid(z + z2)
    h = (1 - z) * jnp.tanh(n + jax.nn.sigmoid(r + r2) * n2) + z * h
    return (h,), h


def slstm(state, x, w):
    h, c, n, m = state
    i, f, z, o = jnp.split(x + product(h, w["R"]) + w["b"], 4, -1)
    kept = jax.nn.log_sigmoid(f) + m
    scale = jnp.where(n == 0, i, jnp.maximum(kept, i))
    enters, stays = jnp.exp(i - scale), jnp.exp(jnp.minimum(kept - scale, 0))
    c, n = stays * c + enters * jnp.tanh(z), stays * n + enters
    h = jax.nn.sigmoid(o) * c / n
    return (h, c, n, scale), h


def lnlstm(state, x, w):
    h, c = state
    i, f, g, o = jnp.split(x + w["gamma"] * normalised(product(h, w["R"])) + w["b"], 4, -1)
    c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
    h = jax.nn.sigmoid(o) * jnp.tanh(w["gamma_h"] * normalised(c) + w["beta_h"])
    return (h, c), h


STEPS = {"lstm": (lstm, 2), "gru": (gru, 1), "slstm": (slstm, 4), "lnlstm": (lnlstm, 2)}
# Of the weights' names in layers_shapes.weights_of.
NAMES = {"weight_ih_l0": "W", "bias_ih_l0": "c", "weight_hh_l0": "R", "bias_hh_l0": "b", "input_projection.weight": "W", "input_projection.bias": "c"}


def layer_of(cell):
    """u [T, B, D] and weights to h [T, B, D]."""
    step, states = STEPS[cell]

    def run(u, w):
        x = product(u, w["W"]) + w["c"]
        x = (w["gamma_x"] * normalised(x) if cell == "lnlstm" else x).astype(u.dtype)
        first = (jnp.zeros((u.shape[1], w["R"].shape[1]), jnp.float32),) * states

        def narrowed(state, one):
            state, h = step(state, one.astype(jnp.float32), w)
            return state, h.astype(u.dtype)
        return jax.lax.scan(narrowed, first, x)[1]
    return run


class JaxScan:
    """The layer over fixed data, as layers_time.Passes has those of PyTorch: compiled by `jax.jit`, forward and with all gradients."""

    def __init__(self, layer, weights, dtype, u, gradient):
        kind, precision = KINDS[dtype]
        self.shapes = {name: weight.shape for name, weight in weights.items()}
        flat = {name: weight.flatten(0, -2) if name == "R" else weight if weight.dim() > 1 and name.startswith(("weight", "input")) else weight.flatten()
                for name, weight in weights.items()}
        self.names = {NAMES.get(name, name): name for name in weights}
        self.weights = {NAMES.get(name, name): jnp.asarray(weight.numpy(), kind) for name, weight in flat.items()}
        self.u, self.gradient = (jnp.asarray(one.transpose(0, 1).contiguous().numpy(), kind) for one in (u, gradient))
        run = layer_of(layer.cell)

        def both(u, w, gradient):
            h, back = jax.vjp(run, u, w)
            return h, back(gradient)

        with jax.default_matmul_precision(precision) if precision else jax.default_matmul_precision("default"):
            self.forward_of = jax.jit(run).lower(self.u, self.weights).compile()
            self.both_of = jax.jit(both).lower(self.u, self.weights, self.gradient).compile()

    def forward(self):
        jax.block_until_ready(self.forward_of(self.u, self.weights))

    def training(self):
        return jax.block_until_ready(self.both_of(self.u, self.weights, self.gradient))

    def results(self):
        h, (du, dw) = self.training()

        def turned(one):
            return torch.from_numpy(numpy.array(one.astype(jnp.float32)))
        return {"h": turned(h), "u": turned(du)} | {self.names[name]: turned(one).reshape(self.shapes[self.names[name]]) for name, one in dw.items()}

    def measure(self, least=5, seconds=0.3):
        """Medians in ms from the call until the device has done it."""
        return {f"{name}_ms": round(1e3 * self.median(run, least, seconds), 4) for name, run in (("fw", self.forward), ("fwbw", self.training))}

    @staticmethod
    def median(run, least, seconds):
        times, begin = [], time.perf_counter()
        run()
        while len(times) < least or time.perf_counter() - begin < seconds:
            start = time.perf_counter()
            run()
            times.append(time.perf_counter() - start)
        return statistics.median(times)
