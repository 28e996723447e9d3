"""What the reference computes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import ArgumentError

if TYPE_CHECKING:
    from ..arm import Arm


def check_full(arm: Arm) -> None:
    """Refuse arms whose fidelity the reference does not have."""
    if arm.fidelity != "full":
        raise ArgumentError(
            f"the reference computes full fidelity, the arm has {arm.fidelity!r}; pass "
            "arm.replace(fidelity='full')"
        )
