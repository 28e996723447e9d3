"""Write the parts of ``flexarm/_core.pyi`` that follow from the tables of C.

``python3 tests/stub.py`` writes the file anew; `test_stubs.py` fails where it is old.
"""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

import numpy as np

import flexarm
from flexarm import _core

FILE = Path(flexarm.__file__).with_name("_core.pyi")
LETTERS = {"Q": "nq", "V": "nv", "T": "t", "C": "m"}
TYPES = {"float64": "_Array", "intc": "NDArray[np.intc]", "uintp": "NDArray[np.uintp]"}
TYPES["int64"] = "NDArray[np.int64]"
FUNCTION = " | Callable[[float, _Array, _Array], object]"


def line(code: str, comment: str, indent: str = "") -> list[str]:
    """A line of code with a comment, which stands above where there is no room."""
    whole = f"{indent}{code}  # {comment}"
    return [whole] if len(whole) <= 88 else [f"{indent}# {comment}", indent + code]


def signature(name: str) -> str:
    """Signature of a kernel, with the sizes of an arm by their names."""
    _, _, nodes, operands = _core.KERNELS[name]
    cores = [",".join(LETTERS.get(x, x) for x in core) for core in operands]
    *inputs, output = [f"({core})" for core in cores]
    return f"{','.join(['()'] * bool(nodes) + inputs)}->{output}"


def field(
    name: str, kind: str, shape: str, flags: str, text: str, _: float
) -> list[str]:
    """A field of a record, with its shape and documentation as a comment."""
    code = f"{name}: {shape if kind == 'object' else TYPES.get(kind, kind)}"
    code += FUNCTION * ("function" in flags) + " | None" * ("optional" in flags)
    code += " = ..." * ("default" in flags)
    axes = [x + "|1" * (x == "c" and "each" in flags) for x in shape]
    facts = [f"({', '.join(axes)})"] * (kind in TYPES) + ["written"] * (
        "written" in flags
    )
    comment = ": ".join(filter(None, [", ".join(facts), text]))
    return line(code, comment, "    ") if comment else [f"    {code}"]


def records() -> list[str]:
    lines = []
    for record, (text, rows) in _core.RECORDS.items():
        doc = f'"""{text}"""'
        lines += [
            "@type_check_only",
            f"class {record}(NamedTuple):",
            indent(doc, "    "),
            "",
        ]
        for name, row in rows.items():
            lines += field(name, *row)
        lines.append("")
    return lines


def maps() -> list[str]:
    lines = []
    for name in dir(_core):
        gufunc = getattr(_core, name)
        if isinstance(gufunc, np.ufunc):
            # NumPy says None for ufuncs of numbers
            lines += line(f"{name}: Final[Gufunc]", gufunc.signature or "()->()")
    return lines


def kernels() -> list[str]:
    lines = []
    for name in _core.KERNELS:
        lines += line(f"{name}: Function = ...", signature(name), "    ")
    return [*lines, ""]


def written(text: str) -> str:
    """The file with its parts as they follow from C."""
    for part in (records, maps, kernels):
        begin, end = (
            f"# {part.__name__}, from the tables of C\n",
            "# end of the tables\n",
        )
        before, rest = text.split(begin)
        _, after = rest.split(end, 1)
        text = "".join([before, begin, *(x + "\n" for x in part()), end, after])
    return text


if __name__ == "__main__":
    FILE.write_text(written(FILE.read_text(encoding="utf-8")), encoding="utf-8")
