"""Slopes of links: their size, the error that belongs to them, and who warns of them.

Oracles: Euler's elastica as a boundary value problem, closed forms of straight beams,
loops over the nodes.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from each import each
from few_modes import planar_chain
from numpy.testing import assert_allclose
from scipy.integrate import solve_bvp
from scipy.optimize import root

import flexarm as fa
from flexarm import beams, optimize, studies
from flexarm.kinematics.slopes import (
    SLOPE_END,
    SLOPE_LIMIT,
    estimated_error,
    slope_bounds,
    slope_sentence,
)
from flexarm.statics import Equilibrium

# links of few modes on purpose
# some steps are too long for vibration here, on purpose
pytestmark = [
    pytest.mark.filterwarnings("ignore::flexarm.ModeWarning"),
    pytest.mark.filterwarnings("ignore::flexarm.AccuracyWarning"),
]

WEIGHTLESS = (0.0, 0.0, 0.0)
LOAD = {"frame": "base", "held": "joints"}


def cantilever(EI: float = 1.0, n_modes: int = 2, **options: Any) -> fa.Arm:
    """A link of 1 m and 1 kg that a hinge holds level."""
    options = {"gravity": WEIGHTLESS, **options}
    return planar_chain(1, n_modes=n_modes, bending_stiffness=EI, **options)


def pushed(arm: fa.Arm, force: Any) -> Equilibrium:
    """Equilibrium under forces at the tip, across the undeformed arm."""
    wrench = np.zeros((*np.shape(force), 6))
    wrench[..., 4] = force
    return fa.equilibrium(arm, np.zeros(arm.nq), wrench=wrench, **LOAD)


# the slope of a state


def by_loop(arm: fa.Arm, q: Any, across: Any) -> list[float]:
    """Largest slope of each body, node by node; without the twist about `across`."""
    found = []
    for k, body in enumerate(arm.bodies):
        eta = q[arm.mode_slice(k, positions=True)]
        largest = 0.0
        for node in range(body.n_nodes):
            turn = body.node_rotation[node] @ eta
            if across is not None:
                turn = turn - (turn @ across) * np.asarray(across)
            largest = max(largest, float(np.linalg.norm(turn)))
        found.append(largest)
    return found


def spatial_arm() -> fa.Arm:
    y, z = (beams.clamped_beam_modes(1.0, 1.0, EI, 2) for EI in (3.0, 4.0))
    first = beams.flexible_link(
        "first",
        length=1.0,
        mass_per_length=1.0,
        bending_y=y,
        bending_z=z,
        torsion=beams.clamped_rod_modes(1.0, 1e-3, 2.0, 2),
    )
    hub = fa.RigidBody("hub", fa.Joint(parent="first"), 1.0, (0.1, 0, 0), [0.1] * 3)
    last = first.replace(name="last", joint=fa.Joint(parent="hub", node="base"))
    return fa.Arm([first, hub, last])


def test_slope_is_that_of_the_nodes_across_their_line() -> None:
    arm = spatial_arm()
    q = np.random.default_rng(3).normal(scale=0.2, size=(4, 3, arm.nq))
    expected = [[by_loop(arm, x, (1, 0, 0)) for x in row] for row in q]
    assert_allclose(arm.largest_slope(q, by_body=True), expected, rtol=1e-13)
    largest = fa.largest_slope(arm, q)
    assert_allclose(largest, np.max(expected, axis=-1), rtol=1e-13)
    assert largest.shape == (4, 3)
    assert np.ndim(fa.largest_slope(arm, q[0, 0])) == 0
    assert fa.largest_slope(arm, q[:0]).shape == (0, 3)
    # the bound is one
    assert (slope_bounds(arm, q) >= largest.max(axis=-1)).all()


def test_closed_forms() -> None:
    arm = cantilever(n_modes=8)
    tip = pushed(arm, 0.2)
    # sine of the angle at the tip of an elastica, p = P L^2/EI: p/2 - p^3/15 + ...
    assert_allclose(tip.largest_slope, 0.2 / 2.0 - 0.2**3 / 15.0, rtol=1e-4)
    # a pinned beam relative to its chord: sin(pi x/L) of amplitude a has pi a/L
    x = np.linspace(0.0, 2.0, 9)
    shape, slope = np.zeros((2, 9, 3, 1))
    shape[:, 1, 0], slope[:, 2, 0] = (
        np.sin(np.pi * x / 2.0),
        np.pi / 2.0 * np.cos(np.pi * x / 2.0),
    )
    body = fa.FlexibleBody(
        "beam",
        node_position=np.outer(x, (1, 0, 0)),
        node_mass=np.full(9, 0.1),
        node_translation=shape,
        node_rotation=slope,
        stiffness=[5.0],
        attachment=0,
    )
    assert_allclose(
        fa.largest_slope(fa.Arm([body]), [0.3, 0.1]), np.pi * 0.05, rtol=1e-12
    )


def test_what_bends_nothing_has_no_slope() -> None:
    arm = spatial_arm()
    q = np.zeros(arm.nq)
    names = arm.coordinate_names
    for i, name in enumerate(names):
        q[i] = 3.0 * ("twist" in name or "torsion" in name or "." not in name)
    assert q.any() and fa.largest_slope(arm, q) < 1e-12
    # a spring in a hinge, of a body of one place
    spring = fa.FlexibleBody(
        "spring",
        node_position=np.zeros((1, 3)),
        node_mass=[0.0],
        node_inertia=[np.eye(3)],
        node_translation=np.zeros((1, 3, 1)),
        node_rotation=[[[0.0], [0.0], [1.0]]],
        stiffness=[8.0],
    )
    hinged = fa.Arm([spring], gravity=WEIGHTLESS)
    assert fa.largest_slope(hinged, [0.0, 2.0]) == 0.0
    assert fa.largest_slope(planar_chain(2), [3.0, 3.0]) == 0.0
    # nodes aside of the line follow a twist: it counts
    aside = np.array([[1.0, 0.0, 0.0], [1.0, 0.3, 0.0]])
    twist = np.zeros((2, 3, 1))
    twist[:, 0] = 1.0
    shift = np.cross(twist[..., 0], aside)[..., np.newaxis]
    bent = fa.FlexibleBody(
        "bracket",
        node_position=aside,
        node_mass=[1.0, 1.0],
        node_translation=shift,
        node_rotation=twist,
        stiffness=[1.0],
    )
    assert_allclose(fa.largest_slope(fa.Arm([bent]), [0.0, 0.2]), 0.2)
    # without rotations, the line to the node
    rod = fa.FlexibleBody(
        "rod",
        node_mass=[2.0],
        node_position=[[2.0, 0.0, 0.0]],
        node_translation=[[[0.0], [1.0], [0.0]]],
        stiffness=[8.0],
    )
    assert_allclose(fa.largest_slope(fa.Arm([rod]), [0.0, 0.5]), 0.25)


def test_stacks_and_wrong_arguments() -> None:
    bodies = [cantilever(EI).bodies[0].replace(beam=None) for EI in (3.0, 5.0, 3.0)]
    bodies[1] = bodies[1].replace(node_rotation=2.0 * bodies[1].node_rotation)
    arms = [fa.Arm([body]) for body in bodies]
    stack = fa.stack(arms)
    q = np.random.default_rng(0).normal(size=(5, 1, 3))
    expected = np.concatenate([fa.largest_slope(arm, q) for arm in arms], axis=1)
    assert_allclose(stack.largest_slope(q), expected, rtol=1e-15)  # sums of two
    assert_allclose(expected[:, 1], 2.0 * expected[:, 0])
    with pytest.raises(fa.ArgumentError, match=r"q has shape \(2,\), .* axis of 3"):
        fa.largest_slope(arms[0], [0.0, 0.0])
    with pytest.raises(fa.NotFiniteError, match=r"q\[1\] is nan"):
        fa.largest_slope(arms[0], [0.0, np.nan, 0.0])


# the error that belongs to a slope


def elastica(P: float, M: float, p: float) -> float:
    """Deflection of a clamped line of EI = L = 1: force and moment at the tip, load."""

    def rate(s: Any, z: Any) -> Any:
        shear = (P + p * (1.0 - s)) * np.cos(z[0])
        return np.array([z[1], -shear, np.sin(z[0])])

    def ends(a: Any, b: Any) -> Any:
        return np.array([a[0], a[2], b[1] - M])

    s = np.linspace(0.0, 1.0, 60)
    turn = min(P / 2 + M + p / 6, 1.3)
    found = solve_bvp(rate, ends, s, [turn * s, 0 * s + turn, turn * s / 2], tol=1e-7)
    assert found.success
    return float(found.y[2, -1])


def one_element(P: float, M: float, p: float, start: Any) -> Any:
    """Tip and slope at the tip of one cubic element of third order, and its slope."""
    g, w = np.polynomial.legendre.leggauss(10)
    s, w = (g + 1.0) / 2.0, w / 2.0
    shape = np.array([3 * s**2 - 2 * s**3, s**3 - s**2])
    first = np.array([6 * s - 6 * s**2, 3 * s**2 - 2 * s])
    second = np.array([6 - 12 * s, 6 * s - 2])

    def energy(x: Any) -> Any:
        sine, bend = x @ first, x @ second
        # curvature v'' / cos, cos^2 = 1 - v'^2, and its angle, to the fifth order
        curvature = bend * (1.0 + sine**2 / 2.0 + 3.0 / 8.0 * sine**4)
        b = x[1]
        angle = b * (1.0 + b**2 / 6.0 + 3.0 / 40.0 * b**4)
        work = P * x[0] + M * angle + p * (w @ (x @ shape))
        return 0.5 * w @ curvature**2 - work

    def slope(x: Any) -> Any:
        steps = 1e-30j * np.eye(2)
        return [energy(x + step).imag / 1e-30 for step in steps]

    x = root(slope, start, tol=1e-12).x
    fine = np.linspace(0.0, 1.0, 101)
    along = x @ np.array([6 * fine - 6 * fine**2, 3 * fine**2 - 2 * fine])
    return x, float(np.abs(along).max())


CASES = {"force": (1.0, 0.0, 0.0), "moment": (0.0, 1.0, 0.0), "weight": (0.0, 0.0, 1.0)}


@each("case", list(CASES))
def test_the_limit_has_the_stated_error(case: str) -> None:
    """With the strain energy of the third order, in a model that stands here."""
    ends = {"force": 3.8, "moment": 1.2, "weight": 11.0}
    x = np.zeros(2)
    for size in np.linspace(0.05, 1.0, 9) * ends[case]:
        load = size * np.array(CASES[case])
        x, slope = one_element(*load, x)
        error = abs(x[0] / elastica(*load) - 1.0)
        assert error < 0.1 * slope**2
        if slope <= SLOPE_LIMIT:
            assert error < (0.02 if case == "weight" else 1.5e-3)
    assert 0.9 < slope < SLOPE_END


def test_links_have_the_stated_error() -> None:
    arm = cantilever(n_modes=8)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fa.DeflectionWarning)
        for force in (0.5, 1.0, 2.0):
            rest = pushed(arm, force)
            tip = float(fa.tip_pose(arm, rest.q)[1, 3])
            error = abs(tip / elastica(force, 0.0, 0.0) - 1.0)
            slope = float(rest.largest_slope)
            assert error < estimated_error(arm, 0, slope) < 0.11 * slope**2


def test_links_without_stiffening_have_a_larger_error() -> None:
    arm = cantilever(n_modes=8, geometric_stiffening=False)
    for force in (0.2, 0.5, 0.95):
        rest = pushed(arm, force)
        tip = float(fa.tip_pose(arm, rest.q)[1, 3])
        error = tip / elastica(force, 0.0, 0.0) - 1.0
        # the linear one, P L^3/(3 EI)
        estimate = estimated_error(arm, 0, float(rest.largest_slope))
        assert 0.8 * estimate < error < estimate
    linear = cantilever().replace(fidelity="linear")
    assert estimated_error(linear, 0, 0.5) == pytest.approx(0.125)


def test_the_sentence_names_the_pieces() -> None:
    arm = cantilever()
    for slope, n in ((0.6, 3), (1.0, 4), (1.4, 6), (50.0, 16)):
        text = slope_sentence(arm, 0, slope)
        assert f"segments={n}" in text and "'link1'" in text
        assert ("no meaning" in text) == (slope > SLOPE_END)
        assert len(text) < 300
    bare = arm.replace(bodies=(arm.bodies[0].replace(beam=None),))
    assert "make 3 bodies of it, joined by fixed joints" in slope_sentence(bare, 0, 0.6)


# statics


def test_equilibria_beyond_the_model_are_no_success() -> None:
    """P L^2/EI = 10: the exact deflection is 0.81 L."""
    arm = cantilever()
    with pytest.warns(fa.DeflectionWarning, match="segments=") as caught:
        rest = pushed(arm, 10.0)
    assert caught[0].filename == __file__
    assert not rest.success and not rest.stable and np.isnan(rest.lowest_square)
    assert rest.largest_slope > SLOPE_END
    assert "outside of the model's range" in rest.message
    assert "stable" not in rest.message and "segments=" in rest.message
    with pytest.raises(fa.ConvergenceError, match="segments=") as refused:
        rest.check(stable=False)
    assert refused.value.result is rest  # type: ignore[attr-defined]
    with (
        pytest.warns(fa.DeflectionWarning),
        pytest.raises(fa.ConvergenceError, match="segments="),
    ):
        fa.deflection(arm, np.zeros(3), wrench=[0, 0, 0, 0, 10.0, 0], frame="base")


def test_equilibria_of_a_batch_are_judged_one_by_one() -> None:
    arm = cantilever(geometric_stiffening=False)  # slopes of P/2
    with pytest.warns(fa.DeflectionWarning, match="of 2 of 3 states") as caught:
        rest = pushed(arm, [0.2, 1.2, 4.0])
    assert len(caught) == 1
    assert list(rest.success) == [True, True, False]
    assert list(rest.stable) == [True, True, False]
    assert_allclose(rest.largest_slope, [0.1, 0.6, 2.0], rtol=0.04)
    assert "not found, the first at index (2,)" in rest.message
    # within the limit of success, the message says so too
    with pytest.warns(fa.DeflectionWarning, match="above 0.5, with an error of up to"):
        one = pushed(arm, 1.2)
    assert one.success and one.stable
    assert one.message.startswith("a stable equilibrium: link 'link1' bends to a slope")
    quiet = pushed(arm, [0.2, 0.9])
    assert quiet.message == "all equilibria are found and stable"


def test_workspace_maps_have_no_numbers_beyond_the_model() -> None:
    arm = cantilever(EI=0.6, gravity=(0, -9.81, 0))  # a slope of 1.1
    joints = np.array([[0.0], [-np.pi / 2]])  # level, hanging
    q = np.concatenate([joints, np.zeros((2, 2))], axis=1)
    with pytest.warns(fa.DeflectionWarning):
        found = fa.workspace_map(arm, q)
    assert list(found.success) == [False, True]
    assert np.isnan(found.sag[0]) and found.sag[1] < 1e-9


def test_functions_at_a_given_state_warn() -> None:
    arm = cantilever()
    bent = np.array([0.0, 0.4, 0.0])
    slope = float(fa.largest_slope(arm, bent))
    assert 0.5 < slope < 1.0
    given = {
        "linearize": lambda q: fa.linearize(arm, q),
        "natural_frequencies": lambda q: fa.natural_frequencies(arm, q),
        "vibration_modes": lambda q: fa.vibration_modes(arm, q),
        "complex_modes": lambda q: fa.complex_modes(arm, q),
        "static_compliance": lambda q: fa.Arm.static_compliance(arm, q),
    }
    for name, call in given.items():
        with pytest.warns(fa.DeflectionWarning, match=f"{slope:.3g}") as caught:
            call(bent)
        assert len(caught) == 1, name
        call(0.5 * bent)
        # raw functions do not
    fa.forward_dynamics(arm, bent, np.zeros(3), np.zeros(3))
    stack = fa.stack([arm, arm])
    with pytest.warns(fa.DeflectionWarning):
        fa.linearize(stack, bent)


def test_inverse_kinematics_with_deflection_warns() -> None:
    arm = cantilever(EI=2.2, gravity=(0, -9.81, 0))  # a slope of 0.62
    rest_q = [0.0, 0.0, 0.0]
    with pytest.warns(fa.DeflectionWarning, match="above 0.5"):
        rest = fa.equilibrium(arm, rest_q)
    tip = fa.tip_pose(arm, rest.q)[:3, 3]
    with pytest.warns(fa.DeflectionWarning, match="above 0.5"):
        found = fa.inverse_kinematics(
            arm, tip, rest_q, deflection=True, weights=[0, 0, 0, 1, 1, 0]
        )
    assert found.success


# motions

T = np.linspace(0.0, 2.0, 801)


def pendulum(EI: float, **options: Any) -> fa.Arm:
    return cantilever(EI, gravity=(0, -9.81, 0), **options)


def test_a_soft_pendulum_is_no_success() -> None:
    """A rope almost: the tip of the model ends far away."""
    arm = pendulum(0.3)
    with pytest.warns(fa.DeflectionWarning, match="segments=") as caught:
        run = fa.simulate(arm, np.zeros(3), np.zeros(3), T)
    assert len(caught) == 1 and caught[0].filename == __file__
    assert not run.success and int(run.completed) == len(T)
    assert "segments=" in run.message and "no meaning" in run.message
    slopes = fa.largest_slope(arm, run.q)
    assert_allclose(run.largest_slope, slopes, rtol=0.0)
    assert slopes.max() > SLOPE_END


def test_a_stiff_pendulum_is_not_doubted() -> None:
    run = fa.simulate(pendulum(1.0), np.zeros(3), np.zeros(3), T)
    assert run.success and run.message == "reached the last time"
    assert 0.3 < run.largest_slope.max() < SLOPE_LIMIT


def test_trajectories_are_judged_one_by_one() -> None:
    stack = fa.stack([pendulum(EI) for EI in (100.0, 0.3, 0.7, 3.0)])
    with pytest.warns(fa.DeflectionWarning, match="in 2 of 4 trajectories") as caught:
        run = fa.simulate(stack, np.zeros(3), np.zeros(3), T, method="rk4")
    assert len(caught) == 1 and not run.success
    largest = run.largest_slope.max(axis=-1)
    assert run.largest_slope.shape == (4, len(T))
    assert list(largest > SLOPE_LIMIT) == [False, True, True, False]
    # a slope between both limits is a success with a warning
    with pytest.warns(fa.DeflectionWarning, match="up to"):
        one = fa.simulate(stack.arms[2], np.zeros(3), np.zeros(3), T)
    assert one.success and "link 'link1' bends to a slope of" in one.message
    # the time is that of the largest slope
    k = int(one.largest_slope.argmax())
    assert f"at t = {one.t[k]:.6g} s" in one.message


def test_closed_loops_warn_too() -> None:
    arm = pendulum(0.3)

    def law(t: float, q: Any, qd: Any) -> Any:
        return np.zeros(1)

    with pytest.warns(fa.DeflectionWarning, match="segments="):
        run = fa.control.simulate_loop(
            arm, law, np.zeros(3), np.zeros(3), T[:401], sample_time=0.1
        )
    assert not run.success and run.largest_slope.max() > SLOPE_END


def test_a_step_that_is_too_long_is_blamed_alone() -> None:
    arm = planar_chain(2, n_modes=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for n in (3, 6, 30):
            t = np.linspace(0.0, 0.035 * (n - 1), n)
            run = fa.simulate(arm, np.zeros(6), np.zeros(6), t, max_step=0.035)
            assert not run.success
            assert "stability limit" in run.message and "segments" not in run.message


def test_energy_of_a_passive_arm_does_not_grow() -> None:
    # a stiff joint spring and a step just beyond stability: small, but from nothing
    arm = fa.Arm(
        [
            fa.RigidBody(
                "rod",
                fa.Joint("revolute", (0, 0, 1), stiffness=100.0),
                mass=1.0,
                com=(0.5, 0, 0),
                inertia=(0, 0.1, 0.1),
            )
        ],
        gravity=WEIGHTLESS,
    )
    omega = np.sqrt(100.0 / 0.35)
    t = 2.86 / omega * np.arange(60)
    with pytest.warns(fa.AccuracyWarning, match="look unstable"):
        run = fa.simulate(arm, [1e-3], [0.0], t, max_step=t[1])
    assert np.abs(run.q).max() < 10.0  # no motion without bound
    assert not run.success
    assert "without forces the energy grew by" in run.message
    good = fa.simulate(arm, [1e-3], [0.0], t, max_step=0.3 / omega)
    assert good.success and good.message == "reached the last time"
    # forces may add energy
    push = fa.simulate(
        arm, [0.0], [0.0], t, torque=np.ones((60, 1)), max_step=0.3 / omega
    )
    assert push.success
    still = fa.simulate(arm, [0.0], [0.0], t)
    assert still.success


def test_a_rigid_arm_that_loses_energy_to_long_steps_is_no_success() -> None:
    # samples for a plot, 0.25 s apart: angles wrong by 0.4 rad, bounded and smooth
    arm, rest = planar_chain(2), np.zeros(2)
    with pytest.warns(fa.AccuracyWarning, match="error of 26 % of the motion"):
        run = fa.simulate(arm, rest, rest, np.linspace(0.0, 1.0, 5), max_step=0.25)
    assert not run.success
    assert "without forces the energy fell by 12.8 J" in run.message
    exact = fa.simulate(arm, rest, rest, np.linspace(0.0, 1.0, 5), max_step=0.01)
    assert exact.success and np.abs(run.q - exact.q).max() > 0.3
    # friction takes energy, and a longer step of a damped arm is no loss
    joint = fa.Joint(damping=5.0)
    rod = fa.RigidBody("rod", joint, mass=1.0, com=(0.5, 0, 0), inertia=(0, 0.1, 0.1))
    damped = fa.Arm([rod], gravity=(0, -9.81, 0))
    assert fa.simulate(damped, [0.0], [0.0], np.linspace(0.0, 1.0, 11)).success


@pytest.mark.filterwarnings("ignore::flexarm.ConvergenceWarning")
def test_optimal_motions_beyond_the_model_are_no_success() -> None:
    arm = cantilever(2.0, n_modes=1)
    given: dict[str, Any] = {"search": {"intervals": 16}, "check": False}
    calm = optimize.trajectory(arm, [0.0], [1.0], duration=3.0, **given)
    assert calm.success and calm.largest_slope.max() < SLOPE_LIMIT
    assert "slope" not in calm.message
    for duration in (0.8, 1.0):
        with pytest.warns(fa.DeflectionWarning, match="segments="):
            motion = optimize.trajectory(arm, [0.0], [1.0], duration=duration, **given)
        assert motion.largest_slope.shape == motion.t.shape
        largest = motion.largest_slope.max()
        assert largest > SLOPE_LIMIT and "segments=" in motion.message
        assert motion.success == (largest <= SLOPE_END)
        assert motion.status == ("solved" if motion.success else "failed")


def deflected(force: float) -> dict[str, float]:
    arm = cantilever(geometric_stiffening=False)
    rest = pushed(arm, force)
    return {"y": float(fa.tip_pose(arm, rest.q)[1, 3])}


def silent(force: float) -> dict[str, float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fa.DeflectionWarning)
        return deflected(force)


def test_studies_are_silent_where_their_function_is() -> None:
    ds = studies.sweep(silent, grid={"force": [0.1, 4.0]})
    assert not ds.message.values.any()


@pytest.mark.parametrize("on", ["serial", "threads"])
def test_studies_warn_once(on: str, tmp_path: Any) -> None:
    path = tmp_path / "study.nc"
    given: dict[str, Any] = {"grid": {"force": [0.1, 1.2, 4.0]}, "path": path}
    pattern = "at 2 of 3 points, the first at force=1.2: link 'link1' bends"
    for _ in range(2):  # the second time from the file
        with pytest.warns(fa.DeflectionWarning, match=pattern) as caught:
            ds = studies.sweep(deflected, on=on, workers=2, **given)
        assert len(caught) == 1
        messages = ds.message.values
        assert messages[0] == "" and "no meaning" in messages[2]
        assert not ds.status.values.any()
