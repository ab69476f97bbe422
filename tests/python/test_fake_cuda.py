"""Paths of CUDA without a GPU: plans of sm_90 are compiled and bound to host memory, and a stand-in for the driver launches
nothing. `rondo_launch` checks index, type, extents, strides, alignment and overlap of every tensor all the same."""

import os
import pathlib
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch", reason="no PyTorch: paths of CUDA are not tested")

import rondo
from rondo._torch import launch
from rondo._torch.types import device_of

FAKE = pathlib.Path(os.environ.get("RONDO_LIBRARY", "")).resolve().parent / "libfake_cuda.so"

RUN = """
import torch, rondo
from rondo._plans import Device
from rondo._torch import launch
import rondo._structs as s
launch.device_of = lambda ordinal: Device(s.DEVICE_CUDA, 0)
rondo.policy(choose="model", database=False)
for kind, save, dtype, batch_first in (
    ("LSTM", "states", torch.bfloat16, True), ("LSTM", "products", torch.float16, True),
    ("GRU", "states", torch.bfloat16, False), ("RNN", "states", torch.float32, True),
):
    layer = getattr(rondo.nn, kind)(32, 64, batch_first=batch_first, save=save).to(dtype)
    u = torch.zeros(*((4, 16) if batch_first else (16, 4)), 32, dtype=dtype)
    with torch.no_grad():
        layer(u)
    y, last = layer(u)
    (y.float().sum() + sum(s.float().sum() for s in (last if isinstance(last, tuple) else (last,)))).backward()
cell = rondo.Cell("mingru")
cell(torch.zeros(3, 9, 2, 2, 40, dtype=torch.bfloat16), lengths=[9, 3, 0], resets=torch.zeros(3, 9, dtype=torch.bool), reverse=True)
cell.step(torch.zeros(3, 2, 2, 40, dtype=torch.bfloat16))
rondo.check()
for plan in rondo.plans():
    assert plan.device.kind == s.DEVICE_CUDA, plan
print("plans", len(rondo.plans()), sorted({plan.strategy for plan in rondo.plans()}))
"""


@pytest.mark.skipif("RONDO_TEST_INSTALLED" in os.environ, reason="no stand-in for the driver is installed")
def test_layers_and_cells_bind_to_plans_of_a_gpu():
    assert FAKE.exists(), f"there is no {FAKE}: build the target fake_cuda beside librondo"
    environment = {**os.environ, "RONDO_LIBCUDA": str(FAKE), "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", RUN], env=environment, capture_output=True, text=True)
    assert done.stdout.startswith("plans 14 ["), done.stdout + done.stderr
    assert "persistent" in done.stdout and "stream" in done.stdout


def test_no_plan_is_made_while_a_stream_is_captured(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: True)
    structure = rondo.Cell("mingru")._plain
    with pytest.raises(rondo.RondoError, match=r"mingru: a plan for B=2, T=3 is not there yet.*rondo.prepare\(\)"):
        launch._may_make(structure, {"B": 2, "T": 3}, torch.device("cuda:0"))
    launch._may_make(structure, {"B": 2, "T": 3}, torch.device("cpu"))


def test_devices_have_librondos_numbers():
    from rondo import _structs as s

    assert device_of(-1) == (s.DEVICE_CPU, 0) and device_of(3) == (s.DEVICE_CUDA, 3)


def test_other_devices_are_refused():
    from rondo._torch.types import check_device

    with pytest.raises(rondo.InputError, match="x is on xpu:0 .Rondo computes on CPUs and CUDA GPUs"):
        check_device(torch.device("xpu:0"))
