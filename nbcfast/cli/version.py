"""`nbcfast --version`, and with --json what a report of a fault should say of where it was seen."""

from __future__ import annotations

import json
import platform
import sys
from importlib.metadata import PackageNotFoundError, version

import click
import gmpy2
import numpy as np

import nbcfast
from nbcfast import _build
from nbcfast._core.threads import cores
from nbcfast._core.untyped import Document

AS_JSON = "nbcfast.as_json"  # in the notes of a context
OPTIONAL = ("click", "rich", "pyarrow", "scipy", "scikit-learn", "matplotlib")


def remembered(context: click.Context, param: click.Parameter, value: bool) -> None:
    """Note that --json stands before the verb, where it goes with --version alone."""
    context.meta[AS_JSON] = value


def tell_version(context: click.Context, param: click.Parameter, value: bool) -> None:
    """Print the version and leave, if that is asked for."""
    if context.resilient_parsing:
        return
    as_json = context.meta.get(AS_JSON, False)
    if not value:
        if as_json:
            raise click.UsageError("--json goes behind the verb, or with --version.")
        return
    if as_json:
        click.echo(json.dumps(versions(), indent=2))
    else:
        click.echo(f"nbcfast, version {nbcfast.__version__}")
    context.exit()


def versions() -> Document:
    """What an answer, and how fast it comes, may depend on; nothing of whoever runs it."""
    return {
        "nbcfast": nbcfast.__version__,
        "kernels": {"sources": _build.SOURCES, "debug": _build.DEBUG},
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "platform": f"{platform.system()} {platform.machine()}, {' '.join(platform.libc_ver())}".rstrip(" ,"),
        "byte_order": sys.byteorder,
        "cores": cores(),
        "numpy": np.__version__,
        "gmpy2": gmpy2.version(),
        "gmp": gmpy2.mp_version(),
        "mpfr": gmpy2.mpfr_version(),
        **{name: installed(name) for name in OPTIONAL},
    }


def installed(package: str) -> str | None:
    """The version of a package that may be missing."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None
