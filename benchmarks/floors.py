#!/usr/bin/env python3
"""What a step's parts cost at least on the GPU at hand: builds and runs the programs of benchmarks/floors.

usage: floors.py OUT.json [--arch sm_90] [--from FOLDER] [--commit HASH]

Each program prints a JSON object of nanoseconds; its first lines say of what. Needs nvcc and a GPU, or --from with a
folder of what the programs printed elsewhere (NAME.json). OUT.json has the device, the commit and the figures of each
program. Ends with an error, and writes nothing, where a program cannot be built or ends with one."""
import argparse
import json
import os
import pathlib
import subprocess
import tempfile

from rondo_program import write

SOURCES = pathlib.Path(__file__).resolve().parent / "floors"


def output(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"floors: {command[0]} failed ({done.returncode}): {done.stderr.strip()}")
    return done.stdout


def printed(source, options, folder):
    """What the program of a source prints."""
    if options.given:
        return (options.given / f"{source.stem}.json").read_text(encoding="utf-8")
    program = pathlib.Path(folder) / source.stem
    output("nvcc", "-O3", "-std=c++17", f"-arch={options.arch}", source, "-o", program)
    return output(program)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out")
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--from", dest="given", type=pathlib.Path, help="folder of what the programs printed elsewhere")
    parser.add_argument("--commit", default=os.environ.get("RONDO_COMMIT", "unknown"))
    options = parser.parse_args()
    floors = {}
    with tempfile.TemporaryDirectory() as folder:
        for source in sorted(SOURCES.glob("*.cu")):
            floors[source.stem] = json.loads(printed(source, options, folder))
    devices = {figures.pop("device") for figures in floors.values()}
    if len(devices) != 1:
        raise SystemExit(f"floors: figures of several devices: {', '.join(sorted(devices))}")
    write({"device": devices.pop(), "commit": options.commit, "unit": "ns", "floors": floors}, options.out)


if __name__ == "__main__":
    main()
