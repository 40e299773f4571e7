"""Tables, views and worlds that several tests of associations look at."""

import random

MODELS = ["unrestricted", "restricted"]
FIGURE_1 = {
    "name": ["George", "John", "Kate", "Bill", "Alan"],
    "age": [45, 45, 45, 30, 27],
    "job": ["Manager", "Manager", "Lawyer", "Lawyer", "Clerk"],
    "problem": ["HIV", "Cold", "Obesity", "Cold", "Cold"],
}
VIEWS_1 = [("name", "age"), ("age", "problem")]
TWO_JOINS = {"who": ["i", "x", "i", "y"], "key": [1, 1, 2, 2], "what": ["p", "q", "p", "r"]}
TWO_VIEWS = [("who", "key"), ("key", "what")]


def columns(rows):
    return {name: [row[name] for row in rows] for name in rows[0]}


CYCLE = [("i", "a"), ("a", "b"), ("b", "p"), ("p", "c"), ("c", "i")]


def random_table(seed, n_rows, n_values, names="iabcxp"):
    rng = random.Random(seed)
    return {name: [rng.randrange(n_values) for _ in range(n_rows)] for name in names}
