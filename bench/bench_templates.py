"""Top-down disclosure against the reference and the same algorithm on arrays, the steps compared.

`pytest bench/bench_templates.py` for the clocks. Needs NBCFAST_DATA for the rows of Adult.
"""

import pytest
from against import disclosing_arrays, expanding

from nbcfast.reference import templates as reference
from nbcfast.templates import disclose, violations


def given(n_rows, limit):
    table = expanding.expanded(n_rows)
    if table is None:
        pytest.skip("needs NBCFAST_DATA")
    return table, expanding.large_templates(table, limit)


def pairs(found):
    return [(step.attribute, step.value) for step in found.steps]


@pytest.mark.parametrize("limit", ["9/10", 1])
def bench_disclose(benchmark, limit):
    """A million rows, seven known columns, three sensitive values."""
    table, wanted = given(1_000_000, limit)
    found = benchmark(disclose, table, wanted, "income")
    assert found.complete
    assert violations(found.table, wanted) == []


@pytest.mark.parametrize("way", ["native", "numpy", "pandas"])
def bench_arrays(benchmark, way):
    table, wanted = given(100_000, "9/10")
    expected = pairs(disclose(table, wanted, "income"))
    if way == "native":
        assert pairs(benchmark(disclose, table, wanted, "income")) == expected
    else:
        distinct = getattr(disclosing_arrays, f"distinct_{way}")
        assert benchmark(disclosing_arrays.disclose, table, wanted, "income", distinct) == expected


def reference_input(n_rows):
    table, wanted = given(n_rows, "9/10")
    table = table.select([*expanding.ADULT, "income"])
    plain = {name: [table.domain(name)[code] for code in table.codes(name).tolist()] for name in table.names}
    return table, wanted, plain


@pytest.mark.parametrize("way", ["native", "reference"])
def bench_reference(benchmark, way):
    """A thousand rows: identical steps, bit for bit."""
    table, wanted, plain = reference_input(1_000)
    templates = [(one.quasi, one.sensitive, one.limit) for one in wanted]
    found = disclose(table, wanted, "income", max_steps=5)
    expected = [
        (s.attribute, s.value, s.gain, s.loss, s.score, list(s.confidences.values())) for s in found.steps
    ]
    if way == "native":
        benchmark(disclose, table, wanted, "income", max_steps=5)
        return
    _, steps = benchmark.pedantic(
        reference.disclose, (plain, templates, "income"), {"max_steps": 5}, rounds=1
    )
    assert steps == expected


def bench_many_templates(benchmark):
    """Thirty sets of three to six known columns."""
    table, _ = given(1_000_000, "9/10")
    wanted = expanding.many_templates(table, "9/10")
    found = benchmark(disclose, table, wanted, "income")
    assert violations(found.table, wanted) == []


def bench_violations(benchmark):
    table, wanted = given(1_000_000, "9/10")
    assert benchmark(violations, table, wanted)
