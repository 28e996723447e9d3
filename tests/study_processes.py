"""Processes for test_study_stores.py: two on one store, kills, limits of files.

    python study_processes.py FOLDER SEED COUNT

Each of so many rounds forks, so that imports and a first study are paid for once; no
thread runs before a fork. Prints one line of JSON for each.
"""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import sys
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import xarray  # noqa: F401
import zarr  # noqa: F401
from interrupts import Press

import flexarm as fa
from flexarm.studies import sweep

POINTS, CHUNK = 24, 2
# Calls of functions of flexarm in a whole study, about.
CALLS = 1000


def noted(log: str, call: tuple[int, int], x: float) -> dict[str, Any]:
    """Note each point in a file, in one write of the system; call another process."""
    file = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(file, f"{int(x)}\n".encode())
    os.close(file)
    point, pipe = call
    if x == point:
        os.write(pipe, b"x")
    return {"square": x**2, "text": f"{x:g}"}


NOBODY = (-1, -1)


def study(path: Path, call: tuple[int, int] = NOBODY) -> Any:
    function = partial(noted, str(path.parent / "log"), call)
    grid = {"x": (np.arange(float(POINTS)), "m")}
    options: dict[str, Any] = {"chunk": CHUNK, "progress": False, "key": "noted"}
    ds = sweep(function, grid, path=path, **options)
    np.testing.assert_array_equal(ds.square, grid["x"][0] ** 2)
    assert ds.text.values.tolist() == [f"{x:g}" for x in grid["x"][0]]
    return ds


def child(work: Callable[[], Any]) -> int:
    """Fork a process: 0 if it succeeds, 1 if it is refused, 2 for other errors."""
    pid = os.fork()
    if pid:
        return pid
    code = 2
    try:
        work()
        code = 0
    except fa.ArgumentError as error:
        code = 1 if "is in use by" in str(error) else 2
        if code == 2:
            traceback.print_exc()
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def ended(pid: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def counts(folder: Path) -> Counter[int]:
    return Counter(map(int, (folder / "log").read_text().split()))


def check_done(folder: Path, path: Path) -> None:
    """All is there, no point is computed again, and nothing is left over."""
    before = counts(folder)
    assert ended(child(lambda: study(path))) == 0
    assert counts(folder) == before
    assert sorted(os.listdir(folder)) == ["log", path.name]


def race(folder: Path, path: Path, draw: random.Random) -> str:
    """Two processes, the second from a point of the first: each is computed once."""
    point = draw.choice([-1, 0, 1, POINTS // 2, POINTS - 1])
    hears, calls = os.pipe()
    if point < 0:
        os.write(calls, b"x")

    def second() -> None:
        os.read(hears, 1)
        study(path)

    first = partial(study, path, (point, calls))
    pids = [child(second), child(first)]
    codes = sorted(map(ended, pids))
    assert codes in ([0, 0], [0, 1]), codes
    assert counts(folder) == Counter(range(POINTS))
    check_done(folder, path)
    for file in (hears, calls):
        os.close(file)
    return f"from point {point}, codes {codes}"


def kill(folder: Path, path: Path, draw: random.Random) -> str:
    """A process is killed again and again: what it has kept is not computed again."""
    kills = 0
    while True:
        last = draw.randint(1, CALLS) if kills < 5 else -1

        def killed(last: int = last) -> None:
            Press(last, signal.SIGKILL).wait()
            study(path)

        code = ended(child(killed))
        if code == 0:
            break
        assert code == -signal.SIGKILL, code
        kills += 1
    again = counts(folder)
    assert set(again) == set(range(POINTS))
    # of a killed process, only the points of one part are lost
    assert sum(again.values()) <= POINTS + kills * CHUNK
    check_done(folder, path)
    return f"{kills} kills, {sum(again.values()) - POINTS} points again"


def limit(folder: Path, path: Path, draw: random.Random) -> str:
    """No file may exceed some bytes: the study goes on, returns all, and warns."""
    size = draw.choice([0, 50, 500, 2500])

    def limited() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        function = partial(noted, os.devnull, NOBODY)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
            ds = sweep(function, {"x": np.arange(float(POINTS))}, path=path)
        np.testing.assert_array_equal(ds.square, np.arange(float(POINTS)) ** 2)
        texts = [str(w.message) for w in caught if w.category is fa.StudyWarning]
        assert any("cannot be written" in text for text in texts), texts
        assert all("\n" not in text and len(text) < 400 for text in texts), texts

    assert ended(child(limited)) == 0
    (folder / "log").touch()
    assert not path.exists()
    names = os.listdir(folder)
    assert set(names) <= {"log", path.name + ".parts"}, names

    def unlimited() -> None:
        function = partial(noted, os.devnull, NOBODY)
        ds = sweep(function, {"x": np.arange(float(POINTS))}, path=path)
        np.testing.assert_array_equal(ds.square, np.arange(float(POINTS)) ** 2)

    assert ended(child(unlimited)) == 0
    assert sorted(os.listdir(folder)) == ["log", path.name]
    return f"{size} bytes"


def main(place: Path, seed: int, count: int) -> None:
    """Print cells and fault of each round."""
    (place / "first").mkdir()
    study(place / "first" / "study.nc")  # it imports what a study needs
    for i in range(count):
        for what in (race, kill, limit):
            draw = random.Random(f"{seed} {what.__name__} {i}")
            folder = place / f"{what.__name__}{i}"
            folder.mkdir()
            path = folder / f"study{draw.choice(['.nc', '.zarr'])}"
            cells, fault = {"round": i, "what": what.__name__, "file": path.suffix}, ""
            try:
                cells["end"] = what(folder, path, draw)
            except AssertionError as error:
                line = traceback.extract_tb(error.__traceback__)[-1]
                fault = f"line {line.lineno}: {line.line} {error}"
            print(json.dumps([cells, fault]), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
