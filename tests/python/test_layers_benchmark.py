"""benchmarks/layers.py measures the memory of a training step, here that of a CPU, and beside.py times layers that are right."""

import json
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch", reason="no PyTorch: its benchmark is not rehearsed")

from conftest import SOURCE

BENCHMARKS = SOURCE / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

import beside
import layers
import layers_peers
import layers_shapes
import layers_time
import rondo_program
from rondo._library import library_path

KIB = 1024


def test_bytes_at_the_peak_and_after():
    kept = []

    def run():
        first = torch.empty(30 * KIB, dtype=torch.uint8)
        kept.append(torch.empty(10 * KIB, dtype=torch.uint8))
        del first
        torch.empty(20 * KIB, dtype=torch.uint8)

    assert layers_time.memory_of(run, "cpu") == (40 * KIB, 10 * KIB)


def test_the_peak_may_be_in_either_pass():
    class Layer(torch.nn.Module):
        """Its backward pass needs `extra` bytes for a moment, and it keeps x and its result."""

        def __init__(self, extra):
            super().__init__()
            self.extra = extra

        def forward(self, x):
            result = x * x
            result.register_hook(lambda grad: torch.empty(self.extra, dtype=torch.uint8) is None or grad)
            return (result,)

    mib = 1 << 20
    u = torch.ones(mib // 4)
    small, large = (layers_time.Passes(Layer(extra), u, torch.ones_like(u)).memory("cpu") for extra in (0, 50 * mib))
    assert small["kept_MiB"] == large["kept_MiB"] == 1.0
    assert 2.0 <= small["peak_MiB"] <= 4.0
    assert 51.0 <= large["peak_MiB"] <= 54.0


def test_a_rehearsal_says_that_chunks_keep_less(tmp_path):
    record = tmp_path / "record.json"
    words = ["--device", "cpu", "--stages", "memory", "--only", "^rnn", "--threads", "2", "--out", record]
    done = subprocess.run([sys.executable, BENCHMARKS / "layers.py", library_path(), *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (found,) = json.loads(record.read_text())["memory"].values()
    assert all(one["right"] for one in found.values())
    chunked = [who for who in found if "chunk" in who]
    assert sorted(who.split()[0] for who in found if who not in chunked) == ["rondo", "rondo", "torch", "torch"]
    assert len(chunked) == 2
    for who in chunked:
        assert found[who]["kept_MiB"] < found[who.partition(" chunk")[0]]["kept_MiB"]


def test_the_same_layers_beside_each_other_are_right(tmp_path):
    """Recurrences alone too, of several heads, and JAX's loop where there is JAX."""
    record = tmp_path / "record.json"
    words = [
        "--device",
        "cpu",
        "--who",
        "^(rondo|jax) bf16",
        "--only",
        "^(gru.*alone|slstm)",
        "--threads",
        "2",
        "--out",
        record,
    ]
    done = subprocess.run([sys.executable, BENCHMARKS / "beside.py", library_path(), *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    found = {(row["layer"], who): one for row in json.loads(record.read_text())["rows"] for who, one in row["times"].items()}
    assert all(one["right"] for one in found.values()), found
    assert {("gru B=4 T=16 D=32 alone", "rondo bf16"), ("slstm B=4 T=16 D=32 heads=2 alone", "rondo bf16")} <= set(found)


def test_an_error_is_told_with_what_it_came_from():
    def captured():
        try:
            raise ValueError("it waits for the device")
        except ValueError:
            raise RuntimeError("the capture failed\nbefore " + "x" * 400)  # noqa: B904

    with pytest.raises(RuntimeError) as caught:
        captured()
    told = rondo_program.told(caught.value)
    assert told.startswith("RuntimeError: the capture failed before xxx")
    assert told.endswith("x; ValueError: it waits for the device")
    assert " ... " in told
    assert len(told) < 300
    assert rondo_program.told(KeyError("a")) == "KeyError: 'a'"


def test_what_cannot_be_captured_says_why_and_leaves_no_error_to_the_next(monkeypatch):
    asked = []

    def refused(run):
        run()
        raise RuntimeError("waits")

    monkeypatch.setattr(layers_time, "graph_of", refused)
    monkeypatch.setattr(layers_time, "drop_errors", asked.append)
    assert layers_time.graphed(lambda: None, "fw", "cuda", 5) == {"fw_not_captured": "RuntimeError: waits"}
    assert asked == ["cuda"]


def test_errors_that_threads_still_have_are_dropped(monkeypatch):
    """The first calls fail for what was before; a context that is lost fails for ever."""
    late = [RuntimeError("of a capture"), RuntimeError("of a capture"), None]

    def sync(device):
        if error := late.pop(0) if len(late) > 1 else late[0]:
            raise error

    monkeypatch.setattr(layers_time, "sync", sync)
    layers_time.drop_errors("cpu")
    assert late == [None]
    late[0] = RuntimeError("lost")
    with pytest.raises(RuntimeError, match="the CUDA context is lost"):
        layers_time.drop_errors("cpu")


def test_a_loop_rounds_the_sums_of_its_weights_gradients_and_nothing_else(monkeypatch):
    """In bf16, where each of many steps adds to a sum. The same loop that takes its weights in float32 has sums as good as all else."""
    # What PyTorch's own tests import freezes the flags that a contender sets, in whichever process imports it.
    monkeypatch.setitem(torch.backends.flags_frozen.__globals__, "__allow_nonbracketed_mutation_flag", True)
    layer = layers_shapes.Layer("lstm", 4, 768, 16)
    of = layers.Contenders("cpu")

    def found(who):
        passes, module, batch_first = of.passes_of(layer, who)
        return layers_shapes.errors_of(of.results(passes, module, batch_first), of.exact(layer))

    errors = found("loop bf16 graphed")
    judged = layers_shapes.judged(errors, None, "bf16", layer.T)
    assert not judged["right"]
    assert judged["rounded_sums"]
    assert "rounded_sums" not in layers_shapes.judged(errors, None, "bf16")
    assert "rounded_sums" not in layers_shapes.judged(errors | {"h": 0.1}, None, "bf16", layer.T)
    assert "rounded_sums" not in layers_shapes.judged(errors | {"weights": 0.2}, None, "bf16", layer.T)

    step = layers_shapes.STEPS["lstm"]
    narrow = (lambda x, state, R, b: step[0](x, state, R.bfloat16(), b.bfloat16()), step[1])
    module = layers_shapes.Loop(layer, layers_shapes.weights_of(layer), narrow[0])
    u, gradient = (one.transpose(0, 1).bfloat16() for one in layers_shapes.data_of(layer))
    module.weight_ih_l0.data, module.bias_ih_l0.data = module.weight_ih_l0.data.bfloat16(), module.bias_ih_l0.data.bfloat16()
    wide = layers_shapes.errors_of(of.results(layers_time.Passes(module, u, gradient), module, False), of.exact(layer))
    assert wide["h"] == errors["h"]
    assert layers_shapes.judged(wide, None, "bf16", layer.T) == {"errors": wide, "right": True}


@pytest.mark.parametrize("why", ["", "it runs on cpu"])
def test_jax_begins_when_no_graph_is_captured_any_more(monkeypatch, why):
    run = object.__new__(beside.Run)
    layer = layers_shapes.Layer("gru", 4, 16, 32)
    run.jobs = [(layer, who) for who in ("jax bf16", "loop bf16 graphed", "torch bf16")]
    done = []
    monkeypatch.setattr(beside.Run, "contend", lambda self, layer, who, need: done.append(who))
    monkeypatch.setattr(beside.Run, "finds_jax", lambda self: done.append("look for JAX") or not why)
    run.contend_all()
    assert done == ["torch bf16", "loop bf16 graphed", "look for JAX"] + ["jax bf16"] * (not why)


def test_a_peer_is_timed_in_the_types_that_it_has_of_a_layer():
    layer = layers_shapes.Layer("lstm", 4, 16, 32)
    assert layers_peers.named("Haste", layer) == ["Haste fp32", "Haste tf32"]
    assert layers_peers.named("Haste", layers_shapes.Layer("gru", 4, 16, 32)) == ["Haste tf32"]
    assert layers_peers.named("Haste", layers_shapes.Layer("slstm", 4, 16, 32)) == []
    assert layers_peers.named("FlashRNN-fused", layer) == []
    assert layers_peers.named("FlashRNN-fused", layers_shapes.Layer("lstm", 4, 16, 32, bare=True)) == ["FlashRNN-fused bf16"]
