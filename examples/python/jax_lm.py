"""The language model of charlm.py in JAX: bytes, trained on the sources of Python's standard library.

    python jax_lm.py                            # an LSTM of 512 channels
    python jax_lm.py --layer mingru --layers 3  # or gru, slstm, paragru

Says the loss in bits a byte and the tokens a second; the first steps, in which programs and kernels are made, are not counted.
A training step is one program of XLA, whose recurrences are Rondo's launches. On a GPU it computes in bfloat16.
"""

import argparse
import functools
import math
import pathlib
import sysconfig
import time

import jax
import jax.numpy as jnp
import numpy as np
import rondo.jax

LAYERS = ("lstm", "gru", "slstm", "mingru", "paragru")
BYTES = 4 << 20  # of text at most
WARM = 5  # steps that are not counted


def corpus(size=BYTES):
    """The sources of the standard library one after another, as bytes."""
    folder, parts, found = pathlib.Path(sysconfig.get_paths()["stdlib"]), [], 0
    for path in sorted(folder.glob("*.py")) + sorted(folder.glob("asyncio/*.py")):
        parts.append(path.read_bytes())
        found += len(parts[-1])
        if found >= size:
            break
    return np.frombuffer(b"".join(parts)[:size], np.uint8)


def first_weights(layer, size, layers, key):
    keys = jax.random.split(key, 2 + layers)
    return {
        "embedding": jax.random.normal(keys[0], (256, size)),
        "head": jax.random.normal(keys[1], (size, 256)) * size**-0.5,
        "layers": [{"norm": jnp.ones(size), **layer.init(one)} for one in keys[2:]],
    }


def logits(layer, weights, text, half):
    h = weights["embedding"][text]
    for one in weights["layers"]:
        u = (h - h.mean(-1, keepdims=True)) * jax.lax.rsqrt(h.var(-1, keepdims=True) + 1e-5) * one["norm"]
        y = layer(jax.tree.map(lambda w: w.astype(half), one), u.astype(half))[0].astype(jnp.float32)
        h = h + y if len(weights["layers"]) > 1 else y  # residual connections in deep models
    return h @ weights["head"]


def loss(layer, half, weights, text):
    found = jax.nn.log_softmax(logits(layer, weights, text[:, :-1], half))
    return -jnp.take_along_axis(found, text[:, 1:, None].astype(int), -1).mean()


def adam(weights, grads, moments, step, rate=2e-3):
    """Kingma and Ba 2015, with their constants."""
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, moments[0], grads)
    second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, moments[1], grads)
    scale = rate * jnp.sqrt(1 - 0.999**step) / (1 - 0.9**step)
    return jax.tree.map(lambda w, m, v: w - scale * m / (jnp.sqrt(v) + 1e-8), weights, first, second), (first, second)


def train(name, *, size=512, layers=1, batch=32, length=256, steps=300, text=None):
    """Trains, and gives the losses in bits a byte and the tokens a second."""
    layer = rondo.jax.Layer(name, size, size)
    half = jnp.bfloat16 if jax.default_backend() == "gpu" else jnp.float32
    weights = first_weights(layer, size, layers, jax.random.key(11))
    moments = (jax.tree.map(jnp.zeros_like, weights),) * 2
    text, drawn = corpus() if text is None else text, np.random.default_rng(7)

    @functools.partial(jax.jit, donate_argnums=0)
    def step(state, number, text):
        weights, moments = state
        value, grads = jax.value_and_grad(functools.partial(loss, layer, half))(weights, text)
        return adam(weights, grads, moments, number), value

    state, losses, mark = (weights, jax.tree.map(jnp.copy, moments)), [], 0.0
    warm = min(WARM, steps // 2)
    for number in range(steps):
        if number == warm:
            jax.block_until_ready(state)
            mark = time.perf_counter()
        starts = drawn.integers(0, len(text) - length - 1, (batch, 1))
        state, value = step(state, number + 1.0, text[starts + np.arange(length + 1)])
        losses.append(value)
    jax.block_until_ready(state)
    seconds = time.perf_counter() - mark
    return {
        "bits": [float(one) / math.log(2) for one in losses],
        "tokens_per_s": round((steps - warm) * batch * length / seconds),
    }


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layer", default="lstm", choices=LAYERS)
    parser.add_argument("--layers", type=int, default=1)
    parser.add_argument("--size", type=int, default=512, help="channels")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--length", type=int, default=256, help="bytes of each row")
    parser.add_argument("--steps", type=int, default=300)
    given = parser.parse_args(arguments)
    found = train(given.layer, size=given.size, layers=given.layers, batch=given.batch, length=given.length, steps=given.steps)
    for step in range(0, given.steps, max(1, given.steps // 10)):
        print(f"step {step:5}: {found['bits'][step]:.3f} bits a byte")
    last = found["bits"][-20:]
    print(f"{sum(last) / len(last):.3f} bits a byte in the end, {found['tokens_per_s']:,} tokens a second")


if __name__ == "__main__":
    main()
