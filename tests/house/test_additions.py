"""What has to be entered at several places is entered at all: verbs, and kinds of published things."""

import ast
import inspect
import re
import shlex
from pathlib import Path

import pytest

from nbcfast._core.files import OURS
from nbcfast._wire.kinds import KINDS
from nbcfast.verification import Verification
from nbcfast.verification.load import READERS

INDEX = Path(__file__).resolve().parents[2] / "docs" / "index.md"


def test_every_kind_is_read_judged_and_replaced():
    """A kind that is missing in OURS would be written once, and its folder never replaced."""
    assert set(OURS) == set(KINDS)
    assert {*READERS, "release"} == set(KINDS)
    assert all(isinstance(getattr(Verification, kind, None), property) for kind in KINDS)


@pytest.fixture
def verbs():
    """The words of each command that there is."""
    pytest.importorskip("click")
    pytest.importorskip("rich")
    from nbcfast.cli import options
    from nbcfast.cli.grammar import leaves

    options.load()
    return set(leaves(options.verbs))


def test_every_module_of_verbs_is_imported():
    options = pytest.importorskip("nbcfast.cli.options")
    tree = ast.parse(inspect.getsource(options.load))
    loop = next(node for node in ast.walk(tree) if isinstance(node, ast.For))
    folder = Path(options.__file__).parent
    assert sorted(ast.literal_eval(loop.iter)) == sorted(
        path.stem for path in folder.glob("*.py") if re.search("_verbs?$", path.stem)
    )


def test_every_verb_is_frozen_and_in_the_index(verbs):
    from frozen import COMMANDS

    frozen = [shlex.split(line) for line in COMMANDS.values()]
    assert {verb for verb in verbs if not any(tuple(line[: len(verb)]) == verb for line in frozen)} == set()
    cells = re.findall(r"^\|[^|]*\|([^|]*)\|[^|]*\|$", INDEX.read_text(encoding="utf-8"), re.MULTILINE)
    named = {word for cell in cells for command in re.findall(r"`([^`]+)`", cell) for word in command.split()}
    assert {verb for verb in verbs if not set(verb) <= named} == set()
