"""What follows the box sees no counts: by signature, by import and by behaviour."""

import ast
import inspect
import itertools
from pathlib import Path

import numpy as np
from canonical_checks import weights

from nbcfast import canonical
from nbcfast._core import dtypes
from nbcfast.canonical import Box, integers, solve
from nbcfast.reference import canonical as reference

# What a module after the box may import besides modules after the box.
PLAIN = {
    *(f"_core.dtypes.{name}" for name in dir(dtypes)),
    "_core.errors.Infeasible",
    "_core.errors.expect",
    "_core.threads.Progress",
    "_core.untyped.Document",
    "_core.untyped.Exact",
    "_wire.messages.short",
    "_core.numbers.Numeral",
    "_core.choices.Attacker",
    "_core.choices.Preserve",
    "_core.numbers.exact",
}


AFTER_THE_BOX = {
    "boxes.decided": {"_rounding.rows.SEARCHED"},
    "boxes.halving": {"_halves.split.MOST_HALF", "_halves.split.TwoHalves", "_halves.split.split"},
    "boxes.sides": {"_classes"},
    "boxes.types": {"_halves.codes.unravelled"},
    "budget": set(),
    # Its views are those that `boxed` is given: counts to be published, and names without any.
    "from_answers": {
        "_rounding.rows.Rounded",
        "_rounding.rows.RowsArgument",
        "_rounding.rows.Short",
        "published.advised.Advised",  # which domain was chosen, and by what: no counts
        "published.certificate.Canonical",
        "published.certificate.Certificate",
        "published.certificate.PublicList",
        "published.release.Release",
        "views.Viewset",
        "views.noise.Noise",  # which noise was asked for: public numbers, no counts and nothing drawn
    },
    "every_way": {"_rounding.apportion.viewset", "_rounding.rows.Rounded"},
    "in_rows": {
        "_rounding.apportion.round_up",
        "_rounding.rows.RowSearch",
        "_rounding.rows.Rounded",
        "_rounding.rows.RowsArgument",
        "_rounding.rows.Short",
        "_rounding.rows.least_rows",
        "_rounding.rows.unsafe",
        "_rounding.nearest.MOST_ROWS",
        "views.Viewset",
    },
    # It makes the counts that are published, and compares these.
    "rounding": {
        "_halves.codes.unravelled",
        "_rounding.apportion.Counted",
        "_rounding.apportion.round_up",
        "_rounding.apportion.viewset",
        "_rounding.rows.SEARCHED",
        "_rounding.rows.longer",
        "_rounding.nearest.Nearest",
        "_rounding.nearest.spread_of",
        "safety",
        "_core.numbers.number_text",
        "views.Viewset",
    },
    "even_values": set(),
    "row_shares": {
        "_rounding.apportion.Counted",
        "_rounding.apportion.apportioned",
        "_rounding.apportion.round_up",
        "_rounding.nearest.spread_of",
    },
    "weights.exact": {"_solve.System"},
    "weights.interior": {"_interior"},
    "weights.levels": {
        "_box.MOST_ATTRIBUTES",
        "_box.Separator",
        "_halves.codes.summed",
        "_margin.dominance",
    },
    "weights.listed": set(),
    "weights.results": set(),
    "weights.scorecard": set(),
    "weights.several": set(),
    "weights.solve": set(),
    "weights.solver": {"_solve.Program"},
    "weights.violated": {"_halves.codes.unravelled"},
}


SEE_VIEWS = {
    "boxes.box",
    "boxes.ranked",
    "arguments",
    "advice.advise",
    "advice.leaf_costs",
    "advice.measured",
    "advice.option_terms",
    "advice.picture",
    "advice.results",
    "advice.search",
    "advice.space",
    "advice.strata_search",
    "advice.votes",
    "advice.walk",
    "by_strata",
    "exchanges",
    "leak",
    "leakage",
    "leave_one_out",
    "limits_of_answers",
    "publish",
    "ratio_intervals",
}


def test_nothing_after_the_box_can_see_counts():
    """By signature, by import and by behaviour."""
    assert list(inspect.signature(solve).parameters) == ["box", "progress"]
    assert list(inspect.signature(integers).parameters) == ["box", "solution", "bits", "within", "progress"]
    assert list(Box.__dataclass_fields__) == ["sizes", "half", "n_classes", "mode", "K", "L"]
    folder = Path(canonical.__file__).parent
    files = {
        ".".join(path.relative_to(folder).with_suffix("").parts): path
        for path in folder.rglob("*.py")
        if path.stem != "__init__"
    }
    assert set(files) == SEE_VIEWS | set(AFTER_THE_BOX)
    for name, allowed in AFTER_THE_BOX.items():
        tree = ast.parse(files[name].read_text(encoding="utf-8"))
        imported = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                assert node.level == 0
                found = {f"{node.module}.{alias.name}" for alias in node.names}
            elif isinstance(node, ast.Import):
                found = {alias.name for alias in node.names}
            else:
                continue
            imported |= {entry.removeprefix("nbcfast.") for entry in found if entry.startswith("nbcfast")}
        own = {entry for entry in imported if entry.startswith("canonical.")}
        seen = [entry.removeprefix("canonical.") for entry in own]
        assert all(any(f"{entry}.".startswith(f"{after}.") for after in AFTER_THE_BOX) for entry in seen), (
            name
        )
        assert imported - own - PLAIN == allowed, name
    # A box that was never counted: label 0 where a + b >= 2, of three values each.
    made = Box((3, 3), (0, 1), 2, "label", np.array([1, 2, 3]), np.array([1, 2, 3]))
    assert made.enumerate().tolist() == [[1, 1, 0], [1, 0, 0], [0, 0, 0]]
    assert weights(solve(made)) == reference.solve(
        {c: int(sum(c) < 2) for c in itertools.product(range(3), repeat=2)}
    )
