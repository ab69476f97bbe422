"""What these tests share. They run on a CUDA GPU where there is one, else on the CPU; RONDO_TEST_DEVICE says which."""

import contextlib
import os

import pytest

torch = pytest.importorskip("torch", reason="no PyTorch: nothing runs on a device")

import rondo

from parts import KINDS, assert_close

DEVICE = os.environ.get("RONDO_TEST_DEVICE") or ("cuda" if torch.cuda.is_available() else "cpu")
ON_GPU = DEVICE.startswith("cuda")
COMPILER = "inductor" if ON_GPU else "aot_eager"  # on the CPU the first needs a C++ compiler
# torch's own layers are to be exact beside which ours are compared.
torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False
needs_gpu = pytest.mark.skipif(not ON_GPU, reason="no GPU")


def close(found, wanted, tolerance=1e-5):
    """GPUs sum in another order."""
    assert found.device == wanted.device
    assert_close(found, wanted, tolerance * (10 if ON_GPU else 1))


def pair(kind="LSTM", inputs=8, hidden=16, **options):
    """A layer of torch.nn and one of rondo.nn with its weights, on the device."""
    theirs, ours = KINDS[kind]
    options = {"batch_first": True, **options}
    reference, layer = theirs(inputs, hidden, **options), ours(inputs, hidden, **options)
    layer.load_state_dict(reference.state_dict())
    return reference.to(DEVICE), layer.to(DEVICE)


def without_cudnn(off=True):
    """A context in which torch.nn works without cuDNN, which wants training mode and tensors with storage."""
    return torch.backends.cudnn.flags(enabled=False, allow_tf32=False) if off else contextlib.nullcontext()


def draw(*shape, scale=1.0):
    return (torch.randn(*shape) * scale).to(DEVICE)


def leaf(*shape, scale=1.0):
    return draw(*shape, scale=scale).requires_grad_()


def twin(tensor):
    """The same values as another leaf."""
    return tensor.detach().clone().requires_grad_()


def lstm_tensors(batch=3, steps=5, dim=16, heads=1):
    """x, and the parameters of cell lstm."""
    return draw(batch, steps, heads, 4, dim), {"R": draw(heads, 4, dim, dim, scale=0.25), "b": draw(heads, 4, dim)}


def checked():
    """Waits for the GPU, and raises if a launch has failed."""
    if ON_GPU:
        torch.cuda.synchronize()
    rondo.check()
