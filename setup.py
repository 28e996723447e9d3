"""Build of ``flexarm._core``: the C sources in csrc/, linked with OpenBLAS.

What is not C stands in pyproject.toml, the compiler flags in csrc/compile_flags.txt;
its NPY_TARGET_VERSION lets one build run on NumPy 1.26 and all later ones.
Environment variables:

FLEXARM_OPENBLAS
    Unset, the library of the scipy-openblas32 wheel is copied into the package.
    ``system`` means what pkg-config calls openblas, anything else is a prefix with
    libopenblas in its lib directory.
FLEXARM_TARGETS
    Unset, kernels are compiled for the instruction sets that this machine has, which
    takes half the time. ``all`` adds the others: for wheels that go elsewhere.
FLEXARM_WERROR
    ``1`` turns warnings of the compiler into errors.
CC, CFLAGS, LDFLAGS
    As usual; CFLAGS come last and win.

Objects are kept in build/ and compiled again only when their command, their source or
a header changed: ``python3 setup.py build_ext --inplace`` is the quick way for work on
the C code.
"""

import importlib.metadata
import os
import platform
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from concurrent.futures import ThreadPoolExecutor
from glob import glob
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

SOURCES = sorted(glob("csrc/*.c"))
INCLUDED = sorted({*glob("csrc/**/*.*", recursive=True)} - {*SOURCES})
# macros that a compiler defines for a machine with an instruction set
SETS = {
    "avx2": {"__AVX2__", "__FMA__"},
    "avx512": {"__AVX512F__", "__AVX512DQ__", "__AVX512VL__", "__FMA__"},
}
LIBS = "_libs"  # in the package: OpenBLAS and its license

# flags with which Python was built and that would change ours
INHERITED = ("-O", "-g", "-W", "-std=", "-DNDEBUG", "-flto", "-fwrapv", "-specs=")
INHERITED += ("-fno-strict-overflow",)

PROBE = "#include <stdlib.h>\ntypedef double v __attribute__((vector_size(32))); v x;\n"


def is_ours(flag):
    """Tell whether a flag of Python's own build may stay in our commands."""
    if flag.startswith("-Wl,"):
        return not flag.startswith("-Wl,-rpath")  # a path of the machine that built it
    return not flag.startswith(INHERITED)


def check_compiler(command):
    """Refuse a machine on which nothing could be compiled."""
    name = shlex.join(command[:1])
    if shutil.which(command[0]) is None:
        sys.exit(
            f"flexarm: the C compiler {name} was not found; install gcc or clang "
            "(Debian: apt install gcc libc6-dev), or name one in CC"
        )
    with tempfile.TemporaryDirectory() as directory:
        source = Path(directory, "probe.c")
        source.write_text(PROBE)
        probe = [*command, "-c", str(source), "-o", str(source.with_suffix(".o"))]
        if subprocess.run(probe, capture_output=True).returncode:
            sys.exit(
                f"flexarm: {name} cannot compile a line with a vector type and "
                "stdlib.h; install gcc or clang with the C library's headers "
                "(Debian: apt install gcc libc6-dev), or name one in CC"
            )


def sets_left_out(command):
    """Return the instruction sets for which nothing is compiled."""
    choice = os.environ.get("FLEXARM_TARGETS", "")
    if choice not in ("", "all"):
        sys.exit(
            f"flexarm: FLEXARM_TARGETS is {choice!r}; give `all`, or unset it for the "
            "instruction sets of this machine"
        )
    if choice == "all":
        return []
    asked = [*command, "-march=native", "-dM", "-E", "-x", "c", os.devnull]
    answer = subprocess.run(asked, capture_output=True, text=True)
    macros = set(answer.stdout.split())
    if answer.returncode or "__x86_64__" not in macros:
        return []  # nobody knows, or there is but one set
    return [name for name, wanted in SETS.items() if not wanted <= macros]


def flags_of(source, without):
    """Return the flags of one source beside those of all."""
    name = Path(source).name
    if name == "fa_dispatch.c":
        return [f"-DFA_WITHOUT_{isa.upper()}" for isa in without]
    # what almost no machine of today runs should not take the longest to compile
    narrow = name.startswith("fa_isa_") and name.endswith("base.c")
    return ["-O1"] * (narrow and platform.machine() == "x86_64")


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
        if self.editable_mode:
            self.build_temp = (
                f"build/temp.{self.plat_name}-{sys.implementation.cache_tag}"
            )

    def run(self):
        """Build, and leave a copy in the checkout even if it was not asked for.

        Without it ``python3 -m flexarm`` in the checkout, which imports the package
        from there and not from where pip installed it, would find no extension.
        """
        super().run()
        if not self.inplace:
            self.copy_extensions_to_source()

    def copy_extensions_to_source(self):
        """Copy the extension and the libraries it needs into the package."""
        super().copy_extensions_to_source()
        package = Path(
            self.get_finalized_command("build_py").get_package_dir("flexarm")
        )
        self.copy_libraries(package / LIBS)

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
        for tool in ("compiler_so", "linker_so"):
            command = [flag for flag in getattr(compiler, tool) if is_ours(flag)]
            compiler.set_executable(tool, command)
        compiler.set_include_dirs(["csrc"])
        check_compiler(compiler.compiler_so)
        headers = header_flags()
        name, prefix, link, self.libraries_to_ship = find_openblas()
        flags = [*Path("csrc/compile_flags.txt").read_text().split(), "-DNDEBUG"]
        flags += [f"-DFA_BLAS_PREFIX={prefix}", f'-DFA_BLAS_NAME="{name}"', "-MMD"]
        flags += ["-Werror"] * (os.environ.get("FLEXARM_WERROR") == "1")
        flags += shlex.split(os.environ.get("CFLAGS", ""))
        without = sets_left_out(compiler.compiler_so)
        sources = [
            s for s in ext.sources if not s.endswith(tuple(f"_{i}.c" for i in without))
        ]
        objects = self.compile_all(sources, flags, headers, without)
        path = self.get_ext_fullpath(ext.name)
        Path(path).unlink(missing_ok=True)  # another OpenBLAS has no newer objects
        link = [*link, "-lm", "-pthread", *shlex.split(os.environ.get("LDFLAGS", ""))]
        compiler.link_shared_object(
            objects, path, extra_postargs=link, build_temp=self.build_temp
        )
        self.copy_libraries(Path(path).parent / LIBS)

    def compile_all(self, sources, flags, headers, without):
        """Return the objects of the sources, in their order."""
        temp = Path(self.build_temp)
        temp.mkdir(parents=True, exist_ok=True)
        objects = self.compiler.object_filenames(sources, output_dir=str(temp))
        record = temp / "command.txt"
        command = shlex.join([*self.compiler.compiler_so, *flags, *without])
        if not record.exists() or record.read_text() != command:
            for obj in temp.rglob("*.o"):
                obj.unlink()
            record.write_text(command)
        stale = [
            source
            for source, obj in zip(sources, objects, strict=True)
            if self.force or is_stale(obj)
        ]
        # the kernels take longest, so they start first
        stale.sort(key=lambda source: "fa_isa" not in source)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            tasks = [
                pool.submit(
                    self.compiler.compile,
                    [source],
                    output_dir=str(temp),
                    extra_postargs=[*flags, *flags_of(source, without), *headers],
                )
                for source in stale
            ]
        for task in tasks:
            task.result()
        return objects


setup(
    ext_modules=[Extension("flexarm._core", SOURCES, depends=INCLUDED)],
    cmdclass={"build_ext": BuildCore},
)
