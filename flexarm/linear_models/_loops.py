"""Linear models with a controller around them: closed loops, and loops cut open."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._explain import real_array
from ..errors import ArgumentError
from ._state_space import StateSpace
from ._time import discretize

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]


class Law(NamedTuple):
    """Matrices of a controller: z' = A z + B y, u = C z + D y."""

    A: Array
    B: Array
    C: Array
    D: Array
    dt: float | None

    def times(self, factor: float) -> Law:
        """The law with its forces times a factor."""
        return self._replace(C=factor * self.C, D=factor * self.D)


def closed_loop(model: StateSpace, controller: Any) -> StateSpace:
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
    ArgumentError
        If sizes or sample times differ, or an output answers to its own feedback at
        once in a way that has no solution.

    See Also
    --------
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
    parts = closed(plant, law)
    k = law.A.shape[-1]
    return StateSpace(
        parts.A,
        parts.B,
        parts.C,
        parts.D,
        states=(*plant.states, *(f"controller {i}" for i in range(k))),
        inputs=plant.inputs,
        outputs=plant.outputs,
        dt=plant.dt,
    )


class Closed(NamedTuple):
    """Matrices of a closed loop with states (x, z); inputs u = U (x, z) + E d."""

    A: Array
    B: Array
    C: Array
    D: Array
    U: Array
    E: Array


def closed(plant: StateSpace, law: Law) -> Closed:
    """A plant and a controller at the same samples as one."""
    A, B, C, D = plant.A, plant.B, plant.C, plant.D
    batch = np.broadcast_shapes(plant.batch, law.A.shape[:-2], law.D.shape[:-2])
    inner = np.eye(B.shape[-1]) - law.D @ D
    if (np.linalg.cond(inner) > 1e12).any():
        raise ArgumentError(
            "the controller feeds outputs back that answer to their inputs at once, "
            "with a gain of one; expected other gains, or outputs without accelerations"
        )
    # u = E (Cc z + Dc C x + d)
    E = np.linalg.inv(inner)
    to_x, to_z = E @ law.D @ C, E @ law.C
    rows = [
        [A + B @ to_x, B @ to_z],
        [law.B @ (C + D @ to_x), law.A + law.B @ D @ to_z],
    ]
    ins = [B @ E, law.B @ D @ E]
    outs = [C + D @ to_x, D @ to_z]
    return Closed(
        np.concatenate([np.concatenate(spread(row, batch), -1) for row in rows], -2),
        np.concatenate(spread(ins, batch), -2),
        np.concatenate(spread(outs, batch), -1),
        spread([D @ E], batch)[0],
        np.concatenate(spread([to_x, to_z], batch), -1),
        spread([E], batch)[0],
    )


def spread(matrices: Any, batch: tuple[int, ...]) -> list[Array]:
    """All matrices with the same leading axes."""
    return [np.broadcast_to(x, (*batch, *x.shape[-2:])) for x in matrices]


def read_controller(model: StateSpace, controller: Any) -> Law:
    """Matrices of a controller that fits a model, or a refusal in words."""
    if not isinstance(model, StateSpace):
        raise ArgumentError(
            f"model is {type(model).__name__}, expected the result of flexarm.linearize"
        )
    m, p = len(model.inputs), len(model.outputs)
    if all(hasattr(controller, name) for name in ("A", "B", "C", "D", "dt")):
        A, B, C, D = (np.asarray(getattr(controller, x)) for x in "ABCD")
        law = Law(A, B, C, D, controller.dt)
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
        law = Law(np.zeros((0, 0)), np.zeros((0, p)), np.zeros((m, 0)), -K, made_for.dt)
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
    """The model at samples, with inputs held between them; as it is without `dt`."""
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
    size = np.abs(rates[np.isfinite(rates)])
    size = size[size > 1e-7 * size.max(initial=0.0)]
    low, high = (size.min(), size.max()) if len(size) else (1.0, 1.0)
    low, high = low / beyond, high * beyond
    if dt is not None:
        high = np.pi / dt
        low = min(low, 1e-3 * high)
    found = [np.geomspace(low, high, points)]
    steps = np.r_[0.0, np.geomspace(0.1, 100.0, 10)]
    for s in rates[np.isfinite(rates) & (rates.imag > 0.0)]:
        width = max(abs(s.real), 1e-6 * abs(s.imag))
        found += [s.imag + width * steps, s.imag - width * steps]
    every = np.unique(np.concatenate(found))
    return every[(every >= low) & (every <= high)]


def rates_of(values: Complex, dt: float | None) -> Complex:
    """Rates s in 1/s of poles; ``log(z)/dt`` of a discrete model."""
    if dt is None:
        return values
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.log(values.astype(complex)) / dt)
