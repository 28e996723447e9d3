"""Linear models as objects of python-control and of scipy.signal."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from .._calls.declared import Text
from .._calls.doors import checked
from .._support.checks import short_text
from .._support.optional import required
from ..errors import ArgumentError
from ._modes import single
from ._system import LinearSystem

_Name: TypeAlias = Annotated[str, Text("a string without a dot")]


@checked
def to_control(
    model: LinearSystem,
    name: _Name | None = None,
) -> Any:
    """Return the model as ``control.StateSpace``, with its names.

    Parameters
    ----------
    model : StateSpace
        One linear model.
    name : str, optional
        Name of the system.

    Returns
    -------
    system : control.StateSpace
        Dots in names, which python-control keeps for systems, are blanks.

    Raises
    ------
    ArgumentError
        If there are many models.
    ImportError
        If python-control is missing: ``pip install "flexarm[control]"``.

    Examples
    --------
    >>> import flexarm as fa
    >>> ss = fa.linearize(fa.library.planar_chain(2), [0.3, 0.4])
    >>> system = ss.to_control()  # doctest: +SKIP
    """
    single(model, "to_control makes")
    control = required(
        "control", "to_control", package="python-control", extra="control"
    )
    names = {
        what: [text.replace(".", " ") for text in getattr(model, what)]
        for what in ("states", "inputs", "outputs")
    }
    if not (name is None or isinstance(name, str)) or "." in (name or ""):
        raise ArgumentError(
            f"name is {short_text(name)}, expected a string without a dot, which "
            "python-control refuses"
        )
    options = {} if name is None else {"name": name}
    dt = 0 if model.dt is None else model.dt
    return control.ss(model.A, model.B, model.C, model.D, dt, **names, **options)


def to_scipy(model: LinearSystem) -> Any:
    """Return the model as ``scipy.signal.StateSpace``, or its discrete kind.

    Parameters
    ----------
    model : StateSpace
        One linear model.

    Returns
    -------
    system : scipy.signal.StateSpace
        Without names.

    Raises
    ------
    ArgumentError
        If there are many models.

    Examples
    --------
    >>> import flexarm as fa
    >>> ss = fa.linearize(fa.library.planar_chain(2), [0.3, 0.4])
    >>> ss.to_scipy().A.shape
    (4, 4)
    """
    single(model, "to_scipy makes")
    from scipy import signal

    matrices = (model.A, model.B, model.C, model.D)
    if model.dt is None:
        return signal.StateSpace(*matrices)
    return signal.StateSpace(*matrices, dt=model.dt)
