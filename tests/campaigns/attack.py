"""Wild arguments, spoilt pickles and files for all that is public."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from attack import supervisor
from attack.judge import Finding

from . import Row

RANKS = ("crash, hang, changed input", "unclear error", "doubtful", "not attacked")
# unclear errors that pass, of all calls: some 200 kinds of values meet 900 functions
UNCLEAR = 50 / 200_000
# refusals that may name another argument than the wild one: of what two say together
UNNAMED = 0.02


def rows(problems: int, seed: int) -> Iterator[Row]:
    """Make so many calls; a row for each group of findings of one cause."""
    found = supervisor.attack(seed, problems)
    passes = {2}
    if len(found.of_rank(1)) <= problems * UNCLEAR:
        passes.add(1)
    groups = found.groups()
    refused = found.named + found.unnamed
    yield Row(
        {"findings": found.unnamed, "rank": f"refused {refused} calls, without a name"},
        "yes" if refused > 1000 and found.unnamed > UNNAMED * refused else "",
    )
    shown = {key: some[0] for key, some in groups.items() if some[0].rank in (1, 2)}
    texts = dict(zip(shown, supervisor.shrunk(shown.values()), strict=True))
    for key, some in groups.items():
        one = some[0]
        cells = {
            "findings": len(some),
            "rank": RANKS[one.rank],
            "kind": one.kind,
            "at": one.place,
            "of": functions(some),
            "call": ascii(texts.get(key, one.call)).replace("|", "\\|"),
            "again": f"python3 -m tests.attack {one.seed} {one.index}",
        }
        told = ascii(one.message).replace("|", "\\|")
        yield Row({**cells, "message": told}, (one.rank not in passes and "yes") or "")


def functions(some: list[Finding]) -> str:
    """Names of the functions of a group, the most frequent first."""
    names = [name for name, _ in Counter(f.function for f in some).most_common()]
    more = f" and {len(names) - 6} more" if len(names) > 6 else ""
    return ", ".join(names[:6]) + more
