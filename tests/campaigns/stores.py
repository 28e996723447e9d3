"""Stores of studies with damaged bytes: the right numbers again, or one sentence."""

from __future__ import annotations

import random
import shutil
import warnings
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import flexarm as fa
from flexarm.studies import sweep

from . import Row

GRID = {"x": (np.arange(6), "m"), "y": ([1.0, 2.0], "s")}


def values(x: int, y: float) -> dict[str, Any]:
    return {
        "n": 2**40 + x,
        "large": 2**60 + 1 + x,
        "sure": x > y,
        "z": complex(x, -y),
        "name": f"{x}/{y:g}",
        "end": np.array([x, y, np.nan, np.inf]),
    }


def until(x: int, y: float) -> dict[str, Any]:
    """`values`, interrupted when all but the last third is computed."""
    if x == 4 and stopping:
        raise KeyboardInterrupt
    return values(x, y)


stopping: list[bool] = []
KEY = {"key": "values", "seed": 0, "chunk": 2}  # `stopping` changes


def study(path: Path | None) -> Any:
    options: Any = {"seed": 0} if path is None else {**KEY, "path": path}
    return sweep(until, GRID, progress=False, outputs=list(values(0, 0.0)), **options)


def stores(folder: Path) -> list[Path]:
    """A finished and an interrupted study of each kind."""
    found = []
    for suffix in (".nc", ".zarr"):
        for name in ("whole", "part"):
            path = folder / name / f"study{suffix}"
            stopping[:] = [True] * (name == "part")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", fa.StudyWarning)
                study(path)
            found.append(path)
    stopping.clear()
    return found


def files(path: Path) -> list[Path]:
    places = [path, path.with_name(path.name + ".parts")]
    found = [p for place in places for p in [place, *sorted(place.rglob("*"))]]
    return [p for p in found if p.is_file()]


def corrupt(path: Path, draw: random.Random) -> str:
    """Damage one file of a store; return what was done."""
    file = draw.choice(files(path))
    data = bytearray(file.read_bytes())
    kind = draw.choice(["flip"] * 6 + ["cut", "empty", "remove", "swap", "zeros"])
    at = draw.randrange(max(1, len(data)))
    if kind == "flip":
        for _ in range(draw.choice([1, 1, 1, 3, 30])):
            data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    elif kind == "cut":
        del data[at:]
    elif kind == "empty":
        data.clear()
    elif kind == "zeros":
        data[at : at + 64] = bytes(len(data[at : at + 64]))
    elif kind == "swap":
        other = draw.choice(files(path))
        saved = other.read_bytes()
        other.write_bytes(bytes(data))
        data = bytearray(saved)
    file.write_bytes(bytes(data))
    if kind == "remove":
        file.unlink()
    return f"{kind} {file.name} at {at}"


def outcome(path: Path, draw: random.Random, expected: Any) -> str:
    """Damage a store and call again: "right", "refused" in one sentence, or a fault."""
    done = corrupt(path, draw)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found, end = [study(path), study(path)], "right"
        except fa.ArgumentError as error:
            found, end, text = [], "refused", str(error)
            if "\n" in text or len(text) > 400 or "damaged" not in text:
                return f"{done}: {text}"
        except Exception as error:
            return f"{done}: {type(error).__name__}: {error}"
    if not all(map(partial(same, expected), found)):
        return f"{done}: other numbers"
    others = [str(w.message) for w in caught if w.category is not fa.StudyWarning]
    return f"{done}: {others[0]}" if others else end


def same(expected: Any, ds: Any) -> bool:
    types = all(x.dtype == expected[name].dtype for name, x in ds.variables.items())
    return bool(types and ds.identical(expected))


def rows(problems: int, seed: int) -> Iterator[Row]:
    """Damage finished and interrupted studies in netCDF and Zarr, and call again."""
    draw = random.Random(seed)
    expected = study(None)
    with TemporaryDirectory() as place:
        originals = stores(Path(place, "originals"))
        for original in originals:
            ends: Counter[str] = Counter()
            for _ in range(-(-problems // len(originals))):
                folder = Path(place, "damaged")
                shutil.copytree(original.parent, folder)
                ends[outcome(folder / original.name, draw, expected)] += 1
                shutil.rmtree(folder)
            right, refused = ends.pop("right", 0), ends.pop("refused", 0)
            cells = {
                "store": f"{original.parent.name} {original.suffix}",
                "damaged": right + refused + sum(ends.values()),
                "right": right,
                "refused": refused,
            }
            yield Row(cells, "; ".join(ends))
