"""Measured frequency responses, and those of the linear model of an arm."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._calls.arguments import real_array
from .._calls.declared import Floats, Kind
from .._calls.doors import checked_class
from .._support.arrays import Array, Complex
from .._support.checks import short_text
from ..arm import Arm, without_warning
from ..errors import ArgumentError, ModelError
from ..linear_models import StateSpace, linearize
from ..parameters.tangent import SHORT_RULES, STEP
from ._output_error import Problem
from ._records import Sensing, Sensor, alike, check_count, rms_of


@checked_class
@dataclass(frozen=True, eq=False)
class FrequencyResponse:
    r"""Measured frequency responses of small motions about a posture.

    Parameters
    ----------
    frequencies : (f,) array_like of float
        Frequencies in Hz, above zero, ascending.
    response : (f, m, k) or (f,) array_like of complex
        Outputs over inputs at these frequencies: m outputs, those of `identify`, and k
        inputs; NaN where there is no measurement.
    coherence : (f, m, k) or (f,) array_like of float, optional
        Ordinary coherences between 0 and 1, exclusive, of each output with the input
        that excited the arm.  They are the weights: without them all frequencies have
        the same error in parts of the response, which is estimated.
    averages : float
        Number of independent segments behind the coherence; those that overlap by half
        under a Hann window count by the factor 0.95.
    inputs : str, Input or list of these, optional
        The k inputs, see `flexarm.inputs`; by default the forces of the actuators.
    q0 : (nq,) array_like of float, optional
        Posture, by default ``arm.neutral``.
    at_rest : bool
        Whether links first bend under the weight, as in `Record`.

    Raises
    ------
    ArgumentError
        If frequencies do not ascend, shapes differ, nothing was measured, a response is
        zero, or a coherence not between 0 and 1.

    See Also
    --------
    identify : parameters from such responses.
    flexarm.linear_models.StateSpace.frequency_response : that of a model.

    Notes
    -----
    Logarithm of the magnitude and phase are compared [2]_.  Of the estimate H1, cross
    spectrum over the spectrum of the input, both have the variance [1]_

    .. math:: \frac{1 - \gamma^2}{2 n \gamma^2}

    with n averages.  Signals of the result are in units of these standard deviations.
    Noise at the input and leakage, resonances narrower than the lines, bias H1 and are
    not in it.  A window correlates neighbouring lines, which intervals allow for.

    References
    ----------
    .. [1] J. S. Bendat, A. G. Piersol, *Random Data*, 4th ed., 2010, section 9.2.
    .. [2] M. B. Tischler, R. K. Remple, *Aircraft and Rotorcraft System
       Identification*, 2nd ed., 2012, chapter 11.

    Examples
    --------
    Mass and damping of a cart on a spring, from 60 s of a random force, with
    `scipy.signal`:

    >>> import numpy as np
    >>> from scipy import signal
    >>> import flexarm as fa
    >>> def make_arm(p):
    ...     joint = fa.Joint.prismatic(stiffness=400.0, damping=p[1])
    ...     return fa.Arm([fa.RigidBody("cart", joint, mass=p[0])], gravity=(0, 0, 0))
    >>> rng, t = np.random.default_rng(1), np.arange(0.0, 60.0, 0.005)
    >>> u = rng.normal(size=(len(t), 1))
    >>> run = fa.simulate(make_arm([1.0, 4.0]), [0.0], [0.0], t, torque=u)
    >>> x = run.q[:, 0] + 1e-4 * rng.normal(size=len(t))

    Three lines make a response of records:

    >>> how = {"fs": 200.0, "nperseg": 2400}
    >>> f, cross = signal.csd(u[:, 0], x, **how)
    >>> H = cross / signal.welch(u[:, 0], **how)[1]
    >>> coherence = signal.coherence(u[:, 0], x, **how)[1]

    Around the resonance at 3.2 Hz:

    >>> band = slice(6, 120)
    >>> measured = fa.identification.FrequencyResponse(
    ...     f[band], H[band], coherence[band], averages=0.95 * 9
    ... )
    >>> found = fa.identification.identify(make_arm, [1.3, 2.0], measured)
    >>> bool((abs(found.p - [1.0, 4.0]) < 3.0 * found.std).all()), found.success
    (True, True)
    """

    frequencies: Annotated[Array, Floats("(f,)")]
    response: Annotated[Complex, Kind()]
    coherence: Annotated[Array, Floats("(f, m, k)", "(f,)")] | None = None
    averages: float = 1.0
    inputs: object = None
    q0: Annotated[Array, Floats("(nq,)")] | None = None
    at_rest: bool = False
    std: Array | None = field(init=False, repr=False)  # (f, m, k), of the logarithm

    def __post_init__(self) -> None:
        f = np.array(real_array("frequencies", self.frequencies))
        rises = f.ndim == 1 and len(f) and (np.diff(f, prepend=0.0) > 0.0).all()
        if not rises or not np.isfinite(f).all():
            raise ArgumentError(
                "frequencies do not ascend from above zero, expected (f,) finite ones "
                "in Hz"
            )
        try:
            H = _columns(np.array(self.response, dtype=np.complex128))
        except (TypeError, ValueError):
            raise ArgumentError(
                f"response is {short_text(self.response)}, expected complex numbers, "
                f"({len(f)}, m, k) or ({len(f)},)"
            ) from None
        if H.ndim != 3 or len(H) != len(f) or not H.size:
            raise ArgumentError(
                f"response has shape {np.shape(self.response)} with {len(f)} "
                f"frequencies, expected ({len(f)}, m, k): outputs over inputs, or "
                f"({len(f)},) of one input and output"
            )
        wrong = (
            (H == 0.0)
            | np.isinf(H)
            | np.ma.getmaskarray(self.response).reshape(H.shape)
        )
        if wrong.any() or np.isnan(H).all():
            what = "has no number"
            if wrong.any():
                at = [int(i) for i in np.argwhere(wrong)[0]]
                what = f"is zero, infinite or masked at index {at}"
            raise ArgumentError(
                f"response {what}, expected measurements, and NaN where there is none"
            )
        c = std = None
        if self.coherence is not None:
            c = _columns(np.array(real_array("coherence", self.coherence)))
            there = ~np.isnan(H)
            if c.shape != H.shape:
                raise ArgumentError(
                    f"coherence has shape {c.shape}, expected {H.shape} as of the "
                    "response"
                )
            beyond = there & ~((c > 0.0) & (c < 1.0))
            if beyond.any():
                at = [int(i) for i in np.argwhere(beyond)[0]]
                raise ArgumentError(
                    f"coherence is {c[beyond][0]:g} at index {at}, expected more than "
                    "0 and less than 1; make the response NaN elsewhere"
                )
            if not self.averages >= 1.0:
                raise ArgumentError(
                    f"averages is {self.averages!r}, expected one or more"
                )
            c[~there] = 0.5  # of no effect
            std = np.sqrt((1.0 - c) / (2.0 * self.averages * c))
        q0 = None if self.q0 is None else np.array(real_array("q0", self.q0))
        given = {"frequencies": f, "response": H, "coherence": c, "std": std, "q0": q0}
        for name, value in given.items():
            object.__setattr__(self, name, value)


_Numbers = TypeVar("_Numbers", bound=np.generic)


def _columns(values: NDArray[_Numbers]) -> NDArray[_Numbers]:
    return values[:, np.newaxis, np.newaxis] if values.ndim == 1 else values


def read_responses(given: object) -> tuple[FrequencyResponse, ...]:
    """Responses out of what was measured, none if these are records."""
    found = alike(given, FrequencyResponse)
    if len({x.std is None for x in found}) > 1:
        raise ArgumentError(
            "some frequency responses have a coherence, expected all or none"
        )
    return found


class ResponseError(Problem):
    """Predictions of logarithms and phases by linear models; unknowns are x = p."""

    parts = 2

    def __init__(
        self,
        arms: Callable[[Array], Arm],
        p: Array,
        responses: Sequence[FrequencyResponse],
        outputs: object,
    ) -> None:
        self.arms, self.outputs, self.n = arms, outputs, len(p)
        self.responses = responses
        self.times = [r.frequencies for r in responses]
        self._over = [1.0 if r.std is None else 1.0 / r.std for r in responses]
        known = Sensing(arms(p), outputs, p).names
        for number, response in enumerate(responses):
            H, model = response.response, self._first_model(p, response)
            check_count(f"response {number}", H.shape[1], "outputs", known)
            check_count(f"response {number}", H.shape[2], "inputs", model.inputs)
        self.signals = tuple(
            f"{output} / {drive}, {part}"
            for part in ("log", "phase")
            for output in known
            for drive in model.inputs
        )
        self.measured = [
            _parts(np.log(r.response) * over)
            for r, over in zip(responses, self._over, strict=True)
        ]
        start = self.predict(p)
        if start is None or not all(np.isfinite(y).all() for y in start):
            raise ArgumentError(
                "the arm of p0 has a response that is zero or has no end, expected "
                "damping, and inputs that move all outputs"
            )

    def shares(self, residual: list[Array]) -> Array:
        """(m,) rms of residuals in parts of the response, or rad."""
        left = [
            y if r.std is None else y * np.tile(r.std.reshape(len(y), -1), 2)
            for y, r in zip(residual, self.responses, strict=True)
        ]
        return rms_of(np.concatenate(left))

    def noise(self, sigma: ArrayLike | None) -> ArrayLike | None:
        """Noise of the signals: as given, or one where coherences are their units."""
        if self.responses[0].std is None:
            return sigma
        if sigma is not None:
            raise ArgumentError(
                "sigma is given for responses with a coherence, which says the same; "
                "leave one of both out"
            )
        return 1.0

    def _model(self, p: Array, response: FrequencyResponse) -> StateSpace:
        with without_warning():  # of modes, after that of the first arm
            return self._first_model(p, response)

    def _first_model(self, p: Array, response: FrequencyResponse) -> StateSpace:
        arm = self.arms(p)
        q0 = arm.neutral if response.q0 is None else response.q0
        return linearize(
            arm,
            q0,
            inputs=response.inputs,
            outputs=Sensing(arm, self.outputs, p).outputs,
            settle=response.at_rest,
        )

    def _shown(self, p: Array, w: Array) -> Complex:
        """(f, m, 1) factors of the sensors at frequencies in rad/s."""
        sensing = Sensing(self.arms(p), self.outputs, p)
        return np.stack([_factor(x, w) for x in sensing.sensors], axis=1)[..., None]

    def predict(self, x: Array) -> list[Array] | None:
        """Predicted signals, phases within half a turn of those measured."""
        found = []
        for response, over in zip(self.responses, self._over, strict=True):
            w = 2.0 * np.pi * response.frequencies
            try:
                H = self._model(x, response).frequency_response(w) * self._shown(x, w)
            except (ModelError, ArithmeticError):
                return None
            known = np.where(np.isnan(response.response), 1.0, response.response)
            with np.errstate(divide="ignore"):
                found.append(_parts((np.log(known) + np.log(H / known)) * over))
        return found

    def derivatives(self, x: Array, size: Array) -> list[Array]:
        """Derivatives of the signals, out of those of the matrices."""
        step = STEP * np.maximum(np.abs(x), STEP * size)
        found = []
        for response, over in zip(self.responses, self._over, strict=True):
            w = 2.0 * np.pi * response.frequencies
            model = self._model(x, response)
            shifted = 1j * w[:, None, None] * np.eye(model.n_states) - model.A
            right = np.linalg.solve(shifted, model.B + 0j)
            left = np.linalg.solve(np.swapaxes(shifted, -1, -2), model.C.T + 0j)
            left = np.swapaxes(left, -1, -2)
            H, shown = model.C @ right + model.D, self._shown(x, w)
            columns = []
            for j in range(self.n):
                dA, dB, dC, dD, change = self._changes(x, j, step[j], response, w)
                dH = (dC + left @ dA) @ right + left @ dB + dD
                columns.append(_parts((dH / H + change / shown) * over))
            found.append(np.stack(columns, axis=-1))
        return found

    def _changes(
        self, x: Array, j: int, step: float, response: FrequencyResponse, w: Array
    ) -> list[NDArray[Any]]:
        """Derivatives of the matrices and the sensors by one parameter."""
        for rule in SHORT_RULES:
            each = []
            try:
                for node in rule.nodes:
                    moved = x.copy()
                    moved[j] += step * node
                    m = self._model(moved, response)
                    each.append((m.A, m.B, m.C, m.D, self._shown(moved, w)))
            except ModelError:
                continue
            weights = rule.weights / step
            return [
                np.tensordot(weights, np.array(part), 1)
                for part in zip(*each, strict=True)
            ]
        raise ModelError(f"parameter {j} has no arms beside it, expected other bounds")


def _factor(sensor: Sensor, w: Array) -> Complex:
    """(f,) gain, low-pass and delay at frequencies in rad/s."""
    s = 1j * w
    found = sensor.gain * np.exp(-s * sensor.delay)
    if sensor.low_pass is not None:
        ratio = s / sensor.low_pass
        second = 0.0 if sensor.damping is None else ratio
        first = 1.0 if sensor.damping is None else 2.0 * sensor.damping
        found = found / (1.0 + first * ratio + second * ratio)
    return np.asarray(found)


def _parts(values: NDArray[Any]) -> Array:
    """(f, 2 m k) real and imaginary parts, as columns."""
    flat = values.reshape(len(values), -1)
    return np.concatenate([flat.real, flat.imag], axis=1)
