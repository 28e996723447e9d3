"""Small C and C++ programs, compiled at run time in a temporary folder.

They hold the loops of peers that offer none to Python, so that no call through a
binding is in their times.  Nothing here is needed: without a compiler or headers, the
figures of these loops are missing and the report says so.
"""

from __future__ import annotations

import atexit
import ctypes
import importlib.util
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from races import SMOKE, Array

HERE = Path(__file__).parent
OPTIMIZED = ("-O3", "-march=native")
SHARED = ("-shared", "-fPIC", "-w")


@cache
def folder() -> Path:
    """Temporary folder of this process."""
    path = tempfile.mkdtemp(prefix="flexarm-peers-")
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return Path(path)


def compiler(language: str = "c") -> str | None:
    """Command of a C or C++ compiler, if there is one."""
    names = {
        "c": (os.environ.get("CC", ""), "gcc", "cc", "clang"),
        "c++": (os.environ.get("CXX", ""), "g++", "c++", "clang++"),
    }
    found = (shutil.which(name) for name in names[language] if name)
    return next(filter(None, found), None)


def build(
    source: Path, name: str, options: Sequence[str], flags: Sequence[str] = OPTIMIZED
) -> ctypes.CDLL | None:
    """Library of one source file, or None where that cannot be had."""
    command = compiler("c" if source.suffix == ".c" else "c++")
    if command is None:
        return None
    target = folder() / f"{name}.so"
    run = subprocess.run(
        [command, *flags, *SHARED, str(source), "-o", str(target), *options],
        capture_output=True,
        text=True,
    )
    if run.returncode:
        print(f"{source.name} does not compile:\n{run.stderr[:2000]}")
        return None
    return ctypes.CDLL(str(target))


def pointer(x: Array) -> ctypes.c_void_p:
    """Address of the first entry of a contiguous array."""
    assert x.flags.c_contiguous, "rows of states have to be contiguous"
    return ctypes.c_void_p(x.ctypes.data)


def held(action: Callable[[], Any], *owners: Any) -> Callable[[], None]:
    """The action, with what its addresses point to kept alive."""

    def run(_owners: tuple[Any, ...] = owners) -> None:
        action()

    return run


def _site(package: str) -> Path | None:
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin).parent


def _pinocchio() -> Path | None:
    """Folder with the headers and libraries of Pinocchio."""
    parents = (_site("pinocchio") or Path("/")).parents
    return next((p for p in parents if (p / "include/pinocchio").exists()), None)


def eigen() -> Path | None:
    """Folder of the headers of Eigen, of the package cmeel-eigen or of the system."""
    places = [Path(os.environ.get("EIGEN3_INCLUDE_DIR", "/nonexistent"))]
    places += [(_pinocchio() or Path("/usr")) / "include/eigen3"]
    places += [Path("/usr/include/eigen3")]
    return next((p for p in places if (p / "Eigen" / "Core").exists()), None)


@cache
def pinocchio_loop() -> ctypes.CDLL | None:
    """Pinocchio's algorithms in a loop of C++."""
    prefix, headers = _pinocchio(), eigen()
    if prefix is None or headers is None or SMOKE:  # takes half a minute
        return None
    library = build(
        HERE / "peers_pinocchio.cpp",
        "pinocchio_loop",
        [
            # as Pinocchio's own build has it: its list of joints is long
            "-std=c++17",
            "-DNDEBUG",
            "-DPINOCCHIO_ENABLE_TEMPLATE_INSTANTIATION",
            "-DBOOST_MPL_LIMIT_LIST_SIZE=30",
            "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
            f"-I{prefix}/include",
            f"-I{headers}",
            f"-L{prefix}/lib",
            "-lpinocchio_default",
            f"-Wl,-rpath,{prefix}/lib",
        ],
        # for the processor of the package, on which the layout of its types depends
        flags=("-O2",),
    )
    if library is not None:
        library.peer_open.restype = ctypes.c_void_p
    return library


@cache
def mujoco_loop() -> ctypes.CDLL | None:
    """MuJoCo's engine in a loop of C."""
    site = _site("mujoco")
    if site is None:
        return None
    engine = next(iter(sorted(site.glob("libmujoco.so*"))), None)
    if engine is None:
        return None
    return build(
        HERE / "peers_mujoco.c",
        "mujoco_loop",
        [f"-I{site}/include", str(engine), f"-Wl,-rpath,{site}"],
    )
