"""The page of verification is what ``python3 tests/record.py`` makes."""

from __future__ import annotations

import pytest
import record
from record_cases import GROUPS


def test_quick_rows_of_the_page_are_current() -> None:
    """And printed references are met to half a unit of their last digit."""
    text = record.PAGE.read_text()
    quick = [rows for rows, is_quick in GROUPS.values() if is_quick]
    rows = [row for made in quick for row in made()]
    stale = [line for line in map(record.line, rows) if line not in text]
    assert not stale, "python3 tests/record.py makes the page again"
    assert all(row.agrees for row in rows) and len(rows) > 80


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # models are small on purpose
def test_the_whole_page_is_current() -> None:
    old, new = (record.comparable(x) for x in (record.PAGE.read_text(), record.page()))
    assert old == new, "python3 tests/record.py makes the page again"
