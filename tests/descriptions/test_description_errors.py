"""Refusals of descriptions by frames, screws and Denavit-Hartenberg parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from each import each
from refusals import refused

import flexarm as fa
from flexarm import Joint, RigidBody
from flexarm.descriptions import DenavitHartenberg, SpatialScrews, build_arm
from flexarm.descriptions._conversions import (
    body_screws,
    denavit_hartenberg,
    joint_frames,
    spatial_screws,
)
from flexarm.descriptions._joint_frames import JointFrames
from flexarm.descriptions._motion_subgroups import motion_subgroup
from flexarm.descriptions.screws import BodyScrews
from flexarm.se3 import screw

Z = screw()
I4 = np.eye(4)
SHEARED = I4 + 1e-3 * np.eye(4, k=1) * [[1], [0], [0], [0]]


@each(
    "make, words",
    [
        (
            lambda: BodyScrews([SHEARED], [Z]),
            [
                "reference pose of joint 0 (counted from 0) is not a rotation",
                "|R'R - I| is 0.001",
            ],
        ),
        (
            lambda: JointFrames([I4], [np.diag([1.0, 1, -1, 1])], [Z]),
            ["body of joint 0 (counted from 0) is not a rotation", "determinant -1"],
        ),
        (
            lambda: SpatialScrews([2 * I4 - np.diag([1, 1, 1, 0])], [Z]),
            [
                "reference pose of joint 0 (counted from 0)",
                "its last row is (0, 0, 0, 2)",
            ],
        ),
        (
            lambda: SpatialScrews([np.eye(3)], [Z]),
            ["reference pose of joint 0", "(3, 3)", "expected (4, 4)"],
        ),
        (lambda: BodyScrews(7, [Z]), ["reference pose is 7", "4 x 4"]),
        (lambda: BodyScrews([I4], 7), ["screws are 7"]),
        (lambda: BodyScrews([I4], 10**5000), ["screws are an integer of 16610 bits"]),
        (lambda: BodyScrews([], []), ["screws of 0 joints"]),
        (
            lambda: BodyScrews([I4], [np.zeros(6)]),
            ["screw of joint 0 (counted from 0) is zero", "axis to turn about"],
        ),
        (lambda: BodyScrews([I4], [Z, Z]), ["screws of 2 joints", "1 poses"]),
        (
            lambda: JointFrames([I4, I4], [I4], [Z, Z]),
            ["joint frame on the body: 1 poses", "expected 2"],
        ),
        (
            lambda: BodyScrews([I4], [np.ones((6, 7))]),
            ["joint 0 (counted from 0) has 7 columns"],
        ),
        (lambda: BodyScrews([I4] * 2, [Z] * 2, [-1]), ["1 parents", "expected 2"]),
        (lambda: BodyScrews([I4] * 2, [Z] * 2, 3), ["parents are 3"]),
        (
            lambda: BodyScrews([I4] * 2, [Z] * 2, [-1, 1]),
            ["parent of joint 1 (counted from 0) is 1", "a joint before it"],
        ),
        (lambda: JointFrames([I4], [I4], [Z], offsets=[1, 2]), ["offsets", "(2,)"]),
        (
            lambda: JointFrames.along_z([I4], [I4], ["spherical"]),
            ["kind of joint 0 (counted from 0) is 'spherical'"],
        ),
        (
            lambda: JointFrames.along_z([I4], [I4], ["revolute"], pitches=[0.1]),
            ["joint 0 (counted from 0) is revolute with the pitch 0.1 m/rad"],
        ),
        (lambda: motion_subgroup("planer"), ["'planer'", "'planar'"]),
        (lambda: motion_subgroup("planar", pitch=1), ["pitch 1 m/rad", "alone"]),
        (lambda: motion_subgroup("planar", (0, 0, 0)), ["axis", "zero"]),
        (
            lambda: motion_subgroup("planar", point=(1, 2)),
            ["point of the motion", "(2,)"],
        ),
        (
            lambda: DenavitHartenberg([(1, 0, 0, 0), (1, 0, 0)]),
            ["row 1 (counted from 0) has 3 entries", "a, alpha, d, theta"],
        ),
        (
            lambda: DenavitHartenberg([1.0]),
            ["row 0 (counted from 0) is 1.0", "a, alpha"],
        ),
        (lambda: DenavitHartenberg(1.0), ["rows are 1.0"]),
        (
            lambda: DenavitHartenberg([]),
            ["0 Denavit-Hartenberg rows", "expected 1 to 4096"],
        ),
        (
            lambda: DenavitHartenberg([(1, 0, np.inf, 0)]),
            ["row 0", "inf at index (2,)", "finite"],
        ),
        (
            lambda: DenavitHartenberg([(1, 0, 0, 0, "screw")]),
            ["kind of Denavit-Hartenberg row 0", "'screw'"],
        ),
        (
            lambda: DenavitHartenberg([(1, 0, 0, 0, "revolute")], kinds=["revolute"]),
            ["kinds are given beside", "one of the two"],
        ),
        (
            lambda: DenavitHartenberg([(1, 0, 0, 0)], kinds=["revolute"] * 2),
            ["2 kinds", "expected 1, one a row"],
        ),
        (
            lambda: DenavitHartenberg(
                ((1, 0, 0, 0, "revolute") for _ in "ab"), kinds=["revolute"] * 2
            ),
            ["kinds are given beside", "kinds=None"],
        ),
        (lambda: DenavitHartenberg([(1, 0, 0, 0)], kinds=3), ["kinds are 3"]),
        (
            lambda: DenavitHartenberg([(1, 0, 0, 0)], kinds="revolute"),
            ["kinds are 'revolute'", "one for each row"],
        ),
        (lambda: DenavitHartenberg("dh"), ["rows are 'dh'"]),
        (lambda: DenavitHartenberg([(None, 0, 0, 0)]), ["row 0", "real numbers"]),
        (
            lambda: DenavitHartenberg([(0.4, 90, 0, 0)]),
            ["alpha of Denavit-Hartenberg row 0", "angle of 90", "np.radians"],
        ),
        (lambda: DenavitHartenberg(np.zeros((4097, 4))), ["4097", "4096"]),
        (
            lambda: DenavitHartenberg(
                [(1, 0, 0, 0)], base=np.diag([1e200, 1e200, 1e200, 1])
            ),
            ["base of the chain is not a rotation", "I| is inf"],
        ),
        (
            lambda: DenavitHartenberg([(1, 0, 0, 0)], "classic"),
            ["convention of the chain is 'classic'", "'standard', 'modified'"],
        ),
        (
            lambda: denavit_hartenberg(BodyScrews([I4], [Z]), "craig"),
            ["convention is 'craig'"],
        ),
        (
            lambda: denavit_hartenberg(BodyScrews([I4], [screw(pitch=0.1)])),
            ["joint 0 (counted from 0) has the pitch 0.1 m/rad"],
        ),
        (
            lambda: denavit_hartenberg(BodyScrews([I4], [motion_subgroup("planar")])),
            ["joint 0 (counted from 0) has 3 screws"],
        ),
        (
            lambda: denavit_hartenberg(BodyScrews([I4] * 2, [Z] * 2, [-1, -1])),
            ["parents (-1, -1)", "expected a chain", "each branch"],
        ),
        (lambda: build_arm(BodyScrews([I4], [Z]), []), ["0 bodies", "1 joints"]),
        (lambda: build_arm(BodyScrews([I4], [Z]), [7]), ["a body is int"]),
        (
            lambda: build_arm(BodyScrews([I4], [Z]), None),
            ["bodies is NoneType, expected one for each joint"],
        ),
        (
            lambda: body_screws(7),
            ["given is int, expected flexarm.Arm or a JointFrames"],
        ),
        (lambda: BodyScrews("ab", [Z]), ["reference pose is 'ab'"]),
        (lambda: BodyScrews([I4], [[[1, 2], [3]]]), ["screw of joint 0", "real"]),
        (lambda: JointFrames.along_z([I4], [I4], None), ["kinds are None"]),
        (lambda: JointFrames.along_z([I4], [I4], "revolute"), ["kinds are 'revolute'"]),
        (lambda: motion_subgroup(["planar"]), ["['planar']", "'planar'"]),
        (lambda: motion_subgroup("free", pitch="1"), ["pitch", "'1'", "real numbers"]),
        (lambda: motion_subgroup("helical", pitch=np.inf), ["pitch", "is inf"]),
        (
            lambda: joint_frames(
                fa.Arm([RigidBody("a", Joint("free"), mass=1, inertia=(1, 1, 1))])
            ),
            ["joint of body 'a' is free", "products of screws"],
        ),
        (
            lambda: build_arm(
                BodyScrews([I4], [motion_subgroup("planar")]),
                [RigidBody("a", Joint(limits=(-1, 1)), mass=1)],
            ),
            ["joint of body 'a' has limits of 1", "gives it 3"],
        ),
        (
            lambda: build_arm(
                BodyScrews([I4], [Z]),
                [RigidBody("a", Joint("planar", damping=(1, 2, 3)), mass=1)],
            ),
            ["joint of body 'a' has damping of 3", "gives it 1"],
        ),
    ],
)
def test_refused_descriptions(make: Callable[[], Any], words: list[str]) -> None:
    refused(fa.ModelError, words, make)


@pytest.mark.parametrize("q", [0.0, [0.0, 1.0], np.zeros((2, 0))], ids=str)
def test_coordinates_of_the_wrong_length(q: Any) -> None:
    d = BodyScrews([I4], [Z])
    words = ["q has shape", "1 coordinates", "expected (..., 1)"]
    for other in (d, joint_frames(d), spatial_screws(d), denavit_hartenberg(d)):
        refused(fa.ArgumentError, words, lambda other=other: other.poses(q))
