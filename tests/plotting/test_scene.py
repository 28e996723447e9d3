"""Scenes of plotly: the points that a page holds, its title, controls and files."""

from __future__ import annotations

import base64
import dataclasses
import itertools
import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from refusals import argument_refused

import flexarm as fa
from flexarm import plotting
from flexarm.plotting._frames import Palette
from flexarm.plotting._scene_parts import payloads

plt: Any = pytest.importorskip("matplotlib.pyplot")

ARM = fa.library.farid_spatial(elements=1)


@pytest.fixture(scope="module")
def posture() -> np.ndarray:
    q = ARM.neutral.copy()
    q[ARM.joint_position_slice] = [0.3, 0.5, -0.8, 0.3]
    return np.asarray(ARM.equilibrium(q).q)


@pytest.fixture(scope="module")
def swings() -> list[fa.Trajectory]:
    """A flexible chain and a rigid one, released level."""
    t = np.linspace(0.0, 0.2, 201)
    arms = [
        fa.library.planar_chain(2, n_modes=2, bending_stiffness=4.0, payload_mass=0.2),
        fa.library.planar_chain(2, payload_mass=0.2),
    ]
    return [fa.simulate(a, np.zeros(a.nq), np.zeros(a.nv), t) for a in arms]


def points(trace: dict[str, Any]) -> np.ndarray:
    """Points (n, 3) of a trace, as plotly.js reads them."""
    assert all(trace[axis]["dtype"] == "f4" for axis in "xyz")
    columns = [base64.b64decode(trace[axis]["bdata"]) for axis in "xyz"]
    return np.stack([np.frombuffer(c, "<f4") for c in columns], axis=1)


def part(traces: list[dict[str, Any]], **look: Any) -> dict[str, Any]:
    """The trace of a scene with these entries in its line or marker."""
    (one,) = [
        t
        for t in traces
        if look.items() <= {**t.get("line", {}), **t.get("marker", {})}.items()
    ]
    return one


def passes(trace: dict[str, Any], wanted: Any) -> bool:
    """Whether every point is one of the points of a trace, to single precision."""
    drawn = points(trace)
    gaps = np.linalg.norm(drawn[:, np.newaxis] - np.atleast_2d(wanted), axis=2)
    return bool(np.all(np.nanmin(gaps, axis=0) < 1e-6))


def test_links_joints_axes_payload_and_ghost_are_where_kinematics_has_them(
    posture: np.ndarray,
) -> None:
    traces = plotting.scene(ARM, posture, solid=False).spec["data"]
    nodes = fa.node_poses(ARM, posture)
    assert passes(part(traces, width=10), nodes[1:-1, :3, 3])
    link = fa.link_poses(ARM, posture)
    # base and link1 meet at the origin
    joints = part(traces, size=5)
    assert_allclose(points(joints), link[:4, :3, 3], rtol=0, atol=1e-6)
    assert joints["text"][0] == "base: revolute"
    (load,) = points(part(traces, symbol="diamond"))
    assert_allclose(load, nodes[-1, :3, 3], rtol=0, atol=1e-6)
    assert part(traces, symbol="diamond")["text"] == ["payload: 2 kg"]
    axes = points(part(traces, color="black")).reshape(-1)
    ends = axes[3:].reshape(4, 3, 3)  # after one gap: two ends and a gap each
    along = (ends[:, 1] - ends[:, 0]) / np.linalg.norm(
        ends[:, 1] - ends[:, 0], axis=1, keepdims=True
    )
    assert_allclose(ends[:, :2].mean(axis=1), link[:4, :3, 3], rtol=0, atol=1e-6)
    turned = [
        p[:3, :3] @ b.joint.screws[:3, 0]
        for p, b in zip(link[:4], ARM.bodies[:4], strict=True)
    ]
    assert_allclose(along, turned, rtol=0, atol=1e-5)
    straight = posture.copy()
    straight[ARM.motor_position_slice.stop :] = 0.0
    rest = part(traces, dash="dash")
    assert passes(rest, fa.node_poses(ARM, straight)[1:-1, :3, 3])


def test_deflections_are_exaggerated_and_the_title_says_so(posture: np.ndarray) -> None:
    large = posture.copy()
    large[ARM.motor_position_slice.stop :] *= 20.0
    shown = plotting.scene(ARM, posture, scale=20.0, solid=False)
    assert shown.title == "farid_spatial, deflections 20 times as large"
    assert shown.spec["layout"]["title"]["text"] == shown.title
    assert passes(
        part(shown.spec["data"], width=10), fa.node_poses(ARM, large)[:, :3, 3]
    )
    assert plotting.scene(ARM).title == "farid_spatial, deflections to scale"
    assert plotting.scene(fa.library.puma560()).title == "puma560"
    both = plotting.scene(
        [ARM, ARM], [posture, posture], scale=[1, 20], labels=["true", "large"]
    )
    assert both.title == "farid_spatial, deflections times 1 (true), 20 (large)"
    # nothing leaves the view
    layout = both.spec["layout"]["scene"]
    for k, name in enumerate("xyz"):
        low, high = layout[f"{name}axis"]["range"]
        assert layout[f"{name}axis"]["title"]["text"] == f"{name} (m)"
        for trace in both.spec["data"]:
            drawn = points(trace)[:, k]
            assert np.nanmin(drawn, initial=low) >= low
            assert np.nanmax(drawn, initial=high) <= high
    spans = [np.ptp(layout[f"{name}axis"]["range"]) for name in "xyz"]
    ratio = [layout["aspectratio"][name] for name in "xyz"]
    assert_allclose(np.divide(spans, ratio), spans[0] / ratio[0])  # equal scales


def test_motions_play_together(swings: list[fa.Trajectory]) -> None:
    named = {"labels": ["flexible", "rigid"]}
    shown = plotting.scene(swings, fps=50.0, solid=False, **named)
    spec, times = shown.spec, shown.times
    assert times is not None
    assert_allclose(times, np.arange(11) * 0.02, rtol=0, atol=1e-15)
    assert repr(shown) == "<Scene: planar_chain, deflections to scale, 11 frames>"
    assert [t["name"] for t in spec["data"] if t["showlegend"]] == ["flexible", "rigid"]
    for k in (0, 7):
        frame = spec["frames"][k]
        assert frame["name"] == str(k) and len(frame["data"]) == len(frame["traces"])
        # each part of a frame replaces the same part of the first one
        first = [spec["data"][i] for i in frame["traces"]]
        for run, label in zip(swings, ("flexible", "rigid"), strict=True):
            at = [i for i, t in enumerate(first) if t["name"] == label]
            where = [i for i in at if first[i].get("line", {}).get("width") == 10]
            nodes = fa.node_poses(run.arm, run.q[20 * k])[:, :3, 3]
            assert passes(frame["data"][where[0]], nodes)
    paths = [t for t in spec["data"] if t.get("opacity") == 0.6]
    assert_allclose(points(paths[0]), swings[0].tip, rtol=0, atol=1e-6)
    slider = spec["layout"]["sliders"][0]
    assert [step["label"] for step in slider["steps"][:2]] == ["0.00", "0.02"]
    assert [step["args"][0] for step in slider["steps"][:2]] == [["0"], ["1"]]
    buttons = spec["layout"]["updatemenus"][0]["buttons"]
    assert [b["label"] for b in buttons] == ["play", "pause"]
    assert buttons[0]["args"][1]["frame"]["duration"] == 20.0
    # seen along the axis on which nothing happens
    assert spec["layout"]["scene"]["camera"]["eye"] == {"x": 0, "y": 0, "z": 2}
    bare = plotting.scene(swings[0], trace=False, undeformed=False, solid=False)
    assert len(bare.spec["data"]) == len(spec["frames"][0]["data"]) // 2 + 1


def test_paths_are_smooth_between_few_states() -> None:
    """A rod that turns: its path is a circle, not a polygon."""
    arm = fa.library.pendulum(com=1.0)
    t = np.linspace(0.0, 1.0, 9)
    q = 2.0 * t[:, np.newaxis]
    run = fa.Trajectory(arm, t, q, np.full_like(q, 2.0), 0.0 * q)
    for fps in (25.0, 3.0):
        traces = plotting.scene(run, fps=fps, solid=False).spec["data"]
        (way,) = [each for each in traces if each.get("opacity") == 0.6]
        drawn = points(way)
        assert_allclose(drawn[::8], run.tip, rtol=0, atol=1e-6)
        radius = np.linalg.norm(drawn, axis=1) / np.linalg.norm(run.tip[0])
        # chords of a quarter of a rad come nearer to the center by 1 - cos(1/8)
        assert abs(radius - 1.0).max() < 0.3 * (1.0 - np.cos(0.125))


def test_loops_have_their_joints_and_their_ground() -> None:
    bar = fa.RigidBody("bar", mass=1.0, inertia=(0, 0.1, 0.1), nodes={"tip": (1, 0, 0)})
    held = {"directions": ("x", "y"), "position2": (1.5, 0.0, 0.0)}
    bars = [bar, bar.replace(name="next", joint=fa.Joint(parent="bar", node="tip"))]
    pin = fa.Loop(("next", "tip"), "ground", **held)
    arm = fa.Arm(bars, constraints=[pin])
    q = fa.close_loops(arm, [0.5, -1.0], hold=[])
    traces = plotting.scene(arm, q).spec["data"]
    joints, base = part(traces, size=5), part(traces, symbol="square")
    wanted = [*fa.link_poses(arm, q)[:, :3, 3], [1.5, 0.0, 0.0]]
    assert_allclose(points(joints), wanted, rtol=0, atol=1e-6)
    assert joints["text"][-1] == f"loop {pin.name}"
    assert_allclose(points(base), [[0, 0, 0], [1.5, 0, 0]], rtol=0, atol=1e-7)
    assert base["text"] == ["base", "ground"]
    drawing = plotting.arm(arm, q)
    assert_allclose(drawing.lines[0]["base"].get_xdata(), [0.0, 1.5])
    plt.close(drawing.ax.figure)


def test_batches_stay_apart_and_arms_stand_beside_motions() -> None:
    arm = fa.library.planar_chain(2)
    run = fa.simulate(arm, [[0.0, 0.1], [0.5, 0.2]], np.zeros(2), [0.0, 0.04, 0.08])
    shown = plotting.scene([run, arm], [[1.0, 0.0]])
    names = [t["name"] for t in shown.spec["data"] if t["showlegend"]]
    assert names == ["planar_chain 1, 1", "planar_chain 1, 2", "planar_chain 2"]
    assert len(shown.spec["frames"]) == 3


def cut(run: fa.Trajectory, n: int) -> fa.Trajectory:
    """Return a run that failed after n samples."""
    q, qd = run.q.copy(), run.qd.copy()
    q[n:] = qd[n:] = np.nan
    return dataclasses.replace(run, q=q, qd=qd, success=False)


def test_motions_cut_short_say_so(swings: list[fa.Trajectory]) -> None:
    run = swings[1]
    short, at_once = cut(run, 101), cut(run, 1)
    told = ", incomplete: ends at 0.1 s"
    assert plotting.scene([run, short]).title.endswith(told)
    animation = plotting.animate(short)
    plt.close(animation.drawing.ax.figure)
    assert animation.clock.get_text().endswith(told)
    assert "incomplete" not in plotting.scene(run).title
    assert "sliders" not in plotting.scene(at_once).spec["layout"]  # nothing to play


@pytest.mark.parametrize("lift", [0.0, 1.5])
def test_eye_sees_the_whole_box_and_not_from_far(lift: float) -> None:
    q = ARM.neutral.copy()
    q[1] = lift
    space = plotting.scene(ARM, q).spec["layout"]["scene"]
    eye = np.array([space["camera"]["eye"][name] for name in "xyz"])
    half = np.array([space["aspectratio"][name] for name in "xyz"]) / 2.0
    corners = half * np.array(list(itertools.product((-1.0, 1.0), repeat=3)))
    rays = corners - eye
    depth = rays @ -eye / np.linalg.norm(eye)
    side = np.cross(eye, [0.0, 0.0, 1.0])
    side /= np.linalg.norm(side)
    over = np.cross(side, eye / np.linalg.norm(eye))
    slope = np.tan(np.pi / 8.0)  # of a view 45 degrees high, 1.6 times as wide
    most = max(
        abs(rays @ over / depth).max() / slope,
        abs(rays @ side / depth).max() / slope / 1.6,
    )
    assert depth.min() > 0.0
    assert most == pytest.approx(0.92)


def test_page_opens_without_a_network(
    tmp_path: Path, swings: list[fa.Trajectory]
) -> None:
    pytest.importorskip("plotly")
    shown = plotting.scene(swings[0])
    page = shown.save(tmp_path / "arm.html").read_text(encoding="utf-8")
    assert not re.search(r"<(script|link)[^>]*(src|href)=", page)
    assert len(page) > 3e6  # with plotly.js
    light = shown.save(tmp_path / "light.html", inline=False)
    assert light.stat().st_size < 4e5
    assert re.findall(r'src="([^"]*)"', light.read_text(encoding="utf-8")) == [
        "plotly.min.js"
    ]
    assert (tmp_path / "plotly.min.js").stat().st_size > 3e6
    part = shown.to_html(inline=False, full_page=False)
    assert "<html" not in part
    # a page is as large as its window and plays, a part of a page waits
    assert "height:100%" in page and '"height":560' not in page
    assert "Plotly.animate(plot, null, pace).then(play" in page
    assert '"height":560' in part and "Plotly.animate(plot, null" not in part
    assert '"scene.aspectratio": box' in page  # smaller in narrow windows
    still = plotting.scene(ARM).to_html(inline=False)
    assert "height:100%" in still and "Plotly.animate" not in still


def test_notebook_shows_it(swings: list[fa.Trajectory]) -> None:
    shown = plotting.scene(swings)
    bundle = shown._repr_mimebundle_()
    given = bundle["application/vnd.plotly.v1+json"]
    assert json.loads(json.dumps(given)) == given
    assert set(given) == {"data", "layout", "frames"}
    assert bundle["text/plain"] == repr(shown)
    figure = pytest.importorskip("plotly.graph_objects")
    # every name and value is one that plotly knows
    assert isinstance(shown.figure, figure.Figure)
    assert len(shown.figure.frames) == len(shown.spec["frames"])


def test_without_plotly(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "plotly", None)
    monkeypatch.setitem(sys.modules, "plotly.io", None)
    with pytest.raises(ImportError, match=r'pip install "flexarm\[notebook\]"'):
        plotting.scene(ARM).save(tmp_path / "arm.html")


def test_scenes_refuse_poses_and_labels_that_do_not_fit(
    tmp_path: Path, swings: list[fa.Trajectory]
) -> None:
    run: Any = swings[0]
    for words, call in (
        (["q has shape (3,)", "23 positions"], lambda: plotting.scene(ARM, [0.0] * 3)),
        (["shown is str", "Trajectory"], lambda: plotting.scene("arm")),  # type: ignore[arg-type]
        (["shown is empty"], lambda: plotting.scene([])),
        (["q is given with motions"], lambda: plotting.scene(run, run.q)),
        (["labels has 1 entries for 2"], lambda: plotting.scene(swings, labels=["a"])),
        (["scale has 3 entries"], lambda: plotting.scene(run, scale=[1, 2, 3])),
        (["speed is 0"], lambda: plotting.scene(run, speed=0)),
        (["ends in '.avi'"], lambda: plotting.scene(run).save(tmp_path / "a.avi")),
    ):
        argument_refused(words, call)
    later = fa.Trajectory(run.arm, run.t + 1.0, run.q, run.qd, run.tau)
    argument_refused(["common time"], lambda: plotting.scene([run, later]))


def test_a_payload_is_drawn_at_its_center() -> None:
    """On a fixed joint, beside the node that carries it."""
    rod = fa.RigidBody("rod", fa.Joint(), mass=1.0, nodes={"tip": (1.0, 0, 0)})
    held = fa.Joint("fixed", node="tip")
    load = fa.RigidBody("load", held, mass=2.0, com=(0.1, 0.2, 0.3))
    ((name, mass, node, place),) = payloads(fa.Arm([rod, load]))
    assert (name, mass) == ("load", 2.0)
    assert_allclose(place, [0.1, 0.2, 0.3])
    assert node == fa.Arm([rod, load]).node_slice("load").start


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
