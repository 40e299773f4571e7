"""`Ledger`: the releases of one table, each checked against all before it, and entered before it leaves."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from nbcfast._reading.source import AnyTable
from nbcfast._wire.messages import printable
from nbcfast.ledger.answers_digest import answers_digest
from nbcfast.ledger.asked_release import AskedRelease, joint_of, prefixes_of, total_bits_of
from nbcfast.ledger.joint_trace import TableRows
from nbcfast.ledger.ledger_lines import (
    SHA256,
    LedgerError,
    LedgerLine,
    ReleaseTerms,
    outcome_text,
    parsed,
    release_text,
    stands,
)
from nbcfast.ledger.ledger_report import LedgerReport
from nbcfast.ledger.locked_file import LockedFile
from nbcfast.ledger.sign_theorem import moved, sign_shown
from nbcfast.ledger.spent import AnyNoise, spent
from nbcfast.ledger.windows import LedgerPolicy
from nbcfast.views import Viewset

if TYPE_CHECKING:
    from types import TracebackType

    from nbcfast._core.threads import Progress

T = TypeVar("T")
NO_ROWS = "only counts were given, and not the rows of the table"


class _State(NamedTuple):
    """What a ledger says."""

    lines: tuple[LedgerLine, ...]
    n_lines: int
    head: str | None
    open_to_others: bool


class Ledger:
    """The releases of one private table, in a file beside it that is as private as the table.

    The file has a JSON object a line, each with the sha256 of the line before, and is only ever appended to.
    A release is entered before it leaves, so that none leaves that is not in it: what is entered, and was not
    found afterwards, counts as released. In a ``with`` block nobody else can enter anything.

    Parameters
    ----------
    path : str or path
        It is made, readable for its owner alone, when the first release is entered. Never a link.

    Examples
    --------
    >>> import nbcfast, tempfile
    >>> ledger = Ledger(os.path.join(tempfile.mkdtemp(), "patients.ledger"))
    >>> views = nbcfast.Viewset([50, 50], {"job": [[20, 30], [30, 20]], "sex": [[11, 40], [39, 10]]})
    >>> ledger.append(views, "0" * 64)
    LedgerLine(1: 000000000000.., 100 rows, written)
    >>> ledger.check(views).same_as
    1
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fsdecode(path)
        if not self.path:
            raise ValueError("ledger must be the path of a file, got an empty text")
        self._file: LockedFile | None = None
        self._depth = 0
        # The lock of the file is that of a process: its threads have to wait for each other here.
        self._turn = threading.RLock()

    def __enter__(self) -> Ledger:
        self._turn.acquire()
        try:
            if self._file is None:
                self._file = LockedFile(self.path, alone=True)
        except BaseException:
            self._turn.release()
            raise
        self._depth += 1
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._depth -= 1
            if self._depth == 0 and self._file is not None:
                file, self._file = self._file, None
                file.close()
        finally:
            self._turn.release()

    def __reduce__(self) -> tuple[object, ...]:
        return Ledger, (self.path,)

    def __repr__(self) -> str:
        return f"Ledger({self.path!r})"

    def _read(self) -> _State:
        with self._turn:
            file = self._file
            if file is not None:
                return _State(*parsed(file.read(), self.path), file.open_to_others)
            try:
                file = LockedFile(self.path, alone=False)
            except FileNotFoundError:
                folder = os.path.dirname(os.path.abspath(self.path))
                if not os.path.isdir(folder):
                    raise
                return _State((), 0, None, False)
            try:
                return _State(*parsed(file.read(), self.path), file.open_to_others)
            finally:
                file.close()

    @property
    def lines(self) -> tuple[LedgerLine, ...]:
        """The releases, in the order in which they were entered; none where there is no file.

        Raises
        ------
        LedgerError
            If the file is no ledger as it was written: the chain is checked on each reading.
        OSError
            If it cannot be read.
        """
        return self._read().lines

    @property
    def last_sha256(self) -> str | None:
        """The sha256 of the last line; None where there is none.

        Nothing in the file shows that lines are gone from its end: this, kept elsewhere, does.
        """
        return self._read().head

    @property
    def open_to_others(self) -> bool:
        """Whether others than the owner may read the file."""
        return self._read().open_to_others

    def check(
        self,
        views: Viewset,
        *,
        table: AnyTable | None = None,
        class_name: str | None = None,
        window: object = None,
        noise: AnyNoise | None = None,
        terms: ReleaseTerms | None = None,
        policy: LedgerPolicy | None = None,
        release: str | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> LedgerReport:
        """What a release of these counts would give away beside all that are in the ledger.

        Parameters
        ----------
        views : Viewset
            Private; or with noise, of which nothing but what it costs is looked at.
        table : Table, or what it is made of, optional
            The rows that they count: who shows in all releases together is measured on it. The rows of
            earlier releases are looked for among its first ones, by their counts. A Table, a mapping of
            column names to values, anything with ``__arrow_c_stream__``, an iterable of record batches, or
            the path of a file (.csv, .tsv, .parquet ..).
        class_name : str, optional
            Its class column.
        window : text, int, pair or mapping, optional
            The label of the block of rows that the table has, or those of the first and of the last one.
        noise : Noise, optional
            Of a release with differential privacy; with it the views may be those before noise, or after. Of
            a Viewset that knows its own noise it is that.
        terms : ReleaseTerms, optional
            How the release is made; by default canonical, with the best class.
        policy : LedgerPolicy, optional
            When a release may be made.
        release : str, optional
            The sha256 of its certificate: one that was entered, and not found, is then known again.
        threads, progress
            As for `canonical.release`.

        Returns
        -------
        LedgerReport

        Raises
        ------
        Infeasible
            If a release over another domain, or made in another way, is in the ledger already, and neither
            has noise: coarse and fine answers together tell more than fine ones. Or if a policy is not kept.
        LedgerError, ValueError, TypeError, OSError
            If the file is no ledger, cannot be read, or an argument is not as described.
        """
        asked = AskedRelease.of(views, window, noise, terms)
        return self._checked(self._read(), asked, table, class_name, policy, release, threads, progress)

    # Long for its result, which is put together field by field.
    def _checked(
        self,
        state: _State,
        asked: AskedRelease,
        table: AnyTable | None,
        class_name: str | None,
        policy: LedgerPolicy | None,
        release: str | None,
        threads: int | None,
        progress: Progress | None,
    ) -> LedgerReport:
        counted = [line for line in state.lines if line.counts]
        asked.expect_alike(counted)
        found = {line.n for line in counted if line.state == "intended" and stands(line)}
        pending = [line for line in counted if line.state == "intended" and line.n not in found]
        # A release that was never found is made again as if it had not been entered: it is the same one.
        resumed = [line.n for line in pending if asked.is_that_of(line, release)]
        earlier = [line for line in counted if line.n not in resumed]
        pending = [line for line in pending if line.n not in resumed]
        if policy is not None:
            policy.expect(asked.window, [(line.n, line.window) for line in earlier])
        last = earlier[-1] if earlier else None
        # What changed since is what the last one that is known has, even where nobody knows whether it left.
        known = last is not None and last.views is not None and last.domain == asked.domain
        answers, why_not = asked.answers(threads)
        same = None
        if last is not None and last not in pending and asked.noise is None and last.noise is None:
            digest = None if answers is None else answers_digest(answers)
            if (digest is not None and last.answers == digest) or last.release == release:
                same = last.n
        rows = TableRows.of(table, class_name, asked.views) if table is not None and asked.private else None
        prefixes = {} if rows is None else prefixes_of(rows, earlier, asked)
        change = sign = joint = None
        if known and asked.private:
            assert last is not None
            assert last.views is not None
            change = moved(last.views, asked.views, prefix=prefixes.get(last.n) is not None)
            exact = last.noise is None and asked.noise is None and asked.terms.method == "canonical"
            if change.one_row is not None and exact and same is None:
                sign = sign_shown(last.views, asked.views, change.one_row, asked.terms.smoothing)
        if policy is not None and last is not None and policy.new_rows is not None:
            policy.expect_new(None if change is None else change.came, change is None or not change.exact)
        if asked.noise is not None:
            why_not = None
        elif rows is None:
            why_not = why_not or NO_ROWS
        elif same is None:
            joint, why_not = joint_of(asked, earlier, rows, prefixes, answers, why_not, threads, progress)
        noises = [line.noise for line in earlier] + [asked.noise]
        return LedgerReport(
            releases=len(earlier),
            last=None if last is None else last.n,
            same_as=same,
            resumes=resumed[-1] if resumed else None,
            rows=change,
            sign=sign,
            joint=joint,
            why_not=None if same is not None else why_not,
            counted=sum(noise is None for noise in noises) - (same is not None),
            total_bits=total_bits_of(earlier, asked, same is not None),
            spent=spent(
                (noise, terms.choice)
                for noise, terms in zip(noises, [*(line.terms for line in earlier), asked.terms], strict=True)
                if noise is not None
            ),
            pending=tuple(line.n for line in pending),
            open_to_others=state.open_to_others,
            head=_last_release(state),
        )

    def append(
        self,
        views: Viewset,
        release: str,
        *,
        folder: str | os.PathLike[str] | None = None,
        save: Callable[[], object] | None = None,
        window: object = None,
        noise: AnyNoise | None = None,
        terms: ReleaseTerms | None = None,
        after: LedgerReport | None = None,
    ) -> LedgerLine:
        """Enter a release, and write it.

        Its line is on the disk before `save` is called, and a second one says afterwards that it stands.
        Where `save` raises, and no such release is in `folder`, that is said in place of it.

        Parameters
        ----------
        views, window, noise, terms
            As of `check`.
        release : str
            The sha256 that the certificate has.
        folder : path, optional
            Where it will be, so that it can be looked for after a kill.
        save : callable, optional
            Writes it; without one it is entered as one that has left.
        after : LedgerReport, optional
            What somebody has decided by: a ledger with another line since is refused.

        Returns
        -------
        LedgerLine

        Raises
        ------
        Infeasible, LedgerError, ValueError, TypeError, OSError
            As `check`, and whatever `save` raises.
        """
        if not isinstance(release, str) or not SHA256.fullmatch(release):
            raise ValueError(f"release must be a sha256 in hexadecimal digits, got {release!r}")
        asked = AskedRelease.of(views, window, noise, terms)
        with self:
            self._mend_outcomes()
            state = self._read()
            if after is not None and after.head != _last_release(state):
                raise ValueError(
                    f"{printable(self.path)}: another release was entered since: look at this one beside it, "
                    "and publish again"
                )
            earlier = [line for line in state.lines if line.counts]
            asked.expect_alike(earlier)
            n = self._entered(asked, release, folder, state, earlier)
            try:
                if save is not None:
                    save()
            except BaseException:
                line = next(line for line in self.lines if line.n == n)
                with suppress(OSError):  # then nobody knows, and it counts as released
                    self._outcome(n, stands(line))
                raise
            self._outcome(n, True)
            return next(line for line in self.lines if line.n == n)

    def _entered(
        self,
        asked: AskedRelease,
        release: str,
        folder: str | os.PathLike[str] | None,
        state: _State,
        earlier: list[LedgerLine],
    ) -> int:
        """The line of a release that waits for its outcome: its own, or that of the same one, never found."""
        assert self._file is not None
        for line in earlier:
            if line.state == "intended" and asked.is_that_of(line, release):
                return line.n
        answers, _ = asked.answers(None)
        place = None if folder is None else os.path.abspath(os.fsdecode(folder))
        self._file.append(
            release_text(
                state.n_lines + 1,
                release=release,
                folder=place,
                terms=asked.terms,
                views=asked.views,
                private=asked.private,
                answers=None if answers is None else answers_digest(answers),
                window=asked.window,
                noise=asked.noise,
                previous=state.head,
            )
        )
        return state.n_lines + 1

    def _outcome(self, of: int, written: bool) -> None:
        assert self._file is not None
        state = self._read()
        self._file.append(outcome_text(state.n_lines + 1, of, written, state.head))

    def _mend_outcomes(self) -> list[int]:
        """Say of releases that wait for an outcome, and stand where they were to be, that they do."""
        found = [line.n for line in self.lines if line.state == "intended" and stands(line)]
        for n in found:
            self._outcome(n, True)
        return found

    def mend(self) -> list[str]:
        """Cut a last line that was begun and not ended, and look for releases that wait for an outcome.

        Returns
        -------
        list of str
            What was done, in sentences.

        Raises
        ------
        LedgerError
            If more than that is the matter: nothing is done.
        """
        said = []
        if not os.path.lexists(self.path):
            raise FileNotFoundError(2, os.strerror(2), self.path)
        with self:
            assert self._file is not None
            try:
                self._read()
            except LedgerError as error:
                if error.whole is None:
                    raise
                cut = len(self._file.read()) - error.whole
                self._file.cut(error.whole)
                said.append(f"{cut:,} bytes of a line that was begun and not ended were cut off")
            said += [f"line {n} stands where it was to be written" for n in self._mend_outcomes()]
        return said


def _last_release(state: _State) -> str | None:
    """The digest of the line of the last release: that one was found to stand since changes nothing."""
    return state.lines[-1].sha256 if state.lines else None
