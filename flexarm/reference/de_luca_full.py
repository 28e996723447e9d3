"""Kinetic energy of De Luca and Siciliano (1991), not cut."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .de_luca_arm import LinkModes, Parameters


def full_kinetic_energy(
    parameters: Parameters,
    first: LinkModes,
    second: LinkModes,
    q: ArrayLike,
    qd: ArrayLike,
) -> Any:
    r"""Kinetic energy of (8)-(11) with a proper rotation at the tip of link 1.

    Nothing is dropped.  To first order in the deflections the mass matrix is (32) plus
    two terms, because (32) belongs to ``E_1 = I + S y'``, whose rate differs from that
    of a rotation by :math:`y'\dot y'`.  With :math:`a` the first moment beyond joint 2,

    .. math:: \Delta B_{1,2+k} = -a\,\ell_1 \phi'_{1k}\, y'_{1e}\sin\theta_2, \qquad
       \Delta B_{2+j,2+k} = -a\,(\phi_{1j}\phi'_{1k} + \phi_{1k}\phi'_{1j})\,
       y'_{1e}\sin\theta_2 .

    Parameters
    ----------
    parameters : Parameters
        Masses and lengths.
    first, second : LinkModes
        Modes of the links, with `z`; any normalization and any shapes.
    q, qd : (6,) array_like
        Positions and velocities, real or complex.

    Returns
    -------
    energy : scalar
        In J.

    Examples
    --------
    Undeformed links lose nothing to the cut of the paper:

    >>> import numpy as np
    >>> from flexarm.reference import de_luca_siciliano as model
    >>> p = model.Parameters()
    >>> first, second = model.paper_modes(p)
    >>> q, qd = np.array([0.3, 0.8, 0, 0, 0, 0]), np.array([1.0, 2, 0.1, 0, 0.1, 0])
    >>> full = model.full_kinetic_energy(p, first, second, q, qd)
    >>> np.allclose(full, model.energy(model.paper_arm(), q, qd), rtol=1e-9)  # J
    True
    """
    p, (l1, l2) = parameters, parameters.length
    q, qd = np.asarray(q), np.asarray(qd)
    d1, d2, rate1, rate2 = q[2:4], q[4:6], qd[2:4], qd[4:6]
    f1, f2 = np.asarray(first.tip_deflection), np.asarray(second.tip_deflection)
    s1, s2 = np.asarray(first.tip_slope), np.asarray(second.tip_slope)
    z1 = np.asarray(first.z)
    Z2 = np.asarray(second.z) + p.payload_mass * np.outer(f2, f2)
    u = second.v + p.payload_mass * f2
    g = second.w + p.payload_mass * l2 * f2
    I2 = p.link_inertia[1] + p.payload_mass * l2**2

    # both links turn: link 1 by theta_1, link 2 by omega in all
    y, y_rate = f1 @ d1, f1 @ rate1
    omega = qd[0] + qd[1] + s1 @ rate1
    twice = (p.hub_inertia[0] + p.link_inertia[0] + d1 @ z1 @ d1) * qd[0] ** 2
    twice += 2 * qd[0] * (np.asarray(first.w) @ rate1) + rate1 @ z1 @ rate1
    twice += (p.hub_inertia[1] + I2 + d2 @ Z2 @ d2) * omega**2
    twice += p.payload_inertia * (omega + s2 @ rate2) ** 2
    twice += 2 * omega * (g @ rate2) + rate2 @ Z2 @ rate2

    # velocity of hub 2 in the axes of link 1, and its coupling with the bodies beyond
    along, across = -y * qd[0], l1 * qd[0] + y_rate
    twice += p.distal_mass * (along**2 + across**2)
    angle = q[1] + s1 @ d1
    beyond_along = -omega * (u @ d2)
    beyond_across = omega * p.distal_moment + u @ rate2
    cosine, sine = np.cos(angle), np.sin(angle)
    twice += 2 * along * (cosine * beyond_along - sine * beyond_across)
    twice += 2 * across * (sine * beyond_along + cosine * beyond_across)
    return 0.5 * twice
