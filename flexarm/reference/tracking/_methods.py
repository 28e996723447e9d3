"""The methods of the sources, each with the arguments of `optimize.track`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from ..._calls.declared import Choice, Number, Positive
from ..._calls.doors import checked
from ..._support.recorded import recorded
from ...arm import Arm
from ...optimize import OptimalMotion, Search
from ...optimize._tracking.driver import Method, tracked
from ...optimize.limits import LimitsLike
from ._boundary_values import by_stable_inversion
from ._frequencies import by_frequencies
from ._nodal_search import by_shooting

_ENDLESS = {"time_limit": np.inf, "progress": None}
_BY_ZEROS = {"pre_actuation": None, "post_actuation": None, "intervals": 500}
_NODAL = {"intervals": 10, "steps": 10, "solver": "gauss-newton", **_ENDLESS}
_NODAL |= {"max_iterations": None, "tolerance": 1e-7}
_NODAL |= {"pre_actuation": 0.2, "post_actuation": 0.2}
_SHOOTING = Method("shooting", by_shooting, _NODAL, adds=False)
_BY_FREQUENCIES = {"max_iterations": 30, "tolerance": 1e-9, **_BY_ZEROS}
_INVERSION = Method("stable inversion", by_stable_inversion, _BY_FREQUENCIES | _ENDLESS)
_FREQUENCIES = Method("frequency domain", by_frequencies, _BY_FREQUENCIES)


@checked
@recorded("reference.tracking.shooting")
def shooting(
    arm: Arm,
    path: object,
    duration: Positive | None = None,
    *,
    law: Annotated[
        str, Choice("cycloidal", "quintic", "septic", "ninth_degree")
    ] = "cycloidal",
    start: ArrayLike | None = None,
    axes: str | None = None,
    limits: LimitsLike = None,
    weights: tuple[float, float] = (1.0, 1.0),
    power: Annotated[float, Number(least=2.0)] = 2.0,
    smoothing: Annotated[float, Number(least=0.0)] = 0.0,
    search: Search | Mapping[str, object] | None = None,
    check: bool = True,
) -> OptimalMotion:
    r"""Forces between nodes with the least squares of the errors of the tip.

    Forces are linear between nodes; a simulation by average acceleration from static
    rest gives the errors, of which least squares are sought.  Gauss-Newton with the
    exact derivatives of the simulation takes three or four steps from the forces of the
    rigid arm, where BFGS with differences takes a hundred, each with as many
    simulations as there are unknowns.

    Parameters
    ----------
    arm, path, duration, law, start, axes, limits
        As of `optimize.track`.  A radian of the orientation counts as a metre.
    weights : (2,) array_like of float
        K1 and K2, of errors in the motion and after it.
    power : float
        Sums of this power of the errors are minimized, 2 or more; 4 lowers the largest
        errors and raises the others.
    smoothing : float
        Weight of second differences of the nodal forces, in m per N m; a small one
        calms forces of fine nodes, which hardly move the tip.
    search : Search or mapping, optional
        Intervals between the nodes of the forces (10), steps in each of them (10),
        pre_actuation and post_actuation (0.2, c1 and c2 of the thesis), solver
        ``"gauss-newton"`` (default) or ``"bfgs"`` as in the thesis, with differences of
        the sum of squares, max_iterations (50, of BFGS 500), tolerance of the last step
        as motion of the tip in m (1e-7), time_limit (none), progress.
    check : bool
        As of `optimize.track`.

    Returns
    -------
    motion : OptimalMotion
        ``errors`` of the tip in the motion and after it; ``tracking`` has ``nodes`` and
        ``nodal_tau``, ``history`` of the sum of squares, ``simulations``, their number.

    References
    ----------
    M. Farid, *Dynamic Modeling and Optimal Control of Flexible Manipulators*, PhD
    thesis, University of Calgary, 1997, section 7.3.

    Examples
    --------
    The two-link arm of the thesis follows a line of 0.54 m in 0.5 s to 0.27 mm, with 28
    unknowns; finer nodes lead to some micrometres:

    >>> import flexarm as fa
    >>> from flexarm.reference.tracking import shooting
    >>> arm = fa.library.farid_two_link()
    >>> line = fa.optimize.paths.line([1.8, 0.2], [1.6, 0.7])
    >>> elbow_up = fa.library.poses(arm)["A"]
    >>> motion = shooting(arm, line, 0.5, start=elbow_up)
    >>> print(motion.variables, (1e3 * motion.errors.tip).round(3))
    28 [0.099 0.266]
    >>> finer = {"intervals": 50, "steps": 8}
    >>> motion = shooting(arm, line, 0.5, start=elbow_up, search=finer)
    >>> print((1e3 * motion.errors.tip).round(3))
    [0.001 0.001]

    Before the motion errors cost nothing, the verification has them too:

    >>> print((1e3 * motion.verification.path_error).round(2))
    [0.05 0.13 0.  ]
    """
    to = arm, path, duration, law, start, axes
    own = {"weights": weights, "power": power, "smoothing": smoothing}
    return tracked(_SHOOTING, to, limits, search, check, **own)


@checked
@recorded("reference.tracking.stable_inversion")
def stable_inversion(
    arm: Arm,
    path: object,
    duration: Positive | None = None,
    *,
    law: Annotated[
        str, Choice("cycloidal", "quintic", "septic", "ninth_degree")
    ] = "cycloidal",
    start: ArrayLike | None = None,
    axes: str | None = None,
    limits: LimitsLike = None,
    search: Search | Mapping[str, object] | None = None,
    check: bool = True,
) -> OptimalMotion:
    r"""Forces with which the tip follows exactly, by one boundary value problem.

    All coordinates and forces at all times are unknown, with rest before and after;
    windows are found and not chosen.  The tip is exact at the nodes; between them
    forces are linear, which leaves an error of order two, a micrometre in the example
    below.  An arm whose vibrations with its tip at rest decay or grow slowly needs long
    windows; neutral ones go on after the motion.  The inverse does not exist where the
    forces lose their effect on the acceleration of the tip.

    Parameters
    ----------
    arm, path, duration, law, start, axes, limits
        As of `optimize.track`, with as many actuators as coordinates of the tip.
    search : Search or mapping, optional
        Intervals between nodes (500), pre_actuation and post_actuation (by default from
        the zeros of the arm), max_iterations (30), tolerance of the last step of the
        coordinates in rad and m (1e-9), time_limit (none), progress.
    check : bool
        As of `optimize.track`.

    Returns
    -------
    motion : OptimalMotion
        ``tracking`` has ``zeros`` of the arm at the start in 1/s, ``time_constants`` of
        the slowest motion before and after that of the tip, and how long ``before`` and
        ``after`` it the forces differ from those at rest by more than a thousandth, all
        in s.

    Raises
    ------
    ConvergenceError
        If its equations are singular.

    References
    ----------
    S. Devasia, D. Chen, B. Paden, "Nonlinear inversion-based output tracking", *IEEE
    Trans. Automatic Control* 41(7), 1996, 930-942.

    Examples
    --------
    Two flexible links move some hundredths of a second in advance; their slowest motion
    with the tip at rest has a time constant of 5 ms:

    >>> import flexarm as fa
    >>> from flexarm.reference.tracking import stable_inversion
    >>> arm = fa.library.farid_two_link()
    >>> line = fa.optimize.paths.line([1.8, 0.2], [1.6, 0.7])
    >>> elbow_up = fa.library.poses(arm)["A"]
    >>> motion = stable_inversion(arm, line, 0.5, start=elbow_up)
    >>> print((1e3 * motion.tracking.time_constants).round(1))
    [5.2 5.2]
    >>> bool(motion.verification.path_error.max() < 2e-6)
    True
    """
    to = arm, path, duration, law, start, axes
    return tracked(_INVERSION, to, limits, search, check)


@checked
@recorded("reference.tracking.frequency_domain")
def frequency_domain(
    arm: Arm,
    path: object,
    duration: Positive | None = None,
    *,
    law: Annotated[
        str, Choice("cycloidal", "quintic", "septic", "ninth_degree")
    ] = "cycloidal",
    start: ArrayLike | None = None,
    axes: str | None = None,
    limits: LimitsLike = None,
    search: Search | Mapping[str, object] | None = None,
    check: bool = True,
) -> OptimalMotion:
    r"""Forces by responses of the arm linearized about its rest half way.

    They correct the motion of the rigid arm until the exact equations hold, often in
    five to ten corrections, which grow if the arm changes too much along the way.

    Parameters
    ----------
    arm, path, duration, law, start, axes, limits
        As of `optimize.track`, with as many actuators as coordinates of the tip.
    search : Search or mapping, optional
        Intervals (500), pre_actuation and post_actuation (by default from the zeros of
        the arm), max_iterations (30), tolerance of the last correction in rad and m
        (1e-9).
    check : bool
        As of `optimize.track`.

    Returns
    -------
    motion : OptimalMotion
        ``tracking`` has ``zeros`` of the arm half way in 1/s.

    References
    ----------
    E. Bayo, "A finite-element approach to control the end-point motion of a single-link
    flexible robot", *J. Robotic Systems* 4(1), 1987, 63-75; E. Bayo, P. Papadopoulos,
    J. Stubbe, M. A. Serna, "Inverse dynamics and kinematics of multi-link elastic
    robots: an iterative frequency domain approach", *Int. J. Robotics Research* 8(6),
    1989, 49-62.

    Examples
    --------
    >>> import flexarm as fa
    >>> from flexarm.reference.tracking import frequency_domain
    >>> arm = fa.library.farid_two_link()
    >>> line = fa.optimize.paths.line([1.8, 0.2], [1.6, 0.7])
    >>> up = fa.library.poses(arm)["A"]
    >>> motion = frequency_domain(arm, line, 0.5, start=up, law="ninth_degree")
    >>> motion.success, bool(motion.verification.path_error.max() < 1e-5)
    (True, True)
    """
    to = arm, path, duration, law, start, axes
    return tracked(_FREQUENCIES, to, limits, search, check)
