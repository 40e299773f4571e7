"""`python -m nbcfast` is the command `nbcfast`."""

from nbcfast.cli import main

main()
