"""The arm of De Luca and Siciliano after the bang-bang of Fig. 9, under several laws.

``python3 tests/bang_bang.py figure.png`` draws it.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

import flexarm as fa
from flexarm import control
from flexarm.control.composite import fast_subsystem

ARM = fa.library.de_luca_siciliano()  # Fig. 9: no damping at all
SWITCH, END, LAST = 0.5, 1.0, 4.0  # s
TORQUE = 0.2  # N m
SAMPLE = 5e-3  # s


def excited() -> Any:
    """State after the symmetric bang-bang of both joints."""
    t = np.linspace(0.0, END, 1001)
    u = np.where(t < SWITCH, TORQUE, -TORQUE)[:, np.newaxis] * np.ones(2)
    return fa.simulate(ARM, np.zeros(6), np.zeros(6), t, torque=u, interpolation="hold")


def laws(q: Any) -> dict[str, Any]:
    """PD of the joints, LQR of all states, and composite control, to hold joints."""
    at = np.concatenate([q[:2], np.zeros(4)])
    inertia = np.diag(fa.mass_matrix(ARM, at))[:2]
    R = [0.1, 0.1]
    regulator = control.lqr(
        fa.linearize(ARM, at), control.energy_weight(ARM, at), R, dt=SAMPLE
    )
    fast = control.lqr(
        fast_subsystem(ARM, at), control.energy_weight(ARM, at, fast=True), R
    )
    return {
        # critically damped for 10 rad/s and the rigid arm
        "PD": control.JointFeedback(100.0 * inertia, 20.0 * inertia, q[:2]),
        "LQR": regulator.controller(),
        "composite": control.CompositeControl(ARM, q[:2], 2.0, fast_gains=fast.K),
    }


def runs() -> dict[str, Any]:
    """Motion after the bang-bang under each of them."""
    before = excited()
    t = np.linspace(0.0, LAST - END, round((LAST - END) / SAMPLE) + 1)
    start = before.q[-1], before.qd[-1]
    made: dict[str, Any] = {}
    for name, law in laws(start[0]).items():
        if name == "PD":
            made[name] = fa.simulate(ARM, *start, t, torque=law, method="Rodas4P")
        else:
            made[name] = control.simulate_loop(
                ARM, law, *start, t, sample_time=SAMPLE, max_step=1e-3
            )
    return made


def draw(path: str) -> None:
    """Energy, deflection of link 1 and joints, after the bang-bang and before."""
    import matplotlib.pyplot as plt

    before, after = excited(), runs()
    figure, axes = plt.subplots(4, 1, figsize=(8, 10), sharex=True)
    for ax, what in zip(axes, ("energy", 2, 0, 1), strict=True):
        for k, (name, run) in enumerate({"bang-bang": before, **after}.items()):
            t = run.t + (END if k else 0.0)
            y = run.energy if what == "energy" else run.q[:, what]
            ax.plot(t, y, color="0.5" if k == 0 else f"C{k - 1}", label=name)
    axes[0].set(yscale="log", ylim=(1e-7, 0.2), ylabel="energy in J")
    axes[1].set(ylabel="first mode of link 1 in m")
    axes[2].set(ylabel="joint 1 in rad")
    axes[3].set(ylabel="joint 2 in rad", xlabel="time in s")
    axes[0].legend(loc="lower left", ncols=2)
    figure.tight_layout()
    figure.savefig(path, dpi=100)


if __name__ == "__main__":
    draw(sys.argv[1])
