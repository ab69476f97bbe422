"""Threads, forks and DataLoader."""

import os
import select
import threading

import pytest

torch = pytest.importorskip("torch", reason="no PyTorch: threads and processes are not tested")

import rondo

from parts import assert_equal, lstm_tensors, pair


def together(work, count):
    """Runs `work` in threads; an error in one of them is raised."""
    wrong = []

    def guarded():
        try:
            work()
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=guarded) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if wrong:
        raise wrong[0]


def test_threads_share_a_layer():
    _, layer = pair()
    u = torch.randn(3, 20, 8)

    def gradient():
        return torch.autograd.grad(layer(u)[0].square().sum(), layer.weight_hh_l0)[0]

    wanted = gradient()

    def work():
        for _ in range(10):
            assert torch.equal(gradient(), wanted)

    together(work, 8)


def test_threads_that_want_a_plan_wait_for_one():
    layer = rondo.nn.LSTM(8, 104, batch_first=True)
    before = len(rondo.plans())
    with torch.no_grad():
        pass

    def work():
        with torch.no_grad():
            layer(torch.randn(3, 20, 8))

    together(work, 4)
    assert len(rondo.plans()) == before + 1


def in_a_child(work):
    """What `work` says in a forked process, within 60 seconds."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(write, b"1" if work() else b"0")
        finally:
            os._exit(0)
    ready, _, _ = select.select([read], [], [], 60)
    answer = os.read(read, 1) if ready else b""
    if not ready:
        os.kill(child, 9)
    os.waitpid(child, 0)
    os.close(read)
    os.close(write)
    return answer == b"1"


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_computes_what_its_parent_did():
    cell = rondo.Cell("lstm")
    x, params = lstm_tensors()
    wanted = cell(x, params=params)[0]
    assert in_a_child(lambda: torch.equal(cell(x, params=params)[0], wanted))


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_makes_plans_of_its_own():
    """The parent's connection to the database is not the child's."""
    cell = rondo.Cell("mingru")
    cell(torch.randn(1, 3, 1, 2, 8))
    assert in_a_child(lambda: bool(cell(torch.randn(1, 3, 1, 2, 120))[0].isfinite().all()))


class Items(torch.utils.data.Dataset):
    def __init__(self, cell, x):
        self.cell, self.x = cell, x

    def __len__(self):
        return 8

    def __getitem__(self, place):
        return self.cell(self.x)[0][0]


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_workers_of_a_data_loader():
    cell, x = rondo.Cell("mingru"), torch.randn(1, 8, 1, 2, 16)
    wanted = cell(x)[0][0]
    for batch in torch.utils.data.DataLoader(Items(cell, x), batch_size=4, num_workers=2, timeout=60):
        assert_equal(batch[0], wanted)
