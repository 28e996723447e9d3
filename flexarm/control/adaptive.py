"""Adaptive control of rigid arms, in the inertial parameters that are not known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from .._calls.arguments import check_actuated, check_numbers, real_array
from .._calls.declared import Floats, Positions, Velocities
from .._calls.doors import checked, checked_class
from .._support.arrays import Array
from ..arm import Arm
from ..errors import ArgumentError
from ..parameters import inertial_parameters, inertial_regressor
from ._matrices import times
from .checks import gains, refuse_poses, rows
from .composite import desired_at
from .states import known, read_state


def _reference_regressor(
    arm: Arm, q: ArrayLike, qd: ArrayLike, v: ArrayLike, a: ArrayLike
) -> Array:
    r"""Matrix Y (..., nv, p) of :math:`M a + C(q, \dot q) v + g = Y \theta`.

    Velocity forces are a quadratic form, and C v, with Christoffel's C, its symmetric
    bilinear one, :math:`C v = \tfrac12 \left(c(\dot q + v) - c(\dot q) - c(v)\right)`:
    five regressors at once.  :math:`\dot M - 2 C` is skew then, as the proof of
    stability needs it.
    """
    q, qd, v, a = np.broadcast_arrays(
        *(np.asarray(x, dtype=np.float64) for x in (q, qd, v, a))
    )
    none = np.zeros_like(v)
    rates = np.stack([none, qd + v, qd, v, none])
    speeds = np.stack([a, none, none, none, none])
    parts = inertial_regressor(arm, q, rates, speeds, families="inertia")
    # gravity is in each of them: once in the first, less once in the three next
    weight = np.array([1.0, 0.5, -0.5, -0.5, 0.5])
    return np.asarray(np.tensordot(weight, parts, axes=1))


@checked_class
class AdaptiveControl:
    r"""Adaptive control of Slotine and Li, for `simulate_loop`.

    .. math::
       \tau = Y(q, \dot q, v, \dot v) \hat\theta - K s + f, \qquad
       \dot{\hat\theta} = -\Gamma Y^T s, \qquad
       v = \dot q_d + \Lambda (q_d - q), \quad s = \dot q - v

    with the forces f of springs and friction of the model, which are known.

    Parameters
    ----------
    arm : Arm
        Rigid arm without motors, couplings and quaternions; its inertias are the first
        estimate.
    desired : callable, float or (..., nu) array_like of float
        ``desired(t)`` returns joint positions, velocities and accelerations, as
        `RestToRest` does; or a set point.
    gain : float or (nu,) array_like of float
        K in N m s/rad or N s/m.
    bandwidth : float or (nu,) array_like of float
        :math:`\Lambda` in 1/s.
    adaptation : float or (p,) array_like of float
        :math:`\Gamma`, diagonal; zero for a parameter that is known.
    theta : (..., p) array_like of float, optional
        First estimate of ``inertial_parameters(arm, families="inertia")``; leading axes
        are many loops.

    Attributes
    ----------
    theta : (..., p) ndarray of float
        Estimate now.

    Raises
    ------
    ArgumentError
        If the arm has modes or constraints.

    See Also
    --------
    flexarm.base_parameters : combinations that motion can distinguish.

    Notes
    -----
    A law with memory: it is called once for each sample, in the order of time, and
    integrates by Euler's rule from sample to sample.  Position errors go to zero;
    parameters need not become the true ones unless the motion excites them.

    References
    ----------
    .. [1] J.-J. E. Slotine, W. Li, "On the adaptive control of robot manipulators",
       *Int. J. Robotics Research* 6(3) (1987), 49-59.

    Examples
    --------
    A pendulum of which nothing is known at first:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.pendulum()
    >>> motion = fa.control.RestToRest([0.0], [1.0], 1.0)
    >>> law = fa.control.AdaptiveControl(arm, motion, 5.0, 10.0, 20.0, np.zeros(10))
    >>> run = fa.control.simulate_loop(
    ...     arm, law, [0.0], [0.0], [0.0, 1.0, 3.0], sample_time=0.005
    ... )
    >>> bool(abs(run.q[-1, 0] - 1.0) < 0.02)
    True
    """

    @checked
    def __init__(
        self,
        arm: Arm,
        desired: Callable[[float], Sequence[ArrayLike]]
        | Annotated[ArrayLike, Floats("()", "(..., nu)")],
        gain: Annotated[ArrayLike, Floats("()", "(nu,)")],
        bandwidth: Annotated[ArrayLike, Floats("()", "(nu,)")],
        adaptation: Annotated[ArrayLike, Floats("()", "(p,)")],
        theta: Annotated[ArrayLike, Floats("(..., p)")] | None = None,
    ) -> None:
        refuse_poses(arm, "AdaptiveControl")
        check_actuated(arm, "AdaptiveControl")
        if arm.motor_slice.stop > arm.nu:
            raise ArgumentError(
                "the arm of AdaptiveControl has motors, whose rotors are not among the "
                "inertias that it adapts, and whose shafts keep its forces from the "
                "links; expected joints without drives"
            )
        if arm.nv > arm.nu or arm._held:
            raise ArgumentError(
                "the arm of AdaptiveControl has modes or constraints, expected a rigid "
                "tree"
            )
        if not callable(desired):
            desired = rows("desired", desired, arm.nu, "one for each joint")
        self.arm, self.desired = arm, desired
        self.gain = gains("gain", gain, arm.nu)
        self.bandwidth = gains("bandwidth", bandwidth, arm.nu)
        nominal = np.asarray(inertial_parameters(arm, families="inertia").values)
        unit = "one for each inertial parameter"
        self.adaptation = gains("adaptation", adaptation, len(nominal), unit)
        first = nominal if theta is None else real_array("theta", theta)
        if first.ndim == 0 or first.shape[-1] != len(nominal):
            raise ArgumentError(
                f"theta has shape {first.shape}, expected (..., {len(nominal)}), {unit}"
            )
        check_numbers("theta", first)
        self._nominal, self._first = nominal, np.array(first)
        self.reset()

    def reset(self, q: Positions | None = None, qd: Velocities | None = None) -> None:
        """Return to the first estimate.

        Parameters
        ----------
        q, qd : (..., nq), (..., nv) array_like of float, optional
            Initial state of a run in rad or m, and per s; not used.

        Examples
        --------
        >>> import numpy as np
        >>> import flexarm as fa
        >>> arm = fa.library.pendulum()
        >>> motion = fa.control.RestToRest([0.0], [1.0], 1.0)
        >>> law = fa.control.AdaptiveControl(arm, motion, 5.0, 10.0, 20.0, np.zeros(10))
        >>> tau = [law(t, [0.0], [0.0]) for t in (0.0, 0.1, 0.2)]
        >>> bool(law.theta.any())
        True
        >>> law.reset()  # before the next run
        >>> bool(law.theta.any())
        False
        """
        self.theta = self._first.copy()
        self._t: float | None = None
        self._rate: Array | float = 0.0

    def __call__(self, t: float, q: Positions, qd: Velocities | None = None) -> Array:
        """Forces (..., nu) of a sample in N m or N; moves the estimate on."""
        arm = self.arm
        q, qd = read_state(self.arm, q, qd)
        if self._t is not None and t > self._t:
            self.theta = self.theta + (t - self._t) * self._rate
        q_d, qd_d, qdd_d = desired_at(self.desired, t)
        v = qd_d + self.bandwidth * (q_d - q)
        a = qdd_d + self.bandwidth * (qd_d - qd)
        s = qd - v
        # NaN in s is enough to mark a lost state
        lost = ~np.isfinite(s + q + a).all(axis=-1, keepdims=True)
        s = np.where(lost, np.nan, s)
        q = known(q, arm.neutral)
        qd, v, a = (np.where(lost, 0.0, x) for x in (qd, v, a))
        Y = _reference_regressor(arm, q, qd, v, a)
        self._t = t
        self._rate = -self.adaptation * times(np.swapaxes(Y, -1, -2), s)
        # springs and friction of the model: what its inertias do not explain
        own = inertial_regressor(arm, q, qd, 0.0 * qd, families="inertia")
        rest = arm.kernels.quiet("bias_forces")(q, qd) - times(own, self._nominal)
        return np.asarray(times(Y, self.theta) - self.gain * s + rest)
