"""librondo_torch: that calls go through it, that they give what they give without it, and what it is linked with."""

import os
import pathlib
import subprocess
import sys
import threading

import pytest

torch = pytest.importorskip("torch", reason="no PyTorch: its shim is not tested")

import rondo
from rondo import _plans
from rondo._torch import call as torch_call
from rondo._torch import launch, shim

from conftest import SOURCE
from parts import assert_close, assert_equal, leaf, lstm_tensors
from test_structs import compare_structs
from through_shim import ENOUGH, check_shim, launches_of, needs_shim, training, without_shim


@pytest.fixture(autouse=True)
def model_alone():
    rondo.policy(choose="model", database=False)


# --- it is used, and gives the same ---


@needs_shim
@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize(
    ("dtype", "wide"),
    [
        (torch.float32, torch.float32),
        (torch.bfloat16, torch.float32),
        (torch.bfloat16, torch.bfloat16),  # as `module.to(torch.bfloat16)` makes all parameters
        (torch.float64, torch.float64),
    ],
)
def test_a_cell_through_the_shim(batch_first, dtype, wide, monkeypatch):
    cell = rondo.Cell("lstm")
    x, params = lstm_tensors()
    x = x.to(dtype).requires_grad_()
    params = {"R": params["R"].to(dtype).requires_grad_(), "b": params["b"].to(wide).requires_grad_()}

    def run():
        y, last = cell(x if batch_first else x.transpose(0, 1), params=params, batch_first=batch_first)
        return [y, *last.values()]

    def infer():
        with torch.no_grad():
            return run()

    check_shim(infer, 1, monkeypatch)
    check_shim(training(run, [x, *params.values()]), 2, monkeypatch)


@needs_shim
def test_lengths_resets_and_initial_states_through_the_shim(monkeypatch):
    cell = rondo.Cell("mingru")
    x, h = leaf(3, 5, 1, 2, 16), leaf(3, 1, 16)
    lengths, resets = torch.tensor([5, 2, 0], dtype=torch.int32), torch.zeros(3, 5, dtype=torch.uint8)
    resets[0, 2] = 1

    def run():
        y, last = cell(x, initial={"h": h}, lengths=lengths, resets=resets, reverse=True)
        return [y, *last.values()]

    check_shim(training(run, [x, h]), 2, monkeypatch)


@needs_shim
def test_steps_through_the_shim(monkeypatch):
    cell = rondo.Cell("lstm")
    x, params = lstm_tensors(steps=1)

    def run():
        state = {"h": torch.ones(3, 1, 16), "c": torch.ones(3, 1, 16)}
        y, state = cell.step(x[:, 0], state, params=params)
        return [y, *state.values()]

    check_shim(run, 1, monkeypatch)
    with monkeypatch.context() as patch:
        patch.setattr(torch_call, "Arguments", None)  # what is known is checked no more
        run()
    single = {"h": torch.ones(3, 16), "c": torch.ones(3, 16)}
    headless = {name: tensor.squeeze(0) for name, tensor in params.items()}
    for _ in range(ENOUGH):
        kept = {name: tensor.clone() for name, tensor in single.items()}
        count, (y, after) = launches_of(lambda kept=kept: cell.step(x[:, 0, 0], kept, params=headless))
        assert after is kept
        assert_equal(y, run()[0].squeeze(1))
    assert count == 1
    with pytest.raises(rondo.InputError, match=r"h is bfloat16|state.*bfloat16"):
        cell.step(x[:, 0, 0], {**single, "h": single["h"].bfloat16()}, params=headless)
    with pytest.raises(rondo.NotDifferentiableError):
        cell.step(x[:, 0, 0].clone().requires_grad_(), single, params=headless)


@needs_shim
@pytest.mark.parametrize("batch_first", [True, False])
def test_a_cell_that_the_shim_knows_is_checked_no_more(batch_first, monkeypatch):
    """Without a derivative, whichever axes and states the caller leaves out."""
    cell = rondo.Cell("lstm")
    x, params = lstm_tensors()
    first = {"c": torch.randn(3, 1, 16)}
    whole = (x if batch_first else x.transpose(0, 1), params, first)
    single = (whole[0].squeeze(2), {name: tensor.squeeze(0) for name, tensor in params.items()}, {"c": first["c"].squeeze(1)})
    lengths = torch.tensor([5, 2, 0], dtype=torch.int32)
    resets = torch.zeros(3, 5, dtype=torch.uint8)
    flags = {"lengths": lengths, "resets": resets if batch_first else resets.t()}
    for x, params, initial in (whole, single):

        def run(x=x, params=params, initial=initial):
            y, last = cell(x, params=params, initial=initial, batch_first=batch_first, **flags)
            assert list(last) == ["h", "c"]
            return [y, *last.values()]

        check_shim(run, 1, monkeypatch)
        with monkeypatch.context() as patch:
            patch.setattr(torch_call, "Arguments", None)
            run()


@needs_shim
def test_axes_in_another_order_are_another_call():
    cell = rondo.Cell("mingru")
    x = torch.randn(3, 3, 1, 2, 16)
    wanted = cell(x.transpose(0, 1))[0].transpose(0, 1)
    for batch_first in (True, False):
        for _ in range(ENOUGH):
            found = cell(x, batch_first=batch_first)[0]
    assert_equal(found, wanted)


# --- what is not plainly right goes the other way ---


@needs_shim
def test_a_cell_that_the_shim_knows_refuses_what_it_refused():
    cell, bare = rondo.Cell("lstm"), rondo.Cell("mingru")
    x, params = lstm_tensors()
    z = torch.randn(3, 5, 1, 2, 16)
    for _ in range(ENOUGH):
        cell(x, params=params)
        bare(z)
    first = torch.zeros(3, 1, 16)
    for run in (
        lambda: cell(x, params={**params, "q": first}),
        lambda: cell(x, params={"R": params["R"]}),
        lambda: cell(x, params={"R": params["R"], "b": None}),
        lambda: cell(x, params=params, initial={"q": first}),
        lambda: bare(z, params={"R": first}),
        lambda: bare({"x": z, "y": z}),
    ):
        with pytest.raises(rondo.InputError):
            run()


@needs_shim
def test_derivatives_of_a_cell_that_the_shim_knows():
    cell = rondo.Cell("mingru")
    x = torch.randn(3, 5, 1, 2, 16)
    for _ in range(ENOUGH):
        wanted = cell(x)[0]
    assert_equal(torch.func.vmap(lambda one: cell(one[None])[0][0])(x), wanted)
    _, tangent = torch.func.jvp(lambda x: cell(x)[0], (x,), (torch.ones_like(x),))
    with torch.no_grad(), torch.autograd.forward_ad.dual_level():
        dual = cell(torch.autograd.forward_ad.make_dual(x, torch.ones_like(x)))[0]
        assert_equal(torch.autograd.forward_ad.unpack_dual(dual).tangent, tangent)
    assert torch.func.grad(lambda x: cell(x)[0].sum())(x).abs().sum() > 0
    assert cell(x.clone().requires_grad_())[0].grad_fn is not None


@needs_shim
def test_other_layouts_are_other_calls():
    cell = rondo.Cell("lstm")
    x, params = lstm_tensors()

    def run(x, **changed):
        with torch.no_grad():
            return cell(x, params={**params, **changed})[0]

    wanted = run(x)
    wide = torch.randn(3, 5, 1, 8, 16)
    wide[:, :, :, 2:6] = x
    crossed = params["R"].transpose(-1, -2).contiguous().transpose(-1, -2)
    for _ in range(ENOUGH):
        assert_equal(run(x), wanted)
        assert_equal(run(wide[:, :, :, 2:6]), wanted)
        assert_equal(run(x, R=crossed), wanted)
    assert launches_of(lambda: run(x))[0] == 1
    assert launches_of(lambda: run(wide[:, :, :, 2:6]))[0] == 1
    assert launches_of(lambda: run(x, R=crossed))[0] == 0
    assert launches_of(lambda: run(x[:2]))[0] == 0  # never seen


@needs_shim
def test_an_address_that_is_not_aligned_is_copied():
    launch.forget_calls()
    cell = rondo.Cell("mingru")
    x = torch.randn(3, 5, 1, 2, 16)
    wanted = cell(x)[0]
    for call in launch._calls.values():  # the CPU's plans want no more than an element's size
        call.taken = [taken and taken._replace(alignment=64) for taken in call.taken]
    for _ in range(ENOUGH):
        cell(x)
    assert launches_of(lambda: cell(x))[0] == 1
    shifted = torch.empty(x.numel() + 1)[1:].view(x.shape)
    shifted.copy_(x)
    count, found = launches_of(lambda: cell(shifted)[0])
    assert count == 0
    assert_equal(found, wanted)


@needs_shim
def test_messages_stay(monkeypatch):
    cell = rondo.Cell("lstm")
    x, params = lstm_tensors()
    for _ in range(ENOUGH):
        cell(x, params=params)

    def said(run):
        with pytest.raises(rondo.RondoError) as caught:
            run()
        return type(caught.value), str(caught.value)

    wrong = {**params, "b": torch.zeros(1, 4, 17)}
    for run in (lambda: cell(x, params=wrong), lambda: cell(x.to(torch.int32), params=params)):
        assert said(run) == without_shim(lambda run=run: said(run), monkeypatch)


@needs_shim
def test_classes_and_modes_see_the_operators():
    """The shim stands behind the operators, never in their place where something looks at them."""
    from torch.utils._python_dispatch import TorchDispatchMode

    seen = []

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            seen.append(str(function))
            return function(*args, **(kwargs or {}))

    cell = rondo.Cell("lstm")
    x, params = lstm_tensors()
    for _ in range(ENOUGH):
        cell(x, params=params)
    with Watch(), torch.no_grad():
        cell(x, params=params)
        rondo.nn.LSTM(8, 16)(torch.randn(5, 3, 8))
    assert seen.count("rondo.forward.default") == 2 and "rondo.launch_known.default" not in seen


@needs_shim
@pytest.mark.filterwarnings(
    "ignore::torch.jit.TracerWarning", "ignore:.torch.jit:DeprecationWarning", "ignore:.torch.jit:FutureWarning"
)
def test_a_trace_has_the_operators():
    """The shim's are of this process alone."""
    cell, layer = rondo.Cell("lstm"), rondo.nn.LSTM(8, 16).requires_grad_(False)
    x, params = lstm_tensors()
    u = torch.randn(5, 3, 8)

    def run(x, u):
        return cell(x, params=params)[0], layer(u)[0]

    for _ in range(ENOUGH):
        wanted = run(x, u)
    traced = torch.jit.trace(run, (x, u))
    assert str(traced.graph).count("rondo::forward") == 2
    for one, other in zip(traced(x, u), wanted, strict=True):
        assert_close(one, other, 1e-6)


# --- plans that are replaced, threads, fork ---


@needs_shim
def test_plans_that_are_replaced_are_forgotten():
    cell = rondo.Cell("lstm")
    x, params = lstm_tensors()

    def run():
        return cell(x, params=params)[0]

    for _ in range(ENOUGH):
        run()
    assert launches_of(run)[0] == 1
    _plans._forget()
    assert launches_of(run)[0] == 0
    for _ in range(ENOUGH):
        run()
    assert launches_of(run)[0] == 1


@needs_shim
def test_a_call_that_outlives_its_plan_is_not_told(monkeypatch):
    """Another thread replaces plans while a call of one of them is about to tell the shim."""
    cell = rondo.Cell("lstm")
    x, params = lstm_tensors()
    may_be_told = launch.Call.may_be_told

    def meanwhile(call, tensors):
        may = may_be_told(call, tensors)
        _plans._forget()
        return may

    _plans._forget()
    cell(x, params=params)
    with monkeypatch.context() as patch:
        patch.setattr(launch.Call, "may_be_told", meanwhile)
        cell(x, params=params)
    assert launches_of(lambda: cell(x, params=params))[0] == 0


@needs_shim
def test_threads_launch_side_by_side():
    cell = rondo.Cell("lstm")
    wrong = []

    def work(number):
        x, params = lstm_tensors(steps=2 + number)
        wanted = cell(x, params=params)[0]
        for _ in range(200):
            if not torch.equal(cell(x, params=params)[0], wanted):
                wrong.append(number)
            if number == 0:
                _plans._forget()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


FORK = """
import os, threading, torch, rondo
from rondo._torch import launch
rondo.policy(choose="model", database=False)
torch.set_num_threads(1)
cell, x = rondo.Cell("mingru"), torch.randn(3, 5, 1, 2, 16)
wanted = cell(x)[0]
end = threading.Event()
def work():
    while not end.is_set():
        cell(x)
threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads: thread.start()
statuses = []
for _ in range(8):
    child = os.fork()
    if child == 0:
        launch.forget_calls()
        os._exit(0 if all(torch.equal(cell(x)[0], wanted) for _ in range(4)) else 3)
    statuses.append(os.waitpid(child, 0)[1])
end.set()
for thread in threads: thread.join()
print("children", set(statuses))
"""


def start(text, **changed):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **changed}
    done = subprocess.run([sys.executable, "-c", text], env=environment, capture_output=True, text=True, timeout=120)
    return done.stdout + done.stderr


def test_children_of_a_fork_launch():
    assert "children {0}" in start(FORK)


# --- the library ---


SAID = "import rondo; rondo.Cell('lstm'); from rondo._torch.shim import SHIM; print('shim', SHIM and SHIM.path)"


def test_it_is_left_out_on_request():
    assert "shim None" in start(SAID, RONDO_TORCH_SHIM="none")


def test_a_shim_that_is_not_there_is_said():
    said = start(SAID, RONDO_TORCH_SHIM="/nowhere/librondo_torch.so")
    assert "MissingError: RONDO_TORCH_SHIM names '/nowhere/librondo_torch.so', which cannot be used" in said
    assert "(name librondo_torch.so, or 'none')" in said


@needs_shim
def test_sites_that_are_wrong_are_refused():
    def site(**changed):
        given = (shim.rondo_torch_given * 1)()
        given[0].alignment = 4
        values = {"plan": 8, "launch": 8, "given": shim.c.addressof(given), "given_count": 1, **changed}
        made = shim.s.sized(shim.rondo_torch_site, **values)
        made.keep = given
        return made, given

    cases = [(site(), "a rank", "rank", 7), (site(), "a place", "place", 0), (site(), "an alignment", "alignment", 0)]
    for (made, given), what, field, value in cases:
        target = given[0].layout if field == "rank" else given[0]
        setattr(target, field, value)
        assert not shim.SHIM.add(made), what
    for changed in ({"plan": None}, {"launch": None}, {"given_count": 0}, {"given_count": 1000}, {"tensor_count": 1000}):
        assert not shim.SHIM.add(site(**changed)[0]), changed
    other = site()[0]
    other.struct_size += 8
    assert not shim.SHIM.add(other)


def test_structs_are_those_of_the_header(tmp_path):
    compare_structs(tmp_path, shim.STRUCTS, SOURCE / "python/shim/interface.h")


@needs_shim
def test_nothing_of_libtorch_but_its_stable_functions():
    library = shim.SHIM.path
    read = subprocess.run(["readelf", "-dW", library], check=True, capture_output=True, text=True).stdout
    needed = {line.split("[")[1].rstrip("]") for line in read.splitlines() if "(NEEDED)" in line}
    assert "libtorch_cpu.so" in needed
    assert needed <= {"libtorch_cpu.so", "libstdc++.so.6", "libgcc_s.so.1", "libc.so.6", "ld-linux-x86-64.so.2"}
    assert "PATH)" not in read
    command = ["nm", "-D", "--undefined-only", library]
    symbols = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\n")
    names = [line.split()[-1] for line in symbols if line.split()[:1] == ["U"]]
    of_torch = [name for name in names if "@" not in name]  # those of the C and C++ runtimes have versions
    assert len(of_torch) > 10
    assert all(name.startswith(("aoti_torch_", "torch_")) for name in of_torch), of_torch
    assert not any("c10" in name or "at6Tensor" in name for name in names)
    assert pathlib.Path(library).stat().st_size < 100_000
