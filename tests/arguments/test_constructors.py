"""Fields of descriptions are checked before an object is made of them."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from refusals import argument_refused, model_refused

import flexarm as fa
from flexarm._support.description import Description


def test_fields_have_the_form_in_which_they_are_kept() -> None:
    joint = fa.Joint("helical", axis=[0, 0, 2], pitch=1, limits=[-1, 1])
    assert type(joint.pitch) is float and type(joint.damping) is float
    assert joint.axis.tolist() == [0.0, 0.0, 1.0] and not joint.axis.flags.writeable
    assert joint.limits.tolist() == [[-1.0], [1.0]]
    again = joint.replace(axis2=None)  # the default by name
    assert again == joint and again.axis2 is None
    plain = fa.Joint()
    assert plain.position.tolist() == [0.0, 0.0, 0.0]
    assert not plain.position.flags.writeable and not plain.rotation.flags.writeable


def test_given_arrays_are_copied() -> None:
    com = np.array([0.5, 0.0, 0.0])
    body = fa.RigidBody("rod", mass=1, com=com)
    com[0] = 7.0
    assert body.com[0] == 0.5 and body.mass == 1.0 and com.flags.writeable


def test_sentences_name_the_field_and_what_has_it() -> None:
    model_refused(
        ["com of body 'rod'", "(2,)"], lambda: fa.RigidBody("rod", com=(1, 2))
    )
    model_refused(["stiffness of the stops is zero"], lambda: fa.Stops(0.0, 1.0))
    model_refused(
        ["E of titanium is -1 Pa"],
        lambda: fa.beams.Material(-1.0, 4430.0, name="titanium"),
    )
    argument_refused(["search.steps is 0"], lambda: fa.optimize.Search(steps=0))
    argument_refused(
        ["radius of a sphere is -1"], lambda: fa.optimize.Sphere((0, 0), -1.0)
    )


def test_a_fault_of_ours_in_a_constructor_is_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def wrong(self: fa.Joint) -> Any:
        raise KeyError("planted")

    monkeypatch.setattr(fa.Joint, "_check_subspace", wrong)
    with pytest.raises(KeyError, match="planted"):
        fa.Joint()


def test_each_class_of_a_checked_one_is_checked() -> None:
    """A dataclass has a constructor of its own, which would leave fields as given."""

    def below(made: type) -> list[type]:
        return [c for k in made.__subclasses__() for c in (k, *below(k))]

    def keeps(made: type) -> bool:
        hints = [
            h for b in made.__mro__ for h in vars(b).get("__annotations__", {}).values()
        ]
        return any("Kept(" in str(hint) for hint in hints)

    unchecked = [
        made.__name__
        for made in below(Description)
        if dataclasses.is_dataclass(made)
        and "__init__" in vars(made)
        and keeps(made)
        and not hasattr(vars(made)["__init__"], "__wrapped__")
    ]
    assert not unchecked
