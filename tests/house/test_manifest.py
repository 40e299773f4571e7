"""MANIFEST.in puts into the sdist what git knows, whatever is built or left beside it."""

import subprocess
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
LEFT_OUT = {
    ".gitattributes",
    ".gitignore",
    "MANIFEST.in",
    "pyproject.toml",
    "setup.py",
}  # or added by setuptools
pytestmark = pytest.mark.skipif(
    not (TOP / ".git").exists() or not (TOP / "MANIFEST.in").exists(),
    reason="git and MANIFEST.in are a clone's",
)


def listed():
    """The files that git knows, or would know."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=TOP, check=True, stdout=subprocess.PIPE, text=True).stdout.split("\n")
    return [name for name in names if (TOP / name).is_file()]


def chosen(names):
    """Those that the lines of MANIFEST.in choose, as setuptools reads them; lines that choose none."""
    filelist = pytest.importorskip("setuptools._distutils.filelist")
    files, idle = filelist.FileList(), []
    files.set_allfiles(names)
    for line in (TOP / "MANIFEST.in").read_text(encoding="utf-8").splitlines():
        for pattern in line.split()[1:] if line.startswith("include ") else [None]:
            before = len(files.files)
            files.process_template_line(line if pattern is None else f"include {pattern}")
            if "include" in line and len(files.files) == before:
                idle.append(line)
    return set(files.files), idle


def test_all_that_git_knows_is_in_the_sdist():
    names = listed()
    found, idle = chosen(names)
    modules = {name for name in names if name.startswith("nbcfast/") and name.endswith(".py")}
    assert set(names) - LEFT_OUT - modules == found - modules
    assert idle == []
