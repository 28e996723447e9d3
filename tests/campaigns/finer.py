"""Random laws and motions for the modes that links have by default, on arms of more.

Sampled laws of Kalman filters are designed for default modes and close the loop, in
NumPy alone, around the same tubes of finite elements with all of their coordinates.
Forces of optimal motions move the arm with five more modes of each link. Each either
works there, within 2 % of its way, or has warned.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.linalg import expm

import flexarm as fa
from flexarm import beams, control, optimize

from . import Row

ELEMENTS = 12
MORE = 5
AWAY = 0.02  # part of the way of the tip


def tubes(rng: np.random.Generator, n: int, **given: Any) -> list[fa.FlexibleBody]:
    """Random tubes that bend in a plane, on motors with some inertia or none."""
    found = []
    for k in range(n):
        section = beams.Section.tube(
            float(rng.uniform(0.02, 0.05)), float(rng.uniform(0.001, 0.002)),
            str(rng.choice(["steel", "aluminium"])),
        )  # fmt: skip
        inertia = float(10.0 ** rng.uniform(-3.0, 0.0)) * (rng.random() < 0.7)
        found.append(
            beams.finite_element_link(
                f"link{k}",
                length=float(rng.uniform(0.5, 1.2)),
                sections=section,
                motions="bending y",
                joint=fa.Joint(parent=f"link{k - 1}" if k else None, armature=inertia),
                damping_ratio=float(rng.uniform(0.003, 0.02)),
                **given,
            )
        )
    return found


def arm_of(seed: int, n: int, **given: Any) -> fa.Arm:
    """A random arm with a load, the same for the same seed whatever its modes."""
    rng = np.random.default_rng(seed)
    links = tubes(rng, n, n_elements=ELEMENTS, **given)
    mass = float(rng.uniform(0.1, 1.0))
    load = fa.RigidBody("load", fa.Joint("fixed", parent=f"link{n - 1}"), mass=mass)
    return fa.Arm([*links, load], gravity=(0, 0, 0))


def radius_of(law: Any, arm: fa.Arm, outputs: list[Any]) -> float:
    """Spectral radius of a sampled law around an arm."""
    model = fa.linearize(arm, arm.neutral, outputs=outputs)
    n, m = model.B.shape
    both = expm(np.block([[model.A, model.B], [np.zeros((m, n + m))]]) * law.dt)
    A, B, C = both[:n, :n], both[:n, n:], model.C
    loop = np.block([[A + B @ law.D @ C, B @ law.C], [law.B @ C, law.A]])
    return float(np.abs(np.linalg.eigvals(loop)).max())


def law_row(seed: int) -> Row:
    """A regulator and a filter of joints and of a strain gauge in each link."""
    rng = np.random.default_rng([seed, 1])
    n, modes = 1 + seed % 2, int(rng.integers(2, 5))
    arm = arm_of(seed, n, n_modes=modes)
    gauges = [("strain", f"link{k}", 0.05) for k in range(n)]
    outputs = ["joint positions", *gauges]
    dt = float(10.0 ** rng.uniform(-3.0, -2.2))
    kind = {"kind": "law", "seed": seed, "links": n, "modes": modes}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = fa.linearize(arm, arm.neutral, outputs=outputs)
        stiff = float(10.0 ** rng.uniform(1.0, 4.0))
        Q = control.energy_weight(arm, arm.neutral, joint_stiffness=stiff)
        noise = 10.0 ** rng.uniform(-11.0, -6.0, 2 * n)
        effort = 10.0 ** rng.uniform(-4.0, -1.0, n)
        try:
            regulator = control.lqr(model, Q, effort, dt=dt)
            observer = control.kalman_filter(model, np.ones(n), noise, dt=dt)
        except fa.errors.FlexarmError as error:
            return Row({**kind, "answer": str(error)[:80]})
        law = control.lqg(regulator, observer, sensors=outputs)
        caught.clear()
        still = np.zeros(arm.nv)
        control.simulate_loop(arm, law, arm.neutral, still, [0, dt], max_step=1e-5)
        whole = arm_of(seed, n, n_modes="all")
        true = radius_of(law, whole, outputs)
        own = radius_of(law, arm, outputs)
    told = any("the loop grows" in str(x.message) for x in caught)
    grows = true > 1.0 + 1e-6 and own <= 1.0 + 1e-6
    fault = "the loop grows silently" if grows and not told else ""
    if told and not grows:
        fault = "a stable loop is said to grow"
    answer = "grows" if grows else "stable"
    return Row({**kind, "answer": answer, "told": told, "radius": f"{true:.5f}"}, fault)


def motion_row(seed: int) -> Row:
    """A motion of least effort from rest to rest, within limits in every second."""
    rng = np.random.default_rng([seed, 2])
    n, modes = 1 + seed % 2, int(rng.integers(2, 5))
    arm = arm_of(seed, n, n_modes=modes)
    end = rng.uniform(0.3, 1.0, n) * rng.choice([-1.0, 1.0], n)
    slowest = float(fa.natural_frequencies(arm, arm.neutral, held="joints", count=1)[0])
    T = float(rng.uniform(1.0, 3.0)) / slowest
    kind: dict[str, Any] = {"kind": "motion", "seed": seed, "links": n, "modes": modes}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        motion = optimize.trajectory(arm, np.zeros(n), end, duration=T)
    told = any(x.category is fa.ModeWarning for x in caught)
    kind["answer"] = "solved" if motion.success else motion.message[:60]
    if not motion.success:
        return Row(kind)
    finer = arm_of(seed, n, n_modes=modes + MORE)
    q = finer.neutral
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        step = 0.2 / (2 * np.pi * fa.natural_frequencies(finer, q)[-1])
        run = fa.simulate(
            finer, q, np.zeros(finer.nv), motion.t, torque=motion.tau,
            interpolation="linear", max_step=step, progress=False,
        )  # fmt: skip
    way = np.linalg.norm(np.diff(motion.tip, axis=0), axis=1).sum()
    away = float(np.linalg.norm(run.tip[-1] - motion.tip[-1]) / way)
    wrong = away > AWAY and not told
    fault = "the arm with more modes ends elsewhere silently" if wrong else ""
    return Row({**kind, "told": told, "away": f"{100.0 * away:.3f} %"}, fault)


def rows(problems: int, seed: int) -> Iterator[Row]:
    """Two laws and three motions in turn."""
    for k in range(seed, seed + problems):
        yield law_row(k) if k % 5 < 2 else motion_row(k)
