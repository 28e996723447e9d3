"""Speed of the derivatives of the dynamics: beside differences, and Pinocchio.

    python3 -m pytest tests/bench/test_bench_derivatives.py

The ratio to inverse dynamics itself is what an integrator pays for a tangent, that to
forward dynamics what an optimization of motions does.  Central
differences take two evaluations for each of ``2 nv`` columns, all in one batch call.
"""

from __future__ import annotations

import numpy as np
import pytest
from chains import spatial_chain, states
from numpy.testing import assert_allclose
from races import BATCH, Array, Contender, Contest, loop

import flexarm as fa

# States of a batch of large matrices.
SMALL_BATCH = 256
FLEXIBLE = {
    "2 joints x 3 modes": lambda: spatial_chain(2, 3),
    "De Luca arm (2 + 4 coordinates)": fa.library.de_luca_siciliano,
    "4 joints x 3 modes": lambda: spatial_chain(4, 3),
    "7 joints x 4 modes": lambda: spatial_chain(7, 4),
}


def differences(arm: fa.Arm, q: Array, qd: Array, qdd: Array) -> Array:
    """Both derivatives by central differences, (..., 2, nv, nv); plain coordinates."""
    h = 1e-6
    steps = h * np.eye(arm.nv)
    q, qd, qdd = (x[..., np.newaxis, :] for x in (q, qd, qdd))
    by_q = fa.inverse_dynamics(arm, q + steps, qd, qdd)
    by_q -= fa.inverse_dynamics(arm, q - steps, qd, qdd)
    by_qd = fa.inverse_dynamics(arm, q, qd + steps, qdd)
    by_qd -= fa.inverse_dynamics(arm, q, qd - steps, qdd)
    both = np.stack([by_q, by_qd], axis=-3) / (2 * h)
    return np.asarray(np.swapaxes(both, -2, -1))


def assert_near(found: Array, expected: Array) -> None:
    scale = np.abs(expected).max()
    assert_allclose(found, expected, rtol=0, atol=1e-6 * scale)


@pytest.mark.parametrize("name", ["puma560", "iiwa14"])
def test_rigid_batch(contest: Contest, name: str) -> None:
    pin = pytest.importorskip("pinocchio")
    from pinocchio_models import to_pinocchio

    arm: fa.Arm = getattr(fa.library, name)()
    other = to_pinocchio(arm)
    q, qd, qdd = states(arm, BATCH)
    out, tau = np.empty((BATCH, 2, arm.nv, arm.nv)), np.empty_like(q)

    def theirs(*row: Array) -> None:
        pin.computeRNEADerivatives(other.model, other.data, *row)

    contest(
        f"derivatives of inverse dynamics, {name}, batch",
        [
            Contender(
                "flexarm",
                lambda: fa.inverse_dynamics_derivatives(arm, q, qd, qdd, out=out),
                BATCH,
            ),
            Contender("pin, loop in Python", loop(theirs, q, qd, qdd), BATCH),
            Contender(
                "flexarm, central differences",
                lambda: differences(
                    arm, q[:SMALL_BATCH], qd[:SMALL_BATCH], qdd[:SMALL_BATCH]
                ),
                SMALL_BATCH,
            ),
            Contender(
                "flexarm, inverse dynamics alone",
                lambda: fa.inverse_dynamics(arm, q, qd, qdd, out=tau),
                BATCH,
            ),
        ],
    )
    dq, dqd, _ = pin.computeRNEADerivatives(
        other.model, other.data, q[0], qd[0], qdd[0]
    )
    assert_near(out[0], np.stack([dq, dqd]))


@pytest.mark.parametrize("name", ["puma560", "iiwa14"])
def test_rigid_alone(contest: Contest, name: str) -> None:
    pin = pytest.importorskip("pinocchio")
    from pinocchio_models import to_pinocchio

    arm: fa.Arm = getattr(fa.library, name)()
    other = to_pinocchio(arm)
    q, qd, qdd = states(arm, 1)
    contest(
        f"derivatives of inverse dynamics, {name}, one state a call",
        [
            Contender(
                "flexarm", lambda: fa.inverse_dynamics_derivatives(arm, q, qd, qdd)
            ),
            Contender(
                "pin",
                lambda: pin.computeRNEADerivatives(other.model, other.data, q, qd, qdd),
            ),
            Contender(
                "flexarm, central differences", lambda: differences(arm, q, qd, qdd)
            ),
            Contender(
                "flexarm, inverse dynamics alone",
                lambda: fa.inverse_dynamics(arm, q, qd, qdd),
            ),
        ],
    )


@pytest.mark.parametrize("name", FLEXIBLE)
@pytest.mark.parametrize("count", [SMALL_BATCH, 1])
def test_flexible(contest: Contest, name: str, count: int) -> None:
    arm = FLEXIBLE[name]()
    q, qd, qdd = states(arm, count)
    out, tau = np.empty((*q.shape[:-1], 2, arm.nv, arm.nv)), np.empty_like(q)
    how = "one state a call" if count == 1 else "batch"
    contest(
        f"derivatives of inverse dynamics, {name}, {how}",
        [
            Contender(
                "flexarm",
                lambda: fa.inverse_dynamics_derivatives(arm, q, qd, qdd, out=out),
                count,
            ),
            Contender(
                "flexarm, central differences",
                lambda: differences(arm, q, qd, qdd),
                count,
            ),
            Contender(
                "flexarm, inverse dynamics alone",
                lambda: fa.inverse_dynamics(arm, q, qd, qdd, out=tau),
                count,
            ),
            Contender(
                "flexarm, mass matrix alone", lambda: fa.mass_matrix(arm, q), count
            ),
        ],
    )
    assert_near(out, differences(arm, q, qd, qdd))


@pytest.mark.parametrize("name", ["puma560", "iiwa14"])
def test_forward_of_rigid_arms(contest: Contest, name: str) -> None:
    pin = pytest.importorskip("pinocchio")
    from pinocchio_models import to_pinocchio

    arm: fa.Arm = getattr(fa.library, name)()
    other = to_pinocchio(arm)
    q, qd, tau = states(arm, BATCH)
    out, qdd = np.empty((BATCH, 3, arm.nv, arm.nv)), np.empty_like(q)

    def theirs(*row: Array) -> None:
        pin.computeABADerivatives(other.model, other.data, *row)

    contest(
        f"derivatives of forward dynamics, {name}, batch",
        [
            Contender(
                "flexarm",
                lambda: fa.forward_dynamics_derivatives(arm, q, qd, tau, out=out),
                BATCH,
            ),
            Contender("pin, loop in Python", loop(theirs, q, qd, tau), BATCH),
            Contender(
                "flexarm, forward dynamics alone",
                lambda: fa.forward_dynamics(arm, q, qd, tau, out=qdd),
                BATCH,
            ),
            Contender(
                "flexarm, derivatives of inverse dynamics",
                lambda: fa.inverse_dynamics_derivatives(arm, q, qd, tau),
                BATCH,
            ),
        ],
    )
    pin.computeABADerivatives(other.model, other.data, q[0], qd[0], tau[0])
    assert_near(out[0, :2], np.stack([other.data.ddq_dq, other.data.ddq_dv]))


@pytest.mark.parametrize("name", FLEXIBLE)
def test_forward_of_flexible_arms(contest: Contest, name: str) -> None:
    arm = FLEXIBLE[name]()
    q, qd, tau = states(arm, SMALL_BATCH)
    out, qdd = np.empty((SMALL_BATCH, 3, arm.nv, arm.nv)), np.empty_like(q)
    change = np.ones_like(q)
    contest(
        f"derivatives of forward dynamics, {name}, batch",
        [
            Contender(
                "flexarm",
                lambda: fa.forward_dynamics_derivatives(arm, q, qd, tau, out=out),
                SMALL_BATCH,
            ),
            Contender(
                "flexarm, along one direction",
                lambda: fa.Arm.forward_dynamics_jvp(
                    arm, q, qd, tau, change, change, change, out=qdd
                ),
                SMALL_BATCH,
            ),
            Contender(
                "flexarm, forward dynamics alone",
                lambda: fa.forward_dynamics(arm, q, qd, tau, out=qdd),
                SMALL_BATCH,
            ),
        ],
    )
    fa.forward_dynamics(arm, q, qd, tau, out=qdd)
    forces = fa.inverse_dynamics_derivatives(arm, q, qd, qdd)
    expected = -np.linalg.solve(fa.mass_matrix(arm, q), np.concatenate(forces, axis=-1))
    assert_near(np.concatenate([out[:, 0], out[:, 1]], axis=-1), expected)
