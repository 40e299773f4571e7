"""Check a published release from its certificate.json alone: Python's standard library, this one file.

    python verify_release.py DIR [--ignore-extra] [--menu FILE]

prints each check ("yes", "NO", or "?" where it is not made here), then what the publisher claims and no file
can show, the notes of the certificate, the verdict, and below it the warnings of the certificate, and leaves
with

    0  verified: every check was made and holds,
    1  not verified: some check does not hold,
    2  there is nothing to check,
    3  not fully checked: nothing fails, but some check is a "?": it needs more than the file, or more work.

A claim is never a "yes", and changes neither verdict nor exit code. Checked are the form of the file, its
sha256 (which detects accidents, not forgers), that the counts are positive and those of some table (for every
attribute those of a class add up to the count of the class), and that Lambda, the largest ratio X_c / X_d of
two classes' scores over all tuples, keeps the limit, where

    X_c = P_c^(1-n) N^1_c .. N^n_c,    P_c the count of class c,  N^i_c that of the tuple's i-th value in it.

For a release with a prior F (method "est") also that (X_c / X_d) / (F_c / F_d) never exceeds r.

Of a canonical release (method "canonical"), which holds a table of points, also that the points decide every
tuple as the counts do, where the domain is not too large for that. That it says nothing but a classifier's
answers is not checked here, so it is never more than "not fully checked": `nbcfast verify` makes it from its
own answers again.

Of strata (a canonical release for each value of a column) each is checked as a release, and a check holds
where it holds in all of them. The releases must have the same domains, classes and parameters.

Where the domain of a release was chosen from a menu with limits, the points must not prove that the answers
take more bits a weight than that; what they take exactly `nbcfast verify` works out. --menu FILE checks that
the domain is one of the menu: that the file is the menu which the certificate names, offers as many choices
as it says, and has this domain where it says. Files of hierarchies are looked for where the menu names them,
beside itself. Without it that is printed as a claim.

The words of a certificate (notes, warnings) are the exact list that goes with its fields, or it is refused.
Those that nothing has checked are printed as claims, or not at all.

All decisions are made with integers. What only the owner of the private table can check (that the classifier
is the same, that counts are powers or artificial, which values were declared) is printed as a claim.

Where the folder holds a table.csv that is checked too: its sha256, that its values are those that the
certificate lists, and that its rows are sorted (unless they were shuffled) so that nothing is left of the
order of the data. Of a table.parquet that the certificate names the sha256 is checked here, and nothing else:
that leaves "not fully checked", as `nbcfast verify` alone can compare it with the table. Then, of

    a partition (a table in which groups of people share generalised values), from the groups of equal rows,
    every demand of the certificate: that all points (l, k, m, confidence) of the skyline are strictly safe,
    and k, diversity and closeness;

    a disclosure (a table in which values are suppressed so that its privacy templates hold) every template:
    over the groups of rows with the same values of the known columns, the largest share of the sensitive
    value is the confidence that is stated, and not above the limit;

    disguised answers that the scheme hides what the certificate says, and which columns it does not hide at
    all, and that scheme.json and cuts.json beside them are those of the certificate. That the coins were
    thrown, no file can show: that is a claim.

Nothing else may be in the folder, which is meant too where the path of its certificate is given: files and
folders that the certificate does not name, hidden ones too, are listed, and fail the check. With
--ignore-extra they are listed as ignored ("--"), which is no check and changes no exit code: nothing covers
them. Pipes, devices and links out of the folder fail always, and are never opened.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from nbcfast._wire.folder import ignored_text, judge_folder
from nbcfast._wire.form import judge_version, told
from nbcfast._wire.json_entries import Refused, TooLong
from nbcfast._wire.kinds import judge_any, parse_any
from nbcfast._wire.menu_checks import judge_menu, menu_of_file
from nbcfast._wire.messages import printable
from nbcfast._wire.outcomes import CLAIMED, NOTE, VERDICTS, WARNING, outcome, verdict
from nbcfast._wire.regular_files import content, location
from nbcfast._wire.standard_streams import complain, let_go, silence
from nbcfast._wire.table_csv import judge_parquet

if TYPE_CHECKING:
    from nbcfast._wire.outcomes import Judged


def _say(text: str) -> None:
    """One line on stdout, whatever the text holds."""
    print(printable(text))


def main(arguments: list[str]) -> int:
    """Check the folder or file named; the exit code.

    Whatever goes wrong is one line on stderr and 2; nothing is raised.
    """
    if sys.stdout is None or sys.stdout.closed:
        complain("stdout is closed: there is nowhere to say what is found")
        return 2
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a label that the terminal cannot spell is escaped
            stream.reconfigure(errors="backslashreplace")
    try:
        code = _main(arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:
        let_go(sys.stdout)
        return 130
    except BrokenPipeError:  # the reader has left, and so has its interest
        silence(sys.stdout)
        return 2
    except OSError as error:
        silence(sys.stdout)
        where = "" if error.filename is None else f"{os.fsdecode(error.filename)}: "
        complain(f"{where or 'output: '}{error.strerror or error}")
        return 2
    except MemoryError:
        complain("not enough memory")
        return 2
    return code


def _asked(arguments: list[str]) -> tuple[list[str], bool, str | None]:
    """The paths of a command line, whether other files are passed over, and the file of a menu."""
    paths: list[str] = []
    ignore_extra, menu = False, None
    left = iter(arguments)
    for text in left:
        if text == "--ignore-extra":
            ignore_extra = True
        elif text == "--menu" and menu is None:
            menu = next(left, "")
        elif text.startswith("--menu=") and menu is None:
            menu = text[len("--menu=") :]
        else:
            paths.append(text)
    return paths, ignore_extra, menu


def _main(arguments: list[str]) -> int:
    paths, ignore_extra, menu_path = _asked(arguments)
    if len(paths) != 1 or paths[0] in ("-h", "--help"):
        print((__doc__ or "python verify_release.py DIR").strip())  # python -OO has no texts
        if len(paths) == 1:
            return 0
        complain(f"expected one DIR, got {' '.join(map(repr, paths)) or 'none'}")
        return 2
    menu = None
    if menu_path is not None:
        try:
            menu = menu_of_file(menu_path)
        except (OSError, ValueError) as error:  # a Refused is one
            at = getattr(error, "filename", None)  # the menu, or a hierarchy that it names
            where = f"--menu {menu_path}" if at in (None, menu_path) else f"--menu {menu_path}: {at}"
            complain(f"{where}: {getattr(error, 'strerror', None) or error}")
            return 2
    try:
        path = location(paths[0])
        document = parse_any(content(path))
    except Refused as error:
        holds = None if isinstance(error, TooLong) else False
        _say(_check_line("file", holds, str(error)))
        _say(verdict([holds], 0))
        return VERDICTS[holds][1]
    except (OSError, ValueError) as error:  # a ValueError of a name with a zero byte
        where = location(paths[0]) if paths[0] else "DIR"
        complain(f"{where}: {getattr(error, 'strerror', None) or error}")
        return 2
    whole: Judged = [("file", True, "complete, canonical, and its sha256 matches")]
    folder = os.path.dirname(path)
    results, ignored = judge_folder(document, path, ignore_extra)
    results += judge_version(document)
    results += judge_any(document, folder)[1]
    results += judge_parquet(document, folder)
    if menu is not None:
        results += judge_menu(document, menu)
    said_of_it = told(document, results)
    # What comes of it stands first, and once more above the warnings, as claims may fill a screen.
    found = [holds for _, holds, _ in results]
    comes_of_it = verdict(found, len(said_of_it.claims), len(said_of_it.warnings), len(ignored))
    _say(comes_of_it)
    for name, holds, text in whole + said_of_it.results:
        _say(_check_line(name, holds, text))
    if ignored:
        _say(f"--   {'folder':<13}  {ignored_text(ignored)}")
    for text in said_of_it.claims:
        _say(f"{CLAIMED} {text}")
    for text in said_of_it.notes:
        _say(f"{NOTE} {text}")
    _say(comes_of_it)
    for text in said_of_it.warnings:
        _say(f"{WARNING} {text}")
    return VERDICTS[outcome(found)][1]


def _check_line(name: str, holds: bool | None, text: str) -> str:
    """What came of a check."""
    said = "yes" if holds else "?  " if holds is None else "NO "
    return f"{said}  {name:<13}  {text}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
