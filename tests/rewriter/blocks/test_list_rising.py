"""Which columns of groups are times, by which windows of groups are ordered."""

from dataclasses import replace

import pytest

from ontoweir.errors import QueryError
from ontoweir.mappings.model.preceding import Preceding
from ontoweir.mappings.model.time_bucket import CalendarBuckets, FixedBuckets, TimeBucket
from ontoweir.rewriter.blocks.list_rising import _has_days
from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.rewriter.earlier.test_read_earlier import CATALOG, READING

_HOUR_US = 3_600_000_000
_GROUPS = "(SELECT date_trunc('hour', ts) AS h, sensor, COUNT(*) AS n FROM reading GROUP BY 1, 2)"
_WINDOWS = (
    "LAG(n) OVER (PARTITION BY sensor ORDER BY h)",
    "SUM(n) OVER (PARTITION BY h)",
    "RANK() OVER (PARTITION BY h ORDER BY n)",
)


@pytest.mark.parametrize("window", _WINDOWS)
@pytest.mark.parametrize("step_us", [_HOUR_US // 60, _HOUR_US, 2 * _HOUR_US, 24 * _HOUR_US])
def test_buckets_that_are_final_together_are_no_times(step_us: int, window: str) -> None:
    """Rows of one time would be of several hours."""
    streams = {**CATALOG.streams, "reading": replace(READING, step_us=step_us)}
    catalog = replace(CATALOG, streams=streams)
    text = f"SELECT h, sensor, {window} AS w FROM {_GROUPS} AS x WHERE sensor IS NOT NULL"
    if step_us > _HOUR_US:
        with pytest.raises(QueryError, match="is outside what is read of windows of rows"):
            parse_sql(text, catalog, name="q", file="q.sql")
        return
    union = parse_sql(text, catalog, name="q", file="q.sql")
    assert any(isinstance(block.meeting, Preceding) for block in union.blocks)


def test_days_on_which_one_bucket_begins() -> None:
    def has_days(buckets: FixedBuckets | CalendarBuckets) -> bool:
        return _has_days(TimeBucket(buckets))

    assert has_days(FixedBuckets(24 * _HOUR_US))
    assert not has_days(FixedBuckets(23 * _HOUR_US))
    assert has_days(CalendarBuckets("day"))
    # 30 March 2014 begins there at 00:00 UTC, and the 31st at 23:00 UTC
    assert not has_days(CalendarBuckets("day", "Europe/London"))
