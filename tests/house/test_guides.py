"""The guides do what they say, as README.md and the other pages do: test_readme.py."""

from pathlib import Path

import pytest
import readme

PAGES = readme.pages(Path(__file__).resolve().parents[2])


@pytest.mark.parametrize("page", [page for page in PAGES if page.parent.name == "guides"], ids=readme.short)
def test_every_block_runs_and_prints_what_is_shown(page, shows):
    shows(page)
