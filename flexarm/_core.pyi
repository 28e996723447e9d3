"""C kernels: one arm as gufuncs; signatures with nq, nv, B bodies and N nodes.

Maps without an arm stand in the module itself.
"""

from types import MappingProxyType
from typing import Any, Final, Protocol, TypedDict, final, type_check_only

import numpy as np
from numpy.typing import NDArray

from ._calls.records import PredictiveStep, Rollout, SampledLoop, ScalingRun, TargetRun

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

# maps without an arm
se3_so3_hat: Final[Gufunc]  # (3)->(3,3)
se3_so3_vee: Final[Gufunc]  # (3,3)->(3)
se3_so3_exp: Final[Gufunc]  # (3)->(3,3)
se3_so3_log: Final[Gufunc]  # (3,3)->(3)
se3_so3_left_jacobian: Final[Gufunc]  # (3)->(3,3)
se3_so3_right_jacobian: Final[Gufunc]  # (3)->(3,3)
se3_so3_left_jacobian_inverse: Final[Gufunc]  # (3)->(3,3)
se3_so3_right_jacobian_inverse: Final[Gufunc]  # (3)->(3,3)
se3_so3_cayley: Final[Gufunc]  # (3)->(3,3)
se3_so3_cayley_inverse: Final[Gufunc]  # (3,3)->(3)
se3_quaternion_from_rotation: Final[Gufunc]  # (3,3)->(4)
se3_rotation_from_quaternion: Final[Gufunc]  # (4)->(3,3)
se3_quaternion_product: Final[Gufunc]  # (4),(4)->(4)
se3_quaternion_inverse: Final[Gufunc]  # (4)->(4)
se3_quaternion_exp: Final[Gufunc]  # (3)->(4)
se3_quaternion_log: Final[Gufunc]  # (4)->(3)
se3_hat: Final[Gufunc]  # (6)->(4,4)
se3_vee: Final[Gufunc]  # (4,4)->(6)
se3_exp: Final[Gufunc]  # (6)->(4,4)
se3_log: Final[Gufunc]  # (4,4)->(6)
se3_pose: Final[Gufunc]  # (3,3),(3)->(4,4)
se3_inverse: Final[Gufunc]  # (4,4)->(4,4)
se3_compose: Final[Gufunc]  # (4,4),(4,4)->(4,4)
se3_interpolate: Final[Gufunc]  # (4,4),(4,4),()->(4,4)
se3_adjoint: Final[Gufunc]  # (4,4)->(6,6)
se3_adjoint_inverse: Final[Gufunc]  # (4,4)->(6,6)
se3_apply_adjoint: Final[Gufunc]  # (4,4),(6)->(6)
se3_apply_adjoint_inverse: Final[Gufunc]  # (4,4),(6)->(6)
se3_apply_coadjoint: Final[Gufunc]  # (4,4),(6)->(6)
se3_apply_coadjoint_inverse: Final[Gufunc]  # (4,4),(6)->(6)
se3_ad: Final[Gufunc]  # (6)->(6,6)
se3_bracket: Final[Gufunc]  # (6),(6)->(6)
se3_left_jacobian: Final[Gufunc]  # (6)->(6,6)
se3_right_jacobian: Final[Gufunc]  # (6)->(6,6)
se3_left_jacobian_inverse: Final[Gufunc]  # (6)->(6,6)
se3_right_jacobian_inverse: Final[Gufunc]  # (6)->(6,6)
se3_left_jacobian_derivative: Final[Gufunc]  # (6),(6)->(6,6)
se3_right_jacobian_derivative: Final[Gufunc]  # (6),(6)->(6,6)
se3_left_jacobian_inverse_derivative: Final[Gufunc]  # (6),(6)->(6,6)
se3_right_jacobian_inverse_derivative: Final[Gufunc]  # (6),(6)->(6,6)
se3_cayley: Final[Gufunc]  # (6)->(4,4)
se3_cayley_inverse: Final[Gufunc]  # (4,4)->(6)
se3_screw: Final[Gufunc]  # (3),(3),()->(6)
screws_rotation_compose: Final[Gufunc]  # (2,3,3),(2,3,3)->(2,3,3)
screws_rotation_inverse: Final[Gufunc]  # (2,3,3)->(2,3,3)
screws_rotation_apply: Final[Gufunc]  # (2,3,3),(2,3)->(2,3)
screws_rotation_bracket: Final[Gufunc]  # (2,3),(2,3)->(2,3)
screws_rotation_exp: Final[Gufunc]  # (2,3)->(2,3,3)
screws_rotation_log: Final[Gufunc]  # (2,3,3)->(2,3)
screws_rotation_left_jacobian: Final[Gufunc]  # (2,3)->(2,3,3)
screws_rotation_left_jacobian_inverse: Final[Gufunc]  # (2,3)->(2,3,3)
screws_compose: Final[Gufunc]  # (2,4,4),(2,4,4)->(2,4,4)
screws_inverse: Final[Gufunc]  # (2,4,4)->(2,4,4)
screws_exp: Final[Gufunc]  # (2,6)->(2,4,4)
screws_log: Final[Gufunc]  # (2,4,4)->(2,6)
screws_apply_adjoint: Final[Gufunc]  # (2,4,4),(2,6)->(2,6)
screws_apply_adjoint_inverse: Final[Gufunc]  # (2,4,4),(2,6)->(2,6)
screws_apply_coadjoint: Final[Gufunc]  # (2,4,4),(2,6)->(2,6)
screws_apply_coadjoint_inverse: Final[Gufunc]  # (2,4,4),(2,6)->(2,6)
screws_bracket: Final[Gufunc]  # (2,6),(2,6)->(2,6)
screws_left_jacobian: Final[Gufunc]  # (2,6)->(2,6,6)
screws_left_jacobian_inverse: Final[Gufunc]  # (2,6)->(2,6,6)

@type_check_only
class Kernels(Protocol):
    """What an arm and a stack of arms compute; of a stack each state with its arm."""

    inverse_dynamics: Function = ...  # (nq),(nv),(nv)->(nv)
    bias_forces: Function = ...  # (nq),(nv)->(nv)
    gravity_forces: Function = ...  # (nq)->(nv)
    inverse_dynamics_derivatives: Function = ...  # (nq),(nv),(nv)->(2,nv,nv)
    inverse_dynamics_jvp: Function = ...  # (nq),(nv),(nv),(nv),(nv),(nv)->(nv)
    inverse_dynamics_vjp: Function = ...  # (nq),(nv),(nv),(nv)->(3,nv)
    # of arms without constraints; (nq),(nv),(t)->(3,nv,nv), t is nu or nv
    forward_dynamics_derivatives: Function = ...
    forward_dynamics_jvp: Function = ...  # (nq),(nv),(t),(nv),(nv),(t)->(nv)
    forward_dynamics_vjp: Function = ...  # (nq),(nv),(t),(nv)->(3,nv)
    jacobian_derivatives: Function = ...  # (),(nq)->(6,nv,nv)
    energy_derivatives: Function = ...  # (nq),(nv)->(2,nv)
    forward_dynamics: Function = ...  # (nq),(nv),(t)->(nv), t is nu or nv
    forward_dynamics_basic: Function = ...  # (nq),(nv),(t)->(nv)
    forward_dynamics_composite: Function = ...  # (nq),(nv),(t)->(nv)
    mass_matrix: Function = ...  # (nq)->(nv,nv)
    mass_matrix_inverse: Function = ...  # (nq)->(nv,nv)
    apply_mass_matrix: Function = ...  # (nq),(nv)->(nv)
    apply_mass_matrix_inverse: Function = ...  # (nq),(nv)->(nv)
    log_det_mass_matrix: Function = ...  # (nq)->()
    innovations_factors: Function = ...  # (nq)->(2,nv,nv), rows by bodies
    mass_matrix_inverse_blocks: Function = ...  # (nq)->(nv,nv), rows by bodies
    kinetic_energy: Function = ...  # (nq),(nv)->()
    potential_energy: Function = ...  # (nq)->()
    dissipated_power: Function = ...  # (nq),(nv)->()
    link_poses: Function = ...  # (nq)->(B,4,4)
    node_poses: Function = ...  # (nq)->(N,4,4)
    node_pose: Function = ...  # (),(nq)->(4,4)
    node_velocity: Function = ...  # (),(nq),(nv)->(6)
    jacobian: Function = ...  # (),(nq)->(6,nv)
    wrench_forces: Function = ...  # (),(nq),(6)->(nv)
    # nodes i and j by the number i N + j
    operational_space_compliance: Function = ...  # (),(nq)->(6,6)
    integrate: Function = ...  # (nq),(nv)->(nq)
    position_rates: Function = ...  # (nq),(nv)->(nq)
    node_acceleration: Function = ...  # (),(nq),(nv),(nv)->(6)
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
    momentum: Function = ...  # (nq),(nv)->(6)
    center_of_mass: Function = ...  # (nq)->(3)
    # only of arms with constraints, m rows
    constraint_violation: Function = ...  # (nq)->(m)
    constraint_jacobian: Function = ...  # (nq)->(m,nv)
    constraint_forces: Function = ...  # (nq),(nv),(t)->(m)

    def quiet(self, name: str, threads: int = 1, /) -> Function: ...
    def threaded(self, name: str, threads: int, /) -> Function: ...
    def rollout(self, run: Rollout, /) -> None: ...
    def sampled_loop(self, run: SampledLoop, /) -> None: ...

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
    def bind(self, owner: Any, /) -> None: ...
    def merge(self, model: Model, /) -> None: ...
    def work_size(self, name: str, /) -> int: ...
    def inverse_kinematics(self, run: TargetRun, /) -> None: ...
