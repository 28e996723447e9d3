"""Gains tuned for the worst payload: nonsmooth search over `robustness`."""

import numpy as np
from scipy.optimize import minimize

import flexarm as fa


def make(payload):
    return fa.library.de_luca_siciliano(payload_mass=payload, damping=True)


RANGES = {"payload": [0.0, 0.1, 0.3]}
posture = np.array([0.0, 0.6, 0.0, 0.0, 0.0, 0.0])


def study(log_gains):
    k1, k2, d1, d2 = np.exp(log_gains)
    K = np.column_stack([np.diag([k1, k2]), np.diag([d1, d2])])
    outputs = ["joint positions", "joint velocities"]
    return fa.robustness(make, RANGES, posture, K, outputs=outputs)


def slowest(log_gains):
    """The slowest decay in 1/s of all payloads, to be maximized."""
    found = study(log_gains)
    return float(found.rates.real.max())


start = np.log([4.0, 2.0, 0.5, 0.2])
best = minimize(
    slowest, start, method="Nelder-Mead", options={"maxfev": 80, "fatol": 1e-4}
)
print(f"decay {-slowest(start):.3f} 1/s at first, {-best.fun:.3f} 1/s tuned")
assert best.fun < -0.8 < -0.2 < slowest(start)
print("gains", np.exp(best.x).round(3), study(best.x).worst("decay"))
