"""What all descriptions of a tree of joints have in common."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import se3
from .._calls.arguments import check_finite, real_array
from .._support.checks import MAX_BODIES, as_array, as_numbers
from .._support.description import Description
from .._support.printing import Printed, Sheet, Table
from ..arm import Arm
from ..bodies.body import Body
from ..bodies.joints import unit_screw
from ..bodies.models import RigidBody
from ..errors import ArgumentError, ModelError
from . import _arms
from .poses import point_and_pitch, pose

if TYPE_CHECKING:
    from ._denavit_hartenberg import DenavitHartenberg
    from ._frames_and_screws import BodyScrews, JointFrames, SpatialScrews

Array = NDArray[np.float64]


def check_parents(parents: Any, n: int) -> tuple[int, ...]:
    """Parent of each of n joints, -1 for the base; a chain for None."""
    if parents is None:
        return tuple(range(-1, n - 1))
    if not isinstance(parents, Iterable):
        raise ModelError(f"parents are {parents!r}, expected one number for each joint")
    given = tuple(parents)
    if len(given) != n:
        raise ModelError(f"{len(given)} parents are given, expected {n}, one a joint")
    for i, p in enumerate(given):
        if (
            isinstance(p, bool)
            or not isinstance(p, int | np.integer)
            or not -1 <= p < i
        ):
            raise ModelError(
                f"parent of joint {i} (counted from 0) is {p!r}, expected -1 for the "
                f"base or the number of a joint before it"
            )
    return tuple(int(p) for p in given)


def check_screws(screws: Any) -> tuple[Array, ...]:
    """Unit screws of each joint, (6, n_i)."""
    if not isinstance(screws, Iterable):
        raise ModelError(f"screws are {screws!r}, expected one or more for each joint")
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


def without_offset(screws: Array, offset: Array) -> tuple[Array, Array]:
    """Screws S' and pose E: prod exp(S_k (q_k + o_k)) = prod exp(S'_k q_k) E."""
    moved, E = [], pose()
    for S, o in zip(screws.T, offset, strict=True):
        moved.append(se3.adjoint(E) @ S)
        E = E @ se3.exp(o * S)
    return np.reshape(moved, (-1, 6)).T, E


def _listed(vector: Array) -> str:
    return ", ".join(f"{x:.4g}" for x in vector.round(12) + 0.0)


class JointTree(Printed, Description):
    """What all descriptions have in common."""

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

    def body_screws(self) -> BodyScrews:
        """The same tree by body-fixed screws without joint frames (variant 2)."""
        raise NotImplementedError

    def spatial_screws(self) -> SpatialScrews:
        """The same tree by spatial screws, a product of exponentials (variant 3)."""
        return self.body_screws().spatial_screws()

    def joint_frames(self) -> JointFrames:
        """The same tree by joint frames (variant 1).

        The frames of a joint with one screw lie with z along its axis, at the point of
        it next to the origin of the body; other joints have the frame of the body.
        """
        return self.body_screws().joint_frames()

    def denavit_hartenberg(self, convention: str = "standard") -> DenavitHartenberg:
        """The same chain by Denavit-Hartenberg parameters.

        Parameters
        ----------
        convention : {"standard", "modified"}
            See `DenavitHartenberg`.

        Returns
        -------
        description : DenavitHartenberg
            With the pose of its first frame in the base, and those of the bodies in
            their Denavit-Hartenberg frames: poses of all bodies are the same.

        Raises
        ------
        ModelError
            If the description is no chain, or has joints that are not revolute or
            prismatic.

        Notes
        -----
        The parameters are the geometry of the lines of the axes: `a` and `alpha` are
        distance and angle along and about the common normal of two of them, `d` and
        `theta` the same between two normals.  Where that leaves a choice, numbers
        become zero: parallel axes have the normal through the foot of the one before
        (d = 0), coincident axes the normal before, a prismatic joint, which has no
        line, one through that foot (a = d = 0), the first row theta = d = 0, and the
        last joint no normal.  `a` is never negative.  Axes closer to parallel than
        1e-12 rad count as parallel; others that are nearly so have feet far away, and
        lose digits in proportion.
        """
        from ._denavit_hartenberg import extract

        return extract(self.spatial_screws(), convention)

    def zero_at(self, q0: Any) -> Any:
        """The same tree with coordinates that are zero where they were `q0`.

        Parameters
        ----------
        q0 : (nq,) array_like of float
            Coordinates, in rad and m.

        Returns
        -------
        description : the same type
            Its poses at q are those of this one at ``q0 + q``.

        Raises
        ------
        ModelError
            If `q0` has another shape.
        """
        raise NotImplementedError

    def poses(self, q: Any) -> Array:
        """Poses of all bodies in the base, (..., n_bodies, 4, 4)."""
        raise NotImplementedError

    def arm(self, bodies: Sequence[Body], **options: Any) -> Arm:
        """The arm of these joints and given bodies.

        Parameters
        ----------
        bodies : sequence of RigidBody or FlexibleBody
            One for each joint, in its order; its frame is the body frame of the
            description.  Of its own joint the node of the parent, friction, limits,
            drive, spring and stops stay; parent, kind, axis and place become those of
            the description.
        **options
            Of `flexarm.Arm`: ``gravity``, ``name``, ``tip``, ...

        Returns
        -------
        arm : Arm
            Coordinates and undeformed poses are those of the description.

        Raises
        ------
        ModelError
            If bodies and joints do not fit together, or `flexarm.Arm` refuses them.

        See Also
        --------
        kinematic_arm : without bodies, for kinematics alone.

        Notes
        -----
        The reference pose of a body on a flexible parent is that at the undeformed
        node which carries it; the node takes the joint along as it moves.  Axes within
        rounding (8 eps of the largest length) of the origin of a body count as
        passing through it, and so do pitches as zero: the joint is then a plain one.
        Other axes take a second, massless body in the kernels, and about twice the time
        of forward dynamics; frames on the axes, as `joint_frames` has them, avoid it.
        """
        return _arms.build(self.body_screws(), bodies, options)

    def kinematic_arm(self, **options: Any) -> Arm:
        """An arm for kinematics alone.

        Every body is a point of 1 kg with an inertia of 1 kg m^2 about all axes, named
        ``"body1"``, ``"body2"``, ...; so poses, velocities and Jacobians of the arm are
        those of the description and its dynamics mean nothing.  No gravity.

        Parameters
        ----------
        **options
            Of `flexarm.Arm`.

        Returns
        -------
        arm : Arm
            Arm with `n_bodies` rigid bodies.
        """
        bodies = [
            RigidBody(f"body{i + 1}", mass=1.0, inertia=(1.0, 1.0, 1.0))
            for i in range(self.n_bodies)
        ]
        given = {"gravity": (0.0, 0.0, 0.0), "check_units": False} | options
        return self.arm(bodies, **given)

    def _coordinates(self, q: Any) -> list[Array]:
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
