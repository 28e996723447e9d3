"""What must hold of the times, and whether it does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from peers_body import BODY
from peers_flexible import name_of
from peers_jobs import FORWARD, INVERSE, MASS
from peers_report import digits, duration
from peers_rigid import PIN_BATCH, PIN_LESS, PIN_LOOP, PIN_PYTHON
from peers_sets import SETS

Record = dict[str, Any]
Row = tuple[str, str, str, str]

RIGID, BATCH = "7 joints", 1000
AVX2_SHARE = 0.6  # of the throughput with AVX-512


class Table:
    """Records by arm, job and size.

    Attributes
    ----------
    isa : str
        Instruction set of flexarm in them.
    """

    def __init__(self, records: Sequence[Record], isa: str) -> None:
        self.isa = isa
        self.records = {(r["arm"], r["job"], r["count"]): r for r in records}

    def contenders(self, arm: str, job: str, count: int) -> dict[str, Record]:
        """Contenders of a race by name; empty if it was not run."""
        found = self.records.get((arm, job, count), {"contenders": []})
        return {one["name"]: one for one in found["contenders"]}

    def verdict(self, holds: bool, with_avx512: bool) -> str:
        """Met, needs AVX-512, or not met."""
        if holds:
            return "met"
        if self.isa != "avx512" and with_avx512:
            return "needs AVX-512"
        return "**not met**"

    def time(self, what: str, arm: str, job: str, count: int, limit: float) -> Row:
        """A time of at most `limit` ns."""
        goal = f"at most {duration(limit)}"
        own = self.contenders(arm, job, count).get("flexarm")
        if own is None:
            return what, goal, "not measured", "unknown"
        holds = own["ns"] <= limit
        shared = count > 1 and AVX2_SHARE * own["ns"] <= limit
        return what, goal, duration(own["ns"]), self.verdict(holds, shared)

    def ratio(self, what: str, one: Record | None, limit: float) -> Row:
        """A ratio of at least `limit`."""
        goal = f"at least {limit:g} times"
        if one is None:
            return what, goal, "not measured", "unknown"
        low, high = one["ratio quartiles"]
        measured = f"{digits(one['ratio'])} ({digits(low)} to {digits(high)})"
        measured += f", {one['name']}"
        holds = one["ratio"] >= limit
        shared = one["ratio"] / AVX2_SHARE >= limit
        return what, goal, measured, self.verdict(holds, shared)


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
        found = table.contenders(RIGID, job, BATCH)
        rows.append(table.time(what, RIGID, job, BATCH, limit))
        rows.append(table.ratio(f"{what}: Pinocchio in C++", _cpp(found), times))
    python = table.contenders(RIGID, FORWARD, BATCH).get(PIN_PYTHON)
    what = f"{RIGID}, {FORWARD}, batch: Pinocchio from Python"
    rows.append(table.ratio(what, python, 20))
    what = f"{RIGID}, {FORWARD}, a lone call from Python"
    rows.append(table.time(what, RIGID, FORWARD, 1, 1200))
    return rows


def _flexible(table: Table) -> list[Row]:
    wanted = ((2, 4, FORWARD, 150), (7, 4, FORWARD, 450), (7, 4, INVERSE, 180))
    rows = []
    for N, n, job, limit in wanted:
        arm = name_of(N, n)
        rows.append(table.time(f"{arm}, {job}, batch", arm, job, BATCH, limit))
    for job in ("accelerations", "forces"):
        found = table.contenders(BODY, job, 1)
        exudyn = _fastest(found, [name for name in found if "Exudyn" in name])
        what = f"{BODY}, {job} of a right-hand side: Exudyn"
        rows.append(table.ratio(what, exudyn, 20))
    return rows


def _sets(table: Table) -> list[Row]:
    """Throughput of narrower instruction sets."""
    rows = []
    for job in (FORWARD, INVERSE):
        found = table.contenders(SETS, job, BATCH)
        times = {name.split()[-1]: one["ns"] for name, one in found.items()}
        for name, limit, goal in (
            ("avx2", 1.0 / AVX2_SHARE, "at least 60 % of AVX-512"),
            ("base", 8.0, "within 8 times of AVX-512"),
        ):
            what = f"{SETS}, {job}, {name}"
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
    for key, found in table.records.items():
        split = [c for c in found["contenders"] if "threads" in c["name"]]
        own = [c for c in split if c["name"].startswith("flexarm")]
        if key[:2] == (RIGID, FORWARD) and key[2] >= 100_000 and own:
            times = 1.0 / own[0]["ratio"]
            verdict = "met" if times >= 1.8 else "**not met** (two idle cores needed)"
            what = f"{RIGID}, {FORWARD}, {own[0]['name'].split(', ')[1]}"
            rows.append((what, "at least 1.8 times", f"{times:.3g} times", verdict))
    return rows


def _sweep(table: Table) -> list[Row]:
    rows = []
    for key, found in table.records.items():
        for one in found["contenders"]:
            if found["group"] != "sweep" or "stack" not in one["name"]:
                continue
            what = f"{key[0]}, {one['name'].split(', ', 1)[1]}: beside one arm"
            verdict = "met" if one["ratio"] <= 1.5 else "**not met**"
            rows.append((what, "at most 1.5 times", f"{one['ratio']:.3g}", verdict))
    return rows


def verdicts(records: Sequence[Record], isa: str) -> list[Row]:
    """What is asked for, the target, what was measured, whether it is met."""
    table = Table(records, isa)
    rows = [*_rigid(table), *_flexible(table), *_sets(table)]
    rows += [*_threads(table), *_sweep(table)]
    return [row for row in rows if row[3] != "unknown"]
