"""Errors of the modes of the links of an arm, against the links before reduction."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from ._calls.arguments import check_finite, real_array
from ._calls.arm_like import ArmLike, Array
from ._calls.declared import Posture
from ._calls.doors import checked, checked_class
from ._calls.links import link_name, link_ranges
from ._core import JOINT_COLUMNS
from ._support.arrays import Index
from ._support.printing import Printed, Sheet, Table, percent
from ._support.warn import warn
from .arm import check_of_new_arms
from .bodies.basis import (
    NodeErrors,
    is_twisted,
    is_whole,
    linear_body,
    loaded_mass,
    lowest_and_static,
    lowest_frequencies,
    modal_compliance_of,
    node_errors,
    remedy,
)
from .bodies.body import Body
from .bodies.left_out import share_left_out
from .bodies.mode_bounds import largest_frequency_error
from .bodies.unreduced import LinearBody, UnreducedLink, about_origin, spatial_inertia
from .errors import ModeWarning
from .kinematics import link_poses, node_poses
from .model.packing import tree_of
from .model.tree import Link

# Error of a basis without a warning.
MAX_ERROR = 0.01
# Frequencies that are compared.
FREQUENCIES = 4
# Modes of an unreduced link in the whole arm, beside its static shapes.
MIN_MODES = 12

# what links carried when their modes were checked; copies from a pickle are not
_SEEN: WeakKeyDictionary[UnreducedLink, bytes] = WeakKeyDictionary()


@checked_class
@dataclass(frozen=True, eq=False)
class LinkModeErrors:
    """Errors of the modes of one link.

    Attributes
    ----------
    name : str
        Name of the link.
    known : bool
        Whether its unreduced link is known; all others are empty if not.
    nodes : tuple of str
        Nodes on which other bodies hang, or the tip of a last link.
    carried : (k,) ndarray of float
        Mass that hangs on each of them, in kg.
    deflection, rotation : (k,) ndarray of float
        Part of the static compliance that is missing, of the deflection under a force
        and of the rotation under a moment at the node, in the worst direction.
    twist : (k,) ndarray of float
        The same part of the rotation about the line under a moment about it; zero
        where what hangs on the node has no inertia about the line.
    sag : (k,) ndarray of float
        The same of the deflection of what hangs on the node under its own weight, with
        its joints locked; that under a force at a node that carries nothing.
    frequencies, unreduced_frequencies : (m,) ndarray of float
        First frequencies in Hz with the base held and all that is outboard rigid, with
        the modes and of the unreduced link.
    left_out : (k,) ndarray of float
        Deflection under a force at the node by stretch and shear that the motions of
        the link leave out, as a part of the largest one it has, both in the worst
        direction; of a link that is cut into pieces that of its tip.  NaN if the
        stiffness of its sections is not known, as of `beams.flexible_link`.
    """

    name: str
    known: bool
    nodes: tuple[str, ...]
    carried: Array
    deflection: Array
    rotation: Array
    twist: Array
    sag: Array
    frequencies: Array
    unreduced_frequencies: Array
    left_out: Array

    @property
    def frequency_errors(self) -> Array:
        """Relative errors of the frequencies, (m,), positive for too high ones."""
        return np.asarray(self.frequencies / self.unreduced_frequencies - 1.0)

    @property
    def largest(self) -> float:
        """Largest error of deflection, twist, sag, first frequency; NaN if not known.

        The slope under a moment counts in the sag of what hangs beside the node.
        """
        parts = [self._static, self.frequency_errors[:1]]
        return float(np.concatenate(parts).max(initial=0.0) if self.known else np.nan)

    @property
    def _static(self) -> Array:
        """Largest static error that counts, of each node, (k,)."""
        return np.maximum(np.maximum(self.deflection, self.sag), self.twist)


@checked_class
@dataclass(frozen=True, eq=False)
class ModeErrors(Printed):
    """Errors of the modes of an arm, which `print` shows as a table.

    Attributes
    ----------
    arm : Arm
        The arm.
    q : (nq,) ndarray of float
        Posture.
    links : tuple of LinkModeErrors
        One for each body with modes.
    frequencies, unreduced_frequencies : (m,) ndarray of float
        First frequencies of the whole arm in Hz with locked joints, without gravity,
        with the modes and with unreduced links; bodies whose unreduced link is not
        known have their modes in both.
    """

    arm: Any  # flexarm.Arm
    q: Array
    links: tuple[LinkModeErrors, ...]
    frequencies: Array
    unreduced_frequencies: Array

    @property
    def frequency_errors(self) -> Array:
        """Relative errors of the frequencies of the arm, (m,)."""
        return np.asarray(self.frequencies / self.unreduced_frequencies - 1.0)

    @property
    def largest(self) -> float:
        """Largest error of a link whose unreduced link is known, or zero."""
        return max((x.largest for x in self.links if x.known), default=0.0)

    def _sheet(self) -> Sheet:
        head = f"errors of the modes of {self.arm!r}"
        if not self.links:
            return Sheet((head, "no body has modes"))
        title = "link", "node", "carries kg", "deflection %", "rotation %", "sag %"
        rest = "left out %", "unreduced Hz", "error %"
        rows: list[tuple[str, ...]] = [(*title, *rest)]
        for link in self.links:
            hertz, errors = _hertz(link), _percents(link.frequency_errors)
            if not link.known:
                rows.append((link.name, "", "", *["unknown"] * 3, "", "unknown", ""))
            for j, node in enumerate(link.nodes):
                static = (link.deflection[j], link.rotation[j], link.sag[j])
                numbers = [f"{link.carried[j]:.4g}", *map(percent, static)]
                share = float(link.left_out[j])
                numbers.append("unknown" if np.isnan(share) else percent(share))
                first = (link.name, hertz, errors) if not j else ("", "", "")
                rows.append((first[0], node, *numbers, *first[1:]))
        whole = (
            "whole arm, joints locked: unreduced "
            f"{_hertz(self)} Hz, errors {_percents(self.frequency_errors)} %"
        )
        return Sheet((head, Table(rows), *([whole] if len(self.frequencies) else [])))


def _percents(errors: Array) -> str:
    return ", ".join(map(percent, errors))


def _hertz(found: LinkModeErrors | ModeErrors) -> str:
    return ", ".join(f"{f:.4g}" for f in found.unreduced_frequencies)


@checked
def mode_errors(arm: ArmLike, q: Posture | None = None) -> ModeErrors:
    r"""Errors of the modes of all links, against the links before reduction.

    Parameters
    ----------
    arm : Arm
        Arm; loops and couplings are left out of account.
    q : (nq,) array_like of float, optional
        Posture, which places the bodies outboard of each link; by default
        ``arm.neutral``.

    Returns
    -------
    errors : ModeErrors
        Errors of static compliance and of the first frequencies of each link and of the
        whole arm; ``print(errors)`` shows a table.

    Raises
    ------
    ArgumentError
        If `q` is not one posture.

    See Also
    --------
    natural_frequencies : those of the arm, with gravity and moving joints.

    Notes
    -----
    Assumed modes restrict the motion of a link, so that it is too stiff.  Its base held
    and all bodies outboard rigid, with locked joints, it is compared with the link of
    which the modes were taken.  That link is statically determinate: its strains at
    Gauss points are the coordinates, and the deflections their integrals.  Its static
    deflections are exact and its first frequencies accurate to 1e-6.

    Principal directions in which a node is more than a hundred times stiffer than in
    others do not count, ten times for the sag.  Modes of `finite_elements` and bodies
    made by hand have no link to compare with: their errors are unknown.  Stacks have
    the errors of their arms.

    Pinned and free modes turn the base, and the comparison holds it by a moment of the
    joint.  Between joints that carry no moment, as of a coupler in a linkage whose
    joints nothing drives, they are better than this: pinned ones are its own there.

    References
    ----------
    .. [1] R. R. Craig, A. J. Kurdila, *Fundamentals of Structural Dynamics*, 2nd ed.,
       Wiley, 2006, chapter 17.

    Examples
    --------
    Two links of clamped-free modes.  The second one carries nothing, so that the first
    one needs the static shapes of its tip:

    >>> import warnings
    >>> import flexarm as fa
    >>> modes = fa.beams.clamped_beam_modes(1.0, 1.0, 100.0, 2)
    >>> links = {"length": 1.0, "mass_per_length": 1.0, "bending_y": modes}
    >>> first = fa.beams.flexible_link("first", **links)
    >>> elbow = fa.Joint(parent="first")
    >>> second = fa.beams.flexible_link("second", joint=elbow, **links)
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", fa.ModeWarning)
    ...     arm = fa.Arm([first, second])
    >>> print(arm.mode_errors())
    errors of the modes of <Arm 'arm': 2 bodies, 2 joint and 4 modal coordinates>
    link    node  carries kg  ...
    """
    posture = arm.neutral if q is None else real_array("q", q)
    check_finite("q", posture)
    locked = Locked(arm, posture)
    known = {k: arm.bodies[k].unreduced for k in locked.flexible}
    links = tuple(_link_errors(locked, k, known[k]) for k in locked.flexible)
    frequencies = unreduced = np.zeros(0)
    if any(known.values()):
        frequencies = locked.frequencies({})
        unreduced = locked.frequencies({k: x for k, x in known.items() if x})
    count = min(len(frequencies), len(unreduced))
    return ModeErrors(arm, posture, links, frequencies[:count], unreduced[:count])


def _link_errors(
    locked: Locked, k: int, unreduced: UnreducedLink | None
) -> LinkModeErrors:
    body, at = locked.arm.bodies[k], locked.loaded(k)
    names = tuple(body.node_names[j] for j in at)
    loads = locked.loads(k, at)
    if unreduced is None:
        none = np.zeros(0)
        return LinkModeErrors(body.name, False, (), *[none] * 8)
    static = _static(body, unreduced, at, loads)
    reduced, exact = linear_body(body, at), unreduced.linear(at)
    count = min(FREQUENCIES, body.n_modes)
    each = [
        lowest_frequencies(loaded_mass(x, loads), x.stiffness, count)
        for x in (reduced, exact)
    ]
    columns = np.array(static).reshape(-1, 4).T
    parts = loads[:, 5, 5], *columns, *each, _left_out(locked, k, at)
    return LinkModeErrors(body.name, True, names, *parts)


def _left_out(locked: Locked, k: int, at: Index) -> Array:
    """Deflections of nodes by motions that a link leaves out, over those it has."""
    bodies, pieces = locked.arm.bodies, link_ranges(locked.arm.bodies)[k]
    back = locked.to_body[pieces[-1]]
    turns = [back @ np.linalg.inv(locked.to_body[p]) for p in pieces]
    some = [bodies[p] for p in pieces]
    if len(pieces) == 1:
        return share_left_out(some, turns, at)
    tip = share_left_out(some, turns, np.array([some[-1].n_nodes - 1]))
    return np.repeat(tip, len(at))


def _static(
    body: Body, unreduced: UnreducedLink, at: Index, loads: Array
) -> list[NodeErrors]:
    """Static errors of loaded nodes."""
    with np.errstate(all="ignore"):  # of sizes that overflow, whose errors are NaN
        reduced = modal_compliance_of(linear_body(body, at))
        exact = unreduced.compliance(at)
    result, along = [], unreduced.along(at)
    for j, node in enumerate(at):
        mass, moment = float(loads[j, 5, 5]), loads[j, [2, 0, 1], [4, 5, 3]]
        centre = moment / mass if mass > 0.0 else None
        place = body.node_position[node]
        axis = along[j] if is_twisted(loads[j], place, along[j]) else None
        result.append(node_errors(reduced[j], exact[j], place, centre, axis))
    return result


class _Lump(NamedTuple):
    """Something rigid that hangs on a node of a body, or of the ground (-1)."""

    carrier: int
    node: int
    inertia: Array  # (6, 6) about the origin of the base


class Locked:
    """An arm with locked joints: inertias outboard of each link, in the base frame."""

    def __init__(self, arm: ArmLike, q: Array) -> None:
        self.arm = arm
        self.flexible = [k for k, body in enumerate(arm.bodies) if body.n_modes]
        poses = link_poses(arm, q)
        # V in the frame of a body = X V in the base
        self.to_body = [_motion(T) for T in poses]
        self.children = _children(arm)
        driven = any(body.joint.drive is not None for body in arm.bodies)
        links = tree_of(arm).links if driven else ()
        whole = {x.origin.body: x.moments for x in links if x.origin.why == "body"}
        own = [_inertia_of(body, whole.get(k)) for k, body in enumerate(arm.bodies)]
        own = [X.T @ I @ X for X, I in zip(self.to_body, own, strict=True)]
        self.lumps = _lumps_of_motors(arm, links, q)
        # inertias of the trees from each body outward
        self.outward = own
        for lump in self.lumps:
            if lump.carrier >= 0:
                self.outward[lump.carrier] = self.outward[lump.carrier] + lump.inertia
        for k in reversed(range(len(own))):
            if (p := arm._parents[k]) >= 0:
                self.outward[p] = self.outward[p] + self.outward[k]

    def node_of(self, k: int) -> int:
        """Node of its parent on which a body hangs."""
        return _node_of(self.arm, k)

    def loaded(self, k: int) -> Index:
        """Nodes of a body on which others hang, and the tip of arm or branch."""
        return np.array(_loaded(self.arm, k, self.children), dtype=np.intp)

    def loads(self, k: int, at: Iterable[int]) -> Array:
        """Inertias on nodes of a body in its frame, (nodes, 6, 6)."""
        back = np.linalg.inv(self.to_body[k])
        result = []
        for node in at:
            found = np.zeros((6, 6))
            for child in self.children.get(k, []):
                if self.node_of(child) == node:
                    found += self.outward[child]
            for lump in self.lumps:
                if (lump.carrier, lump.node) == (k, node):
                    found += lump.inertia
            result.append(back.T @ found @ back)
        return np.array(result)

    def frequencies(self, unreduced: dict[int, UnreducedLink]) -> Array:
        """First frequencies in Hz, with the given links in place of their modes."""
        parts: dict[int, LinearBody] = {}
        on: dict[int, Index] = {k: self.loaded(k) for k in self.flexible}
        for k in self.flexible:
            body, at = self.arm.bodies[k], on[k]
            link = unreduced.get(k)
            loads = self.loads(k, at)
            x = linear_body(body, at) if link is None else _few(link.linear(at), loads)
            # to the base frame, with what hangs on the nodes
            X = self.to_body[k]
            motion = np.linalg.inv(X) @ x.motion
            parts[k] = LinearBody(
                x.stiffness, loaded_mass(x, loads), X.T @ x.momentum, motion
            )
        sizes = [len(parts[k].mass) for k in self.flexible]
        first = np.concatenate([[0], np.cumsum(sizes)]).astype(int)
        M, K = np.zeros((2, first[-1], first[-1]))
        # from the tips inward: momentum of the tree of a body per rate
        trees: list[list[tuple[slice, Array]]] = [[] for _ in self.arm.bodies]
        for i in reversed(range(len(self.arm.bodies))):
            if i in parts:
                part, j = parts[i], self.flexible.index(i)
                own = slice(first[j], first[j + 1])
                M[own, own], K[own, own] = part.mass, part.stiffness
                momentum = part.momentum.copy()
                for node, moves in zip(on[i], part.motion, strict=True):
                    back = self.to_body[i]
                    held = back.T @ self.loads(i, [node])[0] @ back
                    momentum += held @ moves
                    for child in self.children.get(i, []):
                        if self.node_of(child) == node:
                            for other, carried in trees[child]:
                                M[own, other] = moves.T @ carried
                                M[other, own] = M[own, other].T
                trees[i].append((own, momentum))
            for child in self.children.get(i, []):
                trees[i] += trees[child]
        return lowest_frequencies(M, K, FREQUENCIES)


def _children(arm: ArmLike) -> dict[int, list[int]]:
    """Bodies that hang on each body."""
    result: dict[int, list[int]] = {}
    for k, p in enumerate(arm._parents):
        result.setdefault(p, []).append(k)
    return result


def _node_of(arm: ArmLike, k: int) -> int:
    """Node of its parent on which a body hangs."""
    return int(arm.bodies[arm._parents[k]].node_index(arm.bodies[k].joint.node))


def _loaded(arm: ArmLike, k: int, children: dict[int, list[int]]) -> list[int]:
    """Nodes of a body on which others hang, and the tip of arm or branch."""
    on = {_node_of(arm, child) for child in children.get(k, [])}
    body, node = arm.tip
    if arm.body_index(body) == k:
        on.add(arm.bodies[k].node_index(node))
    return sorted(on) or [arm.bodies[k].n_nodes - 1]


def _few(link: LinearBody, loads: Array) -> LinearBody:
    """Return an unreduced link in its static shapes and its lowest modes."""
    W = lowest_and_static(link, loads, MIN_MODES)
    return LinearBody(W.T @ W, W.T @ link.mass @ W, link.momentum @ W, link.motion @ W)


def _motion(pose: Array) -> Array:
    """Matrix from twists about the origin of the base to those in a frame."""
    R, x = pose[:3, :3], pose[:3, 3]
    X = np.zeros((6, 6))
    X[:3, :3] = X[3:, 3:] = R.T
    X[3:, :3] = -R.T @ np.cross(x, np.eye(3)).T
    return X


def _moments(m: Array) -> Array:
    """Spatial inertia of mass, first moment and inertia (10,)."""
    J = m[4:][[0, 1, 2, 1, 3, 4, 2, 4, 5]].reshape(3, 3)
    return spatial_inertia(m[0], m[1:4], J)


def _inertia_of(body: Body, moments: Array | None) -> Array:
    """Spatial inertia of an undeformed body, or of that with motor parts on it."""
    if moments is not None:
        return _moments(moments)
    nodes = body.node_mass, body.node_com, body.node_inertia, body.node_position
    found = about_origin(*nodes).sum(axis=0)
    if (c := body.integrals) is not None:
        found = found + spatial_inertia(np.asarray(c.m), c.mp0, c.J0)
    return np.asarray(found)


def _lumps_of_motors(arm: ArmLike, links: tuple[Link, ...], q: Array) -> list[_Lump]:
    """Parts of motors that are bodies of their own in the C model."""
    moving = [x for x in links if x.origin.why in ("stator", "rotor") and x.parent]
    poses, result = node_poses(arm, q) if moving else (), []
    for link in moving:
        assert link.parent is not None and link.moments is not None
        k, constants, pose = link.parent.body, link.motion.constants, np.eye(4)
        pose[:3, :3] = constants[JOINT_COLUMNS["rotation"]].reshape(3, 3)
        pose[:3, 3] = constants[JOINT_COLUMNS["position"]]
        X = _motion(poses[arm._node_offset[k] + link.node] @ pose)
        result.append(_Lump(k, link.node, X.T @ _moments(link.moments) @ X))
    return result


# when an arm is made, and its table


@check_of_new_arms
def warn_of_modes(arm: ArmLike) -> None:
    """Warn once of links whose modes make them too stiff for what they carry."""
    children = _children(arm)
    some = [
        (k, link)
        for k, body in enumerate(arm.bodies)
        if body.beam is not None and not body.beam.named
        if not _sufficient(body, _loaded(arm, k, children))
        if (link := body.unreduced) is not None
    ]
    if not some:
        return
    locked, found = Locked(arm, arm.neutral), []
    for k, link in some:
        loads = locked.loads(k, locked.loaded(k)).tobytes()
        if _SEEN.get(link) == loads:
            continue
        _SEEN[link], errors = loads, _link_errors(locked, k, link)
        if (largest := _largest(arm.bodies[k], errors)) > MAX_ERROR:
            found.append((largest, k, errors))
    if not found:
        return
    _, k, worst = max(found, key=lambda x: x[0])
    others = f", and {len(found) - 1} more above {MAX_ERROR:.0%}" if found[1:] else ""
    body = arm.bodies[k]
    warn(
        f"the modes of link {link_name(body)!r} make {_wrong(body, worst)}"
        f"{others}; see print(arm.mode_errors())",
        ModeWarning,
    )


def _sufficient(body: Body, loaded: list[int]) -> bool:
    """Whether a bound that is known without its loads is below that of a warning."""
    key = ("errors of modes", *loaded)
    if key not in body._kept:
        body._kept[key] = largest_frequency_error(body, tuple(loaded))
    bound: float | None = body._kept[key]
    return bound is not None and bound <= 0.9 * MAX_ERROR


def _largest(body: Body, errors: LinkModeErrors) -> float:
    """Largest error of a link; of a piece of one that of its deflections.

    Frequencies of a piece alone are far above those of the link.
    """
    if body.segment is None or not errors.known:
        return errors.largest
    return float(errors._static.max(initial=0.0))


def _wrong(body: Body, errors: LinkModeErrors) -> str:
    """Largest error of a link, and the option that corrects it."""
    static, twists = np.maximum(errors.deflection, errors.sag), ""
    if static.max(initial=0.0) <= MAX_ERROR < errors.twist.max(initial=0.0):
        static, twists = errors.twist, " in twist"
    j = int(static.argmax())
    where = ""
    if body.attachment is not None:  # modes that turn the base
        where = " where a moment of its joint holds its base"
    if static[j] <= MAX_ERROR:
        return (
            f"its first frequency {percent(errors.largest)} % too high with what it "
            f"carries{where}: raise {'n_elements' if is_whole(body) else 'n_modes'}"
        )
    node, mass = errors.nodes[j], float(errors.carried[j])
    carries = f", which carries {mass:.3g} kg," if mass > 0.0 else ""
    stiff = f"{percent(static[j])} % too stiff{twists}{where}: "
    return f"its node {node!r}{carries} {stiff}{remedy(body, node)}"


def table_of_modes(arm: ArmLike) -> dict[int, str]:
    """Largest error of each body with modes, in percent, for the table of an arm."""
    flexible = [k for k, body in enumerate(arm.bodies) if body.n_modes]
    if not flexible:
        return {}
    locked = Locked(arm, arm.neutral)
    result = {}
    for k in flexible:
        link = arm.bodies[k].unreduced
        result[k] = "unknown"
        if link is not None:
            found = _link_errors(locked, k, link)
            result[k] = percent(_largest(arm.bodies[k], found))
    return result
