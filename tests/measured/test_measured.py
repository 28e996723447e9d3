"""The frame of measured arms: folders, tables, reports, the command."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from flexarm.__main__ import main
from flexarm.errors import ArgumentError
from flexarm.measured import DataSet, Report, Row
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


def test_command_names_missing_data_and_wrong_sets(tmp_path, capsys):
    status = main(["measured", "--data", str(tmp_path), "--out", str(tmp_path)])
    assert status == int(bool(SETS))
    assert capsys.readouterr().err.count("they are of") == len(SETS)
    with pytest.raises(SystemExit):
        main(["measured", "nothing"])
    assert "'nothing' is none of" in capsys.readouterr().err
