"""Arms with changed parameters."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike

from .._calls.arguments import array_of
from .._calls.arm_like import AnArm, ArmLike
from .._calls.declared import Floats
from .._calls.doors import checked
from .._support.arrays import Array
from ..bodies.body import Body
from ..bodies.drives import Drive
from ..bodies.integrals import DrivenShapes, ModalIntegrals
from ..bodies.models import RigidBody
from ..errors import ModelError
from ..model.lumps import integrals_without, rigid_nodes
from ..model.motors import Lump, moments_at
from ..model.packing import Packed, tree_of
from ._layout import (
    Bodies,
    Names,
    Place,
    chosen_bodies,
    chosen_families,
    given_size,
    parameters_of,
)

_UPPER = np.triu_indices(3)


@checked
def with_inertial_parameters(
    arm: AnArm,
    values: Annotated[ArrayLike, Floats("(p,)")],
    *,
    bodies: Bodies = None,
    families: Names = None,
) -> AnArm:
    r"""Return an arm with other masses, modal integrals, stiffness and damping.

    Parameters
    ----------
    arm : Arm
        Arm with p parameters.
    values : (p,) array_like of float
        Values in the order of `inertial_parameters`.
    bodies : str, int or sequence of str or int, optional
        Names or numbers of bodies.
    families : str or sequence of str, optional
        Parameters to change, all by default.

    Returns
    -------
    changed : Arm
        Arm of the same geometry.  Its flexible bodies have modal `integrals` in place
        of masses on nodes, except nodes that are rigid bodies (see `FlexibleBody`).

    Raises
    ------
    ArgumentError
        If there are not p finite values.
    ModelError
        If no body has these parameters (a negative mass, an inertia that violates the
        triangle inequality), or for other parameters of the housing of a motor on a
        flexible body or on the ground.

    See Also
    --------
    inertial_parameters : names and order.

    Notes
    -----
    Identified parameters need not be those of a physical body: then they only have a
    meaning in ``inertial_regressor(...) @ values``.

    Examples
    --------
    A pendulum of 2 kg with half a kilogram more at 0.6 m:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.pendulum(mass=2.0, com=0.3)
    >>> names = fa.inertial_parameters(arm).names
    >>> values = fa.inertial_parameters(arm).values.copy()
    >>> values[[names.index("rod.m"), names.index("rod.mx")]] += [0.5, 0.3]
    >>> values[[names.index("rod.Iyy"), names.index("rod.Izz")]] += 0.5 * 0.6**2
    >>> body = arm.with_inertial_parameters(values).bodies[0]
    >>> body.mass, float(body.com[0].round(6))
    (2.5, 0.36)
    """
    # chosen parameters and their values
    packed, every = parameters_of(arm)
    chosen = chosen_bodies(arm, bodies), chosen_families(families)
    places = [x for x in every if x.body in chosen[0] and x.family in chosen[1]]
    given = array_of(
        "values",
        values,
        [(len(places),)],
        f"({len(places)},): one number for each of inertial_parameters",
    )
    # arrays with these values
    changed = {x.name: float(v) for x, v in zip(places, given, strict=True)}
    arrays = packed._replace(
        joints=packed.joints.copy(),
        modal=packed.modal.copy(),
        passive=packed.passive.copy(),
    )
    for x in places:
        for name, i, _ in x.at:
            getattr(arrays, name).flat[i] = 0.0
    for x in places:
        if x.name.split(".")[-2:-1] == ["stator"] and changed[x.name] != x.value:
            raise ModelError(
                f"{x.name} is {changed[x.name]:g} in place of {x.value:g}, expected "
                "that of the arm; change the drive of the joint in its place"
            )
        for name, i, weight in x.at:
            getattr(arrays, name).flat[i] += weight * changed[x.name]
    return _rebuilt(arm, arrays, every, changed)


def _rebuilt(
    arm: AnArm, packed: Packed, every: list[Place], changed: dict[str, float]
) -> AnArm:
    bodies: list[Body] = []
    at, rigid, links = 0, rigid_nodes(arm), tree_of(arm).links
    whole = {x.origin.body: x.moments for x in links if x.origin.why == "body"}
    # moments of rigid nodes stand after all bodies, those of motors after them
    last = sum(link.origin.why not in ("carrier", "body") for link in links)
    lumps = packed.modal[len(packed.modal) - 10 * last :].reshape(-1, 10)
    for k, body in enumerate(arm.bodies):
        n = body.n_modes
        # arrays of the body
        K = packed.modal[at : at + n * n].reshape(n, n)
        C = packed.modal[at + n * n : at + 2 * n * n].reshape(n, n)
        at += 2 * n * n
        moments = packed.modal[at : at + given_size(n)]
        at += given_size(n)
        joint = _joint(arm, k, changed, every)
        if isinstance(body, RigidBody):
            bodies.append(_rigid(body, whole[k], moments).replace(joint=joint))
            continue
        # driven shapes
        own = integrals_without(body, rigid[k])
        moved_nodes, lumps = lumps[: len(rigid[k])], lumps[len(rigid[k]) :]
        driven = None
        if own.driven is not None:
            size = len(own.driven.pack())
            driven = _driven(own.driven, packed.modal[at : at + size], moments, n)
            at += size
        if body._strain_energy is not None and arm.fidelity == "full":
            at += len(body._strain_energy.pack())
        # change only families with new values
        moved = [
            x.family
            for x in every
            if x.body == k and changed.get(x.name, x.value) != x.value
        ]
        new: dict[str, object] = {"joint": joint}
        if "inertia" in moved:
            new |= _by_integrals(
                body, _integrals(moments, n, driven), rigid[k], moved_nodes
            )
        if "stiffness" in moved:
            new["stiffness"] = K
            factor = changed.get(f"{body.name}.strain", 1.0)
            if factor != 1.0 and body.beam is not None:
                beam = body.beam
                coupling = None if beam.coupling is None else factor * beam.coupling
                new["beam"] = beam.replace(
                    stiffness=factor * beam.stiffness, coupling=coupling
                )
        if "damping" in moved:
            new["damping"] = C
        bodies.append(body.replace(**new))
    result: AnArm = arm.replace(bodies=tuple(bodies))
    return result


def _by_integrals(
    body: Body, integrals: ModalIntegrals, rigid: tuple[int, ...], moments: Array
) -> dict[str, ModalIntegrals | Array]:
    """Integrals, and moments of the nodes that are rigid bodies."""
    n = body.n_nodes
    mass, com, inertia = np.zeros(n), np.zeros((n, 3)), np.zeros((n, 3, 3))
    for j, x in zip(rigid, moments, strict=True):
        mass[j], inertia[j] = x[0], _full(x[4:])
        com[j] = _centre(f"{body.name}.{body.node_names[j]}", x[0], x[1:4])
    return {
        "integrals": integrals,
        "node_mass": mass,
        "node_com": com,
        "node_inertia": inertia,
    }


def _centre(name: str, m: float, first: Array) -> Array:
    """Centre of mass, or a refusal of a first moment without a mass."""
    if not m and first.any():
        raise ModelError(
            f"body {name!r} has the mass 0 kg and the first moment "
            f"{first.tolist()} kg m, expected a mass"
        )
    return first / (m or 1.0)


def _full(upper: Array) -> Array:
    """Symmetric matrices of (xx, xy, xz, yy, yz, zz), last axis."""
    result = np.zeros((*upper.shape[:-1], 3, 3))
    result[..., _UPPER[0], _UPPER[1]] = upper
    result[..., _UPPER[1], _UPPER[0]] = upper
    return result


def _rigid(body: RigidBody, whole: Array | None, moments: Array) -> RigidBody:
    """Rigid body of these moments without those of the motors on it."""
    own = moments_at(Lump(body.mass, body.com, body.inertia), np.eye(3), np.zeros(3))
    if np.array_equal(moments, own if whole is None else whole):
        return body
    m, first, J = moments[0], moments[1:4], moments[4:]
    if whole is not None:
        motors = whole - own
        m, first, J = m - motors[0], first - motors[1:4], J - motors[4:]
    c = _centre(body.name, m, first)
    inertia = _full(J) - m * (float(c @ c) * np.eye(3) - np.outer(c, c))
    result: RigidBody = body.replace(mass=m, com=c, inertia=inertia)
    return result


def _integrals(x: Array, n: int, driven: DrivenShapes | None) -> ModalIntegrals:
    """Inverse of `ModalIntegrals.pack`."""
    sizes = [1, 3, 6, 3 * n, 3 * n, 3 * n, 3 * n * n, n * (n + 1) // 2, 6 * n]
    m, mp0, J0, E, F0, mp1, F1, low, J1s, J2s = np.split(x, np.cumsum(sizes))
    G = np.zeros((n, n))
    G[np.tril_indices(n)] = low
    return ModalIntegrals(
        m=float(m[0]),
        mp0=mp0,
        mp1=mp1.reshape(n, 3).T,
        E=E.reshape(n, 3).T,
        F0=F0.reshape(n, 3).T,
        F1=np.moveaxis(F1.reshape(n, n, 3), -1, 0),
        G=np.tril(G) + np.tril(G, -1).T,
        J0=_full(J0),
        J1s=_full(J1s.reshape(n, 6)),
        J2s=_full(J2s.reshape(n, n, 6)),
        driven=driven,
    )


def _driven(old: DrivenShapes, x: Array, moments: Array, n: int) -> DrivenShapes:
    """Inverse of `DrivenShapes.pack`, with the modes of the body before the shapes."""
    p = len(old.second)
    shapes = [(p, 3)] * 2 + [(p, n, 3)] * 2 + [(p, p, 3), (p, n), (p, p), (p, 6)]
    shapes += [(p, n, 6), (p, p, 6)]
    sizes = np.cumsum([int(np.prod(s)) for s in shapes])
    # parts of the array
    parts = np.split(x[p * n * n :], sizes[:-1])
    E, F0, Fkr, Frk, Fkl, Gkr, Gkl, J1, Jkr, Jkl = (
        part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)
    )
    # blocks of modes and shapes
    own, c = _integrals(moments, n, None), old.integrals
    F1, G, J2 = c.F1.copy(), c.G.copy(), c.J2s.copy()
    F1[:, :n, :n] = own.F1
    F1[:, n:, :n] = np.moveaxis(Fkr, -1, 0)
    F1[:, :n, n:] = np.moveaxis(Frk, -1, 0).swapaxes(1, 2)
    F1[:, n:, n:] = np.moveaxis(Fkl, -1, 0)
    G[:n, :n], G[n:, :n], G[:n, n:], G[n:, n:] = own.G, Gkr, Gkr.T, Gkl
    J2[:n, :n], J2[n:, :n], J2[n:, n:] = own.J2s, _full(Jkr), _full(Jkl)
    J2[:n, n:] = _full(Jkr).swapaxes(0, 1)
    mp1 = np.hstack([own.mp1, c.mp1[:, n:]])
    integrals = ModalIntegrals(
        m=own.m,
        mp0=own.mp0,
        mp1=mp1,
        E=np.hstack([own.E, E.T]),
        F0=np.hstack([own.F0, F0.T]),
        F1=F1,
        G=G,
        J0=own.J0,
        J1s=np.concatenate([own.J1s, _full(J1)]),
        J2s=J2,
    )
    return DrivenShapes(old.second, integrals)


def _joint(arm: ArmLike, k: int, changed: dict[str, float], every: list[Place]) -> Any:
    """Joint with changed friction, springs and motor."""
    body = arm.bodies[k]
    joint, drive = body.joint, body.joint.drive
    family = [x for x in every if x.body == k and x.family in ("joint", "motor")]
    value = {x.name: changed.get(x.name, x.value) for x in family}
    if all(value[x.name] == x.value for x in family):
        return joint
    who = body.name
    new: dict[str, object] = {}
    for what in ("damping", "armature"):
        parts = [f"{n}.{what}" if n else what for n in joint.velocity_names]
        each = [value[f"{who}.{x}"] for x in parts if f"{who}.{x}" in value]
        new[what] = np.array(each) if each else 0.0
    if joint.stiffness:
        new["stiffness"] = value[f"{who}.stiffness"]
    for key, name, field in (
        ("coulomb_friction", "coulomb friction", "force"),
        ("stops", "stop stiffness", "stiffness"),
    ):
        if f"{who}.{name}" in value:
            new[key] = getattr(joint, key).replace(**{field: value[f"{who}.{name}"]})
    if drive is not None:
        new["drive"] = drive.replace(**_drive(drive, who, value))
    return joint.replace(**new)


def _drive(drive: Drive, who: str, value: dict[str, float]) -> dict[str, object]:
    keys = {
        f"{who}.drive.stiffness": "stiffness",
        f"{who}.drive.damping": "damping",
        f"{who}.rotor mass": "rotor_mass",
        f"{who}.rotor inertia": "rotor_inertia",
        f"{who}.rotor transverse inertia": "rotor_transverse_inertia",
        f"{who}.motor damping": "motor_damping",
    }
    new: dict[str, object] = {
        f: value[name] for name, f in keys.items() if name in value
    }
    if f"{who}.rotor mass" in value and f"{who}.rotor inertia" not in value:
        new["rotor_inertia"] = new.pop("rotor_mass")  # of a sliding rotor
    dry = f"{who}.motor friction"
    if dry in value and drive.motor_friction is not None:
        new["motor_friction"] = drive.motor_friction.replace(force=value[dry])
    return new
