"""Times of PyTorch's work on a GPU, as `rondo bench` takes them: what a sample holds is submitted before the GPU begins with it, so
that Python's time for a call is not counted as the peer's."""
import statistics

AHEAD_CYCLES = 2_000_000  # the GPU sleeps about a millisecond, in which a call is submitted


def samples_ms(work, samples, warm_up):
    """Milliseconds between two events around one call, of each of `samples` calls after `warm_up`."""
    import torch
    times = []
    for call in range(warm_up + samples):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda._sleep(AHEAD_CYCLES)
        begin.record()
        work()
        end.record()
        end.synchronize()
        if call >= warm_up:
            times.append(begin.elapsed_time(end))
    return times


def median_ms(work, samples=11, warm_up=3):
    return statistics.median(samples_ms(work, samples, warm_up))
