"""Releases of a window are entered in a ledger, each before it leaves."""

import json

import pytest
from stream_cases import DOMAINS, as_batch

import nbcfast
from nbcfast import canonical, dp
from nbcfast.ledger import Ledger
from nbcfast.streams import Window

PEOPLE = [
    ("cook", 7, "no"),
    ("clerk", 30, "yes"),
    ("clerk", 50, "no"),
    ("cook", 45, "yes"),
    ("cook", 3, "yes"),
]
NO_NULL = {**DOMAINS, "job": ["clerk", "cook"]}


def release(views):
    return canonical.release(views, 4, class_name="ill")


def window_of(n_blocks=2, **options):
    return Window("ill", NO_NULL, by="day", width=10, n_blocks=n_blocks, ahead=50, **options)


def month(window, block, counts):
    people = [person for person, n in zip(PEOPLE, counts, strict=True) for _ in range(n)]
    window.add(as_batch([(10 * block, person) for person in people]))
    window.move(10 * block + 10)


def test_each_release_has_its_line_with_the_blocks_of_its_window(tmp_path):
    ledger = Ledger(tmp_path / "ledger")
    window = window_of()
    for block, counts in enumerate([(30, 20, 9, 9, 1), (3, 20, 9, 30, 9), (30, 2, 30, 9, 9)]):
        month(window, block, counts)
        made = window.publish(release, tmp_path / f"release-{block}", ledger=ledger)
        assert made.why_not is None
        assert made.ledger.releases == block
    lines = ledger.lines
    assert [line.window.text for line in lines] == ["0", "0..10", "10..20"]
    assert [line.state for line in lines] == ["written"] * 3
    assert lines[-1].views == window.views
    document = json.loads((tmp_path / "release-2" / "certificate.json").read_text())
    assert lines[-1].release == document["sha256"]


def test_the_same_answers_are_not_published_again(tmp_path):
    window = window_of(1)
    month(window, 0, (30, 20, 9, 9, 1))
    assert window.publish(release, tmp_path / "one", ledger=tmp_path / "ledger").why_not is None
    month(window, 1, (60, 40, 18, 18, 2))
    again = window.publish(release, tmp_path / "two", ledger=tmp_path / "ledger")
    assert again.release is None
    assert again.why_not == "it has the answers of line 1 of the ledger: there is nothing to publish"
    assert not (tmp_path / "two").exists()
    assert len(Ledger(tmp_path / "ledger").lines) == 1


def test_another_domain_is_refused_and_nothing_is_written(tmp_path):
    window = window_of(1)
    month(window, 0, (30, 20, 9, 9, 1))
    window.publish(release, tmp_path / "one", ledger=tmp_path / "ledger")
    other = window_of(1, attributes=["age"])
    month(other, 1, (30, 20, 9, 30, 1))
    with pytest.raises(nbcfast.Infeasible, match="line 1 of the ledger has also attribute 'job'"):
        other.publish(release, tmp_path / "two", ledger=tmp_path / "ledger")
    assert not (tmp_path / "two").exists()
    assert len(Ledger(tmp_path / "ledger").lines) == 1


def test_a_release_that_could_not_be_saved_is_said_not_to_stand(tmp_path):
    window = window_of(1)
    month(window, 0, (30, 20, 9, 9, 1))
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "mine").write_text("x")
    with pytest.raises(FileExistsError):
        window.publish(release, tmp_path / "one", ledger=tmp_path / "ledger")
    assert [line.state for line in Ledger(tmp_path / "ledger").lines] == ["not written"]
    assert window.publish(release, tmp_path / "two", ledger=tmp_path / "ledger").why_not is None


def test_what_has_no_certificate_is_not_entered(tmp_path):
    window = window_of(1)
    month(window, 0, (30, 20, 9, 9, 1))
    with pytest.raises(TypeError, match="make must give a Release"):
        window.publish(lambda views: views, ledger=tmp_path / "ledger")
    assert not (tmp_path / "ledger").exists()


def test_noise_is_entered_with_its_release_and_adds_up(tmp_path):
    ledger = Ledger(tmp_path / "ledger")
    window = window_of(1)
    for block in range(2):
        month(window, block, (30, 20, 9, 9, 1))
        made = window.publish(lambda views: release(dp.counts(views, epsilon="1/2")), None, ledger=ledger)
        assert made.why_not is None  # the same counts with other noise are another release
    (together,) = made.ledger.spent
    assert (together.epsilon, together.delta) == (1, 0)
    assert [line.noise.mechanism for line in ledger.lines] == ["discrete laplace"] * 2
