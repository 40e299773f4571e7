"""Build the kernels: every src/_<name>.pyx becomes nbcfast._<name>.

NBCFAST_DEBUG=1 builds with bounds checks, assertions and no optimisation beyond -O1;
NBCFAST_SANITIZE=address,undefined adds AddressSanitizer and UndefinedBehaviorSanitizer.
"""

import os
import shutil
import sys
import sysconfig
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent
SOURCES = ROOT / "src"
DEBUG = os.environ.get("NBCFAST_DEBUG", "") not in ("", "0")
SANITIZE = os.environ.get("NBCFAST_SANITIZE", "")
# Cython's own code, of memoryviews above all: 24,000 lines, which every kernel would compile once more.
CYTHON = "nbcfast._cython"

sys.path.insert(0, str(ROOT / "nbcfast"))
from _sources import digest  # noqa: E402

sys.path.pop(0)


def processors():
    """How many kernels are compiled side by side."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def flags():
    if os.name == "nt":
        return ["/O2"], []
    compile_flags = ["-O1", "-g", "-UNDEBUG"] if DEBUG else ["-O3", "-g0", "-DNDEBUG"]
    compile_flags += ["-std=c11", "-Wall", "-Wno-unused-function", "-Wno-psabi", "-fno-math-errno"]
    link_flags = []
    if SANITIZE:
        # What is undefined ends the process as a bad address does: a line among others would be overlooked.
        # Python compiles with -fwrapv, under which a signed overflow is none.
        sanitize = [f"-fsanitize={SANITIZE}", "-fno-sanitize-recover=all", "-fno-wrapv"]
        compile_flags += [*sanitize, "-fno-omit-frame-pointer", "-g"]
        link_flags += sanitize
    return compile_flags, link_flags


def extensions():
    from Cython.Build import cythonize

    compile_flags, link_flags = flags()
    headers = sorted(str(path.relative_to(ROOT)) for path in SOURCES.rglob("*.h"))
    modules = [
        Extension(
            f"nbcfast.{path.stem}",
            [str(path.relative_to(ROOT))],
            include_dirs=["src"],
            depends=headers,
            extra_compile_args=compile_flags,
            extra_link_args=link_flags,
        )
        for path in sorted(SOURCES.glob("_*.pyx"))
    ]
    written = ["src/_cython.c"]  # by Cython, below build_dir
    modules.append(Extension(CYTHON, written, extra_compile_args=compile_flags, extra_link_args=link_flags))
    return cythonize(
        modules,
        nthreads=processors() if os.name == "posix" else 0,  # elsewhere each would run this file again
        include_path=["src"],
        build_dir="build/debug" if DEBUG else "build/kernels",
        shared_utility_qualified_name=CYTHON,
        force=DEBUG,
        language_level=3,
        quiet=True,
        compiler_directives={
            "boundscheck": DEBUG,
            "wraparound": False,
            "initializedcheck": DEBUG,
            "cdivision": True,
            "embedsignature": True,
        },
    )


def missing_tools(compiler):
    """One line that says what to install, or None where everything is there."""
    if os.name != "nt":
        command = (compiler.compiler_so or ["cc"])[0]
        if shutil.which(command) is None:
            return (
                f"nbcfast needs a C compiler and {command!r} is not on the path: install one "
                "(Debian, Ubuntu: apt-get install gcc; Fedora: dnf install gcc; "
                "macOS: xcode-select --install)"
            )
    include = Path(sysconfig.get_path("include"))
    if not (include / "Python.h").exists():
        return (
            "nbcfast needs Python.h, the headers of this Python: install them "
            "(Debian, Ubuntu: apt-get install python3-dev; Fedora: dnf install python3-devel)"
        )
    return None


class BuildKernels(build_ext):
    """build_ext that names what is missing in one line and notes what the kernels were built from."""

    def finalize_options(self):
        super().finalize_options()
        self.parallel = self.parallel or processors()

    def build_extensions(self):
        missing = missing_tools(self.compiler)
        if missing:
            raise SystemExit(missing)
        super().build_extensions()

    def run(self):
        super().run()
        folder = ROOT / "nbcfast" if self.inplace else Path(self.build_lib) / "nbcfast"
        text = (
            '"""Written by setup.py: what the kernels were compiled from."""\n\n'
            f"SOURCES = {digest(SOURCES)!r}\nDEBUG = {DEBUG}\n"
        )
        (folder / "_build.py").write_text(text, encoding="utf-8")


setup(ext_modules=extensions(), cmdclass={"build_ext": BuildKernels})
