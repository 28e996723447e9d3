"""Desired and computed motion at the steps of a loop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..._calls.arguments import real_array
from ..._calls.declared import Forces
from ..._calls.doors import checked, checked_class
from ..._support.arrays import Array
from ...arm import Arm
from ...errors import ArgumentError
from ..states import integrate
from .motions import Motion


@checked_class
@dataclass(frozen=True, eq=False)
class Comparison:
    """Computed and desired motion at one time step, as a correction sees them.

    In a `LoopRun` those of all steps: the arrays have one more axis of `n` times.

    Attributes
    ----------
    arm : Arm
        The model.
    t : float or (n,) ndarray
        Time in s.
    q : (..., nq) ndarray
        Configuration: joints sensed or integrated, modes integrated.
    qd : (..., nv) ndarray
        Its velocities.
    tau : (..., nu) ndarray
        Specified joint forces in N m or N.
    qdd : (..., nv) ndarray
        Accelerations of joints and modes that the specified forces would give.
    desired : Motion
        Desired motion, arrays with the batch axes.
    position_error, rate_error, acceleration_error : (..., nu) ndarray
        Desired less computed motion of the joints.
    deformation_error : (..., n_nodes, 6) ndarray or None
        Desired less computed node deformations in rad and m, NaN where none is desired.
    span : float
        Time in s for which the corrected forces will be held; zero if not known.
    desired_next : Motion or None
        Desired motion after that time, if known.
    integrator : str
        Integrator of the model.
    max_step : float or None
        Its longest step in s.
    """

    arm: Arm
    t: Any
    q: Array
    qd: Array
    tau: Array
    qdd: Array
    desired: Motion
    position_error: Array
    rate_error: Array
    acceleration_error: Array
    deformation_error: Array | None = None
    span: float = 0.0
    desired_next: Motion | None = None
    integrator: str = "rk4"
    max_step: float | None = None

    @checked
    def predict(self, tau: Forces) -> tuple[Array, Array]:
        """State of the model after `span` under joint forces that are held.

        Parameters
        ----------
        tau : (..., nu) or (..., nv) array_like of float
            Forces of the actuators, or of all coordinates, in N m or N; more leading
            axes try several ones at once.

        Returns
        -------
        q : (..., nq) ndarray of float
            Positions, NaN where they diverge.
        qd : (..., nv) ndarray of float
            Velocities.

        Raises
        ------
        ArgumentError
            If the span is not known.

        Examples
        --------
        A rotor of 2 kg m^2 that 6 N m drive for 0.1 s, from rest:

        >>> import flexarm as fa
        >>> from flexarm.reference import patent_loop
        >>> arm = fa.library.pendulum(mass=2.0, com=0.0, inertia=2.0)
        >>> still = fa.control.Motion([0.0], [0.0], [0.0])
        >>> controller = patent_loop.ManipulatorController(
        ...     arm, lambda t: still, [0.0], [0.0]
        ... )
        >>> comparison = controller.step(0.0, span=0.1).comparison
        >>> q, qd = comparison.predict([[0.0], [6.0]])  # two forces to choose from
        >>> q.round(6).ravel(), qd.round(6).ravel()
        (array([0.   , 0.015]), array([0. , 0.3]))
        """
        if not self.span > 0.0:
            raise ArgumentError(
                "span is zero, expected the time for which the forces are held; give "
                "it to the step of the controller"
            )
        return integrate(
            self.arm,
            self.q,
            self.qd,
            real_array("tau", tau),
            (self.t, self.t + self.span),
            self.integrator,
            self.max_step,
        )
