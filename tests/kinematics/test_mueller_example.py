"""The example of Mueller (2018): tables, closed forms, corrected Jacobians, numbers.

The paper prints it by symbols.  Two of its results are wrong, and here is why:

* J^s_3 (l. 651) has s_23 for s_12.  It depends on the joints before the third alone.
* J^b_3 (l. 646-648) is that of the inverse relative poses, Ad(C_j^-1 C_3) X_j, for
  Ad(C_3^-1 C_j) X_j of (16).  The screw of joint 1 seen from body 3 cannot depend on
  where the frame of body 1 is (x_1), but the printed column does.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from arrays import Array
from numpy.testing import assert_allclose
from refusals import refused

import flexarm as fa
from flexarm.descriptions._conversions import (
    body_screws,
    denavit_hartenberg,
    joint_frames,
    spatial_screws,
)
from flexarm.se3 import adjoint, inverse

D, H4 = (0.4, 0.3, 0.7, 1.1), 0.15
X, Z = (0.2, 0.05, 0.5, 0.8, 1.0), (0.1, -0.02, 0.03, 0.25, 0.06)
Q = np.array([0.1, -0.4, 0.7, 0.3, -0.6])
STATES = [Q, *np.random.default_rng(0).uniform(-3.0, 3.0, (4, 5))]

# C_3, C_4, C_5, J^s, J^b of body 5 and rows vx, vy of body 3 at Q, recomputed in double
# precision with the sums and products of the paper, to twelve digits behind the point
C3 = """
0.921060994003 -0.389418342309 0 0.454946075077
0.389418342309  0.921060994003 0 -0.168913842860
0 0 1 0.03"""
C4 = """
0.507118655875 -0.564494456595 -0.651288474746  0.710875681965
0.535253925848  0.798548628576 -0.275360350565 -0.015333838273
0.675524909776 -0.208964342108  0.707106781187  0.245533648913"""
C5 = """
0.994784422633 -0.003388827108 -0.101943456566  0.876501757680
0.022180351348  0.982718523677  0.183772509470  0.119488605326
0.099558949873 -0.185075171413  0.977668244563  0.043121260827"""
JS = """
0  0               0              -0.651288474746 -0.101943456566
0  0               0              -0.275360350565  0.183772509470
1  1               1               0.707106781187  0.977668244563
0 -0.039933366659 -0.246797511322 -0.023064001025  0.109234595412
0  0.398001666111 -0.270733876277 -0.549646420922 -0.959595717535
0  0               0              -0.235285749801  0.191765526152"""
JB5 = """
 0.099558949873  0.099558949873  0.099558949873 -0.583600410057  0
-0.185075171413 -0.185075171413 -0.185075171413 -0.399262521884  0
 0.977668244563  0.977668244563  0.977668244563  0.707106781187  1
-0.099424286318 -0.130321560622 -0.350939578623 -0.123771381784  0
 0.861759439532  1.253018376549  0.596540598425  0.110205448999 -0.1
 0.173258009011  0.250470719395  0.148663956545 -0.039926252188  0"""
JB3 = """
0.332744298402  0.450952381066  0
0.353254935449  0.735389531099  0.2"""


@pytest.fixture(scope="module")
def arm() -> fa.Arm:
    return fa.library.mueller_remote_center(d=D, h4=H4, x=X, z=Z)


def digits(value: Array, printed: str) -> None:
    """All printed digits: half a unit of the last one."""
    table = np.array([line.split() for line in printed.strip().splitlines()], float)
    assert_allclose(value, table, rtol=0.0, atol=0.5e-12 + 1e-15)


def close(value: Any, expected: Any) -> None:
    assert_allclose(value, expected, rtol=0.0, atol=1e-14)


def spatial_jacobian(arm: fa.Arm, q: Array) -> Array:
    """J^s by the body Jacobian of the last body (54), (6, 5)."""
    C = fa.link_poses(arm, q)[-1]
    return np.asarray(adjoint(C) @ fa.jacobian(arm, q, "link5.base"))


def test_printed_digits(arm: fa.Arm) -> None:
    C = fa.link_poses(arm, Q)
    for k, printed in ((2, C3), (3, C4), (4, C5)):
        digits(C[k, :3], printed)
        digits(spatial_screws(arm).poses(Q)[k, :3], printed)
    digits(spatial_jacobian(arm, Q), JS)
    digits(fa.jacobian(arm, Q, "link5.base"), JB5)
    body3 = fa.jacobian(arm, Q, "link3.base")
    digits(body3[3:5, :3], JB3)
    close(body3[[0, 1, 5]], np.zeros((3, 5)))
    close(body3[2], [1, 1, 1, 0, 0])


def test_table_of_screws_and_reference_poses(arm: fa.Arm) -> None:
    """Y_i, A_i (l. 337-345) and X_i (l. 354-355); the slash of -1/sqrt 2 is lost."""
    d2, d3, d4, d5 = D
    (x1, x2, x3, x4, x5), (z1, z2, z3, z4, z5) = X, Z
    r = np.sqrt(0.5)
    spatial, body = spatial_screws(arm), body_screws(arm)
    Y = [
        (0, 0, 1, 0, 0, 0),
        (0, 0, 1, 0, d2, 0),
        (0, 0, 1, 0, -d3, 0),
        (-r, 0, r, 0, r * (-d4 - H4), 0),
        (0, 0, 1, 0, -d5, 0),
    ]
    close(np.hstack(spatial.screws).T, Y)
    places = [(-x1, 0, z1), (-x2, 0, -z2), (x3, 0, z3), (x4, 0, z4), (x5, 0, z5)]
    close(spatial.references[:, :3, 3], places)
    turns = np.array([np.eye(3)] * 5)
    turns[3] = [[r, 0, -r], [0, 1, 0], [r, 0, r]]
    close(spatial.references[:, :3, :3], turns)
    own = [-x1, d2 - x2, x3 - d3, r * (x4 + z4 - d4 - H4), x5 - d5]
    close(np.hstack(body.screws).T, [(0, 0, 1, 0, v, 0) for v in own])


@pytest.mark.parametrize("q", STATES, ids=str)
def test_pose_of_body_3(arm: fa.Arm, q: Array) -> None:
    """Closed form (l. 347-348)."""
    d2, d3 = D[:2]
    a, b, c = np.cumsum(q[:3])
    arms = [-d2, d2 + d3, X[2] - d3]
    place = [np.dot(arms, f([a, b, c])) for f in (np.cos, np.sin)]
    turn = [[np.cos(c), -np.sin(c), 0], [np.sin(c), np.cos(c), 0], [0, 0, 1]]
    C = fa.link_poses(arm, q)[2]
    close(C[:3, :3], turn)
    close(C[:3, 3], [*place, Z[2]])


def angles(q: Array) -> dict[str, float]:
    sums = {"1": q[0], "12": q[:2].sum(), "123": q[:3].sum(), "3": q[2]}
    sums |= {"23": q[1:3].sum()}
    named = {f"s{key}": np.sin(value) for key, value in sums.items()}
    return named | {f"c{key}": np.cos(value) for key, value in sums.items()}


@pytest.mark.parametrize("q", STATES, ids=str)
def test_spatial_jacobians(arm: fa.Arm, q: Array) -> None:
    """J^s_1 to J^s_4 (l. 651) with s_12 in J^s_3."""
    (d2, d3, d4, _), f, r = D, angles(q), np.sqrt(0.5)
    third = [(d2 + d3) * f["s12"] - d2 * f["s1"], d2 * f["c1"] - (d2 + d3) * f["c12"]]
    fourth = [
        third[0] + (d4 + H4 - d3) * f["s123"],
        third[1] + (d3 - d4 - H4) * f["c123"],
        d2 * f["s23"] - (d2 + d3) * f["s3"],
    ]
    J = spatial_jacobian(arm, q)
    close(J[:, 0], [0, 0, 1, 0, 0, 0])
    close(J[:, 1], [0, 0, 1, -d2 * f["s1"], d2 * f["c1"], 0])
    close(J[:, 2], [0, 0, 1, *third, 0])
    close(J[:, 3], r * np.array([-f["c123"], -f["s123"], 1, *fourth]))
    # as printed, the third column would depend on joint 3
    printed = (d2 + d3) * f["s23"] - d2 * f["s1"]
    assert abs(printed - J[3, 2]) > 1e-3


@pytest.mark.parametrize("q", STATES, ids=str)
def test_body_jacobian_of_body_3(arm: fa.Arm, q: Array) -> None:
    """As corrected; the printed one is Ad(C_j,3) X_j, of the inverse relative pose."""
    (d2, d3, _, _), (x1, _, x3, _, _), f = D, X, angles(q)
    expected = np.zeros((6, 5))
    expected[2, :3] = 1.0
    expected[3, :2] = (d2 + d3) * f["s3"] - np.array([d2 * f["s23"], 0.0])
    expected[4, :2] = (d2 + d3) * f["c3"] + x3 - d3 - np.array([d2 * f["c23"], 0.0])
    expected[4, 2] = x3 - d3
    J = fa.jacobian(arm, q, "link3.base")
    close(J, expected)
    s2, c2 = np.sin(q[1]), np.cos(q[1])
    printed = [
        *(0, 0, 1, (d2 + d3) * s2 + (x1 + x3 - d3) * f["s23"]),
        d2 - x1 - (d2 + d3) * c2 + (d3 - x1 - x3) * f["c23"],
        0,
    ]
    C, screws = fa.link_poses(arm, q), body_screws(arm).screws
    close((adjoint(inverse(C[2]) @ C[0]) @ screws[0])[:, 0], J[:, 0])
    close((adjoint(inverse(C[0]) @ C[2]) @ screws[0])[:, 0], printed)
    assert np.abs(printed - J[:, 0]).max() > 1e-2
    # at rest it is Ad(A_3)^-1 Y_1 = (0, 0, 1, 0, x_3, 0), not -2 x_1 - x_3
    close(fa.jacobian(arm, np.zeros(5), "link3.base")[:, 0], [0, 0, 1, 0, x3, 0])


def test_the_screw_of_joint_1_does_not_know_its_frame() -> None:
    """Body 3 sees the same of joint 1 for any place of the frame of body 1."""
    here, there = (
        fa.library.mueller_remote_center(x=(x1, *X[1:])) for x1 in (0.2, -0.7)
    )
    close(fa.jacobian(here, Q, "link3.base"), fa.jacobian(there, Q, "link3.base"))


def test_remote_centre_stays(arm: fa.Arm) -> None:
    """Axes 4 and 5 meet in the tip, which joints 4 and 5 do not move."""
    J = fa.jacobian(arm, Q)
    close(J[3:, 3:], np.zeros((3, 2)))
    assert np.abs(J[3:, :3]).max(axis=0).min() > 0.1
    close(fa.tip_pose(arm, np.zeros(5))[:3, 3], [D[3], 0, H4 + D[2] - D[3]])


def test_all_descriptions_of_the_arm(arm: fa.Arm) -> None:
    q = np.array(STATES)
    C = fa.link_poses(arm, q)
    for convert in (joint_frames, body_screws, spatial_screws):
        close(convert(arm).poses(q), C)
    found = denavit_hartenberg(spatial_screws(arm))
    close(found.poses(q), C)
    close(found.rows[:4, 0], [D[0], D[0] + D[1], 0.0, 0.0])
    close(np.abs(found.rows[2:4, 1]), [np.pi / 4, np.pi / 4])


def test_links_are_rods(arm: fa.Arm) -> None:
    lengths = [0.4, 0.7, np.hypot(0.4, 0.15), np.hypot(0.4, 0.09), 0.31]
    assert_allclose([b.mass for b in arm.bodies], 2.0 * np.array(lengths), rtol=1e-15)
    M = fa.mass_matrix(arm, np.array(STATES))
    assert np.linalg.eigvalsh(M).min() > 1e-6
    # seen from joint 5 the last link is a rod along its own axis
    close(M[:, 4, 4], np.full(5, 2.0 * 0.31 * 0.02**2 / 2.0))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"z": (1, 2, 3, 4, np.inf)}, ["z of the remote-centre arm", "inf"]),
        ({"d": (0, 0.3, 0.7, 1.1)}, ["link1", "no length", "apart"]),
        ({"d": (400, 300, 700, 1100)}, ["d of the", "1100 m", "millimetres"]),
        ({"h4": 1e200}, ["h4 of the", "1e+200 m"]),
    ],
    ids=str,
)
def test_refused_sizes(changes: dict[str, Any], words: list[str]) -> None:
    refused(fa.ModelError, words, lambda: fa.library.mueller_remote_center(**changes))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"d": (1, 2, 3)}, ["d has shape (3,)", "expected (4,)"]),
        ({"x": np.nan}, ["x has shape ()", "expected (5,)"]),
        ({"h4": (1, 2)}, ["h4 is (1, 2), expected a number"]),
    ],
    ids=str,
)
def test_refused_shapes(changes: dict[str, Any], words: list[str]) -> None:
    made = fa.library.mueller_remote_center
    refused(fa.ArgumentError, words, lambda: made(**changes))
