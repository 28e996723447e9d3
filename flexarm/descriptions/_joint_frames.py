"""The description by body-fixed joint frames of Mueller (2018), section 2."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike

from .. import se3
from .._calls.declared import Floats, Posture
from .._calls.doors import checked_class
from .._support.arrays import Array
from .._support.checks import as_array, short_text
from ..errors import ModelError
from .poses import check_poses, product
from .screws import JointTree


@checked_class
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
        Number of the parent of each body, from 0, -1 for the base; by default a chain.
    offsets : (nq,) array_like of float, optional
        Coordinates, in rad or m, at which the two frames of the joints would have to
        be for q = 0; by default zero, the frames coincide (Assumption 1).

    Raises
    ------
    ModelError
        If a screw is zero, a parent does not come before its child, or numbers of
        joints differ.

    Notes
    -----
    .. math:: C_i = C_{i-1} S_{i-1,i} \exp(Z_i (q_i + o_i)) S_{i,i}^{-1} \quad (3)

    Denavit-Hartenberg and Sheth-Uicker conventions are special choices (Remark 3).

    Examples
    --------
    A hinge about z, 1 m from the base along x, with the frame of the body 0.5 m out:

    >>> import numpy as np
    >>> from flexarm.descriptions._joint_frames import JointFrames
    >>> from flexarm.se3 import screw
    >>> at = np.eye(4)
    >>> at[0, 3] = 1.0
    >>> on_body = np.eye(4)
    >>> on_body[0, 3] = -0.5
    >>> arm = JointFrames([at], [on_body], [screw()])
    >>> arm.poses([np.pi / 2])[0, :3, 3].round(12)
    array([1. , 0.5, 0. ])
    """

    _axes = "the joint frames"

    parent_frames: Annotated[Any, Floats("(n, 4, 4)")]
    body_frames: Annotated[Any, Floats("(n, 4, 4)")]
    screws: Any
    parents: Any = None
    offsets: Posture = None

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
        parent_frames: Annotated[ArrayLike, Floats("(n, 4, 4)")],
        body_frames: Annotated[ArrayLike, Floats("(n, 4, 4)")],
        kinds: Sequence[str],
        *,
        pitches: Annotated[ArrayLike, Floats("(n,)")] | None = None,
        parents: Sequence[int] | None = None,
        offsets: Annotated[ArrayLike, Floats("(n,)")] | None = None,
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
        >>> from flexarm.descriptions._joint_frames import JointFrames
        >>> make = JointFrames.along_z
        >>> make(np.eye(4)[None], np.eye(4)[None], ["revolute"]).screws[0].ravel()
        array([0., 0., 1., 0., 0., 0.])
        """
        if isinstance(kinds, str) or not isinstance(kinds, Iterable):
            text = short_text(kinds)
            raise ModelError(f"kinds are {text}, expected one for each joint")
        kinds = list(kinds)
        pitch = np.zeros(len(kinds)) if pitches is None else pitches
        pitch = as_array("pitches of the joints", pitch, (len(kinds),))
        screws = []
        for i, (kind, h) in enumerate(zip(kinds, pitch, strict=True)):
            if kind not in ("revolute", "prismatic", "helical"):
                raise ModelError(
                    f"kind of joint {i} (counted from 0) is {short_text(kind)}, "
                    "expected 'revolute', 'prismatic' or 'helical'"
                )
            if h and kind != "helical":
                raise ModelError(
                    f"joint {i} (counted from 0) is {kind} with the pitch {h:g} m/rad, "
                    "expected it of helical joints alone"
                )
            screws.append(se3.screw(pitch=np.inf if kind == "prismatic" else h))
        return cls(parent_frames, body_frames, screws, parents, offsets)

    def _poses(self, q: list[Array]) -> Array:
        C: list[Array] = []
        offsets = self._coordinates(self.offsets)
        for i, x in enumerate(q):
            D = product(self.screws[i], x + offsets[i])
            hop = self.parent_frames[i] @ D @ se3.inverse(self.body_frames[i])
            C.append(hop if self.parents[i] < 0 else C[self.parents[i]] @ hop)
        return np.stack(C, axis=-3)

    def _zero_at(self, q0: Array) -> JointFrames:
        result: JointFrames = self.replace(offsets=self.offsets + q0)
        return result
