r"""Control of an arm by its own dynamics, the loop of Jain and Rodriguez.

`ManipulatorController` repeats at each time step what FIGS. 4 and 6 of their patent
show [1]_; numbers in parentheses are those of the figures:

1. configuration of the model: joints from the sensors (142), or from integrating the
   accelerations of the step before (140); the modes always by integration,
2. velocity terms (130), articulated quantities (125) and the accelerations of joints
   and modes that the *specified* forces give (135),
3. comparison with the desired motion (144),
4. correction of the specified forces (144), by `ComputedTorque` or any function,
5. conversion of the corrected forces to servo commands (146), sent at once or stored.

The plant is a `SimulatedPlant` with `JointSensors`, or whatever the caller has.  Forces
act on joints: arms with drives are refused.

.. [1] A. Jain, G. Rodriguez, US patent 5,546,508 (1996), FIGS. 4 and 6, "A System
   Embodying the Invention", claims 1, 6, 7, 16 and 31.
"""

from ...control._loops.comparison import Comparison
from ._correction import ComputedTorque
from ._deformations import Sensed, node_deformations
from ._manipulator import ControlStep, ManipulatorController
from ._plant import JointSensors, SimulatedPlant

__all__ = [
    "Comparison",
    "ComputedTorque",
    "ControlStep",
    "JointSensors",
    "ManipulatorController",
    "Sensed",
    "SimulatedPlant",
    "node_deformations",
]
