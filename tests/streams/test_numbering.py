"""Which block a row lies in: dates, moments of every unit, months, integers."""

from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbcfast.streams import Window
from nbcfast.streams.numbering import numbering, tick_of

DOMAINS = {"ill": ["no", "yes"]}
moments = st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31))


def blocks_of(times, **options):
    """The block of each row, counted one by one."""
    result = []
    for place in range(len(times)):
        window = Window("ill", DOMAINS, by="t", **options)
        window.add(pa.record_batch({"t": times.slice(place, 1), "ill": ["no"]}))
        result.extend(window.blocks)
    return result


@given(st.lists(moments, min_size=1, max_size=5))
def test_months_and_days_are_those_of_the_calendar(times):
    column = pa.array(times, pa.timestamp("us"))
    assert blocks_of(column, width="month") == [12 * (t.year - 1970) + t.month - 1 for t in times]
    assert blocks_of(column, width="year") == [t.year - 1970 for t in times]
    assert blocks_of(column, width="day") == [(t.date() - datetime(1970, 1, 1).date()).days for t in times]
    # Weeks begin on Mondays.
    assert blocks_of(column, width="week") == [
        (t.date() - timedelta(t.weekday()) - datetime(1970, 1, 5).date()).days // 7 for t in times
    ]


@given(st.datetimes(datetime(1700, 1, 1), datetime(2200, 1, 1)), st.sampled_from(["s", "ms", "us", "ns"]))
def test_a_moment_lies_in_the_same_block_in_every_unit_and_as_text(time, unit):
    time = time.replace(microsecond=0)
    column = pa.array([time], pa.timestamp("us")).cast(pa.timestamp(unit))
    texts = pa.array([time.isoformat()])
    options = {"width": "7 hours", "origin": "2020-03-01T05:00"}
    assert blocks_of(column, **options) == blocks_of(texts, **options)
    expected = (time - datetime(2020, 3, 1, 5)) // timedelta(hours=7)
    assert blocks_of(column, **options) == [expected]
    assert blocks_of(column, width=timedelta(hours=7), origin="2020-03-01T05:00") == [expected]


def test_zones_are_taken_in_utc_and_not_mixed():
    zoned = pa.array([datetime(2026, 1, 1, 23, tzinfo=UTC)], pa.timestamp("us", "America/New_York"))
    texts = pa.array(["2026-01-02T00:30:00+01:30", "2026-01-01T18:00:00-05:00", "2026-01-01T23:00:00Z"])
    day = (datetime(2026, 1, 1) - datetime(1970, 1, 1)).days
    assert blocks_of(zoned, width="day") == [day]
    assert blocks_of(texts, width="day") == [day] * 3
    window = Window("ill", DOMAINS, by="t", width="day")
    window.add(pa.record_batch({"t": zoned, "ill": ["no"]}))
    with pytest.raises(ValueError, match="column 't': times had a zone before, and now have none"):
        window.add({"t": ["2026-01-02"], "ill": ["no"]})
    with pytest.raises(ValueError, match="times that all have a zone, or none"):
        Window("ill", DOMAINS, by="t", width="day").add(
            {"t": ["2026-01-02", "2026-01-02T00:00Z"], "ill": ["no", "no"]}
        )


@pytest.mark.parametrize("type_", [pa.date32(), pa.date64()])
def test_dates_of_arrow(type_):
    days = pa.array([-1, 0, 20_454], pa.int32()).cast(pa.date32()).cast(type_)
    assert blocks_of(days, width="day") == [-1, 0, 20_454]
    assert blocks_of(days, width="month") == [-1, 0, 672]
    assert blocks_of(days, width="3 months", origin="2026-01") == [-225, -224, 0]


@given(st.integers(-(2**61), 2**61), st.integers(1, 2**60), st.integers(-(2**61), 2**61))
def test_integers(number, width, origin):
    assert blocks_of(pa.array([number]), width=width, origin=origin) == [(number - origin) // width]


def test_beginnings_are_told():
    assert Window("ill", DOMAINS, rows=50).begins(3) == 150
    assert numbering(10, 3).begins(-1) == -7
    assert numbering("week", None).begins(0) == "1970-01-05"
    assert numbering("6 hours", None).begins(1) == "1970-01-01T06:00:00"
    assert numbering("2 months", "2026-02").begins(1) == "2026-04-01"
    assert numbering(timedelta(milliseconds=1), None).begins(1) == "1970-01-01T00:00:00.001000"


@pytest.mark.parametrize(
    ("width", "origin", "error", "why"),
    [
        ("fortnight", None, ValueError, "width must be a width such as 3600 .* got 'fortnight'"),
        ("0 days", None, ValueError, "got '0 days'"),
        (0, None, ValueError, "width must be 1..2"),
        (1.5, None, TypeError, "got 1.5"),
        (True, None, TypeError, "got True"),
        (timedelta(0), None, ValueError, "a microsecond"),
        (5, "2026-01-01", TypeError, "origin must be an int"),
        ("day", 5, ValueError, "origin: expected a date or a moment"),
        ("month", "2026-01-02", ValueError, "origin must be the first moment of a month"),
        ("day", "2026-02-30", ValueError, "origin: '2026-02-30' is no date"),
        ("day", "2026-02-03T25:00", ValueError, "is no time of a day"),
    ],
)
def test_wrong_widths_are_named(width, origin, error, why):
    with pytest.raises(error, match=why):
        Window("ill", DOMAINS, by="t", width=width, origin=origin)


@pytest.mark.parametrize(
    ("times", "width", "error", "why"),
    [
        ([None], "day", ValueError, "column 't': expected a time in every row, got null in row 0"),
        (["soon"], "day", ValueError, "column 't': expected a date or a moment .* got 'soon'"),
        (["2026-01-01"], 5, TypeError, "column 't': expected integers, as width is one, got '2026-01-01'"),
        ([1.5], 5, TypeError, "column 't': expected integers"),
        ([True], 5, TypeError, "column 't': expected integers"),
        ([5], "day", ValueError, "column 't': expected a date or a moment .* got 5"),
        ([2**62], 5, ValueError, "column 't': expected integers within 2.61 of 0, got 4611686018427387904"),
    ],
)
@pytest.mark.parametrize("form", [dict, pa.table])
def test_wrong_times_are_named(times, width, error, why, form):
    window = Window("ill", DOMAINS, by="t", width=width)
    with pytest.raises(error, match=why):
        window.add(form({"t": times, "ill": ["no"] * len(times)}))


def test_dates_that_are_too_far_are_refused():
    days = pa.array([2**31 - 1], pa.int32()).cast(pa.date32())
    with pytest.raises(ValueError, match="column 't': expected times within"):
        Window("ill", DOMAINS, by="t", width="day").add(pa.record_batch({"t": days, "ill": ["no"]}))


def test_integers_of_a_file_of_text(tmp_path):
    (tmp_path / "a.csv").write_text("t,ill\n3,no\n17,yes\n")
    window = Window("ill", DOMAINS, by="t", width=10)
    window.add(tmp_path / "a.csv")
    assert [*window.blocks] == [0, 1]
    (tmp_path / "b.csv").write_text("t,ill\nx,no\n")
    with pytest.raises(TypeError, match="column 't': expected integers, as width is one, got 'x'"):
        window.add(tmp_path / "b.csv")


def test_fractions_are_cut_downwards():
    assert tick_of("1969-12-31T23:59:59.9999999", "t") == (-1, False)
    assert tick_of("1970-01-01 00:00:00.1", "t") == (100_000, False)
