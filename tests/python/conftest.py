"""Tests of the Python package. They run in three environments, each of which takes what it has: with PyTorch, with NumPy alone,
and with neither. `tests/python/run.py` finds one, and says what was left out. Where RONDO_TEST_TORCH or RONDO_TEST_JAX is set, as
it does for the environment with both, tests are not skipped for want of it: the run fails."""

import collections
import importlib
import os
import pathlib
import sys

import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
TURNS = 8  # so many commits in a row take all cases

# An installed package is tested as it is; else that of this tree, over the library of its build.
if not os.environ.get("RONDO_TEST_INSTALLED"):
    sys.path.insert(0, str(SOURCE / "python"))
    if "RONDO_LIBRARY" not in os.environ:
        os.environ["RONDO_LIBRARY"] = str(SOURCE / "build" / "release" / "librondo.so")
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
# What is shipped would be verified first, which takes longer than what is tested here.
os.environ.setdefault("RONDO_SHIPPED", "none")
# Beside others a process of pytest-xdist has one core: threads of OpenMP wait for each other by spinning, and with more of them
# than cores a test took ten times as long.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
# Two devices of JAX, over which tests spread arrays. XLA reads it once.
os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=2")


def pytest_configure(config):
    for variable, module in (("RONDO_TEST_TORCH", "torch"), ("RONDO_TEST_JAX", "jax")):
        if os.environ.get(variable):
            try:
                importlib.import_module(module)
            except ImportError as error:
                raise pytest.UsageError(
                    f"{variable} asks for {module}, which cannot be imported: {error}; run tools/setup python"
                ) from error
    config.addinivalue_line("markers", "long: repeats on a device what other tests do on the CPU; CI leaves it out")
    config.addinivalue_line("markers", "turns: of its many like cases every eighth is taken where RONDO_TURN says which")


def pytest_collection_modifyitems(config, items):
    """Leaves out the cases of tests marked `turns` whose turn it is not, as tests/support/turns.h does for those in C++."""
    turn = os.environ.get("RONDO_TURN")
    if not turn:
        return
    seen, waiting = collections.Counter(), []
    for item in items:
        if item.get_closest_marker("turns") is None:
            continue
        name = item.nodeid.split("[")[0]
        if (seen[name] + int(turn)) % TURNS:
            waiting.append(item)
        seen[name] += 1
    config.hook.pytest_deselected(items=waiting)
    left_out = set(waiting)
    items[:] = [item for item in items if item not in left_out]


@pytest.fixture(autouse=True, scope="session")
def database(tmp_path_factory):
    """A tuning database for this run, of all its processes, so that the user's own is left alone and a kernel is compiled once."""
    if "RONDO_DB" not in os.environ:
        base = tmp_path_factory.getbasetemp()  # a process of pytest-xdist has a folder in that of the run
        os.environ["RONDO_DB"] = str((base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "rondo.db")
    return os.environ["RONDO_DB"]


@pytest.fixture(autouse=True)
def same_draws(request):
    """Each test draws the same numbers, alone or among others."""
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(sum(map(ord, request.node.name)))


@pytest.fixture(autouse=True)
def policy_as_it_was():
    """A test that sets the policy does so for itself."""
    from rondo import _policy

    former = _policy.current()
    yield
    _policy._set(former)


@pytest.fixture(autouse=True)
def nothing_goes_on():
    """What a test had made behind its back is made when the next one begins, which may look at what it makes itself."""
    yield
    from rondo import _behind

    _behind.wait()
