"""The points table of a release: what people add up by hand to decide as the classifier does."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nbcfast._core.files import written
from nbcfast._core.untyped import Document
from nbcfast._wire.messages import printable
from nbcfast.table.values import Value

if TYPE_CHECKING:
    from nbcfast.published.release import Release


@dataclass(frozen=True, repr=False)
class PointsTable:
    """Small integers that decide as a canonical release does.

    With two classes a value has one number of points, none below 0, and the first class is that of a total
    from `threshold` on. With more classes a value has one number for each, the largest total wins, and of
    equal ones the later class.

    Attributes
    ----------
    classes : tuple
        In rising precedence.
    attributes : tuple of (name, values, points)
        points[t] is a tuple of one number (two classes), or of one number a class.
    threshold : int or None
        With two classes.
    constants : tuple of int
        What the totals of the classes begin with; empty with two classes.
    """

    classes: tuple[Value, ...]
    attributes: tuple[tuple[str, tuple[Value, ...], tuple[tuple[int, ...], ...]], ...]
    threshold: int | None
    constants: tuple[int, ...]

    @classmethod
    def of(cls, release: Release) -> PointsTable:
        """The table of a release; see `Release.scorecard`."""
        made, views = release.certificate.canonical, release.views
        if made is None:
            raise ValueError(
                f"a scorecard belongs to method 'canonical', got method {release.certificate.method!r}"
            )
        n_classes = len(views.classes)
        listed = []
        for i, name in enumerate(views.attributes):
            if n_classes == 1:
                rows: tuple[tuple[int, ...], ...] = ((0,),) * len(views.domain(name))
            elif n_classes == 2:
                rows = made.points[i]
            else:
                rows = tuple((*row, 0) for row in made.points[i])
            listed.append((name, views.domain(name), rows))
        if n_classes == 2:
            # Totals are never below 0, so a threshold need not be either.
            return cls(views.classes, tuple(listed), max(0, 1 - made.constants[0]), ())
        return cls(views.classes, tuple(listed), None, (*made.constants, 0))

    def decide(self, values: Mapping[str, Value]) -> Value:
        """The class at one value of each attribute.

        Raises
        ------
        ValueError
            If an attribute is missing, or a value is not in its domain.
        TypeError
            If `values` is no mapping.
        """
        if not isinstance(values, Mapping):
            raise TypeError(f"values must be a mapping of attribute to value, got {type(values).__name__}")
        width = 1 if self.threshold is not None else len(self.classes)
        totals = [0] * width if self.threshold is not None else list(self.constants)
        for name, domain, rows in self.attributes:
            if name not in values:
                raise ValueError(f"values must have every attribute, got none for {name!r}")
            if values[name] not in domain:
                raise ValueError(f"values: {values[name]!r} is not in the domain of {name!r}")
            row = rows[domain.index(values[name])]
            totals = [total + number for total, number in zip(totals, row, strict=True)]
        if self.threshold is not None:
            return self.classes[0] if totals[0] >= self.threshold else self.classes[1]
        return self.classes[max(range(width), key=lambda c: (totals[c], c))]

    @property
    def rule(self) -> str:
        """How the totals decide, in words."""
        if len(self.classes) == 1:
            return f"always {self.classes[0]!r}"
        if self.threshold is not None:
            return f"{self.classes[0]!r} from {self.threshold} points on, else {self.classes[1]!r}"
        starts = ", ".join(
            f"{label!r} {start}" for label, start in zip(self.classes, self.constants, strict=True)
        )
        return f"totals begin with {starts}; the largest wins, of equal ones the later class"

    def _header(self) -> list[str]:
        if self.threshold is not None or len(self.classes) == 1:
            return ["attribute", "value", "points"]
        return ["attribute", "value", *(_shown(label) for label in self.classes)]

    def _rows(self) -> list[list[str]]:
        return [
            [_shown(name), _shown(value), *map(str, row)]
            for name, domain, rows in self.attributes
            for value, row in zip(domain, rows, strict=True)
        ]

    def text(self) -> str:
        """Columns of text: attribute, value, points; and the rule."""
        rows = self._rows()
        if len(self.classes) > 2:
            rows = [self._header(), *rows]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = []
        for row in rows:
            left = [cell.ljust(width) for cell, width in zip(row[:2], widths[:2], strict=True)]
            right = [cell.rjust(width + 1) for cell, width in zip(row[2:], widths[2:], strict=True)]
            lines.append("  ".join([*left, *right]).rstrip())
        return "\n".join([*lines, self.rule])

    def markdown(self) -> str:
        """A table in Markdown, and the rule."""
        header = self._header()
        lines = [header, ["---", "---", *["---:"] * (len(header) - 2)], *self._rows()]
        escaped = [[cell.replace("|", "\\|").replace("\n", " ") for cell in row] for row in lines]
        return "\n".join([*(f"| {' | '.join(row)} |" for row in escaped), "", self.rule])

    def plot(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """A picture, a bar for each value; the ending of the name says which kind of file.

        Parameters
        ----------
        path : str or path
            The file, such as a .png, .svg or .pdf.
        overwrite : bool
            Replace a file that is there.

        Raises
        ------
        FileExistsError
            If there is such a file, and `overwrite` does not say that it may be replaced.
        ImportError
            If matplotlib is missing.
        """
        try:
            from matplotlib.backends.backend_agg import FigureCanvasAgg
            from matplotlib.figure import Figure
        except ImportError:
            raise ImportError(
                "a picture needs matplotlib: pip install matplotlib", name="matplotlib"
            ) from None
        most = max((len(domain) for _, domain, _ in self.attributes), default=1)
        figure = Figure(
            figsize=(3 * max(len(self.attributes), 1), min(1.2 + 0.2 * most, 40)), layout="constrained"
        )
        FigureCanvasAgg(figure)
        width = 1 if len(self.classes) <= 2 else len(self.classes)
        for place, (name, domain, rows) in enumerate(self.attributes, 1):
            axes = figure.add_subplot(1, len(self.attributes), place)
            for c in range(width):
                heights = [number + (c - (width - 1) / 2) * 0.8 / width for number in range(len(domain))]
                label = _shown(self.classes[c]) if width > 1 else None
                axes.barh(heights, [row[c] for row in rows], height=0.8 / width, label=label)
            axes.set_yticks(range(len(domain)), [_shown(value).replace("$", r"\$") for value in domain])
            axes.invert_yaxis()
            axes.set_title(_shown(name).replace("$", r"\$"))
            if width > 1 and place == 1:
                axes.legend()
        figure.suptitle(self.rule.replace("$", r"\$"))
        with written(path, overwrite=overwrite) as file:
            figure.savefig(file, format=Path(os.fsdecode(path)).suffix[1:] or None)

    def to_dict(self) -> Document:
        """Plain values."""
        return {
            "classes": list(self.classes),
            "attributes": [
                {"name": name, "values": list(domain), "points": [list(row) for row in rows]}
                for name, domain, rows in self.attributes
            ],
            "threshold": self.threshold,
            "constants": list(self.constants),
        }

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        most = max((number for _, _, rows in self.attributes for row in rows for number in row), default=0)
        return f"PointsTable({len(self.attributes)} attributes, up to {most} points; {self.rule})"


def _shown(value: Value) -> str:
    text = "(null)" if value is None else str(value)
    return printable(text)
