"""The descriptions by body-fixed and by spatial screws of Mueller (2018), section 2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import se3
from .._calls.declared import Floats
from .._calls.doors import checked_class
from ._joint_tree import JointTree
from .poses import check_poses, pose, product

Array = NDArray[np.float64]


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
    >>> from flexarm.descriptions._screws import BodyScrews
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
        >>> from flexarm.descriptions._screws import BodyScrews
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
