"""Parents of bodies, and checks: of their tree, their names, mass that moves."""

from __future__ import annotations

from collections import Counter

import numpy as np

from .._calls.arm_like import ArmLike, has_motor
from .._calls.links import link_name, link_ranges, piece_with
from .._core import MAX_BODIES, MAX_NODES, MAX_VELOCITIES
from .._support.arrays import is_whole
from .._support.checks import listed, short_text
from .._support.options import did_you_mean
from ..bodies.body import GROUND, Body
from ..errors import ModelError
from . import motors


def find_parents(bodies: tuple[Body, ...]) -> tuple[int, ...]:
    """Return the index of each parent, -1 for the ground, or raise if not a tree."""
    if not bodies:
        raise ModelError("the arm has no bodies, expected at least one")
    if len(bodies) > MAX_BODIES:
        raise ModelError(
            f"the arm has {len(bodies)} bodies, expected at most {MAX_BODIES}"
        )
    _check_sizes(bodies)
    # unique names
    names = [body.name for body in bodies]
    number: dict[str, int] = {}
    for i, name in enumerate(names):
        if name in number:
            raise ModelError(f"two bodies are named {name!r}, expected unique names")
        number[name] = i
    # parents; of those in pieces the one with the node
    parents, links = [], link_ranges(bodies)
    for i, body in enumerate(bodies):
        if i > links[i].start:
            parents.append(i - 1)
            continue
        parent = body.joint.parent
        if parent is None:
            parent = link_name(bodies[i - 1]) if i else GROUND
        if parent != GROUND and parent not in number:
            raise ModelError(
                f"body {body.name!r} has the parent {short_text(parent)}, expected "
                f"{GROUND!r} or one of {listed(names, str)}"
                f"{_meant_parent(parent, names)}"
            )
        p = -1 if parent == GROUND else number[parent]
        if p >= 0 and parent == link_name(bodies[p]) and len(links[p]) > 1:
            own = [bodies[k] for k in links[p]]
            p += piece_with(own, body.joint.node)[0]
        parents.append(p)
    _check_order(names, parents, [body.joint.parent is None for body in bodies])
    return tuple(parents)


def with_named_nodes(
    bodies: tuple[Body, ...], parents: tuple[int, ...]
) -> tuple[Body, ...]:
    """Bodies on links in pieces, with names in place of numbers of their nodes."""
    result, links = list(bodies), link_ranges(bodies)
    for i, (body, p) in enumerate(zip(bodies, parents, strict=True)):
        joint = body.joint
        if (
            p > links[p].start
            and is_whole(joint.node)
            and joint.parent != bodies[p].name
        ):
            own = [bodies[k] for k in links[p]]
            node = own[p - links[p].start].node_names[piece_with(own, joint.node)[1]]
            result[i] = body.replace(joint=joint.replace(node=node))
    return tuple(result)


def _meant_parent(given: str, names: list[str]) -> str:
    """Hint at the body, or the body and its node, that was meant."""
    for separator in "./":
        body, found, node = given.partition(separator)
        if found and body in names:
            return f"; did you mean parent={body!r}, node={node!r}?"
    return did_you_mean(given, [*names, GROUND])


def _check_sizes(bodies: tuple[Body, ...]) -> None:
    """Raise for arms that are too large for the numbers with which C counts."""
    # a joint of several screws is several bodies in C
    parts = sum(1 if b.joint.has_pose else max(1, b.joint.n_dof) for b in bodies)
    if parts > MAX_BODIES:
        raise ModelError(
            f"the arm has {len(bodies)} bodies whose joints have {parts} axes, "
            f"expected at most {MAX_BODIES}; use fewer bodies or joints of fewer axes"
        )
    joints = sum(b.joint.n_dof + has_motor(b.joint) for b in bodies)
    modes = sum(body.n_modes for body in bodies)
    if joints + modes > MAX_VELOCITIES:
        raise ModelError(
            f"the arm has {joints} velocities of joints and {modes} modes, expected at "
            f"most {MAX_VELOCITIES} in all; keep fewer modes or fewer joints"
        )
    nodes = sum(body.n_nodes for body in bodies)
    if nodes > MAX_NODES:
        raise ModelError(
            f"the arm has {nodes} nodes, expected at most {MAX_NODES}; keep fewer nodes"
        )


def _check_order(names: list[str], parents: list[int], default: list[bool]) -> None:
    reached = [False] * len(names)  # a path to the ground is known
    for i in range(len(names)):
        path = [i]
        seen = {i}
        while parents[path[-1]] >= 0 and not reached[path[-1]]:
            path.append(parents[path[-1]])
            if path[-1] in seen:
                loop = path[path.index(path[-1]) :]
                hint = next((k for k in loop if default[k]), None)
                raise ModelError(
                    "the bodies form a cycle, "
                    + " -> ".join(names[k] for k in loop)
                    + f", expected trees with the root {GROUND!r}"
                    + (
                        ""
                        if hint is None
                        else f"; {names[hint]!r} names no parent, and has the body "
                        "before it in the list"
                    )
                )
            seen.add(path[-1])
        for k in path:
            reached[k] = True
    for i, parent in enumerate(parents):
        if parent > i:
            raise ModelError(
                f"body {names[i]!r} is listed before its parent {names[parent]!r}, "
                "expected the order from base to tip"
            )


def check_unique_names(arm: ArmLike) -> None:
    """Raise if a name of a coordinate, or of a node with its body, means two.

    They are different where no name has a dot and no joint a name of its own.
    """
    plain = all(
        b.joint.name is None
        and not any("." in name for name in (b.name, *b.node_names))
        for b in arm.bodies
    )
    if plain:
        return
    nodes = [f"{b.name}.{node}" for b in arm.bodies for node in b.node_names]
    for what, names in (("coordinate", arm.position_names), ("node", nodes)):
        twice = [name for name, n in Counter(names).items() if n > 1]
        if twice:
            raise ModelError(
                f"two {what}s of the arm are named {twice[0]!r}, expected unique names "
                "of bodies, joints, nodes and modes"
            )


def _inertia_of(body: Body) -> float:
    """Sum of the sizes of all moments of inertia of a body."""
    found: float | None = body._kept.get(_inertia_of)
    if found is None:
        c = body.integrals
        found = (
            float(np.abs(body.node_inertia).sum()) if body.node_inertia.any() else 0.0
        )
        found += 0.0 if c is None else float(np.abs(c.J0).sum())
        body._kept[_inertia_of] = found
    return found


def check_mass(bodies: tuple[Body, ...], parents: tuple[int, ...]) -> None:
    """Raise for joints that move no mass, and for an arm without coordinates."""
    # masses of bodies with the motors that they carry
    mass = [body.mass for body in bodies]
    inertia = [_inertia_of(body) for body in bodies]
    for body, p in zip(bodies, parents, strict=True):
        if p >= 0:
            own = motors.carried(body.joint)
            mass[p], inertia[p] = mass[p] + own[0], inertia[p] + own[1]
    # sums over outboard bodies
    for i in reversed(range(len(bodies))):
        if parents[i] >= 0:
            mass[parents[i]] += mass[i]
            inertia[parents[i]] += inertia[i]
    # moving joints need mass, or inertia if they turn
    for body, m, J in zip(bodies, mass, inertia, strict=True):
        if m != 0.0 or not body.joint.n_dof:
            continue
        turns = bool(body.joint.screws[:3].any(axis=0).all())
        if not (turns and J > 0.0):
            raise ModelError(
                f"body {body.name!r} and all bodies outboard are massless, so its "
                f"{body.joint.kind} joint has no equation of motion; give it a mass"
                + (" or an inertia" if turns else "")
            )
    if not any(body.joint.n_dof + body.n_modes for body in bodies):
        raise ModelError(
            "all joints of the arm are fixed and no body has modes, expected at least "
            "one coordinate; make a joint revolute or prismatic"
        )
