"""Sphinx: the course as pages, theory, and the reference out of the docstrings.

``sphinx-build -W -b html notebooks build/docs`` needs no network, and the pages need
none either.  The notebooks run once for each state of the package, which takes three
minutes; their outputs stay in ``build/notebooks``.  With ``FLEXARM_DOCS_FIGURES=0``
they do not run.  With ``FLEXARM_INTERSPHINX=1`` names of Python, NumPy and SciPy link
to their pages, which takes a network.
"""

import hashlib
import html
import inspect
import logging as python_logging
import os
import re
import shutil
import sys
from importlib import import_module
from pathlib import Path
from typing import ClassVar
from urllib.parse import unquote

import matplotlib
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.roles import XRefRole
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective, SphinxRole

sys.path[:0] = [str(Path(__file__).parent.parent), str(Path(__file__).parent)]

import pages
from mathml import mathml

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


def _outputs() -> Path:
    """Folder of the outputs of notebooks that this state of the package has made."""
    package = Path(flexarm.__file__).parent
    state = hashlib.sha256()
    for path in sorted(package.rglob("*")):
        if path.is_file() and path.suffix != ".pyc":
            state.update(path.read_bytes())
    folder = Path(__file__).parents[1] / "build" / "notebooks" / state.hexdigest()[:16]
    for old in folder.parent.glob("*"):
        if old != folder:
            shutil.rmtree(old, ignore_errors=True)
    return folder


if os.environ.get("FLEXARM_DOCS_FIGURES") == "0":
    nb_execution_mode = "off"
else:
    nb_execution_mode = "cache"
    nb_execution_cache_path = str(_outputs())
    # of a shell that draws to files, too, kernels draw into their notebooks
    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
    python_logging.getLogger("traitlets").setLevel("WARNING")
nb_execution_timeout = -1  # none: machines differ
nb_merge_streams = True  # one block for all that a cell prints
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
html_show_copyright = False
html_title = f"flexarm {release}"
html_css_files = ["math.css", "print.css", "pages.css"]
fonts = Path(matplotlib.get_data_path(), "fonts", "ttf")
html_static_path = [
    *(f"docs/{name}" for name in html_css_files),
    *(str(fonts / name) for name in ("STIXGeneral.ttf", "LICENSE_STIX")),
]


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
_PARTS = {"ArmLike", "JointKinds", "LinearSystem", "SectionNumbers", "StackLike"}


class Public(SphinxDirective):
    """Text of a module for its users: its docstring, a table, every docstring.

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
        results = _results(module, found) if sources else {}
        for item, made in [*((n, getattr(module, n)) for n in found), *results.items()]:
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


class Drawing(SphinxDirective):
    """Code of a page, and the figure that it draws, made while Sphinx reads the page.

    The blocks of the page before it have run, see ``pages.py``.  With ``:hidden:``
    the figure is shown alone, with ``:folded:`` the code opens below it.
    """

    has_content = True
    option_spec: ClassVar = {
        "alt": directives.unchanged_required,
        "hidden": directives.flag,
        "folded": directives.flag,
    }

    def run(self) -> list[nodes.Node]:
        where = self.env.doc2path(self.env.docname)
        names, done = self.env.temp_data.setdefault("drawing", ({}, [0]))
        found = pages.blocks(Path(where).read_text(encoding="utf-8"))
        try:
            for block in found[done[0] :]:
                done[0] += 1
                if block.draws:
                    break
                pages.run(block, names, where)
            image = pages.picture(pages.figure_of(block, names, where))
        except Exception as error:  # anything that the code of a page raises
            place = f"{where}:{self.lineno}"
            logger.warning("no figure: %r", error, location=place)
            return []
        alt = html.escape(self.options["alt"], quote=True)
        figure = nodes.raw(
            "", f'<img class="drawing" alt="{alt}" src="{image}">', format="html"
        )
        if "hidden" in self.options:
            return [figure]
        code = "\n".join(self.content)
        shown = nodes.literal_block(code, code, language="python")
        if "folded" not in self.options:
            return [shown, figure]
        begin = "<details><summary>Code of this figure</summary>"
        return [
            figure,
            nodes.raw("", begin, format="html"),
            shown,
            nodes.raw("", "</details>", format="html"),
        ]


def _names(module, sources: list[str]) -> list[str]:
    """Public names of a module, or those that some modules define; functions first."""
    names = getattr(module, "__all__", None) or [
        name
        for name, item in vars(module).items()
        if name[0] != "_" and getattr(item, "__module__", "") == module.__name__
    ]
    found = [
        name
        for name in names
        if callable(item := getattr(module, name))
        and (not sources or item.__module__.startswith(tuple(sources)))
    ]
    return sorted(found, key=lambda name: inspect.isclass(getattr(module, name)))


def _results(module, names: list[str]) -> dict[str, type]:
    """Classes that functions of a module return and it does not name, by place."""
    found = {}
    for name in names:
        bare = inspect.unwrap(getattr(module, name))
        said = str(getattr(bare, "__annotations__", {}).get("return", ""))
        for word in re.findall(r"[A-Za-z]\w*", said):
            made = getattr(bare, "__globals__", {}).get(word)
            if not inspect.isclass(made) or hasattr(module, word):
                continue
            place = made.__module__.split("._")[0]
            if place.startswith(f"{module.__name__}."):
                found[f"{place}.{word}"] = made
    return found


def _references(app, what, name, item, options, lines: list[str]) -> None:
    """Number references as a list: footnotes [1] of a page would be mixed up."""
    lines[:] = [
        re.sub(r"\[(\d+)\]_", r"[\1]", re.sub(r"^\.\. \[(\d+)\] ", r"\1. ", line))
        for line in lines
    ]


def _is_field(app, what, name, item, skip, options) -> bool | None:
    """Leave out fields of a NamedTuple, which its docstring describes."""
    return (inspect.getdoc(item) or "").startswith("Alias for field number") or None


def _mathml(self, node, display: str) -> None:
    """Write mathematics as MathML: browsers draw it without a script or a network."""
    tex = node.astext()
    tag = re.search(r"\\tag\{(.*?)\}", tex)
    plain = tex.replace(tag[0], "") if tag else tex
    try:
        found = mathml(plain, display)
    except ValueError as error:
        logger.warning("%s", error, location=node)
        raise nodes.SkipNode from None
    if display == "block":
        number = f'<span class="eqno">({tag[1]})</span>' if tag else ""
        found = f'<div class="math">{number}<div>{found}</div></div>'
    self.body.append(found)
    raise nodes.SkipNode


def _inline_mathml(self, node) -> None:
    with_sign = "after" in node
    if with_sign:
        self.body.append('<span class="with-sign">')
    try:
        _mathml(self, node, "inline")
    finally:
        if with_sign:
            self.body.append(f"{node['after']}</span>")


def _block_mathml(self, node) -> None:
    _mathml(self, node, "block")


def _keep_signs(app, tree, name: str) -> None:
    """Give mathematics in a line the comma after it, so that no line begins with it."""
    for node in list(tree.findall(nodes.math)):
        place = node.parent.index(node) + 1
        after = node.parent[place] if place < len(node.parent) else None
        if isinstance(after, nodes.Text) and after[:1] in ",.;:)":
            node["after"] = after[:1]
            node.parent[place] = nodes.Text(after[1:])


def _check_links(app, error) -> None:
    """Warn of links between the finished pages that lead nowhere."""
    if error or app.builder.name != "html":
        return
    texts = {
        path.resolve(): path.read_text(encoding="utf-8")
        for path in Path(app.outdir).rglob("*.html")
    }
    places = {page: set(re.findall(r'\bid="([^"]+)"', t)) for page, t in texts.items()}
    for page, text in texts.items():
        for link in set(re.findall(r'<a [^>]*href="(?!\w+:)([^"]+)"', text)):
            file, _, place = unquote(link).partition("#")
            target = (page.parent / file).resolve() if file else page
            if not target.exists() or place not in {"", *places.get(target, ())}:
                logger.warning("%s links to %s, which is not there", page.name, link)


def setup(app) -> None:
    """Register the directive and what mends references, before napoleon."""
    app.add_directive("public", Public)
    app.add_directive("drawing", Drawing)
    app.add_role("name", Name())
    app.add_html_math_renderer("mathml", (_inline_mathml, None), (_block_mathml, None))
    app.connect("doctree-resolved", _keep_signs)
    app.connect("build-finished", _check_links)
    app.connect("autodoc-skip-member", _is_field)
    app.connect("autodoc-process-docstring", _references, priority=400)
