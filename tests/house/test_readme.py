"""README.md and docs/ do what they say: every block, what is shown, and the commands that hints name."""

import importlib
import json
import re
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
DOCS = HERE.parent / "docs"
PAGES = readme.pages(HERE.parent)
CANONICAL = DOCS / "guides" / "canonical.md"
PACKAGE = Path(nbcfast.__file__).parent
FACADES = {
    "nbcfast.reference",
    "nbcfast.release",
    "nbcfast.verify_release",
}  # they hold no names of their own


@pytest.mark.apart
@pytest.mark.parametrize("page", [page for page in PAGES if page.parent.name != "guides"], ids=readme.short)
def test_every_block_runs_and_prints_what_is_shown(page, shows):
    shows(page)


def test_every_page_is_read():
    """A fence that is spelled otherwise would hide a block from the test above."""
    for page in [README, *DOCS.rglob("*.md")]:
        lines = page.read_text(encoding="utf-8").splitlines()
        fences = [line for line in lines if line.lstrip().startswith("```")]
        opened = fences[::2]
        assert set(fences[1::2]) <= {"```"}, page
        known = {"```", "```sh", "```text", "```python", "```{plot}", "```{toctree}", "```{eval-rst}"}
        assert {line.split(" ")[0] for line in opened} <= known | {"```{include}"}, page
    assert len(PAGES) > 15


def test_every_public_name_is_in_the_reference():
    listed = re.split(r"^## ", (DOCS / "reference" / "python.md").read_text(encoding="utf-8"), flags=re.M)[1:]
    rooms = {part.split("\n", 1)[0]: set(re.findall(r"^   (\w+)$", part, re.M)) for part in listed}
    door = rooms.pop("nbcfast")
    assert door == {name for name in nbcfast.__all__ if callable(getattr(nbcfast, name))}
    for room, names in rooms.items():
        module = importlib.import_module(room)
        # A room may have another thing of the same name: associations.advise is of projections.
        own = {
            name
            for name in module.__all__
            if name not in nbcfast.__all__ or getattr(module, name) is not getattr(nbcfast, name)
        }
        assert names == own, room
    assert {f"nbcfast.{room}" for room in nbcfast._PUBLIC} - set(rooms) == FACADES


def test_links_lead_to_pages_and_sections():
    """Also in README.md, which Sphinx does not read."""
    anchors = {
        path: set(re.findall(r"^\(([\w-]+)\)=$", path.read_text(), re.M)) for path in DOCS.rglob("*.md")
    }
    checked = 0
    for page in [README, HERE.parent / "CONTRIBUTING.md", HERE.parent / "SECURITY.md", *anchors]:
        for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
            path, _, anchor = link.partition("#")
            target = (page.parent / path).resolve() if path else page
            assert target.exists(), (page, link)
            if anchor and target in anchors and re.match(r"\w+-\w+$", anchor):
                heading = [slug(line) for line in target.read_text().splitlines() if line.startswith("#")]
                assert anchor in anchors[target] or anchor in heading, (page, link)
            checked += 1
    assert checked > 100


def slug(heading):
    return re.sub(r"[^\w -]", "", heading.lstrip("# ").lower()).replace(" ", "-")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("```sh\necho one\n```\n```text\ntwo\n```\n", r"block 2 \(text\): --- shown"),
        ("```sh\ntrue\n```\n```text\ntwo\n```\n", r"block 2 \(text\): no output for"),
        ("```sh\nfalse\n```\n", r"block 1 \(sh\): false\nleft with 1, not 0"),
        ("```sh\ntrue  # leaves with 1\n```\n", "left with 0, not 1"),
        ("```text\n$ echo one\ntwo\n```\n", r"block 1 \(text\): --- shown"),
        ("```text\n$ echo one \\\n  two\none\n```\n", r"\+one two"),
        ("```python\n1 + 1  # 3\n```\n", "the page shows 3\nthe value is   2"),
        ("```python\nprint(1)\n```\n```text\n2\n```\n", r"block 2 \(text\): --- shown"),
        ("```python\nnowhere\n```\n", "name 'nowhere' is not defined"),
        ("```python\n'abc'  # 'abd' ..\n```\n", "the page shows 'abd' .."),
        ("```python\n(\n    1 + 1\n)  # 3\n```\n", "the page shows 3\nthe value is   2"),
        ("```python\n(\n    1  # 7\n    + 1\n)  # 3\n```\n", "the page shows 3\nthe value is   2"),
        ("```python\nstr(\n    1\n)  # '2'\n```\n", "the page shows '2'\nthe value is   '1'"),
        (
            "```python\n(\n    1,\n    2,\n)  # (1, 3)\n```\n",
            r"the page shows \(1, 3\)\nthe value is   \(1, 2\)",
        ),
        ("```python\n-1  # -2\n```\n", "the page shows -2"),
        ("```python\nfloat('inf')  # None\n```\n", "the page shows None"),
        ("```{plot}\n:alt: one\n\n1  # 2\n```\n", "the page shows 2"),
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


@pytest.mark.parametrize(
    ("shown", "same"),
    [
        ("1\n2\n3\n4", True),
        ("1\n2\n3", False),
        ("2\n3\n4", False),
        ("1\n...\n4", True),
        ("1\n...\n3\n4", True),
        ("1\n\n...\n\n3\n...", True),
        ("...\n2\n...\n4", True),
        ("...\n3\n...\n2\n...", False),
        ("...\n2\n4\n...", False),
        ("1\n...\n3", False),
        ("2\n...", False),
        ("1\n2\n...\n2\n...", False),
        ("...\n5\n...", False),
    ],
)
def test_lines_may_be_left_out_where_it_says_so(shown, same):
    if same:
        readme.expect(shown, "1\n2\n3\n4\n")
        return
    with pytest.raises(AssertionError, match="printed"):
        readme.expect(shown, "1\n2\n3\n4\n")


def test_the_first_output_alone_can_be_compared(tmp_path):
    page, printed = tmp_path / "page.md", tmp_path / "printed"
    page.write_text("```sh\nfalse\n```\n```text\none\n...\nthree\n```\n```text\nno\n```\n")
    command = [sys.executable, "-P", HERE / "support" / "readme.py", "--first", page, printed]
    printed.write_text("one\ntwo\nthree\n")
    assert subprocess.run(command, capture_output=True).returncode == 0
    printed.write_text("one\ntwo\n")
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert "-three" in done.stderr


def test_messages_name_the_page(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```python\n1 + 1  # 3\n```\n")
    command = [sys.executable, "-P", HERE / "support" / "readme.py", page, tmp_path]
    done = subprocess.run(command, capture_output=True, text=True)
    assert f"AssertionError: {page}, block 1 (python): 1 + 1\n" in done.stderr


def test_digits_of_coins_may_differ(tmp_path, monkeypatch):
    monkeypatch.setattr(readme, "COINS", ("echo",))
    assert readme.read("```text\n$ echo 0.31\n0.42\n```\n", tmp_path) == (1, 1)
    with pytest.raises(AssertionError, match=r"-0\.00"):
        readme.read("```text\n$ echo 0.3\n0.42\n```\n", tmp_path)


def test_the_numbers_of_the_declared_domain(run, clone, monkeypatch):
    monkeypatch.chdir(clone)
    text = CANONICAL.read_text(encoding="utf-8")
    command = next(body for _, body in readme.blocks(text) if "domain.json" in body)
    made, published = readme.commands(command)
    subprocess.run(["bash", "-c", made], check=True)
    words = published.replace("\\\n", " ").split()[1:]
    found = json.loads(run(*words, "--json")[1])
    leak = found["leak"]
    said = re.search(
        r"have\s(\d+)\stuples;\s(\d+)\srows\sare\spublished,\s([\d.]+)\sbits\sa\sweight,\spublic\stotals\s"
        r"give\sback\sthe\scounts\sof\s(\d+)\sof\s(\d+)\svalues,\sthe\sclass\sof\s(\d+)\sof\s([\d,]+)\speople\sshows,\sand"
        r"\sthe\spresence\sof\s(\d+)",
        text,
    )
    assert said is not None
    tuples, rows, bits, found_counts, counts, classes, people, present = said.groups()
    assert (int(tuples), int(rows)) == (found["tuples"], found["after"]["rows"])
    assert float(bits) == round(leak["bits"], 1)
    assert [int(found_counts), int(counts)] == [leak["found"], leak["cells"]]
    assert (int(people.replace(",", "")), leak["exact"]) == (leak["sampled"], True)
    shares = 1 - int(classes) / leak["sampled"], 1 - int(present) / leak["sampled"]
    assert shares == pytest.approx((leak["flip"], leak["trace"]))


def test_it_quotes_the_certificate():
    quoted = " ".join(
        line.removeprefix(">").strip() for line in CANONICAL.read_text().splitlines() if line[:1] == ">"
    )
    for words in (verify_release.ANSWERS, verify_release.DEPENDS):
        assert words in quoted


def test_no_list_that_is_to_be_public_is_the_private_table():
    blocks = [body for page in PAGES for _, body in readme.blocks(page.read_text(encoding="utf-8"))]
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
    for path in [*PAGES, *PACKAGE.rglob("*.py")]:
        text = path.read_text(encoding="utf-8").replace("{' '.join(EXTRA)}", "click")
        hints += re.findall(r"pip install (?:-[\w-]+ )*(?:\\?['\"])?([\w.\[\]-]+)", text)
    assert len(hints) >= 10
    assert set(hints) <= packages | own, set(hints) - packages - own
