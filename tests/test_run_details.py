"""Details of motions that one careless line would change: tolerances, events, units."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import flexarm as fa
from flexarm.simulation.trajectory import position_units


@pytest.mark.parametrize("method", ["Rodas4P", "RK45"])
def test_rtol_is_relative_and_atol_absolute(method: str) -> None:
    """A swing of 1 mm with 0.1 mm allowed, and with 1e-4 of itself."""
    joint = fa.Joint("prismatic", stiffness=10.0)
    arm = fa.Arm([fa.RigidBody("slide", joint, mass=1.0)], gravity=(0, 0, 0))
    t = np.linspace(0.0, 6.0, 3)

    def miss(rtol: float, atol: float) -> float:
        options = {"method": method, "rtol": rtol, "atol": atol, "progress": False}
        run = fa.simulate(arm, [1e-3], [0.0], t, **options)
        return float(np.abs(run.q[:, 0] - 1e-3 * np.cos(np.sqrt(10.0) * t)).max())

    assert miss(rtol=1e-9, atol=1e-4) > 10.0 * miss(rtol=1e-4, atol=1e-9)


def test_a_motion_ends_at_a_sample() -> None:
    """An event at the time of a sample: the sample belongs to the motion."""
    slide = fa.RigidBody("slide", fa.Joint("prismatic"), mass=1.0)
    arm = fa.Arm([slide], gravity=(0, 0, 0))
    t = np.linspace(0.0, 1.0, 9)
    stop = fa.events.joint_reaches(arm, 0, 0.5, terminal=True)
    run = fa.simulate(arm, [0.0], [1.0], t, events=stop, progress=False)
    assert run.events[0].t == 0.5
    assert run.completed == 5
    assert_allclose(run.q[:5, 0], t[:5])
    assert np.isnan(run.q[5:]).all()


def test_motors_have_the_unit_of_their_own_joint() -> None:
    drive = fa.Drive(1e4, gear_ratio=10.0, rotor_inertia=1e-3)
    turn = fa.RigidBody("turn", fa.Joint(), mass=1.0, inertia=(1, 1, 1))
    slide = fa.RigidBody("slide", fa.Joint("prismatic", drive=drive), mass=1.0)
    assert_array_equal(position_units(fa.Arm([turn, slide])), ["rad", "m", "m"])


def test_a_coupling_may_have_a_zero() -> None:
    arm = fa.library.planar_chain(2)
    coupling = fa.Coupling({"link1": 0.0, "link2": 1.0}, constant=0.3)
    held = arm.replace(constraints=[coupling])
    assert_allclose(fa.constraint_violation(held, [0.7, 0.5]), [0.2])


def test_an_arm_falls_to_the_nearer_side() -> None:
    """Beside the upper equilibrium of a pendulum, to the side on which it is."""
    arm = fa.library.pendulum(mass=1.0, com=0.5)
    for side in (-1.0, 1.0):
        found = fa.equilibrium(arm, [0.5 * np.pi + 1e-5 * side], held=[], seek="stable")
        assert_allclose(found.q, [0.5 * np.pi + np.pi * side])
