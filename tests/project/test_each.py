"""Cases looped inside a test: none is lost, all failures are named."""

from __future__ import annotations

import inspect

import pytest
from each import each


def test_all_cases_run_and_all_failures_are_named() -> None:
    seen = []

    @each("a", {"one": 1, "two": 2})
    @each("b, c", [(3, 4), (5, 6)], ids=["x", "y"])
    def check(a: int, b: int, c: int, fixture: int) -> None:
        seen.append((a, b, c, fixture))
        assert (a, b) not in ((1, 5), (2, 3)), f"no {a}{b}"

    assert list(inspect.signature(check).parameters) == ["fixture"]
    with pytest.raises(pytest.fail.Exception) as caught:
        check(fixture=7)
    assert seen == [(1, 3, 4, 7), (1, 5, 6, 7), (2, 3, 4, 7), (2, 5, 6, 7)]
    text = str(caught.value)
    assert text.startswith("2 of 4 cases failed: y-one, x-two")
    assert "no 15" in text
    assert "no 23" in text


def test_marks_pass_through_and_skips_are_skips() -> None:
    @each("a", range(3))
    @pytest.mark.slow
    def check(a: int) -> None:
        pytest.skip("nothing here")

    assert [mark.name for mark in check.pytestmark] == ["slow"]  # type: ignore[attr-defined]
    with pytest.raises(pytest.skip.Exception, match="nothing here"):
        check()


def test_no_case_is_a_mistake() -> None:
    with pytest.raises(AssertionError, match="no values for a"):
        each("a", [])
