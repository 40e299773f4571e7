"""How pages are read: by README's tests, and by those of the guides."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from unittest import mock

import pytest
import readme
import warm

import nbcfast

HERE = Path(__file__).resolve().parents[1]
PACKAGE = Path(nbcfast.__file__).parent
IMPORTED = ("matplotlib.pyplot", "pandas", "pyarrow.parquet", "scipy.sparse", "sklearn.naive_bayes")


@pytest.fixture
def clone(tmp_path):
    """What of a clone the pages use."""
    shutil.copytree(HERE.parent / "examples", tmp_path / "examples")
    (tmp_path / "nbcfast").mkdir()
    shutil.copy(PACKAGE / "verify_release.py", tmp_path / "nbcfast")
    return tmp_path


@pytest.fixture(scope="session")
def reads():
    """How a page is read, and its commands run: by forks of a process that has imported what pages do."""
    for needed in ("sklearn", "pyarrow", "matplotlib"):
        pytest.importorskip(needed)
    paths = [
        str(HERE / "support"),
        str(HERE.parent / "tools"),
    ]  # pictures of the house are drawn by tools/walk.py
    script = f"import sys; sys.path[:0] = {paths}; import readme; readme.main(sys.argv[1:])"
    if not hasattr(os, "fork") or os.environ.get("HYPOTHESIS_PROFILE") == "thorough":
        yield lambda page, folder: [sys.executable, "-c", script, page, folder]
        return
    with mock.patch.dict(os.environ, MPLBACKEND="agg"), warm.commands(*IMPORTED) as place:
        yield lambda page, folder: [f"{place}/warm-python", "-c", script, page, folder, "--commands", place]


@pytest.fixture
def shows(clone, reads):
    """Read a page: every block runs, and prints what is shown."""

    def shows(page):
        environment = {**os.environ, "MPLBACKEND": "agg"}
        done = subprocess.run(
            reads(page, clone), capture_output=True, text=True, timeout=600, env=environment
        )
        assert done.returncode == 0, done.stderr[-3000:]
        text = page.read_text(encoding="utf-8")
        languages = [
            language
            for (language, _), need in zip(readme.blocks(text), readme.needs(text), strict=True)
            if not readme.missing(need)
        ]
        ran, compared = map(int, re.findall(r"\d+", done.stdout)[-2:])
        assert set(languages) <= {"python", "sh", "text"}
        # What is not run: the tests; what only installs.
        ran_not = 1 if page.name == "README.md" else languages.count("sh")
        assert ran >= languages.count("python") + languages.count("sh") - ran_not
        assert compared >= languages.count("text")

    return shows
