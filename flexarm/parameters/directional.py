"""Derivatives of the dynamics with respect to parameters of any kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from .._calls.arguments import real_array
from .._calls.arm_like import ArmLike
from .._calls.declared import Floats, Forces, Positions, Velocities
from .._calls.doors import checked, checked_class
from .._calls.explain import leading
from .._support.arrays import Array
from ..dynamics import apply_mass_matrix_inverse, forward_dynamics, inverse_dynamics
from ..errors import ArgumentError
from .tangent import ArmTangent


@checked_class
@dataclass(frozen=True, eq=False)
class ParameterDerivatives:
    """Derivatives of forces, or of accelerations, with respect to k parameters.

    Attributes
    ----------
    arm : Arm
        The arm at the parameters.
    p : (k,) ndarray of float
        The parameters.
    forces : (..., nv, k) ndarray of float
        Derivatives of `inverse_dynamics` at fixed positions, velocities and
        accelerations; a number p has no last axis.
    accelerations : (..., nv, k) ndarray of float or None
        Derivatives of `forward_dynamics` at fixed positions, velocities and forces, if
        forces were given.
    error : (k,) ndarray of float
        Estimate of the error of the forces, relative to the largest one of all
        coordinates and states: the difference of two orders.  It has no meaning if all
        are zero to rounding.
    """

    arm: ArmLike
    p: Array
    forces: Array
    accelerations: Array | None
    error: Array


@checked
def parameter_derivatives(
    make_arm: Callable[[Array], ArmLike],
    p: Annotated[ArrayLike, Floats("(k,)", "()")],
    q: Positions,
    qd: Velocities,
    qdd: Velocities | None = None,
    *,
    tau: Forces | None = None,
    scale: Annotated[ArrayLike, Floats("(k,)", "()")] | None = None,
) -> ParameterDerivatives:
    r"""Derivatives of forces, or of accelerations, by parameters of an arm.

    .. math:: \frac{\partial\tau}{\partial p}(q, \dot q, \ddot q; p), \qquad
        \frac{\partial\ddot q}{\partial p}(q, \dot q, \tau; p)
        = -M^{-1} \frac{\partial\tau}{\partial p}(q, \dot q, \ddot q; p)

    Parameters
    ----------
    make_arm : callable
        Function ``make_arm(p)`` that returns the arm of parameters (k,): payload,
        lengths, bending stiffness, density, joint stiffness, damping, gravity, or
        others that are smooth.  The arms differ in numbers only.
    p : (k,) array_like of float, or float
        Parameters, in any units.
    q : (..., nq) array_like of float
        Positions: rad, m, quaternions (w, x, y, z), modal coordinates.
    qd : (..., nv) array_like of float
        Velocities.
    qdd : (..., nv) array_like of float, optional
        Accelerations, for derivatives of inverse dynamics.
    tau : (..., nu) or (..., nv) array_like of float, optional
        Forces, in place of `qdd`, for derivatives of forward dynamics, too.
    scale : (k,) array_like of float, optional
        Typical sizes of the parameters; by default their own, and one for zeros.  Arms
        are made within 5 % (on one side 10 %) of that about p.

    Returns
    -------
    derivatives : ParameterDerivatives
        Derivatives and an estimate of their error.

    Raises
    ------
    ArgumentError
        If not one of `qdd` and `tau` is given, `make_arm` returns something else or
        arms of different structure, or for derivatives of accelerations of an arm with
        constraints.
    ModelError
        If `make_arm` raises for parameters on both sides of p.

    See Also
    --------
    inertial_regressor : derivatives by parameters in which forces are linear.
    trajectory_sensitivities : derivatives of a motion.

    Notes
    -----
    Forces are linear in masses, modal integrals, stiffness and damping.  Their
    derivatives are inverse dynamics with the derivatives of these constants in place of
    them, which for a payload or a bending stiffness is exact to rounding.  Derivatives
    of the constants are central differences of order ten over 0.01 of the parameter.
    Only changes of the geometry (lengths, axes, mode shapes, gravity, gear ratios) need
    such differences of forces.  The error is about 1e-14 of the largest force for
    smooth functions such as :math:`L^{-4}`, and 1e-12 if mode shapes depend on a
    length; `error` is an upper estimate of truncation, since it compares with order
    eight.  For a parameter at its bound, such as a payload of zero, differences are
    one-sided, with a hundred times the rounding.

    Sensitivities in this sense, by derivatives of the equations of motion: E. Haug, J.
    Arora, *Applied Optimal Design*, 1979.

    Examples
    --------
    The weight m g l cos q of a pendulum, and its inertia m l^2 times 1 rad/s^2, change
    with its length l = 0.5 m by 2 * 9.81 + 2 * 2 * 0.5 N:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> from flexarm.parameters import parameter_derivatives
    >>> def make_arm(p):
    ...     return fa.library.pendulum(mass=2.0, com=p[0])
    >>> rates = parameter_derivatives(make_arm, [0.5], [0.0], [0.0], [1.0])
    >>> float(rates.forces[0, 0].round(9))
    21.62

    Arms of changed copies of bodies, with a factor of the bending stiffness of both
    links: forces of the modes change by ``K eta``, 18.7 N/m times 0.1 m:

    >>> arm = fa.library.de_luca_siciliano()
    >>> def make_arm(p):
    ...     bodies = [b.replace(stiffness=p[0] * b.stiffness) for b in arm.bodies]
    ...     return arm.replace(bodies=bodies)
    >>> q, rest = [0, 0, 0, 0, 0.1, 0], [0.0] * 6
    >>> parameter_derivatives(make_arm, [1.0], q, rest, rest).forces[4].round(3)
    array([1.873])

    Mass and length, for a given force, at a hundred states:

    >>> def make_arm(p):
    ...     return fa.library.pendulum(mass=p[0], com=p[1])
    >>> q = np.linspace(-3.0, 3.0, 100)[:, np.newaxis]
    >>> rates = parameter_derivatives(make_arm, [2.0, 0.5], q, [0.0], tau=[1.0])
    >>> rates.accelerations.shape, bool((rates.error < 1e-9).all())
    ((100, 1, 2), True)
    """
    if (qdd is None) == (tau is None):
        raise ArgumentError(
            f"{'neither' if qdd is None else 'both'} qdd and tau are given, expected "
            "accelerations for inverse dynamics or forces for forward dynamics"
        )
    # arms, and the state at which forces are differentiated
    tangent = ArmTangent(make_arm, p, scale)
    arm = tangent.arm
    name, last = ("qdd", qdd) if tau is None else ("tau", tau)
    given = {"q": q, "qd": qd, name: last}
    arrays = {key: real_array(key, x) for key, x in given.items()}
    leading(arm, arrays, ())
    if tau is not None:
        if arm._held:
            raise ArgumentError(
                f"the arm has {len(arm._held)} constraints, expected none for "
                "derivatives of accelerations; give qdd in place of tau"
            )
        arrays["qdd"] = forward_dynamics(arm, *arrays.values())
    else:
        inverse_dynamics(
            arm, *arrays.values()
        )  # raises for numbers that are not finite
    # derivatives of forces, and the error estimate
    states = arrays["q"], arrays["qd"], arrays["qdd"]
    forces, coarse = tangent.forces(*states)
    flat = np.abs(forces).reshape(-1, len(tangent.p))
    size = flat.max(axis=0, initial=0.0)
    off = np.abs(forces - coarse).reshape(flat.shape).max(axis=0, initial=0.0)
    error = off / np.where(size > 0.0, size, 1.0)
    accelerations = None
    if tau is not None:
        accelerations = -solved(arm, states[0], forces)
    if tangent.single:
        forces = forces[..., 0]
        accelerations = None if accelerations is None else accelerations[..., 0]
    return ParameterDerivatives(arm, tangent.p, forces, accelerations, error)


def solved(arm: ArmLike, q: Array, columns: Array) -> Array:
    """Multiply each of the columns (..., nv, k) by M^-1."""
    rows = np.moveaxis(columns, -1, 0)
    return np.moveaxis(np.asarray(apply_mass_matrix_inverse(arm, q, rows)), 0, -1)
