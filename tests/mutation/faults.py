"""Planted faults: one change of the text of a library each, and the commands that must find it (run.py).

A case of CASES is the arguments of `rondo verify`; it runs in each type of TYPES. A fault is {name, file, old, new,
cases} or, where kernel and reference share what is wrong or no kernel shows it, {..., test}: a test program and a
filter of its tests, a test in C and the settings and files of the build that it is given, or `python` and
which of the package's tests (pytest -k). `old` stands exactly once in the file.
A wrong result or a fault of the simulator finds the fault; a crash does not. The lists lie beside this file, one for
each subject.
"""
from cases import AHEAD, ALONG, CASES, DRAWS, HEADS, OVER_HEAD, ROWS, SUMS, TYPES  # noqa: F401 (run.py takes them from here)
import faults_along
import faults_around
import faults_bounds
import faults_channels
import faults_checks
import faults_flattened
import faults_hoisted
import faults_launches
import faults_libraries
import faults_matrices
import faults_max_plus
import faults_over_head
import faults_parts
import faults_python
import faults_rows
import faults_segments
import faults_tiles
import faults_turing
import faults_widened

FAULTS = [fault for subject in (faults_channels, faults_launches, faults_matrices, faults_over_head, faults_along, faults_libraries,
                          faults_checks, faults_around, faults_segments, faults_bounds, faults_python,
                          faults_turing, faults_rows, faults_flattened, faults_hoisted, faults_max_plus, faults_parts, faults_tiles,
                          faults_widened)
          for fault in subject.FAULTS]
