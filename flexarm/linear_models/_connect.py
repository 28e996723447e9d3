"""Linear models that act on each other."""

from __future__ import annotations

import numpy as np

from .._calls.arguments import real_array
from .._calls.declared import Finite
from .._calls.doors import checked
from .._support.arrays import Array
from .._support.checks import short_text
from ..errors import ArgumentError, SingularityError
from ._system import LinearSystem, Model


@checked
def series(model: Model, second: Model) -> Model:
    """Model whose outputs are the inputs of a second one: an actuator, then an arm.

    Parameters
    ----------
    model, second : StateSpace
        Linear models with the same sample time; the second has as many inputs as the
        first has outputs, in their order.

    Returns
    -------
    model : StateSpace
        From the inputs of the first to the outputs of the second.

    Raises
    ------
    ArgumentError
        If numbers or times do not fit.

    Examples
    --------
    >>> import flexarm as fa
    >>> lag = fa.StateSpace([[-5]], [[5]], [[1]], states=("lag",), inputs=("u",))
    >>> mass = fa.StateSpace([[0, 1], [0, 0]], [[0], [1]], [[1, 0]])
    >>> lag.series(mass).states
    ('x0', 'x1', 'lag')
    """
    _check_same_time(model, "second", second)
    if len(second.inputs) != len(model.outputs):
        raise ArgumentError(
            f"the first model has {len(model.outputs)} outputs and the second "
            f"{len(second.inputs)} inputs, expected as many; pick them by select()"
        )
    A = _blocks(second.A, second.B @ model.C, 0.0, model.A)
    return type(model)(
        A,
        _stacked(second.B @ model.D, model.B, -2),
        _stacked(second.C, second.D @ model.C, -1),
        second.D @ model.D,
        states=_joined(second.states, model.states),
        inputs=model.inputs,
        outputs=second.outputs,
        dt=model.dt,
    )


@checked
def feedback(model: Model, controller: object, sign: Finite = -1.0) -> Model:
    r"""Closed loop of a model and a controller that sees all its outputs.

    The inputs become :math:`u = r + \text{sign} \cdot K y`, with the reference or
    disturbance r under the names of the inputs.

    Parameters
    ----------
    model : StateSpace
        Linear models.
    controller : StateSpace or (..., m, p) array_like of float
        From the outputs of the model to its inputs, in their order; a matrix of gains,
        of states if the outputs are the state.
    sign : float
        Factor of the feedback; -1 is negative feedback.

    Returns
    -------
    loop : StateSpace
        From r to the outputs of the model.

    Raises
    ------
    ArgumentError
        If numbers or times do not fit.
    SingularityError
        If direct transmission through both leaves the loop without a solution.

    Examples
    --------
    A mass with the gains of a spring and a damper:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> mass = fa.StateSpace([[0, 1], [0, 0]], [[0], [1]], np.eye(2))
    >>> mass.feedback([[4.0, 0.4]]).A
    array([[ 0. ,  1. ],
           [-4. , -0.4]])
    """
    p, m = model.D.shape[-2:]
    kind = type(model)
    if not isinstance(controller, kind):
        gain = real_array("controller", controller)
        if gain.ndim < 2 or gain.shape[-2:] != (m, p):
            raise ArgumentError(
                f"controller has shape {gain.shape}, expected (..., {m}, {p}): inputs "
                f"{', '.join(model.inputs)} by the outputs"
            )
        none = np.zeros
        controller = kind(none((0, 0)), none((0, p)), none((m, 0)), gain, dt=model.dt)
    _check_same_time(model, "controller", controller)
    if controller.D.shape[-2:] != (m, p):
        raise ArgumentError(
            f"the controller has {controller.D.shape[-1]} inputs and "
            f"{controller.D.shape[-2]} outputs, expected the {p} outputs and the {m} "
            "inputs of the model"
        )
    # u = (1 - s Dk D)^-1 (r + s Ck xk + s Dk C x)
    inside = np.eye(m) - sign * controller.D @ model.D
    if (np.linalg.cond(inside) > 1e14).any():
        raise SingularityError(
            "direct transmission of model and controller makes the loop singular, "
            "expected a smaller D in one of them"
        )
    E = np.linalg.inv(inside)
    by_x, by_k = sign * E @ controller.D @ model.C, sign * E @ controller.C
    Cx, Ck, Dr = model.C + model.D @ by_x, model.D @ by_k, model.D @ E
    B = controller.B
    A = _blocks(model.A + model.B @ by_x, model.B @ by_k, B @ Cx, controller.A + B @ Ck)
    return kind(
        A,
        _stacked(model.B @ E, B @ Dr, -2),
        _stacked(Cx, Ck, -1),
        Dr,
        states=_joined(model.states, controller.states),
        inputs=model.inputs,
        outputs=model.outputs,
        dt=model.dt,
        q=model.q,
        qd=model.qd,
        tau=model.tau,
        y=model.y,
    )


def _check_same_time(model: LinearSystem, name: str, other: LinearSystem) -> None:
    if not isinstance(other, type(model)):
        raise ArgumentError(f"{name} is {short_text(other)}, expected a StateSpace")
    if model.dt != other.dt:
        raise ArgumentError(
            f"models have the sample times {model.dt} and {other.dt}, expected the "
            "same; see discretize"
        )


def _joined(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    """Names of both, with primes on those of the second that the first has."""
    names = list(first)
    for name in second:
        while name in names:
            name += "'"
        names.append(name)
    return tuple(names)


def _stacked(a: Array, b: Array, axis: int) -> Array:
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    both = [np.broadcast_to(x, (*batch, *x.shape[-2:])) for x in (a, b)]
    return np.concatenate(both, axis=axis)


def _blocks(a: Array, b: Array, c: Array | float, d: Array) -> Array:
    """Matrix of four blocks with broadcast leading axes."""
    low = np.asarray(c) if np.ndim(c) else np.zeros((d.shape[-2], a.shape[-1]))
    return _stacked(_stacked(a, b, -1), _stacked(low, d, -1), -2)
