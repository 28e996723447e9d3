"""Tip along a trajectory by collocation, against the demands and other methods."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from refusals import refused

import flexarm as fa
from flexarm.optimize import paths, track

pytest.importorskip("casadi")

ARM = fa.library.farid_two_link()
LINE = paths.line([1.8, 0.2], [1.6, 0.7])
ELBOW_UP = fa.library.poses(ARM)["A"]


def test_the_line_of_the_thesis_to_a_hundredth_of_a_millimeter() -> None:
    """E7: 0.1 and 0.27 mm with 28 unknowns of shooting."""
    motion = track(ARM, LINE, 0.5, method="collocation", start=ELBOW_UP)
    assert motion.success and motion.iterations < 10
    assert motion.method == "collocation" and motion.variables > 4000
    assert motion.verification is not None
    assert motion.verification.path_error.max() < 1e-5
    assert motion.verification.final_error < 1e-5
    assert motion.details["tip_error"].max() < 1e-6
    assert_allclose(motion.t[[0, -1]], [-0.1, 0.6], atol=1e-12)


def test_forces_are_those_of_stable_inversion() -> None:
    """Away from the ends, where the windows act."""
    found = track(ARM, LINE, 0.5, method="collocation", start=ELBOW_UP)
    other = track(ARM, LINE, 0.5, method="stable inversion", start=ELBOW_UP)
    t = np.linspace(0.0, 0.5, 51)
    mine, theirs = (np.array([x.torque(float(s)) for s in t]) for x in (found, other))
    assert_allclose(mine, theirs, atol=0.01 * np.abs(theirs).max())


def test_options_of_other_methods_are_refused() -> None:
    refused(
        fa.ArgumentError,
        ["weights is given", "'collocation'", "'shooting'"],
        lambda: track(
            ARM, LINE, 0.5, method="collocation", start=ELBOW_UP, weights=(1.0, 1.0)
        ),
    )
