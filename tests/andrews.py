"""Andrews' squeezing mechanism: seven bodies, three loops, a spring and a motor.

E. Hairer, G. Wanner, *Solving Ordinary Differential Equations II*, section VII.7, and
the test set for initial value problem solvers, "Andrews' squeezing mechanism"; A03 of
the library of benchmarks of IFToMM.  Units are kg, m and s.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import flexarm as fa

# masses and inertias of the bodies 1 to 7
MASSES = (0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498)
INERTIAS = (2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5)
# pivots A and B, the fixed end C of the spring
A, B, C = (-0.06934, -0.00227), (-0.03635, 0.03273), (0.014, 0.072)
D, DA, E, EA, ZF, FA, ZT, U = 0.028, 0.0115, 0.02, 0.01421, 0.02, 0.01421, 0.04, 0.04
RR, RA, SS, SA, SB, SC, SD = 0.007, 0.00092, 0.035, 0.01874, 0.01043, 0.018, 0.02
TA, TB, UA, UB = 0.02308, 0.00916, 0.01228, 0.00449
STIFFNESS, LENGTH, TORQUE = 4530.0, 0.07785, 0.033
# angles beta, Theta, gamma, Phi, delta, Omega, epsilon at the start, and at 0.03 s
START = (
    *(-0.0617138900142764496, 0.0, 0.455279819163070380, 0.222668390165885885),
    *(0.487364979543842550, -0.222668390165885885, 1.23054744454982119),
)
END = (
    *(15.81077119629904, -15.75637105984298, 0.04082224013073101),
    *(-0.5347301163226948, 0.5244099658805304, 0.5347301163226948, 1.048080741042263),
)
ORDER = [0, 1, 2, 4, 3, 6, 5]  # of these angles, in the arm


def mechanism() -> fa.Arm:
    """The arm; the free ends of bodies 2, 3, 4 and 6 are one point."""

    def body(i: int, com: Any, tip: Any, pivot: Any = None, parent: Any = None) -> Any:
        on = {"parent": parent} if parent else {"parent": "ground", "node": "base"}
        at = (0, 0, 0) if pivot is None else (*pivot, 0)
        return fa.RigidBody(
            f"K{i}",
            fa.Joint(axis="z", position=at, **on),
            mass=MASSES[i - 1],
            com=(*com, 0),
            inertia=INERTIAS[i - 1] * np.ones(3),
            nodes={"tip": (*tip, 0)},
        )

    bodies = [
        body(1, (RA, 0), (RR, 0), (0, 0)),
        body(2, (-DA, 0), (-D, 0), parent="K1"),
        body(3, (SA, SB), (0, -SS), B),
        body(5, (TA, TB), (ZT, 0), A),
        body(4, (0, EA - E), (0, -E), parent="K5"),
        body(7, (UA, UB), (0, -U), A),
        body(6, (ZF - FA, 0), (ZF, 0), parent="K7"),
    ]
    loops = [
        fa.Loop(("K2", "tip"), (other, "tip"), directions=["x", "y"])
        for other in ("K3", "K4", "K6")
    ]
    return fa.Arm(bodies, constraints=loops, gravity=(0, 0, 0))


def torque(t: float, q: Any, qd: Any) -> Any:
    """Of the motor on body 1, and of the spring on body 3."""
    turn = np.array([[np.cos(q[2]), -np.sin(q[2])], [np.sin(q[2]), np.cos(q[2])]])
    arm = turn @ [SD, -SC]
    along = arm + B - np.array(C)
    length = np.linalg.norm(along)
    force = -STIFFNESS * (length - LENGTH) / length * along
    tau = np.zeros(7)
    tau[0], tau[2] = TORQUE, arm[0] * force[1] - arm[1] * force[0]
    return tau


def run(steps: int = 3000, **options: Any) -> fa.Trajectory:
    """From the start to 0.03 s."""
    q0 = np.array(START)[ORDER]
    t = np.linspace(0.0, 0.03, steps + 1)
    return fa.simulate(mechanism(), q0, np.zeros(7), t, torque=torque, **options)
