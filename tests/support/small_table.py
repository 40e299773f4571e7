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
{file} (private: what stands here is not for publication)

rows     6
columns  3

column   kind   values   missing   holds           looks like
────────────────────────────────────────────────────────────────
colour   text        3         1   red 4, blue 1   categories
size     int         2         -   1 .. 2          a few numbers
label    text        2         -   b 4, a 2        the class

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

- {uncounted}

What to do
  1  Write a file of values and bins, and check it against the code book.
     nbcfast domain {file} --class label
  2  Or a menu of such domains, of which `advise` finds the best once it is checked.
     nbcfast advise {file} --class label --columns colour,size --write-menu menu.json
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
