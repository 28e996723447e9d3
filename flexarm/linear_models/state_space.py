"""State-space models with named signals, many at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._calls.doors import checked_class
from .._support.printing import Sheet
from . import _connect, _convert, _frequency, _modes, _reduction, _time, _zeros
from ._system import LinearSystem


@checked_class
@dataclass(frozen=True, eq=False)
class StateSpace(LinearSystem):
    r"""Linear models :math:`\dot x = A x + B u`, :math:`y = C x + D u`, or discrete.

    Made by `linearize`, or of given matrices.  Leading axes are many models of the same
    signals; they broadcast.

    Attributes
    ----------
    A, B, C, D : (..., n, n), (..., n, m), (..., p, n), (..., p, m) ndarray of float
        The matrices; D may be left out where it is zero.
    states, inputs, outputs : tuple of str
        Names of the signals.
    dt : float or None
        Sample time in s of a discrete model, ``x[k + 1] = A x[k] + B u[k]``; None for
        a continuous one.
    q, qd, tau : (..., nq), (..., nv), (..., nu) or (..., nv) ndarray or None
        The point of an arm about which it is linearized.
    y : (..., p) ndarray or None
        The outputs at the point.
    drift : (..., n) ndarray or None
        Rate of the state at the point, in units of the states per s: zero at an
        equilibrium.

    Raises
    ------
    ArgumentError
        If shapes or names do not fit.

    Notes
    -----
    ``model[index]`` takes models of a batch, `select` signals by their names.  `poles`,
    `zeros`, `controllability` and `observability` are properties of a model,
    `frequency_response`, `static_gain`, `step_response`, `impulse_response` and
    `response` its behaviour; `discretize`, `modal_form`, `modal_truncation`,
    `balanced_reduction`, `series` and `feedback` make other models, `to_control` and
    `to_scipy` objects of other packages.

    Examples
    --------
    >>> import flexarm as fa
    >>> ss = fa.StateSpace([[0, 1], [-4, 0]], [[0], [1]], [[1, 0]])
    >>> ss.states, ss.inputs, ss.outputs
    (('x0', 'x1'), ('u0',), ('y0',))
    """

    # the functions of the package as methods

    poles = _modes.poles
    controllability = _modes.controllability
    observability = _modes.observability
    zeros = _zeros.zeros
    frequency_response = _frequency.frequency_response
    static_gain = _frequency.static_gain
    discretize = _time.discretize
    step_response = _time.step_response
    impulse_response = _time.impulse_response
    response = _time.response
    modal_form = _reduction.modal_form
    modal_truncation = _reduction.modal_truncation
    balanced_reduction = _reduction.balanced_reduction
    series = _connect.series
    feedback = _connect.feedback
    to_control = _convert.to_control
    to_scipy = _convert.to_scipy

    def _sheet(self) -> Sheet:
        n, (p, m) = self.n_states, self.D.shape[-2:]
        kind = "" if self.dt is None else f", sampled every {self.dt:g} s"
        many = f"{self.batch} models" if self.batch else "model"
        lines = [
            f"linear {many} of {n} states, {m} inputs, {p} outputs{kind}",
            f"inputs: {', '.join(self.inputs)}",
            f"outputs: {', '.join(self.outputs)}",
        ]
        if self.drift is not None:
            lines += _drift_lines(self)
        return Sheet((*lines, *self.poles()._sheet().parts))

    def __repr__(self) -> str:
        n, (p, m) = self.n_states, self.D.shape[-2:]
        many = f"{self.batch} models, " if self.batch else ""
        return f"<StateSpace: {many}{n} states, {m} inputs, {p} outputs>"


def _drift_lines(model: StateSpace) -> list[str]:
    """Line on the distance of the point from an equilibrium, unless it is one."""
    drift = np.abs(np.asarray(model.drift))
    n = model.n_states // 2
    largest = drift.reshape(-1, model.n_states).max(axis=0, initial=0.0)
    parts = []
    for what, part in (("velocity", largest[:n]), ("acceleration", largest[n:])):
        if part.any():
            k = int(part.argmax())
            parts.append(f"{what} up to {part[k]:.3g} of {model.states[k]}")
    return [f"no equilibrium: {', '.join(parts)}"] if parts else []
