"""Linear models with a controller: closed loops, and open ones."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._calls.arguments import real_array
from .._calls.doors import checked
from .._support.arrays import Array, Complex
from ..errors import ArgumentError
from ._connect import feedback
from ._time import discretize
from .state_space import StateSpace


class Controller(NamedTuple):
    """Matrices of a controller: z' = A z + B y, u = C z + D y."""

    A: Array
    B: Array
    C: Array
    D: Array
    dt: float | None

    def times(self, factor: float) -> Controller:
        """The law with its forces times a factor."""
        return self._replace(C=factor * self.C, D=factor * self.D)


@checked
def closed_loop(model: StateSpace, controller: object) -> StateSpace:
    """Linear model with a controller from its outputs to its inputs.

    Parameters
    ----------
    model : StateSpace
        The plant, or many of them.
    controller : StateSpace, LinearController, StateFeedback or (m, p) array_like
        From the p outputs to the m inputs: ``u = C z + D y``.  Gains of the state, as
        of `flexarm.control.lqr`, need ``outputs="state"`` of `linearize`; an array is
        a matrix of gains that are fed back: ``u = -K y``.  A discrete controller of a
        continuous plant meets the plant as it is at the samples, with forces that are
        held.

    Returns
    -------
    loop : StateSpace
        States of the plant, then those of the controller; inputs are forces that are
        added to those of the controller, outputs those of the plant.

    Raises
    ------
    SingularityError
        If direct transmission of outputs to themselves has a gain of one.

    See Also
    --------
    flexarm.linear_models.StateSpace.feedback : of models and gains at the same times.
    root_locus : its poles over a gain.
    robustness : the same for many arms.

    Examples
    --------
    A pendulum that stands, held by a stiffness of 3 m g l and a damper:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.pendulum(mass=1.0, com=1.0)
    >>> plant = fa.linearize(arm, [np.pi / 2], outputs="state")
    >>> np.linalg.eigvals(fa.closed_loop(plant, [[3 * 9.81, 2.0]]).A).round(3)
    array([-1.+4.315j, -1.-4.315j])
    """
    law = read_controller(model, controller)
    plant = sampled(model, law.dt)
    names = tuple(f"controller {i}" for i in range(law.A.shape[-1]))
    return feedback(plant, as_model(law, names), sign=1.0)


def as_model(law: Controller, states: tuple[str, ...] = ()) -> StateSpace:
    """A controller as a linear model."""
    return StateSpace(law.A, law.B, law.C, law.D, states=states, dt=law.dt)


def sensitivity(model: StateSpace, law: Controller) -> StateSpace:
    """Model from disturbances of the inputs of a plant to its inputs."""
    plant = sampled(model, law.dt)
    m, n = len(plant.inputs), plant.n_states
    seen = plant.replace(
        C=np.concatenate([plant.C, np.zeros((*plant.batch, m, n))], axis=-2),
        D=np.concatenate([plant.D, _spread(np.eye(m), plant.batch)], axis=-2),
        outputs=(*plant.outputs, *(f"{name} in all" for name in plant.inputs)),
        y=None,
    )
    blind = _spread(np.zeros((law.B.shape[-2], m)), law.B.shape[:-2])
    none = _spread(np.zeros((m, m)), law.D.shape[:-2])
    wide = law._replace(
        B=np.concatenate([law.B, blind], axis=-1),
        D=np.concatenate([law.D, none], axis=-1),
    )
    loop = feedback(seen, as_model(wide), sign=1.0)
    return loop.select(outputs=loop.outputs[-m:])


def _spread(matrix: Array, batch: tuple[int, ...]) -> Array:
    return np.broadcast_to(matrix, (*batch, *matrix.shape))


def read_controller(model: StateSpace, controller: Any) -> Controller:
    """Matrices of a controller; refuses one that does not fit the model."""
    m, p = len(model.inputs), len(model.outputs)
    if all(hasattr(controller, name) for name in ("A", "B", "C", "D", "dt")):
        A, B, C, D = (np.asarray(getattr(controller, x)) for x in "ABCD")
        law = Controller(A, B, C, D, controller.dt)
    else:
        # feedback of the state keeps its gains beside the model that it is made for
        made_for = getattr(controller, "model", model)
        K = real_array("controller", getattr(controller, "K", controller))
        K = K[np.newaxis] if K.ndim == 1 else K
        if K.ndim < 2:
            raise ArgumentError(
                f"controller is {K}, expected gains of shape ({m}, {p}), one row for "
                "each input"
            )
        law = Controller(
            np.zeros((0, 0)), np.zeros((0, p)), np.zeros((m, 0)), -K, made_for.dt
        )
    if law.D.shape[-2:] != (m, p):
        raise ArgumentError(
            f"the controller leads from {law.D.shape[-1]} outputs to "
            f"{law.D.shape[-2]} inputs, expected {p} ({', '.join(model.outputs)}) and "
            f"{m} ({', '.join(model.inputs)})"
        )
    if model.dt is not None and law.dt != model.dt:
        raise ArgumentError(
            f"the controller has the sample time {law.dt} s, the model {model.dt} s; "
            "expected the same"
        )
    return law


def sampled(model: StateSpace, dt: float | None) -> StateSpace:
    """The model at samples, with inputs held between them; without `dt` itself."""
    if dt is None or model.dt is not None:
        return model
    return discretize(model, dt)


def frequencies(
    rates: Complex, points: int, dt: float | None, beyond: float = 1e2
) -> Array:
    """Circular frequencies that show all of some poles, ascending, in rad/s.

    Even steps of the logarithm, `beyond` the smallest and the largest pole by a factor,
    or to the last of a discrete model, and more about each resonance.
    """
    return np.unique(frequency_grids(rates[np.newaxis], points, dt, beyond)[0])


def frequency_grids(
    rates: Complex, points: int, dt: float | None, beyond: float = 1e2
) -> Array:
    """`frequencies` (n, p) of the poles (n, r) of many models, some of them twice."""
    finite = np.isfinite(rates)
    size = np.where(finite, np.abs(rates), 0.0)
    shown = size > 1e-7 * size.max(axis=-1, keepdims=True, initial=0.0)
    some = shown.any(axis=-1)
    low = np.where(some, np.where(shown, size, np.inf).min(axis=-1, initial=np.inf), 1)
    high = np.where(some, size.max(axis=-1, initial=0.0), 1.0)
    low, high = low / beyond, high * beyond
    if dt is not None:
        high = np.full_like(high, np.pi / dt)
        low = np.minimum(low, 1e-3 * high)
    # resonances first, of which the models have different numbers
    turning = finite & (rates.imag > 0.0)
    first = np.argsort(~turning, axis=-1)[:, : int(turning.sum(axis=-1).max(initial=0))]
    turning = np.take_along_axis(turning, first, -1)
    rates = np.take_along_axis(rates, first, -1)
    center = np.where(turning, rates.imag, low[:, np.newaxis])
    width = np.where(
        turning, np.maximum(np.abs(rates.real), 1e-6 * np.abs(rates.imag)), 0.0
    )
    steps = np.r_[0.0, np.geomspace(0.1, 100.0, 10)]
    near = [
        center[..., np.newaxis] + width[..., np.newaxis] * x for x in (steps, -steps)
    ]
    whole = [np.geomspace(low, high, points, axis=-1)]
    whole += [x.reshape(len(rates), -1) for x in near]
    every = np.concatenate(whole, axis=-1)
    return np.sort(np.clip(every, low[:, np.newaxis], high[:, np.newaxis]), axis=-1)


def rates_of(values: Complex, dt: float | None) -> Complex:
    """Rates s in 1/s of poles; ``log(z)/dt`` of a discrete model."""
    if dt is None:
        return values
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.log(values.astype(complex)) / dt)
