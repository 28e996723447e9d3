"""Direct strain feedback: joints give way to the strain of the links."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np

from .._calls.arguments import check_actuated
from .._calls.declared import Floats, Positions, Velocities
from .._calls.doors import checked_class
from .._support.arrays import Array
from .._support.description import Description
from .._support.interrupts import uninterrupted
from ..arm import Arm
from ..errors import ArgumentError
from ..linear_models import linearize, outputs
from ..simulation.laws import Memoryless
from ..statics import equilibrium
from ..statics.coordinates import motors
from ._loops.linear_controller import LinearController
from .checks import gains, refuse_poses, rows
from .sensors import JOINTS
from .states import given_sample_time, on_all_states, read_state, with_joints


@checked_class
@dataclass(frozen=True, eq=False)
class StrainFeedback(Description, Memoryless):
    r"""Velocity servos of the joints whose command follows the strain of the links.

    .. math::
       \tau = \tau_g + K_s \left( \omega (\theta_d - \theta)
           + N k (\epsilon - \epsilon_d) - \dot\theta \right)

    of joints, N = 1, or of their motors behind gears of the ratio N.

    Parameters
    ----------
    arm : Arm
        Model; a tree without quaternions.
    target : (nu,) array_like of float
        Joint positions wanted at rest, in rad or m.
    servo : float or (nu,) array_like of float
        :math:`K_s` of the velocity servos in N m s/rad or N s/m, at the motors where
        joints have drives; stiff ones follow.
    bandwidth : float or (nu,) array_like of float
        :math:`\omega` of the position loop in 1/s.
    gain : float or (nu,) array_like of float
        k: velocity of the joint for a unit of strain; in rad m/s for curvature.
    gauges : list, optional
        One output for each joint, as of `linearize`; by default the curvature along y
        at the base of the link of each joint, with none for rigid links.

    Attributes
    ----------
    S : (nu, nv) ndarray of float
        Rows of the gauges, :math:`\epsilon = S q`.
    q : (nq,) ndarray of float
        Equilibrium at the target, with the strains :math:`\epsilon_d`.
    feedforward : (nu,) ndarray of float
        Forces :math:`\tau_g` that hold it, in N m or N.

    Raises
    ------
    ArgumentError
        If a gauge does not exist.
    ConvergenceError
        If there is no equilibrium at the target.

    See Also
    --------
    flexarm.outputs.strain : gauges.
    SetPointPD : without gauges.

    Notes
    -----
    A joint that turns with :math:`k\epsilon` accelerates with :math:`k\dot\epsilon`,
    and moves the modes of its link by :math:`-M_{fj} k S \dot\eta`.  For a clamped beam
    and the curvature at its root both factors belong together,
    :math:`\int \rho A\, x \phi_i dx = EI \phi_i''(0) / \omega_i^2`, so that every mode
    is damped for any k above zero, without a model, if the servos are stiff enough to
    follow: neither rates of modes nor estimates are needed.

    A motor that follows holds its end of an elastic shaft, as a clamped base of the
    link that is softer; its gauge then still sees the moment of the shaft.

    References
    ----------
    .. [1] Z.-H. Luo, "Direct strain feedback control of flexible robot arms: new
       theoretical and experimental results", *IEEE Trans. Automatic Control* 38 (1993),
       1610-1622.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.planar_chain(1, n_modes=6, gravity=(0, 0, 0))
    >>> law = fa.control.StrainFeedback(arm, [0.0], servo=100.0, bandwidth=2.0,
    ...                                 gain=1.0)
    >>> law(0.0, [0.1, *np.zeros(6)], np.zeros(7))    # 100 * 2 * (0 - 0.1)
    array([-20.])
    >>> law(0.0, np.zeros((100, 7)), np.zeros((100, 7))).shape
    (100, 1)
    """

    arm: Arm
    target: Annotated[Any, Floats("(nu,)")]
    servo: Annotated[Any, Floats("()", "(nu,)")]
    bandwidth: Annotated[Any, Floats("()", "(nu,)")]
    gain: Annotated[Any, Floats("()", "(nu,)")]
    gauges: object = None
    S: Array = field(init=False, repr=False)
    q: Array = field(init=False, repr=False)
    feedforward: Array = field(init=False, repr=False)
    _ratio: Array = field(init=False, repr=False)

    def __post_init__(self) -> None:
        arm = self.arm
        refuse_poses(arm, "StrainFeedback")
        check_actuated(arm, "StrainFeedback")
        for name in ("servo", "bandwidth", "gain"):
            value = gains(name, getattr(self, name), arm.nu)
            if value.ndim > 1:
                raise ArgumentError(
                    f"{name} has shape {value.shape}, expected ({arm.nu},)"
                )
            self._set(**{name: value})
        target = rows("target", self.target, arm.nu, "one for each joint")
        found = uninterrupted(equilibrium(arm, with_joints(arm, target)))
        found.check(stable=False)
        # curvatures at the bases of the links, or given outputs
        S = np.zeros((arm.nu, arm.nv))
        if self.gauges is None:
            for k, body in enumerate(arm.bodies):
                at = arm.body_joint_slice(k)
                if body.beam is not None and at.stop - at.start == 1:
                    gauge = outputs.strain(body.name, 0.0)
                    S[at] = _rows(arm, found.q, gauge)[:, : arm.nv]
        else:
            try:
                C = _rows(arm, found.q, self.gauges)
            except ArgumentError as fault:
                raise ArgumentError(f"gauges: {fault}") from None
            if C.shape[-2] != arm.nu or C[..., arm.nv :].any():
                raise ArgumentError(
                    f"gauges are {C.shape[-2]} signals, expected {arm.nu} of positions "
                    "alone, one for each joint"
                )
            S = C[..., : arm.nv]
        ratio = np.ones(arm.nu)
        for m in motors(arm):
            if m.motor >= 0:
                ratio[m.joint] = m.ratio
        self._set(
            _ratio=ratio,
            target=target,
            S=S,
            q=found.q,
            feedforward=found.tau[..., arm.actuator_indices],
        )

    def __call__(self, t: float, q: Positions, qd: Velocities | None = None) -> Array:
        """Forces (..., nu) in N m or N, for `simulate` and `simulate_loop`."""
        at = self.arm.actuator_indices
        q, qd = read_state(self.arm, q, qd)
        off, rate = self.q - q, qd[..., at]
        give = self._ratio * self.gain * (off @ self.S.T)
        wanted = self.bandwidth * off[..., at] - give
        return np.asarray(self.feedforward + self.servo * (wanted - rate))

    def controller(self, dt: float) -> LinearController:
        """Return the same as a `LinearController`, for loops in C.

        Parameters
        ----------
        dt : float
            Sample time in s.

        Returns
        -------
        law : LinearController
            Of positions and velocities of the actuators and of strains.

        Examples
        --------
        >>> import numpy as np
        >>> import flexarm as fa
        >>> arm = fa.library.planar_chain(1, n_modes=6, gravity=(0, 0, 0))
        >>> law = fa.control.StrainFeedback(arm, [0.0], servo=100.0, bandwidth=2.0,
        ...                                 gain=1.0)
        >>> sampled = law.controller(0.001)
        >>> sampled.D.round(2)  # on the joint, its rate and the strain
        array([[-200., -100.,  100.]])
        """
        n, nv, acting = self.arm.nu, self.arm.nv, self.arm.actuator_indices
        C = np.zeros((3 * n, 2 * nv))
        C[np.arange(n), acting] = C[np.arange(n, 2 * n), nv + acting] = 1.0
        C[2 * n :, :nv] = self.S
        D = np.concatenate(
            [
                np.diag(-self.servo * self.bandwidth),
                np.diag(-self.servo),
                np.diag(self.servo * self._ratio * self.gain),
            ],
            axis=1,
        )
        at = C @ np.concatenate([self.q, np.zeros(nv)])
        return LinearController(
            None,
            None,
            None,
            D,
            dt,
            sensors=C,
            reference=at,
            feedforward=self.feedforward,
        )

    def _near(self, q: Array, dt: float | None) -> LinearController:
        """The same in samples, with gauges by name, of which each arm has its own."""
        law, n = self.controller(given_sample_time(dt)), self.arm.nu
        gauges, used = self.gauges, list(range(n))
        if gauges is None:
            used = [i for i in used if self.S[i].any()]
            of = {}
            for k, body in enumerate(self.arm.bodies):
                at = self.arm.body_joint_slice(k)
                if at.stop > at.start:
                    of[at.start] = body.name
            gauges = [outputs.strain(of[i], 0.0) for i in used]
        elif not isinstance(gauges, list):
            gauges = [gauges]
        D = law.D[:, [*range(2 * n), *(2 * n + i for i in used)]]
        sensors = [*JOINTS, *gauges]
        return LinearController(None, None, None, D, law.dt, sensors=sensors)


def _rows(arm: Arm, q: Array, outputs: object) -> Array:
    """Derivatives (p, 2 nv) of outputs by the state."""
    model = linearize(arm, q, outputs=outputs)
    return on_all_states(arm, model, model.C)
