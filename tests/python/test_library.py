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
    monkeypatch.delenv("RONDO_LIBRARY", raising=False)  # an installed package needs none
    monkeypatch.setattr(_library, "__file__", str(tmp_path / "rondo" / "_library.py"))
    with pytest.raises(ImportError, match="install the wheel of rondo-rnn, or set RONDO_LIBRARY"):
        _library.library_path()


def test_the_library_beside_the_package_is_taken(monkeypatch, tmp_path):
    monkeypatch.delenv("RONDO_LIBRARY", raising=False)  # an installed package needs none
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


def said_with(torch, code):
    """What a process says in which `torch` is that of these lines."""
    text = f"import sys, types\n{torch}\nimport rondo\ntry:\n    {code}\nexcept rondo.LibraryNotFoundError as error:\n    print(error)"
    path = os.pathsep.join(sys.path)
    done = subprocess.run([sys.executable, "-c", text], env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True)
    assert not done.stderr
    return done.stdout


NONE = "sys.modules['torch'] = None"
OLD = "sys.modules['torch'] = torch = types.ModuleType('torch'); torch.__version__, torch.Tensor = '2.7.1+cpu', list"


@pytest.mark.parametrize("what", ["rondo.nn", "import rondo.nn", "rondo.prepare", "rondo.tune", "rondo.replace"])
def test_what_needs_pytorch_says_so(what):
    said = said_with(NONE, what)
    assert "this needs PyTorch 2.8 or newer, which is not installed (pip install 'torch>=2.8'; rondo.Cell also" in said
    assert "this needs PyTorch 2.8 or newer, and 2.7.1+cpu is installed (pip install 'torch>=2.8')" in said_with(OLD, what)


@pytest.mark.parametrize("call", ["(torch.Tensor())", ".step(torch.Tensor())"])
def test_a_pytorch_that_is_too_old_is_told_where_a_tensor_is_given(call):
    assert "and 2.7.1+cpu is installed" in said_with(OLD, f"rondo.Cell('mingru'){call}")
    pytest.importorskip("numpy")
    arrays = "import numpy; print(rondo.Cell('mingru')(numpy.zeros((1, 2, 2, 16), 'float32'))[0].shape)"
    assert said_with(OLD, arrays) == "(1, 2, 16)\n"


def test_a_pytorch_that_is_not_whole_speaks_for_itself(tmp_path):
    (tmp_path / "torch.py").write_text("import no_such_part_of_torch")
    text = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import rondo; rondo.nn"
    path = os.pathsep.join(sys.path)
    done = subprocess.run([sys.executable, "-c", text], env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True)
    assert "No module named 'no_such_part_of_torch'" in done.stderr.splitlines()[-1]
