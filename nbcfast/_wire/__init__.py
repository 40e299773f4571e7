"""What is published, as files: their form, and the checks that need nothing but the files.

The modules of this room use the standard library and each other, downward, and run on Python 3.8 and newer.
`tools/amalgamate.py` makes `nbcfast/verify_release.py` of them, the one file that a recipient is handed.
"""
