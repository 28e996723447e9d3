r"""Closed-form model of a planar two-link flexible arm, two modes on each link.

A. De Luca, B. Siciliano, "Closed-Form Dynamic Model of Planar Multilink Lightweight
Robots", IEEE Trans. SMC 21(4), 1991, section VI and appendix:

.. math:: B(q)\,\ddot q + h(q, \dot q) + D\dot q + K q = Q u, \qquad
   q = (\theta_1, \theta_2, \delta_{11}, \delta_{12}, \delta_{21}, \delta_{22})

with B of (32), the deflection sums t of (33), h of (34) and K of (35).  Numbers in
parentheses are the paper's.  B is cut after the first order in the deflections; h is
the exact Christoffel vector of the cut B, so energy and the momentum of the whole arm
are exact invariants of free motion.

Five coefficients of the appendix are wrong as printed, :math:`h_{107}, h_{117},
h_{118}, h_{412}, h_{413}`: `coefficients` corrects them, ``printed=True`` keeps them.
With them free motion gains energy.  The cut B is not positive definite for large
deflection (at theta_2 = 90 degrees from delta_11 = -0.296 on, 55 mm at the tip).

Units are SI, angles in rad; the modes of link i are normalized to its mass, so the
deflections are in m.  States may have leading axes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._support.arrays import AnyArray as Array
from .de_luca_arm import (
    BENDS,
    Coefficients,
    LinkModes,
    Parameters,
    coefficients,
    paper_arm,
    paper_modes,
)
from .de_luca_full import full_kinetic_energy

__all__ = [
    "Coefficients",
    "LinkModes",
    "Parameters",
    "Trajectory",
    "coefficients",
    "energy",
    "forward_dynamics",
    "full_kinetic_energy",
    "mass_matrix",
    "momentum",
    "paper_arm",
    "paper_modes",
    "simulate",
    "stiffness_matrix",
    "tip_position",
    "velocity_forces",
]


def _sums(c: Coefficients, q: Array) -> tuple[Array, Array, Array]:
    """Deflection sums t_1, t_2, t_3 of (33)."""
    t1 = c.t[0, 0] * q[..., 2] + c.t[0, 1] * q[..., 3]
    t2 = c.t[1, 0] * q[..., 4] + c.t[1, 1] * q[..., 5]
    t3 = c.t[2, 0] * q[..., 2] + c.t[2, 1] * q[..., 3]
    return t1, t2, t3


def mass_matrix(c: Coefficients, q: ArrayLike) -> Array:
    """Mass matrix B (32), of first order in the deflections.

    Parameters
    ----------
    c : Coefficients
        Constants of the arm.
    q : (..., 6) array_like
        Positions, in rad and m.

    Returns
    -------
    B : (..., 6, 6) ndarray
        Symmetric; indefinite for large deflection.

    Examples
    --------
    Inertia about the shoulder of the stretched and of the folded arm, in kg m^2:

    >>> import numpy as np
    >>> from flexarm.reference import de_luca_siciliano as model
    >>> q = np.zeros((2, 6))
    >>> q[1, 1] = np.pi
    >>> model.mass_matrix(model.paper_arm(), q)[:, 0, 0].round(6)
    array([0.617167, 0.467167])
    """
    q = np.asarray(q)
    c2, s2 = np.cos(q[..., 1]), np.sin(q[..., 1])
    bends = dict(zip(("t1", "t2", "t3"), _sums(c, q), strict=True))
    bends |= {"d11": q[..., 2], "d12": q[..., 3]}
    factors = [np.ones_like(c2), c2, *(bends[name] * s2 for name in BENDS)]
    B = np.stack(factors, axis=-1) @ c.entries
    return np.asarray(B).reshape(*q.shape[:-1], 6, 6)


def velocity_forces(c: Coefficients, q: ArrayLike, qd: ArrayLike) -> Array:
    """Centrifugal and Coriolis forces h (34).

    Parameters
    ----------
    c : Coefficients
        Constants of the arm.
    q, qd : (..., 6) array_like
        Positions and velocities; leading axes broadcast.

    Returns
    -------
    h : (..., 6) ndarray
        In N m for the joints, in N for the modes.

    Examples
    --------
    On the elbow, in N m: 0.5 m times 4 rad^2/s^2 times the first moment of link 2 and
    payload, 0.1 kg 0.25 m + 0.1 kg 0.5 m:

    >>> import numpy as np
    >>> from flexarm.reference import de_luca_siciliano as model
    >>> c, q = model.paper_arm(), [0.0, np.pi / 2, 0.0, 0.0, 0.0, 0.0]
    >>> qd = [2.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    >>> model.velocity_forces(c, q, qd)[:2].round(6) + 0.0
    array([0.  , 0.15])
    """
    q, qd = np.broadcast_arrays(q, qd)
    t, rates = _sums(c, q), tuple(np.moveaxis(qd, -1, 0))
    d11, d12 = q[..., 2], q[..., 3]
    rows = [
        _first_row(c.h[1], (d11, d12), rates, t),
        _second_row(c.h[2], (d11, d12), rates, t),
        _link1_row(c.h[3], (d12, rates[3]), rates, t),
        _link1_row(c.h[4], (d11, rates[2]), rates, t),
        _link2_row(c.h[5], rates, t),
        _link2_row(c.h[6], rates, t),
    ]
    c2, s2 = np.cos(q[..., 1]), np.sin(q[..., 1])
    return np.stack([sine * s2 + cosine * c2 for sine, cosine in rows], axis=-1)


# Rows of (34): factors of sin(theta_2), then of cos(theta_2).
# Rates: a1, a2 of the joints, e1, e2 of link 1, f1, f2 of link 2; h[7] is h_107.

Parts = tuple[Array, ...]


def _first_row(h: tuple[float, ...], d: Parts, rates: Parts, t: Parts) -> Parts:
    a1, a2, e1, e2, f1, f2 = rates
    t1, t2, _ = t
    sine = (h[1] * a2 + h[2] * e1 + h[3] * e2 + h[4] * f1 + h[5] * f2) * a1
    sine = sine + (h[6] * a2 + h[7] * e1 + h[8] * e2 + h[9] * f1 + h[10] * f2) * a2
    sine = sine + (h[11] * f1 + h[12] * f2) * e1 + (h[13] * f1 + h[14] * f2) * e2
    cosine = (h[15] * a1 + h[16] * a2 + h[17] * f1 + h[18] * f2) * t1
    cosine = cosine + (h[19] * a1 + h[20] * a2 + h[21] * e1 + h[22] * e2) * t2
    cosine = cosine + h[23] * d[1] * e1 + h[24] * d[0] * e2
    return sine, cosine * a2


def _second_row(h: tuple[float, ...], d: Parts, rates: Parts, t: Parts) -> Parts:
    a1, _, e1, e2, f1, f2 = rates
    t1, t2, t3 = t
    sine = (h[1] * a1 + h[2] * e1 + h[3] * e2) * a1
    turning = (h[4] * a1 + h[5] * f1 + h[6] * f2) * t1
    turning = turning + (h[7] * a1 + h[8] * e1 + h[9] * e2) * t2
    turning = turning + h[10] * d[1] * e1 + h[11] * d[0] * e2
    bending1 = (h[12] * e1 + h[13] * e2) * t2 + (h[14] * f1 + h[15] * f2) * t3
    bending2 = h[16] * e2 * t2 + (h[17] * f1 + h[18] * f2) * t3
    return sine, turning * a1 + bending1 * e1 + bending2 * e2


def _link1_row(h: tuple[float, ...], other: Parts, rates: Parts, t: Parts) -> Parts:
    """Rows 3 and 4, with position and rate of the other mode of link 1."""
    a1, a2, e1, e2, f1, f2 = rates
    _, t2, t3 = t
    sine = (h[1] * a1 + h[2] * a2 + h[3] * other[1] + h[4] * f1 + h[5] * f2) * a1
    sine = sine + (h[6] * a2 + h[7] * e1 + h[8] * e2 + h[9] * f1 + h[10] * f2) * a2
    sine = sine + (h[11] * f1 + h[12] * f2) * e1 + (h[13] * f1 + h[14] * f2) * e2
    cosine = (h[15] * a1 + h[16] * a2 + h[17] * e1 + h[18] * e2) * t2
    cosine = (
        cosine + (h[19] * a2 + h[20] * f1 + h[21] * f2) * t3 + h[22] * other[0] * a1
    )
    return sine, cosine * a2


def _link2_row(h: tuple[float, ...], rates: Parts, t: Parts) -> Parts:
    """Rows 5 and 6."""
    a1, a2, e1, e2, _, _ = rates
    sine = (h[1] * a1 + h[2] * e1 + h[3] * e2) * a1
    return sine, (h[4] * t[0] * a1 + (h[5] * e1 + h[6] * e2) * t[2]) * a2


def stiffness_matrix(c: Coefficients) -> NDArray[np.float64]:
    """Stiffness K (35), zero for the joints.

    Parameters
    ----------
    c : Coefficients
        Constants of the arm.

    Returns
    -------
    K : (6, 6) ndarray
        Diagonal, in N/m.

    Examples
    --------
    >>> from flexarm.reference import de_luca_siciliano as model
    >>> c = model.paper_arm()
    >>> print(model.stiffness_matrix(c).diagonal()[:4].round(3))  # N/m
    [ 0.     0.     0.908 12.743]
    """
    return np.diag(c.stiffness)


def forward_dynamics(
    c: Coefficients,
    q: ArrayLike,
    qd: ArrayLike,
    u: ArrayLike = (0.0, 0.0),
    *,
    damping: ArrayLike = 0.0,
) -> Array:
    """Accelerations from (25): ``B qdd = Q u - h - D qd - K q``.

    Parameters
    ----------
    c : Coefficients
        Constants of the arm.
    q, qd : (..., 6) array_like
        Positions and velocities.
    u : (..., 2) array_like
        Joint torques, in N m.
    damping : (..., 6) array_like or float
        Diagonal of D, in N m s and N s/m.

    Returns
    -------
    qdd : (..., 6) ndarray
        Accelerations.

    Examples
    --------
    >>> import numpy as np
    >>> from flexarm.reference import de_luca_siciliano as model
    >>> c, rest = model.paper_arm(), np.zeros(6)
    >>> qdd = model.forward_dynamics(c, rest, rest, [1.0, 0.0])  # 1 N m at the shoulder
    >>> (model.mass_matrix(c, rest) @ qdd).round(9) + 0.0
    array([1., 0., 0., 0., 0., 0.])
    """
    q, qd, u = np.asarray(q), np.asarray(qd), np.asarray(u)
    rest = -velocity_forces(c, q, qd) - np.asarray(damping) * qd - c.stiffness * q
    force = rest + np.concatenate([u, np.zeros((*u.shape[:-1], 4))], axis=-1)
    B = mass_matrix(c, q)
    return np.asarray(np.linalg.solve(B, force[..., np.newaxis])[..., 0])


class Trajectory(NamedTuple):
    """Result of `simulate`.

    Attributes
    ----------
    q, qd : (n + 1, ..., 6) ndarray
        Positions and velocities before, between and after the n steps.
    """

    q: NDArray[np.float64]
    qd: NDArray[np.float64]


def simulate(
    c: Coefficients,
    q0: ArrayLike,
    qd0: ArrayLike,
    torque: ArrayLike,
    step: float,
    *,
    damping: ArrayLike = 0.0,
) -> Trajectory:
    """Motion by the classical Runge-Kutta method, torque held over each step.

    Parameters
    ----------
    c : Coefficients
        Constants of the arm.
    q0, qd0 : (..., 6) array_like of float
        Initial state; leading axes are separate arms in motion.
    torque : (n, ..., 2) array_like of float
        Joint torques of each of the n steps, in N m.
    step : float
        Length of a step, in s.
    damping : (..., 6) array_like or float
        Diagonal of D, in N m s and N s/m.

    Returns
    -------
    trajectory : Trajectory
        Positions and velocities.

    Examples
    --------
    A bent link 2 swings freely; energy and momentum of the arm stay:

    >>> import numpy as np
    >>> from flexarm.reference import de_luca_siciliano as model
    >>> c = model.paper_arm()
    >>> start = [0.0, 1.0, 0.0, 0.0, 0.05, 0.0]
    >>> run = model.simulate(c, start, np.zeros(6), np.zeros((20, 2)), 1e-4)
    >>> energy = model.energy(c, run.q, run.qd)
    >>> bool(abs(energy / energy[0] - 1.0).max() < 1e-6)
    True
    >>> bool(abs(model.momentum(c, run.q, run.qd)).max() < 1e-6)
    True
    """
    torques = np.asarray(torque, dtype=np.float64)
    shape = np.broadcast_shapes(np.shape(q0), np.shape(qd0), np.shape(damping), (6,))
    shape = (*np.broadcast_shapes(shape[:-1], torques.shape[1:-1]), 6)
    result = Trajectory(*np.empty((2, len(torques) + 1, *shape)))
    result.q[0], result.qd[0] = q0, qd0
    for i, u in enumerate(torques):
        x, v = result.q[i], result.qd[i]
        total_x, total_v, dx, dv = 0.0 * x, 0.0 * v, 0.0 * x, 0.0 * v
        for weight, part in ((1.0, 0.0), (2.0, 0.5), (2.0, 0.5), (1.0, 1.0)):
            here, rate = x + part * step * dx, v + part * step * dv
            dx, dv = rate, forward_dynamics(c, here, rate, u, damping=damping)
            total_x, total_v = total_x + weight * dx, total_v + weight * dv
        result.q[i + 1] = x + step / 6.0 * total_x
        result.qd[i + 1] = v + step / 6.0 * total_v
    return result


def tip_position(c: Coefficients, q: ArrayLike) -> Array:
    """Position of the payload, (2)-(3) with ``E_1 = I + S y'_1e`` of (1).

    Parameters
    ----------
    c : Coefficients
        Constants of the arm.
    q : (..., 6) array_like
        Positions.

    Returns
    -------
    tip : (..., 2) ndarray
        In the inertial frame, in m.

    Examples
    --------
    >>> import numpy as np
    >>> from flexarm.reference import de_luca_siciliano as model
    >>> c = model.paper_arm()
    >>> model.tip_position(c, [0.0, np.pi / 2, 0.0, 0.0, 0.0, 0.0]).round(9)  # in m
    array([0.5, 0.5])
    """
    q = np.asarray(q)
    y1, y2 = q[..., 2:4] @ c.tip[0], q[..., 4:6] @ c.tip[1]
    slope = _sums(c, q)[2]
    x, y = _turn(q[..., 1], c.length[1], y2)
    x, y = x - slope * y, y + slope * x
    return np.stack(_turn(q[..., 0], c.length[0] + x, y1 + y), axis=-1)


def _turn(angle: Array, x: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
    """Components after a rotation by an angle (1)."""
    cosine, sine = np.cos(angle), np.sin(angle)
    return cosine * x - sine * y, sine * x + cosine * y


def energy(c: Coefficients, q: ArrayLike, qd: ArrayLike) -> Array:
    """Kinetic and elastic energy of the cut model, (...), in J.

    Parameters
    ----------
    c : Coefficients
        Constants of the arm.
    q, qd : (..., 6) array_like
        Positions and velocities.

    Returns
    -------
    energy : (...) ndarray
        In J, constant in free motion without damping.

    Examples
    --------
    Elastic energy of 1 cm of the first mode of link 1, in J:

    >>> from flexarm.reference import de_luca_siciliano as model
    >>> c, q, rest = model.paper_arm(), [0, 0, 0.01, 0, 0, 0], [0.0] * 6
    >>> print(model.energy(c, q, rest).round(6), (0.5e-4 * c.stiffness[2]).round(6))
    4.5e-05 4.5e-05
    """
    q, qd = np.asarray(q), np.asarray(qd)
    kinetic = np.einsum("...i,...ij,...j->...", qd, mass_matrix(c, q), qd)
    return np.asarray(0.5 * kinetic + 0.5 * np.sum(c.stiffness * q * q, axis=-1))


def momentum(c: Coefficients, q: ArrayLike, qd: ArrayLike) -> Array:
    """Angular momentum p_1 about joint 1, (...), in N m s.

    Parameters
    ----------
    c : Coefficients
        Constants of the arm.
    q, qd : (..., 6) array_like
        Positions and velocities.

    Returns
    -------
    momentum : (...) ndarray
        In N m s; its rate is the torque of joint 1 less its friction.

    Examples
    --------
    >>> from flexarm.reference import de_luca_siciliano as model
    >>> c = model.paper_arm()
    >>> round(float(model.momentum(c, [0.0] * 6, [1, 0, 0, 0, 0, 0])), 6)  # N m s
    0.617167
    """
    return np.asarray(np.sum(mass_matrix(c, q)[..., 0, :] * np.asarray(qd), axis=-1))
