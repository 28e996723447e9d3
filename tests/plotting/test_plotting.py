"""Histories and mode shapes: what was drawn, where, under which labels."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import flexarm as fa
from flexarm import plotting
from flexarm.plotting._scene_film import Film
from flexarm.plotting.canvas import COLORS, GRID

plt: Any = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(scope="module")
def free() -> fa.Trajectory:
    """Figure 5 of De Luca and Siciliano, its first tenth."""
    arm = fa.library.de_luca_siciliano()
    start = [0.0, 0.0, 0.0, 0.0, 0.1, 0.002]
    return fa.simulate(arm, start, np.zeros(6), np.linspace(0.0, 0.2, 201))


@pytest.fixture(scope="module")
def pushed() -> fa.Trajectory:
    """The damped arm under a torque that jumps, held from sample to sample."""
    arm = fa.library.de_luca_siciliano(damping=True)
    t = np.linspace(0.0, 1.0, 2001)
    torque = np.where(t < 0.5, 0.2, -0.2)[:, np.newaxis] * [1.0, 1.0]
    return fa.simulate(
        arm, np.zeros(6), np.zeros(6), t, torque=torque, interpolation="hold"
    )


@pytest.fixture(scope="module")
def mixed() -> fa.Trajectory:
    """Three members of a rigid arm with a turning and a sliding joint."""
    rod: dict[str, Any] = {"mass": 1.0, "inertia": (0.1, 0.1, 0.1)}
    arm = fa.Arm(
        [
            fa.RigidBody("wheel", nodes={"tip": (0.5, 0, 0)}, **rod),
            fa.RigidBody("slide", fa.Joint("prismatic", axis=(1, 0, 0)), **rod),
        ],
        name="mixed",
    )
    q0 = [[0.1 * k, 0.2] for k in range(3)]
    return fa.simulate(arm, q0, [0.3, 0.1], np.linspace(0.0, 0.1, 11))


def labels(ax: Any) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


# histories


def test_joints_draws_angles(free: fa.Trajectory) -> None:
    lines = plotting.joints(free)
    ax = lines[0].axes
    assert [line.get_label() for line in lines] == ["link1", "link2"] == labels(ax)
    assert ax.get_lines() == lines
    for i, line in enumerate(lines):
        assert_array_equal(line.get_xdata(), free.t)
        assert_array_equal(line.get_ydata(), free.q[:, i])
    assert ax.get_xlabel() == "time (s)"
    assert ax.get_ylabel() == "joint angle (rad)"
    assert lines[0].get_color() != lines[1].get_color()


def test_joints_in_degrees_and_rates(free: fa.Trajectory) -> None:
    lines = plotting.joints(free, degrees=True)
    assert_allclose(lines[1].get_ydata(), np.degrees(free.q[:, 1]), rtol=1e-15)
    assert lines[0].axes.get_ylabel() == "joint angle (deg)"
    lines = plotting.joints(free, rates=True)
    assert_array_equal(lines[1].get_ydata(), free.qd[:, 1])
    assert lines[0].axes.get_ylabel() == "joint angle rate (rad/s)"


def test_joints_of_two_kinds_and_a_batch(mixed: fa.Trajectory) -> None:
    lines = plotting.joints(mixed, degrees=True)
    ax = lines[0].axes
    assert ax.get_ylabel() == "joint coordinate (deg or m)"
    assert labels(ax) == ["wheel (deg)", "slide (m)"]
    assert len(lines) == 6
    assert_allclose(lines[2].get_ydata(), np.degrees(mixed.q[2, :, 0]), rtol=1e-15)
    assert_array_equal(lines[4].get_ydata(), mixed.q[1, :, 1])
    # one colour for all members, fainter than a single line
    assert {line.get_color() for line in lines[:3]} == {lines[0].get_color()}
    assert all(line.get_alpha() < 1.0 for line in lines)
    rates = plotting.joints(mixed, rates=True)[0].axes
    assert rates.get_ylabel() == "joint coordinate rate (rad/s or m/s)"
    assert labels(rates) == ["wheel (rad/s)", "slide (m/s)"]


def test_joints_of_a_sliding_arm_are_positions() -> None:
    cart = fa.RigidBody("cart", fa.Joint("prismatic"), mass=1.0)
    traj = fa.simulate(fa.Arm([cart]), [0.0], [1.0], [0.0, 0.1])
    assert plotting.joints(traj)[0].axes.get_ylabel() == "joint position (m)"


def floating() -> fa.Trajectory:
    """A free body that carries a flexible one on a ball joint."""
    arm = fa.library.random_tree(0, 2, 2, joints=("free", "spherical"))
    kinds = ("free", "spherical")
    bodies = [
        body.replace(joint=body.joint.replace(kind=kind, damping=0.0))
        for body, kind in zip(arm.bodies, kinds, strict=True)
    ]
    arm = arm.replace(bodies=bodies)
    t = np.linspace(0.0, 0.01, 11)
    return fa.simulate(arm, arm.neutral, 0.1 * np.arange(arm.nv), t)


def test_joints_with_quaternions() -> None:
    traj = floating()
    lines = plotting.joints(traj)
    ax = lines[0].axes
    assert ax.get_ylabel() == "joint coordinate (m)"
    names = [f"body0.{x}" for x in ("qw", "qx", "qy", "qz", "x (m)", "y (m)", "z (m)")]
    assert labels(ax) == [*names, *(f"body1.{x}" for x in ("qw", "qx", "qy", "qz"))]
    for i, line in enumerate(lines):
        assert_array_equal(line.get_ydata(), traj.q[:, i])
    ax = plotting.joints(traj, rates=True, degrees=True)[0].axes
    assert ax.get_ylabel() == "joint coordinate rate (deg/s or m/s)"
    turning = [text for text in labels(ax) if text.endswith(" (deg/s)")]
    assert [text[:8] for text in turning] == [
        *("body0.wx", "body0.wy", "body0.wz"),
        *("body1.wx", "body1.wy", "body1.wz"),
    ]
    assert len(labels(ax)) == 9


def test_deflections_beside_quaternions() -> None:
    traj = floating()
    lines = plotting.deflections(traj, modes=True)
    arm = traj.arm
    eta = traj.q[:, 11:]
    assert len(lines) == arm.nv - arm.nu == eta.shape[1] > 0
    for i, line in enumerate(lines):
        assert_array_equal(line.get_ydata(), eta[:, i])


def test_deflections_of_the_tips(free: fa.Trajectory) -> None:
    lines = plotting.deflections(free)
    ax = lines[0].axes
    assert labels(ax) == ["link1 y", "link2 y"]
    assert ax.get_ylabel() == "tip deflection (m)"
    for line, body, part in zip(
        lines, free.arm.bodies, (slice(2, 4), slice(4, 6)), strict=True
    ):
        expected = free.q[:, part] @ body.node_translation[-1, 1]
        assert_allclose(line.get_ydata(), expected, rtol=0, atol=1e-16)


def test_deflections_as_modal_coordinates_of_one_body(free: fa.Trajectory) -> None:
    lines = plotting.deflections(free, "link2", modes=True)
    assert labels(lines[0].axes) == ["link2.bending y 1", "link2.bending y 2"]
    assert lines[0].axes.get_ylabel() == "modal coordinate (own unit)"
    assert_array_equal(lines[1].get_ydata(), free.q[:, 5])


def test_deflections_refuses_rigid_arms(mixed: fa.Trajectory) -> None:
    with pytest.raises(fa.ArgumentError, match="'mixed' has no modes"):
        plotting.deflections(mixed)
    assert not plt.get_fignums()


def test_tip_over_time_leaves_out_what_stays(free: fa.Trajectory) -> None:
    lines = plotting.tip(free)
    assert labels(lines[0].axes) == ["x", "y"]
    assert lines[0].axes.get_ylabel() == "tip position (m)"
    for i, line in enumerate(lines):
        assert_array_equal(line.get_ydata(), free.tip[:, i])


def test_tip_of_an_arm_at_rest_shows_all() -> None:
    arm = fa.library.planar_chain(1, gravity=(0, 0, 0))
    traj = fa.simulate(arm, [0.0], [0.0], [0.0, 0.1])
    assert labels(plotting.tip(traj)[0].axes) == ["x", "y", "z"]


def test_tip_path_in_a_plane(mixed: fa.Trajectory) -> None:
    lines = plotting.tip(mixed, plane="xy")
    ax = lines[0].axes
    assert len(lines) == 6
    for i in range(3):
        assert_array_equal(lines[i].get_xydata(), mixed.tip[i, :, :2])
        assert_array_equal(lines[3 + i].get_xydata(), mixed.tip[i, -1:, :2])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("tip x (m)", "tip y (m)")
    assert ax.get_aspect() == 1.0
    with pytest.raises(fa.ArgumentError, match="plane is 'zx', expected one of 'xy'"):
        plotting.tip(mixed, plane="zx")


def test_energies(free: fa.Trajectory) -> None:
    lines = plotting.energies(free)
    ax = lines[0].axes
    assert labels(ax) == ["kinetic", "potential", "total"]
    assert ax.get_ylabel() == "energy (J)"
    for line, values in zip(
        lines, (free.kinetic, free.potential, free.energy), strict=True
    ):
        assert_array_equal(line.get_ydata(), values)


def test_ledger_closes_for_held_torques(pushed: fa.Trajectory) -> None:
    lines = plotting.energies(pushed, ledger=True, hold=True)
    assert labels(lines[0].axes)[3:] == ["work", "losses", "balance"]
    work, losses, balance = (line.get_ydata() for line in lines[3:])
    # a constant torque does torque times angle
    half = np.argmin(np.abs(pushed.t - 0.5))
    expected = 0.2 * pushed.q[half, :2].sum()
    assert work[half] == pytest.approx(expected, rel=1e-4)
    assert np.all(np.diff(losses) >= 0.0) and losses[-1] > 0.01
    assert_allclose(balance, pushed.energy - work + losses, rtol=0, atol=1e-15)
    # the trapezoidal rule: four times finer with half the spacing
    coarse = fa.Trajectory(
        pushed.arm, pushed.t[::2], pushed.q[::2], pushed.qd[::2], pushed.tau[::2]
    )
    wide = plotting.energies(coarse, ledger=True, hold=True)[5].get_ydata()
    assert np.abs(balance).max() < 1e-3 * pushed.energy.max()
    assert np.abs(wide).max() / np.abs(balance).max() == pytest.approx(4.0, rel=0.1)


def test_ledger_of_linear_torques_and_a_batch(mixed: fa.Trajectory) -> None:
    t = mixed.t
    tau = np.stack([np.sin(7.0 * t), t**2], axis=-1)
    traj = fa.simulate(mixed.arm, mixed.q[:, 0], mixed.qd[:, 0], t, torque=tau)
    lines = plotting.energies(traj, ledger=True)
    assert len(lines) == 18
    power = np.sum(tau * traj.qd[1], axis=-1)
    work = 0.01 * (power.sum() - 0.5 * (power[0] + power[-1]))
    assert lines[10].get_ydata()[-1] == pytest.approx(work, rel=1e-12)
    assert_array_equal(lines[13].get_ydata(), 0.0)


def test_histories_of_an_incomplete_run_stop_where_it_stopped() -> None:
    arm = fa.library.pendulum()
    q = np.array([[0.0], [0.1], [np.nan]])
    traj = fa.Trajectory(arm, np.arange(3.0), q, q, q, success=False)
    assert np.isfinite(plotting.tip(traj)[0].get_ydata()).tolist() == [1, 1, 0]
    assert np.isfinite(plotting.energies(traj)[2].get_ydata()).tolist() == [1, 1, 0]


# mode shapes


def test_mode_shapes_of_beam_modes() -> None:
    modes = fa.beams.clamped_beam_modes(0.5, 0.2, 1.0, 3, tip_mass=0.1)
    lines = plotting.mode_shapes(modes)
    ax = lines[0].axes
    assert labels(ax) == ["mode 1", "mode 2", "mode 3"]
    x = lines[0].get_xdata()
    assert (x[0], x[-1]) == (0.0, 0.5)
    for j, line in enumerate(lines):
        assert_array_equal(line.get_ydata(), modes.shape(x)[j])
    assert ax.get_xlabel() == "position along the link (m)"
    assert ax.get_ylabel() == "mode shape (m, for a unit)"
    assert len({line.get_color() for line in lines}) == 3


def test_mode_shapes_for_several_payloads() -> None:
    # Figures 2 to 4: colours tell the payloads, styles the modes
    links = {
        f"{m:g} kg": fa.library.de_luca_siciliano(
            payload_mass=m, payload_inertia=0.005 * m
        ).bodies[1]
        for m in (0.0, 0.1, 0.2)
    }
    lines = plotting.mode_shapes(links)
    assert [line.get_label() for line in lines[::2]] == [
        f"{name}, bending y 1" for name in links
    ]
    assert len({line.get_color() for line in lines}) == 3
    assert len({line.get_linestyle() for line in lines}) == 2
    # values at the tip printed in digest 8.3
    tips = [line.get_ydata()[-1] for line in lines]
    printed = [2.0, -2.0, 0.883330, -0.0692634, 0.655618, 0.0322440]
    assert_allclose(tips, printed, rtol=5e-6)


def test_mode_shapes_of_a_body_pass_its_nodes_and_follow_the_beam() -> None:
    body = fa.library.de_luca_siciliano().bodies[1]
    (line,) = plotting.mode_shapes(body, modes=[1])
    every = line.get_markevery()
    assert_allclose(line.get_xdata()[::every], body.node_position[:, 0], rtol=1e-15)
    assert_allclose(line.get_ydata()[::every], body.node_translation[:, 1, 1])
    exact = fa.beams.clamped_beam_modes(
        0.5, 0.2, 1.0, 2, tip_mass=0.1, tip_inertia=0.0005, normalization="link"
    )
    curve = exact.shape(line.get_xdata())[1]
    assert np.abs(line.get_ydata() - curve).max() < 1e-4 * np.abs(curve).max()


def test_mode_shapes_of_bending_and_torsion() -> None:
    bending = fa.beams.clamped_beam_modes(0.5, 0.2, 1.0, 1)
    torsion = fa.beams.clamped_rod_modes(0.5, 1e-5, 2.0, 1)
    link = fa.beams.flexible_link(
        "link", length=0.5, mass_per_length=0.2, bending_z=bending, torsion=torsion
    )
    lines = plotting.mode_shapes(link)
    assert labels(lines[0].axes) == ["bending z 1", "torsion 1"]
    assert lines[0].axes.get_ylabel() == "mode shape (m, twist in rad, for a unit)"
    assert_allclose(lines[0].get_ydata()[-1], bending.tip_deflection[0])
    assert_allclose(lines[1].get_ydata()[-1], link.node_rotation[-1, 0, 1])
    ax = plotting.mode_shapes(link, modes=[1])[0].axes
    assert ax.get_ylabel() == "mode shape (rad, for a unit)"
    lines = plotting.mode_shapes(link, relative=True)
    assert [np.abs(line.get_ydata()).max() for line in lines] == [1.0, 1.0]
    assert lines[0].axes.get_ylabel() == "mode shape (relative to its maximum)"


def test_mode_shapes_refuses() -> None:
    body = fa.library.de_luca_siciliano().bodies[0]
    crooked = fa.FlexibleBody(
        "crooked",
        node_position=[[0, 0, 0], [1, 0, 0], [1, 1, 0]],
        node_mass=[1, 1, 1],
        node_translation=np.ones((3, 3, 1)),
        stiffness=[1.0],
    )
    for bodies, options, message in (
        (body, {"modes": [2]}, "mode 2 does not exist, expected numbers from 0 to 1"),
        (body, {"labels": ["a", "b"]}, "1 bodies and 2 labels"),
        ([], {}, "0 bodies"),
        (crooked, {}, "do not lie on a line"),
        (fa.library.pendulum().bodies[0], {}, "a body is RigidBody"),
    ):
        with pytest.raises(fa.ArgumentError, match=message):
            plotting.mode_shapes(bodies, **options)


# all


def test_all_axes_have_one_style() -> None:
    flat = plotting.arm(fa.library.planar_chain(2)).ax
    space = plotting.arm(fa.library.ur5e()).ax
    film = Film(plotting.scene(fa.library.ur5e()).spec, None)
    for ax in (flat, space, film._ax):
        # lines that are added have the colours of the package
        added = [ax.plot([0.0, 1.0], [0.0, 1.0])[0] for _ in "ab"]
        assert len({line.get_color() for line in added}) == 2
        assert all(line.get_color() in COLORS for line in added)
    for ax in (space, film._ax):
        assert ax.xaxis.pane.get_facecolor()[:3] == (1.0, 1.0, 1.0)
        assert ax.zaxis._axinfo["grid"]["color"] == GRID["color"]
    assert flat.get_xgridlines()[0].get_color() == GRID["color"]


def test_functions_draw_on_the_given_axes(free: fa.Trajectory) -> None:
    figure, axes = plt.subplots(2, 3)
    ax = list(axes.flat)
    plotting.joints(free, ax=ax[0])
    plotting.deflections(free, ax=ax[1])
    plotting.tip(free, ax=ax[2])
    plotting.energies(free, ax=ax[3])
    plotting.mode_shapes(list(free.arm.bodies), ax=ax[4])
    plotting.arm(free.arm, free.q[0], ax=ax[5])
    assert plt.get_fignums() == [figure.number]
    assert all(each.get_lines() for each in ax)
    figure.canvas.draw()


def test_missing_matplotlib_is_named(
    free: fa.Trajectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r'pip install "flexarm\[plot\]"'):
        plotting.joints(free)
    with pytest.raises(ImportError, match=r'pip install "flexarm\[plot\]"'):
        plotting.animate(free)
