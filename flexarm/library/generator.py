"""Random arms: trees of rigid and flexible bodies for tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np

from .._calls.declared import Choice, RandomSeed, Share, Whole
from .._calls.doors import checked
from .._core import MAX_BODIES, MAX_MODES
from .._support.arrays import Array
from .._support.checks import whole_number
from ..arm import Arm
from ..bodies import JOINT_KINDS, Body, FlexibleBody, Joint, RigidBody
from ..errors import ModelError

Generator = np.random.Generator

# Nodes of a random body at most.
_MAX_NODES = 256
# Numbers of the nodes of all bodies at most, 160 MB.
_MAX_NUMBERS = 20_000_000


@checked
def random_tree(
    rng: RandomSeed,
    n_bodies: int = 4,
    max_modes: int = 3,
    *,
    n_nodes: Annotated[int, Whole(least=1, most=_MAX_NODES)] = 4,
    branches: int = 2,
    gravity: bool = True,
    joints: Sequence[Annotated[str, Choice(*JOINT_KINDS)]] = (
        "revolute",
        "prismatic",
        "fixed",
    ),
    attachments: Share = 0.0,
    foreshortening: Share = 0.5,
) -> Arm:
    """Random tree of rigid and flexible bodies, as general as the model allows.

    Parameters
    ----------
    rng : numpy.random.Generator or int, or None
        Source of the numbers, or a seed, 0 or more; equal seeds give equal arms, None
        a new one each time.
    n_bodies : int
        Number of bodies, at most 4096.
    max_modes : int
        Largest number of modes of a body; at least one body has some.  A body without
        modes is a `RigidBody`.
    n_nodes : int
        Nodes of each body, the attachment included, at most 256.
    branches : int
        Smallest number of ends of the tree, as far as `n_bodies` permits.
    gravity : bool
        9.81 m/s^2 in a random direction, or none.
    joints : sequence of str
        Kinds of joints, any of those of `flexarm.Joint`.
    attachments : float
        Probability that a flexible body floats: its joint then holds a random node,
        and its modes move all nodes.
    foreshortening : float
        Probability that positions of a flexible body are quadratic in its modes.

    Returns
    -------
    arm : Arm
        Named ``"random_tree"``, bodies ``"body0"``, ``"body1"``, ...

    Raises
    ------
    ModelError
        If the arguments leave no coordinate, or more than three modes for each node
        that can move, or if the arm is too large.

    Notes
    -----
    Sizes, in SI units: nodes within 0.5, joint offsets and mass centres of the nodes
    within 0.2 and 0.1; node masses 0.2 to 1; node inertias of three random point
    masses; mode shapes and slopes normal with deviation 0.3; modal stiffness
    symmetric with eigenvalues 50 to 500, modal damping 0.1 to 1, joint friction 0 to
    0.5.  Mode shapes are redrawn until the modal mass matrix has a condition number
    below 1000, with the attachment at rest as well.

    Unless a body floats its modes are clamped: node ``"base"`` lies at the origin and
    does not move, but it has mass and inertia.  Every other node of a flexible body
    translates and turns in each mode, with an offset mass centre and unequal inertias.
    Foreshortening of m modes: normal numbers of deviation 0.1 / m and their transpose.
    Children hang on random nodes with a random offset and rotation, about or along a
    random axis; the second axis of a universal joint has any direction, a helical joint
    advances up to 0.3 m/rad, a subspace has one to six columns of normal numbers, a
    screw joint one to three screws with axes within 0.2 of the frame and such pitches.

    Examples
    --------
    >>> import flexarm as fa
    >>> arm = fa.library.random_tree(7, n_bodies=3, max_modes=2)
    >>> arm == fa.library.random_tree(7, n_bodies=3, max_modes=2)
    True
    >>> floating = fa.library.random_tree(7, n_bodies=1, joints=["free"])
    >>> floating.nq - floating.nv
    1
    """
    n_bodies = whole_number("n_bodies", n_bodies, 1, MAX_BODIES)
    max_modes = whole_number("max_modes", max_modes, 0, MAX_MODES)
    _check(n_bodies, max_modes, n_nodes, joints)
    rng = np.random.default_rng(rng)
    parents = _draw_parents(rng, n_bodies, branches)
    kinds = [str(rng.choice(list(joints))) for _ in range(n_bodies)]
    n_modes = [int(rng.integers(0, max_modes + 1)) for _ in range(n_bodies)]
    if max_modes and not any(n_modes):
        n_modes[int(rng.integers(n_bodies))] = max_modes
    if not any(n_modes) and all(kind == "fixed" for kind in kinds):
        kinds[0] = next(kind for kind in joints if kind != "fixed")
    bodies: list[Body] = []
    for i, parent in enumerate(parents):
        joint = _draw_joint(
            rng,
            kinds[i],
            parent="ground" if parent < 0 else f"body{parent}",
            n_nodes=1 if parent < 0 else n_nodes,
        )
        if not n_modes[i]:
            bodies.append(_draw_rigid(rng, f"body{i}", joint, n_nodes))
            continue
        # arms without floating bodies keep their random numbers
        held = None
        if attachments > 0.0 and rng.random() < attachments:
            held = int(rng.integers(n_nodes))
        size = (n_nodes, n_modes[i])
        bodies.append(_draw_flexible(rng, f"body{i}", joint, size, held))
    direction = rng.normal(size=3)
    g = 9.81 * direction / np.linalg.norm(direction) if gravity else np.zeros(3)
    # last, so that all other numbers are those of arms without it
    for i, body in enumerate(bodies):
        if body.n_modes and rng.random() < foreshortening:
            bodies[i] = _foreshortened(rng, body)
    return Arm(bodies, gravity=g, name="random_tree")


def _check(n_bodies: int, max_modes: int, n_nodes: int, joints: Sequence[str]) -> None:
    whole_number("number of joint kinds", len(joints), 1)
    numbers = n_bodies * n_nodes * (13 + 6 * max_modes + 3 * max_modes**2)
    if numbers > _MAX_NUMBERS:
        raise ModelError(
            f"n_bodies {n_bodies}, n_nodes {n_nodes} and max_modes {max_modes} make "
            f"{numbers} numbers, expected at most {_MAX_NUMBERS}; ask for less of them"
        )
    if max_modes > 3 * (n_nodes - 1):
        raise ModelError(
            f"max_modes is {max_modes} with n_nodes {n_nodes}, expected at most "
            f"{3 * (n_nodes - 1)}, three for each node but the clamped first one"
        )
    if not max_modes and all(kind == "fixed" for kind in joints):
        raise ModelError(
            "only fixed joints and no modes leave nothing that moves, add a joint kind "
            "or raise max_modes"
        )


def _draw_parents(rng: Generator, n: int, branches: int) -> list[int]:
    """Parent of each body, -1 first, with at least `branches` ends if n allows."""
    parents, inner = [-1], set[int]()
    for i in range(1, n):
        ends = i - len(inner)
        # a child of an inner body is one end more; keep enough bodies for that
        urgent = branches - ends >= n - i and inner
        choice = sorted(inner) if urgent else range(i)
        parent = int(rng.choice(list(choice)))
        parents.append(parent)
        inner.add(parent)
    return parents


def _draw_joint(rng: Generator, kind: str, *, parent: str, n_nodes: int) -> Joint:
    """Random joint on one of the first `n_nodes` nodes of its parent."""
    axis = rng.normal(size=3)
    options: dict[str, Any] = {}
    if kind in ("universal", "planar"):
        across = rng.normal(size=3)
        if kind == "planar":
            across -= (across @ axis) / (axis @ axis) * axis
        options["axis2"] = across
    elif kind == "helical":
        options["pitch"] = float(rng.uniform(-0.3, 0.3))
    elif kind == "subspace":
        options["subspace"] = rng.normal(size=(6, int(rng.integers(1, 7))))
    elif kind == "screw":
        options["screw"] = _draw_screws(rng, int(rng.integers(1, 4)))
    if kind not in ("spherical", "free", "subspace", "screw"):
        options["axis"] = axis
    # the order of these is that of the random numbers
    options |= {
        "node": int(rng.integers(n_nodes)) if parent != "ground" else 0,
        "position": rng.uniform(-0.2, 0.2, 3),
        "rotation": _draw_rotation(rng),
    }
    joint = Joint(kind, parent=parent, **options)
    friction = rng.uniform(0.0, 0.5, max(joint.n_dof, 1))
    one = len(friction) == 1
    result: Joint = joint.replace(damping=float(friction[0]) if one else friction)
    return result


def _draw_screws(rng: Generator, n: int) -> Array:
    e = rng.normal(size=(3, n))
    e /= np.linalg.norm(e, axis=0)
    points, pitches = rng.uniform(-0.2, 0.2, (3, n)), rng.uniform(-0.3, 0.3, n)
    return np.vstack([e, np.cross(points, e, axis=0) + pitches * e])


def _draw_rotation(rng: Generator) -> Array:
    q, r = np.linalg.qr(rng.normal(size=(3, 3)))
    q = q * np.sign(np.diag(r))
    return np.asarray(q * np.sign(np.linalg.det(q)))


def _draw_masses(rng: Generator, n: int) -> tuple[Array, Array, Array]:
    """Mass, mass centre and inertia about the mass centre of n nodes."""
    mass = rng.uniform(0.2, 1.0, n)
    com = rng.uniform(-0.1, 0.1, (n, 3))
    points = rng.normal(scale=0.1, size=(n, 3, 3))
    squares = np.einsum("npi,npj->nij", points, points)
    trace = np.trace(squares, axis1=1, axis2=2)
    inertia = trace[:, None, None] * np.eye(3) - squares
    return mass, com, mass[:, None, None] * inertia


def _draw_positions(rng: Generator, n: int) -> Array:
    return np.vstack([np.zeros(3), rng.uniform(-0.5, 0.5, (n - 1, 3))])


def _draw_rigid(rng: Generator, name: str, joint: Joint, n_nodes: int) -> RigidBody:
    mass, com, inertia = _draw_masses(rng, 1)
    where = _draw_positions(rng, n_nodes)
    return RigidBody(
        name,
        joint,
        mass=float(mass[0]),
        com=com[0],
        inertia=inertia[0],
        nodes={str(j): where[j] for j in range(1, n_nodes)},
    )


def _draw_flexible(
    rng: Generator, name: str, joint: Joint, size: tuple[int, int], held: int | None
) -> FlexibleBody:
    # masses, places, stiffness
    n_nodes, n_modes = size
    mass, com, inertia = _draw_masses(rng, n_nodes)
    spread = np.einsum("ni,ni->n", com, com)[:, None, None] * np.eye(3)
    about_node = inertia + mass[:, None, None] * (
        spread - com[:, :, None] * com[:, None]
    )
    where = _draw_positions(rng, n_nodes)
    stiffness = _draw_definite(rng, n_modes, 50.0, 500.0)
    damping = _draw_definite(rng, n_modes, 0.1, 1.0)

    # shapes, until the modal mass is well conditioned, also with a node held
    while True:
        shapes = rng.normal(scale=0.3, size=(2, n_nodes, 3, n_modes))
        if held is None:
            shapes[:, 0] = 0.0
        body = FlexibleBody(
            name,
            joint,
            node_position=where,
            node_mass=mass,
            node_translation=shapes[0],
            node_rotation=shapes[1],
            stiffness=stiffness,
            damping=damping,
            node_com=com,
            node_inertia=about_node,
            node_names=("base", *(str(j) for j in range(1, n_nodes))),
        )
        if not np.linalg.cond(body.modal_mass()) < 1e3:
            continue
        if held is None:
            return body
        if np.linalg.cond(_seen_from(body, held).modal_mass()) < 1e3:
            result: FlexibleBody = body.replace(attachment=held)
            return result


def _foreshortened(rng: Generator, body: Body) -> Body:
    """The body with random second derivatives of its positions."""
    n, m = body.n_nodes, body.n_modes
    kappa = rng.normal(scale=0.1 / m, size=(n, 3, m, m))
    kappa = kappa + kappa.swapaxes(2, 3)
    kappa[body.attachment_node or 0] = 0.0
    result: FlexibleBody = body.replace(node_foreshortening=kappa)
    return result


def _seen_from(body: FlexibleBody, node: int) -> FlexibleBody:
    """The body with modes that leave one node at rest, to first order."""
    turn, away = body.node_rotation[node], body.node_position - body.node_position[node]
    swing = np.cross(turn[np.newaxis], away[:, :, np.newaxis], axis=1)
    shift = body.node_translation - body.node_translation[node] - swing
    slope = body.node_rotation - turn
    result: FlexibleBody = body.replace(node_translation=shift, node_rotation=slope)
    return result


def _draw_definite(rng: Generator, n: int, low: float, high: float) -> Array:
    q, _ = np.linalg.qr(rng.normal(size=(n, n)))
    result = q * rng.uniform(low, high, n) @ q.T
    return np.asarray((result + result.T) / 2.0)
