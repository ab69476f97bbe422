"""The cells lif and alif beside their papers' equations in NumPy: spikes, states and every gradient.

The equations are walked in float64, forward and, by hand, backward. Spikes are exact where no potential lies within rounding of its
threshold, which is asserted.
"""

import pytest

torch = pytest.importorskip("torch", reason="no PyTorch: gradients of spiking cells are not tested")
np = pytest.importorskip("numpy")

import rondo

B, T, D = 3, 40, 16
SLOPE, BETA, DAMPING = 10.0, 1.8, 0.3


def lif(x, alpha, beta, dy):
    """Neftci, Mostafa and Zenke 2019, equations 6 and 7, with the threshold 1; the last two values are by SuperSpike's surrogate."""
    current, potential = np.zeros((B, D)), np.zeros((B, D))
    before, spikes, nearest = [], [], np.inf
    for t in range(T):
        before.append((current, potential))
        nearest = min(nearest, np.abs(potential - 1).min())
        spikes.append((potential >= 1).astype(float))
        current, potential = alpha * current + x[:, t], beta * potential + current - spikes[-1]
    d = {"x": np.zeros_like(x), "alpha": np.zeros(D), "beta": np.zeros(D)}
    d_current, d_potential = np.zeros((B, D)), np.zeros((B, D))
    for t in reversed(range(T)):
        current, potential = before[t]
        d["x"][:, t] = d_current
        d["alpha"] += (d_current * current).sum(0)
        d["beta"] += (d_potential * potential).sum(0)
        surrogate = 1 / (1 + SLOPE * np.abs(potential - 1)) ** 2
        d_current, d_potential = (
            alpha * d_current + d_potential,
            beta * d_potential + dy[:, t] * surrogate,
        )
    return np.stack(spikes, 1), d, nearest


def alif(x, R, alpha, rho, dy):
    """Bellec et al. 2018, equations 1 to 4, with R_m and the time step 1; the pseudo-derivative is that of their equation 5."""
    u, b, z = np.zeros((3, B, D))
    before, spikes, nearest = [], [], np.inf
    for t in range(T):
        before.append((u, b, z))
        u = alpha * u + (1 - alpha) * (z @ R.T + x[:, t]) - (1 + BETA * b) * z
        b = rho * b + (1 - rho) * z
        bound = 1 + BETA * b
        nearest = min(nearest, np.abs(u - bound).min())
        z = (u >= bound).astype(float)
        spikes.append(z)
        before[-1] += (u, bound)
    d = {"x": np.zeros_like(x), "R": np.zeros_like(R), "alpha": np.zeros(D), "rho": np.zeros(D)}
    du, db, dz = np.zeros((3, B, D))
    for t in reversed(range(T)):
        u, b, z, after, bound = before[t]
        dz = dz + dy[:, t]
        v = (after - bound) / bound
        dv = dz * DAMPING * np.maximum(0, 1 - np.abs(v))
        du = du + dv / bound
        db = db - dv * after / bound**2 * BETA
        into = (1 - alpha) * du  # of the current R z + x
        d["x"][:, t] = into
        d["R"] += into.T @ z
        d["alpha"] += (du * (u - (z @ R.T + x[:, t]))).sum(0)
        d["rho"] += (db * (b - z)).sum(0)
        dz = into @ R + (1 - rho) * db - du * (1 + BETA * b)
        db = rho * db - du * BETA * z
        du = alpha * du
    return np.stack(spikes, 1), d, nearest


def compared(name, reference, given):
    """`given`: the arrays by name, x first, in float32."""
    dy = np.random.default_rng(7).standard_normal((B, T, D)).astype(np.float32)
    spikes, gradients, nearest = reference(*(value.astype(np.float64) for value in given.values()), dy.astype(np.float64))
    assert nearest > 1e-5 and 0.02 < spikes.mean() < 0.6
    tensors = {key: torch.tensor(value).requires_grad_() for key, value in given.items()}
    params = {key: tensor[None] for key, tensor in tensors.items() if key != "x"}
    y, _ = rondo.Cell(name)(tensors["x"], params=params)
    np.testing.assert_array_equal(y.detach().numpy(), spikes)
    (y * torch.tensor(dy)).sum().backward()
    for key, tensor in tensors.items():
        size = np.abs(gradients[key]).max()
        np.testing.assert_allclose(tensor.grad.numpy(), gradients[key], atol=2e-5 * size, rtol=0, err_msg=key)
        assert size > 0.01, key


def test_lif_is_the_papers():
    random = np.random.default_rng(1)
    compared(
        "lif",
        lif,
        {
            "x": (0.6 * random.random((B, T, D))).astype(np.float32),
            "alpha": random.uniform(0.3, 0.7, D).astype(np.float32),
            "beta": random.uniform(0.5, 0.9, D).astype(np.float32),
        },
    )


def test_alif_is_the_papers():
    random = np.random.default_rng(2)
    compared(
        "alif",
        alif,
        {
            "x": (4 * random.random((B, T, D))).astype(np.float32),
            "R": random.standard_normal((D, D)).astype(np.float32),
            "alpha": random.uniform(0.6, 0.9, D).astype(np.float32),
            "rho": random.uniform(0.8, 0.98, D).astype(np.float32),
        },
    )
