"""Graphs of files: arrows upward and circles; what files import, include and use."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

Graph = Mapping[str, set[str]]
# from the bottom up: a room, and the patterns of its files
Rooms = Sequence[tuple[str, Sequence[str]]]


def room_of(rooms: Rooms) -> Callable[[str], str]:
    """Return a function from a file to its room, the first one with a pattern of it."""

    def room(file: str) -> str:
        for name, patterns in rooms:
            if any(fnmatch(file, pattern) for pattern in patterns):
                return name
        raise KeyError(f"{file} is in no room")

    return room


def upward(graph: Graph, room: Callable[[str], str], order: Sequence[str]) -> list[str]:
    """Arrows from a file to one in a room above its own."""
    level = {name: i for i, name in enumerate(order)}
    return [
        f"{a} ({room(a)}) -> {b} ({room(b)})"
        for a in sorted(graph)
        for b in sorted(graph[a])
        if level[room(a)] < level[room(b)]
    ]


def between(graph: Graph, room: Callable[[str], str]) -> dict[str, set[str]]:
    """The graph of the rooms."""
    rooms: dict[str, set[str]] = {room(a): set() for a in graph}
    for a, targets in graph.items():
        rooms[room(a)] |= {room(b) for b in targets} - {room(a)}
    return rooms


def circles(graph: Graph) -> list[list[str]]:
    """Strongly connected components of more than one node (Tarjan 1972)."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(a: str) -> None:
        number[a] = low[a] = len(number)
        stack.append(a)
        for b in graph.get(a, ()):
            if b not in number:
                visit(b)
                low[a] = min(low[a], low[b])
            elif b in stack:
                low[a] = min(low[a], number[b])
        if low[a] == number[a]:
            at = stack.index(a)
            component = stack[at:]
            del stack[at:]
            if len(component) > 1:
                found.append(sorted(component))

    for a in graph:
        if a not in number:
            visit(a)
    return found


# what Python modules import


def modules(package: Path) -> dict[str, Path]:
    """Modules of a package by their names in it, "" is the package; `_core` is of C."""
    found = {"_core": package / "_core.pyi"}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


# a whole file takes ten times as long to parse as the lines that import
RELATIVE = re.compile(r"^ *(from \.[\w.]* import (?:\([^)]*\)|[^(\n]+))", re.MULTILINE)


def imports(name: str, known: Mapping[str, Path]) -> set[tuple[str, str]]:
    """Modules that a module imports, and what of them, wherever it does.

    In functions and for type checkers too; a module that comes from a package is
    imported itself, and so is not that package.
    """
    path = known[name]
    found: set[tuple[str, str]] = set()
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    for statement in RELATIVE.findall(path.read_text(encoding="utf-8")):
        (node,) = ast.parse(statement).body
        assert isinstance(node, ast.ImportFrom)
        base = [part for part in package if part]
        base = base[: len(base) - node.level + 1]
        source = ".".join([*base, *([node.module] if node.module else [])])
        for alias in node.names:
            inner = f"{source}.{alias.name}".removeprefix(".")
            found.add((inner, "") if inner in known else (source, alias.name))
    return found


# what C files include, define and use
GUARD = re.compile(r"#ifndef (\w+)\n#define \1\n")


@cache
def bare(path: Path) -> str:
    """The text of a C file, on whole lines, without comments and strings."""
    text = re.sub(r"/\*.*?\*/", " ", path.read_text(), flags=re.DOTALL)
    text = re.sub(r'(?<!#include )"(?:[^"\\\n]|\\.)*"', '""', text)
    return text.replace("\\\n", " ")


def included(path: Path) -> set[str]:
    """The files of the project that a C file includes, by their paths in csrc."""
    return set(re.findall(r'^\s*#include "([^"]+)"', bare(path), flags=re.MULTILINE))


DECLARED = (
    r"^(?:typedef .*)?\} (\w+);",
    r"^typedef [^({]*?(\w+)(?: __attribute__.*)?;",
    r"^typedef \w+ \(\*(\w+)\)",
    r"^(?!typedef|return)[A-Za-z_][\w \n*]*?\b(\w+)\(",  # functions
    r"^(?:static |extern )?const [\w ]*?\*?(\w+)(?:\[[^;=]*)?(?: =|;)",
)


def defined(path: Path) -> set[str]:
    """Macros, types, enumerators, functions and constants that a C file declares."""
    text = bare(path)
    macros = set(re.findall(r"^#define (\w+)", text, re.MULTILINE))
    macros -= set(re.findall(r"^#undef (\w+)", text, re.MULTILINE))
    names = {name for name in macros if not name.endswith("_H")}
    text = re.sub(r"^#.*", "", text, flags=re.MULTILINE)
    for body in re.findall(r"^(?:typedef )?enum \{([^}]*)\}", text, re.MULTILINE):
        names |= set(re.findall(r"(\w+)(?=\s*(?:=[^,]*)?(?:,|$))", body.strip()))
    for pattern in DECLARED:
        names |= set(re.findall(pattern, text, re.MULTILINE))
    return names - {"FA_NAME", "_Static_assert", "__attribute__"}


def used(path: Path) -> set[str]:
    """Identifiers of a C file, without members and conditions of the preprocessor."""
    text = re.sub(
        r"^\s*#\s*(?:if|el|include|undef).*", "", bare(path), flags=re.MULTILINE
    )
    text = re.sub(r"\(\*\w+\)", "", text)  # members, which have no owner
    return set(re.findall(r"(?<![.\w])(?<!->)[A-Za-z_]\w*", text))
