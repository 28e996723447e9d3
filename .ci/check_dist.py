"""Check an sdist and a wheel: ``check_dist.py DIRECTORY``, run in the checkout."""

import subprocess
import sys
import tarfile
import zipfile
from fnmatch import fnmatch
from pathlib import Path

NOT_SHIPPED = {".gitignore"}
LICENSE = "flexarm-*.dist-info/licenses/LICENSE"
BUILT = ["flexarm/_core.*", "flexarm/_libs/*openblas*", "flexarm/_libs/fmi2.so"]
BUILT += ["flexarm/py.typed", LICENSE]


def project_files():
    """Return every file of the checkout that git does not ignore."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listing = subprocess.run(command, capture_output=True, text=True, check=True)
    return {name for name in listing.stdout.split("\0") if Path(name).is_file()}


def check_sdist(path):
    """Return what is wrong with the sdist, in sentences."""
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    missing = project_files() - names - NOT_SHIPPED
    binary = {n for n in names if n.endswith((".so", ".o", ".dylib", ".pyc"))}
    return [f"sdist lacks {name}" for name in sorted(missing)] + [
        f"sdist contains the built file {name}" for name in sorted(binary)
    ]


def check_wheel(path):
    """Return what is wrong with the wheel, in sentences."""
    wanted = {n for n in project_files() if fnmatch(n, "flexarm/*.py*")}
    with zipfile.ZipFile(path) as archive:
        names = set(archive.namelist())
        cores = [archive.read(n) for n in names if fnmatch(n, "flexarm/_core.*.so")]
    problems = [f"wheel lacks {name}" for name in sorted(wanted - names)]
    for pattern in BUILT:
        if not any(fnmatch(name, pattern) for name in names):
            problems.append(f"wheel lacks {pattern}")
    for name in sorted(names):
        if not name.startswith(("flexarm/", "flexarm-")):
            problems.append(f"wheel contains {name}, which is not of the package")
    for core in cores:
        for place in {sys.base_prefix, sys.prefix, str(Path.cwd())} - {"/usr"}:
            if place.encode() in core:
                problems.append(
                    f"the extension contains a path of this machine, {place}"
                )
    return problems


def main():
    """Check the one sdist and the one wheel in the directory."""
    (sdist,) = Path(sys.argv[1]).glob("*.tar.gz")
    (wheel,) = Path(sys.argv[1]).glob("*.whl")
    problems = check_sdist(sdist) + check_wheel(wheel)
    for file in (sdist, wheel):
        print(f"{file.name}: {file.stat().st_size / 1e6:.1f} MB")
    sys.exit("\n".join(problems) or 0)


if __name__ == "__main__":
    main()
