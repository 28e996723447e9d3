"""An LQR for two flexible links, as a sampled loop with delay and limited torques."""

import sys

import numpy as np

import flexarm as fa

arm = fa.library.de_luca_siciliano(damping=True)
goal = np.array([0.5, -0.3, 0.0, 0.0, 0.0, 0.0])
model = fa.linearize(arm, goal)
Q = fa.control.energy_weight(
    arm, goal, joint_stiffness=4.0
)  # of joints and links alike
law = fa.control.lqr(model, Q, [0.5, 0.5], dt=2e-3)
decay = -np.log(abs(law.poles)).max() / 2e-3
print(f"gains {law.K.shape}, the slowest motion decays by {decay:.2f} 1/s")

t = np.linspace(0.0, 6.0, 601)
rest = np.zeros(arm.nv)
run = fa.control.simulate_loop(
    arm, law.controller(), rest, rest, t, delay=1e-3, saturation=2.0
)
off = abs(run.q - goal)[t > 5.0, :2].max()
print(f"joints within {off:.1e} rad after 5 s")
assert decay > 0.5 and off < 5e-3
if len(sys.argv) > 1:
    fa.plotting.joints(run)[0].figure.savefig(sys.argv[1])
