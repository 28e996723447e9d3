"""The fidelity of the reference."""

from __future__ import annotations

from .._calls.arm_like import ArmLike
from ..errors import ArgumentError


def check_full(arm: ArmLike) -> None:
    """Refuse arms whose fidelity the reference does not have."""
    if arm.fidelity != "full":
        raise ArgumentError(
            f"the reference computes full fidelity, the arm has {arm.fidelity!r}; pass "
            "arm.replace(fidelity='full')"
        )
