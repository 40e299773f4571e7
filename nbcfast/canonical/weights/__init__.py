"""Labels to weights, and weights to points that people can add up.

`solve` chooses: `solver` finds weights by demands that an oracle knows, which is in `levels` for a box and in
`listed` for a list of tuples, and `exact` ends in integers. `several` does so for more than two classes, with
the demands of `violated`, and `interior` where unknowns are many. `scorecard` makes points of weights. All of
it is handed over as `results`.
"""
