"""Arms of textbooks by Denavit-Hartenberg rows, beside plain products of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from arrays import Array
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

import flexarm as fa
from flexarm.descriptions import DenavitHartenberg, kinematic_arm
from flexarm.descriptions._conversions import (
    body_screws,
    denavit_hartenberg,
    joint_frames,
    spatial_screws,
)

QUARTER = np.pi / 2
# textbook arms: rows (a, alpha, d, theta), and the kinds of their joints
TEXTBOOK = {
    "UR5": (
        "standard",
        "rrrrrr",
        [
            (0, QUARTER, 0.089159, 0),
            (-0.425, 0, 0, 0),
            (-0.39225, 0, 0, 0),
            (0, QUARTER, 0.10915, 0),
            (0, -QUARTER, 0.09465, 0),
            (0, 0, 0.0823, 0),
        ],
    ),
    "Stanford": (
        "standard",
        "rrprrr",
        [
            (0, -QUARTER, 0.412, 0),
            (0, QUARTER, 0.154, 0),
            (0, 0, 0, -QUARTER),
            (0, -QUARTER, 0, 0),
            (0, QUARTER, 0, 0),
            (0, 0, 0.263, 0),
        ],
    ),
    "SCARA": (
        "standard",
        "rrpr",
        [(0.4, 0, 0.3, 0), (0.3, np.pi, 0, 0), (0, 0, 0.1, 0), (0, 0, 0.05, 0)],
    ),
    "PUMA": (
        "modified",
        "rrrrrr",
        [
            (0, 0, 0, 0),
            (0, -QUARTER, 0.2435, 0),
            (0.4318, 0, -0.0934, 0),
            (-0.0203, QUARTER, 0.4331, 0),
            (0, -QUARTER, 0, 0),
            (0, QUARTER, 0, 0),
        ],
    ),
}


@pytest.mark.parametrize("name", TEXTBOOK)
def test_textbook_arms_by_products_of_matrices(name: str) -> None:
    """Poses of all descriptions, by turns and shifts about one axis of SciPy."""
    convention, letters, rows = TEXTBOOK[name]
    kinds = [{"r": "revolute", "p": "prismatic"}[letter] for letter in letters]

    def move(axis: int, angle: float, along: float) -> Array:
        C = np.eye(4)
        C[:3, :3] = Rotation.from_euler("xyz"[axis], angle).as_matrix()
        C[axis, 3] = along
        return C

    def poses(q: Array) -> Array:
        C, found = np.eye(4), []
        for (a, alpha, d, theta), letter, x in zip(rows, letters, q, strict=True):
            turn, slide = (theta + x, d) if letter == "r" else (theta, d + x)
            z, x_axis = move(2, turn, slide), move(0, alpha, a)
            C = C @ (z @ x_axis if convention == "standard" else x_axis @ z)
            found.append(C)
        return np.array(found)

    arm = DenavitHartenberg(rows, convention, kinds=kinds)
    other = "modified" if convention == "standard" else "standard"
    forms: list[Any] = [arm, joint_frames(arm), body_screws(arm)]
    forms += [spatial_screws(arm), denavit_hartenberg(arm, other)]
    rng = np.random.default_rng(0)
    for q in rng.uniform(-3, 3, (3, len(rows))):
        for each in forms:
            assert_allclose(each.poses(q), poses(q), rtol=0, atol=4e-15)
            found = fa.link_poses(kinematic_arm(each), q)
            assert_allclose(found, poses(q), rtol=0, atol=2e-14)
    if name == "UR5":  # sums of lengths along the stretched arm
        flange = arm.poses(np.zeros(6))[-1, :3, 3]
        assert_allclose(flange, [-0.81725, -0.19145, -0.005491], rtol=0, atol=1e-15)


def test_coordinates_that_are_not_finite() -> None:
    arm = DenavitHartenberg([(1, 0, 0, 0)] * 2)
    q = np.zeros((3, 2))
    q[1, 1] = np.nan
    for each in (arm, joint_frames(arm), body_screws(arm), spatial_screws(arm)):
        with pytest.raises(
            fa.NotFiniteError, match=r"q\[1, 1\] is nan, the first in 1"
        ):
            each.poses(q)
        with pytest.raises(fa.ArgumentError, match="q is None"):
            each.poses(None)
