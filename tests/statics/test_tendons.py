"""Tendons: forces and stiffness are derivatives of lengths by hand; circles.

Oracles: lengths from poses of nodes alone, differentiated by differences; a rod under a
tendon beside its centre line, a circle of curvature T d / EI; a rod in pieces with
taper, by the balance of its sections.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from each import each
from numpy.testing import assert_allclose

import flexarm as fa
from flexarm.beams import Section
from flexarm.statics.given_loads import Loads
from flexarm.statics.tendons import Pull

RUNS: dict[str, list[tuple[int | None, tuple[float, float, float]]]] = {
    "from the ground": [(None, (0.1, 0.3, 0.2)), (1, (0, 0.1, 0)), (3, (0.1, 0, 0.1))],
    "twice on a node": [(2, (0, 0.1, 0.2)), (2, (0.2, 0.1, 0)), (-1, (0, 0, 0.1))],
    "between bodies": [(0, (0, 0.1, 0)), (-1, (0, -0.1, 0.1))],
}
ARM = fa.library.random_tree(5, n_bodies=3, branches=1)
STATES = 0.3 * np.random.default_rng(7).normal(size=(4, ARM.nq))


def tendon_of(run: str) -> fa.Tendon:
    n = ARM.n_nodes
    return fa.Tendon([(k if k is None else k % n, at) for k, at in RUNS[run]])


def length_by_hand(q: Any, tendon: fa.Tendon) -> float:
    places = []
    for node, offset in tendon.points:
        pose = np.eye(4) if node is None else fa.node_pose(ARM, q, node)
        places.append((pose @ [*offset, 1.0])[:3])
    return float(np.linalg.norm(np.diff(places, axis=0), axis=1).sum())


@each("run", RUNS.keys())
def test_forces_are_derivatives_of_the_length(run: str) -> None:
    tendon, h = tendon_of(run), 1e-6
    tau = tendon.forces(ARM, STATES, [1.0, 2.0, 3.0, 4.0])
    for q, of, T in zip(STATES, tau, (1.0, 2.0, 3.0, 4.0), strict=True):
        assert_allclose(tendon.length(ARM, q), length_by_hand(q, tendon), rtol=1e-14)
        for j, step in enumerate(h * np.eye(ARM.nv)):
            ahead, behind = (ARM.integrate(q, s * step) for s in (1.0, -1.0))
            rate = length_by_hand(ahead, tendon) - length_by_hand(behind, tendon)
            assert_allclose(of[j], -T * rate / (2.0 * h), atol=1e-8)


def test_stiffness_is_the_derivative_of_forces() -> None:
    """Of several tendons in a batch, beside a wrench."""
    pull = Pull(tuple(map(tendon_of, RUNS)), np.array([2.0, -1.0, 3.0]))
    loads = Loads((1,), np.array([[0.1, 0.2, 0.3, 1.0, 2.0, 3.0]]), "node", pull)
    K, h = loads.tangent(ARM, STATES), 1e-6
    for j, step in enumerate(h * np.eye(ARM.nv)):
        ahead, behind = (
            loads.forces(ARM, ARM.integrate(STATES, s * step)) for s in (1.0, -1.0)
        )
        assert_allclose(K[..., j], (ahead - behind) / (2.0 * h), atol=1e-7)
    alone = Loads((), np.zeros((0, 6)), "base", pull).tangent(ARM, STATES)
    assert_allclose(alone, np.swapaxes(alone, -1, -2), atol=1e-12)  # a potential


def test_the_base_has_a_name() -> None:
    ends = [(2, (0.0, 0.1, 0.2)), (3, (0.0, 0.0, 0.1))]
    two = [fa.Tendon([(base, (0.1, 0.3, 0.2)), *ends]) for base in (None, "ground")]
    assert two[0].length(ARM, STATES).tolist() == two[1].length(ARM, STATES).tolist()


def rod(n: int, d: float, every: int = 1) -> tuple[fa.Arm, fa.Tendon]:
    """A rod of EI = 0.01 N m^2 in n pieces, a tendon at a distance from its line.

    It has a point at the end of each piece, or of some.
    """
    section = Section.from_stiffness(0.1, 0.01, axial_stiffness=1e6)
    motions = ("bending y", "stretch")
    joint = fa.Joint.fixed()
    link = fa.beams.Beam(section, 0.3).segments("rod", n, joint=joint, motions=motions)
    arm = fa.Arm([link], gravity=(0.0, 0.0, 0.0), check_units=False)
    ends = [(arm.node(k, "tip"), (0.0, d, 0.0)) for k in range(every - 1, n, every)]
    return arm, fa.Tendon([(None, (0.0, d, 0.0)), *ends])


def test_a_rod_under_a_tendon_is_a_circle() -> None:
    """Of curvature T d / EI; polygons have levers that are longer by a square."""
    T, L = 4.0, 0.3
    angle = T * 0.01 / 0.01 * L  # 1.2 rad
    circle = np.array([np.sin(angle), 1.0 - np.cos(angle)]) * L / angle
    off = []
    for n in (6, 12):
        arm, tendon = rod(n, 0.01)
        rest = fa.equilibrium(
            arm, np.zeros(arm.nq), tendons=[tendon], tension=[T], seek="stable"
        )
        assert rest.check().stable
        off.append(fa.tip_pose(arm, rest.q)[:2, 3] - circle)
    assert_allclose(off[0], 4.0 * off[1], rtol=0.05)
    assert_allclose(4.0 * off[1], off[0], atol=3e-4)


def test_between_points_a_rod_bows_away_from_its_tendon() -> None:
    """Its curvature grows by 1/(1 - T s^2 / (12 EI)): the points, not the pieces."""
    T, EI, d, s = 4.0, 0.01, 0.01, 0.05
    angles = []
    for n in (6, 12, 24):
        arm, tendon = rod(n, d, n // 6)
        rest = fa.equilibrium(arm, np.zeros(arm.nq), tendons=[tendon], tension=[T])
        pose = fa.tip_pose(arm, rest.check().q)
        angles.append(float(np.arctan2(pose[1, 0], pose[0, 0])))
    assert_allclose(angles[0], angles[2], rtol=1e-2)
    assert_allclose(angles[1], angles[2], rtol=1e-3)
    more = T * s**2 / (12.0 * EI)
    assert more > 0.08
    assert_allclose(angles[-1], T * d / EI * 0.3 / (1.0 - more), rtol=0.1 * more)


REFUSED: dict[str, tuple[type[Exception], str, Any]] = {
    "one point": (fa.ModelError, "two or more", lambda: fa.Tendon([(0, [0] * 3)])),
    "a node alone": (fa.ModelError, "pairs", lambda: fa.Tendon([0, 1])),
    "no offset": (fa.ModelError, "offset", lambda: fa.Tendon([(0, [1.0]), (1, [1.0])])),
    "tension alone": (fa.ArgumentError, "both or", lambda: rest_of(tension=[1.0])),
    "two tensions": (
        fa.ArgumentError,
        "one for each tendon",
        lambda: rest_of(tendons=[tendon_of("between bodies")], tension=[1.0, 2.0]),
    ),
    "no such node": (
        fa.ArgumentError,
        "expected",
        lambda: fa.Tendon([(0, [0.0] * 3), ("nose", [0.0] * 3)]).length(ARM, STATES),
    ),
    "states and tensions": (
        fa.ArgumentError,
        "do not broadcast",
        lambda: tendon_of("between bodies").forces(ARM, STATES, [1.0, 2.0]),
    ),
    "one place": (
        fa.NotFiniteError,
        "no direction",
        lambda: fa.Tendon([(0, [0.0] * 3), (0, [0.0] * 3)]).forces(ARM, STATES, 1.0),
    ),
}


def rest_of(**options: Any) -> fa.statics.Equilibrium:
    return fa.equilibrium(ARM, STATES[0], **options)


@each("error, words, call", REFUSED)
def test_refusals(error: type[Exception], words: str, call: Any) -> None:
    with pytest.raises(error, match=words):
        call()


def test_tendons_of_stacks_files_and_laws() -> None:
    """In lanes, kept by files, as forces of `simulate`."""
    arms = fa.stack([rod(4, 0.01)[0], rod(4, 0.01)[0]])
    arm, tendon = rod(4, 0.01)
    both = fa.equilibrium(
        arms, np.zeros(arm.nq), tendons=[tendon], tension=[[1.0], [2.0]]
    )
    alone = fa.equilibrium(arm, np.zeros(arm.nq), tendons=[tendon], tension=[2.0])
    assert_allclose(both.q[1], alone.q, atol=1e-9)
    tau = tendon.forces(arm, alone.q, 2.0)
    held = fa.forward_dynamics(arm, alone.q, np.zeros(arm.nv), tau)
    assert_allclose(held, 0.0, atol=1e-3 * np.abs(tau).max())
