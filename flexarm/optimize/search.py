"""Options of a search for an optimum."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Any, TypeAlias

from .._calls.arguments import count_of, positive_number
from .._calls.declared import Kept
from .._calls.doors import checked_record
from .._support.optional import required
from ..errors import ArgumentError
from ._records import record_of


def _seconds(what: str, value: object) -> float:
    return 0.0 if value == 0.0 else positive_number(what, value)


Count: TypeAlias = Annotated[int, Kept(count_of)]
Bound: TypeAlias = Annotated[float, Kept(positive_number)]
Seconds: TypeAlias = Annotated[float, Kept(_seconds)]

_BY_SCIPY = 'search={"solver": "scipy"}, slower and often at a worse motion'


@checked_record("search.{field}")
@dataclass(frozen=True)
class Search:
    """Options of a search; None where the function has a value of its own.

    Functions take a mapping of the same names as well, such as
    ``search={"intervals": 40}``, and say which of these options they have, with what
    values by default.

    Parameters
    ----------
    intervals : int, optional
        Of the duration, or of a path; between their ends forces are linear.
    steps : int, optional
        Of the simulation in each interval.
    scheme : str, optional
        Discretization: ``"gauss"``, ``"radau"`` or ``"trapezoid"`` of collocation; for
        others see the function.
    points : int, optional
        Of collocation in each interval.
    pre_actuation, post_actuation : float, optional
        Time in which the arm moves before and after its tip, as part of the duration.
    solver : str, optional
        Of nonlinear programs ``"ipopt"``, of the package casadi, or ``"scipy"``, which
        is slower and often ends at a worse motion; for others see the function.
    tolerance : float, optional
        Of constraints and of optimality, scaled; for others see the function.
    max_iterations : int, optional
        Largest number of steps of the solver.
    time_limit : float, optional
        Longest time of the search in s.
    progress : bool or callable, optional
        Whether a bar (tqdm) shows the progress, by default in searches of more than two
        seconds; in nonlinear programs whether each tenth step is printed, or a function
        called after each step with its number, the objective and the largest violation.

    Examples
    --------
    >>> import flexarm as fa
    >>> fa.optimize.Search(intervals=40).intervals
    40
    """

    intervals: Count | None = None
    steps: Count | None = None
    scheme: str | None = None
    points: Count | None = None
    pre_actuation: Seconds | None = None
    post_actuation: Seconds | None = None
    solver: str | None = None
    tolerance: Bound | None = None
    max_iterations: Count | None = None
    time_limit: Bound | None = None
    progress: bool | Callable[[int, float, float], object] | None = None


def read_search(
    given: Search | Mapping[str, object] | None,
    defaults: Mapping[str, object],
    what: str,
) -> dict[str, Any]:
    """All options of a search, refused if one is given that has no default here."""
    options = _given(record_of(Search, "search", given))
    for name in options:
        if name not in defaults:
            raise ArgumentError(
                f"search.{name} is given for {what}, expected some of "
                f"{', '.join(defaults)}"
            )
    every = {**defaults, **options}
    if every.get("solver") == "ipopt":
        required("casadi", f"the solver 'ipopt', for {what},", instead=_BY_SCIPY)
    return every


def _given(search: Search) -> dict[str, object]:
    values = {f.name: getattr(search, f.name) for f in fields(search)}
    return {name: value for name, value in values.items() if value is not None}
