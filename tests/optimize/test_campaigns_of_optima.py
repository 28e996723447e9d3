"""A few problems of each campaign of optimal motions and of identification."""

from __future__ import annotations

from importlib import import_module

import pytest

pytest.importorskip("casadi")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "problems", "seed"),
    [
        ("postures", 1, 0),
        ("spatial", 1, 0),
        ("paths", 1, 0),
        ("track", 1, 0),
        ("transfer", 1, 10),
        ("obstacles", 1, 1),
        ("quaternions", 1, 0),
        ("identification", 1, 0),
        ("coverage", 1, 0),
    ],
)
def test_no_faults(name: str, problems: int, seed: int) -> None:
    found = list(import_module(f"campaigns.{name}").rows(problems, seed))
    assert not [row for row in found if row.fault]
