"""The recursions of Mueller (2018) as printed, with the corrections of errata, plainly.

For rigid trees of joints with one screw.  Poses come from products of exponentials; the
tree replaces i - 1 by the parent.  Two slips of the print: in (51) and (52) the
rotation is that of the parent, R_(i-1), for the angular velocity of the parent has its
axes, and the Jacobian on the right is a mixed one.
"""

from __future__ import annotations

import numpy as np

from flexarm.reference import lagrangian


def skew(x):
    return np.array([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])


def Ad(C):
    """Adjoint of a pose, from its frame to where it is seen."""
    R, r = C[:3, :3], C[:3, 3]
    return np.block([[R, np.zeros((3, 3))], [skew(r) @ R, R]])


def Ad_R(R):
    return np.kron(np.eye(2), R)


def Ad_r(r):
    return np.block([[np.eye(3), np.zeros((3, 3))], [skew(r), np.eye(3)]])


def mixed_of_hybrid(R):
    return np.block([[R.T, np.zeros((3, 3))], [np.zeros((3, 3)), np.eye(3)]])


def inverse(C):
    R, r = C[:3, :3], C[:3, 3]
    return np.block([[R.T, (-R.T @ r)[:, None]], [np.zeros((1, 3)), np.ones((1, 1))]])


class Tree:
    """Poses C, parents, screws X of a rigid arm in one state."""

    def __init__(self, arm, q):
        self.arm, self.C = arm, lagrangian.poses(arm, q)
        self.R, self.r = self.C[:, :3, :3], self.C[:, :3, 3]
        self.parents, self.n = arm._parents, len(arm.bodies)
        self.X = [body.joint.screws for body in arm.bodies]  # (6, 1), or (6, 0)
        self.at = [arm.body_joint_slice(k) for k in range(self.n)]

    def relative(self, i, j):
        """C_ij, which takes from j to i (pitfall 1)."""
        return inverse(self.C[i]) @ self.C[j]

    def screw(self, i, form):
        """The column of joint i in the Jacobian of its own body."""
        X = self.X[i]
        if form == "spatial":
            return Ad(self.C[i]) @ X  # (28)
        if form in ("hybrid", "mixed"):
            X = Ad_R(self.R[i]) @ X  # (38)
        return mixed_of_hybrid(self.R[i]) @ X if form == "mixed" else X

    def shift(self, i, p, form):
        """Twist of the parent p on body i."""
        if form == "spatial":
            return np.eye(6)  # (30)
        lever = self.r[p] - self.r[i]
        if form == "hybrid":
            return Ad_r(lever)  # (41), (42)
        if form == "mixed":  # (51), (52)
            R_ip = self.R[i].T @ self.R[p]
            low = skew(lever) @ self.R[p]
            return np.block([[R_ip, np.zeros((3, 3))], [low, np.eye(3)]])
        return Ad(self.relative(i, p))  # (14), (19)

    def jacobians(self, form):
        """(19), (29), (41), (51)."""
        J = np.zeros((self.n, 6, self.arm.nv))
        for i, p in enumerate(self.parents):
            if p >= 0:
                J[i] = self.shift(i, p, form) @ J[p]
            J[i][:, self.at[i]] = self.screw(i, form)
        return J

    def velocities(self, qd, form):
        """(14), (30), (42), (52)."""
        V = np.zeros((self.n, 6))
        for i, p in enumerate(self.parents):
            if p >= 0:
                V[i] = self.shift(i, p, form) @ V[p]
            V[i] += self.screw(i, form) @ qd[self.at[i]]
        return V

    def closed_jacobian(self, i, form):
        """Sums over the path: (16), (28), (40), (50)."""
        J, j = np.zeros((6, self.arm.nv)), i
        while j >= 0:
            X = self.X[j]
            hybrid = Ad_r(self.r[j] - self.r[i]) @ Ad_R(self.R[j]) @ X
            J[:, self.at[j]] = {
                "body": Ad(self.relative(i, j)) @ X,
                "spatial": Ad(self.C[j]) @ X,
                "hybrid": hybrid,
                "mixed": mixed_of_hybrid(self.R[i]) @ hybrid,
            }[form]
            j = self.parents[j]
        return J
