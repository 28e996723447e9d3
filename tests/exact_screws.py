"""Dual screws by the matrices of Cibicik and Egeland, written from their equations.

Everything here is 6 x 6, 7 x 7 or 12 x 12, takes complex numbers, and shares nothing
with the package: real block matrices in place of pairs, so that a complex step
differentiates them and decimal numbers evaluate their series.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def skew(a: Any) -> Any:
    x, y, z = a
    return np.array([[0 * x, -z, y], [z, 0 * x, -x], [-y, x, 0 * x]])


def rot(axis: str, angle: Any) -> Any:
    """Rotation about an axis of the frame."""
    c, s = np.cos(angle), np.sin(angle)
    i = "xyz".index(axis)
    R = np.zeros((3, 3), dtype=np.result_type(angle, float))
    R[i, i] = 1.0
    j, k = (i + 1) % 3, (i + 2) % 3
    R[j, j], R[j, k], R[k, j], R[k, k] = c, -s, s, c
    return R


def wedge(a: Any) -> Any:
    """[a]^ of a stacked dual vector of six numbers (38)."""
    return blocks(skew(a[:3]), skew(a[3:]))


def blocks(real: Any, dual: Any) -> Any:
    return np.block([[real, np.zeros_like(real)], [dual, real]])


def rotation6(R: Any, theta: Any) -> Any:
    """(8), (31)."""
    return blocks(R, skew(theta) @ R)


def U(p: Any) -> Any:
    """(61)."""
    return blocks(np.eye(6), wedge(p))


def Rbar(X: Any) -> Any:
    """(63)."""
    return blocks(X, np.zeros_like(X))


def pose7(X: Any, v: Any) -> Any:
    """(14)."""
    Y = np.eye(7, dtype=np.result_type(X, v))
    Y[:6, :6], Y[:6, 6] = X, v
    return Y


def adjoint12(X: Any, v: Any) -> Any:
    """(19)."""
    return blocks(X, wedge(v) @ X)


def algebra7(t: Any) -> Any:
    """(16)."""
    Y = np.zeros((7, 7), dtype=np.asarray(t).dtype)
    Y[:6, :6], Y[:6, 6] = wedge(t[:6]), t[6:]
    return Y


class Chain:
    """The moving frames of an arm of two elastic links behind a rigid one.

    Frames 1, 2, 2', 3, 3', 4 as in section VI-A: coordinates q of four joints, and tip
    deflections (theta; d) of links 2 and 3, all smooth functions of time; deflections
    count as dual.  All of it at complex times.
    """

    lengths = (2.0, 1.8)

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.q = rng.normal(size=(3, 4))
        self.w = rng.normal(size=(3, 2, 6))

    @staticmethod
    def _value(c: Any, t: Any) -> Any:
        return c[0] + c[1] * np.sin(t) + c[2] * np.cos(2.0 * t)

    def joints(self, t: Any) -> list[Any]:
        """Rotation of frame i in the frame before it, for i = 2, 3, 4."""
        q = self._value(self.q, t)
        first = rot("x", -np.pi / 2) @ rot("z", -np.pi / 2) @ rot("z", q[1])
        return [first, rot("z", q[2]), rot("z", q[3])]

    def tips(self, t: Any) -> Any:
        """(theta; d) of links 2 and 3."""
        return self._value(self.w, t)

    def rotation_4_2(self, t: Any) -> Any:
        """[R_2^4], from frame 2 to frame 4: elastic and joint rotations in turn."""
        _, third, fourth = self.joints(t)
        tip2, tip3 = self.tips(t)
        forth = rotation6(third, tip2[:3]) @ rotation6(fourth, tip3[:3])  # [R_4^2]
        return np.linalg.inv(forth)

    def rotation_4_3(self, t: Any) -> Any:
        fourth = self.joints(t)[2]
        return np.linalg.inv(rotation6(fourth, self.tips(t)[1][:3]))

    def lever(self, t: Any, m: Any, from_tip: bool) -> Any:
        """p from point m of link 4 to the origin of frame 2 or to tip 2', in axes 4."""
        tip2, tip3 = self.tips(t)
        p = -np.concatenate([m, 0 * m]).astype(np.result_type(t, float))
        p = p - self.rotation_4_3(t) @ [self.lengths[1], 0, 0, *tip3[3:]]
        if not from_tip:
            p = p - self.rotation_4_2(t) @ [self.lengths[0], 0, 0, *tip2[3:]]
        return p

    def line(self, t: Any, m: Any) -> Any:
        """L of joint 2 at point m of link 4, in axes 4, by the chain (66)."""
        tip2, tip3 = self.tips(t)
        _, third, fourth = self.joints(t)
        e2 = np.array([-self.lengths[0], 0, 0, *(-tip2[3:])])
        e3 = np.array([-self.lengths[1], 0, 0, *(-tip3[3:])])
        none = np.zeros(3)
        x = np.zeros(12, dtype=np.result_type(t, float))
        x[2] = 1.0  # (58)
        x = U(e2) @ x
        x = Rbar(np.linalg.inv(rotation6(np.eye(3), tip2[:3]))) @ x
        x = Rbar(np.linalg.inv(rotation6(third, none))) @ x
        x = U(e3) @ x
        x = Rbar(np.linalg.inv(rotation6(np.eye(3), tip3[:3]))) @ x
        x = Rbar(np.linalg.inv(rotation6(fourth, none))) @ x
        return U(-np.concatenate([m, none])) @ x

    def elastic(self, t: Any, m: Any, mode: Any) -> Any:
        """A partial twist of tip 2', in axes 2, referred to 2', moved there (73)."""
        tip3 = self.tips(t)[1]
        x = np.zeros(12, dtype=np.result_type(t, float))
        x[3:6], x[9:] = mode[:3], mode[3:]
        e3 = np.array([-self.lengths[1], 0, 0, *(-tip3[3:])])
        x = Rbar(np.linalg.inv(self.rotation_4_3(t)) @ self.rotation_4_2(t)) @ x
        x = Rbar(self.rotation_4_3(t)) @ (U(e3) @ x)
        return U(-np.concatenate([m, np.zeros(3)])) @ x
