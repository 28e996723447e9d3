r"""Linearized dynamics by Kane's method with dual screws, batched NumPy.

After A. Cibicik and O. Egeland, "Kinematics and dynamics of flexible robotic
manipulators using dual screws", IEEE Trans. Robotics 37, 2021; numbers in parentheses
are its equations.  A dual quantity :math:`a + \varepsilon b` with
:math:`\varepsilon^2 = 0` holds order zero in a, first order in modal coordinates or
rates in b, so that every product linearizes.  Pairs of 6-vectors take the place of
12-vectors, with no 12 x 12 matrix.

For each body the columns of two matrices are carried from base to tip, those of the
joints, **dual lines** :math:`\hat L`, and those of the modes, **dual screws**:

* :math:`\hat P` (92), the Jacobian form, gives dual twists :math:`\hat t = \hat P u`;
  modal rates are first order, so its modal columns are :math:`\varepsilon` times
  a screw;
* :math:`\check P` (93), the projecting form, has these screws themselves, with their
  first order: partial velocities, and coefficients of the accelerations.

With the local inertias :math:`\hat D`, folded products (99) give (109)-(112),

.. math:: M = \sum \check P' \hat D \check P, \qquad
   C u = \sum \check P' (\hat D \dot{\hat P} u + \ldots), \qquad
   M \dot u + C u + K q = \tau.

A body is rigid, a mass and an inertia at its mass centre, or flexible: then its nodes
are the quadrature points of its integrals, each with mass, mass centre and inertia.
Joints are revolute, prismatic, helical or fixed; the bodies may form a tree.

Two options distinguish the paper from ``Arm(fidelity="linear")``, the first order of
the Lagrangian model of the package:

``rotation_rates``
    ``"small"``: a node turns with :math:`\dot\theta`, where
    :math:`\theta = \lambda\eta` (27).
    ``"exact"``: with the first order of the left Jacobian,
    :math:`\dot\theta + \tfrac12 \theta\times\dot\theta`.  It changes the modal columns
    of :math:`\check P` beyond the node, and nothing else.
``node_inertia``
    ``"newton"``: inertia forces of a node are those of a body that turns with it, its
    inertia taken in the axes of the undeformed link (104)-(107).
    ``"lagrange"``: those of a rigid body fixed on the node, whose inertia and mass
    centre turn with it.  The two differ in M and in forces of first order in the
    deformation.

The defaults are the paper's.  With ``"exact"`` and ``"lagrange"``, the options
`LINEAR_ARM`, every entry is that of the linear arm.

An arm with other joints or bodies raises `ModelError`.  Positions are joint
coordinates, then modal ones, body by body; functions take complex numbers, for complex
steps.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._calls.arguments import common_batch
from .._calls.arm_like import ArmLike
from .._support.arrays import AnyArray as Array
from ..errors import SingularityError
from ._dual_chain import columns_at, frames_of, jacobian_form, turn_back, twists_at
from ._dual_checks import check_options, finite, point_of, state
from ._dual_pairs import ANGULAR, LINEAR, Pair, fixed, fold, motion_cross, turn
from ._dual_terms import Terms, sum_terms

# options with which the entries are those of Arm(fidelity="linear")
LINEAR_ARM: Mapping[str, str] = MappingProxyType(
    {"rotation_rates": "exact", "node_inertia": "lagrange"}
)


class Projection(NamedTuple):
    """Dual projection matrices at a node, rows (r omega, d omega, r v, d v).

    Attributes
    ----------
    jacobian, projecting : (..., 12, nv) ndarray
        The forms P-hat (92) and P-check (93), in rad/s and m/s per rate.
    rate : (..., 12, nv) ndarray or None
        Time derivative of P-hat, by (76)-(79); None without velocities.
    """

    jacobian: Array
    projecting: Array
    rate: Array | None


class Equations(NamedTuple):
    """Terms of M u' + C u + K q = tau (111), friction apart.

    Attributes
    ----------
    mass : (..., nv, nv) ndarray
        M of (112), in units of `fa.mass_matrix`.
    velocity : (..., nv) ndarray
        C u of (112), in N m or N on the joints.
    stiffness : (nv, nv) ndarray
        K of (112), in N m by unit of the modes squared; zero on the joints.
    tau : (..., nv) ndarray
        Part of gravity in tau (109); torques of the joints are their rows.
    """

    mass: Array
    velocity: Array
    stiffness: Array
    tau: Array


def equations(
    arm: ArmLike,
    q: ArrayLike,
    qd: ArrayLike,
    *,
    rotation_rates: str = "small",
    node_inertia: str = "newton",
) -> Equations:
    """All terms of the equations of motion in one evaluation (109)-(112).

    Parameters
    ----------
    arm : Arm
        Arm of any fidelity.
    q, qd : (..., nv) array_like
        Positions and velocities.
    rotation_rates, node_inertia : str
        See the module.

    Returns
    -------
    equations : Equations
        M, C u, K and tau.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> from flexarm.reference import dual_screws
    >>> arm = fa.library.planar_chain(2, n_modes=2, geometric_stiffening=False)
    >>> q, qd = np.full(arm.nq, 0.1), np.full(arm.nv, 0.2)
    >>> terms = dual_screws.equations(arm, q, qd)
    >>> np.allclose(terms.mass, dual_screws.mass_matrix(arm, q))
    True
    >>> np.allclose(terms.tau, -dual_screws.gravity_forces(arm, q))
    True
    """
    at, u = state(arm, q=q, qd=qd)
    M, C, weight = sum_terms(arm, at, u, rotation_rates, node_inertia)
    return Equations(M, C[..., 0], arm.stiffness_matrix, weight[..., 0])


def mass_matrix(
    arm: ArmLike,
    q: ArrayLike,
    *,
    rotation_rates: str = "small",
    node_inertia: str = "newton",
) -> Array:
    """Mass matrix, first order in the deformation (112).

    Parameters
    ----------
    arm : Arm
        Arm of any fidelity.
    q : (..., nv) array_like
        Positions.
    rotation_rates, node_inertia : str
        See the module; the second has no effect here.

    Returns
    -------
    mass : (..., nv, nv) ndarray
        In units of `fa.mass_matrix`; symmetric, and positive definite while
        deformations are small.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> from flexarm.reference import dual_screws
    >>> arm = fa.library.cibicik_egeland()
    >>> q = fa.library.poses(arm)["initial"]
    >>> dual_screws.mass_matrix(arm, q)[1, 1].round(6)
    np.float64(60.449429)
    >>> dual_screws.mass_matrix(arm, np.tile(q, (5, 1))).shape
    (5, 16, 16)
    """
    (at,) = state(arm, q=q)
    return sum_terms(arm, at, None, rotation_rates, node_inertia).mass


def velocity_forces(
    arm: ArmLike,
    q: ArrayLike,
    qd: ArrayLike,
    *,
    rotation_rates: str = "small",
    node_inertia: str = "newton",
) -> Array:
    """Coriolis and centrifugal forces C u, first order (112).

    Parameters
    ----------
    arm : Arm
        Arm of any fidelity.
    q, qd : (..., nv) array_like
        Positions and velocities.
    rotation_rates, node_inertia : str
        See the module.

    Returns
    -------
    forces : (..., nv) ndarray
        On the side of the accelerations; gravity, stiffness, friction left out.

    Examples
    --------
    In a plane all rotations commute, and the options do not matter:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> from flexarm.reference import dual_screws
    >>> arm = fa.library.planar_chain(2, n_modes=2, geometric_stiffening=False)
    >>> arm = arm.replace(fidelity="linear")
    >>> q, qd = np.full(arm.nq, 0.1), np.full(arm.nv, 0.2)
    >>> paper = dual_screws.velocity_forces(arm, q, qd)
    >>> linear = dual_screws.velocity_forces(arm, q, qd, **dual_screws.LINEAR_ARM)
    >>> np.allclose(paper, linear)
    True
    """
    at, u = state(arm, q=q, qd=qd)
    return sum_terms(arm, at, u, rotation_rates, node_inertia).velocity[..., 0]


def gravity_forces(
    arm: ArmLike,
    q: ArrayLike,
    *,
    rotation_rates: str = "small",
    node_inertia: str = "newton",
) -> Array:
    """Forces that hold the arm against gravity, to first order (109).

    Parameters
    ----------
    arm : Arm
        Arm of any fidelity.
    q : (..., nv) array_like
        Positions.
    rotation_rates, node_inertia : str
        See the module.

    Returns
    -------
    forces : (..., nv) ndarray
        As of `fa.gravity_forces`: minus the part of gravity in the tau of the paper.

    Examples
    --------
    With the options of `LINEAR_ARM`, those of the linear arm:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> from flexarm.reference import dual_screws
    >>> arm = fa.library.planar_chain(2, n_modes=2, geometric_stiffening=False)
    >>> arm = arm.replace(fidelity="linear")
    >>> q = np.full(arm.nq, 0.1)
    >>> forces = dual_screws.gravity_forces(arm, q, **dual_screws.LINEAR_ARM)
    >>> np.allclose(forces, fa.gravity_forces(arm, q))
    True
    """
    (at,) = state(arm, q=q)
    return -sum_terms(arm, at, None, rotation_rates, node_inertia).weight[..., 0]


def bias_forces(
    arm: ArmLike,
    q: ArrayLike,
    qd: ArrayLike,
    *,
    rotation_rates: str = "small",
    node_inertia: str = "newton",
) -> Array:
    """All forces but those of accelerations: C u + K q + D u minus gravity.

    Parameters
    ----------
    arm : Arm
        Arm of any fidelity.
    q, qd : (..., nv) array_like
        Positions and velocities.
    rotation_rates, node_inertia : str
        See the module.

    Returns
    -------
    forces : (..., nv) ndarray
        As `fa.bias_forces`, in N m or N on the joints.

    Examples
    --------
    With the options of `LINEAR_ARM`, those of the linear arm:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> from flexarm.reference import dual_screws
    >>> arm = fa.library.planar_chain(2, n_modes=2, geometric_stiffening=False)
    >>> arm = arm.replace(fidelity="linear")
    >>> q, qd = np.full(arm.nq, 0.1), np.full(arm.nv, 0.2)
    >>> forces = dual_screws.bias_forces(arm, q, qd, **dual_screws.LINEAR_ARM)
    >>> np.allclose(forces, fa.bias_forces(arm, q, qd))
    True
    """
    at, u = state(arm, q=q, qd=qd)
    terms = sum_terms(arm, at, u, rotation_rates, node_inertia)
    return _bias(arm, at, u, terms)[..., 0]


def _bias(arm: ArmLike, q: Array, u: Array, terms: Terms) -> Array:
    linear = arm.stiffness_matrix @ q + arm.damping_matrix @ u
    return np.asarray(terms.velocity - terms.weight + linear)


def inverse_dynamics(
    arm: ArmLike,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    *,
    rotation_rates: str = "small",
    node_inertia: str = "newton",
) -> Array:
    """Generalized forces that produce a motion (111).

    Parameters
    ----------
    arm : Arm
        Arm of any fidelity.
    q, qd, qdd : (..., nv) array_like
        Positions, velocities and accelerations.
    rotation_rates, node_inertia : str
        See the module.

    Returns
    -------
    tau : (..., nv) ndarray
        Joint rows are the torques T themselves: the actuators do no work on the modes,
        for the torque of the next joint is about its own deformed axis (125).

    Examples
    --------
    With the options of `LINEAR_ARM`, those of the linear arm:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> from flexarm.reference import dual_screws
    >>> arm = fa.library.planar_chain(2, n_modes=2, geometric_stiffening=False)
    >>> arm = arm.replace(fidelity="linear")
    >>> q, qd = np.full(arm.nq, 0.1), np.full(arm.nv, 0.2)
    >>> tau = dual_screws.inverse_dynamics(arm, q, qd, qd, **dual_screws.LINEAR_ARM)
    >>> np.allclose(tau, fa.inverse_dynamics(arm, q, qd, qd))
    True
    """
    at, u, a = state(arm, q=q, qd=qd, qdd=qdd)
    terms = sum_terms(arm, at, u, rotation_rates, node_inertia)
    return np.asarray(terms.mass @ a + _bias(arm, at, u, terms))[..., 0]


def forward_dynamics(
    arm: ArmLike,
    q: ArrayLike,
    qd: ArrayLike,
    tau: ArrayLike,
    *,
    rotation_rates: str = "small",
    node_inertia: str = "newton",
) -> Array:
    """Accelerations from (111), by LU: M may be indefinite at large deformations.

    Parameters
    ----------
    arm : Arm
        Arm of any fidelity.
    q, qd, tau : (..., nv) array_like
        Positions, velocities and generalized forces.
    rotation_rates, node_inertia : str
        See the module.

    Returns
    -------
    qdd : (..., nv) ndarray
        Accelerations.

    Raises
    ------
    SingularityError
        If M has no inverse.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> from flexarm.reference import dual_screws
    >>> arm = fa.library.planar_chain(2, n_modes=2, geometric_stiffening=False)
    >>> q, qd = np.full(arm.nq, 0.1), np.full(arm.nv, 0.2)
    >>> tau = dual_screws.inverse_dynamics(arm, q, qd, qd)
    >>> np.allclose(dual_screws.forward_dynamics(arm, q, qd, tau), qd)
    True
    """
    at, u, force = state(arm, q=q, qd=qd, tau=tau)
    terms = sum_terms(arm, at, u, rotation_rates, node_inertia)
    try:
        qdd = np.linalg.solve(terms.mass, force - _bias(arm, at, u, terms))
    except np.linalg.LinAlgError:
        raise SingularityError(
            "the mass matrix has no inverse, expected masses that every coordinate "
            "moves; give the bodies mass and inertia"
        ) from None
    return qdd[..., 0]


def wrench_forces(
    arm: ArmLike,
    q: ArrayLike,
    wrench: ArrayLike,
    node: int,
    *,
    rotation_rates: str = "small",
) -> Array:
    """Generalized forces of a wrench on a node, part of tau (109).

    Parameters
    ----------
    arm : Arm
        Arm of any fidelity.
    q : (..., nv) array_like
        Positions.
    wrench : (..., 6) array_like
        Moment about the node and force, in the axes of the deformed node.
    node : int
        Number of the node among all, see ``arm.node_names``.
    rotation_rates : {"small", "exact"}
        See the module.

    Returns
    -------
    tau : (..., nv) ndarray
        To be added to the generalized forces.

    Examples
    --------
    A force of 10 N across the tip of an undeformed arm, in N m on the joints:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> from flexarm.reference import dual_screws
    >>> arm = fa.library.de_luca_siciliano()  # two links of 0.5 m
    >>> load = [0.0, 0.0, 0.0, 0.0, 10.0, 0.0]
    >>> tau = dual_screws.wrench_forces(arm, np.zeros(6), load, arm.node("link2"))
    >>> tau[:2].round(6)
    array([10.,  5.])
    """
    check_options(rotation_rates)
    (at,) = state(arm, q=q)
    load = finite("wrench", wrench, 6)
    common_batch({"q": at.shape[:-2], "wrench": load.shape[:-1]})
    exact = rotation_rates == "exact"
    k, point = point_of(arm, node)
    frame = frames_of(arm, at, None, exact=exact)[k]
    columns = columns_at(frame, point, exact=exact)[..., 0, :, :]
    columns = turn(turn_back(point.lam[0] @ frame.eta), columns)
    return fold(columns, fixed(load[..., np.newaxis]))[..., 0]


def _rows(x: Pair) -> Array:
    """12-vectors of the paper (56)."""
    parts = [x.real[ANGULAR], x.dual[ANGULAR], x.real[LINEAR], x.dual[LINEAR]]
    return np.concatenate(parts, axis=-2)


def projection_matrices(
    arm: ArmLike,
    q: ArrayLike,
    qd: ArrayLike | None,
    node: int,
    *,
    rotation_rates: str = "small",
) -> Projection:
    """Dual projection matrices at a node, in the axes of its body, as in the paper.

    Parameters
    ----------
    arm : Arm
        Arm of any fidelity.
    q : (..., nv) array_like
        Positions.
    qd : (..., nv) array_like or None
        Velocities, for the rate.
    node : int
        Number of the node among all, see ``arm.node_names``.
    rotation_rates : {"small", "exact"}
        See the module.

    Returns
    -------
    projection : Projection
        P-hat (92), P-check (93) and the rate of P-hat (76)-(79).

    Examples
    --------
    A bending mode moves the tip of its link in the first order, the dual rows:

    >>> import flexarm as fa
    >>> from flexarm.reference import dual_screws
    >>> arm = fa.library.cibicik_egeland(bending="clamped-free")
    >>> tip = arm.node("link2")
    >>> P = dual_screws.projection_matrices(arm, arm.neutral, None, tip)
    >>> P.jacobian.shape, P.jacobian[10, 4].round(6), P.projecting[7, 4].round(6)
    ((12, 16), np.float64(2.0), np.float64(2.0))
    """
    check_options(rotation_rates)
    if qd is None:
        at, u = state(arm, q=q)[0], None
    else:
        at, u = state(arm, q=q, qd=qd)
    exact = rotation_rates == "exact"
    k, point = point_of(arm, node)
    frame = frames_of(arm, at, u, exact=exact)[k]
    columns = columns_at(frame, point, exact=exact)[..., 0, :, :]
    jacobian = jacobian_form(columns, arm.nj)
    if frame.motion is None:
        return Projection(_rows(jacobian), _rows(columns), None)
    carriers, own, _ = twists_at(frame, frame.motion, point)
    rate = motion_cross((carriers - own)[..., 0, :, :], jacobian)
    return Projection(_rows(jacobian), _rows(columns), _rows(rate))
