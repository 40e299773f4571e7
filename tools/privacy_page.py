"""Write the measured sections of docs/evaluation-privacy.md, and draw its tables.

Usage: python bench/study.py privacy > measured.md && python tools/privacy_page.py measured.md

Sections of the page that have the title of a measured one get what was measured; all others stay. The
pictures of the page are drawn from its tables, so that neither can say what the other does not.
"""

import math
import re
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parents[1] / "docs" / "evaluation-privacy.md"
HEADING = re.compile(r"^#+ (.+)\n", re.MULTILINE)
TOTALS = re.compile(r"([\d,]+) values that occur\. Totals alone find ([\d,]+)")
LARGER = re.compile(r"to everybody has an accuracy of (0\.\d+)")
COLOURS = {"exact": "#1b6ca8", "DP": "#d1495b", "randomised response": "#3f8f5f", "k-anonymous": "#8d6a9f"}
MARKERS = "osD^v"
CLASSIFIERS = (  # from which the second picture takes its rows
    ("exact", ""),
    ("canonical", "lambda 4"),
    ("SafetyTransform", "lambda 4"),
    ("EST", None),
    ("k-anonymous", "k 2"),
    ("k-anonymous", "k 20"),
    ("DP", "epsilon 0.1"),
    ("DP", "epsilon 1"),
    ("DP", "epsilon 10"),
    ("DP then canonical", "epsilon 1"),
    ("randomised response", "epsilon 1"),
    ("randomised response", "epsilon 10"),
)
COIN = 0.6931  # the log-loss of saying that both classes are as probable
MOST_LOSS = 1.0  # as far as log-losses are drawn


def sections(text):
    """Title -> what stands below it, up to the next heading."""
    pieces = HEADING.split(text)[1:]
    return dict(zip(pieces[::2], pieces[1::2], strict=True))


def rewritten(page, measured):
    """The page with the measured sections in place of its own of the same titles."""
    parts = sections(measured)
    missing = [title for title in parts if title not in sections(page)]
    if missing or not parts:
        raise ValueError(f"expected measured sections that the page has, got {missing or 'none'}")

    def replaced(match):
        title = match[2]
        return f"{match[1]} {title}\n\n{parts[title].strip()}\n\n" if title in parts else match[0]

    whole = re.sub(r"^(#+) (.+)\n(?:(?!#+ ).*\n?)*", replaced, page, flags=re.MULTILINE)
    return whole.rstrip("\n") + "\n"


def table(section):
    """The rows of the table of a section, as lists of texts."""
    lines = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line] for line in (lines[0], *lines[2:])]


def number(cell):
    """Mean and standard deviation in a cell; NaN where there is no number."""
    found = re.match(r"([\d.]+|∞)(?: ± ([\d.]+))?", cell)
    if found is None:
        return math.nan, 0.0
    return float(found[1].replace("∞", "inf")), float(found[2] or 0)


class Measured:
    """The tables of one set."""

    def __init__(self, name, section):
        self.name = name
        head, *self.rows = table(section)
        self.places = {title: place for place, title in enumerate(head)}
        self.cells, self.null = (int(found.replace(",", "")) for found in TOTALS.search(section).groups())
        self.larger = float(LARGER.search(section)[1])

    def values(self, series, column):
        """Parameter -> mean and deviation."""
        place = self.places[column]
        return {row[1]: number(row[place]) for row in self.rows if row[0] == series}

    def value(self, series, parameter, column):
        """A mean; where the parameter is None that of the only line."""
        found = self.values(series, column)
        if parameter is None:
            return next(iter(found.values()))[0]
        return found.get(parameter, (math.nan, 0.0))[0]  # a k above half of the people, say


def measured_sets(text):
    """Those of a page, or of what the study prints."""
    return [Measured(name, section) for name, section in sections(text).items() if TOTALS.search(section)]


def draw_accuracy(sets):
    """Accuracy against epsilon, a field for each set."""
    import matplotlib.pyplot as plt

    figure, fields = plt.subplots(2, 3, figsize=(7.4, 5))
    for axis, found in zip(fields.flat, sets, strict=False):
        axis.set_title(found.name, fontsize=10)
        exact, boxes = found.value("exact", "", "accuracy"), found.value("k-anonymous", "k 20", "accuracy")
        for height, colour, style, label in (
            (exact, COLOURS["exact"], "--", "exact, canonical,\nSafetyTransform, EST"),
            (boxes, COLOURS["k-anonymous"], "-.", "k-anonymous, k 20"),
            (found.larger, "black", ":", "the larger class\nto everybody"),
        ):
            axis.axhline(height, color=colour, ls=style, lw=1.2, label=label)
        for series in ("DP", "randomised response"):
            values = found.values(series, "accuracy")
            at = [float(parameter.split()[1]) for parameter in values]
            axis.plot(
                at, [mean for mean, _ in values.values()], marker=".", color=COLOURS[series], label=series
            )
            ends = [[mean + sign * off for mean, off in values.values()] for sign in (-1, 1)]
            axis.fill_between(at, *ends, color=COLOURS[series], alpha=0.18, lw=0)
        axis.set_xscale("log")
        axis.set_ylim(0.15, 1)
        axis.set_xticks([0.01, 0.1, 1, 10], ["0.01", "0.1", "1", "10"])
        axis.grid(alpha=0.25)
    for axis in fields.flat[len(sets) :]:
        axis.set_axis_off()
    handles, labels = fields.flat[0].get_legend_handles_labels()
    place = fields.flat[-1] if len(sets) < fields.size else fields.flat[0]
    place.legend(handles, labels, loc="center", fontsize=8, frameon=False)
    figure.supxlabel("epsilon", fontsize=10)
    figure.supylabel("accuracy on other rows", fontsize=10)
    return figure


def draw_given_away(sets):
    """Counts that the totals attack finds, and log-loss, a row for each method."""
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(7.4, 5.2), sharey=True)
    names = ["totals alone", *(" ".join(filter(None, pair)) for pair in CLASSIFIERS)]
    for place, (found, marker) in enumerate(zip(sets, MARKERS, strict=False)):
        shift = (place - (len(sets) - 1) / 2) * 0.13
        at = [y + shift for y in range(len(names))]
        counts = [found.null, *(found.value(*pair, "found") for pair in CLASSIFIERS)]
        style = {"ls": "none", "marker": marker, "ms": 4, "color": f"C{place}", "label": found.name}
        left.plot([count / found.cells for count in counts], at, clip_on=False, **style)
        losses = [found.value(*pair, "log-loss") for pair in CLASSIFIERS]
        right.plot([min(loss, MOST_LOSS) for loss in losses], at[1:], clip_on=False, **style)
    left.set_yticks(range(len(names)), names)
    left.invert_yaxis()
    left.set(xlim=(0, 1), title="share of counts found", xticks=[0, 0.25, 0.5, 0.75, 1])
    right.axvline(COIN, color="black", ls=":", lw=1)
    right.text(COIN + 0.02, 0, "a coin", fontsize=8, va="center")
    right.set(xlim=(0, MOST_LOSS), title="log-loss (at the edge: more)")
    for axis in (left, right):
        axis.grid(axis="x", alpha=0.25)
        axis.title.set_fontsize(10)
        axis.tick_params(axis="y", length=0)
    handles = left.get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=5, fontsize=8, frameon=False)
    return figure


def accuracy():
    """The first picture of the page."""
    return draw_accuracy(measured_sets(PAGE.read_text(encoding="utf-8")))


def given_away():
    """The second picture of the page."""
    return draw_given_away(measured_sets(PAGE.read_text(encoding="utf-8")))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        text = rewritten(PAGE.read_text(encoding="utf-8"), Path(sys.argv[1]).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        sys.exit(f"privacy_page.py: {error}")
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
