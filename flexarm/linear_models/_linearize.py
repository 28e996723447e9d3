"""Linear model of an arm about a state, exact, for a batch of states at once."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike

from .._calls.arguments import any_of, check_finite, common_batch, real_array
from .._calls.arm_like import AnyArm, ArmLike, Array, StackLike
from .._calls.declared import Floats, Forces, JacobianFrame, Positions, Velocities
from .._calls.doors import checked
from .._calls.explain import massless, zero_quaternion
from .._support.interrupts import uninterrupted
from .._support.recorded import recorded
from ..constraints import constraint_jacobian, constraint_violation
from ..derivatives import inverse_dynamics_derivatives
from ..dynamics.equations import inverse_dynamics
from ..dynamics.mass import mass_matrix
from ..dynamics.stretch import warn_of_stretch
from ..errors import ArgumentError, SingularityError
from ..frequency_errors import warn_of_frequencies
from ..kinematics.slopes import warn_of_slopes
from ..statics import equilibrium
from ..statics.coordinates import read_arm
from ..statics.given_loads import Loads, read_loads
from ._stacked import linearize_stack
from .inputs import read_inputs
from .operating_point import Point, lie_brackets
from .outputs import read_outputs, state_names
from .state_space import StateSpace
from .strain import Output


@checked
@recorded("linearize")
def linearize(
    arm: AnyArm,
    q: Positions,
    qd: Velocities | None = None,
    tau: Forces | None = None,
    *,
    inputs: object = None,
    outputs: object = None,
    settle: bool = False,
    wrench: Annotated[ArrayLike, Floats("(..., 6)", "(..., m, 6)")] | None = None,
    node: object = None,
    frame: JacobianFrame = "node",
) -> StateSpace:
    r"""Linear model of an arm about states, with named inputs and outputs.

    Of small displacements d of the positions and v of the velocities,

    .. math::
        \dot x = A x + B u, \quad y = C x + D u, \quad x = (d, v), \qquad
        A = \begin{pmatrix} G & 1 \\ -M^{-1} K & -M^{-1} D_v \end{pmatrix}, \quad
        B = \begin{pmatrix} 0 \\ M^{-1} S \end{pmatrix}

    with the exact derivatives K and D_v of inverse dynamics by positions and velocities
    at the acceleration of the point.  u and y are differences from their values there.

    Parameters
    ----------
    arm : Arm or ArmStack
        Tree, with couplings at most; or a `stack` of them, for payloads and the like.
    q : (..., nq) array_like of float
        Positions; leading axes are many points, of a grid for gain scheduling, say.
    qd : (..., nv) array_like of float, optional
        Velocities; by default the arm is at rest.
    tau : (..., nu) or (..., nv) array_like of float, optional
        Forces at the point, of the actuators or of all coordinates.  By default those
        of the actuators that hold the arm: none of the coordinates on which they act
        accelerates if the others do not.
    inputs : str, Input or list of these, optional
        The signals u, see `flexarm.inputs`; by default the forces of the actuators.
    outputs : str, Output, tuple or list of these, optional
        The signals y, see `flexarm.outputs`; by default the positions of the joints.
    settle : bool
        Let modes, and motors of joints with drives, first find their `equilibrium`, the
        joints held at `q`.
    wrench, node, frame
        Constant load at the point, as in `equilibrium`.

    Returns
    -------
    model : StateSpace
        Matrices with the leading axes of the points, names, the point and ``drift``,
        the rate of the state there: velocities and accelerations.  It is zero at an
        equilibrium; elsewhere x is the deviation from the motion that goes through the
        point, and A changes along it.

    Raises
    ------
    ArgumentError
        If the arm has loops, or a joint that is not holonomic moves.
    SingularityError
        If the mass matrix is not positive definite.
    ConvergenceError
        If `settle` finds no equilibrium.

    Warns
    -----
    AccuracyWarning
        If a link whose motions leave out ``"stretch"``, or which is not in `segments`,
        is longer by more than a third of a percent, which changes frequencies by half a
        percent and more, in the plane of a fast rotation by one.
    DeflectionWarning
        If a link bends to a slope of more than 0.5 in its own frame; see
        `flexarm.largest_slope`.

    See Also
    --------
    inverse_dynamics_derivatives : the matrices K and D_v.
    vibration_modes, complex_modes : the poles of arms without inputs.

    Notes
    -----
    Displacements are those of `integrate`, one for each velocity: rotations about axes
    of the body for a quaternion.  Seen from a point that moves such displacements turn,
    ``G d = [d, qd]``, the Lie bracket of velocities of joints with quaternions; G is
    zero for all others and for arms at rest.

    Couplings leave fewer coordinates: those that follow from others are not states, and
    all equations are projected on the velocities that the couplings admit.  Motors of
    joints with drives are states, and the actuators act on them.

    Outputs are measured on the deformed arm in full, also where its dynamics are of
    linear or ruthless fidelity.  Springs with stops and dry friction are linear only
    where they are smooth.

    References
    ----------
    .. [1] R. H. Cannon, E. Schmitz, *Initial experiments on the end-point control of a
       flexible one-link robot*, Int. J. Robotics Research 3(3), 1984: joint and tip as
       outputs of one arm, and the effect of the difference.
    .. [2] A. Mueller, *Screw and Lie group theory in multibody kinematics*, Multibody
       System Dynamics 43, 2018: displacements and brackets.

    Examples
    --------
    A pendulum that hangs, 2 kg at 0.5 m: -g/l, and 1/(m l^2) for its torque:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.pendulum(mass=2.0, com=0.5)
    >>> ss = fa.linearize(arm, [-np.pi / 2])
    >>> ss.A, ss.B.round(12)
    (array([[  0.  ,   1.  ],
           [-19.62,   0.  ]]), array([[0.],
           [2.]]))

    A grid of poses of an arm with two flexible links in one call, its joints, tip and a
    strain gauge at a root as outputs:

    >>> arm = fa.library.de_luca_siciliano()
    >>> q = np.zeros((5, 6))
    >>> q[:, 1] = np.linspace(0.0, np.pi / 2, 5)
    >>> ss = fa.linearize(
    ...     arm, q, outputs=["joints", "tip xy", fa.outputs.strain("link1", 0.0)]
    ... )
    >>> ss.A.shape, ss.outputs
    ((5, 12, 12), ('link1', 'link2', 'tip x', 'tip y', 'link1 strain y 0'))

    Payloads of 0 and 0.2 kg at both ends of the grid:

    >>> arms = [fa.library.de_luca_siciliano(payload_mass=m) for m in (0.0, 0.2)]
    >>> fa.linearize(fa.stack(arms)[:, None], q[[0, -1]]).A.shape
    (2, 2, 12, 12)
    """
    one = any_of(arm)
    if isinstance(arm, StackLike) and one._held:  # whose projections differ

        def one_arm(one: ArmLike, **states: Array) -> StateSpace:
            options: dict[str, Any] = {"inputs": inputs, "outputs": outputs}
            return linearize(
                one, **states, **options, settle=settle, node=node, frame=frame
            )

        given = {"q": q, "qd": qd, "tau": tau, "wrench": wrench, "node": node}
        return linearize_stack(arm, given, one_arm)

    # states, loads and signals as arrays of one batch
    read_arm(one, "a linear model")
    drives, signals = read_inputs(one, inputs), read_outputs(one, outputs)
    known, loads = _read(arm, q, qd, tau, wrench, node, frame)
    batch = common_batch(
        {
            **{name: x.shape[:-1] for name, x in known.items()},
            **({"stack": arm.shape} if isinstance(arm, StackLike) else {}),
            **({} if loads is None else {"wrench": loads.batch}),
        }
    )
    at = {
        name: np.array(np.broadcast_to(x, (*batch, x.shape[-1])))
        for name, x in known.items()
    }
    if settle:
        _settle(arm, at, wrench, node, frame)  # which warns of slopes
    else:
        warn_of_slopes(arm, at["q"])
        forces = None if loads is None else loads.base_forces(arm, at["q"])
        warn_of_stretch(arm, at["q"], at.get("qd"), forces, lengths=True)
    warn_of_frequencies(arm, at["q"])
    # point: coordinates that are independent, mass matrix, accelerations
    basis = _Basis(arm, at["q"])
    qd_ = at.get("qd", np.zeros((*batch, arm.nv)))
    mass = _Mass(arm, at["q"], basis)
    force, qdd = _accelerations(arm, at["q"], qd_, at.get("tau"), loads, basis, mass)

    # dynamics, by derivatives of the forces
    K, Dv = inverse_dynamics_derivatives(arm, at["q"], qd_, qdd)
    if loads is not None:
        K = K - loads.tangent(arm, at["q"])
    n = basis.n
    A = np.zeros((*batch, 2 * n, 2 * n))
    A[..., :n, n:] = np.eye(n)
    turning = lie_brackets(arm, qd_)
    if turning is not None:
        A[..., :n, :n] = basis.displacements(turning)
    A[..., n:, :n] = 0.0 - mass.solve(basis.block(K))
    A[..., n:, n:] = 0.0 - mass.solve(basis.block(Dv))
    shapes = [x.directions(arm, at["q"]) for x in drives]
    columns = [np.broadcast_to(x, (*batch, *x.shape[-2:])) for x in shapes]
    B2 = mass.solve(basis.rows(np.concatenate(columns, axis=-1)))
    B = np.concatenate([np.zeros_like(B2), B2], axis=-2)

    # outputs
    point = Point(arm, at["q"], qd_, qdd)
    C, D, y = _measured(point, signals, basis, A, B2)
    names = [arm.coordinate_names[i] for i in basis.kept]
    return StateSpace(
        A,
        B,
        C,
        D,
        states=state_names(names),
        inputs=tuple(name for x in drives for name in x.names(one)),
        outputs=tuple(name for x in signals for name in x.names(one)),
        q=at["q"],
        qd=qd_,
        tau=force,
        y=y,
        drift=np.concatenate([qd_[..., basis.kept], qdd[..., basis.kept]], axis=-1),
    )


def _read(
    arm: AnyArm,
    q: object,
    qd: object,
    tau: object,
    wrench: ArrayLike | None,
    node: object,
    frame: str,
) -> tuple[dict[str, Array], Loads | None]:
    """Finite arrays of the arguments that are given, and the load."""
    given: dict[str, Array] = {"q": real_array("q", q)}
    for name, value in (("qd", qd), ("tau", tau)):
        if value is not None:
            given[name] = real_array(name, value)
    for name, array in given.items():
        check_finite(name, array)
    spot = zero_quaternion(any_of(arm), "q", given["q"])
    if spot:
        raise ArgumentError(
            f"{spot} is a quaternion of length zero, expected one that names a "
            "rotation, such as that of arm.neutral"
        )
    return given, read_loads(arm, wrench, node, frame)


def _settle(
    arm: AnyArm,
    at: dict[str, Array],
    wrench: ArrayLike | None,
    node: object,
    frame: str,
) -> None:
    """Replace positions by those of the equilibrium with held joints."""
    if "tau" in at or ("qd" in at and at["qd"].any()):
        raise ArgumentError(
            "settle is True with velocities or forces, expected an arm at rest, whose "
            "forces follow from its equilibrium; leave qd and tau out"
        )
    found = uninterrupted(
        equilibrium(arm, at["q"], wrench=wrench, node=node, frame=frame)
    )
    at["q"] = found.check(stable=False).q


class _Basis:
    """Velocities that the couplings of an arm admit, by independent ones of them."""

    def __init__(self, arm: AnyArm, q: Array) -> None:
        self.kept = np.arange(arm.nv)
        self.T: Array | None = None
        if isinstance(arm, StackLike) or not arm._held:
            return
        from scipy.linalg import qr

        off = np.abs(constraint_violation(arm, q)).max(initial=0.0)
        if off > 1e-6:
            raise ArgumentError(
                f"q violates the couplings of the arm by {off:.3g}, expected positions "
                "that satisfy them, such as those of close_loops(arm, q)"
            )
        rows = constraint_jacobian(arm, arm.neutral)
        # motors rather than joints follow from others
        weight = np.ones(arm.nv)
        weight[arm.motor_slice] = 1e6
        _, R, order = qr(rows * weight, pivoting=True)
        size = np.abs(np.diag(R))
        rank = int((size > 1e-12 * size.max(initial=0.0)).sum())
        tied, kept = np.sort(order[:rank]), np.sort(order[rank:])
        T = np.zeros((arm.nv, len(kept)))
        T[kept, np.arange(len(kept))] = 1.0
        T[tied] = -np.linalg.lstsq(rows[:, tied], rows[:, kept], rcond=None)[0]
        self.kept, self.T = kept, T

    @property
    def n(self) -> int:
        return len(self.kept)

    def rows(self, matrix: Array) -> Array:
        """Equations (..., n, k) of (..., nv, k)."""
        return matrix if self.T is None else self.T.T @ matrix

    def columns(self, matrix: Array) -> Array:
        """By independent displacements (..., k, n) of (..., k, nv)."""
        return matrix if self.T is None else matrix @ self.T

    def block(self, matrix: Array) -> Array:
        return self.rows(self.columns(matrix))

    def displacements(self, matrix: Array) -> Array:
        """Rates (..., n, n) of independent displacements of (..., nv, nv)."""
        return self.columns(matrix)[..., self.kept, :]

    def spread(self, vectors: Array) -> Array:
        """Velocities (..., nv) of independent ones."""
        return vectors if self.T is None else vectors @ self.T.T


class _Mass:
    """Mass matrix of the independent coordinates, factored."""

    def __init__(self, arm: AnyArm, q: Array, basis: _Basis) -> None:
        whole = mass_matrix(arm, q)
        self.M = basis.block(whole)
        size = np.sqrt(np.abs(np.diagonal(self.M, axis1=-2, axis2=-1)))
        self.size = np.where(size > 0.0, size, 1.0)
        scaled = self.M / (
            self.size[..., :, np.newaxis] * self.size[..., np.newaxis, :]
        )
        least = np.linalg.eigvalsh(scaled)[..., 0]
        bad = ~(least > 4.0 * np.finfo(float).eps * self.M.shape[-1])
        if bad.any():
            index = tuple(int(i) for i in np.argwhere(bad)[0])
            where = f"{int(bad.sum())} of {bad.size} states, first at index {index}"
            raise SingularityError(
                "the mass matrix is not positive definite for "
                f"{where if bad.ndim else 'the state'}, so that forces have no "
                "definite accelerations and there is no linear model; "
                + (
                    massless(arm, whole[index])
                    or "expected smaller deflections, or a state in which no motion is "
                    "without mass"
                ),
                index=index,
                count=int(bad.sum()),
            )
        self.scaled = scaled

    def solve(self, right: Array) -> Array:
        """Accelerations of forces (..., n, k)."""
        size = self.size[..., np.newaxis]
        return np.linalg.solve(self.scaled, right / size) / size


def _accelerations(
    arm: AnyArm,
    q: Array,
    qd: Array,
    tau: Array | None,
    loads: Loads | None,
    basis: _Basis,
    mass: _Mass,
) -> tuple[Array, Array]:
    """Forces at the point, (..., nu) or (..., nv), and accelerations (..., nv)."""
    # all forces but those of the masses; couplings, linear in the coordinates, add none
    bias = inverse_dynamics(arm, q, qd, np.zeros(arm.nv))
    if loads is not None:
        bias = bias - loads.forces(arm, q)
    acts = np.eye(arm.nv)[:, arm.actuator_indices]
    if tau is None:
        if basis.T is None:
            tau = bias[..., arm.actuator_indices]
        else:
            push = basis.T.T @ acts
            tau = bias @ basis.T @ np.linalg.pinv(push).T
    force = tau if tau.shape[-1] == arm.nv else tau @ acts.T
    net = basis.rows((force - bias)[..., np.newaxis])
    qdd = basis.spread(mass.solve(net)[..., 0])
    # accelerations that are rounding of their terms become zero
    size = np.abs(force) + np.abs(bias)
    if basis.T is not None:
        size = size @ np.abs(basis.T)
    least = 8.0 * np.finfo(float).eps * size
    still = (np.abs(net[..., 0]) <= least).all(axis=-1, keepdims=True)
    qdd = np.where(still, 0.0, qdd)
    return np.asarray(tau), np.asarray(qdd)


def _measured(
    point: Point, signals: list[Output], basis: _Basis, A: Array, B2: Array
) -> tuple[Array, Array, Array]:
    """C, D and the value of the outputs at the point."""
    batch, n = A.shape[:-2], basis.n
    Cs, Ds, ys = [], [], []
    for signal in signals:
        value, dq, dqd, dqdd = signal.tangent(point)
        p = value.shape[-1]
        C = np.zeros((*batch, p, 2 * n))
        D = np.zeros((*batch, p, B2.shape[-1]))
        if np.ndim(dq):
            C[..., :n] += basis.columns(dq)
        if np.ndim(dqd):
            C[..., n:] += basis.columns(dqd)
        if np.ndim(dqdd):
            by = basis.columns(dqdd)
            C += by @ A[..., n:, :]
            D += by @ B2
        Cs.append(C)
        Ds.append(D)
        ys.append(np.broadcast_to(value, (*batch, p)))
    return (
        np.concatenate(Cs, axis=-2),
        np.concatenate(Ds, axis=-2),
        np.concatenate(ys, axis=-1),
    )
