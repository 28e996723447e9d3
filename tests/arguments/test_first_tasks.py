"""The tasks of a newcomer: the lines do it, and wrong guesses lead to them.

75 were written down before the documentation was read; the others are those of the
README and of the tutorial.
"""

from __future__ import annotations

import sys

import pytest
from each import each
from first_tasks import TASKS, Task
from page_tasks import PAGES

import flexarm as fa
from flexarm._support.printing import Printed
from flexarm._support.synonyms import FUNCTIONS


@each("task", TASKS | PAGES)
def test_the_lines_do_it(task: Task) -> None:
    try:
        task.lines()
    except ImportError as error:
        if "which is missing: python3 -m pip install" not in str(error):
            raise
        pytest.skip(str(error))
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@each("task", {name: task for name, task in (TASKS | PAGES).items() if task.guess})
def test_the_first_guess_leads_to_the_lines(task: Task) -> None:
    assert task.guess is not None
    with pytest.raises((fa.FlexarmError, AttributeError, TypeError)) as caught:
        task.guess()
    text = str(caught.value)
    assert task.words in text, text
    assert "\n" not in text and len(text) < 400


def test_there_are_75_tasks_and_those_of_the_pages() -> None:
    assert len(TASKS) >= 75 and len(PAGES) >= 30
    assert not set(TASKS) & set(PAGES)
    # of README and tutorial almost all first guesses work
    assert sum(task.guess is not None for task in PAGES.values()) <= 5


def test_functions_that_answers_name_exist() -> None:
    for text in FUNCTIONS.values():
        for part in text.split():
            name = part.split("(")[0].strip(",")
            if not name.startswith("flexarm."):
                continue
            found: object = fa
            for item in name.split(".")[1:]:
                found = getattr(found, item)


def test_an_error_inside_of_a_property_is_its_own() -> None:
    class Made(Printed):
        @property
        def inside(self) -> int:
            return [].missing  # type: ignore[attr-defined, no-any-return]

    with pytest.raises(AttributeError, match="'list' object has no attribute 'miss"):
        print(Made().inside)
