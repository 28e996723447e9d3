"""Examples as scripts: each runs alone, checks a number, draws what is asked for."""

from __future__ import annotations

import importlib.util
import runpy
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("xarray")
EXAMPLES = Path(__file__).parents[2] / "notebooks" / "examples"
SHORT = {
    "feedforward": 40,
    "lqr_design": 40,
    "payload_sweep": 20,
    "predictive_control": 40,
    "rigid_to_flexible": 40,
    "tune_loops": 50,
}


@pytest.mark.parametrize("name", sorted(SHORT))
def test_example(
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("agg")
    path, figure = EXAMPLES / f"{name}.py", tmp_path / "figure.png"
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) < SHORT[name] and "\nassert " in text
    monkeypatch.setattr(sys, "argv", [str(path), str(figure)])
    runpy.run_path(str(path), run_name="__main__")
    drawn = plt.gcf().axes[0]
    assert drawn.get_xlabel() and drawn.get_ylabel() and figure.stat().st_size > 5000
    plt.close("all")
    assert capsys.readouterr().out


@pytest.mark.filterwarnings("ignore:connect")
def test_robust_control(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("slycot")
    monkeypatch.setattr(sys, "argv", ["robust_control.py"])
    runpy.run_path(str(EXAMPLES / "robust_control.py"), run_name="__main__")


@pytest.mark.slow
def test_tuned_gains() -> None:
    runpy.run_path(str(EXAMPLES / "tune_gains.py"), run_name="__main__")


def test_every_example_is_tested() -> None:
    tested = {*SHORT, "million_loops", "robust_control", "tune_gains"}
    assert {path.stem for path in EXAMPLES.glob("*.py")} == tested


def test_a_million_loops(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """A small corner of the study; a share of the draws is a part of all of them."""
    spec: Any = importlib.util.spec_from_file_location(
        "million_loops", EXAMPLES / "million_loops.py"
    )
    study: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(study)
    loops = [len(study.PAYLOAD[0]), len(study.STIFFNESS[0])]
    loops += [len(study.KP[0]), len(study.KD[0]), study.DRAWS]
    assert np.prod(loops) == 1_000_000
    for name, count in {"PAYLOAD": 2, "STIFFNESS": 1, "KP": 3, "KD": 2}.items():
        values, unit = getattr(study, name)
        monkeypatch.setattr(study, name, (values[-count:], unit))
    monkeypatch.setattr(study, "DRAWS", 8)
    ds = study.main(["--share", "0.25", "--workers", "2"])
    assert dict(ds.sizes) == dict(payload=2, stiffness=1, kp=3, kd=2, draw=2)
    assert (ds.status == 0).all() and float(abs(ds.miss).max()) < 0.2
    assert "\n96 loops: " in capsys.readouterr().out
    more, *_ = study.study(3, path=tmp_path / "loops.nc")
    assert more.isel(draw=slice(2)).miss.equals(ds.miss)
    # noise alone tells draws apart
    assert 0.0 < float(ds.miss.std("draw").max()) < 0.01
