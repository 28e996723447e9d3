"""Ctrl-C in every driver: from another process at random times, and at random calls."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from statistics import median
from typing import Any

from driver_calls import DRIVERS, NEEDED, fault
from interrupts import Press, Struck, ctrl_c, struck

from . import Row

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
            how, result, end = "raised", None, 0.0
            with ctrl_c() as raised, warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                try:
                    other.stdin.write(f"{os.getpid()} {delay}\n")
                    result = call()
                    end = time.monotonic()
                    how = "returned" if raised.is_set() else "over"
                    raised.wait()
                except KeyboardInterrupt:
                    end = end or time.monotonic()
                sent = float(other.stdout.readline())
            return Struck(how, end - sent, result, [w.category for w in caught])

        try:
            yield strike
        finally:
            other.stdin.close()


def spans(call: Callable[[], Any]) -> tuple[float, int]:
    """Seconds that a driver takes, and its calls of functions of flexarm."""
    press = Press(-1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        began = time.monotonic()
        call()
        seconds = time.monotonic() - began
        try:
            press.wait()
            call()
        finally:
            press.over()
    return seconds, press.calls


def rows(problems: int, seed: int, names: Iterable[str] = DRIVERS) -> Iterator[Row]:
    """Of each driver, so many signals at random times, and so many at random calls."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    before, sys.unraisablehook = sys.unraisablehook, lambda _: None  # found by drivers
    try:
        with sender() as strike:
            for name in names:
                if name not in NEEDED or find_spec(NEEDED[name]):
                    yield of_driver(name, problems, seed, strike)
    finally:
        sys.unraisablehook = before


def of_driver(
    name: str, problems: int, seed: int, strike: Callable[..., Struck]
) -> Row:
    """Ends of one driver: their kinds, how late they are, and the first fault."""
    call = DRIVERS[name][0]
    seconds, calls = spans(call)
    rng = random.Random(f"{name} {seed}")
    timed: list[Struck] = []
    while len(timed) < problems:
        end = strike(call, rng.uniform(0.0, seconds))
        if end.how == "over":
            seconds *= 0.7
        else:
            timed.append(end)
    counted = [struck(call, rng.randint(1, calls)) for _ in range(problems)]
    ends = [*timed, *counted]
    faults = [f"{text} {end.place}" for end in ends if (text := fault(end))]
    how = Counter(end.how for end in ends)
    cells = {
        "driver": name,
        "returned": how["returned"],
        "raised": how["raised"],
        "median delay, s": f"{median(end.late for end in timed):.2f}",
        "longest, s": f"{max(end.late for end in timed):.2f}",
        "most calls from Ctrl-C to the end": max(end.late for end in counted),
        "functions called": calls,
    }
    return Row(cells, f"{len(faults)}, as {faults[0]}" if faults else "")
