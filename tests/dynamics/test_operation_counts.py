"""Operations of the kernels, beside those of the patent (test 31 of its digest)."""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest
from each import each
from operation_counts import (
    Counts,
    build,
    formulas,
    measure,
    patent_articulated,
    patent_composite,
    per_body,
    polynomial,
    totals,
    why_not,
)

KERNELS = ("articulated", "bias", "mass", "row")
needs_counts = pytest.mark.slow  # all kernels are compiled with counting numbers

CHAINS = [(N, n) for N in range(1, 6) for n in range(15)]
LONG = [(10, n) for n in (0, 2, 5, 10, 20)]


@pytest.fixture(scope="module")
def counts(tmp_path_factory: pytest.TempPathFactory) -> Counts:
    reason = why_not()
    if reason:
        pytest.skip(reason)
    return measure(build(tmp_path_factory.mktemp("operations")), [*CHAINS, *LONG])


def differences(values: list[int], order: int) -> list[int]:
    """Finite differences: zero for a polynomial of a lower degree."""
    for _ in range(order):
        values = [b - a for a, b in pairwise(values)]
    return values


def column(counts: Counts, kernel: str, n: int, field: str) -> list[int]:
    """By the number of bodies; a rigid one on the ground takes one row of the next."""
    first = 2 if n == 0 and kernel != "mass" else 1
    return [int(getattr(counts[kernel, N, n], field)) for N in range(first, 6)]


@needs_counts
@each("field", ["multiplications", "additions", "divisions"])
@each("n", range(15))
def test_31_growth_with_the_number_of_bodies(
    counts: Counts, n: int, field: str
) -> None:
    """Linear, but for the mass matrix, each of whose rows is as long as the chain."""
    for kernel in ("articulated", "bias"):
        assert not any(differences(column(counts, kernel, n, field), 2)), kernel
    mass = column(counts, "mass", n, field)
    assert not any(differences(mass, 3))
    assert any(differences(mass, 2)) == (field != "divisions")


@needs_counts
def test_a_rigid_body_costs_less_than_the_best_published_recursion(
    counts: Counts,
) -> None:
    """About 250 multiplications and 220 additions, sines and cosines not counted."""
    three, two = counts["articulated", 3, 0], counts["articulated", 2, 0]
    assert three.multiplications - two.multiplications < 200
    assert three.additions - two.additions < 200


@needs_counts
@pytest.mark.parametrize("kernel", KERNELS)
def test_31_growth_with_the_number_of_modes(counts: Counts, kernel: str) -> None:
    """Four numbers of modes give the polynomial of all others, unrolled or not.

    The leading terms are known: the factors L D L' of a matrix of n rows take n^3 / 6
    multiplications and as many additions, and n divisions.
    """
    per_mode = [per_body(counts, kernel, n) for n in range(2, 15)]
    multiplications, additions, divisions = (
        [int(x) for x in values] for values in zip(*per_mode, strict=True)
    )
    cubic = Fraction(1, 6) if kernel == "articulated" else 0
    for values in (multiplications, additions):
        fitted = polynomial(values[:4], 2)
        assert fitted[3] == cubic
        assert min(fitted) >= 0
        for n, value in enumerate(values, 2):
            assert value == sum(c * n**i for i, c in enumerate(fitted))
    pivots = kernel == "articulated"
    assert divisions == [pivots * (n + 1) for n in range(2, 15)]


def numbers(row: str) -> list[float]:
    return [float(Fraction(x)) for x in re.findall(r"(?<!\^)\b\d[\d./]*", row)]


@needs_counts
def test_tables_of_the_map_are_what_runs(counts: Counts) -> None:
    """Within what two compilers make of the constant terms."""
    page = (Path(__file__).parents[2] / "tests/bench/README.md").read_text()
    section = page.split("## Operation counts")[1].split("## ")[0]
    written = [x for x in section.splitlines() if x.startswith("| ") and x[2] != "|"]
    written = [x for x in written if not x.startswith("| n |")]
    expected = [*formulas(counts), *totals(counts, 10, (0, 2, 5, 10, 20))]
    for line, row in zip(written, expected, strict=True):
        assert numbers(line) == pytest.approx(numbers(row), rel=0.02), (
            "run tests/operation_counts.py, write its tables to tests/bench/README.md"
        )


@needs_counts
def test_articulated_bodies_cost_less_than_the_patent_counted_for_its_model(
    counts: Counts,
) -> None:
    """Ours is the larger model, but its modes are clamped, which saves blocks."""
    for N, n in ((10, 5), (10, 10)):
        ratio = counts["articulated", N, n].total / patent_articulated(N, n).total
        assert 0.9 < ratio < 1.1


@needs_counts
def test_31_ratio_of_the_two_methods(counts: Counts) -> None:
    """The patent: more than 3 times at five modes and 7 at ten, for ten bodies."""
    for n, least in ((5, 3.0), (10, 7.0)):
        dense, fast = counts["composite", 10, n], counts["articulated", 10, n]
        assert dense.total / fast.total > least
        claimed = patent_composite(10, n).total / patent_articulated(10, n).total
        assert dense.total / fast.total == pytest.approx(claimed, rel=0.1)


def test_polynomials_of_the_patent_give_its_ratios() -> None:
    """More than 7 at ten modes takes ten bodies: nine give 6."""
    ratio = {
        (N, n): patent_composite(N, n).total / patent_articulated(N, n).total
        for N, n in ((10, 5), (10, 10), (9, 10))
    }
    assert ratio[10, 5] == pytest.approx(3.58, abs=0.01)
    assert ratio[10, 10] == pytest.approx(7.2, abs=0.1)
    assert ratio[9, 10] < 6.3
