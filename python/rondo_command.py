"""The command `rondo` of a Python environment: runs the program that lies beside librondo in the package rondo.

Not a part of that package, which would be imported then: that takes as long as PyTorch does.
"""

import importlib.util
import os
import sys


def main() -> str:
    """Becomes the program, and returns only where there is none, with the error."""
    found = importlib.util.find_spec("rondo")
    for folder in found.submodule_search_locations or [] if found else []:
        program = os.path.join(folder, "lib", "rondo")
        if os.path.exists(program):
            os.execv(program, [program, *sys.argv[1:]])
    return "rondo: this Python environment has no package rondo-rnn with the program in it; install its wheel again"


if __name__ == "__main__":
    sys.exit(main())
