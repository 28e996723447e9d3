"""A million closed loops: payload x stiffness x gains x noise, or a share of them.

    python3 notebooks/examples/million_loops.py --share 0.01 --workers 2

A flexible link of 1 m with two modes turns by 0.5 rad under PD control of its joint,
sampled at 500 Hz with noise, for 1 s of motion.  All pairs of gains for an arm and a
seed of the noise are one call in C.  A share has fewer draws of the noise, but all arms
and gains: each of its loops is one of the million, and all take equally long.
"""

import argparse
import time

import numpy as np

import flexarm as fa
from flexarm.control import LinearController, simulate_loop

PAYLOAD = (np.linspace(0.0, 0.5, 5), "kg")
STIFFNESS = (np.linspace(20.0, 60.0, 5), "N m^2")
KP = (np.linspace(2.0, 20.0, 10), "N m/rad")
KD = (np.linspace(1.0, 10.0, 10), "N m s/rad")
DRAWS = 400
GOAL, T = 0.5, np.linspace(0.0, 1.0, 101)


def make_arm(payload, stiffness):
    """A hub of 0.1 kg m^2, a beam of 0.5 kg, a point mass."""
    modes = fa.beams.clamped_beam_modes(1.0, 0.5, stiffness, 2, tip_mass=payload)
    link = fa.beams.flexible_link(
        "link", length=1.0, mass_per_length=0.5, bending_y=modes, damping_ratio=0.01,
        base_inertia=0.1, tip_mass=payload,
    )  # fmt: skip
    return fa.Arm([link], gravity=(0.0, 0.0, 0.0))


def loops(arm, kp, kd, noise):
    """Angle of the tip at the end, its overshoot and the work of the motor."""
    gains = -np.stack([kp, kd], axis=-1)[:, np.newaxis]
    law = LinearController(None, None, None, gains, 2e-3, reference=[GOAL, 0.0])
    rest = np.zeros((len(kp), arm.nq))
    run = simulate_loop(
        arm, law, rest, rest, T, noise=[1e-3, 1e-2], seed=noise, saturation=10.0,
        max_step=1e-3,
    )  # fmt: skip
    angle = np.arctan2(run.tip[..., 1], run.tip[..., 0])
    return {
        "miss": angle[:, -1] - GOAL,
        "overshoot": angle.max(axis=1) / GOAL - 1.0,
        "torque": np.sqrt((run.tau**2).mean(axis=(1, 2))),
    }


def study(draws, workers=1, **options):
    """Results of some of the draws, and the seconds and CPU seconds they took."""
    began = time.perf_counter(), time.process_time()
    ds = fa.studies.sweep(
        loops,
        {"payload": PAYLOAD, "stiffness": STIFFNESS, "kp": KP, "kd": KD},
        draws={"noise": "seed"},
        n_draws=draws,
        seed=1,
        arm=make_arm,
        vectorized=("kp", "kd"),
        outputs={"miss": "rad", "overshoot": None, "torque": "N m"},
        on="threads" if workers > 1 else "serial",
        workers=workers,
        **options,
    )
    return ds, time.perf_counter() - began[0], time.process_time() - began[1]


def best_gains(ds):
    """Worst miss of all arms and draws by pairs of gains, and the best pair."""
    worst = abs(ds.miss).max(["payload", "stiffness", "draw"])
    worst = worst.assign_attrs(long_name="largest miss after 1 s", units="rad")
    at = worst.argmin(["kp", "kd"])
    return worst, {name: float(ds[name][i]) for name, i in at.items()}


def report(small, whole, workers):
    """Loops that were computed, and the time of all of them at the same pace.

    The pace is the difference of two sizes: what is done once for each arm is not
    taken times the number of draws.
    """
    (first, _, cpu_of_first), (ds, seconds, cpu) = small, whole
    count, fewer = ds.miss.size, first.miss.size
    every = count // ds.sizes["draw"] * DRAWS
    pace = (cpu - cpu_of_first) / (count - fewer)
    total = cpu + pace * (every - count)
    print(f"{count} loops: {seconds:.1f} s with {workers} workers, {cpu:.1f} s of CPU")
    print(
        f"{pace * 1e3:.2f} ms of CPU for each more loop, found from {fewer} to {count}"
    )
    print(f"{every} loops: {total:.0f} s of CPU if the pace stays,")
    print(f"   {total / workers / 60:.1f} min with {workers} workers of a core each")
    worst, gains = best_gains(ds)
    print(f"least worst miss: {float(worst.min()):.4f} rad with {gains}")


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--share", type=float, default=0.01, help="of a million loops")
    parser.add_argument("--workers", type=int, default=1, help="threads")
    parser.add_argument("--path", help="file of the results, .nc or .zarr")
    parser.add_argument("--figure", help="file of a figure, such as gains.png")
    given = parser.parse_args(arguments)
    draws = max(2, round(DRAWS * given.share))
    small = study(draws // 2, given.workers, progress=False)
    whole = study(draws, given.workers, path=given.path)
    report(small, whole, given.workers)
    ds = whole[0]
    if given.figure:
        import matplotlib.pyplot as plt

        figure, ax = plt.subplots(layout="constrained")
        best_gains(ds)[0].plot(ax=ax, x="kp", y="kd")
        figure.savefig(given.figure)
    return ds


if __name__ == "__main__":
    main()
