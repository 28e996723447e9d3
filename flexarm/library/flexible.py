"""Flexible arms of the literature."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._calls.doors import checked
from .._support.checks import not_negative
from ..arm import Arm
from ..beams import BeamModes, clamped_beam_modes, flexible_link
from ..beams.limits import mode_count
from ..bodies import Body, Joint
from ..bodies.profile import named_basis
from .planar import rigid_rod

_DLS_LENGTH = 0.5  # m
_DLS_DENSITY = 0.2  # kg/m
_DLS_STIFFNESS = 1.0  # N m^2


@checked
@named_basis()
def de_luca_siciliano(
    *,
    payload_mass: float = 0.1,
    payload_inertia: float = 0.0005,
    n_modes: int = 2,
    damping: bool = False,
    geometric_stiffening: bool = False,
) -> Arm:
    r"""Two flexible links in a horizontal plane, after De Luca and Siciliano (1991).

    Parameters
    ----------
    payload_mass : float
        Mass m_p at the tip of link 2, in kg.
    payload_inertia : float
        Its moment of inertia J_p about the tip, in kg m^2.
    n_modes : int
        Bending modes of each link; zero for the rigid arm of the same masses.
    damping : bool
        Modal damping :math:`D_i = 0.1 \sqrt{K_i}`, as in Figs 7, 8 and 10.
    geometric_stiffening : bool
        Foreshortening of the links, as of `flexarm.beams.flexible_link`; the model of
        the paper has none.

    Returns
    -------
    arm : Arm
        Bodies ``"link1"`` and ``"link2"``, both joints about z, no gravity.

    Raises
    ------
    ModelError
        If the payload is negative, or `n_modes` is not one of 0 to 20.

    See Also
    --------
    poses : the initial postures of the figures, straight and bent.

    Notes
    -----
    Data of section VII:

    =======================================  ==============================
    length of each link                      l = 0.5 m
    mass per length                          rho = 0.2 kg/m, m = 0.1 kg
    bending stiffness                        EI = 1 N m^2
    hub at joint 1                           J_h1 = 0.1 kg m^2
    hub at joint 2, fixed to link 2          m_h2 = 1 kg, J_h2 = 0.1 kg m^2
    payload                                  m_p = 0.1 kg, J_p = 0.0005 kg m^2
    =======================================  ==============================

    Links lie along x at zero; the angle of joint 2 is measured from the tangent at
    the tip of link 1.  The mass of hub 1 does not move and is left out.

    The modes are those of clamped beams that carry at the tip a mass and an
    inertia: for link 2 the payload, for link 1 (eq. 28)
    M_L1 = m_2 + m_h2 + m_p = 1.2 kg and
    J_L1 = m_2 l^2/3 + J_h2 + J_p + m_p l^2 = 0.133833 kg m^2, with (MD)_1 = 0, which
    is exact for link 2 at a right angle.  They are scaled to a modal mass of
    m_i = 0.1 kg, with the load of the tip (eq. 30), so that modal coordinates are in
    m.  The equation of the paper drops products of deflections from the mass
    matrix; this arm keeps them.

    References
    ----------
    A. De Luca, B. Siciliano, "Closed-form dynamic model of planar multilink
    lightweight robots", *IEEE Trans. Systems, Man, and Cybernetics* 21 (1991),
    826-839.

    Examples
    --------
    Link 2 clamped at its hub; the paper prints 2.18 and 15.91 Hz:

    >>> import flexarm as fa
    >>> arm = fa.library.de_luca_siciliano()
    >>> arm.bodies[1].frequencies().round(2)
    array([ 2.18, 15.91])
    >>> arm.coordinate_names[:3]
    ('link1', 'link2', 'link1.bending y 1')
    """
    # mass and inertia beyond the tip of link 1, for its modes (28)
    n_modes = mode_count(n_modes, rigid=True)
    payload_mass = not_negative("payload_mass", payload_mass, "kg")
    payload_inertia = not_negative("payload_inertia", payload_inertia, "kg m^2")
    link, hub_mass, hub_inertia = 0.1, 1.0, 0.1
    carried_mass = link + hub_mass + payload_mass
    carried_inertia = (
        link * _DLS_LENGTH**2 / 3.0
        + hub_inertia
        + payload_inertia
        + payload_mass * _DLS_LENGTH**2
    )

    first = _dls_link(
        "link1",
        _dls_modes(n_modes, carried_mass, carried_inertia),
        damping,
        geometric_stiffening,
        base_inertia=hub_inertia,
    )
    second = _dls_link(
        "link2",
        _dls_modes(n_modes, payload_mass, payload_inertia),
        damping,
        geometric_stiffening,
        base_mass=hub_mass,
        base_inertia=hub_inertia,
        tip_mass=payload_mass,
        tip_inertia=payload_inertia,
    )
    return Arm([first, second], gravity=(0, 0, 0), name="de_luca_siciliano")


def _dls_modes(n: int, tip_mass: float, tip_inertia: float) -> BeamModes | None:
    if n == 0:
        return None
    return clamped_beam_modes(
        _DLS_LENGTH,
        _DLS_DENSITY,
        _DLS_STIFFNESS,
        n,
        tip_mass=tip_mass,
        tip_inertia=tip_inertia,
        normalization="link",
    )


def _dls_link(
    name: str,
    modes: BeamModes | None,
    damping: bool,
    geometric_stiffening: bool,
    **loads: Any,
) -> Body:
    if modes is None:
        return rigid_rod(
            name, Joint(), length=_DLS_LENGTH, mass_per_length=_DLS_DENSITY, **loads
        )
    link: Body = flexible_link(
        name,
        length=_DLS_LENGTH,
        mass_per_length=_DLS_DENSITY,
        joint=Joint(),
        bending_y=modes,
        modal_damping=0.1 * np.sqrt(modes.stiffness) if damping else 0.0,
        geometric_stiffening=geometric_stiffening,
        **loads,
    )
    return link
