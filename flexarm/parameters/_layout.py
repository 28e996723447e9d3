"""Places of the parameters of an arm in the arrays of its C model.

Forces are linear in masses, modal integrals, armature, stiffness and damping, and in a
factor of the strain energy of a beam beyond its stiffness matrix.  `parameters_of`
lists these constants with their places in the arrays of ``pack(arm, integrals=True)``;
the other entries are geometry.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from .._calls.arguments import refuse_geared
from .._calls.arm_like import ArmLike
from .._core import INTEGRAL_COLUMNS, JOINT_COLUMNS, PASSIVE_COLUMNS, PASSIVE_KINDS
from .._support.arrays import Array, Index, Mask
from ..bodies.body import Body
from ..bodies.following import free_joint
from ..bodies.integrals import ModalIntegrals
from ..bodies.models import RigidBody
from ..errors import ArgumentError
from ..model.lumps import integrals_without, rigid_nodes
from ..model.motors import joint_forces
from ..model.packing import Packed, rows, tree_of
from ..model.tree import JointForce, Link, Origin

Names: TypeAlias = str | Sequence[str] | None
Bodies: TypeAlias = str | int | Sequence[str | int] | None

FAMILIES = ("inertia", "stiffness", "damping", "joint", "motor")

_RATES = {name: JOINT_COLUMNS[name] for name in ("damping", "armature")}
_DAMPING, _PARAMETERS = _RATES["damping"], PASSIVE_COLUMNS["parameters"]
_AXIS = JOINT_COLUMNS["axis"]

_AXES = ("x", "y", "z")
_PAIRS = ("xx", "xy", "xz", "yy", "yz", "zz")
_UPPER = np.triu_indices(3)

# Part of other integrals of their kind below which integrals are rounding.
_INTEGRAL_TOLERANCE = 1e-14


@dataclass(frozen=True)
class Place:
    """One parameter, and its places: array, flat index, factor."""

    name: str
    value: float
    unit: str
    family: str
    body: int
    at: tuple[tuple[str, int, float], ...]


class _Walk:
    """Walk along the arrays in the order of `pack`."""

    def __init__(self, arm: ArmLike) -> None:
        refuse_geared(arm, "parameters")
        tree = tree_of(arm)
        self.arm, self.links = arm, tree.links
        self.packed = rows(tree, integrals=True)
        self.modal = 0  # next place in the modal array
        self.link = 0  # next body of the C model

    def one(
        self,
        name: str,
        unit: str,
        family: str,
        body: int,
        at: list[tuple[str, int, float]],
    ) -> Place:
        array, index, factor = at[0]
        value = float(getattr(self.packed, array).flat[index]) / factor
        return Place(name, value, unit, family, body, tuple(at))

    def block(
        self,
        names: Iterable[str],
        unit: str,
        family: str,
        body: int,
        places: Iterable[Iterable[int]],
        every: bool = False,
    ) -> Iterator[Place]:
        """Yield parameters of one kind, zero ones only with `every`."""
        found = [
            self.one(n, unit, family, body, [("modal", i, 1.0) for i in at])
            for n, at in zip(names, places, strict=True)
        ]
        largest = max((abs(x.value) for x in found), default=0.0)
        for x in found:
            if every or abs(x.value) > _INTEGRAL_TOLERANCE * largest:
                yield x

    def take(self, *shape: int) -> Index:
        """Return the places of the next array of this shape."""
        count = int(np.prod(shape))
        result = self.modal + np.arange(count).reshape(shape)
        self.modal += count
        return result

    # bodies

    def square(self, body: int, symbol: str, unit: str, family: str) -> Iterator[Place]:
        b = self.arm.bodies[body]
        n, modes = b.n_modes, b.mode_names
        at = self.take(n, n)
        pairs = [(r, s) for r in range(n) for s in range(r, n)]
        names = [f"{b.name}.{symbol}[{modes[r]},{modes[s]}]" for r, s in pairs]
        places = [{at[r, s], at[s, r]} for r, s in pairs]
        yield from self.block(names, unit, family, body, places)

    def moments(self, body: int, name: str, every: bool) -> Iterator[Place]:
        """Yield the ten parameters of a rigid body."""
        kinds = [
            ([f"{name}.m"], "kg", self.take(1)),
            ([f"{name}.m{x}" for x in _AXES], "kg m", self.take(3)),
            ([f"{name}.I{x}" for x in _PAIRS], "kg m^2", self.take(6)),
        ]
        for names, unit, at in kinds:
            yield from self.block(
                names, unit, "inertia", body, at[:, np.newaxis], every
            )

    def integrals(self, body: int) -> Iterator[Place]:
        b = self.arm.bodies[body]
        who, n, modes = b.name, b.n_modes, b.mode_names
        yield from self.moments(body, who, not n)
        E, F0, mp1 = self.take(n, 3), self.take(n, 3), self.take(n, 3)
        modal = self.packed.modal
        plain = bool((modal[E] == modal[mp1]).all())  # no offset masses: one parameter
        shifts = np.stack([E, mp1], axis=-1) if plain else E
        unit = "kg m/eta"
        yield from self.columns(body, "E", modes, unit, shifts, _AXES)
        yield from self.columns(body, "F0", modes, "kg m^2/eta", F0, _AXES)
        if not plain:
            yield from self.columns(body, "mp1", modes, unit, mp1, _AXES)
        at = self.take(n, n, 3)
        yield from self.pairs(body, "F1", modes, modes, "kg m^2/eta^2", at, _AXES)
        at, low = self.take(n * (n + 1) // 2), np.tril_indices(n)
        names = [f"{who}.G[{modes[r]},{modes[s]}]" for r, s in zip(*low, strict=True)]
        unit = "kg m^2/eta^2"
        yield from self.block(names, unit, "inertia", body, at[:, np.newaxis])
        at = self.take(n, 6)
        yield from self.columns(body, "J1", modes, "kg m^2/eta", at, _PAIRS)
        at = self.take(n, n, 6)
        yield from self.symmetric(body, "J2", modes, "kg m^2/eta^2", at)

    def columns(
        self,
        body: int,
        symbol: str,
        modes: tuple[str, ...],
        unit: str,
        at: Index,
        parts: tuple[str, ...],
    ) -> Iterator[Place]:
        who = self.arm.bodies[body].name
        names = [f"{who}.{symbol}[{x},{mode}]" for mode in modes for x in parts]
        if names:
            at = at.reshape(len(names), -1)
            yield from self.block(names, unit, "inertia", body, at)

    def pairs(
        self,
        body: int,
        symbol: str,
        first: tuple[str, ...],
        second: tuple[str, ...],
        unit: str,
        at: Index,
        parts: tuple[str, ...],
    ) -> Iterator[Place]:
        who = self.arm.bodies[body].name
        names = [
            f"{who}.{symbol}[{x},{a},{b}]" for a in first for b in second for x in parts
        ]
        yield from self.block(names, unit, "inertia", body, at.reshape(-1, 1))

    def symmetric(
        self,
        body: int,
        symbol: str,
        modes: tuple[str, ...],
        unit: str,
        at: Index,
    ) -> Iterator[Place]:
        who, n = self.arm.bodies[body].name, len(modes)
        pairs = [(r, s) for r in range(n) for s in range(r, n)]
        names = [
            f"{who}.{symbol}[{x},{modes[r]},{modes[s]}]"
            for r, s in pairs
            for x in _PAIRS
        ]
        places = [{at[r, s, i], at[s, r, i]} for r, s in pairs for i in range(6)]
        yield from self.block(names, unit, "inertia", body, places)

    def driven(self, body: int, c: ModalIntegrals) -> Iterator[Place]:
        """Yield integrals of the shapes that foreshortening drives."""
        if c.driven is None:
            return
        b = self.arm.bodies[body]
        p, n = len(c.driven.second), b.n_modes
        shapes = tuple(f"driven{k + 1}" for k in range(p))
        modes = b.mode_names
        self.take(p, n, n)  # geometry
        yield from self.columns(body, "E", shapes, "kg m", self.take(p, 3), _AXES)
        yield from self.columns(body, "F0", shapes, "kg m^2", self.take(p, 3), _AXES)
        unit = "kg m^2/eta"
        at = self.take(p, n, 3)
        yield from self.pairs(body, "F1", shapes, modes, unit, at, _AXES)
        at = self.take(p, n, 3).swapaxes(0, 1)
        yield from self.pairs(body, "F1", modes, shapes, unit, at, _AXES)
        yield from self.skew(body, shapes, self.take(p, p, 3))
        at = self.take(p, n)[..., np.newaxis]
        yield from self.pairs(body, "G", shapes, modes, unit, at, ("",))
        at = self.take(p, p)
        names, places = [], []
        for k in range(p):
            for j in range(k, p):
                names.append(f"{b.name}.G[{shapes[k]},{shapes[j]}]")
                places.append({at[k, j], at[j, k]})
        yield from self.block(names, "kg m^2", "inertia", body, places)
        at = self.take(p, 6)
        yield from self.columns(body, "J1", shapes, "kg m^2", at, _PAIRS)
        at = self.take(p, n, 6)
        yield from self.pairs(body, "J2", shapes, modes, unit, at, _PAIRS)
        yield from self.symmetric(body, "J2", shapes, "kg m^2", self.take(p, p, 6))

    def strain(self, body: int) -> Iterator[Place]:
        """Yield the factor of the strain energy of a beam beyond that of K."""
        b = self.arm.bodies[body]
        if self.packed.column("strain")[self.link - 1] == 0:
            return
        points = len(b._strain_energy.stiffness) if b._strain_energy else 0
        self.take(3)  # axis
        rows = self.take(points, 3 + 6 * b.n_modes)
        where = [int(i) for i in rows[:, :3].flat]
        at = [("modal", i, float(self.packed.modal[i])) for i in where]
        at = [place for place in at if place[2] != 0.0]
        yield self.one(f"{b.name}.strain", "1", "stiffness", body, at)

    def skew(self, body: int, shapes: tuple[str, ...], at: Index) -> Iterator[Place]:
        """Yield momentum of two driven shapes, skew in them as they turn no node."""
        who, p = self.arm.bodies[body].name, len(shapes)
        found = [
            self.one(
                f"{who}.F1[{x},{shapes[k]},{shapes[j]}]",
                "kg m^2",
                "inertia",
                body,
                [("modal", int(at[k, j, i]), 1.0), ("modal", int(at[j, k, i]), -1.0)],
            )
            for k in range(p)
            for j in range(k + 1, p)
            for i, x in enumerate(_AXES)
        ]
        largest = max((abs(x.value) for x in found), default=0.0)
        yield from (x for x in found if abs(x.value) > _INTEGRAL_TOLERANCE * largest)

    # joints and motors

    def friction(self, body: int) -> Iterator[Place]:
        """Yield viscous friction and armature of a joint, none if that is zero.

        Counts its bodies of the C model.
        """
        b = self.arm.bodies[body]
        joint = free_joint(b.joint)
        width, names = self.packed.joints.shape[1], joint.velocity_names
        armed = joint.reflected_inertia.any()
        place = 0
        for link in self.links[self.link :]:
            if link.origin[:2] not in (("carrier", body), ("body", body)):
                break
            for j in range(link.motion.dof):
                part = f".{names[place]}" if names[place] else ""
                for what in ("damping", "armature") if armed else ("damping",):
                    start = self.link * width + _RATES[what].start
                    at = [("joints", start + j, 1.0)]
                    unit = _rate_unit(b, place, what)
                    yield self.one(f"{b.name}{part}.{what}", unit, "joint", body, at)
                place += 1
            self.link += 1

    def passive(self) -> Iterator[Place]:
        """Yield springs, dry friction and stops, both stops of a joint as one."""
        for k in self.arm._following:
            joint = self.arm.bodies[k].joint
            if joint.stiffness or joint.coulomb_friction or joint.stops:
                raise ArgumentError(
                    f"the joint of body {self.arm.bodies[k].name!r} follows another "
                    "one and has a spring, friction or stops, which are no parameters "
                    "then; expected arm.replace(couplings='constrained')"
                )
        forces, i = joint_forces(self.arm), 0
        own = {b.name for b in self.arm.bodies if b.joint.stiffness}  # before shafts
        while i < len(forces):
            both = i + 1 < len(forces) and _are_stops(forces[i : i + 2])
            yield from self.passive_one(forces[i], [i, i + 1] if both else [i], own)
            i += 1 + both

    def passive_one(
        self, force: JointForce, rows: list[int], own: set[str]
    ) -> Iterator[Place]:
        b = self.arm.bodies[force.body]
        turns = bool(b.joint.screws[:3].any())
        unit, angle = ("N m", "rad") if turns else ("N", "m")
        spring = f"{unit}/{angle}"
        if force.kind == "spring" and b.name in own:
            own.remove(b.name)
            kinds = [("stiffness", spring, 0)]
        elif force.kind == "spring":
            kinds = [("drive.stiffness", spring, 0)]
            kinds += [("drive.damping", f"{unit} s/{angle}", 2)]
        elif force.kind == "friction":
            who = "motor" if force.on_motor else "coulomb"
            kinds = [(f"{who} friction", unit, 0)]
        else:
            kinds = [("stop stiffness", spring, 2)]
        for name, unit, column in kinds:
            first, width = _PARAMETERS.start, self.packed.passive.shape[1]
            at = [("passive", width * i + first + column, 1.0) for i in rows]
            yield self.one(f"{b.name}.{name}", unit, "joint", force.body, at)

    def node(self, origin: Origin) -> Iterator[Place]:
        """Yield the ten parameters of a node that is a rigid body."""
        body = self.arm.bodies[origin.body]
        name = f"{body.name}.{body.node_names[origin.number]}"
        yield from self.moments(origin.body, name, True)
        self.link += 1

    def motor(self, part: Link) -> Iterator[Place]:
        body = part.origin.body
        name, drive = self.arm.bodies[body].name, self.arm.bodies[body].joint.drive
        # fixed parts: moments
        if part.origin.why == "stator":
            held = self.moments(body, f"{name}.stator", False)
            yield from (_of_motor(x) for x in held)
            self.link += 1
            return
        at = self.take(10)
        # rotors: masses and inertias in the moments
        turns, axis = part.motion.kind == "revolute", part.motion.constants[_AXIS]
        about = np.outer(axis, axis)
        parts = [("rotor mass", "kg", [(int(at[0]), 1.0)])]
        if turns:
            across = np.eye(3) - about
            kinds = (("rotor inertia", about), ("rotor transverse inertia", across))
            for what, J in kinds:
                weights = zip(at[4:], J[_UPPER], strict=True)
                where = [(int(i), float(w)) for i, w in weights if w != 0.0]
                parts.append((what, "kg m^2", where))
        # their values
        mass = drive.rotor_mass if turns else drive.rotor_inertia
        values = [mass, drive.rotor_inertia, drive.rotor_transverse_inertia]
        for (what, unit, where), value in zip(parts, values, strict=False):
            places = tuple(("modal", i, w) for i, w in where)
            yield Place(f"{name}.{what}", value, unit, "motor", body, places)
        # viscous friction of their joints
        width = self.packed.joints.shape[1]
        friction = [("joints", self.link * width + _DAMPING.start, 1.0)]
        unit = "N m s/rad" if turns else "N s/m"
        yield self.one(f"{name}.motor damping", unit, "motor", body, friction)
        self.link += 1


def _are_stops(pair: list[JointForce]) -> bool:
    """Whether these are both stops of one joint."""
    return all(x.kind == "stop" for x in pair) and pair[0].body == pair[1].body


def _of_motor(x: Place) -> Place:
    return Place(x.name, x.value, x.unit, "motor", x.body, x.at)


def _rate_unit(body: Body, i: int, what: str) -> str:
    turns = free_joint(body.joint).screws[:3, i].any()
    if what == "armature":
        return "kg m^2" if turns else "kg"
    return "N m s/rad" if turns else "N s/m"


def parameters_of(arm: ArmLike) -> tuple[Packed, list[Place]]:
    """Return the arrays of an arm, and all constants in which its forces are linear."""
    walk, found, rigid = _Walk(arm), [], rigid_nodes(arm)
    for k, body in enumerate(arm.bodies):
        found += list(walk.friction(k))
        found += list(walk.square(k, "K", "N m/eta^2", "stiffness"))
        found += list(walk.square(k, "C", "N m s/eta^2", "damping"))
        found += list(walk.integrals(k))
        if not isinstance(body, RigidBody):
            found += list(walk.driven(k, integrals_without(body, rigid[k])))
            found += list(walk.strain(k))
    for link in walk.links[walk.link :]:
        is_node = link.origin.why == "node"
        found += list(walk.node(link.origin) if is_node else walk.motor(link))
    assert walk.modal == len(walk.packed.modal)
    assert walk.link == len(walk.packed.topology)
    found += list(walk.passive())
    order = {family: i for i, family in enumerate(FAMILIES)}
    found.sort(key=lambda x: (x.body, order[x.family]))
    return walk.packed, found


def geometry(packed: Packed) -> Packed:
    """Return the arrays with zeros for all constants in which forces are linear."""
    arrays = {name: np.array(getattr(packed, name)) for name in LINEAR}
    for name, mask in linear_masks(packed).items():
        arrays[name][mask] = 0.0
    return packed._replace(**arrays)


LINEAR = ("joints", "modal", "passive")

# parameters of passive forces that are factors
_FACTORS = {"spring": (0, 2), "friction": (0,), "stop": (2,)}


def linear_masks(packed: Packed) -> dict[str, Mask]:
    """Masks of the constants in which forces are linear."""
    joints = np.zeros(packed.joints.shape, dtype=bool)
    for columns in _RATES.values():
        joints[:, columns] = True
    passive = np.zeros(packed.passive.shape, dtype=bool)
    for own, (kind, *_) in zip(passive, packed.acting, strict=True):
        own[_PARAMETERS][list(_FACTORS[PASSIVE_KINDS[int(kind)]])] = True
    return {"joints": joints, "modal": _linear_modal(packed), "passive": passive}


def _special_places(packed: Packed) -> Iterator[tuple[int, int, int, int]]:
    """Yield the start of driven shapes and strain energy of each body of the C model.

    With it their numbers of shapes and of points, and that of modes.
    """
    names = ("modes", "integrals", "shapes", "strain")
    at = 0
    for n, given, p, points in zip(*map(packed.column, names), strict=True):
        at += 2 * n * n + given * given_size(n)
        yield at, p, points, n
        at += (p * n * n + driven_size(n, p)) if p else 0
        at += strain_size(n, points)
    assert at == len(packed.modal)


def driven_places(packed: Packed) -> list[tuple[int, int, int]]:
    """Start of driven shapes in the modal array, their number, and that of modes."""
    return [(at, p, n) for at, p, _, n in _special_places(packed) if p]


def _linear_modal(packed: Packed) -> Mask:
    """Mask of the modal array without the geometry of driven amplitudes and beams."""
    result = np.ones(len(packed.modal), dtype=bool)
    for at, p, points, n in _special_places(packed):
        result[at : at + p * n * n] = False
        at += (p * n * n + driven_size(n, p)) if p else 0
        if points:
            result[at : at + 3] = False
            rows = result[at + 3 : at + strain_size(n, points)].reshape(points, -1)
            rows[:, 3:] = False
    return result


def strain_size(n: int, points: int) -> int:
    """Length of `StrainEnergy.pack` for n modes."""
    return 3 + points * (3 + 6 * n) if points else 0


def given_size(n: int) -> int:
    """Length of `ModalIntegrals.pack` for n modes."""
    first: int = INTEGRAL_COLUMNS["modal"].start
    return first + 9 * n + 3 * n * n + n * (n + 1) // 2 + 6 * n + 6 * n * n


def driven_size(n: int, p: int) -> int:
    """Length of `DrivenShapes.pack` without the second derivatives."""
    return p * (6 + 6 * n + 3 * p + n + p + 6 + 6 * n + 6 * p)


def with_values(base: Packed, places: list[Place], values: Array) -> Packed:
    """Return arrays of geometry with these values of parameters."""
    arrays = {name: np.array(getattr(base, name)) for name in LINEAR}
    for place, value in zip(places, values, strict=True):
        for name, i, weight in place.at:
            arrays[name].flat[i] += weight * value
    return base._replace(**arrays)


def chosen_bodies(arm: ArmLike, bodies: Bodies) -> tuple[int, ...]:
    """Return the numbers of bodies given by name or number; all by default."""
    if bodies is None:
        return tuple(range(len(arm.bodies)))
    if isinstance(bodies, str | int | np.integer):
        bodies = (bodies,)
    return tuple(sorted({k for b in bodies for k in arm._bodies_of(b)}))


def chosen_families(families: Names) -> tuple[str, ...]:
    """Return checked families of parameters; all by default."""
    if families is None:
        return FAMILIES
    given = (families,) if isinstance(families, str) else families
    if not isinstance(given, Sequence) or not set(given) <= set(FAMILIES):
        raise ArgumentError(
            f"families is {families!r}, expected some of "
            f"{', '.join(map(repr, FAMILIES))}, or None"
        )
    return tuple(f for f in FAMILIES if f in given)
