"""Proportional and derivative feedback of joints, computed inside the time loop."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated, Any

import numpy as np

from .._calls.arguments import check_numbers, count_of, real_array
from .._calls.arm_like import ArmLike, Array
from .._calls.declared import Floats
from .._calls.doors import checked_class
from .._calls.nodes import MAX_NUMBERS
from .._support.description import Description
from ..errors import ArgumentError


@checked_class
@dataclass(frozen=True, eq=False)
class JointFeedback(Description):
    r"""PD control of the joints, as `torque` of `simulate`.

    .. math:: \tau = \tau_{ff} + K_p (q_{ref} - q) + K_d (\dot q_{ref} - \dot q)

    on the ``nu`` joints, without measurement of or forces on modes.  The law is
    evaluated in C at every stage, and implicitly by the implicit methods of `simulate`.

    Parameters
    ----------
    kp, kd : (..., nu) array_like of float
        Gains on positions (N m/rad or N/m) and velocities (N m s/rad or N s/m) of each
        joint; with `coupled` matrices (..., nu, nu).  Leading axes broadcast with those
        of the initial states.
    reference : (nu,) or (..., n, nu) array_like of float
        Set point in rad or m, or one for each time of `simulate`.
    reference_rates : (nu,) or (..., n, nu) array_like of float, optional
        Reference velocities, in rad/s or m/s; by default zero.
    feedforward : (nu,) or (..., n, nu) array_like of float, optional
        Additional forces, in N m or N; by default zero.
    coupled : bool
        Whether gains are matrices.  ``"ROS34PW2"`` takes their symmetric part
        implicitly; a large antisymmetric part limits its step.

    Raises
    ------
    ArgumentError
        If a value is not finite or sizes differ.

    See Also
    --------
    flexarm.simulate : uses it; ``interpolation="hold"`` gives steps of the set point.
    flexarm.reference.patent_loop.ComputedTorque : correction by a model.

    Notes
    -----
    Positions of joints with quaternions are not vectors; for arms with such joints
    `simulate` raises, and a torque function with `difference` is needed.

    Examples
    --------
    A pendulum brought to the horizontal:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.pendulum(mass=1.0, com=1.0)
    >>> law = fa.control.JointFeedback([100.0], [20.0], [0.0], feedforward=[9.81])
    >>> t = np.linspace(0.0, 3.0, 301)
    >>> run = fa.simulate(arm, [-1.5], [0.0], t, torque=law, method="ROS34PW2")
    >>> bool(abs(run.q[-1, 0]) < 1e-9)
    True

    Three gains at once:

    >>> law = fa.control.JointFeedback([[50.0], [100.0], [200.0]], [20.0], [0.0])
    >>> fa.simulate(arm, [-1.5], [0.0], t, torque=law).q.shape
    (3, 301, 1)
    """

    kp: Annotated[Array, Floats("(..., nu)")]
    kd: Annotated[Array, Floats("(..., nu)")]
    reference: Annotated[Array, Floats("(nu,)", "(..., n, nu)")]
    reference_rates: Annotated[Array, Floats("(nu,)", "(..., n, nu)")] | None = None
    feedforward: Annotated[Array, Floats("(nu,)", "(..., n, nu)")] | None = None
    coupled: bool = False

    def __post_init__(self) -> None:
        # finite arrays
        for field in fields(self)[:5]:
            value = getattr(self, field.name)
            if value is not None:
                self._set(**{field.name: _finite(field.name, value)})
            elif field.name in ("kp", "kd", "reference"):
                raise ArgumentError(
                    f"{field.name} is None, expected one number for each joint"
                )
        # gains and columns of nu joints
        nu = self.kp.shape[-1]
        for name in ("kp", "kd"):
            shape = getattr(self, name).shape
            wanted = (nu, nu) if self.coupled else (nu,)
            if shape[-len(wanted) :] != wanted:
                raise ArgumentError(
                    f"{name} has shape {shape}, expected (..., "
                    f"{', '.join(map(str, wanted))}) as kp has {nu} columns"
                    + (", coupled" if self.coupled else "; coupled=True takes matrices")
                )
        for name in ("reference", "reference_rates", "feedforward"):
            value = getattr(self, name)
            if value is not None and value.shape[-1] != nu:
                raise ArgumentError(
                    f"{name} has shape {value.shape}, expected a last axis of {nu}, "
                    "one column for each gain"
                )

    def fit(self, arm: ArmLike, n: int) -> JointFeedback:
        """Return a feedback with one row for each of `n` times, if it fits the arm.

        Parameters
        ----------
        arm : Arm
            Arm that it drives.
        n : int
            Number of times.

        Returns
        -------
        feedback : JointFeedback
            Feedback with reference and feedforward of shape (..., n, nu).

        Raises
        ------
        ArgumentError
            If the arm has another number of joints, or joints with quaternions.

        Examples
        --------
        >>> import flexarm as fa
        >>> law = fa.control.JointFeedback([100.0], [20.0], [0.0], feedforward=[9.81])
        >>> law.fit(fa.library.pendulum(), 301).reference.shape
        (301, 1)
        """
        nu = arm.nu
        if self.kp.shape[-1] != nu:
            raise ArgumentError(
                f"kp has shape {self.kp.shape}, expected a last axis of {nu}: the arm "
                f"has {nu} joint coordinates with actuators"
            )
        n = count_of("n", n)
        if n > MAX_NUMBERS:
            raise ArgumentError(f"n is {n}, expected at most {MAX_NUMBERS} times")
        if arm.nq != arm.nv:
            raise ArgumentError(
                "JointFeedback subtracts joint positions, but the arm has joints with "
                "quaternions; expected one position per velocity, use a torque "
                "function of fa.difference"
            )
        rows: dict[str, Any] = {}
        for name in ("reference", "reference_rates", "feedforward"):
            value = getattr(self, name)
            if value is not None and value.ndim == 1:
                value = np.broadcast_to(value, (n, nu))
            if value is not None and value.shape[-2] != n:
                raise ArgumentError(
                    f"{name} has shape {value.shape}, expected (..., {n}, {nu}): one "
                    f"row per time, or ({nu},) for all times"
                )
            rows[name] = value
        return JointFeedback(self.kp, self.kd, coupled=self.coupled, **rows)


def _finite(name: str, value: object) -> Array:
    array = np.array(real_array(name, value))
    if array.ndim == 0:
        raise ArgumentError(f"{name} is one number, expected one for each joint")
    check_numbers(name, array)
    array.flags.writeable = False
    return array
