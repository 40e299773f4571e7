"""Draw the pictures of docs/guides/reports.md: reports and fact sheets as Chromium shows and prints them.

Usage: python -P tools/report_pictures.py

Needs Chromium on the path, playwright and Pillow, and pdftoppm for the printed sheet. The pictures are to be
looked at before they are committed: nothing else here sees them.
"""

import io
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

import nbcfast
from nbcfast import skyline
from nbcfast.reports import fact_sheet

TOP = Path(__file__).resolve().parents[1]
PICTURES = TOP / "docs" / "_static" / "reports"
PATIENTS = TOP / "examples" / "patients.csv"
MENU = TOP / "examples" / "patients-menu.json"
COLOURS = 96  # of a picture: fewer make a file that is small
# Name -> what is shown, how wide and high, light or dark, and from where on.
VIEWS = {
    "phone": ("release", 400, 1250, "light", "section.card:has(form)"),
    "fact-sheet": ("release", 1000, 1500, "light", None),
    "wide-dark": ("release", 1600, 1250, "dark", None),
    "partition": ("partition", 1000, 1350, "light", None),
    "private-refused": ("refused", 1000, 1500, "light", None),
    "private-published": ("published", 1000, 1500, "light", None),
}


def published(folder):
    """What the pictures are of."""
    made = nbcfast.publish(PATIENTS, "diagnosis", 4, menu=str(MENU))
    made.save(folder / "release")
    table = nbcfast.read_csv(PATIENTS, columns=["age", "sex", "smoking", "glucose"])
    points = [(0, 0, 0, "7/10"), (1, 2, 0, "95%")]
    skyline.anonymize(table, ["age", "sex", "smoking"], "glucose", points=points, k=20).save(
        folder / "partition"
    )


def private(folder):
    """The reports of `publish`, of what was refused and of what left."""
    asked = [
        sys.executable,
        "-P",
        "-m",
        "nbcfast",
        "publish",
        "examples/patients.csv",
        "--class",
        "diagnosis",
    ]
    asked += ["--amplification", "4"]
    menu = ["--menu", "examples/patients-menu.json"]
    (folder / "examples").mkdir()
    for file in (PATIENTS, MENU):
        shutil.copy(file, folder / "examples")
    for name, more in (("refused", []), ("published", menu)):
        out = ["--out", f"release-{name}", "--report", f"{name}.html"]
        subprocess.run([*asked, *more, *out], cwd=folder, check=False, stdout=subprocess.DEVNULL)


def filled(page):
    """The last value of every attribute chosen, where there is a form."""
    for fieldset in page.locator("fieldset").all():
        fieldset.locator("input[type=radio]").last.check()
    page.evaluate("document.activeElement.blur()")


def stored(data, name):
    """A picture with few colours."""
    picture = Image.open(io.BytesIO(data)).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    path = PICTURES / f"{name}.png"
    picture.save(path, optimize=True)
    print(f"{path.relative_to(TOP)}: {path.stat().st_size:,} bytes")


def main():
    chromium = shutil.which("chromium")
    if chromium is None or shutil.which("pdftoppm") is None:
        sys.exit("chromium and pdftoppm must be on the path")
    PICTURES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        folder = Path(folder)
        published(folder)
        for kind in ("release", "partition"):
            fact_sheet(folder / kind).save(folder / f"{kind}.html")
        private(folder)
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for name, (kind, width, height, scheme, start) in VIEWS.items():
            page = browser.new_page(
                viewport={"width": width, "height": height}, color_scheme=scheme, device_scale_factor=1
            )
            page.goto((folder / f"{kind}.html").as_uri())
            filled(page)
            page.evaluate("scrollTo(0, 0)")
            if start is not None:
                page.locator(start).evaluate("(one) => one.scrollIntoView()")
            stored(page.screenshot(), name)
            if name == "fact-sheet":
                (folder / "print.pdf").write_bytes(page.pdf(prefer_css_page_size=True))
            page.close()
        browser.close()
        subprocess.run(["pdftoppm", "-r", "80", "-png", folder / "print.pdf", folder / "sheet"], check=True)
        sheets = [Image.open(path) for path in sorted(folder.glob("sheet-*.png"))]
        beside = Image.new("RGB", (sum(sheet.width + 8 for sheet in sheets), sheets[0].height), "#888888")
        for place, sheet in enumerate(sheets):
            beside.paste(sheet, (place * (sheet.width + 8), 0))
        file = io.BytesIO()
        beside.save(file, "PNG")
        stored(file.getvalue(), "printed")


if __name__ == "__main__":
    main()
