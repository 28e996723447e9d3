"""Targets of the times, and whether they hold."""

from __future__ import annotations

from collections.abc import Sequence

from peers_body import BODY
from peers_flexible import name_of
from peers_jobs import (
    DERIVATIVES,
    FORWARD,
    FORWARD_DERIVATIVES,
    INVERSE,
    JACOBIAN,
    MASS,
    Group,
)
from peers_report import Record, digits, duration
from peers_rigid import PIN_BATCH, PIN_LESS, PIN_LOOP, PIN_PYTHON
from peers_segments import name_of as rod_of

Row = tuple[str, str, str, str]

RIGID, BATCH = "7 joints", 1000
SMALL, LARGE = "2 joints", "30 joints"
# ns of forward and inverse dynamics and of the mass matrix, for links and modes
CHAINS = {
    (2, 4): (110, 60, 110),
    (7, 4): (450, 180, 600),
    (6, 8): (1300, 600, 1600),
}
RODS = {4: 700, 16: 4000}  # ns of forward dynamics, for pieces
# Part of the throughput with AVX-512.
AVX2_SHARE = 0.6


class Table:
    """Records by group, arm, job and size.

    Attributes
    ----------
    isa : str
        Instruction set of flexarm in them.
    """

    def __init__(self, records: Sequence[Record], isa: str) -> None:
        self.isa = isa
        self.records = {
            (Group(r["group"]), r["arm"], r["job"], r["count"]): r for r in records
        }

    def contenders(
        self, group: Group, arm: str, job: str, count: int
    ) -> dict[str, Record]:
        """Contenders of a race by name; empty if it was not run."""
        found = self.records.get((group, arm, job, count), {"contenders": []})
        return {one["name"]: one for one in found["contenders"]}

    def with_trait(
        self, group: Group, trait: str
    ) -> list[tuple[Record, dict[str | int, Record]]]:
        """Races of a group, and their contenders that have a trait, by its value."""
        found = []
        for race in self.records.values():
            traits = {one["traits"].get(trait): one for one in race["contenders"]}
            traits.pop(None, None)
            if race["group"] == group and traits:
                found.append((race, traits))
        return found

    def verdict(self, holds: bool, with_avx512: bool) -> str:
        """Met, needs AVX-512, or not met."""
        if holds:
            return "met"
        if self.isa != "avx512" and with_avx512:
            return "needs AVX-512"
        return "**not met**"

    def time(
        self,
        what: str,
        race: tuple[Group, str, str, int],
        limit: float,
        least: bool = False,
    ) -> Row:
        """A time of at most `limit` ns: the median of the rounds, or the least."""
        goal = f"at most {duration(limit)}{', least' * least}"
        own = self.contenders(*race).get("flexarm")
        if own is None:
            return what, goal, "not measured", "unknown"
        measured = duration(own["ns"])
        if least:
            measured = f"{duration(own['ns least'])} (median {measured})"
        ns = own["ns least" if least else "ns"]
        shared = race[-1] > 1 and AVX2_SHARE * ns <= limit
        return what, goal, measured, self.verdict(ns <= limit, shared)

    def ratio(
        self, what: str, one: Record | None, limit: float, lone: bool = False
    ) -> Row:
        """A ratio of at least `limit`, of batches or of lone calls."""
        goal = f"at least {limit:g} times"
        if one is None:
            return what, goal, "not measured", "unknown"
        low, high = one["ratio quartiles"]
        measured = f"{digits(one['ratio'])} ({digits(low)} to {digits(high)})"
        measured += f", {one['name']}"
        holds = one["ratio"] >= limit
        shared = not lone and one["ratio"] / AVX2_SHARE >= limit
        return what, goal, measured, self.verdict(holds, shared)

    def times_function(
        self, what: str, job: str, of: str, race: tuple[Group, str, int], limit: float
    ) -> Row:
        """A job that takes at most `limit` times as long as another one."""
        group, arm, count = race
        goal = f"at most {limit:g} times the function, least"
        pair = [self.contenders(group, arm, x, count).get("flexarm") for x in (job, of)]
        if pair[0] is None or pair[1] is None:
            return what, goal, "not measured", "unknown"
        ratio = pair[0]["ns least"] / pair[1]["ns least"]
        verdict = self.verdict(ratio <= limit, False)
        return what, goal, f"{digits(ratio)} times", verdict


def _fastest(found: dict[str, Record], names: Sequence[str]) -> Record | None:
    there = [found[name] for name in names if name in found]
    return min(there, key=lambda one: one["ratio"], default=None)


def _cpp(found: dict[str, Record]) -> Record | None:
    """Pinocchio's C++: the faster of batch and loop, or calls less the binding."""
    direct = _fastest(found, (PIN_LOOP, PIN_BATCH))
    return direct if direct is not None else found.get(PIN_LESS)


def _rigid(table: Table) -> list[Row]:
    rows = []
    for job, limit, times in ((FORWARD, 125, 12), (INVERSE, 70, 6), (MASS, 60, 6)):
        what = f"{RIGID}, {job}, batch"
        race = (Group.RIGID, RIGID, job, BATCH)
        rows.append(table.time(what, race, limit))
        found = _cpp(table.contenders(*race))
        rows.append(table.ratio(f"{what}: Pinocchio in C++", found, times))
    python = table.contenders(Group.RIGID, RIGID, FORWARD, BATCH).get(PIN_PYTHON)
    what = f"{RIGID}, {FORWARD}, batch: Pinocchio from Python"
    rows.append(table.ratio(what, python, 20))
    what = f"{RIGID}, {FORWARD}, a lone call from Python"
    rows.append(table.time(what, (Group.RIGID, RIGID, FORWARD, 1), 800))
    for job in (MASS, DERIVATIVES, FORWARD_DERIVATIVES):
        race = (Group.RIGID, LARGE, job, BATCH)
        what = f"{LARGE}, {job}, batch: Pinocchio in C++"
        rows.append(table.ratio(what, _cpp(table.contenders(*race)), 8))
    for arm, job in ((SMALL, JACOBIAN), (RIGID, JACOBIAN), (SMALL, DERIVATIVES)):
        python = table.contenders(Group.RIGID, arm, job, 1).get(PIN_PYTHON)
        what = f"{arm}, {job}, a lone call: Pinocchio from Python"
        rows.append(table.ratio(what, python, 1.5, lone=True))
    return rows


def _flexible(table: Table) -> list[Row]:
    rows = []
    for size, limits in CHAINS.items():
        for job, limit in zip((FORWARD, INVERSE, MASS), limits, strict=True):
            race = (Group.FLEXIBLE, name_of(*size), job, BATCH)
            what = f"{race[1]}, {job}, batch"
            rows.append(table.time(what, race, limit, least=True))
    name = name_of(7, 4)
    for job, of, limit in (
        (DERIVATIVES, INVERSE, 8),
        (FORWARD_DERIVATIVES, FORWARD, 12),
    ):
        whole = (Group.FLEXIBLE, name, BATCH)
        rows.append(
            table.times_function(f"{name}, {job}, batch", job, of, whole, limit)
        )
    for pieces, limit in RODS.items():
        race = (Group.SEGMENTS, rod_of(pieces), FORWARD, BATCH)
        what = f"{race[1]}, {FORWARD}, batch"
        rows.append(table.time(what, race, limit, least=True))
    for job in ("accelerations", "forces"):
        found = table.contenders(Group.BODY, BODY, job, 1)
        exudyn = _fastest(found, [name for name in found if "Exudyn" in name])
        what = f"{BODY}, {job} of a right-hand side: Exudyn"
        rows.append(table.ratio(what, exudyn, 20))
    return rows


def _sets(table: Table) -> list[Row]:
    """Throughput of narrower instruction sets."""
    rows = []
    for race, found in table.with_trait(Group.SETS, "isa"):
        if race["job"] not in (FORWARD, INVERSE):
            continue
        times = {name: one["ns"] for name, one in found.items()}
        for name, limit, goal in (
            ("avx2", 1.0 / AVX2_SHARE, "at least 60 % of AVX-512"),
            ("base", 8.0, "within 8 times of AVX-512"),
        ):
            what = f"instruction sets, {race['arm']}, {race['job']}, {name}"
            if "avx512" in times and name in times:
                slower = times[name] / times["avx512"]
                verdict = "met" if slower <= limit else "**not met**"
                measured = f"{slower:.3g} times as long ({100 / slower:.0f} %)"
            elif name == "base" and {"avx2", "base"} <= set(times):
                slower = times["base"] / times["avx2"]
                # a set that is slower than AVX-512 by its allowance at most
                verdict = "met" if slower <= limit * AVX2_SHARE else "needs AVX-512"
                verdict = verdict if slower <= limit else "**not met**"
                measured = f"{slower:.3g} times as long as avx2"
            else:
                measured, verdict = "not measured", "needs AVX-512"
            rows.append((what, goal, measured, verdict))
    return rows


def _threads(table: Table) -> list[Row]:
    rows = []
    for race, found in table.with_trait(Group.RIGID, "threads"):
        if (race["arm"], race["job"]) != (RIGID, FORWARD) or race["count"] < 100_000:
            continue
        for threads, one in found.items():
            times = 1.0 / one["ratio"]
            verdict = "met" if times >= 1.8 else "**not met** (two idle cores needed)"
            what = f"{RIGID}, {FORWARD}, {threads} threads"
            rows.append((what, "at least 1.8 times", f"{times:.3g} times", verdict))
    return rows


def _sweep(table: Table) -> list[Row]:
    rows = []
    for race, found in table.with_trait(Group.SWEEP, "fastest"):
        for fastest, one in found.items():
            what = f"{race['arm']}, a stack, {fastest} fastest: beside one arm"
            verdict = "met" if one["ratio"] <= 1.4 else "**not met**"
            rows.append((what, "at most 1.4 times", f"{one['ratio']:.3g}", verdict))
    return rows


def verdicts(records: Sequence[Record], isa: str) -> list[Row]:
    """Claim, target, measurement, and whether it is met."""
    table = Table(records, isa)
    rows = [*_rigid(table), *_flexible(table), *_sets(table)]
    rows += [*_threads(table), *_sweep(table)]
    return [row for row in rows if row[3] != "unknown"]
