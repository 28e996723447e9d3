"""Wild arguments, spoilt pickles and files: no crash, no hang, every refusal is clear.

The attack is in `tests/attack`, and a campaign makes many calls: ``python3 -m
tests.campaigns attack``. ``python3 -m tests.attack 21 17`` makes one call again.
"""

from __future__ import annotations

import numpy as np
import pytest
from attack import calls, judge, planted, supervisor, worker
from campaigns import attack as campaign

import flexarm as fa

SEED = 21


def test_wild_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(worker.LIMIT, "100")  # s; what takes so long hangs
    assert not [row for row in campaign.rows(30, SEED) if row.fault]


# --- the attack itself: what it must see, and what it must pass ---------------


@pytest.mark.slow
def test_a_crash_is_named_and_the_rest_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(calls.PLANTED, "1")
    monkeypatch.setenv(worker.LIMIT, "0.2")
    found = supervisor.attack(1, 24)
    kinds = {(f.function, f.kind) for f in found.findings}
    assert ("crashes", "crash") in kinds
    assert ("hangs", "hang") in kinds
    assert ("changes", "changed input") in kinds
    assert ("raw", "ValueError") in kinds
    names = {f.function for f in found.findings}
    assert "fine" not in names
    assert "eats_memory" not in names  # NumPy says how much memory it lacks
    crashes = [f for f in found.findings if f.function == "crashes"]
    assert "SIGSEGV" in crashes[0].message
    assert crashes[0].call.startswith("crashes(x=")


def made(function: object, **args: object) -> calls.Call:
    target = calls.Target("f", "function", function)
    return calls.Call(target, function, args, ())  # type: ignore[arg-type]


def test_another_result_of_the_same_call(monkeypatch: pytest.MonkeyPatch) -> None:
    call = made(planted.differs, x=1.0)
    monkeypatch.setattr(calls, "build", lambda seed, index: call)
    _, first = worker.attempt(call)
    assert [f.kind for f in worker.repeat(0, 0, first)] == ["another result"]


def test_clear_and_unclear_sentences() -> None:
    assert not judge.unclear("q has shape (3,), expected (..., 2)")
    for text in (
        "",
        "two\nlines",
        "x" * 500,
        "could not broadcast input array",
        "'NoneType' object is not iterable",
    ):
        assert judge.unclear(text), text


def test_nan_beside_success() -> None:
    run = fa.simulate(fa.library.pendulum(), [0.1], [0.0], [0.0, 0.1])
    assert not judge.judge_result(made(len), run)
    run.q[...] = np.nan
    (found,) = judge.judge_result(made(len), run)
    assert found.kind == "success with NaN"


def test_a_call_is_known_by_its_number() -> None:
    for index in range(30):
        first, second = calls.build(SEED, index), calls.build(SEED, index)
        assert first.target is second.target
        assert list(first.args) == list(second.args)
        assert first.wild == second.wild
        assert judge.argument_prints(first) == judge.argument_prints(second)
