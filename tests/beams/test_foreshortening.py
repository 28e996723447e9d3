"""Geometric stiffening: what foreshortening of bent links does to their motion.

Benchmarks: frequencies of a beam on a hub that turns (A. D. Wright et al., J. Applied
Mechanics 49, 1982, and converged finite elements), the spin-up of Simo and Vu-Quoc with
the motion of Kane, Ryan and Banerjee.  Oracles: the Lagrangian over the nodes, with the
shift and stretch that flexarm takes for their foreshortening and with the nodes as they
move, and an equation of motion of the beam alone.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from refusals import model_refused
from scipy.integrate import solve_ivp
from scipy.linalg import eigh
from trees import conservative, random_state

import flexarm as fa
from flexarm import beams
from flexarm.beams._single import free_beam_modes, pinned_beam_modes
from flexarm.library.spinning_beam import HUB_INERTIA
from flexarm.reference import lagrangian, twin

# modes of the tests are chosen for other purposes
pytestmark = pytest.mark.filterwarnings("ignore::flexarm.ModeWarning")

CONDITIONS = {
    "clamped": beams.clamped_beam_modes,
    "free": free_beam_modes,
    "pinned": pinned_beam_modes,
}

# eta = Omega L^2 sqrt(m/EI): flap 1, 2, 3 and lead-lag 1, 2 of a beam on a point hub
TURNING = {
    0.0: ((3.516015, 22.034492, 61.697214), (3.516015, 22.034492)),
    2.0: ((4.137320, 22.614922, 62.273184), (3.621797, 22.526311)),
    6.0: ((7.360373, 26.809082, 66.683914), (4.263225, 26.129042)),
    12.0: ((13.170150, 37.603112, 79.614478), (5.427049, 35.636976)),
}


@pytest.mark.parametrize("condition", CONDITIONS)
def test_foreshortening_of_a_beam_is_the_integral_of_its_slopes(condition):
    """To 1e-13 at every node, and zero at the base."""
    modes = CONDITIONS[condition](0.8, 1.3, 7.0, 4)
    size = {"length": 0.8, "mass_per_length": 1.3}
    link = beams.flexible_link("a", **size, bending_y=modes, bending_z=modes)
    kappa = link.node_foreshortening
    assert not kappa[0].any() and not kappa[:, 1:].any()
    assert not kappa[:, 0, :4, 4:].any()
    assert_array_equal(kappa[:, 0, :4, :4], kappa[:, 0, 4:, 4:])
    # twenty pieces of ten Gauss points each
    point, weight = np.polynomial.legendre.leggauss(10)
    at = (np.arange(20)[:, None] + 0.5 * (point + 1.0)).ravel() / 20.0
    weight = np.tile(weight, 20) / 40.0
    for node in (3, link.n_nodes - 1):
        x = link.node_position[node, 0]
        for r, s in ((0, 0), (0, 3), (2, 1), (3, 3)):
            slope = modes.slope(x * at)
            exact = -x * (slope[r] * slope[s]) @ weight
            scale = abs(kappa[node, 0, 3, 3])
            assert abs(kappa[node, 0, r, s] - exact) < 1e-13 * scale
    plain = beams.flexible_link(
        "a", **size, bending_y=modes, geometric_stiffening=False
    )
    assert plain.node_foreshortening is None


def about_steady_rotation(n, omega, fidelity="full"):
    """Squares of flap and lead-lag frequencies of a unit beam on a hub that turns.

    The joint turns evenly, so the rows of the modes are an equation of their own; its
    stiffness is the derivative of their forces, exact for the linear fidelity.
    """
    modes = beams.clamped_beam_modes(1.0, 1.0, 1.0, n)
    size = {"length": 1.0, "mass_per_length": 1.0}
    link = beams.flexible_link("b", **size, bending_y=modes, bending_z=modes)
    arm = fa.Arm([link], gravity=(0, 0, 0), fidelity=fidelity)
    qd = np.array([omega, *np.zeros(2 * n)])
    M = fa.mass_matrix(arm, np.zeros(arm.nv))[1:, 1:]
    K = np.zeros((2 * n, 2 * n))
    for k in range(2 * n):
        if fidelity == "linear":
            q = np.eye(arm.nv)[1 + k]
            K[:, k] = fa.inverse_dynamics(arm, q, qd, 0.0 * qd)[1:]
        else:
            q = 1e-40j * np.eye(arm.nv)[1 + k]
            K[:, k] = twin.inverse_dynamics(arm, q, qd, 0.0 * qd)[1:].imag / 1e-40
    assert_allclose(K, K.T, rtol=0, atol=1e-12 * np.abs(K).max())
    assert_allclose(K[:n, n:], 0.0, rtol=0, atol=1e-13 * np.abs(K).max())
    # motions along y are in the plane of rotation about z
    return tuple(
        eigh(K[at, at], M[at, at], eigvals_only=True)
        for at in (slice(n, None), slice(n))
    )


@pytest.mark.parametrize("fidelity", ["full", "linear"])
@pytest.mark.parametrize("omega", TURNING)
def test_frequencies_of_a_rotating_beam(omega, fidelity):
    """Ten modes: flap and lead-lag, lag^2 = flap^2 - omega^2 mode by mode."""
    flap, lag = about_steady_rotation(10, omega, fidelity)
    printed = TURNING[omega]
    assert_allclose(np.sqrt(flap[:3]), printed[0], rtol=4e-5)
    assert_allclose(np.sqrt(lag[:2]), printed[1], rtol=1.4e-4)
    assert_allclose(lag, flap - omega**2, rtol=0, atol=1e-13 * flap[-1])


def test_frequencies_of_a_rotating_beam_converge_from_above():
    exact = np.array(TURNING[12.0][0][:2])
    found = [np.sqrt(about_steady_rotation(n, 12.0)[0][:2]) for n in (2, 3, 5, 10, 15)]
    errors = np.array(found) / exact - 1.0
    # one more mode reaches the next wave, so errors fall about as n^-4
    assert (np.diff(errors, axis=0) < 0.0).all() and (errors > 0.0).all()
    assert_allclose(errors[0], [8.3e-3, 4.3e-3], rtol=0.02)
    assert_allclose(errors[-1], [3.5e-6, 4.5e-6], rtol=0.05)


# spin-up by a geometrically exact beam (Simo and Reissner), converged, in m
EXACT_DEFLECTION = 0.57385
# modes, deflection and foreshortening of assumed modes, T cut after second order, in m
SPIN_UP = [
    (1, 0.57826, 0.01934),
    (2, 0.57355, 0.01880),
    (3, 0.57444, 0.01885),
    (4, 0.57434, 0.01884),
]


def spun_up(n_modes, fidelity="full", method="rk4", end=7.5, **options):
    """Largest tip deflection and foreshortening of the beam of Simo and Vu-Quoc."""
    arm = fa.library.spin_up_beam(n_modes, **options).replace(fidelity=fidelity)
    t = np.linspace(0.0, end, round(400 * end) + 1)  # largest at 6.76 s
    angle, _, torque = fa.library.spin_up(t)
    still = np.zeros(arm.nv)
    run = fa.simulate(arm, still, still, t, torque=torque[:, None], method=method)
    assert run.completed == len(t), run.message
    # a run that strays by 72 m shakes the hub, too
    assert_allclose(run.q[:, 0], angle, rtol=1e-4, atol=1e-6)
    return arm.bodies[0], t, run.q[:, 1:]


def beam_alone(body, cut):
    """Its modes on a hub that moves as given: T of the nodes as they move.

    With `cut` T stops at the second order of the modes and their rates, as in Kane,
    Ryan and Banerjee (1987).
    """
    m, X, phi = body.node_mass, body.node_position[:, 0], body.node_translation[:, 1]
    kappa, n = body.node_foreshortening[:, 0], body.n_modes
    G = np.einsum("j,jr,js->rs", m, phi, phi)

    def rates(t, state):
        eta, etad = np.split(state, 2)
        _, w, torque = fa.library.spin_up(t)
        wdot, slope, y = torque / HUB_INERTIA, kappa @ eta, phi @ eta
        force, mass = -body.stiffness @ eta, G
        if cut:
            force = force - (m * wdot * X) @ phi
            force = force + w * w * ((m * y) @ phi + (m * X) @ slope)
        else:
            at = X + 0.5 * slope @ eta
            bend = np.einsum("jrs,r,s->j", kappa, etad, etad)
            along = bend - 2.0 * w * (phi @ etad) - wdot * y - w * w * at
            across = 2.0 * w * (slope @ etad) + wdot * at - w * w * y
            force = force - (m * along) @ slope - (m * across) @ phi
            force = force - third_order(eta)
            mass = G + np.einsum("j,jr,js->rs", m, slope, slope)
        return np.concatenate([etad, np.linalg.solve(mass, force)])

    modes = beams.clamped_beam_modes(10.0, 1.2, 1.4e4, n)
    x, weight = np.polynomial.legendre.leggauss(30)
    sine, rate = modes.slope(5.0 * (x + 1.0)), modes.curvature(5.0 * (x + 1.0))

    def third_order(eta):
        """Of 1/2 int EI (kappa^2 - v''^2), kappa = v'' (1 + v'^2/2 + 3 v'^4/8)."""
        s, k = eta @ sine, eta @ rate
        c, slope = 1.0 + s**2 / 2.0 + 0.375 * s**4, s + 1.5 * s**3
        on_rate, on_sine = k * (c * c - 1.0), k * k * c * slope
        return 7e4 * (rate @ (weight * on_rate) + sine @ (weight * on_sine))

    t = np.linspace(0.0, 7.5, 3001)
    options = {"method": "LSODA", "rtol": 1e-7, "atol": 1e-9, "t_eval": t}
    eta = solve_ivp(rates, (0.0, t[-1]), np.zeros(2 * n), **options).y[:n].T
    return np.abs(eta @ phi[-1]).max()


@pytest.mark.parametrize(("n_modes", "deflection", "shortening"), SPIN_UP)
def test_spin_up_of_a_flexible_beam(n_modes, deflection, shortening):
    """Largest deflection and foreshortening of the tip behind the rotating axis.

    The numbers are those of assumed modes with T cut after second order, which a beam
    alone gives to each digit, and so does linear fidelity; geometrically exact are
    0.57385 m and 0.018824 m.  The nodes as they move have 0.25 % more (the next order:
    slopes are 0.08), which the strain energy of this order takes away again, and the
    uniform stretch of flexarm differs from them by 5e-5.  The
    printed foreshortening has the elastic stretch by the centrifugal force, 8e-5 m of
    it at that time.
    """
    body, _, eta = spun_up(n_modes, "linear", "ROS34PW2")
    tip = eta @ body.node_translation[-1, 1]
    assert_allclose(np.abs(tip).max(), deflection, rtol=0, atol=6e-6)

    body, t, eta = spun_up(n_modes)
    tip = eta @ body.node_translation[-1, 1]
    last = np.abs(tip).argmax()
    found, when = np.abs(tip[last]), t[last]
    assert tip[last] < 0.0
    assert_allclose(beam_alone(body, cut=True), deflection, rtol=0, atol=6e-6)
    assert_allclose(found, beam_alone(body, cut=False), rtol=1e-4)
    assert_allclose(found, deflection, rtol=3e-3)
    exact = EXACT_DEFLECTION
    assert_allclose(found, exact, rtol=1e-3 if n_modes > 1 else 8e-3)
    assert abs(found - exact) < abs(deflection - exact) or n_modes == 2
    assert abs(when - 6.76) < 0.02

    kappa = body.node_foreshortening[-1, 0]
    found = -0.5 * np.einsum("tr,rs,ts->t", eta, kappa, eta).min()
    _, rate, _ = fa.library.spin_up(when)
    stretch = 1.2 * rate**2 * 10.0**3 / (3.0 * 2.8e7)
    assert_allclose(found - stretch, shortening, rtol=6e-3)


def test_spin_up_without_stiffening_runs_away():
    words = "'beam' has no geometric stiffening and spins at .* give it"
    with (
        pytest.warns(fa.StiffeningWarning, match=words),
        pytest.warns(fa.DeflectionWarning, match="segments="),
    ):
        body, t, eta = spun_up(3, end=10.0, geometric_stiffening=False)
    tip = eta @ body.node_translation[-1, 1]
    assert_allclose(np.interp([7.5, 10.0], t, tip), [-1.46, -72.0], rtol=4e-3)


# kinetic energy


def bent_arm(axis, tip_com=0.0):
    """A hub, a link that bends both ways and twists, and a body on its tip."""
    y, z = (beams.clamped_beam_modes(1.0, 1.0, k, n) for k, n in ((1.0, 2), (2.0, 3)))
    link = beams.flexible_link(
        "link",
        length=1.0,
        mass_per_length=1.0,
        joint=fa.Joint(axis=axis),
        bending_y=y,
        bending_z=z,
        torsion=beams.clamped_rod_modes(1.0, 0.01, 1.0, 1),
        tip_mass=0.3,
        tip_com=(tip_com, 0.1 * tip_com, 0.0),
        tip_inertia=0.01,
    )
    hub = fa.RigidBody("hub", fa.Joint(axis=(1, 1, 0)), 1.0, inertia=(1, 1, 1))
    hand = fa.RigidBody("hand", mass=0.4, com=(0.1, 0.1, 0), inertia=(0.01,) * 3)
    return fa.Arm([hub, link, hand])


@pytest.mark.parametrize("tip_com", [0.0, 0.1])
@pytest.mark.parametrize("axis", [(0, 0, 1), (0, -1, 0), (1, 0, 0), (1, 2, 3)])
def test_links_along_an_internal_axis_or_not(axis, tip_com):
    """The short way of straight links, and the general one: the Lagrangian."""
    arm = bent_arm(axis, tip_com)
    q, qd, qdd = random_state(np.random.default_rng(3), arm, amplitude=0.08)
    tau = lagrangian.generalized_forces(arm, q, qd, qdd)
    found = fa.inverse_dynamics(arm, q, qd, qdd)
    assert_allclose(found, tau, rtol=0, atol=3e-14 * np.abs(tau).max())
    M = lagrangian.mass_matrix(arm, q)
    assert_allclose(fa.mass_matrix(arm, q), M, rtol=0, atol=1e-13 * M.max())
    back = fa.forward_dynamics(arm, q, qd, tau)
    assert_allclose(back, qdd, rtol=0, atol=1e-14 * np.linalg.cond(M))


def test_kinetic_energy_is_that_of_the_nodes_up_to_third_order():
    arm = bent_arm((0, 0, 1))
    q, qd, _ = random_state(np.random.default_rng(5), arm, amplitude=0.1)
    modes, errors = slice(arm.nu, None), []
    for size in (0.2, 0.02, 0.002):
        at, rate = q.copy(), qd.copy()
        at[modes] *= size
        rate[modes] *= size
        exact = lagrangian.kinetic_energy(arm, at, rate, affine=False)
        errors.append(abs(fa.kinetic_energy(arm, at, rate) - exact) / exact)
    assert errors[0] > 1e-6
    assert np.log10(errors[0] / errors[1]) > 2.8
    assert np.log10(errors[1] / errors[2]) > 2.8


@pytest.mark.parametrize("slope", [0.1, 0.3, 1.0])
@pytest.mark.parametrize("condition", ["clamped", "free"])
def test_mass_matrices_are_positive_for_any_deflection(condition, slope):
    """A T cut after the second order loses that at slopes of 0.1."""
    modes = CONDITIONS[condition](1.0, 1.0, 2.0, 4)
    size = {"length": 1.0, "mass_per_length": 1.0, "tip_mass": 1.0}
    link = beams.flexible_link(
        *("a",),
        **size,
        joint=fa.Joint("free"),
        bending_y=modes,
        bending_z=modes,
        section_inertia=[0.01] * 3,
    )
    arm, rng = fa.Arm([link]), np.random.default_rng(0)
    for _ in range(20):
        q = arm.neutral
        eta = rng.uniform(-1.0, 1.0, 8)
        q[-8:] = slope * eta / np.abs(link.node_rotation @ eta).max()
        assert np.linalg.eigvalsh(fa.mass_matrix(arm, q))[0] > 0.0


@pytest.mark.filterwarnings("ignore::flexarm.DeflectionWarning")
@pytest.mark.parametrize("method", ["rk4", "ROS34PW2"])
def test_energy_is_kept_at_the_order_of_the_integrator(method):
    """In space, with a body on the tip, at deflections that shorten by a percent."""
    arm = conservative(bent_arm((0, 1, 1)))
    q, qd, _ = random_state(np.random.default_rng(8), arm, amplitude=0.03)
    errors = []
    for n in (401, 801):
        t = np.linspace(0.0, 0.2, n)
        run = fa.simulate(arm, q, 2.0 * qd, t, method=method)
        assert run.completed == n, run.message  # beyond the range of the model
        errors.append(np.abs(run.energy - run.energy[0]).max() / run.energy.max())
    order = 4 if method == "rk4" else 3
    assert errors[1] < 2e-5
    assert np.log2(errors[0] / errors[1]) > order - 0.5


def test_masses_that_foreshortening_does_not_move():
    """A link with all of its mass at the base has no driven shapes."""
    modes = beams.clamped_beam_modes(1.0, 1.0, 1.0, 2)
    link = beams.flexible_link("a", length=1.0, mass_per_length=1.0, bending_y=modes)
    mass = np.zeros(link.n_nodes)
    mass[0] = 1.0
    inertia = np.broadcast_to(1e-3 * np.eye(3), link.node_inertia.shape)
    body = link.replace(node_mass=mass, node_inertia=inertia, beam=None)
    q, qd = np.array([0.1, 0.02, -0.03]), np.ones(3)
    arm, plain = (fa.Arm([b]) for b in (body, body.replace(node_foreshortening=None)))
    assert_allclose(
        fa.inverse_dynamics(arm, q, qd, qd),
        fa.inverse_dynamics(plain, q, qd, qd),
        rtol=1e-14,
    )
    assert fa.tip_pose(arm, q)[0, 3] < fa.tip_pose(plain, q)[0, 3]


def test_foreshortening_of_a_body_is_symmetric_and_zero_at_its_clamp():
    modes = beams.clamped_beam_modes(1.0, 1.0, 1.0, 2)
    link = beams.flexible_link("a", length=1.0, mass_per_length=1.0, bending_y=modes)
    kappa = np.array(link.node_foreshortening)
    skew = kappa + np.triu(np.ones((2, 2)), 1)
    words = ["node_foreshortening of body 'a' is not symmetric", "second derivatives"]
    model_refused(words, lambda: link.replace(node_foreshortening=skew))
    words = ["node_foreshortening of body 'a' is not zero at the attachment 'tip'"]
    model_refused(words, lambda: link.replace(attachment="tip"))
