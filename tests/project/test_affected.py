"""Choice of `.ci/quick --changed`: tests that a change can break, and few others."""

from __future__ import annotations

import affected as a
import pytest

CORE = [
    "tests/dynamics/test_dynamics.py",
    "tests/se3/test_se3.py",
    "tests/beams/test_beams.py",
]
URDF = "tests/descriptions/test_urdf"


@pytest.mark.parametrize(
    ("file", "some"),
    [
        (
            "flexarm/urdf/_xml.py",
            [f"{URDF}.py", f"{URDF}_save.py"],
        ),
        ("flexarm/control/_loops/sampled.py", ["tests/control/test_sampled_loop.py"]),
        ("flexarm/optimize/_tracking/driver.py", ["tests/optimize/test_track.py"]),
        ("flexarm/studies/_store.py", ["tests/studies/test_study_stores.py"]),
    ],
)
def test_a_change_in_a_wing_leaves_the_core_out(file: str, some: list[str]) -> None:
    found = a.affected([file])
    assert {*some, file} <= {*found}
    assert {*CORE}.isdisjoint(found)
    assert len(found) < 80


def test_a_change_of_the_core_runs_what_is_above_it() -> None:
    above = [
        *CORE[:1],
        "tests/optimize/test_track.py",
        f"{URDF}.py",
    ]
    assert {*above} <= {*a.affected(["flexarm/model/packing.py"])}
    assert "tests/se3/test_se3.py" not in a.affected(["flexarm/model/packing.py"])


def test_what_is_compiled_or_configured_runs_all() -> None:
    for file in ("csrc/model/model.c", "setup.py", "pyproject.toml"):
        assert a.affected(["README.md", file]) == ["tests", "flexarm"]


def test_tests_and_their_helpers() -> None:
    assert a.affected(["tests/se3/test_se3.py"]) == ["tests/se3/test_se3.py"]
    users = {"tests/dynamics/test_dynamics.py", "tests/dynamics/test_identities.py"}
    assert users <= {*a.affected(["tests/trees.py"])}
    assert "tests/pages/test_readme.py" in a.affected(["README.md"])
    assert "tests/dynamics/test_dynamics.py" not in a.affected(["README.md"])


def test_every_public_function_is_found_in_its_module() -> None:
    """A name that is not found counts as the whole package: all its tests would run."""
    import flexarm as fa

    rooms = {name for name in fa.__all__ if name in a.MODULES}
    lost = {n for n in {*fa.__all__} - rooms - {"__version__"} if not a.place("", [n])}
    assert lost == set()
