"""Frequency response and static gain of linear models."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from .._calls.arguments import check_numbers, real_array
from .._calls.declared import Floats
from .._calls.doors import checked
from .._support.arrays import Array, Complex
from ..errors import SingularityError
from ._modes import balanced
from ._system import LinearSystem

# Entries of all matrices that are computed together, 64 MiB.
MAX_ENTRIES = 1 << 22


@checked
def frequency_response(
    model: LinearSystem, omega: Annotated[ArrayLike, Floats("(f,)")]
) -> Complex:
    r"""Transfer matrix :math:`C (i\omega - A)^{-1} B + D` at frequencies.

    Parameters
    ----------
    model : StateSpace
        Linear models; of a discrete one at :math:`z = e^{i \omega dt}`.
    omega : (f,) array_like of float
        Circular frequencies in rad/s.

    Returns
    -------
    response : (..., f, p, m) ndarray of complex
        Outputs for unit inputs.

    Raises
    ------
    ArgumentError
        If `omega` has the wrong shape.
    SingularityError
        If a frequency is that of an undamped mode, or zero where there is a motion
        without stiffness.

    See Also
    --------
    static_gain : at zero.

    Examples
    --------
    A pendulum of g/l = 19.62 1/s^2 far above its frequency, 1/(m l^2 omega^2):

    >>> import numpy as np
    >>> import flexarm as fa
    >>> ss = fa.linearize(fa.library.pendulum(mass=2.0, com=0.5), [-np.pi / 2])
    >>> ss.frequency_response([0.0, 100.0]).real.ravel().round(6)
    array([ 0.101937, -0.0002  ])
    """
    w = np.atleast_1d(real_array("omega", omega))
    check_numbers("omega", w)
    s = np.asarray(1j * w if model.dt is None else np.exp(1j * w * model.dt), complex)
    n, (p, m) = model.n_states, model.D.shape[-2:]
    result = np.empty((*model.batch, len(w), p, m), complex)
    for index in np.ndindex(*model.batch):
        A, B, C, D = (x[index] for x in (model.A, model.B, model.C, model.D))
        step = max(1, MAX_ENTRIES // max(1, n * n))
        for at in range(0, len(w), step):
            part = slice(at, at + step)
            where = (*index, part)
            result[where] = C @ _resolved(A, B, s[part], w[part]) + D
    return result


def _resolved(A: Array, B: Array, s: Complex, omega: Array) -> Complex:
    """(s - A)^-1 B for each s, or a refusal where a mode is undamped."""
    A, scale = balanced(A)
    shifted = s[:, None, None] * np.eye(len(A)) - A
    try:
        x = np.linalg.solve(shifted, (B / scale[:, None]).astype(complex))
        bad = ~np.isfinite(x).all(axis=(-1, -2))
    except np.linalg.LinAlgError:
        bad = np.array([_singular(each) for each in shifted])
    if bad.any():
        where = float(omega[int(bad.argmax())])
        raise SingularityError(
            f"the model has a pole at {where:.6g} rad/s, {int(bad.sum())} of "
            f"{len(omega)} frequencies, and no finite response there; expected others, "
            "or a model with damping and with no motion without stiffness",
            count=int(bad.sum()),
        )
    return np.asarray(scale[:, None] * x)


def _singular(matrix: Complex) -> bool:
    try:
        return not np.isfinite(np.linalg.solve(matrix, np.ones(len(matrix)))).all()
    except np.linalg.LinAlgError:
        return True


def static_gain(model: LinearSystem) -> Array:
    r"""Outputs at rest for unit inputs, :math:`D - C A^{-1} B`.

    Parameters
    ----------
    model : StateSpace
        Linear models; of a discrete one at z = 1.

    Returns
    -------
    gain : (..., p, m) ndarray of float
        Its frequency response at zero.

    Raises
    ------
    SingularityError
        If there is a motion without stiffness.

    Notes
    -----
    Modes that no output shows or no input moves must have stiffness, too.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> ss = fa.linearize(fa.library.pendulum(mass=2.0, com=0.5), [-np.pi / 2])
    >>> ss.static_gain().round(6)  # 1/(m g l)
    array([[0.101937]])
    """
    response = frequency_response(model, [0.0])
    return np.ascontiguousarray(response[..., 0, :, :].real)
