"""Buckets of time that BIND names are those of GROUP BY, where nothing else uses them."""

import pytest

from ontoweir.rewriter.sparql.parse_query import parse_query
from ontoweir.rewriter.syntax.group_binds import group_binds

PREFIXES = (
    "PREFIX : <urn:e#> PREFIX w: <urn:ontoweir:> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>\n"
)
HOUR = 'w:tumble(?t, "PT1H"^^xsd:dayTimeDuration)'


def test_a_bucket_goes_to_its_group_and_all_stays_on_its_line() -> None:
    text = f"""{PREFIXES}SELECT ?s ?h (COUNT(*) AS ?n) {{
        GRAPH ?t {{ ?s a :C }}
        BIND({HOUR} # of an hour
          AS ?h) .
        FILTER(?s != :a)
    }} GROUP BY ?s ?h ORDER BY ?h"""
    found = group_binds(text)
    assert "BIND" not in found
    assert "GROUP BY ?s ( w:tumble ( ?t , " in found
    assert [line.strip()[:6] for line in found.splitlines()][-2:] == ["FILTER", "} GROU"]
    assert len(found.splitlines()) == len(text.splitlines())


@pytest.mark.parametrize("call", [HOUR, HOUR.replace("w:tumble", "<urn:ontoweir:tumble>")])
def test_both_ways_are_one_query(call: str) -> None:
    select = f"{PREFIXES}SELECT ?s ?h (COUNT(*) AS ?n) {{ GRAPH ?t {{ ?s a :C }}"
    bound = parse_query(f"{select} BIND({call} AS ?h) }} GROUP BY ?s ?h", name="q", file="q.rq")
    grouped = parse_query(f"{select} }} GROUP BY ?s ({call} AS ?h)", name="q", file="q.rq")
    assert bound == grouped


COUNTED = "SELECT ?h (COUNT(*) AS ?n) { GRAPH ?t { ?s a :C }"


@pytest.mark.parametrize(
    "text",
    [
        f"{COUNTED} BIND({HOUR} AS ?h) FILTER(?h > 3) }} GROUP BY ?h",
        f"{COUNTED} BIND({HOUR} AS ?h) }} GROUP BY ?s",
        f"{COUNTED} BIND({HOUR} AS ?h) }} GROUP BY ?s HAVING (?h)",
        f"SELECT ?h {{ GRAPH ?t {{ ?s a :C }} BIND({HOUR} AS ?h) }}",
        f"{COUNTED} BIND(?s + 1 AS ?h) }} GROUP BY ?h",
        f"{COUNTED} BIND(:tumble(?t, 1) AS ?h) }} GROUP BY ?h",
        "SELECT ?n { " + COUNTED + f" BIND({HOUR} AS ?h) }} }} GROUP BY ?h",
        f"SELECT ?h {{ BIND({HOUR} AS ?h",
        f"SELECT ?h (COUNT(*) AS ?n) {{ BIND({HOUR} AS ?h) GRAPH ?t {{ ?s a :C }} }} GROUP BY ?h",
    ],
)
def test_other_texts_are_as_they_were(text: str) -> None:
    assert group_binds(PREFIXES + text) == PREFIXES + text
