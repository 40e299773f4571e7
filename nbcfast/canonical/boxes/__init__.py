"""Counts to labels: the only place of this room that sees counts."""
