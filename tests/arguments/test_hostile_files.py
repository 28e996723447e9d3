"""Files that are broken, cut, too large or no files: one sentence, in memory."""

from __future__ import annotations

import bz2
import difflib
import gzip
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse
from campaigns import hostile_files as campaign
from each import each
from few_modes import few_modes
from refusals import model_refused, refused
from robot_texts import ROD, hinge

from flexarm import ArgumentError, ModelError, urdf
from flexarm._support.options import did_you_mean
from flexarm.finite_elements._matrix_market import read_matrix

if sys.platform == "win32":  # no limits of memory, pipes or devices there
    pytest.skip("the files of POSIX systems", allow_module_level=True)

import hostile_files as files

SPARSE = "%%MatrixMarket matrix coordinate real general\n"
SYMMETRIC = "%%MatrixMarket matrix coordinate real symmetric\n"
DENSE = "%%MatrixMarket matrix array real general\n"


# Matrix Market


@each(
    "text, words",
    [
        (SPARSE + "2 2 1\n1 1 1e", ["last line has no end"]),
        (SPARSE + "2 2 1\n1 1 1e\n", ["'1e'"]),
        (SPARSE + "2 2 1\n1 1 1e-\n", ["'1e-'"]),
        (SPARSE + "2 2 1\n1 1 1_0\n", ["'1_0'"]),
        (SPARSE + "2 2 1\n1 1 0x1p3\n", ["'0x1p3'"]),
        (SPARSE + "2 2 1\n1 1 1\0\n", ["could not convert"]),
        (SPARSE + "2 2 1\n1 1 1 1\n", ["columns changed from 4 to 3"]),
        (SPARSE + "2 2 1\n1 1\n", ["columns changed from 2 to 3"]),
        (SPARSE + "2 2 2\n1 1 1\n", ["number of its lines is 1", "expected 2 with 3"]),
        (SPARSE + "2 2 1\n1 1 1\n2 2 1\n", ["number of its lines is more"]),
        (SPARSE + "2 2 1\n3 1 1\n", ["entry 1 is at (3, 1), in 2 rows"]),
        (SPARSE + "2 2 1\n0 1 1\n", ["entry 1 is at (0, 1)"]),
        (SPARSE + "2 2 1\n-1 1 1\n", ["entry 1 is at (-1, 1)"]),
        (SPARSE + "2 2 1\n1.5 1 1\n", ["entry 1 is at (1.5, 1)"]),
        (SPARSE + "2 2 1\nnan 1 1\n", ["entry 1 is at (nan, 1)"]),
        (SPARSE + f"2 2 1\n{10**30} 1 1\n", ["entry 1 is at (1e+30, 1)"]),
        (SPARSE + f"{10**18} 2 1\n1 1 1\n", [f"has {10**18} rows", "at most 12"]),
        (SPARSE + f"2 2 {10**18}\n1 1 1\n", [f"{10**18} entries", "50000000"]),
        (SPARSE + "2 2 5\n" + "1 1 1\n" * 5, ["5 entries in 2 rows and 2 columns"]),
        (SPARSE + f"{'9' * 400} 2 1\n", ["its counts are '999"]),
        (SPARSE + "-2 2 1\n1 1 1\n", ["its counts are '-2 2 1'"]),
        (SPARSE + "2 2\n1 1 1\n", ["its counts are '2 2'"]),
        (SPARSE, ["its counts are ''"]),
        (SPARSE + "% " + "x" * 300_000, ["a line is too long"]),
        (SPARSE + "% x\n" * 500_000, ["longer than the 1000000 bytes"]),
        (SPARSE + "2 2 1\n1 1 1\n" + "\n" * 2_000_000, ["its header allows"]),
        (SPARSE + "2 2 1\n" + " " * 200_000 + "1 1 1\n", ["a line is too long"]),
        (SYMMETRIC + "2 3 1\n1 1 1\n", ["symmetric with 2 rows and 3 columns"]),
        (SYMMETRIC + "2 2 2\n1 2 1\n2 1 1\n", ["both entries (2, 1) and (1, 2)"]),
        (DENSE + "2 2\n1\n2\n3\n", ["number of its lines is 3", "expected 4 with 1"]),
        (DENSE + "2 2\n1\n2\n3\n4", ["last line has no end"]),
        (DENSE.replace("real", "complex") + "1 1\n1 0\n", ["it is 'complex'"]),
        (DENSE.replace("real", "pattern") + "1 1\n1\n", ["it is 'pattern'"]),
        (DENSE.replace("general", "skew-symmetric"), ["it is 'skew-symmetric'"]),
        (DENSE.replace("general", "hermitian"), ["it is 'hermitian'"]),
        (DENSE.replace("matrix ", "vector "), ["its first line is not"]),
        ("", ["its first line is not"]),
        (SPARSE.encode("utf-16"), ["its first line is not"]),
    ],
    ids=range(38),
)
def test_refused_matrices(tmp_path: Path, text: str | bytes, words: list[str]) -> None:
    path = tmp_path / "a.mtx"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    told = ["file '", "a.mtx"]
    model_refused([*told, *words], lambda: read_matrix(path, 12))


def test_matrices_are_those_of_scipy(tmp_path: Path) -> None:
    """Bit by bit, in all forms, with comments, empty lines and ends of Windows."""
    half = np.random.default_rng(3).normal(size=(7, 7)) ** 9 * (np.eye(7) > -1)
    for matrix in (half + half.T, np.diag(np.arange(7.0)), np.zeros((7, 7))):
        for kind in (np.asarray, scipy.sparse.coo_matrix):
            for symmetry in ("general", "symmetric"):
                path = tmp_path / "a.mtx"
                scipy.io.mmwrite(str(path), kind(matrix), symmetry=symmetry)
                content = path.read_bytes()
                wanted = scipy.io.mmread(str(path))
                changed = content.replace(b"\n", b"\r\n") + b"\n% end\n"
                for ending, data in (
                    ("mtx", content),
                    ("MTX", changed),
                    ("mtx.gz", gzip.compress(content)),
                    ("mtx.bz2", bz2.compress(content)),
                ):
                    packed = tmp_path / f"b.{ending}"
                    packed.write_bytes(data)
                    found = read_matrix(packed, 12)
                    assert type(found) is type(wanted)
                    if scipy.sparse.issparse(found):
                        assert scipy.sparse.issparse(wanted)
                        found, wanted_array = found.toarray(), wanted.toarray()
                    else:
                        wanted_array = np.asarray(wanted)
                    assert found.tobytes() == wanted_array.tobytes()


def test_entries_at_one_place_add_up(tmp_path: Path) -> None:
    """As SciPy writes a matrix that is assembled of elements."""
    path = tmp_path / "a.mtx"
    path.write_text(SPARSE + "2 2 3\n1 1 1\n2 1 5\n1 1 2\n")
    assert read_matrix(path, 12).toarray().tolist() == [[3.0, 0.0], [5.0, 0.0]]


def test_an_empty_matrix_is_one(tmp_path: Path) -> None:
    """The reader of SciPy 1.17 divides by its number of rows."""
    path = tmp_path / "a.mtx"
    for text, shape in ((DENSE + "0 0\n", (0, 0)), (SPARSE + "0 3 0\n", (0, 3))):
        path.write_text(text)
        assert read_matrix(path, 12).shape == shape


# files of all kinds


def test_no_part_of_a_file_is_taken_for_the_whole(tmp_path: Path) -> None:
    for name, content in files.valid_files(tmp_path).items():
        if name == "links.toml":  # a table without its end is a table
            continue
        path = tmp_path / name
        complete = len(content.rstrip(b"\n\0"))
        if ".mtx" in name:
            complete = len(content)
        for cut in range(0, complete, 1 + complete // 60):
            path.write_bytes(content[:cut])
            model_refused([], lambda path=path: files.read(path))
        path.write_bytes(content[: complete - 1])
        model_refused([], lambda path=path: files.read(path))


def test_packed_files_are_right_or_refused(tmp_path: Path) -> None:
    """Their sums of check find a flipped byte."""
    right = files.mesh().mass
    for name, content in files.valid_files(tmp_path).items():
        if not name.startswith("packed"):
            continue
        path = tmp_path / name
        for i in range(0, len(content), 2):
            path.write_bytes(content[:i] + bytes([content[i] ^ 16]) + content[i + 1 :])
            found: list[Any] = []
            told = files.fault(
                lambda path=path, found=found: found.append(files.read(path))
            )
            assert not told
            assert not found or abs(found[0].mass - right).max() == 0.0


MATRICES: tuple[Any, ...] = (
    lambda path: files.fe.read_matrix_market(files.NODES, path, path),
    lambda path: files.fe.read_matrix_market(path, path, path),
)


@each(
    "read",
    {
        "matrix": MATRICES[0],
        "points": MATRICES[1],
        "robot": urdf.read,
        "links": lambda path: urdf.load(files.ROBOT, sidecar=path),
    },
)
def test_what_is_no_file(tmp_path: Path, read: Any) -> None:
    pipe = tmp_path / "pipe"
    if not pipe.exists():
        os.mkfifo(pipe)
    for path, word in (
        (tmp_path, "is a directory"),
        (pipe, "is a pipe"),
        (Path("/dev/zero"), "is a device"),
        (Path("/dev/null"), "is a device"),
    ):
        model_refused([path.name, word], lambda path=path: read(path))
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "gone")
    secret = tmp_path / "secret"
    secret.write_text("")
    secret.chmod(0)
    if os.geteuid():  # root reads it
        with pytest.raises(PermissionError):
            read(secret)
    # where a source is declared, a number is refused at the door
    refused(ModelError if read in MATRICES else ArgumentError, [], lambda: read(7))
    model_refused([], lambda: read("\ud800"))


def test_spoiled_files_and_bombs_end_in_a_sentence() -> None:
    rows = list(campaign.rows(3, seed=0))
    assert not [row for row in rows if row.fault]
    assert sum(row.cells["refused"] for row in rows[:-1]) > 20  # type: ignore[misc]
    assert rows[-1].cells == {"file": "bombs", "read": 0, "refused": 14}


# too large


def attributes(n: int) -> str:
    return " ".join(f'a{i}="1"' for i in range(n))


@each(
    "text, words",
    [
        ("<robot>" + "<link name='a'/>" * 100_000, ["4098 or more elements <link>"]),
        ("<robot>" + "<joint name='a'/>" * 9_000, ["4098 or more elements <joint>"]),
        ("<robot>" + "<a/>" * 270_000, ["more than 262144 elements"]),
        ("<robot>" + "<visual/>" * 270_000, ["more than 262144 elements"]),
        ("<robot " + attributes(20_000) + "/>", ["longer than 100000 bytes"]),
        ("<robot><!--" + "x" * 300_000 + "-->", ["longer than 100000 bytes"]),
        ("<robot><" + "x" * 50_000 + "/>", ["a name of more than 100 letters"]),
        ("<robot name='" + "x" * 50_000 + "'><link name='a'/></robot>", ["50000"]),
        ("<robot><visual>" + "<a>" * 500, ["is inside of 100 others"]),
        (b" " * (1 << 24) + b"<robot/>", ["16777224 bytes", "16777216"]),
        (" " * (1 << 24) + "<robot/>", ["16777224 bytes", "16777216"]),
        ("<robot name='\ud800'/>", ["not readable", "UTF-8"]),
    ],
    ids=range(12),
)
@pytest.mark.slow
def test_large_robots(text: str | bytes, words: list[str]) -> None:
    model_refused(words, lambda: urdf.read(text))


def test_names_are_not_compared_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = []
    whole = difflib.get_close_matches

    def counted(word: str, names: Any, n: int) -> list[str]:
        compared.append(len(names))
        return whole(word, names, n)

    monkeypatch.setattr(difflib, "get_close_matches", counted)
    names = ["ba" * 48 + str(i) for i in range(4096)]
    assert did_you_mean("ab" * 49, names) == ""
    assert not compared
    assert did_you_mean("link", [*names, "lnk"]) == "; did you mean 'lnk'?"
    assert compared == [4097]


def check_large_robot(tmp_path: Path, n: int) -> None:
    """Links in UTF-16 are read, and are an arm."""
    links = [f'<link name="rod{i}">{ROD}</link>' for i in range(n)]
    joints = [hinge(i, f"rod{i - 1}", f"rod{i}") for i in range(1, n)]
    path = tmp_path / "a.urdf"
    path.write_text(
        "<robot name='long'>" + "".join(links + joints) + "</robot>", "utf-16"
    )
    arm = urdf.load(path)
    assert len(arm.bodies) == n
    assert arm._parents == tuple(range(-1, n - 1))


def test_a_large_robot(tmp_path: Path) -> None:
    check_large_robot(tmp_path, 500)


@pytest.mark.slow
def test_the_largest_robot(tmp_path: Path) -> None:
    check_large_robot(tmp_path, 4096)


# sidecars


@each(
    "name, text, words",
    [
        ("a.toml", "a=" + "[" * 100_000, ["not TOML", "brackets inside of brackets"]),
        ("a.toml", "a=" + "{a=" * 100_000, ["not TOML", "brackets"]),
        ("a.toml", "a." * 400_000 + "a=1", ["400000 dots in line 1", "at most 100"]),
        ("a.toml", files.TOML + "\0", ["not TOML", "line 7"]),
        ("a.toml", files.TOML * 2, ["not TOML", "twice"]),
        ("a.toml", files.TOML + "n_modes = 2\n", ["not TOML", "line 7"]),
        ("a.toml", files.TOML.encode("utf-16"), ["not TOML", "UTF-8"]),
        ("a.toml", b"\xff" + files.TOML.encode(), ["not TOML", "UTF-8"]),
        ("a.toml", "#" * 1_000_001, ["1000001 bytes", "1000000"]),
        ("a.toml", files.TOML.replace("1.0", "1" * 5000), ["not TOML", "digits"]),
        (
            "a.toml",
            files.TOML.replace("= 1\n", "= 1.5\n"),
            ["is 1.5, expected a whole"],
        ),
        (
            "a.toml",
            files.TOML.replace("= 1\n", "= true\n"),
            ["is True, expected a whole"],
        ),
        ("a.toml", files.TOML.replace("1.0", "nan"), ["length of link 'rod2' is nan"]),
        (
            "a.toml",
            files.TOML.replace("1.0", "1e70"),
            ["'rod2' is 1e+70"],
        ),
        ("a.toml", files.TOML.replace("1.0", "1979-05-27"), ["datetime.date"]),
        (
            "a.toml",
            files.TOML + 'geometric_stiffening = "false"\n',
            ["geometric_stiffening", "'false', expected True or False"],
        ),
        ("a.toml", f'["{"x" * 9000}"]\n', ["'xxxx", "is not in the robot"]),
        ("a.toml", files.TOML + f"{'x' * 9000} = 1\n", ["unknown key 'xxxx"]),
        ("a.toml", "rod2 = [" + "1," * 9000 + "]", ["flexible link 'rod2' is [1, 1"]),
        ("a.json", "[" * 100_000, ["not JSON", "brackets inside of brackets"]),
        ("a.json", '{"rod2":' * 100_000, ["not JSON", "brackets inside of brackets"]),
        ("a.json", '{"rod2": {"modes": 1, "modes": 2}}', ["'modes' is given twice"]),
        ("a.json", '{"rod2": {}, "rod2": {}}', ["'rod2' is given twice"]),
        ("a.json", '{"rod2": {"length": ' + "1" * 5000, ["not JSON", "digits"]),
        ("a.json", '{"rod2": "\0"}', ["not JSON"]),
        ("a.json", "", ["not JSON"]),
    ],
    ids=range(26),
)
def test_sidecars(
    tmp_path: Path, name: str, text: str | bytes, words: list[str]
) -> None:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    model_refused(words, lambda: urdf.load(files.ROBOT, sidecar=path))


@few_modes()
def test_a_sidecar_with_the_mark_of_windows(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text(files.TOML, "utf-8-sig")
    assert urdf.load(files.ROBOT, sidecar=path).nv == 4


def test_links_are_looked_up_before_they_are_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten thousand flexible links would take minutes."""
    path = tmp_path / "a.toml"
    table = "length=1\nmass_per_length=1\nbending_stiffness=1\n"
    path.write_text("".join(f"[r{i}]\n{table}" for i in range(10_000)))
    monkeypatch.delattr("flexarm.urdf._arm.link_of")
    model_refused(
        ["'r0' is not in the robot"], lambda: urdf.load(files.ROBOT, sidecar=path)
    )


def test_keys_of_a_mapping_are_names() -> None:
    told = ["sidecar has the key 7"]
    model_refused(told, lambda: urdf.load(files.ROBOT, sidecar={7: {}}))
