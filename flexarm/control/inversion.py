"""Inversion control: outputs follow exactly, motions that they do not show are free."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._calls.arguments import (
    check_actuated,
    check_numbers,
    positive_number,
    real_array,
    shaped,
)
from .._calls.declared import Floats, Positions, Velocities
from .._calls.doors import checked, checked_class
from .._support.arrays import Array, Complex, Mask
from .._support.description import Description
from .._support.interrupts import uninterrupted
from ..arm import Arm
from ..bodies.segments import tip_motion
from ..derivatives import inverse_dynamics_derivatives
from ..dynamics import forward_dynamics, mass_matrix
from ..errors import ArgumentError
from ..statics import equilibrium
from ..statics.coordinates import read_arm
from ._elastic_inversion import Shafts, elastic_shafts, shafts_of
from ._held_inversion import Hold, Watch, decay
from ._loops.linear_controller import LinearController
from ._matrices import closed_poles, companion, solve
from ._rigid_motion import RigidMotion, rigid_motion
from .checks import gains, refuse_poses, rows
from .composite import Desired, desired_at
from .feedforward import drive_feedforward
from .states import gain_near, given_sample_time, read_state

# Part of the largest zero that counts as no growth: rounding.
_AXIS_TOLERANCE = 1e-7
# Step of differences of states, in the derivatives of a loop.
_DIFFERENCE = 1e-6
# Part of the bandwidth that counts as no growth.
_MAX_GROWTH = 1e-2
_SHORTER = "take a shorter sample time"


class InternalDynamics(NamedTuple):
    """Motions of an arm whose outputs rest.

    Attributes
    ----------
    zeros : (..., n) ndarray of complex
        Motions ``exp(s t)`` in 1/s that no output shows: two for each mode, or for each
        shaft that they do not look through; one for each damped shaft that they do.
    stable : (...) ndarray of bool
        Whether none of them grows; undamped ones count as stable.
    worst : (...) ndarray of complex
        The zero with the largest real part.
    """

    zeros: Complex
    stable: Mask
    worst: Complex


@checked
def link_angles(
    arm: Arm, fraction: Annotated[ArrayLike, Floats("()", "(nu,)")] = 1.0
) -> Array:
    r"""Outputs between joints and link tips, one for each joint that turns.

    .. math:: y_i = q_i + \lambda_i\, \frac{(a_i \times r_i) \cdot \delta_i}
        {|a_i \times r_i|^2}

    the angle of the joint i about its axis a plus a part of that under which the tip of
    its link, at r from the joint, is seen beside its undeformed place.

    Parameters
    ----------
    arm : Arm
        Arm whose joints have one coordinate each.
    fraction : float or (nu,) array_like of float
        :math:`\lambda`: 0 for joints, 1 for the tips of links.

    Returns
    -------
    E : (nu, nv) ndarray of float
        Rows of ``y = E q``: 1 for joints, in rad by unit of the modes.

    Raises
    ------
    ArgumentError
        If a joint does not turn or its link has no tip away from the axis.

    Notes
    -----
    A. De Luca, B. Siciliano, *J. Guidance, Control, and Dynamics* 16 (1993),
    1169-1176.

    Examples
    --------
    >>> import flexarm as fa
    >>> arm = fa.library.de_luca_siciliano()
    >>> fa.control.inversion.link_angles(arm, 0.5)[1].round(3)
    array([ 0.   ,  1.   ,  0.   ,  0.   ,  0.883, -0.069])
    """
    refuse_poses(arm, "link_angles")
    check_actuated(arm, "link_angles")
    part = rows("fraction", fraction, arm.nu, "one for each joint")
    E = np.eye(arm.nu, arm.nv)
    for k, body in enumerate(arm.bodies):
        at = arm.body_joint_slice(k)
        if at.stop - at.start == 0 or not body.n_modes:
            continue
        if at.stop - at.start != 1 or not body.joint.screws[:3].any():
            raise ArgumentError(
                f"the joint of body {body.name!r} is {body.joint.kind}, expected one "
                "that turns, of one coordinate, under a flexible link"
            )
        tip, motion = tip_motion([arm.bodies[j] for j in arm._links[k]])
        axis = body.joint.screws[:3, 0]
        across = np.cross(axis / np.linalg.norm(axis), tip)
        size = float(across @ across)
        if size == 0.0:
            raise ArgumentError(
                f"the tip of body {body.name!r} is on the axis of its joint, expected "
                "a link that leads away from it"
            )
        modes = slice(
            arm.mode_slice(k).start, arm.mode_slice(k).start + motion.shape[1]
        )
        E[at, modes] = part[at.start] * (across @ motion[3:] / size)
    return E


@checked_class
@dataclass(frozen=True, eq=False)
class Inversion(Description):
    r"""Inversion control: exact linear dynamics of outputs, one for each joint.

    .. math::
       \tau = \left( E M^{-1} S \right)^{-1} \left( v - E \ddot q_0 \right), \qquad
       v = \ddot y_d + 2 \zeta\omega (\dot y_d - \dot y) + \omega^2 (y_d - y)

    with :math:`y = E q`, the accelerations :math:`\ddot q_0` that the arm has without
    forces, and S the columns of the actuators: then :math:`\ddot y = v`.  Outputs of
    joints behind elastic shafts feel the motors in their fourth rate,

    .. math:: \left( \tfrac{d^2}{dt^2} + 2 \zeta\omega \tfrac{d}{dt} + \omega^2
       \right)^2 (y_d - y) = 0 .

    Parameters
    ----------
    arm : Arm
        Model; a tree without couplings but rigid gears.
    desired : callable or (..., nu) array_like of float
        Motion of the outputs: ``desired(t)`` returns y and its rates, up to the one of
        the number `order`: two, as `RestToRest` does, or as ``RestToRest.derivatives``
        for elastic joints; or a set point.
    bandwidth : float or (..., nu) array_like of float
        :math:`\omega` in rad/s.
    damping_ratio : float or (..., nu) array_like of float
        :math:`\zeta`.
    outputs : "joints", "tips", "actuators", or (nu, nv) array_like of float
        E: the joints, the tips of the links, the motors (joints without a drive), or
        rows such as those of `link_angles`.
    postures : (..., nq) array_like of float, optional
        Where the internal dynamics have to be stable; by default where the desired
        motion is at time zero.  In rad and m.
    dt : float, optional
        Time in s for which forces are held: the law is then one of samples, for
        `simulate_loop`.  By default one of each instant, for `simulate`.

    Attributes
    ----------
    internal : InternalDynamics
        Zeros in these postures.
    order : int
        Rate of the outputs in which forces show: 2; 4 through elastic shafts, 3 if
        these are damped.

    Raises
    ------
    ArgumentError
        If a value does not fit, the forces do not reach the outputs, or the internal
        dynamics are unstable; the sentence names the zero.  If some joints are elastic
        and others rigid, or some shafts damped and others not, for outputs of joints.
        If modes are too fast for samples of `dt`.
    ConvergenceError
        If a posture has no equilibrium.

    See Also
    --------
    flexarm.reference.patent_loop.ComputedTorque : of joints, with a model in the loop.
    CompositeControl : which damps the vibration.
    drive_feedforward : the forces for a motion of elastic joints, without feedback.

    Notes
    -----
    For the joints of a rigid arm this is computed torque,
    :math:`\tau = M v + c + g`; that of the rigid part of a flexible one is
    `CompositeControl` without its fast part.

    The modes become unobservable: while the outputs rest, they move by the zero
    dynamics, whose eigenvalues are the transmission zeros from forces to outputs.  For
    joints these are the poles of the arm with locked joints, damped by its own damping
    alone.  For tips they are real pairs, one of which grows: an arm whose tip follows
    causally tears its modes apart.  In between there is a fraction of `link_angles` up
    to which the outputs can be inverted.

    *Elastic joints* with rigid links are linearized without a rest [2]_: their state is
    that of the outputs and three rates.  The rates are computed from joints and motors,
    positions and velocities, by derivatives of the model, and by differences of these
    in the last step, to some ten digits.  Damped shafts [3]_ pass forces on one rate
    earlier and leave the zeros :math:`-K/D`, which the samples of a loop have to
    resolve; for light damping a model without it is the better one.

    A rotor whose carrier can turn about its axis pushes it as it speeds up, which no
    feedback of the state linearizes [4]_.  The law takes rotors as turning with their
    joints there, N times as fast; what the twist of the shaft adds, some 1/N of the
    inertia of the rotor at its joint, is taken from the desired motion, if it has four
    rates and the links are rigid, and left out else: an error of the motion remains.
    Motors on the tips of flexible links may destroy stability, and are refused.  With
    ``outputs="actuators"`` motors follow, in their second rate, joints vibrate on their
    shafts, and nothing is left out.

    *Samples* of `dt`: while forces stand, modes move on.  The forces of an instant hold
    joints against the springs of that instant, and at 1 kHz arms of two links end up
    to 0.3 rad away.  The law of samples takes the forces with which the outputs have,
    by a linear model about the motion, the rates of the equation above at the next
    sample.  Half a period of the fastest mode has to be longer than a sample.  Outputs
    behind elastic shafts, whose fourth rate the forces move, are left to the law of
    instants: some percent of the motion at 1 kHz on the way, and little at its end.

    References
    ----------
    .. [1] A. De Luca, B. Siciliano, "Inversion-based nonlinear control of robot arms
       with flexible links", *J. Guidance, Control, and Dynamics* 16 (1993), 1169-1176.
    .. [2] M. W. Spong, "Modeling and control of elastic joint robots", *J. Dyn. Syst.
       Meas. Control* 109 (1987), 310-319.
    .. [3] A. De Luca, R. Farina, P. Lucibello, "On the control of robots with
       visco-elastic joints", *IEEE ICRA* (2005), 4297-4302.
    .. [4] A. De Luca, W. J. Book, "Robots with flexible elements", chapter 11 of the
       *Springer Handbook of Robotics*, 2nd ed. (2016), section 11.1.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.de_luca_siciliano(damping=True)
    >>> law = fa.control.Inversion(arm, [0.3, 0.2], bandwidth=4.0)
    >>> qdd = fa.forward_dynamics(arm, np.zeros(6), np.zeros(6),
    ...                           law(0.0, np.zeros(6), np.zeros(6)))
    >>> qdd[:2]    # 4.0**2 * (0.3, 0.2)
    array([4.8, 3.2])
    >>> bool(law.internal.stable)
    True

    Many states in one call:

    >>> law(0.0, np.zeros((100, 6)), np.zeros((100, 6))).shape
    (100, 2)

    A law that is used again forgets what it has seen:

    >>> law.reset()
    >>> law.remark
    ''
    """

    arm: Arm
    desired: Desired
    bandwidth: Annotated[Any, Floats("()", "(..., nu)")] = 4.0
    damping_ratio: Annotated[Any, Floats("()", "(..., nu)")] = 1.0
    outputs: object = "joints"
    postures: Positions = None
    dt: Any = None
    E: Array = field(init=False, repr=False)
    internal: InternalDynamics = field(init=False, repr=False)
    order: int = field(init=False, repr=False)
    _parts: RigidMotion = field(init=False, repr=False)
    _shafts: Shafts | None = field(init=False, repr=False)
    _leads: bool = field(init=False, repr=False, default=False)
    _hold: Hold | None = field(init=False, repr=False, default=None)
    _watch: Watch | None = field(init=False, repr=False, default=None)

    def __post_init__(self) -> None:
        arm = self.arm
        refuse_poses(arm, "Inversion")
        check_actuated(arm, "Inversion")
        read_arm(arm, "Inversion")
        self._set(_parts=rigid_motion(arm, "Inversion"))
        for name in ("bandwidth", "damping_ratio"):
            self._set(**{name: gains(name, getattr(self, name), arm.nu)})
        if not callable(self.desired):
            self._set(desired=rows("desired", self.desired, arm.nu, "one per output"))
        E = _rows(arm, self.outputs)
        shafts = _shafts_between(arm, E)
        self._set(E=E, _shafts=shafts, order=2 if shafts is None else shafts.order)
        q = self.postures
        if q is None:
            y = desired_at(self.desired, 0.0, self.order)[0]
            if np.shape(y)[-1:] != (len(E),):
                raise ArgumentError(
                    f"desired(0) returns {np.shape(y)}, expected (..., {len(E)}), one "
                    "position per output"
                )
            q = self._parts.geared(solve(_of_rigid_arm(E, self._parts), y))
        q = shaped("postures", q, arm.nq)
        q = uninterrupted(equilibrium(arm, q)).check(stable=False).q
        self._set(internal=_internal_dynamics(arm, q, E))
        if not self.internal.stable.all():
            self._refuse()
        if shafts is not None:
            self._check_rotors(shafts, q)
        if self.dt is not None:
            self._sample(q)

    def _sample(self, q: Array) -> None:
        """Prepare the law of samples, or refuse it where it grows."""
        T = positive_number("dt", self.dt)
        errors = decay(self._gains, T)
        self._set(dt=T, _watch=Watch(errors, _SHORTER))
        if self.order > 2:
            return
        hold = Hold(self.arm, self._parts, self.E, T)
        self._set(_hold=hold)
        one = errors.reshape(-1, *errors.shape[-3:])
        growth, fastest = max(hold.growth(q, x) for x in one)
        if growth > _MAX_GROWTH * float(self.bandwidth.min()):
            period = 2.0 * np.pi / fastest if fastest else np.inf
            raise ArgumentError(
                f"dt is {T:g} s, with which the loop grows with {growth:+.4g} 1/s, as "
                f"modes of up to {fastest / (2.0 * np.pi):.4g} Hz move in a sample; "
                "expected shorter samples, much below half of their period of "
                f"{period:.3g} s, fewer modes, or CompositeControl"
            )

    def _held(self, sample_time: float) -> Inversion:
        """Law that `simulate_loop` runs, whose samples are watched."""
        if self.dt is not None:
            return self
        law, advice = copy.copy(self), _SHORTER
        if self.order == 2:
            advice = f"make the law with dt={sample_time:g}"
        law._set(_watch=Watch(decay(self._gains, sample_time), advice))
        return law

    def reset(self, q: Positions | None = None, qd: Velocities | None = None) -> None:
        """Forget the samples that `remark` is about.

        Parameters
        ----------
        q, qd : (..., nq), (..., nv) array_like of float, optional
            State at the start in rad or m, and per s; not used.
        """
        if self._watch is not None:
            self._watch.reset()

    @property
    def remark(self) -> str:
        """Sentence about outputs that left their motion, or nothing."""
        return "" if self._watch is None else self._watch.remark

    def _refuse(self) -> None:
        worst = np.ravel(self.internal.worst)
        s = worst[worst.real.argmax()]
        zero = f"{s.real:+.4g}" + (f" +- {abs(s.imag):.4g}i" if s.imag else "")
        many = ""
        if worst.size > 1:
            bad = int((~self.internal.stable).sum())
            many = f" in {bad} of {worst.size} postures, the worst one"
        which = f" {self.outputs!r}" if isinstance(self.outputs, str) else ""
        raise ArgumentError(
            f"the internal dynamics of the outputs{which} are unstable{many} with the "
            f"zero {zero} 1/s in the right half plane; expected outputs nearer to the "
            "joints, such as link_angles of a smaller fraction"
        )

    def _check_rotors(self, shafts: Shafts, q: Array) -> None:
        """Refuse a loop that rotors make unstable as they push their carriers."""
        arm, n = self.arm, self.arm.nv
        generic = self._parts.geared(np.linspace(0.3, 1.1, arm.nu))
        pushed = [shafts.pushed(x).any() for x in (q, generic)]
        if not any(pushed):
            return
        self._set(_leads=arm.nv == arm.motor_slice.stop)
        # derivatives of the loop about rest in each posture, by differences
        x = np.concatenate([q, np.zeros_like(q)], axis=-1)[..., np.newaxis, :]
        step = _DIFFERENCE * np.eye(2 * n)
        near = np.stack([x + step, x - step])
        at, rate = near[..., :n], near[..., n:]
        still = np.zeros_like(x[..., : arm.nu])
        rest = [(x[..., :n] @ self.E.T), *[still] * 4]
        tau = self._through(shafts, at, rate, rest)
        motion = [rate, forward_dynamics(arm, at, rate, tau)]
        difference = -np.diff(np.concatenate(motion, axis=-1), axis=0)[0]
        A = np.swapaxes(difference, -1, -2) / (2.0 * _DIFFERENCE)
        worst = float(closed_poles(A).real.max())
        if worst > _MAX_GROWTH * float(self.bandwidth.min()):
            raise ArgumentError(
                "rotors push the links that carry them as they speed up, which no "
                "feedback of the state takes out, and the loop grows with "
                f"{worst:+.4g} 1/s; expected lighter rotors, another bandwidth, or "
                "outputs 'actuators'"
            )

    def _near(self, q: Array, dt: float | None) -> LinearController:
        """The feedback about rest in a posture, as one of samples."""
        law = copy.copy(self)
        law._set(desired=self.E @ q)
        K = gain_near(law, self.arm, q)
        dt = self.dt if self.dt is not None else dt
        return LinearController.state_feedback(K, q, dt=given_sample_time(dt))

    def __call__(self, t: float, q: Positions, qd: Velocities | None = None) -> Array:
        """Forces (..., nu) of the actuators in N m or N, for `simulate`."""
        arm, E = self.arm, self.E
        q, qd = read_state(self.arm, q, qd)
        desired = desired_at(self.desired, t, self.order, most=4)
        if self._shafts is not None:
            return self._through(self._shafts, q, qd, desired)
        v = self._wanted(desired, [q @ E.T, qd @ E.T])
        free = arm.kernels.quiet("forward_dynamics")(q, qd, np.zeros(arm.nu))
        if self._parts.spread is None:
            reach = arm.kernels.quiet("mass_matrix_inverse")(q)[..., : arm.nu]
        else:
            M = self._parts.block(arm.kernels.quiet("mass_matrix")(q))
            units = np.eye(self._parts.size, arm.nu) * self._parts.ratio
            reach = self._parts.spread @ np.linalg.solve(M, units)
        tau = solve(E @ reach, v - free @ E.T)
        if self._hold is None or self._watch is None:
            return tau
        y_d, yd_d = desired[:2]
        later = desired_at(self.desired, t + self.dt)[1]
        after = self._watch.decay[..., 1, :]
        e, ed = y_d - q @ E.T, yd_d - qd @ E.T
        wanted = later - after[..., 0] * e - after[..., 1] * ed
        more = self._hold.correction(q, qd, tau, wanted)
        # a motion that diverges has no linear model, and goes on until the loop says so
        return tau + np.where(np.isfinite(more), more, 0.0)

    @property
    def _gains(self) -> tuple[Array, ...]:
        """Gains (..., nu) of the errors of outputs and of their rates below `order`."""
        w, z = self.bandwidth, self.damping_ratio
        return {
            2: (w**2, 2.0 * z * w),
            3: (w**3, (1.0 + 2.0 * z) * w**2, (1.0 + 2.0 * z) * w),
            4: (w**4, 4.0 * z * w**3, (2.0 + 4.0 * z**2) * w**2, 4.0 * z * w),
        }[self.order]

    def _wanted(self, desired: Sequence[Array], rates: Sequence[Array]) -> Array:
        """Highest rate of the outputs (..., nu) that errors of lower ones ask for."""
        if self._watch is not None:
            self._watch.see(desired, rates)
        v = desired[self.order]
        for c, y_d, y in zip(self._gains, desired, rates, strict=False):
            v = v + c * (y_d - y)
        return np.asarray(v)

    def _through(
        self, shafts: Shafts, q: Array, qd: Array, desired: Sequence[Array]
    ) -> Array:
        """Forces of motors behind shafts, NaN where a state is lost."""
        E, lead = self.E[:, shafts.links], None
        if self._leads and len(desired) > 4:  # of rotors on their joints
            joints = [solve(self.E[:, : self.arm.nu], y) for y in desired]
            lead = shafts.lead(drive_feedforward(shafts.undamped, *joints).qdd)
        q, qd = np.broadcast_arrays(q, qd)
        with np.errstate(all="ignore"):
            seen = shafts.see(q, qd, lead)
            v = self._wanted(desired, shafts.rates(seen, E))
            return shafts.forces(seen, E, v)


def _shafts_between(arm: Arm, E: Array) -> Shafts | None:
    """Shafts between forces and outputs, None if no output is behind one."""
    soft = [s.joint for s in elastic_shafts(arm)]
    if not E[:, soft].any():
        return None
    if E[:, arm.motor_slice].any():
        raise ArgumentError(
            "the outputs mix joints behind elastic shafts with motors, which feel "
            "forces in their fourth and in their second rate; expected one of them"
        )
    return shafts_of(arm)


def _of_rigid_arm(E: Array, parts: RigidMotion) -> Array:
    """Rows (nu, nu) of outputs by the motion of the rigid arm, or a refusal."""
    own = E if parts.spread is None else E @ parts.spread
    if np.linalg.cond(own[:, : parts.n]) > 1e12:
        raise ArgumentError(
            "the outputs have a singular part of the joints, expected outputs that "
            "determine the joints of a rigid arm"
        )
    return np.asarray(own[:, : parts.n])


def _internal_dynamics(arm: Arm, q: ArrayLike, E: object) -> InternalDynamics:
    r"""Zero dynamics of outputs ``y = E q``, linearized about equilibria (..., nq).

    Motions with :math:`E q = 0` on which the joints move freely,

    .. math:: \left( M s^2 + D s + K \right)_{f \cdot} N z = 0, \qquad E N = 0 .
    """
    q, E = np.asarray(q, dtype=np.float64), _rows(arm, E)
    shafts = _shafts_between(arm, E)
    more = np.zeros(0)
    if shafts is not None:  # links alone, on whose joints the shafts draw
        more = shafts.poles()
        arm, q, E = shafts.held, q[..., shafts.links], E[:, shafts.links]
    parts = rigid_motion(arm, "zero dynamics")
    n, first = parts.n, _of_rigid_arm(E, parts)
    rest = E[:, n:] if parts.spread is None else (E @ parts.spread)[:, n:]
    N = np.concatenate([-np.linalg.solve(first, rest), np.eye(parts.nz)])
    still = np.zeros(arm.nv)
    K, D = inverse_dynamics_derivatives(arm, q, still, still)
    inertia, D, K = (
        (parts.block(X) @ N)[..., n:, :] for X in (mass_matrix(arm, q), D, K)
    )
    zeros = closed_poles(companion(inertia, K, D))
    more = np.broadcast_to(more, (*zeros.shape[:-1], len(more)))
    zeros = np.concatenate([zeros, more], axis=-1)
    if not zeros.shape[-1]:
        none = np.zeros(q.shape[:-1], dtype=np.complex128)
        return InternalDynamics(zeros, none.real == 0.0, none)
    size = np.abs(zeros).max(axis=-1, initial=0.0)
    at = zeros.real.argmax(axis=-1)[..., np.newaxis]
    worst = np.take_along_axis(zeros, at, axis=-1)[..., 0]
    return InternalDynamics(
        zeros, np.asarray(worst.real <= _AXIS_TOLERANCE * size), worst
    )


def _rows(arm: Arm, outputs: object) -> Array:
    """Rows E (nu, nv) of the outputs."""
    if isinstance(outputs, str):
        if outputs not in ("joints", "tips", "actuators"):
            raise ArgumentError(
                f"outputs is {outputs!r}, expected 'joints', 'tips', 'actuators' or "
                "rows (nu, nv)"
            )
        if outputs == "actuators":
            return np.asarray(np.eye(arm.nv)[arm.actuator_indices])
        return link_angles(arm, float(outputs == "tips"))
    E = np.array(real_array("outputs", outputs))
    if E.shape != (arm.nu, arm.nv):
        raise ArgumentError(
            f"outputs has shape {E.shape}, expected ({arm.nu}, {arm.nv}): one row for "
            "each joint, one column for each coordinate"
        )
    check_numbers("outputs", E)
    E.flags.writeable = False
    return E
