"""Optimal motions of other rooms: their limits, their verification, their verdict."""

from ._excess import excess_of, limited
from ._parts import Excited, Timings
from ._result import OptimalMotion, Verification, unverified, warned
from ._verify import verified

__all__ = [
    "Excited",
    "OptimalMotion",
    "Timings",
    "Verification",
    "excess_of",
    "limited",
    "unverified",
    "verified",
    "warned",
]
