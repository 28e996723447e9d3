"""Data of the examples of Farid (1997) that several tests use."""

from __future__ import annotations

from typing import Any

import numpy as np
from arrays import Array

import flexarm as fa
from flexarm.bodies import nodal_integrals
from flexarm.reference import farid_planar as farid
from flexarm.reference import farid_spatial as spatial

# E7: from A to B along a straight line (section 7.5)
START, END, DURATION = np.array([1.8, 0.2]), np.array([1.6, 0.7]), 0.5


def two_link(**changes: Any) -> farid.Parameters:
    """The arm of sections 7.5 and 8.3; rotors and stators as those of section 4.4."""
    data: dict[str, Any] = {"bending_stiffness": 1500.0, "joint_stiffness": 1000.0}
    return farid.Parameters(**{**data, "n_links": 2, **changes})


def line(t: Array) -> tuple[Array, Array, Array]:
    """Cycloidal motion of the tip (7.22) and its derivatives, (n, 2) each."""
    turn = 2.0 * np.pi * np.clip(t / DURATION, 0.0, 1.0)[:, np.newaxis]
    way = END - START
    return (
        START + way * (turn - np.sin(turn)) / (2.0 * np.pi),
        way / DURATION * (1.0 - np.cos(turn)),
        way * 2.0 * np.pi / DURATION**2 * np.sin(turn),
    )


def chords(tip: Array, bend: float = -1.0) -> Array:
    """Chord angles of two links of 1 m that reach a point; the elbow is up for -1."""
    x, y = tip[..., 0], tip[..., 1]
    cosine = 0.5 * (x**2 + y**2) - 1.0
    elbow = bend * np.arccos(cosine)
    first = np.arctan2(y, x) - np.arctan2(np.sin(elbow), 1.0 + cosine)
    return np.stack([first, first + elbow], axis=-1)


def line_angles(t: Array, bend: float = -1.0) -> tuple[Array, Array, Array]:
    """Chord angles along `line` and their derivatives, (n, 2) each."""
    tip, velocity, acceleration = line(t)
    phi = chords(tip, bend)
    along = np.stack([np.cos(phi), np.sin(phi)], axis=-1)
    across = np.stack([-np.sin(phi), np.cos(phi)], axis=-1)
    J = np.swapaxes(across, -1, -2)
    rate = np.linalg.solve(J, velocity[..., np.newaxis])[..., 0]
    rest = acceleration + np.einsum("nk,nki->ni", rate**2, along)
    return phi, rate, np.linalg.solve(J, rest[..., np.newaxis])[..., 0]


# links of finite elements as bodies, from the matrices of the thesis


def chord_link(
    name: str, p: farid.Parameters, k: int, joint: fa.Joint, **more: Any
) -> fa.FlexibleBody:
    """Link k in its chord frame: slopes of the base, nodes between, slope of the tip.

    The Gauss points of `farid_arm.Link` are its nodes; the payload is on the last link.
    """
    link, L = farid.assemble(p).links[k], float(p.each("length")[k])
    n, last = len(link.x), k == p.n_links - 1
    gamma, turn = np.zeros((2, n + 2, 3, len(link.h1)))
    gamma[1:-1, 1] = link.shape
    turn[0, 2, 0] = turn[-1, 2, -1] = 1.0
    inertia = np.zeros((n + 2, 3, 3))
    inertia[-1] = last * p.payload_inertia * np.diag([0.5, 0.5, 1.0])
    return fa.FlexibleBody(
        name,
        joint,
        node_position=np.outer([0.0, *link.x, L], [1.0, 0.0, 0.0]),
        node_mass=[0.0, *link.weight, last * p.payload_mass],
        node_translation=gamma,
        node_rotation=turn,
        node_inertia=inertia,
        stiffness=link.stiffness,
        node_names=("base", *(f"g{i}" for i in range(n)), "tip"),
        attachment="base",
        **more,
    )


def tangent_link(
    name: str, p: spatial.Parameters, joint: fa.Joint, **more: Any
) -> fa.FlexibleBody:
    """Link of `farid_spatial` in its tangent frame: all v, all w, all Theta."""
    b, N = spatial.link(p), p.elements
    n = len(b.x)
    gamma, turn = np.zeros((2, n + 2, 3, 5 * N))
    gamma[1:-1, 1, : 2 * N] = gamma[1:-1, 2, 2 * N : 4 * N] = b.shape
    turn[1:-1, 0, 4 * N :] = b.twist
    gamma[-1, 1, 2 * N - 2] = gamma[-1, 2, 4 * N - 2] = 1.0
    turn[-1, 2, 2 * N - 1], turn[-1, 1, 4 * N - 1], turn[-1, 0, -1] = 1.0, -1.0, 1.0
    mass, inertia = np.zeros(n + 2), np.zeros((n + 2, 3, 3))
    mass[1:-1] = p.mass_per_length * b.weight
    inertia[1:-1, 0, 0] = p.polar_inertia * b.weight
    stiffness = np.zeros((5 * N, 5 * N))
    stiffness[: 2 * N, : 2 * N] = stiffness[2 * N : 4 * N, 2 * N : 4 * N] = b.bending
    stiffness[4 * N :, 4 * N :] = b.torsion
    position = np.outer([0.0, *b.x, p.length], [1.0, 0.0, 0.0])
    # sections without inertia about y and z are no bodies, their integrals are
    integrals = nodal_integrals(mass, 0.0 * position, inertia, position, turn, gamma)
    return fa.FlexibleBody(
        name,
        joint,
        node_position=position,
        node_mass=0.0 * mass,
        node_translation=gamma,
        node_rotation=turn,
        integrals=integrals,
        stiffness=stiffness,
        node_names=("base", *(f"g{i}" for i in range(n)), "tip"),
        **more,
    )


def to_arm(model: farid.Model) -> Array:
    """Matrix from the coordinates z of the reference to those of a chord-frame arm.

    Angles between tangents, then rotors, then elastic coordinates.
    """
    n, basis = model.n, model.basis
    joints = basis[n : 2 * n].copy()
    for k, at in enumerate(model.elastic):
        joints[k] += basis[at.start]
        if k:
            before = model.elastic[k - 1].stop - 1
            joints[k] -= basis[n + k - 1] + basis[before]
    z = np.eye(model.size)
    chord = model.chord
    return np.vstack([joints, z[: chord[0]], z[chord[-1] + 1 :]])
