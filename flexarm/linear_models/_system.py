"""Matrices and signals of linear models, many at once."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from .._calls.arguments import check_finite, positive_number, real_array
from .._calls.arm_like import Array
from .._calls.doors import checked, checked_class
from .._calls.units import coordinates_of_call
from .._support.checks import short_text
from .._support.labelled import Labelled, Labels, Variable, batch_axes, named
from .._support.printing import Printed
from ..errors import ArgumentError
from ._names import indices

# functions of a model that give one return the class that they take
Model = TypeVar("Model", bound="LinearSystem")


@checked_class
@dataclass(frozen=True, eq=False)
class LinearSystem(Labelled, Printed):
    """Checked matrices and named signals, the base of `StateSpace`."""

    A: Any
    B: Any
    C: Any
    D: Any = None
    states: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    dt: float | None = None
    q: Array | None = None
    qd: Array | None = None
    tau: Array | None = None
    y: Array | None = None
    drift: Array | None = None

    def __post_init__(self) -> None:
        # shapes of the matrices
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

        # leading axes, then names and sample time
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

    def _labels(self) -> Labels:
        batch = batch_axes(len(self.batch))
        axes = {
            "A": ("state", "state_of"),
            "B": ("state", "input"),
            "C": ("output", "state_of"),
            "D": ("output", "input"),
            "q": ("position",),
            "qd": ("velocity",),
            "tau": ("force",),
            "y": ("output",),
            "drift": ("state",),
        }
        found = {}
        for name, own in axes.items():
            values = getattr(self, name)
            if values is not None:
                lead = batch[len(batch) + len(own) - np.ndim(values) :]
                found[name] = Variable((*lead, *own), values)
        at = {
            **named("state", self.states),
            **named("state_of", self.states),
            **named("input", self.inputs),
            **named("output", self.outputs),
        }
        if self.tau is not None:
            at |= coordinates_of_call(self.call, np.shape(self.tau)[-1])
        words = {"title": "linear model", "sample_time": self.dt}
        return Labels(found, at, words)

    @property
    def n_states(self) -> int:
        """Number of states."""
        return int(self.A.shape[-1])

    @property
    def batch(self) -> tuple[int, ...]:
        """Shape of the leading axes, which are many models."""
        return tuple(self.A.shape[:-2])

    def replace(self: Model, **changes: Any) -> Model:
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

    def __getitem__(self: Model, index: object) -> Model:
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

    @checked
    def select(self: Model, inputs: object = None, outputs: object = None) -> Model:
        """Return the model of some inputs and outputs, by names or numbers.

        Parameters
        ----------
        inputs, outputs : str, int or sequence of these, optional
            In this order; by default all.

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


def _names(what: str, given: Any, letter: str, size: int) -> tuple[str, ...]:
    """Check names: different ones, one for each signal."""
    if isinstance(given, str):
        given = (given,)
    named = given is not None and np.size(given) > 0
    names = tuple(given) if named else tuple(f"{letter}{i}" for i in range(size))
    if len(names) != size or not all(isinstance(name, str) for name in names):
        raise ArgumentError(f"{what} is {short_text(given)}, expected {size} names")
    twice: Sequence[str] = [name for i, name in enumerate(names) if name in names[:i]]
    if twice:
        raise ArgumentError(
            f"{what} has {twice[0]!r} twice, expected different names; leave one out "
            "or rename it by replace()"
        )
    return names
