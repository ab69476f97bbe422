"""LSTM, GRU and RNN beside torch.nn: values and every gradient, against torch.nn in float64.

The error that is allowed is four times that of torch.nn in the same type, or 16 units of the type's last place, of each
tensor's largest element.
"""

import copy

import pytest

torch = pytest.importorskip("torch", reason="no PyTorch: layers are not compared with torch.nn")

from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from parts import KINDS

# name: (inputs, hidden, B, T, options of the module, {hx, packed})
COMMON = {
    "plain": (12, 16, 5, 15, dict(batch_first=True), {}),
    "time major": (12, 16, 6, 13, {}, {}),
    "hx": (12, 16, 5, 9, {}, dict(hx=True)),
    "no bias": (8, 16, 5, 11, dict(bias=False, batch_first=True), {}),
    "odd hidden": (5, 7, 5, 13, dict(batch_first=True), dict(hx=True)),
    "all ones": (3, 1, 1, 1, {}, dict(hx=True)),
    "bidirectional": (10, 16, 5, 15, dict(bidirectional=True, batch_first=True), dict(hx=True)),
    "2 layers": (10, 16, 5, 15, dict(num_layers=2), dict(hx=True)),
    "2 layers bidirectional": (10, 16, 6, 14, dict(num_layers=2, bidirectional=True), dict(hx=True)),
    "packed": (10, 16, 6, 14, dict(batch_first=True), dict(packed="unsorted", hx=True)),
    "packed sorted": (10, 16, 6, 14, {}, dict(packed="sorted")),
    "packed 2 layers bidirectional": (
        10,
        16,
        6,
        14,
        dict(num_layers=2, bidirectional=True),
        dict(packed="unsorted", hx=True),
    ),
    "long": (16, 16, 2, 512, dict(batch_first=True), {}),
    "many rows": (16, 32, 33, 24, dict(batch_first=True), {}),
}
PROJECTED = {
    "projected": (12, 16, 5, 15, dict(proj_size=6, batch_first=True), {}),
    "projected, hx": (12, 16, 6, 13, dict(proj_size=5), dict(hx=True)),
    "projected, bidirectional": (10, 16, 5, 15, dict(proj_size=6, bidirectional=True), dict(hx=True)),
    "projected, no bias": (10, 16, 5, 15, dict(proj_size=6, num_layers=2, bias=False, batch_first=True), dict(hx=True)),
    "projected, packed": (
        10,
        16,
        6,
        14,
        dict(proj_size=6, num_layers=2, bidirectional=True),
        dict(packed="unsorted", hx=True),
    ),
    "projected, packed sorted": (10, 16, 6, 14, dict(proj_size=15), dict(packed="sorted")),
    "projected, long": (16, 16, 2, 512, dict(proj_size=8, batch_first=True), {}),
    "projected, one step": (3, 2, 1, 1, dict(proj_size=1), dict(hx=True)),
}
CASES = {**COMMON, **PROJECTED}
ALL = [(kind, case) for kind in KINDS for case in CASES if kind == "LSTM" or case not in PROJECTED]
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
UNIT = {torch.float32: 2**-24, torch.bfloat16: 2**-8, torch.float16: 2**-11}


def run(layer, u, hx, how, weights):
    """Outputs, last states and all gradients of a weighted sum of them, by name."""
    layer.zero_grad(set_to_none=True)
    leaf = u.clone().requires_grad_()
    first = None if hx is None else tuple(state.clone().requires_grad_() for state in hx)
    given = None if first is None else first if len(first) > 1 else first[0]
    if how.get("packed"):
        packed = pack_padded_sequence(
            leaf, how["steps"], batch_first=layer.batch_first, enforce_sorted=how["packed"] == "sorted"
        )
        y, last = layer(packed, given)
        y = pad_packed_sequence(y, layer.batch_first, total_length=u.shape[1 if layer.batch_first else 0])[0]
    else:
        y, last = layer(leaf, given)
    last = last if isinstance(last, tuple) else (last,)
    loss = (y.double() * weights[0]).sum() + sum((s.double() * w).sum() for s, w in zip(last, weights[1:], strict=True))
    loss.backward()
    found = {"y": y.detach(), "grad input": leaf.grad}
    found |= {f"last {number}": state.detach() for number, state in enumerate(last)}
    found |= {f"grad {name}": weight.grad for name, weight in layer.named_parameters()}
    if first is not None:
        found |= {f"grad hx {number}": state.grad for number, state in enumerate(first)}
    return found


def relative_errors(found, exact):
    """Of each tensor, its largest error as a part of its largest element."""
    assert list(found) == list(exact)
    errors = {}
    for name, wanted in exact.items():
        assert found[name].shape == wanted.shape, name
        error = float((found[name].double() - wanted).abs().max())
        errors[name] = error / max(float(wanted.abs().max()), 1e-30)
    return errors


# Kernels of the CPU are compiled for fp32 and for some cases of the other types; the rest is the reference's, which rounds
# where they do.
NATIVE = ("plain", "packed 2 layers bidirectional", "projected, packed")


@pytest.mark.turns
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("kind", "case"), ALL)
def test_parity(kind, case, dtype):
    inputs, hidden, batch, steps, options, how = CASES[case]
    type_ = DTYPES[dtype]
    theirs, ours = KINDS[kind]
    reference = theirs(inputs, hidden, **options).to(type_)
    layer = ours(inputs, hidden, **options).to(type_)
    layer.load_state_dict(reference.state_dict())
    if dtype != "float32" and case not in NATIVE:
        layer.cell = layer.cell.with_options(strategy="reference")
    how = dict(how)
    if how.get("packed"):
        lengths = torch.randint(1, steps + 1, (batch,))
        lengths[0] = steps
        how["steps"] = lengths.sort(descending=True)[0] if how["packed"] == "sorted" else lengths.flip(0)
    u = torch.randn(*((batch, steps) if options.get("batch_first") else (steps, batch)), inputs).to(type_)
    rows = options.get("num_layers", 1) * (1 + options.get("bidirectional", False))
    features = [layer.output_size, hidden][: layer.states]
    hx = [torch.randn(rows, batch, size).to(type_) for size in features] if how.get("hx") else None
    y_shape = (*u.shape[:2], features[0] * layer.directions)
    weights = [torch.randn(y_shape).double(), *(torch.randn(rows, batch, size).double() for size in features)]
    exact = run(copy.deepcopy(reference).double(), u.double(), None if hx is None else [s.double() for s in hx], how, weights)
    allowed = max(4 * max(relative_errors(run(reference, u, hx, how, weights), exact).values()), 16 * UNIT[type_])
    errors = relative_errors(run(layer, u, hx, how, weights), exact)
    worst = max(errors, key=lambda name: errors[name])
    assert errors[worst] <= allowed, f"{worst}: {errors[worst]:.2e}, at most {allowed:.2e}"


def test_a_difference_is_found():
    """The comparison can fail: a weight that is off by a hundredth shows."""
    reference, layer = torch.nn.GRU(4, 8), KINDS["GRU"][1](4, 8)
    layer.load_state_dict(reference.state_dict())
    with torch.no_grad():
        layer.weight_hh_l0[0, 0] += 0.01
    u = torch.randn(5, 2, 4)
    weights = [torch.ones(5, 2, 8).double(), torch.ones(1, 2, 8).double()]
    exact = run(copy.deepcopy(reference).double(), u.double(), None, {}, weights)
    assert max(relative_errors(run(layer, u, None, {}, weights), exact).values()) > 1e-4
