"""Speed of the maps of SO(3) and SE(3) beside Pinocchio and SciPy.

Pinocchio has no batches of these maps: its contender is a loop in Python, most of whose
time is Python; the loop around nothing says how much.  Rotation and RigidTransform of
SciPy compute batches in C; their objects are made outside of the clock where the map is
from an object, and inside where making it is the map.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from races import BATCH, Array, Contender, Contest, loop
from scipy.spatial import transform

from flexarm import se3
from flexarm.se3 import _adjoints
from flexarm.se3._adjoints import apply_adjoint, jacobian_inverse

SWAP = [3, 4, 5, 0, 1, 2]  # Pinocchio has [linear; angular]


def twists() -> Array:
    """Rotation vectors up to three radians, translations of size one."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(BATCH, 6))
    X[:, :3] *= rng.uniform(0.0, 3.0, (BATCH, 1)) / np.linalg.norm(
        X[:, :3], axis=1, keepdims=True
    )
    return X


def nothing(*arrays: Array) -> Contender:
    return Contender(
        "the loop in Python around nothing", loop(lambda *_: None, *arrays), BATCH
    )


def in_python(name: str, function: Callable[..., Any], *arrays: Array) -> Contender:
    return Contender(f"pin.{name}, loop in Python", loop(function, *arrays), BATCH)


@pytest.mark.parametrize("kind", ["exp", "log"])
def test_rotations(contest: Contest, kind: str) -> None:
    pin = pytest.importorskip("pinocchio")
    phi = twists()[:, :3].copy()
    R = se3.so3_exp(phi)
    Rotation = transform.Rotation
    scipy_made = Rotation.from_matrix(R)
    if kind == "exp":
        ours, theirs = (
            (lambda: se3.so3_exp(phi)),
            (lambda: Rotation.from_rotvec(phi).as_matrix()),
        )
        others = [
            Contender("scipy Rotation, from_rotvec, as_matrix", theirs, BATCH),
            in_python("exp3", pin.exp3, phi),
            nothing(phi),
        ]
    else:
        ours, theirs = (
            (lambda: se3.so3_log(R)),
            (lambda: Rotation.from_matrix(R).as_rotvec()),
        )
        quick = Rotation.from_matrix(R, assume_valid=True)
        others = [
            Contender("scipy Rotation, from_matrix, as_rotvec", theirs, BATCH),
            Contender("scipy Rotation made before, as_rotvec", quick.as_rotvec, BATCH),
            in_python("log3", pin.log3, R),
            nothing(R),
        ]
    assert_allclose(ours(), theirs(), rtol=0, atol=1e-13)
    assert_allclose(scipy_made.as_matrix(), R, rtol=0, atol=1e-14)
    contest(f"so3_{kind}, batch", [Contender("flexarm", ours, BATCH), *others])


@pytest.mark.parametrize("kind", ["exp", "log"])
def test_poses(contest: Contest, kind: str) -> None:
    """RigidTransform has its exponential coordinates as [angular; linear] too."""
    pin = pytest.importorskip("pinocchio")
    RigidTransform = getattr(transform, "RigidTransform", None)
    X = twists()
    C = se3.exp(X)
    swapped = X[:, SWAP].copy()
    out: Array
    if kind == "exp":
        out = np.empty_like(C)
        ours = Contender("flexarm", lambda: se3.exp(X, out=out), BATCH)
        others = [in_python("exp6", lambda x: pin.exp6(x), swapped), nothing(swapped)]
        if RigidTransform is not None:
            make = RigidTransform.from_exp_coords
            assert_allclose(make(X).as_matrix(), C, rtol=0, atol=1e-13)
            theirs = Contender(
                "scipy RigidTransform, from_exp_coords, as_matrix",
                lambda: make(X).as_matrix(),
                BATCH,
            )
            others.insert(0, theirs)
    else:
        out = np.empty_like(X)
        ours = Contender("flexarm", lambda: se3.log(C, out=out), BATCH)
        others = [in_python("log6", lambda x: pin.log6(x), C), nothing(C)]
        if RigidTransform is not None:
            read = RigidTransform.from_matrix
            found = read(C).as_exp_coords()
            assert_allclose(found, X, rtol=0, atol=1e-12)
            theirs = Contender(
                "scipy RigidTransform, from_matrix, as_exp_coords",
                lambda: read(C).as_exp_coords(),
                BATCH,
            )
            others.insert(0, theirs)
    contest(f"se3 {kind}, batch", [ours, *others])


@pytest.mark.parametrize("kind", ["exp", "log"])
def test_jacobians(contest: Contest, kind: str) -> None:
    """Jexp6 is the right Jacobian, Jlog6 its inverse, with halves exchanged."""
    pin = pytest.importorskip("pinocchio")
    X = twists()
    swapped = X[:, SWAP].copy()
    if kind == "exp":
        ours, name, function = se3.jacobian, "Jexp6", pin.Jexp6
        made = [pin.Motion(x) for x in swapped]
    else:
        ours, name, function = jacobian_inverse, "Jlog6", pin.Jlog6
        made = [pin.SE3(C) for C in se3.exp(X)]
    order = np.ix_(SWAP, SWAP)
    for i in range(4):
        assert_allclose(
            ours(X[i], side="right"), function(made[i])[order], rtol=0, atol=1e-12
        )
    derivative = getattr(_adjoints, f"{ours.__name__}_derivative")
    U = X[::-1].copy()
    contest(
        f"se3 {ours.__name__}, batch",
        [
            Contender("flexarm", lambda: ours(X, side="right"), BATCH),
            Contender(
                "flexarm, its derivative", lambda: derivative(X, U, side="right"), BATCH
            ),
            Contender(
                f"pin.{name}, loop in Python",
                lambda: [function(x) for x in made],
                BATCH,
            ),
            nothing(X),
        ],
    )


def test_single(contest: Contest) -> None:
    pin = pytest.importorskip("pinocchio")
    x = twists()[0]
    swapped = x[SWAP].copy()
    contest(
        "se3 exp, one twist",
        [
            Contender("flexarm", lambda: se3.exp(x)),
            Contender("pin.exp6", lambda: pin.exp6(swapped)),
            Contender(
                "scipy RigidTransform, from_exp_coords, as_matrix",
                lambda: transform.RigidTransform.from_exp_coords(x).as_matrix(),
            ),
        ]
        if hasattr(transform, "RigidTransform")
        else [
            Contender("flexarm", lambda: se3.exp(x)),
            Contender("pin.exp6", lambda: pin.exp6(swapped)),
        ],
    )


def test_products(contest: Contest) -> None:
    A, B = se3.exp(twists()), se3.exp(twists()[::-1])
    X = twists()
    contest(
        "compose two poses, batch",
        [
            Contender("flexarm, checked", lambda: se3.compose(A, B), BATCH),
            Contender("numpy, A @ B", lambda: A @ B, BATCH),
        ],
    )
    assert_allclose(se3.compose(A, B), A @ B, rtol=0, atol=1e-14)
    Ad = se3.adjoint(A)
    assert_allclose(
        apply_adjoint(A, X), (Ad @ X[..., None])[..., 0], rtol=0, atol=1e-13
    )
