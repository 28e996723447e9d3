"""Trees of joints by their screws, Mueller (2018), section 2, and arms of these."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from .. import se3
from .._calls.arguments import check_finite, real_array
from .._calls.declared import Floats, Positions, Posture
from .._calls.doors import checked_class
from .._core import MAX_BODIES
from .._support.arrays import Array, is_whole
from .._support.checks import as_array, as_numbers, short_text
from .._support.description import Description
from .._support.printing import Printed, Sheet, Table
from ..arm import Arm
from ..bodies import GROUND, Body, FlexibleBody, Joint, RigidBody
from ..bodies.axes import unit_screw
from ..bodies.following import free_joint
from ..errors import ArgumentError, ModelError
from .poses import check_poses, clean_screws, is_list, point_and_pitch, pose, product

Tree = TypeVar("Tree", bound="JointTree")


def check_parents(parents: object, n: int) -> tuple[int, ...]:
    """Parent of each of n joints, -1 for the base; a chain for None."""
    if parents is None:
        return tuple(range(-1, n - 1))
    if not is_list(parents):
        raise ModelError(
            f"parents are {short_text(parents)}, expected one number for each joint"
        )
    given = tuple(parents)
    if len(given) != n:
        raise ModelError(f"{len(given)} parents are given, expected {n}, one a joint")
    for i, p in enumerate(given):
        if not is_whole(p) or not -1 <= p < i:
            raise ModelError(
                f"parent of joint {i} (counted from 0) is {short_text(p)}, expected "
                "-1 for the base or the number of a joint before it"
            )
    return tuple(int(p) for p in given)


def check_screws(screws: object) -> tuple[Array, ...]:
    """Unit screws of each joint, (6, n_i)."""
    if not is_list(screws):
        raise ModelError(
            f"screws are {short_text(screws)}, expected one or more for each joint"
        )
    result = []
    for i, item in enumerate(screws):
        what = f"screw of joint {i} (counted from 0)"
        several = as_numbers(what, item).ndim == 2
        S = as_array(what, item, (6, None) if several else (6,)).reshape(6, -1)
        if S.shape[1] > 6:
            raise ModelError(f"{what} has {S.shape[1]} columns, expected at most 6")
        columns = [unit_screw(what, x) for x in S.T]
        result.append(as_array(what, np.reshape(columns, (-1, 6)).T, (6, None)))
    if not 1 <= len(result) <= MAX_BODIES:
        raise ModelError(
            f"screws of {len(result)} joints are given, expected 1 to {MAX_BODIES}"
        )
    return tuple(result)


def _listed(vector: Array) -> str:
    return ", ".join(f"{x:.4g}" for x in vector.round(12) + 0.0)


@checked_class
class JointTree(Printed, Description):
    """Base class of the descriptions: a tree of joints, each with screws."""

    screws: Any
    parents: Any
    _axes = ""  # of the screws, in words

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__}: {self.n_bodies} bodies, {self.nq} joint "
            "coordinates>"
        )

    def _sheet(self) -> Sheet:
        rows = [("joint", "on", "axis", "point m", "pitch m/rad")]
        for i, (S, p) in enumerate(zip(self.screws, self.parents, strict=True)):
            on = "base" if p < 0 else str(p)
            for turn, slide in zip(S[:3].T, S[3:].T, strict=True):
                if turn.any():
                    point, h = point_and_pitch(np.r_[turn, slide])
                    line = (_listed(turn), _listed(point), f"{h:.4g}")
                    rows.append((str(i), on, *line))
                else:
                    rows.append((str(i), on, _listed(slide), "", "slides"))
            if not S.shape[1]:
                rows.append((str(i), on, "fixed", "", ""))
        return Sheet((f"{self!r}, screws in {self._axes}", Table(rows)))

    @property
    def n_bodies(self) -> int:
        """Number of bodies, and of their joints."""
        return len(self.parents)

    @property
    def nq(self) -> int:
        """Number of joint coordinates."""
        return sum(S.shape[1] for S in self.screws)

    def poses(self, q: Positions) -> Array:
        """Poses of all bodies in the base, by the formula of the description.

        Parameters
        ----------
        q : (..., nq) array_like of float
            Coordinates, in rad and m.

        Returns
        -------
        C : (..., n_bodies, 4, 4) ndarray of float
            Translations in m.

        Examples
        --------
        >>> import numpy as np
        >>> from flexarm.descriptions import DenavitHartenberg
        >>> arm = DenavitHartenberg([(1, 0, 0, 0), (1, 0, 0, 0)])
        >>> arm.poses([np.pi / 2, -np.pi / 2])[1, :3, 3].round(12) + 0.0
        array([1., 1., 0.])
        >>> arm.poses(np.zeros((7, 2))).shape
        (7, 2, 4, 4)
        """
        return self._poses(self._coordinates(q))

    def zero_at(self: Tree, q0: Posture) -> Tree:
        """Return the same tree with coordinates that are zero where they were `q0`.

        Parameters
        ----------
        q0 : (nq,) array_like of float
            Coordinates, in rad and m.

        Returns
        -------
        description : the same type
            Its poses at q are those of this one at ``q0 + q``.

        Examples
        --------
        Controllers of robots often count from a pose of their own; here the addition
        goes to the rows (a, alpha, d, theta):

        >>> from flexarm.descriptions import DenavitHartenberg
        >>> arm = DenavitHartenberg([(1, 0, 0, 0), (1, 0, 0, 0)])
        >>> arm.zero_at([0.5, -0.2]).rows
        array([[ 1. ,  0. ,  0. ,  0.5],
               [ 1. ,  0. ,  0. , -0.2]])
        """
        return self._zero_at(as_array("q0", q0, (self.nq,)))

    def _poses(self, q: list[Array]) -> Array:
        raise NotImplementedError

    def _zero_at(self: Tree, q0: Array) -> Tree:
        raise NotImplementedError

    def _coordinates(self, q: ArrayLike) -> list[Array]:
        """Coordinates of each joint, (..., n_i)."""
        q = real_array("q", q)
        if q.ndim == 0 or q.shape[-1] != self.nq:
            raise ArgumentError(
                f"q has shape {q.shape}, the description has {self.nq} coordinates; "
                f"expected (..., {self.nq})"
            )
        check_finite("q", q)
        ends = np.cumsum([S.shape[1] for S in self.screws])
        return np.split(q, ends[:-1], axis=-1)

    def _check_screws(self, n: int | None = None) -> int:
        """Check screws and parents; returns the number of joints."""
        screws = check_screws(self.screws)
        if n is not None and len(screws) != n:
            raise ModelError(
                f"screws of {len(screws)} joints are given with {n} poses, expected as "
                "many"
            )
        parents = check_parents(self.parents, len(screws))
        self._set(screws=screws, parents=parents)
        return len(screws)


@checked_class
@dataclass(frozen=True, eq=False, repr=False)
class BodyScrews(JointTree):
    r"""Arm by body-fixed screws, without joint frames (variant 2).

    Parameters
    ----------
    references : (n, 4, 4) array_like of float
        Pose B_i of body i in its parent at q = 0, in m.
    screws : sequence of (6,) or (6, n_i) array_like of float
        Screws X_i of each joint in the frame of body i; scaled to unit ones.
    parents : sequence of int, optional
        Number of the parent of each body, from 0, -1 for the base; by default a chain.

    Raises
    ------
    ModelError
        If a screw is zero, a parent does not come before its child, or numbers of
        joints differ.

    Notes
    -----
    .. math:: C_i = C_{i-1} B_i \exp(X_i q_i)
       = C_{i-1} \exp(\bar X_i q_i) B_i, \quad \bar X_i = \mathrm{Ad}_{B_i} X_i
       \quad (4), (6), (7)

    (The paper prints S_{i-1,1} in (4) and S_{i,i-1} in (6) for S_{i-1,i}.)

    Examples
    --------
    >>> import numpy as np
    >>> from flexarm.descriptions.screws import BodyScrews
    >>> from flexarm.se3 import screw
    >>> arm = BodyScrews([np.eye(4)], [screw(point=(1, 0, 0))])
    >>> arm.poses([np.pi])[0, :3, 3].round(12) + 0.0  # turned about x = 1
    array([2., 0., 0.])
    """

    _axes = "the frames of the bodies"

    references: Annotated[Any, Floats("(n, 4, 4)")]
    screws: Any
    parents: Any = None

    def __post_init__(self) -> None:
        B = check_poses("reference pose", self.references)
        self._check_screws(len(B))
        self._set(references=B)

    @classmethod
    def of_parent_screws(
        cls,
        references: Annotated[ArrayLike, Floats("(n, 4, 4)")],
        screws: Sequence[ArrayLike],
        parents: Sequence[int] | None = None,
    ) -> BodyScrews:
        """From screws in the frames of the parents, at q = 0 (7).

        Parameters
        ----------
        references : (n, 4, 4) array_like of float
            Poses B_i of the bodies in their parents at q = 0, in m.
        screws : sequence of (6,) or (6, n_i) array_like of float
            Screws of each joint in the frame of the parent, linear parts in m.
        parents : sequence of int, optional
            As of `BodyScrews`.

        Returns
        -------
        description : BodyScrews

        Examples
        --------
        A hinge at the base that carries its body 1 m away:

        >>> import numpy as np
        >>> from flexarm.descriptions.screws import BodyScrews
        >>> from flexarm.se3 import screw
        >>> B = np.eye(4)
        >>> B[0, 3] = 1.0
        >>> arm = BodyScrews.of_parent_screws([B], [screw()])
        >>> arm.screws[0].ravel()  # seen from the body, the axis is at x = -1
        array([0., 0., 1., 0., 1., 0.])
        >>> arm.poses([np.pi / 2])[0, :3, 3].round(12)
        array([0., 1., 0.])
        """
        given = cls(references, screws, parents)
        inverses = se3.adjoint(se3.inverse(given.references))
        moved = [Ad @ S for Ad, S in zip(inverses, given.screws, strict=True)]
        return cls(given.references, moved, given.parents)

    @property
    def parent_screws(self) -> tuple[Array, ...]:
        """Screws of each joint in the frame of the parent (7), (6, n_i)."""
        Ad = se3.adjoint(self.references)
        return tuple(A @ X for A, X in zip(Ad, self.screws, strict=True))

    def _poses(self, q: list[Array]) -> Array:
        C: list[Array] = []
        for i, x in enumerate(q):
            hop = self.references[i] @ product(self.screws[i], x)
            C.append(hop if self.parents[i] < 0 else C[self.parents[i]] @ hop)
        return np.stack(C, axis=-3)

    def _zero_at(self, q0: Array) -> BodyScrews:
        references, screws = [], []
        for i, x in enumerate(self._coordinates(q0)):
            X, E = without_offset(self.screws[i], x)
            references.append(self.references[i] @ E)
            screws.append(se3.adjoint(se3.inverse(E)) @ X)
        return BodyScrews(references, screws, self.parents)


@checked_class
@dataclass(frozen=True, eq=False, repr=False)
class SpatialScrews(JointTree):
    r"""Arm by screws in the base frame, a product of exponentials (variant 3).

    Parameters
    ----------
    references : (n, 4, 4) array_like of float
        Pose A_i of body i in the base at q = 0; all the identity for parts that are
        drawn in one frame.
    screws : sequence of (6,) or (6, n_i) array_like of float
        Screws Y_i of each joint in the base frame, at q = 0; scaled to unit ones.
    parents : sequence of int, optional
        Number of the parent of each body, from 0, -1 for the base; by default a chain.

    Raises
    ------
    ModelError
        If a screw is zero, a parent does not come before its child, or numbers of
        joints differ.

    Notes
    -----
    .. math:: C_i = \exp(Y_1 q_1) \cdots \exp(Y_i q_i) A_i, \quad
       A_i = B_1 \cdots B_i, \quad Y_i = \mathrm{Ad}_{A_i} X_i \quad (10), (11), (12)

    with the joints from the base to body i alone.  (The paper calls the point on the
    axis of (12) p_i in l. 331 and y_i elsewhere.)

    Examples
    --------
    Two hinges about z at x = 0 and x = 1, read off a drawing of the stretched arm:

    >>> import numpy as np
    >>> from flexarm.descriptions import SpatialScrews
    >>> from flexarm.se3 import screw
    >>> A = np.stack([np.eye(4)] * 2)
    >>> A[:, 0, 3] = [1.0, 2.0]  # bodies have their frames at their ends
    >>> arm = SpatialScrews(A, [screw(), screw(point=(1, 0, 0))])
    >>> arm.poses([np.pi / 2, -np.pi / 2])[1, :3, 3].round(12)
    array([1., 1., 0.])
    """

    _axes = "the base"

    references: Annotated[Any, Floats("(n, 4, 4)")]
    screws: Any
    parents: Any = None

    def __post_init__(self) -> None:
        A = check_poses("reference pose", self.references)
        self._check_screws(len(A))
        self._set(references=A)

    def _poses(self, q: list[Array]) -> Array:
        E: list[Array] = []
        for i, x in enumerate(q):
            own = product(self.screws[i], x)
            E.append(own if self.parents[i] < 0 else E[self.parents[i]] @ own)
        return np.asarray(np.stack(E, axis=-3) @ self.references)

    def _zero_at(self, q0: Array) -> SpatialScrews:
        return spatial_of_body(body_of_spatial(self).zero_at(q0))


def without_offset(screws: Array, offset: Array) -> tuple[Array, Array]:
    """Screws S' and pose E: prod exp(S_k (q_k + o_k)) = prod exp(S'_k q_k) E."""
    moved, E = [], pose()
    for S, o in zip(screws.T, offset, strict=True):
        moved.append(se3.adjoint(E) @ S)
        E = E @ se3.exp(o * S)
    return np.reshape(moved, (-1, 6)).T, E


def spatial_of_body(given: BodyScrews) -> SpatialScrews:
    """Spatial screws of body-fixed ones, (11) and (12)."""
    A: list[Array] = []
    for B, p in zip(given.references, given.parents, strict=True):
        A.append(B if p < 0 else A[p] @ B)
    screws = [se3.adjoint(C) @ X for C, X in zip(A, given.screws, strict=True)]
    return SpatialScrews(A, screws, given.parents)


def body_of_spatial(given: SpatialScrews) -> BodyScrews:
    """Body-fixed screws of spatial ones, (11) and (12)."""
    A, references = given.references, []
    for C, p in zip(A, given.parents, strict=True):
        references.append(C if p < 0 else se3.inverse(A[p]) @ C)
    Ad = se3.adjoint(se3.inverse(A))
    screws = [M @ Y for M, Y in zip(Ad, given.screws, strict=True)]
    return BodyScrews(references, screws, given.parents)


def largest_length(given: BodyScrews) -> float:
    """Largest length among reference poses and screws, in m."""
    lengths = [float(np.linalg.norm(B[:3, 3])) for B in given.references]
    return max([*lengths, *(float(np.abs(X[3:]).max(initial=0)) for X in given.screws)])


def node_place(body: Body, node: int | None) -> Array:
    """Pose of a node of the undeformed body in its frame; of the frame for None."""
    return pose() if node is None else pose(origin=body.node_position[node])


def _maker(screws: Array) -> Callable[..., Joint]:
    """Maker of a joint with columns (6, n), a plain one where the axis permits it."""
    n = screws.shape[1]
    if n == 0:
        return partial(Joint, "fixed")
    turn, slide = screws[:3, 0], screws[3:, 0]
    if n == 1 and not turn.any():
        return partial(Joint, "prismatic", axis=slide)
    if n == 1 and not slide.any():
        return partial(Joint, "revolute", axis=turn)
    return partial(Joint, "screw", screw=screws[:, 0] if n == 1 else screws)


def _joint(old: Joint, name: str, screws: Array, place: Array, parent: str) -> Joint:
    """Joint with the geometry of a description and all else of the old joint."""
    # geometry of the description
    joint = _maker(screws)(
        parent=parent,
        node=old.node,
        position=place[:3, 3],
        rotation=place[:3, :3],
    )

    # friction, limits and the like, if they fit
    for kind in ("damping", "armature"):
        own = getattr(old, kind)
        if np.ndim(own) and len(own) != joint.n_dof:
            raise ModelError(
                f"the joint of body {name!r} has {kind} of {len(own)} velocities, the "
                f"description gives it {joint.n_dof}; expected as many"
            )
    if old.limits is not None and old.limits.shape[1] != joint.n_positions:
        raise ModelError(
            f"the joint of body {name!r} has limits of {old.limits.shape[1]} "
            f"positions, the description gives it {joint.n_positions}; expected as many"
        )
    for kind in ("velocity_limit", "acceleration_limit", "effort_limit"):
        if np.ndim(getattr(old, kind)) and len(getattr(old, kind)) != joint.n_dof:
            raise ModelError(
                f"the joint of body {name!r} has a {kind} of "
                f"{len(getattr(old, kind))} velocities, the description gives it "
                f"{joint.n_dof}; expected as many"
            )
    result: Joint = joint.replace(
        damping=old.damping,
        armature=old.armature,
        actuated=old.actuated,
        limits=old.limits,
        velocity_limit=old.velocity_limit,
        acceleration_limit=old.acceleration_limit,
        effort_limit=old.effort_limit,
        drive=old.drive,
        stiffness=old.stiffness,
        rest=old.rest,
        coulomb_friction=old.coulomb_friction,
        stops=old.stops,
    )
    return result


def arm_of_screws(tree: BodyScrews, bodies: Iterable[Body], **options: Any) -> Arm:
    """Arm with the joints of body-fixed screws and given bodies, see `build_arm`."""
    # refuse bodies that do not fit
    bodies = tuple(bodies)
    if len(bodies) != tree.n_bodies:
        raise ModelError(
            f"{len(bodies)} bodies are given, the description has {tree.n_bodies} "
            "joints; expected one body each"
        )
    for body in bodies:
        if not isinstance(body, RigidBody | FlexibleBody):
            raise ModelError(
                f"a body is {type(body).__name__}, expected RigidBody or FlexibleBody"
            )

    # the joint frame is that of the body, or of the node by which it is held
    placed, size = [], largest_length(tree)
    joints = zip(bodies, tree.parents, tree.references, tree.screws, strict=True)
    for body, p, B, X in joints:
        held = node_place(body, body.attachment_node)
        place, screws = B @ held, se3.adjoint(se3.inverse(held)) @ X
        if p >= 0:
            node = bodies[p].node_index(body.joint.node)
            place = se3.inverse(node_place(bodies[p], node)) @ place
        parent = GROUND if p < 0 else bodies[p].name
        joint = _joint(
            free_joint(body.joint), body.name, clean_screws(screws, size), place, parent
        )
        placed.append(body.replace(joint=joint))
    return Arm(placed, **options)
