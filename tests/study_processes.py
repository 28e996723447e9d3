"""Processes for test_study_stores.py: two on one store, kills, limits of files.

    python study_processes.py FOLDER SEED race=2 kill=1 limit=1

Each round forks, so that imports and a first study are paid for once; no thread runs
before a fork.
Prints one line for each round.
"""

from __future__ import annotations

import os
import random
import resource
import signal
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

import flexarm as fa
from flexarm.studies import sweep

POINTS, CHUNK = 24, 2


def noted(log: str, pause: float, x: float) -> dict[str, Any]:
    """Note each point in a file, in one write of the system."""
    file = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(file, f"{int(x)}\n".encode())
    os.close(file)
    time.sleep(pause)
    return {"square": x**2, "text": f"{x:g}"}


def study(path: Path) -> Any:
    function = partial(noted, str(path.parent / "log"), 2e-3)
    grid = {"x": (np.arange(float(POINTS)), "m")}
    ds = sweep(function, grid, path=path, chunk=CHUNK, progress=False)
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
    """Two processes start together: every point is computed once."""
    start = time.time() + 0.02

    def work(later: float) -> None:
        time.sleep(max(0.0, start + later - time.time()))
        study(path)

    laters = [0.0, draw.choice([0.0, 0.0, 1e-3, 0.03, 0.1])]
    pids = [child(partial(work, later)) for later in laters]
    codes = sorted(map(ended, pids))
    assert codes in ([0, 0], [0, 1]), codes
    assert counts(folder) == Counter(range(POINTS))
    check_done(folder, path)
    return f"codes {codes}"


def kill(folder: Path, path: Path, draw: random.Random) -> str:
    """A process is killed again and again: what it has kept is not computed again."""
    kills = 0
    while True:
        pid = child(lambda: study(path))
        if kills < 5:
            time.sleep(draw.uniform(0.0, 0.15))
            os.kill(pid, signal.SIGKILL)
        code = ended(pid)
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
        function = partial(noted, os.devnull, 0.0)
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
        function = partial(noted, os.devnull, 0.0)
        ds = sweep(function, {"x": np.arange(float(POINTS))}, path=path)
        np.testing.assert_array_equal(ds.square, np.arange(float(POINTS)) ** 2)

    assert ended(child(unlimited)) == 0
    assert sorted(os.listdir(folder)) == ["log", path.name]
    return f"{size} bytes"


def main() -> None:
    place, seed, *wanted = sys.argv[1:]
    import_module("zarr")
    draw = random.Random(int(seed))
    Path(place, "first").mkdir()
    study(Path(place, "first", "study.nc"))  # which imports the rest
    counted = [given.split("=") for given in wanted]
    for what, i in [(what, i) for what, n in counted for i in range(int(n))]:
        folder = Path(place, f"{what}{i}")
        folder.mkdir()
        path = folder / f"study{draw.choice(['.nc', '.zarr'])}"
        done = {"race": race, "kill": kill, "limit": limit}[what](folder, path, draw)
        print(f"{what} {i} {path.suffix}: {done}", flush=True)


if __name__ == "__main__":
    main()
