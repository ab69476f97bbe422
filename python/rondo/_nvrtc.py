"""NVRTC, CUDA's run-time compiler, in the wheels that PyTorch and JAX bring.

librondo opens NVRTC where it first compiles for a GPU, and takes the path in `RONDO_NVRTC` if there is one. The dynamic linker
does not look into wheels, so the package sets that variable, for this process and those it starts, unless it is set already.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterable
from pathlib import Path

# Where wheels put it, in each folder of the namespace package `nvidia`, with CUDA's major version.
PLACES = (("cu13/lib", 13), ("cuda_nvrtc/lib", 12))


def _nvidia_folders() -> list[Path]:
    try:
        spec = importlib.util.find_spec("nvidia")
    except (ImportError, ValueError):
        return []
    return [] if spec is None else [Path(place) for place in spec.submodule_search_locations or ()]


def find_nvrtc(folders: Iterable[Path], major: int | None) -> Path | None:
    """The library in `folders`: that of CUDA `major` if it is there, else the newest."""
    found = []
    for folder in folders:
        for place, version in PLACES:
            found += [(version == major, version, path) for path in sorted((folder / place).glob("libnvrtc.so.*"))]
    return max(found)[2] if found else None


def _major_of_torch() -> int | None:
    """CUDA's major version that an imported PyTorch was built for."""
    version = getattr(getattr(sys.modules.get("torch"), "version", None), "cuda", None)
    return int(str(version).split(".")[0]) if version else None


def offer_nvrtc() -> None:
    """Tells librondo where NVRTC is, if a wheel has it and the user has said nothing."""
    if os.environ.get("RONDO_NVRTC"):
        return
    path = find_nvrtc(_nvidia_folders(), _major_of_torch())
    if path is not None:
        os.environ["RONDO_NVRTC"] = str(path)
