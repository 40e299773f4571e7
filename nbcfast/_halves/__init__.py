"""Sums over the attributes, and their tables over two halves of them."""
