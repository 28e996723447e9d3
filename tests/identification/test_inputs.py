"""Records of volts: forces of the actuators that depend on parameters."""

from __future__ import annotations

import numpy as np
import pytest

import flexarm as fa
from flexarm.errors import ArgumentError
from flexarm.identification import Record, Sensor, identify
from flexarm.identification._output_error import OutputError, Steps
from flexarm.identification._records import read_records
from flexarm.parameters.tangent import Arms

TRUE = np.array([2.0, 0.5])  # ohm, N m/A
T = np.linspace(0.0, 1.0, 201)
VOLTS = np.sign(np.sin(7.0 * T))[:, np.newaxis]


def motor(p):
    return fa.DCMotor(p[0], p[1], 0.01)


def make_arm(p):
    joint = fa.Joint.revolute("z", drive=motor(p).drive)
    body = fa.RigidBody("hub", joint, inertia=np.eye(3) * 0.02)
    return fa.Arm([body], gravity=(0, 0, 0))


def inputs(p, u):
    return motor(p).torque(u)


def record(outputs="joint positions"):
    """A record in volts of the arm TRUE."""
    arm = make_arm(TRUE)
    run = fa.simulate(arm, [0.0], [0.0], T, torque=inputs(TRUE, VOLTS))
    known = fa.identification.simulated_record(run, outputs=outputs, noise=1e-4, seed=1)
    return Record(T, known.y, VOLTS, [0.0], [0.0])


def test_resistance_and_torque_constant_from_volts():
    found = identify(make_arm, [1.0, 0.3], record(), inputs=inputs, sigma=1e-4)
    assert found.success
    assert (abs(found.p - TRUE) < 3.0 * found.std).all()
    assert (found.std < 0.01 * TRUE).all()


@pytest.mark.parametrize("outputs", ["joint positions", "joint accelerations"])
def test_derivatives_are_those_of_motions(outputs):
    """Central differences of whole predictions, also where accelerations show."""
    steps = Steps("linear", "rk4", None)
    sensor = Sensor(outputs, gain=1.0)
    problem = OutputError(
        Arms(make_arm), TRUE, read_records(record(sensor)), sensor, False, steps, inputs
    )
    (exact,) = problem.derivatives(TRUE, TRUE)
    for j in range(2):
        e = np.zeros(2)
        e[j] = 1e-4 * TRUE[j]
        (up,), (down,) = problem.predict(TRUE + e), problem.predict(TRUE - e)
        np.testing.assert_allclose(
            exact[..., j], (up - down) / (2.0 * e[j]), rtol=2e-6, atol=2e-6
        )


def test_refusals():
    with pytest.raises(ArgumentError, match=r"inputs is given for method 'inverse"):
        identify(make_arm, TRUE, record(), inputs=inputs, method="inverse dynamics")
    with pytest.raises(ArgumentError, match=r"has 3 forces, expected 1"):
        identify(make_arm, TRUE, record(), inputs=lambda p, u: np.tile(u, 3))

    def limited(p, u):
        return motor(p).replace(current_limit=0.3).torque(u)

    with pytest.raises(ArgumentError, match=r"limited to 0\.3 A"):
        identify(make_arm, TRUE, record(), inputs=limited)
