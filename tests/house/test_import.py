"""What `import nbcfast` brings, and what it says where it cannot."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import nbcfast

EXTRAS = ["pyarrow", "pandas", "polars", "duckdb", "click", "rich", "sklearn", "scipy", "matplotlib", "numba"]
HEAVY = ["concurrent.futures", "multiprocessing", "asyncio"]


def run(script, cwd, *options, **environment):
    return subprocess.run(
        [sys.executable, *options, "-c", script],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_importing_pulls_in_no_extra(tmp_path):
    script = (
        "import sys, numpy, gmpy2; before = set(sys.modules); import nbcfast; "
        "views = nbcfast.count({'x': [1, 2], 'y': [0, 1]}, 'y'); views.predict({'x': [1]}); "
        f"print(*sorted({set(EXTRAS + HEAVY)!r} & (set(sys.modules) - before)))"
    )
    done = run(script, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == []


def test_importing_warns_and_prints_nothing(tmp_path):
    done = run("import nbcfast", tmp_path, PYTHONWARNINGS="error")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


# With site-packages too: the kernels of an editable install elsewhere are not for this tree.
@pytest.mark.parametrize("options", [[], ["-S"]])
def test_a_tree_without_kernels_says_so_in_one_line(tmp_path, options):
    tree = tmp_path / "clone" / "nbcfast"
    shutil.copytree(
        nbcfast.__path__[0], tree, ignore=shutil.ignore_patterns("*.so", "*.pyd", "_build.py", "__pycache__")
    )
    done = run("import nbcfast", tree.parent, *options, PYTHONPATH="", PYTHONSAFEPATH="")
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last == (
        f"ImportError: the nbcfast in {tree} is a source tree without compiled kernels: leave that folder to "
        "use an installed nbcfast, or compile here with 'pip install -e .'"
    )


def test_the_public_names():
    for name in nbcfast.__all__:
        assert getattr(nbcfast, name) is not None
    assert sorted(nbcfast.__all__) == list(dict.fromkeys(sorted(nbcfast.__all__)))
    assert nbcfast.__version__


def test_the_package_is_typed():
    folder = Path(nbcfast.__path__[0])
    assert (folder / "py.typed").exists()
    kernels = {path.name.split(".")[0] for path in folder.glob("_*") if path.suffix in (".so", ".pyd")}
    assert {"_codes", "_columns", "_count", "_score"} <= kernels
    # What all kernels have of Cython is imported by them alone.
    assert {name for name in kernels if not (folder / f"{name}.pyi").exists()} == {"_cython"}


def test_the_reference_brings_all_of_its_modules(tmp_path):
    folder = Path(nbcfast.__path__[0]) / "reference"
    names = sorted({path.stem for path in folder.glob("*.py")} - {"__init__"})
    own = "sorted(name for name in vars(r) if not name.startswith('_'))"
    done = run(f"import nbcfast.reference as r; print(*{own}, r.__all__)", tmp_path)
    assert done.stdout.strip() == f"{' '.join(names)} {names}", done.stderr
