"""What is published, as files: their form, and the checks that need nothing but the files.

The modules of this room use the standard library and each other, downward, and run on Python 3.8 and newer.
`tools/amalgamate.py` makes of them `nbcfast/verify_release.py`, the one file that a recipient is handed, and
`nbcfast/response/device.py`, that of a respondent.
"""
