"""C kernels: one arm as gufuncs, maps without an arm, and records of runs.

Sizes of signatures are nq, nv, B bodies, N nodes and m rows of constraints; t is nu or
nv.  Records have C-ordered arrays, those with c|1 a row for each of c trajectories, or
one for all; q, v and u in their shapes are nq, nv and nu.  ``tests/stub.py`` writes the
parts that follow from the tables of C.
"""

from collections.abc import Callable
from types import MappingProxyType
from typing import (
    Any,
    Final,
    NamedTuple,
    Protocol,
    TypeAlias,
    TypedDict,
    final,
    type_check_only,
)

import numpy as np
from numpy.typing import NDArray

_Array: TypeAlias = NDArray[np.float64]

# records, from the tables of C
@type_check_only
class Options(NamedTuple):
    """Options of the methods of a time loop."""

    spectral_radius: float = ...
    rtol: float = ...
    atol: float = ...
    max_step: float = ...  # in s

@type_check_only
class Gains(NamedTuple):
    """Feedback ``kp (reference - q) + kd (rates - qd)`` of the u actuators."""

    diagonal: bool  # gains have no last axis
    kp: _Array  # (c|1, u, ?)
    kd: _Array  # (c|1, u, ?)
    reference: _Array  # (c|1, s, u)
    rates: _Array | None  # (c|1, s, u): None: zero

@type_check_only
class Rollout(NamedTuple):
    """Run of c trajectories over s samples: `Model.rollout`, `Stack.rollout`."""

    q: _Array  # (c, s, q), written: the first sample is the start
    qd: _Array  # (c, s, v), written
    t: _Array  # (c|1, s): in s
    method: str
    substeps: int  # from sample to sample
    # (c|1, s, f): or a function of t, q and qd; None: zero
    tau: _Array | Callable[[float, _Array, _Array], object] | None
    hold: bool  # forces between samples; linear otherwise
    tau_out: _Array  # (c, s, f), written
    feedback: Gains | None = ...
    tick: Callable[[int], object] | None = ...  # gets the number of steps so far
    options: Options = ...
    report: _Array | None = ...  # (c, n), written: columns of REPORT_COLUMNS
    threads: int = ...
    arms: NDArray[np.int64] | None = ...  # (c): numbers of the arms, of a stack

@type_check_only
class SampledLoop(NamedTuple):
    """Run of a linear law: `Model.sampled_loop`, `Stack.sampled_loop`.

    Of c loops with s times of the result, k knots, j intervals between them, i
    samples of the law, p measured outputs and m states; w = 2 nv.
    """

    q: _Array  # (c, s, q), written: the first sample is the start
    qd: _Array  # (c, s, v), written
    tau: _Array  # (c, s, f), written
    method: str
    knots: _Array  # (k): in s
    substeps: NDArray[np.intc]  # (j): from knot to knot
    samples: NDArray[np.uintp]  # (i): knots at which the law is evaluated
    changes: NDArray[np.uintp]  # (h): from which the forces of a sample act, at most i
    outputs: NDArray[np.uintp]  # (s): of the times of the result
    y: _Array  # (c, i, p), written: the noise before, measured outputs after
    u: _Array  # (c, i, u), written: of the law
    command: _Array  # (c, i, u), written: forces after limits and resolution
    states: _Array  # (c, i, m), written
    rows: _Array  # (c|1, p, w): of (q, qd)
    resolution: _Array  # (p): of the outputs; 0: exact
    step: _Array  # (u): resolution of the forces
    limits: _Array  # (2, u): least and largest forces
    held: _Array  # (c|1, u): forces before the first ones arrive
    A: _Array  # (c|1, m, m)
    B: _Array  # (c|1, m, p)
    C: _Array  # (c|1, u, m)
    D: _Array  # (c|1, u, p)
    E: _Array | None  # (c|1, m, u)
    z0: _Array  # (c|1, m)
    reference: _Array  # (c|1, a, p): a is 1 or i
    feedforward: _Array  # (c|1, b, u): b is 1 or i
    options: Options = ...
    report: _Array | None = ...  # (c, n), written: columns of REPORT_COLUMNS
    threads: int = ...
    arms: NDArray[np.int64] | None = ...  # (c): numbers of the arms, of a stack

@type_check_only
class TargetRun(NamedTuple):
    """Run of inverse kinematics to c targets: `Model.inverse_kinematics`."""

    target: _Array  # (c, 4, 4)
    q: _Array  # (c, q), written: start, then the result
    residual: _Array  # (c, 6), written
    cost: _Array  # (c), written: weighted norm of the residual
    status: NDArray[np.intc]  # (c), written: number in IK_STATUSES
    iterations: NDArray[np.intc]  # (c), written: evaluations
    limits: _Array | None  # (2, q)
    wrench: _Array | None  # (c|1, 6): on the node
    weights: _Array  # (6): angular first
    node: int
    place_only: bool
    deflection: bool  # modes in static equilibrium
    wrench_in_base: bool
    tolerance: float
    stationary: float  # largest cosine of error and columns at a minimum
    damping: float  # of the first step
    max_iterations: int
    monotone: bool  # no step increases the error
    threads: int

@type_check_only
class ScalingRun(NamedTuple):
    """Fastest motion along a path of n points with m rows: `time_scaling`."""

    s: _Array  # (n)
    a: _Array  # (n, m): lower <= a u + b x <= upper
    b: _Array  # (n, m)
    lower: _Array  # (n, m)
    upper: _Array  # (n, m)
    x_max: _Array  # (n)
    x_start: float
    x_end: _Array  # (2): least and largest
    scheme: int  # number in SCALING_SCHEMES
    controllable: _Array  # (n, 2), written
    curve: _Array  # (n), written
    x: _Array  # (n), written
    u: _Array  # (k), written

@type_check_only
class PredictiveStep(NamedTuple):
    """A sample of predictive control of c loops: `predictive_step`.

    Of n states, o outputs, m inputs and r rows of limits; w = 2 n + m are the state,
    the last inputs and the disturbance, as deviations.
    """

    A: _Array  # (n, n)
    B: _Array  # (n, m)
    R: _Array  # (r, w): rows of limits without multipliers
    F: _Array  # (m, w): inputs without multipliers
    E: _Array  # (r, m): what multipliers take from the inputs
    gram: _Array  # (r, r)
    lower: _Array  # (r)
    upper: _Array  # (r)
    tolerance: _Array  # (r)
    soft: _Array  # (3, r): none, outputs, outputs and rates give way
    least: _Array  # (m)
    most: _Array  # (m)
    next: NDArray[np.intc]  # (r): the row that it is a sample later
    h: float  # of the disturbance
    max_steps: int
    C: _Array | None  # (o, n): of the observer; None: measured states
    L: _Array | None  # (n, o)
    measured: _Array  # (c, o)
    u: _Array  # (c, m), written
    p: _Array  # (c, w), written: kept from sample to sample, as y, side and begun
    y: _Array  # (c, r), written
    side: NDArray[np.intc]  # (c, r), written
    begun: NDArray[np.intc]  # (c), written
    status: NDArray[np.intc]  # (c), written: number in PREDICTIVE_STATUSES
    steps: NDArray[np.intc]  # (c), written

# end of the tables

@type_check_only
class Function(Protocol):  # of states
    def __call__(self, *operands: Any, **options: Any) -> NDArray[np.float64]: ...

@type_check_only
class Gufunc(Function):  # a np.ufunc, of which the result is an array of floats
    __name__: str
    nargs: int
    nin: int
    signature: str | None
    def __call__(self, *operands: Any, **options: Any) -> NDArray[np.float64]: ...

@type_check_only
class BuildInfo(TypedDict):
    isa: str
    lanes: int
    available: list[str]
    compiler: str
    numpy_at_build: str
    openblas: str

def build_info() -> BuildInfo: ...
def modal_integrals(
    n_modes: int, nodes: NDArray[np.float64], /
) -> tuple[
    float,
    tuple[float, float, float],
    tuple[float, float, float, float, float, float],
    NDArray[np.float64],
]: ...
def explain_with(function: Any, /) -> None: ...
def convert_with(function: Any, /) -> None: ...
def is_plain(value: Any, /) -> bool: ...
def finite_copy(
    value: Any, shape: tuple[int | None, ...], /
) -> NDArray[np.float64] | None: ...
def shortcut(function: Any, inner: Any, /) -> Any: ...
def quiet_map(name: str, /) -> Gufunc: ...
def time_scaling(run: ScalingRun, /) -> tuple[int, int]: ...
def predictive_step(step: PredictiveStep, /) -> None: ...

# enums of the library: names in its order
JOINT_KINDS: Final[tuple[str, ...]]
FIDELITIES: Final[tuple[str, ...]]
PASSIVE_KINDS: Final[tuple[str, ...]]
DIRECTIONS: Final[tuple[str, ...]]
METHODS: Final[tuple[str, ...]]
STACK_METHODS: Final[tuple[str, ...]]  # those of time loops of stacks
ENDINGS: Final[tuple[str, ...]]
IK_STATUSES: Final[tuple[str, ...]]
PREDICTIVE_STATUSES: Final[tuple[str, ...]]
SCALING_STATUSES: Final[tuple[str, ...]]
SCALING_SCHEMES: Final[tuple[str, ...]]
# columns of the arrays of a Model, of given integrals, of the report of a rollout
TOPOLOGY_COLUMNS: Final[MappingProxyType[str, slice]]
JOINT_COLUMNS: Final[MappingProxyType[str, slice]]
NODE_COLUMNS: Final[MappingProxyType[str, slice]]
INTEGRAL_COLUMNS: Final[MappingProxyType[str, slice]]
LOOP_COLUMNS: Final[MappingProxyType[str, slice]]
FRAME_COLUMNS: Final[MappingProxyType[str, slice]]
PASSIVE_COLUMNS: Final[MappingProxyType[str, slice]]
REPORT_COLUMNS: Final[MappingProxyType[str, slice]]
# of each kernel its public function, documentation, how many nodes the number in front
# stands for, and core dimensions of the operands; of each field of a record type,
# shape, flags and documentation
KERNELS: Final[MappingProxyType[str, tuple[str, str, int, tuple[str, ...]]]]
RECORDS: Final[
    MappingProxyType[str, tuple[str, dict[str, tuple[str, str, str, str, float]]]]
]
# limits: modes of a body, bodies, velocities of joints, motors and modes, nodes, shapes
# that modes drive
MAX_MODES: Final[int]
MAX_BODIES: Final[int]
MAX_VELOCITIES: Final[int]
MAX_NODES: Final[int]
MAX_DRIVEN: Final[int]
# how far a rotation may be off, and rounding where zero is expected
LIE_TOLERANCE: Final[float]
LIE_ROUNDING: Final[float]

# maps, from the tables of C
screws_apply_adjoint: Final[Gufunc]  # (2,4,4),(2,6)->(2,6)
screws_apply_adjoint_inverse: Final[Gufunc]  # (2,4,4),(2,6)->(2,6)
screws_apply_coadjoint: Final[Gufunc]  # (2,4,4),(2,6)->(2,6)
screws_apply_coadjoint_inverse: Final[Gufunc]  # (2,4,4),(2,6)->(2,6)
screws_bracket: Final[Gufunc]  # (2,6),(2,6)->(2,6)
screws_compose: Final[Gufunc]  # (2,4,4),(2,4,4)->(2,4,4)
screws_exp: Final[Gufunc]  # (2,6)->(2,4,4)
screws_inverse: Final[Gufunc]  # (2,4,4)->(2,4,4)
screws_left_jacobian: Final[Gufunc]  # (2,6)->(2,6,6)
screws_left_jacobian_inverse: Final[Gufunc]  # (2,6)->(2,6,6)
screws_log: Final[Gufunc]  # (2,4,4)->(2,6)
screws_rotation_apply: Final[Gufunc]  # (2,3,3),(2,3)->(2,3)
screws_rotation_bracket: Final[Gufunc]  # (2,3),(2,3)->(2,3)
screws_rotation_compose: Final[Gufunc]  # (2,3,3),(2,3,3)->(2,3,3)
screws_rotation_exp: Final[Gufunc]  # (2,3)->(2,3,3)
screws_rotation_inverse: Final[Gufunc]  # (2,3,3)->(2,3,3)
screws_rotation_left_jacobian: Final[Gufunc]  # (2,3)->(2,3,3)
screws_rotation_left_jacobian_inverse: Final[Gufunc]  # (2,3)->(2,3,3)
screws_rotation_log: Final[Gufunc]  # (2,3,3)->(2,3)
se3_ad: Final[Gufunc]  # (6)->(6,6)
se3_adjoint: Final[Gufunc]  # (4,4)->(6,6)
se3_adjoint_inverse: Final[Gufunc]  # (4,4)->(6,6)
se3_apply_adjoint: Final[Gufunc]  # (4,4),(6)->(6)
se3_apply_adjoint_inverse: Final[Gufunc]  # (4,4),(6)->(6)
se3_apply_coadjoint: Final[Gufunc]  # (4,4),(6)->(6)
se3_apply_coadjoint_inverse: Final[Gufunc]  # (4,4),(6)->(6)
se3_bracket: Final[Gufunc]  # (6),(6)->(6)
se3_cayley: Final[Gufunc]  # (6)->(4,4)
se3_cayley_inverse: Final[Gufunc]  # (4,4)->(6)
se3_compose: Final[Gufunc]  # (4,4),(4,4)->(4,4)
se3_exp: Final[Gufunc]  # (6)->(4,4)
se3_hat: Final[Gufunc]  # (6)->(4,4)
se3_interpolate: Final[Gufunc]  # (4,4),(4,4),()->(4,4)
se3_inverse: Final[Gufunc]  # (4,4)->(4,4)
se3_left_jacobian: Final[Gufunc]  # (6)->(6,6)
se3_left_jacobian_derivative: Final[Gufunc]  # (6),(6)->(6,6)
se3_left_jacobian_inverse: Final[Gufunc]  # (6)->(6,6)
se3_left_jacobian_inverse_derivative: Final[Gufunc]  # (6),(6)->(6,6)
se3_log: Final[Gufunc]  # (4,4)->(6)
se3_pose: Final[Gufunc]  # (3,3),(3)->(4,4)
se3_quaternion_exp: Final[Gufunc]  # (3)->(4)
se3_quaternion_from_rotation: Final[Gufunc]  # (3,3)->(4)
se3_quaternion_inverse: Final[Gufunc]  # (4)->(4)
se3_quaternion_log: Final[Gufunc]  # (4)->(3)
se3_quaternion_product: Final[Gufunc]  # (4),(4)->(4)
se3_right_jacobian: Final[Gufunc]  # (6)->(6,6)
se3_right_jacobian_derivative: Final[Gufunc]  # (6),(6)->(6,6)
se3_right_jacobian_inverse: Final[Gufunc]  # (6)->(6,6)
se3_right_jacobian_inverse_derivative: Final[Gufunc]  # (6),(6)->(6,6)
se3_rotation_from_quaternion: Final[Gufunc]  # (4)->(3,3)
se3_screw: Final[Gufunc]  # (3),(3),()->(6)
se3_so3_cayley: Final[Gufunc]  # (3)->(3,3)
se3_so3_cayley_inverse: Final[Gufunc]  # (3,3)->(3)
se3_so3_exp: Final[Gufunc]  # (3)->(3,3)
se3_so3_hat: Final[Gufunc]  # (3)->(3,3)
se3_so3_left_jacobian: Final[Gufunc]  # (3)->(3,3)
se3_so3_left_jacobian_inverse: Final[Gufunc]  # (3)->(3,3)
se3_so3_log: Final[Gufunc]  # (3,3)->(3)
se3_so3_right_jacobian: Final[Gufunc]  # (3)->(3,3)
se3_so3_right_jacobian_inverse: Final[Gufunc]  # (3)->(3,3)
se3_so3_vee: Final[Gufunc]  # (3,3)->(3)
se3_vee: Final[Gufunc]  # (4,4)->(6)
# end of the tables

@type_check_only
class Kernels(Protocol):
    """What an arm and a stack of arms compute; of a stack each state with its arm."""

    def quiet(self, name: str, threads: int = 1, /) -> Function: ...
    def threaded(self, name: str, threads: int, /) -> Function: ...
    def rollout(self, run: Rollout, /) -> None: ...
    def sampled_loop(self, run: SampledLoop, /) -> None: ...

    # kernels, from the tables of C
    inverse_dynamics: Function = ...  # (nq),(nv),(nv)->(nv)
    bias_forces: Function = ...  # (nq),(nv)->(nv)
    gravity_forces: Function = ...  # (nq)->(nv)
    forward_dynamics: Function = ...  # (nq),(nv),(t)->(nv)
    mass_matrix: Function = ...  # (nq)->(nv,nv)
    mass_matrix_inverse: Function = ...  # (nq)->(nv,nv)
    apply_mass_matrix: Function = ...  # (nq),(nv)->(nv)
    apply_mass_matrix_inverse: Function = ...  # (nq),(nv)->(nv)
    log_det_mass_matrix: Function = ...  # (nq)->()
    kinetic_energy: Function = ...  # (nq),(nv)->()
    potential_energy: Function = ...  # (nq)->()
    dissipated_power: Function = ...  # (nq),(nv)->()
    link_poses: Function = ...  # (nq)->(B,4,4)
    node_poses: Function = ...  # (nq)->(N,4,4)
    node_pose: Function = ...  # (),(nq)->(4,4)
    node_velocity: Function = ...  # (),(nq),(nv)->(6)
    node_velocity_base: Function = ...  # (),(nq),(nv)->(6)
    jacobian: Function = ...  # (),(nq)->(6,nv)
    jacobian_base: Function = ...  # (),(nq)->(6,nv)
    wrench_forces: Function = ...  # (),(nq),(6)->(nv)
    wrench_forces_base: Function = ...  # (),(nq),(6)->(nv)
    node_acceleration: Function = ...  # (),(nq),(nv),(nv)->(6)
    node_acceleration_base: Function = ...  # (),(nq),(nv),(nv)->(6)
    momentum: Function = ...  # (nq),(nv)->(6)
    center_of_mass: Function = ...  # (nq)->(3)
    integrate: Function = ...  # (nq),(nv)->(nq)
    position_rates: Function = ...  # (nq),(nv)->(nq)
    link_velocities: Function = ...  # (nq),(nv)->(B,6)
    link_velocities_spatial: Function = ...  # (nq),(nv)->(B,6)
    link_velocities_hybrid: Function = ...  # (nq),(nv)->(B,6)
    link_velocities_mixed: Function = ...  # (nq),(nv)->(B,6)
    link_accelerations: Function = ...  # (nq),(nv),(nv)->(B,6)
    link_accelerations_spatial: Function = ...  # (nq),(nv),(nv)->(B,6)
    link_accelerations_hybrid: Function = ...  # (nq),(nv),(nv)->(B,6)
    link_accelerations_mixed: Function = ...  # (nq),(nv),(nv)->(B,6)
    link_jacobians: Function = ...  # (nq)->(B,6,nv)
    link_jacobians_spatial: Function = ...  # (nq)->(B,6,nv)
    link_jacobians_hybrid: Function = ...  # (nq)->(B,6,nv)
    link_jacobians_mixed: Function = ...  # (nq)->(B,6,nv)
    link_jacobian_rates: Function = ...  # (nq),(nv)->(B,6,nv)
    link_jacobian_rates_spatial: Function = ...  # (nq),(nv)->(B,6,nv)
    link_jacobian_rates_hybrid: Function = ...  # (nq),(nv)->(B,6,nv)
    link_jacobian_rates_mixed: Function = ...  # (nq),(nv)->(B,6,nv)
    constraint_violation: Function = ...  # (nq)->(m)
    constraint_jacobian: Function = ...  # (nq)->(m,nv)
    constraint_forces: Function = ...  # (nq),(nv),(t)->(m)
    inverse_dynamics_derivatives: Function = ...  # (nq),(nv),(nv)->(2,nv,nv)
    forward_dynamics_basic: Function = ...  # (nq),(nv),(t)->(nv)
    forward_dynamics_composite: Function = ...  # (nq),(nv),(t)->(nv)
    innovations_factors: Function = ...  # (nq)->(2,nv,nv)
    mass_matrix_inverse_blocks: Function = ...  # (nq)->(nv,nv)
    operational_space_compliance: Function = ...  # (),(nq)->(6,6)
    forward_dynamics_derivatives: Function = ...  # (nq),(nv),(t)->(3,nv,nv)
    inverse_dynamics_jvp: Function = ...  # (nq),(nv),(nv),(nv),(nv),(nv)->(nv)
    forward_dynamics_jvp: Function = ...  # (nq),(nv),(t),(nv),(nv),(t)->(nv)
    inverse_dynamics_vjp: Function = ...  # (nq),(nv),(nv),(nv)->(3,nv)
    forward_dynamics_vjp: Function = ...  # (nq),(nv),(t),(nv)->(3,nv)
    jacobian_derivatives: Function = ...  # (),(nq)->(6,nv,nv)
    energy_derivatives: Function = ...  # (nq),(nv)->(2,nv)

# end of the tables

@final
class Stack:
    """Arms of one topology; gufuncs take the number of the arm first."""

    def __new__(cls, models: tuple[Model, ...], /) -> Stack: ...
    def gufunc(self, name: str, quiet: bool = ..., threads: int = ..., /) -> Gufunc: ...
    def rollout(self, run: Rollout, /) -> None: ...
    def sampled_loop(self, run: SampledLoop, /) -> None: ...

@final
class Model(Kernels):
    def quiet(self, name: str, threads: int = 1, /) -> Gufunc: ...
    def threaded(self, name: str, threads: int, /) -> Gufunc: ...
    def __new__(
        cls,
        topology: NDArray[np.intc],
        joints: NDArray[np.float64],
        nodes: NDArray[np.float64],
        modal: NDArray[np.float64],
        constants: NDArray[np.float64],
        loops: NDArray[np.intc],
        frames: NDArray[np.float64],
        couplings: NDArray[np.float64],
        passive: NDArray[np.float64],
        followers: NDArray[np.float64],
        /,
    ) -> Model: ...
    def bind(self, owner: Any, tip: int, /) -> None: ...
    def merge(self, model: Model, /) -> None: ...
    def work_size(self, name: str, /) -> int: ...
    def inverse_kinematics(self, run: TargetRun, /) -> None: ...
