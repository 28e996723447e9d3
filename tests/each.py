"""Many cases in one test: all of them run, and all that fail are reported.

A parametrized test costs about a millisecond for each id, before it does anything, in
every process that collects it. ``each`` takes the place of ``pytest.mark.parametrize``
where the cases are many and short::

    @each("arm", ARMS)                      # a mapping of names to values
    @each("n", range(6))                    # or values that name themselves
    def test_something(arm: fa.Arm, n: int) -> None: ...

is one test. Fixtures are made once for all cases of a test.
"""

from __future__ import annotations

import functools
import inspect
import traceback
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pytest

LIMIT = 20  # failures that are shown in full


def named(values: Any, ids: Iterable[Any] | None) -> list[tuple[str, Any]]:
    """Pairs of a name and a value."""
    if isinstance(values, Mapping):
        return [(str(name), value) for name, value in values.items()]
    values = list(values)
    names = values if ids is None else list(ids)
    return [(str(name), value) for name, value in zip(names, values, strict=True)]


def each(
    name: str, values: Any, ids: Iterable[Any] | None = None
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a test for each value of one argument, or of several ("a, b": tuples)."""
    keys = [key.strip() for key in name.split(",")]
    cases = named(values, ids)
    assert cases, f"no values for {name}"

    def arguments(value: Any) -> dict[str, Any]:
        if len(keys) == 1:
            return {keys[0]: value}
        return dict(zip(keys, value, strict=True))

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        # an inner `each` hands its cases over, so that one report names them all
        inner = getattr(test, "cases", [("", {})])
        body = getattr(test, "body", test)
        product = [
            (f"{label}-{case}" if label else case, known | arguments(value))
            for case, value in cases
            for label, known in inner
        ]

        @functools.wraps(body)
        def run(**fixtures: Any) -> None:
            run_all(product, lambda known: body(**fixtures, **known))

        signature = inspect.signature(test)
        run.__signature__ = signature.replace(  # type: ignore[attr-defined]
            parameters=[p for k, p in signature.parameters.items() if k not in keys]
        )
        run.cases, run.body = product, body  # type: ignore[attr-defined]
        run.pytestmark = getattr(test, "pytestmark", [])  # type: ignore[attr-defined]
        return run

    return decorate


def run_all(cases: Iterable[tuple[str, Any]], check: Callable[[Any], None]) -> None:
    """Call ``check`` with each named value; fail once, with all that failed."""
    failures, skipped, passed = [], "", 0
    for label, value in cases:
        try:
            check(value)
            passed += 1
        except pytest.skip.Exception as reason:
            skipped = str(reason)
        except (Exception, pytest.fail.Exception) as error:
            failures.append((label, error))
    if failures:
        pytest.fail(report(failures, passed + len(failures)), pytrace=False)
    if not passed and skipped:
        pytest.skip(skipped)


def report(failures: list[tuple[str, BaseException]], n_cases: int) -> str:
    """All names, then where and why each one failed."""
    names = ", ".join(label for label, _ in failures)
    lines = [f"{len(failures)} of {n_cases} cases failed: {names}"]
    for label, error in failures[:LIMIT]:
        lines += ["", f"-- {label}", *traceback.format_exception(error)[1:]]
    return "\n".join(line.rstrip() for line in lines)
