"""Rondo in PyTorch. Whatever needs PyTorch imports this first, which says so where it is not to be had."""

from .._errors import LibraryNotFoundError

OLDEST = (2, 8)


def _check() -> None:
    what = "PyTorch {}.{} or newer".format(*OLDEST)
    hint = f"pip install 'torch>={OLDEST[0]}.{OLDEST[1]}'"
    try:
        import torch
    except ModuleNotFoundError as error:
        if error.name != "torch":  # it is there, and not whole: its own message is the better one
            raise
        raise LibraryNotFoundError(
            f"this needs {what}, which is not installed", f"{hint}; rondo.Cell also takes NumPy's arrays"
        ) from None
    major, minor = torch.__version__.split(".")[:2]
    if (int(major), int(minor)) < OLDEST:
        raise LibraryNotFoundError(f"this needs {what}, and {torch.__version__} is installed", hint)


_check()
