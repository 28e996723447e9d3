"""Torques that move the joints of a flexible arm as wanted, computed beforehand."""

import sys

import numpy as np

import flexarm as fa

arm = fa.library.de_luca_siciliano(damping=True)
motion = fa.control.RestToRest([0.0, 0.0], [0.8, -0.5], duration=1.0)
t = np.linspace(0.0, 1.2, 1201)

# joints follow exactly and the links bend as they must: inverse dynamics in the loop
ideal = fa.simulate(
    arm,
    np.zeros(6),
    np.zeros(6),
    t,
    torque=fa.control.Inversion(arm, motion, bandwidth=4),
)
# the torques alone, without any feedback
run = fa.simulate(arm, np.zeros(6), np.zeros(6), t, torque=ideal.tau)
wanted = np.array([motion(x).q for x in t])
off = abs(run.q[:, :2] - wanted).max()
print(
    f"largest error of the joints {off:.1e} rad, torque {abs(ideal.tau).max():.2f} N m"
)
assert off < 1e-4
if len(sys.argv) > 1:
    import matplotlib.pyplot as plt

    plt.plot(t, ideal.tau, label=["joint 1", "joint 2"])
    plt.gca().set(xlabel="time (s)", ylabel="feedforward torque (N m)")
    plt.legend()
    plt.savefig(sys.argv[1])
