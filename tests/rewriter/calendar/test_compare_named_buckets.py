"""Buckets of times that are compared with where one begins, and texts that are left."""

import operator
import random
import re
from datetime import UTC, datetime, timedelta

import pytest

from ontoweir.mappings.model.column_types import epoch_us
from ontoweir.mappings.model.time_bucket import CalendarBuckets, FixedBuckets
from ontoweir.rewriter.calendar.compare_named_buckets import compare_named_buckets

XSD = "http://www.w3.org/2001/XMLSchema#"
HEAD = f"PREFIX w: <urn:ontoweir:>\nPREFIX xsd: <{XSD}>\n"
DAY = 'w:tumble(?t, "P1D"^^xsd:dayTimeDuration)'
ROWS = "GRAPH ?t { ?s a :C }"
WITHIN = (
    "{ SELECT ?day (MAX(?v) AS ?most) { GRAPH ?u { ?r :v ?v } } "
    'GROUP BY (w:tumble(?u, "PT24H"^^xsd:dayTimeDuration) AS ?day) }'
)
LIMITS = '(?t >= ?day && ?t < ?day + "P1D"^^xsd:dayTimeDuration)'
OPS = {
    "=": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
GRIDS: dict[str, FixedBuckets | CalendarBuckets] = {
    '"PT1H"^^xsd:dayTimeDuration': FixedBuckets(3_600_000_000),
    '"PT7M"^^xsd:dayTimeDuration, "2026-03-01T00:03:00Z"^^xsd:dateTime': FixedBuckets(
        420_000_000, epoch_us(datetime(2026, 3, 1, 0, 3, tzinfo=UTC)) % 420_000_000
    ),
    '"P1D"^^xsd:dayTimeDuration, "Europe/Berlin"': CalendarBuckets("day", "Europe/Berlin"),
    '"P1M"^^xsd:yearMonthDuration': CalendarBuckets("month"),
    '"P7D"^^xsd:dayTimeDuration, "UTC"': CalendarBuckets("week"),
}


@pytest.mark.parametrize(
    "filter_",
    [f"FILTER({DAY} = ?day)", f"FILTER(?day = {DAY})", f"FILTER(?most > 3 && {DAY}\n= ?day)"],
)
def test_a_bucket_of_a_select_within_is_two_limits(filter_: str) -> None:
    text = f"{HEAD}SELECT ?s ?day {{ {ROWS} {WITHIN} {filter_} }} ORDER BY ?day"
    found = compare_named_buckets(text)
    assert LIMITS in " ".join(found.split()).replace("( ", "(")
    assert found.count("\n") == text.count("\n")
    assert compare_named_buckets(found) == found


def test_another_order_is_one_limit() -> None:
    for op, limit in {
        "<": "?t < ?day",
        ">=": "?t >= ?day",
        "<=": '?t < ?day + "P1D"^^xsd:dayTimeDuration',
        ">": '?t >= ?day + "P1D"^^xsd:dayTimeDuration',
    }.items():
        found = compare_named_buckets(
            f"{HEAD}SELECT ?s {{ {ROWS} {WITHIN} FILTER({DAY}{op}?day) }}"
        )
        assert f"FILTER({limit})" in " ".join(found.split()).replace(" )", ")")


@pytest.mark.parametrize(
    "body",
    [
        f"{ROWS} ?s :day ?day FILTER({DAY} = ?day)",  # of data, it may be any time
        f"{ROWS} {WITHIN} ?s :day ?day FILTER({DAY} = ?day)",
        f"{ROWS} {WITHIN} VALUES ?day {{ 1 }} FILTER({DAY} = ?day)",
        f"{ROWS} {WITHIN} VALUES (?s ?day) {{ (1 2) }} FILTER({DAY} = ?day)",
        f"{ROWS} {WITHIN} BIND(NOW() AS ?day) FILTER({DAY} = ?day)",
        f"{ROWS} {WITHIN} GRAPH ?day {{ ?s a :D }} FILTER({DAY} = ?day)",
        f"{ROWS} {WITHIN} ?s :list (?x ?day) FILTER({DAY} = ?day)",
        f"{ROWS} {WITHIN.replace('PT24H', 'PT12H')} FILTER({DAY} = ?day)",
        f"{ROWS} {WITHIN} {WITHIN.replace('PT24H', 'PT12H')} FILTER({DAY} = ?day)",
        f"{ROWS} {WITHIN.replace('tumble', 'tumbleEnd')} FILTER({DAY} = ?day)",
        f"{ROWS} {WITHIN} FILTER({DAY} != ?day)",
        f"{ROWS} {WITHIN} FILTER({DAY} = ?day + 1)",
        f"{ROWS} {WITHIN} FILTER(!{DAY} = ?day)",
        f"{ROWS} FILTER({DAY} = {DAY.replace('?t', '?u')})",
        f'{ROWS} FILTER({DAY} = "2026-03-01"^^xsd:date)',
        f'{ROWS} FILTER({DAY} = "x"^^xsd:dateTime)',
        f'{ROWS} FILTER({DAY} = "2026-03-01T00:00:00Z")',
        f'{ROWS} FILTER(:tumble(?t, "P1D") = "2026-03-01T00:00:00Z"^^xsd:dateTime)',
    ],
)
def test_other_texts_are_as_they_were(body: str) -> None:
    text = f"{HEAD}SELECT ?s {{ {body} }}"
    assert compare_named_buckets(text) == text


def test_days_of_a_zone_are_no_fixed_time_long() -> None:
    zone = ', "Europe/Berlin")'
    text = f"{HEAD}SELECT ?s {{ {ROWS} {WITHIN} FILTER({DAY} = ?day) }}".replace("Duration)", zone)
    assert compare_named_buckets(text) == text


@pytest.mark.parametrize("seed", range(60))
def test_limits_by_a_constant_are_those_of_the_bucket(seed: int) -> None:
    chance = random.Random(seed)
    written, grid = chance.choice([*GRIDS.items()])
    name, compare = chance.choice([*OPS.items()])
    base = datetime(2026, 3, 28, 20, tzinfo=UTC) + timedelta(minutes=chance.randrange(4000))
    start = grid.start(epoch_us(base))
    constant = chance.choice([start, epoch_us(base), grid.end(start)])
    text = f'{HEAD}SELECT ?s {{ {ROWS} FILTER(w:tumble(?t, {written}) {name} "{_show(constant)}"'
    found = compare_named_buckets(f"{text}^^xsd:dateTime) }}")
    limits = re.findall(r'\?t (<=|<|>=|>) "([^"]*)"', found)
    assert "tumble" not in found
    ends = (start, constant, grid.end(start))
    for time in {end + step for end in ends for step in (-1, 0, 1)} | {epoch_us(base)}:
        kept = all(OPS[op](time, epoch_us(datetime.fromisoformat(limit))) for op, limit in limits)
        assert kept == compare(grid.start(time), constant)


def _show(time_us: int) -> str:
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=time_us)
    return moment.isoformat().replace("+00:00", "Z")
