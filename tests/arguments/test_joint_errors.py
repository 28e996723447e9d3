"""Joints that are refused, each with a sentence that tells what to do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from refusals import refused

import flexarm as fa
from flexarm import Joint


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"kind": "sphercal"}, ["'sphercal'", "did you mean 'spherical'?"]),
        ({"kind": "subspace"}, ["has no subspace", "6 x n matrix of twists"]),
        (
            {"kind": "free", "subspace": np.eye(6)},
            ["a free joint has a subspace", "only of kind 'subspace'"],
        ),
        (
            {"kind": "subspace", "subspace": np.eye(3)},
            ["subspace of the joint", "(3, 3)"],
        ),
        (
            {"kind": "subspace", "subspace": np.zeros((6, 0))},
            ["subspace of the joint", "0"],
        ),
        (
            {"kind": "subspace", "subspace": np.ones((6, 7))},
            ["7 columns", "between 1 and 6"],
        ),
        (
            {"kind": "subspace", "subspace": np.ones((6, 2))},
            ["rank 1 with 2 columns", "independent", "leave some out"],
        ),
        ({"kind": "subspace", "subspace": np.zeros((6, 1))}, ["rank 0 with 1 columns"]),
        (
            {"kind": "subspace", "subspace": np.full((6, 1), np.nan)},
            ["subspace", "nan at index (0, 0)", "finite"],
        ),
        ({"pitch": 0.1}, ["a revolute joint", "pitch 0.1 m/rad", "helical joint"]),
        ({"kind": "helical", "pitch": (1, 2)}, ["pitch", "(2,)"]),
        ({"kind": "helical", "pitch": np.inf}, ["pitch", "inf", "finite"]),
        (
            {"axis2": (1, 0, 0)},
            ["a revolute joint has a second axis", "universal or planar"],
        ),
        (
            {"kind": "free", "axis": (1, 0, 0)},
            ["a free joint has the axis [1.0, 0.0, 0.0]", "all directions"],
        ),
        (
            {"kind": "planar", "axis2": (0, 1, 1)},
            ["axis2 of the planar joint", "45 degrees", "in the plane"],
        ),
        (
            {"kind": "universal", "axis2": (0, 0, -2)},
            ["universal joint are parallel", "different directions"],
        ),
        (
            {"kind": "universal", "axis2": (0, 0, 0)},
            ["axis2 of the joint is zero", "direction such as"],
        ),
        ({"kind": "universal", "axis2": (0, 1)}, ["axis2", "(2,)", "expected (3,)"]),
        ({"kind": "screw"}, ["has no screw", "six numbers, angular part first"]),
        (
            {"screw": np.ones(6)},
            ["a revolute joint has a screw", "only of kind 'screw'"],
        ),
        ({"kind": "screw", "screw": np.zeros(6)}, ["screw of the joint is zero"]),
        (
            {"kind": "screw", "screw": np.eye(6)[:, :2] * [1, 0]},
            ["screw 2 of the joint is zero", "slide along"],
        ),
        ({"kind": "screw", "screw": np.ones(5)}, ["screw", "(5,)", "expected (6,)"]),
        ({"kind": "screw", "screw": np.ones((6, 7))}, ["7 columns", "1 and 6"]),
        ({"kind": "screw", "screw": np.ones((6, 0))}, ["0 columns", "1 and 6"]),
        (
            {"kind": "screw", "screw": (0, 0, np.nan, 0, 0, 0)},
            ["nan at index (2,)", "finite"],
        ),
        (
            # the squares of the angular part underflow, here after scaling
            {"kind": "screw", "screw": (0, 0, 1, 1e200, 0, 0)},
            ["angular part of length 1e-200", "expected (0; e)"],
        ),
        (
            {"kind": "screw", "screw": (1e-12, 0, 0, 1, 0, 0)},
            ["angular part of length 1e-12", "1 m", "(0; e) for a joint that slides"],
        ),
        (
            {"kind": "screw", "screw": np.ones(6), "axis": (1, 0, 0)},
            ["a screw joint has the axis [1.0, 0.0, 0.0]", "leave it out"],
        ),
        ({"limits": (1, -1)}, ["limits of the joint are 1 and -1", "not above"]),
        ({"limits": (np.nan, 1)}, ["limits of the joint are nan and 1"]),
        ({"limits": (np.inf, np.inf)}, ["limits of the joint are inf and inf"]),
        ({"limits": 1.0}, ["limits of the joint have shape ()", "(2,)"]),
        ({"limits": "wide"}, ["limits of the joint is 'wide'", "real numbers"]),
        (
            {"kind": "universal", "limits": (-1, 1)},
            ["have shape (2,)", "expected (2, 2)", "lower and upper"],
        ),
        (
            {"kind": "universal", "limits": [(-1, 2), (1, 1)]},
            ["limits of the joint of its position 2 are 2 and 1"],
        ),
        ({"kind": "free", "limits": (-1, 1)}, ["a free joint has limits", "angles"]),
        ({"kind": "fixed", "limits": (-1, 1)}, ["a fixed joint has limits"]),
        (
            {"kind": "spherical", "damping": (1, 2)},
            ["damping of the joint", "(2,)", "expected (3,)"],
        ),
        (
            {"kind": "spherical", "damping": (1, -2, 3)},
            ["damping of the joint is -2", "zero or more"],
        ),
    ],
    ids=str,
)
def test_refused_joints(arguments: dict[str, Any], words: list[str]) -> None:
    refused(fa.ModelError, words, lambda: Joint(**arguments))
