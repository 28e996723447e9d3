"""Calls of one process: ``python -m attack.worker FOLDER TASK``.

Each call is named before it is made, in a file that outlives a crash; findings are
lines of JSON on the standard output.
"""

from __future__ import annotations

import contextlib
import dataclasses
import faulthandler
import gc
import io
import json
import mmap
import os
import resource
import signal
import struct
import sys
import warnings
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

os.environ.setdefault("MPLBACKEND", "Agg")

import numpy as np

from flexarm import errors

from . import breaks, calls, judge

LIMIT = "ATTACK_SECONDS"  # a variable of the environment
# Processor time in s for a call.
SECONDS = float(os.environ.get(LIMIT, "5"))
# Time in s of a clock, on a machine that does other things.
WALL = 40.0 * SECONDS
MEMORY = 6 * 2**30
POISONED = 77  # status of a process that NumPy has given up
FULL = 78  # that of one without memory for the next call


class Hang(BaseException):
    """A call took longer than it may."""


def _on_time(number: int, frame: FrameType | None) -> None:
    raise Hang


@contextlib.contextmanager
def limited(seconds: float = SECONDS) -> Any:
    """Raise `Hang` in the middle of what takes longer."""
    before = signal.signal(signal.SIGPROF, _on_time)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


def attempt(call: calls.Call) -> tuple[list[judge.Finding], Any]:
    """Make a call and judge it."""
    found: list[judge.Finding] = []
    before = judge.argument_prints(call)
    name = call.target.name
    result: Any = None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            with limited(), contextlib.redirect_stdout(io.StringIO()):
                result = call.run()
                found += judge.judge_result(call, result)
        except Hang as error:
            rank, kind = (2, "long, as asked") if asked(call) else (0, "hang")
            text = f"more than {SECONDS:g} s"
            found.append(judge._found(call, error, rank, kind, text))
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            one = judge.judge_error(call, error)
            if one is not None:
                found.append(one)
            call.refusal = error
    found += judge.judge_warnings(call, caught)
    after = judge.argument_prints(call)
    for key, print_ in before.items():
        if after.get(key, print_) != print_:
            found.append(judge.Finding(0, "changed input", name, "argument", key))
    return found, result


def asked(call: calls.Call) -> bool:
    """Whether a huge number of steps or of states was asked for."""
    if any("2**40" in label for label in call.wild.values()):
        return True
    counts = ("max_steps", "max_iterations", "restarts", "time_limit", "search")
    return any(name in call.wild for name in counts)


# refusals, by whether they name the wild argument
REFUSED: Counter[bool] = Counter()
UNSTEADY = (  # results of a random draw, a clock or a file
    "studies.sweep", "library.random_tree", "optimize.", "plotting.", "build_info",
    "inverse_kinematics", "inverse_statics", "interop.", "workspace_map",
)  # fmt: skip


def repeat(seed: int, index: int, first: Any) -> list[judge.Finding]:
    """Whether the same call gives the same bits again."""
    call = calls.build(seed, index)
    if call.target.name.startswith(UNSTEADY):
        return []
    if any(v is None for k, v in call.args.items() if k in ("rng", "seed")):
        return []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with limited():
                second = call.run()
        except BaseException:
            return []
    if judge.fingerprint(first) == judge.fingerprint(second):
        return []
    name = call.target.name
    return [judge.Finding(0, "another result", name, "result", "of the same call")]


def refused_anyway(seed: int, index: int, call: calls.Call) -> bool:
    """Whether a call has the same refusal with ordinary arguments for the wild ones."""
    try:
        with warnings.catch_warnings(), limited():
            warnings.simplefilter("ignore")
            with contextlib.redirect_stdout(io.StringIO()):
                calls.build(seed, index, frozenset(call.wild)).run()
    except errors.FlexarmError as error:
        return judge.normal(str(error)) == judge.normal(str(call.refusal))
    except (Exception, Hang):
        return False
    return False


def one(seed: int, index: int, check_repeat: bool = False) -> list[judge.Finding]:
    """Findings of one call, with its text."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with limited(4.0 * SECONDS):
                call = calls.build(seed, index)
    except calls.Unbuildable as error:
        return [judge.Finding(3, "unbuildable", str(error), "", "", seed, index)]
    except Hang:
        return [judge.Finding(3, "unbuildable", "hang", "", "", seed, index)]
    text = call.text
    found, result = attempt(call)
    if call.refusal is not None:
        named = judge.names_culprit(call, call.refusal)
        if all(named) or not refused_anyway(seed, index, call):
            REFUSED.update(named)
    if check_repeat and not found and result is not None:
        found += repeat(seed, index, result)
    if index % 25 == 3:
        with limited(4.0 * SECONDS):
            found += breaks.check(seed, index)
    for finding in found:
        finding.seed, finding.index, finding.call = seed, index, text
        finding.room = call.target.room
    return found


def shrink(seed: int, index: int, key: tuple[str, ...]) -> str:
    """The call with as few arguments as still show what was found."""
    full = calls.build(seed, index)
    names = [n for n in (*full.wild, *full.optional) if n in full.args]
    without: frozenset[str] = frozenset()
    for name in names:
        if name in full.wild and len(set(full.wild) - without) == 1:
            continue
        smaller = without | {name}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                call = calls.build(seed, index, smaller)
        except calls.Unbuildable:
            continue
        if any(f.key == key for f in attempt(call)[0]):
            without = smaller
    return calls.build(seed, index, without).text


def poisoned() -> bool:
    """Whether a spoilt pickle has changed a type of NumPy for the whole process.

    The state of a pickled dtype is given to the one of which there is only one if the
    byte that asks for a copy is wrong.
    """
    kinds = ("f8", "f4", "i8", "i4", "u1", "c16", "b1")
    try:
        with np.errstate(all="ignore"):
            np.eye(2) @ np.ones(2)
            return any(np.dtype(kind).flags for kind in kinds)
    except RuntimeError:
        return True


def make_calls(folder: Path, trace: Any, seed: int, start: int, stop: int) -> None:
    """Make calls, and print what is wrong with them."""
    place = (folder / "call").open("r+b")
    at = mmap.mmap(place.fileno(), 16)
    for index in range(start, stop):
        struct.pack_into("qq", at, 0, seed, index)
        faulthandler.dump_traceback_later(WALL, exit=True, file=trace)
        try:
            found = one(seed, index, check_repeat=index % 20 == 0)
        except MemoryError:  # of the attack itself: calls before hold too much
            _leave(FULL)
        faulthandler.cancel_dump_traceback_later()
        if poisoned():
            _leave(POISONED)
        for finding in found:
            print(json.dumps(dataclasses.asdict(finding)), flush=True)
        if index % 50 == 0:
            _tidy()
    struct.pack_into("qq", at, 0, seed, stop)
    print(json.dumps([REFUSED[True], REFUSED[False]]), flush=True)


def _leave(status: int) -> None:
    """End the process, so that the supervisor goes on in another one."""
    print(json.dumps([REFUSED[True], REFUSED[False]]), flush=True)
    os._exit(status)


def _tidy() -> None:
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        pyplot.close("all")
    gc.collect()


def shrink_all(folder: Path, trace: Any) -> None:
    """Print the shrunk texts of findings, a line each."""
    for seed, index, key in json.loads((folder / "shrink").read_text()):
        faulthandler.dump_traceback_later(4.0 * WALL, exit=True, file=trace)
        print(json.dumps(shrink(seed, index, tuple(key))), flush=True)
        _tidy()


def main(folder: Path, task: str, *numbers: str) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.chdir(folder)
    with (folder / "trace").open("w") as trace:
        faulthandler.enable(trace)
        if task == "shrink":
            shrink_all(folder, trace)
        else:
            make_calls(folder, trace, *map(int, numbers))


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
