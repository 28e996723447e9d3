"""Regulation: PD with the forces that hold a flexible arm at its set point."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike

from .._calls.arguments import check_actuated, common_batch
from .._calls.declared import Choice, Floats, Positions, Velocities
from .._calls.doors import checked_record
from .._support.arrays import Array
from .._support.description import Description
from .._support.interrupts import uninterrupted
from ..arm import Arm
from ..derivatives import inverse_dynamics_derivatives
from ..dynamics import gravity_forces
from ..errors import ArgumentError
from ..simulation import JointFeedback
from ..simulation.laws import Memoryless
from ..statics import equilibrium, holding_forces
from ..statics.coordinates import read_arm
from ._elastic_inversion import elastic_shafts
from ._matrices import symmetric
from .checks import gains, one_line, refuse_poses, rows
from .states import known, read_state, with_joints


def _actuator_stiffness(arm: Arm, q: ArrayLike) -> Array:
    """Stiffness G (..., nu, nu) of `SetPointPD` at the equilibria of postures."""
    read_arm(arm, "actuator stiffness")
    refuse_poses(arm, "actuator stiffness")
    check_actuated(arm, "actuator stiffness")
    found = uninterrupted(equilibrium(arm, q)).check(stable=False)
    return _condensed(arm, found.q)


def _condensed(arm: Arm, q: Array) -> Array:
    """Stiffness of the actuators at equilibria (..., nq)."""
    still = np.zeros(arm.nv)
    S = symmetric(inverse_dynamics_derivatives(arm, q, still, still).dq)
    acting = arm.actuator_indices
    free = np.setdiff1d(np.arange(arm.nv), acting)
    aa = S[..., acting[:, np.newaxis], acting]
    af = S[..., acting[:, np.newaxis], free]
    ff = S[..., free[:, np.newaxis], free]
    return np.asarray(aa - af @ np.linalg.solve(ff, np.swapaxes(af, -1, -2)))


@checked_record("{field}")
@dataclass(frozen=True, eq=False)
class SetPointPD(Description, Memoryless):
    r"""PD control to a set point, with compensation of gravity and deflection.

    .. math:: \tau = K_p (\theta_d - \theta) - K_d \dot\theta + \tau_g

    on the coordinates :math:`\theta` of the actuators: joints, or their motors behind
    flexible shafts.

    Parameters
    ----------
    arm : Arm
        Model; a tree, with couplings at most, whose joints have one position per
        velocity.
    kp, kd : float or (..., nu) array_like of float
        Gains on positions (N m/rad or N/m) and velocities (N m s/rad or N s/m) of the
        actuators.
    target : (..., nu) array_like of float
        Joint positions wanted at rest, in rad or m.  Leading axes broadcast with those
        of the states.
    compensation : {"set point", "current", "gravity", "none"}
        The forces :math:`\tau_g`: those that hold the arm at the set point with its
        links deflected and its shafts twisted, constant [1]_ [2]_; those that would
        hold it where the actuators are now, from an equilibrium at each call; gravity
        on the actuators at the present state; or none.
    rotor_inertia : float or (..., nu) array_like of float, optional
        Inertia :math:`J_d` that rotors behind elastic shafts shall seem to have, in
        kg m^2 (kg on sliding motors), by feedback of the torques of the shafts [3]_; by
        default their own.

    Attributes
    ----------
    q : (..., nq) ndarray of float
        Equilibrium at the set point: joints as wanted, motors and modes with them.
    reference : (..., nu) ndarray of float
        Its actuator coordinates :math:`\theta_d`, in rad or m.
    feedforward : (..., nu) ndarray of float
        Forces that hold it there, in N m or N.

    Raises
    ------
    ArgumentError
        If a value does not fit, or `kp` is not above the gravity stiffness at the set
        point, so that the equilibrium is unstable; if `rotor_inertia` is given and a
        joint has no motor behind an elastic shaft.
    ConvergenceError
        If the arm has no equilibrium at the set point.

    See Also
    --------
    JointFeedback : the same law in C, from `feedback`.
    flexarm.inverse_statics : joint positions for a tip position in spite of deflection.

    Notes
    -----
    With constant compensation the energy of the arm and of the gains is a Lyapunov
    function, nothing but `kd` has to be large enough to damp, and no velocity or mode
    is measured: the law is passive.  For flexible links this is [1]_, for flexible
    joints (motor PD plus gravity at the link position wanted) [2]_.  The set point is
    globally stable if :math:`K_p + G` is positive definite in all postures; `margin`
    computes it for a sample of them.

    G is the stiffness that the actuators meet when they move the arm slowly.  With the
    tangent stiffness S of all coordinates in static equilibrium, of gravity, links,
    shafts and springs, and a, f for actuators and the rest,

    .. math:: G = S_{aa} - S_{af} S_{ff}^{-1} S_{fa} ,

    the second derivative of the potential energy that is left when everything that has
    no actuator is in equilibrium: the condition :math:`K_p > \alpha` of [2]_ without a
    bound on norms.

    PD alone hardly damps links behind soft shafts that move heavy rotors.  With the
    torque :math:`\tau_s` of the shafts on their motors, which sensors measure,

    .. math:: \tau = J J_d^{-1} \left( K_p (\theta_d - \theta) - K_d \dot\theta
        + \tau_g \right) + \left( 1 - J J_d^{-1} \right) \tau_s

    the rotors move as if they had the inertia :math:`J_d`, and the set point is the
    same: energy shaping [3]_, with ``compensation="current"`` also that of gravity at
    the position of the motors.  The proof leaves out that rotors push the carriers on
    which they turn, 1/N of what they do to their joints.

    References
    ----------
    .. [1] A. De Luca, B. Siciliano, "Regulation of flexible arms under gravity", *IEEE
       Trans. Robotics and Automation* 9 (1993), 463-467.
    .. [2] P. Tomei, "A simple PD controller for robots with elastic joints", *IEEE
       Trans. Automatic Control* 36 (1991), 1208-1213.
    .. [3] C. Ott, A. Albu-Schaeffer, A. Kugi, G. Hirzinger, "On the passivity-based
       impedance control of flexible joint robots", *IEEE Trans. Robotics* 24 (2008),
       416-429.

    Examples
    --------
    A beam of 1 kg and 1 m ends level although it is bent, m g L/2 = 4.905 N m:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.planar_chain(1, n_modes=2, damping=0.1)
    >>> law = fa.control.SetPointPD(arm, 50.0, 8.0, [0.0])
    >>> law.feedforward.round(3)
    array([4.905])
    >>> t = np.linspace(0.0, 4.0, 2001)
    >>> run = fa.simulate(arm, [-0.5, 0.0, 0.0], np.zeros(3), t,
    ...                   torque=law.feedback(), method="ROS34PW2")
    >>> bool(abs(run.q[-1, 0]) < 1e-6)
    True

    Three set points at once:

    >>> fa.control.SetPointPD(arm, 50.0, 8.0, [[-0.5], [0.0], [0.5]]).q.shape
    (3, 3)
    """

    arm: Arm
    kp: Annotated[Any, Floats()]
    kd: Annotated[Any, Floats()]
    target: Annotated[Any, Floats()]
    compensation: Annotated[str, Choice("set point", "current", "gravity", "none")] = (
        "set point"
    )
    rotor_inertia: Annotated[Any, Floats()] = None
    q: Array = field(init=False, repr=False)
    reference: Array = field(init=False, repr=False)
    feedforward: Array = field(init=False, repr=False)
    _shafts: Array | None = field(init=False, repr=False, default=None)

    def __post_init__(self) -> None:
        arm = self.arm
        refuse_poses(arm, "SetPointPD")
        check_actuated(arm, "SetPointPD")
        read_arm(arm, "SetPointPD")
        target = rows("target", self.target, arm.nu, "one position for each joint")
        kp, kd = gains("kp", self.kp, arm.nu), gains("kd", self.kd, arm.nu)
        common_batch(
            {"kp": kp.shape[:-1], "kd": kd.shape[:-1], "target": target.shape[:-1]}
        )
        found = uninterrupted(equilibrium(arm, with_joints(arm, target)))
        found.check(stable=False)
        acting = arm.actuator_indices
        self._set(
            kp=kp,
            kd=kd,
            target=target,
            q=found.q,
            reference=found.q[..., acting],
            feedforward=found.tau[..., acting],
        )
        self._check_gains()
        if self.rotor_inertia is not None:
            wanted = gains("rotor_inertia", self.rotor_inertia, arm.nu)
            if not wanted.all():
                raise ArgumentError(
                    f"rotor_inertia is {one_line(wanted)}, expected positive inertias"
                )
            self._set(rotor_inertia=wanted, _shafts=_shafts(arm))

    def _check_gains(self) -> None:
        """Refuse gains that gravity overcomes at the set point."""
        G = _condensed(self.arm, self.q)
        smallest = np.linalg.eigvalsh(
            G + self.kp[..., np.newaxis] * np.eye(self.arm.nu)
        )
        if (smallest[..., 0] > 0.0).all():
            return
        pull = -float(np.linalg.eigvalsh(G)[..., 0].min())
        held = pull <= 0.0  # gravity pulls nowhere, but a joint has no gain
        raise ArgumentError(
            f"kp is {one_line(self.kp)}, "
            + (
                "expected a positive gain on each joint"
                if held
                else f"not above the gravity stiffness of {pull:.4g} at the set point, "
                "so that the equilibrium is unstable; expected larger gains"
            )
        )

    def margin(self, q: Positions) -> Array:
        """Smallest eigenvalue of ``Kp + G`` in other postures.

        Parameters
        ----------
        q : (..., nq) array_like of float
            Postures, such as those of `flexarm.joint_grid`.

        Returns
        -------
        margin : (...) ndarray of float
            In N m/rad; positive in all postures: the set point is their only
            equilibrium, and stable from anywhere.

        Examples
        --------
        A gain of 10 N m/rad and a pendulum of m g c = 4.905 N m, upright and hanging:

        >>> import numpy as np
        >>> import flexarm as fa
        >>> arm = fa.library.pendulum(mass=1.0, com=0.5)
        >>> law = fa.control.SetPointPD(arm, 10.0, 2.0, [0.0])
        >>> law.margin([[np.pi / 2], [-np.pi / 2]])
        array([ 5.095, 14.905])
        """
        G = _actuator_stiffness(self.arm, q)
        both = G + self.kp[..., np.newaxis] * np.eye(self.arm.nu)
        return np.asarray(np.linalg.eigvalsh(both)[..., 0])

    def feedback(self) -> JointFeedback:
        """The same law as `JointFeedback`, for loops in C.

        Returns
        -------
        law : JointFeedback
            Gains, set point and constant feedforward.

        Raises
        ------
        ArgumentError
            If the compensation depends on the state.
        """
        if self.compensation not in ("set point", "none"):
            raise ArgumentError(
                f"compensation {self.compensation!r} depends on the state, expected "
                "'set point' or 'none' for a JointFeedback; use the law itself"
            )
        if self.rotor_inertia is not None:
            raise ArgumentError(
                "rotor_inertia needs the torques of the shafts, expected none for a "
                "JointFeedback; use the law itself"
            )
        reference = _sampled(self.reference)
        force = None if self.compensation == "none" else _sampled(self.feedforward)
        return JointFeedback(self.kp, self.kd, reference, feedforward=force)

    def __call__(self, t: float, q: Positions, qd: Velocities | None = None) -> Array:
        """Forces (..., nu) of the actuators in N m or N, for `simulate`."""
        arm, acting = self.arm, self.arm.actuator_indices
        q, qd = read_state(arm, q, qd)
        error = self.reference - q[..., acting]
        tau = self.kp * error - self.kd * qd[..., acting]
        at = known(q, arm.neutral)  # the error is NaN for a state that is lost
        if self.compensation == "set point":
            tau = tau + self.feedforward
        elif self.compensation == "current":
            tau = tau + holding_forces(arm, at, held="motors")
        elif self.compensation == "gravity":
            tau = tau + _gravity(arm, at)
        if self._shafts is not None:
            J, K, D, N = self._shafts
            n, share = arm.nu, J / self.rotor_inertia
            twist = K * (q[..., acting] / N - q[..., :n])
            twist = twist + D * (qd[..., acting] / N - qd[..., :n])
            tau = share * tau + (1.0 - share) * twist / N
        return np.asarray(tau)


def _shafts(arm: Arm) -> Array:
    """Inertias of rotors, stiffness and damping of shafts, and gear ratios, (4, nu)."""
    found = elastic_shafts(arm)
    bare = sorted(set(range(arm.nu)) - {s.joint for s in found})
    if bare:
        raise ArgumentError(
            f"rotor_inertia is given, but joint {arm.coordinate_names[bare[0]]!r} has "
            "no motor behind an elastic shaft, the torque of which it feeds back; "
            "expected elastic drives in all joints, or no rotor_inertia"
        )
    names = ("rotor_inertia", "stiffness", "damping", "gear_ratio")
    return np.array([[getattr(s.drive, name) for s in found] for name in names])


def _sampled(x: Array) -> Array:
    """Rows that JointFeedback takes: constant, batch axes before the one of times."""
    if x.ndim == 1:
        return x
    raise ArgumentError(
        f"the set points have shape {x.shape}, expected one for a JointFeedback; use "
        "the law itself for several"
    )


def _gravity(arm: Arm, q: Array) -> Array:
    """Gravity on the actuators, that of a joint through its gear if it has a motor."""
    g = gravity_forces(arm, q)
    acting = arm.actuator_indices
    tau = np.array(g[..., acting])
    for k, body in enumerate(arm.bodies):
        drive = body.joint.drive
        if drive is not None and drive.is_free:
            at = arm.body_joint_slice(k).start
            tau[..., at] += g[..., at] / drive.gear_ratio
    return tau
