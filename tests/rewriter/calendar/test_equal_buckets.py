"""Two times of one bucket in SPARQL, by name and by the call, as what is said of parts of both."""

import re
from datetime import UTC, datetime, timedelta
from math import floor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ontoweir.rewriter.buckets.read_width import read_width
from ontoweir.rewriter.calendar.equal_buckets import equal_buckets
from ontoweir.rewriter.calendar.spell_buckets import name_floors, spell_buckets
from ontoweir.rewriter.model.query import Literal

PREFIX = "PREFIX ow: <urn:ontoweir:> PREFIX : <http://e/> "
XSD = "http://www.w3.org/2001/XMLSchema#"
START = datetime(1996, 2, 20)
PARTS = {
    "SECONDS": lambda t: t.second + t.microsecond / 1_000_000,
    "MINUTES": lambda t: t.minute,
    "HOURS": lambda t: t.hour,
    "DAY": lambda t: t.day,
    "MONTH": lambda t: t.month,
    "YEAR": lambda t: t.year,
}


def call(time: str, width: str) -> str:
    return f'ow:tumble(?{time}, "{width}"^^:duration)'


def evaluate(condition: str, t: datetime, u: datetime) -> bool:
    """What a condition says of two times, in Python."""
    text = re.sub(rf"<{XSD}double>", "float", condition)
    text = re.sub(rf'"P(\d+)D"\^\^<{XSD}dayTimeDuration>', r"timedelta(days=\1)", text)
    text = re.sub(rf'"PT(\d+)S"\^\^<{XSD}dayTimeDuration>', r"timedelta(seconds=\1)", text)
    text = text.replace(" = ", " == ").replace("&&", "and").replace("?", "")
    names = {**PARTS, "FLOOR": floor, "float": float, "timedelta": timedelta, "t": t, "u": u}
    return bool(eval(text, names))  # what the code under test has written


WIDTHS = ("PT1S", "PT20S", "PT1M", "PT15M", "PT1H", "PT6H", "P1D", "P1M", "P3M", "P1Y")


@given(
    st.sampled_from(WIDTHS),
    st.integers(0, 40 * 366 * 86_400),
    st.one_of(st.integers(-100, 100), st.integers(-4_000_000, 4_000_000)),
    st.integers(0, 999_999),
)
def test_equal_buckets_are_equal(width: str, second: int, apart: int, fraction: int) -> None:
    grid = read_width(Literal(width, f"{XSD}duration"), None)
    assert grid is not None
    text = f"{PREFIX}SELECT * {{ FILTER({call('t', width)} = {call('u', width)}) }}"
    condition = equal_buckets(text).removeprefix(f"{PREFIX}SELECT * {{ FILTER(")[:-3]
    t = START + timedelta(seconds=second)
    u = t + timedelta(seconds=apart, microseconds=fraction)
    starts = {grid.start(int(x.replace(tzinfo=UTC).timestamp() * 1_000_000)) for x in (t, u)}
    assert evaluate(condition, t, u) is (len(starts) == 1)


@pytest.mark.parametrize(
    "other", [call("u", "PT2H"), 'ow:tumble(?u, "PT1H"^^:duration, "2020-01-01"^^:date)', "?u"]
)
def test_other_buckets_stay(other: str) -> None:
    text = f"{PREFIX}SELECT * {{ FILTER({call('t', 'PT1H')} = {other}) "
    text += f"BIND({call('z', 'P1D')} AS ?d) }}"
    assert equal_buckets(text) == text


@pytest.mark.parametrize("width", ["PT7M", "P7D", "PT5H", "PT0.5S"])
def test_buckets_that_no_part_tells_stay(width: str) -> None:
    text = f"{PREFIX}SELECT * {{ FILTER({call('t', width)} = {call('u', width)}) }}"
    assert equal_buckets(text) == text


HOUR = 'ow:tumble ( ?t , "PT1H"^^:duration )'


@pytest.mark.parametrize(
    ("said", "spelled"),
    [
        ("FILTER(?g = ?h)", f"FILTER(?g = {HOUR})"),
        (
            "FILTER EXISTS { GRAPH ?u { ?y a :B } FILTER(?g = ?h) }",
            f"FILTER EXISTS {{ GRAPH ?u {{ ?y a :B }} FILTER(?g = {HOUR}) }}",
        ),
    ],
)
def test_a_name_is_spelled_where_it_is_compared(said: str, spelled: str) -> None:
    bind = f"BIND({call('t', 'PT1H')} AS ?h)"
    before = f"{PREFIX}SELECT ?x {{ GRAPH ?t {{ ?x a :A }} "
    assert spell_buckets(f"{before}{bind} {said} }}").split() == f"{before} {spelled} }}".split()
    grouped = f"{before}{bind} {said} }} GROUP BY ?x ?h"
    assert spell_buckets(grouped) == f"{before}{bind} {spelled} }} GROUP BY ?x ?h"


def test_a_name_that_is_shown_within_is_compared() -> None:
    bind = f"BIND({call('t', 'PT1H')} AS ?h)"
    within = "{ SELECT ?h (COUNT(*) AS ?n) { GRAPH ?u { ?y a :B } } "
    within += f"GROUP BY ({call('u', 'PT1H')} AS ?h) }}"
    text = f"{PREFIX}SELECT ?n {{ GRAPH ?t {{ ?x a :A }} @ {within} }}"
    made = spell_buckets(text.replace("@", bind))
    assert made.split() == text.replace("@", f"FILTER({HOUR} = ?h)").split()


@pytest.mark.parametrize("said", ["?x :at ?h .", "BIND(?h AS ?k)", "FILTER(BOUND(?h))"])
def test_a_name_that_is_more_stays(said: str) -> None:
    text = f"{PREFIX}SELECT ?x {{ GRAPH ?t {{ ?x a :A }} BIND({call('t', 'PT1H')} AS ?h) {said} }}"
    assert spell_buckets(text) == text


@pytest.mark.parametrize("head", ["?x ?h", "DISTINCT ?h"])
def test_a_name_that_select_shows_is_shown(head: str) -> None:
    bind = f"BIND({call('t', 'PT1H')} AS ?h)"
    text = f"{PREFIX}SELECT {head} {{ GRAPH ?t {{ ?x a :A }} {bind} }}"
    shown = head.replace("?h", f"({HOUR} AS ?h)")
    made = f"{PREFIX}SELECT {shown} {{ GRAPH ?t {{ ?x a :A }} }}"
    assert spell_buckets(text).split() == made.split()
    for more in ("GROUP BY ?h", "ORDER BY ?h"):
        assert spell_buckets(f"{text} {more}") == f"{text} {more}"


def test_a_floor_of_a_time_is_its_bucket() -> None:
    text = f"{PREFIX}SELECT ?x {{ BIND({call('t', 'PT1H')} AS ?h) "
    text += "FILTER(?h < ow:floor(NOW(), 1)) }"
    assert name_floors(text.replace("ow:tumble", "ow:floor")) == text
