"""Mode shapes and complex modes of whole arms: results of their functions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from . import kinematics
from ._calls.arguments import finite_number
from ._calls.arm_like import Array, StackLike
from ._calls.declared import Choice
from ._calls.doors import checked_class
from ._support.arrays import Complex, Mask
from ._support.checks import short_text
from ._support.printing import Printed, Sheet, Table, percent
from .errors import ArgumentError
from .frequency_errors import frequency_errors
from .kinematics import positions
from .statics.spectrum import rounding, signed_frequencies


@checked_class
@dataclass(frozen=True, eq=False)
class VibrationModes(Printed):
    """Undamped modes of small motions about postures.

    Attributes
    ----------
    arm : Arm or ArmStack
        The arm, or a stack of arms.
    q : (..., nq) ndarray of float
        Postures.
    free : (nv,) ndarray of bool
        Flags of free velocities; there are n modes, one for each without couplings.
    squares : (..., n) ndarray of float
        Squares of the circular frequencies in 1/s^2, ascending; negative for unstable
        motions, NaN for a pair of complex ones: flutter, by a load that follows a node.
    shapes : (..., nv, n) ndarray of float
        Velocity directions of each mode, of unit modal mass, ``x' M x = 1``; the entry
        with the largest part of its kinetic energy is positive.  Modes that flutter
        have complex shapes, see `complex_modes`, and NaN here.
    damping_ratios : (..., n) ndarray of float
        Damping ratio of each mode, without coupling of modes: ``x' D x / (2 omega)``
        (from the left by the left eigenvector if the stiffness is not symmetric); NaN
        for a zero or imaginary frequency, and for flutter.
    participation : (..., nv, n) ndarray of float
        Part of each coordinate in the kinetic energy of a mode, ``x_i (M x)_i``, with
        sum one; by coupling some may exceed one and others be negative.
    """

    arm: Any  # flexarm.Arm or ArmStack
    q: Array
    free: Mask
    squares: Array
    shapes: Array
    damping_ratios: Array
    participation: Array

    @property
    def frequencies(self) -> Array:
        """Frequencies in Hz, (..., n), negative for divergence, NaN for flutter."""
        return signed_frequencies(self.squares)

    @property
    def unstable(self) -> Mask:
        """Flags of motions that grow, by divergence or flutter, (..., n).

        Divergence grows like ``exp(2 pi |f| t)``.
        """
        diverges = self.squares < -rounding(self.squares)[..., np.newaxis]
        return np.asarray(diverges | self.flutter)

    @property
    def flutter(self) -> Mask:
        """Flags of pairs of modes of which one oscillates and grows, (..., n)."""
        return np.isnan(self.squares)

    @property
    def rigid(self) -> Mask:
        """Flags of motions without stiffness, to rounding, (..., n)."""
        small = np.abs(self.squares) <= rounding(self.squares)[..., np.newaxis]
        return np.asarray(small)

    def node_displacements(
        self, *, frame: Annotated[str, Choice("base", "node")] = "base"
    ) -> Array:
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

        Examples
        --------
        >>> import flexarm as fa
        >>> arm = fa.library.planar_chain(2, gravity=(0, 0, 0), n_modes=6)
        >>> modes = fa.vibration_modes(arm, arm.neutral)
        >>> modes.node_displacements().shape == (14, arm.n_nodes, 6)
        True
        """
        every = np.arange(self.arm.n_nodes)
        q = self.q[..., np.newaxis, :]
        arm = self.arm
        arm = arm[..., np.newaxis] if isinstance(arm, StackLike) else arm
        J = kinematics.jacobian(arm, q, every, frame=frame)
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
            If there is no such mode, it flutters, or `amplitude` is not one finite
            number.

        Examples
        --------
        The first mode of a clamped beam of 1 kg, whose tip moves twice the amplitude:

        >>> import numpy as np
        >>> import flexarm as fa
        >>> arm = fa.library.planar_chain(1, n_modes=6, gravity=(0, 0, 0))
        >>> modes = fa.vibration_modes(arm, np.zeros(7), held=[0])
        >>> q = modes.displaced(0, 0.01)
        >>> float(abs(fa.tip_pose(arm, q)[1, 3]).round(5))  # in m
        0.02
        """
        n = self.shapes.shape[-1]
        if not isinstance(mode, int | np.integer) or not -n <= mode < n:
            raise ArgumentError(
                f"mode is {short_text(mode)}, expected a whole number below {n}"
            )
        if self.flutter[..., mode].any():
            raise ArgumentError(
                f"mode {mode} flutters and has no real shape; expected another one, or "
                "the complex shapes of complex_modes"
            )
        step = finite_number("amplitude", amplitude) * self.shapes[..., :, mode]
        return np.asarray(positions.integrate(self.arm, self.q, step))

    @property
    def frequency_errors(self) -> Array:
        """Relative errors of the first frequencies above zero, (m,), m at most 4.

        By the arm with more modes, see `Arm.refined`, in the same posture undeformed
        and without loads; empty for several postures, for stacks, and where no link can
        have more modes or some are held.
        """
        if self.q.ndim > 1 or isinstance(self.arm, StackLike):
            return np.zeros(0)
        return frequency_errors(self.arm, self.q, ~self.free)[1]

    def _sheet(self) -> Sheet:
        if self.q.ndim > 1:
            f = self.frequencies.reshape(-1, self.squares.shape[-1])
            if not len(f):
                return Sheet((f"{f.shape[1]} modes of no posture",))
            head = f"{f.shape[1]} modes of {len(f)} postures"
            first = f[~np.isnan(f[:, 0]), 0]
            if len(first):
                head += f", lowest frequency {first.min():.4g} to {first.max():.4g} Hz"
            if self.flutter.any():
                head += f", flutter in {np.isnan(f).any(axis=1).sum()}"
            return Sheet((head,))
        names = self.arm.coordinate_names
        rows = [("mode", "Hz", "error %", "damping", "kinetic energy in")]
        above = np.flatnonzero(self.squares > rounding(self.squares))
        errors = dict(zip(above, self.frequency_errors, strict=False))
        for i, f in enumerate(self.frequencies):
            part = self.participation[:, i]
            main = [j for j in np.argsort(-part)[:3] if part[j] > 0.05]
            shares = ", ".join(f"{names[j]} {100.0 * part[j]:.0f} %" for j in main)
            kind = " rigid" * int(self.rigid[i]) + " unstable" * int(self.unstable[i])
            hertz = " flutter" if self.flutter[i] else f"{f:.5g}{kind}"
            ratio = self.damping_ratios[i]
            damped = f"{ratio:.4g}" if np.isfinite(ratio) else ""
            error = percent(errors[i]) if i in errors else ""
            rows.append((str(i), hertz, error, damped, shares))
        return Sheet((Table(rows),))


@checked_class
@dataclass(frozen=True, eq=False)
class ComplexModes:
    """Modes of small motions with damping and gyroscopic forces.

    Attributes
    ----------
    arm : Arm or ArmStack
        The arm, or a stack of arms.
    q : (..., nq) ndarray of float
        Postures.
    free : (nv,) ndarray of bool
        Flags of free velocities, of which n are independent.
    eigenvalues : (..., 2 n) ndarray of complex
        Eigenvalues s of motions ``exp(s t)``, in 1/s, by ascending absolute value;
        those with positive real part grow.
    shapes : (..., nv, 2 n) ndarray of complex
        Velocity directions, of unit length in the metric of the mass matrix.
    unstable : (..., 2 n) ndarray of bool
        Flags of motions that grow beyond rounding, by divergence or flutter.
    """

    arm: Any  # flexarm.Arm or ArmStack
    q: Array
    free: Mask
    eigenvalues: Complex
    shapes: Complex
    unstable: Mask

    @property
    def frequencies(self) -> Array:
        """Absolute value of each eigenvalue in Hz, (..., 2 n)."""
        return np.asarray(np.abs(self.eigenvalues) / (2.0 * np.pi))

    @property
    def damping_ratios(self) -> Array:
        """Ratios ``-Re(s)/|s|``, (..., 2 n): 1 if overdamped, negative if unstable."""
        size = np.abs(self.eigenvalues)
        return np.asarray(-self.eigenvalues.real / np.where(size > 0.0, size, np.nan))

    @property
    def flutter(self) -> Mask:
        """Flags of motions that oscillate and grow, (..., 2 n)."""
        turns = np.abs(self.eigenvalues.imag) > 1e-6 * np.abs(self.eigenvalues)
        return np.asarray(self.unstable & turns)
