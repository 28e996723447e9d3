"""Arms with more modes in their links, and answers that need them."""

from __future__ import annotations

import warnings
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from each import each
from few_modes import planar_chain
from scipy.linalg import eigh, expm

import flexarm as fa
from flexarm import beams
from flexarm.optimize import _more_modes, time_optimal
from flexarm.optimize.limits import read_limits

STRIP = beams.Section.rectangle(0.003, 0.04, "aluminium")
LENGTH, LOAD = 0.8, 0.2


def linked(link: fa.FlexibleBody, mass: float = LOAD, **options: Any) -> fa.Arm:
    load = fa.RigidBody(
        "load", fa.Joint("fixed", parent=link.name), mass=mass, inertia=(1e-4,) * 3
    )
    with warnings.catch_warnings():  # modes without static shapes
        warnings.simplefilter("ignore", fa.ModeWarning)
        return fa.Arm([link, load], **{"gravity": (0.0, -9.81, 0.0), **options})


def element_link(**changes: Any) -> fa.FlexibleBody:
    options = {"sections": STRIP, "motions": "bending y", "n_modes": 3} | changes
    if "points" not in options:
        options.setdefault("length", LENGTH)
    result: fa.FlexibleBody = beams.finite_element_link("link", **options)
    return result


def uniform_link(**changes: Any) -> fa.FlexibleBody:
    options = {
        "length": LENGTH,
        "mass_per_length": 0.324,
        "bending_stiffness": 6.3,
        "n_modes": 3,
        **changes,
    }
    result: fa.FlexibleBody = beams.flexible_link("link", **options)
    return result


BENT = [(0.0, 0.0, 0.0), (0.5, 0.0, 0.0), (0.5, 0.3, 0.0)]
ALL = ("bending y", "bending z", "torsion")
# a link, and the same with modes enough
LINKS: dict[str, tuple[fa.FlexibleBody, fa.FlexibleBody]] = {
    "elements": (element_link(), element_link(n_modes=9, n_elements=10)),
    "all motions": (
        element_link(
            motions=ALL, n_modes={"bending y": 2, "bending z": 2, "torsion": 1}
        ),
        element_link(motions=ALL, n_modes=8, n_elements=10),
    ),
    "tapered tube": (
        element_link(
            sections=lambda x: beams.Section.tube(0.02 - 0.01 * x, 0.001, "steel"),
            n_elements=6,
        ),
        element_link(
            sections=lambda x: beams.Section.tube(0.02 - 0.01 * x, 0.001, "steel"),
            n_elements=12,
            n_modes=10,
        ),
    ),
    "bent": (
        element_link(points=BENT, n_modes=4, motions=ALL),
        element_link(points=BENT, n_modes=9, motions=ALL, n_elements=10),
    ),
    "chord": (
        element_link(modes="pinned"),
        element_link(n_modes=9, n_elements=10),
    ),
    "clamped-free": (
        uniform_link(modes="clamped-free"),
        uniform_link(n_modes=10),
    ),
}


@each("name", list(LINKS))
def test_a_refined_link_is_one_with_enough_modes(name: str) -> None:
    link, deep = LINKS[name]
    arm, oracle = linked(link), linked(deep)
    finer = arm.refined()
    assert finer.tip == arm.tip and finer.nq > arm.nq
    # frequencies, joint held and free
    for held in ("joints", None):
        own, true = (
            fa.natural_frequencies(x, x.neutral, held=held)[1:4]
            for x in (finer, oracle)
        )
        np.testing.assert_allclose(own, true, rtol=7e-4)
    # far bent by weight and a force
    wrench = [0.0, 0.0, 0.0, 0.0, -2.0, 0.0]
    tips = [
        fa.tip_pose(x, fa.equilibrium(x, x.neutral, wrench=wrench, frame="base").q)
        for x in (finer, oracle)
    ]
    np.testing.assert_allclose(*tips, atol=1e-5)


def test_a_refined_arm_moves_as_one_with_enough_modes() -> None:
    def made(link: fa.FlexibleBody) -> fa.Arm:
        fore = link.replace(name="fore", joint=fa.Joint(parent="link"))
        load = fa.RigidBody("load", fa.Joint("fixed", parent="fore"), mass=LOAD)
        return fa.Arm([link, fore, load], gravity=(0.0, -9.81, 0.0))

    arm = made(element_link(n_modes=2, length=0.4))
    t = np.linspace(0.0, 0.2, 21)
    tips = []
    for x in (arm, arm.refined(), made(element_link(n_modes=7, length=0.4))):
        run = fa.simulate(x, x.neutral, np.zeros(x.nv), t, method="rk4", max_step=5e-5)
        tips.append(run.tip)
    coarse, finer = (np.abs(tip - tips[2]).max() for tip in tips[:2])
    assert 20.0 * finer < coarse


def beam(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Squares of rates and modes of a free beam with a load, by Hermite's cubics."""
    h, EI, density = LENGTH / n, 70e9 * 0.04 * 0.003**3 / 12.0, 2700.0 * 1.2e-4
    k = [[12, 6, -12, 6], [6, 4, -6, 2], [-12, -6, 12, -6], [6, 2, -6, 4]]
    m = [
        [156, 22, 54, -13],
        [22, 4, 13, -3],
        [54, 13, 156, -22],
        [-13, -3, -22, 4],
    ]
    scale = np.diag([1.0, h, 1.0, h])
    K, M = np.zeros((2, 2 * n + 2, 2 * n + 2))
    for e in range(n):
        at = slice(2 * e, 2 * e + 4)
        K[at, at] += scale @ k @ scale * EI / h**3
        M[at, at] += scale @ m @ scale * density * h / 420.0
    M[-2, -2] += LOAD
    squares, modes = eigh(K[1:, 1:], M[1:, 1:])
    return squares, modes


def test_rates_of_a_joint_without_inertia_grow_with_modes() -> None:
    """A step of the torque turns the end of a beam ever faster, without a motor.

    The exact rate falls as t^(-1/2) after the step, so that there is no largest one.
    """
    kept = ("torque", "position", "velocity", "acceleration")
    t = np.linspace(0.0, 0.02, 201)

    def excess(armature: float, rate: float) -> dict[str, float]:
        link = element_link(n_modes=2, joint=fa.Joint(armature=armature))
        arm = linked(link, gravity=(0, 0, 0))
        limits = read_limits({"velocity": rate, "torque": 1.0}, arm, kept, "it")
        runs = [
            fa.simulate(x, x.neutral, x.neutral, t, torque=[[1.0]] * 201, max_step=2e-5)
            for x in (arm, arm.refined(4))
        ]
        most = [abs(run.qd[:, 0]).max() for run in runs]
        motion: Any = SimpleNamespace(arm=arm, limits=limits)
        found = _more_modes._beyond(motion, runs)
        if found:
            own = max(most[0] / rate - 1.0, 0.0)
            assert found == {"velocity of 'link'": pytest.approx(most[1] / rate - 1)}
            assert most[1] / rate - 1 > own + 0.01
        return found

    assert excess(0.0, 1.2)
    assert not excess(0.02, 1.2)
    assert not excess(0.0, 50.0)


@pytest.mark.slow
def test_the_rest_of_a_fast_motion_beside_a_beam_of_one_s_own() -> None:
    # small motions: the beam is linear, so that it needs nothing of the package
    arm = linked(element_link(n_modes=2), gravity=(0, 0, 0))
    arm = fa.Arm([arm.bodies[0], arm.bodies[1].replace(inertia=np.zeros(3))])
    arm = arm.replace(gravity=(0, 0, 0))
    with pytest.warns(fa.ModeWarning, match="with more modes in its links"):
        motion = time_optimal(arm, [[0.0], [0.1]], limits={"torque": 0.4})
    assert motion.success
    found = motion.more_modes
    finer = found.arm
    after = np.linspace(0.0, 0.5, 200)
    after[0] = 1e-7
    t = np.concatenate([motion.t, motion.t[-1] + after])
    tau = np.interp(t, motion.t, motion.tau[:, 0])
    tau[t > motion.t[-1]] = 0.0
    runs = [
        fa.simulate(
            x, x.neutral, np.zeros(x.nv), t, torque=tau[:, None], max_step=1.5e-5
        )
        for x in (arm, finer)
    ]
    # ten modes of the beam, exactly under forces that are linear in time
    squares, modes = beam(12)
    own = np.zeros(len(t))
    for i in range(8):
        A = np.zeros((4, 4))
        A[0, 1] = A[2, 3] = 1.0
        A[1, 0] = -max(squares[i], 0.0) if i else 0.0
        A[1, 2] = modes[0, i]
        flow = cache(lambda h, A=A: expm(A * h))
        x = np.zeros(4)
        for j in range(len(t) - 1):
            h = round(t[j + 1] - t[j], 9)
            x[2], x[3] = tau[j], (tau[j + 1] - tau[j]) / h if t[j] < motion.t[-1] else 0
            x = flow(h) @ x
            own[j + 1] += modes[-2, i] * x[0]
    rest = t >= motion.t[-1]
    goal = LENGTH * np.sin(0.1)
    coarse, fine = (np.abs(run.tip[rest, 1] - goal).max() for run in runs)
    true = np.abs(LENGTH * np.sin(own[rest] / LENGTH) - goal).max()
    assert coarse < 2e-4 < 0.5 * true  # which the arm does not know
    np.testing.assert_allclose(fine, true, rtol=0.05)
    assert 0.3 < found.after / true < 1.7
    # modes that a source names are its own
    named = planar_chain(1, n_modes=1, gravity=(0, 0, 0))
    fast = time_optimal(named, [[0.0], [0.2]], limits={"torque": 5.0})
    assert fast.more_modes is None
