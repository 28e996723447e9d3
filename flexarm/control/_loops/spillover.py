"""Loops of a law and the arm with more modes, which its design does not know."""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary, WeakSet

import numpy as np
from scipy import linalg

from ..._calls.declared import Posture
from ..._calls.doors import checked, checked_class
from ..._support.arrays import Array
from ..._support.printing import Printed, Sheet
from ..._support.warn import warn
from ...arm import Arm, without_warning
from ...errors import ArgumentError, ModeWarning
from ...frequency_errors import has_few_modes
from ...linear_models import linearize
from ...refinement import ADDED_MODES, undeformed
from ...stacks import ArmStack
from ...statics import equilibrium
from ..sensors import JOINTS, is_named
from .linear_controller import LinearController

# arms with which laws were looked at
_CHECKED: WeakKeyDictionary[object, WeakSet[Arm]] = WeakKeyDictionary()
# Spectral radius of a stable loop at most, with rounding.
_MAX_RADIUS = 1.0 + 1e-6
# Smallest factor of the gains that is tried for a margin.
_MIN_GAIN = 1e-3
# Largest factor of the gains that is tried for a margin.
_MAX_GAIN = 1e3
# Halvings of the range of a margin, to a relative 1e-8.
_HALVINGS = 30


@checked_class
@dataclass(frozen=True, eq=False)
class Spillover(Printed):
    """A sampled loop on an arm and on the same arm with more modes.

    Attributes
    ----------
    arm, finer : Arm
        The arm, and that with more modes.
    radius, finer_radius : float
        Spectral radii of both loops, factors per sample, below one if stable.
    gain_margin : float
        Factor of all gains of the law at which the loop of the finer arm begins to
        grow, above one if it is stable; below one if less gain makes it stable, zero if
        none of 0.001 does.
    frequency : float
        Frequency in Hz of the mode of the finer arm, without the law, that takes the
        largest part in the motion that decays least or grows.
    """

    arm: Arm
    finer: Arm
    radius: float
    finer_radius: float
    gain_margin: float
    frequency: float

    @property
    def stable(self) -> bool:
        """Whether the loop of the finer arm is stable."""
        return self.finer_radius <= _MAX_RADIUS

    def _sheet(self) -> Sheet:
        both = f"{self.radius:.5f}, with more modes {self.finer_radius:.5f}"
        grows = "decays least" if self.stable else "grows"
        return Sheet(
            (
                f"spectral radius of the loop {both}",
                f"the mode at {self.frequency:.4g} Hz {grows}; factor of the gains "
                f"until the loop grows: {self.gain_margin:.3g}",
            )
        )


@checked
def spillover(
    law: object,
    arm: Arm,
    q: Posture | None = None,
    *,
    more: int = ADDED_MODES,
    dt: float | None = None,
) -> Spillover:
    """Loop of a law with the arm for which it is made, and with more modes.

    Control of some modes spills over into others that the design does not know: a loop
    that is stable on few modes may grow on the arm.

    Parameters
    ----------
    law : LinearController, StateFeedback, StrainFeedback, PredictiveControl, \
CompositeControl or Inversion
        Law of one point; of a `PredictiveControl` what it is without active limits and
        without estimates of disturbances, of the last two their feedback about rest in
        the posture.  Laws of the state see the amplitudes of the modes of the arm in
        the motion of the nodes.
    arm : Arm
        The arm, without loops, couplings, quaternions and motors of their own.
    q : (nq,) array_like of float, optional
        Posture; both arms are then in equilibrium with still joints. By default
        ``arm.neutral``.
    more : int
        Number of modes of each link beyond those that it has.
    dt : float, optional
        Sample time in s of a law that has none.

    Returns
    -------
    found : Spillover
        Spectral radii, margin of the gain, and the mode that grows first.

    Raises
    ------
    ArgumentError
        If the outputs of the law feel forces, or are functions.

    See Also
    --------
    Arm.refined : the arm with more modes.
    simulate_loop : which warns if a loop grows with more modes.

    Notes
    -----
    M. J. Balas, *J. Optimization Theory and Applications* 25 (1978), 415-436.  The loop
    has no delay beside that of the samples; what filters add counts.  Modes that the
    arm lacks have the damping ratios of its nearest ones, see `Arm.refined`: a guess,
    on which some loops depend.

    Examples
    --------
    Feedback of the joint of a rod of two modes:

    >>> import warnings
    >>> import flexarm as fa
    >>> warnings.simplefilter("ignore", fa.ModeWarning)
    >>> rod = {"gravity": (0, 0, 0), "damping_ratio": 0.03}
    >>> arm = fa.library.planar_chain(1, n_modes=2, **rod)
    >>> law = fa.control.LinearController(None, None, None, [[-5.0, -0.5]], 1e-4)
    >>> fa.control.spillover(law, arm).stable
    True
    """
    if not _suits(arm):
        raise ArgumentError(
            f"{arm!r} has loops, couplings, quaternions or motors of its own, expected "
            "an arm without"
        )
    linear = _linear(law, arm, q, dt)
    if linear is None:
        raise ArgumentError(
            f"law is {type(law).__name__}, expected one LinearController or a law of "
            "one point: StateFeedback, StrainFeedback, PredictiveControl, "
            "CompositeControl or Inversion"
        )
    found = _compared(linear, arm, q, more)
    if found is None:
        raise ArgumentError(
            "the law measures what feels forces, expected outputs of positions and "
            "velocities"
        )
    return found


def _linear(
    law: object, arm: Arm, q: Array | None, dt: float | None
) -> LinearController | None:
    """A law as one of matrices about rest in a posture; None if it is not known."""
    near = getattr(law, "_near", None)
    if near is not None:
        with without_warning():
            at = arm.neutral if q is None else np.asarray(q, dtype=float)
            rest = equilibrium(arm, undeformed(arm, arm, at), held="joints")
            law = near(rest.q, dt)
    if not isinstance(law, LinearController) or law.A.ndim + law.D.ndim > 4:
        return None
    return law


def _compared(
    law: LinearController, arm: Arm, q: Array | None, more: int
) -> Spillover | None:
    """Loops of an arm and of a finer one; None if outputs of the law feel forces."""
    finer = arm.refined(more)
    with without_warning():  # of frequencies: it is the loop that counts
        own = _Plant(arm, arm, law, q)
        if own.feels_forces:
            return None
        fine = _Plant(finer, arm, law, q)
    radius, _ = own.loop(1.0)
    finer_radius, motion = fine.loop(1.0)
    stable = finer_radius <= _MAX_RADIUS
    margin = fine.margin(stable)
    return Spillover(arm, finer, radius, finer_radius, margin, fine.mode_of(motion))


def warn_of_spillover(law: object, arm: Arm | ArmStack, q: Array, dt: float) -> None:
    """Warn once of a loop that is stable, and grows with more modes in the links."""
    if not isinstance(law, LinearController) and not hasattr(law, "_near"):
        return
    if not isinstance(arm, Arm) or not _suits(arm) or not has_few_modes(arm):
        return
    done = _CHECKED.setdefault(law, WeakSet())
    if arm in done or np.asarray(q).ndim > 1:
        return
    done.add(arm)
    linear = _linear(law, arm, q, dt)
    if linear is None or callable(linear.sensors):
        return
    found = _compared(linear, arm, q, ADDED_MODES)
    if found is None or found.stable or found.radius > _MAX_RADIUS:
        return
    warn(
        f"with more modes in the links of {arm.name!r} the loop grows, by its mode at "
        f"{found.frequency:.4g} Hz (spectral radius {found.finer_radius:.5f}, "
        f"{found.radius:.5f} with its own modes): design the law with more n_modes or "
        "with less gain, and give links the damping that they have; see "
        "control.spillover",
        ModeWarning,
    )


class _Plant:
    """A discrete linear model of an arm, with the outputs of a law."""

    def __init__(
        self, arm: Arm, like: Arm, law: LinearController, q: Array | None
    ) -> None:
        at = like.neutral if q is None else np.asarray(q, dtype=float)
        rest = equilibrium(arm, undeformed(arm, like, at), held="joints")
        self.law, self.nv = law, arm.nv
        self.model = linearize(arm, rest.q, tau=rest.tau)
        sampled = self.model.discretize(law.dt)
        self.A, self.B = sampled.A, sampled.B
        rows = _rows(arm, like, law.sensors, rest.q, law.n_outputs)
        self.feels_forces = rows is None
        self.C = np.zeros((law.n_outputs, 2 * arm.nv)) if rows is None else rows
        if len(self.C) != law.n_outputs:
            raise ArgumentError(
                f"sensors of the law are {len(self.C)} outputs, expected the "
                f"{law.n_outputs} that its matrices take"
            )

    def loop(self, factor: float) -> tuple[float, Array]:
        """Spectral radius with a factor of the gains, and the slowest motion."""
        law, A, B, C = self.law, self.A, self.B, self.C
        closed = np.block(
            [[A + factor * B @ law.D @ C, factor * B @ law.C], [law.B @ C, law.A]]
        )
        values, vectors = linalg.eig(closed)
        k = int(np.abs(values).argmax())
        return float(np.abs(values[k])), vectors[: len(A), k]

    def margin(self, stable: bool) -> float:
        """Factor of the gains at which the loop is no longer as it is."""
        inner, outer = 1.0, _MAX_GAIN if stable else _MIN_GAIN
        if (self.loop(outer)[0] <= _MAX_RADIUS) == stable:
            return np.inf if stable else 0.0
        for _ in range(_HALVINGS):
            middle = np.sqrt(inner * outer)
            if (self.loop(middle)[0] <= _MAX_RADIUS) == stable:
                inner = middle
            else:
                outer = middle
        return float(inner)

    def mode_of(self, state: Array) -> float:
        """Frequency in Hz of the mode with the largest part in a motion."""
        n = self.nv
        values, right = linalg.eig(-self.model.A[n:, :n])
        # rates count: displacements have large parts of slow modes
        parts = np.abs(np.linalg.solve(right, state[n:]))
        k = int((parts * np.linalg.norm(right, axis=0)).argmax())
        return float(np.sqrt(max(values[k].real, 0.0)) / (2.0 * np.pi))


def _rows(arm: Arm, like: Arm, sensors: object, q: Array, width: int) -> Array | None:
    """Rows (p, 2 nv) of what is measured of an arm; None if forces are felt.

    Rows and states, and amplitudes that are a number of outputs other than the width,
    are those of another arm, in the motions of its nodes.
    """
    if callable(sensors):
        raise ArgumentError(
            "the sensors of the law are a function, expected names of outputs or rows"
        )
    if isinstance(sensors, str) and sensors == "state":
        sensors = np.eye(2 * like.nv)
    if isinstance(sensors, str) and sensors == "actuators":
        at = np.asarray(arm.actuator_indices)
        return np.asarray(np.eye(2 * arm.nv)[np.concatenate([at, arm.nv + at])])
    if is_named(sensors):
        outputs = list(sensors) if sensors == JOINTS else sensors
        model = linearize(arm, q, outputs=outputs)
        if model.D.any():
            return None
        if len(model.C) == width:
            return np.asarray(model.C)
        # amplitudes of the modes of the arm
        sensors = linearize(like, like.neutral, outputs=outputs).C
    T = np.eye(arm.nv) if arm is like else states_of(like, arm)
    return np.asarray(np.asarray(sensors) @ linalg.block_diag(T, T))


def _suits(arm: Arm) -> bool:
    """Whether a linear model has all velocities of an arm as states."""
    return (
        not arm._held and not arm._following and arm.nq == arm.nv and not arm._n_motors
    )


def states_of(arm: Arm, finer: Arm) -> Array:
    """Displacements (nv, n) of an arm by those of the finer one.

    Joints are the same, amplitudes of modes those that move the nodes most alike.
    """
    joints = arm.nv - sum(body.n_modes for body in arm.bodies)
    blocks = [np.eye(joints)]
    for body, fine in zip(arm.bodies, finer.bodies, strict=True):
        if not body.n_modes:
            continue
        size = max(float(np.ptp(body.node_position, axis=0).max()), 1e-9)
        own, other = (
            np.concatenate(
                [
                    x.node_translation[: body.n_nodes] / size,
                    x.node_rotation[: body.n_nodes],
                ]
            ).reshape(-1, x.n_modes)
            for x in (body, fine)
        )
        blocks.append(np.linalg.lstsq(own, other)[0])
    return np.asarray(linalg.block_diag(*blocks))
