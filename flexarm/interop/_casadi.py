"""Functions of an arm for CasADi: callbacks with exact Jacobians."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from .._calls.doors import checked
from .._support.checks import short_text
from .._support.optional import required
from ..arm import Arm
from ..errors import ArgumentError
from ._functions import ArmFunction

if TYPE_CHECKING:
    from casadi import Callback, Function

# names and shapes of arguments or results, their memory, and options of CasADi
Ports: TypeAlias = Sequence[tuple[str, tuple[int, ...]]]
Names: TypeAlias = Sequence[str]
Buffers: TypeAlias = Sequence[memoryview | None]
Table: TypeAlias = Mapping[str, object]

# expressions hold their callbacks by a bare pointer, so that these must live on
_ALIVE: list[object] = []


@checked
def casadi_function(
    arm: Arm,
    name: str = "forward_dynamics",
    *,
    all_forces: bool = False,
    options: dict[str, object] | None = None,
) -> Function:
    """Return a function of an arm for expressions and solvers of CasADi.

    Parameters
    ----------
    arm : Arm
        Arm whose kernels compute.
    name : str
        One of `FUNCTIONS`; the table of this package has arguments and results.
    all_forces : bool
        Whether `tau` has ``nv`` entries, all generalized forces, and not one for each
        of the ``nu`` actuated joints.
    options : dict, optional
        Table of ``casadi.Callback``.

    Returns
    -------
    function : casadi.Callback
        A ``casadi.Function`` of columns; its result is a column, a matrix or a number.
        States that fail are NaN, so that a line search steps back from them.

    Raises
    ------
    ImportError
        If CasADi is missing.
    ArgumentError
        If `name` is not in the table, or has no argument tau for `all_forces`.

    See Also
    --------
    jax_function : the same for JAX.

    Notes
    -----
    Jacobians are exact: partial derivatives from the kernels.  Second derivatives, for
    solvers that need a Hessian, are central differences of these Jacobians; IPOPT needs
    none with ``{"ipopt.hessian_approximation": "limited-memory"}``.

    A function lives, with its arm, until Python ends, since solvers may hold it.

    Examples
    --------
    >>> import flexarm as fa, pytest
    >>> casadi = pytest.importorskip("casadi")
    >>> arm = fa.library.pendulum(mass=2.0, com=0.5)
    >>> function = fa.interop.casadi_function(arm, "gravity_forces")
    >>> q = casadi.MX.sym("q")
    >>> slope = casadi.Function("slope", [q], [casadi.jacobian(function(q), q)])
    >>> slope(-1.5707963)  # the stiffness of a pendulum that hangs
    DM(9.81)
    """
    casadi = required("casadi", "casadi_function")
    found = ArmFunction(arm, name)
    sizes = [found.sizes(argument)[0] for argument in found.arguments]
    if all_forces:
        if "tau" not in found.arguments:
            raise ArgumentError(f"{name} has no tau, expected all_forces=False")
        sizes[-1] = arm.nv
    value, _ = _classes(casadi)
    function: Function = value(found, sizes, options or {})
    _ALIVE.append(function)
    return function


@cache
def _classes(casadi: Any) -> tuple[Any, Any]:
    """Classes of the callbacks: a value, its Jacobian."""
    dense = casadi.Sparsity.dense

    class Base(casadi.Callback):  # type: ignore[misc, unused-ignore]
        """Dense columns in, dense matrices out, buffers without copies."""

        def setup(self, title: str, ins: Ports, outs: Ports, options: Table) -> None:
            self._ins, self._outs = ins, outs
            try:
                self.construct(title, options)
            except (NotImplementedError, RuntimeError) as error:
                raise ArgumentError(
                    f"options is {short_text(options)}, which CasADi refuses "
                    f"({short_text(str(error))}), expected a dictionary of options of "
                    "casadi.Callback"
                ) from None

        def get_n_in(self) -> int:
            return len(self._ins)

        def get_n_out(self) -> int:
            return len(self._outs)

        def get_name_in(self, i: int) -> str:
            return str(self._ins[i][0])

        def get_name_out(self, i: int) -> str:
            return str(self._outs[i][0])

        def get_sparsity_in(self, i: int) -> object:
            return dense(*self._ins[i][1])

        def get_sparsity_out(self, i: int) -> object:
            return dense(*self._outs[i][1])

        def has_eval_buffer(self) -> bool:
            return True

        def eval_buffer(self, arg: Buffers, res: Buffers) -> int:
            # an argument that is left out is zero
            given = [
                np.zeros(np.prod(shape, dtype=int))
                if buffer is None
                else np.frombuffer(buffer, dtype=float)
                for buffer, (_, shape) in zip(arg, self._ins, strict=True)
            ]
            for buffer, result in zip(res, self.compute(given), strict=True):
                if buffer is not None:
                    np.frombuffer(buffer, dtype=float)[:] = result
            return 0

    class Value(Base):
        def __init__(
            self, found: ArmFunction, sizes: list[int], options: Table
        ) -> None:
            casadi.Callback.__init__(self)
            self._found = found
            core = (*found.core, 1, 1)[:2]
            columns = [(n, (k, 1)) for n, k in zip(found.arguments, sizes, strict=True)]
            self.setup(found.name, columns, [("result", core)], options)

        def compute(self, given: list[np.ndarray]) -> list[np.ndarray]:
            return [np.ravel(self._found.value(*given), order="F")]

        def has_jacobian(self) -> bool:
            return True

        def get_jacobian(
            self, name: str, inames: Names, onames: Names, options: Table
        ) -> Callback:
            jacobian = Slopes(self, name, inames, onames, options)
            _ALIVE.append(jacobian)
            return jacobian

    class Slopes(Base):
        def __init__(
            self, of: Value, name: str, inames: Names, onames: Names, options: Table
        ) -> None:
            casadi.Callback.__init__(self)
            self._found = of._found
            shapes = [shape for _, shape in (*of._ins, *of._outs)]
            rows = int(np.prod(shapes[-1]))
            blocks = [(rows, shape[0]) for _, shape in of._ins]
            self.setup(
                name,
                list(zip(inames, shapes, strict=True)),
                list(zip(onames, blocks, strict=True)),
                {**options, "enable_fd": True},
            )

        def compute(self, given: list[np.ndarray]) -> list[np.ndarray]:
            x = given[: len(self._found.arguments)]
            axes = len(self._found.core)
            found = []
            for dx in self._found.partials(*x):
                # rows in the order of the columns of the result, then by columns
                turned = dx.transpose(*range(axes - 1, -1, -1), axes)
                found.append(turned.reshape(-1, dx.shape[-1]).ravel(order="F"))
            return found

    return Value, Slopes
