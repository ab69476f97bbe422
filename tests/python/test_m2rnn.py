"""M2RNN beside the recurrence of whole matrices in PyTorch, as the paper has it: outputs, and the gradients of keys,
values, gates, queries and the matrix. By the shipped cell, a row of the state, with rows as rows of the batch; and by
a cell of the whole state, of which Rondo makes the same."""

import pytest
import rondo

torch = pytest.importorskip("torch", reason="no PyTorch: gradients are its")

BATCH, KEYS, STEPS, HEADS, CHANNELS = 2, 16, 7, 2, 12


def of_matrices(k, v, f, q, w):
    """k and q [B, T, H, K], v [B, T, H, D], f [B, T, H], w [H, D, D]: equation by equation."""
    state = torch.zeros(BATCH, HEADS, KEYS, CHANNELS, dtype=v.dtype)
    outputs = []
    for t in range(v.shape[1]):
        gate = f[:, t, :, None, None]
        made = torch.tanh(state @ w + k[:, t, :, :, None] * v[:, t, :, None, :])
        state = gate * state + (1 - gate) * made
        outputs.append((state.transpose(-1, -2) @ q[:, t, :, :, None]).squeeze(-1))
    return torch.stack(outputs, 1)


def of_rows(k, v, f, q, w):
    """The same by the cell, as docs/cells/matrix-states.md says."""

    def rows(x):  # [B, T, H, K, ...] as rows of the batch
        return x.movedim(3, 1).flatten(0, 1)

    def for_all(x):
        return x.unsqueeze(3).expand(*x.shape[:3], KEYS, *x.shape[3:])

    inputs = {"v": rows(for_all(v)), "k": rows(k), "f": rows(for_all(f))}
    s, _ = rondo.Cell("m2rnn")(inputs, params={"W": w.transpose(-1, -2)})
    return torch.einsum("bkthd,bthk->bthd", s.unflatten(0, (BATCH, KEYS)), q)


MEMORY = """
cell memory(D) {
  input q[16], k[16], v[D], f
  param W[D, D]
  state S[16, D]
  next S = f * S + (1 - f) * tanh(W @ S + k * v)
  output y = sum(q * next S, rows)
}
"""


def of_whole_states(k, v, f, q, w):
    inputs = {"q": q, "k": k, "v": v, "f": f}
    return rondo.Cell(MEMORY)(inputs, params={"W": w.transpose(-1, -2)})[0]


@pytest.mark.parametrize("way", [of_rows, of_whole_states])
@pytest.mark.parametrize(("dtype", "within"), [(torch.float32, 2e-5), (torch.float64, 1e-12)])
def test_rows_of_the_batch_are_rows_of_the_state(dtype, within, way):
    torch.manual_seed(3)
    shapes = {"k": (KEYS,), "v": (CHANNELS,), "f": (), "q": (KEYS,)}
    tensors = {name: torch.randn(BATCH, STEPS, HEADS, *shape, dtype=dtype) for name, shape in shapes.items()}
    tensors["f"] = tensors["f"].sigmoid()
    tensors["w"] = torch.randn(HEADS, CHANNELS, CHANNELS, dtype=dtype) / 3
    found = []
    for made_by in (of_matrices, way):
        leaves = {name: tensor.clone().requires_grad_() for name, tensor in tensors.items()}
        outputs = made_by(**leaves)
        (outputs * torch.linspace(0.5, 1, outputs.numel(), dtype=dtype).view_as(outputs)).sum().backward()
        found.append([outputs.detach(), *(leaf.grad for leaf in leaves.values())])
    for wanted, made in zip(*found, strict=True):
        torch.testing.assert_close(made, wanted, rtol=within, atol=within * float(wanted.abs().max()))
