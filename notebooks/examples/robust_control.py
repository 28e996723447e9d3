"""H-infinity control and mu of two flexible links, by python-control and slycot."""

import sys

import control
import numpy as np
import slycot

import flexarm as fa

arm = fa.library.de_luca_siciliano(damping=True)
goal = np.array([0.5, -0.3, 0.0, 0.0, 0.0, 0.0])
model = fa.linearize(arm, goal, outputs="joints")
# weights of sensitivity, torque and complementary sensitivity, for both joints
first, torque, last = (
    control.append(*2 * [control.ss(control.tf(*ratio))])
    for ratio in (([0.5, 1.0], [1.0, 0.01]), ([0.2], [1.0]), ([1.0, 0.1], [0.05, 10.0]))
)
# poles at zero are no obstacle where all motions have to decay by 0.2 1/s
faster = control.ss(model.A + 0.2 * np.eye(12), model.B, model.C, model.D)
K, _, info = control.mixsyn(faster, first, torque, last)
A = K.A - 0.2 * np.eye(K.nstates)

# mu of K G / (1 + K G): an unknown complex factor of each torque (Doyle 1982)
jw = 1j * np.geomspace(0.1, 300.0, 200)[:, np.newaxis, np.newaxis]
G = model.C @ np.linalg.solve(jw * np.eye(12) - model.A, model.B + 0 * jw)
L = K.C @ np.linalg.solve(jw * np.eye(len(A)) - A, K.B + 0 * jw) @ G
T = L @ np.linalg.inv(np.eye(2) + L)
mu = [slycot.ab13md(Z, np.array([1, 1]), np.array([2, 2]))[0] for Z in T]
print(f"gamma {info[0]:.2f}; stable with torques that are off by {1 / max(mu):.0%}")

# the same as a sampled loop with the arm
law = fa.StateSpace(A, K.B, K.C, K.D).discretize(1e-3)
law = fa.control.LinearController(
    law.A, -law.B, law.C, -law.D, 1e-3, "joint positions", goal[:2]
)
rest, t = np.zeros(6), np.linspace(0.0, 20.0, 401)
run = fa.control.simulate_loop(arm, law, rest, rest, t, max_step=1e-3)
print(f"{run.message}: joints within {abs(run.q[-1] - goal)[:2].max():.1e} rad")
assert info[0] < 1.1 and max(mu) < 1.3 and abs(run.q[-1] - goal)[:2].max() < 1e-3
if len(sys.argv) > 1:
    fa.plotting.joints(run)[0].figure.savefig(sys.argv[1])
