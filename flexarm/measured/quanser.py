"""Two-link flexible arm of Quanser: strain from hub angles, hub from current.

Hub 1 follows its measured angle.  In the steps joint 2, whose angle was not recorded,
has a servo, a spring with friction; in the run of both stages it follows its measured
angle, too.  Signals of the strain are a gain, an offset and a second-order low-pass.
The second stage hangs on cables, or the table leans: a weak pull to the angle zero.

Most steps are parts of longer runs, each of which starts where the one before it ended.
Such chains are predicted from their hub angles and the first 50 ms of the signal.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigh

import flexarm as fa

from .._support.arrays import Array
from ..bodies.profile import named_basis
from ..identification import Identification, Record, Sensor, identify
from ._data import DataSet
from ._report import Kind, Panel, Report, Row, compared

Make = Callable[[Array], fa.Arm]
# numbers of the steps, arm and gauges of both stages, arm whose hub 1 is free
Model = tuple[Array, fa.Arm, list[Sensor], fa.Arm]
Unknowns = Mapping[str, tuple[float, tuple[float, float]]]  # start and bounds

SET = DataSet(
    "quanser",
    "aa4cc / Edu Ctrl Lab Models, basta/quanser-2-dof-serial-flexible-link on GitHub, "
    "2022, MIT licence",
)
STEP = 0.008  # s, every fourth sample of the files
LENGTHS = 0.202, 0.20185  # m, of the links, from the base gauge to the load
YOUNG, DENSITY = 206.8e9, 7850.0  # Pa; kg/m^3 of steel, ours
SECTIONS = (0.0762, 0.00127), (0.0381, 0.000889)  # m, width and thickness
ROD = DENSITY * 0.0381 * 0.000889 * LENGTHS[1]  # kg, link 2
STAGE = 1.578, 0.1704  # kg, kg m^2 about the clamp of link 1
LOAD = 0.157, 0.0064 - 0.157 * LENGTHS[1] ** 2  # kg, kg m^2 about its centre
JOINTS = fa.Joint(damping=4.0), fa.Joint(damping=1.5)
FIRST = np.eye(6)[0]  # positions of the straight arm for one rad of hub 1
TORQUE = 8.925  # N m/A of drive 1 at its output
HUB = fa.outputs.combination("hub1", positions={"link1": 1.0})
# steps that begin where the one before ended; others are chains of their own
CHAINS = (
    ("lqg 5", "lqg -5", "lqg 10", "lqg -10", "lqg 20"),
    ("hinf 10", "hinf -10", "hinf 20"),
)
KINDS: tuple[Kind, Kind] = ("fitted", "predicted")
UNEXPLAINED = (
    "The place of rest of the signal has a memory of some 0.2 mrad, 0.6 mrad after "
    "the step lqg -10, which no function of the hub angle has; the three steps of the "
    "fit end on the side they moved to, so they cannot separate dragged cables "
    "from the lean. Numbers from one direction of the run of both stages predict the "
    "way back with 15 and 18 %: the swing after a motion has another amplitude."
)
FITTED = ("lqg 10", "lqg -5", "hinf -10")  # a step of each size, sign and controller


@named_basis()
def link(
    k: int, joint: fa.Joint, carried: Sequence[float], hub: float, loss: float
) -> fa.FlexibleBody:
    r"""Link k, 0 or 1, with the inertia of a hub in kg m^2 and a body at its end.

    That has a mass in kg, the distance of its centre from the clamp of the link in m,
    and its inertia about that centre in kg m^2.  The damping of the link over its
    stiffness is a time in s: a mode of angular frequency w has the damping ratio
    :math:`w T / 2`.  Its two modes are the static shapes of the tip.
    """
    (mass, center, own), (width, height) = carried, SECTIONS[k]
    shift = mass * (center - LENGTHS[k]) ** 2
    body = fa.beams.flexible_link(
        f"link{k + 1}",
        length=LENGTHS[k],
        mass_per_length=DENSITY * width * height,
        bending_stiffness=YOUNG * width * height**3 / 12.0,
        motions="bending y",
        n_modes=2,
        joint=joint,
        base_inertia=hub,
        tip_mass=mass,
        tip_com=(center - LENGTHS[k], 0.0, 0.0),
        tip_inertia=(0.5 * own, 0.5 * own + shift, own + shift),
    )
    made: fa.FlexibleBody = body.replace(damping=loss * body.stiffness)
    return made


def rigid_stage(center: float) -> fa.Arm:
    """Link 1 with the whole second stage as a rigid body, its centre at a distance."""
    carried = STAGE[0], center, STAGE[1] - STAGE[0] * center**2
    return fa.Arm([link(0, JOINTS[0], carried, 0.0635, 0.0)], gravity=(0, 0, 0))


def quanser_two_link(
    load_center: float = 0.28,
    elbow: float = 0.25,
    elbow_angle: float = 0.0,
    carried: Sequence[float] | None = None,
    load: Sequence[float] = LOAD,
    hub_inertia: Sequence[float] = (0.0635, 0.0030),
    joints: Sequence[fa.Joint] = JOINTS,
    damping_time: Sequence[float] = (0.0, 0.0),
    lean: float = 0.0,
) -> fa.Arm:
    """Serial flexible arm of a laboratory, two steel links in a horizontal plane.

    Parameters
    ----------
    load_center, elbow : float
        Distance of the mass centre of the whole second stage, stretched, and of the
        axis of joint 2 from the clamp of link 1, in m.  Not given by the maker.
    elbow_angle : float
        Angle between the stretched arm and link 2 where joint 2 is at zero, in rad:
        encoders count from where the arm was when they were switched on.
    carried : (3,) sequence of float, optional
        What link 1 carries without link 2 and its load, see `link`.  By default what
        `load_center` and the maker's data of the whole stage leave.
    load : (2,) sequence of float
        Mass at the end of link 2 in kg, and its inertia about its centre in kg m^2.
    hub_inertia, joints, damping_time : (2,) sequences
        Inertia of the drives at their outputs, friction and springs of the joints, and
        damping of both links, see `link`.
    lean : float
        Part of gravity along the straight arm, in m/s^2, by a table that leans.

    Notes
    -----
    Nominal data of the maker's setup files, as listed with the measurements:

    ===============================  =========================  ========================
    data                             stage 1                    stage 2
    ===============================  =========================  ========================
    link, steel, E = 206.8 GPa       76.2 x 1.27 mm             38.1 x 0.889 mm
    gauge to load of the tip         0.202 m                    0.20185 m
    "spring" 3 EI/L                  39.96 N m/rad (27)         6.86 N m/rad (2.5)
    load: mass                       1.578 kg, all of stage 2   0.157 kg
    load: inertia about the clamp    0.1704 kg m^2              0.0064 kg m^2, a point
    gear                             100                        50
    torque constant at the output    8.925 N m/A                0.87 N m/A
    inertia of the drive             0.0635 (0.0109) kg m^2     0.0030 (0.0090) kg m^2
    viscous friction                 4.0 N m s                  1.5 N m s
    ===============================  =========================  ========================

    Numbers in parentheses are those of other files or of an impulse test.  The density
    of steel, 7850 kg/m^3, and the places of load and elbow are ours.  The drive of
    stage 2 has the mass and inertia that link 2 and its load leave of the 1.578 kg and
    0.1704 kg m^2.
    """
    end = LENGTHS[1]
    if carried is None:  # moments of mass about the clamp of link 1
        mass, first, second = np.array([STAGE[0], STAGE[0] * load_center, STAGE[1]])
        rod = ROD, elbow + 0.5 * end, ROD * end**2 / 12.0
        for m, x, own in (rod, (load[0], elbow + end, load[1])):
            mass, first, second = mass - m, first - m * x, second - own - m * x**2
        carried = mass, first / mass, second - first**2 / mass
    elbow_joint = joints[1].replace(
        parent="link1",
        node="tip",
        position=(elbow - LENGTHS[0], 0.0, 0.0),
        rotation=fa.se3.so3_exp([0.0, 0.0, elbow_angle]),
    )
    links = [
        link(0, joints[0], carried, hub_inertia[0], damping_time[0]),
        link(1, elbow_joint, (load[0], end, load[1]), hub_inertia[1], damping_time[1]),
    ]
    return fa.Arm(links, gravity=(lean, 0.0, 0.0), name="quanser_two_link")


class Run(NamedTuple):
    """A step: angle of hub 1 and deflection of link 1, in rad, every 8 ms."""

    hub: Array
    deflection: Array


def steps(folder: Path) -> dict[str, Run]:
    """Steps by controller, degrees and, if it is not the first, number of the run."""
    found = {}
    for path in sorted(folder.glob("*_step_*deg_run*.csv")):
        name = re.match(r"(lqg|hinf)_step_(neg_)?(\d+)deg_run0*(\d+)", path.stem)
        if name:
            label = f"{name[1]} {'-' if name[2] else ''}{name[3]}"
            first = "2" if label == "lqg 0" else "1"
            label += "" if name[4] == first else f" run {name[4]}"
            heads, table = ("hub_angle_rad", "deflection_rad"), SET.read(path)
            found[label] = Run(*(table[head][::4] for head in heads))
    return found


def both_stages(folder: Path) -> dict[str, Array]:
    """Current 1 (A, smoothed over 10 ms), angles and deflections of both stages."""
    table = SET.read(folder / "lqr_both_stages.csv")
    smooth = np.convolve(np.pad(table["current1_A"], 2, "edge"), [1, 2, 2, 2, 1]) / 8
    heads = {f"hub{k}": f"hub{k}_angle_rad" for k in "12"}
    heads |= {f"deflection{k}": f"deflection{k}_rad" for k in "12"}
    columns = {name: table[head][::4] for name, head in heads.items()}
    return {"current1": smooth[4:-4:4], **columns}


def clock(n: int) -> Array:
    """Times of samples in s."""
    return np.asarray(STEP * np.arange(n), dtype=np.float64)


def found_earlier(unknowns: Unknowns) -> Array:
    """The numbers at which searches start."""
    return np.array([start for start, _ in unknowns.values()])


def relative(found: Array, measured: Array) -> Array:
    """Root mean square of errors over the standard deviation, along the last axis."""
    rms = np.sqrt(np.mean((found - measured) ** 2, axis=-1))
    return np.asarray(rms / measured.std(axis=-1))


def fit(
    make: Make,
    unknowns: Unknowns,
    records: Record | Sequence[Record],
    outputs: object,
    max_step: float | None = None,
) -> Identification:
    """Numbers of a model from records."""
    start, bounds = zip(*unknowns.values(), strict=True)
    return identify(
        make,
        start,
        records,
        names=list(unknowns),
        outputs=outputs,
        bounds=bounds,
        scale=[abs(x) or 0.5 for x in start],
        stages=(1.0,),
        max_step=max_step,
        search={"tolerance": 3e-3, "progress": False},
    )


def gauge(
    k: int, gain: float, offset: float, filtered: Array, start: Array | None = None
) -> Sensor:
    """Strain at the base of link k as an angle, M L/(3 EI), offset in mrad, filtered.

    The filter has a corner frequency in rad/s and a damping ratio.
    """
    return Sensor(
        ("strain", f"link{k}", 0.0),
        gain=gain * LENGTHS[k - 1] / 3.0,
        offset=1e-3 * offset,
        low_pass=filtered[0],
        damping=filtered[1],
        start=start,
    )


# steps of hub 1; start: numbers found earlier

STEP_UNKNOWNS: Unknowns = {
    "load center (m)": (0.3046, (0.2, 0.3115)),
    "loss of link 1 (s)": (0.0035, (1e-5, 0.02)),
    "servo of joint 2 (N m/rad)": (0.897, (0.05, 20.0)),
    "viscous friction 2 (N m s)": (0.133, (0.005, 2.0)),
    "dry friction 2 (N m)": (0.0117, (1e-4, 0.1)),
    "lean (m/s^2)": (0.225, (-1.0, 1.0)),
    "gain": (1.391, (0.3, 4.0)),
    "low-pass (rad/s)": (11.56, (5.0, 30.0)),
    "its damping ratio": (0.827, (0.3, 2.0)),
    "offset (mrad)": (-0.123, (-5.0, 5.0)),
}
# the maker's numbers, the load in the middle of the places it may have; joint 2 held
STEP_NOMINAL = np.array([0.28, 0.0, 100.0, 1.5, 0.0, 0.0, 1.0, 12.57, 0.9, 0.0])
SLIP = 0.001  # rad/s, at which 71 % of the dry friction acts: less holds longer


def step_arm(p: Array, inertia: float = 0.0635, hub: fa.Joint = JOINTS[0]) -> fa.Arm:
    """The arm of the steps: joint 2 has a servo with friction, the table leans."""
    dry = fa.CoulombFriction(p[4], SLIP)
    servo = fa.Joint(damping=p[3], coulomb_friction=dry, stiffness=p[2])
    return quanser_two_link(
        load_center=p[0],
        hub_inertia=(inertia, 0.003),
        joints=(hub, servo),
        damping_time=(p[1], 0.001),
        lean=p[5],
    )


def step_gauge(p: Array, start: Array | None = None) -> Sensor:
    """The gauge of link 1 in the steps."""
    return gauge(1, p[6], p[9], p[7:9], start)


def step_record(
    p: Array, runs: Mapping[str, Run], chain: Sequence[str], used: Sequence[str]
) -> tuple[Record, Array]:
    """Steps one after the other, NaN for signals of those not used.

    The state at the start, and the signal and its rate, which are returned, too, are
    those of the first 50 ms of the chain.
    """
    hub = np.concatenate([runs[name].hub for name in chain])
    y = np.concatenate(
        [runs[n].deflection * (1.0 if n in used else np.nan) for n in chain]
    )
    q0, qd0, start = swinging(p, runs[chain[0]])
    led = {"link1": hub}
    return Record(clock(len(hub)), y, None, q0, qd0, prescribed=led), start


def swinging(p: Array, run: Run) -> tuple[Array, Array, Array]:
    """State in the first mode, hub held, and start of the gauge, from the first 50 ms.

    With the signal y and its rate at the start, y = Re(F a exp(i w t)) of an amplitude
    a that is seen through the low-pass F.
    """
    arm = step_arm(p)
    q, still = run.hub[0] * FIRST, np.zeros(arm.nv)
    for _ in range(3):  # to the rest at this hub angle
        K = fa.inverse_dynamics_derivatives(arm, q, still, still)[0][1:, 1:]
        q[1:] -= np.linalg.solve(K, fa.inverse_dynamics(arm, q, still, still)[1:])
    squares, shapes = eigh(K, fa.mass_matrix(arm, q)[1:, 1:])
    w, shape = np.sqrt(squares[0]), np.array([0.0, *shapes[:, 0]])

    seen = p[6] * np.array([0.0, 0.0, 2.0 / LENGTHS[0], -2.0 / 3.0, 0.0, 0.0])
    rate, y = np.polyfit(STEP * np.arange(7), run.deflection[:7], 1)
    F = seen @ shape / (1.0 - (w / p[7]) ** 2 + 2j * p[8] * w / p[7])
    a = (y - 1e-3 * p[9] - seen @ q - 1j * rate / w) / F
    return q + a.real * shape, -w * a.imag * shape, np.array([y, rate])


def predicted_steps(p: Array, runs: Mapping[str, Run]) -> dict[str, Array]:
    """Deflection of each run from the hub angles of its chain and its first 50 ms."""
    chains = [[name for name in chain if name in runs] for chain in CHAINS]
    chains += [[name] for name in runs if name not in sum(CHAINS, ())]
    found: dict[str, Array] = {}
    for chain in filter(None, chains):
        record, start = step_record(p, runs, chain, chain)
        (y,) = fa.identification.predicted_signals(
            step_arm(p), record, outputs=step_gauge(p, start)
        )
        ends = np.cumsum([len(runs[name].hub) for name in chain])[:-1]
        found |= dict(zip(chain, np.split(y[:, 0], ends), strict=True))
    return found


def fit_steps(
    runs: Mapping[str, Run], unknowns: Unknowns = STEP_UNKNOWNS
) -> Identification:
    """Numbers of the steps from those of `FITTED`."""
    p = found_earlier(unknowns)
    chains = CHAINS[0][:3], CHAINS[1][:2]
    records = [step_record(p, runs, chain, FITTED)[0] for chain in chains]
    return fit(step_arm, unknowns, records, step_gauge)


# the run of both stages; start: numbers found earlier

BOTH_UNKNOWNS: Unknowns = {
    "center of drive 2 (m)": (0.270, (0.2, 0.35)),
    "elbow (m)": (0.298, (0.2, 0.4)),
    "load (kg)": (0.243, (0.05, 0.5)),
    "elbow angle (rad)": (-0.669, (-1.5, 1.5)),
    "loss (s)": (0.00186, (1e-4, 0.02)),
    "lean (m/s^2)": (0.146, (-1.0, 1.0)),
    "gain 1": (1.372, (0.3, 4.0)),
    "gain 2": (1.317, (0.3, 4.0)),
    "low-pass (rad/s)": (11.91, (5.0, 30.0)),
    "its damping ratio": (0.832, (0.3, 2.0)),
    "offset 1 (mrad)": (-0.89, (-5.0, 5.0)),
    "offset 2 (mrad)": (-1.06, (-5.0, 5.0)),
}


def both_arm(p: Array) -> fa.Arm:
    """The arm of the run of both stages; the mass of stage 2 is the maker's."""
    return quanser_two_link(
        carried=(STAGE[0] - ROD - p[2], p[0], 0.005),
        elbow=p[1],
        load=(p[2], 0.02 * p[2] * LENGTHS[1] ** 2),
        elbow_angle=p[3],
        damping_time=(p[4], p[4]),
        lean=p[5],
    )


def both_gauges(p: Array) -> list[Sensor]:
    """Both gauges, with equal filters."""
    return [gauge(k, p[5 + k], p[9 + k], p[8:10]) for k in (1, 2)]


def both_record(both: Mapping[str, Array], begin: int, end: int) -> Record:
    """Part of the run of both stages, both hubs as measured."""
    led = {f"link{k}": both[f"hub{k}"][begin:end] for k in (1, 2)}
    y = np.stack([both[f"deflection{k}"][begin:end] for k in (1, 2)], -1)
    return Record(clock(end - begin), y, at_rest=True, prescribed=led)


def fit_both(
    both: Mapping[str, Array], unknowns: Unknowns = BOTH_UNKNOWNS, end: int = 1250
) -> Identification:
    """Numbers of both stages from the first samples, 10 s of them."""
    return fit(both_arm, unknowns, both_record(both, 0, end), both_gauges)


# the hub from the current; start: numbers found earlier

PULL = 0.01  # N m/rad, of a spring so weak that its torque is constant
DRIVE_UNKNOWNS: Unknowns = {
    "inertia (kg m^2)": (0.147, (0.005, 2.0)),
    "viscous friction (N m s)": (1.87, (0.01, 20.0)),
    "dry friction (N m)": (2.3, (0.01, 20.0)),
    "constant (N m)": (-0.109, (-1.0, 1.0)),
}


def driven_arm(d: Array, p: Array) -> fa.Arm:
    """The arm of the steps `p` whose hub 1 moves freely, with the numbers `d`."""
    dry, rest = fa.CoulombFriction(d[2], 0.02), d[3] / PULL
    hub = fa.Joint(damping=d[1], coulomb_friction=dry, stiffness=PULL, rest=rest)
    return step_arm(p, d[0], hub)


def driven_record(both: Mapping[str, Array], begin: int, end: int) -> Record:
    """Hub 1 under the measured current, times the nominal constant; hub 2 measured."""
    part = slice(begin, end)
    torque, hub = TORQUE * both["current1"][part], both["hub1"][part]
    led = {"link2": both["hub2"][part]}
    tau = np.stack([torque, 0.0 * torque], -1)
    return Record(clock(len(hub)), hub, tau, hub[0] * FIRST, prescribed=led)


def fit_drive(
    both: Mapping[str, Array], p: Array, unknowns: Unknowns = DRIVE_UNKNOWNS
) -> Identification:
    """Numbers of drive 1 from the first 10 s, those of the arm from the steps."""
    record = driven_record(both, 0, 1250)
    return fit(lambda d: driven_arm(d, p), unknowns, record, HUB, 0.002)


def predicted_both(
    arm: fa.Arm, gauges: list[Sensor], both: Mapping[str, Array]
) -> tuple[Array, Array]:
    """Both deflections, by model and measured, (2, n) each, from rest."""
    record = both_record(both, 0, len(both["hub1"]))
    (y,) = fa.identification.predicted_signals(arm, record, outputs=gauges)
    return y.T, record.y.T


def predicted_hub(arm: fa.Arm, both: Mapping[str, Array]) -> tuple[Array, Array]:
    """Angle of hub 1 in the second half from the current, by model and measured."""
    record = driven_record(both, 1250, len(both["hub1"]))
    (y,) = fa.identification.predicted_signals(arm, record, outputs=HUB, max_step=0.002)
    return y[:, 0], record.y[:, 0]


def compute(folder: Path) -> Report:
    """Predict deflections and the hub: nominal numbers, then numbers found."""
    runs, both = steps(folder), both_stages(folder)
    maker = quanser_two_link()
    plain = [gauge(k, 1.0, 0.0, STEP_NOMINAL[7:9]) for k in (1, 2)]
    rows, _ = judged(runs, both, (STEP_NOMINAL, maker, plain, maker))
    rows = [replace(row, rows="nominal") for row in rows]

    stage, whole = fit_steps(runs), fit_both(both)
    drive = fit_drive(both, stage.p)
    model = stage.p, whole.arm, both_gauges(whole.p), drive.arm
    found, signals = judged(runs, both, model)
    unused = [name for name in signals if name[5:-12] not in FITTED]
    parts = {"steps": unused[:-3], "both_stages": unused[-3:-1], "hub": unused[-1:]}
    return Report(
        [*rows, *found],
        {
            f"{what}, {name}": float(x)
            for what, one in (("steps", stage), ("both", whole), ("drive 1", drive))
            for name, x in zip(one.names, one.p, strict=True)
        },
        {
            f"{name.replace(', ', '_').replace(' ', '_')}.csv": {
                "time (s)": clock(len(y)),
                "predicted (rad)": y,
                "measured (rad)": seen,
            }
            for name, (y, seen) in signals.items()
        },
        {
            name: partial(compared, [panel(n, *signals[n]) for n in part])
            for name, part in parts.items()
        },
        UNEXPLAINED,
    )


def judged(
    runs: Mapping[str, Run], both: Mapping[str, Array], model: Model
) -> tuple[list[Row], dict[str, tuple[Array, Array]]]:
    """Errors, and predicted and measured signals: steps, end of both stages."""
    rows: list[Row] = []
    p, arm, gauges, driven = model

    def add(what: str, kind: Kind, y: Array, seen: Array, asked: float | None) -> None:
        error = 100.0 * float(relative(y, seen))
        rows.append(Row(what, kind, error, "%", None, asked))

    signals = {
        f"step {name}, deflection": (y, runs[name].deflection)
        for name, y in predicted_steps(p, runs).items()
    }
    for what, (y, seen) in signals.items():
        add(what, KINDS[what[5:-12] not in FITTED], y, seen, 12.0)
    halves = ("0 to 10 s", slice(1250)), ("10 to 20 s", slice(1250, None))
    pairs = [*zip(*predicted_both(arm, gauges, both), strict=True)]
    for kind, (half, part) in zip(KINDS, halves, strict=True):
        for k, (y, seen) in enumerate(pairs, 1):
            what = f"both stages, {half}, deflection {k}"
            add(what, kind, y[part], seen[part], 12.0)
            signals[f"deflection{k}"] = y[part], seen[part]
    signals["hub1"] = predicted_hub(driven, both)
    add("hub 1 from the current", "predicted", *signals["hub1"], None)
    return rows, signals


def panel(name: str, y: Array, seen: Array) -> Panel:
    """Predicted and measured signal over time."""
    t, title = clock(len(y)), f"{name}: {100.0 * relative(y, seen):.1f} %"
    lines = [("measured", t, 1e3 * seen, "C0"), ("predicted", t, 1e3 * y, "C1--")]
    lines.append(("error", t, 1e3 * (y - seen), "0.5"))
    return Panel(title, "time (s)", "angle (mrad)", lines)


def smooth(ends: Sequence[ArrayLike], n: int) -> Array:
    """Smooth steps between angles in degrees, of n samples each, in rad."""
    s = np.clip((clock(n) - 0.4) / 0.8, 0.0, 1.0)
    share = s**3 * (10.0 - 15.0 * s + 6.0 * s**2)
    parts = [a + np.multiply.outer(share, np.subtract(z, a)) for a, z in pairwise(ends)]
    return np.asarray(np.radians(np.concatenate(parts)))


def simulated(seed: int = 0) -> tuple[dict[str, Run], dict[str, Array]]:
    """Steps and a run of both stages as of files, for those who have none.

    With noise, by arms of the numbers found earlier.  Hub 1 follows smooth steps; in
    the run of both stages under PD laws of ours, with the maker's friction.
    """
    rng = np.random.default_rng(seed)
    runs: dict[str, Run] = {}
    for chain in (*CHAINS, ("lqg 0",)):
        ends = [0.0, *(float(name.split()[1]) or -20.0 for name in chain)]
        hubs = np.split(smooth(ends, 500), len(chain))
        runs |= {n: Run(hub, 0.0 * hub) for n, hub in zip(chain, hubs, strict=True)}
    for name, y in predicted_steps(found_earlier(STEP_UNKNOWNS), runs).items():
        noise = rng.normal(scale=1e-5, size=(2, len(y)))
        runs[name] = Run(runs[name].hub + noise[0], y + noise[1])
    turns = [[-25.0, -10.0], [25.0, -10.0], [25.0, 10.0], [-25.0, 10.0]]
    wanted = smooth([[0.0, 0.0], *turns, *turns], 313)[:2500]
    law = fa.control.JointFeedback(
        np.array([300.0, 30.0]), np.array([20.0, 2.0]), wanted
    )
    b, start, t = found_earlier(BOTH_UNKNOWNS), np.zeros(6), clock(len(wanted))
    run = fa.simulate(
        both_arm(b), start, start, t, torque=law, method="ROS34PW2", max_step=0.002
    )
    shown = ["joint positions", *both_gauges(b)]
    y = fa.identification.simulated_record(run, outputs=shown, noise=1e-5, seed=seed).y
    names = "hub1", "hub2", "deflection1", "deflection2"
    columns = dict(zip(names, y.T, strict=True))
    return runs, {"current1": run.tau[:, 0] / TORQUE, **columns}
