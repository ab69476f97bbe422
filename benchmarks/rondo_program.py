"""What the benchmarks share: the `rondo` program called for an object, the GPU asked for its names, records written whole."""
import concurrent.futures
import json
import os
import subprocess
import sys


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


def query(fields):
    """What nvidia-smi says of the GPU that programs here see first: "name,driver_version"."""
    first = os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0] or "0"
    out = subprocess.run(["nvidia-smi", "-i", first, f"--query-gpu={fields}", "--format=csv,noheader"], capture_output=True, text=True)
    return out.stdout.strip().split(", ")


def write(record, path):
    """Never a part of it, whenever the process ends."""
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
