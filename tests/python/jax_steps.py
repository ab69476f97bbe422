"""One step of each shipped cell in JAX, written by hand from the papers: of one row and head. Tensors are dicts of arrays
`[rows, D]` (matrices `[rows, D, D]`) by the names of the cell; a tensor of one row has no rows. `run` walks a sequence."""

import jax
import jax.numpy as jnp
from jax.nn import log_sigmoid, sigmoid, silu, softplus
from jax.numpy import tanh


def _fires(now, smooth):
    """A spike with the derivative of another function."""
    return smooth + jax.lax.stop_gradient(now - smooth)


def affine(s, x, p):
    return {"h": x["a"] * s["h"] + x["b"]}


def alif(s, x, p):
    def bound(b):
        return 1 + 1.8 * b

    u = p["alpha"] * s["u"] + (1 - p["alpha"]) * (p["R"] @ s["z"] + x["x"]) - bound(s["b"]) * s["z"]
    b = p["rho"] * s["b"] + (1 - p["rho"]) * s["z"]
    v = (u - bound(b)) / bound(b)
    slope = jax.lax.stop_gradient(0.3 * jax.nn.relu(1 - jnp.abs(v)))
    return {"u": u, "b": b, "z": _fires(v >= 0, slope * v)}


def blockgru(s, x, p):
    r, n, z = p["R"] @ s["h"] + x["x"]
    z = sigmoid(z - 1)
    return {"h": z * tanh(sigmoid(r) * n) + (1 - z) * s["h"]}


def elman(s, x, p):
    return {"h": tanh(p["R"] @ s["h"] + x["x"] + p["b"])}


def _gru(h, x, g):
    r, z = sigmoid(x[0] + g[0]), sigmoid(x[1] + g[1])
    return {"h": (1 - z) * tanh(x[2] + r * g[2]) + z * h}


def gated_deltanet(s, x, p):
    k, keep = x["k"][:, None], jnp.exp(x["g"]) * (jnp.eye(64) - x["beta"] * jnp.outer(x["k"], x["k"]))
    made = keep @ s["S"] + x["beta"] * k * x["v"]
    return {"S": made, "o": x["q"] @ made}


def gru(s, x, p):
    return _gru(s["h"], x["x"], p["R"] @ s["h"] + p["b"])


def hgrn(s, x, p):
    f = p["low"] + (1 - p["low"]) * sigmoid(x["x"][0])
    return {"h": f * s["h"] + (1 - f) * silu(x["x"][1])}


def indrnn(s, x, p):
    return {"h": jax.nn.relu(p["u"] * s["h"] + x["x"] + p["b"])}


def janet(s, x, p):
    f, n = p["R"] @ s["h"] + x["x"] + p["b"]
    return {"h": sigmoid(f) * s["h"] + (1 - sigmoid(f - 1)) * tanh(n)}


def _layer_norm(v):
    return (v - v.mean()) / jnp.sqrt(v.var() + 1e-5)


def lif(s, x, p):
    over = s["u"] - 1
    spike = _fires(over >= 0, over / (1 + 10 * jnp.abs(over)))
    u = p["beta"] * s["u"] + s["i"] - jax.lax.stop_gradient(spike)
    return {"i": p["alpha"] * s["i"] + x["x"], "u": u, "spike": spike}


def linear_attention(s, x, p):
    made, z = s["S"] + jnp.outer(x["k"], x["v"]), s["z"] + x["k"]
    return {"S": made, "z": z, "o": x["q"] @ made / (x["q"] @ z + 1e-6)}


def lngru(s, x, p):
    return _gru(s["h"], x["x"], p["gamma"] * _layer_norm(p["R"] @ s["h"]) + p["b"])


def _gates(g, c):
    return sigmoid(g[1]) * c + sigmoid(g[0]) * tanh(g[2]), sigmoid(g[3])


def lnlstm(s, x, p):
    c, o = _gates(p["gamma"] * _layer_norm(p["R"] @ s["h"]) + x["x"] + p["b"], s["c"])
    return {"h": o * tanh(p["gamma_h"] * _layer_norm(c) + p["beta_h"]), "c": c}


def lstm(s, x, p):
    c, o = _gates(p["R"] @ s["h"] + x["x"] + p["b"], s["c"])
    return {"h": o * tanh(c), "c": c}


def mgu(s, x, p):
    f = sigmoid(p["R"][0] @ s["h"] + x["x"][0] + p["b"][0])
    return {"h": (1 - f) * s["h"] + f * tanh(p["R"][1] @ (f * s["h"]) + x["x"][1] + p["b"][1])}


def mingru(s, x, p):
    z = sigmoid(x["x"][0])
    return {"h": (1 - z) * s["h"] + z * x["x"][1]}


def minlstm(s, x, p):
    f, i = sigmoid(x["x"][:2])
    return {"h": f / (f + i) * s["h"] + i / (f + i) * x["x"][2]}


def lru(s, x, p):
    h = jnp.exp(jax.lax.complex(-jnp.exp(p["nu"]), jnp.exp(p["theta"]))) * jax.lax.complex(*s["h"])
    h = h + jnp.exp(p["gamma"]) * jax.lax.complex(*x["x"])
    return {"h": jnp.stack([h.real, h.imag])}


def cumax(v):
    return jnp.cumsum(jnp.exp(v - v.max()) / jnp.exp(v - v.max()).sum())


def mlstm(s, x, p):
    m = jnp.maximum(log_sigmoid(x["f"]) + s["m"], x["i"])
    f, i = jnp.exp(log_sigmoid(x["f"]) + s["m"] - m), jnp.exp(x["i"] - m)
    c, n = f * s["C"] + i * jnp.outer(x["k"], x["v"]), f * s["n"] + i * x["k"]
    return {"C": c, "n": n, "m": m, "h": c.T @ x["q"] / jnp.maximum(jnp.abs(n @ x["q"]), jnp.exp(-m))}


def onlstm(s, x, p):
    i, f, n, o, forget, admit = p["R"] @ s["h"] + x["x"] + p["b"]
    forget, admit = cumax(forget), 1 - cumax(admit)
    f = forget * (sigmoid(f) * admit + 1 - admit)  # with f^ and i^ of the paper written out
    i = admit * (sigmoid(i) * forget + 1 - forget)
    c = f * s["c"] + i * tanh(n)
    return {"h": sigmoid(o) * tanh(c), "c": c}


def paragru(s, x, p):
    z, r = sigmoid(p["a"][:2] * s["h"] + x["x"][:2])
    return {"h": (1 - z) * s["h"] + z * tanh(p["a"][2] * (s["h"] * r) + x["x"][2])}


def paralstm(s, x, p):
    f, n, o = p["a"] * s["h"] + x["x"]
    c = sigmoid(f) * s["c"] + (1 - sigmoid(f)) * tanh(n)
    return {"h": sigmoid(o) * tanh(c), "c": c}


def peephole(s, x, p):
    i, f, n, o = p["R"] @ s["h"] + x["x"] + p["b"]
    c = sigmoid(f + p["p"][1] * s["c"]) * s["c"] + sigmoid(i + p["p"][0] * s["c"]) * tanh(n)
    return {"h": sigmoid(o + p["p"][2] * c) * tanh(c), "c": c}


def rglru(s, x, p):
    a = jnp.exp(-8 * softplus(p["lambda"]) * sigmoid(x["x"][0]))
    return {"h": a * s["h"] + jnp.sqrt(1 - a**2) * (sigmoid(x["x"][1]) * x["x"][2])}


def rmslstm(s, x, p):
    product = p["R"] @ s["h"]
    c, o = _gates(p["gamma"] * product / jnp.sqrt((product**2).mean() + 1e-5) + x["x"] + p["b"], s["c"])
    return {"h": o * tanh(c), "c": c}


def m2rnn(s, x, p):
    """One row of the state."""
    return {"s": x["f"] * s["s"] + (1 - x["f"]) * tanh(p["W"] @ s["s"] + x["k"] * x["v"])}


def rwkv4(s, x, p):
    """The sums of equation 16 themselves, which no small numbers overflow."""
    k, v = x["x"]
    a, b = jnp.exp(s["m"]) * s["a"], jnp.exp(s["m"]) * s["b"]
    y = (a + jnp.exp(p["u"] + k) * v) / (b + jnp.exp(p["u"] + k))
    decay = jnp.exp(-jnp.exp(p["w"]))
    m = jnp.maximum(s["m"] - jnp.exp(p["w"]), k)
    return {"a": jnp.exp(-m) * (decay * a + jnp.exp(k) * v), "b": jnp.exp(-m) * (decay * b + jnp.exp(k)), "m": m, "y": y}


def rwkv7(s, x, p):
    removed = x["kappa"] / jnp.linalg.norm(x["kappa"])
    made = s["S"].T @ (jnp.diag(x["w"]) - jnp.outer(removed, x["a"] * removed)) + jnp.outer(x["v"], x["k"])
    return {"S": made.T, "o": made @ x["r"]}


def slstm(s, x, p):
    i, f, n, o = p["R"] @ s["h"] + x["x"] + p["b"]
    f = log_sigmoid(f) + s["m"]
    m = jnp.maximum(f, i)
    c = jnp.exp(f - m) * s["c"] + jnp.exp(i - m) * tanh(n)
    norm = jnp.exp(f - m) * s["n"] + jnp.exp(i - m)
    return {"h": sigmoid(o) * c / norm, "c": c, "n": norm, "m": m}


def sru(s, x, p):
    u = x["u"]
    f, r = (sigmoid(u[k + 1] + p["v"][k] * s["c"] + p["b"][k]) for k in (0, 1))
    c = f * s["c"] + (1 - f) * u[0]
    return {"c": c, "y": r * c + (1 - r) * x["skip"]}


def viterbi(s, x, p):
    return {"s": x["x"] + jnp.max(p["R"] + s["s"][None, :], axis=1)}


def zoneout(s, x, p):
    """As it is evaluated, with its constants p_c and p_h: what is kept in the mean."""
    c, o = _gates(p["R"] @ s["h"] + x["x"] + p["b"], s["c"])
    return {"h": 0.05 * s["h"] + 0.95 * (o * tanh(c)), "c": 0.5 * s["c"] + 0.5 * c}


def run(step, x, params, first):
    """All outputs and last states by name. x `[B, T, H, rows, D]`, first `[B, H, D]`, parameters `[H, rows, D]`."""

    def head(x, params, first):
        def one(state, now):
            made = step(state, now, params)
            return {name: made[name] for name in state}, made

        return jax.lax.scan(one, first, x)

    heads = jax.vmap(head, ({name: 1 for name in x}, 0, 0), (0, 1))
    last, made = jax.vmap(heads, (0, None, 0))(x, params, first)
    return made, last
