"""Denavit-Hartenberg parameters of a chain, or by common normals of its screws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .. import se3
from .._calls.declared import Choice, Floats
from .._calls.doors import checked_record
from .._core import MAX_BODIES
from .._support.arrays import Array
from .._support.checks import as_array, check_angles, short_text
from .._support.printing import Sheet, Table
from .._support.warn import warn_of_quarters
from ..errors import ModelError
from ._joint_frames import JointFrames
from .poses import check_pose, check_poses, is_list, pose, turn_to
from .screws import JointTree, SpatialScrews

# Sine of the angle between two axes, below which they are parallel.
_PARALLEL_SINE = 1e-12


_KINDS = ("revolute", "prismatic")


def _about_z(theta: ArrayLike, d: ArrayLike) -> Array:
    """Turn about z and slide along it, (..., 4, 4)."""
    theta, d = np.broadcast_arrays(theta, d)
    result = np.zeros((*theta.shape, 4, 4)) + np.eye(4)
    result[..., 0, 0] = result[..., 1, 1] = np.cos(theta)
    result[..., 1, 0], result[..., 0, 1] = np.sin(theta), -np.sin(theta)
    result[..., 2, 3] = d
    return result


def _about_x(alpha: float, a: float) -> Array:
    """Turn about x and slide along it, (4, 4)."""
    c, s = np.cos(alpha), np.sin(alpha)
    return pose([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]], (a, 0.0, 0.0))


def _read_rows(rows: object) -> tuple[list[Array], list[str | None]]:
    """Numbers of each row, and its kind or None."""
    if not is_list(rows):
        raise ModelError(f"rows are {short_text(rows)}, expected one for each joint")
    wanted = "expected a, alpha, d, theta and perhaps the kind"
    numbers: list[Array] = []
    kinds: list[str | None] = []
    for i, row in enumerate(rows):
        what = f"Denavit-Hartenberg row {i} (counted from 0)"
        if not is_list(row):
            raise ModelError(f"{what} is {short_text(row)}, {wanted}")
        entries = tuple(row)
        if len(entries) not in (4, 5):
            raise ModelError(f"{what} has {len(entries)} entries, {wanted}")
        numbers.append(as_array(what, entries[:4], (4,)))
        check_angles(f"alpha of {what}", numbers[-1][1])
        for name, length in (("a", numbers[-1][0]), ("d", numbers[-1][2])):
            warn_of_quarters(f"{name} of {what}", length)
        kinds.append(None)
        if len(entries) == 5:
            kinds[-1] = _known_kind(i, entries[4])
    if not 1 <= len(numbers) <= MAX_BODIES:
        raise ModelError(
            f"{len(numbers)} Denavit-Hartenberg rows are given, expected 1 to "
            f"{MAX_BODIES}, one a joint"
        )
    return numbers, kinds


def _known_kind(i: int, kind: object) -> str:
    if not isinstance(kind, str) or kind not in _KINDS:
        raise ModelError(
            f"kind of Denavit-Hartenberg row {i} (counted from 0) is "
            f"{short_text(kind)}, expected 'revolute' or 'prismatic'"
        )
    return kind


def _given_kinds(kinds: object, named: list[str | None], n: int) -> list[str | None]:
    """Kinds of n joints that are given beside rows without them."""
    if any(named):
        raise ModelError(
            "kinds are given beside Denavit-Hartenberg rows that name them, expected "
            "one of the two; replace(rows=..., kinds=None) changes both"
        )
    if not is_list(kinds):
        raise ModelError(f"kinds are {short_text(kinds)}, expected one for each row")
    given = list(kinds)
    if len(given) != n:
        raise ModelError(f"{len(given)} kinds are given, expected {n}, one a row")
    return [_known_kind(i, kind) for i, kind in enumerate(given)]


@checked_record("{field} of the chain")
@dataclass(frozen=True, eq=False, repr=False)
class DenavitHartenberg(JointTree):
    r"""Chain by Denavit-Hartenberg parameters.

    Parameters
    ----------
    rows : sequence of (a, alpha, d, theta) or (a, alpha, d, theta, kind)
        For each joint two lengths in m and two angles in rad, and its kind,
        ``"revolute"`` (by default) or ``"prismatic"``.  The coordinate of a revolute
        joint adds to `theta`, which is thus the offset of its zero, that of a
        prismatic joint to `d`.
    convention : {"standard", "modified"}
        Order of the four motions, see below.
    base : (4, 4) array_like of float, optional
        Pose of the first frame in the base, in m; by default they coincide.
    frames : (n, 4, 4) array_like of float, optional
        Poses of the bodies in their Denavit-Hartenberg frames, the last one that of the
        tool, in m; by default they coincide.
    kinds : sequence of {"revolute", "prismatic"}, optional
        Kinds of all joints, in place of those in the rows.

    Raises
    ------
    ModelError
        If a row does not have four numbers and perhaps a kind, or has an `alpha` of
        more than two turns (it is in degrees then).

    Warns
    -----
    UnitsWarning
        If `a` or `d` is pi/2 or pi, as in rows of another order.

    Notes
    -----
    Frame i is fixed to body i.  In the standard convention (Denavit and Hartenberg,
    1955) it sits at the end of the link, with z along the axis of joint i + 1; in the
    modified one (Craig, 1986) at its start, with z along the axis of joint i, and the
    row has the a and alpha of the link before:

    .. math:: T_{i-1,i} = R_z(\theta_i) T_z(d_i) T_x(a_i) R_x(\alpha_i), \qquad
       T_{i-1,i} = R_x(\alpha_{i-1}) T_x(a_{i-1}) R_z(\theta_i) T_z(d_i)

    These are joint frames of A. Mueller (2018), Remark 3, with
    :math:`S_{i-1,i} = 1`, :math:`S_{i,i}^{-1} = R_z T_z T_x R_x` in the first case and
    :math:`S_{i-1,i} = R_x T_x R_z T_z`, :math:`S_{i,i} = 1` in the second.

    Examples
    --------
    Two links of 1 m in the plane:

    >>> import numpy as np
    >>> from flexarm.descriptions import DenavitHartenberg
    >>> arm = DenavitHartenberg([(1, 0, 0, 0), (1, 0, 0, 0)])
    >>> arm.poses([np.pi / 2, -np.pi / 2])[1, :3, 3].round(12) + 0.0
    array([1., 1., 0.])
    """

    rows: Any
    convention: Annotated[str, Choice("standard", "modified")] = "standard"
    base: Annotated[Any, Floats("(4, 4)")] = None
    frames: Any = None
    kinds: Any = None

    def _sheet(self) -> Sheet:
        rows = [("joint", "a m", "alpha rad", "d m", "theta rad", "kind")]
        for i, (row, kind) in enumerate(zip(self.rows, self.kinds, strict=True)):
            cells = (f"{x:.6g}" for x in row.round(12) + 0.0)
            rows.append((str(i), *cells, kind))
        return Sheet((f"{self!r}, {self.convention}", Table(rows)))

    def __post_init__(self) -> None:
        numbers, kinds = _read_rows(self.rows)
        n = len(numbers)
        if self.kinds is not None:
            kinds = _given_kinds(self.kinds, kinds, n)
        frames = [np.eye(4)] * n if self.frames is None else self.frames
        base = np.eye(4) if self.base is None else self.base
        self._set(
            rows=as_array("rows", np.array(numbers), (n, 4)),
            kinds=tuple(kind or "revolute" for kind in kinds),
            base=check_pose("base of the chain", base),
            frames=check_poses("body frame", frames, n),
        )

    @property
    def parents(self) -> tuple[int, ...]:
        """Number of the parent of each body, -1 for the base: a chain."""
        return tuple(range(-1, len(self.rows) - 1))

    @property
    def screws(self) -> tuple[Array, ...]:
        """Screw of each joint in its joint frame, along z, (6, 1)."""
        pitches = [np.inf if kind == "prismatic" else 0.0 for kind in self.kinds]
        return tuple(se3.screw(pitch=h)[:, np.newaxis] for h in pitches)

    @property
    def tool(self) -> Array:
        """Pose of the last body in its Denavit-Hartenberg frame, (4, 4)."""
        return np.array(self.frames[-1])

    def _poses(self, q: list[Array]) -> Array:
        T, result = self.base, []
        for i, x in enumerate(q):
            a, alpha, d, theta = self.rows[i]
            slides = self.kinds[i] == "prismatic"
            along_z = _about_z(theta + x[..., 0] * (not slides), d + x[..., 0] * slides)
            along_x = _about_x(alpha, a)
            first = self.convention == "standard"
            T = T @ (along_z @ along_x if first else along_x @ along_z)
            result.append(T @ self.frames[i])
        return np.stack(result, axis=-3)

    def _zero_at(self, q0: Array) -> DenavitHartenberg:
        rows = np.array(self.rows)
        for i, kind in enumerate(self.kinds):
            rows[i, 2 if kind == "prismatic" else 3] += q0[i]
        result: DenavitHartenberg = self.replace(rows=rows)
        return result


def rows_as_joint_frames(given: DenavitHartenberg) -> JointFrames:
    """Joint frames of Denavit-Hartenberg parameters (Remark 3)."""
    on_parents, on_bodies, before = [], [], given.base
    for i, (a, alpha, d, theta) in enumerate(given.rows):
        along_z, along_x = _about_z(theta, d), _about_x(alpha, a)
        to_body = given.frames[i]
        if given.convention == "standard":
            to_body = along_z @ along_x @ to_body
        else:
            before = before @ along_x @ along_z
        on_parents.append(before)
        on_bodies.append(se3.inverse(to_body))
        before = se3.inverse(given.frames[i])
    return JointFrames(on_parents, on_bodies, given.screws)


class _Normal(NamedTuple):
    """Common normal of an axis and the next one: direction and feet."""

    x: Array
    foot: Array  # on the axis
    end: Array  # on the next one


def _lines(description: SpatialScrews) -> list[tuple[Array, Array | None]]:
    """Direction of each axis, and a point of it unless it slides."""
    # a chain
    if description.parents != tuple(range(-1, description.n_bodies - 1)):
        raise ModelError(
            f"the description has the parents {description.parents}, expected a chain "
            "for Denavit-Hartenberg parameters; describe each branch"
        )

    # of revolute and prismatic joints
    size = float(max(np.abs(S).max(initial=0.0) for S in description.screws))
    lines: list[tuple[Array, Array | None]] = []
    for i, S in enumerate(description.screws):
        if S.shape[1] != 1:
            raise ModelError(
                f"joint {i} (counted from 0) has {S.shape[1]} screws, expected one for "
                "Denavit-Hartenberg parameters"
            )
        turn, slide = S[:3, 0], S[3:, 0]
        pitch = float(turn @ slide)
        if not turn.any():
            lines.append((slide, None))
            continue
        if abs(pitch) > 1e-14 * max(size, 1.0):
            raise ModelError(
                f"joint {i} (counted from 0) has the pitch {pitch:g} m/rad, expected "
                "revolute and prismatic joints for Denavit-Hartenberg parameters"
            )
        lines.append((turn, np.cross(turn, slide)))
    return lines


def _normal(
    e: Array, foot: Array, last_x: Array | None, line: tuple[Array, Array | None]
) -> _Normal:
    """Common normal of the line along e through `foot` and another one.

    `last_x` is the normal before, None for the first; coincident lines take it.
    """
    f, point = line
    fallback = turn_to(e)[:, 0] if last_x is None else last_x
    across = np.cross(e, f)
    sine = float(np.linalg.norm(across))
    if point is None:  # any line of that direction: the one through the foot
        return _Normal(across / sine if sine > _PARALLEL_SINE else fallback, foot, foot)
    apart = point - foot
    if sine <= _PARALLEL_SINE:
        offset = apart - (apart @ e) * e
        a = float(np.linalg.norm(offset))
        if a <= 1e-14 * max(float(np.linalg.norm(apart)), 1.0):
            return _Normal(fallback, foot, foot)
        return _Normal(offset / a, foot, foot + offset)
    n = across / sine
    # foot + s e and point + t f are a n apart
    s = float(np.cross(apart, f) @ n) / sine
    t = float(np.cross(apart, e) @ n) / sine
    start, end = foot + s * e, point + t * f
    a = float(apart @ n)
    if abs(a) <= 1e-14 * max(float(np.linalg.norm(apart)), 1.0):
        return _Normal(n, start, start)
    return _Normal(n if a > 0.0 else -n, start, end)


def _normals(lines: list[tuple[Array, Array | None]]) -> list[_Normal]:
    e, point = lines[0]
    # of the first axis, the point next to the origin of the base
    foot, x = np.zeros(3) if point is None else point, None
    result: list[_Normal] = []
    for line in lines[1:]:
        normal = _normal(e, foot, x, line)
        result.append(normal)
        e, foot, x = line[0], normal.end, normal.x
    x = turn_to(e)[:, 0] if x is None else x
    result.append(_Normal(x, foot, foot))
    return result


def _angle(axis: Array, a: Array, b: Array) -> float:
    """Angle from a to b about an axis perpendicular to both, in rad."""
    return float(np.arctan2(axis @ np.cross(a, b), a @ b))


def extract(description: SpatialScrews, convention: str) -> DenavitHartenberg:
    """Denavit-Hartenberg parameters of a chain of spatial screws."""
    # common normals, and the numbers between them
    lines = _lines(description)
    normals = _normals(lines)
    axes = [e for e, _ in lines]
    kinds = ["prismatic" if point is None else "revolute" for _, point in lines]
    n, rows = len(lines), np.zeros((len(lines), 4))
    before = _Normal(normals[0].x, normals[0].foot, normals[0].foot)
    for i, (e, normal) in enumerate(zip(axes, normals, strict=True)):
        rows[i, 2] = (normal.foot - before.end) @ e
        rows[i, 3] = _angle(e, before.x, normal.x)
        link = i if convention == "standard" else i + 1
        if i + 1 < n:
            rows[link, 0] = (normal.end - normal.foot) @ normal.x
            rows[link, 1] = _angle(normal.x, e, axes[i + 1])
        before = normal

    # the first frame, and bodies in their frames
    first = normals[0]
    turn = np.column_stack([first.x, np.cross(axes[0], first.x), axes[0]])
    chain = DenavitHartenberg(
        [(*row, kind) for row, kind in zip(rows, kinds, strict=True)],
        convention,
        pose(turn, first.foot),
    )
    frames = se3.inverse(chain.poses(np.zeros(n))) @ description.references
    result: DenavitHartenberg = chain.replace(frames=frames)
    return result
