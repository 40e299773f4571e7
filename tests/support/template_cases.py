"""Random tables with templates, and what of a disclosure may not depend on how its table is given."""

from fractions import Fraction

from nbcfast import Infeasible
from nbcfast.reference import templates as reference
from nbcfast.templates import disclose

LIMITS = [Fraction(1), Fraction(9, 10), Fraction(3, 4), Fraction(2, 3), Fraction(1, 2), Fraction(1, 3)]


def case(rng):
    """A random table, weights, templates and options."""
    n_rows = rng.randint(1, 30)
    names = "abcd"[: rng.randint(1, 4)]
    table = {name: [rng.randrange(size) for _ in range(n_rows)] for name, size in sizes_of(rng, names)}
    table["s"] = [rng.randrange(3) for _ in range(n_rows)]
    table["t"] = [rng.randrange(2) for _ in range(n_rows)]
    n_classes = rng.choice([1, 2, 2, 3])
    table["y"] = [rng.randrange(n_classes) for _ in range(n_rows)]
    order = rng.sample(list(table), len(table))
    table = {name: table[name] for name in order}
    wanted = []
    for _ in range(rng.randint(1, 4)):
        sensitive = rng.choice("st")
        others = [name for name in table if name != sensitive]
        quasi = tuple(rng.sample(others, rng.randint(1, min(4, len(others)))))
        wanted.append((quasi, (sensitive, rng.choice(table[sensitive])), rng.choice(LIMITS)))
    masked = reference.masked(table, reference.merged(wanted), "y")
    weights = None
    if rng.random() < 0.5:
        scale = rng.choice([1, 1, 1 << 33])
        weights = [rng.randint(1, 5) * scale for _ in range(n_rows)]
    options = {
        "utility": rng.choice(["information", "information", "distortion"]),
        "require_beneficial": rng.random() < 0.6,
        "continuous": [name for name in masked if rng.random() < 0.3],
        "max_steps": rng.choice([None, None, None, 2]),
    }
    return table, weights, wanted, options


def sizes_of(rng, names):
    return [(name, rng.randint(1, 6)) for name in names]


def decoded(table, name):
    domain = table.domain(name)
    return [domain[code] for code in table.codes(name)]


def outcome(table, templates, **options):
    """Everything that may not depend on how the table is given."""
    try:
        found = disclose(table, templates, "y", **options)
    except Infeasible as error:
        return error.best
    steps = [(s.attribute, s.value, s.gain, s.loss, s.score, s.confidences) for s in found.steps]
    return steps, dict(found.confidences), dict(found.suppressed), dict(found.intervals)
