"""The 12 x 12 matrices of Cibicik and Egeland (2021) for their arm, letter by letter.

Rows of 12-vectors are (r omega, d omega, r v, d v).  Nothing is shared with the pairs
of `flexarm.reference.dual_screws`.
"""

from __future__ import annotations

import numpy as np

LENGTH = {1: 0.26, 2: 2.0, 3: 1.8, 4: 0.24}


def tilde(x):
    a, b, c = x
    return np.array([[0, -c, b], [c, 0, -a], [-b, a, 0]])


def turn_z(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])


def turn_x(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[1, 0, 0], [0, c, -s], [0, s, c]])


def wedge(x):
    """Lower triangular matrix of a dual vector (10), (38)."""
    r, d = tilde(x[:3]), tilde(x[3:])
    return np.block([[r, np.zeros((3, 3))], [d, r]])


def rotation(R, theta=(0, 0, 0)):
    """Dual rotation (31)."""
    return np.block([[R, np.zeros((3, 3))], [tilde(theta) @ R, R]])


def both(X):
    """Dual rotation of a dual screw (63)."""
    return np.kron(np.eye(2), X)


def shift(p):
    """Change of the reference point (61), p from the new to the old one."""
    return np.block([[np.eye(6), np.zeros((6, 6))], [wedge(p), np.eye(6)]])


def rate(omega, v):
    """Matrix d of (77)."""
    w = wedge(omega)
    return np.block([[w, np.zeros((6, 6))], [-wedge(v), w]])


class Chain:
    """The four links in one state, coordinates in the order of flexarm."""

    def __init__(self, arm, q, u):
        self.arm, self.q, self.u = arm, q, u
        self.eta, self.etad, self.shapes = {}, {}, {}
        for k in (2, 3):
            at, body = arm.mode_slice(k - 1), arm.bodies[k - 1]
            self.eta[k], self.etad[k] = q[at], u[at]
            self.shapes[k] = body.node_rotation[-1], body.node_translation[-1]

    def tip(self, k):
        """Rotation, displacement and their rates at the tip of a link."""
        if k not in self.eta:
            return (np.zeros(3),) * 4
        lam, gamma = self.shapes[k]
        eta, etad = self.eta[k], self.etad[k]
        return lam @ eta, gamma @ eta, lam @ etad, gamma @ etad

    def reach(self, k):
        """Dual vector from Frame k to Frame k', in k."""
        straight = np.array([0, 0, 1.0] if k == 1 else [1.0, 0, 0]) * LENGTH[k]
        return np.concatenate([straight, self.tip(k)[1]])

    def joint(self, k):
        """Rotation from (k-1)' to k, section 4.1."""
        first = turn_x(-np.pi / 2) @ turn_z(-np.pi / 2) if k == 2 else np.eye(3)
        return first @ turn_z(self.q[k - 1])

    def rotation(self, i, j):
        """Dual rotation that takes components in j to those in i >= j."""
        X = np.eye(6)
        for k in range(j, i):
            X = X @ rotation(np.eye(3), self.tip(k)[0]) @ rotation(self.joint(k + 1))
        return np.linalg.inv(X)

    def screw(self, i, j, *, tip):
        """V of (66) from Frame j, or its tip, to the tip of rigid link i = 4."""
        V = np.eye(12)
        for k in range(j, i):
            if k > j or not tip:
                V = shift(-self.reach(k)) @ V
            V = both(self.rotation(k + 1, k)) @ V
        return shift(-self.reach(i)) @ V

    def columns(self, *, projecting):
        """P-hat (92) or P-check (93) at the tip of link 4."""
        P = np.zeros((12, self.arm.nv))
        for j in (1, 2, 3, 4):
            line = np.eye(12)[:, 2]
            P[:, j - 1] = self.screw(4, j, tip=False) @ line
        for j in (2, 3):
            lam, gamma = self.shapes[j]
            S = np.zeros((12, lam.shape[1]))
            first = 0 if projecting else 3
            S[first : first + 3], S[6 + first : 9 + first] = lam, gamma
            P[:, self.arm.mode_slice(j - 1)] = self.screw(4, j, tip=True) @ S
        return P

    def omega(self, k, j, *, bent=False):
        """Velocity of Frame j relative to Frame k, or k' if bent, in 4."""
        total = np.zeros(6)
        for m in range(j + 1, k + 1):
            spin = np.array([0, 0, self.u[m - 1], 0, 0, 0])
            total = total + self.rotation(4, m) @ spin
        for m in range(j, k + 1 if bent else k):
            total = total + self.elastic(m, 2)
        return -total

    def elastic(self, k, which):
        """Elastic angular (2) or linear (3) velocity of a tip as a dual vector in 4."""
        own = np.concatenate([np.zeros(3), self.tip(k)[which]])
        return self.rotation(4, k) @ own

    def velocity(self, j, *, tip):
        """Auxiliary velocity of (78), term by term; (79) leaves the last one out."""
        v = wedge(self.omega(4, j)) @ -self.reach(4)
        for k in range(j + 1, 4):
            p = -self.rotation(4, k) @ self.reach(k)
            v = v + wedge(self.omega(k, j)) @ p + self.elastic(k, 3)
        # distances from k' to k + 1 are zero here, and so is the third sum
        return v if tip or j == 4 else v + self.elastic(j, 3)

    def rates(self):
        """Time derivative of P-hat by (76)-(79)."""
        P = self.columns(projecting=False)
        for j in (1, 2, 3, 4):
            d = rate(self.omega(4, j), self.velocity(j, tip=False))
            P[:, j - 1] = d @ P[:, j - 1]
        for j in (2, 3):
            at = self.arm.mode_slice(j - 1)
            P[:, at] = rate(self.omega(4, j), self.velocity(j, tip=True)) @ P[:, at]
        return P
