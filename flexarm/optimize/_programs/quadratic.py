r"""Convex quadratic programs with a few hundred unknowns, by HiGHS in CasADi's wheel.

.. math:: \min \tfrac12 x' P x + q' x \quad\text{subject to}\quad
    a \le C x \le b, \quad \underline x \le x \le \overline x

Examples
--------
The nearest point to (2, 0.5) with x + y of at most 1, within the unit square:

>>> import numpy as np
>>> from flexarm.optimize._programs.quadratic import minimized
>>> rows = np.ones((1, 2)), np.array([-np.inf]), np.ones(1)
>>> x, y = minimized(np.eye(2), np.array([-2.0, -0.5]), rows, (0.0, 1.0))
>>> x.round(6) + 0.0, y.round(6)
(array([1., 0.]), array([1.]))
"""

from __future__ import annotations

from importlib.util import find_spec
from types import ModuleType

import numpy as np
from numpy.typing import ArrayLike

from ..._support.arrays import Array
from ..._support.optional import required


def solvable() -> bool:
    """Whether the solver is installed."""
    return find_spec("casadi") is not None


def minimized(
    P: Array,
    q: Array,
    rows: tuple[Array, Array, Array],
    bounds: tuple[ArrayLike, ArrayLike],
) -> tuple[Array, Array] | None:
    """Minimum of a convex quadratic program; None if none is found.

    Parameters
    ----------
    P, q : (n, n), (n,) ndarray of float
        Of the cost.
    rows : tuple of (m, n), (m,), (m,) ndarray of float
        C and its limits a and b, infinite where there are none.
    bounds : tuple of (n,) array_like of float
        Of the unknowns.

    Returns
    -------
    x : (n,) ndarray of float
        The minimum.
    multipliers : (m,) ndarray of float
        Of the rows: above zero at upper limits, below zero at lower ones.
    """
    ca: ModuleType = required("casadi", "quadratic programs")
    (C, low, high), n = rows, len(q)
    dense = {"h": ca.Sparsity.dense(n, n), "a": ca.Sparsity.dense(len(C), n)}
    quiet = {"error_on_fail": False, "highs": {"output_flag": False}}
    program = ca.conic("program", "highs", dense, quiet)
    lower, upper = (np.broadcast_to(x, n) for x in bounds)
    found = program(h=P, g=q, a=C, lba=low, uba=high, lbx=lower, ubx=upper)
    if not program.stats()["success"]:
        return None
    x, multipliers = (found[name].full().ravel() for name in ("x", "lam_a"))
    return np.clip(x, lower, upper), multipliers
