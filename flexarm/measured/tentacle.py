r"""A soft tentacle that hangs from its base, bent by two tendons.

The rod tapers from 31 to 10 mm over 0.36 m and bends, twists and stretches.  Cells of
the rod bend, twist and stretch at hinges in their middles, which are rigid bodies
between: with a cell of length h, turned by :math:`\theta` and longer by u, its end is
at the end of an arc to second order, and the length of its part of a tendon is that of
the arc at the tendon, :math:`|(h + u) e_x + R d_2 - d_1|` to second order.  Errors fall
with the square of the number of cells, which are shorter where the rod bends more.

Two ratios out of stiffness, density and tensions determine a posture.  Tensions are
those of the motors; the density is taken as 1080 kg/m^3, that of silicone rubbers for
casting (1030 to 1130), and three numbers are fitted: the modulus; the distance of the
tendons from the centre line where they end, 2.4 mm by the drawing, to which the thin
end is most sensitive (a millimetre more is 40 % more moment); and the height of the
base, which is known from one marker by a fixed offset.  Each posture of the fit left
out in turn, the rod misses it by 10.7 mm; by 12.8 mm with modulus and density alone, by
11.6 and 12.1 mm with one of the two lengths beside them, and by 12.3 mm and more with a
tilt or shift of the base, the torsional stiffness, a part of the torque that is lost,
or a tension of both tendons in its place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np

import flexarm as fa

from .._support.arrays import Array
from ..identification import Postures, identify
from ._data import DataSet
from ._report import Panel, Report, Row, compared

SET = DataSet(
    "tentacle",
    "M. Stoelzle et al., SoRoMoX: Soft Robot Models in JAX, 2026, repository "
    "tud-phi/soromox, (c) 2025-2026 SoRoMoX contributors, MIT licence",
    words=("run",),
)
LENGTH, END = 0.36, 0.305  # of the rod, and of its part with tendons, in m
ANGLES = np.deg2rad([30.0, 150.0])  # of the tendons about the rod
ROOT_OFFSET, END_OFFSET = 0.0114, 0.0114 - 0.0295 * END  # of the tendons, in m
POISSON, DENSITY = 0.45, 1080.0
CELLS = 24  # up to the end of the tendons; 36 move a marker by 2 mm at most
# place along the rod, and offset in the axes of the section
MARKERS = {
    "m1": (0.1291, (0.0, 0.0, 0.025)),
    "m2": (0.2195, (0.0, 0.0, -0.021)),
    "m3": (0.2800, (0.0, 0.0, 0.020)),
    "m4": (0.3600, (0.008, 0.0, 0.0)),
}
COLUMNS = [f"{name}_{axis}_m" for name in MARKERS for axis in "xyz"]
NAMES = ("E (Pa)", "tendon end offset (m)", "base height (m)")
NOMINAL = np.array([505e3, END_OFFSET, 0.0])


def radius(s: float | Array) -> Array:
    """Radius in m at a distance from the base in m."""
    upper = 15.41e-3 + (6.42e-3 - 15.41e-3) * s / END
    tip = 6.42e-3 + (4.80e-3 - 6.42e-3) * (s - END) / (LENGTH - END)
    return np.where(s < END, upper, tip)


def cells(n: int) -> Array:
    """Ends of n cells up to the end of the tendons, and of some of the tip, in m."""
    s = np.linspace(0.0, END, 2001)
    part = np.concatenate(
        [[0.0], np.cumsum(0.5 * (radius(s[1:]) ** -2.0 + radius(s[:-1]) ** -2.0))]
    )
    upper = np.interp(np.linspace(0.0, part[-1], n + 1), part, s)
    return np.concatenate([upper, np.linspace(END, LENGTH, 1 + max(n // 8, 1))[1:]])


def tentacle(p: Array, density: float = DENSITY, n: int = CELLS) -> fa.Arm:
    """Rod of a modulus, hung at a height.

    Parameters
    ----------
    p : (3,) array_like of float
        Modulus in Pa; offset of the ends of tendons, of no use here, and height of the
        base, in m.
    density : float
        In kg/m^3.
    n : int
        Cells up to the end of the tendons.

    Returns
    -------
    arm : fa.Arm
        Bodies ``"piece0"`` and so on with the markers as nodes.
    """
    E, _, height = p
    at = cells(n)
    ends = np.concatenate([[0.0], 0.5 * (at[1:] + at[:-1]), [LENGTH]])  # of pieces
    down = [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]
    joint = fa.Joint.fixed(position=(0.0, 0.0, height), rotation=down)
    bodies: list[fa.FlexibleBody | fa.RigidBody] = []
    for k, (a, b) in enumerate(pairwise(ends)):
        r, length = float(radius(0.5 * (a + b))), b - a
        mass = density * np.pi * r * r * length
        inertia = 0.25 * mass * r * r * np.diag([2.0, 1.0, 1.0])
        nodes = {
            name: np.add((s - a, 0.0, 0.0), offset)
            for name, (s, offset) in MARKERS.items()
            if a <= s < b or s == b == LENGTH
        }
        if k == len(at) - 1:
            middle = (0.5 * length, 0.0, 0.0)
            bodies.append(fa.RigidBody("end", joint, mass, middle, inertia, nodes))
            break
        h, R = at[k + 1] - at[k], float(radius(b))
        soft = E * np.pi * R * R * np.array([R * R, R * R, R * R, 4.0]) / (4.0 * h)
        soft[0] /= 1.0 + POISSON
        places = {"base": np.zeros(3), **nodes}
        places |= dict.fromkeys(("hinge", "guide"), np.array([length, 0.0, 0.0]))
        still, count = np.zeros((len(nodes) + 1, 3, 4)), len(nodes) + 3
        stretch = np.zeros((3, 4))
        stretch[0, 3] = 1.0
        bent = np.zeros((count, 3, 4, 4))
        # ends of an arc, and of one whose chord is as long as its tendon
        bent[-2:, 0, 1, 1] = bent[-2:, 0, 2, 2] = np.array([h / 6.0, h / 4.0])
        bent[-2:, 1, 2, 3] = bent[-2:, 1, 3, 2] = 0.5
        bent[-2:, 2, 1, 3] = bent[-2:, 2, 3, 1] = -0.5
        share = np.zeros(count)
        share[[0, -2]] = 0.5
        piece = fa.FlexibleBody(
            f"piece{k}",
            joint,
            node_position=[*places.values()],
            node_mass=share * mass,
            node_inertia=share[:, None, None] * inertia,
            section_nodes=["hinge"],
            node_translation=np.concatenate([still, [stretch, stretch]]),
            node_rotation=np.concatenate([still, [np.eye(3, 4)] * 2]),
            node_foreshortening=bent,
            stiffness=soft,
            node_names=(*places,),
            mode_names=("twist", "bending y", "bending z", "stretch"),
        )
        bodies.append(piece)
        joint = fa.Joint.fixed(parent=f"piece{k}", node="hinge")
    return fa.Arm(bodies, gravity=(0.0, 0.0, -9.81), check_units=False)


def tendons(p: Array, n: int = CELLS) -> list[fa.Tendon]:
    """Parts of the two tendons in all cells, 2 n, for the parameters of `tentacle`."""
    at = cells(n)[: n + 1]
    begin = np.concatenate([[0.0], 0.5 * (at[1:] + at[:-1])[:-1]])  # of pieces
    offset = ROOT_OFFSET + (p[1] - ROOT_OFFSET) * at / END
    found = []
    for angle in ANGLES:
        out = offset[:, None] * np.array([0.0, np.cos(angle), np.sin(angle)])
        for k in range(n):
            first = out[k] + np.array([at[k] - begin[k], 0.0, 0.0])
            last = out[k + 1] + np.array([0.5 * (at[k + 1] - at[k]), 0.0, 0.0])
            ends = [((f"piece{k}", "base"), first), ((f"piece{k}", "guide"), last)]
            found.append(fa.Tendon(ends))
    return found


def marked(arm: fa.Arm) -> list[tuple[str, str]]:
    """Nodes of the markers."""
    found = {node: body.name for body in arm.bodies for node in body.node_names}
    return [(found[name], name) for name in MARKERS]


def postures(pulls: Array, p: Array, density: float = DENSITY, n: int = CELLS) -> Array:
    """Equilibria (m, nq) under tensions (m, 2) in N, which grow in two steps."""
    arm, cables = tentacle(p, density, n), tendons(p, n)
    q = np.zeros((len(pulls), arm.nq))
    for part in (0.5, 1.0):
        tension = part * np.repeat(pulls, n, axis=1)
        q = fa.equilibrium(arm, q, tendons=cables, tension=tension).check().q
    return q


def measured(table: Mapping[str, Array]) -> tuple[Array, Array]:
    """Tensions (m, 2) and positions (m, 12) of markers, NaN where there are none."""
    pulls = np.stack([table["tension1_N"], table["tension2_N"]], axis=-1)
    none = np.full(len(pulls), np.nan)
    return pulls, np.stack([table.get(name, none) for name in COLUMNS], axis=-1)


def rms(found: Array, measured: Array) -> float:
    """Root mean square of the errors of positions (m, 12), in mm."""
    off = np.linalg.norm((found - measured).reshape(-1, 3), axis=-1)
    return float(1000.0 * np.sqrt(np.mean(off**2)))


def data(pulls: Array, p: Array, y: Array, density: float = DENSITY) -> Postures:
    """Measured postures, to be searched from those of first parameters."""
    tension = np.repeat(pulls, CELLS, axis=1)

    def loads(p: Array) -> dict[str, object]:
        return {"tendons": tendons(p), "tension": tension}

    return Postures(y, postures(pulls, p, density), loads)


def predicted(pulls: Array, p: Array, density: float = DENSITY) -> Array:
    """Positions (m, 12) of the markers under tensions (m, 2)."""
    arm, q = tentacle(p, density), postures(pulls, p, density)
    places = [fa.node_pose(arm, q, node)[:, :3, 3] for node in marked(arm)]
    return np.concatenate(places, axis=-1)


def compute(folder: Path) -> Report:
    """Fit three numbers on the postures of one tendon; predict the others."""
    pulls, y = measured(SET.read(folder / "postures_fit.csv"))
    # nominal, with the density of the publication
    nominal = predicted(pulls, NOMINAL, 1500.0)
    # three numbers; errors of the model are 10 mm, 6 along each axis
    first = np.array([450e3, END_OFFSET, 0.0])
    found = identify(
        tentacle,
        first,
        data(pulls, first, y),
        names=NAMES,
        scale=[450e3, 2e-3, 0.01],
        sigma=0.006,
        outputs=[fa.outputs.node_position(node) for node in marked(tentacle(first))],
        search={"tolerance": 1e-4, "progress": False},
    )
    # the others
    whole = folder / "postures_predict.csv"
    table = SET.read(whole if whole.exists() else folder / "pulls_predict.csv")
    other, there = measured(table)
    ahead = predicted(other, found.p)
    columns = dict(zip(COLUMNS, ahead.T, strict=True))
    columns |= {name: table[name] for name in ("tension1_N", "tension2_N")}
    panels = [*views("8 postures of the fit", y, found.predicted[0])]
    panels += views("14 others", there, ahead)
    what = "markers, "
    return Report(
        [
            Row(what + "8 postures", "nominal", rms(nominal, y), "mm"),
            Row(what + "8 postures", "fitted", rms(found.predicted[0], y), "mm", 22.9),
            Row(what + "14 postures", "predicted", rms(ahead, there), "mm", 16.8, 11.0),
        ],
        dict(zip(found.names, found.p, strict=True)),
        {"markers_predict.csv": columns},
        {"tentacle": partial(compared, panels, 2, 3.5)},
        "Tendon 2 bends the rod by more than tendon 1 under the same torque, and by "
        "more along x, which a tilt of the base or friction may do. The marker at the "
        "tip is off by 14 mm: a millimetre of a tendon beside the thin end moves it.",
    )


def views(title: str, y: Array, model: Array) -> Iterator[Panel]:
    """Markers from the front and from the side: measured, and of the model."""
    spots = 1000.0 * y.reshape(-1, 3).T
    for i, axis in ((1, "y"), (0, "x")):
        lines = [
            ("" if k else "model", *1000.0 * each.reshape(-1, 3).T[[i, 2]], "o-C0")
            for k, each in enumerate(model)
        ]
        lines.append(("measured", spots[i], spots[2], ".C3"))
        yield Panel(title, f"{axis} (mm)", "z (mm)", lines, {"aspect": "equal"})
