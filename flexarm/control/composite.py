"""Composite control: the rigid motion slow, the vibration fast, one law for each."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from .._calls.arguments import check_actuated, real_array
from .._calls.declared import Choice, Floats, Kind, Positions, Velocities
from .._calls.doors import checked, checked_record
from .._support.arrays import Array, Complex
from .._support.description import Description
from .._support.interrupts import uninterrupted
from ..arm import Arm
from ..derivatives import inverse_dynamics_derivatives
from ..dynamics import inverse_dynamics, mass_matrix
from ..errors import ArgumentError
from ..linear_models import StateSpace
from ..linear_models.outputs import state_names
from ..simulation.laws import Memoryless
from ..statics import equilibrium
from ..statics.coordinates import read_arm
from ._loops.linear_controller import LinearController
from ._matrices import closed_poles, companion, solve, symmetric, times
from ._rigid_motion import RigidMotion, rigid_motion
from .checks import gains, refuse_poses, rows
from .states import gain_near, given_sample_time, read_state

Desired: TypeAlias = ArrayLike | Callable[[float], Sequence[ArrayLike]]

# Corrections of the deflection, each of which leaves a part of the change of stiffness.
_CORRECTIONS = 3


class TimeScales(NamedTuple):
    """Separation of the slow and the fast part of a controlled arm.

    Attributes
    ----------
    slow : (...) ndarray of float
        Largest bandwidth of the joints in rad/s.
    fast : (...) ndarray of float
        Lowest frequency of the fast subsystem in rad/s, with free joints or motors.
    separation : (...) ndarray of float
        Their ratio; the theory requires a large one, three or more in practice.
    poles : (..., n) ndarray of complex
        Of the whole loop about rest, in 1/s.
    """

    slow: Array
    fast: Array
    separation: Array
    poles: Complex


@checked
def fast_subsystem(arm: Arm, q: Positions) -> StateSpace:
    r"""Vibration of an arm seen from its slow motion, as a linear model.

    The joints neither follow nor hold,

    .. math:: \left( M_{ff} - M_{fj} M_{jj}^{-1} M_{jf} \right) \ddot\eta
        + D \dot\eta + K \eta = - M_{fj} M_{jj}^{-1} N \tau_f ,

    of the deviation :math:`\eta` from the deflection that the slow motion makes, of
    modes and of the shafts of drives.

    Parameters
    ----------
    arm : Arm
        Tree without couplings but rigid gears.
    q : (..., nq) array_like of float
        Postures.

    Returns
    -------
    model : StateSpace
        States: twists of elastic shafts, joint less motor over gear ratio N, and modes,
        then their rates; inputs: fast forces of the actuators; outputs: twists and
        modes.

    Raises
    ------
    ArgumentError
        If the arm has neither modes nor elastic shafts, or has loops, couplings or
        quaternions.

    See Also
    --------
    CompositeControl : takes gains for it, such as those of `lqr`.

    Notes
    -----
    B. Siciliano, W. J. Book, "A singular perturbation approach to control of
    lightweight flexible manipulators", *Int. J. Robotics Research* 7(4) (1988), 79-90.
    For elastic joints M. W. Spong, "Modeling and control of elastic joint robots",
    *J. Dyn. Syst. Meas. Control* 109 (1987), 310-319: joints j are then the motors in
    the angles of their joints, with the inertia of rotors and rigid links.

    Examples
    --------
    Frequencies of the arm with free joints in Hz:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.de_luca_siciliano()
    >>> fast = fa.control.composite.fast_subsystem(arm, np.zeros(6))
    >>> s = np.linalg.eigvals(fast.A)
    >>> (np.sort(abs(s)[::2]) / (2.0 * np.pi)).round(2)
    array([ 1.42,  2.64, 16.12, 29.28])
    """
    parts = _parts(arm, "fast_subsystem")
    n, nf = arm.nu, parts.nz
    if nf == 0:
        raise ArgumentError(
            "the arm has no modes and so no fast subsystem, expected flexible links or "
            "drives with elastic shafts"
        )
    q = real_array("q", q)
    M = parts.block(mass_matrix(arm, q))
    still = np.zeros(arm.nv)
    K, D = map(parts.block, inverse_dynamics_derivatives(arm, q, still, still))
    push = np.linalg.solve(M[..., :n, :n], M[..., :n, n:])  # Mjj^-1 Mjf
    inertia = M[..., n:, n:] - M[..., n:, :n] @ push
    A = companion(inertia, symmetric(K[..., n:, n:]), D[..., n:, n:])
    B = np.zeros((*M.shape[:-2], 2 * nf, n))
    B[..., nf:, :] = -np.linalg.solve(inertia, np.swapaxes(push, -1, -2)) * parts.ratio
    actuators = [arm.coordinate_names[i] for i in arm.actuator_indices]
    return StateSpace(
        A,
        B,
        np.eye(2 * nf)[:nf],
        states=state_names(parts.names),
        inputs=tuple(f"{name} fast force" for name in actuators),
        outputs=parts.names,
    )


@checked_record("{field}")
@dataclass(frozen=True, eq=False)
class CompositeControl(Description, Memoryless):
    r"""Computed torque of the rigid motion, plus fast damping of the vibration.

    .. math::
       \tau = \underbrace{M_{jj} \left( \ddot q_d + 2 \zeta\omega (\dot q_d - \dot p)
         + \omega^2 (q_d - p) \right) + c_j + g_j}_{slow}
         + \underbrace{\gamma M_{jf} \dot\eta}_{fast}, \qquad
       p = q + M_{jj}^{-1} M_{jf} (\eta - \eta_s)

    with the deflection :math:`\eta_s` of the desired motion.  Of joints with drives q
    is the position of the motor by gear ratio, :math:`\tau` its force times that, and
    the twist of an elastic shaft is one of the modes :math:`\eta`.

    Parameters
    ----------
    arm : Arm
        Model; a tree without couplings but rigid gears.
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
    fast_gains : (..., nu, 2 nf) array_like of float, optional
        In place of that gains K of :math:`\tau_f = -K (\eta - \eta_s, \dot\eta)` of the
        actuators, in N m or N by unit of the nf twists and modes and of their rates,
        such as those of `lqr` on the `fast_subsystem`.
    slow_coordinates : {"rigid", "joints"}
        What the slow part feeds back: p, the joints of the arm with the vibration taken
        out, or the joints themselves (motors where they have drives), :math:`p = q`,
        as in the source.

    Raises
    ------
    ArgumentError
        If the arm has loops, couplings or quaternions.

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

    With drives the joints themselves arrive where they should, shafts twisted by their
    load: the motors are led ahead by the twist that the rigid motion makes.

    References
    ----------
    .. [1] B. Siciliano, W. J. Book, "A singular perturbation approach to control of
       lightweight flexible manipulators", *Int. J. Robotics Research* 7(4) (1988),
       79-90.
    .. [2] M. W. Spong, "Modeling and control of elastic joint robots", *J. Dyn. Syst.
       Meas. Control* 109 (1987), 310-319: composite control of elastic joints.

    Examples
    --------
    The arm of De Luca and Siciliano has no damping; gains for its fast subsystem that
    weigh the energy of the vibration give it some, and leave the slow poles at -2:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.de_luca_siciliano()
    >>> fast = fa.control.composite.fast_subsystem(arm, np.zeros(6))
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
    desired: Annotated[Desired, Kind()]
    bandwidth: Annotated[Any, Floats()] = 2.0
    damping_ratio: Annotated[Any, Floats()] = 1.0
    fast_damping: Annotated[Any, Floats()] = 0.0
    fast_gains: Annotated[Any, Floats()] = None
    slow_coordinates: Annotated[str, Choice("rigid", "joints")] = "rigid"
    _parts: RigidMotion = field(init=False, repr=False)

    def __post_init__(self) -> None:
        arm = self.arm
        parts = _parts(arm, "CompositeControl")
        self._set(_parts=parts)
        for name in ("bandwidth", "damping_ratio", "fast_damping"):
            self._set(**{name: gains(name, getattr(self, name), arm.nu)})
        if not callable(self.desired):
            self._set(
                desired=rows("desired", self.desired, arm.nu, "one for each joint")
            )
        if self.fast_gains is not None:
            K = rows("fast_gains", self.fast_gains, 2 * parts.nz, "modes and rates")
            if K.ndim < 2 or K.shape[-2] != arm.nu:
                raise ArgumentError(
                    f"fast_gains has shape {K.shape}, expected (..., {arm.nu}, "
                    f"{2 * parts.nz}): one row for each joint"
                )
            self._set(fast_gains=K)

    def _near(self, q: Array, dt: float | None) -> LinearController:
        """The feedback about rest in a posture, as one of samples."""
        law = copy.copy(self)
        law._set(desired=self._parts.split(q)[0])
        K = gain_near(law, self.arm, q)
        return LinearController.state_feedback(K, q, dt=given_sample_time(dt))

    def __call__(self, t: float, q: Positions, qd: Velocities | None = None) -> Array:
        """Forces (..., nu) of the actuators in N m or N, for `simulate`."""
        arm, n, parts = self.arm, self.arm.nu, self._parts
        q, qd = read_state(self.arm, q, qd)
        q_d, qd_d, qdd_d = desired_at(self.desired, t)
        M = parts.block(arm.kernels.quiet("mass_matrix")(q))  # NaN for a lost state
        inertia, coupling = M[..., :n, :n], M[..., :n, n:]
        (r, z), (rd, zd) = parts.split(q), parts.split(qd)
        r_d, z_d = parts.split(self._deflected(q_d, qd_d, qdd_d))
        off, error, rate = z - z_d, r_d - r, qd_d - rd
        if self.slow_coordinates == "rigid":
            error = error - solve(inertia, times(coupling, off))
            rate = rate - solve(inertia, times(coupling, zd))
        w, zeta = self.bandwidth, self.damping_ratio
        tau = times(inertia, qdd_d + 2.0 * zeta * w * rate + w**2 * error)
        tau = tau + parts.force(arm.kernels.quiet("bias_forces")(q, qd))[..., :n]
        if self.fast_gains is None:
            tau = tau + self.fast_damping * times(coupling, zd)
            return np.asarray(tau / parts.ratio)
        fast = np.concatenate(np.broadcast_arrays(off, zd), axis=-1)
        return np.asarray(tau / parts.ratio - times(self.fast_gains, fast))

    def _deflected(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Coordinates (..., nv) of joints that move, with all others in balance."""
        arm, n, parts = self.arm, self.arm.nu, self._parts
        at, rate, acceleration = map(parts.geared, (q, qd, qdd))
        if not parts.nz:
            return at
        K = inverse_dynamics_derivatives(arm, at, 0.0 * at, 0.0 * at).dq
        K = parts.force(np.swapaxes(K @ parts.at_joints, -1, -2))[..., n:]
        for _ in range(_CORRECTIONS):
            load = parts.force(inverse_dynamics(arm, at, rate, acceleration))[..., n:]
            at = at - solve(np.swapaxes(K, -1, -2), load) @ parts.at_joints.T
        return at

    def time_scales(self, q: Positions) -> TimeScales:
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
        arm, n, parts = self.arm, self.arm.nu, self._parts
        q = uninterrupted(equilibrium(arm, q)).check(stable=False).q
        still = np.zeros_like(q)
        M = parts.block(mass_matrix(arm, q))
        K, D = map(parts.block, inverse_dynamics_derivatives(arm, q, still, still))
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
            force = parts.ratio[:, np.newaxis] * self.fast_gains
            stiff[..., :n, n:] += force[..., : parts.nz]
            damp[..., :n, n:] += force[..., parts.nz :]
        slow = np.asarray(w.max(axis=-1))
        fast = np.full(slow.shape, np.inf)
        if parts.nz:
            free = np.linalg.solve(M, _elastic(K, n))
            squares = np.sort(np.linalg.eigvals(free).real, axis=-1)[..., n:]
            fast = np.sqrt(np.maximum(squares[..., 0], 0.0))
        with np.errstate(divide="ignore"):
            ratio = np.asarray(fast / slow)
        poles = closed_poles(companion(M, stiff, damp))
        return TimeScales(slow, np.asarray(fast), ratio, poles)


def desired_at(
    desired: Desired, t: float, order: int = 2, most: int = 2
) -> tuple[Array, ...]:
    """Positions that a law should follow, and rates up to one of a number.

    If the motion has more, these too, up to the number `most`.
    """
    if not callable(desired):
        held = np.asarray(desired)
        return (held, *[np.zeros_like(held)] * max(order, most))
    given = desired(t)
    enough = isinstance(given, list | tuple) and len(given) > order
    if order == 2 and not enough:
        raise ArgumentError(
            f"desired motion at t = {t:g} is {type(given).__name__}, expected joint "
            "positions, velocities and accelerations, such as a control.Motion"
        )
    if not enough or any(x is None for x in given[: order + 1]):
        raise ArgumentError(
            f"desired motion at t = {t:g} is {type(given).__name__}, expected positions"
            f" and {order} rates, which forces behind elastic shafts need, such as "
            "RestToRest(..., degree=9).derivatives"
        )
    count = order + 1
    if order > 2 and all(x is not None for x in given[count : most + 1]):
        count = most + 1
    return tuple(np.asarray(x, dtype=np.float64) for x in given[:count])


def _elastic(K: Array, n: int) -> Array:
    """Stiffness of the modes alone."""
    result = np.zeros_like(K)
    result[..., n:, n:] = symmetric(K[..., n:, n:])
    return result


def _parts(arm: Arm, what: str) -> RigidMotion:
    """Slow and fast coordinates of an arm that has them."""
    refuse_poses(arm, what)
    check_actuated(arm, what)
    read_arm(arm, what)
    return rigid_motion(arm, what)
