"""Tables of the races: as records for JSON, and as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from peers_jobs import Race
from races import Result

Record = dict[str, Any]


def record(race: Race, result: Result) -> Record:
    """Result of a race."""
    quartiles = np.percentile(result.times, (25, 50, 75), axis=0)
    low, middle, high = result.ratios
    traits = {one.name: dict(one.traits) for one in race.contenders}
    return {
        "group": race.group.value,
        "arm": race.arm,
        "job": race.job,
        "count": race.count,
        "unit": race.unit,
        "rounds": len(result.times),
        "notes": list(race.notes),
        "contenders": [
            {
                "name": name,
                "ns": 1e9 * float(quartiles[1, i]),
                "ns least": 1e9 * float(result.times[:, i].min()),
                "ns quartiles": [1e9 * float(quartiles[k, i]) for k in (0, 2)],
                "ratio": float(middle[i]),
                "ratio quartiles": [float(low[i]), float(high[i])],
                "shown": name not in race.hidden,
                "traits": traits.get(name, {}),
            }
            for i, name in enumerate(result.names)
        ],
    }


def digits(x: float) -> str:
    """A number with three digits, or all of those before the point."""
    return f"{x:.0f}" if abs(x) >= 999.5 else f"{x:.3g}"


def duration(ns: float) -> str:
    """A time with its unit, three digits."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if abs(ns) >= 0.9995 * size:
            return f"{digits(ns / size)} {unit}"
    return f"{digits(ns)} ns"


def _size(found: Record) -> str:
    count, unit = found["count"], found["unit"]
    if unit != "state":
        return f"{count} {unit}s" if count > 1 else f"one {unit}"
    return f"batch of {count:,}" if count > 1 else "one state a call, from Python"


def _row(one: Record) -> str:
    low, high = one["ratio quartiles"]
    return (
        f"| {one['name']} | {duration(one['ns'])} "
        f"| {digits(one['ratio'])} | {digits(low)} to {digits(high)} |"
    )


def tables(records: Sequence[Record]) -> list[str]:
    """One table of each arm and job: contenders at all sizes."""
    lines, seen = [], None
    for found in records:
        title = (found["group"], found["arm"], found["job"])
        if title != seen:
            lines += ["", f"### {found['arm']}: {found['job']}"]
            lines += [line for note in found["notes"] for line in ("", f"{note}.")]
            seen = title
        lines += [
            "",
            f"| {_size(found)} | median per {found['unit']} | ratio | quartiles |",
            "|---|---:|---:|---|",
            *(_row(one) for one in found["contenders"]),
        ]
    return lines


def head(place: Record, sizes: str) -> list[str]:
    """Measurements, with the machine and the programs."""
    programs = ", ".join(f"{k} {v}" for k, v in place["versions"].items())
    loads = [place[f"load at the {when}"][:1] for when in ("start", "end")]
    load = " to ".join(f"{x[0]:g}" for x in loads if x) or "unknown"
    return [
        "# flexarm beside its peers",
        "",
        f"- {place['date']}, {place['cpu']}, {place['cores']} cores, {place['system']}",
        f"- kernels {place['instruction set']}, {place['lanes']} lanes (this machine "
        f"has {', '.join(place['instruction sets that would run'])}), built by "
        f"{place['compiler of flexarm']}",
        f"- {programs}",
        f"- load of the machine {load}; one thread unless a row says more; {sizes}",
        "",
        "Contenders took turns on the same states and agreed before they were timed. "
        "A ratio is the time of a contender divided by that of the first row, median "
        "and quartiles over the rounds: above one, flexarm is faster. Results go to "
        'arrays that are there before; sines and cosines are included. "Python less '
        'one joint" is a loop of calls from Python less the same calls on an arm of '
        "one joint, so that the binding is not counted; the work for one joint is "
        "subtracted, too, in favour of Pinocchio.",
    ]


def markdown(
    place: Record,
    sizes: str,
    absent: Sequence[str],
    verdicts: Sequence[Sequence[str]],
    records: Sequence[Record],
) -> str:
    """The whole report."""
    lines = head(place, sizes)
    if absent:
        lines += ["", *(f"- {line}" for line in absent)]
    if verdicts:
        lines += _held(verdicts)
    return "\n".join([*lines, "", "## Times", *tables(records), ""])


def _held(verdicts: Sequence[Sequence[str]]) -> list[str]:
    """Targets beside the measurements."""
    return [
        "",
        "## What must hold",
        "",
        "Times are asked for with AVX-512. Where this machine has less, a row that "
        'fails "needs AVX-512" if it would hold at the ratio that is asked of the '
        "instruction sets, AVX2 at 60 % of the throughput; if not even then, it is "
        "not met.",
        "",
        "| | target | measured | |",
        "|---|---|---|---|",
        *("| " + " | ".join(row) + " |" for row in verdicts),
    ]
