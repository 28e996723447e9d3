"""Arms of descriptions that people write: short tables of links, in YAML, TOML or JSON.

The schema is on the page "Files" of the documentation.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import TypeAlias, TypeVar

import numpy as np

from .. import beams
from .._core import MAX_BODIES
from .._support.checks import as_array, listed, positive, short_text
from .._support.options import did_you_mean
from ..arm import Arm
from ..bodies import (
    Body,
    CoulombFriction,
    Drive,
    Joint,
    RigidBody,
    SegmentedLink,
    Stops,
)
from ..errors import FlexarmError
from ..model import Coupling, Loop, Slider
from ._json import FORMAT
from ._types import Record
from .trees import TYPE, PlacedError, at_place

Materials: TypeAlias = Mapping[str, beams.Material]
Unit: TypeAlias = Body | SegmentedLink
T = TypeVar("T")

# Bytes of the mode shapes of all links together at most.
MAX_SIZE = 1 << 28

_MATERIALS = {"steel": beams.STEEL, "aluminium": beams.ALUMINIUM}
_AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
_AXES |= {f"-{key}": (-x, -y, -z) for key, (x, y, z) in _AXES.items()}
_SECTIONS: dict[str, Callable[..., beams.Section]] = {
    name: getattr(beams.Section, name)
    for name in ("round", "tube", "rectangle", "box", "ellipse", "i_beam")
}
_SECTIONS["stiffness"] = beams.Section.from_stiffness
_SECTIONS["matrix"] = beams.Section.from_matrix
_ARM = ("name", "gravity", "tip", "fidelity", "stabilization", "check_units")
_PARTS = ("materials", "links", "payload", "loops", "sliders", "couplings")
_CONSTRAINTS: dict[str, tuple[Callable[..., Loop | Slider | Coupling], str]] = {
    "loops": (Loop, "{first: [rod, tip], kind: revolute}"),
    "sliders": (Slider, "{point: [trolley, base], line: beam}"),
    "couplings": (Coupling, "{coefficients: {link1: 0.5, link2: 1.0}}"),
}
_TOP = (*_PARTS, *_ARM, "format", "version")
# keys that a link of each kind has in place of, or beside, those of its constructor
_OF_BEAMS = ("section", "material")
_OF_STIFFNESS = ("bending_stiffness", "torsional_stiffness", "mass_per_length")
_NOT_WRITTEN = ("sections", "bending_y", "bending_z", "torsion")
_RIGID = ("name", "joint", "mass", "length", "com", "inertia", "nodes")


def is_description(tables: object) -> bool:
    """Whether tables are a description by hand, not written by `save`."""
    return isinstance(tables, dict) and TYPE not in tables and "arrays" not in tables


@contextmanager
def _at(place: str) -> Iterator[None]:
    """Name the place in the file of an error inside."""
    try:
        yield
    except PlacedError:
        raise
    except FlexarmError as error:
        raise at_place(place, str(error)[:300]) from None


def _table(place: str, given: object, known: Collection[str], such_as: str) -> Record:
    """Return a table, or raise if it is none or has unknown keys."""
    if not isinstance(given, dict):
        raise at_place(
            place, f"{short_text(given)} is no table, expected one such as {such_as}"
        )
    for key in given:
        if key not in known:
            raise at_place(
                place,
                f"unknown key {short_text(key)}, expected some of "
                f"{listed(list(known))}{did_you_mean(key, list(known))}",
            )
    return given


def _rows(place: str, given: object) -> list[object]:
    """Return a list of tables."""
    if not isinstance(given, list):
        raise at_place(place, f"{short_text(given)} is no list, expected tables in []")
    if len(given) > MAX_BODIES:
        raise at_place(place, f"{len(given)} entries, expected at most {MAX_BODIES}")
    return given


def _names(function: Callable[..., object]) -> tuple[str, ...]:
    """Arguments of a constructor that a file can give."""
    known = inspect.signature(function).parameters
    return tuple(name for name in known if name not in _NOT_WRITTEN)


def _made(
    kind: Callable[..., T], place: str, given: object, such_as: str, **more: object
) -> T:
    """Object of a table of the arguments of its constructor."""
    known = [name for name in _names(kind) if name not in more]
    table = _table(place, given, known, such_as)
    with _at(place):
        return kind(**table, **more)


def arm_of(tables: object) -> Arm:
    """Return the arm of a description."""
    top = _table("", tables, _TOP, "{links: [...]}")
    if "links" not in top:
        raise at_place("", "no links, expected a list of them from base to tip")
    if top.get("format", FORMAT) != FORMAT or top.get("version", 1) != 1:
        raise at_place("", f"expected format {FORMAT!r} and version 1, or neither")
    given = top.get("materials", {})
    materials = dict(_MATERIALS)
    for name in _table("materials", given, given, "{pla: {E: 3.5e9, density: 1240}}"):
        place = f"materials.{name}"
        such_as = "{E: 3.5e9, density: 1240}"
        materials[name] = _made(
            beams.Material, place, given[name], such_as, name=str(name)
        )
    # the links, from base to tip
    bodies: list[Unit] = []
    size = 0
    for i, link in enumerate(_rows("links", top["links"])):
        body = _link(f"links[{i}]", i, link, materials)
        for piece in body.pieces if isinstance(body, SegmentedLink) else (body,):
            shapes = piece.node_translation, getattr(piece, "node_foreshortening", None)
            size += sum(x.nbytes for x in shapes if x is not None)
        if size > MAX_SIZE:
            raise at_place(
                f"links[{i}]",
                f"the links so far have {size} bytes of mode shapes, expected at most "
                f"{MAX_SIZE}; take fewer elements or modes",
            )
        bodies.append(body)
    if "payload" in top:
        bodies.append(_payload(top["payload"]))
    return _arm(top, bodies)


def _arm(top: Record, bodies: list[Unit]) -> Arm:
    """Arm of its links, and what holds for all of it."""
    constraints = [
        _made(kind, f"{key}[{i}]", given, such_as)
        for key, (kind, such_as) in _CONSTRAINTS.items()
        for i, given in enumerate(_rows(key, top.get(key, [])))
    ]
    options = {key: top[key] for key in _ARM if key in top}
    with _at(""):
        return Arm(bodies, constraints=constraints, **options)


def _payload(given: object) -> RigidBody:
    """Mass that is fixed to the tip of the last link."""
    known = ("name", "mass", "com", "inertia", "position", "parent", "node")
    table = dict(_table("payload", given, known, "{mass: 0.5}"))
    place = {k: table.pop(k) for k in ("position", "parent", "node") if k in table}
    with _at("payload"):
        name = table.pop("name", "payload")
        return RigidBody(name, joint=Joint("fixed", **place), **table)


def _link(place: str, number: int, link: object, materials: Materials) -> Unit:
    """Body of a link, by the keys that it has."""
    such_as = "{length: 1.0, section: {tube: {...}}, material: steel}"
    written = _table(place, link, link if isinstance(link, dict) else (), such_as)
    kinds = {
        "section": (_beam, (*_names(beams.finite_element_link), *_OF_BEAMS)),
        "mass_per_length": (_uniform, _names(beams.flexible_link)),
        "mass": (_rigid, _RIGID),
    }
    kind = next((key for key in kinds if key in written), None)
    if kind is None:
        word = next((key for key in written if key in (*_OF_BEAMS, *_OF_STIFFNESS)), "")
        hint = "".join(did_you_mean(key, list(kinds)) for key in written)
        raise at_place(
            place,
            f"no section, mass_per_length or mass{f' beside {word}' * bool(word)}, "
            f"expected one of them, such as {such_as}{hint}",
        )
    make, known = kinds[kind]
    table = dict(_table(place, written, known, such_as))
    table.setdefault("name", f"link{number + 1}")
    if "joint" in table:
        table["joint"] = _joint(f"{place}.joint", table["joint"])
    for key in ("payloads", "outboard"):
        if key in table:
            table[key] = [
                _made(beams.Payload, f"{place}.{key}[{k}]", x, "{at: 0.8, mass: 0.5}")
                for k, x in enumerate(_rows(f"{place}.{key}", table[key]))
            ]
    with _at(place):
        return make(place, table, materials)


def _beam(place: str, table: Record, materials: Materials) -> Unit:
    """Link of a section and a material, or of several sections along its corners."""
    word, given = table.pop("material", None), table.pop("section")
    material = None
    if word is not None:
        material = _material(f"{place}.material", word, materials)
    where = f"{place}.section"
    if isinstance(given, list):
        sections: beams.Section | list[beams.Section] = [
            _section(f"{where}[{k}]", one, material)
            for k, one in enumerate(_rows(where, given))
        ]
    else:
        sections = _section(where, given, material)
    made: Unit = beams.finite_element_link(**table, sections=sections)
    return made


def _material(place: str, given: object, materials: Materials) -> beams.Material:
    if isinstance(given, dict):
        return _made(beams.Material, place, given, "{E: 70e9, density: 2700}")
    if not isinstance(given, str) or given not in materials:
        raise at_place(
            place,
            f"unknown material {short_text(given)}, expected one of "
            f"{listed(list(materials))} or a table{did_you_mean(given, materials)}",
        )
    return materials[given]


def _section(place: str, given: object, material: object) -> beams.Section:
    such_as = "{tube: {diameter: 0.05, thickness: 0.002}}"
    table = _table(place, given, list(_SECTIONS), such_as)
    if len(table) != 1:
        raise at_place(place, f"{len(table)} shapes, expected one, such as {such_as}")
    shape = next(iter(table))
    if shape in ("stiffness", "matrix"):
        return _made(_SECTIONS[shape], f"{place}.{shape}", table[shape], such_as)
    if material is None:
        raise at_place(
            place.rpartition(".")[0],
            "a section without a material, expected material: steel, aluminium, or "
            "one of materials",
        )
    where = f"{place}.{shape}"
    return _made(_SECTIONS[shape], where, table[shape], such_as, material=material)


def _uniform(place: str, table: Record, materials: Materials) -> Unit:
    """Uniform link of its mass and stiffness per length."""
    made: Unit = beams.flexible_link(**table)
    return made


def _rigid(place: str, table: Record, materials: Materials) -> Unit:
    """Rigid link; one with a length is a thin rod, where nothing else is given."""
    length = table.pop("length", None)
    if length is None:
        return RigidBody(**table)
    size = positive(f"length of link {table['name']!r}", length, "m")
    mass = float(as_array(f"mass of link {table['name']!r}", table["mass"], ()))
    table.setdefault("com", (size / 2.0, 0.0, 0.0))
    about = mass * size**2 / 12.0
    table.setdefault("inertia", (0.0, about, about))
    nodes = table.get("nodes") or {}
    if not isinstance(nodes, dict):
        raise at_place(f"{place}.nodes", "no table, expected {tip: [0.5, 0, 0]}")
    table["nodes"] = {**nodes, "tip": (size, 0.0, 0.0)}
    return RigidBody(**table)


def _joint(place: str, given: object) -> Joint:
    """Joint of the word of its kind, or of a table."""
    if isinstance(given, str):
        with _at(place):
            return Joint(given)
    table = dict(_table(place, given, _names(Joint), "{kind: revolute, axis: z}"))
    for key in ("axis", "axis2"):
        if isinstance(table.get(key), str):
            table[key] = _axis(f"{place}.{key}", table[key])
    kinds: tuple[type[object], ...] = Drive, CoulombFriction, Stops
    for key, kind in zip(("drive", "coulomb_friction", "stops"), kinds, strict=True):
        if table.get(key) is not None:
            table[key] = _part(f"{place}.{key}", kind, table[key])
    with _at(place):
        return Joint(**table)


def _part(place: str, kind: type[T], given: object) -> T:
    """Drive, friction or stops of a joint."""
    such_as = "{stiffness: 1e4, gear_ratio: 100}" if kind is Drive else "{...}"
    if isinstance(given, dict) and isinstance(given.get("motor_friction"), dict):
        friction = _part(f"{place}.friction", CoulombFriction, given["motor_friction"])
        given = {**given, "motor_friction": friction}
    return _made(kind, place, given, such_as)


def _axis(place: str, word: str) -> np.ndarray:
    if word not in _AXES:
        raise at_place(
            place, f"{short_text(word)} is no axis, expected x, y, z, -x or [0, 0, 1]"
        )
    return np.array(_AXES[word])
