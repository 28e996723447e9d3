"""Natural frequencies and mode shapes of whole arms, in batches of postures."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._calls.arguments import check_finite, common_batch, real_array
from ._calls.arm_like import AnyArm, Array, StackLike
from ._calls.declared import Count, JacobianFrame, Positions, Velocities
from ._calls.doors import checked
from ._calls.explain import leading
from ._support.arrays import Mask
from .dynamics.mass import mass_matrix
from .errors import ArgumentError
from .frequency_errors import warn_of_frequencies
from .kinematics.slopes import warn_of_slopes
from .linear_models.operating_point import lie_brackets
from .mode_results import ComplexModes, VibrationModes
from .statics.closed import check_closed, is_closed
from .statics.coordinates import freedom, held_coordinates, read_arm, read_positions
from .statics.given_loads import Loads, read_loads
from .statics.spectrum import (
    first_order,
    grows,
    linear_system,
    rounding,
    scale_by_mass,
    signed_frequencies,
    undamped,
    without_flutter,
)


@checked
def natural_frequencies(
    arm: AnyArm,
    q: Positions,
    *,
    held: object = None,
    qd: Velocities | None = None,
    wrench: ArrayLike | None = None,
    node: object = None,
    frame: JacobianFrame = "node",
    count: Count | None = None,
) -> Array:
    r"""Natural frequencies of small motions about postures.

    Of :math:`M \delta\ddot q + K \delta q = 0` with the mass matrix and the tangent
    stiffness of modes, springs in joints, gravity and loads.  A load that follows its
    node makes K unsymmetric; damping counts only with `qd`.

    Parameters
    ----------
    arm : Arm or ArmStack
        Arm whose loops `q` closes; a stack of arms without loops.
    q : (..., nq) array_like of float
        Postures; an equilibrium, or any other, held there by constant forces.
    held : None, "joints", "motors", names or numbers
        Coordinates at rest: none, joints and motors, motors and joints without one, or
        names of ``arm.coordinate_names``, numbers or a mask.
    qd : (..., nv) array_like of float, optional
        Velocities of a steady motion, such as a rotation of the base.  Damping and
        gyroscopic forces then count; frequencies are the absolute values of the complex
        eigenvalues, one of each pair.
    wrench, node, frame
        Load, as in `equilibrium`; by default it follows its node.
    count : int, optional
        Number of frequencies, the first ones; by default all.

    Returns
    -------
    f : (..., n) ndarray of float
        Frequencies in Hz of the n free coordinates or as many as asked for, ascending.
        A negative one stands
        for an imaginary one, of a motion that grows like ``exp(2 pi |f| t)``
        (divergence), NaN for a vibration that grows (flutter): both of two frequencies
        that have merged, the growing pair with `qd`.  Motions without stiffness have
        zero to rounding.

    Raises
    ------
    ArgumentError
        If `count` is not a whole number, 1 or more.

    Warns
    -----
    DeflectionWarning
        If a link bends to a slope of more than 0.5 in its own frame; see
        `flexarm.largest_slope`.
    ModeWarning
        If one of the first four frequencies above zero that are asked for is more than
        2 % too high, by the same arm with more modes, in its first posture undeformed.

    See Also
    --------
    vibration_modes : shapes and damping.
    complex_modes : eigenvalues of damped and of rotating arms.
    equilibrium : postures of small motions.

    Notes
    -----
    L. Meirovitch, *Fundamentals of Vibrations*, 2001, sections 7.5 and 4.8; for loads
    that follow V. V. Bolotin, *Nonconservative Problems of the Theory of Elastic
    Stability*, 1963.  Without damping the two frequencies of a flutter merge at the
    critical load; with damping, `complex_modes`, it may be far lower.

    Examples
    --------
    The clamped modes of both links of an arm, in the source 2.18 and 15.91, 0.48 and
    1.80 Hz, the first of them with the other link at a right angle:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.de_luca_siciliano()
    >>> q = [0.0, np.pi / 2, 0.0, 0.0, 0.0, 0.0]
    >>> fa.natural_frequencies(arm, q, held=[0, 1, 2, 3]).round(2)
    array([ 2.18, 15.91])
    >>> fa.natural_frequencies(arm, q, held=[0, 1, 4, 5]).round(2)
    array([0.48, 1.8 ])

    A hanging and an upright pendulum, with sqrt(g/l)/(2 pi):

    >>> arm = fa.library.pendulum(com=0.5)
    >>> fa.natural_frequencies(arm, [[-np.pi / 2], [np.pi / 2]]).round(4)
    array([[ 0.705],
           [-0.705]])

    Pendulums of two lengths, each hanging:

    >>> arms = fa.stack(fa.library.pendulum(com=c) for c in (0.5, 2.0))
    >>> fa.natural_frequencies(arms, [-np.pi / 2]).round(4)
    array([[0.705 ],
           [0.3525]])

    A column under a tip force that stays tangential flutters at 20.05 EI/L^2:

    >>> arm = fa.library.planar_chain(1, n_modes=6, gravity=(0, 0, 0))  # EI = 100
    >>> push = np.zeros((3, 6))
    >>> push[:, 3] = 0.0, -1500.0, -2200.0
    >>> f = fa.natural_frequencies(arm, np.zeros(7), held="joints", wrench=push)
    >>> f[:, :2].round(1)
    array([[ 5.6, 35.1],
           [10.5, 25.9],
           [ nan,  nan]])
    """
    job = _Job(arm, q, held, qd, wrench, node, frame, count)
    if qd is None:
        values = undamped(job.system()[0])[0]
        return signed_frequencies(without_flutter(values))[..., :count]
    found = np.linalg.eigvals(job.first_order())
    return _one_of_each_pair(found, grows(found, job.system()[0]))[..., :count]


@checked
def vibration_modes(
    arm: AnyArm,
    q: Positions,
    *,
    held: object = None,
    wrench: ArrayLike | None = None,
    node: object = None,
    frame: JacobianFrame = "node",
) -> VibrationModes:
    """Natural frequencies, mode shapes and damping ratios of postures.

    Parameters
    ----------
    arm : Arm or ArmStack
        Arm whose loops `q` closes; a stack of arms without loops.
    q : (..., nq) array_like of float
        Postures; an equilibrium, or any other, held there by constant forces.
    held, wrench, node, frame
        As in `natural_frequencies`.

    Returns
    -------
    modes : VibrationModes
        Shapes of unit modal mass; ``print(modes)`` shows a table.

    Warns
    -----
    DeflectionWarning
        If a link bends to a slope of more than 0.5 in its own frame; see
        `flexarm.largest_slope`.
    ModeWarning
        If one of the first four frequencies above zero that are asked for is more than
        2 % too high, by the same arm with more modes, in its first posture undeformed.

    See Also
    --------
    flexarm.plotting.vibration : draws them.

    Notes
    -----
    L. Meirovitch, *Fundamentals of Vibrations*, 2001, section 7.5.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.planar_chain(2, gravity=(0, 0, 0), n_modes=6)
    >>> modes = fa.vibration_modes(arm, np.zeros(14))
    >>> int(modes.rigid.sum()), modes.shapes.shape
    (2, (14, 14))
    """
    job = _Job(arm, q, held, None, wrench, node, frame)
    K, D, X = job.system()
    values, vectors, left = undamped(K)
    squares = without_flutter(values)
    vectors = np.where(np.isnan(squares)[..., np.newaxis, :], np.nan, vectors)
    shapes = job.free.spread(X @ vectors)
    part = shapes * (mass_matrix(arm, job.q) @ shapes)
    main = np.take_along_axis(shapes, part.argmax(axis=-2)[..., np.newaxis, :], -2)
    sign = np.where(main < 0.0, -1.0, 1.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        omega = np.where(
            squares > rounding(squares)[..., None], np.sqrt(squares), np.nan
        )
        damped = np.einsum("...ir,...ij,...jr->...r", left, D, vectors)
        ratio = damped / (2.0 * omega)
    return VibrationModes(
        arm, job.q, job.free.mask, squares, sign * shapes, ratio, part
    )


@checked
def complex_modes(
    arm: AnyArm,
    q: Positions,
    qd: Velocities | None = None,
    *,
    held: object = None,
    wrench: ArrayLike | None = None,
    node: object = None,
    frame: JacobianFrame = "node",
) -> ComplexModes:
    r"""Eigenvalues and shapes of motions with damping or about a steady rotation.

    Of :math:`M \delta\ddot q + D \delta\dot q + K \delta q = 0` with the tangents of
    inverse dynamics at `q`, `qd` and zero acceleration.

    Parameters
    ----------
    arm : Arm or ArmStack
        Arm whose loops `q` closes; a stack of arms without loops.
    q : (..., nq) array_like of float
        Postures; an equilibrium, or any other, held there by constant forces.
    qd : (..., nv) array_like of float, optional
        Velocities of the steady motion; zero by default.  The coefficients must be
        constant during that motion.
    held, wrench, node, frame
        As in `natural_frequencies`.

    Returns
    -------
    modes : ComplexModes
        Modes, twice as many as free coordinates, in conjugate pairs.

    Warns
    -----
    DeflectionWarning
        If a link bends to a slope of more than 0.5 in its own frame; see
        `flexarm.largest_slope`.

    Notes
    -----
    L. Meirovitch, *Fundamentals of Vibrations*, 2001, section 7.14, in first-order
    form.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.pendulum(mass=1.0, com=0.5, damping=0.1)
    >>> modes = fa.complex_modes(arm, [-np.pi / 2])
    >>> modes.eigenvalues.round(3), modes.damping_ratios.round(4)
    (array([-0.2-4.425j, -0.2+4.425j]), array([0.0452, 0.0452]))
    """
    job = _Job(arm, q, held, qd, wrench, node, frame)
    values, vectors = np.linalg.eig(job.first_order())
    values, vectors = values.astype(complex), vectors.astype(complex)
    order = np.lexsort((values.imag, np.abs(values).round(12)), axis=-1)
    values = np.take_along_axis(values, order, -1)
    vectors = np.take_along_axis(vectors, order[..., np.newaxis, :], -1)
    half = vectors[..., : vectors.shape[-1] // 2, :]
    half = half / np.linalg.norm(half, axis=-2, keepdims=True)
    K, _, X = job.system()
    shapes = job.free.spread(X @ half)
    return ComplexModes(arm, job.q, job.free.mask, values, shapes, grows(values, K))


class _Job:
    """Arguments of the functions of this module, and the linear system."""

    def __init__(
        self,
        arm: AnyArm,
        q: ArrayLike,
        held: object,
        qd: ArrayLike | None,
        wrench: ArrayLike | None,
        node: object,
        frame: str,
        count: int | None = None,
    ) -> None:
        read_arm(arm, "vibration", closed=True)
        self.arm = arm
        given = {"q": read_positions(arm, q)}
        if qd is not None:
            given["qd"] = real_array("qd", qd)
            leading(arm, given, ())
            check_finite("qd", given["qd"])
        loads = read_loads(arm, wrench, node, frame)
        shapes = {name: x.shape[:-1] for name, x in given.items()}
        if isinstance(arm, StackLike):
            shapes["stack"] = arm.shape
        if loads is not None:
            shapes["wrench"] = loads.batch
        self.batch = common_batch(shapes)
        self.q = np.array(np.broadcast_to(given["q"], (*self.batch, arm.nq)))
        self.qd = given.get("qd")
        warn_of_slopes(arm, self.q)
        self.loads: Loads | None = loads
        mask = held_coordinates(arm, held)
        if is_closed(arm):
            check_closed(arm, self.q)
        self.free = freedom(arm, mask, self.q)
        if not self.free.n:
            raise ArgumentError(
                "held names all coordinates of the arm, expected at least one that can "
                "move"
            )
        if qd is None and loads is None:
            warn_of_frequencies(arm, self.q, mask, count)

    def system(self) -> tuple[Array, Array, Array]:
        """Stiffness and damping in coordinates of unit mass, and these coordinates."""
        X = scale_by_mass(self.arm, self.q, self.free)
        K, D = linear_system(self.arm, self.q, self.qd, self.loads, self.free)
        back = np.swapaxes(X, -1, -2)
        return back @ K @ X, back @ D @ X, X

    def first_order(self) -> Array:
        """Matrix of the state (positions, velocities) in coordinates of unit mass."""
        K, D, X = self.system()
        G = None if self.qd is None else lie_brackets(self.arm, self.qd)
        if G is None:
            return first_order(K, D)
        # displacements turn, seen from an arm that moves
        return first_order(K, D, np.linalg.solve(X, self.free.block(G) @ X))


def _one_of_each_pair(values: NDArray[np.inexact], growing: Mask) -> Array:
    """Frequencies of eigenvalues (..., 2 n): |s| of complex pairs, real ones in pairs.

    Two real ones, the largest with the smallest, give the frequency of the square
    ``s1 s2``: positive if both decay, negative if one grows.  Complex ones that grow
    give NaN, in their place.
    """
    flat = np.asarray(values, complex).reshape(-1, values.shape[-1])
    n = flat.shape[1] // 2
    result = np.empty((len(flat), n))
    flags = growing.reshape(flat.shape)
    for row, each, grown in zip(result, flat, flags, strict=True):
        upper = each.imag > 0.0
        real = np.sort(each[each.imag == 0.0].real)
        pairs = (real * real[::-1])[: len(real) // 2]
        squares = np.concatenate([np.abs(each[upper]) ** 2, pairs])
        flutter = np.pad(grown[upper], (0, len(pairs)))
        row[:] = np.where(flutter, np.nan, signed_frequencies(squares))
        row[:] = row[np.argsort(squares)]
    return result.reshape(*values.shape[:-1], n)
