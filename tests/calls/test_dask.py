"""Arrays of Dask, blocks of which are computed in threads of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gufuncs import ARMS, assert_same_bits

import flexarm as fa

pytest.importorskip("dask")
da: Any = pytest.importorskip("dask.array")

ARM = ARMS["de_luca"]


@pytest.fixture(scope="module")
def given() -> Any:
    return 0.1 * np.random.default_rng(0).normal(size=(3, 4000, ARM.nv))


@pytest.mark.parametrize("threads", [1, 2])
def test_blocks_are_computed_at_once(given: Any, threads: int) -> None:
    """Several blocks at a time, and each of them on several threads."""

    def accelerations(q: Any, qd: Any, tau: Any) -> Any:
        return fa.forward_dynamics(ARM, q, qd, tau, threads=threads)

    blocks = (da.from_array(x, chunks=(700, ARM.nv)) for x in given)
    result = da.map_blocks(accelerations, *blocks, dtype=float)
    expected = fa.forward_dynamics(ARM, *given)
    assert_same_bits(result.compute(scheduler="threads", num_workers=4), expected)


def test_generalized_functions(given: Any) -> None:
    q, qd, _ = (da.from_array(x, chunks=(1000, ARM.nv)) for x in given)

    def energies(q: Any, qd: Any) -> Any:
        return fa.energy(ARM, q, qd, threads=2)

    result = da.apply_gufunc(energies, "(q),(v)->()", q, qd, output_dtypes=float)
    expected = fa.energy(ARM, *given[:2])
    assert_same_bits(result.compute(scheduler="threads"), expected)


def test_a_bad_block_raises_as_everywhere(given: Any) -> None:
    spoiled = given[0].copy()
    spoiled[2500] = np.nan
    q = da.from_array(spoiled, chunks=(1000, ARM.nv))
    result = da.map_blocks(
        lambda q: fa.gravity_forces(ARM, q, threads=2), q, dtype=float, meta=given[0]
    )
    with pytest.raises(fa.NotFiniteError, match=r"1 of 1000 states.*\(500,\)"):
        result.compute(scheduler="threads")
