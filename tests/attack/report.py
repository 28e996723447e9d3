"""Findings as text, in groups of one cause, each with a call that shows it."""

from __future__ import annotations

import os
import tempfile
import traceback
import warnings
from collections import Counter

from . import calls, worker
from .judge import Finding
from .supervisor import Outcome, shrunk

NAMES = ("Crash, hang, changed input", "Unclear error", "Doubtful", "Not attacked")


def text(found: Outcome, shrink: bool = True) -> str:
    """Markdown: a table of counts, then the groups by room."""
    groups = found.groups()
    counts = [len(found.of_rank(rank)) for rank in range(4)]
    texts = {}
    if shrink:
        some = {key: g[0] for key, g in groups.items() if g[0].rank in (1, 2)}
        texts = dict(zip(some, shrunk(some.values()), strict=True))
    parts = [
        f"{found.calls} calls in {found.seconds:.0f} s: "
        + ", ".join(
            f"{n} {name.lower()}" for n, name in zip(counts, NAMES, strict=True)
        )
        + f"; {len(groups)} groups"
    ]
    for rank, name in enumerate(NAMES):
        rooms: dict[str, list[str]] = {}
        for key, some in groups.items():
            if some[0].rank != rank:
                continue
            one = some[0]
            call = texts.get(key, one.call)
            rooms.setdefault(room_of(one), []).append(
                f"- {len(some)} x {one.kind} at `{one.place}` of {functions(some)}: "
                f"{one.message}\n  `--seed {one.seed} --only {one.index}`: {call}"
            )
        if rooms:
            parts.append(f"## {name}")
            for room, lines in sorted(rooms.items()):
                parts.append(f"### {room}\n\n" + "\n".join(lines))
    return "\n\n".join(parts) + "\n"


def room_of(one: Finding) -> str:
    """Folder or file of the package in which it was raised."""
    place = one.place.partition(":")[0]
    if not place.endswith(".py") or place.startswith(("tmp", "usr", "root", "home")):
        place = one.room.replace(".", "/")
    return place.partition("/")[0].removesuffix(".py") or "?"


def functions(some: list[Finding]) -> str:
    """Names of the functions of a group, the most frequent first."""
    names = [name for name, _ in Counter(f.function for f in some).most_common()]
    more = f" and {len(names) - 6} more" if len(names) > 6 else ""
    return ", ".join(f"**{name}**" for name in names[:6]) + more


def show(seed: int, index: int) -> None:
    """Make one call again, and print what happens."""
    os.chdir(tempfile.mkdtemp(prefix="attack"))  # for files that it writes
    call = calls.build(seed, index)
    print(call.text)
    for name, value in call.args.items():
        print(f"  {name} = {calls.short(value)}  {call.wild.get(name, '')}")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            with worker.limited():
                result = call.run()
            print("->", calls.short(result))
        except BaseException:
            traceback.print_exc()
    for w in caught:
        print(f"{w.category.__name__} at {w.filename}:{w.lineno}: {w.message}")
    for finding in worker.one(seed, index):
        print(finding)
