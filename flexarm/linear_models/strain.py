"""Strain gauges on links that are beams, and the class of all outputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from .._calls.arm_like import ArmLike, Array, numbers_of
from .._calls.declared import Choice
from .._calls.doors import checked, checked_record
from .._calls.links import link_name
from .._support.recorded import recorded
from ..bodies.profile import BeamProfile
from ..errors import ArgumentError, ModelError
from .operating_point import Point, Tangent


@checked_record("{field}")
@dataclass(frozen=True)
class Output:
    """Signals of an arm.

    Attributes
    ----------
    names : callable
        Names of the signals for an arm, ``names(arm)``.
    tangent : callable
        Their values and derivatives at a point, ``tangent(point)``.
    """

    names: Callable[[ArmLike], tuple[str, ...]]
    tangent: Callable[[Point], Tangent]


_STRAINS = {"stretch": 0, "twist": 1, "y": 2, "z": 3}


@checked
@recorded("outputs.strain", maker=True)
def strain(
    body: str | int,
    at: float,
    bending: Annotated[str, Choice("y", "z", "twist", "stretch")] = "y",
    *,
    distance: float | None = None,
) -> Output:
    r"""Strain gauge on a link: curvature, or strain of a fibre.

    Parameters
    ----------
    body : str or int
        The link, a beam of `flexarm.beams`.
    at : float
        Distance from the base of the link along its line, in m.
    bending : {"y", "z", "twist", "stretch"}
        Curvature :math:`v''` of bending along y, :math:`w''` along z, rate of twist, or
        stretch.
    distance : float, optional
        Distance of the gauge from the neutral line, in m: then the strain of that
        fibre, :math:`-d\,v''`.

    Returns
    -------
    output : Output
        Signal ``"link1 strain y 0.1"``, in 1/m, or without unit.

    Raises
    ------
    ArgumentError
        If the link is not a beam, or is shorter.

    Notes
    -----
    By the modes of the link to first order (``strain`` of `flexarm.link_loads` has the
    third one, too, of straight links with foreshortening): between its cuts by
    the polynomial through the cuts, which for modes that are analytic functions is as
    good as the cuts, or linear inside of a finite element.  Strain feedback on the
    curvature at the base is that of Z.-H. Luo, IEEE Trans. Automatic Control 38(11),
    1993.

    Examples
    --------
    A load of 1 N at the end of 1 m makes EI v'' = 1 N m at the base:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.planar_chain(1, n_modes=6, gravity=(0, 0, 0))
    >>> gauge = fa.outputs.strain("link1", 0.0)
    >>> ss = fa.linearize(arm, np.zeros(7), outputs=gauge, inputs="tip force y")
    >>> modes = fa.equilibrium(arm, np.zeros(7), wrench=[0, 0, 0, 0, 1, 0]).q[1:]
    >>> (100.0 * ss.C[:, 1:7] @ modes).round(1)
    array([1.])
    """

    def names(arm: ArmLike) -> tuple[str, ...]:
        name = link_name(arm.bodies[_beam(arm, body, at)])
        return (f"{name} strain {bending} {at:g}",)

    def tangent(point: Point) -> Tangent:
        def strains(arm: ArmLike) -> Array:
            k = _beam(arm, body, at)
            row = np.zeros((1, arm.nv))
            row[0, arm.mode_slice(k)] = _strain_of(arm, k, at)[_STRAINS[bending]]
            return row

        row = numbers_of(point.arm, strains)
        row *= 1.0 if distance is None else -float(distance)
        eta = point.q[..., np.newaxis, point.arm.motor_position_slice.stop :]
        value = (eta * row[..., point.arm.motor_slice.stop :]).sum(axis=-1)
        return Tangent(value, row, 0.0, 0.0)

    return Output(names, tangent)


def _beam(arm: ArmLike, body: str | int, at: float) -> int:
    """Number of a body, or of the piece of a link at a place; refuses other bodies."""
    try:
        pieces = arm._bodies_of(body)
    except ModelError as refusal:
        raise ArgumentError(str(refusal)) from None
    k = pieces[0]
    if len(pieces) > 1:
        tips = [float(arm.bodies[j].beam.at[-1]) for j in pieces]
        k = next(
            (j for j, tip in zip(pieces, tips, strict=True) if at <= tip), pieces[-1]
        )
    if arm.bodies[k].beam is None:
        beams = [b.name for b in arm.bodies if b.beam is not None]
        raise ArgumentError(
            f"a strain of body {arm.bodies[k].name!r}, which is not a beam, is given; "
            f"expected one of {', '.join(map(repr, beams)) or 'none: there is no beam'}"
        )
    return k


def _strain_of(arm: ArmLike, k: int, at: float) -> Array:
    """Stretch, twist and curvatures (4, m) of the modes of a beam at a place."""
    profile: BeamProfile = arm.bodies[k].beam
    x: Array = profile.at
    start, length = float(x[0]), float(x[-1])
    if not start <= at <= length * (1.0 + 1e-12):
        raise ArgumentError(
            f"a strain at {at!r} m of link {arm.bodies[k].name!r} is given, expected a "
            f"distance from its base between {start:g} and {length:g} m"
        )
    rows = profile.strain.reshape(len(x), -1)
    if (np.diff(x) > 0.0).all():
        from scipy.interpolate import BarycentricInterpolator

        found = np.asarray(BarycentricInterpolator(x, rows)(min(at, length)))
    else:  # linear in each element; at a node that of the element before it
        j = max(1, int(np.searchsorted(x, at)))
        part = (at - x[j - 1]) / (x[j] - x[j - 1])
        found = (1.0 - part) * rows[j - 1] + part * rows[j]
    return np.asarray(found.reshape(profile.strain.shape[1:]))
