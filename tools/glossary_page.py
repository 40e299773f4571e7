"""Write docs/reference/glossary.md, which is made of nbcfast/glossary/terms.toml."""

from pathlib import Path

from nbcfast.glossary import page

PAGE = Path(__file__).resolve().parents[1] / "docs" / "reference" / "glossary.md"

if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
