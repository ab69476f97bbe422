"""Times for benchmarks/layers.py and beside.py: of calls on the device, of CUDA graphs, of the host, and peaks of memory."""
import statistics
import time

import torch

from rondo_program import told


def sync(device):
    if device == "cuda":
        torch.cuda.synchronize()


def median_ms(run, device, seconds=0.2, least=5, most=50):
    """Of single calls, each between two events."""
    for _ in range(2):
        run()
    sync(device)
    begin = time.perf_counter()
    run()
    sync(device)
    count = int(min(most, max(least, seconds / max(time.perf_counter() - begin, 1e-6))))
    if device != "cuda":
        return statistics.median(1e3 * timed(run) for _ in range(least))
    marks = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in range(count)]
    for first, last in marks:
        first.record()
        run()
        last.record()
    torch.cuda.synchronize()
    return statistics.median(first.elapsed_time(last) for first, last in marks)


def timed(run):
    begin = time.perf_counter()
    run()
    return time.perf_counter() - begin


def memory_of(run, device):
    """Bytes beyond what PyTorch's allocator had given out before: at most while `run` ran, and after it."""
    if device == "cuda":
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        run()
        torch.cuda.synchronize()
        return torch.cuda.max_memory_allocated() - before, torch.cuda.memory_allocated() - before
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as seen:
        run()
    now = most = 0
    events = [event for event in seen.profiler.kineto_results.events() if event.name() == "[memory]"]
    for event in sorted(events, key=lambda event: event.start_ns()):
        now += event.nbytes()
        most = max(most, now)
    return most, now


def graph_of(run, warm=2):
    """A CUDA graph of a call."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(warm):
            run()
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    return graph


def graphed(run, key, device, least):
    """The median of a call as a CUDA graph, or why it cannot be captured: some wait for the device, or start streams of their own."""
    try:
        graph = graph_of(run)
        return {f"{key}_graph_ms": median_ms(graph.replay, device, least=least)}
    except RuntimeError as error:
        drop_errors(device)
        return {f"{key}_not_captured": told(error)}


def drop_errors(device, most=8):
    """CUDA keeps the last error of each thread of the host until it is asked for. PyTorch asks after its next launch in that thread, and
    whoever runs then would fail for what another did. Backward passes have a thread of their own."""
    for _ in range(most):
        try:
            leaf = torch.zeros(1, device=device, requires_grad=True)
            (2 * leaf).backward(torch.ones(1, device=device))
            return sync(device)
        except RuntimeError:
            continue
    raise RuntimeError("each call fails since a CUDA graph could not be captured: the CUDA context is lost")


class Passes:
    """A module over fixed data: `forward` without gradients, and `training`, which gives the gradients of its input and of all weights."""

    def __init__(self, module, u, gradient):
        self.module, self.u, self.gradient = module, u, gradient
        self.leaf, self.h = u.clone().requires_grad_(), None

    def forward(self):
        with torch.no_grad():
            self.module(self.u)

    def training(self):
        self.forward_saving()
        self.backward()

    def forward_saving(self):
        self.module.zero_grad(set_to_none=True)
        self.leaf.grad = None
        self.h = self.module(self.leaf)[0]

    def backward(self):
        self.h.backward(self.gradient)
        self.h = self.h.detach()

    def memory(self, device):
        """Of a training step beyond what was there before it, in MiB: its peak, and what is kept between its passes, the output among
        it. The step has run before, so that plans and what libraries allocate once are there."""
        self.drop()

        def forward():
            self.h = self.module(self.leaf)[0]

        def backward():
            self.h.backward(self.gradient)
            self.h = None

        highest, kept = memory_of(forward, device)
        highest = max(highest, kept + memory_of(backward, device)[0])
        self.drop()
        return {"peak_MiB": round(highest / 2 ** 20, 4), "kept_MiB": round(kept / 2 ** 20, 4)}

    def measure(self, device, graphs=True, least=5, eager=True):
        """Medians in ms, and a training step's memory. A loop that takes a second to call may be timed as a graph alone."""
        self.h = None
        row = {}
        if eager or device != "cuda":
            row |= {"fw_ms": median_ms(self.forward, device, least=least), "fwbw_ms": median_ms(self.training, device, least=least)}
        if device == "cuda":
            row |= self.memory(device)
            for name in ("forward", "training") if graphs else ():
                self.drop()
                row |= graphed(getattr(self, name), {"forward": "fw", "training": "fwbw"}[name], device, least)
        self.drop()
        return {key: round(value, 4) if isinstance(value, float) else value for key, value in row.items()}

    def drop(self):
        self.module.zero_grad(set_to_none=True)
        self.leaf.grad = self.h = None


def host_us(run, device, inner=50, outer=40):
    """Host time of a call while the GPU runs behind: the least of `outer` means. A few short turns are all disturbed on a machine
    that others use too: seven of them gave 270 us in one process and 615 in the next."""
    for _ in range(20):
        run()
    sync(device)
    best = float("inf")
    for _ in range(outer):
        best = min(best, timed(lambda: [run() for _ in range(inner)]) / inner * 1e6)
        sync(device)
    return round(best, 2)
