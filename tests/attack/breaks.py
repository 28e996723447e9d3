"""Ctrl-C at a random line of the package in the middle of an ordinary call.

What has been interrupted is made again, on the same arm: it gives the same bits as on
an arm of which no call was interrupted, and its arguments are as they were.
"""

from __future__ import annotations

import sys
import warnings
from types import FrameType
from typing import Any

import numpy as np

from . import calls, judge

# they return what they have, marked as not completed; CasADi has errors of its own
SWALLOW = (
    "simulate",
    "equilibrium",
    "Arm.equilibrium",
    "ArmStack.equilibrium",
    "inverse_kinematics",
    "equilibrium",  # those found so far
    "Arm.equilibrium",
    "ArmStack.equilibrium",
    "control.simulate_loop",
    "reference.patent_loop.ManipulatorController.run",
    "interop.",
)
# objects that go on from call to call
STATEFUL = (
    "control.AdaptiveControl", "control.DisturbanceObserver",
    "control.ExtendedKalmanFilter", "control.ObservedLaw", "control.PredictiveControl",
    "reference.patent_loop.JointSensors", "reference.patent_loop.SimulatedPlant",
    "reference.patent_loop.ManipulatorController",
)  # fmt: skip
# with clocks, random draws and files
UNFIT = ("optimize.", "plotting.", "studies.", "library.random_tree", "build_info")


class Breaker:
    """A trace function that raises at a line of the package; at none to count them."""

    def __init__(self, line: int = -1) -> None:
        self.line = line
        self.count = 0
        self.where = ""

    def __call__(self, frame: FrameType, event: str, arg: Any) -> Any:
        if not frame.f_code.co_filename.startswith(judge.FLEXARM):
            return None
        return self.inside

    def inside(self, frame: FrameType, event: str, arg: Any) -> Any:
        if event == "line":
            self.count += 1
            if self.count == self.line:
                name = frame.f_code.co_filename.removeprefix(judge.FLEXARM)
                self.where = f"{name.lstrip('/')}:{frame.f_lineno}"
                raise KeyboardInterrupt
        return self.inside


def run(call: calls.Call, breaker: Breaker | None) -> Any:
    """Outcome of a call: its fingerprint, or its error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        before = sys.gettrace()
        sys.settrace(breaker)
        try:
            return judge.fingerprint(call.run())
        except KeyboardInterrupt:
            return KeyboardInterrupt
        except Exception as error:
            return (type(error).__name__, str(error))
        finally:
            sys.settrace(before)


def check(seed: int, index: int) -> list[judge.Finding]:
    """State that an interrupt has left behind."""

    def fresh() -> calls.Call:
        return calls.build(seed, index, plain=True)

    call = fresh()
    name = call.target.name
    if call.target.kind == "spoilt" or name.startswith(UNFIT):
        return []
    counter = Breaker()
    first = run(call, counter)
    if not counter.count:
        return []
    line = int(np.random.default_rng([seed, index, 1]).integers(counter.count)) + 1
    broken = fresh()
    prints = judge.argument_prints(broken)
    breaker = Breaker(line)
    outcome = run(broken, breaker)
    found = []
    went_on = breaker.where and outcome is not KeyboardInterrupt
    if went_on and not name.startswith(SWALLOW):
        text = f"the call went on: {str(outcome)[:100]}"
        found.append((1, "interrupt swallowed", text))
    if judge.argument_prints(broken) != prints:
        found.append((0, "argument changed by an interrupt", ""))
    again = run(broken, None) if not name.startswith(STATEFUL) else first
    if again != first:
        found.append((0, "another result after an interrupt", str(again)[:100]))
    return [
        judge.Finding(rank, kind, name, breaker.where, text, seed, index, broken.text)
        for rank, kind, text in found
    ]
