"""Pose, Jacobian and inverse kinematics beside Pinocchio and the Robotics Toolbox.

    python3 -m pip install -e ".[bench]"
    python3 -m pytest tests/bench/test_bench_kinematics.py

Contenders that are not installed are left out and named: Pinocchio is ``pin``, the
Robotics Toolbox for Python (P. Corke, J. Haviland) ``roboticstoolbox-python``, from
PyPI.  All of them live in one process and take turns.

Inverse kinematics: the same targets, poses of uniformly random joint angles; the same
start; 1e-10 as the tolerance of the norm of the error in rad and m; 100 steps from the
start and then from ten random postures, 100 each, no limits.  Every answer is checked
by the poses of flexarm, and the part of the targets that was reached stands beside the
name.  Pinocchio has no solver of its own; its users write a loop in Python (its example
``inverse-kinematics``), which stands here with whole steps and damping by the error
(0.01 e'e, as flexarm has it), since the constant one of the example takes hundreds of
steps.  The Toolbox solves in C++ by ``ik_LM``, one target a call; of its kinds of
damping and their gains the fastest for each arm was taken, by Chan with 0.1 and 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from races import BATCH, SMOKE, Array, Contender, Contest, loop

import flexarm as fa

RIGID = ("puma560", "iiwa14")
CHAN = {"puma560": 0.1, "iiwa14": 1.0}  # gain of the Toolbox's damping
TARGETS = 16 if SMOKE else 1000
STEPS, RESTARTS, TOLERANCE = 100, 10, 1e-10


def has(module: str) -> bool:
    """Tell whether a contender can be imported."""
    try:
        __import__(module)
    except ImportError:
        return False
    return True


PIN, TOOLBOX = has("pinocchio"), has("roboticstoolbox")
pytestmark = pytest.mark.skipif(
    not (PIN or TOOLBOX),
    reason="neither pin nor roboticstoolbox-python is installed: nothing to race with",
)


def title(what: str, name: str, how: str) -> str:
    """Name of a race in the table, and the peers that are missing."""
    missing = [
        n for n, here in (("pin", PIN), ("Robotics Toolbox", TOOLBOX)) if not here
    ]
    told = f" ({', '.join(missing)} not installed)" if missing else ""
    return f"{what}, {name}, {how}{told}"


def angles(arm: fa.Arm, count: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).uniform(-np.pi, np.pi, (count, arm.nq))


class Pinocchio:
    """Pose, Jacobian and a solver of the tip by Pinocchio."""

    def __init__(self, arm: fa.Arm) -> None:
        import pinocchio as pin
        from pinocchio_models import to_pinocchio

        self.pin, other = pin, to_pinocchio(arm)
        self.model, self.data = other.model, other.data
        self.frame = other.frames[arm.tip_node]
        self.rng = np.random.default_rng(0)

    def pose(self, q: Array) -> Any:
        self.pin.forwardKinematics(self.model, self.data, q)
        return self.pin.updateFramePlacement(self.model, self.data, self.frame)

    def jacobian(self, q: Array) -> Any:
        return self.pin.computeFrameJacobian(
            self.model, self.data, q, self.frame, self.pin.LOCAL
        )

    def solve(self, target: Any, start: Array) -> tuple[Array, bool]:
        """The loop of Pinocchio's example, with damping by the error and restarts."""
        pin, model, data, frame = self.pin, self.model, self.data, self.frame
        q, eye = start, np.eye(6)
        for _ in range(1 + RESTARTS):
            for _ in range(STEPS):
                pin.computeJointJacobians(model, data, q)  # and the poses of the joints
                pose = pin.updateFramePlacement(model, data, frame)
                J = pin.getFrameJacobian(model, data, frame, pin.LOCAL)
                error = pose.actInv(target)
                e = pin.log6(error).vector
                square = e @ e
                if square < TOLERANCE**2:
                    return q, True
                B = pin.Jlog6(error.inverse()) @ J
                q = q + B.T @ np.linalg.solve(B @ B.T + 0.01 * square * eye, e)
            q = self.rng.uniform(-np.pi, np.pi, model.nq)
        return q, False


class Toolbox:
    """The same by the Robotics Toolbox."""

    def __init__(self, arm: fa.Arm) -> None:
        from toolbox_models import to_toolbox

        self.ets, self.gain = to_toolbox(arm), CHAN[arm.name]

    def solve(self, target: Array, start: Array) -> tuple[Array, bool]:
        found = self.ets.ik_LM(
            target,
            q0=start,
            ilimit=STEPS,
            slimit=1 + RESTARTS,
            tol=0.5 * TOLERANCE**2,
            joint_limits=False,
            method="chan",
            k=self.gain,
        )
        return found.q, bool(found.success)


@pytest.mark.parametrize("name", RIGID)
@pytest.mark.parametrize("how", ["batch", "one a call"])
def test_poses(contest: Contest, name: str, how: str) -> None:
    arm: fa.Arm = getattr(fa.library, name)()
    count = BATCH if how == "batch" else 1
    q = angles(arm, count)
    poses = fa.tip_pose(arm, q)
    few = q[: min(count, 1000)]
    own = q if how == "batch" else q[0].copy()
    field = [Contender("flexarm", lambda: fa.tip_pose(arm, own), count)]
    if PIN:
        pin = Pinocchio(arm)
        field.append(Contender("pin, loop in Python", loop(pin.pose, few), len(few)))
        assert_allclose(pin.pose(q[0]).homogeneous, poses[0], atol=1e-13)
    if TOOLBOX:
        ets = Toolbox(arm).ets
        other = (lambda: ets.eval(q)) if how == "batch" else (lambda: ets.eval(own))
        field.append(Contender("Robotics Toolbox, eval in C++", other, count))
        given = np.asarray(ets.eval(q)).reshape(-1, 4, 4)
        assert_allclose(given, poses, atol=1e-12)
    contest(title("tip pose", name, how), field)


@pytest.mark.parametrize("name", RIGID)
@pytest.mark.parametrize("how", ["batch", "one a call"])
def test_jacobians(contest: Contest, name: str, how: str) -> None:
    arm: fa.Arm = getattr(fa.library, name)()
    count = BATCH if how == "batch" else 1
    q = angles(arm, count)
    own = q if how == "batch" else q[0].copy()
    few = q[: min(count, 1000)]
    J = fa.jacobian(arm, q[0])[[3, 4, 5, 0, 1, 2]]
    field = [Contender("flexarm", lambda: fa.jacobian(arm, own), count)]
    if PIN:
        pin = Pinocchio(arm)
        field.append(
            Contender("pin, loop in Python", loop(pin.jacobian, few), len(few))
        )
        assert_allclose(pin.jacobian(q[0]), J, atol=1e-13)
    if TOOLBOX:
        ets = Toolbox(arm).ets
        field.append(
            Contender(
                "Robotics Toolbox, loop around C++", loop(ets.jacobe, few), len(few)
            )
        )
        assert_allclose(ets.jacobe(q[0]), J, atol=1e-12)
    contest(title("Jacobian of the tip", name, how), field)


def reached(arm: fa.Arm, targets: Array, answers: list[tuple[Array, bool]]) -> str:
    """Part of the targets that was reached, by what the answers say and are."""
    q = np.array([answer[0] for answer in answers])
    told = np.array([answer[1] for answer in answers])
    off = np.abs(fa.tip_pose(arm, q) - targets).max(axis=(-2, -1))
    assert (off[told] < 1e-9).all()
    return f"{100.0 * told.mean():.1f} %"


@pytest.mark.parametrize("name", RIGID)
@pytest.mark.parametrize("how", ["batch", "one a call"])
def test_inverse_kinematics(contest: Contest, name: str, how: str) -> None:
    arm: fa.Arm = getattr(fa.library, name)()
    start = fa.library.poses(arm)["ready"]
    targets = fa.tip_pose(arm, angles(arm, TARGETS, 1))
    options: dict[str, Any] = {
        "limits": None,
        "tolerance": TOLERANCE,
        "max_iterations": STEPS,
        "restarts": RESTARTS,
    }

    def batch() -> Any:
        return fa.inverse_kinematics(arm, targets, start, **options)

    def alone(target: Array) -> Any:
        return fa.inverse_kinematics(arm, target, start, **options)

    found = batch()
    part = reached(arm, targets, list(zip(found.q, found.success, strict=True)))
    ours = batch if how == "batch" else loop(alone, targets)
    field = [Contender(f"flexarm, {part}", ours, TARGETS)]
    if PIN:
        pin = Pinocchio(arm)
        poses = [pin.pin.SE3(T) for T in targets]
        part = reached(arm, targets, [pin.solve(T, start) for T in poses])
        few = poses[: max(16, TARGETS // 5)]
        theirs = loop(lambda T: pin.solve(T, start), few)
        field.append(Contender(f"pin, steps in Python, {part}", theirs, len(few)))
    if TOOLBOX:
        box = Toolbox(arm)
        part = reached(arm, targets, [box.solve(T, start) for T in targets])
        theirs = loop(lambda T: box.solve(T, start), targets)
        field.append(
            Contender(f"Robotics Toolbox, ik_LM in C++, {part}", theirs, TARGETS)
        )
    contest(title("inverse kinematics", name, how), field)
