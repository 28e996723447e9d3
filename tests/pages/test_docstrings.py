"""Every public docstring: sections, parameters, shapes, units, examples.

Doctests run with the package (``--doctest-modules``); here is looked for them.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections import defaultdict
from pathlib import Path
from typing import Any

from each import each
from public_api import (
    Entry,
    Member,
    is_record,
    members,
    names_of,
    public_modules,
    sections,
)

ROOT = Path(__file__).parents[2]

ARRAY = re.compile(r"array_like|ndarray")
SHAPE = re.compile(r"\([^()]*(?:\.\.\.|\d|\w,)[^()]*\)|\(\w+( [+-] \w+)*\)|\(\.\.\.\)")
SI = re.compile(
    r"(?<![\w.])(?:rad|m|mm|us|ms|s|kg|N|Hz|Pa|W|J|dB|V|A|ohm)(?:\^\d)?(?![\w'])"
    r"|1/s|\bSI\b|\bunits?\b"
)
# no unit: numbers that compare like with like, say so in one of these words
PURE = re.compile(
    r"dimensionless|ratio|share|fraction|factor|weight|part of|probability|relative"
    r"|orthonormal|unit vector|identity|quaternion|coefficient|multiple|frames per"
    r"|direction|sign of|components|seconds|degrees|(?:between|from) 0 (?:and|to) 1"
    r"|damping_ratio|covariance|tolerance|this power|spectral_radius|path parameters",
    re.I,
)
# symbols of notebooks/docs/symbols.md, whose units are given there once for all, by the
# kinds of joints: repeating them in each docstring would hide what is particular
SYMBOLS = re.compile(
    r"\b(?:d?q|d?qd|d?qdd|d?tau|q[0-9d]|qd[0-9]|x0?|y|u0?|J|H|M|V|A|B|C|D|G|K|P|S|W|Y"
    r"|dtorque|torque|dqdd|cotangent|pose|poses|wrench|target)\b"
)
EXEMPT_UNITS = {
    "out": "as the result, into which it is written",
    "values": "one column, units of each parameter by its family",
    "theta": "parameters of each family in its own unit",
    "p": "parameters of the caller, in units of his own",
    "scale": "of the parameters of the caller",
    "lower": "as the parameters",
    "upper": "as the parameters",
    "first": "as the parameters",
    "std": "as the parameters",
    "states": "of each state by its kind",
    "outputs": "of each output by its kind",
    "command": "of a servo of the caller",
    "objective": "of the chosen cost",
    "cost": "of the weights",
    "gain": "of a state by that of a measurement",
    "anti_windup": "of the state of a controller by that of a force",
    "z": "state of a controller of any kind",
    "error": "of any measured output, by its kind",
    "controller": "gains of any outputs on any inputs",
    "sigma": "of each signal by its kind",
    "state": "of each coordinate by its kind",
    "adaptation": "of the parameters of each family",
    "where": "of each parameter by its kind",
    "inputs": "of each input by its kind",
    "desired": "of the outputs that are followed",
    "axis": "a direction",
    "dpi": "pixels per inch, of pictures",
}
# modules without dimensions by their mathematics: what goes in decides
PURE_MODULES = ("se3.", "reference.screws.", "twists.")

MEMBERS = list(members())


def callables(*kinds: str) -> list[Member]:
    return [m for m in MEMBERS if m.kind in kinds]


def described(member: Member) -> list[Entry]:
    return member.entries("Parameters", "Other Parameters", "Attributes", "Returns")


def kind_of(entry: Entry) -> str:
    """The type; Returns may have it without a name."""
    return entry.type or ", ".join(entry.names)


def unsummarized() -> list[str]:
    """Docstrings without a sentence first that ends in a full stop."""
    return [
        m.name
        for m in MEMBERS
        if not re.match(r"\S[^\n]*(?:\n[^\n]+)?[.:]", m.sections.get("", ""))
    ]


def misnamed_parameters() -> list[str]:
    """Functions whose Parameters are not those of the signature, in its order."""
    return [
        m.name
        for m in callables("function", "method")
        if [n for e in m.entries("Parameters", "Other Parameters") for n in e.names]
        != m.parameters
    ]


def undocumented_fields() -> list[str]:
    """Records and classes with constructor arguments or fields that are not told."""
    found = []
    for m in callables("class"):
        told = {
            n
            for e in m.entries("Parameters", "Other Parameters", "Attributes")
            for n in e.names
        }
        if "explains the arguments" in " ".join(m.sections[""].split()):
            continue  # a function makes it
        if is_record(m.object):
            inherited = {
                n
                for base in m.object.__mro__[1:]
                for e in Member(
                    "", "class", base, sections(base.__doc__ or "")
                ).entries("Parameters", "Attributes")
                for n in e.names
            }
            fields = getattr(m.object, "_fields", None) or [
                f.name
                for f in m.object.__dataclass_fields__.values()
                if f.name[0] != "_" and f.init
            ]
            wanted = set(fields) - inherited
        elif issubclass(m.object, Exception) or "Attributes" in m.sections:
            wanted = set()  # made by functions, read by its attributes
        else:
            wanted = set(m.parameters)
        if not wanted <= told:
            found.append(m.name)
    return found


def without_returns() -> list[str]:
    """Functions that return something and do not say what.

    Without arguments the first sentence says it, as of a property.
    """
    found = []
    for m in callables("function", "method"):
        if inspect.isbuiltin(m.object):
            continue
        made = inspect.signature(m.object).return_annotation
        silent = made in (None, "None", "NoReturn", "Never", inspect.Signature.empty)
        if (
            m.parameters
            and not silent
            and not m.sections.keys() & {"Returns", "Yields"}
        ):
            found.append(m.name)
    return found


def untold_errors() -> list[str]:
    """Functions that raise by themselves what their docstring does not name."""
    found = []
    for m in callables("function", "method"):
        if inspect.isbuiltin(m.object):
            continue
        source = textwrap.dedent(inspect.getsource(inspect.unwrap(m.object)))
        raised = {
            node.exc.func.id
            for node in ast.walk(ast.parse(source))
            if isinstance(node, ast.Raise)
            and isinstance(node.exc, ast.Call)
            and isinstance(node.exc.func, ast.Name)
            and node.exc.func.id[0].isupper()  # not what makes an error
        }
        if any(name not in m.sections.get("Raises", "") for name in raised):
            found.append(m.name)
    return found


def without_example() -> list[str]:
    """Functions, and classes that users make, without a doctest.

    Records with Attributes alone are results: the function that makes one shows it.
    """
    return [
        m.name
        for m in callables("function", "class")
        if (m.kind == "function" or "Parameters" in m.sections)
        and ">>>" not in m.sections.get("Examples", "")
    ]


def methods_without_example() -> list[str]:
    """Methods with arguments that no doctest of their file calls."""
    return [
        m.name
        for m in callables("method")
        if "Parameters" in m.sections
        and ">>>" not in m.sections.get("Examples", "")
        and not calls(m.object, f".{m.object.__name__}(")
    ]


def calls(item: Any, text: str) -> bool:
    """Whether a doctest of the file of a function has the text."""
    source = Path(inspect.getsourcefile(inspect.unwrap(item)) or "")
    return any(
        text in line
        for line in source.read_text(encoding="utf-8").splitlines()
        if line.lstrip().startswith((">>> ", "... "))
    )


def shapeless_arrays() -> list[str]:
    """Array arguments, attributes and results whose type gives no shape."""
    return [
        f"{m.name}: {', '.join(e.names)}"
        for m in MEMBERS
        for e in described(m)
        if ARRAY.search(kind_of(e)) and not SHAPE.search(kind_of(e))
    ]


def unitless_numbers() -> list[str]:
    """Numbers with neither a unit nor a word that says that there is none."""
    return [
        f"{m.name}: {', '.join(e.names)}"
        for m in MEMBERS
        for e in described(m)
        if re.search(r"\bfloat\b", kind_of(e))
        and not m.name.startswith(PURE_MODULES)
        and not set(e.names) & EXEMPT_UNITS.keys()
        and not any(SYMBOLS.fullmatch(name) for name in e.names)
        and not SI.search(e.text)
        and not PURE.search(e.text + " ".join(e.names))
    ]


RULES = [
    unsummarized,
    misnamed_parameters,
    undocumented_fields,
    without_returns,
    untold_errors,
    without_example,
    methods_without_example,
    shapeless_arrays,
    unitless_numbers,
]


@each("rule", {rule.__name__: rule for rule in RULES})
def test_rule(rule):
    told = (rule.__doc__ or "").splitlines()[0]
    assert not (found := sorted(rule())), f"{told} {found}"


def test_modules_have_docstrings():
    for name, module in public_modules().items():
        assert re.match(r"\S[^\n]+[.:]", module.__doc__ or ""), name


def cheat_sheet() -> dict[str, tuple[str, str]]:
    """Arguments and result of each function of the sheet."""
    text = (ROOT / "notebooks/docs/cheat_sheet.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)\(([^`]*)\)` \|([^|]*)\|", text, re.M)
    return {name: (arguments, result) for name, arguments, result in rows}


def test_cheat_sheet_has_every_function_with_its_arguments_and_shape():
    sheet = cheat_sheet()
    functions = {
        m.name: m for m in MEMBERS if m.kind == "function" and "." not in m.name
    }
    assert sheet.keys() == functions.keys()
    for name, (arguments, result) in sheet.items():
        member = functions[name]
        given = (
            {}
            if inspect.isbuiltin(member.object)
            else inspect.signature(member.object).parameters
        )
        needed = [
            p.name
            for p in given.values()
            if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD
        ]
        assert arguments == ", ".join(needed), name
        returned = " ".join(kind_of(e) for e in member.entries("Returns"))
        for shape in re.findall(r"`([^`]+)`", result):
            assert shape in returned, f"{name} returns {returned}"


def test_every_public_name_is_in_the_reference():
    pages = (ROOT / "notebooks/docs/api").glob("*.md")
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    blocks = re.findall(r"^```\{public\} (\S+)\n(?::from: (.*)\n)?```", text, re.M)
    whole = {module for module, sources in blocks if not sources}
    parts = defaultdict(list)
    for module, sources in blocks:
        parts[module] += [f"{module}.{source}" for source in sources.split()]
    for name, module in public_modules().items():
        if module.__name__ in whole:
            continue
        lost = [
            item
            for item in names_of(module)
            if callable(found := getattr(module, item))
            and not inspect.ismodule(found)
            and not found.__module__.startswith(tuple(parts[name]))
            and found.__module__ not in whole
        ]
        assert not lost, f"{name}: {lost} are on no page of notebooks/docs/api"
