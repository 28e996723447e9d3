"""Payloads that the tests of the beam modes share, from none to a million beams."""

from __future__ import annotations

from flexarm.beams import BeamModes, clamped_beam_modes

# payloads relative to the beam: mass, inertia about the tip, static moment
PAYLOADS = [
    (0.0, 0.0, 0.0),
    (1.0, 0.0, 0.0),
    (0.0, 1.0, 0.0),
    (0.3, 0.02, 0.05),
    (12.0, 26.766667, 0.0),
    (2.0, 2.0 * 0.4**2, 2.0 * 0.4),  # a point mass ahead of the tip: no inertia left
    (5.0, 3.0, -3.8),
    (1e6, 0.0, 0.0),
    (0.0, 1e6, 0.0),
    (1e6, 1e6, 0.0),
    (1e6, 1e4, 9e4),
    (1e-6, 1e-6, 0.0),
]
PAYLOAD_IDS = [f"mass {m:g} inertia {j:g} moment {d:g}" for m, j, d in PAYLOADS]


def loaded(payload: tuple[float, float, float], n_modes: int) -> BeamModes:
    """Modes of the unit beam with one of the payloads."""
    mass, inertia, moment = payload
    return clamped_beam_modes(
        1.0, 1.0, 1.0, n_modes, tip_mass=mass, tip_inertia=inertia, tip_moment=moment
    )
