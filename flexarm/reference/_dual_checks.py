"""Checks of the arguments of `dual_screws`: arms, options, arrays, nodes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .._calls.arguments import check_arm, check_finite, common_batch, real_array
from .._calls.arm_like import ArmLike
from .._support.arrays import AnyArray as Array
from .._support.options import check_choice
from ..errors import ArgumentError, ModelError
from ._dual_chain import Points, points_of

_JOINTS = ("revolute", "prismatic", "helical", "fixed")
_RATES = ("small", "exact")
_INERTIA = ("newton", "lagrange")


def check_options(rotation_rates: str, node_inertia: str = "newton") -> None:
    """Refuse options that `dual_screws` does not have."""
    for what, value, known in (
        ("rotation_rates", rotation_rates, _RATES),
        ("node_inertia", node_inertia, _INERTIA),
    ):
        check_choice(what, value, known)


def check_dual_arm(arm: ArmLike) -> None:
    """Refuse arms with other joints, and bodies that float, shorten or lack nodes."""
    check_arm(arm)
    for body in arm.bodies:
        if body.joint.kind not in _JOINTS:
            raise ModelError(
                f"the joint of body {body.name!r} is {body.joint.kind}, dual screws "
                f"take {', '.join(_JOINTS)}; use Arm(fidelity='linear')"
            )
        if body.joint.reflected_inertia.any():
            raise ModelError(
                f"the joint of body {body.name!r} has armature, dual screws have none; "
                "use Arm(fidelity='linear')"
            )
        if body.attachment is not None or body.integrals is not None:
            what = "floats" if body.attachment is not None else "has modal integrals"
            raise ModelError(
                f"body {body.name!r} {what}, dual screws take clamped bodies of nodes; "
                "use Arm(fidelity='linear')"
            )
        if body.node_foreshortening is not None:
            raise ModelError(
                f"body {body.name!r} has foreshortening, dual screws have none; take "
                "it away with body.replace(node_foreshortening=None)"
            )


def state(arm: ArmLike, **given: ArrayLike) -> list[Array]:
    """Return arguments as columns (..., n, 1)."""
    check_dual_arm(arm)
    hint = "; see arm.coordinate_names"
    arrays = {name: finite(name, x, arm.nv, hint) for name, x in given.items()}
    common_batch({name: x.shape[:-1] for name, x in arrays.items()})
    return [x[..., np.newaxis] for x in arrays.values()]


def finite(name: str, value: ArrayLike, n: int, hint: str = "") -> Array:
    """Return finite numbers (..., n), real or complex."""
    try:
        plain = not np.iscomplexobj(value)
    except ValueError:  # ragged
        plain = True
    x = real_array(name, value) if plain else np.asarray(value)
    if x.ndim == 0 or x.shape[-1] != n:
        raise ArgumentError(f"{name} has shape {x.shape}, expected (..., {n}){hint}")
    check_finite(name, x)
    return x


def point_of(arm: ArmLike, node: int) -> tuple[int, Points]:
    """Number of the body of a node, and the node."""
    whole = isinstance(node, int | np.integer) and not isinstance(node, bool)
    if not whole or not 0 <= node < arm.n_nodes:
        raise ArgumentError(
            f"node is {node!r}, expected a whole number below {arm.n_nodes}, such as "
            "arm.node('link1', 'tip')"
        )
    k = int(np.searchsorted(arm._node_offset, node, side="right")) - 1
    own = int(node) - arm._node_offset[k]
    return k, points_of(arm.bodies[k], slice(own, own + 1))
