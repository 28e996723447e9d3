"""A new kernel: its name is written by hand in few places, and no page lacks it."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from each import each
from named import function

from flexarm import _core

ROOT = Path(__file__).parents[2]
MOST = 6
# files with the names of all kernels, and what writes them
GENERATED = {
    "flexarm/_core.pyi": "python3 tests/stub.py",
    "tests/bench/instructions.txt": "python3 tests/bench/instructions.py --update",
}
# pages and tables, and the tests that name what they lack
PAGE = "notebooks/docs/functions.md"
CHECKED = {
    "notebooks/docs/cheat_sheet.md": "tests/pages/test_docstrings.py",
    PAGE: "test_the_page_of_functions_has_every_kernel",
    "tests/project/test_budget.py": "test_public_names_are_those_of_the_table",
    "flexarm/_support/moved.py": "tests/project/test_moved.py",  # old names alone
}
# kernels in a list of fewer are a choice of some that have something in common
FEWEST = 10
TABLE = "csrc/calls/kernel_table.h"
ROW = re.compile(r"^ +(?:X|FA_FORMS)\((?:X, )?(FA_\w+), (\w+),", re.M)
FUNCTIONS = {public for public, *_ in _core.KERNELS.values()}
ROWS = {name: number for number, name in ROW.findall((ROOT / TABLE).read_text())}
ENUM = {name: ROWS[name] for name in FUNCTIONS}


def words(text: str) -> set[str]:
    return {*re.findall(r"\w+", text)}


def items_of(node: ast.AST) -> list[str]:
    """Words of a list, of the keys of a table, or of a string of words."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value.split()
    if isinstance(node, ast.Dict):
        items: list[ast.expr] = [key for key in node.keys if key]
    elif isinstance(node, ast.List | ast.Tuple | ast.Set):
        items = node.elts
    else:
        return []
    return [str(getattr(item, "value", "")) for item in items]


def in_python(path: Path, text: str) -> Iterator[str]:
    """Kernels that a module hands on (``name = ...``) or has in a list of them."""
    if path.name != "__init__.py" and len(ENUM.keys() & words(text)) < FEWEST:
        return
    for node in ast.walk(ast.parse(text)):
        items = items_of(node)
        known = ENUM.keys() & {*items}
        if len(known) >= FEWEST and 2 * len(known) > len(items):
            yield from known
        elif isinstance(node, ast.ImportFrom) and path.name == "__init__.py":
            for name in ENUM.keys() & {alias.name for alias in node.names}:
                of = function(name).__module__
                yield from [name] * of.endswith(f".{node.module}")
        elif isinstance(node, ast.Module | ast.ClassDef | ast.If):
            assigned = [item for item in node.body if isinstance(item, ast.Assign)]
            yield from words(" ".join(ast.unparse(x.targets[0]) for x in assigned))


def in_text(path: Path, text: str) -> Iterator[str]:
    """Kernels in rows of tables, of Markdown or C."""
    if path.suffix == ".md":
        column = re.findall(r"^\|([^|]*)\|", text, re.M)
        known = ENUM.keys() & words(" ".join(column))
        yield from known if len(known) >= FEWEST else ()
    else:
        rows = re.findall(r"\[(FA_\w+)\] =", text)
        rows += [number for number, _ in ROW.findall(text)]
        yield from (name for name, number in ENUM.items() if number in rows)


@cache
def places() -> dict[str, set[str]]:
    """Files with the name of each kernel."""
    found = defaultdict(set)
    for name in ENUM:
        module = function(name).__module__.replace(".", "/")
        found[name].add(f"{module}.py")
    for pattern in (
        *("csrc/**/*.[ch]", "tests/c/*.c", "notebooks/docs/**/*.md"),
        *("flexarm/**/*.py", "tests/**/*.py"),
    ):
        for path in ROOT.glob(pattern):
            look = in_python if path.suffix == ".py" else in_text
            for name in look(path, path.read_text(encoding="utf-8")):
                found[name].add(path.relative_to(ROOT).as_posix())
    return {name: found[name] for name in ENUM}


def test_a_kernel_is_written_by_hand_in_few_places() -> None:
    for name, files in places().items():
        by_hand = sorted(files - GENERATED.keys() - CHECKED.keys())
        assert TABLE in by_hand
        assert len(by_hand) <= MOST, f"{name} is written by hand in {by_hand}"


@each("file", list(GENERATED))
def test_what_is_generated_has_every_kernel(file: str) -> None:
    lost = _core.KERNELS.keys() - words((ROOT / file).read_text(encoding="utf-8"))
    assert not lost, f"{file} lacks {sorted(lost)}; {GENERATED[file]} writes it"


def test_the_page_of_functions_has_every_kernel() -> None:
    lost = [name for name, files in places().items() if PAGE not in files]
    assert not lost, f"{PAGE} lacks {sorted(lost)}"
