"""Values that nobody expects, in every field: one sentence, and soon.

Names of 10,000 letters, integers of 5000 digits, lists in 10,000 lists, objects without
a text: an argument of a description or of a function is refused or taken, but neither
raises an error of Python nor shows the whole value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from each import each
from refusals import PUMA, rod

import flexarm as fa
from flexarm import (
    Arm,
    Coupling,
    FlexibleBody,
    Joint,
    Loop,
    RigidBody,
    beams,
    se3,
    twists,
)
from flexarm.twists._rates import joint_rates

Q = np.zeros(6)
EYE = np.eye(4)


class Silent:
    def __repr__(self) -> str:
        raise RuntimeError("no text")


class Loud:
    def __repr__(self) -> str:
        return "many words\n" * 10**4


def values() -> Iterator[Any]:
    yield from ("x" * 10_000, "ab " * 4000, "a\nb\0\ud800", "", b"x" * 10_000)
    yield from (np.zeros((300, 300)), np.zeros((2,) * 17), np.zeros(6, "V8"))
    yield from (10**5000, 10**400, 1j, np.nan, 1e308, 1e-320, True, None)
    yield from (Silent(), Loud(), [Silent()], {1: Silent()}, {1, 2}, object, [[]] * 3)
    yield (x for x in range(3))
    endless: list[Any] = []
    endless += [endless, endless]
    yield endless
    deep: list[Any] = [0.0]
    for _ in range(10_000):
        deep = [deep]
    yield deep


def flexible(**changes: Any) -> FlexibleBody:
    """One node on a mode."""
    given: dict[str, Any] = {
        "node_position": [[0, 0, 0]],
        "node_mass": [1.0],
        "node_translation": [[[0], [1], [0]]],
        "stiffness": [1.0],
    }
    return FlexibleBody("beam", Joint(), **(given | changes))


def closed(constraint: Any) -> Arm:
    return Arm([rod()], constraints=[constraint])


def fields(make: Callable[..., Any], *names: str) -> dict[str, Callable[[Any], Any]]:
    name = getattr(make, "__name__", "")
    return {f"{name} {n}": lambda v, n=n: make(**{n: v}) for n in names}


def where(*at: Any) -> Callable[[Any], Any]:
    return lambda v: fa.jacobian(PUMA, Q, tuple(v if x is ... else x for x in at))


CALLS: dict[str, Callable[[Any], Any]] = {
    **fields(rod, "name", "mass", "com", "inertia", "nodes"),
    "value of nodes": lambda v: rod(nodes={"tip": v}),
    "joint of a body": lambda v: RigidBody("rod", v),
    **fields(Joint, "kind", "axis", "position", "rotation", "node", "parent", "axis2"),
    **fields(Joint, "damping", "pitch", "subspace", "screw", "limits", "drive"),
    **fields(Joint, "stiffness", "rest", "coulomb_friction", "stops"),
    **fields(flexible, "node_position", "node_mass", "node_translation", "stiffness"),
    **fields(flexible, "node_rotation", "node_com", "node_inertia", "damping"),
    **fields(flexible, "node_names", "mode_names", "attachment", "integrals", "beam"),
    **fields(flexible, "node_foreshortening"),
    "parent": lambda v: Arm([rod(), rod("b", joint=Joint(parent=v))]),
    "node of the parent": lambda v: Arm([rod(), rod("b", joint=Joint(node=v))]),
    "bodies": Arm,
    "a body": lambda v: Arm([v]),
    "gravity": lambda v: Arm([rod()], gravity=v),
    "name of an arm": lambda v: Arm([rod()], name=v),
    "tip": lambda v: Arm([rod()], tip=v),
    "body of the tip": lambda v: Arm([rod()], tip=(v, 0)),
    "fidelity": lambda v: Arm([rod()], fidelity=v),
    "stabilization": lambda v: Arm([rod()], stabilization=v),
    "constraints": lambda v: Arm([rod()], constraints=v),
    "a constraint": closed,
    "loop": lambda v: closed(Loop(v)),
    "body of a loop": lambda v: closed(Loop((v, "tip"))),
    "node of a loop": lambda v: closed(Loop(("rod", v))),
    "second of a loop": lambda v: closed(Loop(("rod", "tip"), v)),
    "kind of a loop": lambda v: Loop(("rod", "tip"), kind=v),
    "directions": lambda v: Loop(("rod", "tip"), directions=v),
    "a direction": lambda v: Loop(("rod", "tip"), directions=[v]),
    "position of a loop": lambda v: Loop(("rod", "tip"), position=v),
    "name of a loop": lambda v: closed(Loop(("rod", "tip"), name=v)),
    "coupling": lambda v: closed(Coupling(v)),
    "coefficient": lambda v: Coupling({"rod": v}),
    "constant": lambda v: Coupling({"rod": 1.0}, v),
    "name of a coupling": lambda v: closed(Coupling({"rod": 1.0}, name=v)),
    "drive": lambda v: fa.Drive(stiffness=v),
    "gear": lambda v: fa.Drive(stiffness=1.0, gear_ratio=v),
    "friction": lambda v: fa.CoulombFriction(v, v),
    "stops": lambda v: fa.Stops(v, v),
    "material": lambda v: beams.Material(v, v),
    "stack": fa.stack,
    "an arm of a stack": lambda v: fa.stack([v]),
    "arm": lambda v: fa.mass_matrix(v, Q),
    "q": lambda v: fa.mass_matrix(PUMA, v),
    "q of a stack": lambda v: fa.mass_matrix(fa.stack([PUMA]), v),
    "out": lambda v: fa.mass_matrix(PUMA, Q, out=v),
    "threads": lambda v: fa.mass_matrix(PUMA, Q, threads=v),
    "wrench": lambda v: fa.wrench_forces(PUMA, Q, v),
    "cotangent": lambda v: fa.Arm.inverse_dynamics_vjp(PUMA, Q, Q, Q, v),
    "dq": lambda v: fa.integrate(PUMA, Q, v),
    "q1": lambda v: fa.difference(PUMA, Q, v),
    "method": lambda v: fa.forward_dynamics(PUMA, Q, Q, Q, method=v),
    "form": lambda v: fa.link_jacobians(PUMA, Q, form=v),
    "frame": lambda v: fa.jacobian(PUMA, Q, frame=v),
    "node": lambda v: fa.jacobian(PUMA, Q, v),
    "node of a body": where("link1", ...),
    "body of a node": where(..., "tip"),
    "nodes": lambda v: fa.operational_space_compliance(PUMA, Q, v),
    "one of the nodes": lambda v: fa.operational_space_compliance(PUMA, Q, [v]),
    "body_index": PUMA.body_index,
    "mode_slice": PUMA.mode_slice,
    "operator": lambda v: fa.operators(PUMA, Q).block(v, "link1"),
    "row of an operator": lambda v: fa.operators(PUMA, Q).block("Phi", v),
    "pick_off": lambda v: fa.operators(PUMA, Q).pick_off(v),
    "modal_integrals": fa.modal_integrals,
    "V": lambda v: twists.convert(v, EYE, "body", "spatial"),
    "poses": lambda v: twists.convert(Q, v, "body", "spatial"),
    "source": lambda v: twists.convert(Q, EYE, v, "spatial"),
    "V of joint_rates": lambda v: joint_rates(PUMA, Q, v),
    "side": lambda v: se3.jacobian(Q, side=v),
    "X": se3.exp,
    "screw": lambda v: se3.screw(v, v, v),
    "nearest_rotation": se3.nearest_rotation,
}


@each("call", CALLS)
def test_wild_values(call: Callable[[Any], Any]) -> None:
    for value in values():
        try:
            call(value)
        except fa.FlexarmError as error:
            text = str(error)
            assert len(text) < 400
            assert text.isprintable()
            assert text.strip()


def test_messages_are_short_and_in_one_line() -> None:
    """Whatever a message quotes: names first, then the middle."""
    long = fa.ModelError(
        f"body '{'x' * 1000}' has no node {'y' * 1000!r}, expected 'tip'"
    )
    assert str(long).startswith("body 'xxx")
    assert str(long).endswith("expected 'tip'")
    assert len(str(long)) < 200
    words = fa.ArgumentError(f"q is {'1.0 ' * 1000}, expected 6 numbers")
    assert len(str(words)) < 400
    assert str(words).endswith(", expected 6 numbers")
    assert str(fa.ModelError("a\nb\0\ud800 c")).isprintable()
    plain = "mass of body 'rod' is -1 kg, expected zero or more " * 7
    assert str(fa.ModelError(plain)) == plain
    assert fa.ModelError().args == ()


@pytest.mark.parametrize("n", [59, 60, 10_000])
def test_long_names_work(n: int) -> None:
    arm = Arm([rod("x" * n)])
    assert fa.mass_matrix(arm, [0.0]).shape == (1, 1)
    with pytest.raises(fa.ModelError) as caught:
        arm.body_index("x" * (n + 1))
    assert len(str(caught.value)) < 400
