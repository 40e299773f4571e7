"""Write the measured sections of docs/costs.md, and draw its pictures.

Usage: python bench/study.py costs > measured.json && python tools/costs_page.py measured.json [MORE.json ...]

What was measured is kept in docs/costs.json, from which the tables are written and the pictures drawn. Of
several files, those of a run in parts, the last that has a method counts.
"""

import json
import math
import statistics
import sys
from pathlib import Path

from privacy_page import rewritten

PAGE = Path(__file__).resolve().parents[1] / "docs" / "costs.md"
KEPT = PAGE.with_name("costs.json")
AXES = ("rows", "columns", "values", "classes")
SEEN = 1 << 18  # bytes: less is what a process has spare, and no exponent is fitted to it
ROOMS = {  # the fields of a picture
    "counts": ("count", "predict"),
    "files": ("read_csv", "read_parquet", "count of a CSV file", "count of a Parquet file"),
    "groups": (
        "skyline.group",
        "skyline.check",
        "skyline.find",
        "skyline.statistics",
        "skyline.anonymize",
    ),
    "answers, templates, views": (
        "response.disguise",
        "response.estimate",
        "templates.violations",
        "templates.disclose",
        "associations.risk",
    ),
    "judges": ("safety.check", "margin", "compare", "verify"),
    "makers": (
        "dp.counts",
        "safety_transform",
        "closeness.est",
        "canonical.release",
        "advise",
        "publish",
    ),
}
MARKERS = "os^Dvx"


def fitted(points):
    """The exponent of (size, cost), by least squares of the logarithms, and how far off it is: a factor.

    >>> exponent, off = fitted([(10, 5.0), (100, 50.0), (1000, 500.0)])
    >>> round(exponent, 6), round(off, 6)
    (1.0, 1.0)
    """
    x, y = ([math.log10(value) for value in values] for values in zip(*points, strict=True))
    slope, start = statistics.linear_regression(x, y)
    square = statistics.fmean((b - start - slope * a) ** 2 for a, b in zip(x, y, strict=True))
    return slope, 10 ** math.sqrt(square)


def time_text(seconds):
    if seconds >= 1:
        return f"{seconds:.3g} s"
    return f"{seconds * 1e3:.3g} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.3g} us"


def memory_text(n_bytes):
    return f"{n_bytes / 2**20:.3g} MiB" if n_bytes >= SEEN else "< 0.25 MiB"


def row(method, points):
    """A line of a table; a cell is empty where there is too little to fit."""
    sizes = [number for number, _, _ in points]
    times = [(number, seconds) for number, seconds, _ in points]
    held = [(number, n_bytes) for number, _, n_bytes in points if n_bytes >= SEEN]
    cells = [method, f"{sizes[0]:,} to {sizes[-1]:,}", *(time_text(points[end][1]) for end in (0, -1))]
    if len(points) > 2:
        exponent, off = fitted(times)
        cells += [f"{exponent:.2f}", f"{off:.2f}", f"{fitted(times[-2:])[0]:.2f}"]
    else:
        cells += ["", "", ""]
    cells.append(memory_text(max(n_bytes for _, _, n_bytes in points)))
    cells.append(f"{fitted(held)[0]:.2f}" if len(held) > 2 else "")
    return "| " + " | ".join(cells) + " |"


HEAD = (
    "| method | sizes | least takes | most takes | exponent | off by | at the end | memory | exponent |\n"
    "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
)


def table(measured, axis):
    """The table of an axis, and where it ends."""
    lines, ends = [HEAD], []
    for method, axes in measured["methods"].items():
        points, why = axes[axis]["points"], axes[axis]["ends"]
        if points:
            lines.append(row(method, points))
        if why:
            ends.append(f"- `{method}`: {why}")
    return "\n".join(lines) + ("\n\nWhere there is no more:\n\n" + "\n".join(ends) if ends else "")


def sections(measured):
    """The measured part of the page."""
    parts = [f"## Machine\n\n{measured['date']}.\n\n" + "\n\n".join(measured["machine"])]
    parts += [f"### Figures by {axis}\n\n{table(measured, axis)}" for axis in AXES]
    return "\n\n".join(parts) + "\n"


def merged(measured):
    """Parts of a run as one."""
    methods = {name: axes for part in measured for name, axes in part["methods"].items()}
    return {**measured[0], "date": measured[-1]["date"], "methods": methods}


def draw(axis, what):
    """A picture of the page: `what` is time or memory, along an axis; a field for each kind of method."""
    import matplotlib.pyplot as plt

    methods = json.loads(KEPT.read_text(encoding="utf-8"))["methods"]
    figure, fields = plt.subplots(3, 2, figsize=(7.2, 8))
    for field, (room, names) in zip(fields.flat, ROOMS.items(), strict=True):
        field.set_title(room, fontsize=10)
        field.set(xscale="log", yscale="log")
        for name, marker in zip(names, MARKERS, strict=False):
            points = methods[name][axis]["points"] if name in methods else []
            if points:
                sizes, seconds, held = zip(*points, strict=True)
                heights = seconds if what == "time" else [max(n_bytes, SEEN) / 2**20 for n_bytes in held]
                field.plot(sizes, heights, marker=marker, ms=4, lw=1.2, label=name)
        if field.lines:
            field.legend(fontsize=6.5, framealpha=0.6, edgecolor="none")
            least, most = (math.log10(value) for value in field.get_ylim())
            field.set_ylim(10 ** math.floor(least), 10 ** math.ceil(most))
        else:
            field.text(0.5, 0.5, "no method", ha="center", transform=field.transAxes, fontsize=8)
        field.grid(alpha=0.25)
        field.tick_params(labelsize=8)
        field.minorticks_off()
    figure.supxlabel(axis, fontsize=10)
    figure.supylabel("seconds" if what == "time" else "MiB", fontsize=10)
    return figure


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    try:
        measured = merged([json.loads(Path(name).read_text(encoding="utf-8")) for name in sys.argv[1:]])
        text = rewritten(PAGE.read_text(encoding="utf-8"), sections(measured))
    except (OSError, ValueError, KeyError) as error:
        sys.exit(f"costs_page.py: {error}")
    kept = json.dumps(measured, separators=(",", ":")).replace('"rows":{"base"', '\n"rows":{"base"')
    KEPT.write_text(kept + "\n", encoding="utf-8")
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
