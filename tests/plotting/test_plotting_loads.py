"""Pictures of loads along links: what was drawn, where, under which labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa
from flexarm import plotting
from flexarm.beams import STEEL, Section, finite_element_link
from flexarm.loads import LinkLoads

plt: Any = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(scope="module")
def loads() -> dict[str, LinkLoads]:
    bar = Section.rectangle(0.01, 0.02, STEEL)
    upper = finite_element_link(
        "upper",
        length=0.5,
        sections=bar,
        n_elements=2,
        motions="bending z",
        joint=fa.Joint(axis=(0, 1, 0)),
        n_modes="all",
    )
    lower = upper.replace(
        name="lower", joint=fa.Joint(parent="upper", node="tip", axis=(0, 1, 0))
    )
    arm = fa.Arm([upper, lower])
    q = np.zeros((3, arm.nq))
    q[:, 0] = [0.0, 0.4, 0.8]
    return fa.link_loads(arm, q, 0.0 * q, 0.0 * q)


def test_moments_of_all_links(loads: dict[str, LinkLoads]) -> None:
    """Only what is not zero, one link after the other, states as a band."""
    lines = plotting.link_loads(loads, by_strain=True)
    assert [line.get_label() for line in lines] == [
        "bending about y",
        "bending about y, by strain",
    ]
    x, y = lines[0].get_data()
    assert_allclose(x, [0, 0.25, 0.25, 0.5, np.nan, 0.5, 0.75, 0.75, 1.0, np.nan])
    assert_allclose(y[:4], loads["upper"].moment[-1, :, 1])
    ax = lines[0].axes
    assert ax.get_ylabel() == "moment (N m)"
    assert [text.get_text() for text in ax.texts] == ["upper", "lower"]
    assert len(ax.collections) == 1  # the band
    # names stand below the line of zero, where all moments end
    assert np.nanmin(y) == 0.0
    ax.figure.draw_without_rendering()
    zero = ax.transData.transform((0.0, 0.0))[1]
    assert all(text.get_window_extent().y1 < zero for text in ax.texts)


def test_forces_and_stress_of_one_link(loads: dict[str, LinkLoads]) -> None:
    lines = plotting.link_loads(loads["lower"], "force")
    assert [line.get_label() for line in lines] == ["axial force", "shear along z"]
    ax = plt.figure().add_subplot()
    lines = plotting.link_loads(loads["lower"], "stress", ax=ax)
    assert lines[0].axes is ax and ax.get_ylabel() == "stress (MPa)"
    stress = loads["lower"].stress()[-1] / 1e6
    assert_allclose(lines[0].get_ydata()[:-1], stress)


def test_figures_of_loads_take_loads_of_links(loads: dict[str, LinkLoads]) -> None:
    with pytest.raises(fa.ArgumentError, match="kind is 'shear', expected one of"):
        plotting.link_loads(loads, "shear")
    with pytest.raises(fa.ArgumentError, match="loads is dict"):
        plotting.link_loads({})
    with pytest.raises(fa.ArgumentError, match="loads is float"):
        plotting.link_loads(1.0)


def test_an_arm_is_no_modes() -> None:
    with pytest.raises(fa.ArgumentError, match="modes is Arm, expected a Vibration"):
        fa.plotting.vibration(fa.library.pendulum())  # type: ignore[arg-type]
