"""Details of pictures that one careless line would change: whose numbers, how far."""

from __future__ import annotations

from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
from numpy.testing import assert_allclose

import flexarm as fa
from flexarm.optimize import paths, time_optimal
from flexarm.plotting._frames import Palette
from flexarm.plotting._scene_parts import payloads
from flexarm.plotting._skeleton import magnify
from flexarm.plotting._vibration import _size
from flexarm.plotting.canvas import COLORS, STYLES, color, style

mpl.use("Agg")


def test_styles_change_when_colors_come_again() -> None:
    n = len(COLORS)
    assert [style(i) for i in (0, n - 1, n)] == [STYLES[0], STYLES[0], STYLES[1]]
    looks = [(color(i), style(i)) for i in range(n * len(STYLES))]
    assert len(set(looks)) == len(looks)


def test_torques_are_drawn_as_they_are() -> None:
    arm = fa.library.farid_two_link(elements=0, joint_stiffness=None)
    motion = time_optimal(
        arm,
        paths.line([1.8, 0.2], [1.6, 0.7]),
        limits={"torque": [300.0, 120.0]},
        start=fa.library.poses(arm)["A"],
        search={"intervals": 50},
        check=False,
    )
    for kind, values in (("torques", motion.tau), ("speeds", motion.qd)):
        lines = fa.plotting.optimal_motion(motion, kind)
        for line, column in zip(lines, values.T, strict=True):
            assert_allclose(line.get_ydata(), column)


def test_deformations_are_magnified_and_motors_are_not() -> None:
    arm = fa.library.farid_two_link()
    assert arm.motor_position_slice.stop > arm.motor_position_slice.start
    factor = magnify(arm, np.ones(arm.nq), 5.0)
    modes = arm.nq - arm.motor_position_slice.stop
    assert_allclose(factor, [1.0] * (arm.nq - modes) + [5.0] * modes)


def test_a_payload_is_drawn_at_its_center() -> None:
    """On a fixed joint, beside the node that carries it."""
    rod = fa.RigidBody("rod", fa.Joint(), mass=1.0, nodes={"tip": (1.0, 0, 0)})
    held = fa.Joint("fixed", node="tip")
    load = fa.RigidBody("load", held, mass=2.0, com=(0.1, 0.2, 0.3))
    ((name, mass, node, place),) = payloads(fa.Arm([rod, load]))
    assert (name, mass) == ("load", 2.0)
    assert_allclose(place, [0.1, 0.2, 0.3])
    assert node == fa.Arm([rod, load]).node_slice("load").start


def test_modes_that_move_are_drawn_by_their_travel() -> None:
    """A travel of 0.12 of the extent, or half a radian if that is less."""
    arm = fa.library.planar_chain(1, length=2.0, n_modes=1)
    for travel, turn, expected in ((0.5, 0.1, 0.48), (0.1, 5.0, 0.1)):
        moved = np.zeros((1, arm.n_nodes, 6))
        moved[0, -1, 2], moved[0, -1, 4] = turn, travel
        modes = SimpleNamespace(
            arm=arm, q=arm.neutral, node_displacements=lambda moved=moved: moved
        )
        assert_allclose(_size(modes, 0), expected)  # type: ignore[arg-type]


def test_colors_of_a_picture_come_back() -> None:
    """A picture of few colors has the same ones after it was packed."""
    shades = np.array([[255, 255, 255], [10, 20, 30], [200, 40, 90], [0, 255, 8]])
    pixels = (
        shades[(np.arange(64) + np.arange(64) // 8) % 4]
        .reshape(8, 8, 3)
        .astype(np.uint8)
    )
    back = np.array(Palette(pixels).picture(pixels).convert("RGB"))
    assert np.abs(back.astype(int) - pixels).max() <= 8
    assert (back[0, 0] == pixels[0, 0]).all()
