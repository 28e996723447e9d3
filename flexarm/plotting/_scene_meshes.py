"""Shapes of robot files in a scene: boxes, cylinders, spheres, and meshes of files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO
from typing import Any

import numpy as np

from .. import kinematics
from .._support.arrays import Array, Index
from .._support.files import read_file, shown_path
from .._support.optional import required
from .._support.warn import warn
from ..arm import Arm
from ..bodies import RigidBody
from ..errors import ArgumentError, ModelError
from ..urdf import Report, Robot, UrdfWarning, Visual
from ._surfaces import Surface, fewer, joined, solid

Parts = list[tuple[str, Surface]]  # color and surface in the frame of a body

# Bytes of a mesh at most; text takes twenty times as much memory
MAX_BYTES = {"stl": 2**26, "ply": 2**26, "dae": 2**25, "obj": 2**25, "off": 2**25}
# Triangles of a mesh at most, before it is coarsened.
MAX_TRIANGLES = 2_000_000
# Triangles of one mesh in a scene.
SHOWN_TRIANGLES = 4000
PLAIN = "#b9c4cf"
# Squares of sides that are zero, as a part of that of the body.
_FLAT = 1e-4
# Length of a box over its other sides at most.
_SLENDERNESS = 30.0
_DECLARATIONS = (b"<!doctype", b"<!entity", b"\0")


def read_mesh(path: str) -> Surface:
    """Surface of a file, by trimesh; it opens no other file.

    Raises
    ------
    ModelError
        If the file is none of the known kinds, too large, or not a mesh.
    """
    kind = os.path.splitext(path)[1][1:].lower()
    if kind not in MAX_BYTES:
        raise ModelError(
            f"mesh {shown_path(path)} ends in {kind[:20]!r}, expected one of "
            f"{', '.join(MAX_BYTES)}"
        )
    trimesh = required("trimesh", "a scene with meshes", extra="meshes")
    if kind == "dae":
        required("collada", "a mesh of Collada", package="pycollada", extra="meshes")
    content = read_file("mesh", path, MAX_BYTES[kind])
    if kind == "dae" and any(word in content.lower() for word in _DECLARATIONS):
        raise ModelError(
            f"mesh {shown_path(path)} declares a document type or is not UTF-8, "
            "expected neither: entities are not expanded"
        )
    try:
        with np.errstate(all="ignore"):
            loaded = trimesh.load(
                BytesIO(content), file_type=kind, process=False, resolver=None
            )
        parts = list(_geometries(loaded))
        surface = joined(parts) if parts else Surface(np.zeros((0, 3)), _none())
        return _checked(surface)
    except ModelError as problem:
        raise ModelError(f"mesh {shown_path(path)} {problem}") from None
    except Exception as problem:  # of any kind: readers compute
        said = " ".join(str(problem).split())[:100] or type(problem).__name__
        raise ModelError(
            f"mesh {shown_path(path)} is not read ({said}), expected a file of the "
            f"kind {kind}"
        ) from None


def _none() -> Index:
    return np.zeros((0, 3), dtype=np.intp)


def _geometries(loaded: Any) -> Iterator[Surface]:
    """Surfaces of a mesh, or of all meshes of a scene in their places."""
    if hasattr(loaded, "geometry"):  # a scene
        meshes = loaded.dump()
        meshes = meshes if isinstance(meshes, list | tuple | np.ndarray) else [meshes]
    else:
        meshes = [loaded]
    for mesh in meshes:
        if hasattr(mesh, "faces"):  # points and paths have none
            points = np.asarray(mesh.vertices, dtype=np.float64)
            triangles = np.asarray(mesh.faces, dtype=np.intp)
            if points.shape[1:] != (3,) or triangles.shape[1:] != (3,):
                raise ModelError(
                    f"has points of shape {points.shape} and faces of shape "
                    f"{triangles.shape}, expected triangles in space"
                )
            yield Surface(points, triangles)


def _checked(surface: Surface) -> Surface:
    """Refuse what cannot be drawn; leaves out triangles with NaN."""
    points, triangles = surface.points, surface.triangles
    if not len(triangles):
        raise ModelError("has no triangles, expected some")
    if len(triangles) > MAX_TRIANGLES:
        raise ModelError(
            f"has {len(triangles)} triangles, expected at most {MAX_TRIANGLES}"
        )
    if triangles.min() < 0 or triangles.max() >= len(points):
        raise ModelError("has triangles of points that are not there")
    finite = np.all(np.abs(points) < 1e9, axis=1)
    triangles = triangles[finite[triangles].all(axis=1)]
    if not len(triangles):
        raise ModelError("has no triangles with finite numbers, expected some")
    used, own = np.unique(triangles, return_inverse=True)
    return Surface(points[used], own.reshape(-1, 3).astype(np.intp))


def shapes_by_link(
    given: Robot | Report | Mapping[str, Sequence[Visual]],
) -> tuple[dict[str, Sequence[Visual]], Robot | None]:
    """Shapes of each link of a robot, or as they are given, by its name."""
    robot = given.robot if isinstance(given, Report) else given
    if isinstance(robot, Robot):
        return dict(robot.visuals), robot
    if not all(isinstance(each, Visual) for some in robot.values() for each in some):
        raise ArgumentError("visuals has other values than urdf.Visual, expected these")
    return dict(robot), None


def boxes(arm: Arm) -> dict[int, Parts]:
    """Boxes of the mass and the inertia of rigid bodies, by their numbers.

    A point has none: it is a bar from the frame to the farthest node.
    """
    found = {}
    for k, body in enumerate(arm.bodies):
        if not isinstance(body, RigidBody) or body.mass <= 0.0:
            continue
        moments, axes = np.linalg.eigh(body.inertia)
        squares, middle = 6.0 * (moments.sum() - 2.0 * moments) / body.mass, body.com
        reach = np.linalg.norm(body.node_position, axis=1)
        if squares.max() < _FLAT * reach.max() ** 2:
            middle = body.node_position[reach.argmax()] / 2.0
            axes = np.linalg.svd(middle[np.newaxis])[2].T
            squares = np.array([reach.max() ** 2, 0.0, 0.0])
        sides = np.sqrt(np.maximum(squares, squares.max() / _SLENDERNESS**2))
        own = solid("box", tuple(sides.tolist()))
        points = own.points @ (axes * np.linalg.det(axes)).T + middle
        if sides.max() > 0.0:
            found[k] = [(PLAIN, Surface(points, own.triangles))]
    return found


class Shapes:
    """Shapes of all links of an arm, whose meshes are read once.

    Parameters
    ----------
    visuals : urdf.Robot, urdf.Report, or mapping of str to sequence of urdf.Visual
        The shapes.
    """

    def __init__(
        self, visuals: Robot | Report | Mapping[str, Sequence[Visual]]
    ) -> None:
        self._links, self._robot = shapes_by_link(visuals)
        self._meshes: dict[str, Surface | None] = {}

    def parts(self, arm: Arm) -> dict[int, Parts]:
        """Surfaces of each rigid body by its number, -1 for those that stand still."""
        found: dict[int, Parts] = {}
        for k, body in enumerate(arm.bodies):
            if not body.n_modes and body.name in self._links:
                found[k] = self._of(self._links[body.name])
        root = None if self._robot is None else self._robot.links[0].name
        if root is not None and root not in [body.name for body in arm.bodies]:
            place = self._root_place(arm)
            found[-1] = [
                (color, Surface(x.points @ place[:3, :3].T + place[:3, 3], x.triangles))
                for color, x in self._of(self._links[root])
            ]
        return {k: parts for k, parts in found.items() if parts}

    def _root_place(self, arm: Arm) -> Array:
        """Pose of the root of the file in the base frame, by a joint on it."""
        assert self._robot is not None
        root = self._robot.links[0].name
        names = {body.name: body for body in arm.bodies}
        result = np.eye(4)
        for joint in self._robot.joints:
            if joint.parent == root and joint.child in names:
                held = names[joint.child].joint
                result[:3, :3] = held.rotation @ joint.rotation.T
                result[:3, 3] = held.position - result[:3, :3] @ joint.position
                break
        return result

    def _of(self, visuals: Sequence[Visual]) -> Parts:
        result = []
        for each in visuals:
            if each.kind == "mesh":
                mesh = self._mesh(each.path) if each.path else None
                if mesh is None:
                    continue
                own = Surface(mesh.points * np.array(each.size), mesh.triangles)
            else:
                own = solid(each.kind, each.size)
            points = own.points @ each.rotation.T + each.position
            result.append((_shade(each.color), Surface(points, own.triangles)))
        return result

    def _mesh(self, path: str) -> Surface | None:
        """A mesh of few triangles; what is not one is said once, and not drawn."""
        if path not in self._meshes:
            try:
                self._meshes[path] = fewer(read_mesh(path), SHOWN_TRIANGLES)
            except (ModelError, OSError) as problem:
                self._meshes[path] = None
                warn(f"{problem}; it is not drawn", UrdfWarning)
        return self._meshes[path]


def _shade(color: tuple[float, ...] | None) -> str:
    if color is None:
        return PLAIN
    red, green, blue = (round(255 * x) for x in color[:3])
    return f"#{red:02x}{green:02x}{blue:02x}"


def moved_parts(
    arm: Arm, parts: dict[int, Parts], q: Array
) -> list[tuple[str, Surface, Array]]:
    """For each color its surface, and its points (k, n, 3) for k configurations."""
    links = np.asarray(kinematics.link_poses(arm, q))
    colors: dict[str, list[tuple[int, Surface]]] = {}
    for k, some in parts.items():
        for color, surface in some:
            colors.setdefault(color, []).append((k, surface))
    result = []
    for color, pieces in colors.items():
        moved = [
            np.broadcast_to(surface.points, (len(q), *surface.points.shape))
            if k < 0
            else np.einsum("sij,nj->sni", links[:, k, :3, :3], surface.points)
            + links[:, k, np.newaxis, :3, 3]
            for k, surface in pieces
        ]
        whole = joined([surface for _, surface in pieces])
        result.append((color, whole, np.concatenate(moved, axis=1)))
    return result
