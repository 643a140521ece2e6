"""Groups by a row, inside of a query, as by its time, too."""

import pytest

from ontoweir.rewriter.grouped.time_groups import RowGroups, time_groups

INNER = "SELECT ?l (COUNT(*) AS ?n) { GRAPH ?s { ?l :of ?d } GRAPH ?t { ?f :of ?d } } GROUP BY ?l"
TIMED = (
    "SELECT ?s ?l (COUNT(*) AS ?n) { GRAPH ?s { ?l :of ?d } GRAPH ?t { ?f :of ?d } } GROUP BY ?l ?s"
)


def is_login(groups: RowGroups) -> bool:
    assert groups.keys == ("?l",)
    assert groups.pattern.startswith("SELECT ?l ?")
    return groups.time == "?s"


@pytest.mark.parametrize(
    ("around", "tail"),
    [
        ("SELECT ?n {{ {{ {0} }} }}", ""),
        ("SELECT (MAX(?n) AS ?m) {{ {{ {0} }} }}", " HAVING (COUNT(*) > 1)"),
        ("SELECT ?n ?k {{ {{ {0} }} GRAPH ?u {{ ?l :by ?k }} }}", ""),
    ],
)
def test_their_time_is_grouped_by_and_shown(around: str, tail: str) -> None:
    assert time_groups(around.format(INNER + tail), is_login) == around.format(TIMED + tail)


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT ?n {{ {{ {INNER.replace('GROUP BY ?l', 'GROUP BY ?d')} }} }}",  # no node
        f"SELECT * {{ {{ {INNER} }} }}",  # it would be shown
        f"SELECT ?n {{ {{ {INNER} }} GRAPH ?s {{ ?x :of ?y }} }}",  # which is another time
        f"SELECT ?n {{ {{ {INNER} }} FILTER(?n > 1 && NOW() > 1) }}",
        f"SELECT ?n {{ {{ {INNER.replace('SELECT ?l', 'SELECT DISTINCT ?l')} }} }}",
        f"SELECT ?n {{ {{ {INNER} (ow:tumble(?t, 1) AS ?w) }} }}",
        INNER,
    ],
)
def test_others_stay(text: str) -> None:
    assert time_groups(text, lambda _: True) is None


def test_nothing_is_changed_where_they_are_of_several_times() -> None:
    assert time_groups(f"SELECT ?n {{ {{ {INNER} }} }}", lambda _: False) is None
