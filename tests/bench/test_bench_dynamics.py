"""Speed of the kernels beside Pinocchio, LAPACK, closed form and twin.

    python3 -m pytest tests/bench

Every round runs the contenders in turn, so that a busy machine slows them alike; the
table has the medians of times and of ratios.  Nothing is asserted about time, only
that the contenders agree.  ``FLEXARM_BENCH_SMOKE=1`` is a short run for CI.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from races import BATCH, SMOKE, Array, Contender, Contest, loop

import flexarm as fa
from flexarm.reference import de_luca_siciliano as paper
from flexarm.reference import twin

RIGID = ("puma560", "iiwa14")
# States of the slow contenders.
SMALL_BATCH = 4


def states(arm: fa.Arm, seed: int = 0) -> tuple[Array, Array, Array]:
    """Positions, velocities and forces of a batch; deflections of some percent."""
    rng = np.random.default_rng(seed)
    q = rng.uniform(-np.pi, np.pi, (BATCH, arm.nq))
    q[:, arm.nu :] *= 0.05 / np.pi
    return q, rng.normal(size=(BATCH, arm.nv)), rng.normal(size=(BATCH, arm.nv))


# rigid arms, beside Pinocchio


@pytest.mark.parametrize("name", RIGID)
@pytest.mark.parametrize("kind", ["forward", "inverse"])
def test_rigid_batch(contest: Contest, name: str, kind: str) -> None:
    pin = pytest.importorskip("pinocchio")
    from pinocchio_models import to_pinocchio

    arm: fa.Arm = getattr(fa.library, name)()
    other = to_pinocchio(arm)
    q, qd, last = states(arm)
    ours: Callable[..., Any]
    if kind == "forward":
        ours, theirs, batched = fa.forward_dynamics, pin.aba, pin.abaInParallel
    else:
        ours, theirs, batched = fa.inverse_dynamics, pin.rnea, pin.rneaInParallel
    pool = pin.ModelPool(other.model, 1)
    mine, columns = np.empty_like(q), np.empty_like(q.T, order="F")
    contest(
        f"{kind} dynamics, {name}, batch",
        [
            Contender("flexarm", lambda: ours(arm, q, qd, last, out=mine), BATCH),
            Contender(
                "pin, its own batch in C++, one thread",
                lambda: batched(1, pool, q.T, qd.T, last.T, columns),
                BATCH,
            ),
            Contender(
                "pin, loop in Python",
                loop(lambda *x: theirs(other.model, other.data, *x), q, qd, last),
                BATCH,
            ),
            Contender(
                "the loop in Python around nothing",
                loop(lambda *_: None, q, qd, last),
                BATCH,
            ),
        ],
    )
    assert_allclose(mine, columns.T, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", RIGID)
def test_rigid_batch_of_mass_matrices(contest: Contest, name: str) -> None:
    pin = pytest.importorskip("pinocchio")
    from pinocchio_models import to_pinocchio

    arm: fa.Arm = getattr(fa.library, name)()
    other = to_pinocchio(arm)
    q = states(arm)[0]
    contest(
        f"mass matrix, {name}, batch",
        [
            Contender("flexarm", lambda: fa.mass_matrix(arm, q), BATCH),
            Contender(
                "pin, loop in Python",
                loop(lambda x: pin.crba(other.model, other.data, x), q),
                BATCH,
            ),
        ],
    )
    M = other.mass_matrix(q[0])
    assert_allclose(fa.mass_matrix(arm, q[0]), M, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", RIGID)
@pytest.mark.parametrize("kind", ["forward", "inverse", "mass matrix"])
def test_rigid_alone(contest: Contest, name: str, kind: str) -> None:
    pin = pytest.importorskip("pinocchio")
    from pinocchio_models import to_pinocchio

    arm: fa.Arm = getattr(fa.library, name)()
    other = to_pinocchio(arm)
    model, data = other.model, other.data
    q, qd, last = (x[0].copy() for x in states(arm))
    pairs: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
        "forward": (
            lambda: fa.forward_dynamics(arm, q, qd, last),
            lambda: pin.aba(model, data, q, qd, last),
        ),
        "inverse": (
            lambda: fa.inverse_dynamics(arm, q, qd, last),
            lambda: pin.rnea(model, data, q, qd, last),
        ),
        "mass matrix": (
            lambda: fa.mass_matrix(arm, q),
            lambda: pin.crba(model, data, q),
        ),
    }
    ours, theirs = pairs[kind]
    title = kind if kind == "mass matrix" else f"{kind} dynamics"
    contest(
        f"{title}, {name}, one state a call",
        [Contender("flexarm", ours), Contender("pin", theirs)],
    )


# the arm of De Luca and Siciliano, two flexible links


def dense(arm: fa.Arm, q: Array, qd: Array, tau: Array) -> Array:
    """Forward dynamics by LAPACK in NumPy, on the kernels' mass matrix and forces."""
    rest = tau - fa.bias_forces(arm, q, qd)
    return np.asarray(
        np.linalg.solve(fa.mass_matrix(arm, q), rest[..., np.newaxis])[..., 0]
    )


def cholesky(arm: fa.Arm, q: Array, qd: Array, tau: Array) -> Array:
    """The same for one state by SciPy's Cholesky factors."""
    from scipy.linalg import cho_factor, cho_solve

    factor = cho_factor(fa.mass_matrix(arm, q), check_finite=False)
    rest = tau - fa.bias_forces(arm, q, qd)
    return np.asarray(cho_solve(factor, rest, check_finite=False))


def test_flexible_forward_batch(contest: Contest) -> None:
    arm, constants = fa.library.de_luca_siciliano(), paper.paper_arm()
    q, qd, tau = states(arm)
    u = tau[:, :2].copy()
    result = np.empty_like(q)
    contest(
        "forward dynamics, De Luca arm (2 + 4 coordinates), batch",
        [
            Contender(
                "flexarm, articulated bodies",
                lambda: fa.forward_dynamics(arm, q, qd, tau, out=result),
                BATCH,
            ),
            Contender(
                "flexarm, composite bodies and LAPACK in C",
                lambda: fa.forward_dynamics(arm, q, qd, tau, method="composite"),
                BATCH,
            ),
            Contender(
                "kernels' M and C, LAPACK by NumPy",
                lambda: dense(arm, q, qd, tau),
                BATCH,
            ),
            Contender(
                "closed form of the paper (cut M), NumPy",
                lambda: paper.forward_dynamics(constants, q, qd, u),
                BATCH,
            ),
            Contender(
                "twin, NumPy, state by state",
                loop(
                    lambda *x: twin.forward_dynamics(arm, *x),
                    *(x[:SMALL_BATCH] for x in (q, qd, tau)),
                ),
                SMALL_BATCH,
            ),
        ],
    )
    assert_allclose(result, dense(arm, q, qd, tau), rtol=1e-6, atol=1e-6)
    reference = twin.forward_dynamics(arm, q[0], qd[0], tau[0])
    assert_allclose(result[0], reference, rtol=1e-8)


@pytest.mark.parametrize("kind", ["inverse dynamics", "mass matrix"])
def test_flexible_batch(contest: Contest, kind: str) -> None:
    arm, constants = fa.library.de_luca_siciliano(), paper.paper_arm()
    q, qd, qdd = states(arm)
    if kind == "mass matrix":
        contenders = [
            Contender("flexarm", lambda: fa.mass_matrix(arm, q), BATCH),
            Contender(
                "closed form of the paper (cut M), NumPy",
                lambda: paper.mass_matrix(constants, q),
                BATCH,
            ),
            Contender(
                "twin, NumPy, state by state",
                loop(lambda x: twin.mass_matrix(arm, x), q[:SMALL_BATCH]),
                SMALL_BATCH,
            ),
        ]
    else:
        result = np.empty_like(q)
        contenders = [
            Contender(
                "flexarm",
                lambda: fa.inverse_dynamics(arm, q, qd, qdd, out=result),
                BATCH,
            ),
            Contender(
                "twin, NumPy, state by state",
                loop(
                    lambda *x: twin.inverse_dynamics(arm, *x),
                    *(x[:SMALL_BATCH] for x in (q, qd, qdd)),
                ),
                SMALL_BATCH,
            ),
        ]
    contest(f"{kind}, De Luca arm, batch", contenders)


def test_flexible_forward_alone(contest: Contest) -> None:
    arm, constants = fa.library.de_luca_siciliano(), paper.paper_arm()
    q, qd, tau = (x[0].copy() for x in states(arm))
    contest(
        "forward dynamics, De Luca arm, one state a call",
        [
            Contender("flexarm", lambda: fa.forward_dynamics(arm, q, qd, tau)),
            Contender(
                "kernels' M and C, LAPACK by SciPy", lambda: cholesky(arm, q, qd, tau)
            ),
            Contender(
                "closed form of the paper (cut M), NumPy",
                lambda: paper.forward_dynamics(constants, q, qd, tau[:2]),
            ),
            Contender("twin, NumPy", lambda: twin.forward_dynamics(arm, q, qd, tau)),
        ],
    )


# a run of 2 s in 2000 Runge-Kutta steps, time per acceleration


def python_steps(arm: fa.Arm, q: Array, qd: Array, steps: int) -> Array:
    """The same Runge-Kutta steps in Python, on the kernel."""
    tau, h = np.zeros(arm.nu), 1e-3
    for _ in range(steps):
        sums, x, v = np.zeros((2, arm.nv)), q, qd
        for weight, ahead in ((1.0, 0.5), (2.0, 0.5), (2.0, 1.0), (1.0, 0.0)):
            a = fa.forward_dynamics(arm, x, v, tau)
            sums += weight * np.stack([v, a])
            x, v = q + ahead * h * v, qd + ahead * h * a
        q, qd = q + h / 6.0 * sums[0], qd + h / 6.0 * sums[1]
    return q


def test_run(contest: Contest) -> None:
    arm, constants = fa.library.de_luca_siciliano(), paper.paper_arm()
    start = np.array([0.0, 0.0, 0.0, 0.0, 0.1, 0.002])
    rest, steps, few = np.zeros(6), 200 if SMOKE else 2000, 20
    t = 1e-3 * np.arange(steps + 1)
    many = start * np.linspace(0.5, 1.0, 64)[:, np.newaxis]
    contest(
        f"{steps} Runge-Kutta steps, De Luca arm, time of an acceleration",
        [
            Contender(
                "flexarm, one run",
                lambda: fa.simulate(arm, start, rest, t, progress=False),
                4 * steps,
            ),
            Contender(
                "flexarm, 64 runs in one call",
                lambda: fa.simulate(arm, many, rest, t, progress=False),
                4 * steps * 64,
            ),
            Contender(
                "the steps in Python, kernel by gufunc",
                lambda: python_steps(arm, start, rest, few),
                4 * few,
            ),
            Contender(
                "closed form of the paper (cut M), NumPy",
                lambda: paper.simulate(
                    constants, start, rest, np.zeros((few, 2)), 1e-3
                ),
                4 * few,
            ),
        ],
    )
    run = fa.simulate(arm, start, rest, t, progress=False)
    assert_allclose(run.q[few], python_steps(arm, start, rest, few), atol=1e-13)
