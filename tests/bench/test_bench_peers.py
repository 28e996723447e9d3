"""Each case of the command ``tests/bench/peers.py`` once, with tiny sizes.

    FLEXARM_BENCH_SMOKE=1 python3 -m pytest tests/bench/test_bench_peers.py

The contenders that are installed have to agree; times are for the command to take.
"""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import peers
import pytest
import strain_cost
import throughput
from peers_jobs import DERIVATIVES, INVERSE, JACOBIAN, TINY
from peers_rigid import PIN_PYTHON
from peers_targets import verdicts
from races import SMOKE

pytestmark = pytest.mark.skipif(
    not SMOKE, reason="a command of its own: python3 tests/bench/peers.py"
)


@pytest.mark.parametrize("case", peers.all_cases(), ids=lambda case: case.name)
@pytest.mark.filterwarnings("default")  # those of the peers are theirs
def test_contenders_agree(case: Any) -> None:
    records, failures = peers.measure([case], TINY, verbose=False)
    assert not failures
    assert records
    assert all(one["ns"] > 0.0 for r in records for one in r["contenders"][:1])


@pytest.mark.filterwarnings("default")
def test_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--smoke", "--output", str(tmp_path), "--cases", "rigid, 7 joints, forw"]
    assert peers.main(words) == 0
    text = (tmp_path / "peers.md").read_text()
    assert "## Times" in text
    assert "must hold" not in text  # a size at which times say nothing
    numbers = json.loads((tmp_path / "peers.json").read_text())
    assert not numbers["what must hold"]
    assert numbers["machine"]["instruction set"]
    assert {r["arm"] for r in numbers["races"]} == {"7 joints"}
    if importlib.util.find_spec("matplotlib"):
        assert (tmp_path / "peers.png").stat().st_size > 0
    said = capsys.readouterr().err
    assert all(line in said for line in numbers["missing"])


def test_targets() -> None:
    """Times by the least of the rounds, ratios by their median, lone calls as is."""

    def found(group: str, arm: str, job: str, count: int, **others: Any) -> Any:
        rows = {"flexarm": (200.0, 1.0), **others}
        contenders = [
            {
                "name": PIN_PYTHON if name == "peer" else name,
                "ns": ns,
                "ns least": 0.8 * ns,
                "ratio": ratio,
                "ratio quartiles": [ratio, ratio],
                "traits": {},
            }
            for name, (ns, ratio) in rows.items()
        ]
        names = ("group", "arm", "job", "count", "contenders")
        return dict(zip(names, (group, arm, job, count, contenders), strict=True))

    chain = ("flexible", "7 links x 4 modes")
    records = [
        found(*chain, INVERSE, 1000),
        found(*chain, DERIVATIVES, 1000, flexarm=(1700.0, 1.0)),
        found("rigid", "2 joints", JACOBIAN, 1, peer=(280.0, 1.4)),
    ]
    for isa in ("avx512", "avx2"):
        rows = {what: rest for what, *rest in verdicts(records, isa)}
        assert rows.keys() == {
            f"{chain[1]}, {INVERSE}, batch",
            f"{chain[1]}, {DERIVATIVES}, batch",
            f"2 joints, {JACOBIAN}, a lone call: Pinocchio from Python",
        }
        # in the order of the table: the lone call comes first
        found_verdicts = [verdict for *_, verdict in rows.values()]
        assert found_verdicts == ["**not met**", "met", "**not met**"]


@pytest.mark.filterwarnings("default")
def test_other_tables(capsys: pytest.CaptureFixture[str]) -> None:
    for command, rows in ((strain_cost, 12), (throughput, 21)):
        command.main()
        lines = capsys.readouterr().out.splitlines()
        table = [line for line in lines if line.startswith("|")]
        assert len({line.count("|") for line in table}) == 1
        assert len(table) - 2 >= rows
