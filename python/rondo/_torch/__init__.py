"""Rondo in PyTorch: operators, derivatives, launches."""
