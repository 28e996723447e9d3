"""Constraint rows of loops from poses alone: values, derivatives, second derivatives.

No velocity of a body, no lever and no cross product: the rows are entries of products
of the poses of the two frames, differentiated by dual numbers, and once more by a
complex step on top (see `flexarm.reference.lagrangian`).
"""

from __future__ import annotations

import numpy as np

from flexarm.reference import _dual_poses, duals

STEP = 1e-40


def _frame(position, rotation):
    result = np.eye(4)
    result[:3, :3], result[:3, 3] = rotation, position
    return result


def _pose(arm, bodies, state, end, frame):
    """Pose of one frame of a loop, with its derivatives."""
    if end == "ground":
        return duals.constant(frame, arm.nv)
    k = arm.body_index(end[0])
    node = arm.bodies[k].node_index(end[1])
    pose = duals.multiply(bodies[k], _dual_poses.node_displacement(arm, k, node, state))
    return duals.multiply(pose, duals.constant(frame, arm.nv))


def _rotation_entries(locked):
    """Entries (i, j) of the relative rotation, and weights, for each locked axis."""
    turns = ["xyz".index(d[1]) for d in locked if d.startswith("r")]
    entries = []
    for i in turns:
        j, k = (i + 1) % 3, (i + 2) % 3
        if len(turns) == 3:
            entries.append([((k, j), 0.5), ((j, k), -0.5)])
        elif len(turns) == 1 or j not in turns:  # y z of a free j: column j
            entries.append([((k, j), 1.0)])
        else:
            entries.append([((j, k), -1.0)])
    return entries


def loop_rows(arm, q, qd):
    """Rows phi of all loops, their Jacobian A, and the rate of ``A @ qd`` at rest.

    Returns
    -------
    phi, A, gamma : (m,), (m, nv), (m,) ndarray
        The second derivative of the rows in time is ``A @ qdd + gamma``.
    """
    state = _dual_poses.State(np.asarray(q), 1j * STEP * np.asarray(qd))
    bodies = _dual_poses.dual_poses(arm, state)
    values, partials = [], []
    for loop in arm.constraints:
        first = _frame(loop.position, loop.rotation)
        second = _frame(loop.position2, loop.rotation2)
        a = _pose(arm, bodies, state, loop.first, first)
        b = _pose(arm, bodies, state, loop.second, second)
        # relative pose, its inverse by transposition
        (Ra, xa), (Rb, xb) = ((p.value[:3, :3], p.value[:3, 3]) for p in (a, b))
        dRa, dxa = a.partials[:, :3, :3], a.partials[:, :3, 3]
        dRb, dxb = b.partials[:, :3, :3], b.partials[:, :3, 3]
        R = Ra.T @ Rb
        dR = np.swapaxes(dRa, 1, 2) @ Rb + Ra.T @ dRb
        x = Ra.T @ (xb - xa)
        dx = np.swapaxes(dRa, 1, 2) @ (xb - xa) + (dxb - dxa) @ Ra
        for entries in _rotation_entries(loop.locked):
            values.append(sum(w * R[ij] for ij, w in entries))
            partials.append(sum(w * dR[(slice(None), *ij)] for ij, w in entries))
        for i, direction in enumerate("xyz"):
            if direction in loop.locked:
                values.append(x[i])
                partials.append(dx[:, i])
    phi, A = np.array(values), np.array(partials)
    return phi.real, A.real, A.imag / STEP @ qd
