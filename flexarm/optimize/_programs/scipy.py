"""SciPy's solvers: slower than Ipopt, but always installed."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping

import numpy as np
from scipy import optimize, sparse

from ..._support.arrays import Array
from ..._support.interrupts import allowed
from .program import NonlinearProgram
from .solution import Solution, Watch

# Unknowns up to which SLSQP with dense matrices is faster than trust-constr.
_MAX_DENSE = 60


class _Stop(Exception):
    """Stop of the search by the watch."""


def solve_scipy(
    program: NonlinearProgram, z: Array, watch: Watch, options: Mapping[str, object]
) -> Solution:
    """Solve by SLSQP with few unknowns, else by the method "trust-constr"."""
    x = z / program.scale
    bounds = optimize.Bounds(
        program.lower / program.scale, program.upper / program.scale
    )
    method = "SLSQP" if program.n <= _MAX_DENSE else "trust-constr"
    arguments: dict[str, object] = {
        "fun": lambda x: program.objective(x * program.scale),
        "jac": lambda x: program.gradient(x * program.scale) * program.scale,
        "x0": x,
        "bounds": bounds,
        "method": method,
    }
    limits = {"maxiter": watch.max_iterations}
    if method == "SLSQP":
        arguments |= {"constraints": _dense(program), "tol": watch.tolerance}
        arguments["options"] = {**limits, **options}
    else:
        arguments |= {
            "constraints": _sparse(program),
            "hess": _objective_hessian(program),
        }
        tight = {"gtol": watch.tolerance, "xtol": 1e-2 * watch.tolerance}
        arguments["options"] = {**limits, **tight, "sparse_jacobian": True, **options}

    def look(x: Array, *_: object) -> None:
        if watch.step(watch.iterations + 1, np.array(x) * program.scale):
            raise _Stop

    try:
        with allowed(), warnings.catch_warnings():
            # the result reports singular Jacobians and flat gradients
            warnings.simplefilter("ignore")
            found = optimize.minimize(callback=look, **arguments)
    except (_Stop, KeyboardInterrupt):
        watch.stopped = watch.stopped or "interrupted"
        return watch.solution(z, watch.stopped, f"scipy {method}", np.zeros(program.m))
    z = np.asarray(found.x) * program.scale
    status = _status(found, method, program.violation(z), watch)
    multipliers = np.zeros(program.m)
    if method == "trust-constr" and program.m:
        multipliers = np.asarray(found.v[0]) / program.row_scale
    note = str(found.message)
    return watch.solution(z, status, f"scipy {method}", multipliers, note)


def _status(
    found: optimize.OptimizeResult, method: str, violation: float, watch: Watch
) -> str:
    feasible = violation <= 10.0 * watch.tolerance
    if method == "SLSQP":
        if found.status == 0:
            return "solved" if feasible else "infeasible"
        return {9: "iterations", 4: "infeasible"}.get(int(found.status), "failed")
    if found.status in (1, 2):
        return "solved" if feasible else "infeasible"
    return "iterations" if found.status == 0 else "failed"


def _scaled_jacobian(program: NonlinearProgram, x: Array) -> sparse.csr_array:
    matrix = program.jacobian_pattern.matrix(program.jacobian(x * program.scale))
    rows = sparse.diags_array(1.0 / program.row_scale)
    return sparse.csr_array(rows @ matrix @ sparse.diags_array(program.scale))


def _full_hessian(
    program: NonlinearProgram, x: Array, weight: float, multipliers: Array
) -> sparse.csr_array:
    entries = program.hessian(x * program.scale, weight, multipliers)
    upper = program.hessian_pattern.matrix(entries)
    scale = sparse.diags_array(program.scale)
    return sparse.csr_array(scale @ (upper + sparse.triu(upper, 1).T) @ scale)


def _objective_hessian(
    program: NonlinearProgram,
) -> Callable[[Array], sparse.csr_array]:
    none = np.zeros(program.m)
    return lambda x: _full_hessian(program, x, 1.0, none)


def _sparse(program: NonlinearProgram) -> optimize.NonlinearConstraint | tuple[()]:
    if not program.m:
        return ()
    return optimize.NonlinearConstraint(
        lambda x: program.values(x * program.scale) / program.row_scale,
        program.below / program.row_scale,
        program.above / program.row_scale,
        jac=lambda x: _scaled_jacobian(program, x),
        hess=lambda x, v: _full_hessian(program, x, 0.0, v / program.row_scale),
    )


def _dense(program: NonlinearProgram) -> list[dict[str, object]]:
    """Equations, then inequalities above zero."""
    below, above = program.below / program.row_scale, program.above / program.row_scale
    equal = below == above
    low = ~equal & np.isfinite(below)
    high = ~equal & np.isfinite(above)

    def values(x: Array) -> Array:
        return np.asarray(program.values(x * program.scale) / program.row_scale)

    def slopes(x: Array) -> Array:
        return np.asarray(_scaled_jacobian(program, x).toarray())

    parts: list[dict[str, object]] = []
    if equal.any():
        parts.append(
            {
                "type": "eq",
                "fun": lambda x: (values(x) - below)[equal],
                "jac": lambda x: slopes(x)[equal],
            }
        )
    if low.any() or high.any():
        parts.append(
            {
                "type": "ineq",
                "fun": lambda x: np.concatenate(
                    [(values(x) - below)[low], (above - values(x))[high]]
                ),
                "jac": lambda x: np.concatenate([slopes(x)[low], -slopes(x)[high]]),
            }
        )
    return parts
