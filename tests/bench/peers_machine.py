"""Lines of a report on the machine, the programs, and those that are missing."""

from __future__ import annotations

import datetime
import importlib.util
import os
import platform
from importlib import metadata
from pathlib import Path
from typing import Any

import peers_robots
import peers_segments
from peers_jobs import threads
from peers_native import compiler, eigen

from flexarm import build_info

# package to import, name for pip, what it is for
PEERS = (
    ("pinocchio", "pin", "Pinocchio: rigid arms"),
    ("mujoco", "mujoco", "MuJoCo: rigid arms, time loops"),
    ("exudyn", "exudyn", "Exudyn: the body of eight modes"),
    ("sympy", "sympy", "SymPy: generated C of arms with two links"),
    ("matplotlib", "matplotlib", "the figure"),
)
VERSIONS = ("numpy", "scipy", "pin", "mujoco", "exudyn", "sympy", "matplotlib")


def missing() -> list[str]:
    """One line for each thing that is not there, with what would bring it."""
    lines = [
        f"missing: {what} (pip install {name})"
        for module, name, what in PEERS
        if importlib.util.find_spec(module) is None
    ]
    if importlib.util.find_spec("pinocchio") and eigen() is None:
        lines.append(
            "missing: headers of Eigen for Pinocchio in a loop of C++ (pip install "
            "cmeel-eigen); its own batches remain, and calls less those on one joint"
        )
    lines += [
        f"missing: {what}: rods cut into pieces (pip install {name}, into another "
        "environment if wanted, whose interpreter FLEXARM_PEERS_PYTHON names)"
        for what, name in (("SoRoMoX", "soromox"), ("PyElastica", "pyelastica"))
        if name not in peers_segments.versions()
    ]
    if not peers_robots.descriptions():
        lines.append(
            "missing: robots from descriptions (pip install example-robot-data)"
        )
    if compiler() is None:
        lines.append("missing: a C compiler (gcc or clang): loops of C are left out")
    if compiler("c++") is None:
        lines.append("missing: a C++ compiler: Pinocchio's loop of C++ is left out")
    return lines


def cpu() -> str:
    """Name of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if "model name" in line]
    return names[0] if names else platform.machine()


def versions() -> dict[str, str]:
    """Versions of all programs that are there."""
    found = {"Python": platform.python_version()}
    for name in ("flexarm", *VERSIONS):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found | peers_segments.versions()


def load() -> list[float]:
    """Load of the machine over 1, 5 and 15 minutes, where it is known."""
    try:
        return [round(x, 2) for x in os.getloadavg()]
    except OSError:
        return []


def machine() -> dict[str, Any]:
    """Where and with what the times were taken."""
    info = build_info()
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat("T", "seconds"),
        "cpu": cpu(),
        "cores": threads(),
        "system": platform.platform(),
        "instruction set": info["isa"],
        "lanes": info["lanes"],
        "instruction sets that would run": list(info["available"]),
        "compiler of flexarm": info["compiler"],
        "versions": versions(),
        "load at the start": load(),
    }
