"""The code of the pages: where it is, what it prints, what it draws.

Blocks ``python`` of a page run in their order, with the names of those before.  A block
``text`` right after one is what it prints; ``...`` stands for anything.  The directive
``drawing`` has code, too: Sphinx runs it, after the blocks before it, and shows its
figure.  ``tests/pages/test_pages.py`` runs all of it.
"""

from __future__ import annotations

import base64
import contextlib
import io
import re
from typing import Any, NamedTuple

FENCE = re.compile(
    r"^```(python|\{drawing\}[^\n]*)\n(.*?)^```\n(?:\n*```text\n(.*?)^```\n)?",
    re.M | re.S,
)
LARGEST = 300_000  # bytes of a figure as lines
OPTION = re.compile(r"^:[\w-]+:.*\n", re.M)

STYLE = {
    "figure.figsize": (6.4, 3.2),
    "figure.constrained_layout.use": True,
    "font.size": 9.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.hashsalt": "flexarm",  # the same figure has the same file
}


class Block(NamedTuple):
    """Code of a page, what it prints if that is shown, and the line of its fence."""

    code: str
    printed: str | None
    line: int
    draws: bool


def blocks(text: str) -> list[Block]:
    """All code of a page that runs."""
    return [
        Block(
            OPTION.sub("", body) if kind != "python" else body,
            printed,
            text.count("\n", 0, found.start()) + 1,
            kind != "python",
        )
        for found in FENCE.finditer(text)
        for kind, body, printed in [found.groups()]
    ]


def run(block: Block, names: dict[str, Any], where: str) -> str:
    """Run one block and return what it prints; errors name lines of the page."""
    # empty lines in front, so that a traceback shows the line of the page
    code = compile("\n" * block.line + block.code, where, "exec")
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(code, names)
    return out.getvalue()


def figure_of(block: Block, names: dict[str, Any], where: str) -> Any:
    """Run a block that draws, and return its figure, the current one of pyplot."""
    import matplotlib.pyplot as plt

    plt.switch_backend("agg")
    plt.close("all")
    with plt.rc_context(STYLE):
        run(block, names, where)
    if not plt.get_fignums():
        raise ValueError(f"{where}, line {block.line}: the code draws no figure")
    return plt.gcf()


def picture(figure: Any) -> str:
    """Return a figure as the address of an image that holds itself."""
    import matplotlib.pyplot as plt

    lines, cells = io.BytesIO(), io.BytesIO()
    kind, file = "svg+xml", lines
    with plt.rc_context(STYLE):
        figure.savefig(lines, format="svg", facecolor="white", metadata={"Date": None})
        if lines.tell() > LARGEST:  # a map with thousands of cells
            kind, file = "png", cells
            figure.savefig(cells, format="png", facecolor="white", dpi=160)
    return f"data:image/{kind};base64,{base64.b64encode(file.getvalue()).decode()}"
