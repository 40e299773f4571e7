"""Write the measured sections of docs/engines-costs.md.

Usage: python bench/study.py engines > measured.md && python tools/engines_page.py measured.md

Sections of the page that have the title of a measured one get what was measured; all others stay.
"""

import sys
from pathlib import Path

from privacy_page import rewritten

PAGE = Path(__file__).resolve().parents[1] / "docs" / "engines-costs.md"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        text = rewritten(PAGE.read_text(encoding="utf-8"), Path(sys.argv[1]).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        sys.exit(f"engines_page.py: {error}")
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
