"""Links in pieces that bend in two planes and twist, with a twist of their middle.

Oracles: Kirchhoff's rod (inextensible, without shear) by initial values from its base,
whose moments there are found; closed forms of elements of second degree.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from scipy.optimize import brentq, root

import flexarm as fa
from flexarm import beams
from flexarm.reference import twin

MIDDLE = {"torsion": 2}
STRIP = (
    65.0,
    1.0,
    1.54,
)  # EI in its plane and beside it, GJ: 10 times as wide as thick
BLADE = (1e4, 1.0, 1.0)


def section(stiffness: Any) -> beams.Section:
    return beams.Section.from_stiffness(
        1.0,
        stiffness[:2],
        torsional_stiffness=stiffness[2],
        rotary_inertia=(1e-3, 5e-4, 5e-4),
    )


def pieces(n: int, stiffness: Any, n_modes: Any = None, **options: Any) -> fa.Arm:
    given = {"length": 1.0, "n_elements": n, "segments": n} | options
    link = beams.finite_element_link(
        "rod",
        sections=section(stiffness),
        joint=fa.Joint("fixed"),
        n_modes=n_modes,
        **given,
    )
    return fa.Arm([link], gravity=(0, 0, 0))


def tip(arm: fa.Arm, force: Any, steps: int = 4) -> Any:
    q = np.zeros(arm.nq)
    for part in np.linspace(0.0, 1.0, steps + 1)[1:]:
        load = [0, 0, 0, *(part * np.asarray(force))]
        q = fa.equilibrium(arm, q, wrench=load, frame="base").check().q
    return fa.tip_pose(arm, q)[:3, 3]


class Rod:
    """Straight rods, one behind another, joined at corners in the x-y plane.

    From the base on, whose moment is given; a dead force acts on the tip.
    """

    def __init__(self, stiffness: Any, corners: Any) -> None:
        self.inverse = 1.0 / np.array([stiffness[2], stiffness[1], stiffness[0]])
        steps = np.diff(np.asarray(corners, dtype=float), axis=0)
        self.lengths = np.linalg.norm(steps, axis=1)
        self.turns = np.diff(np.arctan2(steps[:, 1], steps[:, 0]), prepend=0.0)

    def end(self, moment: Any, force: Any) -> Any:
        """Place of the tip and moment there, (6,)."""

        def rates(_: float, y: Any) -> Any:
            R, m = y[:9].reshape(3, 3), y[12:]
            a, b, c = self.inverse * (R.T @ m)
            turn = R @ np.array([[0.0, -c, b], [c, 0.0, -a], [-b, a, 0.0]])
            return np.concatenate([turn.ravel(), R[:, 0], -np.cross(R[:, 0], force)])

        y = np.concatenate([np.eye(3).ravel(), np.zeros(3), moment])
        for length, angle in zip(self.lengths, self.turns, strict=True):
            c, s = np.cos(angle), np.sin(angle)
            R = y[:9].reshape(3, 3) @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
            y = np.concatenate([R.ravel(), y[9:]])
            y = solve_ivp(rates, [0, length], y, rtol=1e-9, atol=1e-11).y[:, -1]
        return y[9:]

    def tip(self, force: Any, steps: int = 8) -> Any:
        before, moment = np.zeros((2, 3))
        for part in np.linspace(0.0, 1.0, steps + 1)[1:]:
            load, start = part * np.asarray(force), 2.0 * moment - before
            found = root(lambda m, load=load: self.end(m, load)[3:], start, tol=1e-10)
            assert found.success
            before, moment = moment, found.x
        return self.end(moment, np.asarray(force))[:3]

    def lateral_load(self, guess: float) -> float:
        """Force along y on the tip under which a straight rod leaves its plane."""

        def along(load: float) -> float:
            def beside(*moment: float) -> Any:
                return self.end(moment, [0.0, load, 0.0])[3:]

            bounds = 0.5 * load, 1.1 * load
            own = brentq(lambda m: beside(0.0, 0.0, m)[2], *bounds, xtol=1e-12)
            small = 1e-5
            rows = beside(small, 0.0, own)[:2], beside(0.0, small, own)[:2]
            return float(np.linalg.det(np.array(rows) / small))

        return float(brentq(along, 0.9 * guess, 1.1 * guess, xtol=1e-7))


def critical(arm: fa.Arm, guess: float) -> float:
    """The same of an arm."""

    def lowest(load: float) -> float:
        wrench = [0, 0, 0, 0, load, 0]
        rest = fa.equilibrium(arm, np.zeros(arm.nq), wrench=wrench, frame="base")
        return float(rest.lowest_square)

    return float(brentq(lowest, 0.8 * guess, 1.3 * guess, xtol=1e-7))


@pytest.mark.parametrize("stiffness", [STRIP, BLADE])
def test_lateral_buckling_converges_with_the_fourth_power(stiffness: Any) -> None:
    """With the twist of the ends alone 7, 1.5 and 0.4 %, by the square of lengths."""
    exact = Rod(stiffness, [[0, 0, 0], [1, 0, 0]]).lateral_load(
        4.0126 * np.sqrt(stiffness[1] * stiffness[2])
    )
    if stiffness == BLADE:  # Prandtl
        assert_allclose(exact, 4.0126, rtol=2e-4)

    def errors(n_modes: Any) -> Any:
        arms = (pieces(n, stiffness, n_modes) for n in (2, 4, 8))
        return np.array([critical(arm, exact) for arm in arms]) / exact - 1.0

    found = errors(MIDDLE)
    assert (found > 0.0).all() and (found < [1.2e-2, 1e-3, 7e-5]).all()
    assert (found[:-1] / found[1:] > 12.0).all()
    with pytest.warns(fa.DeflectionWarning, match="follows to .* middles, n_modes="):
        before = errors(None)
    assert_allclose(before, [0.07, 0.0157, 0.004], rtol=0.05)
    # the complementary energy of a torque that is linear in each piece
    assert_allclose(before[1] / before[2], 4.0, rtol=0.05)


def test_pieces_warn_of_their_twist() -> None:
    """Half of the lateral stiffness that is left out, in the mean of the pieces."""
    load = 0.99 * 4.0126
    torque = load * (1.0 - (np.arange(4) + 0.5) / 4.0)  # in the middles of pieces
    estimate = np.mean((0.25 * torque) ** 2 / 12.0) / 2.0  # with EI_y >> EI_z = GJ = 1
    arm, wrench = pieces(4, BLADE), [0, 0, 0, 0, load, 0]
    options = {"wrench": wrench, "frame": "base"}
    what = f"'rod' bends in planes .* of its 4 pieces follows to {100 * estimate:.2g} %"
    with pytest.warns(fa.DeflectionWarning, match=what):
        rest = fa.equilibrium(arm, arm.neutral, **options)
    assert rest.success and "n_modes={'torsion': 2} and segments" in rest.message
    with pytest.warns(fa.DeflectionWarning, match=what):
        fa.linearize(arm, rest.q)
    # in all postures of a batch, of a stack and of a run
    with pytest.warns(fa.DeflectionWarning, match=r"at index \(1,\), of 1 of 2 states"):
        fa.natural_frequencies(arm, [0.0 * rest.q, rest.q])
    both = fa.stack([pieces(4, (2.0, 1.0, 1.0)), arm])
    with pytest.warns(fa.DeflectionWarning, match="follows to 1.3 %"):
        fa.natural_frequencies(both, rest.q)
    t = [0.0, 1e-4]
    with pytest.warns(fa.DeflectionWarning, match="different stiffness at t = 0.*s, w"):
        fa.simulate(arm, rest.q, 0.0 * rest.q, t, method="ROS34PW2")
    # eight pieces, and those that twist in their middle, are right
    for other in (pieces(8, BLADE), pieces(4, BLADE, MIDDLE)):
        fa.equilibrium(other, other.neutral, **options).check()


def test_links_with_one_coordinate_of_twist_warn_too() -> None:
    """One cubic element is 50 % too stiff in lateral buckling; with more twist 2 %."""

    def link(stiffness: Any, twist: int) -> fa.Arm:
        body = beams.flexible_link(
            "rod",
            length=1.0,
            mass_per_length=1.0,
            bending_stiffness=stiffness[:2],
            torsional_stiffness=stiffness[2],
            polar_inertia_per_length=1e-3,
            motions=("bending y", "bending z", "torsion"),
            n_modes={"bending y": 3, "bending z": 3, "torsion": twist},
            joint=fa.Joint("fixed"),
        )
        return fa.Arm([body], gravity=(0, 0, 0))

    load = 2.0
    options = {"wrench": [0, 0, 0, 0, load, 0], "frame": "base"}
    share = (0.5 * load) ** 2 / 12.0 / 2.0
    what = f"its twist follows to {100.0 * share:.2g} % .*; raise n_modes in torsion"
    with pytest.warns(fa.DeflectionWarning, match=what):
        fa.equilibrium(link(BLADE, 1), np.zeros(7), **options)
    fa.equilibrium(link(BLADE, 2), np.zeros(8), **options).check()
    # a rod as stiff in both planes has a constant torque
    fa.equilibrium(link((4.0, 4.0, 3.0), 1), np.zeros(7), **options).check()


def test_a_strip_in_space() -> None:
    force = [0.0, 3.0, 0.2]
    exact = Rod(STRIP, [[0, 0, 0], [1, 0, 0]]).tip(force)

    def off(n: int, n_modes: Any) -> float:
        return float(np.linalg.norm(tip(pieces(n, STRIP, n_modes), force) - exact))

    assert off(4, MIDDLE) < 2e-5 < 1e-3 < off(4, None)
    assert off(8, MIDDLE) < 2e-6 < 4e-4 < off(8, None)


@pytest.mark.filterwarnings("ignore::flexarm.DeflectionWarning")  # two pieces: 0.8
def test_pieces_of_a_polygon_in_space() -> None:
    """A quarter of a half circle under a force across it (Bathe and Bolourchi, 1979).

    Pieces converge to the polygon with the fourth power of their number, and polygons
    through places of an arc to the arc with the second.
    """
    EI = 1e7 / 12.0
    stiffness, force = (EI, EI, 0.1408 * 5e6), [0.0, 0.0, 600.0]

    def corners(n: int) -> Any:
        s = np.linspace(0.0, np.pi / 4.0, n + 1)
        return 100.0 * np.array([np.sin(s), 1.0 - np.cos(s), 0.0 * s]).T

    off, polygons = [], []
    for n in (2, 4, 8):
        polygons.append(Rod(stiffness, corners(n)).tip(force, 4))
        arm = pieces(n, stiffness, length=None, points=corners(n))
        off.append(np.linalg.norm(tip(arm, force, 6) - polygons[-1]) / 60.0)
    assert (np.array(off) < [1.1e-2, 9e-4, 7e-5]).all()
    assert off[0] / off[1] > 11.0 and off[1] / off[2] > 13.0
    first, second, third = polygons
    change = np.linalg.norm(first - second), np.linalg.norm(second - third)
    assert_allclose(change[0] / change[1], 4.0, rtol=0.1)
    arc = (4.0 * third - second) / 3.0
    assert_allclose(arc, [46.895, 15.559, 53.600], atol=0.01)  # by a curved rod


def test_the_middle_is_a_quadratic_element() -> None:
    """16 GJ / 3 h of the middle alone, and frequencies of elements of second degree."""
    GJ, polar, n = 1.54, 1e-3, 3
    arm = pieces(n, STRIP, MIDDLE, motions="torsion")
    assert arm.coordinate_names == (
        "rod.n1 rx", "rod.mid n1 rx", "rod.n2 rx", "rod.mid n2 rx", "rod.tip rx",
        "rod.mid tip rx",
    )  # fmt: skip
    body, h = arm.bodies[0], 1.0 / n
    expected = np.diag([GJ / h, 16.0 * GJ / (3.0 * h)])
    assert_allclose(body.stiffness, expected, atol=1e-12 * GJ / h)
    J = polar * h * np.array([[1 / 3, 1 / 3], [1 / 3, 8 / 15]])
    assert_allclose(body.modal_mass(), J, rtol=1e-12)
    # sections twist as they are: at the middle by one unit, at the end by none
    angle = [body.node_rotation[j, 0, 1] for j in (0, body.node_index("n1"))]
    assert_allclose(angle, 0.0, atol=1e-15)
    first = 2.0 * np.pi * fa.natural_frequencies(arm, arm.neutral)[0]
    assert_allclose(first, np.pi / 2.0 * np.sqrt(GJ / polar), rtol=2e-4)


def test_uniform_links_have_it_too() -> None:
    one = beams.flexible_link(
        "rod",
        length=1.0,
        mass_per_length=1.0,
        bending_stiffness=STRIP[:2],
        torsional_stiffness=STRIP[2],
        polar_inertia_per_length=1e-3,
        motions=("bending y", "bending z", "torsion"),
        joint=fa.Joint("fixed"),
        segments=3,
        n_modes=MIDDLE,
    )
    a, b = fa.Arm([one], gravity=(0, 0, 0)), pieces(3, STRIP, MIDDLE)
    assert a.coordinate_names == b.coordinate_names
    assert_allclose(a.stiffness_matrix, b.stiffness_matrix, atol=1e-10)


def test_kernels_agree_with_the_twin() -> None:
    """A tapered strip: its twist is not that of uniform elements."""

    def strip(x: float) -> beams.Section:
        return beams.Section.rectangle(0.03 - 0.01 * x, 0.002, beams.STEEL)

    link = beams.finite_element_link(
        "rod", length=1.0, sections=strip, segments=2, n_elements=3, n_modes=MIDDLE
    )
    arm = fa.Arm([link])
    assert all(body._strain_energy is not None for body in arm.bodies)
    q, qd, qdd = 0.05 * np.random.default_rng(3).normal(size=(3, arm.nv))
    found = fa.inverse_dynamics(arm, q, qd, qdd)
    expected = twin.inverse_dynamics(arm, q, qd, qdd)
    assert_allclose(found, expected, rtol=1e-9, atol=1e-11 * np.abs(expected).max())
    # damping: the lowest mode of twist has the ratio of the link
    damped = beams.finite_element_link(
        "rod", length=1.0, sections=strip, segments=2, n_elements=2, n_modes=MIDDLE,
        motions="torsion", joint=fa.Joint("fixed"), damping_ratio=0.02,
    )  # fmt: skip
    still = fa.Arm([damped], gravity=(0, 0, 0))
    modes = fa.vibration_modes(still, still.neutral)
    assert_allclose(modes.damping_ratios[0], 0.02, rtol=1e-9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_modes": {"torsion": 3}}, "has segments and n_modes, expected one of"),
        ({"n_modes": {"bending y": 2}}, "has segments and n_modes, expected one of"),
        ({"motions": "bending y"}, "no torsion in motions, expected straight pieces"),
        (
            {"length": None, "points": [(0, 0, 0), (0.3, 0, 0), (0.6, 0.3, 0)]},
            "has n_modes {'torsion': 2} and pieces with corners or a shear centre",
        ),
    ],
)
def test_refusals(options: Any, message: str) -> None:
    with pytest.raises(fa.ModelError, match=message):
        pieces(2, STRIP, **({"n_modes": MIDDLE} | options))
