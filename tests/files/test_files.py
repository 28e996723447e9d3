"""Files of arms: the same to the bit, readable, of old versions; refusals."""

from __future__ import annotations

import hashlib
import io
import json
import warnings
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from each import each
from few_modes import planar_chain
from kept_cases import (
    LIBRARY,
    TUBE,
    arm_of,
    assert_same,
    assert_same_arm,
    driven,
    links,
)
from refusals import argument_refused, model_refused
from trees import SEVERAL

import flexarm as fa
from flexarm import beams
from flexarm.files import _json, _results, _types

DATA = Path(__file__).parents[1] / "data"


def kept(thing: Any, folder: Path, name: str = "kept.json") -> Any:
    """The object after a file."""
    fa.save(thing, folder / name)
    return fa.load(folder / name)


@each("name", LIBRARY)
def test_named_arms(tmp_path: Path, name: str) -> None:
    arm = getattr(fa.library, name)()
    assert_same_arm(arm, kept(arm, tmp_path))


def test_all_named_arms_are_here() -> None:
    made = {n for n in fa.library.__all__ if "-> Arm" in _signature(n)}
    assert made - {"random_tree"} <= set(LIBRARY)


def _signature(name: str) -> str:
    import inspect

    made = getattr(fa.library, name)
    return str(inspect.signature(made)).replace("'", "") if callable(made) else ""


@each("seed", range(8))
def test_trees_of_all_joints(tmp_path: Path, seed: int) -> None:
    options: dict[str, Any] = (
        {"joints": SEVERAL, "attachments": 0.3} if seed % 2 else {}
    )
    arm = fa.library.random_tree(seed, 5, **options)
    assert_same_arm(arm, kept(arm, tmp_path))


@each("body", links())
def test_links_of_beams(tmp_path: Path, body: Any) -> None:
    arm = arm_of(body)
    again = kept(arm, tmp_path)
    assert_same_arm(arm, again, printed=body.n_modes < 5)
    for a, b in zip(arm.bodies, again.bodies, strict=True):
        known = getattr(a, "unreduced", None) is not None
        assert known == (getattr(b, "unreduced", None) is not None)
    assert kept(body, tmp_path) == body


def test_drives_loops_and_the_like(tmp_path: Path) -> None:
    assert_same_arm(driven(), kept(driven(), tmp_path))
    lower = planar_chain(2, n_modes=1, bending_stiffness=1.0)
    lower = lower.replace(fidelity="ruthless", name='ärm \u2028 "x"\n')
    assert_same_arm(lower, kept(lower, tmp_path))


def test_a_stack_and_its_views(tmp_path: Path) -> None:
    arms = fa.stack(fa.library.pendulum(mass=m) for m in (1.0, 1.0 / 3.0, 2.0))
    view = arms[np.array([[2, 0], [1, 1]])]
    assert_same(view, kept(view, tmp_path))


def test_parts_of_arms(tmp_path: Path) -> None:
    integrals = fa.modal_integrals(fa.library.spin_up_beam().bodies[0])
    parts = [fa.Joint("screw", screw=(0, 0, 1, 0, -0.3, 0)), TUBE, integrals]
    parts += [beams.STEEL, beams.Payload(0.3, mass=0.1), fa.Loop(("a", 1.0))]
    parts += [fa.control.JointFeedback([1.0], [2.0], [0.1])]
    for part in parts:
        assert kept(part, tmp_path) == part
    assert isinstance(kept(parts[5], tmp_path).first[1], float)  # a distance


# the text


def test_the_text_is_short_and_says_what_it_is(tmp_path: Path) -> None:
    fa.save(fa.library.pendulum(), tmp_path / "arm.json")
    text = (tmp_path / "arm.json").read_text()
    assert len(text.splitlines()) < 25
    assert max(map(len, text.splitlines())) <= 88
    tree = json.loads(text)
    assert list(tree)[:3] == ["format", "version", "made_by"]
    assert tree["bodies"][0]["joint"] == {"type": "Joint", "axis": [0.0, -1.0, 0.0]}


def test_large_arrays_stand_beside(tmp_path: Path) -> None:
    arm = fa.library.farid_spatial()
    fa.save(arm, tmp_path / "arm.json")
    beside = tmp_path / "arm.arrays.npz"
    assert {x.name for x in tmp_path.iterdir()} == {"arm.json", beside.name}
    with np.load(beside, allow_pickle=False) as arrays:
        assert min(arrays[name].size for name in arrays) > 500
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    for path in (tmp_path / "arm.json", beside):
        path.rename(moved / path.name)
    assert_same_arm(arm, fa.load(moved / "arm.json"))


def test_arms_of_many_links_put_more_beside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arm = fa.library.de_luca_siciliano()
    fa.save(arm, tmp_path / "arm.json")
    assert not (tmp_path / "arm.arrays.npz").exists()
    monkeypatch.setattr(_json, "MAX_TEXT", 12_000)
    fa.save(arm, tmp_path / "arm.json")
    monkeypatch.undo()
    assert (tmp_path / "arm.json").stat().st_size < 12_000
    assert_same_arm(arm, fa.load(tmp_path / "arm.json"))
    monkeypatch.setattr(_json, "MAX_TEXT", 1_000)
    words = ["bytes, expected at most 1000"]
    model_refused(words, lambda: fa.save(arm, tmp_path / "arm.json"))


def test_equal_sections_are_written_once(tmp_path: Path) -> None:
    link = links()["elements"]
    fa.save(arm_of(link), tmp_path / "arm.json")
    assert (tmp_path / "arm.json").read_text().count("rotary_inertia") == 1
    again = fa.load(tmp_path / "arm.json").bodies[0].beam.sections
    assert len({id(section) for section in again}) == 1


def test_classes_of_files() -> None:
    """Their fields are no words of files, their types are known."""
    for name in (*_types.DESCRIPTIONS, *_types.RESULTS):
        kind = _types.kind_of_type(name)
        fields = _types.fields_of(kind)
        assert set(fields) <= set(_results.hints_of(kind)), name
        reserved = {"type", "same", "format", "version", "made_by", "arrays"}
        assert not reserved & set(fields), name
        assert "call" not in fields, name


# versions


def test_files_of_version_1_load() -> None:
    arm = fa.load(DATA / "arm_of_version_1.json")
    body = beams.finite_element_link(
        "boom",
        length=0.8,
        sections=TUBE,
        n_elements=1,
        n_points=3,
        n_modes=2,
        motions="bending y",
        joint=fa.Joint(drive=fa.Drive(1e3, gear_ratio=50.0, rotor_inertia=1e-3)),
    )
    assert [b.name for b in arm.bodies] == ["boom", "hand"]
    assert arm.coordinate_names == arm_of(body).coordinate_names
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fa.ModeWarning)  # of two modes
        both = [fa.natural_frequencies(x, x.neutral) for x in (arm, arm_of(body))]
    np.testing.assert_allclose(*both, rtol=1e-6)


def test_old_versions_are_brought_up_to_date(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "arm.json"
    fa.save(fa.library.pendulum(), path)
    path.write_text(path.read_text().replace('"mass"', '"weight"'))
    model_refused(["bodies[0]", "'weight'"], lambda: fa.load(path))

    def renamed(tree: dict[str, Any]) -> dict[str, Any]:
        body = tree["bodies"][0]
        body["mass"] = body.pop("weight")
        return tree

    monkeypatch.setattr(_json, "VERSION", 2)
    monkeypatch.setitem(_json.UPGRADES, 1, renamed)
    assert_same_arm(fa.load(path), fa.library.pendulum())


# refusals


def spoiled(folder: Path, change: Callable[[Any], Any]) -> Path:
    """File of a pendulum with a change in its tree."""
    path = folder / "arm.json"
    fa.save(fa.library.pendulum(), path)
    tree = json.loads(path.read_text())
    path.write_text(json.dumps(change(tree) or tree))
    return path


def put(*keys: Any) -> Callable[[Any], Any]:
    """A change of the value at some keys, the last of which is the new value."""

    def change(tree: Any) -> None:
        *way, last, value = keys
        for key in way:
            tree = tree[key]
        tree[last] = value

    return change


NAN = {"type": "float", "value": "nan"}
ARRAY = {"type": "array", "dtype": "f8", "shape": [3], "data": [0.5, 0, 0]}


@each(
    "change, words",
    [
        (put("format", "robot"), ["format is 'robot'", "'flexarm'"]),
        (put("version", 2), ["version is 2", "later flexarm", "at most 1"]),
        (put("version", True), ["version is True"]),
        (put("version", 0), ["version is 0"]),
        (put("type", "Amr"), ["the type 'Amr'", "did you mean 'Arm'?"]),
        (put("type", "os.system"), ["the type 'os.system'"]),
        (put("type", ["Arm"]), ["the type ['Arm']"]),
        (
            put("bodies", 0, "masss", 1.0),
            ["bodies[0]", "'masss'", "did you mean 'mass'?"],
        ),
        (put("bodies", 0, "mass", -1.0), ["bodies[0]: ", "-1 kg"]),
        (
            put("bodies", 0, "mass", {"type": "float", "value": "nan"}),
            ["bodies[0]: ", "nan"],
        ),
        (put("bodies", 0, "mass", {"type": "float", "value": "1"}), ["bodies[0].mass"]),
        (put("bodies", 0, "mass", "1"), ["bodies[0]: ", "mass"]),
        (put("bodies", 0, "joint", {"kind": "fixed"}), ["bodies[0].joint", "no type"]),
        (put("bodies", 0, "joint", "axis", [0, 0, 0]), ["bodies[0].joint: axis"]),
        (put("bodies", 0, {"type": "Arm", "same": 0}), ["bodies[0]", "number 0"]),
        (put("bodies", 0, {"type": "RigidBody", "same": 0}), ["bodies[0]"]),
        (put("bodies", 0, "com", {**ARRAY, "dtype": "O"}), ["bodies[0].com"]),
        (put("bodies", 0, "com", {**ARRAY, "shape": [1 << 40]}), ["bodies[0].com"]),
        (put("bodies", 0, "com", {**ARRAY, "shape": [-1]}), ["bodies[0]"]),
        (put("bodies", 0, "com", {**ARRAY, "dtype": "U99999999"}), ["bodies[0].com"]),
        (put("bodies", 0, "com", {**ARRAY, "data": ["x"] * 3}), ["bodies[0].com"]),
        (put("bodies", 0, "com", {"type": "array", "in": "a"}), ["no array 'a'"]),
        (put("bodies", 0, "com", {"type": "generator", "state": {}}), ["generator"]),
        (put("bodies", [{"type": "RigidBody"}] * 100_000), ["100000 bodies", "4096"]),
        (put("gravity", None), ["gravity"]),
        (put("bodies", 0, "com", 1 << 9999), ["bodies[0]"]),
    ],
    ids=range(26),
)
def test_trees_that_are_refused(tmp_path: Path, change: Any, words: list[str]) -> None:
    path = spoiled(tmp_path, change)
    model_refused(words, lambda: fa.load(path))


CALL = {"type": "Call", "versions": {"type": "dict", "items": {}}}


@cache
def schema_check() -> Any:
    jsonschema: Any = pytest.importorskip("jsonschema", reason="another reader")
    jsonschema.Draft202012Validator.check_schema(fa.files.schema())
    return jsonschema.Draft202012Validator(fa.files.schema())


def schema_errors(tree: Any) -> list[tuple[str, str]]:
    """Where a file departs from the schema, and how; deepest places first."""
    found = sorted(schema_check().iter_errors(tree), key=lambda e: -len(e.path))
    return [(e.json_path, e.message) for e in found]


def test_files_are_as_the_schema_says(tmp_path: Path) -> None:
    rod, body = fa.library.pendulum(), links()["own modes"]
    model = fa.linearize(rod, rod.neutral)
    for thing in (arm_of(body), driven(), fa.stack([rod, rod]), model):
        fa.save(thing, tmp_path / "a.json")
        assert schema_errors(json.loads((tmp_path / "a.json").read_text())) == []


@each(
    "change, place, words",
    [
        (lambda tree: tree.update(version=2), "$.version", "1 was expected"),
        (lambda tree: tree.pop("format"), "$", "'format' is a required property"),
        (lambda tree: tree["bodies"][0].update(mas=1), "$.bodies[0]", "'mas' was"),
        (lambda tree: tree["bodies"][0].pop("name"), "$.bodies[0]", "'name' is a"),
        (
            lambda tree: tree["bodies"][0]["joint"].update(type="Joind"),
            "$.bodies[0].joint.type",
            "'Joind' is not one of",
        ),
        (
            lambda tree: tree["bodies"][0]["joint"].update(drive=3.0),
            "$.bodies[0].joint.drive",
            "3.0 is not valid",
        ),
    ],
)
def test_the_schema_names_the_place(
    tmp_path: Path, change: Any, place: str, words: str
) -> None:
    fa.save(fa.library.pendulum(), tmp_path / "a.json")
    tree = json.loads((tmp_path / "a.json").read_text())
    change(tree)
    where, said = schema_errors(tree)[0]
    assert (where, words in said) == (place, True), said


@each("name", ["os.system", "se3.np.save", "simulate", "optimize.paths.np.save", ""])
def test_no_function_of_a_file_is_called(tmp_path: Path, name: str) -> None:
    """Only those of flexarm that make objects of functions."""
    call = {**CALL, "function": name, "arguments": {"type": "dict", "items": {}}}
    made = put("gravity", {"type": "made", "call": call})
    model_refused(
        ["gravity", "function of a call"], lambda: fa.load(spoiled(tmp_path, made))
    )


@each(
    "name",
    ["../secret.npz", "/etc/passwd", "a\\b.npz", "a\0b", "", "..", ".", 3, "c:x"],
)
def test_arrays_are_beside_the_file(tmp_path: Path, name: Any) -> None:
    head = put("arrays", {"file": name, "sha256": "0" * 64})
    model_refused(["arrays are in"], lambda: fa.load(spoiled(tmp_path, head)))


def large(folder: Path) -> Path:
    fa.save(fa.library.farid_spatial(), folder / "arm.json")
    return folder / "arm.json"


def test_another_file_of_arrays_is_refused(tmp_path: Path) -> None:
    path, beside = large(tmp_path), tmp_path / "arm.arrays.npz"
    content = beside.read_bytes()
    beside.write_bytes(content[:-1] + b"x")
    model_refused(["another one", "checksum"], lambda: fa.load(path))
    beside.unlink()
    model_refused(["not beside it"], lambda: fa.load(path))


def with_arrays(path: Path, content: bytes) -> None:
    """Put other arrays beside a file, with their checksum."""
    path.with_name("arm.arrays.npz").write_bytes(content)
    tree = json.loads(path.read_text())
    tree["arrays"]["sha256"] = hashlib.sha256(content).hexdigest()
    path.write_text(json.dumps(tree))


def archive(member: bytes, how: int = zipfile.ZIP_STORED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", how) as made:
        made.writestr("array0.npy", member)
    return file.getvalue()


def header(text: str) -> bytes:
    text = text.ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


def test_hostile_arrays(tmp_path: Path) -> None:
    path = large(tmp_path)
    huge = header("{'descr': '<f8', 'fortran_order': False, 'shape': (1099511627776,)}")
    objects = io.BytesIO()
    np.save(objects, np.array([{}], dtype=object), allow_pickle=True)
    packed = archive(b"\0" * (1 << 20), zipfile.ZIP_DEFLATED)
    code = header("{'descr': '<f8', 'shape': __import__('os'), 'fortran_order': False}")
    for content, word in (
        (b"no archive", "no arrays"),
        (packed, "compressed"),
        (archive(huge), "another length"),
        (archive(objects.getvalue()), "plain numbers"),
        (archive(code), "no arrays"),
        (archive(b"\x93NUMPY\x09\x00"), "no arrays"),
    ):
        with_arrays(path, content)
        model_refused([word], lambda: fa.load(path))


@each(
    "name, content, words",
    [
        ("a.json", b"[" * 100_000, ["brackets inside of brackets"]),
        ("a.json", b'{"format": "flexarm", "format": 1}', ["given twice"]),
        ("a.json", b"\xff\xfe\x00", ["not JSON"]),
        ("a.json", b"", ["not JSON"]),
        ("a.json", b"[]", ["format is []"]),
        ("a.json", b"NaN", ["format is nan"]),
        ("a.yaml", b"a: &a [*a]", ["anchor"]),
        ("a.yaml", b"a: !!python/object/apply:os.system [ls]", ["tag"]),
        ("a.yaml", b"- " * 5000, ["brackets inside of brackets"]),
        ("a.yaml", b"x" * 1_100_000, ["1100000 bytes", "at most 1000000"]),
        ("a.toml", b"x" * 1_100_000, ["1100000 bytes", "at most 1000000"]),
        ("a.toml", b"a" + b".a" * 200 + b" = 1", ["200 dots"]),
        ("a.jsn", b"{}", ["'.jsn'", "did you mean '.json'?"]),
        ("a.urdf", b"<robot/>", ["flexarm.urdf.load reads such files"]),
        ("a.nc", b"CDF\x01" + b"\0" * 100, ["no result of save"]),
        ("a.nc", b"\x89HDF\r\n\x1a\n", ["a.nc", "there is no digest in it"]),
        ("a.zarr", b"x", ["no result of save"]),
    ],
    ids=range(17),
)
def test_files_that_are_refused(
    tmp_path: Path, name: str, content: bytes, words: list[str]
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    model_refused(words, lambda: fa.load(path))


def test_wrong_arguments(tmp_path: Path) -> None:
    arm = fa.library.pendulum()
    argument_refused(["int", "an arm"], lambda: fa.save(3, tmp_path / "a.json"))
    argument_refused(["ends in .json"], lambda: fa.save(arm, tmp_path / "a.yaml"))
    argument_refused(["ends in .json"], lambda: fa.save(arm, tmp_path / "a.nc"))
    argument_refused(["path is 3"], lambda: fa.load(3))
    with pytest.raises(FileNotFoundError):
        fa.load(tmp_path / "nothing.json")
    with pytest.raises(FileNotFoundError):
        fa.load(tmp_path / "nothing.nc")
    with pytest.raises(FileNotFoundError):
        fa.save(arm, tmp_path / "no" / "arm.json")
    model_refused(["a directory"], lambda: fa.load(_folder(tmp_path / "x.json")))


def _folder(path: Path) -> Path:
    path.mkdir()
    return path


class Box(fa.RigidBody):
    """A body of a user."""


def test_an_arm_is_kept_whole_or_refused(tmp_path: Path) -> None:
    arm = fa.Arm([Box("a", mass=1.0, com=(0.5, 0, 0))])
    words = ["bodies[0] is object of type Box", "files do not hold"]
    argument_refused(words, lambda: fa.save(arm, tmp_path / "arm.json"))
    assert list(tmp_path.iterdir()) == []


def test_a_failed_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "arm.json"
    fa.save(fa.library.pendulum(), path)
    before = path.read_bytes()

    def full(*args: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("flexarm._support.files.os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        fa.save(fa.library.puma560(), path)
    assert path.read_bytes() == before
    assert [x.name for x in tmp_path.iterdir()] == ["arm.json"]
