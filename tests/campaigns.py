"""How long random searches for faults run.

FLEXARM_CAMPAIGN makes them long: all their seeds, as before a release; without it slow
tests take as many as fit into the time of `.ci/run`.
"""

import os

FULL = bool(os.environ.get("FLEXARM_CAMPAIGN"))
