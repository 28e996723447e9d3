"""Benchmarks print one table of ratios at their end."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))  # pinocchio_models
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before OpenBLAS comes: one core

from grids import Cells, draw, rows
from peers_machine import cpu
from races import BATCH, ROUNDS, SMOKE, Contender, Result, race

from flexarm import build_info

# parts of one command, which import peers that may be missing: test_bench_peers.py
collect_ignore_glob = ["peers*.py"]

_RESULTS = pytest.StashKey[list[Result]]()
_GRIDS = pytest.StashKey[dict[str, Cells]]()
_LINES = pytest.StashKey[list[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--figure",
        metavar="PATH",
        help="where to draw articulated bodies, the manoeuvre, or the integrators",
    )


def pytest_itemcollected(item: pytest.Item) -> None:
    # the modes of races are those of before, so that numbers can be compared
    item.add_marker(pytest.mark.filterwarnings("ignore::flexarm.ModeWarning"))


def pytest_xdist_auto_num_workers() -> int:
    """One process: what is timed has the machine for itself."""
    return 0


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_RESULTS] = []
    config.stash[_GRIDS] = {}
    config.stash[_LINES] = []


@pytest.fixture
def contest(
    benchmark: Any, pytestconfig: pytest.Config
) -> Callable[[str, Sequence[Contender]], Result]:
    """Race of contenders, whose result joins the table at the end."""

    def run(title: str, contenders: Sequence[Contender]) -> Result:
        result = race(benchmark, title, contenders)
        pytestconfig.stash[_RESULTS].append(result)
        return result

    return run


@pytest.fixture
def contest_of_grid(
    benchmark: Any, pytestconfig: pytest.Config
) -> Callable[[str, int, int, Sequence[Contender]], Result]:
    """Race of two contenders for N bodies with n modes, one cell of a table."""

    def run(title: str, N: int, n: int, contenders: Sequence[Contender]) -> Result:
        result = race(benchmark, f"{title}, {N} bodies, {n} modes", contenders)
        pytestconfig.stash[_GRIDS].setdefault(title, {})[N, n] = result
        return result

    return run


@pytest.fixture
def table(pytestconfig: pytest.Config) -> Callable[[Sequence[str]], None]:
    """Lines that are printed after the races, such as errors."""
    return pytestconfig.stash[_LINES].extend


def _versions() -> str:
    found = []
    for name in ("flexarm", "numpy", "scipy", "pin", "roboticstoolbox-python"):
        try:
            found.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            continue
    return ", ".join([f"Python {platform.python_version()}", *found])


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print every race: time of a state, ratio to flexarm, its quartiles."""
    results, grids = config.stash[_RESULTS], config.stash[_GRIDS]
    if not results and not grids and not config.stash[_LINES]:
        return
    info, write = build_info(), terminalreporter.write_line
    terminalreporter.section("time of a state and ratio to flexarm")
    write(f"{cpu()}, one core; kernels {info['isa']}, {info['lanes']} lanes")
    write(f"{_versions()}; flexarm built by {info['compiler']}")
    write(f"batch {BATCH}, medians of {ROUNDS} rounds in turns{' (smoke)' * SMOKE}")
    write(f"  {'':44}{'ns':>12}{'ratio':>9}   quartiles")
    for result in results:
        for line in result.rows():
            write(line)
    for title, cells in grids.items():
        for line in rows(title, cells):
            write(line)
    for line in config.stash[_LINES]:
        write(line)
    path = config.getoption("--figure")
    if path and grids:
        draw(grids).savefig(path)
        write(f"figure: {path}")
