"""Equality relative to the largest entry of an array."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.testing import assert_allclose


def assert_close(
    value: Any, expected: Any, rtol: float = 1e-13, scale: float = 0.0
) -> None:
    """Equal to `rtol` of the largest entry, or of `scale` where it is larger."""
    size = max(float(np.abs(expected).max(initial=0.0)), scale)
    assert_allclose(value, expected, rtol=0.0, atol=rtol * size)


def assert_near(value: Any, expected: Any, rtol: float = 1e-13) -> None:
    """Equal to `rtol` of the largest entry, or of one; the same shape."""
    assert np.shape(value) == np.shape(expected)
    assert_close(value, expected, rtol, scale=1.0)
