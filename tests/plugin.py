"""What makes tests and doctests independent of each other and of the machine.

`pyproject.toml` names it to pytest: a `conftest.py` here would not reach the doctests
of `flexarm`.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

# figures are never seen, whether the machine has a screen or not
os.environ.setdefault("MPLBACKEND", "Agg")

# processes that share the cores: threads of OpenBLAS would wait for each other
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# processes that tests start find modules compiled, also where Python is told to keep
# nothing: else each of them compiles the whole package
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

_PATIENT = 1e6  # s


@pytest.fixture(autouse=True)
def _close_figures() -> Iterator[None]:
    """No test sees the figures of another one."""
    yield
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        pyplot.close("all")


@pytest.fixture(autouse=True, scope="session")
def _patient_solvers() -> Iterator[None]:
    """A search ends by its iterations, not by the clock.

    A minute, the default, may not suffice on a busy machine. Limits that tests are
    about are far below a second.
    """
    from flexarm.optimize._programs.solution import Watch

    def patient(init: Any) -> Any:
        @functools.wraps(init)
        def begin(self: Any, *args: Any, **options: Any) -> None:
            init(self, *args, **options)
            if self.time_limit > 1.0:
                self.time_limit = _PATIENT

        return begin

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Watch, "__init__", patient(Watch.__init__))
        yield


@pytest.fixture
def strict_floats() -> Iterator[None]:
    """No floating-point flag may reach NumPy."""
    with np.errstate(all="raise"):
        yield
