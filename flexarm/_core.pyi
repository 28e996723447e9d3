"""C kernels: one arm as gufuncs; signatures with nq, nv, B bodies and N nodes."""

from collections.abc import Callable
from typing import Any, Final, TypedDict

import numpy as np
from numpy.typing import NDArray

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

class Model:
    def __init__(
        self,
        topology: NDArray[np.intc],
        joints: NDArray[np.float64],
        nodes: NDArray[np.float64],
        modal: NDArray[np.float64],
        constants: NDArray[np.float64],
        loops: NDArray[np.intc],
        frames: NDArray[np.float64],
        couplings: NDArray[np.float64],
        /,
    ) -> None: ...

    inverse_dynamics: Final[np.ufunc]  # (nq),(nv),(nv)->(nv)
    bias_forces: Final[np.ufunc]  # (nq),(nv)->(nv)
    gravity_forces: Final[np.ufunc]  # (nq)->(nv)
    forward_dynamics: Final[np.ufunc]  # (nq),(nv),(t)->(nv), t is nu or nv
    forward_dynamics_basic: Final[np.ufunc]  # (nq),(nv),(t)->(nv)
    forward_dynamics_composite: Final[np.ufunc]  # (nq),(nv),(t)->(nv)
    mass_matrix: Final[np.ufunc]  # (nq)->(nv,nv)
    mass_matrix_inverse: Final[np.ufunc]  # (nq)->(nv,nv)
    apply_mass_matrix: Final[np.ufunc]  # (nq),(nv)->(nv)
    apply_mass_matrix_inverse: Final[np.ufunc]  # (nq),(nv)->(nv)
    log_det_mass_matrix: Final[np.ufunc]  # (nq)->()
    innovations_factors: Final[np.ufunc]  # (nq)->(2,nv,nv), rows by bodies
    mass_matrix_inverse_blocks: Final[np.ufunc]  # (nq)->(nv,nv), rows by bodies
    kinetic_energy: Final[np.ufunc]  # (nq),(nv)->()
    potential_energy: Final[np.ufunc]  # (nq)->()
    link_poses: Final[np.ufunc]  # (nq)->(B,4,4)
    node_poses: Final[np.ufunc]  # (nq)->(N,4,4)
    node_pose: Final[np.ufunc]  # (),(nq)->(4,4)
    node_velocity: Final[np.ufunc]  # (),(nq),(nv)->(6)
    jacobian: Final[np.ufunc]  # (),(nq)->(6,nv)
    wrench_forces: Final[np.ufunc]  # (),(nq),(6)->(nv)
    # nodes i and j by the number i N + j
    operational_space_compliance: Final[np.ufunc]  # (),(nq)->(6,6)
    integrate: Final[np.ufunc]  # (nq),(nv)->(nq)
    position_rates: Final[np.ufunc]  # (nq),(nv)->(nq)
    node_acceleration: Final[np.ufunc]  # (),(nq),(nv),(nv)->(6)
    momentum: Final[np.ufunc]  # (nq),(nv)->(6)
    center_of_mass: Final[np.ufunc]  # (nq)->(3)
    # only of arms with constraints, m rows
    constraint_violation: Final[np.ufunc]  # (nq)->(m)
    constraint_jacobian: Final[np.ufunc]  # (nq)->(m,nv)
    constraint_forces: Final[np.ufunc]  # (nq),(nv),(t)->(m)

    def quiet(self, name: str, /) -> np.ufunc: ...
    def rollout(
        self,
        q: NDArray[np.float64],
        qd: NDArray[np.float64],
        t: NDArray[np.float64],
        method: str,
        substeps: int,
        tau: NDArray[np.float64]
        | Callable[[float, NDArray[np.float64], NDArray[np.float64]], Any]
        | None,
        hold: bool,
        tick: Callable[[int], Any] | None,
        tau_out: NDArray[np.float64],
        # diagonal, kp, kd, reference, rates
        feedback: tuple[bool, Any, Any, Any, Any] | None = None,
    ) -> None: ...
