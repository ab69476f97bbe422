"""The comparisons of tests/python/test_parity.py on a GPU: LSTM, GRU and RNN, each case and type, values and all gradients."""

import copy

import pytest
from on_device import DEVICE, checked, needs_gpu, torch

from parts import KINDS
from test_parity import ALL, CASES, DTYPES, UNIT, relative_errors, run


@needs_gpu
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("kind", "case"), ALL)
def test_parity(kind, case, dtype):
    inputs, hidden, batch, steps, options, how = CASES[case]
    type_ = DTYPES[dtype]
    theirs, ours = KINDS[kind]
    reference = theirs(inputs, hidden, **options).to(DEVICE, type_)
    layer = ours(inputs, hidden, **options).to(DEVICE, type_)
    layer.load_state_dict(reference.state_dict())
    how = dict(how)
    if how.get("packed"):
        lengths = torch.randint(1, steps + 1, (batch,))
        lengths[0] = steps
        how["steps"] = lengths.sort(descending=True)[0] if how["packed"] == "sorted" else lengths.flip(0)
    u = torch.randn(*((batch, steps) if options.get("batch_first") else (steps, batch)), inputs).to(DEVICE, type_)
    rows = options.get("num_layers", 1) * (1 + options.get("bidirectional", False))
    features = [layer.output_size, hidden][: layer.states]
    hx = [torch.randn(rows, batch, size).to(DEVICE, type_) for size in features] if how.get("hx") else None
    shapes = [(*u.shape[:2], features[0] * layer.directions), *[(rows, batch, size) for size in features]]
    weights = [torch.randn(shape).double().to(DEVICE) for shape in shapes]
    exact = run(copy.deepcopy(reference).double(), u.double(), None if hx is None else [s.double() for s in hx], how, weights)
    allowed = max(4 * max(relative_errors(run(reference, u, hx, how, weights), exact).values()), 16 * UNIT[type_])
    errors = relative_errors(run(layer, u, hx, how, weights), exact)
    checked()
    worst = max(errors, key=lambda name: errors[name])
    assert errors[worst] <= allowed, f"{worst}: {errors[worst]:.2e}, at most {allowed:.2e}"
