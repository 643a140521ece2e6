"""OPTIONAL whose variable must have no value is NOT EXISTS, and what only looks like it is not."""

import pytest

from ontoweir.rewriter.clauses.name_absence import name_absence

GROUP = "GRAPH ?t { ?r :by ?s }"
LATER = "GRAPH ?u { ?c :by ?s } FILTER(?u > ?t)"


@pytest.mark.parametrize("variable", ["?c", "$c", "?u"])
@pytest.mark.parametrize("bound", ["FILTER(!BOUND({}))", "FILTER ( ! bound({}) ) ."])
def test_it_is_not_exists(variable: str, bound: str) -> None:
    said = bound.format(variable)
    text = f"SELECT ?s\nWHERE {{ {GROUP}\nOPTIONAL {{ {LATER} }}\n{said} }}"
    made = name_absence(text)
    assert made.splitlines()[:3] == [
        "SELECT ?s",
        f"WHERE {{ {GROUP}",
        f"FILTER NOT EXISTS {{ {LATER} }}",
    ]
    assert made.splitlines()[3].replace(".", "").split() == ["}"]


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT ?s {{ {GROUP} OPTIONAL {{ {LATER} }} FILTER(BOUND(?c)) }}",
        f"SELECT ?s {{ {GROUP} OPTIONAL {{ {LATER} }} FILTER(!BOUND(?c) || ?s = 1) }}",
        # the variable is selected, or is in the group too, or may have no value where it matches
        f"SELECT ?s ?c {{ {GROUP} OPTIONAL {{ {LATER} }} FILTER(!BOUND(?c)) }}",
        f"SELECT ?s ?u {{ {GROUP} OPTIONAL {{ {LATER} }} FILTER(!BOUND(?c)) }}",
        f"SELECT * {{ {GROUP} OPTIONAL {{ {LATER} }} FILTER(!BOUND(?c)) }}",
        f"SELECT ?s {{ {GROUP} OPTIONAL {{ {LATER} }} FILTER(!BOUND(?s)) }}",
        f"SELECT ?s {{ {GROUP} OPTIONAL {{ {LATER} }} FILTER(!BOUND(?c)) ?c :by ?r }}",
        f"SELECT ?s {{ {GROUP} OPTIONAL {{ {LATER} }} FILTER(!BOUND(?c) && !BOUND(?c)) }}",
        f"SELECT ?s {{ {GROUP} OPTIONAL {{ {LATER} FILTER(!BOUND(?c)) }} }}",
        f"SELECT ?s {{ {GROUP} OPTIONAL {{ {{ {LATER} }} UNION {{}} }} FILTER(!BOUND(?c)) }}",
        f"SELECT ?s {{ {GROUP} OPTIONAL {{ ?d a :B OPTIONAL {{ {LATER} }} }} FILTER(!BOUND(?c)) }}",
        f"SELECT ?s {{ {GROUP} OPTIONAL {{ ?d a :B FILTER(?c = 1) }} FILTER(!BOUND(?c)) }}",
        f"SELECT ?s {{ {GROUP} OPTIONAL {{ {LATER} }} OPTIONAL {{ ?c a :B }} FILTER(!BOUND(?c)) }}",
    ],
)
def test_it_stays(text: str) -> None:
    assert name_absence(text) == text
