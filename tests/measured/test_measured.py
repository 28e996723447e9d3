"""The frame of measured arms: folders, tables, reports, the command."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from axes import check_axes

from flexarm.__main__ import main
from flexarm.errors import ArgumentError
from flexarm.measured import DataSet, Report, Row
from flexarm.measured._report import Panel, compared, rms
from flexarm.measured.command import SETS

RIG = DataSet("rig", "our laboratory, 2026, MIT", {"angle (deg)": np.pi / 180.0})


def test_folder_is_that_of_the_argument_or_the_variable(tmp_path, monkeypatch):
    (tmp_path / "rig").mkdir()
    monkeypatch.setenv("FLEXARM_DATA", str(tmp_path))
    assert RIG.folder() == RIG.folder(tmp_path) == tmp_path / "rig"
    monkeypatch.setenv("FLEXARM_DATA", str(tmp_path / "elsewhere"))
    with pytest.raises(FileNotFoundError, match="they are of our laboratory, 2026"):
        RIG.folder()


def test_tables_are_read_in_si_units(tmp_path):
    text = "# our rig\ntime (s), angle (deg)\n0,90\n0.5,\n"
    path = tmp_path / "run.csv.gz"
    path.write_bytes(gzip.compress(text.encode()))
    found = RIG.read(path)
    assert list(found) == ["time (s)", "angle (deg)"]
    np.testing.assert_allclose(found["angle (deg)"], [np.pi / 2.0, np.nan])
    plain = tmp_path / "run.csv"
    plain.write_text("a,name\n1,first\n")
    assert list(DataSet("rig", "ours", {}, ("name",)).read(plain)) == ["a"]
    plain.write_text("a,b\n1,2\n3\n")
    with pytest.raises(ArgumentError, match="a row of 1 fields, expected 2"):
        RIG.read(plain)
    plain.write_text("a,b\n1,two\n")
    with pytest.raises(ArgumentError, match=r"no number: .*'two'"):
        RIG.read(plain)


def test_reports_are_written(tmp_path):
    from matplotlib.figure import Figure

    report = Report(
        [
            Row("tip", "nominal", 2.25, "mm", 3.0, 1.0),
            Row("tip, others", "predicted", np.nan, "mm"),
        ],
        {"stiffness (N m^2)": 4.5},
        {"tip.csv": {"time (s)": np.arange(2.0), "tip (m)": np.array([0.1, 0.2])}},
        {"tip": Figure},
        "The rest.",
    )
    lines = str(report).splitlines()
    assert lines[1].split() == ["tip", "(mm)", "nominal", "2.25", "3", "1"]
    assert lines[2].split()[-2:] == ["no", "data"]
    assert lines[3:] == ["  stiffness (N m^2) = 4.5", "The rest."]
    report.write(tmp_path / "new")
    assert (tmp_path / "new/tip.csv").read_text() == "time (s),tip (m)\n0,0.1\n1,0.2\n"
    assert (tmp_path / "new/tip.png").exists()


def test_figures_leave_out_what_is_not_there():
    t, none = np.arange(3.0), np.full(3, np.nan)
    lines = [("measured", t, t, "k."), ("", t, -t, "C1"), ("predicted", t, none, "C0")]
    figure = compared([Panel(n, "time (s)", "tip (m)", lines) for n in "abcd"], 2)
    for ax in figure.axes:
        check_axes(ax)
        assert [line.get_label() for line in ax.get_lines()] == ["measured", "_"]
    legends = [ax.get_legend() for ax in figure.axes]
    assert [bool(legend) for legend in legends] == [False, True, False, False]
    assert np.isnan(rms(none))
    assert rms(np.array([3.0, np.nan, -4.0])) == pytest.approx(np.sqrt(12.5))


def test_command_names_missing_data_and_wrong_sets(tmp_path, capsys):
    status = main(["measured", "--data", str(tmp_path), "--out", str(tmp_path)])
    assert status == int(bool(SETS))
    assert capsys.readouterr().err.count("they are of") == len(SETS)
    with pytest.raises(SystemExit):
        main(["measured", "nothing"])
    assert "'nothing' is none of" in capsys.readouterr().err
