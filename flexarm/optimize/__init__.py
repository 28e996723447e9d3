"""Optimal motion: tracking, minimum time, optimal control, identification."""

from ._result import OptimalMotion, Verification

__all__ = ["OptimalMotion", "Verification"]
