"""Derivatives of a nonlinear program against differences of it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from flexarm.optimize._programs.program import NonlinearProgram

Array = NDArray[np.float64]


def derivative_errors(
    program: NonlinearProgram, z: Array, step: float = 1e-5, seed: int = 0
) -> dict[str, float]:
    """Largest relative differences of the derivatives from central differences.

    Returns
    -------
    errors : dict of float
        Of the ``"gradient"``, the ``"jacobian"`` and the ``"hessian"`` along random
        directions, with all multipliers at once.
    """
    rng = np.random.default_rng(seed)
    multipliers = rng.normal(size=program.m) / program.row_scale
    worst = {"gradient": 0.0, "jacobian": 0.0, "hessian": 0.0}
    for _ in range(3):
        along = rng.normal(size=program.n) * program.scale
        ends = z + step * along, z - step * along

        def slope(f: list[Array]) -> Array:
            return np.asarray((f[0] - f[1]) / (2.0 * step))

        # exact derivatives beside differences
        jacobian = program.jacobian_pattern.matrix(program.jacobian(z))
        upper = program.hessian_pattern.matrix(program.hessian(z, 1.0, multipliers))
        hessian = upper + sparse.triu(upper, 1).T
        pairs = {
            "gradient": (
                np.array([program.gradient(z) @ along]),
                slope([np.array([program.objective(x)]) for x in ends]),
                np.ones(1),
            ),
            "jacobian": (
                jacobian @ along,
                slope([program.values(x) for x in ends]),
                program.row_scale,
            ),
            "hessian": (
                hessian @ along,
                slope([_lagrangian_gradient(program, x, multipliers) for x in ends]),
                1.0 / program.scale,
            ),
        }
        for name, (exact, difference, scale) in pairs.items():
            size = np.abs(difference / scale).max(initial=1e-12)
            if name == "gradient":  # one number, of which parts may cancel
                size = max(float(np.abs(program.gradient(z) * along).sum()), 1e-12)
            error = np.abs((exact - difference) / scale).max(initial=0.0) / size
            worst[name] = max(worst[name], float(error))
    return worst


def _lagrangian_gradient(
    program: NonlinearProgram, z: Array, multipliers: Array
) -> Array:
    jacobian = program.jacobian_pattern.matrix(program.jacobian(z))
    return np.asarray(program.gradient(z) + jacobian.T @ multipliers)
