"""The three descriptions by frames and screws of Mueller (2018), section 2."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import se3
from .._support.checks import as_array
from ..arm import Arm
from ..errors import ModelError
from . import _arms
from ._joint_tree import JointTree, without_offset
from .poses import check_poses, clean_screws, point_and_pitch, pose, product, turn_to

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class JointFrames(JointTree):
    r"""Arm by body-fixed joint frames (variant 1).

    Parameters
    ----------
    parent_frames : (n, 4, 4) array_like of float
        Pose S_{i-1,i} of the joint frame on the parent, in the frame of the
        parent, in m.
    body_frames : (n, 4, 4) array_like of float
        Pose S_{i,i} of the joint frame on body i, in the frame of that body, in m.
    screws : sequence of (6,) or (6, n_i) array_like of float
        Screws Z_i of each joint in its frame; scaled to unit ones.
    parents : sequence of int, optional
        Number of the parent of each body, counted from 0, -1 for the base; by default a
        chain.
    offsets : (nq,) array_like of float, optional
        Coordinates, in rad or m, at which the two frames of the joints would have to
        be for q = 0; by default zero, the frames coincide (Assumption 1).

    Raises
    ------
    ModelError
        If a matrix is no pose, a screw is zero, a parent does not come before its
        child, or numbers of joints differ.

    Notes
    -----
    .. math:: C_i = C_{i-1} S_{i-1,i} \exp(Z_i (q_i + o_i)) S_{i,i}^{-1} \quad (3)

    Denavit-Hartenberg and Sheth-Uicker conventions are special choices (Remark 3).

    Examples
    --------
    A hinge about z, 1 m from the base along x, with the frame of the body 0.5 m out:

    >>> import numpy as np
    >>> from flexarm.descriptions import JointFrames
    >>> from flexarm.se3 import screw
    >>> at = np.eye(4)
    >>> at[0, 3] = 1.0
    >>> on_body = np.eye(4)
    >>> on_body[0, 3] = -0.5
    >>> arm = JointFrames([at], [on_body], [screw()])
    >>> arm.poses([np.pi / 2])[0, :3, 3].round(12)
    array([1. , 0.5, 0. ])
    >>> arm.poses(np.zeros((7, 1))).shape
    (7, 1, 4, 4)
    """

    _axes = "the joint frames"

    parent_frames: Any
    body_frames: Any
    screws: Any
    parents: Any = None
    offsets: Any = None

    def __post_init__(self) -> None:
        on_parents = check_poses("joint frame on the parent", self.parent_frames)
        n = self._check_screws(len(on_parents))
        on_bodies = check_poses("joint frame on the body", self.body_frames, n)
        offsets = np.zeros(self.nq) if self.offsets is None else self.offsets
        self._set(
            parent_frames=on_parents,
            body_frames=on_bodies,
            offsets=as_array("offsets of the joints", offsets, (self.nq,)),
        )

    @classmethod
    def along_z(
        cls,
        parent_frames: Any,
        body_frames: Any,
        kinds: Sequence[str],
        *,
        pitches: Any = None,
        parents: Any = None,
        offsets: Any = None,
    ) -> JointFrames:
        """Joints of one screw along the third axis of their frames (l. 257).

        Parameters
        ----------
        parent_frames, body_frames : (n, 4, 4) array_like of float
            As of `JointFrames`, in m.
        kinds : sequence of {"revolute", "prismatic", "helical"}
            Kind of each joint.
        pitches : (n,) array_like of float, optional
            Advance of the helical ones, in m per rad; zero elsewhere.
        parents : sequence of int, optional
            As of `JointFrames`.
        offsets : (n,) array_like of float, optional
            As of `JointFrames`, in rad or m.

        Returns
        -------
        description : JointFrames
            With one screw for each joint.

        Raises
        ------
        ModelError
            If a kind is unknown, or a pitch is given for another kind than helical.

        Examples
        --------
        >>> import numpy as np
        >>> import flexarm as fa
        >>> make = fa.descriptions.JointFrames.along_z
        >>> make(np.eye(4)[None], np.eye(4)[None], ["revolute"]).screws[0].ravel()
        array([0., 0., 1., 0., 0., 0.])
        """
        if isinstance(kinds, str) or not isinstance(kinds, Iterable):
            raise ModelError(f"kinds are {kinds!r}, expected one for each joint")
        kinds = list(kinds)
        pitch = np.zeros(len(kinds)) if pitches is None else pitches
        pitch = as_array("pitches of the joints", pitch, (len(kinds),))
        screws = []
        for i, (kind, h) in enumerate(zip(kinds, pitch, strict=True)):
            if kind not in ("revolute", "prismatic", "helical"):
                raise ModelError(
                    f"kind of joint {i} (counted from 0) is {kind!r}, expected "
                    "'revolute', 'prismatic' or 'helical'"
                )
            if h and kind != "helical":
                raise ModelError(
                    f"joint {i} (counted from 0) is {kind} with the pitch {h:g} m/rad, "
                    "expected it of helical joints alone"
                )
            screws.append(se3.screw(pitch=np.inf if kind == "prismatic" else h))
        return cls(parent_frames, body_frames, screws, parents, offsets)

    @classmethod
    def of(cls, arm: Arm) -> JointFrames:
        """Joint frames of an arm at rest, those of its joints.

        Parameters
        ----------
        arm : Arm
            Without spherical, free and subspace joints; what its bodies weigh and how
            they bend is left out.

        Returns
        -------
        description : JointFrames

        Examples
        --------
        >>> import numpy as np
        >>> import flexarm as fa
        >>> from flexarm.descriptions import JointFrames
        >>> arm, q = fa.library.puma560(), np.linspace(0.1, 0.6, 6)
        >>> np.allclose(JointFrames.of(arm).poses(q), fa.link_poses(arm, q))
        True
        """
        frames = _arms.joint_data(arm)
        return cls(*frames, arm._parents)

    def poses(self, q: Any) -> Array:
        """Poses of all bodies in the base by (3), (..., n_bodies, 4, 4).

        Parameters
        ----------
        q : (..., nq) array_like of float
            Coordinates, in rad and m.

        Returns
        -------
        C : (..., n_bodies, 4, 4) ndarray of float
            Translations in m.
        """
        C: list[Array] = []
        offsets = self._coordinates(self.offsets)
        for i, x in enumerate(self._coordinates(q)):
            D = product(self.screws[i], x + offsets[i])
            hop = self.parent_frames[i] @ D @ se3.inverse(self.body_frames[i])
            C.append(hop if self.parents[i] < 0 else C[self.parents[i]] @ hop)
        return np.stack(C, axis=-3)

    def joint_frames(self) -> JointFrames:
        """The description itself."""
        return self

    def zero_at(self, q0: Any) -> JointFrames:
        """The same tree with coordinates that are zero where they were `q0`.

        Parameters
        ----------
        q0 : (nq,) array_like of float
            Coordinates, in rad and m.

        Returns
        -------
        description : JointFrames
            Its poses at q are those of this one at ``q0 + q``.

        Raises
        ------
        ModelError
            If `q0` has another shape.

        Examples
        --------
        >>> import numpy as np
        >>> import flexarm as fa
        >>> from flexarm.descriptions import JointFrames
        >>> arm = JointFrames.of(fa.library.planar_chain(2, length=1.0))
        >>> bent = arm.zero_at([np.pi / 2, 0.0])
        >>> np.allclose(bent.poses([0.0, 0.3]), arm.poses([np.pi / 2, 0.3]))
        True
        """
        q0 = as_array("q0", q0, (self.nq,))
        result: JointFrames = self.replace(offsets=self.offsets + q0)
        return result

    def body_screws(self) -> BodyScrews:
        """The same tree by body-fixed screws without joint frames, (4) and (5)."""
        references, screws = [], []
        for i, offset in enumerate(self._coordinates(self.offsets)):
            Z, E = without_offset(self.screws[i], offset)
            on_body = self.body_frames[i] @ se3.inverse(E)
            references.append(self.parent_frames[i] @ se3.inverse(on_body))
            screws.append(se3.adjoint(on_body) @ Z)
        return BodyScrews(references, screws, self.parents)


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
        Number of the parent of each body, counted from 0, -1 for the base; by default a
        chain.

    Raises
    ------
    ModelError
        If a matrix is no pose, a screw is zero, a parent does not come before its
        child, or numbers of joints differ.

    Notes
    -----
    .. math:: C_i = C_{i-1} B_i \exp(X_i q_i)
       = C_{i-1} \exp(\bar X_i q_i) B_i, \quad \bar X_i = \mathrm{Ad}_{B_i} X_i
       \quad (4), (6), (7)

    (The paper prints S_{i-1,1} in (4) and S_{i,i-1} in (6) for S_{i-1,i}.)

    Examples
    --------
    >>> import numpy as np
    >>> from flexarm.descriptions import BodyScrews
    >>> from flexarm.se3 import screw
    >>> arm = BodyScrews([np.eye(4)], [screw(point=(1, 0, 0))])
    >>> arm.poses([np.pi])[0, :3, 3].round(12) + 0.0  # turned about x = 1
    array([2., 0., 0.])
    """

    _axes = "the frames of the bodies"

    references: Any
    screws: Any
    parents: Any = None

    def __post_init__(self) -> None:
        B = check_poses("reference pose", self.references)
        self._check_screws(len(B))
        self._set(references=B)

    @classmethod
    def of_parent_screws(
        cls, references: Any, screws: Any, parents: Any = None
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
        >>> from flexarm.descriptions import BodyScrews
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

    @classmethod
    def of(cls, arm: Arm) -> BodyScrews:
        """Body-fixed screws of an arm at rest; see `JointFrames.of`.

        Parameters
        ----------
        arm : Arm
            Arm; its modes are left out.

        Returns
        -------
        description : BodyScrews
            Of the bodies and joints.

        Examples
        --------
        >>> import numpy as np
        >>> import flexarm as fa
        >>> from flexarm.descriptions import BodyScrews
        >>> arm, q = fa.library.puma560(), np.linspace(0.1, 0.6, 6)
        >>> np.allclose(BodyScrews.of(arm).poses(q), fa.link_poses(arm, q))
        True
        """
        return JointFrames.of(arm).body_screws()

    @property
    def _size(self) -> float:
        """Largest length among reference poses and screws, in m."""
        lengths = [float(np.linalg.norm(B[:3, 3])) for B in self.references]
        return max(
            [*lengths, *(float(np.abs(X[3:]).max(initial=0)) for X in self.screws)]
        )

    @property
    def parent_screws(self) -> tuple[Array, ...]:
        """Screws of each joint in the frame of the parent (7), (6, n_i)."""
        Ad = se3.adjoint(self.references)
        return tuple(A @ X for A, X in zip(Ad, self.screws, strict=True))

    def poses(self, q: Any) -> Array:
        """Poses of all bodies in the base by (8), (..., n_bodies, 4, 4).

        Parameters
        ----------
        q : (..., nq) array_like of float
            Coordinates, in rad and m.

        Returns
        -------
        C : (..., n_bodies, 4, 4) ndarray of float
            Translations in m.
        """
        C: list[Array] = []
        for i, x in enumerate(self._coordinates(q)):
            hop = self.references[i] @ product(self.screws[i], x)
            C.append(hop if self.parents[i] < 0 else C[self.parents[i]] @ hop)
        return np.stack(C, axis=-3)

    def body_screws(self) -> BodyScrews:
        """The description itself."""
        return self

    def joint_frames(self) -> JointFrames:
        """The same tree by joint frames, those of one screw with z along its axis.

        Their origins are the points of the axes next to those of the bodies; joints of
        none or several screws have the frame of the body.  Rounding (8 eps of the
        largest length) of points and pitches is taken off.
        """
        on_bodies, screws = [], []
        for X in self.screws:
            X = clean_screws(X, self._size)
            on_body, Z = pose(), X
            if X.shape[1] == 1:
                turn, slide = X[:3, 0], X[3:, 0]
                point, h = point_and_pitch(X[:, 0])
                if not turn.any():
                    turn, point, h = slide, np.zeros(3), np.inf
                on_body = pose(turn_to(turn), point)
                Z = se3.screw(pitch=h)[:, np.newaxis]
            on_bodies.append(on_body)
            screws.append(Z)
        frames = self.references @ np.array(on_bodies)
        return JointFrames(frames, on_bodies, screws, self.parents)

    def spatial_screws(self) -> SpatialScrews:
        """The same tree by spatial screws (11), (12)."""
        A: list[Array] = []
        for B, p in zip(self.references, self.parents, strict=True):
            A.append(B if p < 0 else A[p] @ B)
        screws = [se3.adjoint(C) @ X for C, X in zip(A, self.screws, strict=True)]
        return SpatialScrews(A, screws, self.parents)

    def zero_at(self, q0: Any) -> BodyScrews:
        """The same tree with coordinates that are zero where they were `q0`.

        Parameters
        ----------
        q0 : (nq,) array_like of float
            Coordinates, in rad and m.

        Returns
        -------
        description : BodyScrews
            Its poses at q are those of this one at ``q0 + q``.

        Raises
        ------
        ModelError
            If `q0` has another shape.

        Examples
        --------
        >>> import numpy as np
        >>> import flexarm as fa
        >>> from flexarm.descriptions import BodyScrews
        >>> arm = BodyScrews.of(fa.library.planar_chain(2, length=1.0))
        >>> bent = arm.zero_at([np.pi / 2, 0.0])
        >>> np.allclose(bent.poses([0.0, 0.3]), arm.poses([np.pi / 2, 0.3]))
        True
        """
        q0 = as_array("q0", q0, (self.nq,))
        references, screws = [], []
        for i, x in enumerate(self._coordinates(q0)):
            X, E = without_offset(self.screws[i], x)
            references.append(self.references[i] @ E)
            screws.append(se3.adjoint(se3.inverse(E)) @ X)
        return BodyScrews(references, screws, self.parents)


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
        Number of the parent of each body, counted from 0, -1 for the base; by default a
        chain.

    Raises
    ------
    ModelError
        If a matrix is no pose, a screw is zero, a parent does not come before its
        child, or numbers of joints differ.

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

    references: Any
    screws: Any
    parents: Any = None

    def __post_init__(self) -> None:
        A = check_poses("reference pose", self.references)
        self._check_screws(len(A))
        self._set(references=A)

    @classmethod
    def of(cls, arm: Arm) -> SpatialScrews:
        """Spatial screws of an arm at rest; see `JointFrames.of`.

        Parameters
        ----------
        arm : Arm
            Arm; its modes are left out.

        Returns
        -------
        description : SpatialScrews
            Of the bodies and joints.

        Examples
        --------
        Angular parts and moments of the screws of a planar arm with the elbow at x = 1:

        >>> import numpy as np
        >>> import flexarm as fa
        >>> from flexarm.descriptions import SpatialScrews
        >>> arm = SpatialScrews.of(fa.library.planar_chain(2, length=1.0))
        >>> np.hstack(arm.screws).T + 0.0
        array([[ 0.,  0.,  1.,  0.,  0.,  0.],
               [ 0.,  0.,  1.,  0., -1.,  0.]])
        """
        return BodyScrews.of(arm).spatial_screws()

    def poses(self, q: Any) -> Array:
        """Poses of all bodies in the base by (10), (..., n_bodies, 4, 4).

        Parameters
        ----------
        q : (..., nq) array_like of float
            Coordinates, in rad and m.

        Returns
        -------
        C : (..., n_bodies, 4, 4) ndarray of float
            Translations in m.
        """
        E: list[Array] = []
        for i, x in enumerate(self._coordinates(q)):
            own = product(self.screws[i], x)
            E.append(own if self.parents[i] < 0 else E[self.parents[i]] @ own)
        return np.asarray(np.stack(E, axis=-3) @ self.references)

    def spatial_screws(self) -> SpatialScrews:
        """The description itself."""
        return self

    def zero_at(self, q0: Any) -> SpatialScrews:
        """The same tree with coordinates that are zero where they were `q0`.

        Parameters
        ----------
        q0 : (nq,) array_like of float
            Coordinates, in rad and m.

        Returns
        -------
        description : SpatialScrews
            Its poses at q are those of this one at ``q0 + q``.

        Raises
        ------
        ModelError
            If `q0` has another shape.

        Examples
        --------
        >>> import numpy as np
        >>> import flexarm as fa
        >>> from flexarm.descriptions import SpatialScrews
        >>> arm = SpatialScrews.of(fa.library.planar_chain(2, length=1.0))
        >>> bent = arm.zero_at([np.pi / 2, 0.0])
        >>> bent.screws[1].ravel().round(12) + 0.0  # the elbow is at y = 1 now
        array([0., 0., 1., 1., 0., 0.])
        """
        return self.body_screws().zero_at(q0).spatial_screws()

    def body_screws(self) -> BodyScrews:
        """The same tree by body-fixed screws (11), (12)."""
        A, references = self.references, []
        for C, p in zip(A, self.parents, strict=True):
            references.append(C if p < 0 else se3.inverse(A[p]) @ C)
        Ad = se3.adjoint(se3.inverse(A))
        screws = [M @ Y for M, Y in zip(Ad, self.screws, strict=True)]
        return BodyScrews(references, screws, self.parents)
