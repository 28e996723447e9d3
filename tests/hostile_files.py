"""Valid files with flipped bytes, or cut, by a seed; and the judge of what comes of it.

As a program it reads such files and bombs under a limit of memory. It prints a line of
JSON for each kind of file, with what is neither a result nor one sentence of flexarm:

    python hostile_files.py FOLDER SEED COUNT
"""

from __future__ import annotations

import bz2
import gzip
import json
import random
import resource
import sys
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
from robot_texts import TWO, robot_of

import flexarm as fa
from flexarm import finite_elements as fe
from flexarm.plotting._scene_meshes import read_mesh
from flexarm.plotting._surfaces import fewer

MEMORY = 1 << 30  # bytes that a reader may have beyond what the program has
NODES = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
TOML = """
[rod2]
length = 1.0
mass_per_length = 2.0  # kg/m
bending_stiffness = [50.0, 60.0]
n_modes = 1
"""
ROBOT = robot_of(TWO).replace("><", ">\n<")


def mesh() -> fe.FiniteElementModel:
    return fe.beam_mesh(
        1.0,
        1,
        mass_per_length=2.0,
        bending_stiffness=3.0,
        axial_stiffness=1e4,
        torsional_stiffness=2.0,
        section_inertia=(0.01, 0, 0),
    )


def valid_files(folder: Path) -> dict[str, bytes]:
    """Content of a valid file of each kind, by its name."""
    path = folder / "valid.mtx"
    scipy.io.mmwrite(str(path), mesh().mass, symmetry="symmetric")
    sparse = path.read_bytes()
    scipy.io.mmwrite(str(path), mesh().mass.toarray())
    return {
        "sparse.mtx": sparse,
        "dense.mtx": path.read_bytes(),
        "packed.mtx.gz": gzip.compress(sparse, mtime=0),
        "packed.mtx.bz2": bz2.compress(sparse),
        "robot.urdf": ROBOT.encode(),
        "wide.urdf": ROBOT.encode("utf-16"),
        "links.toml": TOML.encode(),
        "links.json": json.dumps(
            {
                "rod2": {
                    "length": 1.0,
                    "mass_per_length": 2.0,
                    "bending_stiffness": [50.0, 60.0],
                    "n_modes": 1,
                }
            }
        ).encode(),
    }


SHAPED = ROBOT.replace(
    '<link name="rod1">',
    """<link name="rod1"><visual><origin xyz="1 2 3" rpy="0 0 1"/>
<geometry><box size="1 2 3"/></geometry>
<material name="red"><color rgba="1 0 0 1"/></material></visual>
<visual><geometry><mesh filename="package://a/b.stl" scale="1 1 1"/></geometry>
</visual>""",
    1,
)


def drawn_files() -> dict[str, bytes]:
    """Files of what is drawn: shapes, and meshes if there is a reader of them."""
    found = {"shapes.urdf": SHAPED.encode()}
    try:
        import trimesh
    except ImportError:
        return found
    box = trimesh.creation.box()
    for kind in ("stl", "obj", "ply", "off", "dae"):
        try:
            data = box.export(file_type=kind)
        except (ImportError, ValueError):  # without pycollada
            continue
        found[f"box.{kind}"] = data if isinstance(data, bytes) else data.encode()
    return found


def read(path: Path) -> Any:
    """The object of a file, by its reader."""
    if path.name == "shapes.urdf":
        return str(fa.urdf.report(path))
    if path.stem == "box":
        return fewer(read_mesh(str(path)), 8)
    if ".mtx" in path.name:
        stiffness = path.parent / "stiffness.mtx"
        if not stiffness.exists():
            scipy.io.mmwrite(str(stiffness), mesh().stiffness)
        return fe.read_matrix_market(NODES, path, stiffness)
    if path.suffix == ".urdf":
        return fa.urdf.load(path)
    return fa.urdf.load(ROBOT, sidecar=path)


def ended(call: Callable[[], Any]) -> tuple[str, str]:
    """How a call ends, and what is wrong with that; nothing after one sentence."""
    try:
        with warnings.catch_warnings():
            for word in (fa.urdf.UrdfWarning, fa.UnitsWarning):  # right, and said
                warnings.simplefilter("ignore", word)
            call()
    except fa.FlexarmError as error:
        return "refused", sentence_fault(str(error))
    except Exception as error:
        return "failed", f"{type(error).__name__}: {error}"[:300]
    return "read", ""


def fault(call: Callable[[], Any]) -> str:
    """Fault of the end of a call; nothing after a result or one sentence."""
    return ended(call)[1]


def sentence_fault(text: str) -> str:
    """Fault of an error message."""
    if "\n" in text or not 20 < len(text) < 400:
        return f"{len(text)} letters, {text.count(chr(10))} breaks: {text[:200]!r}"
    return ""


def spoiled(content: bytes, chance: random.Random) -> bytes:
    """A file with some bytes changed, doubled, left out, or cut off."""
    result = bytearray(content)
    for _ in range(chance.randint(1, 4)):
        i = chance.randrange(len(result) or 1)
        what = chance.randrange(6)
        if what == 0:
            result[i : i + 1] = bytes([chance.randrange(256)])
        elif what == 1:
            result[i : i + 1] = bytes([result[i] ^ (1 << chance.randrange(8))])
        elif what == 2:
            del result[i : i + chance.randint(1, 20)]
        elif what == 3:
            result[i:i] = result[i : i + chance.randint(1, 200)]
        elif what == 4:
            result[i:i] = chance.choice(
                [b"9" * 30, b"\0", b"-", b"1e", b"[" * 9, b"\n"]
            )
        else:
            del result[i:]
        if not result:
            break
    return bytes(result)


def limit_memory() -> None:
    """Give the program no more memory than it has, and a little."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def bombs(folder: Path) -> list[Path]:
    """Small files that become large ones, and large ones."""
    result = []
    sparse = "%%MatrixMarket matrix coordinate real general\n"
    for packer, ending in ((gzip, "gz"), (bz2, "bz2")):
        for k, (start, piece) in enumerate(
            (
                ("", "0" * (1 << 20)),
                (sparse + "12 12 144\n", "1 1 0\n" * (1 << 18)),
                (sparse + "12 12 144\n1 1 ", "0" * (1 << 20)),
                (sparse + "12 12 144\n", "\n" * (1 << 20)),
                (sparse, "%\n" * (1 << 19)),
            )
        ):
            path = folder / f"bomb{k}.mtx.{ending}"
            with packer.open(path, "wb", compresslevel=1) as file:
                file.write(start.encode())
                for _ in range(2):
                    file.write(piece.encode())
            result.append(path)
    for name in ("hole.urdf", "hole.mtx", "hole.toml", "hole.json"):
        result.append(folder / name)
        with open(result[-1], "wb") as hole:
            hole.truncate(1 << 34)
    return result


def told(file: str, ends: list[tuple[str, str]]) -> None:
    """Print how often files of a kind were read and refused, and the first fault."""
    counts = Counter(how for how, _ in ends)
    faults = [f"{i}: {text}" for i, (_, text) in enumerate(ends) if text]
    cells = {"file": file, "read": counts["read"], "refused": counts["refused"]}
    print(json.dumps([cells, f"{len(faults)}, as {faults[0]}" if faults else ""]))


def write_spoiled(path: Path, content: bytes, chance: random.Random) -> None:
    path.write_bytes(spoiled(content, chance))


def spoil(
    contents: dict[str, bytes],
    reader: Callable[[Path], Any],
    folder: Path,
    seed: int,
    count: int,
    write: Callable[[Path, bytes, random.Random], Any] = write_spoiled,
) -> None:
    """Read so many spoiled files of each kind with little memory, and print the ends.

    The folder has the valid ones, which have been read: all is imported.
    """
    limit_memory()
    for name, content in contents.items():
        path, ends = folder / name, []
        for i in range(count):
            chance = random.Random(f"{seed} {name} {i}")
            write(path, content, chance)
            ends.append(ended(lambda path=path: reader(path)))
        path.write_bytes(content)
        told(name, ends)


def main(folder: Path, seed: int, count: int) -> None:
    contents = valid_files(folder) | drawn_files()
    for name, content in contents.items():  # imports what readers need
        (folder / name).write_bytes(content)
        read(folder / name)
    made = bombs(folder)
    spoil(contents, read, folder, seed, count)
    ends = [ended(lambda path=path: read(path)) for path in made]
    texts = [(how, text or "it is read" * (how == "read")) for how, text in ends]
    told("bombs", texts)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
