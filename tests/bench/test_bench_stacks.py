"""Sweeps: states of many arms beside the same states of one arm.

A sweep of payloads and states may cost at most 1.5 times the same states with one arm,
whichever of arm and state varies fastest in memory, and so may trajectories.
"""

from __future__ import annotations

import numpy as np
import pytest
from chains import spatial_chain, states
from numpy.testing import assert_allclose
from races import SMOKE, Contender, Contest

import flexarm as fa

ARMS, STATES = (8, 12) if SMOKE else (100, 100)

CHAINS = {
    "iiwa14": fa.library.iiwa14,
    "7 links x 0 modes": lambda: spatial_chain(7, 0),
    "2 links x 2 modes": lambda: spatial_chain(2, 2),
    "2 links x 4 modes": lambda: spatial_chain(2, 4),
    "7 links x 4 modes": lambda: spatial_chain(7, 4),
    "2 links x 6 modes": lambda: spatial_chain(2, 6),  # of no straight kind
}


def with_payload(arm: fa.Arm, mass: float) -> fa.Arm:
    """The arm with a mass fixed to its tip."""
    last = arm.bodies[-1]
    on = fa.Joint("fixed", parent=last.name, node=last.node_names[-1])
    payload = fa.RigidBody("payload", on, mass=mass, com=(0.02, 0.0, 0.01))
    changed: fa.Arm = arm.replace(bodies=[*arm.bodies, payload])
    return changed


def longer(arm: fa.Arm, scale: float) -> fa.Arm:
    """The arm with all of its joints further out: other constants in every body."""
    bodies = [
        body.replace(
            joint=body.joint.replace(position=scale * body.joint.position),
            **(
                {
                    "node_mass": scale * body.node_mass,
                    "stiffness": body.stiffness / scale,
                }
                if body.n_modes
                else {"mass": scale * body.mass, "inertia": scale * body.inertia}
            ),
        )
        for body in arm.bodies
    ]
    changed: fa.Arm = arm.replace(bodies=bodies)
    return changed


@pytest.mark.parametrize("kind", ["forward", "inverse"])
@pytest.mark.parametrize("name", CHAINS)
def test_sweep(contest: Contest, name: str, kind: str) -> None:
    arm = CHAINS[name]()
    loads = np.linspace(0.1, 5.0, ARMS)
    sweep = fa.stack([with_payload(arm, mass) for mass in loads])
    lengths = fa.stack([longer(sweep[0], 1.0 + 0.01 * i) for i in range(ARMS)])
    function = getattr(fa, f"{kind}_dynamics")
    one = sweep[0]
    batch = [x.reshape(ARMS, STATES, -1) for x in states(one, ARMS * STATES)]
    few = [x[0] for x in batch]
    each = [x[:, 0] for x in batch]
    n = ARMS * STATES
    expected = function(sweep[:, None], *batch)
    got = [function(sweep[i], *(x[i] for x in batch)) for i in range(3)]
    assert_allclose(expected[:3], got, rtol=1e-9, atol=1e-9)
    # copies: NumPy goes through views in the order of memory
    turned = [np.ascontiguousarray(np.swapaxes(x, 0, 1)) for x in batch]
    contest(
        f"{kind} dynamics of {name}",
        [
            Contender("one arm", lambda: function(one, *batch), n),
            Contender("sweep", lambda: function(sweep[:, None], *few), n),
            Contender("arms fastest", lambda: function(sweep, *turned), n),
            Contender("one state each", lambda: function(sweep, *each), ARMS),
            Contender("lengths", lambda: function(lengths[:, None], *batch), n),
            Contender("lengths, arms fastest", lambda: function(lengths, *turned), n),
        ],
    )


@pytest.mark.parametrize("method", ["rk4", "ROS34PW2", "newmark"])
def test_trajectories(contest: Contest, method: str) -> None:
    arm = CHAINS["2 links x 2 modes"]()
    sweep = fa.stack([with_payload(arm, mass) for mass in np.linspace(0.1, 5.0, ARMS)])
    one = sweep[0]
    q0, qd0 = np.zeros((ARMS, one.nq)), np.zeros(one.nv)
    q0[:, : one.nu] = np.random.default_rng(0).normal(size=(ARMS, one.nu))
    t = np.linspace(0.0, 0.002, 3)
    options = {"method": method, "max_step": 2e-4, "progress": False}
    steps = 10 * ARMS
    contest(
        f"{method} of 2 links x 2 modes",
        [
            Contender(
                "one arm", lambda: fa.simulate(one, q0, qd0, t, **options), steps
            ),
            Contender(
                "stack", lambda: fa.simulate(sweep, q0, qd0, t, **options), steps
            ),
        ],
    )
