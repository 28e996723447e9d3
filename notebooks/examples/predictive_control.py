"""Predictive control of flexible links: limits of torque, rate and strain; as C."""

import sys
import tempfile
from pathlib import Path

import numpy as np

import flexarm as fa

arm = fa.library.de_luca_siciliano(damping=True)
goal = np.array([0.6, -0.4, 0.0, 0.0, 0.0, 0.0])
model = fa.linearize(arm, goal, outputs=("strain", "link1", 0.0))
strain = model.outputs[0]
Q, R = fa.control.quadratic_weights(
    model, states=dict.fromkeys(model.states[:2], 0.1), inputs=0.5
)
law = fa.control.PredictiveControl(
    model, Q, R, dt=1e-3, horizon=20, hold=5,  # 0.1 s ahead
    force_limits=0.5, rate_limits=50.0, output_limits={strain: 0.15},
)  # fmt: skip
rest, t = np.zeros(6), np.linspace(0.0, 6.0, 601)
run = fa.control.simulate_loop(arm, law, rest, rest, t, max_step=1e-3)
bent = np.hstack([run.q, run.qd]) @ model.C[0]
print(f"{run.message}; {law.counts['solved']} samples solved")
print(f"torque up to {abs(run.u).max():.3f} N m, strain up to {abs(bent).max():.4f}")
assert abs(run.u).max() <= 0.5 and abs(bent).max() < 0.151
assert abs(run.q[-1] - goal)[:2].max() < 0.02
with tempfile.TemporaryDirectory() as folder:  # for a loop of 1 kHz
    header = Path(folder, "law.h")
    fa.control.export_c(law, header)
    print(f"law.h: {header.stat().st_size // 1000} kB")
if len(sys.argv) > 1:
    fa.plotting.joints(run)[0].figure.savefig(sys.argv[1])
