"""Buckling loads of links against the closed forms of Euler and Greenhill."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa
from flexarm import beams
from flexarm.beams import _single

EI, DENSITY, LENGTH = 100.0, 2.0, 1.5


def column(n, kind="clamped", **options):
    modes = getattr(_single, f"{kind}_beam_modes")(LENGTH, DENSITY, EI, n)
    return beams.flexible_link(
        "column", length=LENGTH, mass_per_length=DENSITY, bending_y=modes, **options
    )


def test_a_clamped_column_converges_to_the_load_of_euler_from_above():
    exact = np.pi**2 * EI / (4.0 * LENGTH**2)
    found = np.array([beams.buckling_load(column(n)) for n in (1, 2, 4, 8)])
    errors = found / exact - 1.0
    assert_allclose(errors, [7.8e-2, 5.8e-3, 9.4e-4, 1.3e-4], rtol=0.05)


def test_pinned_modes_are_the_shapes_of_a_pinned_column():
    # sines: one of them is exact, and the next wave needs four times the load
    exact = np.pi**2 * EI / LENGTH**2
    assert_allclose(beams.buckling_load(column(3, "pinned")), exact, rtol=1e-12)


def test_elements_converge_with_the_fourth_power():
    exact = np.pi**2 * EI / (4.0 * LENGTH**2)
    section = beams.Section.from_stiffness(
        mass_per_length=DENSITY, bending_stiffness=EI, torsional_stiffness=50.0
    )
    errors = []
    for n in (2, 4, 8):
        link = beams.finite_element_link(
            "column",
            length=LENGTH,
            sections=section,
            n_elements=n,
            motions=("bending y",),
            n_modes="all",
        )
        errors.append(beams.buckling_load(link) / exact - 1.0)
    ratios = np.array(errors[:-1]) / errors[1:]
    assert_allclose(ratios, 16.0, rtol=0.05)


def test_a_column_under_its_own_weight():
    # Greenhill: density g L^3 / EI = 7.8373, the least root of J_-1/3(2/3 x^1/2)
    critical = 7.837347 * EI / (DENSITY * LENGTH**3)
    link = column(12)
    assert abs(beams.buckling_load(link, acceleration=critical)) < 1e-3 * EI
    assert beams.buckling_load(link, acceleration=1.05 * critical) < 0.0
    free = beams.buckling_load(link)
    assert beams.buckling_load(link, acceleration=-critical) > free


def test_beyond_its_weight_a_column_needs_the_pull_that_makes_it_stable():
    link = column(6)
    rate = 20.0 * EI / (DENSITY * LENGTH**3)
    pull = -beams.buckling_load(link, acceleration=rate)
    along = -link.node_foreshortening[:, 0]
    weight = np.einsum("j,jrs->rs", link.node_mass, along)
    for share, stable in ((0.99, False), (1.01, True)):
        left = link.stiffness - rate * weight + share * pull * along[-1]
        assert (np.linalg.eigvalsh(left)[0] > 0.0) == stable


def test_an_arm_loses_its_stability_at_that_load():
    link = column(6)
    load = beams.buckling_load(link)
    arm = fa.Arm([link], gravity=(0, 0, 0))
    for share, stable in ((0.999, True), (1.001, False)):
        wrench = [0.0, 0.0, 0.0, -share * load, 0.0, 0.0]
        rest = fa.equilibrium(arm, arm.neutral, wrench=wrench, frame="base")
        assert rest.stable == stable


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: beams.buckling_load(fa.RigidBody("rod", mass=1.0)),
            "body is RigidBody, expected a FlexibleBody",
        ),
        (
            lambda: beams.buckling_load(column(2, geometric_stiffening=False)),
            "made with geometric_stiffening=True",
        ),
        (lambda: beams.buckling_load(column(2), "base"), "is at its frame"),
        (lambda: beams.buckling_load(column(2), "top"), "has no node 'top'"),
    ],
)
def test_what_cannot_buckle_is_refused(make, words):
    with pytest.raises(fa.ModelError, match=words):
        make()
