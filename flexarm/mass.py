"""The mass matrix of an arm, its inverse, and products with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._explain import explain

if TYPE_CHECKING:
    from .arm import Arm


def mass_matrix(arm: Arm, q: Any, *, out: Any = None) -> Any:
    """Mass matrix, by composite bodies (Jain and Rodriguez 1996, eq. 50).

    Parameters
    ----------
    arm : Arm
        Arm with ``nv`` coordinates.
    q : (..., nq) array_like of float
        Positions: rad, m, quaternions (w, x, y, z), modal coordinates.
    out : (..., nv, nv) ndarray of float, optional
        Where to store the result.

    Returns
    -------
    M : (..., nv, nv) ndarray of float
        Symmetric positive definite matrix, both triangles, in kg m^2 (revolute), kg
        (prismatic) and the units of the modes.

    Raises
    ------
    ArgumentError
        If the last axis of `q` has the wrong length.
    NotFiniteError
        If a result is NaN or infinite; the message counts such states.

    Examples
    --------
    A point mass of 2 kg at 0.5 m has m l^2 = 0.5 kg m^2:

    >>> import flexarm as fa
    >>> fa.mass_matrix(fa.library.pendulum(mass=2.0, com=0.5), [0.1])
    array([[0.5]])

    >>> arm = fa.library.de_luca_siciliano()
    >>> fa.mass_matrix(arm, [[0.0] * 6, [0.1] * 6]).shape
    (2, 6, 6)
    """
    try:
        return arm._model.mass_matrix(q, out)
    except Exception as error:
        raise explain(arm, "mass_matrix", error, out=out, q=q) from None


def mass_matrix_inverse(arm: Arm, q: Any, *, out: Any = None) -> Any:
    """Inverse of the mass matrix, by the innovations factorization, without forming M.

    Parameters
    ----------
    arm : Arm
        Arm with ``nv`` coordinates.
    q : (..., nq) array_like of float
        Positions: rad, m, quaternions (w, x, y, z), modal coordinates.
    out : (..., nv, nv) ndarray of float, optional
        Where to store the result.

    Returns
    -------
    M_inverse : (..., nv, nv) ndarray of float
        Symmetric positive definite matrix, both triangles: accelerations for unit
        forces.

    Raises
    ------
    ArgumentError
        If the last axis of `q` has the wrong length.
    NotFiniteError
        If a result is NaN or infinite; the message counts such states.

    See Also
    --------
    apply_mass_matrix_inverse : products with it, without forming it.
    operators : the factors as arrays.

    Notes
    -----
    Jain and Rodriguez (1996), eq. 56.

    Examples
    --------
    >>> import flexarm as fa
    >>> fa.mass_matrix_inverse(fa.library.pendulum(mass=2.0, com=0.5), [0.1])
    array([[2.]])
    >>> fa.mass_matrix_inverse(fa.library.puma560(), [[0.1] * 6] * 5).shape
    (5, 6, 6)
    """
    try:
        return arm._model.mass_matrix_inverse(q, out)
    except Exception as error:
        raise explain(arm, "mass_matrix_inverse", error, out=out, q=q) from None


def apply_mass_matrix(arm: Arm, q: Any, x: Any, *, out: Any = None) -> Any:
    """Product M x, by inverse dynamics at rest without gravity, O(N).

    Parameters
    ----------
    arm : Arm
        Arm with ``nv`` coordinates.
    q : (..., nq) array_like of float
        Positions: rad, m, quaternions (w, x, y, z), modal coordinates.
    x : (..., nv) array_like of float
        Vector, such as accelerations or rates.
    out : (..., nv) ndarray of float, optional
        Where to store the result.

    Returns
    -------
    y : (..., nv) ndarray of float
        ``mass_matrix(arm, q) @ x``, such as forces or momenta.

    Raises
    ------
    ArgumentError
        If a last axis has the wrong length.
    NotFiniteError
        If a result is NaN or infinite; the message counts such states.

    Notes
    -----
    Jain and Rodriguez (1996), eqs. 43 and 45.

    Examples
    --------
    >>> import flexarm as fa
    >>> arm = fa.library.pendulum(mass=2.0, com=0.5)
    >>> fa.apply_mass_matrix(arm, [0.1], [3.0])
    array([1.5])
    >>> fa.apply_mass_matrix(arm, [[0.1], [0.2]], [3.0]).shape
    (2, 1)
    """
    try:
        return arm._model.apply_mass_matrix(q, x, out)
    except Exception as error:
        raise explain(arm, "apply_mass_matrix", error, out=out, q=q, x=x) from None


def apply_mass_matrix_inverse(arm: Arm, q: Any, x: Any, *, out: Any = None) -> Any:
    """Product of the inverse mass matrix and a vector, O(N).

    Parameters
    ----------
    arm : Arm
        Arm with ``nv`` coordinates.
    q : (..., nq) array_like of float
        Positions: rad, m, quaternions (w, x, y, z), modal coordinates.
    x : (..., nv) array_like of float
        Vector, such as forces.
    out : (..., nv) ndarray of float, optional
        Where to store the result.

    Returns
    -------
    y : (..., nv) ndarray of float
        The solution of ``mass_matrix(arm, q) @ y = x``, such as accelerations.

    Raises
    ------
    ArgumentError
        If a last axis has the wrong length.
    NotFiniteError
        If a result is NaN or infinite; the message counts such states.

    Notes
    -----
    Jain and Rodriguez (1996), eqs. 56 and 63.

    Examples
    --------
    >>> import flexarm as fa
    >>> arm = fa.library.pendulum(mass=2.0, com=0.5)
    >>> fa.apply_mass_matrix_inverse(arm, [0.1], [1.5])
    array([3.])
    >>> fa.apply_mass_matrix_inverse(arm, [[0.1], [0.2]], [3.0]).shape
    (2, 1)
    """
    name = "apply_mass_matrix_inverse"
    try:
        return arm._model.apply_mass_matrix_inverse(q, x, out)
    except Exception as error:
        raise explain(arm, name, error, out=out, q=q, x=x) from None


def log_det_mass_matrix(arm: Arm, q: Any, *, out: Any = None) -> Any:
    """Logarithm of the determinant of the mass matrix, O(N).

    Parameters
    ----------
    arm : Arm
        Arm with ``nv`` coordinates.
    q : (..., nq) array_like of float
        Positions: rad, m, quaternions (w, x, y, z), modal coordinates.
    out : (...) ndarray of float, optional
        Where to store the result.

    Returns
    -------
    log_det : (...) ndarray of float
        Sum of the logarithms of the articulated inertias of all modes and joints, of
        the numbers of kg m^2, kg and the units of the modes.

    Raises
    ------
    ArgumentError
        If the last axis of `q` has the wrong length.
    NotFiniteError
        If a result is NaN or infinite; the message counts such states.

    Notes
    -----
    From the factorization of Jain and Rodriguez (1996), eq. 54, whose other factors
    have unit determinant.

    Examples
    --------
    2 kg at 0.5 m have 0.5 kg m^2, whose logarithm is that of one half:

    >>> import flexarm as fa
    >>> arm = fa.library.pendulum(mass=2.0, com=0.5)
    >>> round(float(fa.log_det_mass_matrix(arm, [0.1])), 6)
    -0.693147
    >>> fa.log_det_mass_matrix(arm, [[0.1], [0.2]]).shape
    (2,)
    """
    try:
        return arm._model.log_det_mass_matrix(q, out)
    except Exception as error:
        raise explain(arm, "log_det_mass_matrix", error, out=out, q=q) from None
