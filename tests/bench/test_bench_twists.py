"""Twists and Jacobians of all bodies in four forms, beside Pinocchio.

    python3 -m pytest tests/bench/test_bench_twists.py

Pinocchio's frames LOCAL, WORLD and LOCAL_WORLD_ALIGNED are the forms body, spatial and
hybrid; it has no mixed one.  It has no batches of Jacobians either: its states pass in
a loop in Python, whose own cost is in the table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from races import BATCH, Array, Contender, Contest, loop

import flexarm as fa
from flexarm import twists
from flexarm.kinematics.forms import FORMS

RIGID = ("puma560", "iiwa14")
# States of the loops in Python.
SMALL_BATCH = max(BATCH // 10, 1)
TURNED = [3, 4, 5, 0, 1, 2]  # Pinocchio has the linear part first


class Other:
    """An arm in Pinocchio: what a user calls for one state."""

    def __init__(self, arm: fa.Arm) -> None:
        pin = pytest.importorskip("pinocchio")
        from pinocchio_models import to_pinocchio

        self.pin = pin
        converted = to_pinocchio(arm)
        self.model, self.data = converted.model, converted.data
        self.joints = range(1, self.model.njoints)
        self.frames = {
            "body": pin.LOCAL,
            "spatial": pin.WORLD,
            "hybrid": pin.LOCAL_WORLD_ALIGNED,
        }

    def all_jacobians(self, form: str, q: Array) -> list[Array]:
        pin, model, data, frame = self.pin, self.model, self.data, self.frames[form]
        pin.computeJointJacobians(model, data, q)
        return [pin.getJointJacobian(model, data, k, frame) for k in self.joints]

    def last_jacobian(self, form: str, q: Array) -> Array:
        pin, model, data = self.pin, self.model, self.data
        pin.computeJointJacobians(model, data, q)
        last, frame = self.joints[-1], self.frames[form]
        return np.asarray(pin.getJointJacobian(model, data, last, frame))

    def all_rates(self, form: str, q: Array, qd: Array) -> list[Array]:
        pin, model, data, frame = self.pin, self.model, self.data, self.frames[form]
        pin.computeJointJacobiansTimeVariation(model, data, q, qd)
        get = pin.getJointJacobianTimeVariation
        return [get(model, data, k, frame) for k in self.joints]

    def all_velocities(self, form: str, q: Array, qd: Array) -> list[Any]:
        pin, model, data, frame = self.pin, self.model, self.data, self.frames[form]
        pin.forwardKinematics(model, data, q, qd)
        return [pin.getVelocity(model, data, k, frame) for k in self.joints]


def states(arm: fa.Arm, count: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    q = rng.uniform(-np.pi, np.pi, (count, arm.nq))
    q[:, arm.nu :] *= 0.05 / np.pi
    return q, rng.normal(size=(count, arm.nv))


def ours(what: str, arm: fa.Arm, q: Array, qd: Array, states: int) -> list[Contender]:
    """The four forms of one thing; the first is the reference of the ratios."""

    def action(form: str) -> Callable[[], Any]:
        calls: dict[str, Callable[[], Any]] = {
            "Jacobians": lambda: fa.link_jacobians(arm, q, form=form),
            "tip Jacobian": lambda: tip_jacobian(arm, q, form),
            "rates of Jacobians": lambda: fa.Arm.link_jacobian_rates(
                arm, q, qd, form=form
            ),
            "velocities": lambda: fa.link_velocities(arm, q, qd, form=form),
        }
        return calls[what]

    return [Contender(f"flexarm, {form}", action(form), states) for form in FORMS]


def tip_jacobian(arm: fa.Arm, q: Array, form: str) -> Array:
    """Jacobian of the tip alone, by the walk from its node to the base."""
    frame = "base" if form == "hybrid" else "node"
    J: Array = fa.jacobian(arm, q, frame=frame)
    if form in ("body", "hybrid"):
        return J
    return twists.convert(J, fa.tip_pose(arm, q), "body", form, columns=True)


def theirs(
    what: str, other: Other, q: Array, qd: Array, states: int
) -> list[Contender]:
    """The forms that Pinocchio has, in a loop over q or for one state."""

    def action(form: str) -> Callable[[], Any]:
        calls: dict[str, tuple[Callable[..., Any], tuple[Array, ...]]] = {
            "Jacobians": (lambda q: other.all_jacobians(form, q), (q,)),
            "tip Jacobian": (lambda q: other.last_jacobian(form, q), (q,)),
            "rates of Jacobians": (lambda q, v: other.all_rates(form, q, v), (q, qd)),
            "velocities": (lambda q, v: other.all_velocities(form, q, v), (q, qd)),
        }
        function, arrays = calls[what]
        return loop(function, *arrays) if q.ndim > 1 else lambda: function(*arrays)

    return [
        Contender(f"pin, {frame!s}", action(form), states)
        for form, frame in other.frames.items()
    ]


WHAT = ("Jacobians", "tip Jacobian", "rates of Jacobians", "velocities")


@pytest.mark.parametrize("name", RIGID)
@pytest.mark.parametrize("what", WHAT)
def test_rigid_batch(contest: Contest, name: str, what: str) -> None:
    arm: fa.Arm = getattr(fa.library, name)()
    other = Other(arm)
    q, qd = states(arm, BATCH)
    nothing = Contender(
        "the loop in Python around nothing",
        loop(lambda *_: None, q[:SMALL_BATCH]),
        SMALL_BATCH,
    )
    mine, rest = (
        ours(what, arm, q, qd, BATCH),
        theirs(what, other, q[:SMALL_BATCH], qd, SMALL_BATCH),
    )
    of_all = "" if what == "tip Jacobian" else " of all bodies"
    if what in ("rates of Jacobians", "velocities"):
        rest = theirs(what, other, q[:SMALL_BATCH], qd[:SMALL_BATCH], SMALL_BATCH)
    contest(f"{what}{of_all}, {name}, batch", [*mine, *rest, nothing])
    for form in other.frames:
        J = np.array(other.all_jacobians(form, q[1]))[:, TURNED]
        found = fa.link_jacobians(arm, q[:2], form=form)[1]
        assert_allclose(found, J, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", RIGID)
@pytest.mark.parametrize("what", WHAT)
def test_rigid_alone(contest: Contest, name: str, what: str) -> None:
    arm: fa.Arm = getattr(fa.library, name)()
    other = Other(arm)
    q, qd = (x[0].copy() for x in states(arm, 1))
    of_all = "" if what == "tip Jacobian" else " of all bodies"
    both = [*ours(what, arm, q, qd, 1), *theirs(what, other, q, qd, 1)]
    contest(f"{what}{of_all}, {name}, one state a call", both)
    for form in other.frames:
        J = np.array(other.all_rates(form, q, qd))[:, TURNED]
        found = fa.Arm.link_jacobian_rates(arm, q, qd, form=form)
        assert_allclose(found, J, rtol=0, atol=1e-12 * np.abs(J).max())


@pytest.mark.parametrize("what", WHAT)
def test_flexible_batch(contest: Contest, what: str) -> None:
    arm = fa.library.de_luca_siciliano()
    q, qd = states(arm, BATCH)
    of_all = "" if what == "tip Jacobian" else " of all bodies"
    contest(f"{what}{of_all}, De Luca arm, batch", ours(what, arm, q, qd, BATCH))


def test_factors(contest: Contest) -> None:
    """Dense factors are for looking at: J by the kernels costs far less."""
    arm = fa.library.iiwa14()
    q, _ = states(arm, SMALL_BATCH)
    contenders = [
        Contender("J by the kernel", lambda: fa.link_jacobians(arm, q), SMALL_BATCH)
    ]
    contenders += [
        Contender(
            f"A, X, {form}", lambda form=form: twists.factors(arm, q, form), SMALL_BATCH
        )
        for form in FORMS
    ]
    contest("factors of the system Jacobian, iiwa14, batch", contenders)
