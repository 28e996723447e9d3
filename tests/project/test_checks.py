"""The runner of `.ci/run`: every check runs, and the end names each failure."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

CI = Path(__file__).parents[2] / ".ci"
pytestmark = pytest.mark.skipif(not CI.exists(), reason="a wheel has no .ci")


def module(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module of .ci, which is no package."""
    spec = importlib.util.spec_from_file_location(name, CI / f"{name}.py")
    assert spec is not None and spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, found)
    spec.loader.exec_module(found)
    return found


@pytest.fixture
def runner(monkeypatch: pytest.MonkeyPatch) -> Any:
    return module("runner", monkeypatch)


PLANTED = """\
FAILED tests/test_a.py::test_of[x, y 2] - assert 1 == 2
ERROR tests/test_b.py - ImportError: no module
FAILED flexarm/arm.py::flexarm.arm.Arm
"""


def test_the_end_names_each_failure_and_how_to_run_it_again(
    runner: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "said").write_text(PLANTED)
    check = runner.Check
    checks = [
        check("one", f"cat {tmp_path}/said; exit 1", again="python3 -m pytest"),
        check("two", "echo fine"),
        check("three", "echo it is broken >&2; exit 7", beside=True),
        check("four", "touch made", ("three",), beside=True),
        check("five", "false\ntouch made", ("two",)),
        check("six", "kill -9 $$"),
    ]
    assert runner.main(checks, tmp_path, os.environ) == 1
    said, _ = capfd.readouterr()
    assert "fine" in said
    table, _, end = said.partition("== FAILED: ")
    assert [line.split()[-1] for line in table.splitlines()[-7:-1]] == [
        check.name for check in checks
    ]
    assert end.splitlines() == [
        "5 of 6 checks",
        "one: failed, exit status 1",
        "  tests/test_a.py::test_of[x, y 2]: assert 1 == 2",
        "    again: python3 -m pytest 'tests/test_a.py::test_of[x, y 2]'",
        "  tests/test_b.py: ImportError: no module",
        "    again: python3 -m pytest 'tests/test_b.py'",
        "  flexarm/arm.py::flexarm.arm.Arm: see its output above",
        "    again: python3 -m pytest 'flexarm/arm.py::flexarm.arm.Arm'",
        "three: failed, exit status 7",
        "  it is broken",
        "    again: python3 .ci/checks.py --here 'three'",
        "four: not started, it needs 'three', which did not pass",
        "five: failed, exit status 1",
        "    again: python3 .ci/checks.py --here 'five'",
        "six: failed, exit status -9",
        "    again: python3 .ci/checks.py --here 'six'",
    ]


def test_all_that_passes_is_said_in_a_line(
    runner: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    checks = [runner.Check("one", "true"), runner.Check("two", "true", beside=True)]
    assert runner.main(checks, tmp_path, os.environ) == 0
    assert capfd.readouterr().out.endswith("\n== all 2 checks passed\n")


def test_the_report_of_many_failures_fits_into_eighty_lines(runner: Any) -> None:
    log = "\n".join(f"FAILED tests/test_a.py::test_{i} - no" for i in range(50))
    outcomes = [
        runner.Outcome(runner.Check(f"check {i}", "x", again="y"), "failed", "z", log)
        for i in range(12)
    ]
    lines = runner.report(outcomes)
    assert len(lines) <= 80
    assert all(f"check {i}: failed, z" in lines for i in range(12))


def test_a_check_that_hangs_is_stopped_with_what_it_started(
    runner: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its group of processes ends: a child that went on would keep the pipe open."""
    monkeypatch.setattr(runner, "HANG", 0.2)
    os.mkfifo(tmp_path / "pipe")
    command = f"(exec 9>{tmp_path}/pipe; echo on >&9; read -r x <{tmp_path}/none) &\n"
    os.mkfifo(tmp_path / "none")
    work = runner.Runner([runner.Check("one", command + "wait")], tmp_path, os.environ)
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    (outcome,) = work.run()
    os.set_blocking(reader, True)
    with os.fdopen(reader) as pipe:
        assert pipe.read() in ("on\n", "")  # it ends: nothing writes any more
    assert (outcome.status, outcome.reason) == ("failed", "it was stopped after 0 s")


def test_ctrl_c_stops_what_runs_and_reports_what_is_known(
    tmp_path: Path,
) -> None:
    """Of two checks that wait for ever, one sends the signal once both have begun."""
    program = tmp_path / "program.py"
    program.write_text(
        "import os, sys, pathlib\n"
        f"sys.path.insert(0, {str(CI)!r})\n"
        "from runner import Check, main\n"
        "one = Check('one', 'echo fine')\n"
        "two = Check('two', 'echo on >begun; read -r x <never', ('one',))\n"
        "send = 'read -r x <begun; kill -{} {}; read -r x <never'\n"
        "send = send.format(sys.argv[1], os.getpid())\n"
        "three = Check('three', send, ('one',), beside=True)\n"
        "checks = [one, two, three, Check('four', 'true')]\n"
        "sys.exit(main(checks, pathlib.Path(), os.environ))\n"
    )
    os.mkfifo(tmp_path / "never")
    os.mkfifo(tmp_path / "begun")
    for name in ("INT", "TERM"):
        command = [sys.executable, str(program), name]
        run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert run.returncode == 1, run.stderr
        assert "fine" in run.stdout
        assert "\ntwo: failed, interrupted\n" in run.stdout
        assert "\nthree: failed, interrupted\n" in run.stdout
        assert "\nfour: not started, interrupted\n" in run.stdout


def test_commands_of_the_readme_run_word_for_word(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Names are different, and what a check needs stands before it."""
    monkeypatch.setitem(sys.modules, "runner", module("runner", monkeypatch))
    checks = module("checks", monkeypatch)
    every = checks.all_checks()
    readme = (CI.parent / "README.md").read_text()
    commands = re.findall(r"^    (python3 -m pip install .* && .*)$", readme, re.M)
    assert len(commands) == 2
    for command, check in zip(commands, every, strict=False):
        assert command in check.command.splitlines()
    names = [check.name for check in every]
    assert len({*names}) == len(names)
    for i, check in enumerate(every):
        assert {*check.needs} <= {*names[:i]}
    assert [c.name for c in checks.chosen(["slow"])] == [
        "README: the tests",
        "tools of the project",
        "slow tests",
    ]
