"""Details of studies that one careless line would change: errors of workers."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from flexarm.errors import ArgumentError
from flexarm.studies._runners import _finished


def test_errors_of_arguments_end_a_study() -> None:
    """A worker that refuses its arguments says so; other errors belong to points."""

    def refuses(start: int, stop: int) -> Any:
        raise ArgumentError("coords has 3 values, expected 4")

    def fails(start: int, stop: int) -> Any:
        raise RuntimeError("lost")

    with ThreadPoolExecutor(1) as pool:
        with pytest.raises(ArgumentError, match="coords has 3 values"):
            list(_finished(pool, refuses, [(0, 1)]))
        ((span, error),) = _finished(pool, fails, [(0, 1)])
    assert span == (0, 1)
    assert isinstance(error, RuntimeError)
