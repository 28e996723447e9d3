"""The public functions, classes and methods of the package, with their docstrings.

Public is what ``__all__`` of `flexarm` names, and what the modules among them name in
turn; a module without ``__all__`` gives what it defines.  Classes of results are public
by the functions that return them.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import textwrap
from collections.abc import Iterator
from types import ModuleType
from typing import Any, NamedTuple

import flexarm

# base classes whose members are those of one public class
PARTS = {"ArmLike", "JointKinds", "LinearSystem", "SectionNumbers"}
_SECTION = re.compile(r"^(?P<name>[A-Z][A-Za-z ]*)\n-{3,}$", re.M)


class Entry(NamedTuple):
    """One line of a section: names, what stands after the colon, the text below."""

    names: tuple[str, ...]
    type: str
    text: str


class Member(NamedTuple):
    """A public object: where it is found, what it is, its docstring by sections."""

    name: str
    kind: str  # "function", "method", "property", "class"
    object: Any
    sections: dict[str, str]

    def entries(self, *names: str) -> list[Entry]:
        """Entries of sections such as Parameters."""
        return [e for name in names for e in entries(self.sections.get(name, ""))]

    @property
    def parameters(self) -> list[str]:
        """Names that a caller may give, as they stand in the signature."""
        if self.kind == "property" or inspect.isbuiltin(self.object):
            return []
        given = inspect.signature(self.object).parameters
        skip = {"self", "cls"} if self.kind == "method" else set()
        return [name for name in given if name not in skip and name[0] != "_"]


def sections(text: str) -> dict[str, str]:
    """Split a docstring at its underlined headings; "" is what stands before them."""
    text = inspect.cleandoc(text)
    found = list(_SECTION.finditer(text))
    ends = [match.start() for match in found[1:]] + [len(text)]
    head = text[: found[0].start()] if found else text
    return {"": head.strip()} | {
        match["name"]: text[match.end() : end].strip("\n")
        for match, end in zip(found, ends, strict=False)
    }


def entries(text: str) -> list[Entry]:
    """Entries of one section: lines without indent, and what is indented below."""
    found = []
    for block in re.split(r"\n(?=\S)", text):
        if not block.strip():
            continue
        first, _, rest = block.partition("\n")
        names, _, kind = first.partition(" : ")
        split = tuple(name.strip().lstrip("*") for name in names.split(","))
        found.append(Entry(split, kind.strip(), textwrap.dedent(rest).strip()))
    return found


def public_modules() -> dict[str, ModuleType]:
    """Public modules by the name under which a user finds them."""
    found: dict[str, ModuleType] = {}

    def visit(name: str, module: ModuleType) -> None:
        found[name] = module
        for item in names_of(module):
            inner = getattr(module, item)
            if inspect.ismodule(inner):
                visit(f"{name}.{item}", inner)

    visit("flexarm", flexarm)
    return found


def names_of(module: ModuleType) -> list[str]:
    """Public names of a module, ``__all__`` or what it defines."""
    if hasattr(module, "__all__"):
        return [name for name in module.__all__ if name != "__version__"]
    return [
        name
        for name, item in vars(module).items()
        if name[0] != "_" and getattr(item, "__module__", None) == module.__name__
    ]


def members() -> Iterator[Member]:
    """Every public function, class, method and property, each once."""
    seen = set()
    results = []
    for where, module in public_modules().items():
        for name in names_of(module):
            item = getattr(module, name)
            if inspect.ismodule(item) or id(item) in seen or not callable(item):
                continue
            seen.add(id(item))
            full = f"{where}.{name}".removeprefix("flexarm.")
            kind = "class" if inspect.isclass(item) else "function"
            yield Member(full, kind, item, sections(item.__doc__ or ""))
            inside = list(_inside(full, item)) if kind == "class" else []
            yield from inside
            sources = [
                item,
                *(m.object for m in inside if full == "Arm" and m.kind == "method"),
            ]
            results += [
                (full.removesuffix(name), made)
                for source in sources
                for made in returned(source)
            ]
    # classes of results, which are found at the functions that return them
    for room, made in results:
        if id(made) not in seen:
            seen.add(id(made))
            full = room + made.__name__
            yield Member(full, "class", made, sections(made.__doc__ or ""))
            inside = list(_inside(full, made))
            yield from inside
            results += [(room, more) for m in inside for more in returned(m.object)]


def returned(item: Any) -> list[type]:
    """Classes of the package that the annotation of a result names."""
    bare = inspect.unwrap(item) if callable(item) else None
    said = getattr(bare, "__annotations__", {}).get("return", "")
    places = getattr(bare, "__globals__", {})
    found = [places.get(word) for word in re.findall(r"[A-Za-z]\w*", str(said))]
    return [
        made
        for made in found
        if inspect.isclass(made)
        and made.__module__.startswith("flexarm.")
        and not made.__module__.startswith("flexarm.model.")  # arrays for C
    ]


def _inside(full: str, made: type) -> Iterator[Member]:
    """Methods and properties that a class of flexarm defines itself."""
    for name in list(vars(made)):
        getattr(made, name, None)  # methods that load at their first use
    own = vars(made)
    for base in made.__bases__:
        own = {**(vars(base) if base.__name__ in PARTS else {}), **own}
    for name, item in own.items():
        if name[0] == "_":
            continue
        bare = getattr(item, "__func__", item)
        bare = getattr(bare, "func", bare)  # cached_property
        doc = sections(bare.__doc__ or "")
        if isinstance(item, property) or hasattr(item, "func"):
            yield Member(f"{full}.{name}", "property", item, doc)
        elif inspect.isfunction(bare):
            yield Member(f"{full}.{name}", "method", bare, doc)


def is_record(made: Any) -> bool:
    """Whether a class is a dataclass or a named tuple, whose fields are documented."""
    return dataclasses.is_dataclass(made) or hasattr(made, "_fields")
