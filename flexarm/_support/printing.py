"""Text of an object for `print` and its table for notebooks, from one sheet.

The form for notebooks is a plain table: captions and header cells for screen readers,
no scripts, and no colors of its own, so that it is read on a dark ground as well.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from .options import Hinting

_NUMBER = re.compile(r"-?[\d.]+(e[-+]?\d+)?|-?inf|nan|")
_CELL = "padding: 0.1em 0.6em; text-align: "


def table(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Lines of a table with columns of equal width, the first row is the head."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


@dataclass(frozen=True)
class Table:
    """Rows of text; the first row is the head.

    Attributes
    ----------
    rows : sequence of tuple of str
        Rows with equal numbers of cells.
    depths : sequence of int
        Indentation of each row below the head, as of a tree.
    right : bool
        Whether `print` aligns numbers to the right.
    """

    rows: Sequence[Sequence[str]]
    depths: Sequence[int] = ()
    right: bool = False

    def text(self) -> list[str]:
        """Return lines for a terminal."""
        if not self.right:
            return table([tuple(row) for row in self.rows])
        widths = [max(map(len, column)) for column in zip(*self.rows, strict=True)]
        numeric = self._numeric()
        return [
            "  ".join(
                cell.rjust(width) if number else cell.ljust(width)
                for cell, width, number in zip(row, widths, numeric, strict=True)
            ).rstrip()
            for row in self.rows
        ]

    @property
    def width(self) -> int:
        """Sum of the lengths of the longest cells of all columns."""
        return sum(max(map(len, column)) for column in zip(*self.rows, strict=True))

    def html(self, caption: str) -> str:
        """Return an HTML table."""
        from html import escape

        head, *body = self.rows
        sides = ["right" if number else "left" for number in self._numeric()]
        top = "".join(
            f'<th scope="col" style="{_CELL}{side}">{escape(cell)}</th>'
            for cell, side in zip(head, sides, strict=True)
        )
        lines = []
        for i, row in enumerate(body):
            depth = self.depths[i] if self.depths else 0
            pad = f"; padding-left: {0.6 + 1.5 * depth:.1f}em" if depth else ""
            first = f'<th scope="row" style="{_CELL}left{pad}">{escape(row[0])}</th>'
            rest = "".join(
                f'<td style="{_CELL}{side}">{escape(cell)}</td>'
                for cell, side in zip(row[1:], sides[1:], strict=True)
            )
            lines.append(f"<tr>{first}{rest}</tr>")
        title = f'<caption style="text-align: left">{escape(caption)}</caption>'
        return (
            f"<table>{title if caption else ''}"
            f"<thead><tr>{top}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
        )

    def _numeric(self) -> list[bool]:
        """Flags of the columns that hold numbers."""
        columns = list(zip(*self.rows[1:], strict=True))
        return [
            i > 0 and any(cells) and all(_NUMBER.fullmatch(cell) for cell in cells)
            for i, cells in enumerate(columns or [()] * len(self.rows[0]))
        ]


@dataclass(frozen=True)
class Sheet:
    """Lines of text and tables in order; a line before a table is its caption.

    Attributes
    ----------
    parts : tuple of str or Table
        Lines and tables.
    """

    parts: tuple[str | Table, ...]

    def text(self) -> str:
        """Return the text for a terminal."""
        lines: list[str] = []
        for part in self.parts:
            lines += [part] if isinstance(part, str) else part.text()
        return "\n".join(lines)

    def html(self) -> str:
        """Return the HTML for a notebook."""
        result, caption = [], ""
        for part in self.parts:
            if isinstance(part, Table):
                if len(caption) > part.width:  # it would break a line or widen columns
                    result += _paragraph(caption)
                    caption = ""
                result.append(part.html(caption))
                caption = ""
                continue
            result += _paragraph(caption)
            caption = part
        return f"<div>{''.join([*result, *_paragraph(caption)])}</div>"


def percent(error: float) -> str:
    """Two digits of an error in percent; rounding is zero."""
    value = 100.0 * float(error)
    if abs(value) < 5e-4:
        return "0"
    return f"{value:.0f}" if abs(value) >= 99.5 else f"{value:.2g}"


def _paragraph(line: str) -> list[str]:
    from html import escape

    return [f'<p style="margin: 0.2em 0">{escape(line)}</p>'] if line else []


class Printed(Hinting):
    """Mixin that prints the sheet of an object, as text and as HTML."""

    def _sheet(self) -> Sheet:
        raise NotImplementedError

    def __str__(self) -> str:
        return self._sheet().text()

    def _repr_html_(self) -> str:
        return self._sheet().html()
