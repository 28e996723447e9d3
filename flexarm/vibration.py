"""Natural frequencies and mode shapes of whole arms, in batches of postures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import kinematics
from ._calls.arguments import check_finite, common_batch, finite_number, real_array
from ._calls.arm_like import ArmLike
from ._calls.explain import leading
from ._support.checks import short_text
from ._support.options import explained, explained_class
from ._support.printing import Printed, Sheet, Table
from .dynamics.mass import mass_matrix
from .errors import ArgumentError
from .kinematics import positions
from .kinematics.slopes import warn_of_slopes
from .statics.coordinates import freedom, held_coordinates, read_arm, read_positions
from .statics.given_loads import Loads, read_loads
from .statics.spectrum import linear_system, rounding, scale_by_mass, signed_frequencies

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


@explained_class
@dataclass(frozen=True, eq=False)
class VibrationModes(Printed):
    """Undamped modes of small motions about postures.

    Attributes
    ----------
    arm : Arm
        The arm.
    q : (..., nq) ndarray of float
        Postures.
    free : (nv,) ndarray of bool
        Flags of free velocities; there are n modes, one for each without couplings.
    squares : (..., n) ndarray of float
        Squares of the circular frequencies in 1/s^2, ascending; negative for unstable
        motions.
    shapes : (..., nv, n) ndarray of float
        Velocity directions of each mode, of unit modal mass, ``x' M x = 1``; the entry
        with the largest part of its kinetic energy is positive.
    damping_ratios : (..., n) ndarray of float
        Damping ratio of each mode, without coupling of modes: ``x' D x / (2 omega)``;
        NaN for a zero or imaginary frequency.
    participation : (..., nv, n) ndarray of float
        Part of each coordinate in the kinetic energy of a mode, ``x_i (M x)_i``, with
        sum one; by coupling some may exceed one and others be negative.
    """

    arm: Any  # flexarm.Arm
    q: Array
    free: Mask
    squares: Array
    shapes: Array
    damping_ratios: Array
    participation: Array

    @property
    def frequencies(self) -> Array:
        """Frequencies in Hz, (..., n), negative for unstable motions."""
        return signed_frequencies(self.squares)

    @property
    def unstable(self) -> Mask:
        """Flags of motions that grow like ``exp(2 pi |f| t)``, (..., n)."""
        return np.asarray(self.squares < -rounding(self.squares)[..., np.newaxis])

    @property
    def rigid(self) -> Mask:
        """Flags of motions without stiffness, to rounding, (..., n)."""
        small = np.abs(self.squares) <= rounding(self.squares)[..., np.newaxis]
        return np.asarray(small)

    def node_displacements(self, *, frame: str = "base") -> Array:
        """Motion of all nodes in all modes.

        Parameters
        ----------
        frame : {"base", "node"}
            Axes of the result: of the base, or of each node.

        Returns
        -------
        motion : (..., n, N, 6) ndarray of float
            Rotation vector in rad, then translation in m, for a mode of unit modal
            mass.
        """
        every = np.arange(self.arm.n_nodes)
        q = self.q[..., np.newaxis, :]
        J = kinematics.jacobian(self.arm, q, every, frame=frame)
        return np.asarray(np.moveaxis(J @ self.shapes[..., np.newaxis, :, :], -1, -3))

    def displaced(self, mode: int, amplitude: float = 1.0) -> Array:
        """Positions (..., nq) along a mode, for an amplitude in s.

        Parameters
        ----------
        mode : int
            Number of the mode.
        amplitude : float
            Factor of its shape.

        Returns
        -------
        q : (..., nq) ndarray of float
            ``integrate(arm, q, amplitude * shape)``.

        Raises
        ------
        ArgumentError
            If there is no such mode, or `amplitude` is not one finite number.

        Examples
        --------
        The first mode of a clamped beam of 1 kg, whose tip moves twice the amplitude:

        >>> import numpy as np
        >>> import flexarm as fa
        >>> arm = fa.library.planar_chain(1, n_modes=2, gravity=(0, 0, 0))
        >>> modes = fa.vibration_modes(arm, np.zeros(3), held=[0])
        >>> q = modes.displaced(0, 0.01)
        >>> float(abs(fa.tip_pose(arm, q)[1, 3]).round(5))  # in m
        0.02
        """
        n = self.shapes.shape[-1]
        if not isinstance(mode, int | np.integer) or not -n <= mode < n:
            raise ArgumentError(
                f"mode is {short_text(mode)}, expected a whole number below {n}"
            )
        step = finite_number("amplitude", amplitude) * self.shapes[..., :, mode]
        return np.asarray(positions.integrate(self.arm, self.q, step))

    def _sheet(self) -> Sheet:
        if self.q.ndim > 1:
            f = self.frequencies.reshape(-1, self.squares.shape[-1])
            if not len(f):
                return Sheet((f"{f.shape[1]} modes of no posture",))
            head = (
                f"{f.shape[1]} modes of {len(f)} postures, lowest frequency "
                f"{f[:, 0].min():.4g} to {f[:, 0].max():.4g} Hz"
            )
            return Sheet((head,))
        names = self.arm.coordinate_names
        rows = [("mode", "Hz", "damping", "kinetic energy in")]
        for i, f in enumerate(self.frequencies):
            part = self.participation[:, i]
            main = [j for j in np.argsort(-part)[:3] if part[j] > 0.05]
            shares = ", ".join(f"{names[j]} {100.0 * part[j]:.0f} %" for j in main)
            kind = (
                " rigid" if self.rigid[i] else " unstable" if self.unstable[i] else ""
            )
            ratio = self.damping_ratios[i]
            damped = f"{ratio:.4g}" if np.isfinite(ratio) else ""
            rows.append((str(i), f"{f:.5g}{kind}", damped, shares))
        return Sheet((Table(rows),))


@explained_class
@dataclass(frozen=True, eq=False)
class ComplexModes:
    """Modes of small motions with damping and gyroscopic forces.

    Attributes
    ----------
    arm : Arm
        The arm.
    q : (..., nq) ndarray of float
        Postures.
    free : (nv,) ndarray of bool
        Flags of free velocities, of which n are independent.
    eigenvalues : (..., 2 n) ndarray of complex
        Eigenvalues s of motions ``exp(s t)``, in 1/s, by ascending absolute value;
        those with positive real part grow.
    shapes : (..., nv, 2 n) ndarray of complex
        Velocity directions, of unit length in the metric of the mass matrix.
    """

    arm: Any  # flexarm.Arm
    q: Array
    free: Mask
    eigenvalues: NDArray[np.complex128]
    shapes: NDArray[np.complex128]

    @property
    def frequencies(self) -> Array:
        """Absolute value of each eigenvalue in Hz, (..., 2 n)."""
        return np.asarray(np.abs(self.eigenvalues) / (2.0 * np.pi))

    @property
    def damping_ratios(self) -> Array:
        """Ratios ``-Re(s)/|s|``, (..., 2 n): 1 if overdamped, negative if unstable."""
        size = np.abs(self.eigenvalues)
        return np.asarray(-self.eigenvalues.real / np.where(size > 0.0, size, np.nan))


@explained
def natural_frequencies(
    arm: ArmLike,
    q: Any,
    *,
    held: Any = None,
    qd: Any = None,
    wrench: Any = None,
    node: Any = None,
    frame: str = "node",
) -> Array:
    r"""Natural frequencies of small motions about postures.

    Of :math:`M \delta\ddot q + K \delta q = 0` with the mass matrix and the symmetric
    part of the tangent stiffness of modes, springs in joints, gravity and loads.

    Parameters
    ----------
    arm : Arm
        Arm without loops; couplings are allowed.
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
        Load, as in `equilibrium`.

    Returns
    -------
    f : (..., n) ndarray of float
        Frequencies in Hz of the n free coordinates, ascending.  A negative one stands
        for an imaginary one, of a motion that grows like ``exp(2 pi |f| t)``.  Motions
        without stiffness have zero to rounding.

    Warns
    -----
    DeflectionWarning
        If a link bends to a slope of more than 0.5 in its own frame; see
        `flexarm.largest_slope`.

    See Also
    --------
    vibration_modes : shapes and damping.
    complex_modes : eigenvalues of damped and of rotating arms.
    equilibrium : postures of small motions.

    Notes
    -----
    L. Meirovitch, *Fundamentals of Vibrations*, 2001, sections 7.5 and 4.8.

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
    """
    job = _Job(arm, q, held, qd, wrench, node, frame)
    if qd is None:
        return signed_frequencies(np.linalg.eigvalsh(job.system()[0]))
    return _one_of_each_pair(np.linalg.eigvals(job.first_order()))


@explained
def vibration_modes(
    arm: ArmLike,
    q: Any,
    *,
    held: Any = None,
    wrench: Any = None,
    node: Any = None,
    frame: str = "node",
) -> VibrationModes:
    """Natural frequencies, mode shapes and damping ratios of postures.

    Parameters
    ----------
    arm : Arm
        Arm without loops; couplings are allowed.
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
    >>> arm = fa.library.planar_chain(2, gravity=(0, 0, 0), n_modes=2)
    >>> modes = fa.vibration_modes(arm, np.zeros(6))
    >>> int(modes.rigid.sum()), modes.shapes.shape
    (2, (6, 6))
    >>> modes.node_displacements().shape == (6, arm.n_nodes, 6)
    True
    """
    job = _Job(arm, q, held, None, wrench, node, frame)
    K, D, X = job.system()
    squares, vectors = np.linalg.eigh(K)
    shapes = job.free.spread(X @ vectors)
    part = shapes * (mass_matrix(arm, job.q) @ shapes)
    main = np.take_along_axis(shapes, part.argmax(axis=-2)[..., np.newaxis, :], -2)
    sign = np.where(main < 0.0, -1.0, 1.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        omega = np.where(
            squares > rounding(squares)[..., None], np.sqrt(squares), np.nan
        )
        damped = np.einsum("...ir,...ij,...jr->...r", vectors, D, vectors)
        ratio = damped / (2.0 * omega)
    return VibrationModes(
        arm, job.q, job.free.mask, squares, sign * shapes, ratio, part
    )


@explained
def complex_modes(
    arm: ArmLike,
    q: Any,
    qd: Any = None,
    *,
    held: Any = None,
    wrench: Any = None,
    node: Any = None,
    frame: str = "node",
) -> ComplexModes:
    r"""Eigenvalues and shapes of motions with damping or about a steady rotation.

    Of :math:`M \delta\ddot q + D \delta\dot q + K \delta q = 0` with the tangents of
    inverse dynamics at `q`, `qd` and zero acceleration, not symmetrized.

    Parameters
    ----------
    arm : Arm
        Arm without loops; couplings are allowed.
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
    shapes = job.free.spread(job.system()[2] @ half)
    return ComplexModes(arm, job.q, job.free.mask, values, shapes)


class _Job:
    """Arguments of the functions of this module, and the linear system."""

    def __init__(
        self,
        arm: ArmLike,
        q: Any,
        held: Any,
        qd: Any,
        wrench: Any,
        node: Any,
        frame: str,
    ) -> None:
        read_arm(arm, "vibration")
        self.arm = arm
        given = {"q": read_positions(arm, q)}
        if qd is not None:
            given["qd"] = real_array("qd", qd)
            leading(arm, given, ())
            check_finite("qd", given["qd"])
        loads = read_loads(arm, wrench, node, frame)
        shapes = {name: x.shape[:-1] for name, x in given.items()}
        if loads is not None:
            shapes["wrench"] = loads.batch
        self.batch = common_batch(shapes)
        self.q = np.array(np.broadcast_to(given["q"], (*self.batch, arm.nq)))
        self.qd = given.get("qd")
        warn_of_slopes(arm, given["q"])
        self.loads: Loads | None = loads
        self.free = freedom(arm, held_coordinates(arm, held))
        if not self.free.n:
            raise ArgumentError(
                "held names all coordinates of the arm, expected at least one that can "
                "move"
            )

    def system(self, symmetric: bool = True) -> tuple[Array, Array, Array]:
        """Stiffness and damping in coordinates of unit mass, and these coordinates."""
        X = scale_by_mass(self.arm, self.q, self.free)
        K, D = linear_system(self.arm, self.q, self.qd, self.loads, self.free)
        back = np.swapaxes(X, -1, -2)
        K, D = back @ K @ X, back @ D @ X
        if symmetric:
            K = 0.5 * (K + np.swapaxes(K, -1, -2))
        return K, D, X

    def first_order(self) -> Array:
        """Matrix of the state (positions, velocities) in coordinates of unit mass."""
        K, D, _ = self.system(symmetric=False)
        n = K.shape[-1]
        A = np.zeros((*K.shape[:-2], 2 * n, 2 * n))
        A[..., :n, n:] = np.eye(n)
        A[..., n:, :n], A[..., n:, n:] = -K, -D
        return A


def _one_of_each_pair(values: Any) -> Array:
    """Frequencies of eigenvalues (..., 2 n): |s| of complex pairs, real ones in pairs.

    Two real ones, the largest with the smallest, give the frequency of the square
    ``s1 s2``: positive if both decay, negative if one grows.
    """
    flat = np.asarray(values, complex).reshape(-1, values.shape[-1])
    n = flat.shape[1] // 2
    result = np.empty((len(flat), n))
    for row, each in zip(result, flat, strict=True):
        upper = each[each.imag > 0.0]
        real = np.sort(each[each.imag == 0.0].real)
        squares = np.concatenate(
            [np.abs(upper) ** 2, (real * real[::-1])[: len(real) // 2]]
        )
        row[:] = np.sort(signed_frequencies(squares))
    return result.reshape(*values.shape[:-1], n)
