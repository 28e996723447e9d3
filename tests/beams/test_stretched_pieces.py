"""Links in pieces that stretch far and bend far, beside an integrated rod.

A rod under a moment and a force along its tip that follows: strain 15 %, bent by 1.5
rad.  Sections of a part that is longer by its strain move aside by it too, without
which the error falls with the first power of the number of pieces.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from each import each
from scipy.integrate import solve_ivp

import flexarm as fa
from flexarm.beams import Beam, Section

L, EI, EA = 0.3, 0.02, 1.0 / 0.15
PUSH, MOMENT = 1.0, 1.5 / L * EI  # in N and N m


def exact_tip(push: float) -> Any:
    """Position of the tip, integrated from there to the base."""

    def rate(s: float, y: Any) -> list[float]:
        _, height, angle = y
        stretch = 1.0 - push * np.cos(angle) / EA
        turn = MOMENT - push * height
        return [-stretch * np.cos(angle), -stretch * np.sin(angle), -turn / EI]

    run = solve_ivp(rate, (0.0, L), [0.0, 0.0, 0.0], rtol=1e-11, atol=1e-13)
    x, height, angle = run.y[:, -1]
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    return -turn @ [x, height]


@each("plane, push", {"y, shorter": ("y", 1.0), "z, longer": ("z", -1.0)})
def test_error_falls_with_the_square(plane: str, push: float) -> None:
    off = []
    for n in (12, 24):
        section = Section.from_stiffness(0.1, EI, axial_stiffness=EA)
        motions = (f"bending {plane}", "stretch")
        rod = Beam(section, L).segments(
            "rod", n, joint=fa.Joint.fixed(), motions=motions
        )
        arm = fa.Arm([rod], gravity=(0.0, 0.0, 0.0), check_units=False)
        about = [0.0, 0.0, MOMENT] if plane == "y" else [0.0, -MOMENT, 0.0]
        q = np.zeros(arm.nq)
        for part in (0.5, 1.0):
            load = part * np.array([*about, -push, 0.0, 0.0])
            q = fa.equilibrium(arm, q, wrench=load).check(stable=False).q
        tip = fa.tip_pose(arm, q)[[0, 1 if plane == "y" else 2], 3]
        off.append(np.linalg.norm(tip - exact_tip(push)))
    assert off[1] < 2e-4
    assert off[1] < 0.3 * off[0]
