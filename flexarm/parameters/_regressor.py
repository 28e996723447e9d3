"""Forces as a linear function of masses, modal integrals, stiffness and damping."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike

from .._calls.arguments import check_arm, real_array, refuse_followers
from .._calls.arm_like import ArmLike
from .._calls.declared import Floats, Positions, Velocities
from .._calls.doors import checked, checked_class, checked_late
from .._calls.explain import check_out, explain, leading
from .._calls.threads import ONE, threads_of
from .._core import Model, Stack
from .._support.arrays import Array
from .._support.checks import short_text
from .._support.description import Description
from .._support.printing import Printed, Sheet, Table
from ..errors import ArgumentError, ModelError
from ._layout import (
    Bodies,
    Names,
    Place,
    chosen_bodies,
    chosen_families,
    geometry,
    parameters_of,
    with_values,
)

# kernels of stacks; others, of products of derivatives, take models one by one
_OF_STACKS = ("inverse_dynamics", "kinetic_energy", "potential_energy")


@checked_class
@dataclass(frozen=True, eq=False)
class InertialParameters(Printed, Description):
    """Constants of an arm in which its equation of motion is linear.

    Attributes
    ----------
    names : tuple of str
        Body and symbol, such as ``"link1.Izz"``.
    values : (p,) ndarray of float
        Values in the arm.
    units : tuple of str
        Units; ``eta`` stands for that of a modal coordinate.
    families : tuple of str
        Family of each: inertia, stiffness, damping, joint, motor.
    bodies : tuple of str
        Body of each.
    """

    names: tuple[str, ...]
    values: Array
    units: tuple[str, ...]
    families: tuple[str, ...]
    bodies: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.names)

    def index(self, name: str) -> int:
        """Column of a parameter in the regressor.

        Parameters
        ----------
        name : str
            One of `names`.

        Returns
        -------
        column : int
            Its number, from 0.

        Raises
        ------
        ArgumentError
            If there is no such parameter.

        Examples
        --------
        >>> import flexarm as fa
        >>> arm = fa.library.pendulum(mass=2.0, com=0.3)
        >>> parameters = fa.inertial_parameters(arm, families="inertia")
        >>> column = parameters.index("rod.mx")  # the first moment, 2 kg times 0.3 m
        >>> column, float(parameters.values[column])
        (1, 0.6)
        """
        if name not in self.names:
            raise ArgumentError(
                f"there is no parameter {short_text(name)}, expected as name one of "
                f"{', '.join(self.names[:8])}{', ...' * (len(self) > 8)}"
            )
        return self.names.index(name)

    def _sheet(self) -> Sheet:
        rows = [("parameter", "value", "unit")]
        rows += [
            (name, f"{value:.6g}", unit)
            for name, value, unit in zip(
                self.names, self.values, self.units, strict=True
            )
        ]
        return Sheet((Table(rows),))


class Models:
    """Models of one topology, as a stack if possible.

    Not those of linear fidelity, and with joints that follow others.
    """

    def __init__(
        self, models: list[Model], fidelity: str, *, follow: bool = False
    ) -> None:
        self._models, self._stack = models, None
        self._gufuncs: dict[tuple[str, int], Any] = {}
        if fidelity != "linear" and not follow:
            try:
                self._stack = Stack(tuple(models))
            except ValueError as error:
                raise ModelError(
                    f"the arms do not have one topology ({error}), expected arms that "
                    "differ in numbers only"
                ) from None

    def __len__(self) -> int:
        return len(self._models)

    def __call__(
        self,
        kernel: str,
        batch: tuple[int, ...],
        operands: Sequence[Array],
        out: Array | None = None,
        threads: int = ONE,
    ) -> Array:
        """Return the result of a kernel, with the axis of models first."""
        n = len(self)
        if self._stack is None or kernel not in _OF_STACKS:
            columns = [getattr(m, kernel)(*operands) for m in self._models]
            result = np.stack(columns)
            if out is not None:
                out[...] = result
            return result if out is None else np.asarray(out)
        index = np.arange(n).reshape(n, *(1,) * len(batch))
        gufunc = self._gufuncs.get((kernel, threads))
        if gufunc is None:
            gufunc = self._stack.gufunc(kernel, False, threads)
            self._gufuncs[kernel, threads] = gufunc
        return np.asarray(gufunc(index, *operands, out=out))


class Regressor(Models):
    """Arms with one parameter equal to one, the others zero."""

    def __init__(
        self, arm: ArmLike, bodies: tuple[int, ...], families: tuple[str, ...]
    ) -> None:
        packed, every = parameters_of(arm)
        chosen = [x for x in every if x.body in bodies and x.family in families]
        if not chosen:
            raise ArgumentError(
                "these bodies have no parameters of these families, expected some; see "
                "inertial_parameters(arm)"
            )
        self.arm, self.places = arm, chosen
        base = geometry(packed)
        models = [Model(*with_values(base, [x], np.ones(1))) for x in chosen]
        super().__init__(models, arm.fidelity)


def regressor_of(arm: ArmLike, bodies: Bodies, families: Names) -> Regressor:
    """Return the arms of unit parameters, cached in the arm like its kernels."""
    check_arm(arm)
    refuse_followers(arm, "regressors")
    key = chosen_bodies(arm, bodies), chosen_families(families)
    kept: dict[tuple[tuple[int, ...], tuple[str, ...]], Regressor] = vars(
        arm
    ).setdefault("_regressors", {})
    made = kept.get(key)
    return kept.setdefault(key, Regressor(arm, *key)) if made is None else made


def described(arm: ArmLike, places: list[Place]) -> InertialParameters:
    """Return the record of these parameters."""
    values = np.array([x.value for x in places])
    values.flags.writeable = False
    return InertialParameters(
        tuple(x.name for x in places),
        values,
        tuple(x.unit for x in places),
        tuple(x.family for x in places),
        tuple(arm.bodies[x.body].name for x in places),
    )


@checked
def inertial_parameters(
    arm: ArmLike, *, bodies: Bodies = None, families: Names = None
) -> InertialParameters:
    r"""List the constants in which the equation of motion of an arm is linear.

    Parameters
    ----------
    arm : Arm
        Arm of rigid and flexible bodies.
    bodies : str, int or sequence of these, optional
        Bodies of the parameters; all by default.
    families : str or sequence of str, optional
        Some of ``"inertia"``, ``"stiffness"``, ``"damping"``, ``"joint"`` and
        ``"motor"``; all by default.

    Returns
    -------
    parameters : InertialParameters
        Names, values and units, body by body.

    Raises
    ------
    ModelError
        If a body does not exist.

    See Also
    --------
    inertial_regressor : forces per unit of each parameter.
    with_inertial_parameters : an arm with other values.

    Notes
    -----
    ============= ====================================================================
    family        parameters
    ============= ====================================================================
    ``inertia``   of a rigid body, with the motors fixed on it, the ten ``m``,
                  ``mx, my, mz`` (first moment :math:`m c`) and ``Ixx`` ... ``Izz``
                  (inertia about the **origin of its frame**), zero or not; of a
                  flexible body the `ModalIntegrals` that are not zero, those of
                  foreshortening (``driven1``, ...) included, and the ten of each node
                  that is a rigid body, about the node, such as ``link.tip.m``
    ``stiffness`` modal stiffness ``K[r,s]``, not zero; ``strain``, a factor (1) of the
                  strain energy of a beam with foreshortening beyond K
    ``damping``   modal damping ``C[r,s]``, not zero
    ``joint``     viscous friction of each velocity; armature, of joints that have one;
                  stiffness and damping of springs and shafts, force of dry friction,
                  stiffness of stops
    ``motor``     mass and inertias of rotors, viscous friction of motors; moments of
                  housings on a flexible body or on the ground
    ============= ====================================================================

    Lengths, axes, mode shapes, gear ratios, gravity, rest positions and smoothing
    velocities are known constants.  For known modes this is the linearity of flexible
    arms of A. De Luca and B. Siciliano (1991, section VI).  For a body without offset
    masses ``E`` and ``mp1`` are one parameter.  `base_parameters` finds the
    combinations that forces determine.

    Examples
    --------
    >>> import flexarm as fa
    >>> arm = fa.library.pendulum(mass=2.0, com=0.3)
    >>> print(fa.inertial_parameters(arm, families="inertia"))
    parameter  value  unit
    ...
    rod.mx     0.6    kg m
    ...
    >>> arm = fa.library.de_luca_siciliano()
    >>> fa.inertial_parameters(arm, bodies="link2", families="stiffness").names
    ('link2.K[bending y 1,bending y 1]', 'link2.K[bending y 2,bending y 2]')
    """
    of = chosen_bodies(arm, bodies), chosen_families(families)
    every = parameters_of(arm)[1]
    return described(arm, [x for x in every if x.body in of[0] and x.family in of[1]])


@checked_late
def inertial_regressor(
    arm: ArmLike,
    q: Positions,
    qd: Velocities,
    qdd: Velocities,
    *,
    bodies: Bodies = None,
    families: Names = None,
    out: Annotated[ArrayLike, Floats("(..., nv, p)")] | None = None,
    threads: int = ONE,
) -> Array:
    r"""Matrix of the forces of a motion per unit of the inertial parameters.

    .. math:: M(q)\,\ddot q + C(q, \dot q) = Y(q, \dot q, \ddot q)\, \pi

    Parameters
    ----------
    arm : Arm
        Arm with ``nv`` coordinates and p parameters.
    q : (..., nq) array_like of float
        Positions: rad, m, quaternions (w, x, y, z), modal coordinates.
    qd, qdd : (..., nv) array_like of float
        Velocities and their time derivatives.  Leading axes broadcast.
    bodies : str, int or sequence of str or int, optional
        Names or numbers of bodies.
    families : str or sequence of str, optional
        Selected parameters, all by default; see `inertial_parameters`.
    out : (..., nv, p) ndarray of float, optional
        Where to store the result.
    threads : int
        Largest number of threads for a large batch.

    Returns
    -------
    Y : (..., nv, p) ndarray of float
        Forces per unit of each parameter.  ``Y @ inertial_parameters(arm).values`` is
        `inverse_dynamics` to rounding, or the part of the selected `bodies` and
        `families`.

    See Also
    --------
    inertial_parameters : parameters of the columns.
    base_parameters : combinations that can be identified.
    energy_regressor : regressor of the energy.

    Notes
    -----
    A column is the inverse dynamics of the arm with one parameter equal to one and all
    others zero; one call of a stack of such arms computes all columns, at p times the
    cost of `inverse_dynamics`.  The first call makes that stack, which the arm keeps.
    The axis of the parameters is the slowest one in memory, unless `out` is given.

    References
    ----------
    .. [1] C. Atkeson, C. An, J. Hollerbach, "Estimation of inertial parameters of
       manipulator loads and links", *Int. J. Robotics Research* 5(3), 1986.
    .. [2] P. Khosla, T. Kanade, "Parameter identification of robot dynamics", *IEEE
       Conf. Decision and Control*, 1985.
    .. [3] A. De Luca, B. Siciliano, "Closed-form dynamic model of planar multilink
       lightweight robots", *IEEE Trans. SMC* 21(4), 1991, section VI.

    Examples
    --------
    The weight of a level pendulum at rest acts by the first moment, per kg m:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.pendulum(mass=2.0, com=0.3)
    >>> Y = fa.inertial_regressor(arm, [0.0], [0.0], [0.0], families="inertia")
    >>> Y.round(2) + 0.0
    array([[0.  , 9.81, 0.  , 0.  , 0.  , 0.  , 0.  , 0.  , 0.  , 0.  ]])

    A hundred states of an arm with flexible links:

    >>> arm = fa.library.de_luca_siciliano()
    >>> q = np.linspace(0.0, 0.1, 600).reshape(100, 6)
    >>> Y = fa.inertial_regressor(arm, q, q, q)
    >>> tau = Y @ fa.inertial_parameters(arm).values
    >>> np.allclose(tau, fa.inverse_dynamics(arm, q, q, q), rtol=0.0, atol=1e-12)
    True
    """
    made = regressor_of(arm, bodies, families)
    return _columns(made, "inverse_dynamics", arm.nv, out, threads, q=q, qd=qd, qdd=qdd)


@checked_late
def energy_regressor(
    arm: ArmLike,
    q: Positions,
    qd: Velocities,
    *,
    bodies: Bodies = None,
    families: Names = None,
    threads: int = ONE,
) -> Array:
    """Row of the kinetic and potential energy per unit of the inertial parameters.

    Parameters
    ----------
    arm : Arm
        Arm with ``nv`` coordinates and p parameters.
    q : (..., nq) array_like of float
        Positions.
    qd : (..., nv) array_like of float
        Velocities.  Leading axes broadcast.
    bodies : str, int or sequence of str or int, optional
        Names or numbers of bodies.
    families : str or sequence of str, optional
        Selected parameters, all by default; see `inertial_parameters`.
    threads : int
        Largest number of threads for a large batch.

    Returns
    -------
    row : (..., p) ndarray of float
        Energy in J per unit of each parameter, zero for damping and friction:
        ``row @ inertial_parameters(arm).values`` is `energy`.

    See Also
    --------
    inertial_regressor : regressor of forces.

    Notes
    -----
    The change of the energy between two states is the work of the forces minus that of
    friction: identification by this row needs no accelerations (M. Gautier, W. Khalil,
    "On the identification of the inertial parameters of robots", *IEEE Conf. Decision
    and Control*, 1988).

    Examples
    --------
    >>> import flexarm as fa
    >>> arm = fa.library.pendulum(mass=2.0, com=0.3)
    >>> row = arm.energy_regressor([0.0], [2.0], families="inertia")
    >>> float(row[7])  # of Iyy: a half times the square of 2 rad/s
    2.0
    """
    made = regressor_of(arm, bodies, families)
    moving = _columns(made, "kinetic_energy", None, None, threads, q=q, qd=qd)
    return moving + _columns(made, "potential_energy", None, None, threads, q=q)


def _columns(
    made: Regressor, kernel: str, nv: int | None, out: Any, threads: int, **given: Any
) -> Array:
    arm = made.arm
    core = () if nv is None else (nv,)
    count = 1 if threads is ONE else threads_of(threads)
    try:
        arrays = {name: real_array(name, x) for name, x in given.items()}
        batch = leading(arm, arrays, ())
        first = None
        if out is not None:
            check_out(out, batch, (*core, len(made.places)))
            first = np.moveaxis(out, -1, 0)
        result = made(kernel, batch, tuple(arrays.values()), first, count)
    except Exception as error:
        raise explain(arm, kernel, error, **given) from None
    return np.moveaxis(result, 0, -1)
