"""Maps over the workspace, and the figures of maps and of vibrating arms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from few_modes import planar_chain
from numpy.testing import assert_allclose, assert_array_equal
from refusals import argument_refused

import flexarm as fa
from flexarm import plotting


def arm_and_grid() -> tuple[fa.Arm, Any]:
    arm = planar_chain(2, n_modes=2, payload_mass=0.5)
    angles = {"link2": [0.3, 1.0, 2.0], "link1": [-0.5, 0.0, 0.5, 1.0]}
    return arm, fa.joint_grid(arm, angles)


def test_a_grid_has_an_axis_for_each_joint() -> None:
    arm, grid = arm_and_grid()
    assert grid.shape == (3, 4, arm.nq)
    assert_array_equal(grid[1, :, 0], [-0.5, 0.0, 0.5, 1.0])
    assert_array_equal(grid[:, 2, 1], [0.3, 1.0, 2.0])
    assert not grid[..., 2:].any()
    rest = np.arange(float(arm.nq))
    assert_array_equal(fa.joint_grid(arm, {"link1": [7.0]}, rest)[0, 1:], rest[1:])
    for joints, told in (
        ({"link9": [0.0]}, "no position 'link9'"),
        ({"link1": 0.0}, "expected one axis"),
        ({"link1": [np.nan]}, "finite"),
    ):
        with pytest.raises(fa.FlexarmError, match=told):
            fa.joint_grid(arm, joints)
    argument_refused(["q has shape"], lambda: fa.joint_grid(arm, {}, [0.0]))


def test_a_map_is_its_parts_posture_by_posture() -> None:
    arm, grid = arm_and_grid()
    load = [0, 0, 0, 1.0, -2.0, 0]
    found = fa.workspace_map(arm, grid, wrench=load, frame="base")
    assert found.success.all() and found.q.shape == grid.shape
    for at in ((0, 0), (2, 3)):
        options: dict[str, Any] = {"wrench": load, "frame": "base"}
        rest = fa.equilibrium(arm, grid[at], **options)
        assert_allclose(found.q[at], rest.q, rtol=0.0, atol=1e-12)
        assert_allclose(found.tau[at], rest.tau[:2], rtol=1e-10)
        assert_allclose(found.pose[at], fa.tip_pose(arm, rest.q), rtol=0.0, atol=1e-12)
        f = fa.natural_frequencies(arm, rest.q, held="joints", **options)
        assert_allclose(found.frequencies[at], f, rtol=1e-9)
        moved = fa.deflection(arm, grid[at], **options)
        assert_allclose(found.deflection[at], moved, rtol=0.0, atol=1e-12)
        assert_allclose(found.sag[at], np.linalg.norm(moved[3:]), rtol=1e-9)
        C = fa.Arm.static_compliance(
            arm, rest.q, frame="base", wrench=load, wrench_frame="base"
        )
        assert_allclose(found.compliance[at], C, rtol=0.0, atol=1e-9 * abs(C).max())
        widest = np.linalg.svd(C[3:, 3:], compute_uv=False)[0]
        assert_allclose(found.softness[at], widest, rtol=1e-9)


def test_a_map_over_places_has_the_tip_there() -> None:
    arm, _ = arm_and_grid()
    x, y = np.meshgrid([1.0, 1.5, 2.5], [0.2, 0.4])
    target = np.stack([x, y, 0 * x], axis=-1)
    found = fa.workspace_map(arm, [0.5, -1.0, 0, 0, 0, 0], target=target, restarts=0)
    assert_array_equal(found.success, [[True, True, False]] * 2)
    assert_allclose(found.pose[:, :2, :3, 3], target[:, :2], rtol=0.0, atol=1e-9)
    for name in ("pose", "tau", "squares", "deflection", "compliance", "sag"):
        values = getattr(found, name)
        assert np.isnan(values[:, 2]).all() and np.isfinite(values[:, :2]).all()
    assert np.isnan(found.softness[:, 2]).all()
    with pytest.raises(fa.ArgumentError, match="restarts given without a target"):
        fa.workspace_map(arm, np.zeros(6), restarts=3)


# figures


def test_maps_are_coloured_surfaces_or_points() -> None:
    pytest.importorskip("matplotlib")
    arm, grid = arm_and_grid()
    found = fa.workspace_map(arm, grid)
    for quantity in ("frequency", "sag", "softness"):
        colors = plotting.workspace(found, quantity)
        expected = {"frequency": found.frequencies[..., 0]}.get(quantity)
        if expected is None:
            expected = getattr(found, quantity)
        assert_allclose(np.ravel(colors.get_array()), expected.ravel())
        assert colors.axes.get_xlabel() == "x (m)"
    assert plotting.workspace(found, mode=1).colorbar.ax.get_ylabel() == (
        "natural frequency 2 (Hz)"
    )
    last = f"natural frequency {found.frequencies.shape[-1]} (Hz)"
    assert plotting.workspace(found, mode=-1).colorbar.ax.get_ylabel() == last
    row = fa.workspace_map(arm, grid[0])
    assert len(plotting.workspace(row).get_offsets()) == 4
    solid = fa.library.cibicik_egeland()
    q = fa.joint_grid(solid, {solid.position_names[1]: [0.3, 0.6, 0.9]})
    points = plotting.workspace(fa.workspace_map(solid, q))
    assert hasattr(points.axes, "get_zlim") and len(points.get_array()) == 3
    flat = plotting.workspace(fa.workspace_map(solid, q), "sag", plane="xz")
    assert flat.axes.get_ylabel() == "z (m)"
    for options, told in (
        ({"quantity": "mass"}, "quantity is"),
        ({"mode": 9}, "mode 9"),
    ):
        with pytest.raises(fa.ArgumentError, match=told):
            plotting.workspace(found, **options)


def test_postures_without_equilibrium_are_crosses() -> None:
    pytest.importorskip("matplotlib")
    arm, _ = arm_and_grid()
    target = [[1.0, 0.2, 0.0], [1.5, 0.3, 0.0], [3.0, 0.0, 0.0]]
    found = fa.workspace_map(arm, [0.5, -1.0, 0, 0, 0, 0], target=target, restarts=0)
    colors = plotting.workspace(found)
    assert len(colors.get_offsets()) == 2
    assert len(colors.axes.collections) == 2


def test_a_mode_is_drawn_to_both_sides_of_its_posture() -> None:
    pytest.importorskip("matplotlib")
    arm, _ = arm_and_grid()
    rest = fa.equilibrium(arm, np.array([0.3, -0.6, 0, 0, 0, 0]))
    modes = fa.vibration_modes(arm, rest.q, held="joints")
    drawing = plotting.vibration(modes, 1, amplitude=0.01)
    assert len(drawing.lines) == 3
    tips = [lines["tip"].get_xydata()[0] for lines in drawing.lines]
    for side, tip in zip((0.0, -0.01, 0.01), tips, strict=True):
        expected = fa.tip_pose(arm, modes.displaced(1, side))[:2, 3]
        assert_allclose(tip, expected, rtol=0.0, atol=1e-14)
    assert drawing.ax.get_title() == f"mode 2, {modes.frequencies[1]:.3g} Hz"
    # by itself the picture moves the node that moves most by an eighth of the arm
    drawing = plotting.vibration(modes, 0)
    ends = [lines["links"].get_xydata() for lines in drawing.lines]
    apart = np.nanmax(np.linalg.norm(ends[2] - ends[0], axis=1))
    assert 0.1 < apart < 0.4
    assert plotting.vibration(modes, -1).ax.get_title().startswith("mode 4")


def test_titles_name_rigid_and_unstable_motions() -> None:
    pytest.importorskip("matplotlib")
    chain = planar_chain(1, gravity=(0, 0, 0))
    drawing = plotting.vibration(fa.vibration_modes(chain, [0.0]))
    assert drawing.ax.get_title() == "mode 1, rigid motion"
    up = fa.vibration_modes(fa.library.pendulum(), [np.pi / 2.0])
    assert plotting.vibration(up).ax.get_title().endswith("Hz, unstable")
    argument_refused(["mode 1 does not exist"], lambda: plotting.vibration(up, 1))
    many = fa.vibration_modes(chain, [[0.0], [1.0]])
    argument_refused(["a batch of shape"], lambda: plotting.vibration(many))


def test_twisting_modes_are_drawn_too() -> None:
    pytest.importorskip("matplotlib")
    arm = fa.library.cibicik_egeland()
    q = fa.library.poses(arm)["initial"]
    modes = fa.vibration_modes(arm, q, held="joints")
    assert plotting.vibration(modes, modes.squares.shape[-1] - 1).plane == "3d"
    # the second one moves in the vertical plane of the posture
    assert [plotting.vibration(modes, k).plane for k in (0, 1)] == ["3d", "xz"]


def test_modes_are_drawn_in_the_plane_in_which_they_move() -> None:
    pytest.importorskip("matplotlib")
    bar = fa.beams.Section.rectangle(0.04, 0.02, "aluminium")
    link = fa.beams.Beam(bar, length=1.0).elements("beam", 6, n_modes=3)
    arm = fa.Arm([link], gravity=(0, 0, 0))
    modes = fa.vibration_modes(arm, arm.neutral, held="joints")
    for k in range(6):
        # by the masses of the coordinates: y, z or the twist
        part = modes.participation[:, k] @ [
            [mark in name for mark in (" y", " z", "rz", "ry", "rx", "torsion")]
            for name in arm.coordinate_names
        ]
        across, up, twist = part[0] + part[2], part[1] + part[3], part[4] + part[5]
        drawing = plotting.vibration(modes, k)
        wanted = {"xy": across, "xz": up, "3d": twist}
        assert wanted[drawing.plane] > 0.99
        moved = [lines["links"] for lines in drawing.lines]
        if drawing.plane != "3d":
            y = [line.get_ydata() for line in moved]
            assert np.nanmax(np.abs(y[2] - y[1])) > 0.05
            continue
        # lines across turn by half a radian where the twist is largest
        ribs = [
            np.transpose(line.get_data_3d()).reshape(-1, 3, 3)[:, :2]
            for line in drawing.ax.lines
            if line not in [x for lines in drawing.lines for x in lines.values()]
        ]
        ways = [rib[:, 1] - rib[:, 0] for rib in ribs]
        cosine = np.einsum("ni,ni->n", ways[0], ways[2]) / np.sum(ways[0] ** 2, axis=1)
        assert_allclose(np.arccos(cosine).max(), 0.5, rtol=1e-6)
    flat = pytest.importorskip("matplotlib.pyplot").figure().add_subplot()
    assert plotting.vibration(modes, 0, ax=flat).plane == "xz"


def test_what_is_no_mapping_and_what_is_no_option() -> None:
    pytest.importorskip("matplotlib")
    arm = planar_chain(2, n_modes=2)
    with pytest.raises(fa.ArgumentError, match=r"joints is \[1, 2\], expected values"):
        fa.joint_grid(arm, [1, 2])  # type: ignore[arg-type]
    with pytest.raises(fa.ArgumentError, match="deflection is not an option"):
        fa.inverse_statics(arm, [1.2, 0.5, 0.0], deflection=True)


def test_motions_without_stiffness_are_infinitely_compliant() -> None:
    arm = fa.library.de_luca_siciliano()  # without gravity in its plane
    free = fa.workspace_map(arm, np.zeros((3, 6)), held=[])
    assert free.success.all() and np.isposinf(free.compliance).all()
    assert np.isnan(free.softness).all()
