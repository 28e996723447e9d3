"""Arms with two links as SymPy writes them: expressions, common parts, a loop in C.

The rigid arm of two joints from its Lagrangian, and the flexible one of De Luca and
Siciliano from the closed form of their paper, which is cut after the first order in the
deflections: less than what flexarm computes.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import numpy as np
from peers_arms import States, states
from peers_jobs import CHECKED, FORWARD, INVERSE, Case, Group, Race, Sizes, agree
from peers_native import build, folder, held, pointer
from peers_rigid import arm_of, flexarm_calls
from races import Array, Contender

import flexarm as fa
from flexarm.reference import de_luca_siciliano as paper

C_STRICT = "SymPy, loop of C, -O3"
C_FAST = "SymPy, loop of C, -Ofast"
BY_NUMPY = "SymPy, lambdify for NumPy"
DE_LUCA = "De Luca arm, 2 links x 2 modes"

HEADER = """#include <math.h>
void run(long count, const double *restrict Q, const double *restrict V,
         const double *restrict X, double *restrict OUT)
{
    for (long i = 0; i < count; i++) {
        const double *q = Q + i * N, *v = V + i * N, *x = X + i * N;
        double *out = OUT + i * N;
"""
# L D L' of the lower half of M, and the solution for r
SOLVE = """        for (int j = 0; j < N; j++) {
            for (int k = 0; k < j; k++) {
                const double l = M[j][k] / M[k][k];
                for (int a = j; a < N; a++) {
                    M[a][j] -= M[a][k] * l;
                }
                r[j] -= l * r[k];
            }
        }
        for (int j = N - 1; j >= 0; j--) {
            double sum = r[j];
            for (int a = j + 1; a < N; a++) {
                sum -= M[a][j] * out[a];
            }
            out[j] = sum / M[j][j];
        }
"""


class Angle:
    """Stands for an angle in code for NumPy, which asks entries for sine and cosine."""

    def __new__(cls, name: str) -> Any:
        import sympy

        methods = {"cos": lambda self: sympy.cos(self), "sin": lambda x: sympy.sin(x)}
        return type("Angle", (sympy.Symbol,), methods)(name, real=True)


@cache
def _symbols(n: int) -> tuple[list[Any], list[Any], list[Any]]:
    import sympy

    q = [Angle(f"q{i}") for i in range(n)]
    v, x = ([sympy.Symbol(f"{s}{i}", real=True) for i in range(n)] for s in "vx")
    return q, v, x


@cache
def two_rods() -> tuple[Any, Any]:
    """Mass matrix and bias forces of the rigid arm, from its Lagrangian."""
    import sympy as sp

    q, v, _ = _symbols(2)
    arm = arm_of("2 joints")
    first, second = arm.bodies
    length = float(np.array(first.node_position)[-1][0])
    turns = [sp.rot_ccw_axis3(q[0]), None]
    turns[1] = turns[0] * sp.rot_ccw_axis2(q[1])
    T = V = sp.Integer(0)
    origin = sp.zeros(3, 1)
    for body, R in zip((first, second), turns, strict=True):
        where = origin + R * sp.Matrix(np.array(body.com).tolist())
        rate = where.diff(q[0]) * v[0] + where.diff(q[1]) * v[1]
        spin = R.T * (R.diff(q[0]) * v[0] + R.diff(q[1]) * v[1])
        omega = sp.Matrix([spin[2, 1], spin[0, 2], spin[1, 0]])
        inertia = sp.Matrix(np.array(body.inertia).tolist())
        T += (body.mass * rate.dot(rate) + omega.dot(inertia * omega)) / 2
        V -= body.mass * sp.Matrix(np.array(arm.gravity).tolist()).dot(where)
        origin = R * sp.Matrix([length, 0, 0])
    T = sp.trigsimp(sp.expand(T))
    M = sp.hessian(T, v)
    momentum = M * sp.Matrix(v)
    bias = momentum.jacobian(q) * sp.Matrix(v) - sp.Matrix([(T - V).diff(x) for x in q])
    return M, bias


def closed_form() -> tuple[Any, Any]:
    """Mass matrix and all other forces of the paper's arm."""
    import sympy as sp

    q, v, _ = _symbols(6)
    constants = paper.paper_arm()
    positions, rates = np.array(q, dtype=object), np.array(v, dtype=object)
    M = paper.mass_matrix(constants, positions)
    h = paper.velocity_forces(constants, positions, rates)
    return sp.Matrix(M), sp.Matrix(h + constants.stiffness * positions)


def _assignments(pairs: Sequence[tuple[str, Any]]) -> list[str]:
    """Lines of C with common parts first."""
    import sympy as sp

    names, expressions = zip(*pairs, strict=True)
    common, results = sp.cse(expressions, symbols=sp.numbered_symbols("c_"))
    lines = [f"        const double {s} = {sp.ccode(e)};" for s, e in common]
    results = [sp.ccode(e) for e in results]
    return lines + [
        f"        {name} = {text};" for name, text in zip(names, results, strict=True)
    ]


def c_source(M: Any, bias: Any, job: str) -> str:
    """Loop over states for forward or inverse dynamics."""
    import sympy as sp

    n = len(bias)
    names = [
        f"        const double {s}{i} = {s}[{i}];" for s in "qvx" for i in range(n)
    ]
    x = sp.Matrix(_symbols(n)[2])
    text = [f"#define N {n}", HEADER, *names]
    if job == INVERSE:
        forces = M * x + bias
        text += _assignments([(f"out[{i}]", forces[i]) for i in range(n)])
    elif n == 2:
        solved = M.adjugate() * (x - bias) / M.det()
        text += _assignments([(f"out[{i}]", solved[i]) for i in range(n)])
    else:
        text.append("        double M[N][N], r[N];")
        pairs = [(f"M[{j}][{k}]", M[j, k]) for j in range(n) for k in range(j + 1)]
        pairs += [(f"r[{i}]", x[i] - bias[i]) for i in range(n)]
        text += [*_assignments(pairs), SOLVE]
    return "\n".join([*text, "    }", "}", ""])


@cache
def _library(source: str, level: str) -> Any:
    """The loop, compiled; None without a compiler."""
    name = f"sympy_{abs(hash((source, level)))}"
    path = folder() / f"{name}.c"
    path.write_text(source)
    return build(path, name, ["-lm"], (level, "-march=native"))


def _native(source: str, x: tuple[Array, ...]) -> list[tuple[str, Any, Any]]:
    """The loop, compiled in two ways: name, action, results."""
    found = []
    for title, level in ((C_STRICT, "-O3"), (C_FAST, "-Ofast")):
        library = _library(source, level)
        if library is None:
            return []
        out = np.empty_like(x[0])
        places = [pointer(y) for y in (*x, out)]
        action = held(partial(library.run, len(out), *places), x, out)
        found.append((title, action, out))
    return found


def _lambdified(M: Any, bias: Any, job: str, x: tuple[Array, ...]) -> Callable[[], Any]:
    """The same for NumPy arrays."""
    import sympy as sp

    q, v, last = _symbols(2)
    rest = sp.Matrix(last)
    if job == INVERSE:
        result = M * rest + bias
    else:
        result = M.adjugate() * (rest - bias) / M.det()
    function = sp.lambdify([*q, *v, *last], list(result), cse=True)
    columns = [np.ascontiguousarray(y[:, i]) for y in x for i in range(2)]
    return lambda: np.stack(function(*columns), axis=-1)


def rigid(job: str, sizes: Sizes) -> Sequence[Race]:
    """The rigid arm of two joints."""
    arm, found = arm_of("2 joints"), []
    M, bias = two_rods()
    source = c_source(M, bias, job)
    for count in sizes.batches:
        if count == 1:
            continue
        x = states(arm, count)
        call, right, _ = flexarm_calls(arm, job, x)
        call()
        own = (x.q, x.qd, x.tau if job == FORWARD else x.qdd)
        contenders = [Contender("flexarm", call, count)]
        for title, action, out in _native(source, own):
            action()
            agree(title, out, right, 1e-9)
            contenders.append(Contender(title, action, count))
        by_numpy = _lambdified(M, bias, job, own)
        agree(BY_NUMPY, by_numpy(), right, 1e-9)
        contenders.append(Contender(BY_NUMPY, by_numpy, count))
        found.append(Race(Group.SYMBOLIC, "2 joints", job, count, contenders))
    return found


def _small(count: int, seed: int = 0) -> States:
    """States of the De Luca arm, bent by some percent."""
    rng = np.random.default_rng(seed)
    q = rng.uniform(-np.pi, np.pi, (count, 6))
    q[:, 2:] *= 0.05 / np.pi
    tau = rng.normal(size=(count, 6))
    return States(q, rng.normal(size=(count, 6)), tau, tau)


def flexible(sizes: Sizes) -> Sequence[Race]:
    """The flexible arm of the paper."""
    arm, constants, found = fa.library.de_luca_siciliano(), paper.paper_arm(), []
    source = c_source(*closed_form(), FORWARD)
    straight = _small(CHECKED)
    straight.q[:, 2:], straight.qd[:, 2:] = 0.0, 0.0
    straight.tau[:, 2:] = 0.0
    full = fa.forward_dynamics(arm, straight.q, straight.qd, straight.tau)
    cut = paper.forward_dynamics(
        constants, straight.q, straight.qd, straight.tau[:, :2]
    )
    agree("the paper's arm, straight,", cut, full, 1e-8)
    for count in sizes.batches:
        if count == 1:
            continue
        x = _small(count)
        x.tau[:, 2:] = 0.0
        call, _, _ = flexarm_calls(arm, FORWARD, x)
        contenders = [Contender("flexarm", call, count)]
        right = paper.forward_dynamics(constants, x.q, x.qd, x.tau[:, :2])
        own = (x.q, x.qd, x.tau)
        for title, action, out in _native(source, own):
            action()
            agree(title, out[:CHECKED], right[:CHECKED], 1e-8)
            contenders.append(Contender(title, action, count))
        few = min(count, 1000)
        args = (constants, x.q[:few], x.qd[:few], x.tau[:few, :2].copy())
        closed = partial(paper.forward_dynamics, *args)
        contenders.append(Contender("the paper's closed form, NumPy", closed, few))
        note = "closed forms are those of the paper, cut after the first order"
        found.append(
            Race(Group.SYMBOLIC, DE_LUCA, FORWARD, count, contenders, notes=(note,))
        )
    return found


def cases() -> list[Case]:
    """Both arms; none without SymPy."""
    if importlib.util.find_spec("sympy") is None:
        return []
    return [
        *(
            Case(f"symbolic, 2 joints, {job}", partial(rigid, job))
            for job in (FORWARD, INVERSE)
        ),
        Case(f"symbolic, {DE_LUCA}, {FORWARD}", flexible),
    ]
