"""Files of `flexarm.save` and descriptions by hand with flipped bytes, and bombs.

As a program it reads them under a limit of memory, and prints how they end, as
`hostile_files.py` does; without the count it reads the bombs:

    python hostile_kept_files.py FOLDER SEED COUNT
"""

from __future__ import annotations

import hashlib
import io
import json
import random
import sys
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hostile_files as files
import numpy as np
from attack.ordinary import BY_HAND

import flexarm as fa
from flexarm.studies import stored

TOML = """
gravity = [0, -9.81, 0]
[[links]]
mass = 2.0
length = 0.5
joint = { axis = "z", limits = [-1, 1], stops = { stiffness = 1e3, upper = 2 } }
"""


def valid_files(folder: Path) -> dict[str, bytes]:
    """Content of a valid file of each kind, by its name."""
    arm = fa.library.planar_chain(1, n_modes=1, bending_stiffness=100.0)
    run = fa.simulate(arm, [0.1, 0.0], [0.0, 0.0], [0.0, 1e-3, 2e-3])
    fa.save(arm, folder / "a.json")
    fa.save(run, folder / "a.nc")
    fa.save(run, folder / "run.json")
    made = {
        name: (folder / name).read_bytes() for name in ("a.json", "a.nc", "run.json")
    }
    return {**made, "a.yaml": BY_HAND.encode(), "a.toml": TOML.encode()}


def seal(path: Path) -> None:
    """Give a changed file or folder of results the right digest."""
    for name, content in stored._contents(path).items():
        (path / name).write_bytes(stored._DIGEST.sub(stored._ZEROS, content, count=1))
    stored._seal(path)


def spoil(path: Path, content: bytes, chance: random.Random) -> None:
    """Write a file with flipped bytes; its digest is right, where it has one."""
    path.write_bytes(files.spoiled(content, chance))
    if path.suffix == ".nc":
        seal(path)


def read(path: Path) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fa.ModeWarning)  # of other sizes
        return fa.load(path)


def bombs(folder: Path) -> dict[str, str]:
    """Large files, and small ones of large arrays, with a word of each refusal."""
    for name in ("hole.json", "hole.yaml", "hole.toml"):
        with open(folder / name, "wb") as hole:
            hole.truncate(1 << 34)
    texts = {
        "deep.json": ("[" * (1 << 23), "brackets inside of brackets"),
        "lists.json": ("[" + "[]," * (1 << 20) + "[]]", "format is"),
        "names.json": (json.dumps({f"k{i}": i for i in range(600_000)}), "1000000"),
        "links.yaml": ("links:\n" + "- {mass: 1}\n" * 80_000, "at most 4096"),
        "links.json": (json.dumps({"links": [{}] * 200_000}), "at most"),
        "bodies.json": (_bodies(100_000), "100000 bodies"),
        "array.json": (_array('"U9999999"', 1 << 20), "entries"),
        "laughs.yaml": (_laughs(), "anchor"),
        "digits.json": (f'{{"links": [{{"mass": {"9" * 100_000}}}]}}', "a"),
        "keys.toml": ("links = 1\n" + "[a.b]\n" * 100_000, "TOML"),
    }
    found = {"hole.json": "17179869184", "hole.yaml": "bytes", "hole.toml": "bytes"}
    for name, (text, word) in texts.items():
        (folder / name).write_text(text)
        found[name] = word
    # data of 100 MB that is none
    (folder / "noise.nc").write_bytes(np.random.default_rng(1).bytes(100_000_000))
    (folder / "zeros.nc").write_bytes(b"CDF\x01" + b"\0" * 100_000_000)
    found |= {"noise.nc": "damaged", "zeros.nc": "damaged"}
    _packed(folder / "packed.json")
    _sparse(folder / "sparse.zarr")
    return found | {"packed.json": "compressed", "sparse.zarr": "larger"}


def _bodies(n: int) -> str:
    tree = {"format": "flexarm", "version": 1, "type": "Arm"}
    return json.dumps({**tree, "bodies": [{"type": "RigidBody", "name": "a"}] * n})


def _array(dtype: str, n: int) -> str:
    data = f'"dtype": {dtype}, "shape": [{n}], "data": [{", ".join(["1"] * n)}]'
    return f'{{"format": "flexarm", "version": 1, "type": "array", {data}}}'


def _laughs() -> str:
    lines = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 12)]
    return "\n".join([*lines, "links: *a11"])


def _packed(path: Path) -> None:
    """A file of arrays that is small as long as it is packed."""
    file = io.BytesIO()
    with (
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("array0.npy", "w", force_zip64=True) as member,
    ):
        for _ in range(16):
            member.write(b"\0" * (1 << 24))
    path.with_name("packed.npz").write_bytes(file.getvalue())
    digest = hashlib.sha256(file.getvalue()).hexdigest()
    head = {"format": "flexarm", "version": 1, "type": "Arm", "bodies": []}
    path.write_text(
        json.dumps({**head, "arrays": {"file": "packed.npz", "sha256": digest}})
    )


def _sparse(path: Path) -> None:
    """A folder of Zarr with an array of a terabyte, none of which is there."""
    run = fa.simulate(fa.library.pendulum(), [0.1], [0.0], [0.0, 0.1])
    fa.save(run, path)
    (path / "q" / "0.0").unlink()
    tree = json.loads((path / ".zmetadata").read_text())
    tree["metadata"]["q/.zarray"]["shape"] = [1 << 37, 1]
    tree["metadata"]["q/.zattrs"]["_ARRAY_DIMENSIONS"] = ["long", "short"]
    (path / ".zmetadata").write_text(json.dumps(tree))
    seal(path)


def main(folder: Path, seed: int, count: int) -> None:
    contents = valid_files(folder)
    for name in contents:  # imports what readers need
        (folder / name).write_bytes(contents[name])
        read(folder / name)
    files.spoil(contents, read, folder, seed, count, spoil)


def told_of_bombs(folder: Path) -> list[str]:
    """Faults of the ends of all bombs, under a limit of memory."""
    found = bombs(folder)
    for name, content in valid_files(folder).items():
        (folder / name).write_bytes(content)
        read(folder / name)
    files.limit_memory()
    told = []
    for name, word in found.items():
        call: Callable[[], Any] = lambda name=name: read(folder / name)  # noqa: E731
        try:
            call()
            told.append(f"{name} is read")
        except fa.FlexarmError as error:
            if word not in str(error):
                told.append(f"{name}: {error}")
        except Exception:
            pass
        told += [f"{name}: {fault}" for fault in [files.fault(call)] if fault]
    return told


if __name__ == "__main__":
    if len(sys.argv) == 2:
        print("\n".join(told_of_bombs(Path(sys.argv[1]))) or "done")
    else:
        main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
