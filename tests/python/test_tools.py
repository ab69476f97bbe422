"""policy, replace, prepare, tune, plans, remarks and warnings."""

import dataclasses
import logging
import re
import subprocess
import sys
import threading
import warnings

import pytest

torch = pytest.importorskip("torch", reason="no PyTorch: replace, prepare and tune are not tested")

import rondo
from rondo import _behind, _plans, _remarks
from rondo import _structs as s
from rondo._library import library_path
from rondo._torch import launch
from rondo._tune import seconds_of

from parts import assert_close


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = torch.nn.LSTM(8, 16, num_layers=2, bidirectional=True, dropout=0.5)
        self.blocks = torch.nn.ModuleList([torch.nn.GRU(32, 16, bias=False), torch.nn.RNN(16, 16, nonlinearity="relu")])
        self.shared = self.blocks[1]
        self.cell = torch.nn.LSTMCell(16, 16)
        self.head = torch.nn.Linear(16, 3)

    def forward(self, u):
        u = self.lstm(u)[0]
        for block in self.blocks:
            u = block(u)[0]
        return self.head(self.shared(u)[0])


def test_replace_keeps_the_numbers_and_the_parameters():
    model = Model().eval()
    u = torch.randn(5, 3, 8)
    wanted, parameters, names = model(u), dict(model.named_parameters()), list(model.state_dict())
    report = rondo.replace(model)
    assert report.model is model and report.replaced == ["lstm", "blocks.0", "blocks.1"]
    assert isinstance(model.lstm, rondo.nn.LSTM) and model.shared is model.blocks[1] and not model.lstm.training
    assert model.lstm.dropout == 0.5
    assert list(model.state_dict()) == names
    assert all(weight is parameters[name] for name, weight in model.named_parameters())
    assert_close(model(u), wanted)
    assert "left cell (LSTMCell): it computes one step; rondo.Cell has step()" in str(report)


def derived():
    class Mine(torch.nn.LSTM):
        pass

    return Mine(8, 16)


def hooked():
    layer = torch.nn.GRU(8, 16)
    layer.register_forward_hook(lambda *_: None)
    return layer


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (derived, "its class is derived from torch.nn's"),
        (hooked, "it has hooks"),
        (lambda: torch.nn.GRU(8, 16).to(torch.complex64), "its parameters are complex64 on cpu"),
        (lambda: torch.nn.GRUCell(8, 16), "it computes one step"),
    ],
)
def test_replace_says_what_it_left(make, why):
    layer = make()
    report = rondo.replace(torch.nn.Sequential(layer))
    assert report.model[0] is layer and not report.replaced
    assert report.left[0].why.startswith(why) and report.left[0].name == "0"


def test_replace_of_a_layer_itself():
    report = rondo.replace(torch.nn.LSTM(8, 16))
    assert isinstance(report.model, rondo.nn.LSTM) and str(report) == "1 replaced: the model"


def test_prepare_makes_what_a_run_wants():
    layer = rondo.nn.LSTM(8, 24, bidirectional=True)
    ready = rondo.prepare(layer, [(5, 7), (6, 8)], progress=False)
    assert sorted(plan.pass_ for plan in ready) == sorted(["fw", "fws", "bw"] * 2)
    assert all(plan.heads == 2 for plan in ready)  # both directions
    before = len(rondo.plans())
    layer(torch.randn(7, 5, 8))[0].sum().backward()
    with torch.no_grad():
        layer(torch.randn(8, 6, 8))
    assert len(rondo.plans()) == before


def test_prepare_of_a_module_in_evaluation():
    layer = torch.nn.Sequential(rondo.nn.MinGRU(8, 48, heads=2)).eval()
    (plan,) = rondo.prepare(layer, [(3, 9)], progress=False)
    assert (plan.cell, plan.pass_, plan.heads, plan.dim, plan.batch, plan.time) == ("mingru", "fw", 2, 24, 3, 9)


def test_prepare_can_choose_what_is_saved():
    layer = rondo.nn.LSTM(8, 24)
    rondo.prepare(layer, [(5, 7)], choose_save=True, progress=False)
    assert layer.cell.save in ("states", "products")
    layer(torch.randn(7, 5, 8))[0].sum().backward()


def test_prepare_of_a_cell():
    (plan,) = rondo.prepare(rondo.Cell("mingru"), [(3, 9, 1, 40)], training=False, progress=False)
    assert (plan.heads, plan.dim) == (1, 40)


def test_tune_is_taken_by_later_calls():
    cell = rondo.Cell("mingru")
    (plan,) = rondo.tune(cell, [(2, 33, 1, 16)], budget="3s", training=False, progress=False)
    assert plan.origin == "tuned" and plan.verified and plan.expected_ms > 0
    before = len(rondo.plans())
    cell(torch.randn(2, 33, 1, 2, 16))
    assert len(rondo.plans()) == before
    assert any(plan.origin == "tuned" for plan in rondo.plans())


def test_tune_takes_data_where_random_numbers_leave_the_domain():
    text = "cell grows(D) {\n input x[D]\n state h[D] = 1\n next h = h * (40 + x)\n output h\n}"
    cell, shape, how = rondo.Cell(text), (2, 64, 1, 16), dict(budget="2s", training=False, progress=False)
    with pytest.raises(rondo.InputError, match="of the reference is"):
        rondo.tune(cell, [shape], **how)
    (plan,) = rondo.tune(cell, [shape], data={"x": torch.rand(2, 8, 1, 16) - 39.5}, **how)
    assert plan.origin == "tuned" and plan.verified
    with pytest.raises(rondo.InputError, match="no input, parameter or state 'y'"):
        rondo.tune(cell, [shape], data={"y": torch.zeros(1)}, **how)


def test_an_interrupt_ends_a_tune(monkeypatch):
    """It comes while C calls back, from where nothing can be thrown."""
    from rondo import _progress

    def pressed(self, words):
        raise KeyboardInterrupt

    monkeypatch.setattr(_progress.Bar, "say", pressed)
    with pytest.raises(KeyboardInterrupt):
        rondo.tune(rondo.Cell("mingru"), [(2, 65, 1, 16)], budget=30, training=False, progress=False)


@pytest.mark.parametrize(("budget", "seconds"), [("90s", 90), ("1.5m", 90), ("2h", 7200), (3, 3), ("4", 4)])
def test_budgets(budget, seconds):
    assert seconds_of(budget) == seconds


def test_a_plan_is_not_made_while_a_stream_is_captured(monkeypatch):
    """Of what a GPU does, this is the answer alone; tests/python/gpu captures."""
    structure, sizes = rondo.Cell("lstm")._plain, {"B": 3, "T": 20}
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: True)
    launch._may_make(structure, sizes, torch.device("cpu"))
    with pytest.raises(
        rondo.RondoError, match="B=3, T=20 is not there yet, and the stream is being captured.*before the capture"
    ):
        launch._may_make(structure, sizes, torch.device("cuda", 0))
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: False)
    launch._may_make(structure, sizes, torch.device("cuda", 0))


def test_policy_holds_for_a_block():
    assert rondo.policy().policy.choose == "default"
    with rondo.policy(choose="model", database=False) as made:
        assert (made.choose, made.database) == ("model", None)
        assert rondo.policy().policy == made
    assert rondo.policy().policy == rondo.Policy()


def plans_of(dim):
    """How many there are of mingru. Those of a backward pass that another test's forward pass began may come at any time."""
    return sum(plan.cell == "mingru" and plan.dim == dim for plan in rondo.plans())


def test_another_policy_makes_other_plans(tmp_path):
    cell, x = rondo.Cell("mingru"), torch.randn(2, 3, 1, 2, 24)
    cell(x)
    before = plans_of(24)
    with rondo.policy(choose="model", database=tmp_path / "other.db"):
        cell(x)
        cell(x)
        assert plans_of(24) == before + 1 and (tmp_path / "other.db").exists()
    cell(x)
    assert plans_of(24) == before + 1


def test_only_what_is_recorded():
    with rondo.policy(choose="recorded"), pytest.raises(rondo.MissingError, match="mingru, forward: "):
        rondo.Cell("mingru")(torch.randn(2, 3, 1, 2, 72))


def test_a_lock_pins(tmp_path):
    with rondo.policy(lock=tmp_path / "rondo.lock"), pytest.raises(rondo.RondoError, match=r"rondo\.lock"):
        rondo.Cell("mingru")(torch.randn(2, 3, 1, 2, 72))


def test_a_database_that_cannot_be_opened_is_an_error(tmp_path):
    path = tmp_path / "no.db"
    path.write_text("this is no database, and never was one" * 100)
    with rondo.policy(database=path), pytest.raises(rondo.DatabaseError):
        rondo.Cell("mingru")(torch.randn(2, 3, 1, 2, 72))


def test_without_the_users_own_database_work_goes_on(monkeypatch):
    def refused(path):
        raise rondo.DatabaseError("nothing can be written")

    monkeypatch.setattr(_plans.library(), "database", refused)
    monkeypatch.setattr(_remarks, "_said", set())
    with rondo.policy(choose="model"), pytest.warns(rondo.PerformanceWarning, match="no tuning database: nothing can"):
        y, _ = rondo.Cell("mingru")(torch.ones(2, 3, 1, 2, 72))
    assert y.isfinite().all()


def test_the_reference_warns_once(monkeypatch):
    monkeypatch.setattr(_remarks, "_said", set())
    code = """
import warnings, torch, rondo
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for size in (8, 16):
        rondo.Cell("mingru")(torch.zeros(1, 2, 1, 2, size))
print([str(w.message) for w in caught if issubclass(w.category, rondo.PerformanceWarning)])
"""
    import os

    environment = {**os.environ, "RONDO_LLVM": "none", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    said = eval(done.stdout)
    assert len(said) == 1 and "cell mingru is computed by the reference" in said[0] and "rondo-rnn[llvm]" in said[0]


def test_remarks_are_logged(caplog):
    with caplog.at_level(logging.INFO, "rondo"):
        rondo.Cell("mingru")(torch.randn(3, 3, 1, 2, 56))
    assert "mingru, forward, B=3 T=3 H=1 D=56 fp32: host" in caplog.text
    _remarks.remark(0, "a note of librondo")


def test_plans_say_what_they_are():
    rondo.Cell("gru")(torch.zeros(2, 3, 3, 16), params={"R": torch.zeros(3, 16, 16), "b": torch.zeros(3, 16)})
    plan = next(plan for plan in rondo.plans() if plan.cell == "gru" and plan.dim == 16)
    assert plan.device.kind == s.DEVICE_CPU and plan.seconds > 0 and plan.note
    rondo.check()


def test_one_plan_serves_a_range_of_sizes():
    cell = rondo.Cell("mingru")
    cell(torch.randn(5, 9, 1, 2, 88))
    before = plans_of(88)
    cell(torch.randn(8, 16, 1, 2, 88))
    assert plans_of(88) == before
    cell(torch.randn(8, 17, 1, 2, 88))
    assert plans_of(88) == before + 1


LAYER = rondo.nn.LSTM(8, 16)
WRONG = {
    "replace": (lambda: rondo.replace(3), "replace: model is int"),
    "prepare nothing": (lambda: rondo.prepare(3, [(1, 1)]), "prepare: int is neither a module nor a rondo.Cell"),
    "prepare of torch.nn": (
        lambda: rondo.prepare(torch.nn.LSTM(8, 16), [(1, 1)]),
        r"prepare: no layer of rondo.nn is in LSTM .rondo.replace\(\) puts them there",
    ),
    "no shape": (lambda: rondo.prepare(LAYER, []), r"prepare: shapes is empty .give at least one \(B, T\)"),
    "a shape of one number": (lambda: rondo.prepare(LAYER, [(3,)]), r"\(3,\) in shapes .give \(B, T\)"),
    "a number": (lambda: rondo.prepare(LAYER, [3]), r"3 in shapes"),
    "a shape of zero": (
        lambda: rondo.tune(LAYER, [(0, 3)]),
        r"tune: \(0, 3\) in shapes .give \(B, T\), whole numbers from 1",
    ),
    "a cell's shape": (lambda: rondo.prepare(rondo.Cell("lstm"), [(1, 1)]), r"give \(B, T, H, D\)"),
    "budget": (lambda: rondo.tune(LAYER, [(1, 1)], budget="soon"), "tune: budget is 'soon' .give seconds, or a text"),
    "budget of nothing": (lambda: rondo.tune(LAYER, [(1, 1)], budget=0), "tune: budget is 0"),
    "workers": (lambda: rondo.tune(LAYER, [(1, 1)], workers=-1), "tune: workers is -1"),
    "data": (lambda: rondo.tune(LAYER, [(1, 1)], data={"x": 3}), r"tune: data\['x'\] is int .give a tensor"),
    "choose": (
        lambda: rondo.policy(choose="best"),
        "choose='best' is not known .it is one of default, recorded, model",
    ),
    "choose tune": (lambda: rondo.policy(choose="tune"), r"choose='tune' is not known .rondo.tune\(\) measures"),
    "verify": (lambda: rondo.policy(verify="no"), "verify='no' is not known .it is one of strict, background, trust"),
    "a database without a name": (lambda: rondo.policy(database=True), "database=True names no file .give a path, or False"),
    "a lock without a name": (lambda: rondo.policy(lock=True), "lock=True names no file"),
    "model and lock": (lambda: rondo.policy(choose="model", lock="x"), "the file pins the choice"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_use_is_told(case):
    wrong, message = WRONG[case]
    with pytest.raises(rondo.InputError, match=message):
        wrong()


def _claim(tmp_path):
    """A database that holds a choice without a proof, as an import leaves it."""
    cell, shape = rondo.Cell("mingru"), (2, 5, 1, 104)
    tuned, claimed = tmp_path / "tuned.db", tmp_path / "claimed.db"
    with rondo.policy(database=tuned):
        rondo.tune(cell, [shape], budget=1, training=False, progress=False)
    program, told = library_path().resolve().parent / "rondo", tmp_path / "told.json"
    done = subprocess.run([program, "db", "export", "--db", tuned], check=True, capture_output=True, text=True)
    told.write_text(done.stdout)
    subprocess.run([program, "db", "import", told, "--db", claimed], check=True, capture_output=True)
    return claimed, lambda: cell(torch.randn(2, 5, 1, 2, 104))


def _plan_of_104():
    return next(plan for plan in reversed(rondo.plans()) if plan.dim == 104 and plan.pass_ == "fw")


def test_a_record_is_used_while_it_is_verified(tmp_path):
    claimed, run = _claim(tmp_path)
    with rondo.policy(database=claimed, verify="trust"):
        run()
        assert not _plan_of_104().verified and _plan_of_104().origin == "recorded elsewhere"
    with rondo.policy(database=claimed, verify="background"):
        run()
        _behind.wait()
        assert _plan_of_104().verified and _plan_of_104().origin == "tuned"
        rondo.check()
    with rondo.policy(database=claimed):
        run()
        assert _plan_of_104().verified


def test_what_is_found_wrong_behind_is_replaced_warned_of_and_raised(tmp_path, monkeypatch):
    claimed, run = _claim(tmp_path)
    make = _plans._make

    def wrong(request, policy, tuning=None):
        if policy.verify == "strict" and request.dim == 104:
            raise rondo.WrongResultError("all that was tried is wrong")
        return make(request, policy, tuning)

    monkeypatch.setattr(_plans, "_make", wrong)
    with warnings.catch_warnings(record=True) as said, rondo.policy(database=claimed, verify="background"):
        warnings.simplefilter("always")
        run()
        _behind.wait()
    assert any("was used before it was verified, and is wrong" in str(one.message) for one in said)
    with pytest.raises(rondo.WrongResultError, match="mingru, forward, by host .* is wrong: all that was tried is wrong"):
        rondo.check()
    rondo.check()  # said once


def test_another_kernel_takes_the_place_of_a_wrong_one(tmp_path, monkeypatch):
    claimed, run = _claim(tmp_path)
    make = _plans._make

    def other(request, policy, tuning=None):
        if policy.verify == "strict":
            policy = rondo.Policy(choose="model", database=None)
        plan = make(request, policy, tuning)
        if policy.choose == "model":
            plan.info = dataclasses.replace(plan.info, parameters="another")
        return plan

    monkeypatch.setattr(_plans, "_make", other)
    with warnings.catch_warnings(), rondo.policy(database=claimed, verify="background"):
        warnings.simplefilter("ignore")
        run()
        _behind.wait()
        assert _plan_of_104().parameters == "another"
        run()
        assert launch._calls, "calls of the new plan are remembered again"
    with pytest.raises(rondo.WrongResultError, match="another kernel was found right"):
        rondo.check()


def test_a_proof_that_cannot_be_made_is_told(tmp_path, monkeypatch, caplog):
    claimed, run = _claim(tmp_path)
    make = _plans._make

    def busy(request, policy, tuning=None):
        if policy.verify == "strict" and request.dim == 104:
            raise rondo.DeviceError("the device is busy")
        return make(request, policy, tuning)

    monkeypatch.setattr(_plans, "_make", busy)
    with caplog.at_level(logging.WARNING, "rondo"), rondo.policy(database=claimed, verify="background"):
        run()
        _behind.wait()
    assert re.search("mingru, forward, by host .* could not be verified: the device is busy", caplog.text)
    rondo.check()  # nothing is known to be wrong


def test_a_plan_that_needs_what_nothing_gives_is_told(monkeypatch):
    """As one of a later librondo may be, whose passes have further tensors."""
    make = _plans._make

    def further(request, policy, tuning=None):
        plan = make(request, policy, tuning)
        plan.tensors["peephole"] = plan.tensors["x"]
        return plan

    monkeypatch.setattr(_plans, "_make", further)
    with pytest.raises(rondo.RondoError, match="mingru: the plan needs peephole, which nothing gives"):
        rondo.Cell("mingru")(torch.randn(2, 5, 1, 2, 72))


def test_the_backward_pass_is_made_beside_the_forward_pass(monkeypatch):
    made, together = [], threading.Barrier(2, timeout=60)
    make = _plans._make

    def noted(request, policy, tuning=None):
        if request.dim == 56:
            made.append(request.pass_)
            together.wait()  # breaks where one waits for the other
        return make(request, policy, tuning)

    monkeypatch.setattr(_plans, "_make", noted)
    x = torch.randn(2, 5, 1, 2, 56, requires_grad=True)
    rondo.Cell("mingru")(x)[0].sum().backward()
    assert sorted(made) == [s.PASS_FORWARD_SAVE, s.PASS_BACKWARD]


def test_no_warning_in_common_use():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rondo.nn.GRU(8, 16)(torch.randn(5, 3, 8))[0].sum().backward()
