"""Section VII of De Luca and Siciliano (1991), computed again from end to end.

``python3 -m flexarm demo`` prints the modes of the two links beside the printed ones,
runs the six simulations with the kernels and with the closed form of the paper,
compares the two, closes the energy ledger of every run and draws the figures.

A. De Luca, B. Siciliano, "Closed-form dynamic model of planar multilink lightweight
robots", IEEE Trans. Systems, Man, and Cybernetics 21(4), 1991, 826-839.
"""

from .report import main

__all__ = ["main"]
