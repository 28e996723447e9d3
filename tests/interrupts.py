"""Ctrl-C from a timer, from another process, or at a place of a run, for the tests."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any, NamedTuple

import numpy as np
import pytest

from flexarm.simulation.run import Run


@contextmanager
def interrupt_after(seconds: float) -> Iterator[None]:
    """KeyboardInterrupt from a signal, as Ctrl-C makes it.

    For calls that may be interrupted before they have begun, as on a slow machine.
    """

    def raise_it(*_: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, raise_it)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def ctrl_c() -> Iterator[Event]:
    """SIGINT raises KeyboardInterrupt, and tells by the event that it has.

    A shell has jobs in the background ignore this signal, the tests among them.
    """
    raised = Event()

    def raise_it(*_: Any) -> None:
        raised.set()
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, raise_it)
    try:
        yield raised
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def interrupt_when(reached: Callable[[], bool], later: float = 0.0) -> Iterator[None]:
    """Ctrl-C once another thread sees that what runs has come so far, or later by s."""
    over = Event()

    def watch() -> None:
        while not over.wait(1e-3):
            if reached() and not over.wait(later):
                signal.raise_signal(signal.SIGINT)
                return

    watcher = Thread(target=watch)
    with ctrl_c():
        watcher.start()
        try:
            yield
        finally:
            over.set()
            watcher.join()


@contextmanager
def interrupt_at(sample: int, later: float = 0.0) -> Iterator[None]:
    """Ctrl-C once `simulate` has a sample, or later by s."""
    start, begun = Run.start, []

    def started(run: Run) -> None:
        start(run)
        assert run.q.size and run.qd.size and run.tau.size  # made before they are seen
        begun.append(run)

    def reached() -> bool:
        return bool(begun) and bool(np.isfinite(begun[0].qd[0, sample]).all())

    with pytest.MonkeyPatch.context() as patch, interrupt_when(reached, later):
        patch.setattr(Run, "start", started)
        yield


class Struck(NamedTuple):
    """How a call ended to which another process sent SIGINT."""

    how: str  # "over" before it, "raised" KeyboardInterrupt, or "returned"
    late: float  # seconds from the signal to the end
    result: Any


# waits as each line says, then sends SIGINT and says when
_SENDER = """
import os, signal, sys, time
for line in sys.stdin:
    pid, delay = line.split()
    time.sleep(float(delay))
    now = time.monotonic()
    os.kill(int(pid), signal.SIGINT)
    print(now, flush=True)
"""


@contextmanager
def sender() -> Iterator[Callable[[Callable[[], Any], float], Struck]]:
    """Yield a function that strikes a call after some seconds, from another process.

    So the signal arrives also while the call holds the lock of the interpreter.
    """
    command = [sys.executable, "-S", "-c", _SENDER]
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, bufsize=1, start_new_session=True, **pipes) as other:
        assert other.stdin is not None
        assert other.stdout is not None

        def strike(call: Callable[[], Any], delay: float) -> Struck:
            assert other.stdin is not None
            assert other.stdout is not None
            with ctrl_c() as raised:
                how, result, end = "raised", None, 0.0
                try:
                    other.stdin.write(f"{os.getpid()} {delay}\n")
                    result = call()
                    end = time.monotonic()
                    how = "returned" if raised.is_set() else "over"
                    while not raised.wait(60.0):
                        raise AssertionError("no signal within a minute")
                except KeyboardInterrupt:
                    end = end or time.monotonic()
                sent = float(other.stdout.readline())
            return Struck(how, end - sent, result)

        try:
            yield strike
        finally:
            other.stdin.close()
            other.wait(10.0)
