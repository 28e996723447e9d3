"""Fixtures that make tests and doctests independent of each other and of the machine.

`pyproject.toml` names it to pytest: a `conftest.py` here would not reach the doctests
of `flexarm`.
"""

from __future__ import annotations

import doctest
import gc
import linecache
import os
import signal
import sys
from collections.abc import Iterator

import numpy as np
import pytest
import rooms  # noqa: F401

# figures are never seen, whether the machine has a screen or not
os.environ["MPLBACKEND"] = "Agg"

# processes that share the cores: threads of OpenBLAS would wait for each other
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# a shell that starts something in the background has Ctrl-C ignored, which tests press
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# processes that tests start find modules compiled, also where Python is told to keep
# nothing: else each of them compiles the whole package
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


@pytest.fixture(autouse=True)
def _close_figures() -> Iterator[None]:
    """No test sees the figures of another one."""
    yield
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        pyplot.close("all")


def pytest_collection_finish() -> None:
    """Leave what is there before the first test out of what tests pay for.

    Collections of garbage, and a look at the date of every file whose lines were read
    for doctests, before each of them.
    """
    linecache.clearcache()
    gc.collect()
    gc.freeze()


@pytest.fixture
def small_heap() -> None:
    """Collections of garbage look at what a test makes, not at all that was before."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Skip examples of docstrings that need an optional package which is missing."""
    try:
        return (yield)
    except doctest.UnexpectedException as error:
        reason = str(error.exc_info[1])
        if "which is missing: python3 -m pip install" in reason:
            pytest.skip(reason)
        raise


@pytest.fixture
def strict_floats() -> Iterator[None]:
    """No floating-point flag may reach NumPy."""
    with np.errstate(all="raise"):
        yield
