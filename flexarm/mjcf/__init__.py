"""Arms from the models of MuJoCo (MJCF, or robot files that MuJoCo reads).

`load` makes an `Arm` of what MuJoCo compiles.  Needs the package mujoco, the extra
``flexarm[mjcf]``.
"""

from __future__ import annotations

import os
from types import ModuleType
from typing import TYPE_CHECKING, Any

from .._calls.doors import checked
from .._support.checks import short_text
from .._support.files import read_file, shown_path
from .._support.optional import required
from .._support.warn import warn
from ..arm import Arm
from ..errors import ModelError
from ._compiled import Compiled

if TYPE_CHECKING:
    from mujoco import MjModel

__all__ = ["MjcfWarning", "load"]

# Bytes of a model at most.
MAX_BYTES = 2**24


class MjcfWarning(UserWarning):
    """A part of a MuJoCo model that an arm leaves out."""


@checked
def load(
    source: object, *, friction_velocity: float | None = 0.01, **options: Any
) -> Arm:
    """Arm of a model of MuJoCo.

    Parameters
    ----------
    source : path, str or mujoco.MjModel
        File in MuJoCo's format MJCF (or URDF, which MuJoCo reads, too), its text (a str
        with a ``<`` in it), or a compiled model.
    friction_velocity : float or None
        Velocity in rad/s or m/s below which dry friction of joints (``frictionloss``)
        is smooth, see `flexarm.CoulombFriction`; None leaves friction out.
    **options
        Of `flexarm.Arm`: ``tip``, ``fidelity``, more ``constraints``, ...  Gravity is
        that of the model, unless it is given.

    Returns
    -------
    arm : Arm
        A body for each one of the model, with its name; several joints of one body are
        joints of bodies without mass in between, ``"body:joint"``.  Coordinates have
        the names and the order of the joints, and zero where MuJoCo has it (``ref``).

    Raises
    ------
    ModelError
        If MuJoCo does not read the source, or the arm is not physical.
    ImportError
        If mujoco is missing.

    Warns
    -----
    MjcfWarning
        For each part that would affect the motion and is left out: armature of free
        joints, tendons, actuators that are no plain motors, equality constraints of
        other kinds than ``joint`` (of first order), ``connect`` and ``weld``.

    See Also
    --------
    flexarm.urdf.load : arms from URDF, with repairs and flexible links.

    Notes
    -----
    =============  =============================================================
    hinge, slide   ``Joint("revolute")``, ``Joint("prismatic")``, also beside
                   the origin of the body
    ball, free     ``Joint("spherical")``, ``Joint("free")``: velocities are in
                   the axes of the body; MuJoCo has the linear one of a free
                   body in those of the world, and its origin before the
                   quaternion
    damping        ``Joint(damping=)``
    armature       ``Joint(armature=)``
    stiffness      ``Joint(stiffness=, rest=)``
    frictionloss   ``CoulombFriction``
    range          ``Joint(limits=)``, without contact forces
    forcerange     of motors: ``Joint(effort_limit=)``
    joint          of ``equality``: ``Coupling``
    connect, weld  ``Loop``
    site           node with its name
    =============  =============================================================

    Geoms give masses alone, as MuJoCo computes them; there are no contacts.

    Examples
    --------
    >>> import flexarm as fa
    >>> text = '''<mujoco><worldbody><body name="rod">
    ...   <joint name="hinge" axis="0 1 0" damping="0.1"/>
    ...   <inertial pos="0.5 0 0" mass="1" diaginertia="0.001 0.1 0.1"/>
    ...   <site name="end" pos="1 0 0"/></body></worldbody></mujoco>'''
    >>> arm = fa.mjcf.load(text, tip=("rod", "end"))  # doctest: +SKIP
    >>> arm.coordinate_names  # doctest: +SKIP
    ('hinge',)
    """
    mujoco = required("mujoco", "mjcf.load", extra="mjcf")
    found = Compiled(mujoco, _model(mujoco, source), friction_velocity)
    constraints = [*options.pop("constraints", ()), *found.constraints()]
    bodies = found.bodies()
    if not bodies:
        raise ModelError("the model of MuJoCo has no bodies, expected at least one")
    options.setdefault("gravity", found.gravity)
    options.setdefault("name", found.name)
    arm = Arm(bodies, constraints=constraints, **options)
    for note in found.notes():
        warn(note, MjcfWarning)
    return arm


def _model(mujoco: ModuleType, source: object) -> MjModel:
    """Compiled model of a source."""
    if isinstance(source, mujoco.MjModel):
        return source
    if not isinstance(source, str | os.PathLike):
        raise ModelError(
            f"source is {short_text(source)}, expected the path of a model of MuJoCo, "
            "its text or a mujoco.MjModel"
        )
    try:
        if isinstance(source, str) and "<" in source:
            return mujoco.MjModel.from_xml_string(source)
        read_file("source of the model", source, MAX_BYTES)  # there, and a regular file
        return mujoco.MjModel.from_xml_path(os.fspath(source))
    except ValueError as problem:
        if isinstance(problem, ModelError):
            raise
        who = "the text" if "<" in str(source) else shown_path(source)
        said = " ".join(str(problem).split())[:200]
        raise ModelError(f"MuJoCo does not read {who}: {said}") from None
