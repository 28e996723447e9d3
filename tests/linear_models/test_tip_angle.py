"""The tip seen from the hub: its value, its derivatives, and zeros in closed form."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from each import each
from few_modes import planar_chain
from numpy.testing import assert_allclose
from refusals import PUMA, argument_refused, rod
from scipy.optimize import brentq

import flexarm as fa
from flexarm import control
from flexarm.control.inversion import link_angles
from flexarm.reference import patent_loop


def roots(f: Any, last: float) -> Any:
    pairs = pairwise(np.linspace(0.3, last, 400))
    return np.array([brentq(f, a, b) for a, b in pairs if f(a) * f(b) < 0])


def link(**changes: Any) -> fa.Arm:
    """EI = 100 N m^2, 1 kg/m, 1 m."""
    return planar_chain(1, gravity=(0, 0, 0), **changes)


def on_a_hub(inertia: float) -> fa.Arm:
    """The same link fixed on a rigid body that turns."""
    beam = link(n_modes=8).bodies[0]
    hub = rod("hub", fa.Joint(), com=(0, 0, 0), inertia=(inertia,) * 3)
    fixed = fa.Joint("fixed", parent="hub", node="origin")
    nodes = {"origin": (0, 0, 0)}
    bodies = [hub.replace(nodes=nodes), beam.replace(joint=fixed)]
    return fa.Arm(bodies, gravity=(0, 0, 0))


def zeros(arm: fa.Arm, part: float) -> Any:
    output = fa.outputs.tip_angle(part=part)
    found = np.asarray(fa.linearize(arm, np.zeros(arm.nq), outputs=output).zeros())
    return found[np.argsort(abs(found))]


@each("arm", {"link": link(n_modes=8), "hub": on_a_hub(0.7)})
def test_zeros_of_a_uniform_link(arm: fa.Arm) -> None:
    """Free end, pinned hub: W = A (ch + c) + C (sh + s) of the distance to the tip.

    A (ch b + c b) + C (sh b + s b) = 0 at the hub, where the slope is the angle of the
    joint; (1 - part) angle + part W(tip) / L = 0.
    """
    # part 1: s = +- 2 g^2 c with tan g = -tanh g, whatever the hub
    g = roots(lambda x: np.sin(x) * np.cosh(x) + np.cos(x) * np.sinh(x), 6.0)
    found = zeros(arm, 1.0)[:4]
    assert_allclose(
        np.sort(found.real), np.sort(20.0 * np.r_[g**2, -(g**2)]), rtol=5e-3
    )
    assert_allclose(found[:2].real.max(), 20.0 * g[0] ** 2, rtol=1e-5)
    assert abs(found.imag).max() < 1e-6
    # others: s = +- i b^2 c
    for part in (0.0, 0.5, -1.0):

        def f(b: Any, part: float = part) -> Any:
            angle = (1.0 - part) * 2.0 * b * (1.0 + np.cos(b) * np.cosh(b))
            return angle + 2.0 * part * (np.sin(b) + np.sinh(b))

        wanted = 10.0 * roots(f, 6.0)[:2] ** 2
        found = zeros(arm, part)[:4]
        assert_allclose(np.sort(found.imag)[2:], wanted, rtol=1e-4)
        assert abs(found.real).max() < 1e-6


def test_value_and_derivatives() -> None:
    """Against poses of the deformed arm, and differences of them."""
    arm = planar_chain(2, n_modes=2)
    rng = np.random.default_rng(1)
    q = rng.normal(size=(3, 6)) * [1, 1, 0.05, 0.05, 0.05, 0.05]
    model = fa.linearize(arm, q, outputs=["tip angle", "link1.tip angle"])
    assert model.outputs == ("tip angle", "link1.tip angle")

    def angles(q: Any) -> Any:
        x = fa.node_poses(arm, q)[..., :2, 3]
        base = [arm.node("link1", "base"), arm.node("link2", "base")]
        tip = [arm.node("link1", "tip"), arm.node("link2", "tip")]
        away = x[..., tip, :] - x[..., base, :]
        turn = fa.node_poses(arm, q)[..., tip[0], :2, :2]
        seen = np.arctan2(away[..., 1], away[..., 0])
        carrier = np.arctan2(turn[..., 1, 0], turn[..., 0, 0])
        return np.stack([seen[..., 1] - carrier, seen[..., 0]], axis=-1)

    off = model.y - angles(q)
    assert_allclose(np.sin(0.5 * off), 0.0, atol=1e-12)
    for k in range(6):
        step = 1e-6 * np.eye(6)[k]
        dy = (angles(q + step) - angles(q - step)) / 2e-6
        assert_allclose(model.C[..., k], dy, atol=1e-8)
    # to first order those of link_angles
    still = fa.linearize(arm, np.zeros(6), outputs=["link1.tip angle", "tip angle"])
    assert_allclose(still.C[:, :6], link_angles(arm), atol=1e-12)
    # the joint counts its turns
    far = fa.linearize(arm, [7.0, 0, 0, 0, 0, 0], outputs="link1.tip angle")
    assert_allclose(far.y, 7.0, atol=1e-12)


def test_pieces_and_sensors() -> None:
    whole, cut = (link(**more) for more in ({"n_modes": 2}, {"segments": 2}))
    for arm in (whole, cut):
        bent = fa.equilibrium(arm, np.zeros(arm.nq), wrench=[0, 0, 0, 0, 2.0, 0])
        y = fa.linearize(
            arm, bent.q, bent.qd if hasattr(bent, "qd") else None, outputs="tip angle"
        ).y
        x, z = fa.tip_pose(arm, bent.q)[:2, 3]
        assert_allclose(y, np.arctan2(z, x), rtol=1e-9)
    run = control.simulate_loop(
        whole,
        lambda t, y: np.zeros(1),
        [0.1, 0.01, 0.0],
        np.zeros(3),
        [0.0, 0.01, 0.02],
        sample_time=0.01,
        sensors=["tip angle", "joints"],
    )
    wanted = fa.linearize(whole, [0.1, 0.01, 0.0], outputs="tip angle").y
    assert_allclose(run.y[0, :1], wanted, rtol=1e-12)


def test_no_tip_angle_on_the_axis_or_behind_a_slide() -> None:
    argument_refused(
        ["'tip' is on the axis", "beside it"],
        lambda: fa.linearize(PUMA, np.zeros(6), outputs="tip angle"),
    )
    slide = fa.Arm([rod(joint=fa.Joint("prismatic"))])
    argument_refused(
        ["'prismatic'", "one that turns"],
        lambda: fa.linearize(slide, [0.0], outputs="tip angle"),
    )
    argument_refused(["part is nan"], lambda: fa.outputs.tip_angle(part=np.nan))


def test_loops_with_a_model_judge_slopes() -> None:
    """A tip torque of the joint that throws a soft link around."""
    soft = planar_chain(1, n_modes=1, bending_stiffness=0.5)
    start: Any = ([0.0, 0.0], [0.0, 0.0])
    t = np.linspace(0.0, 0.5, 51)
    plant = patent_loop.SimulatedPlant(soft, *start, max_step=1e-3)
    for s in t:
        plant(s, [0.0])
    with pytest.warns(fa.DeflectionWarning, match="link1"):
        run = plant.trajectory
    assert "bends to a slope" in run.message
    loop = patent_loop.ManipulatorController(
        soft, control.RestToRest([0.0], [0.3], 0.5), *start, max_step=1e-3
    )
    with pytest.warns(fa.DeflectionWarning, match="link1"):
        loop.run(lambda t, command: None, t, sensors=False)
