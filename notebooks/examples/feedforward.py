"""Torques that lead the tip of a flexible arm along a line, computed beforehand."""

import sys

import numpy as np

import flexarm as fa

arm = fa.library.farid_two_link()  # two flexible links of 1 m on flexible shafts
line = fa.optimize.paths.line([1.8, 0.2], [1.6, 0.7])
elbow_up = fa.library.poses(arm)["A"]
motion = fa.optimize.track(arm, line, duration=0.5, start=elbow_up)

# the torques alone, without any feedback; the joints begin before the tip does
rest = np.zeros(arm.nv)
run = fa.simulate(arm, motion.q[0], rest, motion.t, torque=motion.tau, max_step=2e-4)
law = fa.optimize.paths.time_law("cycloidal", np.clip(run.t, 0.0, 0.5), 0.5)
off = np.linalg.norm(run.tip - line(law.s).position, axis=-1).max()
print(f"the tip is within {1e3 * off:.2f} mm of where it shall be")
assert off < 5e-4
if len(sys.argv) > 1:
    import matplotlib.pyplot as plt

    plt.plot(motion.t, motion.tau, label=["joint 1", "joint 2"])
    plt.axvspan(0.0, 0.5, color="0.93", zorder=0, label="the tip moves")
    plt.gca().set(xlabel="time (s)", ylabel="feedforward torque (N m)")
    plt.legend()
    plt.savefig(sys.argv[1])
