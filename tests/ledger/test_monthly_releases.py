"""Thirteen monthly releases of Adult: the single meter sees nothing of what they give away together."""

import numpy as np
from ledger_cases import binned_adult, first_rows

import nbcfast
from nbcfast import canonical
from nbcfast.ledger import Ledger


def test_what_thirteen_months_of_adult_give_away_together(data, tmp_path):
    columns, domains = binned_adult(data)
    order = np.random.default_rng(2).permutation(len(columns["income"])).tolist()
    columns = {name: [column[place] for place in order] for name, column in columns.items()}
    ledger, traces, found, alone = Ledger(tmp_path / "book"), [], [], []
    for month in range(13):
        table = first_rows(columns, domains, 20_000 + 1_000 * month)
        views = nbcfast.count(table, "income")
        report = ledger.check(views, table=table, class_name="income", window=(0, month))
        if report.joint is not None:
            traces.append(report.joint.trace)
            assert report.joint.known
        ledger.append(views, f"{month:064x}", window=(0, month))
        if month in (0, 12):
            leak = canonical.leak(views, table=table, class_name="income")
            found.append((leak.found, leak.cells))
            alone.append(leak.trace)
    assert (round(traces[0], 2), round(traces[-1], 2)) == (0.98, 0.45)
    assert min(alone) > 0.97
    assert found == [(1, 32), (1, 32)]
