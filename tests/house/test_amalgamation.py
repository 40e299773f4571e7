"""The files that are handed to others are what `tools/amalgamate.py` makes of `nbcfast/_wire`."""

import ast
import importlib.util
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from nbcfast import _wire, verify_release

TOOL = Path(__file__).resolve().parents[2] / "tools" / "amalgamate.py"
ROOM = Path(_wire.__file__).parent
SCRIPT = Path(verify_release.__file__)
DEVICE = SCRIPT.parent / "response" / "device.py"
MODULES = sorted(path for path in ROOM.glob("*.py") if path.name != "__init__.py")
MOST_LINES = 600


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("amalgamate", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_files_are_what_is_made_of_the_modules(tool):
    made = tool.amalgamated(ROOM)
    assert list(made) == ["command", "respondent"]
    assert SCRIPT.read_bytes() == made["command"].encode()
    assert DEVICE.read_bytes() == made["respondent"].encode()


def test_they_do_not_depend_on_the_hashes_of_a_run():
    code = f"import sys; sys.path.insert(0, {str(TOOL.parent)!r}); import amalgamate as tool; "
    code += f"sys.stdout.buffer.write(''.join(tool.amalgamated({str(ROOM)!r}).values()).encode())"
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        )
        assert done.stdout == SCRIPT.read_bytes() + DEVICE.read_bytes()


def test_no_two_modules_define_a_name(tool):
    names = Counter(name for path in MODULES for name in set(tool.defined(ast.parse(path.read_text()))))
    assert [name for name, times in names.items() if times > 1] == []


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_a_module_of_the_room(path):
    """It uses the standard library and the room alone, by public names, and is short and explained."""
    text = path.read_text()
    tree = ast.parse(text, feature_version=(3, 8))
    assert ast.get_docstring(tree)
    assert len(text.splitlines()) < MOST_LINES
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            assert {alias.name for alias in node.names} <= sys.stdlib_module_names
        elif isinstance(node, ast.ImportFrom) and node.module.startswith("nbcfast"):
            assert node.module.startswith("nbcfast._wire.")
            assert not any(alias.name.startswith("_") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.module.split(".")[0] in sys.stdlib_module_names


def test_the_library_holds_one_copy_of_each_class():
    """Of two, the one would not be an instance of the other: the library imports nothing that is made."""
    generated = {"nbcfast.verify_release", "nbcfast.response.device"}
    for path in ROOM.parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom):
                imported = {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
                assert not imported & generated, path
            elif isinstance(node, ast.Import):
                assert not {alias.name for alias in node.names} & generated, path


@pytest.fixture
def one(tool, monkeypatch):
    """The tool, where it makes one file."""
    monkeypatch.setattr(tool, "FILES", {"command": "verify_release.py"})
    return tool


def made(tool, folder, **modules):
    for name, text in modules.items():
        (folder / f"{name}.py").write_text(text)
    return tool.amalgamated(folder)["command"]


BASE = '''"""Numbers."""

import os
from math import gcd

# How many.
MOST = 3


def least():
    return gcd(MOST, 2)
'''
COMMAND = '''"""Say \\\\n."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from nbcfast._wire.base import least

if TYPE_CHECKING:
    from collections.abc import Callable

    Rows = Callable[[], int]  # of a table


def main(rows: Rows):
    return least()
'''
MADE = '''"""Say \\\\n."""

from __future__ import annotations

import os
import sys
from math import gcd
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    Rows = Callable[[], int]  # of a table


# nbcfast/_wire/base.py
# Numbers.


# How many.
MOST = 3


def least():
    return gcd(MOST, 2)


# nbcfast/_wire/command.py


def main(rows: Rows):
    return least()
'''


def test_what_is_made_of_two_modules(one, tmp_path):
    text = made(one, tmp_path, base=BASE, command=COMMAND)
    assert text == one.HEAD + MADE
    found = {}
    exec(compile(text, "made", "exec"), found)
    assert (found["main"](None), found["__doc__"]) == (1, "Say \\n.")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"base": BASE + "\n\ndef main():\n    pass\n"}, "'main' is defined in base and in command"),
        ({"base": BASE.replace("MOST", "sys")}, "sys: of the standard library, and defined in the room too"),
        (
            {"base": BASE.replace("import os", "from nbcfast._wire.else_ import a")},
            "base: imports else_, which",
        ),
        ({"other": '"""More."""\n'}, "other: not imported, directly or by others, by command"),
        ({"base": BASE[BASE.index("import") :]}, "base: expected a docstring"),
        ({"base": BASE.replace("import os", "from nbcfast._wire.command import main")}, "imports go round: "),
        (
            {"base": BASE.replace("import os", "import nbcfast")},
            "base: expected names of modules in nbcfast._wire",
        ),
        (
            {"base": BASE.replace("import os", "from nbcfast.table import Table")},
            "base: expected names of modules",
        ),
        ({"base": BASE.replace("import os", "import os as system")}, "base: expected imports without 'as'"),
        ({"base": BASE + "# The end.\n"}, "base: expected nothing after the last statement"),
    ],
)
def test_what_cannot_be_made_one_file_is_refused(one, tmp_path, changes, message):
    with pytest.raises(ValueError, match=message):
        made(one, tmp_path, **{"base": BASE, "command": COMMAND, **changes})


def test_many_names_of_a_module_are_broken_as_ruff_does(one, tmp_path):
    names = [*(f"NUMBER_{place}" for place in range(9)), "Path", "chain"]
    base = BASE.replace("import os", f"from pathlib import ({', '.join(names[::-1])})")
    text = made(one, tmp_path, base=base, command=COMMAND)
    assert "from pathlib import (\n" + "".join(f"    {name},\n" for name in names) + ")\nfrom typing" in text


def test_the_tool_writes_the_file_and_checks_it(one, tmp_path, monkeypatch, capsys):
    (tmp_path / "nbcfast" / "_wire").mkdir(parents=True)
    monkeypatch.setattr(one, "ROOT", tmp_path)
    made(one, tmp_path / "nbcfast" / "_wire", base=BASE, command=COMMAND)
    assert one.main([]) == 0
    assert one.main(["--check"]) == 0
    path = tmp_path / "nbcfast" / "verify_release.py"
    path.write_text(path.read_text() + "\n")
    assert one.main(["--check"]) == 1
    assert "is not what tools/amalgamate.py makes: run it" in capsys.readouterr().err
    assert one.main(["--other"]) == 2
