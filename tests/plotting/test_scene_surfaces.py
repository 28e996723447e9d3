"""Surfaces of scenes: solid links, colors by numbers, shapes of robots, films."""

from __future__ import annotations

import shutil
import struct
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from each import each
from numpy.testing import assert_allclose
from refusals import argument_refused, model_refused
from robot_texts import TWO, robot_of

import flexarm as fa
from flexarm import beams, plotting, urdf
from flexarm.plotting import _frames
from flexarm.plotting._scene import Scene
from flexarm.plotting._scene_film import Film, decoded
from flexarm.plotting._scene_meshes import read_mesh
from flexarm.plotting._surfaces import Surface, fewer, solid

plt: Any = pytest.importorskip("matplotlib.pyplot")

TUBE = beams.Section.tube(0.06, 0.002, beams.ALUMINIUM)
BAR = beams.Section.rectangle(0.05, 0.02, beams.ALUMINIUM)


def cantilever(section: beams.Section, **options: Any) -> fa.Arm:
    joint = fa.Joint("revolute", axis=(0, 0, 1))
    given: dict[str, Any] = {"length": 2.0, "joint": joint, "n_elements": 2}
    given["n_modes"] = None if options.get("segments") else "all"
    link = beams.finite_element_link("boom", sections=section, **given, **options)
    return fa.Arm([link], gravity=(0, -9.81, 0))


def fall(arm: fa.Arm) -> fa.Trajectory:
    """A short motion from rest."""
    times, still = [0.0, 0.02, 0.04], np.zeros(arm.nv)
    run = fa.simulate(
        arm, np.zeros(arm.nq), still, times, max_step=0.001, method="ROS34PW2"
    )
    assert run.success
    return run


def points(trace: dict[str, Any]) -> np.ndarray:
    return np.stack([decoded(trace[axis]) for axis in "xyz"], axis=1)


def triangles(trace: dict[str, Any]) -> np.ndarray:
    return np.stack([decoded(trace[axis]) for axis in "ijk"], axis=1).astype(int)


def meshes(scene: Scene) -> list[dict[str, Any]]:
    return [t for t in scene.spec["data"] if t["type"] == "mesh3d"]


def volume(corners: np.ndarray) -> float:
    """Of a closed surface (m, 3, 3) whose triangles look outward."""
    a, b, c = np.moveaxis(corners, 1, 0)
    return float(np.einsum("ni,ni->n", a, np.cross(b, c)).sum() / 6.0)


@each(
    "kind, size, exact",
    [
        ("box", (1.0, 2.0, 3.0), 6.0),
        ("cylinder", (0.5, 2.0), np.pi * 0.25 * 2.0),
        ("sphere", (0.5,), np.pi / 6.0),
        ("capsule", (0.5, 2.0), np.pi * 0.25 * 2.0 + np.pi / 6.0),
    ],
    ids=range(4),
)
def test_volumes_of_shapes(kind: str, size: tuple[float, ...], exact: float) -> None:
    """Closed, outward, and as large as polygons of 20 corners are."""
    shape = solid(kind, size)
    found = volume(shape.points[shape.triangles])
    assert 0.93 * exact < found < 1.0001 * exact
    edges = np.sort(shape.triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    assert (np.unique(edges, axis=0, return_counts=True)[1] == 2).all()


def test_fewer_triangles_of_the_same_shape() -> None:
    ball = solid("sphere", (1.0,))
    dense = [ball.points[ball.triangles]]
    for _ in range(3):  # each triangle into four
        a, b, c = np.moveaxis(dense[-1], 1, 0)
        ab, bc, ca = (a + b) / 2, (b + c) / 2, (c + a) / 2
        parts = [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
        dense.append(np.concatenate([np.stack(part, axis=1) for part in parts]))
    corners = dense[-1].reshape(-1, 3)
    surface = Surface(corners, np.arange(len(corners)).reshape(-1, 3))
    coarse = fewer(surface, 2000)
    assert 200 < len(coarse.triangles) <= 2000
    assert volume(coarse.points[coarse.triangles]) == pytest.approx(
        volume(dense[-1]), rel=0.05
    )
    assert fewer(ball, 10_000) is ball


def test_sections_along_the_bent_link() -> None:
    """Corners of the solid, beside the line that bends; volume of the sections."""
    for section, area in ((TUBE, np.pi * 0.03**2), (BAR, 0.05 * 0.02)):
        arm = cantilever(section)
        q = np.array(arm.equilibrium(np.zeros(arm.nq)).q)
        q[0] = 0.4
        (trace,) = meshes(plotting.scene(arm, q, solid=True))
        drawn = points(trace)
        assert volume(drawn[triangles(trace)]) == pytest.approx(2.0 * area, rel=0.03)
        nodes = fa.node_poses(arm, q)
        rings = drawn[:-2].reshape(-1, 4 if section is BAR else 20, 3)
        middles = rings.mean(axis=1)
        profile = arm.bodies[0].beam
        assert profile is not None
        for pose in nodes[np.unique(profile.node)]:
            k = int(np.linalg.norm(middles - pose[:3, 3], axis=1).argmin())
            assert np.linalg.norm(middles[k] - pose[:3, 3]) < 1e-6
            local = (rings[k] - pose[:3, 3]) @ pose[:3, :3]
            assert np.abs(local[:, 0]).max() < 1e-6  # across the line
            if section is BAR:
                assert_allclose(np.abs(local[:, 1]), 0.025, atol=1e-6)
                assert_allclose(np.abs(local[:, 2]), 0.010, atol=1e-6)


def test_rigid_bodies_are_boxes_of_their_inertia() -> None:
    """A box comes back from its mass and inertia, wherever it is and looks."""
    sides = np.array([0.3, 0.2, 0.1])
    squares = sides**2
    inertia = 6.0 / 12.0 * (squares.sum() - squares)
    turn = fa.se3.so3_exp([0.3, -0.5, 0.8])
    body = fa.RigidBody(
        "box", mass=6.0, com=(0.1, 0.2, 0.3), inertia=turn @ np.diag(inertia) @ turn.T
    )
    arm = fa.Arm([body])
    (trace,) = meshes(plotting.scene(arm, [0.7]))
    pose = fa.link_poses(arm, [0.7])[0]
    local = (points(trace) - pose[:3, 3]) @ pose[:3, :3] - [0.1, 0.2, 0.3]
    # the axes come in the order of ascending moments
    corners = (local @ turn)[:8]
    assert_allclose(np.abs(corners), np.tile(sides / 2.0, (8, 1)), atol=1e-6)
    drawn = points(trace)[triangles(trace)]
    assert volume(drawn) == pytest.approx(sides.prod(), rel=1e-5)
    # of a point: a bar to the node
    bar = fa.RigidBody("bar", mass=1.0, com=(0.5, 0, 0), nodes={"a": (0, 2.0, 0)})
    (trace,) = meshes(plotting.scene(fa.Arm([bar])))
    assert_allclose(np.ptp(points(trace), axis=0)[1:], [2.0, 2 / 30], atol=1e-6)
    # several arms differ by their colors; a body without mass has no box
    pair = plotting.scene([arm, arm], [[0.0], [1.0]])
    assert len({trace["color"] for trace in meshes(pair)}) == 2
    rotor = fa.RigidBody("rotor", inertia=(1, 1, 1))
    assert not meshes(plotting.scene(fa.Arm([rotor])))


def test_links_are_solid_while_pages_stay_small() -> None:
    arm = cantilever(TUBE)
    run = fall(arm)
    assert len(meshes(plotting.scene(run, fps=50.0))) == 1
    assert len(meshes(plotting.scene(run, fps=2e5))) == 0
    assert not meshes(plotting.scene(arm, solid=False))


def test_colors_are_deflections_and_stresses() -> None:
    arm = cantilever(TUBE)
    q = np.asarray(arm.equilibrium(np.zeros(arm.nq)).q)
    still = np.zeros(arm.nv)
    (bent,) = meshes(plotting.scene(arm, q, color_by="deflection", scale=7.0))
    away = np.linalg.norm(fa.tip_pose(arm, q)[:3, 3] - [2.0, 0, 0])
    assert decoded(bent["intensity"])[-1] == pytest.approx(1e3 * away, rel=1e-6)
    assert bent["cmax"] == pytest.approx(1e3 * away, rel=1e-6)
    assert bent["colorbar"]["title"]["text"] == "deflection (mm)"
    (loaded,) = meshes(plotting.scene(arm, q, color_by="stress"))
    stress = fa.link_loads(arm, q, still, still)["boom"].stress()
    found = decoded(loaded["intensity"])
    assert found[-2] == pytest.approx(1e-6 * stress[0], rel=1e-6)
    assert abs(found[-1]) < 1e-6 * found[-2]
    # sections of the root, M = mu g L^2 / 2
    moment = TUBE.mass_per_length * 9.81 * 2.0
    assert found[0] == pytest.approx(
        1e-6 * float(TUBE.normal_stress(0.0, 0.0, moment)), rel=1e-3
    )


def test_stresses_of_a_motion_and_of_pieces() -> None:
    arm = cantilever(TUBE, segments=2)
    run = fall(arm)
    shown = plotting.scene(run, color_by="stress", fps=50.0)
    (first,) = meshes(shown)
    qdd = fa.forward_dynamics(arm, run.q, run.qd, run.tau)
    stress = 1e-6 * fa.link_loads(arm, run.q, run.qd, qdd)["boom"].stress()
    for k, frame in enumerate(shown.spec["frames"]):
        (now,) = [part for part in frame["data"] if part["type"] == "mesh3d"]
        values = decoded(now["intensity"])
        assert values[0] == pytest.approx(stress[k, 0], rel=1e-5, abs=1e-9)
        assert values.max() <= first["cmax"] * (1 + 1e-6)
    assert len(points(first)) == len(values)


def test_modes_swing() -> None:
    arm = cantilever(BAR)
    modes = fa.vibration_modes(arm, np.zeros(arm.nq), held=[0])
    shown = plotting.scene(modes, mode=1, color_by="deflection")
    f = modes.frequencies[1]
    assert f"mode 2 at {f:.4g} Hz, its size chosen" in shown.title
    assert shown.times is not None and shown.times[-1] == 2.0
    (first,) = meshes(shown)
    # 8 % of the length at the start, as in the shape
    assert first["cmax"] == pytest.approx(0.08 * 2e3, rel=0.08**2)
    argument_refused(["mode is 999"], lambda: plotting.scene(modes, mode=999))
    argument_refused(["free"], lambda: plotting.scene(modes, color_by="stress"))
    many = fa.vibration_modes(arm, np.zeros((2, arm.nq)), held=[0])
    argument_refused(["one posture"], lambda: plotting.scene(many))


def stl(corners: np.ndarray) -> bytes:
    rows = b"".join(
        struct.pack("<12fH", 0.0, 0.0, 0.0, *each.ravel(), 0) for each in corners
    )
    return b"\0" * 80 + struct.pack("<I", len(corners)) + rows


BOX = solid("box", (0.2, 0.1, 0.1))


def robot_with(folder: Path, *shapes: str) -> urdf.Robot:
    """Two rods, the first with shapes, and a box at the root."""
    visuals = "".join(f"<visual>{each}</visual>" for each in shapes)
    text = robot_of(TWO).replace('<link name="rod1">', f'<link name="rod1">{visuals}')
    base = '<visual><geometry><box size="1 1 1"/></geometry></visual>'
    text = text.replace('<link name="root"/>', f'<link name="root">{base}</link>')
    (folder / "robot.urdf").write_text(text)
    return urdf.read(folder / "robot.urdf")


def test_shapes_of_robots_move_with_their_links(tmp_path: Path) -> None:
    pytest.importorskip("trimesh")
    (tmp_path / "box.stl").write_bytes(stl(BOX.points[BOX.triangles]))
    place = '<origin xyz="0.1 0 0" rpy="0 0 1.5707963267948966"/>'
    red = '<material name=""><color rgba="1 0 0 1"/></material>'
    mesh = f'{place}<geometry><mesh filename="box.stl" scale="2 1 1"/></geometry>{red}'
    robot = robot_with(tmp_path, mesh)
    arm = urdf.load(tmp_path / "robot.urdf")
    q = np.array([0.7, 0.2])
    still, red_one = meshes(plotting.scene(arm, q, visuals=robot, solid=False))
    if still["color"] == "#ff0000":
        still, red_one = red_one, still
    assert red_one["color"] == "#ff0000"
    corners = np.array([[2 * x, y, z] for x, y, z in BOX.points])
    turned = corners @ robot.links[1].visuals[0].rotation.T + [0.1, 0, 0]
    pose = fa.link_poses(arm, q)[0]
    wanted = turned @ pose[:3, :3].T + pose[:3, 3]
    drawn = points(red_one)
    gaps = np.linalg.norm(drawn[:, np.newaxis] - wanted, axis=2)
    assert gaps.min(axis=1).max() < 1e-6 and gaps.min(axis=0)[:8].max() < 1e-6
    assert_allclose(np.abs(points(still)[:8]).max(), 0.5)
    # on a base somewhere else, and as a report
    turn = fa.se3.so3_exp([0.0, 0.0, np.pi / 2])
    base = fa.Joint("fixed", position=(1, 2, 3), rotation=turn)
    moved = urdf.report(tmp_path / "robot.urdf", base=base)
    both = meshes(plotting.scene(moved.arm, q, visuals=moved, solid=False))
    middle = [points(t)[:8].mean(axis=0) for t in both if t["color"] != "#ff0000"]
    assert_allclose(middle[0], [1, 2, 3], atol=1e-6)
    corner = next(points(t)[0] for t in both if t["color"] != "#ff0000")
    assert_allclose(turn.T @ (corner - [1, 2, 3]), points(still)[0], atol=1e-6)


def test_meshes_that_cannot_be_read_are_said_once(tmp_path: Path) -> None:
    pytest.importorskip("trimesh")
    (tmp_path / "bad.stl").write_bytes(b"solid x")
    sphere = '<geometry><sphere radius="0.1"/></geometry>'
    bad = '<geometry><mesh filename="bad.stl"/></geometry>'
    robot = robot_with(tmp_path, sphere, bad, bad)
    arm = urdf.load(tmp_path / "robot.urdf")
    with pytest.warns(urdf.UrdfWarning, match="has no triangles") as caught:
        shown = plotting.scene([arm, arm], visuals=robot)
    assert len(caught) == 1
    assert len(meshes(shown)) == 2  # one color each


def test_plane_and_axes() -> None:
    arm = fa.library.iiwa14()
    q = np.full(7, 0.3)
    shown = plotting.scene(arm, q, plane=True, frames=["link3"], solid=False)
    (plane,) = meshes(shown)
    assert np.abs(points(plane)[:, 2]).max() < 1e-7
    leaning = arm.replace(gravity=(3.0, 0.0, -9.0))
    (plane,) = meshes(plotting.scene(leaning, q, plane=True, solid=False))
    assert np.abs(points(plane) @ [3.0, 0.0, -9.0]).max() < 1e-5
    assert np.ptp(points(plane), axis=0).min() > 0.1
    lines = [t for t in shown.spec["data"] if t.get("line", {}).get("width") == 6]
    pose, tip = fa.link_poses(arm, q)[2], fa.tip_pose(arm, q)
    for i, line in enumerate(lines):
        ends = points(line)
        assert_allclose(ends[[0, 3]], [pose[:3, 3], tip[:3, 3]], atol=1e-6)
        along = ends[1] - ends[0]
        assert_allclose(along / np.linalg.norm(along), pose[:3, i], atol=1e-5)
    assert len(lines) == 3


def test_films(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arm = cantilever(BAR)
    shown = plotting.scene(fall(arm), color_by="deflection", fps=50.0, plane=True)
    from PIL import Image

    with Image.open(shown.save(tmp_path / "a.gif", dpi=40)) as film:
        assert film.n_frames == 3 and film.size == (320, 240)
        film.seek(1)
        middle = np.array(film.convert("RGB"))
    with Image.open(shown.save(tmp_path / "a.png", dpi=40)) as picture:
        first = np.array(picture.convert("RGB"))
    assert first.std() > 5.0 and middle.shape == first.shape
    assert np.abs(first.astype(int) - middle).max() > 20  # it moves
    # a still scene is a film of one picture
    still = plotting.scene(arm, solid=True)
    with Image.open(still.save(tmp_path / "b.gif", dpi=30)) as film:
        assert getattr(film, "n_frames", 1) == 1
    # the video program of the system, of a package, or none
    if shutil.which("ffmpeg"):
        video = shown.save(tmp_path / "a.mp4", dpi=40)
        assert b"ftyp" in video.read_bytes()[:12]
    monkeypatch.setattr(_frames.shutil, "which", lambda _: None)
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    argument_refused(
        ["need ffmpeg", "imageio-ffmpeg"], lambda: shown.save(tmp_path / "a.mp4")
    )
    own = SimpleNamespace(get_ffmpeg_exe=lambda: "/bin/ffmpeg of a package")
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", own)
    assert _frames.ffmpeg() == "/bin/ffmpeg of a package"


def test_a_film_shows_the_points_of_the_frames() -> None:
    run = fa.simulate(fa.library.planar_chain(2), [0.0, 0.5], [0, 0], [0.0, 0.04, 0.08])
    shown = plotting.scene(run, solid=False)
    film = Film(shown.spec, shown.times)
    film.draw(1)
    for number, part in zip(
        shown.spec["frames"][1]["traces"], shown.spec["frames"][1]["data"], strict=True
    ):
        found = np.transpose(film._artists[number].get_data_3d())
        assert_allclose(found, points(part))
    plt.close(film.figure)


def test_surfaces_need_beams_shapes_and_known_colors(tmp_path: Path) -> None:
    rigid, arm = fa.library.iiwa14(), cantilever(TUBE)
    bare = fa.library.planar_chain(1, n_modes=2)
    for words, call in (
        (
            ["no link of the arms is a beam"],
            lambda: plotting.scene(rigid, color_by="stress"),
        ),
        (["color_by is 'heat'"], lambda: plotting.scene(arm, color_by="heat")),
        (["visuals is int"], lambda: plotting.scene(arm, visuals=7)),
        (["no shape for a rigid"], lambda: plotting.scene(arm, visuals={"a": ()})),
        (["frames is 7"], lambda: plotting.scene(arm, frames=7)),  # type: ignore[arg-type]
        (["ends in '.avi'"], lambda: plotting.scene(arm).save(tmp_path / "a.avi")),
    ):
        argument_refused(words, call)
    model_refused(["no sections"], lambda: plotting.scene(bare, color_by="stress"))
    run = fall(arm)
    argument_refused(
        ["points in all frames"], lambda: plotting.scene(run, solid=True, fps=5e5)
    )


HEADER = "ply\nformat binary_little_endian 1.0\nelement vertex 4000000000\n"
HEADER += "property float x\nproperty float y\nproperty float z\nelement face 1\n"
HEADER += "property list uchar int vertex_indices\nend_header\n"
CORNERS = "v 0 0 0\nv 1 0 0\nv 0 1 0\n"
DOCTYPE = '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "c">]><COLLADA>&b;</COLLADA>'


@each(
    "name, content, words",
    [
        ("a.stl", b"", "no triangles"),
        ("a.stl", b"\0" * 80 + b"\xff" * 4 + b"\0" * 50, "no triangles"),
        ("a.stl", b"solid x\n" + b"facet normal 0 0 0\n" * 10, "no triangles"),
        ("a.obj", CORNERS.replace("1 0 0", "nan 0 0") + "f 1 2 3\n", "finite numbers"),
        ("a.obj", CORNERS + "f 1 2 30\n", "is not read"),
        ("a.obj", CORNERS + "f 1 2 -9\n", "is not read"),
        ("a.obj", b"\xff\xfe" * 50, "mesh"),
        ("a.off", "OFF\n1000000000 1000000000 0\n0 0 0\n", "is not read"),
        ("a.ply", HEADER.encode() + b"\0" * 99, "is not read"),
        ("a.dae", DOCTYPE, "entities are not expanded"),
        ("a.dae", DOCTYPE.encode("utf-16"), "entities are not expanded"),
        ("a.dae", "<COLLADA/>", "is not read"),
        ("a.txt", "x", "ends in 'txt', expected one of stl"),
    ],
    ids=range(13),
)
def test_hostile_meshes(
    tmp_path: Path, name: str, content: str | bytes, words: str
) -> None:
    pytest.importorskip("trimesh")
    pytest.importorskip("collada")
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    model_refused([words, f"mesh '{tmp_path}"], lambda: read_mesh(str(path)))


def test_meshes_too_large_or_no_files(tmp_path: Path) -> None:
    pytest.importorskip("trimesh")
    with open(tmp_path / "a.stl", "wb") as hole:
        hole.truncate(1 << 34)
    for path, words in (
        (tmp_path / "a.stl", "17179869184 bytes, expected at most 67108864"),
        (tmp_path, "ends in ''"),
    ):
        model_refused([words], lambda path=path: read_mesh(str(path)))
    (tmp_path / "b.stl").mkdir()
    model_refused(["is a directory"], lambda: read_mesh(str(tmp_path / "b.stl")))
    # materials and textures of other files are not opened
    text = "mtllib ../../../etc/passwd\nusemtl a\n" + CORNERS + "f 1 2 3\n"
    (tmp_path / "c.obj").write_text(text)
    assert read_mesh(str(tmp_path / "c.obj")).triangles.tolist() == [[0, 1, 2]]


def test_without_trimesh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "trimesh", None)
    (tmp_path / "a.stl").write_bytes(b"")
    with pytest.raises(ImportError, match=r'pip install "flexarm\[meshes\]"'):
        read_mesh(str(tmp_path / "a.stl"))
