"""Modes of one uniform beam or rod, clamped, pinned or free."""

from __future__ import annotations

from typing import Annotated

from .._calls.declared import Choice
from .._calls.doors import checked_late
from ._bending import BeamModes
from ._clamped import RodModes
from ._free import FreeBeamModes, FreeRodModes, PinnedBeamModes


@checked_late
def clamped_beam_modes(
    length: float,
    mass_per_length: float,
    bending_stiffness: float,
    n_modes: int,
    *,
    tip_mass: float = 0.0,
    tip_inertia: float = 0.0,
    tip_moment: float = 0.0,
    normalization: Annotated[str, Choice("mass", "link", "tip")] = "mass",
) -> BeamModes:
    r"""Bending modes of a uniform beam, clamped at x = 0, with a payload at its tip.

    Solves :math:`EI\,\phi'''' = \omega^2 \rho\,\phi` with
    :math:`\phi(0) = \phi'(0) = 0` and the tip conditions (16) of [1]_,

    .. math:: EI\,\phi''_e = \omega^2 (J_L \phi'_e + MD\,\phi_e), \qquad
              EI\,\phi'''_e = -\omega^2 (M_L \phi_e + MD\,\phi'_e).

    Parameters
    ----------
    length : float
        Length, in m.
    mass_per_length : float
        :math:`\rho`, in kg/m.
    bending_stiffness : float
        :math:`EI`, in N m^2.
    n_modes : int
        Number of modes, 1 to 20.
    tip_mass : float
        :math:`M_L`, mass at and beyond the tip, in kg.
    tip_inertia : float
        :math:`J_L`, its moment of inertia about the tip, in kg m^2.
    tip_moment : float
        :math:`MD`, static moment of the payload: mass times distance of its centre of
        mass beyond the tip, along the beam, in kg m.
    normalization : {"mass", "link", "tip"}
        ``"mass"``: modal mass 1 kg.  ``"link"``: modal mass equal to the mass of the
        beam, as in (30) of [1]_.  Modal mass is that of beam **and** payload, and the
        sign makes the integral of the shape positive.  ``"tip"``: tip deflection +1.
        Shapes are pure numbers and modal coordinates are in m.

    Returns
    -------
    modes : BeamModes
        Frequencies, shapes and modal integrals.

    Raises
    ------
    ModelError
        If the beam or the payload is not physical, for more than 20 modes or an unknown
        normalization, or if a mode to be normalized by its tip does not move it.

    See Also
    --------
    free_beam_modes, pinned_beam_modes : other reference conditions.
    clamped_rod_modes : torsion.
    flexible_link : a body of an arm, made of such modes.

    Notes
    -----
    The payload only shapes the modes; to add its mass to an arm, give it to
    `flexible_link`, or in space use a `RigidBody` on a fixed joint.  The roots of the
    frequency equation, (22) with two more terms for the static moment, are found by
    bisection on the number of frequencies below a trial value (Wittrick and Williams,
    1971), so none is missed.  They are accurate to 2e-15, shapes to 2e-14 of their
    maximum (1e-12 for payloads of a million times the beam).

    References
    ----------
    .. [1] A. De Luca, B. Siciliano, "Closed-form dynamic model of planar multilink
       lightweight robots", IEEE Trans. SMC 21(4), 1991, section IV.

    Examples
    --------
    A beam without payload, :math:`(\beta L)^2` of the first two modes, and its tip
    deflection, which is 2 for a modal mass equal to that of the beam:

    >>> import numpy as np
    >>> from flexarm import beams
    >>> modes = beams.clamped_beam_modes(1.0, 1.0, 1.0, 2)
    >>> print(modes.omega.round(5))
    [ 3.51602 22.03449]
    >>> print(modes.tip_deflection.round(12))
    [ 2. -2.]

    The outer link of the two-link arm of [1]_, in Hz, and its shapes at 100 points:

    >>> modes = beams.clamped_beam_modes(
    ...     0.5, 0.2, 1.0, 2, tip_mass=0.1, tip_inertia=0.0005, normalization="link"
    ... )
    >>> print(modes.frequency.round(2))
    [ 2.18 15.91]
    >>> modes.shape(np.linspace(0.0, 0.5, 100)).shape
    (2, 100)
    """
    return BeamModes(
        length,
        mass_per_length,
        bending_stiffness,
        n_modes,
        tip_mass,
        tip_inertia,
        tip_moment,
        normalization,
    )


@checked_late
def clamped_rod_modes(
    length: float,
    polar_inertia_per_length: float,
    torsional_stiffness: float,
    n_modes: int,
    *,
    tip_inertia: float = 0.0,
    normalization: Annotated[str, Choice("mass", "link", "tip")] = "mass",
) -> RodModes:
    r"""Torsion modes of a uniform rod, clamped at x = 0, with an inertia at its tip.

    Shapes are :math:`A \sin\beta x`, and :math:`b = \beta L` solves

    .. math:: \cos b = \frac{J_x}{\rho I_p L}\, b \sin b, \qquad
              \omega = \beta \sqrt{GJ / \rho I_p}.

    Parameters
    ----------
    length : float
        Length, in m.
    polar_inertia_per_length : float
        :math:`\rho I_p`, in kg m (kg m^2 per m).
    torsional_stiffness : float
        :math:`GJ`, in N m^2.
    n_modes : int
        Number of modes, 1 to 20.
    tip_inertia : float
        :math:`J_x`, moment of inertia of the payload about the rod, in kg m^2.
    normalization : {"mass", "link", "tip"}
        ``"mass"``: modal inertia 1 kg m^2.  ``"link"``: modal inertia equal to
        :math:`\rho I_p L`.  Both count rod **and** payload.  ``"tip"``: tip rotation 1.
        Tip rotations are positive; modal coordinates are in rad.

    Returns
    -------
    modes : RodModes
        Frequencies, shapes and modal integrals.

    Raises
    ------
    ModelError
        If the rod or the payload is not physical, for more than 20 modes or an unknown
        normalization, or if a mode to be normalized by its tip does not turn it.

    See Also
    --------
    free_rod_modes : free at both ends.
    clamped_beam_modes : bending.
    flexible_link : a body of an arm, made of such modes.

    References
    ----------
    .. [1] L. Meirovitch, *Fundamentals of Vibrations*, McGraw-Hill, 2001, chapter 8
       (rods and shafts obey the same equation).

    Examples
    --------
    Without payload the frequencies are odd multiples of :math:`\pi / 2`:

    >>> import numpy as np
    >>> from flexarm import beams
    >>> modes = beams.clamped_rod_modes(1.0, 1.0, 1.0, 3)
    >>> print((modes.omega / (np.pi / 2)).round(12))
    [1. 3. 5.]
    >>> modes.shape(np.linspace(0.0, 1.0, 100)).shape
    (3, 100)
    """
    return RodModes(
        length,
        polar_inertia_per_length,
        torsional_stiffness,
        n_modes,
        tip_inertia,
        normalization,
    )


@checked_late
def free_beam_modes(
    length: float,
    mass_per_length: float,
    bending_stiffness: float,
    n_modes: int,
    *,
    normalization: Annotated[str, Choice("mass", "link", "tip")] = "mass",
) -> FreeBeamModes:
    r"""Bending modes of a uniform beam, free at both ends, without rigid motions.

    Solves :math:`EI\,\phi'''' = \omega^2 \rho\,\phi` without moment and shear at both
    ends; :math:`b = \beta L > 0` has :math:`\cos b \cosh b = 1`.  The modes have
    neither linear nor angular momentum, so the frame of a link made of them follows its
    mean motion (Buckens frame, to first order).

    Parameters
    ----------
    length : float
        Length, in m.
    mass_per_length : float
        :math:`\rho`, in kg/m.
    bending_stiffness : float
        :math:`EI`, in N m^2.
    n_modes : int
        Number of modes, 1 to 20.
    normalization : {"mass", "link", "tip"}
        ``"mass"``: modal mass 1 kg.  ``"link"``: modal mass equal to the mass of the
        beam.  ``"tip"``: tip deflection 1.  Tip deflections are positive; shapes are
        pure numbers and modal coordinates are in m.

    Returns
    -------
    modes : FreeBeamModes
        Frequencies, shapes and modal integrals.

    Raises
    ------
    ModelError
        If the beam is not physical, or for more than 20 modes or an unknown
        normalization.

    See Also
    --------
    clamped_beam_modes, pinned_beam_modes : other reference conditions.
    flexible_link : a body of an arm, made of such modes.

    Notes
    -----
    These modes have no payload; that of an arm belongs to its link.  They have neither
    curvature nor shear at the base, where a joint causes both: the error of the
    deflection by n modes decreases with :math:`1/n` for its moment and with
    :math:`1/n^3` for its force.  On a driven joint fewer clamped modes are sufficient.

    References
    ----------
    .. [1] A. Jain, G. Rodriguez, US patent 5,546,508 (1996), section 3.
    .. [2] L. Meirovitch, *Fundamentals of Vibrations*, McGraw-Hill, 2001, chapter 8.

    Examples
    --------
    >>> from flexarm import beams
    >>> from flexarm.beams._single import free_beam_modes
    >>> modes = free_beam_modes(1.0, 1.0, 1.0, 3)
    >>> print(modes.beta.round(6))
    [ 4.730041  7.853205 10.995608]
    >>> link = beams.flexible_link(
    ...     "link", length=1.0, mass_per_length=1.0, bending_y=modes
    ... )
    >>> link.attachment
    'base'
    """
    return FreeBeamModes(
        length, mass_per_length, bending_stiffness, n_modes, normalization
    )


@checked_late
def pinned_beam_modes(
    length: float,
    mass_per_length: float,
    bending_stiffness: float,
    n_modes: int,
    *,
    normalization: Annotated[str, Choice("mass", "link")] = "mass",
) -> PinnedBeamModes:
    r"""Bending modes of a uniform beam, pinned at both ends: deflection from the chord.

    Shapes are :math:`A \sin(j \pi x / L)`: both ends of a link made of them turn, but
    remain on the x axis of its frame.

    Parameters
    ----------
    length : float
        Length, in m.
    mass_per_length : float
        :math:`\rho`, in kg/m.
    bending_stiffness : float
        :math:`EI`, in N m^2.
    n_modes : int
        Number of modes, 1 to 20.
    normalization : {"mass", "link"}
        ``"mass"``: modal mass 1 kg.  ``"link"``: modal mass equal to the mass of the
        beam.  Slopes at the base are positive; shapes are pure numbers and modal
        coordinates are in m.

    Returns
    -------
    modes : PinnedBeamModes
        Frequencies, shapes and modal integrals.

    Raises
    ------
    ModelError
        If the beam is not physical, or for more than 20 modes, an unknown normalization
        or ``"tip"``.

    See Also
    --------
    clamped_beam_modes, free_beam_modes : other reference conditions.
    flexible_link : a body of an arm, made of such modes.

    Notes
    -----
    These modes have no payload; a point mass at the tip, which remains on the chord,
    does not shape them.  They have no curvature at the base, where the moment of a
    joint bends the link: the error of its rotation by n modes decreases with
    :math:`1/n`.  On a pivot without moment they converge fast.

    References
    ----------
    .. [1] A. Jain, G. Rodriguez, US patent 5,546,508 (1996), section 3.

    Examples
    --------
    >>> import numpy as np
    >>> from flexarm.beams._single import pinned_beam_modes
    >>> modes = pinned_beam_modes(1.0, 1.0, 1.0, 3)
    >>> print((modes.omega / np.pi**2).round(12))
    [1. 4. 9.]
    """
    return PinnedBeamModes(
        length, mass_per_length, bending_stiffness, n_modes, normalization
    )


@checked_late
def free_rod_modes(
    length: float,
    polar_inertia_per_length: float,
    torsional_stiffness: float,
    n_modes: int,
    *,
    normalization: Annotated[str, Choice("mass", "link", "tip")] = "mass",
) -> FreeRodModes:
    r"""Torsion modes of a uniform rod, free at both ends, without rigid rotation.

    Shapes are :math:`A \cos(j \pi x / L)`,
    :math:`\omega = (j \pi / L) \sqrt{GJ / \rho I_p}`.

    Parameters
    ----------
    length : float
        Length, in m.
    polar_inertia_per_length : float
        :math:`\rho I_p`, in kg m (kg m^2 per m).
    torsional_stiffness : float
        :math:`GJ`, in N m^2.
    n_modes : int
        Number of modes, 1 to 20.
    normalization : {"mass", "link", "tip"}
        ``"mass"``: modal inertia 1 kg m^2.  ``"link"``: modal inertia equal to
        :math:`\rho I_p L`.  ``"tip"``: tip rotation 1.  Tip rotations are positive;
        modal coordinates are in rad.

    Returns
    -------
    modes : FreeRodModes
        Frequencies, shapes and modal integrals.

    Raises
    ------
    ModelError
        If the rod is not physical, or for more than 20 modes or an unknown
        normalization.

    See Also
    --------
    clamped_rod_modes : clamped at the base, with an inertia at the tip.
    flexible_link : a body of an arm, made of such modes.

    Examples
    --------
    >>> import numpy as np
    >>> from flexarm.beams._single import free_rod_modes
    >>> modes = free_rod_modes(1.0, 1.0, 1.0, 3)
    >>> print((modes.omega / np.pi).round(12))
    [1. 2. 3.]
    """
    return FreeRodModes(
        length, polar_inertia_per_length, torsional_stiffness, n_modes, normalization
    )
