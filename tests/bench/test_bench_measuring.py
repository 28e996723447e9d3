"""The measuring program and what is read from it."""

from __future__ import annotations

import shutil
from pathlib import Path

import instructions
import measuring
import pytest
import roofline

import flexarm as fa


@pytest.fixture(scope="module")
def program() -> Path:
    try:
        return measuring.program()
    except measuring.MeasureError as error:
        pytest.skip(str(error))


def test_every_kernel_is_measured() -> None:
    """The names of the glue are those of the models; numbers have no gap."""
    rows = dict(measuring.kernel_rows())
    assert sorted(rows.values()) == list(range(len(rows)))
    closed, tree = measuring.arm_of("four_bar"), measuring.arm_of("iiwa14")
    # forces of loops or derivatives of forward dynamics: no arm has both
    lines = [
        measuring.kernel_text(closed, *row, 1) or measuring.kernel_text(tree, *row, 1)
        for row in rows.items()
    ]
    assert all(lines)


def test_baseline_has_every_arm_and_map() -> None:
    counts, compiler = instructions.read(instructions.BASELINE.read_text())
    assert compiler.startswith("gcc ")
    assert instructions.read(instructions.write(counts, compiler)) == (counts, compiler)
    assert {arm.split("/")[0] for arm, _ in counts} == {*measuring.ARMS, "maps"}


def test_slower_and_faster_kernels_are_told_apart(
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = {("arm", "a"): 100.0, ("arm", "b"): 100.0, ("arm", "c"): 100.0}
    after = {("arm", "a"): 104.0, ("arm", "b"): 90.0, ("arm", "c"): 100.0}
    assert instructions.compare(before, after, False) == (1, 1)
    assert "+4.0%" in capsys.readouterr().out


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="needs valgrind")
def test_operations_of_known_maps(program: Path) -> None:
    """Quaternions: 16 multiplications, 12 additions; brackets: three cross products.

    The check for finite results is two operations more for each of them, in four sums;
    of six results the last four go with the first four, two of them twice.
    """
    if "avx2" not in fa.build_info()["available"]:
        pytest.skip("counts are those of the AVX2 kernels")
    works = roofline.works(program, "maps 64\n")
    assert works["maps", "se3.quaternion_product"].flops == 28 + 2 * 4 + 3
    assert works["maps", "se3.bracket"].flops == 3 * 9 + 3 + 2 * (4 + 4) + 3


def test_times_have_a_turn_for_each_round(program: Path) -> None:
    text = measuring.jobs(("iiwa14",), ("forward_dynamics",), 8, loops=False)
    [(arm, kernel, turns)] = measuring.times(program, "base", text, 3)
    assert (arm, kernel, len(turns)) == ("iiwa14", "forward_dynamics", 3)
    assert all(min(t.ns, t.fused, t.plain, t.loads) > 0 for t in turns)
