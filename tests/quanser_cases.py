"""Linear models, without physics, of the runs of `flexarm.measured.quanser`."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from arrays import Array
from scipy.signal import cont2discrete, lfilter, savgol_filter

from flexarm.measured.quanser import STEP, Run, clock, relative

Modes = list[tuple[float, float]]  # rad/s, damping ratio


def answers(inputs: list[Array], modes: Modes) -> list[Array]:
    """Inputs, and what the position and the rate of each mode answer to them."""
    rows = list(inputs)
    for w, ratio in modes:
        for top in ([w * w], [w, 0.0]):
            system = (top, [1.0, 2.0 * ratio * w, w * w])
            b, a, _ = cont2discrete(system, STEP, "foh")
            rows += [lfilter(np.ravel(b), a, u - u[0]) for u in inputs]
    return rows


def linear_rest(both: Mapping[str, Array], products: bool, modes: Modes) -> Array:
    """Error of the best linear model of both hub angles with some modes, in sample.

    With `products` those of the rates are inputs, too.
    """
    hubs = np.stack([both["hub1"], both["hub2"]], -1)
    v = savgol_filter(hubs, 11, 3, deriv=1, delta=STEP, axis=0).T
    inputs = list(hubs.T)
    if products:
        inputs += [v[0] ** 2, v[0] ** 2 * hubs[:, 1], v[1] ** 2, v[0] * v[1]]
    A = np.stack([np.ones(len(hubs)), *answers(inputs, modes)], -1)
    y = np.stack([both["deflection1"], both["deflection2"]], -1)
    return relative((A @ np.linalg.lstsq(A, y, rcond=None)[0]).T, y.T)


def linear_rest_of_steps(runs: Mapping[str, Run], modes: Modes) -> dict[str, float]:
    """The same of all steps, each with an initial state of its own."""
    rates = [w * (-z + 1j * np.sqrt(1.0 - z * z)) for w, z in modes]
    waves = np.exp(np.outer(clock(500), rates))
    free, _ = np.linalg.qr(np.hstack([waves.real, waves.imag]))
    parts, left = [], []
    for hub, y in runs.values():
        A = np.stack([np.ones(500), *answers([hub], modes)], -1) / y.std()
        parts.append(A - free @ (free.T @ A))
        left.append(y / y.std() - free @ (free.T @ y) / y.std())
    x = np.linalg.lstsq(np.vstack(parts), np.concatenate(left), rcond=None)[0]
    rests = [b - A @ x for A, b in zip(parts, left, strict=True)]
    rms = [float(np.sqrt(np.mean(r**2))) for r in rests]
    return dict(zip(runs, rms, strict=True))
