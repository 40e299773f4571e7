"""A search that is stopped early leaves a safe table."""

import numpy as np
import pytest

from nbcfast import SUPPRESSED
from nbcfast.templates import disclose, distinct_rows, violations


def test_every_prefix_of_the_steps_is_safe(large):
    table, wanted = large
    whole = disclose(table, wanted, "y")
    assert whole.complete
    assert len(whole.steps) > 4
    for n in range(len(whole.steps)):
        part = disclose(table, wanted, "y", max_steps=n)
        assert part.steps == whole.steps[:n]
        assert not part.complete
        assert violations(part.table, wanted) == []
    calls = []

    def stop(done, most):
        calls.append((done, most))
        return done < 3

    part = disclose(table, wanted, "y", progress=stop)
    assert calls == [(0, 18), (1, 18), (2, 18), (3, 18)]
    assert (part.steps, part.complete) == (whole.steps[:3], False)


def test_ctrl_c_leaves_a_safe_table(large):
    table, wanted = large

    def interrupt(done, most):
        if done == 2:
            raise KeyboardInterrupt

    found = disclose(table, wanted, "y", progress=interrupt)
    assert (len(found.steps), found.complete) == (2, False)
    assert violations(found.table, wanted) == []
    assert "stopped" in repr(found)


@pytest.mark.parametrize("say", [lambda done: False, lambda done: np.False_])
def test_progress_may_stop_before_the_first_step(large, say):
    table, wanted = large
    found = disclose(table, wanted, "y", progress=lambda done, most: say(done))
    assert (found.steps, found.complete) == ((), False)
    assert violations(found.table, wanted) == []
    assert set(found.table.domain("a")) == {SUPPRESSED}


def test_ctrl_c_before_the_first_step(large, monkeypatch):
    """Once it is known that the templates can hold there is a table; before, nobody can tell."""
    table, wanted = large

    def interrupt(*_):
        raise KeyboardInterrupt

    found = disclose(table, wanted, "y", progress=interrupt)
    assert (found.steps, found.complete) == ((), False)
    assert violations(found.table, wanted) == []
    monkeypatch.setattr(distinct_rows._disclose, "distinct", interrupt)
    monkeypatch.setattr(distinct_rows._disclose, "tally", interrupt)
    with pytest.raises(KeyboardInterrupt):
        disclose(table, wanted, "y")
