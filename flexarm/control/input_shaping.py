r"""Input shaping: commands as impulses that leave no vibration behind.

An impulse that starts a vibration is followed by others that stop it.  Convolved with
such a sequence any command excites as little as the impulses do,

.. math::
   V(\omega, \zeta) = e^{-\zeta\omega t_n} \left| \sum_i A_i e^{\zeta\omega t_i}
       e^{j \omega \sqrt{1-\zeta^2} t_i} \right|, \qquad \sum_i A_i = 1,

the amplitude that remains, as part of that after one impulse (N. C. Singer, W. P.
Seering, "Preshaping command inputs to reduce system vibration", *J. Dyn. Syst. Meas.
Control* 112, 1990, 76-82).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from .._calls.arguments import check_numbers, common_batch, real_array
from .._calls.declared import Floats, Kept, Number, Positive
from .._calls.doors import checked, checked_record
from .._support.arrays import Array
from .._support.description import Description
from .._support.warn import warn
from ..errors import ArgumentError, ConvergenceError, SimulationWarning
from .checks import one_line

DampingRatio: TypeAlias = Annotated[
    float, Number(least=0.0, below=1.0, words="a damping ratio from zero to below one")
]

# Steps from no damping to the damping wanted, for the EI shaper.
_DAMPING_STEPS = 20


def _of_impulses(what: str, value: object) -> Array:
    array = np.array(real_array(what, value))
    check_numbers(what, array)
    array.flags.writeable = False
    return array


@checked_record("{field}")
@dataclass(frozen=True, eq=False)
class Shaper(Description):
    """Sequence of impulses, to be convolved with a command.

    Parameters
    ----------
    times : (n,) array_like of float
        Times of the impulses in s, from zero, increasing.
    amplitudes : (n,) array_like of float
        Their sizes, factors; the sum is one, so that a command arrives where it should.

    Raises
    ------
    ArgumentError
        If the times do not increase from zero or the amplitudes do not sum to one.

    See Also
    --------
    RestToRest : motions that can be shaped.

    Notes
    -----
    ``first * second`` is the shaper for two vibrations, the convolution of both.

    Examples
    --------
    Half of the command now, the rest half a period later:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> shaper = fa.control.Shaper.zero_vibration(2.0 * np.pi)
    >>> shaper.times, shaper.amplitudes
    (array([0. , 0.5]), array([0.5, 0.5]))
    >>> shaper.shape([0.0, 0.25, 0.5, 0.75], [0.0, 1.0, 1.0, 1.0])
    array([0. , 0.5, 0.5, 1. ])

    Sensitivity for many frequencies at once:

    >>> omega = 2.0 * np.pi * np.array([0.9, 1.0, 1.1])
    >>> shaper.residual_vibration(omega).round(3)
    array([0.156, 0.   , 0.156])
    """

    times: Annotated[Any, Kept(_of_impulses)]
    amplitudes: Annotated[Any, Kept(_of_impulses)]

    def __post_init__(self) -> None:
        t, A = self.times, self.amplitudes
        if t.ndim != 1 or t.shape != A.shape or not t.size:
            raise ArgumentError(
                f"times have shape {t.shape} and amplitudes {A.shape}, expected one of "
                "each for every impulse"
            )
        if t[0] != 0.0 or (np.diff(t) <= 0.0).any():
            raise ArgumentError(
                f"times are {one_line(t)}, expected increasing ones from zero"
            )
        if abs(A.sum() - 1.0) > 1e-9:
            raise ArgumentError(
                f"amplitudes sum to {A.sum():.6g}, expected one; divide by their sum"
            )

    @classmethod
    @checked
    def zero_vibration(cls, omega: Positive, zeta: DampingRatio = 0.0) -> Shaper:
        """ZV shaper: two impulses, half a period apart, no vibration.

        Parameters
        ----------
        omega : float
            Natural frequency of the undamped vibration in rad/s.
        zeta : float
            Damping ratio, from zero to below one.

        Returns
        -------
        shaper : Shaper
            V is zero at `omega`.

        Notes
        -----
        O. J. M. Smith, "Posicast control of damped oscillatory systems", *Proc. IRE* 45
        (1957), 1249-1255; Singer and Seering (1990).

        Examples
        --------
        >>> import flexarm as fa
        >>> fa.control.Shaper.zero_vibration(10.0, 0.1).amplitudes.round(4)
        array([0.5783, 0.4217])
        """
        half, K = _half_period(omega, zeta)
        return cls([0.0, half], np.array([1.0, K]) / (1.0 + K))

    @classmethod
    @checked
    def zero_vibration_derivative(
        cls, omega: Positive, zeta: DampingRatio = 0.0
    ) -> Shaper:
        """ZVD shaper: three impulses; V and its derivative by the frequency are zero.

        Parameters
        ----------
        omega : float
            Natural frequency of the undamped vibration in rad/s.
        zeta : float
            Damping ratio, from zero to below one.

        Returns
        -------
        shaper : Shaper
            Twice the `zero_vibration` shaper, one period long.

        Notes
        -----
        Singer and Seering (1990).

        Examples
        --------
        >>> import flexarm as fa
        >>> fa.control.Shaper.zero_vibration_derivative(10.0).amplitudes
        array([0.25, 0.5 , 0.25])
        """
        once = cls.zero_vibration(omega, zeta)
        return once * once

    @classmethod
    @checked
    def extra_insensitive(
        cls,
        omega: Positive,
        zeta: Annotated[float, Number(least=0.0, below=0.3)] = 0.0,
        tolerance: Annotated[float, Number(above=0.0, below=0.5)] = 0.05,
    ) -> Shaper:
        r"""EI shaper: three impulses, some vibration at `omega`, little around it.

        V is the tolerance at `omega`, and zero at a frequency below it and one above:
        the range of frequencies in which V stays below the tolerance is much wider than
        with `zero_vibration_derivative`, for the same duration.

        Parameters
        ----------
        omega : float
            Natural frequency of the undamped vibration in rad/s.
        zeta : float
            Damping ratio, from zero to below 0.3.
        tolerance : float
            V that is accepted at `omega`, above zero and below 0.5.

        Returns
        -------
        shaper : Shaper
            About one period long.

        Raises
        ------
        ArgumentError
            If a number is out of range.
        ConvergenceError
            If there is no such shaper.

        Notes
        -----
        W. Singhose, W. Seering, N. Singer, "Residual vibration reduction using vector
        diagrams to generate shaped inputs", *J. Mechanical Design* 116 (1994), 654-659,
        whose amplitudes without damping are (1 + V)/4, (1 - V)/2, (1 + V)/4.  With
        damping the equations that define it are solved by Newton's method, in place of
        the fits of the literature.

        Examples
        --------
        >>> import numpy as np
        >>> import flexarm as fa
        >>> shaper = fa.control.Shaper.extra_insensitive(2.0 * np.pi, tolerance=0.05)
        >>> shaper.amplitudes
        array([0.2625, 0.475 , 0.2625])
        >>> shaper.residual_vibration(2.0 * np.pi * np.array([0.9, 1.0, 1.1])).round(3)
        array([0.024, 0.05 , 0.024])
        """
        half, _ = _half_period(omega, zeta)
        V = float(tolerance)
        A = np.array([(1.0 + V) / 4.0, (1.0 - V) / 2.0, (1.0 + V) / 4.0])
        if zeta == 0.0:
            return cls([0.0, half, 2.0 * half], A)
        # in units of 1/omega; zeros where cos = -A2/(2 A1), above and below omega
        above = np.arccos(-A[1] / (2.0 * A[0])) / np.pi
        x = np.array([A[0], A[2], np.pi, 2.0 * np.pi, 2.0 - above, above])
        for z in np.linspace(0.0, zeta, _DAMPING_STEPS + 1)[1:]:
            x = _insensitive(x, float(z), V)
        A = np.array([x[0], 1.0 - x[0] - x[1], x[1]])
        return cls(np.array([0.0, x[2], x[3]]) / omega, A / A.sum())

    @property
    def duration(self) -> float:
        """Time by which a command gets longer, in s."""
        return float(self.times[-1])

    def __mul__(self, other: object) -> Shaper:
        """Shaper for the vibrations of both."""
        if not isinstance(other, Shaper):
            return NotImplemented
        t = np.add.outer(self.times, other.times).ravel()
        A = np.multiply.outer(self.amplitudes, other.amplitudes).ravel()
        order = np.argsort(t, kind="stable")
        t, A = t[order], A[order]
        first = np.concatenate([[True], np.diff(t) > 1e-12 * max(float(t[-1]), 1e-300)])
        return Shaper(t[first], np.add.reduceat(A, np.flatnonzero(first)))

    def shape(
        self,
        t: Annotated[ArrayLike, Floats("(m,)")],
        command: Annotated[ArrayLike, Floats("(m,)", "(..., m, k)")],
        before: Annotated[ArrayLike, Floats("()", "(..., k)")] | None = None,
    ) -> Array:
        """Convolve samples of a command with the impulses.

        What the command was before its first sample matters as much as the samples:
        a place was that of the first sample, a force, rate or acceleration was zero.

        Parameters
        ----------
        t : (m,) array_like of float
            Times of the samples in s, increasing.
        command : (m,) or (..., m, k) array_like of float
            Samples, one row for each time; linear in between.
        before : float or (..., k) array_like of float, optional
            Command until the sample before the first, as far from it as the second is,
            in the unit of the command: 0.0 for forces, ``command[0]`` for places.  By
            default the first sample, with a warning where it is not zero.

        Returns
        -------
        shaped : (...) ndarray of float
            The shaped command at the same times; it ends `duration` later than the
            command does, so give times until then.

        Raises
        ------
        ArgumentError
            If `t` does not increase, or `before` is not one row of the command.

        Warns
        -----
        SimulationWarning
            If the command begins with another value than zero and `before` is not
            given: shaped forces would hold their first value for ever before.

        Examples
        --------
        A force that begins at once, and a joint that begins at 1 rad:

        >>> import flexarm as fa
        >>> shaper = fa.control.Shaper([0.0, 2.0], [0.5, 0.5])
        >>> t = [0.0, 1.0, 2.0, 3.0]
        >>> shaper.shape(t, [8.0, 8.0, 0.0, 0.0], before=0.0)
        array([4., 4., 4., 4.])
        >>> shaper.shape(t, [1.0, 2.0, 3.0, 3.0], before=1.0)
        array([1. , 1.5, 2. , 2.5])
        """
        t, x = np.array(real_array("t", t)), real_array("command", command)
        alone = x.ndim == 1
        if alone:
            x = x[:, np.newaxis]
        if t.ndim != 1 or x.ndim < 2 or x.shape[-2] != len(t) or not len(t):
            raise ArgumentError(
                f"command has shape {np.shape(command)} and t {t.shape}, expected one "
                "row of the command for each time"
            )
        check_numbers("t", t)
        check_numbers("command", x)
        if (np.diff(t) <= 0.0).any():
            raise ArgumentError("t does not increase, expected increasing times")
        past = _past(x[..., 0, :], before, alone)
        step = t[1] - t[0] if len(t) > 1 else max(self.times[:2].max(), 1e-9)
        t = np.concatenate([[t[0] - step], t])
        x = np.concatenate([past[..., np.newaxis, :], x], axis=-2)
        result = np.zeros((*x.shape[:-2], len(t) - 1, x.shape[-1]))
        for delay, A in zip(self.times, self.amplitudes, strict=True):
            result += A * _linear(t, x, t[1:] - delay)
        return np.asarray(result[..., 0] if alone else result)

    @checked
    def __call__(
        self, command: Callable[[float], ArrayLike]
    ) -> Callable[[float], Array]:
        """Shaped function of time.

        Parameters
        ----------
        command : callable
            ``command(t)``, an array, or a tuple of arrays such as `Motion`; constant
            before its start.

        Returns
        -------
        shaped : callable
            Function of the same kind; of a tuple all parts are shaped, so that rates
            and accelerations stay those of the positions.
        """

        def shaped(t: float) -> Any:
            parts = [command(t - delay) for delay in self.times]
            if not isinstance(parts[0], tuple):
                return _mixed(self.amplitudes, parts)
            mixed = [
                None if column[0] is None else _mixed(self.amplitudes, column)
                for column in zip(*parts, strict=True)
            ]
            make = getattr(type(parts[0]), "_make", tuple)
            return make(mixed)

        return shaped

    def residual_vibration(
        self,
        omega: Annotated[ArrayLike, Floats("(...)")],
        zeta: Annotated[ArrayLike, Floats("(...)")] = 0.0,
    ) -> Array:
        """Amplitude V that remains, as part of that without shaping.

        Parameters
        ----------
        omega : (...) array_like of float
            Natural frequency of the undamped vibration in rad/s.
        zeta : (...) array_like of float
            Damping ratio, below one.  Leading axes broadcast: the sensitivity curve of
            a shaper is one call.

        Returns
        -------
        V : (...) ndarray of float
            Zero for a vibration that the shaper stops.

        Raises
        ------
        ArgumentError
            If a frequency or damping ratio is out of range.

        Examples
        --------
        Half a period off, two impulses of the same size do not help at all:

        >>> import flexarm as fa
        >>> shaper = fa.control.Shaper([0.0, 0.5], [0.5, 0.5])
        >>> shaper.residual_vibration([6.283185307, 12.566370614])
        array([0., 1.])
        """
        w = np.asarray(real_array("omega", omega))[..., np.newaxis]
        z = np.asarray(real_array("zeta", zeta))[..., np.newaxis]
        common_batch({"omega": w.shape[:-1], "zeta": z.shape[:-1]})
        if not ((z >= 0.0) & (z < 1.0)).all() or not (w >= 0.0).all():
            raise ArgumentError(
                "omega or zeta is out of range, expected frequencies of zero or more "
                "and damping ratios from zero to below one"
            )
        # decay until the last impulse, each from its own
        decay = np.exp(-z * w * (self.times[-1] - self.times))
        turn = np.exp(1j * w * np.sqrt(1.0 - z**2) * self.times)
        return np.asarray(np.abs((self.amplitudes * decay * turn).sum(axis=-1)))


def _insensitive(start: Array, zeta: float, V: float) -> Array:
    """Solve the six equations of the EI shaper, in units of 1/omega.

    Unknown are two amplitudes, two times and both frequencies at which V is zero.
    """
    from scipy.optimize import root

    # sum of the impulses as vectors at the frequency w, and its derivative by w
    def vector(x: Array, w: float) -> tuple[complex, complex]:
        A, t = (x[0], 1.0 - x[0] - x[1], x[1]), (0.0, x[2], x[3])
        pole = w * (zeta + 1j * np.sqrt(1.0 - zeta**2))
        parts = [
            a * np.exp(pole * s - w * zeta * x[3]) for a, s in zip(A, t, strict=True)
        ]
        slopes = [
            p * (s * (zeta + 1j * np.sqrt(1.0 - zeta**2)) - zeta * x[3])
            for p, s in zip(parts, t, strict=True)
        ]
        return sum(parts), sum(slopes)

    def equations(x: Array) -> Array:
        here, slope = vector(x, 1.0)
        low, high = vector(x, x[4])[0], vector(x, x[5])[0]
        flat = (slope * np.conj(here)).real  # of |V|^2, half its derivative
        return np.array(
            [abs(here) - V, flat / V, low.real, low.imag, high.real, high.imag]
        )

    found = root(equations, start, tol=1e-14)
    if abs(found.fun).max() > 1e-10:
        raise ConvergenceError(
            f"no extra-insensitive shaper was found for the damping ratio {zeta:g} and "
            f"the tolerance {V:g}; try Shaper.zero_vibration_derivative"
        )
    return np.asarray(found.x)


def _half_period(omega: float, zeta: float) -> tuple[float, float]:
    """Half of the damped period, and the part of the amplitude left after it."""
    w, z = float(omega), float(zeta)
    root = np.sqrt(1.0 - z**2)
    return float(np.pi / (w * root)), float(np.exp(-z * np.pi / root))


def _mixed(A: Array, parts: Iterable[ArrayLike]) -> Array:
    return np.asarray(
        sum(a * np.asarray(part) for a, part in zip(A, parts, strict=True))
    )


def _past(first: Array, before: object, alone: bool) -> Array:
    """Rows (..., k) of a command before its first ones."""
    if before is None:
        if first.any():
            warn(
                "the command begins with another value than zero, which is taken as "
                "that of all times before; expected before=0.0 for forces, rates and "
                "accelerations, before=command[0] for places",
                SimulationWarning,
            )
        return first
    given = real_array("before", before)
    check_numbers("before", given)
    try:
        row = given[..., np.newaxis] if alone and given.ndim else given
        return np.broadcast_to(row, first.shape)
    except ValueError:
        raise ArgumentError(
            f"before has shape {given.shape}, expected one number or one row of the "
            "command"
        ) from None


def _linear(t: Array, x: Array, at: Array) -> Array:
    """Rows of x (..., m, k), linear in between, at other times (n,)."""
    k = np.clip(np.searchsorted(t, at, side="right") - 1, 0, len(t) - 2)
    part = np.clip((at - t[k]) / (t[k + 1] - t[k]), 0.0, 1.0)[:, np.newaxis]
    return np.asarray(x[..., k, :] * (1.0 - part) + x[..., k + 1, :] * part)
