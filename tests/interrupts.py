"""Ctrl-C from a timer, or when a run has come so far, for the tests."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any

import numpy as np
import pytest

from flexarm._simulate_run import Run


@contextmanager
def interrupt_after(seconds: float) -> Iterator[None]:
    """KeyboardInterrupt from a signal, as Ctrl-C makes it."""

    def raise_it(*_: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, raise_it)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def interrupt_at(sample: int, later: float = 0.0) -> Iterator[None]:
    """KeyboardInterrupt from a signal once `simulate` has a sample, or later by s."""
    over, start = Event(), Run.start

    def watch(run: Run) -> None:
        while not np.isfinite(run.qd[0, sample]).all():
            if over.wait(1e-3):
                return
        if not over.wait(later):
            signal.raise_signal(signal.SIGINT)

    def started(run: Run) -> None:
        start(run)
        assert run.q.size and run.qd.size and run.tau.size  # made before they are seen
        threads.append(Thread(target=watch, args=(run,)))
        threads[0].start()

    threads: list[Thread] = []
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Run, "start", started)
            yield
    finally:
        over.set()
        for thread in threads:
            thread.join()
        signal.signal(signal.SIGINT, before)
