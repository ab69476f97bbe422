"""Texts of cells that several tests take."""

STILL = """cell still(N) {
  state h[N]
  next h = 0.5 * h
  output h
}
"""

# Its input has no channels, so that D is what a state has.
SCALAR = """cell scalar(N) {
  input x
  state h[N]
  next h = 0.5 * h + x
  output h
}
"""
