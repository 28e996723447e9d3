"""Buckling of a link under a load along it, from its stiffness and foreshortening."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import numpy as np

from .._calls.declared import Finite, Instance
from .._calls.doors import checked
from .._support.arrays import Array
from .._support.checks import real
from ..bodies.models import FlexibleBody
from ..errors import ModelError

_HINT = "a link made without segments is one"
_Whole: TypeAlias = Annotated[FlexibleBody, Instance(FlexibleBody, _HINT)]


@checked
def buckling_load(
    body: _Whole, node: str | int = "tip", *, acceleration: Finite = 0.0
) -> float:
    r"""Compute the smallest force towards the base at which a straight link buckles.

    The modes draw a node towards the base by :math:`\tfrac12 \eta' \kappa \eta`, along
    which a force P on it does work, so that the remaining stiffness is
    :math:`K - P \kappa`.

    Parameters
    ----------
    body : FlexibleBody
        Link with geometric stiffening.
    node : str or int
        Node on which the force acts, in the constant direction from the node to the
        frame of the undeformed link.
    acceleration : float
        Acceleration in m/s^2 of gravity towards the base, for the weight of the link
        itself; negative for a link that hangs.

    Returns
    -------
    load : float
        Force in N; infinite if no mode draws the node towards the base; negative, the
        pull that keeps the link straight, if it buckles under its own weight.

    Raises
    ------
    ModelError
        If the link has no modes or no geometric stiffening, if the node is at its
        frame, or, with an acceleration, if its mass is not that of its nodes.

    See Also
    --------
    flexarm.equilibrium, flexarm.natural_frequencies : for a whole arm.

    Notes
    -----
    The modes define the supports: clamped modes give a column that is clamped below and
    free above, pinned ones that of Euler with both ends on the line.  Errors decrease
    with the number of modes; the load is never too low.

    References
    ----------
    .. [1] S. Timoshenko, *Theory of Elastic Stability*, 2nd ed., 1961, sections 2.1,
       2.3 and 2.12.

    Examples
    --------
    A clamped column of EI = 100 N m^2 and 1 m:

    >>> import numpy as np
    >>> from flexarm import beams
    >>> modes = beams.clamped_beam_modes(1.0, 2.0, 100.0, 8)
    >>> link = beams.flexible_link(
    ...     "column", length=1.0, mass_per_length=2.0, bending_y=modes
    ... )
    >>> round(beams.buckling_load(link) / (np.pi**2 * 100.0 / 4.0), 4)
    1.0001
    """
    # links with modes and foreshortening
    if body.n_modes == 0:
        raise ModelError(f"body {body.name!r} has no modes, expected a link that bends")
    kappa = body.node_foreshortening
    if kappa is None:
        raise ModelError(
            f"body {body.name!r} has no geometric stiffening and so no load "
            "of buckling, expected a link made with geometric_stiffening=True"
        )
    # direction from the node to the base
    index = body.node_index(node)
    along = np.asarray(body.node_position[index])
    length = float(np.linalg.norm(along))
    if length == 0.0:
        raise ModelError(
            f"node {body.node_names[index]!r} of body {body.name!r} is at its frame, "
            "expected one away from it"
        )
    inward = -along / length
    # stiffness under the weight of the link
    stiffness = np.array(body.stiffness)
    rate = real("acceleration", acceleration, "m/s^2")
    if rate != 0.0:
        if body.integrals is not None:
            raise ModelError(
                f"body {body.name!r} is given by modal integrals, which do not have "
                "the weight along it; expected acceleration=0"
            )
        weight = np.einsum("j,i,jirs->rs", body.node_mass, inward, kappa)
        stiffness -= rate * (weight + _turning_weight(body, inward))
    # work of the force on the node
    work = np.tensordot(inward, kappa[index], 1)
    return _least_load(stiffness, 0.5 * (work + work.T))


def _turning_weight(body: FlexibleBody, inward: Array) -> Array:
    """Second derivatives of the weight of masses beside nodes that turn, (n, n)."""
    lam, first = body.node_rotation, body.node_mass[:, None] * body.node_com
    swing = np.cross(lam, first[:, :, None], axis=1)
    twice = np.cross(lam[:, :, :, None], swing[:, :, None, :], axis=1)
    fall = np.einsum("i,jirs->rs", inward, twice)
    return np.asarray(0.5 * (fall + fall.T))


def _least_load(stiffness: Array, work: Array) -> float:
    """Smallest P at which K - P W is singular, W positive or zero."""
    from scipy.linalg import eigh

    size = float(np.abs(work).max())
    if size == 0.0:
        return float("inf")
    if np.linalg.eigvalsh(stiffness)[0] > 0.0:
        largest = float(eigh(work, stiffness, eigvals_only=True)[-1])
        return 1.0 / largest if largest > 0.0 else float("inf")
    # unstable under its weight: the pull that stabilizes the last shape
    shapes = eigh(work)
    inside = shapes[0] > 1e-12 * shapes[0][-1]
    basis = shapes[1][:, inside]
    reduced = basis.T @ stiffness @ basis
    return float(eigh(reduced, np.diag(shapes[0][inside]), eigvals_only=True)[0])
