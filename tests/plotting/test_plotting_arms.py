"""Drawings and animations of arms: the points that lines pass, frames, files."""

from __future__ import annotations

import base64
import io
import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from few_modes import few_modes
from numpy.testing import assert_allclose, assert_array_equal
from PIL import Image

import flexarm as fa
from flexarm import plotting
from flexarm.bodies.joints import JOINT_KINDS
from flexarm.plotting._skeleton import magnify
from flexarm.plotting._vibration import _size

plt: Any = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(scope="module")
def free() -> fa.Trajectory:
    """Figure 5 of De Luca and Siciliano, its first tenth."""
    arm = fa.library.de_luca_siciliano()
    start = [0.0, 0.0, 0.0, 0.0, 0.1, 0.002]
    return fa.simulate(arm, start, np.zeros(6), np.linspace(0.0, 0.2, 201))


@pytest.fixture(scope="module")
def swing() -> fa.Trajectory:
    """Three chains released from different heights."""
    q0 = [[0.1 * k, 0.2] for k in range(3)]
    t = np.linspace(0.0, 0.4, 401)
    return fa.simulate(fa.library.planar_chain(2), q0, np.zeros(2), t)


def passes(line: Any, points: Any) -> bool:
    """Whether every point is one of the points of a line."""
    drawn = np.stack(
        line.get_data_3d() if hasattr(line, "get_data_3d") else line.get_data()
    )
    gaps = np.linalg.norm(drawn.T[:, np.newaxis] - points, axis=2)
    return bool(np.all(np.nanmin(gaps, axis=0) < 1e-12))


def embedded_text(html: str) -> str:
    """List of the pictures in a page."""
    (text,) = re.findall(r"const frames = (\[.*\]);", html)
    return str(text)


def embedded(html: str) -> list[Image.Image]:
    """Pictures in a page."""
    coded = json.loads(embedded_text(html).replace("'", '"'))
    return [Image.open(io.BytesIO(base64.b64decode(each))) for each in coded]


# one arm


def test_planar_arm_is_drawn_in_its_plane() -> None:
    arm = fa.library.planar_chain(2)
    drawing = plotting.arm(arm, [0.3, 0.5])
    assert (drawing.plane, drawing.arm) == ("xy", arm)
    (lines,) = drawing.lines
    assert set(lines) == {"base", "offsets", "links", "revolute", "tip"}
    nodes = fa.node_poses(arm, [0.3, 0.5])[:, :2, 3]
    assert passes(lines["links"], nodes)
    assert_allclose(
        lines["revolute"].get_xydata()[1:], [[0, 0], nodes[1]], rtol=0, atol=1e-15
    )
    assert_allclose(lines["tip"].get_xydata(), nodes[-1:], rtol=0, atol=1e-15)
    assert_array_equal(lines["base"].get_xydata(), [[0, 0]])
    ax = drawing.ax
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x (m)", "y (m)")
    assert ax.get_aspect() == 1.0
    assert plotting.arm(fa.library.pendulum(), [0.1]).plane == "xz"
    assert set(ax.get_lines()) == set(lines.values())


def test_arm_without_q_is_drawn_at_rest() -> None:
    rest = fa.library.planar_chain(2)
    drawn, wanted = plotting.arm(rest), plotting.arm(rest, rest.neutral)
    line, other = (drawing.lines[0]["links"] for drawing in (drawn, wanted))
    assert_array_equal(line.get_xydata(), other.get_xydata())


def test_bent_links_are_curves_through_the_nodes(free: fa.Trajectory) -> None:
    arm, q = free.arm, np.array([0.2, 0.7, 0.1, 0.0, 0.05, 0.002])
    drawing = plotting.arm(arm, q)
    line = drawing.lines[0]["links"]
    assert passes(line, fa.node_poses(arm, q)[:, :2, 3])
    # between the nodes the curve is that of the beam, here of link 2
    modes = fa.beams.clamped_beam_modes(
        0.5, 0.2, 1.0, 2, tip_mass=0.1, tip_inertia=0.0005, normalization="link"
    )
    x = np.linspace(0.0, 0.5, 4001)
    pose = fa.link_poses(arm, q)[1]
    local = np.stack([x, q[4:] @ modes.shape(x), 0 * x])
    exact = (pose[:3, :3] @ local).T[:, :2] + pose[:2, 3]
    drawn = line.get_xydata()
    gap = np.flatnonzero(np.isnan(drawn[:, 0]))[1]
    curve = drawn[gap + 1 : -1]
    apart = np.linalg.norm(curve[:, np.newaxis] - exact, axis=2).min(axis=1)
    assert len(curve) > 80 and apart.max() < 1e-4


def test_scale_magnifies_the_deflections_only(free: fa.Trajectory) -> None:
    arm, q = free.arm, np.array([0.2, 0.7, 0.1, 0.0, 0.05, 0.002])
    large = q * [1, 1, 3, 3, 3, 3]
    drawing = plotting.arm(arm, q, scale=3.0)
    assert drawing.scale == 3.0
    assert passes(drawing.lines[0]["links"], fa.node_poses(arm, large)[:, :2, 3])
    rest = plotting.arm(arm, q, undeformed=True).ax.get_lines()[-1]
    straight = fa.node_poses(arm, q * [1, 1, 0, 0, 0, 0])[:, :2, 3]
    assert passes(rest, straight)
    assert rest.get_linestyle() == "--"


def test_several_configurations_with_labels() -> None:
    arm = fa.library.planar_chain(2)
    drawing = plotting.arm(arm, [[0.0, 0.0], [0.3, 0.5]], labels=["flat", "bent"])
    assert len(drawing.lines) == 2
    texts = [text.get_text() for text in drawing.ax.get_legend().get_texts()]
    assert texts == ["flat", "bent"]
    first, second = (lines["links"].get_color() for lines in drawing.lines)
    assert first != second


def test_spatial_arm_is_drawn_in_space_or_projected() -> None:
    arm = fa.library.puma560()
    q = fa.library.poses(arm)["nominal"]
    drawing = plotting.arm(arm, q)
    assert drawing.plane == "3d"
    ax = drawing.ax
    assert [ax.get_xlabel(), ax.get_ylabel(), ax.get_zlabel()] == [
        "x (m)",
        "y (m)",
        "z (m)",
    ]
    nodes = fa.node_poses(arm, q)[:, :3, 3]
    assert passes(drawing.lines[0]["links"], nodes)
    side = plotting.arm(arm, q, plane="xz")
    assert passes(side.lines[0]["links"], nodes[:, [0, 2]])
    assert side.ax.get_ylabel() == "z (m)"
    # axes in space draw even a planar arm in space
    assert plotting.arm(fa.library.pendulum(), [0.1], ax=ax).plane == "3d"


def test_tree_shows_its_branches_joints_and_offsets() -> None:
    arm = fa.library.random_tree(3, 6, 2, branches=3)
    q = np.random.default_rng(3).uniform(-0.5, 0.5, arm.nq)
    (lines,) = plotting.arm(arm, q).lines
    links, nodes = fa.link_poses(arm, q)[:, :3, 3], fa.node_poses(arm, q)[:, :3, 3]
    kinds = np.array([body.joint.kind for body in arm.bodies])
    for kind in ("revolute", "prismatic"):
        drawn = np.stack(lines[kind].get_data_3d(), axis=1)[1:]
        assert_allclose(drawn, links[kinds == kind], rtol=0, atol=1e-15)
    for body, origin in zip(arm.bodies[1:], links[1:], strict=True):
        carrier = nodes[arm.node(body.joint.parent, body.joint.node)]
        assert passes(lines["links"], carrier[np.newaxis])
        assert passes(lines["offsets"], np.stack([carrier, origin]))
    assert passes(lines["tip"], nodes[arm.tip_node][np.newaxis])


def test_floating_bodies_hang_on_their_attachments() -> None:
    """A joint is where it holds a node, which a line of its body passes."""
    arm = fa.library.random_tree(9, 6, 2, branches=3, attachments=1.0)
    q = np.random.default_rng(3).uniform(-0.5, 0.5, arm.nq)
    (lines,) = plotting.arm(arm, q).lines
    links, nodes = fa.link_poses(arm, q)[:, :3, 3], fa.node_poses(arm, q)[:, :3, 3]
    joints = links.copy()
    held = [k for k, b in enumerate(arm.bodies) if b.attachment_node is not None]
    for k in held:
        joints[k] = nodes[arm.node(k, arm.bodies[k].attachment)]
    assert len({arm.bodies[k].attachment for k in held}) > 1
    assert np.linalg.norm(joints - links, axis=1)[held].min() > 0.01
    assert passes(lines["links"], joints[held])
    kinds = np.array([body.joint.kind for body in arm.bodies])
    for kind in set(kinds) - {"fixed"}:
        drawn = np.stack(lines[kind].get_data_3d(), axis=1)[1:]
        assert_allclose(drawn, joints[kinds == kind], rtol=0, atol=1e-15)
    for body, joint in zip(arm.bodies[1:], joints[1:], strict=True):
        carrier = nodes[arm.node(body.joint.parent, body.joint.node)]
        assert passes(lines["offsets"], np.stack([carrier, joint]))


def test_every_kind_of_joint_has_its_marker() -> None:
    arm = fa.library.random_tree(2, 40, 0, joints=JOINT_KINDS)
    (lines,) = plotting.arm(arm, arm.neutral).lines
    links = fa.link_poses(arm, arm.neutral)[:, :3, 3]
    kinds = np.array([body.joint.kind for body in arm.bodies])
    moving = set(kinds) - {"fixed"}
    assert len({lines[kind].get_marker() for kind in moving}) == len(moving) == 10
    assert "fixed" not in lines
    for kind in moving:
        drawn = np.stack(lines[kind].get_data_3d(), axis=1)[1:]
        assert_allclose(drawn, links[kinds == kind], rtol=0, atol=1e-15)


def test_update_moves_the_lines_and_the_view() -> None:
    arm = fa.library.planar_chain(2)
    drawing = plotting.arm(arm, [0.0, 0.0])
    before = drawing.lines[0]["links"]
    drawing.update([1.2, 0.3])
    assert drawing.lines[0]["links"] is before
    nodes = fa.node_poses(arm, [1.2, 0.3])[:, :2, 3]
    assert passes(before, nodes)
    assert drawing.ax.get_ylim()[1] > nodes[-1, 1]
    solid = plotting.arm(fa.library.iiwa14(), np.zeros(7))
    solid.update(np.full(7, 0.5))
    nodes = fa.node_poses(solid.arm, np.full(7, 0.5))[:, :3, 3]
    assert passes(solid.lines[0]["links"], nodes)
    with pytest.raises(fa.ArgumentError, match="2 configurations, the drawing shows 1"):
        drawing.update([[0.0, 0.0], [1.0, 1.0]])


def test_arm_refuses_what_does_not_fit() -> None:
    chain, puma = fa.library.planar_chain(2), fa.library.puma560()
    _, flat = plt.subplots()
    for arm, q, options, message in (
        (chain, [0.0], {}, r"q has shape \(1,\), expected a last axis of 2 coord"),
        (chain, [0.0, 0.0], {"plane": "zx"}, "plane is 'zx'"),
        (chain, [0.0, 0.0], {"labels": ["a", "b"]}, "2 labels for 1 configurations"),
        (chain, [0.0, 0.0], {"plane": "3d", "ax": flat}, "ax has 2 dimensions"),
        (puma, np.zeros(6), {"ax": flat}, "'puma560' moves in space and ax is plane"),
    ):
        with pytest.raises(fa.ArgumentError, match=message):
            plotting.arm(arm, q, **options)


# motions


def test_snapshots_are_the_nearest_states(free: fa.Trajectory) -> None:
    drawing = plotting.snapshots(free, [0.0, 0.0504, 0.2])
    assert len(drawing.lines) == 3
    for lines, i in zip(drawing.lines, (0, 50, 200), strict=True):
        assert lines["links"].get_label() == f"{free.t[i]:.4g} s"
        assert passes(lines["links"], fa.node_poses(free.arm, free.q[i])[:, :2, 3])
    shades = [sum(lines["links"].get_color()[:3]) for lines in drawing.lines]
    assert shades == sorted(shades, reverse=True)  # later is darker
    assert len(plotting.snapshots(free, 4).lines) == 4


def test_snapshots_refuses(free: fa.Trajectory, swing: fa.Trajectory) -> None:
    with pytest.raises(fa.ArgumentError, match=r"batch of shape \(3,\)"):
        plotting.snapshots(swing)
    with pytest.raises(fa.ArgumentError, match=r"within the motion, 0 to 0\.2 s"):
        plotting.snapshots(free, [0.3])
    q = np.array([[0.0], [0.1], [np.nan]])
    broken = fa.Trajectory(fa.library.pendulum(), np.arange(3.0), q, q, q)
    with pytest.raises(fa.ArgumentError, match="within the motion, 0 to 1 s"):
        plotting.snapshots(broken, [2.0])
    assert len(plotting.animate(broken, fps=1.0).times) == 2


def test_animation_shows_each_frame(swing: fa.Trajectory) -> None:
    moving = plotting.animate(swing, fps=20.0, speed=0.5)
    assert_allclose(moving.times, np.linspace(0.0, 0.4, 17), rtol=0, atol=1e-12)
    moved = moving.draw(8)
    assert moving.clock.get_text() == "t = 0.20 s"
    assert repr(moving) == "<Animation of 'planar_chain': 17 frames, 20 per second>"
    assert (
        repr(moving.drawing) == "<ArmDrawing of 'planar_chain': 3 configurations, xy>"
    )
    assert len(moving.drawing.lines) == len(moving.traces) == 3
    for i in range(3):
        nodes = fa.node_poses(swing.arm, swing.q[i, 200])[:, :2, 3]
        lines = moving.drawing.lines[i]
        assert passes(lines["links"], nodes)
        assert lines["links"] in moved and moving.traces[i] in moved
        path = swing.tip[i, :201, :2]  # of all stored states
        assert_allclose(moving.traces[i].get_xydata(), path, rtol=0, atol=1e-15)
    # nothing leaves the view, which stays
    limits = moving.drawing.ax.viewLim.get_points()
    assert np.all(swing.tip[..., :2] > limits[0])
    assert np.all(swing.tip[..., :2] < limits[1])
    moving.draw(16)
    assert_array_equal(moving.drawing.ax.viewLim.get_points(), limits)
    assert not plotting.animate(swing, trace=False).traces


def test_runs_have_figures_as_methods(swing: fa.Trajectory) -> None:
    law = fa.control.SetPointPD(swing.arm, kp=50.0, kd=3.0, target=[0.5, 0.5])
    times = np.linspace(0.0, 0.2, 21)
    loop = fa.control.simulate_loop(
        swing.arm, law, [0, 0], [0, 0], times, sample_time=0.01
    )
    for motion in (swing, loop):
        by_name = plotting.joints(motion, rates=True)
        lines = motion.plot(rates=True)
        assert len(lines) == len(by_name)
        for one, other in zip(lines, by_name, strict=True):
            assert_array_equal(one.get_xydata(), other.get_xydata())
        moving = motion.animate(fps=20.0, plane="xy")
        assert_array_equal(moving.times, plotting.animate(motion, fps=20.0).times)
    with pytest.raises(fa.ArgumentError, match="joints has no argument 'colour'"):
        swing.plot(colour="red")


def test_animation_in_space() -> None:
    arm = fa.library.iiwa14()
    t = np.linspace(0.0, 1.0, 11)
    q = fa.library.poses(arm)["ready"] * t[:, np.newaxis]
    moving = plotting.animate(fa.Trajectory(arm, t, q, q, q), fps=10.0)
    moving.draw(5)
    nodes = fa.node_poses(arm, q[5])[:, :3, 3]
    assert passes(moving.drawing.lines[0]["links"], nodes)
    path = np.stack(moving.traces[0].get_data_3d(), axis=1)
    assert_allclose(path[::8], fa.tip_pose(arm, q[:6])[:, :3, 3], rtol=0, atol=1e-15)
    # smooth between eleven states: near the true path of these joints, a third of its
    # chords from it
    fine = fa.library.poses(arm)["ready"] * np.linspace(0.0, 0.5, 41)[:, np.newaxis]
    true = fa.tip_pose(arm, fine)[:, :3, 3]
    chords = np.linspace(path[:-8:8], path[8::8], 9)[4]
    off = np.linalg.norm(chords - true[4::8], axis=1).max()
    assert np.linalg.norm(path - true, axis=1).max() < off / 3.0


def test_animation_plays_in_a_notebook(free: fa.Trajectory) -> None:
    moving = plotting.animate(free, fps=20.0)
    html = moving._repr_html_()
    assert len(embedded(html)) == len(moving.times) == 5
    assert "<input" in html
    assert "http" not in html  # needs no network
    assert not plt.get_fignums()  # closed, or it would appear twice


def test_animation_goes_to_files(
    free: fa.Trajectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moving = plotting.animate(free, fps=20.0)
    path = moving.save(tmp_path / "motion.gif", dpi=40.0)
    with Image.open(path) as image:
        assert getattr(image, "n_frames", 0) == 5
        assert image.info["duration"] == 50
    page = moving.save(str(tmp_path / "motion.html"))
    assert len(embedded(page.read_text(encoding="utf-8"))) == 5
    with pytest.raises(fa.ArgumentError, match=r"ends in '\.avi', expected \.gif"):
        moving.save(tmp_path / "motion.avi")
    monkeypatch.setattr("shutil.which", lambda _: None)
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(fa.ArgumentError, match="need ffmpeg"):
        moving.save(tmp_path / "motion.mp4")


def test_blitted_frames_are_those_of_matplotlib(free: fa.Trajectory) -> None:
    moving = plotting.animate(free, fps=20.0)
    figure = moving.drawing.ax.figure
    before = figure.canvas, figure.dpi
    frames = [np.asarray(i.convert("RGB"), int) for i in embedded(moving.to_html())]
    assert (figure.canvas, figure.dpi) == before
    for k in (0, 4):
        moving.draw(k)
        stream = io.BytesIO()
        figure.savefig(stream, format="png")
        whole = np.asarray(Image.open(stream).convert("RGB"), int)
        apart = abs(frames[k] - whole).max(axis=2)
        # apart by the small number of colors only; the ground is exact
        assert apart.max() < 60 and apart.mean() < 0.5
        assert_array_equal(frames[k][0, 0], whole[0, 0])


def test_animate_refuses(free: fa.Trajectory) -> None:
    with pytest.raises(fa.ArgumentError, match=r"speed is 0\.0, expected a positive"):
        plotting.animate(free, speed=0.0)


def test_deformations_are_magnified_and_motors_are_not() -> None:
    arm = fa.library.farid_two_link()
    assert arm.motor_position_slice.stop > arm.motor_position_slice.start
    factor = magnify(arm, np.ones(arm.nq), 5.0)
    modes = arm.nq - arm.motor_position_slice.stop
    assert_allclose(factor, [1.0] * (arm.nq - modes) + [5.0] * modes)


@few_modes()
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
