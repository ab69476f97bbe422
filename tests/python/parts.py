"""What tests of PyTorch share: layers in pairs, and comparisons that say the error."""

import rondo
import torch

KINDS = {
    "LSTM": (torch.nn.LSTM, rondo.nn.LSTM),
    "GRU": (torch.nn.GRU, rondo.nn.GRU),
    "RNN": (torch.nn.RNN, rondo.nn.RNN),
}


def assert_close(found, wanted, tolerance=1e-5):
    assert found.shape == wanted.shape, (found.shape, wanted.shape)
    error = float((found.detach().double() - wanted.detach().double()).abs().max()) if found.numel() else 0.0
    assert error <= tolerance, f"error {error:.2e}, at most {tolerance:.0e}"


def assert_equal(found, wanted):
    assert_close(found, wanted, 0.0)


def pair(kind="LSTM", inputs=8, hidden=16, by_reference=False, **options):
    """A layer of torch.nn and one of rondo.nn with its weights."""
    options = {"batch_first": True, **options}
    theirs, ours = KINDS[kind]
    reference, layer = theirs(inputs, hidden, **options), ours(inputs, hidden, **options)
    layer.load_state_dict(reference.state_dict())
    if by_reference:
        layer.cell = layer.cell.with_options(strategy="reference")
    return reference, layer


def leaf(*shape, scale=1.0, dtype=torch.float32):
    return (torch.randn(*shape) * scale).to(dtype).requires_grad_()


def lstm_tensors(batch=3, steps=5, dim=16, heads=1):
    """x, and the parameters of cell lstm."""
    x = torch.randn(batch, steps, heads, 4, dim)
    return x, {"R": torch.randn(heads, 4, dim, dim) / 4, "b": torch.randn(heads, 4, dim)}
