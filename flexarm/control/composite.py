"""Composite control: the rigid motion slow, the vibration fast, one law for each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._calls.arguments import real_array, refuse_motors
from .._support.description import Description
from .._support.interrupts import uninterrupted
from .._support.options import explained, explained_class
from ..arm import Arm
from ..derivatives import inverse_dynamics_derivatives
from ..dynamics.equations import inverse_dynamics
from ..dynamics.mass import mass_matrix
from ..errors import ArgumentError
from ..linear_models import StateSpace
from ..linear_models.outputs import state_names
from ..statics import equilibrium
from ..statics.coordinates import read_arm
from ._checks import gains, refuse_constraints, refuse_poses, rows
from ._matrices import closed_poles, companion, solve, symmetric, times
from ._states import read_state, with_joints

Array = NDArray[np.float64]

_CORRECTIONS = 3  # of the deflection, each leaves a part of the change of stiffness


class TimeScales(NamedTuple):
    """Separation of the slow and the fast part of a controlled arm.

    Attributes
    ----------
    slow : (...) ndarray of float
        Largest bandwidth of the joints in rad/s.
    fast : (...) ndarray of float
        Lowest frequency of the fast subsystem in rad/s, with free joints.
    separation : (...) ndarray of float
        Their ratio; the theory requires a large one, three or more in practice.
    poles : (..., 2 nv) ndarray of complex
        Of the whole loop about rest, in 1/s.
    """

    slow: Array
    fast: Array
    separation: Array
    poles: NDArray[np.complex128]


@explained
def fast_subsystem(arm: Arm, q: Any) -> StateSpace:
    r"""Vibration of an arm seen from its slow motion, as a linear model.

    The joints neither follow nor hold,

    .. math:: \left( M_{ff} - M_{fj} M_{jj}^{-1} M_{jf} \right) \ddot\eta
        + D \dot\eta + K \eta = - M_{fj} M_{jj}^{-1} \tau_f ,

    of the deviation :math:`\eta` from the deflection that the slow motion makes.

    Parameters
    ----------
    arm : Arm
        Tree without couplings and motors.
    q : (..., nq) array_like of float
        Postures.

    Returns
    -------
    model : StateSpace
        States: modes and their rates; inputs: fast forces of the joints; outputs:
        modes.

    Raises
    ------
    ArgumentError
        If the arm has no modes, or has motors, loops, couplings or quaternions.

    See Also
    --------
    CompositeControl : takes gains for it, such as those of `lqr`.

    Notes
    -----
    B. Siciliano, W. J. Book, "A singular perturbation approach to control of
    lightweight flexible manipulators", *Int. J. Robotics Research* 7(4) (1988), 79-90.

    Examples
    --------
    Frequencies of the arm with free joints in Hz:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.de_luca_siciliano()
    >>> fast = fa.control.fast_subsystem(arm, np.zeros(6))
    >>> s = np.linalg.eigvals(fast.A)
    >>> (np.sort(abs(s)[::2]) / (2.0 * np.pi)).round(2)
    array([ 1.42,  2.64, 16.12, 29.28])
    """
    _check_arm(arm, "fast_subsystem")
    if arm.nv == arm.nu:
        raise ArgumentError(
            "the arm has no modes and so no fast subsystem, expected flexible links"
        )
    q = real_array("q", q)
    M = mass_matrix(arm, q)
    still = np.zeros(arm.nv)
    K, D = inverse_dynamics_derivatives(arm, q, still, still)
    n, nf = arm.nu, arm.nv - arm.nu
    push = np.linalg.solve(M[..., :n, :n], M[..., :n, n:])  # Mjj^-1 Mjf
    inertia = M[..., n:, n:] - M[..., n:, :n] @ push
    A = companion(inertia, symmetric(K[..., n:, n:]), D[..., n:, n:])
    B = np.zeros((*M.shape[:-2], 2 * nf, n))
    B[..., nf:, :] = -np.linalg.solve(inertia, np.swapaxes(push, -1, -2))
    names = arm.coordinate_names
    return StateSpace(
        A,
        B,
        np.eye(2 * nf)[:nf],
        states=state_names(names[n:]),
        inputs=tuple(f"{name} fast force" for name in names[:n]),
        outputs=names[n:],
    )


@explained_class
@dataclass(frozen=True, eq=False)
class CompositeControl(Description):
    r"""Computed torque of the rigid motion, plus fast damping of the vibration.

    .. math::
       \tau = \underbrace{M_{jj} \left( \ddot q_d + 2 \zeta\omega (\dot q_d - \dot p)
         + \omega^2 (q_d - p) \right) + c_j + g_j}_{slow}
         + \underbrace{\gamma M_{jf} \dot\eta}_{fast}, \qquad
       p = q + M_{jj}^{-1} M_{jf} (\eta - \eta_s)

    with the deflection :math:`\eta_s` of the desired motion.

    Parameters
    ----------
    arm : Arm
        Model; a tree without couplings and motors.
    desired : callable or (..., nu) array_like of float
        Motion of the joints: ``desired(t)`` returns positions, velocities and
        accelerations, as `RestToRest` does; or a set point.
    bandwidth : float or (..., nu) array_like of float
        :math:`\omega` of the slow motion in rad/s; keep it below the frequencies of the
        vibration.
    damping_ratio : float or (..., nu) array_like of float
        :math:`\zeta` of the slow motion.
    fast_damping : float or (..., nu) array_like of float
        :math:`\gamma` in 1/s, joint by joint; zero is computed torque on the rigid part
        alone.
    fast_gains : (..., nu, 2 n_modes) array_like of float, optional
        In place of that gains K of :math:`\tau_f = -K (\eta - \eta_s, \dot\eta)`, in
        N m or N by unit of the modes and of their rates, such as those of `lqr` on the
        `fast_subsystem`.
    slow_coordinates : {"rigid", "joints"}
        What the slow part feeds back: p, the joints of the arm with the vibration taken
        out, or the joints themselves, :math:`p = q`, as in the source.

    Raises
    ------
    ArgumentError
        If the arm has motors, loops, couplings or quaternions.

    See Also
    --------
    fast_subsystem : the vibration.
    Inversion : the joints follow exactly, the vibration is left to itself.

    Notes
    -----
    The slow part takes the deflection as quasi-static, so that the joints see the rigid
    arm; the fast part takes the posture as fixed.  Both hold if the vibration is faster
    than the bandwidth: `time_scales` has the ratio, and the poles of the whole loop.

    Where joints are light against what the links carry, gains for the inertia of the
    whole arm lock them at the frequency of the vibration, and no fast force then
    reaches it.  The coordinates p are those in which linear vibration does not appear,
    :math:`M_{jj} \ddot p = \tau`: feedback of them leaves the joints free to give way.
    Without vibration both are the same.

    With the fast force :math:`\gamma M_{jf} \dot\eta` the energy of the fast subsystem
    falls like :math:`-\gamma \dot\eta^T M_{fj} M_{jj}^{-1} M_{jf} \dot\eta` in each
    posture and for each number of modes, without a Riccati equation.  It damps most
    the mode that moves the joints most; where modes differ much, gains of `lqr` reach
    all of them.

    Rates of modes have to be measured or estimated, see `ExtendedKalmanFilter`.

    References
    ----------
    .. [1] B. Siciliano, W. J. Book, "A singular perturbation approach to control of
       lightweight flexible manipulators", *Int. J. Robotics Research* 7(4) (1988),
       79-90.

    Examples
    --------
    The arm of De Luca and Siciliano has no damping; gains for its fast subsystem that
    weigh the energy of the vibration give it some, and leave the slow poles at -2:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.de_luca_siciliano()
    >>> fast = fa.control.fast_subsystem(arm, np.zeros(6))
    >>> Q = fa.control.energy_weight(arm, np.zeros(6), fast=True)
    >>> K = fa.control.lqr(fast, Q, [0.1, 0.1]).K
    >>> law = fa.control.CompositeControl(arm, [0.0, 0.0], 2.0, fast_gains=K)
    >>> scales = law.time_scales(np.zeros(6))
    >>> print(scales.separation.round(1), scales.poles.real.max().round(1))
    4.5 -0.3

    Many states in one call:

    >>> law(0.0, np.zeros((100, 6)), np.zeros((100, 6))).shape
    (100, 2)
    """

    arm: Arm
    desired: Any
    bandwidth: Any = 2.0
    damping_ratio: Any = 1.0
    fast_damping: Any = 0.0
    fast_gains: Any = None
    slow_coordinates: str = "rigid"

    def __post_init__(self) -> None:
        arm = self.arm
        _check_arm(arm, "CompositeControl")
        if self.slow_coordinates not in ("rigid", "joints"):
            raise ArgumentError(
                f"slow_coordinates is {self.slow_coordinates!r}, expected 'rigid' or "
                "'joints'"
            )
        for name in ("bandwidth", "damping_ratio", "fast_damping"):
            self._set(**{name: gains(name, getattr(self, name), arm.nu)})
        if not callable(self.desired):
            self._set(
                desired=rows("desired", self.desired, arm.nu, "one for each joint")
            )
        if self.fast_gains is not None:
            K = rows(
                "fast_gains", self.fast_gains, 2 * (arm.nv - arm.nu), "modes and rates"
            )
            if K.ndim < 2 or K.shape[-2] != arm.nu:
                raise ArgumentError(
                    f"fast_gains has shape {K.shape}, expected (..., {arm.nu}, "
                    f"{2 * (arm.nv - arm.nu)}): one row for each joint"
                )
            self._set(fast_gains=K)

    def __call__(self, t: float, q: Any, qd: Any) -> Array:
        """Forces (..., nu) of the joints in N m or N, for `simulate`."""
        arm, n = self.arm, self.arm.nu
        q, qd = read_state(self.arm, q, qd)
        q_d, qd_d, qdd_d = desired_at(self.desired, t)
        M = arm._model.quiet("mass_matrix")(q)  # NaN for a state that is lost
        coupling = M[..., :n, n:]
        off = q[..., n:] - self._deflection(q_d, qd_d, qdd_d)
        error, rate = q_d - q[..., :n], qd_d - qd[..., :n]
        if self.slow_coordinates == "rigid":
            error = error - solve(M[..., :n, :n], times(coupling, off))
            rate = rate - solve(M[..., :n, :n], times(coupling, qd[..., n:]))
        w, z = self.bandwidth, self.damping_ratio
        tau = times(M[..., :n, :n], qdd_d + 2.0 * z * w * rate + w**2 * error)
        tau = tau + arm._model.quiet("bias_forces")(q, qd)[..., :n]
        if self.fast_gains is None:
            return np.asarray(tau + self.fast_damping * times(coupling, qd[..., n:]))
        fast = np.concatenate(np.broadcast_arrays(off, qd[..., n:]), axis=-1)
        return np.asarray(tau - times(self.fast_gains, fast))

    def _deflection(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Modes (..., n_modes) that balance a motion of the joints."""
        arm, n = self.arm, self.arm.nu
        at, rate = with_joints(arm, q), with_joints(arm, qd)
        acceleration = with_joints(arm, qdd)
        K = inverse_dynamics_derivatives(arm, at, 0.0 * at, 0.0 * at).dq[..., n:, n:]
        for _ in range(_CORRECTIONS):
            load = inverse_dynamics(arm, at, rate, acceleration)[..., n:]
            eta = at[..., n:] - solve(symmetric(K), load)
            at = np.concatenate([at[..., :n], eta], axis=-1)
        return at[..., n:]

    def time_scales(self, q: Any) -> TimeScales:
        """Separation of the two parts in postures at rest.

        Parameters
        ----------
        q : (..., nq) array_like of float
            Postures, with joints where they should be at rest; modes find their
            equilibrium.

        Returns
        -------
        scales : TimeScales
            Frequencies, separation and the poles of the whole loop.
        """
        arm, n = self.arm, self.arm.nu
        q = uninterrupted(equilibrium(arm, q)).check(stable=False).q
        still = np.zeros_like(q)
        M = mass_matrix(arm, q)
        K, D = inverse_dynamics_derivatives(arm, q, still, still)
        w, z = self.bandwidth, self.damping_ratio
        # the law takes out its own rows of bias forces and puts its gains there
        stiff, damp = K.copy(), D.copy()
        # M_jj p, of joints and modes
        rigid = M[..., :n, :].copy()
        if self.slow_coordinates == "joints":
            rigid[..., n:] = 0.0
        lift = np.linalg.solve(M[..., :n, :n], rigid)
        stiff[..., :n, :] = M[..., :n, :n] @ ((w**2)[..., np.newaxis] * lift)
        damp[..., :n, :] = M[..., :n, :n] @ ((2.0 * z * w)[..., np.newaxis] * lift)
        if self.fast_gains is None:
            damp[..., :n, n:] -= self.fast_damping[..., np.newaxis] * M[..., :n, n:]
        else:
            stiff[..., :n, n:] += self.fast_gains[..., : arm.nv - n]
            damp[..., :n, n:] += self.fast_gains[..., arm.nv - n :]
        slow = np.asarray(w.max(axis=-1))
        fast = np.full(slow.shape, np.inf)
        if arm.nv > n:
            free = np.linalg.solve(M, _elastic(K, n))
            squares = np.sort(np.linalg.eigvals(free).real, axis=-1)[..., n:]
            fast = np.sqrt(np.maximum(squares[..., 0], 0.0))
        with np.errstate(divide="ignore"):
            ratio = np.asarray(fast / slow)
        poles = closed_poles(companion(M, stiff, damp))
        return TimeScales(slow, np.asarray(fast), ratio, poles)


def desired_at(
    desired: Callable[[float], Any] | Array, t: float
) -> tuple[Array, Array, Array]:
    """Positions, velocities and accelerations of joints that a law should follow."""
    if not callable(desired):
        still = np.zeros_like(desired)
        return desired, still, still
    given = desired(t)
    if not isinstance(given, list | tuple) or len(given) < 3:
        raise ArgumentError(
            f"desired motion at t = {t:g} is {type(given).__name__}, expected joint "
            "positions, velocities and accelerations, such as a control.Motion"
        )
    q, qd, qdd = (np.asarray(x, dtype=np.float64) for x in given[:3])
    return q, qd, qdd


def _elastic(K: Array, n: int) -> Array:
    """Stiffness of the modes alone."""
    result = np.zeros_like(K)
    result[..., n:, n:] = symmetric(K[..., n:, n:])
    return result


def _check_arm(arm: Arm, what: str) -> None:
    refuse_poses(arm, what)
    read_arm(arm, what)
    refuse_motors(arm, f"the arm of {what}")
    refuse_constraints(arm, what)
