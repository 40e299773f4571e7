"""`Exported`: a file that was written, and whether it was compared; and what has a door to such files."""

from __future__ import annotations

import importlib
import os
from collections.abc import Collection
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from nbcfast._core.untyped import Document
from nbcfast._wire.messages import printable

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress
    from nbcfast.domains import Declarations, Declared


@dataclass(frozen=True, repr=False)
class Exported:
    """What `export` has written, and what was found when it was loaded back.

    Attributes
    ----------
    path : str
        The file.
    format : str
        "sql", "onnx", ..
    bytes : int
        How long it is.
    sha256 : str
        Of the certificate of the release, which the file says too.
    compared : int
        Tuples whose class was looked up in the file that was written; 0 where it was not loaded.
    tuples : int
        Of the domain.
    runtime : str or None
        What loaded it, such as "duckdb 1.4.1"; None where nothing did.
    identical : bool or None
        Whether every class was that of the release; None where nothing was compared. It is never False: such
        a file is not kept.
    missing : str or None
        What would have loaded it, where it is not installed.
    sets : tuple of str
        Columns with published values that may be names of sets or of bins, of which the file does not know
        what is in them: a raw value there gets no class.
    dates : tuple of str
        Columns of bins of dates, of which the file has the names: a date there gets no class.
    null_values : tuple of str
        Texts that the file reads as null.
    nulls : tuple of str
        Columns in which a missing value is published.
    null : str
        What a row has to have there, where no text was given that says it.
    """

    path: str
    format: str
    bytes: int
    sha256: str
    compared: int
    tuples: int
    runtime: str | None
    identical: bool | None
    missing: str | None = None
    sets: tuple[str, ...] = ()
    null_values: tuple[str, ...] = ()
    nulls: tuple[str, ...] = ()
    null: str = "a real null"
    dates: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The verdict in one sentence.

        Examples
        --------
        >>> Exported("a.sql", "sql", 900, "ab", 648, 648, "duckdb 1.4.1", True).text
        'exported: same class on all 648 tuples (duckdb 1.4.1)'
        >>> Exported("a.onnx", "onnx", 900, "ab", 0, 648, None, None, "onnxruntime").text
        'written, NOT compared: no onnxruntime here'
        >>> Exported("a.py", "py", 900, "ab", 648, 648, "python 3.13", True, sets=("job",)).text
        'exported: same class on all 648 tuples (python 3.13), and it takes published values alone'
        """
        alone = ", and it takes published values alone" if self.sets or self.dates else ""
        return f"{self._compared_text}{alone}"

    @property
    def _compared_text(self) -> str:
        """The same without which values it takes."""
        if self.identical is None:
            why = "it was not asked for" if self.missing is None else f"no {self.missing} here"
            return f"written, NOT compared: {why}"
        if self.compared == self.tuples:
            return f"exported: same class on all {self.tuples:,} tuples ({self.runtime})"
        return (
            f"exported: same class on {self.compared:,} of {self.tuples:,} tuples, those nearest to a change "
            f"of class ({self.runtime}); the others were not compared"
        )

    def to_dict(self) -> Document:
        """Plain values, and the verdict."""
        return {**asdict(self), "text": self.text}

    def __repr__(self) -> str:
        return printable(f"Exported({self.path}: {self.text})")


class Exportable:
    """What can be written in a form that other programs run."""

    __slots__ = ()

    def export(
        self,
        path: str | os.PathLike[str],
        *,
        to: str | None = None,
        table: str = "input",
        name: str | None = None,
        domains: Declarations | Declared | None = None,
        null_values: Collection[str] = (),
        overwrite: bool = False,
        check: bool = True,
        progress: Progress | None = None,
    ) -> Exported:
        """Write the release in a form that other programs run, and compare it; as `nbcfast.exports.export`.

        Parameters
        ----------
        path : str or path
            The file; its ending says which kind it is.
        to, table, name, domains, null_values, overwrite, check, progress
            As for `nbcfast.exports.export`.

        Returns
        -------
        Exported

        Raises
        ------
        ValueError, FileExistsError, ImportError
            As `nbcfast.exports.export`.
        """
        exports = importlib.import_module("nbcfast.exports")  # a floor above
        exported: Exported = exports.export(
            self,
            path,
            to=to,
            table=table,
            name=name,
            domains=domains,
            null_values=null_values,
            overwrite=overwrite,
            check=check,
            progress=progress,
        )
        return exported
