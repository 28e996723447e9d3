"""The tests that a change touches, by what files import.

    python3 tests/affected.py [COMMIT]

prints them for what differs from a commit (HEAD by default) and for new files:
test files that name a module which changed, or one that imports it, also through
helpers beside them, and the modules that changed, for their doctests. A change of C
touches all. `.ci/quick --changed` runs them.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import layers

ROOT = Path(__file__).parents[1]
PACKAGE, TESTS = ROOT / "flexarm", ROOT / "tests"
MODULES = layers.modules(PACKAGE)
FACE = ""  # the package itself: it imports all and is above all
EVERYTHING = ["tests", "flexarm"]


@cache
def imports(name: str) -> frozenset[tuple[str, str]]:
    """Imports of a module of the package: modules, and names in them."""
    return frozenset(layers.imports(name, MODULES))


def above(changed: Collection[str]) -> set[str]:
    """Modules that import one of these, through others too, and they themselves."""
    found, new = set(), {*changed}
    while new:
        found |= new
        new = {
            name
            for name in MODULES
            if any(source in new and source != FACE for source, _ in imports(name))
        } - found
    return found


def place(module: str, names: Sequence[str]) -> str:
    """The module in which something stands that is called module.name.name."""
    if not names:
        return module
    inner = f"{module}.{names[0]}".removeprefix(".")
    if inner in MODULES:
        return place(inner, names[1:])
    for source, name in imports(module):
        if name == names[0] and source != module:
            return place(source, names)
        if not name and source.endswith(f".{names[0]}"):
            return place(source, names[1:])
    return module


class Uses(NamedTuple):
    """Parts of the package that a file of tests uses."""

    modules: frozenset[str]  # of the package
    files: frozenset[str]  # names of all that it imports


@cache
def uses(path: Path) -> Uses:
    """Names of a file of tests, from its imports and attributes."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    aliases: dict[str, list[str]] = {}  # of modules: what is used of them counts
    files, found = set(), set()
    inside = set()  # parts of longer chains of attributes
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                first, *names = alias.name.split(".")
                files.add(first)
                if first == "flexarm":
                    aliases[alias.asname or first] = names if alias.asname else []
        elif isinstance(node, ast.ImportFrom) and node.module:
            first, *inner = node.module.split(".")
            files.add(first)
            for alias in node.names if first == "flexarm" else []:
                names = [*inner, alias.name]
                if ".".join(names) in MODULES:
                    aliases[alias.asname or alias.name] = names
                else:
                    found.add(place(FACE, names))
        elif isinstance(node, ast.Attribute):
            inside.add(id(node.value))
    for node in nodes:
        if id(node) in inside or not isinstance(node, ast.Attribute | ast.Name):
            continue
        names = []
        while isinstance(node, ast.Attribute):
            names.insert(0, node.attr)
            node = node.value
        if isinstance(node, ast.Name) and node.id in aliases:
            names = [*aliases[node.id], *names]
            # getattr(flexarm, name): a function of the package, in no room of its own
            found |= {place(FACE, names)} if names else functions()
    return Uses(frozenset(found), frozenset(files))


@cache
def functions() -> frozenset[str]:
    """Modules of the functions that the package has without the name of a room."""
    return frozenset(module for module, name in imports(FACE) if name)


def helpers(path: Path, known: Mapping[str, Path]) -> set[Path]:
    """Files beside a test that it imports, through others too, and it itself."""
    found, new = set(), {path}
    while new:
        found |= new
        names = {name for file in new for name in uses(file).files}
        new = {known[name] for name in names if name in known} - found
    return found


def affected(files: Collection[str]) -> list[str]:
    """Tests that pytest has to run after a change of these files."""
    if any(file.startswith(("csrc/", "setup.py", "pyproject.toml")) for file in files):
        return EVERYTHING
    paths = {ROOT / file for file in files}
    changed = {name for name, path in MODULES.items() if path in paths}
    others = any(not file.startswith(("flexarm/", "tests/")) for file in files)
    high = above(changed)
    known = {path.stem: path for path in TESTS.rglob("*.py")}
    chosen = []
    for test in sorted(TESTS.rglob("test_*.py")):
        if "bench" in test.parts:
            continue
        own = helpers(test, known)
        modules = {name for file in own for name in uses(file).modules}
        # a test that names no module reads files: of the package, pages, notebooks
        whole = not modules and (changed or others)
        if own & paths or modules & high or whole:
            chosen.append(test.relative_to(ROOT).as_posix())
    doctests = [MODULES[name] for name in sorted(changed)]
    return chosen + [p.relative_to(ROOT).as_posix() for p in doctests if p.exists()]


def differing(commit: str) -> list[str]:
    """Files that differ from a commit, and new ones."""
    found = []
    for command in (
        ["git", "diff", "--name-only", commit],
        ["git", "ls-files", "--others", "--exclude-standard"],
    ):
        said = subprocess.run(
            command, cwd=ROOT, check=True, capture_output=True, text=True
        )
        found += said.stdout.splitlines()
    return found


if __name__ == "__main__":
    print(*affected(differing(*sys.argv[1:] or ["HEAD"])), sep="\n")
