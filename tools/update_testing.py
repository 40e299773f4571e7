"""Count the tests of each folder, and write the table of docs/testing.md.

Usage: python tools/update_testing.py
"""

import datetime
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

TOP = Path(__file__).resolve().parents[1]
PAGE = TOP / "docs" / "testing.md"
BEGINS, ENDS = "<!-- tests -->\n", "<!-- end of tests -->\n"


def collected():
    """What pytest would run, a line a test."""
    command = [sys.executable, "-P", "-m", "pytest", "--collect-only", "-q", "tests"]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=TOP).stdout


def table(listed, day):
    """How many tests each folder has, in Markdown; of lines such as tests/views/test_count.py::test_x."""
    folders = Counter(re.findall(r"^tests/(\w+)/[^:]+::", listed, re.MULTILINE))
    if not folders:
        raise ValueError(f"expected tests of folders, got {listed[-200:]!r}")
    rows = "".join(f"| `tests/{folder}` | {folders[folder]:,} |\n" for folder in sorted(folders))
    total = sum(folders.values())
    return f"{total:,} tests on {day}:\n\n| folder | tests |\n|---|---:|\n{rows}"


def updated(page, listed, day):
    before, begins, rest = page.partition(BEGINS)
    _, ends, after = rest.partition(ENDS)
    if not (begins and ends):
        raise ValueError(f"expected lines {BEGINS!r} and {ENDS!r} in the page")
    return before + begins + table(listed, day) + ends + after


def main():
    page = updated(PAGE.read_text(encoding="utf-8"), collected(), datetime.date.today().isoformat())
    new = PAGE.with_name(f".{PAGE.name}.part")
    new.write_text(page, encoding="utf-8")
    os.replace(new, PAGE)


if __name__ == "__main__":
    main()
