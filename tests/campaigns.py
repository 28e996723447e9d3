"""How long random searches for faults run.

``FLEXARM_CAMPAIGN=30`` makes them long, as before a release: thirty problems of each
campaign, all seeds of the others.  Without it slow tests take as many as fit into the
time of `.ci/run`.
"""

import os

_WANTED = int(os.environ.get("FLEXARM_CAMPAIGN", "0"))
FULL = _WANTED > 0


def problems(usual: int) -> int:
    """Number of problems of a campaign."""
    return _WANTED or usual
