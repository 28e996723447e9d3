"""Sliders: what they move, how often a picture is made, what is refused."""

from __future__ import annotations

import asyncio
import io
import sys
import time
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from PIL import Image
from refusals import refused

import flexarm as fa
from flexarm.plotting import interact
from flexarm.plotting._interact import round_step, slider_limits

plt: Any = pytest.importorskip("matplotlib.pyplot")

PAPER = fa.library.de_luca_siciliano()


def picture(explorer: Any) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(explorer.picture.value)).convert("RGB"))


def test_sliders_are_coordinates_payload_and_scale() -> None:
    explorer = interact(PAPER, payload=0.5)
    assert list(explorer.sliders) == [*PAPER.position_names, "payload", "scale"]
    assert explorer.sliders["link1"].description == "link1 (rad)"
    assert explorer.sliders["payload"].max == 0.5
    assert explorer.redraws == 1
    assert not plt.get_fignums()  # or a notebook would show it twice
    rigid = interact(fa.library.planar_chain(2), payload=0)
    assert list(rigid.sliders) == ["link1", "link2"]
    assert repr(rigid) == "<Explorer of 'planar_chain': 2 sliders>"


def test_pose_moves_the_drawing_and_the_frequencies() -> None:
    explorer = interact(PAPER, payload=0.5)
    before = picture(explorer), explorer.frequencies
    explorer.sliders["link2"].value = np.pi / 2
    q = [0.0, np.pi / 2, 0.0, 0.0, 0.0, 0.0]
    assert_allclose(explorer.q, q)
    assert explorer.redraws == 2
    wanted = fa.natural_frequencies(PAPER, q, held="joints")
    assert_allclose(explorer.frequencies, wanted)
    assert (picture(explorer) != before[0]).any()
    assert not np.allclose(wanted, before[1])
    assert f"{wanted[0]:.4g}, {wanted[1]:.4g}" in explorer.text.value
    place = fa.tip_pose(PAPER, q)[:3, 3]
    assert f"tip at {place[0]:.4g}, {place[1]:.4g}" in explorer.text.value
    line = explorer.drawing.lines[0]["tip"]
    assert_allclose(line.get_xydata()[0], place[:2], rtol=0, atol=1e-12)


def test_modes_bend_and_are_exaggerated() -> None:
    explorer = interact(PAPER, scale=2.0)
    name = PAPER.position_names[4]
    explorer.sliders[name].value = 0.05
    q = np.zeros(6)
    q[4] = explorer.sliders[name].value
    tip = explorer.drawing.lines[0]["tip"]
    assert_allclose(tip.get_xydata()[0], fa.tip_pose(PAPER, 2 * q)[:2, 3], atol=1e-12)
    explorer.sliders["scale"].value = 1.0
    assert_allclose(tip.get_xydata()[0], fa.tip_pose(PAPER, q)[:2, 3], atol=1e-12)
    assert explorer.redraws == 3


def test_payload_is_a_point_mass_at_the_tip() -> None:
    explorer = interact(PAPER, payload=0.5)
    f = explorer.frequencies
    explorer.sliders["payload"].value = 0.5
    arm = explorer.arm
    assert arm.bodies[:-1] == PAPER.bodies and arm.bodies[-1].mass == 0.5
    M = fa.mass_matrix(arm, explorer.q) - fa.mass_matrix(PAPER, explorer.q)
    J = fa.jacobian(PAPER, explorer.q, PAPER.tip_node, frame="base")[3:]
    assert_allclose(M, 0.5 * J.T @ J, rtol=0, atol=1e-12)
    assert np.all(explorer.frequencies < f)
    explorer.sliders["payload"].value = 0.0
    assert explorer.arm is PAPER


def test_arm_in_space_turns_and_motors_follow() -> None:
    arm = fa.library.farid_spatial(elements=1)
    explorer = interact(arm, plane=None)
    assert explorer.drawing.plane == "3d"
    assert not any("motor" in name for name in explorer.sliders)
    explorer.sliders["link1"].value = 0.5
    assert explorer.q[arm.motor_position_slice][1] == explorer.q[1] != 0.0
    before = picture(explorer)
    explorer.sliders["azimuth"].value = 20.0
    assert explorer.drawing.ax.azim == explorer.sliders["azimuth"].value
    assert (picture(explorer) != before).mean() > 0.01  # axes as well


def test_limits_of_the_sliders() -> None:
    rail = fa.RigidBody("rail", fa.Joint("prismatic", limits=(-1, 0.5)), mass=1.0)
    wrist = fa.RigidBody("wrist", fa.Joint(limits=(-2, 3)), mass=1.0, com=(1, 0, 0))
    arm = fa.Arm([rail, wrist])
    assert_allclose(slider_limits(arm, arm.neutral), arm.joint_limits)
    assert_allclose(slider_limits(arm, np.array([0.9, 0.0]))[:, 0], [-1, 0.9])
    low, high = slider_limits(PAPER, np.zeros(6))
    assert_allclose(high[:2], np.pi)
    assert_allclose(low, -high)
    # the tip of a body of 0.5 m goes a tenth of it, or some node turns by 0.3 rad
    body = PAPER.bodies[0]
    for k, most in enumerate(high[2:4]):
        move = most * np.abs(body.node_translation[..., k]).max()
        turn = most * np.abs(body.node_rotation[..., k]).max()
        assert max(move / 0.05, turn / 0.3) == pytest.approx(1.0)
    free = fa.Arm([fa.RigidBody("sat", fa.Joint("free"), mass=1.0, inertia=[1, 1, 1])])
    assert not any("sat" in name for name in interact(free).sliders)


def test_browsers_leave_the_start_where_it_is() -> None:
    """A browser rounds to steps from the least, which leaves 9e-16 where 0 was."""
    start = np.array([1.0 / 3.0, 0.0, 0.0, 0.0, 0.0123, 0.0])
    explorer = interact(PAPER, start, payload=0.5)
    for name, slider in explorer.sliders.items():
        steps = round((slider.value - slider.min) / slider.step)
        there = slider.min + steps * slider.step
        assert abs(there - slider.value) < 1e-12, name
        slider.value = there + 1e-15
    assert (explorer.q == start).all()
    explorer.sliders["link1"].value = 0.4567  # of a program, between two steps
    assert explorer.q[0] == 0.4567
    assert round_step(0.0157) == 0.02 and round_step(0.05) == 0.05


def test_many_changes_make_few_pictures_where_a_loop_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = [0.0]  # of the loop, too
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    explorer = interact(PAPER)

    async def pass_a_millisecond() -> None:
        clock[0] += 1e-3
        await asyncio.sleep(0)

    async def drag() -> None:
        for k in range(300):
            explorer.sliders["link1"].value = 0.001 * k
            await pass_a_millisecond()
        for _ in range(200):
            await pass_a_millisecond()

    asyncio.run(drag())
    monkeypatch.undo()
    assert 2 <= explorer.redraws - 1 <= 8
    # the last one is shown
    tip = explorer.drawing.lines[0]["tip"].get_xydata()[0]
    assert_allclose(tip, fa.tip_pose(PAPER, explorer.q)[:2, 3], rtol=0, atol=1e-12)


def test_notebook_shows_the_widget() -> None:
    explorer = interact(PAPER)
    bundle = explorer._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in bundle


def test_without_ipywidgets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    with pytest.raises(ImportError, match=r'pip install "flexarm\[notebook\]"'):
        interact(PAPER)


def test_sliders_refuse_poses_and_options_that_do_not_fit() -> None:
    looped = fa.library.planar_chain(2)
    looped = looped.replace(
        constraints=[fa.Coupling({"link1": 1.0, "link2": -2.0})],
        couplings="constrained",
    )
    for words, call in (
        (
            ["q has shape (2, 6)", "expected (nq,) with nq = 6"],
            lambda: interact(PAPER, np.zeros((2, 6))),
        ),
        (["arm is str"], lambda: interact("arm")),  # type: ignore[arg-type]
        (["payload is -1"], lambda: interact(PAPER, payload=-1)),
        (["scale is 'large'"], lambda: interact(PAPER, scale="large")),  # type: ignore[arg-type]
        (["1 constraints", "a tree"], lambda: interact(looped)),
        (["q[0] is nan"], lambda: interact(PAPER, [np.nan] + [0.0] * 5)),
    ):
        refused(fa.ArgumentError, words, call)
