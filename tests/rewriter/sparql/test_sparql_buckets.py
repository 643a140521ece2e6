"""Buckets of time in SPARQL: what is read, what is refused, and where."""

from dataclasses import replace

import pytest

from ontoweir.errors import QueryError
from ontoweir.mappings.model.sliding_buckets import SlidingBuckets
from ontoweir.mappings.model.time_bucket import (
    CalendarBuckets,
    FixedBuckets,
    TimeBucket,
    slide_panes,
)
from ontoweir.rewriter.model.query import ConjunctiveQuery
from ontoweir.rewriter.sparql.parse_query import parse_query
from ontoweir.rewriter.ucq.find_homomorphism import contains_query
from ontoweir.rewriter.ucq.find_tree_witnesses import free_variables

HOUR = 3_600_000_000
HEAD = """PREFIX : <http://x/> PREFIX ow: <urn:ontoweir:>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
"""
GRAPH = "GRAPH ?t { ?d :p ?v }"


def read(group: str, pattern: str = GRAPH, head: str = "?b") -> ConjunctiveQuery:
    text = f"{HEAD}SELECT ?d {head} (COUNT(*) AS ?n) {{ {pattern} }}\nGROUP BY ?d {group}"
    return parse_query(text, name="q", file="q.rq")[0]


@pytest.mark.parametrize(
    ("call", "bucket"),
    [
        ('ow:tumble(?t, "PT1H"^^xsd:dayTimeDuration)', TimeBucket(FixedBuckets(HOUR))),
        (
            'ow:tumbleEnd(?t, "PT1H"^^xsd:dayTimeDuration)',
            TimeBucket(FixedBuckets(HOUR), ends=True),
        ),
        (
            'ow:tumble(?t, "PT1H"^^xsd:dayTimeDuration, "2020-01-01T00:10:00Z"^^xsd:dateTime)',
            TimeBucket(FixedBuckets(HOUR, HOUR // 6)),
        ),
        (
            'ow:tumble(?t, "P1D"^^xsd:dayTimeDuration, "Europe/Berlin")',
            TimeBucket(CalendarBuckets("day", "Europe/Berlin")),
        ),
        ('ow:tumble(?t, "P1M"^^xsd:yearMonthDuration)', TimeBucket(CalendarBuckets("month"))),
        (
            'ow:hop(?t, "PT5M"^^xsd:dayTimeDuration, "PT1H"^^xsd:dayTimeDuration)',
            slide_panes(SlidingBuckets(HOUR, HOUR // 12)),
        ),
        (
            (
                'ow:cumulateEnd(?t, "PT5M"^^xsd:dayTimeDuration, "PT1H"^^xsd:dayTimeDuration, '
                '"2020-01-01T00:10:00Z"^^xsd:dateTime)'
            ),
            slide_panes(SlidingBuckets(HOUR, HOUR // 12, HOUR // 6, grows=True), ends=True),
        ),
    ],
)
def test_each_writing(call: str, bucket: TimeBucket) -> None:
    query = read(f"({call} AS ?b)")
    (named,) = query.buckets
    assert (named.name, named.time.name, named.bucket) == ("b", "t", bucket)
    assert [v.name for v in query.head] == ["d"]
    assert query.aggregation is not None
    assert query.aggregation.group == ("d", "b")


HOURLY = 'ow:tumble(?t, "PT1H"^^xsd:dayTimeDuration)'


@pytest.mark.parametrize(
    ("group", "pattern", "what"),
    [
        (HOURLY, GRAPH, "GROUP BY a function without a name"),
        ("(:f(?t) AS ?b)", GRAPH, "GROUP BY <http://x/f>"),
        ('(ow:tumble(?z, "PT1H"^^xsd:dayTimeDuration) AS ?b)', GRAPH, "?z is not a time"),
        ("(ow:tumble(?t) AS ?b)", GRAPH, "without a time and a width"),
        ('(ow:tumble(?t, "soon") AS ?b)', GRAPH, "the width soon"),
        ('(ow:tumble(?t, "PT1H"^^xsd:dayTimeDuration, "Berlin") AS ?b)', GRAPH, "the width PT1H"),
        (f"({HOURLY} AS ?v)", GRAPH, "?v names a bucket of time and is in a pattern"),
        (
            f"({HOURLY} AS ?b)",
            f"{{ {GRAPH} }} UNION {{ GRAPH ?u {{ ?d :p ?v }} }}",
            "a branch of the query has no ?t",
        ),
    ],
)
def test_what_is_refused(group: str, pattern: str, what: str) -> None:
    with pytest.raises(QueryError) as error:
        read(group, pattern, "?v" if "AS ?v" in group else "?b")
    assert what in error.value.what
    assert error.value.source is not None
    assert error.value.source.line == 4


def test_the_time_of_a_bucket_is_mapped_onto_itself() -> None:
    """Two rewritings that differ in which time has which pattern are both needed."""

    def ask(first: str, second: str) -> ConjunctiveQuery:
        near = '?u - ?t <= "PT1M"^^xsd:dayTimeDuration && ?t - ?u <= "PT1M"^^xsd:dayTimeDuration'
        pattern = f"GRAPH ?t {{ ?d a :{first} }} GRAPH ?u {{ ?d a :{second} }} FILTER({near})"
        return read(f"({HOURLY} AS ?b)", pattern)

    one, other = ask("A", "B"), ask("B", "A")
    assert contains_query(replace(one, buckets=()), replace(other, buckets=()))
    assert not contains_query(one, other)
    assert contains_query(one, one)
    assert free_variables(one) >= {one.buckets[0].time}


SESSION = 'ow:session(?t, "PT30M"^^xsd:dayTimeDuration)'


def test_sessions_begin_with_their_first_row() -> None:
    made = read(f"({SESSION} AS ?b)").aggregation
    assert made is not None
    assert made.session_us == HOUR // 2
    assert made.group == ("d",)
    assert made.columns == ("d", "b", "n")
    assert [str(a) for a in made.aggregates] == ["MIN(?t)", "COUNT(*)"]


@pytest.mark.parametrize(
    ("group", "what"),
    [
        (SESSION, "without the time of a GRAPH, a gap and a name"),
        ("(ow:session(?t) AS ?b)", "without the time of a GRAPH, a gap and a name"),
        ('(ow:session(?v, "PT1H"^^xsd:dayTimeDuration) AS ?b)', "without the time of a GRAPH"),
        ('(ow:session(?t, "PT0S"^^xsd:dayTimeDuration) AS ?b)', "without the time of a GRAPH"),
        (f"({SESSION} AS ?b) ({SESSION} AS ?c)", "two kinds of sessions"),
    ],
)
def test_sessions_that_are_refused(group: str, what: str) -> None:
    with pytest.raises(QueryError) as error:
        read(group)
    assert what in error.value.what
