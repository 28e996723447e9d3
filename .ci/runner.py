"""Runs checks, which are commands, and reports every failure at the end.

A check that fails stops none but those that need it. The others run in two rows, one
after another in each: what uses all cores, and beside it what uses one.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

HANG = (
    2400.0  # s until a check counts as hanging; the longest takes a tenth of it alone
)
LINES = 76  # of the report; with its head it fits into 80
WIDTH = 200  # of a line of the report
# lines of pytest: FAILED or ERROR, the test, the message
FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+\.(?:py|md)\b.*?)(?: - (.*))?$")


@dataclass(frozen=True)
class Check:
    """A check.

    Parameters
    ----------
    name : str
        As in the report.
    command : str
        Lines for bash, each of which has to succeed.
    needs : tuple of str, optional
        Names of checks that must have passed.
    beside : bool, optional
        True for what uses one core.
    again : str, optional
        What runs one of its tests again, before the name of the test.
    """

    name: str
    command: str
    needs: tuple[str, ...] = ()
    beside: bool = False
    again: str = ""


@dataclass
class Outcome:
    """How a check ended."""

    check: Check
    status: str  # "passed", "failed" or "not started"
    reason: str = ""
    log: str = ""
    seconds: float = 0.0
    cpu: float = 0.0  # s


class Runner:
    """Runs checks and keeps how they ended.

    Parameters
    ----------
    checks : sequence of Check
        Those that use one core may stand between the others. What a check needs stands
        before it.
    work : Path
        Directory for what they say.
    environment : mapping of str to str
        Environment of all commands.
    """

    def __init__(
        self, checks: Sequence[Check], work: Path, environment: Mapping[str, str]
    ) -> None:
        self.checks, self.work, self.environment = checks, work, dict(environment)
        self.ended: dict[str, Outcome] = {}
        self.interrupted = False
        self._running: set[int] = set()
        self._change = threading.Condition()
        self._begun = time.monotonic()

    def run(self) -> list[Outcome]:
        """Run all checks; return how they ended, in their order.

        Ctrl-C and SIGTERM stop those that run; the others are not started.
        """
        rows = [[c for c in self.checks if c.beside is one] for one in (False, True)]
        with ThreadPoolExecutor(len(rows)) as threads:
            futures = [threads.submit(self._row, row) for row in rows]
            try:
                # a signal that comes as the wait begins is noticed when it begins anew
                while wait(futures, timeout=1.0).not_done:
                    pass
            except KeyboardInterrupt:
                self._stop()
        for row in futures:
            row.result()
        self.seconds = time.monotonic() - self._begun
        return [self.ended[check.name] for check in self.checks]

    def _stop(self) -> None:
        with self._change:
            self.interrupted = True
            for pid in self._running:
                os.killpg(pid, signal.SIGKILL)

    def _row(self, checks: Sequence[Check]) -> None:
        try:
            for check in checks:
                self._end(self._outcome(check))
        finally:  # after a fault of ours the other row does not wait for ever
            for check in checks:
                if check.name not in self.ended:
                    self._end(Outcome(check, "not started", "its row has ended"))

    def _end(self, outcome: Outcome) -> None:
        with self._change:
            took = f"{outcome.seconds:.0f} s"
            print(f"\n== {outcome.check.name}: {outcome.status}, {took}")
            print(outcome.log or outcome.reason, flush=True)
            self.ended[outcome.check.name] = outcome
            self._change.notify_all()

    def _outcome(self, check: Check) -> Outcome:
        """Run one check once what it needs has ended."""
        with self._change:
            self._change.wait_for(lambda: {*check.needs} <= {*self.ended})
        for name in check.needs:
            if self.ended[name].status != "passed":
                reason = f"it needs {name!r}, which did not pass"
                return Outcome(check, "not started", reason)
        path = self.work / (re.sub(r"\W+", "-", check.name) + ".log")
        begun = time.monotonic()
        with path.open("wb") as file:
            with self._change:
                if self.interrupted:
                    return Outcome(check, "not started", "interrupted")
                # a group of its own: a check that is stopped ends with all it started
                child = subprocess.Popen(
                    ["bash", "-euo", "pipefail", "-c", check.command],
                    stdin=subprocess.DEVNULL,
                    stdout=file,
                    stderr=subprocess.STDOUT,
                    env=self.environment,
                    start_new_session=True,
                )
                self._running.add(child.pid)
            timer = threading.Timer(HANG, os.killpg, (child.pid, signal.SIGKILL))
            timer.start()
            os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
            timer.cancel()
            with self._change:  # its number is its own until here
                self._running.remove(child.pid)
            _, code, usage = os.wait4(child.pid, 0)
        seconds = time.monotonic() - begun
        child.returncode = os.waitstatus_to_exitcode(code)
        reason = f"exit status {child.returncode}" if child.returncode else ""
        if seconds > HANG:
            reason = f"it was stopped after {HANG:.0f} s"
        elif reason and self.interrupted:
            reason = "interrupted"
        return Outcome(
            check,
            "failed" if reason else "passed",
            reason,
            path.read_text(errors="replace"),
            seconds,
            usage.ru_utime + usage.ru_stime,
        )


def timings(outcomes: Sequence[Outcome], seconds: float) -> list[str]:
    """Return a table of what the checks took."""
    lines = [f"== {seconds:.0f} s in all; each check, by the clock and in CPU time"]
    for o in outcomes:
        lines.append(f"{o.seconds:6.0f} s {o.cpu:6.0f} s  {o.check.name}")
    return lines


def failures(outcome: Outcome) -> list[str]:
    """Return what a failed check says about itself: tests and messages, or its end."""
    check = outcome.check
    lines = []
    for line in outcome.log.splitlines():
        found = FAILED.match(line.strip())
        if found:
            test, message = found[1], found[2] or "see its output above"
            lines.append(f"  {test}: {message}"[:WIDTH])
            if check.again:
                lines.append(f"    again: {check.again} '{test}'")
    if not lines:
        said = [line for line in outcome.log.splitlines() if line.strip()]
        lines = [f"  {line}"[:WIDTH] for line in said[-6:]]
    return lines


def report(outcomes: Sequence[Outcome]) -> list[str]:
    """Return the last lines: every failed check, its tests, how to run them again."""
    bad = [o for o in outcomes if o.status != "passed"]
    if not bad:
        return [f"== all {len(outcomes)} checks passed"]
    blocks = []
    for o in bad:
        block = [f"{o.check.name}: {o.status}, {o.reason}"]
        if o.status == "failed":
            block += failures(o)
            if not any("again:" in line for line in block):
                block.append(
                    f"    again: python3 .ci/checks.py --here '{o.check.name}'"
                )
        blocks.append(block)
    # room for each: of a check with many failures only the first ones
    room = max(LINES // len(blocks), 3)
    lines = [f"== FAILED: {len(bad)} of {len(outcomes)} checks"]
    for block in blocks:
        left = len(block) - room
        if left > 0:
            block = [*block[: room - 1], f"  ... {left + 1} more lines above"]
        lines += block
    return lines


def main(checks: Sequence[Check], work: Path, environment: Mapping[str, str]) -> int:
    """Run checks and print the report; return 1 if one has not passed."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    runner = Runner(checks, work, environment)
    outcomes = runner.run()
    print("", *timings(outcomes, runner.seconds), "", *report(outcomes), sep="\n")
    sys.stdout.flush()
    return int(any(o.status != "passed" for o in outcomes))
