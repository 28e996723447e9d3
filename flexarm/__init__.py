"""Kinematics and dynamics of flexible and rigid robot arms, in batches, from C kernels.

Make an arm: a tube that bends, on a motor, with a load of 1 kg.  `library` has arms
that are known, `urdf.load`, `mjcf.load` and `sdf.load` read robot files.

>>> import numpy as np
>>> import flexarm as fa
>>> section = fa.beams.Section.tube(diameter=0.04, thickness=0.002)
>>> tube = fa.beams.Beam(section, length=1.0, material="steel")
>>> joint = fa.Joint.revolute("-y")
>>> link = tube.elements("link", joint=joint, motions="bending z", damping_ratio=0.01)
>>> arm = fa.Arm([link, fa.RigidBody("load", fa.Joint.fixed(), mass=1.0)])
>>> arm.coordinate_names
('link', 'link.tip z', 'link.tip ry', 'link.bending z 3')

Move it: it falls from rest.  `print(arm)` shows its masses, frequencies and the errors
of its modes.

>>> t, rest = np.linspace(0.0, 1.0, 201), np.zeros(arm.nv)
>>> run = fa.simulate(arm, arm.neutral, rest, t)
>>> print(f"the tip falls by {-run.tip[:, 2].min():.2f} m")
the tip falls by 1.00 m

Look at it: `plotting` has more figures.

>>> lines = run.plot()  # the joints over time
>>> film = run.animate()  # film.save("fall.gif"), or the last line of a cell

Control it: a law holds the joint at 0.5 rad.  `linearize`, `control` and `optimize`
have models, other laws and motions.

>>> law = fa.control.SetPointPD(arm, kp=300.0, kd=60.0, target=[0.5]).feedback()
>>> run = fa.simulate(arm, arm.neutral, rest, 3.0 * t, torque=law)
>>> print(f"the joint ends at {run.q[-1, 0]:.3f} rad")
the joint ends at 0.500 rad

Conventions of all functions, which their docstrings do not repeat:

* Units are SI and radians; spatial vectors are [angular; linear].
* The last axes of an array belong to one state, the leading axes of all arguments
  broadcast.  Arguments are never changed.
* Arrays of other packages (pandas, xarray, Dask, whatever has ``__array__`` or
  ``__dlpack__``), `numpy.matrix`, integers and lists of these are converted, lazy ones
  are computed; results are plain arrays.  Masked values, complex numbers, quantities
  with units, and ``object`` or extended precision as states are refused.
* ``out`` is an array for the result, which may be one of the arguments.
* ``threads`` is an upper bound: a second thread helps if a call takes 100 us or more.
* A wrong shape, type or name raises `ArgumentError` before any work.  A result that is
  NaN or infinite raises `NotFiniteError`, which counts such states, names the faulty
  argument, and has all other results as its attribute ``result``.
* A number that is possible, but looks like one in another unit (limits in degrees, a
  damping ratio in percent, a modulus in MPa), is taken as it is, with a `UnitsWarning`.
* Ctrl-C ends a call within a fraction of a second, or after one step of its linear
  algebra.  Simulations and searches that have a result by then return their best so
  far, with ``success`` False and a message that starts with "interrupted" (their
  status, if they have one, is ``"interrupted"``); those of `optimize` also give a
  `ConvergenceWarning` and do not verify the result.  All else raises KeyboardInterrupt.
"""

import sys
from typing import TYPE_CHECKING

from . import (
    _build,  # noqa: F401  first: it says where the extension is
    methods,  # noqa: F401  hands them to arms
    se3,
)
from ._core import build_info
from ._support.later import loader
from ._support.moved import moved
from ._support.options import did_you_mean
from ._support.synonyms import FUNCTIONS, SYNONYMS
from ._version import __version__
from .arm import Arm
from .bodies.body import modal_integrals
from .bodies.dc_motor import DCMotor
from .bodies.drives import CoulombFriction, Drive, Stops
from .bodies.integrals import ModalIntegrals
from .bodies.joints import JOINT_KINDS, Joint
from .bodies.models import FlexibleBody, RigidBody
from .errors import (
    AccuracyWarning,
    ArgumentError,
    ConstraintWarning,
    ConvergenceError,
    ConvergenceWarning,
    DeflectionWarning,
    FlexarmError,
    ModelError,
    ModeWarning,
    NotFiniteError,
    PlacementWarning,
    SimulationWarning,
    SingularityError,
    StiffeningWarning,
    StudyWarning,
    UnitsWarning,
)
from .kinematics.links import link_accelerations, link_jacobians, link_velocities
from .kinematics.motion import center_of_mass, momentum, node_acceleration
from .kinematics.nodes import (
    jacobian,
    link_poses,
    node_pose,
    node_poses,
    node_velocity,
    tip_pose,
    wrench_forces,
)
from .kinematics.positions import difference, integrate
from .kinematics.slopes import largest_slope
from .mode_accuracy import mode_errors  # and looks at new arms
from .model.export import export_c
from .model.locking import lock_motors
from .model.loops import Coupling, Loop
from .model.sliders import Slider

if TYPE_CHECKING:  # these load at their first use, see _LATER
    from . import (
        beams,
        control,
        descriptions,
        finite_elements,
        identification,
        interop,
        library,
        mjcf,
        optimize,
        plotting,
        reference,
        sdf,
        studies,
        testing,
        twists,
        urdf,
    )
    from .constraints import (
        close_loops,
        constraint_forces,
        constraint_jacobian,
        constraint_violation,
        redundant_constraints,
    )
    from .derivatives import (
        forward_dynamics_derivatives,
        inverse_dynamics_derivatives,
        jacobian_derivatives,
    )
    from .dynamics import (
        bias_forces,
        dissipated_power,
        energy,
        forward_dynamics,
        gravity_forces,
        inverse_dynamics,
        kinetic_energy,
        log_det_mass_matrix,
        mass_matrix,
        mass_matrix_inverse,
        operational_space_compliance,
        operators,
        potential_energy,
    )
    from .files import load, save
    from .ik import inverse_kinematics
    from .linear_models import (
        StateSpace,
        closed_loop,
        inputs,
        linearize,
        outputs,
        robustness,
        root_locus,
    )
    from .loads import link_loads
    from .parameters import (
        base_parameters,
        inertial_parameters,
        inertial_regressor,
        trajectory_sensitivities,
    )
    from .simulation import events
    from .simulation.methods import Trajectory, simulate
    from .stacks import stack
    from .statics import (
        Tendon,
        deflection,
        equilibrium,
        equilibrium_path,
        holding_forces,
        inverse_statics,
        joint_grid,
        workspace_map,
    )
    from .vibration import complex_modes, natural_frequencies, vibration_modes

# what not every program needs: modules, and names by the module that has them
_LATER: dict[str, tuple[str, ...]] = {
    "": (
        "beams",
        "control",
        "descriptions",
        "finite_elements",
        "identification",
        "interop",
        "library",
        "mjcf",
        "optimize",
        "plotting",
        "reference",
        "sdf",
        "studies",
        "testing",
        "twists",
        "urdf",
    ),
    "constraints": (
        "close_loops",
        "constraint_forces",
        "constraint_jacobian",
        "constraint_violation",
        "redundant_constraints",
    ),
    "dynamics": (
        "bias_forces",
        "dissipated_power",
        "energy",
        "forward_dynamics",
        "gravity_forces",
        "inverse_dynamics",
        "kinetic_energy",
        "log_det_mass_matrix",
        "mass_matrix",
        "mass_matrix_inverse",
        "operational_space_compliance",
        "operators",
        "potential_energy",
    ),
    "derivatives": (
        "forward_dynamics_derivatives",
        "inverse_dynamics_derivatives",
        "jacobian_derivatives",
    ),
    "files": ("load", "save"),
    "ik": ("inverse_kinematics",),
    "linear_models": (
        "StateSpace",
        "closed_loop",
        "inputs",
        "linearize",
        "outputs",
        "robustness",
        "root_locus",
    ),
    "loads": ("link_loads",),
    "parameters": (
        "base_parameters",
        "inertial_parameters",
        "inertial_regressor",
        "trajectory_sensitivities",
    ),
    "simulation": ("events",),
    "simulation.methods": (
        "Trajectory",
        "simulate",
    ),
    "stacks": ("stack",),
    "statics": (
        "Tendon",
        "deflection",
        "equilibrium",
        "equilibrium_path",
        "holding_forces",
        "inverse_statics",
        "joint_grid",
        "workspace_map",
    ),
    "vibration": (
        "complex_modes",
        "natural_frequencies",
        "vibration_modes",
    ),
}

__all__ = [
    "AccuracyWarning",
    "ArgumentError",
    "Arm",
    "ConstraintWarning",
    "ConvergenceError",
    "ConvergenceWarning",
    "CoulombFriction",
    "Coupling",
    "DCMotor",
    "DeflectionWarning",
    "Drive",
    "FlexarmError",
    "FlexibleBody",
    "Joint",
    "Loop",
    "ModalIntegrals",
    "ModeWarning",
    "ModelError",
    "NotFiniteError",
    "PlacementWarning",
    "RigidBody",
    "SimulationWarning",
    "SingularityError",
    "Slider",
    "StateSpace",
    "StiffeningWarning",
    "Stops",
    "StudyWarning",
    "Tendon",
    "Trajectory",
    "UnitsWarning",
    "__version__",
    "base_parameters",
    "beams",
    "bias_forces",
    "build_info",
    "center_of_mass",
    "close_loops",
    "closed_loop",
    "complex_modes",
    "constraint_forces",
    "constraint_jacobian",
    "constraint_violation",
    "control",
    "deflection",
    "descriptions",
    "difference",
    "dissipated_power",
    "energy",
    "equilibrium",
    "equilibrium_path",
    "events",
    "export_c",
    "finite_elements",
    "forward_dynamics",
    "forward_dynamics_derivatives",
    "gravity_forces",
    "holding_forces",
    "identification",
    "inertial_parameters",
    "inertial_regressor",
    "inputs",
    "integrate",
    "interop",
    "inverse_dynamics",
    "inverse_dynamics_derivatives",
    "inverse_kinematics",
    "inverse_statics",
    "jacobian",
    "jacobian_derivatives",
    "joint_grid",
    "kinetic_energy",
    "largest_slope",
    "library",
    "linearize",
    "link_accelerations",
    "link_jacobians",
    "link_loads",
    "link_poses",
    "link_velocities",
    "load",
    "lock_motors",
    "log_det_mass_matrix",
    "mass_matrix",
    "mass_matrix_inverse",
    "mjcf",
    "modal_integrals",
    "mode_errors",
    "momentum",
    "natural_frequencies",
    "node_acceleration",
    "node_pose",
    "node_poses",
    "node_velocity",
    "operational_space_compliance",
    "operators",
    "optimize",
    "outputs",
    "plotting",
    "potential_energy",
    "redundant_constraints",
    "reference",
    "robustness",
    "root_locus",
    "save",
    "sdf",
    "se3",
    "simulate",
    "stack",
    "studies",
    "testing",
    "tip_pose",
    "trajectory_sensitivities",
    "twists",
    "urdf",
    "vibration_modes",
    "workspace_map",
    "wrench_forces",
]


# rooms whose names one looks for here
_ROOMS = (
    *("beams", "control", "library", "optimize", "plotting", "studies", "outputs"),
    *("identification", "inputs", "events", "descriptions", "interop", "mjcf"),
    *("sdf", "urdf"),
)


def _hint(name: str) -> str:
    """Hint at a name that was meant, here, in a room of the package, or of an arm."""
    hint = moved(__name__, name)
    if hint or name.startswith("_"):
        return hint
    rooms = {room: getattr(sys.modules[__name__], room).__all__ for room in _ROOMS}
    full = [f"{room}.{item}" for room, items in rooms.items() for item in items]
    for other in (words := SYNONYMS.get(name.lower(), ())):
        if other in __all__ or other in full:
            return f"; did you mean {other!r}?"
    for room, items in rooms.items():
        if name in items and name not in ("load", "read", "report"):
            return f"; did you mean {room}.{name}?"
    if name in FUNCTIONS:
        return f"; expected {FUNCTIONS[name]}"
    for other in (name, *words):
        if hasattr(Arm, other):
            return f"; did you mean arm.{other}, an attribute of arms?"
        for room in (room for room, items in rooms.items() if other in items):
            return f"; did you mean {room}.{other}?"
    return _joint_hint(name) or did_you_mean(name, __all__)


def _joint_hint(name: str) -> str:
    """Hint at the constructor of a joint, for names such as ``RevoluteJoint``."""
    word = name.lower().removeprefix("create").replace("jointmodel", "")
    word = word.replace("joint", "").strip("_")
    for kind in (word, *SYNONYMS.get(word, ())):
        if kind in JOINT_KINDS and kind != name:
            return f"; expected flexarm.Joint.{kind}(...)"
    return ""


if not TYPE_CHECKING:  # a type checker knows the names
    _places = {name: room or name for room, names in _LATER.items() for name in names}
    _places |= {room: room for room in _LATER if room}
    __getattr__ = loader(__name__, _places, _hint)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
