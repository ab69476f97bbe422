#!python
"""The command `rondo` of a Python environment: runs the program that lies beside librondo in the package rondo."""

import importlib.util
import os
import sys

# The package is only looked for, not imported: that takes as long as PyTorch does.
found = importlib.util.find_spec("rondo")
for folder in found.submodule_search_locations or [] if found else []:
    program = os.path.join(folder, "lib", "rondo")
    if os.path.exists(program):
        os.execv(program, [program, *sys.argv[1:]])
sys.exit("rondo: this Python environment has no package rondo-rnn with the program in it; install its wheel again")
