"""Sphinx: the course as pages, theory, and the reference out of the docstrings.

``sphinx-build -W -b html notebooks build/docs`` needs no network and runs no notebook
(the tests run them); the pages need no network either.  With ``FLEXARM_INTERSPHINX=1``
names of Python, NumPy and SciPy link to their pages, which takes one.  With
``FLEXARM_DOCS_FIGURES=1`` the notebooks run, and their pages show what they draw.
"""

import inspect
import os
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from latex2mathml.converter import convert
from sphinx.roles import XRefRole
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective, SphinxRole

sys.path.insert(0, str(Path(__file__).parent.parent))

import flexarm

logger = logging.getLogger(__name__)

project = "flexarm"
author = "The flexarm developers"
version = release = flexarm.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
]
if os.environ.get("FLEXARM_INTERSPHINX"):
    extensions.append("sphinx.ext.intersphinx")
    intersphinx_mapping = {
        "python": ("https://docs.python.org/3", None),
        "numpy": ("https://numpy.org/doc/stable", None),
        "scipy": ("https://docs.scipy.org/doc/scipy", None),
    }
exclude_patterns = ["examples", "**/.ipynb_checkpoints"]

# the tests run the notebooks, which takes minutes
nb_execution_mode = "force" if os.environ.get("FLEXARM_DOCS_FIGURES") else "off"
nb_execution_timeout = -1  # none: machines differ
myst_enable_extensions = ["amsmath", "dollarmath"]
myst_heading_anchors = 3

default_role = "name"
autodoc_typehints = "none"  # types stand in the docstrings, with shapes
autosummary_generate = False
napoleon_google_docstring = False
# types are prose: "n" in a shape is no name to link to
napoleon_use_param = False
napoleon_custom_sections = [("Attributes", "params_style")]
napoleon_use_rtype = False

html_math_renderer = "mathml"
html_theme = "furo"
html_title = f"flexarm {release}"
html_static_path = ["docs/math.css", "docs/print.css"]
html_css_files = ["math.css", "print.css"]


class Name(SphinxRole):
    """Names in backticks: public ones link, those of arguments are code."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        public = self.text in flexarm.__all__ or self.text.startswith("flexarm.")
        if not public:
            return [nodes.literal(self.rawtext, self.text)], []
        name = "flexarm." + self.text.removeprefix("flexarm.")
        role = XRefRole()
        return role(
            "py:obj", self.rawtext, f"{self.text} <{name}>", self.lineno, self.inliner
        )


# base classes whose members are those of one public class
_PARTS = {"ArmLike", "LinearSystem", "SectionNumbers"}


class Public(SphinxDirective):
    """What a module gives to its users: its docstring, a table, every docstring.

    With ``:from:`` only what these of its modules define, without its docstring.
    """

    required_arguments = 1
    option_spec: ClassVar = {"from": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        module = import_module(name)
        sources = self.options.get("from", "").split()
        found = _names(module, [f"{name}.{source}" for source in sources])
        lines = [f".. currentmodule:: {name}", ""]
        if not sources:
            lines += [f".. automodule:: {name}", "   :no-members:", ""]
        lines += [".. autosummary::", "", *(f"   {item}" for item in found), ""]
        for item in found:
            made = getattr(module, item)
            if not inspect.isclass(made):
                lines += [f".. autofunction:: {item}", ""]
                continue
            lines += [f".. autoclass:: {item}", "   :members:"]
            if {base.__name__ for base in made.__bases__} & _PARTS:
                lines += ["   :inherited-members: Printed"]
            lines += [""]
        text = "\n".join(lines)
        return self.parse_text_to_nodes(
            f"```{{eval-rst}}\n{text}\n```", allow_section_headings=True
        )


def _names(module, sources: list[str]) -> list[str]:
    """Public functions and classes of a module, or those that some modules define."""
    names = getattr(module, "__all__", None) or [
        name
        for name, item in vars(module).items()
        if name[0] != "_" and getattr(item, "__module__", "") == module.__name__
    ]
    return [
        name
        for name in names
        if callable(item := getattr(module, name))
        and (not sources or item.__module__.startswith(tuple(sources)))
    ]


def _references(app, what, name, item, options, lines: list[str]) -> None:
    """Number references as a list: footnotes [1] of a page would be mixed up."""
    lines[:] = [
        re.sub(r"\[(\d+)\]_", r"[\1]", re.sub(r"^\.\. \[(\d+)\] ", r"\1. ", line))
        for line in lines
    ]


def _mathml(self, node, display: str) -> None:
    """Write mathematics as MathML: browsers draw it without a script or a network."""
    tex = node.astext()
    tag = re.search(r"\\tag\{(.*?)\}", tex)
    plain = tex.replace(tag[0], "") if tag else tex
    try:
        # a thin space after sin, cos, ... that no parenthesis follows
        found = re.sub(
            r"(<mi>[a-z]{2,}</mi>)(?=<m[in]>)",
            r'\1<mspace width="0.167em" />',
            convert(plain, display=display),
        )
    except Exception as error:  # the converter has no common class of errors
        found = f"\\{type(error).__name__}"
    if "\\" in found:  # a command that the converter does not know
        logger.warning("no MathML for %r: %s", plain, found[:60], location=node)
    if display == "block":
        number = f'<span class="eqno">({tag[1]})</span>' if tag else ""
        found = f'<div class="math">{number}{found}</div>'
    self.body.append(found)
    raise nodes.SkipNode


def _inline_mathml(self, node) -> None:
    _mathml(self, node, "inline")


def _block_mathml(self, node) -> None:
    _mathml(self, node, "block")


def setup(app) -> None:
    """Register the directive and what mends references, before napoleon."""
    app.add_directive("public", Public)
    app.add_role("name", Name())
    app.add_html_math_renderer("mathml", (_inline_mathml, None), (_block_mathml, None))
    app.connect("autodoc-process-docstring", _references, priority=400)
