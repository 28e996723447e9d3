"""All checks, on a fresh clone: `.ci/run` installs compilers and calls this.

The two commands of the README run first, word for word, each in an environment of its
own; all other checks run in that of the tests.

    python3 .ci/checks.py [NAME ...]
    python3 .ci/checks.py --here NAME ...

The first form runs all, or those whose names contain one of these words, and what they
need. The second one runs these alone, with the packages that are installed here.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from runner import Check, main

ROOT = Path(__file__).resolve().parents[1]
PYTEST = "python3 -m pytest -n 0"
TOOLS = "tools of the project"
# tests of what is computed, for each instruction set
COMPUTED = "tests/*/test_{dynamics,identities,kinematics,modal,reference,simulate}.py "
COMPUTED += "tests/*/test_gufunc_{batches,failures}.py"

CLANG = """\
command -v clang >/dev/null || { echo "left out: no clang"; exit 0; }
mapfile -t flags <csrc/compile_flags.txt
python=$(python3 -c 'import sysconfig; print(sysconfig.get_path("include"))')
numpy=$(python3 -c 'import numpy; print(numpy.get_include())')
flags+=(-Werror -fsyntax-only -Icsrc -Itests/c -isystem "$python" -isystem "$numpy")
for isa in BASE AVX2 AVX512; do
    clang "${flags[@]}" -DFA_$isa csrc/units/unit.c
    clang "${flags[@]}" -DFA_$isa -DFA_STACK csrc/units/unit.c
done
clang "${flags[@]}" csrc/{dense,model,calls,library,units,python,fmi}/*.c tests/c/*.c"""

WHEEL = """\
oldest=(numpy==1.26.4 scipy==1.11.4)
if python3 -c 'import sys; raise SystemExit(sys.version_info < (3, 13))'; then
    oldest=() # NumPy 1.26 has no wheel for this Python
fi
# with the objects that the demo compiled: all sets as a wheel has them take minutes
FLEXARM_TARGETS= .ci/wheel "$WORK/dist" "${oldest[@]}\""""

NARROWER = """\
sets=$(python3 -c 'import flexarm; print(*flexarm.build_info()["available"][1:])')
[[ " $sets " = *" ISA "* ]] || { echo "left out: no narrower set here"; exit 0; }
FLEXARM_ISA=ISA python3 -m pytest -q """

LAYOUT = """\
ruff format --check .
ruff check .
find csrc tests/c -name '*.[ch]' -print0 | xargs -0 clang-format --dry-run --Werror
git ls-files -z --cached --others --exclude-standard | xargs -0 codespell"""


def readme(end: str, environment: str) -> str:
    """Return a command of the README, word for word, in an environment of its own."""
    text = (ROOT / "README.md").read_text()
    found = re.search(rf"^    (python3 -m pip install .*{end})$", text, re.MULTILINE)
    if found is None:
        return f"echo 'README has no command that ends in {end}'; exit 1"
    path = f'"$WORK/{environment}'
    return f'"$FIRST" -m venv {path}"\nexport PATH={path}/bin:$PATH"\n{found[1]}'


def with_valgrind(command: str) -> str:
    """Return a command that is left out where there is no valgrind."""
    left_out = '{ echo "left out: no valgrind"; exit 0; }'
    return f"command -v valgrind >/dev/null || {left_out}\n{command}"


def sanitized(kind: str, watched: str) -> Check:
    """Return the check of the extension under a sanitizer."""
    command = f".ci/sanitized {kind}"
    return Check(f"the extension under {watched}", command, (TOOLS,), True, command)


def narrower(isa: str) -> Check:
    """Return the check on an instruction set; the whole suite runs on the widest."""
    return Check(
        f"what is computed, on {isa}",
        NARROWER.replace("ISA", isa) + COMPUTED,
        (TOOLS,),
        again=f"FLEXARM_ISA={isa} {PYTEST}",
    )


def all_checks() -> list[Check]:
    """Return the checks in the order in which they begin."""
    demo = readme("python3 -m flexarm demo", "demo") + "\nrm -rf flexarm-demo"
    tests = readme("python3 -m pytest", "venv")
    # the setting silences a general remark of setuptools on editable installs
    tools = 'PYTHONWARNINGS=ignore "$PYTHON" -m pip install -e ".[dev]"'
    instructions = with_valgrind(
        'grep -qsw avx2 /proc/cpuinfo || { echo "left out: no AVX2"; exit 0; }\n'
        "python3 tests/bench/instructions.py"
    )
    docs = "tests/pages/test_docs.py"
    smoke = "FLEXARM_BENCH_SMOKE=1 python3 -m pytest -q --benchmark-disable"
    slow = f"python3 -m pytest -q -m slow --durations=25 --ignore {docs}"
    after = (TOOLS,)
    return [
        Check("README: the demo", demo),
        Check("README: the tests", tests, again=PYTEST),
        Check(TOOLS, tools),
        Check("layout and spelling", LAYOUT, after, True),
        Check("types", "mypy --strict flexarm", after, True),
        Check("clang, warnings as errors", CLANG, after, True),
        Check("C tests", 'CC="$CCACHED" tests/c/run.sh plain', after, True),
        Check(
            "C tests under valgrind",
            with_valgrind('CC="$CCACHED" tests/c/run.sh valgrind'),
            after,
            True,
        ),
        Check("instructions of each kernel", instructions, after, True),
        sanitized("address,undefined", "AddressSanitizer"),
        sanitized("thread", "ThreadSanitizer"),
        Check("docs, warnings as errors", f"{PYTEST} -q -m slow {docs}", after),
        Check("a wheel, tried without a compiler and on NumPy 1.26", WHEEL, after),
        Check("benchmarks, each once", f"{smoke} tests/bench", after, again=smoke),
        narrower("avx2"),
        narrower("base"),
        Check("slow tests", slow, after, again=f"{PYTEST} -m slow"),
    ]


def chosen(words: list[str]) -> list[Check]:
    """Return the checks whose names contain a word, and what they need."""
    every = all_checks()
    if not words:
        return every
    names = {c.name for c in every if any(word in c.name for word in words)}
    names |= {need for c in every if c.name in names for need in c.needs}
    names |= {"README: the tests"} if TOOLS in names else set()
    return [c for c in every if c.name in names]


def environment(work: Path, *, here: bool) -> dict[str, str]:
    """Return the environment of all commands: that of the tests, or the one in use."""
    own = dict(os.environ)
    # modules of the package and of the tests are compiled once
    own.pop("PYTHONDONTWRITEBYTECODE", None)
    own |= {
        "WORK": str(work),
        "FIRST": sys.executable,
        "PYTHON": sys.executable,
        "MPLBACKEND": "Agg",
        "CI": "true",  # pytest does not cut the messages of failures
        "FLEXARM_WERROR": "1",  # warnings of the compiler are errors
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_QUIET": "1",
        "PIP_COMPILE": "0",  # of what is installed, imported modules are compiled then
        "CCACHED": own.get("CC", "gcc"),
    }
    if shutil.which("ccache"):  # setup.py uses it by itself
        own["CCACHED"] = "ccache " + own["CCACHED"]
        own["CCACHE_NOHASHDIR"] = "1"  # the wheel is built in another directory
    if not here:
        own["CCACHE_DIR"] = str(work / "ccache")  # nothing older is trusted
        own["PATH"] = f"{work / 'venv' / 'bin'}:{own['PATH']}"
        own["PYTHON"] = str(work / "venv" / "bin" / "python3")
    return own


def run(words: list[str]) -> int:
    """Run the checks that are asked for; return the exit status."""
    here = words[:1] == ["--here"]
    if here:
        checks = [replace(c, needs=()) for c in all_checks() if c.name in words[1:]]
    else:
        checks = chosen(words)
    if not checks:
        names = "\n".join(check.name for check in all_checks())
        print(f"no check has the name {words[-1]!r}; there are\n{names}")
        return 2
    with tempfile.TemporaryDirectory() as folder:
        return main(checks, Path(folder), environment(Path(folder), here=here))


if __name__ == "__main__":
    os.chdir(ROOT)
    sys.exit(run(sys.argv[1:]))
