"""Sums over the attributes, and their tables over two halves of them.

A tuple's score is a sum with a term for each attribute. Its attributes in two halves, each half has few sums,
and pairs of these stand for all tuples without listing them. `terms` are the logarithms in fixed point,
`lines` the sums for two classes, `split` makes the halves, and `codes` goes from numbers of sums to values
and back.
"""
