"""Functions of an arm for JAX: callbacks with derivative rules."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from .._calls.doors import checked
from .._calls.threads import threads_of
from .._support.optional import required
from ..arm import Arm
from ..errors import ArgumentError
from ._functions import ArmFunction

if TYPE_CHECKING:
    from jax import Array


@checked
def jax_function(
    arm: Arm, name: str = "forward_dynamics", *, threads: int = 1
) -> Callable[..., Array]:
    """Return a function of an arm that JAX compiles, batches and differentiates.

    Parameters
    ----------
    arm : Arm
        Arm whose kernels compute.
    name : str
        One of `FUNCTIONS`; the table of this package has arguments and results.
    threads : int
        Largest number of threads for a large batch.

    Returns
    -------
    function : callable
        From arrays with the last axes of the table to one array; leading axes
        broadcast.  It works under ``jax.jit``, ``jax.vmap``, ``jax.jvp``, ``jax.grad``,
        ``jax.jacfwd`` and ``jax.jacrev``.  States that fail are NaN.

    Raises
    ------
    ImportError
        If JAX is missing.
    ArgumentError
        If `name` is not in the table, or, when it is called, if JAX computes in single
        precision or an argument has the wrong length.

    See Also
    --------
    casadi_function : the same for CasADi.

    Notes
    -----
    The kernels run on the processor of the host, in double precision: JAX needs
    ``jax.config.update("jax_enable_x64", True)`` before.  A batch by ``vmap`` is
    one call of a kernel.

    The tangent of the result is a product of exact partial derivatives, computed once
    for all tangents, with the tangents of the arguments; JAX transposes it for reverse
    mode.  Second derivatives are refused.

    Examples
    --------
    >>> import flexarm as fa, pytest
    >>> jax = pytest.importorskip("jax")
    >>> arm = fa.library.pendulum(mass=2.0, com=0.5)
    >>> energy = fa.interop.jax_function(arm, "potential_energy")
    >>> with jax.enable_x64(True):  # or jax.config.update("jax_enable_x64", True)
    ...     print(jax.grad(energy)(jax.numpy.zeros(1)))  # the weight times the arm
    [9.81]
    """
    # shapes of results, and calls of the kernels on the host
    jax = required("jax", "jax_function")
    jnp = jax.numpy
    found = ArmFunction(arm, name, threads_of(threads))

    def shapes(*x: Array) -> tuple[int, ...]:
        return tuple(jnp.broadcast_shapes(*(y.shape[:-1] for y in x)))

    def result(*shape: int) -> Array:
        return jax.ShapeDtypeStruct(shape, np.float64)

    def on_host(compute: Callable[..., object], out: object, *x: object) -> Array:
        def run(*arrays: Array) -> Array:
            return compute(*(np.asarray(y, dtype=float) for y in arrays))

        return jax.pure_callback(run, out, *x, vmap_method="expand_dims")

    # the value, and its partial derivatives as a rule for tangents
    @jax.custom_jvp  # type: ignore[untyped-decorator, unused-ignore]
    def value(*x: Array) -> Array:
        return on_host(found.value, result(*shapes(*x), *found.core), *x)

    @jax.custom_jvp  # type: ignore[untyped-decorator, unused-ignore]
    def partials(*x: Array) -> Array:
        batch = (*shapes(*x), *found.core)
        return on_host(
            found.partials, tuple(result(*batch, y.shape[-1]) for y in x), *x
        )

    @partials.defjvp  # type: ignore[untyped-decorator, unused-ignore]
    def no_second_derivatives(primals: object, tangents: object) -> Array:
        raise ArgumentError(
            f"second derivatives of {name} do not exist here, expected one "
            "differentiation"
        )

    @value.defjvp  # type: ignore[untyped-decorator, unused-ignore]
    def tangent(primals: Array, tangents: Array) -> Array:
        axes = "ab"[: len(found.core)]
        slopes = zip(partials(*primals), tangents, strict=True)
        moved = sum(
            jnp.einsum(f"...{axes}n,...n->...{axes}", dx, dy) for dx, dy in slopes
        )
        return value(*primals), moved

    def function(*arguments: Array) -> Array:
        return value(*_checked(jax, found, arguments))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = (
        f"`flexarm.{name}` of an arm for JAX: ({', '.join(found.arguments)})."
    )
    return function


def _checked(
    jax: ModuleType, found: ArmFunction, arguments: tuple[Array, ...]
) -> list[Array]:
    """Arguments in double precision, all with equally many axes."""
    if not jax.config.jax_enable_x64:
        raise ArgumentError(
            "jax computes in single precision, expected double: "
            'jax.config.update("jax_enable_x64", True) before the first array is made'
        )
    if len(arguments) != len(found.arguments):
        raise ArgumentError(
            f"{found.name} has {len(arguments)} arguments, expected "
            f"{len(found.arguments)}: {', '.join(found.arguments)}"
        )
    x = [jax.numpy.asarray(y, dtype=float) for y in arguments]
    for name, y in zip(found.arguments, x, strict=True):
        sizes = found.sizes(name)
        if y.ndim == 0 or y.shape[-1] not in sizes:
            raise ArgumentError(
                f"{name} has shape {y.shape}, expected a last axis of length "
                f"{' or '.join(map(str, sizes))}"
            )
    # as many axes for all: vmap puts new ones in front
    n = max(y.ndim for y in x)
    return [y.reshape((1,) * (n - y.ndim) + y.shape) for y in x]
