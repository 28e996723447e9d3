"""Details of closed loops that one careless line would change: shares, noise."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import flexarm as fa
from flexarm import control

ARM = fa.library.pendulum(mass=1.0, com=0.5)


def test_saturation_counts_the_samples_that_were_reached() -> None:
    """A run that ends early has shares of the samples that it reached."""
    t = np.linspace(0.0, 1.0, 11)
    run = control.simulate_loop(
        ARM,
        lambda t, q, qd: np.where(t < 0.25, 3.0, 0.5) * np.ones_like(q),
        [0.0],
        [0.0],
        t,
        sample_time=0.1,
        saturation=1.0,
    )
    assert_allclose(run.saturation, [3.0 / 11.0])
    u, saturated = run.u.copy(), run.saturated.copy()
    u[5:], saturated[5:] = np.nan, False
    short = dataclasses.replace(run, u=u, saturated=saturated)
    assert_allclose(short.saturation, [3.0 / 5.0])


def test_a_law_sees_what_is_recorded() -> None:
    """Positions and velocities come with noise, the same for law and record."""
    seen: list[Any] = []

    def law(t: float, q: Any, qd: Any) -> Any:
        seen.append(np.concatenate([q, qd]))
        return 0.0 * q

    t = np.linspace(0.0, 1.0, 101)
    options = {"sample_time": 0.01, "noise": [1e-3, 1e-2], "seed": 1}
    run = control.simulate_loop(ARM, law, [0.3], [0.0], t, **options)
    assert_array_equal(run.y, np.array(seen))
    off = run.y - np.concatenate([run.q, run.qd], axis=-1)
    assert_allclose(off.std(axis=0), [1e-3, 1e-2], rtol=0.3)


def test_a_filter_knows_the_offset_of_its_outputs() -> None:
    """A slide whose tip is 0.3 m ahead of its position: that is nothing to correct."""
    joint = fa.Joint("prismatic", position=(0, 0, 0.3))
    arm = fa.Arm([fa.RigidBody("slide", joint, mass=1.0)], gravity=(0, 0, 0))
    tip = fa.outputs.node_position(axes="z")
    seen = control.ExtendedKalmanFilter(
        arm, tip, [1.0, 1.0], [1e-6], 0.01, [0.1], [0.0]
    )
    q, qd = seen.update([0.4])
    assert_allclose(q, [0.1], rtol=1e-12)
    assert_allclose(qd, [0.0], atol=1e-12)


def test_inversion_names_the_worst_zero_of_all_postures() -> None:
    arm = fa.library.de_luca_siciliano(damping=True)
    q = np.zeros((3, 6))
    q[:, 1] = 0.0, 1.0, 0.5
    tips = control.link_angles(arm, 1.0)
    zeros = control.inversion._internal_dynamics(arm, q, tips).zeros
    largest = float(zeros.real.max())
    assert largest > 1.001 * zeros.real.max(axis=-1).min()
    with pytest.raises(fa.ArgumentError) as refusal:
        control.Inversion(arm, [0.0, 0.0], 1.0, outputs="tips", postures=q)
    assert f"with the zero {largest:+.4g}" in str(refusal.value)
