"""How librondo and NVRTC are found, and what is said where they are not."""

import os
import subprocess
import sys

import pytest
import rondo
from rondo import _library, _nvrtc


def test_version_is_that_of_the_library():
    assert rondo.version().count(".") == 2


def test_a_library_that_is_not_there_is_named(monkeypatch):
    monkeypatch.setenv("RONDO_LIBRARY", "/nowhere/librondo.so")
    with pytest.raises(rondo.LibraryNotFoundError, match="RONDO_LIBRARY names '/nowhere/librondo.so', which is not there"):
        _library.library_path()


def test_without_a_library_the_folder_is_named(monkeypatch, tmp_path):
    monkeypatch.delenv("RONDO_LIBRARY")
    monkeypatch.setattr(_library, "__file__", str(tmp_path / "rondo" / "_library.py"))
    with pytest.raises(ImportError, match="install the wheel of rondo-rnn, or set RONDO_LIBRARY"):
        _library.library_path()


def test_the_library_beside_the_package_is_taken(monkeypatch, tmp_path):
    monkeypatch.delenv("RONDO_LIBRARY")
    monkeypatch.setattr(_library, "__file__", str(tmp_path / "_library.py"))
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "librondo.so.0").touch()
    assert _library.library_path() == tmp_path / "lib" / "librondo.so.0"


def test_a_folder_may_be_named(monkeypatch, tmp_path):
    (tmp_path / "librondo.so").touch()
    monkeypatch.setenv("RONDO_LIBRARY", str(tmp_path))
    assert _library.library_path() == tmp_path / "librondo.so"


def test_what_is_no_library_is_refused(tmp_path):
    path = tmp_path / "librondo.so"
    path.write_text("no library")
    with pytest.raises(rondo.LibraryNotFoundError, match="cannot be used"):
        _library.Library(path)


def wheel(folder, place, version):
    (folder / place).mkdir(parents=True)
    path = folder / place / f"libnvrtc.so.{version}"
    path.touch()
    return path


def test_nvrtc_is_found_in_wheels_of_both_versions(tmp_path):
    assert _nvrtc.find_nvrtc([tmp_path], None) is None
    twelve = wheel(tmp_path, "cuda_nvrtc/lib", 12)
    assert _nvrtc.find_nvrtc([tmp_path], None) == twelve
    thirteen = wheel(tmp_path, "cu13/lib", 13)
    assert _nvrtc.find_nvrtc([tmp_path], None) == thirteen
    assert _nvrtc.find_nvrtc([tmp_path], 12) == twelve, "that of PyTorch's CUDA comes first"


def test_what_the_user_says_of_nvrtc_stays(monkeypatch):
    monkeypatch.setenv("RONDO_NVRTC", "/mine")
    _nvrtc.offer_nvrtc()
    assert os.environ["RONDO_NVRTC"] == "/mine"


def test_the_import_needs_no_pytorch():
    code = "import sys, rondo; assert 'torch' not in sys.modules and 'numpy' not in sys.modules; print(rondo.__doc__[:5])"
    path = os.pathsep.join(sys.path)
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True)
    assert done.stdout == "Rondo\n", done.stderr


def test_an_unknown_attribute_is_no_import_error():
    with pytest.raises(AttributeError, match="module 'rondo' has no attribute 'Cel'"):
        rondo.Cel
    assert {"Cell", "nn"} <= set(dir(rondo))
