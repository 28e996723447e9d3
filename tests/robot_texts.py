"""Robot descriptions for the tests: random trees, rods on hinges, a flexible link."""

from __future__ import annotations

from typing import Any

import numpy as np

import flexarm as fa
from flexarm import beams


def words(values: Any) -> str:
    return " ".join(repr(float(x)) for x in np.ravel(values))


def inertial(rng: np.random.Generator) -> str:
    """Three point masses of one weight about a centre, in turned axes."""
    points = rng.normal(scale=0.1, size=(3, 3))
    mass = rng.uniform(0.5, 2.0)
    I = mass * (np.sum(points**2) * np.eye(3) - points.T @ points)
    keys = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    entries = I[np.triu_indices(3)]
    listed = " ".join(f'{k}="{float(x)!r}"' for k, x in zip(keys, entries, strict=True))
    return (
        f'<inertial><origin xyz="{words(rng.uniform(-0.2, 0.2, 3))}" '
        f'rpy="{words(rng.uniform(-3, 3, 3))}"/><mass value="{mass!r}"/>'
        f"<inertia {listed}/></inertial>"
    )


def joint_text(
    name: str, kind: str, parent: str, child: str, rng: np.random.Generator, **more: Any
) -> str:
    axis = rng.normal(size=3)
    axis = more.get("axis", axis / np.linalg.norm(axis)) * more.get("scale", 1.0)
    limit = '<limit lower="-2.5" upper="1.5" effort="10" velocity="3"/>'
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/>'
        f'<child link="{child}"/><origin xyz="{words(rng.uniform(-0.5, 0.5, 3))}" '
        f'rpy="{words(rng.uniform(-3, 3, 3))}"/><axis xyz="{words(axis)}"/>'
        + (limit if kind in ("revolute", "prismatic") else "")
        + "</joint>"
    )


def random_robot(seed: int, scale: float = 1.0) -> str:
    """A tree of links; the first one is a massless root every other time."""
    rng = np.random.default_rng(seed)
    n = 2 + seed % 6
    kinds = ["revolute", "continuous", "prismatic", "fixed", "floating", "planar"]
    kinds = kinds[2:] if seed % 3 == 0 else kinds[:4]
    parts = [f'<robot name="random{seed}">']
    parts.append(f'<link name="l0">{inertial(rng) if seed % 2 else ""}</link>')
    for i in range(1, n):
        kind = "revolute" if i == 1 else str(rng.choice(kinds))
        parent = f"l{int(rng.integers(0, i))}"
        options: dict[str, Any] = {"scale": scale}
        if kind == "planar":  # Pinocchio takes its plane across z
            options["axis"] = np.array([0.0, 0.0, 1.0])
        parts.append(joint_text(f"j{i}", kind, parent, f"l{i}", rng, **options))
        # without mass now and then, where a link on a fixed joint may be
        bare = kind == "fixed" and seed % 4 == 1
        parts.append(f'<link name="l{i}">{"" if bare else inertial(rng)}</link>')
    return "\n".join([*parts, "</robot>"])


ROD = (
    '<inertial><origin xyz="0.5 0 0"/><mass value="2"/>'
    '<inertia ixx="0.01" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.2"/></inertial>'
)


def robot_of(joints: str, n: int = 2, extra: str = "") -> str:
    """A massless root, and rods of 1 m along x."""
    links = [f'<link name="rod{i}">{ROD}</link>' for i in range(1, n + 1)]
    return f'<robot name="r"><link name="root"/>{"".join(links)}{joints}{extra}</robot>'


def hinge(
    i: int, parent: str, child: str, kind: str = "continuous", inner: str = ""
) -> str:
    return (
        f'<joint name="h{i}" type="{kind}"><parent link="{parent}"/>'
        f'<child link="{child}"/><origin xyz="{int(i > 1)} 0 0"/>'
        f'<axis xyz="0 0 2"/>{inner}</joint>\n'
    )


LIMIT = '<limit lower="-1" upper="2" effort="5" velocity="6"/>'
TWO = hinge(1, "root", "rod1", "revolute", LIMIT) + hinge(2, "rod1", "rod2")


SIDECAR: dict[str, Any] = {
    "length": 1.0,
    "mass_per_length": 2.0,
    "bending_stiffness": [5.0, 7.0],
    "n_modes": 2,
    "damping_ratio": 0.01,
}


def beam_of(name: str = "beam", **options: bool) -> fa.FlexibleBody:
    return beams.flexible_link(
        name,
        length=1.0,
        mass_per_length=2.0,
        bending_stiffness=(5.0, 7.0),
        n_modes=2,
        damping_ratio=0.01,
        **options,
    )
