"""Root loci: poles over a gain or a parameter, branch by branch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from .._calls.arguments import check_numbers, real_array
from .._calls.declared import Floats
from .._calls.doors import checked, checked_class
from .._support.arrays import Array, Complex, Mask
from ..errors import ArgumentError
from .loops import closed_loop, rates_of, read_controller, sampled
from .state_space import StateSpace


@checked_class
@dataclass(frozen=True, eq=False)
class RootLocus:
    """Poles over a gain or a parameter.

    Attributes
    ----------
    name : str
        Name of the gain or parameter.
    values : (k,) ndarray of float
        Its values.
    poles : (k, n) ndarray of complex
        Poles; a column is a branch, continuous over the values.
    dt : float or None
        Sample time in s of discrete models, whose poles are z.
    """

    name: str
    values: Array
    poles: Complex
    dt: float | None = None

    @property
    def rates(self) -> Complex:
        """The poles as rates s in 1/s, (k, n); ``log(z)/dt`` of discrete models."""
        return rates_of(self.poles, self.dt)

    @property
    def frequencies(self) -> Array:
        """Frequencies of shape (k, n) in Hz, sizes of the rates by two pi."""
        return np.asarray(np.abs(self.rates) / (2.0 * np.pi))

    @property
    def damping_ratios(self) -> Array:
        """Damping ratios, (k, n)."""
        return damping_of(self.rates)

    @property
    def stable(self) -> Mask:
        """True where all poles decay, (k,)."""
        return np.asarray((self.rates.real < 0.0).all(axis=-1))


def damping_of(rates: Complex) -> Array:
    """Damping ratios of rates; one for a pole z = 0, of infinite rate."""
    size = np.abs(rates)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = -rates.real / size
    return np.where(np.isinf(size), 1.0, np.where(size > 0.0, ratio, 0.0))


@checked
def root_locus(
    model: StateSpace,
    values: Annotated[ArrayLike, Floats("(k,)")],
    controller: object = None,
    *,
    name: str | None = None,
) -> RootLocus:
    """Poles over a gain of the feedback, or over a parameter of the models.

    Parameters
    ----------
    model : StateSpace
        With `controller` one model, the plant.  Without, models along one leading axis,
        such as those that `linearize` makes of many points, or `robustness` of many
        arms.
    values : (k,) array_like of float
        Factors of the feedback, or values of the parameter along that axis.
    controller : StateSpace, LinearController, StateFeedback or (m, p) array_like
        As in `closed_loop`; its forces are multiplied by each factor.
    name : str, optional
        Name of the gain or parameter; by default ``"gain"`` or ``"parameter"``.

    Returns
    -------
    locus : RootLocus
        Poles in branches: each is continued at its former speed and joined to the
        nearest pole of the next value, all of them together.

    Raises
    ------
    ArgumentError
        If the leading axes of the models are not those of `values`, or those of the
        plant are many.

    See Also
    --------
    flexarm.plotting.root_locus : draws it.

    Notes
    -----
    Where two branches meet and part again, either continuation is right; where they
    pass close to each other, steps that are too long may exchange them.

    W. R. Evans, "Graphical analysis of control systems", Trans. AIEE 67 (1948),
    547-551.

    Examples
    --------
    A damper at the joint of a pendulum that hangs: both poles become real where the
    damping is twice the root of stiffness times inertia.

    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.pendulum(mass=1.0, com=1.0)
    >>> plant = fa.linearize(arm, [-np.pi / 2], outputs="joint velocities")
    >>> locus = fa.root_locus(plant, [0.0, 3.0, 6.0, 9.0], [[1.0]])
    >>> locus.damping_ratios.min(axis=1).round(3)
    array([0.   , 0.479, 0.958, 1.   ])
    """
    values = real_array("values", values)
    if not len(values):
        raise ArgumentError("values has shape (0,), expected one entry at least")
    check_numbers("values", values)

    # poles of models along the axis, or of the plant with each factor of the law
    if controller is None:
        if model.batch != values.shape:
            raise ArgumentError(
                f"the models have the leading axes {model.batch}, expected "
                f"{values.shape}, one model for each of the values; or a controller"
            )
        found, dt = np.linalg.eigvals(model.A), model.dt
    else:
        if model.batch:
            raise ArgumentError(
                f"the model has the leading axes {model.batch}, expected one plant for "
                "a root locus over gains, such as model[0]"
            )
        law = read_controller(model, controller)
        plant = sampled(model, law.dt)
        loops = [closed_loop(plant, law.times(x)) for x in values.tolist()]
        found, dt = np.linalg.eigvals(np.stack([x.A for x in loops])), loops[0].dt
    default = "parameter" if controller is None else "gain"
    return RootLocus(name or default, values, branches(found), dt)


def branches(poles: object) -> Complex:
    """Poles (k, n), each row in the order that continues the rows before it."""
    from scipy.optimize import linear_sum_assignment

    found = np.array(poles, dtype=complex)
    if len(found):
        found[0] = found[0][np.lexsort((found[0].imag, np.abs(found[0])))]
    for k in range(1, len(found)):
        ahead = found[k - 1]
        if k > 1:  # at the speed of the last step, within its length
            ahead = 2.0 * found[k - 1] - found[k - 2]
        far = np.abs(ahead[:, np.newaxis] - found[k])
        near = np.abs(found[k - 1][:, np.newaxis] - found[k])
        _, order = linear_sum_assignment(far + near)
        found[k] = found[k][order]
    return found
