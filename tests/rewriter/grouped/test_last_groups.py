"""The latest time of groups inside of a query, as that of rows without later ones."""

import pytest

from ontoweir.rewriter.grouped.last_groups import last_groups

INNER = (
    "SELECT ?d (MAX(?t) AS ?last) { GRAPH ?t { ?o :of ?d } ?d :in ?r FILTER(?r != 1) } GROUP BY ?d"
)
LATER = "?o_other :of ?d } ?d :in ?r_other FILTER ( ?r_other != 1 ) FILTER(?t_other > ?t) }"


def write(text: str | None) -> str:
    return "".join((text or "").split())


def test_there_is_no_later_row_of_the_group() -> None:
    for around in ("SELECT ?d ?last {{ ?d a :D OPTIONAL {{ {0} }} }}", "SELECT ?d {{ {{ {0} }} }}"):
        body, tail = INNER.split("} GROUP BY")
        wanted = f"{body} FILTER NOT EXISTS {{ GRAPH ?t_other {{ {LATER} }} GROUP BY{tail}"
        assert write(last_groups(around.format(INNER))) == write(around.format(wanted))


@pytest.mark.parametrize(
    "inner",
    [
        INNER.replace("MAX(?t)", "MIN(?t)"),
        INNER.replace("MAX(?t)", "MAX(?r)"),
        INNER.replace("(MAX", "(COUNT(*) AS ?n) (MAX"),
        INNER.replace("?d :in ?r", "GRAPH ?u { ?d :in ?r }"),
        INNER.replace("?d :in ?r", "OPTIONAL { ?d :in ?r }"),
        INNER.replace("FILTER(?r != 1)", "FILTER(?t > NOW() - 1)"),
        INNER.replace("FILTER(?r != 1)", "FILTER NOT EXISTS { ?d a :E }"),
        f"{INNER} HAVING (MAX(?t) > 1)",
        INNER.replace(" GROUP BY ?d", "").replace("?d (", "("),
    ],
)
def test_others_stay(inner: str) -> None:
    assert last_groups(f"SELECT * {{ {{ {inner} }} }}") is None
    assert last_groups(INNER) is None
