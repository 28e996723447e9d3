"""A strict reader of Matrix Market files, which bounds time and memory.

The reader of SciPy 1.17 ends the process for a file that is cut inside an exponent, and
takes any count of a header.  Here the header is checked against what is expected before
a number is read, the text is decompressed piece by piece up to what its header allows,
and ``numpy.loadtxt`` reads the numbers.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable
from typing import Any, BinaryIO

import numpy as np
from scipy import sparse

from .._support.arrays import Array
from .._support.checks import short_text
from .._support.files import open_file, shown_path
from ..errors import ModelError

# Entries of one matrix at most, 1.2 GB while it is read.
MAX_ENTRIES = 50_000_000
# Bytes of header and comments at most.
HEAD_BYTES = 1_000_000
# Bytes of a line at most.
LINE_BYTES = 10_000
# Bytes of the line of an entry, on average, at most.
ENTRY_BYTES = 200
_FIELDS = ("real", "double", "integer", "unsigned-integer")


class _Lines(io.RawIOBase):
    """Bytes of a file, plain or compressed, of lines up to a length."""

    def __init__(self, name: str, file: BinaryIO) -> None:
        self._name = name
        self._read: Callable[[int], bytes] = file.read
        ending = name[:-1].rpartition(".")[2].lower()
        if ending == "gz":  # a module that some builds of Python lack, as the next
            import gzip

            self._read = gzip.GzipFile(fileobj=file).read
        elif ending == "bz2":
            import bz2

            self._read = bz2.BZ2File(file).read
        self._seen = self._line = 0
        self._ended = False
        self.limit = HEAD_BYTES
        self.last = b""  # a line behind the file, so that its table is never empty

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = b"" if self._ended else self._piece(len(buffer))
        if not data:
            if self._line:
                raise not_a_matrix(
                    self._name, "its last line has no end, the file may be cut"
                )
            self._ended = True
            data, self.last = self.last, b""
            buffer[: len(data)] = data
            return len(data)
        self._seen += len(data)
        if self._seen > self.limit:
            raise not_a_matrix(
                self._name,
                f"its text is longer than the {self.limit} bytes that its header "
                "allows",
            )
        end = data.rfind(b"\n")
        self._line = self._line + len(data) if end < 0 else len(data) - end - 1
        if self._line > LINE_BYTES + len(buffer):
            raise not_a_matrix(self._name, "a line is too long")
        buffer[: len(data)] = data
        return len(data)

    def _piece(self, size: int) -> bytes:
        try:
            return self._read(size)
        except Exception as problem:  # also zlib.error, which is no OSError
            if isinstance(problem, OSError) and problem.errno is not None:
                raise  # of the disk
            if isinstance(problem, MemoryError):
                raise
            raise not_a_matrix(
                self._name, f"it cannot be decompressed: {problem}"
            ) from None

    def allow(self, entries: int, columns: int) -> None:
        """Allow the text of some entries, after that of the header."""
        self.limit = HEAD_BYTES + ENTRY_BYTES * (entries + 1)
        self.last = b"0 " * columns + b"\n"


def not_a_matrix(name: str, problem: str) -> ModelError:
    """Refusal of a file; `name` is in quotes."""
    return ModelError(
        f"file {name} is not a Matrix Market file of numbers ({problem}), expected one "
        "as scipy.io.mmwrite makes it"
    )


def _header(name: str, text: io.TextIOBase) -> tuple[str, bool, list[int]]:
    """Format, symmetry and counts: rows, columns, and entries of a sparse matrix."""
    words = text.readline(LINE_BYTES).lower().split()
    if len(words) != 5 or words[:2] != ["%%matrixmarket", "matrix"]:
        raise not_a_matrix(name, "its first line is not that of a matrix")
    layout, field, symmetry = words[2:]
    for word, known in (
        (layout, ("array", "coordinate")),
        (field, _FIELDS),
        (symmetry, ("general", "symmetric")),
    ):
        if word not in known:
            raise not_a_matrix(
                name, f"it is {short_text(word)}, expected {' or '.join(known[:2])}"
            )
    line = "%"
    while line.startswith("%") or line.isspace():
        line = text.readline(LINE_BYTES)
    counts = line.split()
    if len(counts) != 2 + (layout == "coordinate") or not all(
        re.fullmatch("[0-9]{1,30}", count) for count in counts
    ):
        raise not_a_matrix(name, f"its counts are {short_text(line.strip())}")
    return layout, symmetry == "symmetric", [int(count) for count in counts]


def _check_counts(
    name: str, layout: str, symmetric: bool, counts: list[int], rows: int | None
) -> int:
    """Return the number of lines with numbers; refuse counts that cannot be right."""
    n, m = counts[:2]
    size = f"{short_text(n)} rows and {short_text(m)} columns"
    if symmetric and n != m:
        raise not_a_matrix(name, f"it is symmetric with {size}")
    if rows is not None and (n > rows or m > rows):
        raise ModelError(
            f"file {name} has {size}, expected at most {rows}, six for each node of "
            "the mesh"
        )
    full = n * (n + 1) // 2 if symmetric else n * m
    entries = full if layout == "array" else counts[2]
    dense = layout == "array" or rows is None
    if max(entries, n * m if dense else 0) > MAX_ENTRIES:
        raise ModelError(
            f"file {name} has {size} and {short_text(entries)} entries, expected at "
            f"most {MAX_ENTRIES} numbers"
        )
    if entries > n * m:
        raise not_a_matrix(name, f"it has {entries} entries in {size}")
    return entries


def _table(name: str, text: io.TextIOBase, entries: int, columns: int) -> Array:
    """Read the numbers, line by line."""
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Input line .* contained no data")
            # without its bound a file with more lines would be read to its end
            table = np.loadtxt(text, comments="%", ndmin=2, max_rows=entries + 2)
    except ModelError:
        raise
    except (ValueError, OverflowError) as problem:
        reason = " ".join(str(problem).split()).rstrip(".").split(";")[0]
        raise not_a_matrix(name, reason[:100]) from None
    if table.shape != (entries + 1, columns):
        found = "more" if len(table) > entries + 1 else str(len(table) - 1)
        raise not_a_matrix(
            name,
            f"the number of its lines is {found}, with {table.shape[1]} numbers each, "
            f"expected {entries} with {columns}",
        )
    return table[:-1]


def read_matrix(path: object, rows: int | None = None) -> Any:
    """Read a matrix: a dense array, or a sparse matrix of ``coordinate`` form.

    Parameters
    ----------
    path : path
        File; ``.gz`` and ``.bz2`` are decompressed.
    rows : int, optional
        Largest number of rows and of columns; without it the matrix must be small
        enough to be dense.
    """
    with open_file("Matrix Market file", path) as file:
        name = shown_path(path)
        lines = _Lines(name, file)
        with io.TextIOWrapper(io.BufferedReader(lines), encoding="latin-1") as text:
            layout, symmetric, counts = _header(name, text)
            entries = _check_counts(name, layout, symmetric, counts, rows)
            columns = 1 if layout == "array" else 3
            lines.allow(entries, columns)
            table = _table(name, text, entries, columns)
    n, m = counts[:2]
    if layout == "array":
        return _dense(table[:, 0], n, m, symmetric)
    return _sparse(name, table, n, m, symmetric)


def _dense(values: Array, n: int, m: int, symmetric: bool) -> Array:
    """Columns one after another, of a symmetric matrix from the diagonal down."""
    if not symmetric:
        return np.asarray(values.reshape(m, n).T)
    result = np.zeros((n, n))
    at = np.triu_indices(n)
    result[at] = result[at[::-1]] = values
    return result


def _sparse(name: str, table: Array, n: int, m: int, symmetric: bool) -> Any:
    """Matrix of rows (i, j, value), with indices from 1 on."""
    at, values = table[:, :2], table[:, 2]
    wrong = ~((at >= 1) & (at <= (n, m)) & (at == np.floor(at))).all(axis=1)
    if wrong.any():
        k = int(np.argmax(wrong))
        raise not_a_matrix(
            name,
            f"entry {k + 1} is at ({at[k, 0]:.12g}, {at[k, 1]:.12g}), in {n} rows and "
            f"{m} columns",
        )
    i, j = (at - 1).astype(np.intp).T
    if symmetric:
        below, above = i > j, i < j
        twice = np.intersect1d(i[below] * n + j[below], j[above] * n + i[above])
        if twice.size:
            row, column = divmod(int(twice[0]), n)
            raise not_a_matrix(
                name,
                f"it is symmetric and has both entries ({row + 1}, {column + 1}) and "
                f"({column + 1}, {row + 1})",
            )
        off = below | above
        i, j = np.append(i, j[off]), np.append(j, i[off])
        values = np.append(values, values[off])
    return sparse.coo_matrix((values, (i, j)), shape=(n, m))
