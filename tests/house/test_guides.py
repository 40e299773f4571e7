"""The guides do what they say, as README.md and the other pages do: test_readme.py."""

from pathlib import Path

import pytest
import readme

PAGES = readme.pages(Path(__file__).resolve().parents[2])


@pytest.mark.apart
@pytest.mark.parametrize("page", [page for page in PAGES if page.parent.name == "guides"], ids=readme.short)
def test_every_block_runs_and_prints_what_is_shown(page, shows):
    shows(page)


NEEDS = sorted({need for page in PAGES for need in readme.needs(page.read_text(encoding="utf-8")) if need})


@pytest.mark.parametrize("need", NEEDS)
def test_blocks_that_need_an_engine_are_run_where_it_is(need):
    # Of a page that was left out in part the other tests say nothing.
    if readme.missing(need):
        pytest.skip(f"blocks of guides that need {need} are left out: {readme.missing(need)}")


def test_a_block_is_left_out_where_its_module_is_missing(tmp_path, capsys):
    text = "<!-- needs nosuchengine -->\n```python\nraise ValueError\n```\n\n```python\n1 + 1  # 2\n```\n"
    assert readme.needs(text) == ["nosuchengine", ""]
    assert readme.read(text, tmp_path) == (1, 1)
    assert capsys.readouterr().out == (
        "README.md, block 1 (python) is left out: nosuchengine is not installed here\n"
    )


def test_a_block_is_run_where_its_module_is(tmp_path):
    with pytest.raises(AssertionError, match=r"block 1 \(python\): no 3"):
        readme.read("<!-- needs json -->\n```python\nraise ValueError('no 3')\n```\n", tmp_path)


def test_spark_needs_java_as_well(monkeypatch):
    monkeypatch.setattr(readme.importlib.util, "find_spec", lambda name: name)
    monkeypatch.setattr(readme.shutil, "which", lambda name: None)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    assert readme.missing("pyspark") == "there is no Java for Spark here"
    monkeypatch.setenv("JAVA_HOME", "somewhere")
    assert readme.missing("pyspark") == ""
