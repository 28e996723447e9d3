"""Mathematics as MathML, which browsers draw without a script or a network.

Browsers know MathML Core, and ignore in silence what else a converter writes: letters
of another style, alignment of columns, names of spaces.  What Core has in other words
is translated here; what is left is refused.
"""

from __future__ import annotations

import unicodedata
from contextlib import suppress
from xml.etree import ElementTree

from latex2mathml.converter import convert

MATHML = "http://www.w3.org/1998/Math/MathML"
ElementTree.register_namespace("", MATHML)

# children of elements that are no rows
PARTS = {"msubsup": 3, "munderover": 3}
PARTS |= dict.fromkeys(("mfrac", "mover", "mroot", "msub", "msup", "munder"), 2)
ROWS = {"math", "mrow", "mstyle", "mtd", "msqrt"}
THIN = "0.167em"
CORE = {
    "accent", "display", "displaystyle", "fence", "form", "maxsize", "minsize",
    "movablelimits", "scriptlevel", "stretchy", "style", "width",
}  # fmt: skip

# Chromium moves mathematics to the right only by its own word
RIGHT = "text-align: right; text-align: -webkit-right"


def mathml(tex: str, display: str = "inline") -> str:
    """Convert TeX; raise ValueError for what browsers would not show."""
    try:
        # the converter knows one of the two, which mean the same
        found = convert(tex.replace("{aligned}", "{split}"), display=display)
        root = ElementTree.fromstring(found)
    except Exception as error:  # the converter has no common class of errors
        raise ValueError(f"no MathML for {tex!r}: {error!r}") from error
    for element in list(root.iter()):
        element.tag = element.tag.removeprefix(f"{{{MATHML}}}")
    for element in list(root.iter()):
        _style_letters(element)
        _align_columns(element)
        _space_functions(element)
        _join_relations(element)
        if element.get("width") == "negativethinmathspace":
            element.set("width", f"-{THIN}")
    for element in root.iter():
        if problem := _problem(element):
            raise ValueError(f"no MathML for {tex!r}: {problem}")
    root.set("xmlns", MATHML)
    return ElementTree.tostring(root, encoding="unicode")


def _style_letters(element: ElementTree.Element) -> None:
    r"""Write letters of \mathcal, \mathsf, ... as the characters that Unicode has.

    The only ``mathvariant`` of browsers is ``normal``: with another one they show a
    plain letter.
    """
    style = element.get("mathvariant", "normal")
    if style == "normal" or not element.text:
        return
    style = style.upper().replace("BOLD-", "BOLD ")
    name = unicodedata.name(element.text).replace(" LETTER", "")
    name = name.removeprefix("LATIN ").removeprefix("GREEK ")
    for begin in (f"MATHEMATICAL {style}", style):  # some were there before the others
        with suppress(KeyError):
            element.text = unicodedata.lookup(f"{begin} {name}")
            del element.attrib["mathvariant"]
            return


def _align_columns(table: ElementTree.Element) -> None:
    """Columns have styles; equations aligned at a sign are pairs without a space."""
    if table.tag != "mtable":
        return
    pairs = table.attrib.pop("columnspacing", "") == "0em"
    table.attrib.pop("rowspacing", None)
    for row in table:
        for number, cell in enumerate(row):
            side = cell.attrib.pop("columnalign", "")
            style = {"right": RIGHT, "left": "text-align: left"}.get(side, "")
            if pairs:
                before = "1.5em" if side == "right" and number else "0"
                style += f"; padding-inline: {before} 0"
            if style:
                cell.set("style", style)


def _space_functions(row: ElementTree.Element) -> None:
    """Put thin spaces around sin, cos, ... as TeX does, none before a parenthesis."""
    if row.tag not in ROWS:
        return
    children = list(row)
    for k in reversed(range(len(children))):
        if not _is_function(children[k]):
            continue
        after = children[k + 1] if k + 1 < len(children) else None
        if after is not None and not _begins_with_operator(after):
            row.insert(k + 1, ElementTree.Element("mspace", width=THIN))
        before = children[k - 1] if k else None
        if before is not None and (
            before.tag not in {"mo", "mspace"} or before.text == ")"
        ):
            row.insert(k, ElementTree.Element("mspace", width=THIN))


def _join_relations(row: ElementTree.Element) -> None:
    r"""Write \mathrel{+}= as one sign, which browsers do not break."""
    for first, after in list(zip(row, list(row)[1:], strict=False)):
        if first.tag == after.tag == "mo" and len(first) and after.text == "=":
            first.text = "".join(first.itertext()) + "="
            first[:] = []
            row.remove(after)


def _is_function(element: ElementTree.Element) -> bool:
    """Whether it is sin, cos, ... or a power of one."""
    if element.tag in {"msup", "msub", "msubsup"}:
        element = element[0]
    text = element.text or ""
    return element.tag == "mi" and len(text) > 1 and text.isascii() and text.isalpha()


def _begins_with_operator(element: ElementTree.Element) -> bool:
    while element.tag in {"mrow", "mstyle"} and len(element):
        element = element[0]
    # two functions in a row have one space, that of the second
    return element.tag in {"mo", "mspace"} or _is_function(element)


def _problem(element: ElementTree.Element) -> str:
    """Elements that browsers would not show as they are meant, or nothing."""
    text = element.text or ""
    if "\\" in text or text == "&":
        return f"unknown {text!r}"
    if len(element) != PARTS.get(element.tag, len(element)):
        return f"<{element.tag}> with {len(element)} parts"
    for name, value in element.attrib.items():
        if name not in CORE and (name, value) != ("mathvariant", "normal"):
            return f"{name}={value!r} of <{element.tag}>, which browsers ignore"
    if element.get("width", "").endswith("space"):
        return f"a space {element.get('width')}"
    return ""
