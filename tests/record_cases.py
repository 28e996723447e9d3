"""Cases of the record of verification: our number beside a reference, with its source.

The references are those of the tests, which import nothing from here: constants printed
in a source, or oracles that share no code with the package.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import andrews
import kept_cases
import numpy as np
import rooms  # noqa: F401
import test_beams
import test_buckling
import test_farid_link
import test_follower_loads
import test_foreshortening
import test_industrial_arms
import test_mueller_example
import test_quanser
import test_segments
import test_strain_energy_benchmarks as far_bent
import test_time_optimal_flexible
import test_timoshenko
import test_tip_shooting
from scipy.optimize import brentq
from scipy.special import ellipj, ellipk, jv

import flexarm as fa
from flexarm.reference import farid_link
from flexarm.reference import lagrangian as reference_lagrangian


class Row(NamedTuple):
    """One comparison; a reference in words has the digits that its source prints."""

    quantity: str
    ours: float
    reference: float | str
    source: str

    @property
    def error(self) -> float:
        """Relative to the reference."""
        exact = float(self.reference)
        return abs(float(self.ours) - exact) / abs(exact)

    @property
    def agrees(self) -> bool:
        """Whether all digits of a printed reference are met."""
        if not isinstance(self.reference, str):
            return True
        digits = len(self.reference.partition(".")[2])
        return abs(self.ours - float(self.reference)) <= 0.501 * 10.0**-digits


Rows = Iterator[Row]
# title of a group: its rows, and whether they take less than a quarter of a second
GROUPS: dict[str, tuple[Callable[[], Rows], bool]] = {}


def group(title: str, quick: bool = True) -> Callable[[Callable[[], Rows]], Any]:
    """Put a function that yields rows on the list."""

    def listed(rows: Callable[[], Rows]) -> Callable[[], Rows]:
        GROUPS[title] = rows, quick
        return rows

    return listed


def marked(test: Any) -> Any:
    """Values of a parametrized test, of the mark next to it."""
    return test.pytestmark[0].args[1]


@group("Frequencies of a clamped beam with a mass at its tip")
def tip_masses() -> Rows:
    source = {
        0.0: "roots of the frequency equation, 50 digits",
        1.0: "Math. Probl. Eng. 2017, 1568019, table 1",
    }
    for ratio, digits in marked(test_beams.test_clamped_beam_with_tip_mass):
        omega = fa.beams.clamped_beam_modes(1.0, 1.0, 1.0, 5, tip_mass=ratio).omega
        for i, (found, printed) in enumerate(zip(omega, digits, strict=True), 1):
            name = f"mass ratio {ratio:g}, mode {i}, w L^2 (m/EI)^1/2"
            yield Row(name, found, printed, source[ratio])


@group("Thick cantilevers with shear, 16 elements")
def thick_beams() -> Rows:
    source = "T. C. Huang, J. Appl. Mech. 28 (1961), frequency equation"
    for slender in (5, 10):
        bar = fa.beams.Section.rectangle(1 / slender, 1 / slender, test_timoshenko.SOFT)
        EI, kGA = float(bar.bending_stiffness[0]), float(bar.shear_stiffness[0])
        sizes = bar.I_z / bar.area, EI / kGA
        b = test_timoshenko.roots(
            lambda x, s=sizes: test_timoshenko.huang(x, *s), 1.0, 25.0, 2
        )
        exact = b * np.sqrt(EI / bar.mass_per_length) / (2.0 * np.pi)
        link = fa.beams.finite_element_link(
            "bar",
            length=1.0,
            sections=bar,
            motions="bending y",
            n_elements=16,
            n_modes="all",
        )
        for i in (0, 1):
            name = f"length {slender} depths, mode {i + 1}, Hz"
            yield Row(name, link.frequencies()[i], exact[i], source)


@group("Beam on a hub that turns evenly, ten clamped modes")
def turning_beams() -> Rows:
    source = "A. D. Wright et al., J. Appl. Mech. 49 (1982), converged elements"
    for eta, (flap, lag) in test_foreshortening.TURNING.items():
        squares = test_foreshortening.about_steady_rotation(10, eta)
        for word, found, exact in zip(
            ("flap", "lead-lag"), squares, (flap, lag), strict=True
        ):
            for i, value in enumerate(exact):
                name = f"speed {eta:g}, {word} {i + 1}"
                yield Row(name, np.sqrt(found[i]), value, source)


@group("Spin-up of a flexible beam, largest deflection of the tip", quick=False)
def spin_up() -> Rows:
    exact = test_foreshortening.EXACT_DEFLECTION
    for n, cut, _ in test_foreshortening.SPIN_UP[:3]:
        for fidelity, reference, source in (
            (
                "linear",
                cut,
                "beam alone, T of second order; Kane, Ryan, Banerjee, 1987",
            ),
            (
                "full",
                exact,
                "beam of Simo and Reissner, converged; Simo and Vu-Quoc, 1986",
            ),
        ):
            body, _, eta = test_foreshortening.spun_up(n, fidelity, "ROS34PW2")
            found = np.abs(eta @ body.node_translation[-1, 1]).max()
            yield Row(
                f"{n} mode{'s' * (n > 1)}, fidelity {fidelity}, m",
                found,
                reference,
                source,
            )


@group("Two flexible links of De Luca and Siciliano")
def de_luca() -> Rows:
    arm = fa.library.de_luca_siciliano()
    source = "IEEE Trans. SMC 21 (1991), section VII, printed"
    for quantity, printed in test_beams.test_printed_modal_table.pytestmark[0].args[1]:
        for link in (1, 2):
            values = getattr(test_beams.link_modes(link), quantity)
            for i in (0, 1):
                unit = ", Hz" if quantity == "frequency" else ""
                name = f"{quantity.replace('_', ' ')}{unit}, link {link}, mode {i + 1}"
                yield Row(name, values[i], printed[link - 1][i], source)
    for i, (body, exact) in enumerate(
        zip(
            arm.bodies,
            np.reshape(test_beams.RECOMPUTED["frequency"], (2, 2)),
            strict=True,
        )
    ):
        if i == 1:  # modes of link 1 are those with the outer link as a payload
            for k, value in enumerate(body.frequencies()):
                name = f"arm of the library, link 2, mode {k + 1}, Hz"
                yield Row(name, value, exact[k], "the same, recomputed")


@group("Screws of the arm of Mueller")
def mueller() -> Rows:
    case = test_mueller_example
    arm = fa.library.mueller_remote_center(d=case.D, h4=case.H4, x=case.X, z=case.Z)
    poses = fa.link_poses(arm, case.Q)
    found = {
        f"pose of body {k + 1}": (poses[k, :3], getattr(case, f"C{k + 1}"))
        for k in (2, 3, 4)
    }
    found["spatial Jacobian"] = case.spatial_jacobian(arm, case.Q), case.JS
    found["body Jacobian"] = fa.jacobian(arm, case.Q, "link5.base"), case.JB5
    source = "Multibody Syst. Dyn. 43 (2018), its formulas in double precision"
    for name, (value, text) in found.items():
        table = np.array([line.split() for line in text.strip().splitlines()], float)
        at = np.unravel_index(np.abs(value - table).argmax(), table.shape)
        words = text.strip().splitlines()[at[0]].split()[at[1]]
        yield Row(f"{name}, its least exact entry", value[at], words, source)


@group("Cantilever under a dead force at its tip, 16 pieces", quick=False)
def elastica() -> Rows:
    for load in (1.0, 5.0, 10.0):
        link = test_segments.planar(16)
        found = test_segments.deflection(link, load)
        name = f"load {load:g} EI/L^2, deflection / L"
        source = "Euler's elastica by solve_bvp; Mattiasson, IJNME 17 (1981)"
        yield Row(name, found, far_bent.elastica(load)[1], source)


@group("Buckling and flutter of columns")
def buckling() -> Rows:
    case = test_buckling
    euler = case.EI / case.LENGTH**2
    found = fa.beams.buckling_load(case.column(8)) / euler
    yield Row("dead load, 8 modes, EI/L^2", found, np.pi**2 / 4, "Euler")
    # under its own weight: the least root of J_-1/3
    root = brentq(lambda x: jv(-1 / 3, 2 / 3 * np.sqrt(x)), 5.0, 10.0, xtol=1e-13)
    weight = brentq(
        lambda a: fa.beams.buckling_load(case.column(8), acceleration=a), 50.0, 500.0
    )
    found = weight * case.DENSITY * case.LENGTH**3 / case.EI
    yield Row("own weight, 8 modes, EI/L^3", found, root, "Greenhill (1881)")
    arm = test_follower_loads.column()
    # flutter: the lowest two frequencies meet
    low, high = 19.0, 21.0
    while high - low > 1e-4:
        middle = 0.5 * (low + high)
        load = test_follower_loads.push(middle)
        flutters = np.isnan(fa.natural_frequencies(arm, arm.neutral, wrench=load)[0])
        low, high = (low, middle) if flutters else (middle, high)
    name = "flutter under a follower load, 12 elements, EI/L^2"
    yield Row(name, low, test_follower_loads.BECK, "M. Beck, ZAMP 3 (1952)")
    for load in (10.0, 15.0):
        f = fa.natural_frequencies(
            arm, arm.neutral, wrench=test_follower_loads.push(load)
        )
        exact = test_follower_loads.beck(load) / (2.0 * np.pi)
        for i in (0, 1):
            name = f"follower load {load:g} EI/L^2, frequency {i + 1}, Hz"
            yield Row(name, f[i], exact[i], "M. Beck, ZAMP 3 (1952)")


@group("Delay of a flexible link behind its torque")
def delay() -> Rows:
    source = "M. Farid, PhD thesis, Calgary (1997), (7.17), printed"
    yield Row("one shape, c dt / L", farid_link.delay(), "0.226", source)
    for EI, milliseconds in test_farid_link.DELAYS:
        speed = farid_link.SingleLink(EI).wave_speed
        name = f"EI = {EI:g} N m^2, ms"
        found = 1e3 * farid_link.delay() / speed
        yield Row(name, found, milliseconds, "the same, closed form")


@group("Rigid robots")
def robots() -> Rows:
    case = test_industrial_arms
    puma = fa.library.puma560()
    g = fa.gravity_forces(puma, fa.library.poses(puma)["nominal"])
    for i in (1, 2, 4):
        name = f"PUMA 560, torque of joint {i + 1} in the nominal pose, N m"
        text = f"{case.PUMA_GRAVITY[i]:.4f}"
        yield Row(name, g[i], text, "P. Corke, Robotics Toolbox, printed")
    pose = fa.tip_pose(fa.library.ur5e(), np.full(6, np.radians(30)))
    for i, axis in enumerate("xyz"):
        name = f"UR5e, {axis} of the flange at 30 degrees each, m"
        yield Row(name, pose[i, 3], f"{case.UR5E_POSE[i][3]:.5f}", "mxm, unit tests")
    panda = fa.library.panda()
    flange = fa.tip_pose(panda, fa.library.poses(panda)["ready"])[:3, 3]
    for i in (0, 2):
        name = f"Panda, {'xyz'[i]} of the flange in the pose ready, m"
        source = "tests on MoveIt's model, 9 digits, cut off"
        yield Row(name, flange[i], case.PANDA_READY[i], source)
    rng = np.random.default_rng(560)
    makers = marked(case.test_industrial_arms_move_as_the_printed_parameters_say)
    for make, links in makers:
        arm = make()
        q, qd, qdd = rng.uniform(-3.0, 3.0, (3, arm.nq))
        tau = fa.inverse_dynamics(arm, q, qd, qdd)
        exact = case.newton_euler(links(q), np.array([0, 0, -9.81]), qd, qdd)
        at = np.abs(exact).argmax()
        name = f"{arm.name}, largest torque in a random state, N m"
        yield Row(name, tau[at], exact[at], "Newton-Euler in the frame of the base")


@group("All arms of the library against their Lagrangian", quick=False)
def lagrangian() -> Rows:
    source = "T and V summed over nodes, differentiated by dual numbers"
    for name in kept_cases.LIBRARY:
        arm = getattr(fa.library, name)()
        rng = np.random.default_rng(7)
        q, qd, qdd = (arm.neutral + 0.1 * rng.normal(size=arm.nv) for _ in range(3))
        exact = reference_lagrangian.generalized_forces(arm, q, qd, qdd)
        tau = fa.inverse_dynamics(arm, q, qd, qdd)
        at = np.abs(exact).argmax()
        words = f"{name}, {arm.nv} coordinates, largest force in a random state"
        yield Row(words, tau[at], exact[at], source)


@group("Quanser two-link arm, hub held, stage 2 as a rigid body")
def quanser() -> Rows:
    source = "determinant of shear and moment, Euler-Bernoulli"
    for center in (0.20, 0.28, 0.32):
        arm = test_quanser.quanser.rigid_stage(center)
        found = fa.natural_frequencies(arm, arm.neutral, held="joints")[0]
        name = f"load {center:g} m from the clamp, Hz"
        yield Row(name, found, test_quanser.clamped_beam(center), source)


@group("Pendulum from level, as benchmark A01 of the IFToMM library")
def pendulum() -> Rows:
    # angle from below: sin(a / 2) = k sn(K - w t), k^2 = 1/2
    w, t = np.sqrt(9.81), np.linspace(0.0, 10.0, 2001)
    arm = fa.library.pendulum(mass=1.0, com=1.0, inertia=0.0, length=1.0)
    run = fa.simulate(arm, [0.0], [0.0], t)
    exact = 2.0 * np.arcsin(np.sqrt(0.5) * ellipj(ellipk(0.5) - w * 10.0, 0.5)[0])
    source = "Jacobi's elliptic functions"
    yield Row(
        "x after 10 s, rk4, steps of 5 ms, m", run.tip[-1, 0], np.sin(exact), source
    )
    yield Row("z after 10 s, m", run.tip[-1, 2], -np.cos(exact), source)


@group("Squeezing mechanism of Andrews, A03 of the IFToMM library", quick=False)
def squeezer() -> Rows:
    run = andrews.run(3000, progress=False)
    found = run.q[-1][np.argsort(andrews.ORDER)]
    names = ("beta", "Theta", "gamma", "Phi", "delta", "Omega", "epsilon")
    source = "test set of IVP solvers; Hairer and Wanner II, VII.7"
    for name, value, exact in zip(names, found, andrews.END, strict=True):
        yield Row(f"{name} after 0.03 s, rk4, 3000 steps, rad", value, exact, source)


@group("Two-link arm of Farid along a straight line", quick=False)
def farid_line() -> Rows:
    motion = test_tip_shooting.plain()
    source = "M. Farid, PhD thesis, Calgary (1997), section 7.5, printed"
    errors = 1e3 * np.asarray(motion.errors.tip)
    for axis, found, printed in zip("xy", errors, (0.1, 0.268), strict=True):
        name = f"error of the tip in {axis}, optimized torques (E7), mm"
        yield Row(name, found, printed, source)
    case = test_time_optimal_flexible
    rigid = fa.library.farid_two_link(elements=0, joint_stiffness=None)
    found = fa.optimize.time_optimal(
        rigid,
        case.LINE,
        start=fa.library.poses(rigid)["A"],
        limits={"torque": case.LIMITS},
    ).duration
    source = "rigid arm, exact along the path; the thesis has 0.4893 s"
    yield Row("fastest straight line (E8), s", found, 0.4230, source)


# accuracy against cost: names of columns, then for each size the errors


def roots(n: int) -> Any:
    """Of the clamped-free beam, squared."""
    starts = (np.arange(n) + 0.5) * np.pi
    return (
        np.array(
            [
                brentq(
                    lambda x: np.cos(x) + 1 / np.cosh(x), s - 0.4, s + 0.4, xtol=1e-13
                )
                for s in starts
            ]
        )
        ** 2
    )


def by_modes(n: int) -> tuple[fa.Arm, list[float]]:
    """A clamped link of n modes: errors of its frequencies."""
    link = fa.beams.flexible_link(
        *("boom",),
        length=1.0,
        mass_per_length=1.0,
        bending_stiffness=1.0,
        motions="bending y",
        n_modes=n,
    )
    found = 2.0 * np.pi * np.asarray(link.frequencies())[:3]
    return arm_of(link), list(found / roots(3)[: len(found)] - 1.0)


def by_pieces(n: int) -> tuple[fa.Arm, list[float]]:
    """A clamped link of n pieces: errors of frequencies, and of the elastica."""
    link = test_segments.planar(n)
    found = 2.0 * np.pi * np.asarray(link.frequencies())[:3]
    far = test_segments.deflection(link, 10.0) / far_bent.elastica(10.0)[1]
    return arm_of(link), [*(found / roots(3)[: len(found)] - 1.0), far - 1.0]


def by_rigid_rods(n: int) -> tuple[fa.Arm, list[float]]:
    """Rigid rods with springs between them: errors of frequencies."""
    bodies, h = [], 1.0 / n
    for i in range(n):
        long = h if i < n - 1 else 0.5 * h
        joint = fa.Joint(stiffness=n, position=(0.5 * h, 0, 0) if i == 0 else (0, 0, 0))
        J = long**3 / 12
        bodies.append(
            fa.RigidBody(
                f"rod{i}",
                joint,
                mass=long,
                com=(0.5 * long, 0, 0),
                inertia=(0, J, J),
                nodes={"tip": (long, 0, 0)},
            )
        )
    arm = fa.Arm(bodies, gravity=(0, 0, 0), check_units=False)
    found = 2.0 * np.pi * fa.natural_frequencies(arm, arm.neutral)[:3]
    return arm, list(found / roots(3)[: len(found)] - 1.0)


def arm_of(link: Any) -> fa.Arm:
    """A link on a joint, without gravity."""
    return fa.Arm([link], gravity=(0, 0, 0), check_units=False)


COSTS: dict[
    str, tuple[Callable[[int], tuple[fa.Arm, list[float]]], tuple[int, ...]]
] = {
    "modes": (by_modes, (1, 2, 3, 4, 6)),
    "pieces (`segments=`)": (by_pieces, (4, 8, 16)),
    "rigid rods with springs": (by_rigid_rods, (1, 3, 10)),
}
