"""Linear models in time: sampled, and their exact responses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._calls.arguments import check_numbers, real_array
from .._calls.declared import Floats, Number, Positive
from .._calls.doors import checked
from .._support.arrays import Array, Index
from ..errors import ArgumentError
from ._system import LinearSystem, Model

Transitions = Iterator[tuple[Array, Array]]

# Delay in samples at most, each a state of every input.
MAX_DELAY = 1000


@checked
def discretize(
    model: Model,
    dt: Positive,
    delay: Annotated[float, Number(least=0.0, words="zero or more", unit="s")] = 0.0,
) -> Model:
    r"""Discrete model of a continuous one whose inputs are held between samples.

    Exact at the samples: :math:`x_{k+1} = e^{A\,dt} x_k + \int_0^{dt} e^{A s} ds\,B
    u_k`.

    Parameters
    ----------
    model : StateSpace
        Continuous linear models.
    dt : float
        Sample time in s.
    delay : float
        Time in s by which the inputs act later, such as that of a computation; it need
        not be whole samples.

    Returns
    -------
    discrete : StateSpace
        With the inputs that have not acted yet as further states, ``"link1 force 1
        before"`` and so on, where there is a delay.

    Raises
    ------
    ArgumentError
        If the model is discrete already.

    Notes
    -----
    By the exponential of a matrix with the inputs as states (C. F. Van Loan, IEEE
    Trans. Automatic Control 23, 1978); delays after K. J. Astrom, B. Wittenmark,
    *Computer-Controlled Systems*, 1997, section 3.2.

    Examples
    --------
    A mass on which a force acts half a sample late:

    >>> import flexarm as fa
    >>> mass = fa.StateSpace([[0, 1], [0, 0]], [[0], [1]], [[1, 0]], inputs=("f",))
    >>> late = mass.discretize(1.0, delay=0.5)
    >>> late.A, late.B
    (array([[1.   , 1.   , 0.375],
           [0.   , 1.   , 0.5  ],
           [0.   , 0.   , 0.   ]]), array([[0.125],
           [0.5  ],
           [1.   ]]))
    >>> late.states
    ('x0', 'x1', 'f 1 before')
    """
    _continuous(model, "discretize")
    h, late = float(dt), float(delay)
    n, m = model.n_states, model.B.shape[-1]
    # samples until an input acts
    whole = int(min(np.ceil(late / h * (1.0 - 1e-12)), 1e9))
    if whole > MAX_DELAY:
        raise ArgumentError(
            f"delay is {late:g} s, {whole:.3g} samples, each of which is a state of "
            f"every input; expected at most {MAX_DELAY} samples"
        )
    rest = whole * h - late  # time for which the newer of two inputs acts
    rest = rest if rest > 1e-12 * h else 0.0
    A, B = held(model.A, model.B, h)
    if not np.isfinite(A).all():
        raise ArgumentError(f"dt is {h:g} s, in which numbers overflow, expected less")
    if not whole:
        return model.replace(A=A, B=B, dt=h, drift=None)
    # the input of `whole` samples before acts until h - rest, then the next one does
    _, newer = held(model.A, model.B, rest) if rest else (A, np.zeros_like(B))
    older = B - newer if rest else B
    size = n + whole * m
    F, G = np.zeros((*model.batch, size, size)), np.zeros((*model.batch, size, m))
    H = np.zeros((*model.batch, len(model.outputs), size))
    F[..., :n, :n], H[..., :n] = A, model.C
    F[..., :n, n : n + m], H[..., n : n + m] = older, model.D
    if whole > 1:
        F[..., :n, n + m : n + 2 * m] = newer
    else:
        G[..., :n, :] = newer
    shift = np.arange(n, size - m)
    F[..., shift, shift + m] = 1.0
    last = np.arange(m)
    G[..., size - m + last, last] = 1.0
    waiting = tuple(
        f"{name} {k} before" for k in range(whole, 0, -1) for name in model.inputs
    )
    D = np.zeros_like(model.D)
    states = (*model.states, *waiting)
    return model.replace(A=F, B=G, C=H, D=D, dt=h, states=states, drift=None)


def held(A: Array, B: Array, h: float) -> tuple[Array, Array]:
    """Transition of states, and of inputs that are held for a time h."""
    from scipy.linalg import expm

    n, m = B.shape[-2:]
    both = np.zeros((*A.shape[:-2], n + m, n + m))
    both[..., :n, :n], both[..., :n, n:] = A * h, B * h
    moved = expm(both)
    return np.asarray(moved[..., :n, :n]), np.asarray(moved[..., :n, n:])


def _continuous(model: LinearSystem, what: str) -> None:
    if model.dt is not None:
        raise ArgumentError(
            f"{what} is of a model with the sample time {model.dt:g} s, expected a "
            "continuous one"
        )


# responses


class Response(NamedTuple):
    """Motion of linear models.

    Attributes
    ----------
    t : (k,) ndarray of float
        Times in s.
    y : (..., k, p) or (..., k, p, m) ndarray of float
        Outputs; of step and impulse responses for each of m inputs.
    x : (..., k, n) or (..., k, n, m) ndarray of float
        States.
    """

    t: Array
    y: Array
    x: Array


@checked
def step_response(
    model: LinearSystem, t: Annotated[ArrayLike, Floats("(k,)")]
) -> Response:
    """Outputs after a unit step of each input at t = 0, exact at all times.

    Parameters
    ----------
    model : StateSpace
        Linear models, at rest before.
    t : (k,) array_like of float
        Times in s, ascending from 0; whole samples of a discrete model.

    Returns
    -------
    response : Response
        ``y`` (..., k, p, m) and ``x`` (..., k, n, m).

    Raises
    ------
    ArgumentError
        If the times do not ascend from zero.

    See Also
    --------
    response : of any inputs and starts.

    Examples
    --------
    A force of 1 N moves 1 kg by t^2/2:

    >>> import flexarm as fa
    >>> mass = fa.StateSpace([[0, 1], [0, 0]], [[0], [1]], [[1, 0]])
    >>> mass.step_response([0.0, 1.0, 2.0, 4.0]).y.ravel()
    array([0. , 0.5, 2. , 8. ])
    """
    t = _times(t)
    m = model.B.shape[-1]
    x = _run(model, t, np.zeros((model.n_states, m)), np.eye(m))
    y = model.C[..., np.newaxis, :, :] @ x + model.D[..., np.newaxis, :, :]
    return Response(t, y, x)


@checked
def impulse_response(
    model: LinearSystem, t: Annotated[ArrayLike, Floats("(k,)")]
) -> Response:
    """Outputs after a unit impulse of each input at t = 0, exact at all times.

    Parameters
    ----------
    model : StateSpace
        Linear models, at rest before.  The impulse that D transmits at t = 0 itself is
        left out of a continuous model; a discrete one has an impulse of one sample.
    t : (k,) array_like of float
        Times in s, ascending from 0; whole samples of a discrete model.

    Returns
    -------
    response : Response
        ``y`` (..., k, p, m) and ``x`` (..., k, n, m).

    Raises
    ------
    ArgumentError
        If the times do not ascend from zero.

    Examples
    --------
    A mass of 1 kg on a spring of 4 N/m after 1 N s, sin(2 t)/2:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> ss = fa.StateSpace([[0, 1], [-4, 0]], [[0], [1]], [[1, 0]])
    >>> t = np.linspace(0.0, 3.0, 31)
    >>> np.allclose(ss.impulse_response(t).y[:, 0, 0], 0.5 * np.sin(2.0 * t))
    True
    """
    t = _times(t)
    m = model.B.shape[-1]
    if model.dt is None:
        x = _run(model, t, np.array(model.B), np.zeros((m, m)))
        return Response(t, model.C[..., np.newaxis, :, :] @ x, x)
    # one sample later the state is B
    steps = _samples(model.dt, t)
    later = np.maximum(steps - 1, 0) * model.dt
    x = _run(model, later, np.array(model.B), np.zeros((m, m)))
    x[..., steps == 0, :, :] = 0.0
    y = model.C[..., np.newaxis, :, :] @ x
    y[..., steps == 0, :, :] += model.D[..., np.newaxis, :, :]
    return Response(t, y, x)


@checked
def response(
    model: LinearSystem,
    t: Annotated[ArrayLike, Floats("(k,)")],
    u: Annotated[ArrayLike, Floats("(..., k, m)")] | None = None,
    x0: Annotated[ArrayLike, Floats("(..., n)")] | None = None,
) -> Response:
    """Outputs for given inputs and start, exact for inputs that are held.

    Parameters
    ----------
    model : StateSpace
        Linear models.
    t : (k,) array_like of float
        Times in s, ascending from 0; samples in a row of a discrete model.
    u : (..., k, m) array_like of float, optional
        Inputs, each held until the next time; none by default.
    x0 : (..., n) array_like of float, optional
        State at t = 0; zero by default.

    Returns
    -------
    response : Response
        ``y`` (..., k, p) and ``x`` (..., k, n).

    Raises
    ------
    ArgumentError
        If the times do not ascend from zero.

    Examples
    --------
    >>> import flexarm as fa
    >>> mass = fa.StateSpace([[0, 1], [0, 0]], [[0], [1]], [[1, 0]])
    >>> mass.response([0, 1, 3], x0=[1.0, 2.0]).y.ravel()
    array([1., 3., 7.])
    """
    t = _times(t)
    n, m = model.B.shape[-2:]
    start = np.zeros(n) if x0 is None else real_array("x0", x0)
    force = np.zeros((len(t), m)) if u is None else real_array("u", u)
    if start.ndim == 0 or start.shape[-1] != n:
        raise ArgumentError(f"x0 has shape {start.shape}, expected (..., {n})")
    if force.ndim < 2 or force.shape[-2:] != (len(t), m):
        raise ArgumentError(
            f"u has shape {force.shape}, expected (..., {len(t)}, {m}): inputs "
            f"{', '.join(model.inputs)} at each time"
        )
    batch = np.broadcast_shapes(model.batch, start.shape[:-1], force.shape[:-2])
    x = np.zeros((*batch, len(t), n))
    x[..., 0, :] = start
    for k, (A, B) in enumerate(_transitions(model, t, row=True)):
        moved = A @ x[..., k, :, np.newaxis] + B @ force[..., k, :, np.newaxis]
        x[..., k + 1, :] = moved[..., 0]
    C, D = (np.swapaxes(z, -1, -2) for z in (model.C, model.D))
    return Response(t, x @ C + force @ D, x)


def _times(t: ArrayLike) -> Array:
    array = real_array("t", t)
    check_numbers("t", array)
    if not len(array) or array[0] != 0.0 or not (np.diff(array) >= 0.0).all():
        raise ArgumentError(
            "t does not ascend from zero, expected times such as arange"
        )
    return array


def _samples(dt: float, t: Array) -> Index:
    """Numbers of samples of a discrete model."""
    steps = np.rint(t / dt).astype(np.intp)
    if not np.allclose(steps * dt, t, rtol=1e-9, atol=1e-9 * dt):
        raise ArgumentError(
            f"t has times that are not multiples of the sample time {dt:g} s, expected "
            "samples"
        )
    return steps


def _transitions(model: LinearSystem, t: Array, row: bool = False) -> Transitions:
    """Matrices (A, B) that lead from each time to the next."""
    known: dict[float, tuple[Array, Array]] = {}
    gaps = np.diff(t)
    if model.dt is not None:
        counts = np.diff(_samples(model.dt, t))
        if row and (counts != 1).any():
            raise ArgumentError(
                f"t leaves out samples of a model with the sample time {model.dt:g} s, "
                "expected all of them in a row"
            )
        gaps = counts.astype(float)
    # equal steps, but for the rounding of their times, share an exponential
    digits = (
        12 - int(np.floor(np.log10(max(float(t[-1]), 1e-300)))) if len(t) > 1 else 0
    )
    for gap in gaps:
        key = float(np.round(gap, min(max(digits, 0), 300)))
        if key not in known:
            known[key] = (
                _power(model, int(gap))
                if model.dt
                else held(model.A, model.B, float(gap))
            )
        yield known[key]


def _power(model: LinearSystem, count: int) -> tuple[Array, Array]:
    """Transition of `count` samples with the input held."""
    A, B = np.broadcast_to(np.eye(model.n_states), model.A.shape), 0.0 * model.B
    for _ in range(count):
        A, B = model.A @ A, model.A @ B + model.B
    return A, B


def _run(model: LinearSystem, t: Array, start: Array, u: Array) -> Array:
    """States (..., k, n, m) from starts (..., n, m) with held inputs (m, m)."""
    x = np.zeros((*model.batch, len(t), *start.shape[-2:]))
    x[..., 0, :, :] = start
    for k, (A, B) in enumerate(_transitions(model, t)):
        x[..., k + 1, :, :] = A @ x[..., k, :, :] + B @ u
    return x
