"""A beam on a hub that spins faster than its first frequency (Simo and Vu-Quoc)."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from .._calls.arguments import check_numbers, real_array
from .._calls.declared import Floats
from .._calls.doors import checked
from .._support.arrays import Array
from .._support.checks import MAX_MAGNITUDE
from ..arm import Arm
from ..beams import clamped_beam_modes, flexible_link
from ..bodies.profile import named_basis
from ..errors import ArgumentError

_LENGTH, _DENSITY, _STIFFNESS = 10.0, 1.2, 1.4e4  # m, kg/m, N m^2
_RISE, _SPIN = 15.0, 6.0  # s, rad/s

# ten million times that of the beam: the motion of the hub is given
HUB_INERTIA = 4e9  # kg m^2


@checked
@named_basis()
def spin_up_beam(n_modes: int = 3, *, geometric_stiffening: bool = True) -> Arm:
    r"""Beam on a hub whose motion is given, for the maneuver of `spin_up`.

    Parameters
    ----------
    n_modes : int
        Bending modes in the plane of rotation.
    geometric_stiffening : bool
        Foreshortening of the beam, as of `flexarm.beams.flexible_link`; without it the
        beam runs away, since it spins faster than its first frequency.

    Returns
    -------
    arm : Arm
        One body ``"beam"`` on a joint about z, no gravity.

    Raises
    ------
    ModelError
        If `n_modes` is not one of 1 to 20.

    See Also
    --------
    spin_up : angle, rate and torque of the hub.

    Notes
    -----
    ==================  =================================
    length              10 m
    mass per length     1.2 kg/m
    bending stiffness   1.4e4 N m^2
    first frequency     3.7977 rad/s, the final spin is 6
    ==================  =================================

    The hub has ten million times the inertia of the beam about it, so that the torque
    of `spin_up`, inertia times acceleration, moves it as given, to 1e-7 of the angle:
    an ordinary joint with an ordinary torque, for any method of `simulate`.

    References
    ----------
    .. [1] J. C. Simo, L. Vu-Quoc, "On the dynamics of flexible beams under large
       overall motions: the plane case, part II", *J. Applied Mechanics* 53, 1986.
    .. [2] T. R. Kane, R. R. Ryan, A. K. Banerjee, "Dynamics of a cantilever beam
       attached to a moving base", *J. Guidance, Control, and Dynamics* 10, 1987.

    Examples
    --------
    >>> import flexarm as fa
    >>> beam = fa.library.spin_up_beam().bodies[0]
    >>> round(2.0 * 3.141592653589793 * float(beam.frequencies()[0]), 4)
    3.7977
    """
    modes = clamped_beam_modes(_LENGTH, _DENSITY, _STIFFNESS, n_modes)
    beam = flexible_link(
        "beam",
        length=_LENGTH,
        mass_per_length=_DENSITY,
        bending_y=modes,
        base_inertia=HUB_INERTIA,
        geometric_stiffening=geometric_stiffening,
    )
    # the hub is larger than any arm on purpose
    return Arm([beam], gravity=(0, 0, 0), name="spin_up_beam", check_units=False)


@checked
def spin_up(t: Annotated[ArrayLike, Floats("(...)")]) -> tuple[Array, Array, Array]:
    r"""Angle, rate and torque of the hub of `spin_up_beam`.

    The angle is, up to 15 s, and then :math:`6t - 45`,

    .. math:: \tfrac{6}{15}\left[\tfrac{t^2}{2} + \left(\tfrac{15}{2\pi}\right)^2
       \left(\cos\tfrac{2\pi t}{15} - 1\right)\right].

    Parameters
    ----------
    t : (...) array_like of float
        Times, in s; the hub is at rest before zero.

    Returns
    -------
    angle, rate, torque : (...) ndarray of float
        In rad, rad/s and N m.

    Raises
    ------
    ArgumentError
        If a time is not a finite real number.

    Examples
    --------
    >>> import flexarm as fa
    >>> angle, rate, torque = fa.library.spin_up([0.0, 15.0, 20.0])
    >>> print(angle.round(9), rate.round(9), torque.round(3) + 0.0)
    [ 0. 45. 75.] [0. 6. 6.] [0. 0. 0.]
    """
    times = np.maximum(real_array("t", t), 0.0)
    check_numbers("t", times)
    if float(times.max(initial=0.0)) > MAX_MAGNITUDE:
        raise ArgumentError(
            f"t has {times.max():g} s, expected at most {MAX_MAGNITUDE:g}"
        )
    rising, slope = np.minimum(times, _RISE), _SPIN / _RISE
    wave = 2.0 * np.pi / _RISE
    angle = slope * (rising**2 / 2.0 + (np.cos(wave * rising) - 1.0) / wave**2)
    rate = slope * (rising - np.sin(wave * rising) / wave)
    acceleration = np.where(times < _RISE, slope * (1.0 - np.cos(wave * rising)), 0.0)
    late = _SPIN * (times - rising)
    return angle + late, rate, HUB_INERTIA * acceleration
