"""README.md does what it says: every block of it, what it shows, and the commands that hints name."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import readme

import nbcfast
from nbcfast import verify_release

HERE = Path(__file__).resolve().parents[1]
README = HERE.parent / "README.md"
PACKAGE = Path(nbcfast.__file__).parent


@pytest.fixture
def clone(tmp_path):
    """What of a clone README uses."""
    shutil.copytree(HERE.parent / "examples", tmp_path / "examples")
    (tmp_path / "nbcfast").mkdir()
    shutil.copy(PACKAGE / "verify_release.py", tmp_path / "nbcfast")
    return tmp_path


def test_every_block_runs_and_prints_what_is_shown(clone):
    pytest.importorskip("sklearn")
    pytest.importorskip("pyarrow")
    command = [sys.executable, HERE / "support" / "readme.py", README, clone]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-3000:]
    blocks = readme.blocks(README.read_text(encoding="utf-8"))
    ran, compared = map(int, re.findall(r"\d+", done.stdout)[-2:])
    assert {language for language, _ in blocks} == {"python", "sh", "text"}
    assert ran >= len(blocks)
    assert compared >= sum(language == "text" for language, _ in blocks)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("```sh\necho one\n```\n```text\ntwo\n```\n", r"block 2 \(text\): --- shown"),
        ("```sh\ntrue\n```\n```text\ntwo\n```\n", r"block 2 \(text\): no output for"),
        ("```sh\nfalse\n```\n", r"block 1 \(sh\): false\nleft with 1, not 0"),
        ("```sh\ntrue  # leaves with 1\n```\n", "left with 0, not 1"),
        ("```text\n$ echo one\ntwo\n```\n", r"block 1 \(text\): --- shown"),
        ("```text\n$ echo one \\\n  two\none\n```\n", r"\+one two"),
        ("```python\n1 + 1  # 3\n```\n", "README shows 3\nvalue is     2"),
        ("```python\nprint(1)\n```\n```text\n2\n```\n", r"block 2 \(text\): --- shown"),
        ("```python\nnowhere\n```\n", "name 'nowhere' is not defined"),
        ("```python\n'abc'  # 'abd' ..\n```\n", "README shows 'abd' .."),
        ("```yaml\na: 1\n```\n", "'Reader' object has no attribute 'yaml'"),
    ],
)
def test_the_reader_notices(text, said, tmp_path):
    with pytest.raises(AssertionError, match=said):
        readme.read(text, tmp_path)


def test_the_reader_reads_on(tmp_path):
    text = (
        "```sh\ncat >file <<'END'\n1\n2\nEND\ncat file  # all\nfalse   # leaves with 1\n```\n"
        "```text\n1\n...\n```\n"
        "```python\nfrom pathlib import Path\nlines = Path('file').read_text().split()\n"
        "lines  # ['1', '2'], as texts\nlen(lines)  # 2\n```\n"
        "```python\nlines[0], 3  # '1', 3\nprint(*lines)\n```\n```text\n1 2\n```\n"
        "```text\n$ echo one\none\n$ echo two\n```\n"
    )
    assert readme.read(text, tmp_path) == (7, 6)


def test_digits_of_coins_may_differ(tmp_path, monkeypatch):
    monkeypatch.setattr(readme, "COINS", ("echo",))
    assert readme.read("```text\n$ echo 0.31\n0.42\n```\n", tmp_path) == (1, 1)
    with pytest.raises(AssertionError, match=r"-0\.00"):
        readme.read("```text\n$ echo 0.3\n0.42\n```\n", tmp_path)


def test_the_numbers_of_the_declared_domain(run, clone, monkeypatch):
    monkeypatch.chdir(clone)
    text = README.read_text(encoding="utf-8")
    command = next(body for _, body in readme.blocks(text) if "domain.json" in body)
    made, published = readme.commands(command)
    subprocess.run(["bash", "-c", made], check=True)
    words = published.replace("\\\n", " ").split()[1:]
    found = json.loads(run(*words, "--json")[1])
    leak = found["leak"]
    said = re.search(
        r"have\s(\d+)\stuples;\s(\d+)\srows\sare\spublished,\s([\d.]+)\sbits\sa\sweight,\spublic\stotals\s"
        r"give\sback\sthe\scounts\sof\s(\d+)\sof\s(\d+)\svalues,\sand\s(\d+)\s%\sof\s64\ssampled\speople\sleave\sno\strace",
        text,
    )
    assert said is not None
    tuples, rows, bits, found_counts, counts, share = said.groups()
    assert (int(tuples), int(rows)) == (found["tuples"], found["after"]["rows"])
    assert float(bits) == round(leak["log2_range"], 1)
    assert [int(found_counts), int(counts)] == [leak["recovered"], leak["cells"]]
    assert int(share) == round(100 * leak["unchanged"])


def test_it_quotes_the_certificate():
    quoted = " ".join(
        line.removeprefix(">").strip() for line in README.read_text().splitlines() if line[:1] == ">"
    )
    for words in (verify_release.ANSWERS, verify_release.DEPENDS):
        assert words in quoted


def test_no_list_that_is_to_be_public_is_the_private_table():
    blocks = re.findall(r"^```python\n(.*?)^```$", README.read_text(encoding="utf-8"), re.M | re.S)
    lists = [given for block in blocks for given in re.findall(r"\btuples=(\w+)", block)]
    assert lists
    assert not {"table", "people", "private"} & set(lists)


def test_hints_name_what_can_be_installed():
    """The project is on no index: extras are those of a clone or of a wheel, and hints name packages."""
    known = tomllib.loads((HERE.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = known["optional-dependencies"]
    lists = [known["dependencies"], *extras.values()]
    packages = {re.match(r"[\w.-]+", wanted)[0] for names in lists for wanted in names} - {"nbcfast"}
    own = {".", *(f".[{extra}]" for extra in extras)}
    hints = []
    for path in [README, *PACKAGE.rglob("*.py")]:
        text = path.read_text(encoding="utf-8").replace("{' '.join(EXTRA)}", "click")
        hints += re.findall(r"pip install (?:-[\w-]+ )*(?:\\?['\"])?([\w.\[\]-]+)", text)
    assert len(hints) >= 10
    assert set(hints) <= packages | own, set(hints) - packages - own
