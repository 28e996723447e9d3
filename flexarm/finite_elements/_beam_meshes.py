"""Meshes of straight beams: frame elements with consistent masses."""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from .._calls.declared import Floats, Vector, Whole
from .._calls.doors import checked
from .._support.arrays import Array
from .._support.checks import (
    as_array,
    in_range,
    positive,
    positive_pair,
)
from .._support.quadrature import gauss_rule
from ..errors import ModelError
from .elements import bending_shapes
from .mesh import FiniteElementModel

# Elements of a mesh at most, a bound of memory.
MAX_ELEMENTS = 100_000


@checked
def beam_mesh(
    length: float,
    n_elements: Annotated[int, Whole(least=1, most=MAX_ELEMENTS)],
    *,
    mass_per_length: float,
    bending_stiffness: Annotated[ArrayLike, Floats("()", "(2,)")],
    axial_stiffness: float,
    torsional_stiffness: float,
    section_inertia: Vector,
    shear_stiffness: Annotated[ArrayLike, Floats("()", "(2,)")] = math.inf,
) -> FiniteElementModel:
    r"""Make a mesh of a straight uniform beam along x.

    Two-node frame elements with six degrees of freedom a node and consistent masses:
    linear in stretch and torsion, cubic in bending (exact shapes of the static beam,
    with shear if its stiffness is given).

    Parameters
    ----------
    length : float
        Length, in m.
    n_elements : int
        Number of elements of equal length, 1 to 100000.
    mass_per_length : float
        :math:`\rho A`, in kg/m.
    bending_stiffness : float or (2,) array_like of float
        :math:`EI` against deflection along y and along z, in N m^2.
    axial_stiffness : float
        :math:`EA`, in N.
    torsional_stiffness : float
        :math:`GJ`, in N m^2.
    section_inertia : (3,) array_like of float
        Rotary inertia per length of the cross sections about x, y and z, in kg m; zero
        about y and z for Euler-Bernoulli beams.
    shear_stiffness : float or (2,) array_like of float
        :math:`k G A` along y and z, in N (Timoshenko), as `Section.shear_stiffness`;
        ``math.inf``, the default, is rigid in shear.

    Returns
    -------
    mesh : FiniteElementModel
        Mesh with nodes ``"0"``, ``"1"``, ... from x = 0 to the tip, sparse matrices.

    Raises
    ------
    ModelError
        If a number is not physical.

    References
    ----------
    .. [1] J. S. Przemieniecki, *Theory of Matrix Structural Analysis*, McGraw-Hill,
       1968, sections 5.6 and 11.6.

    Examples
    --------
    The first bending frequency of a cantilever, :math:`3.51602 \sqrt{EI / \rho A L^4}`:

    >>> from flexarm import finite_elements as fe
    >>> mesh = fe.beam_mesh(
    ...     1.0, 10, mass_per_length=1.0, bending_stiffness=(1.0, 4.0),
    ...     axial_stiffness=1e4, torsional_stiffness=1.0, section_inertia=(1e-3, 0, 0)
    ... )
    >>> print((mesh.clamped_modes("0", 2).omega).round(3))
    [3.516 7.032]
    """
    L = positive("length of the beam mesh", length, "m")
    count = int(n_elements)
    rho = positive("mass_per_length of the beam mesh", mass_per_length, "kg/m")
    EA = positive("axial_stiffness of the beam mesh", axial_stiffness, "N")
    GJ = positive("torsional_stiffness of the beam mesh", torsional_stiffness, "N m^2")
    EI = positive_pair("bending_stiffness of the beam mesh", bending_stiffness, "N m^2")
    section = as_array("section_inertia of the beam mesh", section_inertia, (3,))
    in_range("section_inertia of the beam mesh", section, "kg m")
    if not ((section >= 0.0).all() and section[0] > 0.0):
        raise ModelError(
            f"section_inertia of the beam mesh is {tuple(section.tolist())}, expected "
            "more than zero about x and no negative number"
        )
    GA = positive_pair(
        "shear_stiffness of the beam mesh", shear_stiffness, "N", infinite=True
    )
    K, M = _element(L / count, rho, EI, EA, GJ, section, GA)

    # equal elements, assembled in sparse matrices
    x = np.linspace(0.0, L, count + 1)
    at = 6 * np.arange(count)[:, np.newaxis] + np.arange(12)
    where = (np.repeat(at, 12, axis=1).ravel(), np.tile(at, (1, 12)).ravel())
    shape = (6 * (count + 1),) * 2
    mass = sparse.coo_matrix((np.tile(M.ravel(), count), where), shape)
    stiffness = sparse.coo_matrix((np.tile(K.ravel(), count), where), shape)
    return FiniteElementModel(
        np.stack([x, 0.0 * x, 0.0 * x], axis=1), mass, stiffness, dofs_per_node=6
    )


def _element(
    h: float,
    rho: float,
    EI: Array,
    EA: float,
    GJ: float,
    section: Array,
    GA: Array,
) -> tuple[Array, Array]:
    """Stiffness and mass of one element, (12, 12) each, by Gauss points."""
    K, M = np.zeros((2, 12, 12))
    fraction, weight = gauss_rule(4)  # exact for the cubics and their squares
    for s, w in zip(fraction, h * weight, strict=True):
        # linear: stretch and torsion
        shape, slope = np.array([1.0 - s, s]), np.array([-1.0, 1.0]) / h
        for at, k, m in (([0, 6], EA, rho), ([3, 9], GJ, section[0])):
            K[np.ix_(at, at)] += w * k * np.outer(slope, slope)
            M[np.ix_(at, at)] += w * m * np.outer(shape, shape)
        # bending: theta_z = +v', theta_y = -w'
        for plane, (at, sign, spin) in enumerate(
            (([1, 5, 7, 11], 1.0, section[2]), ([2, 4, 8, 10], -1.0, section[1]))
        ):
            shear = 12.0 * EI[plane] / (GA[plane] * h * h)
            v, turn, bend, slide = bending_shapes(s, h, shear) * [1.0, sign, 1.0, sign]
            stiff = EI[plane] * np.outer(bend, bend)
            if shear > 0.0:
                stiff += GA[plane] * np.outer(slide, slide)
            K[np.ix_(at, at)] += w * stiff
            M[np.ix_(at, at)] += w * (
                rho * np.outer(v, v) + spin * np.outer(turn, turn)
            )
    return K, M
