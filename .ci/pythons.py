#!/usr/bin/env python3
"""The core tests on every Python there is: ``.ci/pythons.py [INTERPRETER ...]``.

Takes the interpreters that are named, or all of 3.10 and later on PATH and of pyenv,
free-threaded builds such as python3.14t and python3.14-nogil among them. Each one
builds and installs the package in an environment of its own, from a copy of the
checkout, for one instruction set and with little optimization, and runs the tests of
what is computed, of how it is called, and of threads. On a free-threaded build the
extension must leave the GIL off. Ends with a table, and fails with any of them.

Needs git, gcc and a network; with ccache the kernels are compiled once.
PYTEST_ADDOPTS, FLEXARM_TARGETS and CFLAGS do what they always do.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
NAME = re.compile(r"python3\.(\d\d)(t|-nogil)?")
TESTS = [
    *("dynamics", "identities", "kinematics", "modal", "simulate", "stacks"),
    *("gufunc_batches", "gufunc_failures", "gufunc_layouts", "gufunc_models"),
    *("core_constants", "memory", "model_errors", "single_calls"),
    *("threads", "thread_batches"),
]
NEEDED = ["hypothesis", "pytest>=8.4", "pytest-xdist"]
ABOUT = """
import json, platform, sys, sysconfig
free = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
print(json.dumps([sys.executable, platform.python_version() + "t" * free, free]))
"""
# away from the checkout, whose extension is of another Python
CHECK = """
import sys, numpy, flexarm
assert "site-packages" in flexarm.__file__, flexarm.__file__
assert not ("free" in sys.argv and sys._is_gil_enabled()), "the GIL is on"
print(numpy.__version__)
"""


def interpreters_of_machine():
    """Return the commands on PATH and of pyenv that are named like an interpreter."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    places = [Path(place) for place in os.environ["PATH"].split(os.pathsep)]
    places += sorted(pyenv.glob("versions/*/bin"))
    found = [file for place in places if place.is_dir() for file in place.iterdir()]
    names = [(NAME.fullmatch(file.name), file) for file in found]
    return [str(file) for name, file in names if name and int(name[1]) >= 10]


def describe(command):
    """Return path, version and whether it is free-threaded; None if it does not run."""
    run = subprocess.run([command, "-c", ABOUT], capture_output=True, text=True)
    return None if run.returncode else json.loads(run.stdout)


def copy_of_checkout(target):
    """Copy every file that git does not ignore, so that no build gets in between."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listing = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=True
    )
    for name in filter(None, listing.stdout.split("\0")):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)


def variables():
    """Return the environment: that of a quick build."""
    quick = {"FLEXARM_TARGETS": "quick"}
    # the newest releases may have no wheels for this Python, older ones do
    wheels = {"PIP_ONLY_BINARY": "hypothesis,numpy,scipy,scipy-openblas32"}
    return {**quick, **wheels, **os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}


def check(python, free, work, copy):
    """Build, install and test.

    Returns the version of NumPy, seconds of the build, the last line of pytest, and
    whether all is well.
    """
    environment = variables()

    def run(*command, cwd=work, **options):
        return subprocess.run(
            command, cwd=cwd, env=environment, check=True, text=True, **options
        )

    run(python, "-m", "venv", work / "venv")
    own = work / "venv/bin/python"
    pip = [own, "-m", "pip", "install", "-q"]
    run(*pip, *NEEDED, "numpy", "scipy")
    begun = time.monotonic()
    run(*pip, copy)
    seconds = time.monotonic() - begun
    checked = run(own, "-c", CHECK, *["free"] * free, stdout=subprocess.PIPE)
    shutil.copy(copy / "pyproject.toml", work)
    for name in ("csrc", "tests"):  # some tests read C
        shutil.copytree(copy / name, work / name)
    tests = [
        str(path.relative_to(work))
        for name in TESTS
        for path in (work / "tests").glob(f"*/test_{name}.py")
    ]
    done = subprocess.run(
        [own, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests],
        cwd=work,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    sys.stdout.write(done.stdout if done.returncode else "")
    last = (done.stdout.strip().splitlines() or ["pytest said nothing"])[-1]
    return checked.stdout.strip(), seconds, last, done.returncode == 0


def main():
    """Check each version once, and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("interpreters", nargs="*", metavar="INTERPRETER")
    given = parser.parse_args()
    known = {}
    for command in given.interpreters or interpreters_of_machine():
        described = describe(command)
        if described is None and given.interpreters:
            sys.exit(f"pythons.py: {command} does not run")
        if described is not None:
            known.setdefault(described[1], described)
    if not known:
        sys.exit("pythons.py: no Python 3.10 or later was found; name one")

    rows, passed = [], True
    with tempfile.TemporaryDirectory() as directory:
        copy = Path(directory, "copy")
        copy_of_checkout(copy)
        for version, (python, _, free) in known.items():
            print(f"== {version}, {python}", flush=True)
            work = Path(directory, version)
            work.mkdir()
            try:
                numpy, build, last, fine = check(python, free, work, copy)
                rows.append(f"{version:9}  {numpy:8}  {build:5.0f} s  {last}")
            except subprocess.CalledProcessError as error:
                fine = False
                rows.append(f"{version:9}  FAILED: {error.cmd[1:4]}")
            passed = passed and fine
            print(rows[-1], flush=True)
    print("\nPython     NumPy     build    core tests", *rows, sep="\n")
    sys.exit(not passed)


if __name__ == "__main__":
    main()
