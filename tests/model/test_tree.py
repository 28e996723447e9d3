"""Links between an arm and its arrays: what holds after each pass."""

from __future__ import annotations

from typing import Any

import numpy as np
from drive_cases import driven, driven_tree
from each import each
from gufuncs import ARMS
from numpy.testing import assert_allclose, assert_array_equal
from trees import SEVERAL

import flexarm as fa
from flexarm.model.chains import with_chains
from flexarm.model.lumps import rigid_nodes, with_node_links
from flexarm.model.merging import merged
from flexarm.model.motors import mass_of_motors, mounts, with_motors
from flexarm.model.packing import bodies_of, pack, rows, structure, tree_of
from flexarm.model.tree import Link, Origin, Tree


def random_arm(seed: int) -> fa.Arm:
    """All joints, floating bodies, drives on rigid and flexible carriers, tools."""
    if seed % 3 == 0:
        arm = fa.library.random_tree(seed, 6, 2, joints=SEVERAL, attachments=0.4)
    elif seed % 3 == 1:
        arm = driven_tree(seed, 5, 2)
    else:
        joints = ("revolute", "fixed", "prismatic", "fixed", "helical")
        arm = driven(fa.library.random_tree(seed, 8, 0, joints=joints), seed)
    last = arm.bodies[-1].name
    on = {"parent": last, "node": arm.bodies[-1].n_nodes - 1}
    tool = fa.RigidBody(
        "tool", fa.Joint("fixed", **on), mass=0.3, nodes={"tip": [1, 0, 0]}
    )
    base = fa.RigidBody("base", fa.Joint("fixed", parent="ground"), mass=2.0)
    camera = fa.RigidBody(
        "camera", fa.Joint("fixed", parent="tool", node="tip"), mass=0.1
    )
    result: fa.Arm = arm.replace(bodies=[*arm.bodies, tool, camera, base], tip=None)
    return result


CASES = {f"tree {seed}": random_arm(seed) for seed in range(18)} | ARMS
CASES["payload"] = fa.Arm(
    [
        fa.beams.flexible_link(
            "boom", length=1.0, mass_per_length=1.0, bending_stiffness=50.0,
            n_modes=2, tip_mass=1.0, tip_inertia=0.1,
        )
    ]
)  # fmt: skip

GEAR = fa.Drive(np.inf, gear_ratio=20.0, rotor_inertia=0.01, rotor_mass=0.2)
CHAIN = fa.library.planar_chain(3).bodies
CASES["followers"] = fa.Arm(
    CHAIN, constraints=[fa.Coupling({"link3": 1.0, "link2": 0.5})]
)
CASES["geared"] = fa.Arm(
    [*CHAIN[:2], CHAIN[2].replace(joint=CHAIN[2].joint.replace(drive=GEAR))]
)
CASES["loop"] = random_arm(2).replace(
    constraints=[fa.Loop(("camera", 0), kind="spherical", position2=(0.1, 0.2, 0.3))]
)


def mass_of(link: Link) -> float:
    """Mass of a link as the arrays have it."""
    if link.lumps is not None:
        return float(sum(row[0] for row in link.lumps))
    if link.moments is not None:
        return float(link.moments[0])
    if link.body is None:
        return 0.0
    apart = np.isin(np.arange(link.body.n_nodes), link.apart)
    given = 0.0 if link.body.integrals is None else link.body.integrals.m
    return float(link.body.node_mass[~apart].sum() + given)


def mass(tree: Tree) -> float:
    return sum(map(mass_of, tree.links))


def n_nodes(link: Link) -> int:
    return 0 if link.body is None else link.body.n_nodes


def velocities(tree: Tree) -> list[tuple[str, int]]:
    """Velocities of joints and modes, each with its body, in order."""
    found = []
    for link in tree.links:
        dof = sum(motion.dof for motion in link.motions)
        n_modes = 0 if link.body is None else link.body.n_modes
        found += [
            ("motor" if link.origin.why == "rotor" else "joint", link.origin.body)
        ] * dof
        found += [("mode", link.origin.body)] * n_modes
    return found


def check(tree: Tree, arm: fa.Arm) -> None:
    """What holds after each pass."""
    origins: list[Origin | None] = [link.origin for link in tree.links]
    assert len(set(origins)) == len(origins)
    known: dict[Origin | None, Link] = {}
    for link in tree.links:
        assert link.parent is None or link.parent in known, "a child before its parent"
        floats = link.motion.kind == "floating"
        known[link.origin] = link
        if link.node >= 0:
            on = known[link.origin if floats else link.parent]
            assert link.node < n_nodes(on)
    # modes and nodes are those of the link that has the body, the last of its chain
    owners = [link for link in tree.links if link.body is not None]
    assert all(link.origin.why == "body" for link in owners)
    for link in owners:
        chain = [o for o in origins if o is not None and o.body == link.origin.body]
        own = [o for o in chain if o.why in ("carrier", "body")]
        assert own[-1] == link.origin
    # forces, followers and loops name links that there are
    joints = {o.body for o in origins if o is not None and o.why in ("carrier", "body")}
    assert all(force.body in joints for force in tree.forces)
    for body, leader, _ in tree.followers:
        assert {body, leader} <= joints
    for closure in tree.closures:
        for end in closure.ends:
            assert end.link is None or end.link in known


@each("arm", CASES)
def test_bodies_are_one_link_each(arm: fa.Arm) -> None:
    tree = bodies_of(arm)
    check(tree, arm)
    assert [link.body for link in tree.links] == list(arm.bodies)
    assert sum(map(n_nodes, tree.links)) == arm.n_nodes
    assert mass(tree) == float(sum(body.mass for body in arm.bodies))


@each("arm", CASES)
def test_chains_have_one_motion_for_each_link(arm: fa.Arm) -> None:
    before, tree = bodies_of(arm), with_chains(bodies_of(arm))
    check(tree, arm)
    assert {len(link.motions) for link in tree.links} == {1}
    assert velocities(tree) == velocities(before)
    assert mass(tree) == mass(before)
    owner = {link.origin.body: link for link in tree.links if link.body is not None}
    for link in tree.links:
        if link.origin.why == "carrier":
            assert link.body is link.moments is None
            assert mass_of(link) == 0.0
    for k, body in enumerate(arm.bodies):
        floats = owner[k].motion.kind == "floating"
        assert floats == (body.attachment is not None)
        assert not floats or owner[k].node == body.attachment_node
        # the joint hangs where it did, all other links of its chain on frames
        chain = [link for link in tree.links if link.origin.body == k]
        assert chain[0][1:3] == before.links[k][1:3]
        assert all(x.parent == y.origin for x, y in zip(chain[1:], chain, strict=False))


@each("arm", CASES)
def test_nodes_whose_inertia_turns_are_links(arm: fa.Arm) -> None:
    before, rigid = with_chains(bodies_of(arm)), rigid_nodes(arm)
    tree = with_node_links(before, rigid)
    check(tree, arm)
    assert_allclose(mass(tree), mass(before), rtol=1e-14)
    added = tree.links[len(before.links) :]
    pairs = [(k, j) for k, own in enumerate(rigid) for j in own]
    assert [(x.origin.body, x.origin.number) for x in added] == pairs
    assert all(x.origin.why == "node" and x.motion.dof == 0 for x in added)
    assert velocities(tree) == velocities(before)
    # places without inertia, for stacks
    every = tuple(tuple(range(body.n_nodes)) for body in arm.bodies)
    wider = with_node_links(before, rigid, every)
    assert_allclose(mass(wider), mass(before), rtol=1e-14)
    assert len(wider.links) == len(before.links) + arm.n_nodes


@each("arm", CASES)
def test_motors_are_links_or_in_what_carries_them(arm: fa.Arm) -> None:
    before = with_node_links(with_chains(bodies_of(arm)), rigid_nodes(arm))
    tree = with_motors(before, arm)
    check(tree, arm)
    assert_allclose(mass(tree), mass(before) + mass_of_motors(arm))
    added = tree.links[len(before.links) :]
    kinds = [link.origin.why for link in added]
    assert kinds == sorted(kinds, reverse=True), "rotors are last"
    free = [m for m in mounts(arm) if m.drive.is_free]
    moving = [link for link in added if link.origin.why == "rotor"]
    assert [link.origin.body for link in moving] == [m.driven for m in free]
    assert all(link.motion.dof == 1 for link in moving)
    for link in added:
        if link.origin.why == "stator" and link.parent is not None:
            assert not isinstance(arm.bodies[link.parent.body], fa.RigidBody)
    assert velocities(tree) == velocities(before) + [("motor", m.driven) for m in free]
    driven_by = {link.origin.body for link in moving}
    for force in tree.forces:
        assert force.body in driven_by or not (force.on_motor or force.ratio)


@each("arm", CASES)
def test_rigid_links_are_summed(arm: fa.Arm) -> None:
    before = tree_of(arm)
    tree = merged(before)
    if tree is None:
        return
    check(tree, arm)
    gone = {link.origin for link in before.links} - {link.origin for link in tree.links}
    assert gone and all(
        link.motion.kind == "fixed" for link in before.links if link.origin in gone
    )
    order = [link.origin for link in before.links if link.origin not in gone]
    assert [link.origin for link in tree.links] == order
    # coordinates are the same; masses on the ground are left out
    assert velocities(tree) == velocities(before)
    on_ground: set[Origin | None] = {None}
    for link in before.links:
        if link.origin in gone and link.parent in on_ground:
            on_ground.add(link.origin)
    still = sum(mass_of(link) for link in before.links if link.origin in on_ground)
    assert_allclose(mass(tree) + still, mass(before), rtol=1e-13)
    # and again nothing disappears
    assert merged(tree) is None


@each("arm", CASES)
def test_rows_have_the_numbers_of_links(arm: fa.Arm) -> None:
    tree, packed = tree_of(arm), pack(arm)
    for a, b in zip(rows(tree), packed, strict=True):
        assert_array_equal(a, b)
    for name, a, b in zip(packed._fields, arm.pack(), arm.pack(), strict=True):
        assert not np.shares_memory(a, b), name
    assert len(packed.topology) == len(packed.joints) == len(tree.links)
    assert sum(packed.column("nodes")) == arm.n_nodes
    assert sum(packed.column("dof")) == arm.nj + arm._n_motors + len(tree.followers)
    number = {link.origin: i for i, link in enumerate(tree.links)}
    for link, parent in zip(tree.links, packed.column("parent"), strict=True):
        assert parent == (-1 if link.parent is None else number[link.parent])
    fewer = merged(tree)
    if fewer is not None:
        assert sum(rows(fewer).column("dof")) == sum(packed.column("dof"))


@each("arm", CASES)
def test_structure_is_that_of_arms_that_differ_in_numbers(arm: fa.Arm) -> None:
    heavier = arm.replace(gravity=(0.0, 0.0, -1.6), check_units=False)
    assert structure(tree_of(arm)) == structure(tree_of(heavier))
    one: Any = next(
        (b for b in arm.bodies if b.joint.n_dof and b.joint.drive is None), None
    )
    if one is None:
        return
    idle = one.replace(joint=one.joint.replace(actuated=False))
    other = arm.replace(
        bodies=[idle if b is one else b for b in arm.bodies], check_units=False
    )
    assert structure(tree_of(arm)) != structure(tree_of(other))
