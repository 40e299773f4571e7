"""A table whose counts are known by hand, and the command line in a process of its own."""

import os
import subprocess
import sys

# Class a twice, class b four times. X(red, 1) = (2*1/2, 2*2/4) and X(red, 2) = (2*1/2, 2*2/4) are ties;
# blue and the null never occur with a.
CSV = """\
colour,size,weight,label
red,1,1,a
red,2,3,a
red,1,1,b
red,2,1,b
blue,1,2,b
,2,4,b
"""

UNCOUNTED = (
    "Every row counts once, and column 'weight' holds whole numbers: if it says how often a row counts, give "
    "--weights weight; without it nothing said here is right then."
)

SHOWN = """\
{file}

rows                     6
attributes               2
tuples in the domain     6
smallest class           a (2 rows)
zero counts              2 of 10 (value, class) pairs
rows with tied scores    4
tuples with tied scores  2

label   rows   share
────────────────────
a          2   33.3%
b          4   66.7%

attribute   values   zero counts
────────────────────────────────
colour           3             2
size             2             0
"""


def write(folder):
    """The file of the table."""
    path = folder / "small.csv"
    path.write_text(CSV, encoding="utf-8")
    return path


def elsewhere(*arguments, **options):
    """Run the command line in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "nbcfast", *map(str, arguments)],
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        **options,
    )
