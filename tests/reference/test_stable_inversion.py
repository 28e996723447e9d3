"""Inverse dynamics of flexible arms as a boundary value problem, and by frequencies."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from refusals import refused
from scipy.optimize import brentq
from tip_cases import REACH, reach_line, spatial

import flexarm as fa
from flexarm.errors import ConvergenceWarning
from flexarm.optimize import OptimalMotion, paths
from flexarm.optimize._tracking.tip_task import TipTask
from flexarm.optimize._tracking.tip_trajectory import timed
from flexarm.reference import farid_link
from flexarm.reference.tracking import frequency_domain, shooting, stable_inversion
from flexarm.reference.tracking._frequencies import Linear, linear_about, respond
from flexarm.reference.tracking._zero_dynamics import zeros_at_rest

TWO = fa.library.farid_two_link()
UP = fa.library.poses(TWO)["A"]
LINE = paths.line([1.8, 0.2], [1.6, 0.7])


def inverted(arm: fa.Arm = TWO, path: Any = LINE, T: float = 0.5, **k: Any) -> Any:
    given: Any = {"start": UP[:2], "law": "ninth_degree"}
    return stable_inversion(arm, path, T, **{**given, **k})


def by_responses(path: Any = LINE, T: float = 0.5, **k: Any) -> Any:
    return frequency_domain(
        TWO, path, T, **{"start": UP[:2], "law": "ninth_degree", **k}
    )


@lru_cache
def whole_motion() -> Any:
    """E7 with a trajectory whose first four derivatives vanish at its ends."""
    return inverted()


def beam(elements: int, EI: float = 500.0) -> fa.Arm:
    """Link of 1 m and 5 kg on a hinge without inertia, horizontal."""
    section = fa.beams.Section.from_stiffness(5.0, EI)
    link = fa.beams.finite_element_link(
        "link",
        length=1.0,
        sections=section,
        n_elements=elements,
        motions="bending y",
        n_modes="all",
    )
    return fa.Arm([link], gravity=(0.0, 0.0, 0.0))


# the answer, in an independent simulation


@pytest.mark.parametrize("law", ["cycloidal", "ninth_degree"])
def test_e7_to_micrometres(law: str) -> None:
    motion = inverted(law=law) if law == "cycloidal" else whole_motion()
    assert motion.success
    assert motion.violation < 1e-9
    assert motion.verification is not None
    assert motion.verification.step < 0.26e-3
    assert motion.verification.path_error.max() < 2e-6
    assert motion.verification.final_rate < 1e-4


def test_error_of_the_forces_is_of_order_two() -> None:
    # they are linear between the nodes, whatever the order of the equations
    motions = inverted(search={"intervals": 250}), whole_motion()
    errors = [m.verification.path_error[:2].max() for m in motions]
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.05)


@pytest.mark.parametrize(
    "arm",
    [
        fa.library.farid_two_link(joint_stiffness=None),
        fa.library.farid_two_link(elements=0),
        fa.library.farid_two_link(geometric_stiffening=True),
        TWO.replace(bodies=[b.replace(damping=1e-3 * b.stiffness) for b in TWO.bodies]),
    ],
    ids=["stiff joints", "stiff links", "stiffening", "damping"],
)
def test_other_arms(arm: fa.Arm) -> None:
    motion = inverted(arm, search={"intervals": 250})
    assert motion.success
    assert motion.verification.path_error.max() < 2e-5


def test_a_spatial_arm() -> None:
    arm = spatial()
    motion = inverted(arm, reach_line(arm), 0.8, start=REACH, search={"intervals": 400})
    assert motion.success
    assert motion.verification.path_error.max() < 5e-6
    assert motion.tau.shape[1] == 3


def test_shooting_finds_the_same_forces() -> None:
    exact = whole_motion()
    found = shooting(
        TWO,
        LINE,
        0.5,
        start=UP[:2],
        law="ninth_degree",
        search={"intervals": 50, "steps": 5},
        smoothing=1e-8,
    )
    at = found.tracking.nodes
    inner = (at > -0.05) & (at < 0.55)  # ends are weakly determined
    theirs = np.array([exact.torque(t) for t in at[inner]])
    off = np.abs(found.tracking.nodal_tau[inner] - theirs).max(axis=0)
    assert (off < 5e-3 * np.ptp(exact.tau, axis=0)).all(), off


# what is found of windows


def test_zeros_are_those_of_the_beam() -> None:
    # 2 z^2 c / L^2 with tan z = -tanh z, c = 10 m^2/s
    z = brentq(lambda x: np.tan(x) + np.tanh(x), 2.0, 3.0)
    task = TipTask(beam(8), timed(lambda t: [1, 0.1 * t, 0], 1.0, ""), None, "y")
    zeros = zeros_at_rest(task, np.zeros(task.arm.nv))
    assert zeros.slowest(1) == pytest.approx(20.0 * z**2, rel=3e-5)
    assert zeros.slowest(-1) == pytest.approx(20.0 * z**2, rel=3e-5)
    for n in (1, 2, 4):
        task = TipTask(beam(n), timed(lambda t: [1, 0.1 * t, 0], 1.0, ""), None, "y")
        ours = zeros_at_rest(task, np.zeros(task.arm.nv)).slowest(1)
        assert ours == pytest.approx(10.0 * farid_link.divergence_rate(n), rel=1e-7)


def test_zeros_are_those_of_the_linear_model() -> None:
    # at a zero some force leaves the tip alone: C (s - A)^-1 B is singular
    task = TipTask(TWO, timed(LINE, 0.5, "cycloidal"), UP, None)
    q, tau = task.at_rest(0.0, UP)
    model = fa.linearize(TWO, q, np.zeros(12), tau)
    zeros = zeros_at_rest(task, q)
    assert len(zeros.values) == 16  # 24 states less twice the degree 4
    J = task.jacobian(q)[:2]
    C = np.hstack([J, np.zeros_like(J)])
    for s in zeros.values[:6]:
        near, at = (
            np.linalg.svd(
                C @ np.linalg.solve(x * np.eye(24) - model.A, model.B), compute_uv=False
            )
            for x in (1.01 * s, s)
        )
        assert at[1] < 1e-4 * near[1]


def test_what_acts_in_advance_decays_with_the_slowest_zero() -> None:
    arm = beam(4)
    motion = inverted(
        arm,
        lambda t: [1.0, 0.01 * float(farid_link.point_to_point(t / 0.5)[0]), 0.0],
        start=None,
        axes="y",
        check=False,
    )
    rate = 1.0 / motion.tracking.time_constants[0]
    t, tau = motion.t, motion.tau[:, 0]
    early = (t > -0.08) & (t < -0.03)
    slope = np.polyfit(t[early], np.log(np.abs(tau[early])), 1)[0]
    assert slope == pytest.approx(rate, rel=2e-3)
    # a wrong way first: the tip would go back at once
    assert tau[t < 0.0].sum() * tau[(t > 0.0) & (t < 0.25)].sum() > 0.0


def test_a_longer_window_changes_nothing() -> None:
    short = whole_motion()
    long = inverted(search={"pre_actuation": 0.5, "post_actuation": 0.5}, check=False)
    assert long.t[0] < short.t[0] - 0.1
    at = np.linspace(-0.05, 0.55, 61)
    a, b = (np.array([m.torque(t) for t in at]) for m in (short, long))
    assert np.abs(a - b).max() < 1e-5 * np.ptp(b)


# another method: frequencies


def by_frequencies(scale: float, law: str = "ninth_degree") -> list[OptimalMotion]:
    path = paths.line([1.8, 0.2], [1.8 - 0.2 * scale, 0.2 + 0.5 * scale])
    return [by(path=path, law=law, check=False) for by in (inverted, by_responses)]


def test_frequencies_agree() -> None:
    """Half a metre is no small motion; the linear response alone strays by 0.1 m."""
    a, b = by_frequencies(1.0)
    assert b.status == "solved" and 4 < b.iterations < 12
    at = np.linspace(-0.05, 0.55, 121)
    x, y = (np.array([m.torque(t) for t in at]) for m in (a, b))
    assert np.abs(x - y).max() < 1e-4 * np.ptp(x)
    # and where the elbow turns by a radian
    far = paths.line([1.8, 0.2], [0.9, 1.0])
    motion = by_responses(path=far, T=0.8)
    assert motion.success and motion.verification.path_error.max() < 1e-4


def test_frequencies_that_do_not_converge_warn() -> None:
    with pytest.warns(ConvergenceWarning, match="1 iterations are done"):
        one = by_responses(search={"max_iterations": 1})
    assert one.status == "iterations" and one.violation > 1e-3


def test_frequencies_of_the_one_shape_model_in_closed_form() -> None:
    # (7.11): zeros at +-sqrt(80) c; the inverse is rigid plus a two-sided exponential
    M, K = farid_link.SingleLink(500.0).matrices()
    h, n = 1e-4, 2**15
    t = h * (np.arange(n) - 4096)
    place, _, second = farid_link.point_to_point(np.clip(t / 0.5, 0.0, 1.0))
    second = np.where((t > 0.0) & (t < 0.5), second, 0.0) / 0.25
    of = Linear(
        M, np.zeros((2, 2)), K, np.array([[1.0], [0.0]]), np.array([[1.0, 1.0]])
    )
    right = np.pad(place[:, np.newaxis], ((0, 0), (2, 0)))
    q, _, _, tau = respond(of, right, h, 16.0)
    # second row with a = y - phi: phi'' - p^2 phi = -force
    p = np.sqrt(80.0) * 10.0
    m = M[1]
    force = (m[1] * second + K[1, 1] * place) / (m[0] - m[1])
    kernel = np.exp(-p * h * np.abs(np.arange(-4000, 4001)))
    phi = np.convolve(force, kernel, mode="same") * h / (2.0 * p)
    inner = slice(4096, 4096 + 5000)
    assert np.abs(q[inner, 0] - phi[inner]).max() < 2e-4
    bend = place - phi
    rigid = np.gradient(np.gradient(phi, h), h), np.gradient(np.gradient(bend, h), h)
    torque = M[0, 0] * rigid[0] + M[0, 1] * rigid[1]
    assert np.abs(tau[inner, 0] - torque[inner]).max() < 2e-3 * np.abs(torque).max()


def test_frequencies_use_the_linear_model() -> None:
    task = TipTask(TWO, timed(LINE, 0.5, "cycloidal"), UP, None)
    q, tau = task.at_rest(0.0, UP)
    of, model = linear_about(task, q), fa.linearize(TWO, q, np.zeros(12), tau)
    s = 3.0 + 40.0j
    motion = np.linalg.solve(s**2 * of.M + s * of.D + of.K, of.B)
    state = np.linalg.solve(s * np.eye(24) - model.A, model.B)
    assert np.abs(of.J @ motion - of.J @ state[:12]).max() < 1e-12


# refusals


def test_as_many_actuators_as_coordinates() -> None:
    arm = fa.library.cibicik_egeland()
    poses = fa.library.poses(arm)
    begin = fa.tip_pose(arm, poses["initial"])[:3, 3]
    for method in (stable_inversion, frequency_domain):
        refused(
            fa.errors.ArgumentError,
            ["4 actuators for 3 coordinates", "shooting"],
            lambda m=method: m(
                arm,
                paths.line(begin, begin + np.array([0.05, 0.05, 0.0])),
                1.0,
                start=poses["initial"],
            ),
        )
    refused(
        fa.errors.ArgumentError,
        ["1 actuators for 2 coordinates", "axes='x'"],
        lambda: inverted(beam(1), paths.circle([0, 0], [1, 0], angle=0.2), start=[0]),
    )


def test_too_many_nodes() -> None:
    refused(
        fa.errors.ArgumentError,
        ["intervals is 50000", "40000"],
        lambda: inverted(search={"intervals": 50000}),
    )


def test_forces_that_lose_their_effect() -> None:
    # this arm is so soft that J M^-1 B changes its sign on the way
    arm = fa.library.de_luca_siciliano()
    path = paths.line([0.6, 0.3], [0.3, 0.6])
    slow = inverted(arm, path, 4.0, start=[0.2, 1.2])
    assert slow.success
    assert slow.verification.path_error.max() < 2e-6
    with pytest.warns(fa.errors.ConvergenceWarning, match="stopped early"):
        fast = inverted(arm, path, 2.0, start=[0.2, 1.2])
    assert fast.status == "failed"
    assert "changes its sign" in fast.message


def test_from_a_posture_with_neutral_vibrations_to_one_where_they_grow() -> None:
    arm = spatial()
    path = reach_line(arm)
    back = paths.line(path.end, path.start)
    refused(
        fa.errors.ArgumentError,
        ["2 vibrations", "0 at the end"],
        lambda: inverted(arm, back, 0.8, start=[0.34, 0.94, -1.39]),
    )
