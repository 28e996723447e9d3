"""One call with one state, as a control loop in Python makes it.

    python3 -m pytest tests/bench/test_bench_calls.py

Beside `numpy.add` of two arrays of the same length, which is the least that a call of
NumPy costs on the machine, and beside the same calls of Pinocchio (``pin``) where it is
installed.  Pinocchio writes into its `data` and takes no part in how a result is made;
flexarm returns a new array, or fills ``out=``.  A state differs from call to call in
neither: what is measured is the call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from races import Contender, Contest

import flexarm as fa

ARMS: dict[str, Callable[[], fa.Arm]] = {
    "pendulum": fa.library.pendulum,
    "two links": lambda: fa.library.planar_chain(2),
    "iiwa14": fa.library.iiwa14,
    "de_luca_siciliano": fa.library.de_luca_siciliano,
}


def calls(arm: fa.Arm, *state: Any) -> dict[str, Callable[[], Any]]:
    """The main functions at one state (q, qd, tau)."""
    q, qd, tau = state
    out = np.empty(arm.nv)
    tip = arm.node_names[arm.tip_node]
    return {
        "forward_dynamics": lambda: fa.forward_dynamics(arm, q, qd, tau),
        "forward_dynamics, out=": lambda: fa.forward_dynamics(arm, q, qd, tau, out=out),
        "inverse_dynamics": lambda: fa.inverse_dynamics(arm, q, qd, tau),
        "mass_matrix": lambda: fa.mass_matrix(arm, q),
        "tip_pose": lambda: fa.tip_pose(arm, q),
        "jacobian": lambda: fa.jacobian(arm, q),
        "jacobian, by name": lambda: fa.jacobian(arm, q, tip),
        "jacobian, base": lambda: fa.jacobian(arm, q, frame="base"),
        "gravity_forces": lambda: fa.gravity_forces(arm, q),
        "derivatives of inverse dynamics": lambda: fa.inverse_dynamics_derivatives(
            arm, q, qd, tau
        ),
        "energy": lambda: fa.energy(arm, q, qd),
    }


def pinocchio_calls(arm: fa.Arm, *state: Any) -> dict[str, Callable[[], Any]]:
    """The same in Pinocchio, of rigid arms where it is installed."""
    if arm.nv > arm.nu:
        return {}
    try:
        import pinocchio as pin
        from pinocchio_models import to_pinocchio
    except ImportError:
        return {}
    other = to_pinocchio(arm)
    model, data = other.model, other.data
    frame = other.frames[arm.tip_node]
    q, (qd, tau) = state[0][other.positions], (x[other.order] for x in state[1:])
    return {
        "forward_dynamics": lambda: pin.aba(model, data, q, qd, tau),
        "inverse_dynamics": lambda: pin.rnea(model, data, q, qd, tau),
        "mass_matrix": lambda: pin.crba(model, data, q),
        "jacobian": lambda: pin.computeFrameJacobian(model, data, q, frame),
        "jacobian, base": lambda: pin.computeFrameJacobian(
            model, data, q, frame, pin.LOCAL_WORLD_ALIGNED
        ),
        "gravity_forces": lambda: pin.computeGeneralizedGravity(model, data, q),
        "derivatives of inverse dynamics": lambda: pin.computeRNEADerivatives(
            model, data, q, qd, tau
        ),
        "energy": lambda: (
            pin.computeKineticEnergy(model, data, q, qd)
            + pin.computePotentialEnergy(model, data, q)
        ),
    }


@pytest.mark.parametrize("name", ARMS)
@pytest.mark.parametrize(
    "function", calls(fa.library.pendulum(), *np.zeros((3, 1))).keys()
)
def test_single_call(contest: Contest, name: str, function: str) -> None:
    arm = ARMS[name]()
    rng = np.random.default_rng(4)
    state = rng.normal(size=(3, arm.nv)) * 0.1
    contenders = [
        Contender("flexarm", calls(arm, *state)[function]),
        Contender("numpy.add", lambda a=state[0], b=state[1]: np.add(a, b)),
    ]
    same = pinocchio_calls(arm, *state).get(function)
    if same is not None:
        contenders.append(Contender("Pinocchio", same))
    contest(f"{function}, {name}, one call", contenders)


@pytest.mark.parametrize("name", ARMS)
def test_way_of_numpy(contest: Contest, name: str) -> None:
    """Gain of the quick way: a keyword leaves the same call to NumPy's iterator."""
    arm = ARMS[name]()
    state = np.random.default_rng(4).normal(size=(3, arm.nv)) * 0.1
    gufunc = arm.kernels.forward_dynamics
    slow = gufunc(*state, casting="same_kind")
    assert (gufunc(*state) == slow).all()
    contest(
        f"gufunc of forward dynamics, {name}, one call",
        [
            Contender("quick", lambda: gufunc(*state)),
            Contender(
                "by NumPy's iterator", lambda: gufunc(*state, casting="same_kind")
            ),
        ],
    )
