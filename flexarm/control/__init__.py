"""Laws, observers and closed loops.

Laws for `simulate` and `simulate_loop`, a module for each.  All are called in one way,
``law(t, q, qd)``, or ``law(t, y)`` if they have ``sensors``, and begin again by
``reset(q, qd)``; plain functions, and classes with both methods, are laws too:

- `regulation`: PD with gravity and elastic compensation,
- `linear_quadratic`, `kalman`, `extended_kalman`: LQR, LQG, observers,
- `predictive`: the best forces within limits,
- `disturbances`: forces that the model does not know,
- `gain_scheduling`: gains on a grid of postures,
- `composite`: rigid motion and vibration apart,
- `inversion`: outputs that follow exactly, and what they do not show; for the joints of
  a rigid arm this is computed torque, for elastic joints exact linearization,
- `feedforward`: forces of motors behind elastic shafts for a motion of the joints,
- `strain_feedback`, `input_shaping`: vibration damped by gauges, or not excited,
- `adaptive`: inertias that are not known,
- `export`: laws as C.

Forces act on motors where joints have drives.  All laws take arms with drives, but for
`AdaptiveControl`, and observers those with elastic shafts.

`JointFeedback` stands beside it: PD control of the joints inside `simulate`, in C.
`simulate_loop` runs any law at a sample rate on a plant in continuous time, with delay,
limits, noise and rounding; of a `LinearController` the whole loop runs in C.  The loop
of Jain and Rodriguez, with a model of the arm inside, is in
`flexarm.reference.patent_loop`.
"""

from typing import TYPE_CHECKING

from .._support.moved import missing_or_moved
from ..simulation import JointFeedback
from ._loops.linear_controller import LinearController
from ._loops.motions import Motion, RestToRest
from ._loops.record import LoopRun
from ._loops.sampled import simulate_loop
from ._loops.spillover import spillover
from .adaptive import AdaptiveControl
from .composite import CompositeControl
from .disturbances import DisturbanceObserver
from .export import export_c
from .extended_kalman import ExtendedKalmanFilter, ObservedLaw
from .feedforward import drive_feedforward
from .gain_scheduling import scheduled_lqr
from .input_shaping import Shaper
from .inversion import Inversion
from .kalman import kalman_filter, lqg
from .linear_quadratic import energy_weight, lqr, quadratic_weights
from .predictive import PredictiveControl
from .regulation import SetPointPD
from .strain_feedback import StrainFeedback

__all__ = [
    "AdaptiveControl",
    "CompositeControl",
    "DisturbanceObserver",
    "ExtendedKalmanFilter",
    "Inversion",
    "JointFeedback",
    "LinearController",
    "LoopRun",
    "Motion",
    "ObservedLaw",
    "PredictiveControl",
    "RestToRest",
    "SetPointPD",
    "Shaper",
    "StrainFeedback",
    "drive_feedforward",
    "energy_weight",
    "export_c",
    "kalman_filter",
    "lqg",
    "lqr",
    "quadratic_weights",
    "scheduled_lqr",
    "simulate_loop",
    "spillover",
]

if not TYPE_CHECKING:
    __getattr__ = missing_or_moved(__name__, __all__)
