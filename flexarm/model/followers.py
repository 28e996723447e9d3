"""Couplings of two coordinates, solved: one joint follows the other.

Couplings of the form ``c1 q1 + c2 q2 = constant`` leave one coordinate for each set of
joints that they tie together.  The bodies of such an arm have joints of the class
`FollowingJoint`, which have no coordinates; C computes with all joints inside.
"""

from __future__ import annotations

from collections.abc import Sequence

from .._calls.arm_like import ArmLike
from .._calls.links import joint_name
from ..bodies.body import Body
from ..bodies.following import (
    Following,
    described_drive,
    following,
    free_joint,
    geared,
)
from ..bodies.joints import Joint
from ..bodies.models import RigidBody
from .loops import Coupling

COUPLINGS = ("eliminated", "constrained")


def freed(bodies: Sequence[Body]) -> tuple[Body, ...]:
    """Bodies whose joints and motors all have coordinates of their own."""
    result = []
    for body in bodies:
        joint = free_joint(body.joint)
        drive = described_drive(joint.drive)
        if drive is not joint.drive:
            joint = joint.replace(drive=drive)
        result.append(body if joint is body.joint else body.replace(joint=joint))
    return tuple(result)


def without_motors(
    bodies: Sequence[Body], constraints: Sequence[object]
) -> tuple[Body, ...]:
    """Bodies whose rigid drives have no coordinates, where their rotors allow it.

    Motors that constraints name, rotors of joints that slide and those that drive
    flexible bodies keep them.
    """
    named = {
        name
        for c in constraints
        if isinstance(c, Coupling) and not c.name.endswith(".gear")
        for name, _ in c.coefficients
    }
    result = []
    for body in bodies:
        joint, drive = body.joint, body.joint.drive
        if (
            isinstance(body, RigidBody)
            and drive is not None
            and drive.is_rigid
            and drive.is_free
            and joint.screws[:3].any()
            and f"{joint_name(body)}.motor" not in named
        ):
            body = body.replace(joint=joint.replace(drive=geared(drive)))
        result.append(body)
    return tuple(result)


def _single(joint: Joint) -> bool:
    return joint.n_dof == 1 and not joint.has_pose


def _pair(coupling: Coupling) -> list[tuple[str, float]] | None:
    """Names and coefficients of a coupling of two coordinates, or None."""
    terms = [(name, c) for name, c in coupling.coefficients if c != 0.0]
    return terms if len(terms) == 2 else None


class _Tied:
    """Affine maps from coordinates to those that lead them."""

    def __init__(self, bodies: Sequence[Body]) -> None:
        self.joints = {joint_name(b): b.joint for b in bodies if _single(b.joint)}
        self.of = {name: Following(name, 1.0, 0.0) for name in self.joints}

    def tie(self, coupling: object) -> bool:
        """Take a coupling; whether it leaves one coordinate fewer."""
        if not isinstance(coupling, Coupling):
            return False
        pair = _pair(coupling)
        if pair is None or not all(name in self.of for name, _ in pair):
            return False
        (first, c1), (second, c2) = pair
        a, b = self.of[first], self.of[second]
        if a.leader == b.leader:
            return False
        if self.joints[a.leader].drive is not None:
            a, b, c1, c2 = b, a, c2, c1
        if self.joints[a.leader].drive is not None:  # its motor has a coordinate, too
            return False
        # c1 (r_a q_a + o_a) + c2 (r_b q_b + o_b) = constant, solved for q_a
        ratio = -c2 * b.ratio / (c1 * a.ratio)
        rest = coupling.constant - c1 * a.offset - c2 * b.offset
        offset = rest / (c1 * a.ratio)
        for name, own in self.of.items():
            if own.leader == a.leader:
                self.of[name] = Following(
                    b.leader, own.ratio * ratio, own.ratio * offset + own.offset
                )
        return True


def eliminated(
    bodies: Sequence[Body], constraints: Sequence[object], fidelity: str
) -> tuple[Body, ...]:
    """Bodies with joints that follow others as the constraints say.

    The bodies themselves where this does not solve all constraints.

    Parameters
    ----------
    bodies : sequence of bodies
        With free joints.
    constraints : sequence of Loop or Coupling
        Of the arm; not checked yet.
    fidelity : str
        Of the arm; linear models keep their constraints.
    """
    bodies = tuple(bodies)
    if not constraints:
        return bodies
    gears = [
        b
        for b in bodies
        if b.joint.drive is not None
        and b.joint.drive.is_rigid
        and b.joint.drive.is_free
    ]
    names = [joint_name(b) for b in bodies if b.joint.n_dof]
    if fidelity == "linear" or gears or len(set(names)) < len(names):
        return bodies
    tied = _Tied(bodies)
    if not all(tied.tie(constraint) for constraint in constraints):
        return bodies
    result = []
    for body in bodies:
        own = tied.of.get(joint_name(body))
        if _single(body.joint) and own is not None and own.leader != joint_name(body):
            body = body.replace(joint=following(body.joint, *own))
        result.append(body)
    return tuple(result)


def leader_of(arm: ArmLike, body: int) -> int:
    """Number of the body whose joint the joint of another one follows."""
    return next(k for k, own in arm._led.items() if any(body == x for x, *_ in own))


def followers(arm: ArmLike) -> list[tuple[int, int, Following]]:
    """Bodies whose joints follow, those of their leaders, and how."""
    return [(k, leader_of(arm, k), own) for k, own in arm._following.items()]


__all__ = [
    "COUPLINGS",
    "eliminated",
    "followers",
    "free_joint",
    "freed",
    "leader_of",
    "without_motors",
]
