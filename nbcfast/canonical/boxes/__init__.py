"""Counts to labels: the only place of this room that sees counts.

`box` is the door, `types` has the forms of what it gives. Two classes are decided there, more of them
in `ranked` by `sides` (who wins over whom where), both on domains that `halving` cuts in two. `decided` goes
back from points to the box of what they decide.
"""
