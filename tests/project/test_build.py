"""The build: one version, OpenBLAS beside the extension, refusals in one sentence."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest

import flexarm
from flexarm import _core

ROOT = Path(__file__).parents[2]

# runs setup.py once for each case: variables, then lines that take something away
DRIVER = """
import json, os, runpy, sys
answers = []
for variables, change in json.loads(sys.argv[1]):
    before, modules = dict(os.environ), dict(sys.modules)
    os.environ.update(variables)
    undo = []
    exec(change)
    sys.argv = ["setup.py", "-q", "build_ext", *sys.argv[2:]]
    try:
        runpy.run_path("setup.py", run_name="__main__")
        answers.append("built")
    except SystemExit as refusal:
        answers.append(str(refusal))
    sys.argv[1:] = sys.argv[1:2] + sys.argv[3:]
    for function in undo:
        function()
    os.environ.clear()
    os.environ.update(before)
    for name in ("numpy", "scipy_openblas32"):
        sys.modules.pop(name, None)
print(json.dumps(answers))
"""

NO_HEADERS = """
import sysconfig
get_path = sysconfig.get_path
sysconfig.get_path = lambda name, *rest: "/nowhere"
undo = [lambda: setattr(sysconfig, "get_path", get_path)]
"""
OLD_NUMPY = """
import types
sys.modules["numpy"] = types.SimpleNamespace(__version__="1.26.4")
"""

REFUSALS: list[tuple[dict[str, str], str, str, str]] = [
    ({"CC": "no-such-compiler"}, "",
     "the C compiler no-such-compiler was not found", "install gcc or clang"),
    ({"CC": sys.executable}, "",
     "cannot compile a line with a vector type", "install gcc or clang"),
    ({"CFLAGS": "-fno-such-flag"}, "",
     "refuses the flags of csrc/compile_flags.txt or CFLAGS", "unset CFLAGS"),
    ({"FLEXARM_TARGETS": "avx2,sse9"}, "",
     "FLEXARM_TARGETS has 'sse9'", "give a list of avx512, avx2, base"),
    ({"FLEXARM_BUILD": "../elsewhere"}, "",
     "FLEXARM_BUILD is '../elsewhere'", "give a name"),
    ({"FLEXARM_OPENBLAS": "/no/such/prefix"}, "",
     "/no/such/prefix has no lib/", "give the prefix"),
    ({"FLEXARM_OPENBLAS": "system", "PKG_CONFIG": "no-such-tool"}, "",
     "`no-such-tool --libs openblas` failed", "install OpenBLAS"),
    ({}, NO_HEADERS, "Python.h was not found in /nowhere", "install the development"),
    ({}, "sys.modules['numpy'] = None",
     "the headers of NumPy were not found", "install it"),
    ({}, OLD_NUMPY, "NumPy 1.26.4 has headers for itself only", "install it"),
    ({"FLEXARM_OPENBLAS": ""}, "sys.modules['scipy_openblas32'] = None",
     "scipy-openblas32 was not found", "FLEXARM_OPENBLAS=system"),
]  # fmt: skip


def test_version_is_that_of_the_metadata() -> None:
    assert flexarm.__version__ == importlib.metadata.version("flexarm")


@pytest.mark.skipif(
    "FLEXARM_OPENBLAS" in os.environ, reason="the build used another OpenBLAS"
)
def test_openblas_and_its_license_stand_beside_the_extension() -> None:
    names = [path.name for path in (Path(_core.__file__).parent / "_libs").iterdir()]
    assert any("openblas" in name for name in names)
    assert "LICENSE-OpenBLAS.txt" in names


def test_a_build_that_cannot_work_ends_in_one_sentence(tmp_path: Path) -> None:
    cases = [[variables, change] for variables, change, *_ in REFUSALS]
    places = ["--build-temp", str(tmp_path), "--build-lib", str(tmp_path)]
    mine = ("FLEXARM_TARGETS", "FLEXARM_BUILD", "CFLAGS", "CC")
    run = subprocess.run(
        [sys.executable, "-c", DRIVER, json.dumps(cases), *places],
        cwd=ROOT,
        env={k: v for k, v in os.environ.items() if k not in mine},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    answers = json.loads(run.stdout.splitlines()[-1])
    for (*_, given, advice), answer in zip(REFUSALS, answers, strict=True):
        assert answer.startswith("flexarm: "), (given, answer)
        assert given in answer
        assert advice in answer
        assert "\n" not in answer
    assert not list(tmp_path.rglob("*.o"))  # refused before anything is compiled


def python(code: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=os.environ | variables,
        capture_output=True,
        text=True,
    )


def test_a_build_that_is_not_there_is_named() -> None:
    run = python("import flexarm", FLEXARM_BUILD="no-such-build")
    assert run.returncode != 0
    last = run.stderr.strip().splitlines()[-1]
    assert last.startswith("ImportError: FLEXARM_BUILD is 'no-such-build', but ")
    assert "FLEXARM_BUILD=no-such-build python3 setup.py build_ext" in last


PARTS = {"forward", "inverse", "rest", "any"}
PARTS |= {f"stack_{part}" for part in PARTS}
# compiles to empty files and real lists of headers; probes are real
COMPILER = """#!/bin/sh
for word; do
    case "$last $word" in
    "-o "*objects*)
        : > "$word"
        exec {real} "$@" -MM -MF "${{word%.o}}.d"
        ;;
    "-o "*_core*)
        : > "$word"
        exit
        ;;
    esac
    last=$word
done
exec {real} "$@"
"""


@pytest.mark.slow
@pytest.mark.skipif(
    shutil.which("gcc") is None and shutil.which("clang") is None, reason="no compiler"
)
def test_builds_stand_side_by_side_and_compile_what_changed(tmp_path: Path) -> None:
    """Only the files that the compiler is asked for count: it makes empty ones.

    A real build beside the one of the package is tested by `.ci/sanitized`.
    """
    compiler = tmp_path / "cc"
    real = shutil.which("gcc") or shutil.which("clang")
    compiler.write_text(COMPILER.format(real=real))
    compiler.chmod(0o755)
    for name in ("csrc", "flexarm", "setup.py", "pyproject.toml", "README.md"):
        place = ROOT / name
        if place.is_dir():
            shutil.copytree(
                place,
                tmp_path / name,
                ignore=shutil.ignore_patterns("_core.*.so", "_libs", "__pycache__"),
            )
        else:
            shutil.copy(place, tmp_path)

    def build(name: str, **variables: str) -> dict[str, float]:
        """Objects of a build, and when they were made."""
        given = {"FLEXARM_TARGETS": "base", "CFLAGS": "-O0 -DFA_UNROLLED_MODES=0"}
        variables = given | {"FLEXARM_BUILD": name, "CC": str(compiler)} | variables
        run = subprocess.run(
            [sys.executable, "setup.py", "-q", "build_ext"],
            cwd=tmp_path,
            env=os.environ | variables,
            capture_output=True,
            text=True,
        )
        assert run.returncode == 0, run.stderr
        objects = (tmp_path / "build" / name / "objects").rglob("*.o")
        return {str(path): path.stat().st_mtime_ns for path in objects}

    def units(objects: dict[str, float]) -> set[str]:
        """Names of the objects of csrc/units/unit.c."""
        found = {Path(path) for path in objects}
        names = {path.stem for path in found if path.parent.name == "units"}
        return names - {"linear_model"}

    first = build("one")
    assert units(first) == {f"base_{part}" for part in PARTS}
    assert list((tmp_path / "build" / "one").glob("**/_core.*.so"))
    assert not list((tmp_path / "flexarm").glob("_core.*.so"))
    assert build("one") == first  # nothing to do
    (tmp_path / "csrc" / "kernels" / "lie" / "lie.c").touch()
    second = build("one")
    changed = [path for path, made in second.items() if made != first[path]]
    assert [Path(path).stem for path in changed] == ["base_rest"]
    # other flags have objects of their own: going back compiles nothing
    other = build("one", CFLAGS="-O0 -DFA_UNROLLED_MODES=0 -DOTHER")
    assert second.items() < other.items()
    assert build("one") == other
    quick = build("two", FLEXARM_TARGETS="quick", CFLAGS="")
    assert units(quick) in [{f"{isa}_{p}" for p in PARTS} for isa in ("avx2", "base")]
    assert "-Og" in Path(min(quick)).parents[2].joinpath("command.txt").read_text()


class Elf:
    """Parts of a shared object: what is read is little-endian and of 64 bits."""

    def __init__(self, path: Path) -> None:
        self.data = path.read_bytes()
        at, number = self.read("<Q", 32)[0], self.read("<H", 56)[0]
        # type, flags, offset, address, size in the file
        self.segments = [
            (*self.read("<II", at + 56 * i), *self.read("<QQ8xQ", at + 56 * i + 8))
            for i in range(number)
        ]

    def read(self, form: str, at: int) -> tuple[int, ...]:
        return struct.unpack_from(form, self.data, at)

    def flags(self, kind: int) -> int | None:
        """Return the flags of the first segment of a type."""
        return next((s[1] for s in self.segments if s[0] == kind), None)

    def dynamic(self) -> list[tuple[int, int]]:
        """Return the tags of the dynamic section and their values."""
        _, _, offset, _, size = next(s for s in self.segments if s[0] == 2)
        return [
            (tag, value)
            for at in range(offset, offset + size, 16)
            for tag, value in [self.read("<qQ", at)]
        ]

    def symbol(self, name: bytes) -> bytes:
        """Return the first bytes of a function that is exported."""
        tags = dict(self.dynamic())
        texts, symbols = self.place(tags[5]), self.place(tags[6])
        at = self.data.index(b"\0" + name + b"\0", texts) + 1 - texts
        # the table of symbols ends where that of their names begins
        for i in range(symbols, texts, 24):
            if self.read("<I", i)[0] == at:
                start = self.place(self.read("<Q", i + 8)[0])
                return self.data[start : start + 4]
        raise AssertionError(name)

    def place(self, address: int) -> int:
        """Return where an address stands in the file."""
        for kind, _, offset, start, size in self.segments:
            if kind == 1 and start <= address < start + size:
                return offset + address - start
        raise AssertionError(hex(address))


@pytest.mark.skipif(
    sys.platform != "linux"
    or sys.byteorder != "little"
    or any(name in os.environ for name in ("CFLAGS", "LDFLAGS")),
    reason="built in another way",
)
def test_the_extension_is_protected_against_overwritten_memory() -> None:
    elf = Elf(Path(_core.__file__))
    assert elf.flags(0x6474E552) is not None  # GNU_RELRO
    tags = elf.dynamic()
    assert (30, 8) in [(tag, value & 8) for tag, value in tags]  # FLAGS: BIND_NOW
    assert (0x6FFFFFFB, 1) in [(tag, value & 1) for tag, value in tags]  # FLAGS_1: NOW
    stack = elf.flags(0x6474E551)  # GNU_STACK
    assert stack is not None
    assert not stack & 1  # nothing runs there
    assert b"\0__stack_chk_fail\0" in elf.data
    if platform.libc_ver()[0] == "glibc":
        assert re.search(rb"\0__\w+_chk\0", elf.data.replace(b"__stack_chk_fail", b""))
    if platform.machine() == "x86_64":
        assert elf.symbol(b"PyInit__core") == b"\xf3\x0f\x1e\xfa"  # endbr64


PROBES = """
import json, runpy, setuptools, sys
setuptools.setup = lambda **options: None
hardened = runpy.run_path("setup.py")["hardened"]
cc, other, linker = sys.argv[1:]
print(json.dumps([
    hardened([cc], flags, [linker, "-shared"])
    for cc, flags, linker in (
        (cc, [], cc),
        (cc, ["-D_FORTIFY_SOURCE=1"], cc),
        (cc, ["-fsanitize=address"], cc),
        (other, [], linker),
    )
]))
"""


@pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("gcc") is None, reason="no gcc"
)
def test_flags_that_a_compiler_does_not_know_are_left_out(tmp_path: Path) -> None:
    tools = {"cc": "*-fcf-protection*", "ld": "*-z,*"}
    for name, unknown in tools.items():
        tool = tmp_path / name
        refusal = "echo unknown option >&2; exit 1"
        tool.write_text(
            f'#!/bin/sh\ncase "$*" in {unknown}) {refusal}; esac\nexec gcc "$@"\n'
        )
        tool.chmod(0o755)
    run = subprocess.run(
        [sys.executable, "-c", PROBES, "gcc", tmp_path / "cc", tmp_path / "ld"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert run.returncode == 0, run.stderr
    plain, fortified, sanitized, poor = json.loads(run.stdout)
    fortify = "-D_FORTIFY_SOURCE=3"
    assert fortify in plain[0]
    assert fortify not in fortified[0]
    assert fortify not in sanitized[0]
    assert "-Wl,-z,now" in plain[1]
    for flags, _ in (plain, fortified, sanitized, poor):
        assert "-fstack-protector-strong" in flags
    assert "-fcf-protection" not in poor[0]
    assert poor[1] == []
