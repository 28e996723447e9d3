"""Named arms: functions that return an `Arm`, with its source and parameters.

Teaching arms: `pendulum`, `planar_chain`.  Arms of the literature:
`de_luca_siciliano` (two flexible links), `cibicik_egeland` (four joints, two flexible
links in space), `farid_planar`, `farid_two_link`, `farid_spatial` (flexible links and
joints), `canadarm` (of the Space Shuttle), `crane` (a knuckle boom, with its oil),
`spin_up_beam` (a beam on a hub), `puma560`, `iiwa14`, `ur5e`, `panda`, `youbot`,
`mueller_remote_center` (rigid).
`random_tree` draws arms for tests.  `poses` returns named configurations, `spin_up`
the motion of the hub of `spin_up_beam`.
"""

from typing import TYPE_CHECKING

from .._support.moved import missing_or_moved
from .booms import canadarm, crane
from .farid import farid_planar, farid_spatial, farid_two_link
from .flexible import de_luca_siciliano
from .generator import random_tree
from .industrial import iiwa14, panda, puma560, ur5e
from .mobile import youbot
from .mueller import mueller_remote_center
from .planar import pendulum, planar_chain
from .postures import poses
from .spatial import cibicik_egeland
from .spinning_beam import spin_up, spin_up_beam

__all__ = [
    "canadarm",
    "cibicik_egeland",
    "crane",
    "de_luca_siciliano",
    "farid_planar",
    "farid_spatial",
    "farid_two_link",
    "iiwa14",
    "mueller_remote_center",
    "panda",
    "pendulum",
    "planar_chain",
    "poses",
    "puma560",
    "random_tree",
    "spin_up",
    "spin_up_beam",
    "ur5e",
    "youbot",
]

if not TYPE_CHECKING:
    __getattr__ = missing_or_moved(
        __name__,
        __all__,
        "; dir(flexarm.library) has those that are here, other robots come from their "
        "files, by flexarm.urdf.load",
    )


def __dir__() -> list[str]:
    return [*__all__]
