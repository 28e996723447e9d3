"""Build of ``flexarm._core``: the C sources in csrc/, linked with OpenBLAS.

What is not C stands in pyproject.toml, the compiler flags in csrc/compile_flags.txt;
its NPY_TARGET_VERSION lets one build run on NumPy 1.26 and all later ones.
Environment variables:

FLEXARM_TARGETS
    Unset, kernels are compiled for the instruction sets that this machine has. A list
    such as ``avx2,base`` names them, ``all`` means all: for wheels that go elsewhere.
    ``quick`` is one set, AVX2 where it is there, almost without optimization: kernels
    are several times slower, and are there after a quarter of a minute.
FLEXARM_BUILD
    Unset, the extension stands in the package. A name such as ``quick`` puts it into
    build/NAME of the checkout, beside other builds; where the same variable is set, the
    package imports it from there.
FLEXARM_OPENBLAS
    Unset, the library of the scipy-openblas32 wheel is copied beside the extension.
    ``system`` means what pkg-config calls openblas, anything else is a prefix with
    libopenblas in its lib directory.
FLEXARM_WERROR
    ``1`` turns warnings of the compiler into errors.
CC, CFLAGS, LDFLAGS
    As usual; CFLAGS come last and win, also over the flags against overwritten memory
    (HARDENED below), which are used where compiler and linker know them. Without CC,
    ccache is used if it is installed.

Objects are kept in build/, those of each command in a directory of their own, and
compiled again when their source or a header changed. ``python3 setup.py build_ext
--inplace`` builds what pip installs; ``.ci/quick`` is the quick way for work on C code.
"""

import hashlib
import importlib.metadata
import logging
import os
import platform
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from glob import glob
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

# compiled one by one; what csrc/kernels holds is included by csrc/units
SOURCES = sorted(
    {*glob("csrc/*/*.c")} - {*glob("csrc/examples/*.c"), *glob("csrc/fmi/*.c")}
)
# compiled once for each instruction set and each of these parts
UNIT = "csrc/units/unit.c"
PARTS = ["forward", "inverse", "rest", "any"]
PARTS += [f"stack_{part}" for part in PARTS]
# of the library of FMUs, which has no Python and no LAPACK
FMU_SOURCES = [
    "csrc/fmi/fmi2.c",
    "csrc/examples/no_lapack.c",
    "csrc/library/dispatch.c",
]
INCLUDED = sorted({*glob("csrc/**/*.*", recursive=True)} - {*SOURCES})
# instruction sets, widest first, with macros that a compiler defines where they are
SETS = {
    "avx512": {"__AVX512F__", "__AVX512DQ__", "__AVX512VL__", "__FMA__"},
    "avx2": {"__AVX2__", "__FMA__"},
    "base": set(),
}
QUICK = ["-Og", "-DFA_UNROLLED_MODES=0"]
# of a core of 3 GHz for a source of cost 1, see `cost_of`; clang 14 and gcc 12 alike
SECONDS = {False: 10.5, True: 1.7}  # a full build, a quick one
LIBS = "_libs"  # in the package: OpenBLAS and its license, the library of FMUs
FMU_LIBRARY = "fmi2.so"

# flags with which Python was built and that would change ours
INHERITED = ("-O", "-g", "-W", "-std=", "-DNDEBUG", "-flto", "-fwrapv", "-specs=")
INHERITED += ("-fno-strict-overflow",)

# against overwritten memory; what the compiler or the linker does not know is left out
HARDENED = (
    ["-fstack-protector-strong"],
    ["-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=3"],  # 2, where the C library has no 3
    ["-fcf-protection"],
)
HARDENED_LINK = (["-Wl,-z,relro", "-Wl,-z,now"], ["-Wl,-z,noexecstack"])

PROBE = "#include <stdlib.h>\ntypedef double v __attribute__((vector_size(32))); v x;\n"


def is_ours(flag):
    """Tell whether a flag of Python's own build may stay in our commands."""
    if flag.startswith("-Wl,"):
        return not flag.startswith("-Wl,-rpath")  # a path of the machine that built it
    return not flag.startswith(INHERITED)


def say(text):
    """Print a line, also on the terminal, where pip keeps what a build prints."""
    print(f"flexarm: {text}", flush=True)
    if not sys.stdout.isatty():
        with suppress(OSError), open("/dev/tty", "w") as terminal:  # there may be none
            print(f"\nflexarm: {text}", file=terminal, flush=True)


def with_ccache(command):
    """Return the command behind ccache, if it is installed and CC says nothing else."""
    known = "CC" not in os.environ and shutil.which("ccache")
    return ["ccache", *command] if known else command


def check_compiler(command, flags):
    """Refuse a machine on which nothing could be compiled."""
    command = command[1:] if Path(command[0]).name == "ccache" else command
    name = shlex.join(command[:1])
    if not command or shutil.which(command[0]) is None:
        sys.exit(
            f"flexarm: the C compiler {name} was not found; install gcc or clang "
            "(Debian: apt install gcc libc6-dev), or name one in CC"
        )
    if compile_probe(command) is not None:
        sys.exit(
            f"flexarm: {name} cannot compile a line with a vector type and "
            "stdlib.h; install gcc or clang with the C library's headers "
            "(Debian: apt install gcc libc6-dev), or name one in CC"
        )
    refused = compile_probe([*command, *flags])
    if refused is not None:
        first = next(
            (line for line in refused.splitlines() if "error" in line), refused
        )
        sys.exit(
            f"flexarm: {name} refuses the flags of csrc/compile_flags.txt or CFLAGS "
            f"({first.strip()}); unset CFLAGS, or name gcc or clang in CC"
        )


def compile_probe(command, linker=None):
    """Compile one line, and link it; return what is said if it fails, else None."""
    with tempfile.TemporaryDirectory() as directory:
        source = Path(directory, "probe.c")
        source.write_text(PROBE)
        obj, library = source.with_suffix(".o"), source.with_suffix(".so")
        steps = [[*command, "-c", str(source), "-o", str(obj)]]
        if linker:
            steps.append([*linker, str(obj), "-o", str(library)])
        for i, step in enumerate(steps):
            run = subprocess.run(step, capture_output=True, text=True, cwd=directory)
            # linkers warn of what they do not know
            if run.returncode or (i == 1 and "warning" in run.stderr):
                return run.stderr
        return None


def hardened(command, own_flags, linker):
    """Return the flags against overwritten memory that both take without a warning."""
    command = command[1:] if Path(command[0]).name == "ccache" else command
    flags, link = [], []
    sanitized = any(flag.startswith("-fsanitize") for flag in own_flags)
    for group in HARDENED:
        if sanitized and "-D_FORTIFY_SOURCE=3" in group:
            continue  # its functions are not those that a sanitizer watches
        # a warning: of FORTIFY without optimization, or beside another one in CFLAGS
        if compile_probe([*command, "-O2", "-Werror", *group, *own_flags]) is None:
            flags += group
    for group in HARDENED_LINK:
        if compile_probe([*command, *own_flags], [*linker, *group]) is None:
            link += group
    return flags, link


def sets_of_machine(command):
    """Return the instruction sets that this machine has, as its compiler knows it."""
    asked = [*command, "-march=native", "-dM", "-E", "-x", "c", os.devnull]
    answer = subprocess.run(asked, capture_output=True, text=True)
    macros = {line.split()[1] for line in answer.stdout.splitlines() if " " in line}
    if answer.returncode or "__x86_64__" not in macros:
        return list(SETS)  # nobody knows, or there is but one set
    return [name for name, wanted in SETS.items() if wanted <= macros]


def asked_sets():
    """Return the instruction sets that FLEXARM_TARGETS names; none if it is unset."""
    choice = os.environ.get("FLEXARM_TARGETS", "")
    if is_quick():
        return []
    names = choice.replace(",", " ").split()
    unknown = [name for name in names if name not in SETS and name != "all"]
    if unknown:
        sys.exit(
            f"flexarm: FLEXARM_TARGETS has {unknown[0]!r}; give a list of "
            f"{', '.join(SETS)}, or `all`, or `quick`, or unset it for the instruction "
            "sets of this machine"
        )
    return list(SETS) if "all" in names else [name for name in SETS if name in names]


def is_quick():
    """Tell whether a quick build is asked for."""
    return os.environ.get("FLEXARM_TARGETS") == "quick"


def with_units(sources, sets):
    """Return the sources, a unit such as csrc/units/avx2_stack_rest.c by its name."""
    names = [f"{isa}_{part}.c" for isa in sets for part in PARTS]
    units = [str(Path(UNIT).with_name(name)) for name in names]
    return [*(source for source in sources if source != UNIT), *units]


def set_of(source):
    """Return the instruction set of a unit, or None."""
    word = Path(source).stem.split("_")[0]
    return word if word in SETS else None


def flags_of(source, sets):
    """Return the flags of one source beside those of all."""
    words = Path(source).stem.split("_")
    if words == ["dispatch"]:
        return [f"-DFA_{isa.upper()}" for isa in sets]
    if set_of(source) is None:
        return []
    flags = [f"-DFA_{word.upper()}" for word in words]
    if platform.machine() != "x86_64":
        return flags
    if set_of(source) == "base":
        # what almost no machine of today runs should not take the longest to compile
        return [*flags, "-O1"]
    if words[:2] == ["avx2", "stack"] and not asked_sets() and "avx512" in sets:
        # beside AVX-512 this set serves calls of few states; those of stacks are many;
        # products and sums are fused as in the other units, so that they round alike
        return [*flags, "-O1", "-fexpensive-optimizations", "-DFA_UNROLLED_MODES=0"]
    return flags


def cores():
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count()


def cost_of(source):
    """Return a number that tells which sources take longest: they start first."""
    if set_of(source) is None:
        return 0
    wide = set_of(source) != "base" or platform.machine() != "x86_64"
    return (2 if wide else 1) + 0.5 * ("_stack_" not in source)


def header_flags():
    """Return the flags for the headers of Python and NumPy, which must not warn."""
    python = sysconfig.get_path("include")
    if not Path(python, "Python.h").exists():
        sys.exit(
            f"flexarm: Python.h was not found in {python}; install the development "
            "files of Python (Debian: apt install python3-dev)"
        )
    try:
        import numpy as np
    except ImportError:
        sys.exit(
            "flexarm: the headers of NumPy were not found; "
            "install it (python3 -m pip install 'numpy>=2.0')"
        )
    if int(np.__version__.split(".")[0]) < 2:
        sys.exit(
            f"flexarm: NumPy {np.__version__} has headers for itself only, building "
            "needs 2.0 or later; install it (python3 -m pip install 'numpy>=2.0')"
        )
    # two words each: joined, a compiler cache takes them for flags that matter
    headers = ["-isystem", python, "-isystem", np.get_include()]
    return [*headers, f"-DFLEXARM_NUMPY_VERSION={np.__version__}"]


def openblas_of_wheel():
    """Return name, prefix, link arguments and files of the scipy-openblas32 wheel."""
    try:
        import scipy_openblas32 as wheel
    except ImportError:
        sys.exit(
            "flexarm: scipy-openblas32 was not found; install it (python3 -m pip "
            "install scipy-openblas32), or set FLEXARM_OPENBLAS=system"
        )
    directory = Path(wheel.get_lib_dir())
    origin = "@loader_path" if sys.platform == "darwin" else "$ORIGIN"
    link = [f"-L{directory}", f"-l{wheel.get_library()}", f"-Wl,-rpath,{origin}/{LIBS}"]
    files = [path for path in directory.iterdir() if path.is_file()]
    about = importlib.metadata.distribution("scipy-openblas32")
    licenses = [f for f in about.files or [] if f.name.startswith("LICENSE")]
    files += [Path(about.locate_file(file)) for file in licenses]
    return f"scipy-openblas32 {about.version}", "scipy_", link, files


def openblas_of_pkg_config():
    """Return the same four for the OpenBLAS of the system."""
    command = [os.environ.get("PKG_CONFIG", "pkg-config"), "--libs", "openblas"]
    try:
        link = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        sys.exit(
            f"flexarm: FLEXARM_OPENBLAS=system, but `{shlex.join(command)}` failed; "
            "install OpenBLAS (Debian: apt install libopenblas-dev pkg-config), "
            "or unset FLEXARM_OPENBLAS"
        )
    return "system", "", shlex.split(link.stdout), []


def openblas_of_prefix(prefix):
    """Return the same four for PREFIX/lib/libopenblas."""
    for directory in (Path(prefix, "lib").absolute(), Path(prefix, "lib64").absolute()):
        if any(directory.glob("libopenblas.*")):
            link = [f"-L{directory}", "-lopenblas", f"-Wl,-rpath,{directory}"]
            return "prefix", "", link, []
    sys.exit(
        f"flexarm: FLEXARM_OPENBLAS={prefix} has no lib/libopenblas; give the prefix "
        "of an OpenBLAS, or `system`, or unset it"
    )


def find_openblas():
    """Return name, prefix of the symbols, link arguments and the files to ship."""
    choice = os.environ.get("FLEXARM_OPENBLAS", "")
    if choice == "":
        return openblas_of_wheel()
    if choice == "system":
        return openblas_of_pkg_config()
    return openblas_of_prefix(choice)


def build_of_its_own():
    """Return the directory of the build that FLEXARM_BUILD names, or None."""
    name = os.environ.get("FLEXARM_BUILD", "")
    if name and not name.replace("-", "").replace("_", "").isalnum():
        sys.exit(
            f"flexarm: FLEXARM_BUILD is {name!r}; give a name of letters, digits, - "
            "and _, which becomes a directory in build/, or unset it"
        )
    return Path("build", name) if name else None


def is_stale(obj):
    """Tell whether an object is older than what its dependency file names."""
    try:
        rule = Path(obj).with_suffix(".d").read_text()
        built = os.path.getmtime(obj)
        names = rule.replace("\\\n", " ").split(":", 1)[1].split()
        return any(os.path.getmtime(name) > built for name in names)
    except OSError:
        return True


class BuildCore(build_ext):
    """Compile on all cores, link, and put OpenBLAS beside the result."""

    def finalize_options(self):
        """Keep the objects of an editable install, which setuptools would drop."""
        super().finalize_options()
        self.own = build_of_its_own()
        if self.own:
            self.build_temp = str(self.own / "objects")
        elif self.editable_mode:
            self.build_temp = (
                f"build/temp.{self.plat_name}-{sys.implementation.cache_tag}"
            )

    def get_ext_fullpath(self, name):
        """Return where the extension goes."""
        if self.own:
            return str(self.own / Path(self.get_ext_filename(name)).name)
        return super().get_ext_fullpath(name)

    def run(self):
        """Build, and leave a copy in the checkout even if it was not asked for.

        Without it ``python3 -m flexarm`` in the checkout, which imports the package
        from there and not from where pip installed it, would find no extension.
        """
        self.inplace = self.inplace and not self.own
        super().run()
        if not self.inplace and not self.own:
            self.copy_extensions_to_source()

    def copy_extensions_to_source(self):
        """Copy the extension and the libraries it needs into the package."""
        super().copy_extensions_to_source()
        package = Path(
            self.get_finalized_command("build_py").get_package_dir("flexarm")
        )
        self.copy_libraries(package / LIBS)
        self.mkpath(str(package / LIBS))
        self.copy_file(str(self.fmu_library), str(package / LIBS / FMU_LIBRARY))

    def copy_libraries(self, target):
        """Copy OpenBLAS and its license into a directory, or remove older ones."""
        if not self.libraries_to_ship:
            shutil.rmtree(target, ignore_errors=True)
        for file in self.libraries_to_ship:
            self.mkpath(str(target))
            name = (
                "LICENSE-OpenBLAS.txt" if file.name.startswith("LICENSE") else file.name
            )
            self.copy_file(str(file), str(target / name))

    def build_extension(self, ext):
        """Compile the stale objects, one thread each, and link."""
        if sys.platform == "win32":
            sys.exit(
                "flexarm: only gcc and clang on Linux and macOS are supported; "
                "on Windows install it under WSL"
            )
        compiler = self.compiler
        asked = asked_sets()
        own_flags = shlex.split(os.environ.get("CFLAGS", ""))
        # setuptools puts CFLAGS first, here they come last
        command = [f for f in compiler.compiler_so if is_ours(f) and f not in own_flags]
        flags = [*Path("csrc/compile_flags.txt").read_text().split(), "-DNDEBUG"]
        flags += QUICK * is_quick()
        flags += ["-Werror"] * (os.environ.get("FLEXARM_WERROR") == "1")
        check_compiler(command, [*flags, *own_flags])
        sets = asked or sets_of_machine(command)
        if is_quick():
            sets = [next(name for name in ("avx2", "base") if name in sets)]
        linker = [f for f in compiler.linker_so if is_ours(f)]
        protection, link_protection = hardened(command, own_flags, linker)
        compiler.set_executable("compiler_so", with_ccache(command))
        compiler.set_executable("linker_so", linker)
        compiler.set_include_dirs(["csrc"])
        headers = header_flags()
        name, prefix, link, self.libraries_to_ship = find_openblas()
        flags += [f"-DFA_BLAS_PREFIX={prefix}", f'-DFA_BLAS_NAME="{name}"', "-MMD"]
        flags += [*protection, *own_flags]
        sources = with_units(ext.sources, sets)
        objects = self.compile_all(sources, flags, headers, sets)
        path = self.get_ext_fullpath(ext.name)
        Path(path).unlink(missing_ok=True)  # another OpenBLAS has no newer objects
        link = [*link, *link_protection, "-lm", "-pthread"]
        link += shlex.split(os.environ.get("LDFLAGS", ""))
        compiler.link_shared_object(
            objects, path, extra_postargs=link, build_temp=self.build_temp
        )
        self.copy_libraries(Path(path).parent / LIBS)
        self.link_fmu(objects, Path(path).parent / LIBS, flags, sets, link_protection)

    def link_fmu(self, objects, target, flags, sets, protection):
        """Link the library that FMUs have inside, of the objects of the kernels.

        An FMU computes one state at a time, for which AVX-512 is not used beside AVX2.
        """
        sets = [isa for isa in sets if isa != "avx512" or "avx2" not in sets]
        dispatch = FMU_SOURCES[-1]
        kept = [
            obj
            for obj in objects
            if Path(obj).parent.name != "python"
            and Path(obj).stem != Path(dispatch).stem
            and set_of(obj) in (None, *sets)
        ]
        folder = str(Path(self.build_temp, "fmu"))
        own = self.compiler.object_filenames(FMU_SOURCES, output_dir=folder)
        for source, obj in zip(FMU_SOURCES, own, strict=True):
            if self.force or is_stale(obj):
                self.compiler.compile(
                    [source],
                    output_dir=folder,
                    extra_postargs=[*flags, *flags_of(dispatch, sets)],
                )
        kept += own
        link = [*protection, "-lm", "-pthread"]
        link += ["-Wl,-s"] * sys.platform.startswith("linux")
        link += shlex.split(os.environ.get("LDFLAGS", ""))
        self.mkpath(str(target))
        self.fmu_library = target / FMU_LIBRARY
        self.fmu_library.unlink(missing_ok=True)
        self.compiler.link_shared_object(
            kept, str(self.fmu_library), extra_postargs=link
        )

    def compiler_name(self):
        """Return the name of the compiler, without a path and ccache."""
        command = self.compiler.compiler_so
        return Path(command[Path(command[0]).name == "ccache"]).name

    def seconds_of(self, sources):
        """Return about how long the sources take to compile, without ccache."""
        return sum(map(cost_of, sources)) * SECONDS[is_quick()] / cores()

    def compile_one(self, source, obj, flags):
        """Compile a source, or the unit of that name, to an object."""
        Path(obj).parent.mkdir(parents=True, exist_ok=True)
        file = source if set_of(source) is None else UNIT
        # the name of the object is not that of the file, as `compile` would have it
        self.compiler._compile(obj, file, ".c", ["-Icsrc", "-c"], flags, [])

    def compile_all(self, sources, flags, headers, sets):
        """Return the objects of the sources, in their order.

        The objects of each command have a directory, so that one build does not throw
        away what another will want again. ``objects.txt`` lists those of the last one,
        for programs that link the library.
        """
        further = {source: flags_of(source, sets) for source in sources}
        command = shlex.join([*self.compiler.compiler_so, *flags])
        digest = hashlib.sha256(f"{command} {further}".encode()).hexdigest()[:8]
        temp = Path(self.build_temp, digest)
        temp.mkdir(parents=True, exist_ok=True)
        Path(temp, "command.txt").write_text(command)
        names = self.compiler.object_filenames(sources, output_dir=str(temp))
        objects = dict(zip(sources, names, strict=True))
        stale = [s for s, obj in objects.items() if self.force or is_stale(obj)]
        stale.sort(key=cost_of, reverse=True)
        begun = time.monotonic()
        if stale:
            what = f"{len(stale)} files for {', '.join(sets)} by {self.compiler_name()}"
            say(f"compiling {what}, about {self.seconds_of(stale):.0f} s")
        with ThreadPoolExecutor(cores()) as pool:
            tasks = [
                pool.submit(
                    self.compile_one,
                    source,
                    objects[source],
                    [*flags, *further[source], *headers],
                )
                for source in stale
            ]
            for done, task in enumerate(as_completed(tasks), 1):
                task.result()
                said = f"flexarm: {done} of {len(tasks)}"
                self.announce(f"{said}, {time.monotonic() - begun:.0f} s", logging.INFO)
        if stale:
            say(f"compiled in {time.monotonic() - begun:.0f} s")
        Path(self.build_temp, "objects.txt").write_text("\n".join(names) + "\n")
        return names


setup(
    ext_modules=[Extension("flexarm._core", SOURCES, depends=INCLUDED)],
    cmdclass={"build_ext": BuildCore},
)
