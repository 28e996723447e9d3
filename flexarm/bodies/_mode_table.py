"""Table of the modes of a flexible body: frequencies, masses, motion of nodes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._support.printing import Sheet, Table, percent
from .basis import linear_body, lowest_frequencies, modal_compliance_of, node_errors
from .body import Body
from .node_sums import modal_integrals

Array = NDArray[np.float64]

# Entries off the diagonal, relative to those on it, above which modes are coupled.
COUPLING_TOLERANCE = 1e-6
# Direction that is shown, as part of the largest.
MIN_DIRECTION = 0.1
# Motion in m per rad, or rad per m, that counts as none.
MOTION_TOLERANCE = 1e-9
# Frequencies whose errors are shown.
FREQUENCIES = 4


def effective_masses(body: Body) -> Array:
    """Return E_r^2 / G_rr of each mode along x, y and z, (n, 3), in kg."""
    c = modal_integrals(body)
    return np.asarray((c.E**2 / np.diag(c.G)).T)


def total_effective_mass(body: Body) -> Array:
    """Return the diagonal of E G^-1 E', effective mass of all modes, (3,), in kg."""
    c = modal_integrals(body)
    if not c.n_modes:
        return np.zeros(3)
    return np.asarray(np.einsum("ir,ri->i", c.E, np.linalg.solve(c.G, c.E.T)))


def _is_coupled(matrix: Array) -> bool:
    size = np.sqrt(np.outer(np.diag(matrix), np.diag(matrix)))
    off = np.abs(matrix - np.diag(np.diag(matrix)))
    return bool((off > COUPLING_TOLERANCE * size).any())


def _moved(body: Body, mode: int) -> str:
    """Text of the motion of the node that a unit of a mode moves most."""
    gamma, lam = body.node_translation[..., mode], body.node_rotation[..., mode]
    size, turn = np.linalg.norm(gamma, axis=1), np.linalg.norm(lam, axis=1)
    if size.max() <= MOTION_TOLERANCE * turn.max():
        gamma, size = np.zeros_like(gamma), turn
    elif turn.max() <= MOTION_TOLERANCE * size.max():
        lam = np.zeros_like(lam)
    if not size.any():
        return "none of its nodes"
    # the last one of equals: the tip rather than the base
    node = len(size) - 1 - int(np.argmax(size[::-1] > (1.0 - 1e-9) * size.max()))
    parts = []
    for prefix, vector in (("", gamma[node]), ("r", lam[node])):
        largest = float(np.abs(vector).max())
        parts += [
            f"{prefix}{axis} {value:.3g}"
            for axis, value in zip("xyz", vector, strict=True)
            if largest > 0.0 and abs(value) >= MIN_DIRECTION * largest
        ]
    return f"{body.node_names[node]}: {', '.join(parts)}"


def mode_table(body: Body) -> Sheet:
    """Table of `FlexibleBody.summary`."""
    G, K, mass = body.modal_mass(), body.stiffness, body.mass
    sizes = [
        f"{n} {what}{'' if n == 1 else 's'}"
        for n, what in ((body.n_modes, "mode"), (body.n_nodes, "node"))
    ]
    title = f"flexible body {body.name!r}: {', '.join(sizes)}, {mass:.4g} kg"
    if not body.n_modes:
        return Sheet((title,))

    def percent(row: Array) -> list[str]:
        share = 100.0 * row / mass if mass > 0.0 else np.zeros(3)
        return [f"{x + 0.0:.1f}" for x in share.round(1)]

    own = np.sqrt(np.diag(K) / np.diag(G)) / (2.0 * np.pi)
    rows = [["mode", "Hz", "modal mass", "x %", "y %", "z %", "a unit moves"]]
    for r, row in enumerate(effective_masses(body)):
        numbers = [f"{own[r]:.4g}", f"{G[r, r]:.4g}", *percent(row)]
        rows.append([body.mode_names[r], *numbers, _moved(body, r)])
    rows.append(["together", "", "", *percent(total_effective_mass(body)), ""])
    coupled = []
    if _is_coupled(G) or _is_coupled(K):
        f = ", ".join(f"{x:.4g}" for x in body.frequencies())
        coupled = [f"coupled coordinates, natural frequencies {f} Hz"]
    return Sheet((title, Table(rows, right=True), *coupled, _errors(body)))


def _errors(body: Body) -> str:
    """Line with the errors of the modes at the tip, the base held."""
    link, tip = body.unreduced, np.array([body.n_nodes - 1])
    if link is None:
        return "error of the modes unknown, without an unreduced link"
    reduced, exact = linear_body(body, tip), link.linear(tip)
    compliance = modal_compliance_of(reduced)[0], link.compliance(tip)[0]
    static = node_errors(*compliance, body.node_position[-1], None, link.along(tip)[0])
    f, true = (
        lowest_frequencies(x.mass, x.stiffness, min(FREQUENCIES, body.n_modes))
        for x in (reduced, exact)
    )
    return (
        f"against the unreduced link: node {body.node_names[-1]!r} "
        f"{percent(static.deflection)} % too stiff in deflection and "
        f"{percent(static.rotation)} % in rotation, frequencies "
        f"{', '.join(map(percent, f / true - 1.0))} % too high"
    )
