"""Pages of the documentation: their code runs, prints what they show, draws figures.

Each page starts anew and needs no other.  Axes of figures have labels with units, as in
the course (`test_notebooks.py`); links between pages lead somewhere.
"""

from __future__ import annotations

import doctest
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from axes import check_axes
from each import each

ROOT = Path(__file__).parents[2]
NOTEBOOKS = ROOT / "notebooks"
PAGES = sorted(
    path
    for path in (
        NOTEBOOKS / "exam.md",
        NOTEBOOKS / "index.md",
        *(NOTEBOOKS / "docs").rglob("*.md"),
    )
)
LONG = (  # half a second and more
    "docs/api/control",
    "docs/api/optimize",
    "docs/gallery",
    "docs/howto/believe",
    "docs/howto/cluster",
    "docs/howto/telescopes",
    "docs/tutorial/optimal_motion",
    "docs/tutorial/own_arm",
)
OPTIONAL = ("casadi", "dask", "fmpy", "jax")  # packages that pages import themselves
LETTERS = {
    "\u210b": r"\mathcal H",  # has its place among other symbols
    "\U0001d4a6": r"\mathcal K_j",
    "\U0001d5a0": r"\mathsf A",
    "\u211d": r"\mathbb R",
    "\U0001d41a": r"\mathbf a",
    "\U0001d6da": r"\mathbf \omega",
    "\U0001d7cf": r"\mathbf{1}",
}
SHOWN = doctest.ELLIPSIS | doctest.REPORT_NDIFF
LINK = re.compile(r"\]\(([^)\s#:]+\.(?:md|ipynb|py))[)#]")


def module(name: str) -> Any:
    """Module that Sphinx imports beside its configuration."""
    path = NOTEBOOKS / f"{name}.py"
    spec: Any = importlib.util.spec_from_file_location(name, path)
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


pages = module("pages")

RUN = {
    path.relative_to(NOTEBOOKS).with_suffix("").as_posix(): path
    for path in PAGES
    if pages.blocks(path.read_text(encoding="utf-8"))
}


def check_printed(block: Any, printed: str, where: str) -> None:
    """The output of a block is the one that the page shows below it."""
    want, checker = block.printed or "", doctest.OutputChecker()
    if not checker.check_output(want, printed, SHOWN):
        example = doctest.Example(block.code, want)
        difference = checker.output_difference(example, printed, SHOWN)
        pytest.fail(f"{where}, line {block.line}\n{difference}", pytrace=False)


def check_page(path: Path) -> None:
    """Run the blocks of a page in order."""
    where, names = str(path.relative_to(ROOT)), {}
    for block in pages.blocks(path.read_text(encoding="utf-8")):
        try:
            if block.draws:
                figure = pages.figure_of(block, names, where)
                for ax in figure.axes:
                    check_axes(ax)
            else:
                check_printed(block, pages.run(block, names, where), where)
        except ImportError as error:
            if error.name not in OPTIONAL and "pip install" not in str(error):
                raise
            pytest.skip(f"{where}, line {block.line}: {error}")


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] if name in LONG else [])
        for name in RUN
    ],
    ids=str,
)
def test_code_of_a_page(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    check_page(RUN[name])


@each("path", {str(path.relative_to(NOTEBOOKS)): path for path in PAGES})
def test_links_lead_somewhere_and_no_line_is_lost(path: Path) -> None:
    text = re.sub(r"^```.*?^```", "", path.read_text("utf-8"), flags=re.M | re.S)
    for link in LINK.findall(text):
        assert (path.parent / link).exists(), f"{path.name} links to {link}"
    lost = re.findall(r"^%.*", text, re.M)  # MyST takes such a line for a comment
    assert not lost, f"{path.name} hides {lost}"


def test_c_of_the_page_on_real_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The period of a controller compiles with the headers of the page."""
    compiler = shlex.split(os.environ.get("CC", "cc"))
    if shutil.which(compiler[0]) is None:
        pytest.skip(f"no C compiler {compiler[0]}")
    monkeypatch.chdir(tmp_path)
    text = (NOTEBOOKS / "docs" / "howto" / "real_time_c.md").read_text("utf-8")
    pages.run(pages.blocks(text)[0], {}, "real_time_c.md")
    (code,) = re.findall(r"^```c\n(.*?)^```", text, re.M | re.S)
    Path("period.c").write_text(code, encoding="utf-8")
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function"]
    where = [f"-I{ROOT / 'csrc'}", "-I.", "-fsyntax-only", "period.c"]
    subprocess.run([*compiler, *flags, *where], check=True)


def test_mathematics_is_what_browsers_know() -> None:
    """Letters are characters, columns have styles; what is ignored is refused."""
    pytest.importorskip("latex2mathml")
    mathml = module("mathml").mathml
    assert all(f">{letter}<" in mathml(tex) for letter, tex in LETTERS.items())
    for tex in (*LETTERS.values(), r"\mathrm{d}x", r"\sin x", r"\frac12\!"):
        assert not re.search(r'mathvariant="(?!normal)|mathspace', mathml(tex)), tex
    aligned = mathml(r"\begin{aligned} x &= 1 \\ y &= 2 \end{aligned}", "block")
    square = "<msup><mi>sin</mi><mn>2</mn></msup>"  # a space inside would break it
    thin = '<mspace width="0.167em" />'
    assert f"<mi>k</mi>{thin}{square}{thin}<mi>x</mi>" in mathml(r"k \sin^2 x")
    assert "<mi>exp</mi><mo" in mathml(r"\exp(x)")
    assert "<mo>+=</mo>" in mathml(r"a \mathrel{+}= b")
    assert aligned.count("<mtr>") == 2 and "text-align: right" in aligned
    for tex in (r"\unknown x", r"x & y", r"x \\ y", r"\frac"):
        with pytest.raises(ValueError, match="no MathML"):
            mathml(tex)


def test_long_pages_are_there() -> None:
    assert set(LONG) <= set(RUN)


@each("path", RUN)
def test_code_fits_on_the_page(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    wide = [line for b in pages.blocks(text) for line in b.code.splitlines()]
    assert max(map(len, wide)) <= 80, max(wide, key=len)


def test_symbols_have_the_names_of_the_code() -> None:
    """Each name of the page of symbols is one of the package, as argument or field."""
    text = (NOTEBOOKS / "docs" / "symbols.md").read_text(encoding="utf-8")
    rows = [
        [cell.strip() for cell in row.strip("|").split(" | ")]
        for row in re.findall(r"^\| \$.*\|$", text, re.M)
    ]
    assert len(rows) > 40
    assert all(len(row) == 5 and row[1] and row[2] for row in rows)
    code = "".join(path.read_text("utf-8") for path in (ROOT / "flexarm").rglob("*.py"))
    words = set(re.findall(r"\w+", code))
    for row in rows:
        for name in re.findall(r"`([^`]+)`", row[3]):
            assert set(re.findall(r"\w+", name)) <= words, name
