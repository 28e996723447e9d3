"""Making arms fast: what is kept, shared or left out gives the same arms."""

from __future__ import annotations

import ast
import json
import pickle
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from each import each
from numpy.testing import assert_allclose

import flexarm as fa
from flexarm import _core, mode_accuracy, stacks
from flexarm._support import options as hints
from flexarm.arm import without_warning
from flexarm.beams import _free
from flexarm.beams._clamped import LinkModes
from flexarm.beams._craig_bampton import (
    CraigBamptonBeamModes,
    CraigBamptonRodModes,
    beam_at_nodes,
    rod_at_nodes,
    unit_foreshortening,
)
from flexarm.beams._single import free_beam_modes
from flexarm.bodies import body as bodies_room
from flexarm.bodies.mode_bounds import largest_frequency_error
from flexarm.bodies.node_sums import NodeSums, node_sums
from flexarm.model.packing import pack

TABLES = (
    _free.first_free_roots,
    beam_at_nodes,
    rod_at_nodes,
    unit_foreshortening,
)
BEAM = {"length": 1.3, "mass_per_length": 0.7, "bending_stiffness": (90.0, 40.0)}
TWIST = {"torsional_stiffness": 30.0, "polar_inertia_per_length": 2e-4}
PAYLOAD = {"tip_mass": 0.8, "tip_com": (0.05, 0.01, -0.02)}


def link(name: str = "link", **others: Any) -> Any:
    return fa.beams.flexible_link(name, **{**BEAM, **TWIST, **others})


def forget() -> None:
    """Empty what the process keeps of other links."""
    for table in TABLES:
        table.cache_clear()
    bodies_room._recent.clear()


def assert_same_arrays(a: fa.Arm, b: fa.Arm) -> None:
    """To the bit."""
    for name, x, y in zip(pack(a)._fields, pack(a), pack(b), strict=True):
        assert x.shape == y.shape and x.tobytes() == y.tobytes(), name


def arms() -> dict[str, Any]:
    """How to make arms with links of every kind."""

    def two(**others: Any) -> fa.Arm:
        last = link("last", **PAYLOAD)
        return fa.Arm([link("first", **others), last], check_units=False)

    return {
        "craig-bampton": two,
        "many modes": lambda: two(n_modes={"bending y": 5, "bending z": 1}),
        "one mode": lambda: two(n_modes=1, section_inertia=(3e-4, 2e-4, 1e-4)),
        "free": lambda: two(modes="free", n_modes=2),
        "clamped-free": lambda: two(modes="clamped-free", n_modes=2),
        "farid_spatial": fa.library.farid_spatial,
        "cibicik_egeland": fa.library.cibicik_egeland,
        "random tree": lambda: fa.library.random_tree(np.random.default_rng(3), 6),
        "puma560": fa.library.puma560,
    }


def missed(call: Callable[[], object]) -> list[str]:
    """Missing attributes that a call made sentences of, which take as long as arms."""
    missing = hints.missing_attribute
    with pytest.MonkeyPatch.context() as patch:
        said: list[str] = []

        def counted(owner: object, name: str, hint: str = "") -> AttributeError:
            said.append(name)
            return missing(owner, name, hint)

        patch.setattr(hints, "missing_attribute", counted)
        call()
    return said


@each("make", arms())
@pytest.mark.filterwarnings("ignore::flexarm.ModeWarning")
def test_arms_ask_nothing_for_attributes_that_it_lacks(make: Any) -> None:
    bodies = list(make().bodies)
    assert missed(lambda: fa.Arm(bodies, check_units=False)) == []


def test_checks_ask_nothing_for_attributes_that_it_lacks() -> None:
    """Whether an argument has an arm, and whether a drive is a rigid one."""
    drive = fa.Drive(gear_ratio=50.0, rotor_inertia=1e-4, stiffness=1e3)
    joint = fa.Joint.revolute("y", drive=drive)
    arm = fa.Arm([fa.RigidBody("body", joint, mass=1.0, inertia=(1.0, 1.0, 1.0))])
    assert missed(lambda: fa.Joint.revolute("y", drive=drive)) == []
    assert missed(lambda: fa.inertial_parameters(arm)) == []


@each("make", arms())
@pytest.mark.filterwarnings("ignore::flexarm.ModeWarning")
def test_arms_do_not_depend_on_what_the_process_keeps(make: Any) -> None:
    make()
    warm = make()
    forget()
    assert_same_arrays(warm, make())
    # nor do arms of bodies that other arms have used
    assert_same_arrays(warm, fa.Arm(warm.bodies, gravity=warm.gravity))
    assert_same_arrays(warm, pickle.loads(pickle.dumps(warm)))


def test_what_the_process_keeps_is_bounded() -> None:
    for table in TABLES:
        assert table.cache_info().maxsize is not None
    for k in range(2 * bodies_room._MAX_RECENT):
        _ = link(length=1.0 + 0.01 * k, n_modes=1, n_points=4)._own_integrals
    for k in range(2 * bodies_room._MAX_ALIKE):
        _ = link(n_modes=1 + k % 4, n_points=30 + k // 4)._own_integrals
    kept = bodies_room._recent
    assert len(kept) <= bodies_room._MAX_RECENT
    assert all(len(x) <= bodies_room._MAX_ALIKE for x in kept.values())


def modes() -> dict[str, LinkModes]:
    beam, rod = (1.7, 0.6, 8.0), (1.7, 3e-3, 5.0)
    return {
        **{f"cubic {n}": CraigBamptonBeamModes(*beam, n) for n in (1, 2, 3, 6)},
        "downward": CraigBamptonBeamModes(*beam, 4, upward=False),
        **{f"rod {n}": CraigBamptonRodModes(*rod, n) for n in (1, 2, 4)},
        "clamped": fa.beams.clamped_beam_modes(*beam, 3, tip_mass=0.4),
        "free": free_beam_modes(*beam, 3),
        "clamped rod": fa.beams.clamped_rod_modes(*rod, 2),
    }


@each("own", modes())
def test_shapes_at_nodes_are_those_anywhere(own: LinkModes) -> None:
    n = own.n_points + 1
    x = own.length * np.concatenate(
        [[0.0], 0.5 * (1.0 + np.polynomial.legendre.leggauss(n)[0]), [1.0]]
    )
    for order in range(4 if "rod" not in type(own).__name__.lower() else 2):
        expected = own._derivative(x, order)
        size = np.abs(expected).max(axis=1, keepdims=True)
        assert (np.abs(own._at_nodes(n, order) - expected) <= 1e-13 * size).all()
    if "rod" in type(own).__name__.lower():
        return
    # against a rule of many more points
    found = own._foreshortening(n)
    nodes, weights = np.polynomial.legendre.leggauss(60)
    for at, kappa in zip(x, found, strict=True):
        slope = own.slope(0.5 * at * (1.0 + nodes))
        integral = -(0.5 * at * weights * slope) @ slope.T
        assert_allclose(kappa, integral, rtol=0, atol=1e-12 * np.abs(found).max())


def one_by_one(
    m: Any, p: Any, J: Any, l0: Any, lam: Any, gamma: Any, turns: bool
) -> dict[str, Any]:
    """Integrals of the patent, App. C.1, node by node, from matrices of products."""

    def skew(x: Any) -> Any:
        return np.array([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])

    n = gamma.shape[2]
    c = {
        "m": 0.0,
        "mp0": np.zeros(3),
        "mp1": np.zeros((3, n)),
        "E": np.zeros((3, n)),
        "F0": np.zeros((3, n)),
        "F1": np.zeros((3, n, n)),
        "G": np.zeros((n, n)),
        "J0": np.zeros((3, 3)),
        "J1s": np.zeros((n, 3, 3)),
        "J2s": np.zeros((n, n, 3, 3)),
    }
    for j, mass in enumerate(m):
        P, L, g, t = skew(p[j]), skew(l0[j]), gamma[j], lam[j]
        centre = g - P @ t
        c["m"] += mass
        c["mp0"] += mass * (p[j] + l0[j])
        c["mp1"] += mass * g
        c["E"] += mass * centre
        c["F0"] += J[j] @ t + mass * (L @ centre + P @ g)
        mixed = mass * t.T @ P @ g
        c["G"] += t.T @ J[j] @ t + mixed + mixed.T + mass * g.T @ g
        c["J0"] += J[j] - mass * (L @ L + P @ L + L @ P)
        for r in range(n):
            G = skew(g[:, r])
            half = -mass * G @ (L + P)
            c["J1s"][r] += half + half.T
            c["F1"][:, :, r] += mass * G @ centre
            for s in range(n):
                c["J2s"][r, s] -= mass * (G @ skew(g[:, s]) + skew(g[:, s]) @ G)
        if not turns or p[j].any():
            continue
        for r in range(n):  # J + [phi, J] + [phi, [phi, J]] / 2
            T = skew(t[:, r])
            first = T @ J[j] - J[j] @ T
            c["J1s"][r] += first
            c["F1"][:, :, r] += first @ t + 0.5 * J[j] @ T @ t
            for s in range(n):
                S = skew(t[:, s])
                twice = S @ first - first @ S
                c["J2s"][r, s] += 0.5 * twice
                c["J2s"][s, r] += 0.5 * twice
    return c


@each("turns", [True, False])
@each("beside", ["none", "some", "all"])
def test_sums_over_nodes_are_those_one_by_one(beside: str, turns: bool) -> None:
    rng = np.random.default_rng(len(beside))
    N, n = 6, 4
    m, l0 = rng.uniform(0.1, 1.0, N), rng.normal(size=(N, 3))
    p = 0.2 * rng.normal(size=(N, 3))
    p[{"none": slice(N), "some": slice(0, N, 2), "all": slice(0)}[beside]] = 0.0
    A = rng.normal(size=(N, 3, 3))
    J = A @ A.swapaxes(1, 2)
    lam, gamma = rng.normal(size=(2, N, 3, n))
    found = node_sums(m, p, J, l0, lam, gamma, None, turns)
    for name, x in one_by_one(m, p, J, l0, lam, gamma, turns).items():
        assert_allclose(getattr(found, name), x, rtol=0, atol=1e-13 * np.abs(x).max())
    # with driven shapes: the same of more columns, of which the first are those above
    kappa = rng.normal(size=(N, 3, n, n))
    both = node_sums(m, p, J, l0, lam, gamma, kappa + kappa.swapaxes(2, 3), turns)
    for name in ("mp1", "E", "F0", "F1", "G", "J1s", "J2s"):
        x = getattr(found, name)
        assert_allclose(getattr(both, name), x, rtol=0, atol=1e-13 * np.abs(x).max())
    assert both.driven.integrals.n_modes == n + len(both.driven.second)


# the bound of errors of modes


def outboard(mass: float, com: Any = (0.0, 0.0, 0.0), **at: Any) -> fa.RigidBody:
    J = 0.01 * mass
    on = fa.Joint("fixed", parent="link", **at)
    return fa.RigidBody("load", on, mass=mass, com=com, inertia=(J, J, J))


@each("load", [None, (0.01, 0.0), (1.0, 0.1), (100.0, 0.5)])
@each(
    "options",
    [
        {},
        {"n_modes": 2},
        {"n_modes": {"bending y": 4, "torsion": 1}},
        {"motions": "bending y", "n_modes": 2},
        {"motions": "torsion"},
        {"section_inertia": (2e-3, 1e-3, 1e-3)},
        {**PAYLOAD, "base_mass": 3.0, "base_inertia": 0.2},
    ],
)
def test_errors_of_modes_are_below_their_bound(options: Any, load: Any) -> None:
    body = link(**options)
    bound = largest_frequency_error(body, (body.n_nodes - 1,))
    assert bound is not None
    more = [] if load is None else [outboard(load[0], (load[1], 0.2 * load[1], 0.0))]
    with without_warning():
        arm = fa.Arm([body, *more], check_units=False)
    errors = arm.mode_errors().links[0]
    assert max(errors.deflection.max(), errors.sag.max(), errors.rotation.max()) < 1e-9
    assert errors.frequency_errors[0] <= bound + 1e-6


def warned(*bodies: Any) -> tuple[bool, float]:
    """Whether an arm warns of its modes, and the largest of their errors."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always", fa.ModeWarning)
        arm = fa.Arm(bodies, check_units=False)
    some = any(issubclass(x.category, fa.ModeWarning) for x in found)
    return some, arm.mode_errors().largest


@each(
    "options",
    {
        "none": {},
        "static, two planes": {"modes": "static"},
        "static, one plane": {"modes": "static", "motions": "bending y"},
        "one mode": {"n_modes": 1},
        "clamped-free": {"modes": "clamped-free", "n_modes": 2},
        "clamped-free, many": {"modes": "clamped-free", "n_modes": 9},
        "few points": {"n_points": 4},
        "twist slow": {"torsional_stiffness": 1e-3, "n_modes": {"torsion": 1}},
        "free": {"modes": "free", "n_modes": 4},
    },
)
@each("at", ["tip", "base", "g3"])
def test_arms_warn_as_their_errors_say(at: str, options: Any) -> None:
    for mass in (0.05, 20.0):
        some, largest = warned(link(**options), outboard(mass, node=at))
        assert some == (largest > mode_accuracy.MAX_ERROR), (mass, largest)


def element_link(**others: Any) -> Any:
    """A bent, stepped link of elements."""
    sections = [
        fa.beams.Section.from_stiffness(
            density,
            (90.0, 40.0),
            torsional_stiffness=30.0,
            shear_stiffness=4e4,
            rotary_inertia=(2e-4, 1e-4, 1e-4),
        )
        for density in (0.7, 0.5)
    ]
    points = [[0, 0, 0], [0.8, 0, 0], [1.2, 0.3, 0.1]]
    options = {"sections": sections, "points": points, "n_elements": 3, **others}
    return fa.beams.finite_element_link("link", **options)


@each("mass", [0.0, 0.1, 10.0])
@each(
    "options",
    {
        "bent": {},
        "straight": {"points": [[0, 0, 0], [1, 0, 0], [2, 0, 0]]},
        "in pieces": {"segments": 2},
        "natural modes": {"modes": "clamped-free", "n_modes": 3},
    },
)
def test_links_of_elements_are_below_their_bounds_too(
    options: Any, mass: float
) -> None:
    more = [outboard(mass, (0.0, 0.1, 0.0))] if mass else []
    with without_warning():
        arm = fa.Arm([element_link(**options), *more], check_units=False)
    errors = {x.name: x for x in arm.mode_errors().links}
    natural = "modes" in options
    for body in arm.bodies[: len(arm.bodies) - len(more)]:
        bound = largest_frequency_error(body, (body.n_nodes - 1,))
        assert (bound is None) == natural
        if bound is not None:
            found = errors[body.name]
            assert max(found.deflection.max(), found.sag.max()) < 1e-8
            assert bound == 0.0 or found.frequency_errors[0] <= bound + 1e-5
    some, _ = warned(element_link(**options), *more)
    if "segments" not in options:
        assert some == (errors["link"].largest > mode_accuracy.MAX_ERROR)


def test_changed_bodies_are_not_known_to_be_accurate() -> None:
    def bound(body: Any, *nodes: int) -> float | None:
        return largest_frequency_error(body, nodes or (body.n_nodes - 1,))

    body = link()
    n = body.n_nodes
    assert bound(body) == bound(body, 0, n - 1)
    assert bound(body) < 0.01
    assert bound(body, 3) is None
    shapes = body.node_translation.copy()
    shapes[-1] *= 1.1
    for other in (
        body.replace(node_translation=shapes),
        body.replace(stiffness=1.1 * body.stiffness),
        body.replace(node_mass=np.linspace(1.0, 4.0, n), beam=None),
        link(modes="free", n_modes=3),
        link(n_points=5),
        outboard(1.0),
    ):
        assert bound(other) is None


@each("make", [arms()[name] for name in ("craig-bampton", "many modes", "free")])
@pytest.mark.filterwarnings("ignore::flexarm.ModeWarning")
def test_what_is_known_of_links_is_what_would_be_computed(make: Any) -> None:
    """Constants of driven shapes without those of the modes, ranks of strains."""
    for body in make().bodies:
        if body.n_modes and body.integrals is None:
            count, rows = body._own_sums.driven
            driven = body._own_integrals.driven
            assert count == (0 if driven is None else len(driven.second))
            assert driven is None or rows.tobytes() == driven.pack().tobytes()
        if body.beam is not None:
            again = body.beam.replace()
            assert "shape_counts" not in again.__dict__
            assert body.beam.shape_counts == again.shape_counts


def test_sums_that_overflow_are_refused() -> None:
    """Those that C sums itself, too."""
    arrays = list(link()._own_sums._arrays)
    arrays[4] = 1e160 * arrays[4]  # rotations of nodes with inertia
    for name in ("integrals", "driven"):
        with pytest.raises(fa.ModelError, match="expected finite numbers"):
            getattr(NodeSums(*arrays), name)


def test_bodies_that_name_no_joint_share_one() -> None:
    assert link().joint is outboard(1.0).replace(joint=link().joint).joint
    assert fa.RigidBody("a").joint is fa.RigidBody("b").joint == fa.Joint()
    arm = fa.Arm([link("first"), link("last")])
    assert arm.replace(bodies=(arm.bodies[0].replace(joint=fa.Joint()), arm.bodies[1]))


# replacing


def test_untouched_bodies_keep_what_was_made_of_them() -> None:
    arm = fa.Arm([link("link", joint=fa.Joint(axis=(0, 1, 0))), outboard(1.0)])
    first = arm.bodies[0]
    made = {name: first.__dict__[name] for name in ("_own_sums", "_kept")}
    changed = arm.replace(bodies=(first, outboard(2.0, (0.1, 0.0, 0.0))))
    assert changed.bodies[0] is first
    assert all(first.__dict__[name] is x for name, x in made.items())
    anew = fa.Arm(
        [link("link", joint=fa.Joint(axis=(0, 1, 0))), changed.bodies[1].replace()]
    )
    assert_same_arrays(changed, anew)
    # fidelity, motors and integrals are of the arm, not of the body
    for options in ({"fidelity": "ruthless"}, {"fidelity": "linear"}, {}):
        assert_same_arrays(
            arm.replace(**options), pickle.loads(pickle.dumps(arm)).replace(**options)
        )
    drive = fa.Drive(stiffness=1e3, stator_mass=0.3, rotor_mass=0.1, rotor_inertia=1e-3)
    on = outboard(1.0).replace(joint=fa.Joint(parent="link", drive=drive))
    heavier = fa.Arm([outboard(4.0).replace(name="link", joint=fa.Joint()), on])
    light = fa.Arm([heavier.bodies[0], on.replace(joint=fa.Joint(parent="link"))])
    assert pack(heavier).modal[0] == pytest.approx(4.3)
    assert not pack(light).modal.size


def test_bodies_without_some_masses_have_kept_nothing_of_them() -> None:
    arm = fa.Arm([link("link", **PAYLOAD), outboard(1.0)], check_units=False)
    light = fa.reference.motors.expanded(arm).bodies[0]
    bare = link("link")
    assert light.mass == pytest.approx(bare.mass, rel=1e-14)
    G = bare.modal_mass()
    assert_allclose(light.modal_mass(), G, rtol=0, atol=1e-14 * np.abs(G).max())
    assert arm.bodies[0].mass > 1.5 * bare.mass


def test_arrays_of_bodies_are_read_only() -> None:
    for body in (link(), outboard(1.0)):
        for name in ("mass", "com", "inertia", "position", "translation", "rotation"):
            with pytest.raises(ValueError, match="read-only"):
                getattr(body, f"node_{name}")[...] = 0.0
    mass = link().modal_mass()
    mass[:] = 0.0  # a copy
    assert link().modal_mass().any()


# the extension


def test_gufuncs_are_made_once_and_only_those_of_the_arm() -> None:
    model = fa.library.pendulum().kernels
    assert model.forward_dynamics is model.forward_dynamics
    with pytest.raises(AttributeError, match="constraint"):
        _ = model.constraint_positions
    assert not hasattr(model, "no_kernel")


def test_copies_of_finite_arrays() -> None:
    x = np.arange(6.0).reshape(2, 3)
    copy = _core.finite_copy(x.T, (None, 2))
    assert copy is not None and copy.base is None and not copy.flags.writeable
    assert (copy == x.T).all() and copy.flags.f_contiguous
    whole = _core.finite_copy((1, 2.5, -0.0), (3,))
    assert whole is not None and whole.tobytes() == np.array([1, 2.5, -0.0]).tobytes()
    for value, shape in (
        (x, (3, 2)),
        (x, (6,)),
        (x, (2, 3, None)),
        (x, (2, 10**30)),
        (x.astype(int), (2, 3)),
        (x.astype(">f8"), (2, 3)),
        (np.ma.masked_array(x), (2, 3)),
        (x * np.nan, (2, 3)),
        ([1.0], (1,)),
        ((1.0, True), (2,)),
        ((10**400,), (1,)),
        ((np.inf,), (1,)),
        (((1.0,),), (1,)),
        (1.0, ()),
        (None, ()),
    ):
        assert _core.finite_copy(value, shape) is None


# imports

# rooms and files without which no arm can be made
AT_IMPORT = {
    "_build",
    "_calls",
    "_core",
    "_support",
    "_version",
    "arm",
    "bodies",
    "errors",
    "kinematics",
    "mode_accuracy",
    "methods",
    "model",
    "se3",
}


def test_import_loads_no_more_than_an_arm_needs() -> None:
    code = """
import json, sys
import dataclasses, threading, numpy, numpy.typing
before = set(sys.modules)
import flexarm
print(json.dumps(sorted(set(sys.modules) - before)))
"""
    run = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        check=True,
        text=True,
    )
    loaded = json.loads(run.stdout)
    own = {x.split(".")[1] for x in loaded if x.startswith("flexarm.")}
    assert own == AT_IMPORT
    others = {x.split(".")[0] for x in loaded} - {"flexarm"}
    assert {x for x in others if not x.startswith("_")} <= {"bisect", "decimal"}


def test_names_that_load_later_are_those_that_type_checkers_see() -> None:
    tree = ast.parse(Path(fa.__file__).read_text())
    seen = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            for line in node.body:
                assert isinstance(line, ast.ImportFrom)
                seen[line.module or ""] = tuple(x.name for x in line.names)
    assert seen == fa._LATER
    assert {name for names in seen.values() for name in names} < set(fa.__all__)
    for module, names in seen.items():
        for name in names:
            found = getattr(fa, name)  # loads the module
            owner = sys.modules[f"flexarm.{module}"] if module else fa
            assert found is getattr(owner, name)


def test_methods_that_load_later_are_the_functions() -> None:
    for name in ("linearize", "equilibrium", "natural_frequencies", "mass_matrix"):
        assert getattr(fa.Arm, name) is getattr(fa, name)
        assert vars(fa.Arm)[name] is getattr(fa, name)
        assert getattr(stacks.ArmStack, name) is getattr(fa, name)
    arm = fa.library.pendulum()
    assert arm.linearize.__self__ is arm
