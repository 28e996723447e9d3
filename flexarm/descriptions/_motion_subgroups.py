"""Motion subgroups as products of the screws of joints with one freedom."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from .._calls.declared import Choice, Kept
from .._calls.doors import checked_as
from .._support.arrays import Array
from .._support.checks import as_array, finite
from ..bodies.axes import unit_vector
from ..errors import ModelError
from .poses import turn_to

# numbers of freedoms
SUBGROUPS: dict[str, int] = {
    "prismatic": 1,
    "revolute": 1,
    "helical": 1,
    "planar translation": 2,
    "cylindrical": 2,
    "spatial translation": 3,
    "spherical": 3,
    "helical planar": 3,
    "planar": 3,
    "schoenflies": 4,
    "free": 6,
}


@checked_as("{field} of the motion subgroup")
def motion_subgroup(
    name: Annotated[str, Choice(*SUBGROUPS)],
    axis: Annotated[Any, Kept(unit_vector)] = (0.0, 0.0, 1.0),
    point: Annotated[Any, Kept(as_array, (3,))] = (0.0, 0.0, 0.0),
    *,
    pitch: Annotated[float, Kept(finite)] = 0.0,
) -> Array:
    """Screws whose product of exponentials makes a motion subgroup, (6, n).

    Parameters
    ----------
    name : str
        One of the subgroups below.
    axis : (3,) array_like of float
        Direction z of the axis, or normal of the plane.
    point : (3,) array_like of float
        Point on the axis of the rotations, in m.
    pitch : float
        Of the two helical ones, in m per rad.

    Returns
    -------
    S : (6, n) ndarray of float
        Columns in the order of the product, for the screws of a joint in `BodyScrews`
        and the others, or for ``flexarm.Joint("screw", screw=S)``.

    Raises
    ------
    ModelError
        If the name is none of these, the axis is zero, or a pitch has no use.

    Notes
    -----
    With x, y, z along the axes of a right-handed frame whose z is `axis`; T slides,
    R turns about a line through `point`, H turns and advances by the pitch.  A.
    Mueller (2018), Tables 1 and 2, whose macro joints these are.

    ======================  ===  ======================  ==========================
    name                    dim  subgroup                product
    ======================  ===  ======================  ==========================
    prismatic               1    R                       T_z
    revolute                1    SO(2)                   R_z
    helical                 1    H_p                     H_z
    planar translation      2    R^2                     T_x T_y
    cylindrical             2    SO(2) x R               R_z T_z
    spatial translation     3    R^3                     T_x T_y T_z
    spherical               3    SO(3)                   R_x R_y R_z
    helical planar          3    H_p x R^2               T_x T_y H_z
    planar                  3    SE(2)                   T_x T_y R_z
    schoenflies             4    SE(2) x R               T_x T_y T_z R_z
    free                    6    SE(3)                   T_x T_y T_z R_x R_y R_z
    ======================  ===  ======================  ==========================

    Products of rotations about three axes are singular where the second is a quarter
    turn; joints ``"spherical"`` and ``"free"`` of `flexarm.Joint` are not.

    Examples
    --------
    >>> from flexarm.descriptions._motion_subgroups import motion_subgroup
    >>> motion_subgroup("cylindrical", axis=(1, 0, 0)).T
    array([[1., 0., 0., 0., 0., 0.],
           [0., 0., 0., 1., 0., 0.]])
    """
    if pitch and not name.startswith("helical"):
        raise ModelError(
            f"motion subgroup {name!r} has the pitch {pitch:g} m/rad, expected it of "
            "'helical' and 'helical planar' alone"
        )

    # sliding and turning along x, y, z, and turning with a pitch
    along = turn_to(axis).T
    T = list(np.hstack([np.zeros((3, 3)), along]))
    R = list(np.hstack([along, np.cross(point, along) + 0.0]))
    H = R[2] + pitch * T[2]
    columns: dict[str, list[Array]] = {
        "prismatic": [T[2]],
        "revolute": [R[2]],
        "helical": [H],
        "planar translation": T[:2],
        "cylindrical": [R[2], T[2]],
        "spatial translation": T,
        "spherical": R,
        "helical planar": [*T[:2], H],
        "planar": [*T[:2], R[2]],
        "schoenflies": [*T, R[2]],
        "free": [*T, *R],
    }
    return np.asarray(np.array(columns[name]).T)
