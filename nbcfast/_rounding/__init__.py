"""From shares to whole rows that decide alike.

A maker fills in the `request`; `rows` finds the number of rows, `apportion` deals integers in so many by
largest remainder, and `nearest` moves a few where that leaves a tuple out of order.
"""
