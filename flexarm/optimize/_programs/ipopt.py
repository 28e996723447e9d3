"""Ipopt through CasADi, with our own derivatives.

CasADi's wheel contains Ipopt with MUMPS.  `casadi.nlpsol` would differentiate symbols;
here our functions replace all that it needs: objective, constraints, gradient, sparse
Jacobian and sparse Hessian of the Lagrangian.  They read and write the buffers of the
solver without copies.

A. Waechter, L. T. Biegler, "On the implementation of an interior-point filter
line-search algorithm for large-scale nonlinear programming", *Mathematical Programming*
106 (2006), 25-57.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any, TypeAlias, TypeVar

import numpy as np

from ..._support.arrays import Array
from ..._support.interrupts import Held, allowed, held
from ..._support.optional import required
from .program import Merged, NonlinearProgram
from .solution import Solution, Watch

Buffer: TypeAlias = memoryview | None  # of CasADi
F = TypeVar("F", bound=float | Array)
Named = tuple[str, object]  # name and CasADi sparsity of an operand or a result

_STATUS = {
    "Solve_Succeeded": "solved",
    "Solved_To_Acceptable_Level": "acceptable",
    "Infeasible_Problem_Detected": "infeasible",
    "Maximum_Iterations_Exceeded": "iterations",
    "Maximum_WallTime_Exceeded": "time",
    "Maximum_CpuTime_Exceeded": "time",
    "User_Requested_Stop": "interrupted",
}


def solve_ipopt(
    program: NonlinearProgram,
    z: Array,
    watch: Watch,
    barrier: float | None,
    options: Mapping[str, object],
) -> Solution:
    """Solve by Ipopt, from a start within the bounds."""
    ca: ModuleType = required("casadi", "the solver 'ipopt'")
    # Ctrl-C between our functions would be an error of their evaluation for CasADi
    with held() as ctrl_c:
        found, stats = _run(ca, _Scaled(program, watch), z, barrier, options, ctrl_c)
        if ctrl_c.take():
            watch.stopped = "interrupted"
    multipliers = np.zeros(program.m)
    if watch.stopped == "interrupted":
        return watch.solution(z, "interrupted", "ipopt", multipliers)
    note = str(stats["return_status"])
    watch.iterations = int(stats.get("iter_count", watch.iterations))
    z = np.asarray(found["x"]).reshape(-1) * program.scale
    multipliers = np.asarray(found["lam_g"]).reshape(-1) / program.row_scale
    status = _STATUS.get(note, "failed")
    return watch.solution(z, status, "ipopt", multipliers, note)


def _run(
    ca: ModuleType,
    scaled: _Scaled,
    z: Array,
    barrier: float | None,
    options: Mapping[str, object],
    ctrl_c: Held,
) -> tuple[dict[str, object], dict[str, Any]]:
    """Results of CasADi, and statistics."""
    program, watch = scaled.program, scaled.watch
    functions = _functions(ca, scaled, ctrl_c)
    x, objective, constraints = functions.pop("problem")  # kept while it runs
    steps = functions["iteration_callback"]
    settings: dict[str, object] = {
        "print_level": 0,
        "sb": "yes",
        "tol": watch.tolerance,
        "constr_viol_tol": watch.tolerance,
        "max_iter": watch.max_iterations,
        "max_wall_time": max(watch.time_limit, 1e-3),
        "mu_strategy": "adaptive",
        "nlp_scaling_method": "none",  # _Scaled scales by units
        "mumps_pivot_order": 6,  # approximate minimum degree, dense rows apart
    }
    if barrier is not None:
        settings |= {"mu_strategy": "monotone", "mu_init": barrier}
    if program.gauss_newton:
        # the Hessian is convex: tiny negative pivots are rounding
        settings["neg_curv_test_tol"] = 1e-8
    elif _is_free(program):
        # pivots of wrong sign are rounding near the answer, where counts of them let
        # the search creep on; the curvature along the step has no such doubts
        settings["neg_curv_test_tol"] = 1e-12
    # the solver works with our functions
    solver = ca.nlpsol(
        "solver",
        "ipopt",
        {"x": x, "f": objective(x), "g": constraints(x)},
        {
            **functions,
            "no_nlp_grad": True,
            "calc_lam_p": False,
            "print_time": False,
            "error_on_fail": False,
            "ipopt": {**settings, **options},
        },
    )
    try:
        found = solver(
            x0=z / program.scale,
            lbx=program.lower / program.scale,
            ubx=program.upper / program.scale,
            lbg=program.below / program.row_scale,
            ubg=program.above / program.row_scale,
        )
    finally:
        steps.active = False
    return found, solver.stats()


def _is_free(program: NonlinearProgram) -> bool:
    """Whether all constraints are equations, and no unknown has a bound."""
    equations = (program.below == program.above).all()
    bounded = np.isfinite(program.lower) | np.isfinite(program.upper)
    return bool(equations and not bounded.any())


class _Scaled:
    """The program in scaled unknowns and constraints."""

    def __init__(self, program: NonlinearProgram, watch: Watch) -> None:
        self.program, self.watch = program, watch
        jacobian, hessian = program.jacobian_pattern, program.hessian_pattern
        self._jacobian = (
            program.scale[jacobian.columns] / program.row_scale[jacobian.indices]
        )
        self._hessian = program.scale[hessian.columns] * program.scale[hessian.indices]

    def _call(self, f: Callable[..., F], x: Array, *rest: object) -> F:
        return f(x * self.program.scale, *rest)

    def objective(self, given: list[Array], result: list[Array | None]) -> None:
        """Arguments x; result f."""
        self._store(result[0], lambda: self._call(self.program.objective, given[0]))

    def constraints(self, given: list[Array], result: list[Array | None]) -> None:
        """Arguments x; result g."""
        scale = self.program.row_scale
        self._store(
            result[0], lambda: self._call(self.program.values, given[0]) / scale
        )

    def gradient(self, given: list[Array], result: list[Array | None]) -> None:
        """Arguments x, p; results f, gradient."""
        self.objective(given, result[:1])
        scale = self.program.scale
        self._store(
            result[1], lambda: self._call(self.program.gradient, given[0]) * scale
        )

    def jacobian(self, given: list[Array], result: list[Array | None]) -> None:
        """Arguments x, p; results g, Jacobian."""
        self.constraints(given, result[:1])
        self._store(
            result[1],
            lambda: self._call(self.program.jacobian, given[0]) * self._jacobian,
        )

    def hessian(self, given: list[Array], result: list[Array | None]) -> None:
        """Arguments x, p and the multipliers of f and g; result upper triangle."""
        weight = float(given[2][0]) if len(given[2]) else 0.0
        multipliers = given[3] if len(given[3]) else np.zeros(self.program.m)
        multipliers = multipliers / self.program.row_scale

        def value() -> Array:
            h = self._call(self.program.hessian, given[0], weight, multipliers)
            return np.asarray(h * self._hessian)

        self._store(result[0], value)

    def step(self, given: list[Array], result: list[Array | None]) -> None:
        """Arguments as of a solution; result whether to stop."""
        if len(given[0]):
            z = given[0] * self.program.scale
            stop = self.watch.step(self.watch.iterations + 1, z)
            self._store(result[0], lambda: float(stop))

    @staticmethod
    def _store(place: Array | None, value: Callable[[], float | Array]) -> None:
        # results that are not finite stay NaN: Ipopt then shortens its step
        if place is not None and len(place):
            with np.errstate(all="ignore"):
                place[:] = value()


def _function_class(ca: Any, ctrl_c: Held) -> Any:
    """Class of CasADi functions that call ours on its buffers, until Ctrl-C."""

    class Function(ca.Callback):  # type: ignore[misc]
        """One of our functions on the buffers of CasADi."""

        active = True

        def __init__(
            self,
            name: str,
            takes: Sequence[Named],
            gives: Sequence[Named],
            f: Callable[[list[Array], list[Array | None]], None],
        ) -> None:
            ca.Callback.__init__(self)
            self._takes, self._gives, self._f = takes, gives, f
            self.construct(name, {})

        def get_n_in(self) -> int:
            return len(self._takes)

        def get_n_out(self) -> int:
            return len(self._gives)

        def get_name_in(self, i: int) -> str:
            return self._takes[i][0]

        def get_name_out(self, i: int) -> str:
            return self._gives[i][0]

        def get_sparsity_in(self, i: int) -> object:
            return self._takes[i][1]

        def get_sparsity_out(self, i: int) -> object:
            return self._gives[i][1]

        def has_eval_buffer(self) -> bool:
            return True

        def eval_buffer(self, given: Sequence[Buffer], result: Sequence[Buffer]) -> int:
            if not self.active:
                return 0
            if ctrl_c.pressed:
                return 1  # no numbers: the solver ends
            try:
                with allowed():
                    operands = [_numbers(part) for part in given]
                    self._f(
                        [np.zeros(0) if x is None else x for x in operands],
                        [_numbers(part) for part in result],
                    )
            except BaseException as error:
                if not ctrl_c.owns(error):
                    raise
                ctrl_c.keep(error)
                return 1
            return 0

    return Function


def _functions(ca: ModuleType, scaled: _Scaled, ctrl_c: Held) -> dict[str, Any]:
    """CasADi functions of a program, by their options of nlpsol."""
    Function = _function_class(ca, ctrl_c)
    n, m = scaled.program.n, scaled.program.m
    dense = ca.Sparsity.dense
    x, p, f, g = ("x", dense(n)), ("p", dense(0)), ("f", dense(1)), ("g", dense(m))
    weights = [("lam_f", dense(1)), ("lam_g", dense(m))]
    jacobian = ("jac_g_x", _sparsity(ca, scaled.program.jacobian_pattern))
    hessian = ("triu_hess_gamma_x_x", _sparsity(ca, scaled.program.hessian_pattern))
    shapes = {"f": dense(1), "x": dense(n), "g": dense(m)}
    of_step = [
        (name, shapes.get(name, ca.Sparsity(0, 0)))
        for name in (ca.nlpsol_out(i) for i in range(ca.nlpsol_n_out()))
    ]
    assert of_step[0][0] == "x"
    # a problem in which CasADi differentiates nothing
    symbol = ca.MX.sym("x", n)
    objective = Function("objective", [x], [f], scaled.objective)
    constraints = Function("constraints", [x], [g], scaled.constraints)
    return {
        "problem": (symbol, objective, constraints),
        "grad_f": Function(
            "nlp_grad_f", [x, p], [f, ("grad_f_x", dense(n))], scaled.gradient
        ),
        "jac_g": Function("nlp_jac_g", [x, p], [g, jacobian], scaled.jacobian),
        "hess_lag": Function("nlp_hess_l", [x, p, *weights], [hessian], scaled.hessian),
        "iteration_callback": Function(
            "step", of_step, [("stop", dense(1))], scaled.step
        ),
    }


def _sparsity(ca: ModuleType, pattern: Merged) -> object:
    return ca.Sparsity(
        *pattern.shape, pattern.indptr.tolist(), pattern.indices.tolist()
    )


def _numbers(part: Buffer) -> Array | None:
    return None if part is None or not len(part) else np.frombuffer(part)
