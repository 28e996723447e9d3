"""The Pazy wing: a rod with coupled matrices, offset masses and a load beside it.

Oracle: the same rod by shooting (`coupled_rod`).  Numbers of a short wing are rows of
the tables of AeroBeams.jl (MIT, Copyright (c) 2024 Luiz Pancini).
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from coupled_rod import rods
from each import each
from measured_data import folder as data_folder
from numpy.testing import assert_allclose

import flexarm as fa
from flexarm.measured import pazy

# elements 1, 5 and 15
ELEMENTS = {
    "EA_N": [9794492.59, 9649966.12, 10019632.8],
    "GJ_Nm2": [7.58259714, 6.51183018, 17.3730728],
    "EIy_Nm2": [5.24743501, 4.47481272, 4.77037999],
    "EIz_Nm2": [3317.57932, 3288.81887, 3373.72291],
    "EA_GJ_Nm": [-0.569828967, -0.244730557, 6.1133995],
    "EA_EIy_Nm": [-1.37141817, -2.34621942, -2.28331802],
    "EA_EIz_Nm": [54485.5583, 53068.8769, 54451.9115],
    "GJ_EIy_Nm2": [0.0933080027, 4.22659591e-05, -1.39455813],
    "GJ_EIz_Nm2": [0.0152918906, 0.00394787982, 0.424981724],
    "EIy_EIz_Nm2": [-0.11714116, -0.120649484, -0.114249441],
}
# the last node
NODE = {
    "mass_kg": 0.0431558925,
    "cg_x1_m": 0.00328782957,
    "cg_x2_m": -0.00509272488,
    "cg_x3_m": -0.000143641715,
    "I11_kgm2": 0.00012220022,
    "I22_kgm2": 8.76965373e-07,
    "I33_kgm2": 0.000122614163,
    "I12_kgm2": 3.06994479e-07,
    "I13_kgm2": -7.38220857e-09,
    "I23_kgm2": 1.29956112e-07,
}


def short_wing() -> pazy.Wing:
    """Wing of 0.3 m: each element cut into five, the last node everywhere."""
    at = np.linspace(0.0, 0.3, 16)
    elements = {name: np.repeat(x, 5) for name, x in ELEMENTS.items()}
    elements |= {"y_in_m": at[:-1], "y_out_m": at[1:]}
    nodes = {name: np.full(16, x) for name, x in NODE.items()}
    return pazy.Wing("skin", elements, nodes | {"y_m": at})


def rod(wing: pazy.Wing, at: float, masses: Any) -> tuple[Any, Any]:
    """Deflection in m and twist in rad of a rod with masses beside its tip."""
    nodes, mass = wing.nodes, np.append(0.0, masses)
    own = nodes["mass_kg"]
    forces = np.zeros((len(mass), len(own), 3))
    offsets = np.tile(
        np.stack([nodes[f"cg_x{i}_m"] for i in (1, 2, 3)], 1), (len(mass), 1, 1)
    )
    # weights of the last node and of the load act at their common centre
    whole = (own[-1] + mass)[:, None]
    load = mass[:, None] * np.array([0.0, at, 0.0])
    offsets[:, -1] = (own[-1] * offsets[:, -1] + load) / whole
    forces[:, :, 2] = -pazy.GRAVITY * own
    forces[:, -1, 2] -= pazy.GRAVITY * mass
    lengths, K = np.diff(nodes["y_m"]), pazy.matrices(wing.elements)
    places, axes = rods(lengths, K, forces, offsets, steps=2)
    across = axes[:, -1, 2, 1]
    height = places[:, -1, 2] + pazy.MIDDLE * across
    twist = np.arcsin(across)
    return (height - height[0])[1:], (twist - twist[0])[1:]


def check(wing: pazy.Wing, arm: Any, test: str, masses: Any, atol: float) -> None:
    at = pazy.MIDDLE if test == "bending" else pazy.TRAILING - 0.08
    height, twist = rod(wing, at, masses)
    found = pazy.hang(arm, test, np.array(masses))
    assert_allclose(pazy.SPAN * found.deflection, height, rtol=0, atol=atol)
    assert_allclose(found.twist, twist, rtol=0, atol=1e-4)


@each("test", ["bending", "torsion"])
def test_a_short_wing_is_the_rod_of_its_tables(test: str):
    wing = short_wing()
    arm = wing.arm()
    coupling = arm.bodies[0].beam.coupling
    assert_allclose(coupling[0, 1, 3], -0.0933, rtol=1e-3)  # z is minus about y
    check(wing, arm, test, [2.0, 5.0], 2e-6)


def frequencies(wing: pazy.Wing) -> Any:
    """Six natural frequencies in Hz by the compliance of the nodes."""
    nodes, K = wing.nodes, pazy.matrices(wing.elements)
    at, count = nodes["y_m"], len(nodes["y_m"])
    # twists of the nodes about the root by wrenches about it
    C, M = np.zeros((2, count, 6, count, 6))
    x = np.array([-1.0, 1.0]) / np.sqrt(3.0)  # of Gauss
    for e, (low, high) in enumerate(pairwise(at)):
        for s in 0.5 * (low + high) + 0.5 * (high - low) * x:
            A = np.zeros((4, 6))  # axial force, torque, moments about y and z
            A[0, 3] = A[1, 0] = A[2, 1] = A[3, 2] = 1.0
            A[2, 5], A[3, 4] = s, -s
            share = 0.5 * (high - low) * A.T @ np.linalg.solve(K[e], A)
            C[e + 1 :, :, e + 1 :, :] += share[:, None, :]
    for j in range(count):
        c = [at[j] + nodes["cg_x1_m"][j], nodes["cg_x2_m"][j], nodes["cg_x3_m"][j]]
        skew = np.cross(c, np.eye(3), axisb=0, axisc=0)  # c x
        J = np.zeros((3, 3))
        for a, b in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)):
            J[a, b] = J[b, a] = nodes[f"I{a + 1}{b + 1}_kgm2"][j]
        m, own = nodes["mass_kg"][j], np.zeros((6, 6))
        own[:3, :3] = J - m * skew @ skew
        own[:3, 3:], own[3:, :3] = m * skew, -m * skew
        own[3:, 3:] = m * np.eye(3)
        M[j, :, j, :] = own
    size = 6 * count
    squares = np.linalg.eigvals(C.reshape(size, size) @ M.reshape(size, size)).real
    return 1.0 / (2.0 * np.pi * np.sqrt(np.sort(squares)[:-7:-1]))


def test_frequencies_are_those_of_the_compliance_of_the_nodes():
    wing = short_wing()
    found = wing.arm().bodies[0:15]
    link = fa.beams.SegmentedLink("wing", fa.Joint("fixed"), list(found))
    assert_allclose(link.frequencies()[:6], frequencies(wing), rtol=1e-4)


@pytest.fixture(scope="module")
def folder() -> Any:
    return data_folder(pazy.SET)


def test_the_nominal_wing_is_the_rod_of_its_tables(folder: Any):
    tables = (pazy.SET.read(folder / f"{x}_skin.csv") for x in ("stiffness", "inertia"))
    wing = pazy.Wing("skin", *tables)
    assert_allclose(wing.nodes["mass_kg"].sum(), 0.3566, atol=5e-5)
    arm = wing.arm()
    for test in ("bending", "torsion"):
        check(wing, arm, test, [1.0, 3.0], 1e-5 * pazy.SPAN)


def test_two_factors_of_light_masses_predict_the_others(folder: Any):
    report = pazy.compute(folder)
    errors = {(row.what, row.rows): row for row in report.rows}
    for row in report.rows:
        assert row.asked is None or not row.error > row.asked, row
    nominal = [row for (_, rows), row in errors.items() if rows == "nominal"]
    assert_allclose(
        [row.error for row in nominal],
        [row.published for row in nominal],
        rtol=0.035,
    )
    factors = list(report.parameters.values())
    assert_allclose(factors, [0.927, 1.112], atol=0.002)
