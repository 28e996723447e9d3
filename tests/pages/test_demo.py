"""The demo: its numbers, its figures, its command line."""

from __future__ import annotations

import io
import subprocess
import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import flexarm as fa
from flexarm import __main__ as command
from flexarm import plotting
from flexarm.demo import cases, report

Results = list[cases.Result]


@pytest.fixture(scope="module")
def results() -> Results:
    """Each simulation once: the demo repeats them for its times."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cases, "median_time", lambda action, **_: (1.0, action()))
        return cases.simulate_all()[0]


@pytest.fixture
def quick(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the demo use the simulations of the fixture."""
    monkeypatch.setattr(report, "simulate_all", lambda: (results, 1.0))


def test_bang_bang_is_symmetric_and_ends_after_one_second() -> None:
    t = cases.STEP * np.arange(cases.STEPS)
    u = cases.bang_bang(t)
    assert u.shape == (cases.STEPS, 2)
    assert set(np.unique(u)) == {-0.2, 0.0, 0.2}
    assert np.flatnonzero(np.diff(u[:, 0])).tolist() == [499, 999]
    assert abs(u.sum(axis=0)).max() < 1e-12


# the distances of the two models that the digest of the paper (9.4) states, in m, at
# 0.5, 1, 1.5 and 2 s
@pytest.mark.parametrize(
    ("number", "distance"),
    [(5, 0.0011), (6, 0.0007), (7, 0.00005), (8, 0.0001), (9, 0.011), (10, 0.004)],
)
def test_distance_of_cut_and_full_model(
    results: Results, number: int, distance: float
) -> None:
    result = next(r for r in results if r.case.figure == number)
    digit = 10.0 ** np.floor(np.log10(distance))
    unit = digit / 10.0 if distance in (0.0011, 0.011) else digit
    assert abs(result.gap[[500, 1000, 1500, 2000]].max() - distance) <= 0.5001 * unit


def test_momentum_and_energy_balance(results: Results) -> None:
    for result in results:
        assert cases.momentum_error(result.run) < 1e-9
        assert cases.ledger(result.run).error < report.LEDGER_LIMIT
    undamped = [cases.ledger(r.run) for r in results if not r.case.damping]
    assert all(not book.losses.any() for book in undamped)


@pytest.mark.parametrize("case", cases.CASES[2:], ids=lambda case: str(case.figure))
def test_ledger_closes_with_the_order_of_the_integrator(case: cases.Case) -> None:
    arm = fa.library.de_luca_siciliano(damping=case.damping)
    errors = []
    for refinement in (2, 4):
        t = np.arange(500 * refinement + 1) * cases.STEP / refinement
        run = fa.simulate(
            arm,
            case.start,
            np.zeros(6),
            t,
            torque=cases.bang_bang(t) if case.torque else None,
            interpolation="hold",
        )
        errors.append(cases.ledger(run).error)
    assert np.log2(errors[0] / errors[1]) > 3.8


def test_kernels_have_the_energy_of_the_paper(results: Results) -> None:
    assert cases.kinetic_energy_error(results) < 1e-13


def test_cut_matrix_is_that_of_the_kernels_to_first_order(results: Results) -> None:
    # products of deflections are what is dropped: an error grows with their square
    small, large = (cases.compare_matrices(results[i]).matrix for i in (0, 4))
    assert 0.0 < small < 0.01 < large < 0.05


@pytest.mark.usefixtures("quick")
def test_demo_prints_tables_and_writes_figures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")
    few = partial(plotting.animate, fps=2.0)  # pictures of the film
    monkeypatch.setattr(plotting, "animate", few)
    out = tmp_path / "deep" / "figures"
    assert command.main(["demo", "--out", str(out)]) == 0
    text = capsys.readouterr().out
    assert text.count(report.tick()) == 20
    assert "switching times are ours" in text
    drawn = sorted(out.iterdir())
    assert len(drawn) == 11
    for path in drawn:
        assert str(path) in text
        kind = b"GIF8" if path.suffix == ".gif" else b"\x89PNG"
        assert path.read_bytes().startswith(kind)
        assert path.stat().st_size > 10_000


@pytest.mark.usefixtures("quick")
def test_demo_without_matplotlib(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert command.main(["demo", "--out", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    assert 'matplotlib is missing; python3 -m pip install "flexarm[plot]"' in text
    assert "right angle, link 1 bent" in text
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("quick")
def test_demo_fails_if_a_printed_number_is_missed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = ("f Hz", "frequency", 2, (0.48, 1.81, 2.18, 15.91))
    monkeypatch.setattr(report, "PRINTED", (wrong, *report.PRINTED[1:]))
    monkeypatch.setattr(report, "report_figures", lambda *_: None)
    assert command.main(["demo", "--out", str(tmp_path)]) == 1
    assert "1 printed modal numbers are missed" in capsys.readouterr().err


def test_demo_refuses_a_directory_that_is_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    taken = tmp_path / "taken"
    taken.touch()
    assert command.main(["demo", "--out", str(taken)]) == 1
    assert f"cannot make the directory {taken}" in capsys.readouterr().err


def test_screen_without_a_check_mark(monkeypatch: pytest.MonkeyPatch) -> None:
    screen: Any = io.TextIOWrapper(io.BytesIO(), encoding="latin-1")
    monkeypatch.setattr(sys, "stdout", screen)
    assert report.tick() == "="


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["dmo"], "invalid choice: 'dmo'"),
        ([], "arguments are required: command"),
        (["demo", "--size", "3"], "unrecognized arguments: --size 3"),
    ],
)
def test_wrong_command_line(
    words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        command.main(words)
    assert stop.value.code == 2
    assert sentence in capsys.readouterr().err


def test_module_runs() -> None:
    words = [sys.executable, "-m", "flexarm", "--version"]
    answer = subprocess.run(words, capture_output=True, text=True, check=True)
    assert answer.stdout.startswith(f"flexarm {fa.__version__}, kernels ")


def test_one_ledger_that_does_not_close_fails_the_report(
    results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is the first one, and the others are fine."""
    monkeypatch.setattr(report, "report_speed", lambda *_: None)
    assert report.report_runs(results, 1.0)
    first = results[0].run
    bad, own = SimpleNamespace(error=1.0), cases.ledger
    monkeypatch.setattr(report, "ledger", lambda run: bad if run is first else own(run))
    assert not report.report_runs(results, 1.0)
