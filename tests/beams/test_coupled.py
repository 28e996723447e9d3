"""Links whose sections couple stretch, twist and both curvatures.

Oracles: closed forms of a cantilever, and a rod that bends far by shooting, both
without elements (`coupled_rod`).
"""

from __future__ import annotations

from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np
import pytest
from coupled_rod import rods
from each import each
from numpy.testing import assert_allclose

import flexarm as fa
from flexarm import beams
from flexarm.errors import ModelError
from flexarm.reference import twin

FIXED = fa.Joint("fixed")
FORCE = np.array([0.0, 4.0, -6.0])
STRETCH = ("bending y", "bending z", "torsion", "stretch")


def matrix(*couplings: Any) -> Any:
    K = np.diag([1e7, 3.0, 4.0, 40.0])
    for i, j, value in couplings:
        K[i, j] = K[j, i] = value
    return K


TWIST_Y, TWIST_Z, BENDING = (1, 2, 1.0), (1, 3, 4.0), (2, 3, 5.0)
AXIAL = [(0, 1, 1e3), (0, 2, -2e3), (0, 3, 1e4)]
FULL = matrix(*AXIAL, TWIST_Y, TWIST_Z, BENDING)


def section(K: Any) -> beams.Section:
    return beams.Section.from_matrix(1.0, K, rotary_inertia=(1e-3, 5e-4, 5e-4))


def tip(n: Any, K: Any, force: Any, **options: Any) -> Any:
    link = beams.Beam(section(K), length=1.0).segments("rod", n, joint=FIXED, **options)
    arm = fa.Arm([link], gravity=(0, 0, 0), check_units=False)
    load = [0.0, 0.0, 0.0, *force]
    with catch_warnings():  # few pieces
        simplefilter("ignore", fa.DeflectionWarning)
        found = fa.equilibrium(arm, np.zeros(arm.nq), wrench=load, frame="base")
    return fa.tip_pose(arm, found.check().q)


def errors(K: Any, *ways: Any, force: Any = FORCE) -> list[float]:
    """Largest errors of place and axes of the tip under a large force."""
    forces = np.zeros((1, 2, 3))
    forces[0, 1] = force
    places, axes = rods([1.0], K[None], forces, np.zeros((1, 2, 3)), steps=16)
    want = np.column_stack([axes[0, 1], places[0, 1]])
    found = [tip(n, K, force, **options) for n, options in ways]
    return [float(np.abs(T[:3] - want).max()) for T in found]


def test_a_cantilever_bends_twists_and_stretches_as_its_matrix_says():
    force, F = np.array([3.0, 2.0, -5.0]), np.linalg.inv(FULL)
    # strains at s by a force along the line, and by forces across times 1 - s
    even, slope = F @ [force[0], 0.0, 0.0, 0.0], F @ [0.0, 0.0, -force[2], force[1]]
    bent = even / 2.0 + slope / 3.0
    turns = even + slope / 2.0
    body = beams.Beam(section(FULL), length=1.0).elements(
        "rod", 64, joint=FIXED, motions=STRETCH, geometric_stiffening=False
    )
    arm = fa.Arm([body], gravity=(0, 0, 0), check_units=False)
    small = 1e-6 * np.array([0.0, 0.0, 0.0, *force])
    q = fa.equilibrium(arm, np.zeros(arm.nq), wrench=small, frame="base").check().q
    T = 1e6 * (fa.tip_pose(arm, q) - fa.tip_pose(arm, 0.0 * q))
    found = [*T[:3, 3], T[2, 1], T[0, 2], T[1, 0]]
    assert_allclose(found, [turns[0], bent[3], -bent[2], *turns[1:]], rtol=5e-4)


def test_without_stretch_the_other_deformations_are_free_of_axial_force():
    link = beams.Beam(section(FULL), length=1.0).elements(
        "rod", 1, joint=FIXED, geometric_stiffening=False, n_modes="all"
    )
    F = np.linalg.inv(FULL)[1:, 1:]
    # twist and slopes of the tip under a moment there; curvatures do not change
    held = link.mode_names.index
    at = [held(x) for x in ("tip rx", "tip ry", "tip rz")]
    assert_allclose(np.linalg.inv(link.stiffness)[np.ix_(at, at)], F, rtol=1e-10)


@each(
    "couplings",
    {
        "none": [],
        "bending": [BENDING],
        "twist and soft bending": [TWIST_Y],
        "twist and stiff bending": [TWIST_Z],
        "all": [*AXIAL, TWIST_Y, TWIST_Z, BENDING],
    },
)
def test_a_rod_that_bends_far_is_that_of_its_matrix(couplings: Any):
    K = matrix(*couplings)
    coarse, fine = errors(K, (5, {}), (10, {}))
    assert fine < 1e-3
    assert fine < 0.35 * coarse  # second power


@each("pull", (-2.0, 0.0, 20.0))
def test_a_rod_that_is_pulled_stretches_and_bends_by_its_couplings(pull: float):
    """Its axis is 2 cm beside the centroid, and a pull twists it."""
    K = matrix(TWIST_Y)
    K[0, 0], K[0, 2], K[0, 1] = 1e4, 200.0, 40.0
    K[2, 2] += 4.0
    K[1:, 0] = K[0, 1:]
    ways = [(n, {"motions": STRETCH}) for n in (6, 12)]
    coarse, fine, without = errors(K, *ways, (12, {}), force=[pull, 0.0, 1.0])
    assert fine < 6e-4
    assert fine < 0.35 * coarse  # second power
    assert without > 3e-3 or not pull  # which no force along the line bends


def test_a_twist_of_the_middle_of_pieces_has_the_couplings():
    plain, more = errors(matrix(TWIST_Z), (8, {}), (8, {"n_modes": {"torsion": 2}}))
    assert more < 0.3 * plain


def test_pieces_have_given_lengths():
    lengths = np.array([0.2, 0.5, 0.3])
    steps = [(x, section(FULL * (1.0 + x))) for x in lengths]
    link = beams.Beam(steps, length=1.0).segments("rod", lengths, joint=FIXED)
    ends = [piece.node_position[-1, 0] for piece in link.pieces]
    assert_allclose(ends, lengths, rtol=1e-12)
    assert_allclose(
        tip([0.25] * 4, FULL, FORCE), tip(4, FULL, FORCE), rtol=0, atol=1e-9
    )
    with pytest.raises(ModelError, match=r"0\.9 m long together and 0\.4 m at"):
        tip([0.4, 0.5], FULL, FORCE)
    with pytest.raises(ModelError, match="and none without length"):
        tip([0.5, 1e-12, 0.5], FULL, FORCE)
    with pytest.raises(ModelError, match="length in segments of link 'rod' is -1 m"):
        tip([2.0, -1.0], FULL, FORCE)


def test_moments_of_strains_have_the_couplings():
    link = beams.Beam(section(FULL), length=1.0).segments("rod", 32, joint=FIXED)
    arm = fa.Arm([link], gravity=(0, 0, 0), check_units=False)
    load = [0.1, 0.2, 0.3, 0.0, 0.0, 0.0]
    q = fa.equilibrium(arm, np.zeros(arm.nq), wrench=load, frame="base").check().q
    zero = np.zeros(arm.nq)
    found = fa.link_loads(arm, q, zero, zero, wrench=load, frame="base")["rod"]
    assert_allclose(found.strain_moment, found.moment, atol=2e-3)


def test_kernels_have_the_forces_of_the_twin(tmp_path: Any):
    link = beams.Beam(section(FULL), length=1.0).segments("rod", 2, joint=FIXED)
    arm = fa.Arm([link], check_units=False)
    fa.save(arm, tmp_path / "arm.json")
    q = np.random.default_rng(5).normal(scale=0.2, size=arm.nq)
    zero = np.zeros(arm.nq)
    want = twin.inverse_dynamics(arm, q, zero, zero)
    for same in (arm, fa.load(tmp_path / "arm.json")):
        found = fa.inverse_dynamics(same, q, zero, zero)
        assert_allclose(found, want, rtol=1e-9, atol=1e-9)
    # the energy of third order: of the strains (U2), with all couplings
    energy, step = arm.bodies[0]._strain_energy, 1e-3 * q[: link.pieces[0].n_modes]
    assert energy is not None
    cubic = (energy.energy(step) - energy.energy(-step)) / 2.0
    assert abs(cubic) > 1e-14


@each(
    "make, text",
    {
        "not symmetric": (lambda: section(FULL + np.eye(4, k=1)), "a symmetric one"),
        "diagonal": (
            lambda: section(FULL).replace(coupling=FULL),
            "coupling of a section has the diagonal",
        ),
        "not positive": (lambda: section(matrix((1, 2, 4.0))), "positive definite"),
        "modes": (
            lambda: beams.Beam(section(FULL), length=1.0).modes("rod"),
            "'rod' has coupled deformations",
        ),
        "elements": (
            lambda: beams.Beam(section(FULL), length=1.0).elements("rod"),
            "expected pieces, such as segments=8",
        ),
        "stretch": (
            lambda: beams.Beam(section(FULL), length=1.0).elements(
                "rod", motions=STRETCH
            ),
            "in which it is coupled, expected pieces",
        ),
    },
)
def test_what_couplings_do_not_have_is_refused(make: Any, text: str):
    with pytest.raises(ModelError, match=text):
        make()


def test_a_matrix_without_couplings_is_a_plain_section():
    plain = section(matrix())
    assert plain.coupling is None
    assert_allclose(plain.stiffness_matrix, matrix(), rtol=1e-12)
    assert_allclose(section(FULL).stiffness_matrix, FULL, rtol=1e-12)
