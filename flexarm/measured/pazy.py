"""The Pazy wing of Technion: bending and twist far beyond linear under masses.

A cantilever of 0.55 m, of 15 elements with a 4 x 4 stiffness matrix each and 16 lumped
masses, as its authors have reduced it from a finite-element model.  Masses hang on its
tip, at the middle of the chord (bending) or behind the trailing edge (torsion).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.optimize import least_squares

import flexarm as fa

from .._support.arrays import Array
from ._data import DataSet
from ._report import Panel, Report, Row, compared, rms

Table = Mapping[str, Array]

SET = DataSet(
    name="pazy",
    source="Avin et al., AIAA Journal 2022 (experiment), Riso and Cesnik, J. Aircraft "
    "2023 (beam), from AeroBeams.jl, MIT, Copyright (c) 2024 Luiz Pancini",
    columns={"tip_deflection_percent_span": 0.01, "tip_twist_deg": np.pi / 180.0},
)
GRAVITY, SPAN, CHORD = 9.807, 0.549843728, 0.0989
# places along the chord of the tip, from the reference axis to the leading edge, in m
LEADING, MIDDLE, TRAILING = (CHORD * (0.44096 - x) for x in (0.0, 0.5, 1.0))
# distance of the load of the torsion test behind the trailing edge, in m
BEHIND = {"skin": 0.08, "noskin": 0.04}
HEAVIEST = 1.0  # kg, of the rows that are fitted
# the mass is that of the nodes, beside which sections have none
LIGHT = 1e-6  # kg/m

_TABLES = ("stiffness", "inertia")
# the upper triangle of a stiffness matrix, row by row
_UPPER = (
    *("EA_N", "EA_GJ_Nm", "EA_EIy_Nm", "EA_EIz_Nm"),
    *("GJ_Nm2", "GJ_EIy_Nm2", "GJ_EIz_Nm2", "EIy_Nm2", "EIy_EIz_Nm2", "EIz_Nm2"),
)
# numbers of a node, with the upper triangle of its inertia
_NODE = (
    *("y_m", "mass_kg", "cg_x1_m", "cg_x2_m", "cg_x3_m"),
    *("I11_kgm2", "I12_kgm2", "I13_kgm2", "I22_kgm2", "I23_kgm2", "I33_kgm2"),
)


class Signal(NamedTuple):
    """A measured signal: its test, field of `Sweep`, unit, errors of others and asked.

    Published are those of UM/NAST, over all masses and at the largest.
    """

    test: str
    field: str
    factor: float
    unit: str
    published: tuple[float, float]
    asked: float

    def __str__(self) -> str:
        return f"{self.test} test, {self.field}"

    def of(self, sweeps: Mapping[str, Sweep]) -> Array:
        """The signal in its unit."""
        return np.asarray(self.factor * getattr(sweeps[self.test], self.field))


SIGNALS = (
    Signal("bending", "deflection", 100.0, "% span", (2.26, 3.84), 1.0),
    Signal("torsion", "deflection", 100.0, "% span", (2.80, 3.66), 1.2),
    Signal("torsion", "twist", 180.0 / np.pi, "deg", (1.07, 1.88), 0.2),
)


class Sweep(NamedTuple):
    """Deflection in spans, up positive, and twist in rad, nose up, by mass in kg."""

    mass: Array
    deflection: Array
    twist: Array


def matrices(table: Table, bending: float = 1.0, torsion: float = 1.0) -> Array:
    """Stiffness on stretch, twist and curvatures about y and z, (n, 4, 4).

    Parameters
    ----------
    table : mapping of str to (n,) ndarray
        Stiffnesses and couplings of the elements.
    bending, torsion : float
        Factors of bending and torsional stiffness; couplings have their roots.
    """
    K, (i, j) = np.zeros((len(table["EA_N"]), 4, 4)), np.triu_indices(4)
    K[:, i, j] = K[:, j, i] = np.stack([table[name] for name in _UPPER], axis=1)
    scale = np.sqrt([1.0, torsion, bending, bending])
    return np.asarray(K * np.outer(scale, scale))


class Wing(NamedTuple):
    """A wing of the data: its tables, and the arm for two factors of its stiffness."""

    name: str
    elements: Table
    nodes: Table

    def arm(self, bending: float = 1.0, torsion: float = 1.0) -> fa.Arm:
        """Clamped wing of a piece for each element, with places for loads at its tip.

        Parameters
        ----------
        bending, torsion : float
            Factors of bending and torsional stiffness.
        """
        table, nodes = self.elements, self.nodes
        lengths = table["y_out_m"] - table["y_in_m"]
        K = matrices(table, bending, torsion)
        parts = zip(lengths.tolist(), K, strict=True)
        sections = [
            (length, fa.beams.Section.from_matrix(LIGHT, own)) for length, own in parts
        ]
        rows = np.stack([nodes[name] for name in _NODE], axis=1)
        masses = [fa.beams.Payload(row[0], row[1], row[2:5], row[5:]) for row in rows]
        link = fa.beams.Beam(sections, length=float(lengths.sum())).segments(
            "wing", lengths, joint=fa.Joint("fixed"), payloads=masses
        )
        places = {"leading": LEADING, "bending": MIDDLE, "trailing": TRAILING}
        places["torsion"] = TRAILING - BEHIND[self.name]
        at = {name: (0.0, y, 0.0) for name, y in places.items()}
        rib = fa.RigidBody("rib", fa.Joint("fixed"), nodes=at)
        return fa.Arm([link, rib], gravity=(0.0, 0.0, -GRAVITY))


def hang(arm: fa.Arm, test: str, masses: Array) -> Sweep:
    """Hang masses on the place of a test, beyond the sag of the wing alone."""
    mass = np.append(0.0, masses)
    load = np.zeros((len(mass), 6))
    load[:, 5] = -GRAVITY * mass
    rest = fa.equilibrium(
        arm, np.zeros(arm.nq), wrench=load, node=("rib", test), frame="base"
    ).check()
    poses = fa.node_poses(arm, rest.q)[..., -4:, :3, 3]
    leading, middle, trailing = poses[:, 0, 2], poses[:, 1, 2], poses[:, 2, 2]
    twist = np.arcsin((leading - trailing) / CHORD)
    return Sweep(masses, (middle - middle[0])[1:] / SPAN, (twist - twist[0])[1:])


def measurements(folder: Path, name: str) -> dict[str, Sweep]:
    """Measured sweeps of a wing; NaN, at masses of the other, if they are not there."""
    result = {}
    for test in ("bending", "torsion"):
        path = folder / f"{test}_{name}.csv"
        there = path.is_file()
        table = SET.read(path if there else folder / f"{test}_skin.csv")
        mass = table["tip_mass_kg"]
        none, known = np.nan * mass, table if there else {}
        heads = ("tip_deflection_percent_span", "tip_twist_deg")
        result[test] = Sweep(mass, *(known.get(head, none) for head in heads))
    return result


def sweeps(arm: fa.Arm, tests: Mapping[str, Sweep]) -> dict[str, Sweep]:
    """Sweeps of a wing at the masses of tests."""
    return {test: hang(arm, test, known.mass) for test, known in tests.items()}


def misses(found: Mapping[str, Sweep], known: Mapping[str, Sweep]) -> list[Array]:
    """Errors of each signal, in percent of the span or degrees."""
    return [x.of(found) - x.of(known) for x in SIGNALS]


def fit(plain: Wing, known: Mapping[str, Sweep]) -> Array:
    """Factors of bending and torsional stiffness, (2,), from light masses.

    Percent of the span and degrees count alike.
    """

    def light(x: Sweep) -> Sweep:
        return Sweep(*(signal[x.mass <= HEAVIEST] for signal in x))

    some = {test: light(sweep) for test, sweep in known.items()}

    def off(factors: Array) -> Array:
        return np.concatenate(misses(sweeps(plain.arm(*factors), some), some))

    return np.asarray(least_squares(off, [1.0, 1.0], diff_step=1e-4).x)


def compute(folder: Path) -> Report:
    """Nominal wing, two factors from light masses, predictions of both wings."""
    skin, bare = (
        Wing(name, *(SET.read(folder / f"{x}_{name}.csv") for x in _TABLES))
        for name in ("skin", "noskin")
    )
    known = {w.name: measurements(folder, w.name) for w in (skin, bare)}
    plain = sweeps(skin.arm(), known["skin"])
    factors = fit(skin, known["skin"])
    arms = {w.name: w.arm(*factors) for w in (skin, bare)}
    found = {name: sweeps(arm, known[name]) for name, arm in arms.items()}

    parts = [_signal(x, known, plain, found) for x in SIGNALS]
    rows = [row for rows, _ in parts for row in rows]
    order = ("nominal", "fitted", "predicted").index
    tables: dict[str, dict[str, Array]] = {
        f"{test}_{name}.csv": {
            "tip_mass_kg": sweep.mass,
            "tip_deflection_percent_span": 100.0 * sweep.deflection,
            "tip_twist_deg": np.degrees(sweep.twist),
        }
        for name, both in found.items()
        for test, sweep in both.items()
    }
    for w in (skin, bare):
        table = tables[f"frequencies_{w.name}.csv"] = {"mode": np.arange(1.0, 7.0)}
        for label, arm in (("nominal", w.arm()), ("two factors", arms[w.name])):
            straight = np.zeros(arm.nq)
            sag = fa.equilibrium(arm, straight).check().q
            for shape, q in (("straight", straight), ("sagging", sag)):
                f = fa.natural_frequencies(arm, q, count=6)
                table[f"{label} {shape} (Hz)"] = f
    return Report(
        sorted(rows, key=lambda row: order(row.rows)),
        parameters={"bending factor (1)": factors[0], "torsion factor (1)": factors[1]},
        predictions=tables,
        figures={"sweeps": partial(compared, [panel for _, panel in parts], 3, 3.5)},
        unexplained=(
            "Up to 0.8 kg the nominal wing has the deflections of the bending test to "
            "0.1 % of the span, but those of the torsion test are larger by a tenth "
            "from the first mass on: no beam has both, and one factor lies between.\n"
            "With both factors it bends 1.9 % of the span less at 3 kg than measured, "
            "and twists 0.5 degrees more at 2.8 kg.  The torsion test alone has nearly "
            "the same factors at all masses (bending 0.88, torsion 1.11); the bending "
            "test softens in two steps, at 1.0 and 2.4 kg.\n"
            "UM/NAST bends 0.1 % of the span less than this rod at 3 kg, of which 15 "
            "elements of constant strain explain 0.04."
        ),
    )


def _signal(
    x: Signal,
    known: Mapping[str, Mapping[str, Sweep]],
    plain: Mapping[str, Sweep],
    found: Mapping[str, Mapping[str, Sweep]],
) -> tuple[list[Row], Panel]:
    """Errors of a signal, with and without skin, and how it grows with the mass."""
    mass, other = (known[name][x.test].mass for name in ("skin", "noskin"))
    seen, bare = (x.of(known[name]) for name in ("skin", "noskin"))
    own, ahead = (x.of(found[name]) for name in ("skin", "noskin"))
    first, light, off = x.of(plain), mass <= HEAVIEST, own - seen
    last = f"{x}, {mass[-1]:g} kg"
    rows = [
        Row(str(x), "nominal", rms(first - seen), x.unit, x.published[0]),
        Row(last, "nominal", abs(first - seen)[-1], x.unit, x.published[1]),
        Row(f"{x}, to 1 kg", "fitted", rms(off[light]), x.unit),
        Row(f"{x}, above", "predicted", rms(off[~light]), x.unit),
        Row(f"{x}, all", "fitted", rms(off), x.unit, None, x.asked),
        Row(f"{x}, no skin", "predicted", rms(ahead - bare), x.unit, None, 0.5),
    ]
    lines = [
        ("measured with skin", mass, seen, "ko"),
        ("nominal", mass, first, "C1--"),
        ("two factors", mass, own, "C0-"),
        ("measured without skin", other, bare, "k^"),
        ("two factors, without skin", other, ahead, "C2:"),
        ("fitted to here", np.full(2, HEAVIEST), first[[0, -1]], "k:"),
    ]
    return rows, Panel(f"{x.test} test", "mass (kg)", f"{x.field} ({x.unit})", lines)
