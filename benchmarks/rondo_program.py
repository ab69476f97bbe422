"""What the benchmarks share: the `rondo` program called for an object, GPUs handed out to work that is done side by side, records
written whole."""
import concurrent.futures
import contextlib
import json
import os
import statistics
import subprocess
import sys
import threading

SETTLED = 1.005  # processes of one way that differ by less are few enough


def told(error, most=300):
    """An exception in one line: the words of the last, and those of the first that it came from. Of a CUDA graph the last says that the
    capture failed and the first why; of a compiler the last quotes the program and the first names the mistake."""
    first = error
    while (before := first.__cause__ or (None if first.__suppress_context__ else first.__context__)) is not None:
        first = before
    said = [error] if first is error else [error, first]
    return "; ".join(f"{type(one).__name__}: {shortened(' '.join(str(one).split()), most // len(said))}" for one in said)


def shortened(text, most):
    """Its beginning and its end, for a message may have its reason at either."""
    kept = (most - 5) // 2
    return text if len(text) <= most else f"{text[:kept]} ... {text[-kept:]}"


class WrongResults(SystemExit):
    """`rondo` found no kernel whose results pass its check (exit status 8)."""


def finished(program, arguments, environment):
    return subprocess.run([program, *arguments, "--json"], capture_output=True, text=True, env=os.environ | (environment or {}))


def rondo(program, *arguments, environment=None):
    """Output of one `rondo ... --json` call as an object; raises with the program's own message if it fails."""
    done = finished(program, arguments, environment)
    if done.returncode != 0:
        failed = WrongResults if done.returncode == 8 else SystemExit
        raise failed(f"rondo {' '.join(arguments)} failed ({done.returncode}): {done.stderr.strip()}")
    return json.loads(done.stdout)


def tried(program, *arguments, environment=None):
    """The same where failures belong to the record: {"error": the first line of the program's message}."""
    done = finished(program, arguments, environment)
    if done.returncode != 0:
        return {"error": (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[0]}
    return json.loads(done.stdout)


def shared_workers(side):
    """Words for each of `side` tunes that run side by side: the cores are shared out among their compiler processes. A tune alone
    starts one a core; several of those are in each other's way, and end with few configurations tried."""
    return ["--workers", str(max(1, len(os.sched_getaffinity(0)) // side))] if side > 1 else []


def side_by_side(side, work, items):
    """work(item) of all items, `side` at a time, in their order. A call that fails ends the rest, which are not begun then."""
    with concurrent.futures.ThreadPoolExecutor(side) as pool:
        begun = [pool.submit(work, item) for item in items]
        try:
            return [each.result() for each in begun]
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def visible_gpus():
    """What CUDA_VISIBLE_DEVICES names, or else the first GPU alone: Rondo uses no other one by itself."""
    return [name for name in os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",") if name] or ["0"]


def query(fields, gpu=None):
    """What nvidia-smi says of a GPU, or of the one that programs here see first: "name,driver_version"."""
    out = subprocess.run(["nvidia-smi", "-i", gpu or visible_gpus()[0], f"--query-gpu={fields}", "--format=csv,noheader"], capture_output=True,
                         text=True)
    return out.stdout.strip().split(", ")


def settled(found):
    """Whether the processes of each way agree, so that more of them would hardly move its middle."""
    return all(max(ms) <= SETTLED * min(ms) for ms in found.values())


def middle(ms):
    """The mean of what lies between the quartiles: of three times the median; of many it is steadier, where times gather in two places."""
    ordered = sorted(ms)
    outside = len(ordered) // 4
    return statistics.mean(ordered[outside:len(ordered) - outside]) if len(ordered) > 3 else statistics.median(ordered)


class Gpus:
    """GPUs of one kind, with `side` slots each: `number` of those that CUDA_VISIBLE_DEVICES names, or the machine's first ones. A piece of
    work takes as many slots of one GPU as it needs. Who waits keeps the others from asking, so one who needs many has a turn too."""

    def __init__(self, number=1, side=1):
        named = visible_gpus() if "CUDA_VISIBLE_DEVICES" in os.environ else [str(gpu) for gpu in range(number)]
        if number > len(named):
            raise SystemExit(f"--gpus {number}: CUDA_VISIBLE_DEVICES names {len(named)}")
        self.names, self.side = named[:number], side
        self.free = {gpu: side for gpu in self.names}
        self.changed, self.turn = threading.Condition(), threading.Lock()

    def check_alike(self):
        """Ends the script unless all have one name: a record is that of one kind of GPU."""
        kinds = {query("name", gpu)[0] for gpu in self.names} if len(self.names) > 1 else set()
        if len(kinds) > 1:
            raise SystemExit(f"--gpus {len(self.names)}: they are of several kinds: {', '.join(sorted(kinds))}")

    def slots(self):
        """Pieces of work that there is room for at the same time."""
        return self.side * len(self.names)

    @contextlib.contextmanager
    def take(self, slots=1):
        """Waits for so many slots of one GPU, and gives the environment in which programs see that one alone."""
        with self.turn, self.changed:
            self.changed.wait_for(lambda: max(self.free.values()) >= slots)
            gpu = max(self.names, key=self.free.get)
            self.free[gpu] -= slots
        try:
            yield {"CUDA_VISIBLE_DEVICES": gpu}
        finally:
            with self.changed:
                self.free[gpu] += slots
                self.changed.notify_all()


WRITING = threading.Lock()


def write(record, path):
    """Never a part of it, whenever the process ends and however many threads write."""
    with WRITING:
        with open(path + ".part", "w", encoding="utf-8") as file:
            json.dump(record, file, indent=1)
            file.write("\n")
        os.replace(path + ".part", path)


def begun(path, head):
    """The record at `path` to go on with, or a new one without rows. What `head` says must be the same in both."""
    if not os.path.exists(path):
        return head | {"rows": []}
    with open(path, encoding="utf-8") as file:
        record = json.load(file)
    for key, value in head.items():
        if record.get(key) != value:
            sys.exit(f"{path} has {key} '{record.get(key)}', this run '{value}': take another file")
    return record


def until_stopped(main):
    """Status of main(), or 130 where Ctrl-C or tools/gpu-check (when its time is over) ended it: its record has the rows that were done."""
    try:
        return main()
    except KeyboardInterrupt:
        print("ended by a signal: the record has the rows that were done", file=sys.stderr)
        return 130
