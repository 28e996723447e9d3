"""State-space models with named signals, many at once."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._explain import check_finite, positive_number, real_array
from .._printing import Printed, Sheet
from ..errors import ArgumentError
from . import _connect, _convert, _frequency, _modes, _reduction, _time, _zeros
from ._names import indices

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class StateSpace(Printed):
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
    NotFiniteError
        If a matrix has an entry that is NaN or infinite.

    Notes
    -----
    ``model[index]`` takes models of a batch, `select` signals by their names.  `poles`,
    `zeros`, `controllability` and `observability` tell what a model is like,
    `frequency_response`, `static_gain`, `step_response`, `impulse_response` and
    `response` what it does; `discretize`, `modal_form`, `modal_truncation`,
    `balanced_reduction`, `series` and `feedback` make others, `to_control` and
    `to_scipy` objects of other packages.

    Examples
    --------
    >>> import flexarm as fa
    >>> ss = fa.StateSpace([[0, 1], [-4, 0]], [[0], [1]], [[1, 0]])
    >>> ss.states, ss.inputs, ss.outputs
    (('x0', 'x1'), ('u0',), ('y0',))
    """

    A: Any
    B: Any
    C: Any
    D: Any = None
    states: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    dt: float | None = None
    q: Any = None
    qd: Any = None
    tau: Any = None
    y: Any = None
    drift: Any = None

    def __post_init__(self) -> None:
        A, B, C = (real_array(name, getattr(self, name)) for name in "ABC")
        for name, matrix in zip("ABC", (A, B, C), strict=True):
            if matrix.ndim < 2:
                raise ArgumentError(
                    f"{name} has shape {matrix.shape}, expected a matrix, with leading "
                    "axes for many"
                )
        n, m, p = A.shape[-1], B.shape[-1], C.shape[-2]
        D = np.zeros((p, m)) if self.D is None else real_array("D", self.D)
        cores = {"A": (n, n), "B": (n, m), "C": (p, n), "D": (p, m)}
        for (name, core), matrix in zip(cores.items(), (A, B, C, D), strict=True):
            if matrix.shape[-2:] != core:
                raise ArgumentError(
                    f"{name} has shape {matrix.shape}, expected (..., {core[0]}, "
                    f"{core[1]}) beside A (..., {n}, {n}), {m} inputs and {p} outputs"
                )
            check_finite(name, matrix, 2)
        try:
            batch = np.broadcast_shapes(*(x.shape[:-2] for x in (A, B, C, D)))
        except ValueError:
            raise ArgumentError(
                "leading axes of A, B, C, D do not broadcast: "
                f"{', '.join(str(x.shape[:-2]) for x in (A, B, C, D))}"
            ) from None
        for (name, core), matrix in zip(cores.items(), (A, B, C, D), strict=True):
            object.__setattr__(self, name, np.broadcast_to(matrix, (*batch, *core)))
        for name, letter, size in (
            ("states", "x", n),
            ("inputs", "u", m),
            ("outputs", "y", p),
        ):
            object.__setattr__(
                self, name, _names(name, getattr(self, name), letter, size)
            )
        if self.dt is not None:
            object.__setattr__(self, "dt", positive_number("dt", self.dt))

    @property
    def n_states(self) -> int:
        """Number of states."""
        return int(self.A.shape[-1])

    @property
    def batch(self) -> tuple[int, ...]:
        """Leading axes: how many models."""
        return tuple(self.A.shape[:-2])

    def replace(self, **changes: Any) -> StateSpace:
        """Return a copy with the named fields changed.

        Parameters
        ----------
        **changes : Any
            Fields by name, as the constructor takes them.

        Returns
        -------
        model : StateSpace
            The copy; checked like a new one.

        Examples
        --------
        >>> import flexarm as fa
        >>> ss = fa.linearize(fa.library.pendulum(), [0.0])
        >>> ss.replace(A=2.0 * ss.A).A.shape
        (2, 2)
        """
        return dataclasses.replace(self, **changes)

    def __getitem__(self, index: Any) -> StateSpace:
        """One model, or some, by an index into the leading axes."""
        if not self.batch:
            raise ArgumentError("the model is a single one, expected no index")
        index = index if isinstance(index, tuple) else (index,)
        if len(index) > len(self.batch):
            raise ArgumentError(
                f"index has {len(index)} entries, the models have the leading axes "
                f"{self.batch}"
            )
        changes = {}
        for name in ("A", "B", "C", "D", "q", "qd", "tau", "y", "drift"):
            value = getattr(self, name)
            changes[name] = None if value is None else value[index]
        return self.replace(**changes)

    def select(self, inputs: Any = None, outputs: Any = None) -> StateSpace:
        """Return the model of some inputs and outputs, by names or numbers.

        Parameters
        ----------
        inputs, outputs : str, int or sequence of these, optional
            Which, in this order; by default all.

        Returns
        -------
        model : StateSpace
            With the same states.

        Examples
        --------
        >>> import flexarm as fa
        >>> arm = fa.library.planar_chain(2)
        >>> ss = fa.linearize(arm, [0.1, 0.2], outputs=["joints", "tip xy"])
        >>> ss.select("link2 force", ["tip y", "link1"]).outputs
        ('tip y', 'link1')
        """
        i = indices("inputs", slice(None) if inputs is None else inputs, self.inputs)
        o = indices(
            "outputs", slice(None) if outputs is None else outputs, self.outputs
        )
        return self.replace(
            B=self.B[..., i],
            C=self.C[..., o, :],
            D=self.D[..., o, :][..., i],
            inputs=tuple(self.inputs[k] for k in i),
            outputs=tuple(self.outputs[k] for k in o),
            y=None if self.y is None else self.y[..., o],
        )

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
            lines += _drift_told(self)
        return Sheet((*lines, *self.poles()._sheet().parts))

    def __repr__(self) -> str:
        n, (p, m) = self.n_states, self.D.shape[-2:]
        many = f"{self.batch} models, " if self.batch else ""
        return f"<StateSpace: {many}{n} states, {m} inputs, {p} outputs>"


def check_model(model: Any) -> None:
    """Refuse what is no linear model."""
    if not isinstance(model, StateSpace):
        raise ArgumentError(
            f"model is {type(model).__name__}, expected a StateSpace, such as the "
            "result of flexarm.linearize"
        )


def _names(what: str, given: Any, letter: str, size: int) -> tuple[str, ...]:
    """Unique names, as many as signals."""
    if isinstance(given, str):
        given = (given,)
    names = tuple(given) if given else tuple(f"{letter}{i}" for i in range(size))
    if len(names) != size or not all(isinstance(name, str) for name in names):
        raise ArgumentError(f"{what} is {given!r}, expected {size} names")
    twice: Sequence[str] = [name for i, name in enumerate(names) if name in names[:i]]
    if twice:
        raise ArgumentError(
            f"{what} has {twice[0]!r} twice, expected different names; leave one out "
            "or rename it by replace()"
        )
    return names


def _drift_told(model: StateSpace) -> list[str]:
    """A line that says how far the point is from an equilibrium, if it is."""
    drift = np.abs(model.drift)
    n = model.n_states // 2
    largest = drift.reshape(-1, model.n_states).max(axis=0, initial=0.0)
    told = []
    for what, part in (("velocity", largest[:n]), ("acceleration", largest[n:])):
        if part.any():
            k = int(part.argmax())
            told.append(f"{what} up to {part[k]:.3g} of {model.states[k]}")
    return [f"no equilibrium: {', '.join(told)}"] if told else []
