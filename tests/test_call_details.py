"""Details of calls that one careless line would change: refusals, lost states."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa


def test_six_moments_of_inertia() -> None:
    """They are xx, xy, xz, yy, yz, zz."""
    body = fa.RigidBody("rod", mass=1.0, inertia=(5.0, 0.1, 0.2, 6.0, 0.3, 7.0))
    expected = [[5.0, 0.1, 0.2], [0.1, 6.0, 0.3], [0.2, 0.3, 7.0]]
    assert_allclose(body.inertia, expected)


def test_a_state_is_lost_with_its_first_number() -> None:
    """Of two slides that do not touch one leaves the numbers, the other one stays."""
    slides = [
        fa.RigidBody(name, fa.Joint("prismatic", parent="ground"), mass=1.0)
        for name in ("left", "right")
    ]
    arm = fa.Arm(slides, gravity=(0, 0, 0))
    t = np.linspace(0.0, 100.0, 11)
    torque = np.broadcast_to([1e306, 0.0], (11, 2))
    run = fa.simulate(arm, [0.0, 0.0], [0.0, 0.1], t, torque=torque, progress=False)
    assert not run.success
    assert 1 < run.completed < len(t)
    assert np.isfinite(run.q[: run.completed]).all()
    assert np.isnan(run.q[run.completed :]).all()
    assert np.isnan(run.qd[run.completed :]).all()


@pytest.mark.parametrize("form", ["spatial", "hybrid", "mixed"])
def test_forms_of_cut_models_are_refused(form: str) -> None:
    """Jacobians of ruthless arms are not those of their poses."""
    arm = fa.library.planar_chain(1, n_modes=1).replace(fidelity="ruthless")
    zero = np.zeros(arm.nv)
    words = f"{form} twists need Jacobians.*form 'body'"
    with pytest.raises(fa.ArgumentError, match=words):
        fa.link_velocities(arm, zero, zero, form=form)
    with pytest.raises(fa.ArgumentError, match=words):
        fa.link_jacobians(arm, zero, form=form)
