"""Programs that stand in for `rondo` and nvidia-smi in tests of the benchmarks' scripts."""
import os
import pathlib
import stat
import sys
import tempfile


def program(folder, name, text):
    """An executable Python program of that text."""
    path = pathlib.Path(folder) / name
    path.write_text(f"#!{sys.executable}\n{text}", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def folder_of(test, rondo, gpu="NVIDIA Test"):
    """A folder for one test, with a `rondo` of that text and an nvidia-smi that names the GPU."""
    scratch = tempfile.TemporaryDirectory()
    test.addCleanup(scratch.cleanup)
    program(scratch.name, "rondo", rondo)
    program(scratch.name, "nvidia-smi", f"print({gpu!r})")
    return pathlib.Path(scratch.name)


def environment(folder, **more):
    """Of a script that finds these programs first."""
    return os.environ | {"PATH": f"{folder}:{os.environ['PATH']}", "PYTHONDONTWRITEBYTECODE": "1"} | more
