"""Tables that the tests of counting draw, and forms in which views are compared."""

import subprocess
import sys
import textwrap

import nbcfast
from nbcfast import Table


def counted(columns, weights=None, **options):
    return nbcfast.count(Table(columns, weights=weights), "y", **options)


def in_a_process(script):
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()
