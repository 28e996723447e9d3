"""Ctrl-C at a call of a function, at a place of a run, or from a timer, for tests."""

from __future__ import annotations

import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any, NamedTuple

import numpy as np
import pytest

import flexarm
from flexarm.simulation.run import Run

FLEXARM = flexarm.__path__[0]


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
def ctrl_c(once: bool = False) -> Iterator[Event]:
    """SIGINT raises KeyboardInterrupt, and tells by the event that it has.

    Where it raises once, it is silent from then on.

    A shell has jobs in the background ignore this signal, the tests among them.
    """
    raised = Event()

    def raise_it(*_: Any) -> None:
        if once and raised.is_set():
            return
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


class Press:
    """A signal at the n-th call of a function of flexarm from now on, and at no other.

    The first line of a function is where Python looks for signals. What is called
    while a module is imported for the first time does not count.
    """

    def __init__(self, number: int, signal: int = signal.SIGINT) -> None:
        self.number, self.signal = number, signal
        self.calls = self.late = 0  # until the signal, and from it
        self.place = ""
        self._imports: Any = None
        self._before: tuple[Any, Any] = (None, None)

    def wait(self) -> None:
        """Count from here on."""
        self._before = sys.getprofile(), sys.gettrace()
        sys.setprofile(self._called)

    def over(self) -> None:
        """Count no more; coverage and debuggers go on."""
        sys.setprofile(self._before[0])
        sys.settrace(self._before[1])

    def _called(self, frame: Any, event: str, arg: Any) -> None:
        code = frame.f_code
        if frame is self._imports and event == "return":
            self._imports = None
        if event != "call" or not code.co_filename.startswith(FLEXARM):
            return
        if code.co_name == "<module>":
            self._imports = self._imports or frame
        if self._imports is not None:
            return
        self.calls += 1
        if self.calls == self.number:
            self.place = f"{code.co_filename.removeprefix(FLEXARM)} {code.co_name}"
            sys.setprofile(None)  # so does Python after what this function raises
            sys.settrace(self._called_after)
            signal.raise_signal(self.signal)

    def _called_after(self, frame: Any, event: str, arg: Any) -> None:
        self.late += frame.f_code.co_filename.startswith(FLEXARM)


class Struck(NamedTuple):
    """How a call ended in the middle of which Ctrl-C was pressed."""

    how: str  # "over" before it, "raised" KeyboardInterrupt, or "returned"
    late: float  # calls of functions, or seconds, from the signal to the end
    result: Any
    warned: list[Any]  # categories of warnings
    place: str = ""  # function where it was pressed


def struck(call: Callable[[], Any], number: int) -> Struck:
    """Make a call with Ctrl-C at the n-th call of a function of flexarm in it."""
    press = Press(number)
    how, result = "raised", None
    with ctrl_c() as raised, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            press.wait()
            result = call()
            how = "returned" if raised.is_set() else "over"
        except KeyboardInterrupt:
            pass
        finally:
            press.over()
    return Struck(how, press.late, result, [w.category for w in caught], press.place)
