"""Measure again, and write the tables of docs/benchmarks.md.

Usage: python tools/update_benchmarks.py [JOB ...] [--quick] [--page FILE]

The page says what each table is made by:

    <!-- table: --jobs templates --rounds 3 -->
    ..
    <!-- end of table -->

Between these lines go the command of `bench/peers.py`, the day, the machine with its packages, and the table.
What stands elsewhere stays. JOB is a job of a table (`templates`); without any, all tables are measured,
which takes long, and an idle machine. With --quick the figures are of few rows and rounds: it prints the page
in place of writing it, as such figures are no measurement.
"""

import argparse
import datetime
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[1]
TABLE = re.compile(
    r"^<!-- table: (?P<options>[^\n]*) -->\n(?P<body>.*?)^<!-- end of table -->\n", re.M | re.S
)
BEGINS, ENDS = "<!-- table: {} -->\n", "<!-- end of table -->\n"


def jobs_of(options):
    """The jobs of a table, by the options of its command."""
    words = shlex.split(options)
    if "--jobs" not in words[:-1]:
        raise ValueError(f"the options of a table must name its --jobs; got {options!r}")
    return words[words.index("--jobs") + 1].split(",")


def measure(options, quick):
    """What `bench/peers.py` prints with these options."""
    command = [sys.executable, str(TOP / "bench" / "peers.py"), *shlex.split(options), "--markdown"]
    if quick:
        command.append("--quick")
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def section(options, printed, day):
    """What goes between the lines of a table: the command, the day, the machine, and the figures."""
    lines = printed.splitlines()
    first = next((place for place, line in enumerate(lines) if line.startswith("|")), None)
    if first is None or len(lines) < first + 3:  # headings, a rule, and at least one row
        raise ValueError(f"expected a table of {options!r}, got {printed[-200:]!r}")
    about = "\n".join(lines[:first]).strip()
    rows = [line for line in lines[first:] if line.startswith("|")]
    skipped = [f"- {line}" for line in lines[first:] if line.strip() and not line.startswith("|")]
    parts = [f"`python bench/peers.py {options} --markdown`, {day}:", about, "\n".join(rows)]
    return "\n\n".join([*parts, *(["\n".join(skipped)] if skipped else [])]) + "\n\n"


def updated(page, wanted, measured, day):
    """The page with the tables of the jobs `wanted`, or with all; `measured` makes the figures of options."""
    known = [job for found in TABLE.finditer(page) for job in jobs_of(found["options"])]
    unknown = sorted(set(wanted) - set(known))
    if not known or unknown:
        raise ValueError(
            f"expected jobs of tables of the page ({', '.join(known)}), got {', '.join(unknown)}"
        )

    def replaced(found):
        options = found["options"]
        if wanted and not set(wanted) & set(jobs_of(options)):
            return found[0]
        return BEGINS.format(options) + section(options, measured(options), day) + ENDS

    return TABLE.sub(replaced, page)


def main(arguments):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("jobs", metavar="JOB", nargs="*")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--page", type=Path, default=TOP / "docs" / "benchmarks.md")
    given = parser.parse_args(arguments)
    day = datetime.date.today().isoformat()
    before = given.page.read_text(encoding="utf-8")
    page = updated(before, given.jobs, lambda options: measure(options, given.quick), day)
    if given.quick:
        print(page, end="")
        return
    new = given.page.with_name(f".{given.page.name}.part")
    new.write_text(page, encoding="utf-8")
    os.replace(new, given.page)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except (ValueError, OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"update_benchmarks.py: {error}")
