"""Gains tuned on simulated loops: worst payload, a motor that saturates, a delay."""

import sys

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import differential_evolution

import flexarm as fa

GOAL, REST, T = 0.5, np.zeros(3), np.linspace(0.0, 1.5, 151)


def make(payload):
    """A hub of 0.1 kg m^2, a beam of 1 m and 0.5 kg with two modes, a point mass."""
    modes = fa.beams.clamped_beam_modes(1.0, 0.5, 40.0, 2, tip_mass=payload)
    beam = {"length": 1.0, "mass_per_length": 0.5, "bending_y": modes}
    body = fa.beams.flexible_link("link", base_inertia=0.1, tip_mass=payload, **beam)
    return fa.Arm([body], gravity=(0.0, 0.0, 0.0))


def distance(gains, arms):
    """Mean distance of the tip from its goal in m, (candidates, payloads)."""
    law = fa.control.LinearController(
        None, None, None, -gains.T[:, None, None, :], 4e-3, reference=[GOAL, 0.0]
    )
    run = fa.control.simulate_loop(arms, law, REST, REST, T, delay=2e-3, saturation=8.0)
    off = np.linalg.norm(run.tip - [np.cos(GOAL), np.sin(GOAL), 0.0], axis=-1)
    return np.nan_to_num(off.mean(axis=-1), nan=9.0)  # of loops that diverge


few, many = (fa.stack([make(m) for m in np.linspace(0.0, 0.5, n)]) for n in (5, 21))
best = differential_evolution(
    lambda x: distance(np.exp(x), few).max(axis=-1),  # (2, candidates)
    [(0.0, 5.0), (-1.0, 3.0)], popsize=20, maxiter=15, vectorized=True, polish=False,
    updating="deferred", seed=1,
)  # fmt: skip
tuned = np.exp(best.x)
both = distance(np.array([[20.0, 4.0], tuned]).T, many)  # payloads between, too
print(
    f"Kp {tuned[0]:.1f} N m, Kd {tuned[1]:.1f} N m s; worst", both.max(axis=1).round(4)
)
assert both[1].max() < 1.001 * best.fun and both[1].max() < 0.7 * both[0].max()
lines = plt.plot(np.linspace(0.0, 0.5, 21), both.T, label=["first gains", "tuned"])
plt.gca().set(xlabel="payload in kg", ylabel="mean distance from the goal in m")
plt.legend()
if len(sys.argv) > 1:
    plt.savefig(sys.argv[1])
