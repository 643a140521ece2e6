"""SUM, AVG, MIN and MAX of what VALUES, a constant of a mapping, or a fact binds."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from tests.sparql_counts.case import Map, Query
from tests.sparql_counts.compare_answers import Equal, Refused, compare_case
from tests.sparql_counts.test_named_counts import S_ID, V_N, W_N, ask, make_case

HEAD = "?x, SUM(?n) AS ?s, AVG(?n) AS ?a, MIN(?n) AS ?l, MAX(?n) AS ?h, COUNT(*) AS ?c"
FIVE, HALF = ("v", 'rr:constant "5"^^xsd:integer'), ("v", 'rr:constant "0.5"^^xsd:decimal')
ROWS = ((0, 1, 1, "x"), (0, 1, 2, "x"), (1, 1, 2, "x"), (1, 2, 3, "y"))
X1, X2 = "http://e/1", "http://e/2"


@pytest.mark.parametrize(
    ("objects", "query", "answers"),
    [
        pytest.param(
            (V_N,),
            ask(HEAD, "x v n", lines=("VALUES ?n { 1 2 1 }",)),
            {(X1, "6", "1.5", "1", "2", "4"): 1},
            id="VALUES",
        ),
        pytest.param(
            (V_N,),
            ask(HEAD, "x v m", lines=("VALUES ?n { 1 2.5 }",)),
            {(X1, "10.5", "1.75", "1", "2.5", "6"): 1, (X2, "3.5", "1.75", "1", "2.5", "2"): 1},
            id="VALUES of a variable of its own, of two types",
        ),
        pytest.param(
            (FIVE, V_N, HALF),
            ask(HEAD, "x v n"),
            {
                (X1, "16", "2.285714286", "0.5", "5", "7"): 1,
                (X2, "8.5", "2.833333333", "0.5", "5", "3"): 1,
            },
            id="constants of mappings, beside a column",
        ),
        pytest.param(
            (FIVE,),
            ask("SUM(?n) AS ?s, MAX(?m) AS ?h", "x v n", lines=("BIND(7 AS ?m)",)),
            {("15", "7"): 1},
            id="BIND",
        ),
    ],
)
def test_constants_are_aggregated(
    objects: tuple[tuple[str, str], ...],
    query: Query,
    answers: dict[tuple[str, ...], int],
    tmp_path: Path,
) -> None:
    made = replace(make_case((Map("s", S_ID, (), objects),), query), rows={"s": ROWS})
    case = replace(made, tables=made.tables[:1])
    outcome = compare_case(case, tmp_path)
    assert isinstance(outcome, Equal), str(outcome)
    assert outcome.answers == Counter(answers)


def test_facts_are_aggregated(tmp_path: Path) -> None:
    case = make_case((Map("s", S_ID, (), (V_N,)),), ask("SUM(?n) AS ?s", "x v n"), s=ROWS)
    outcome = compare_case(replace(case, facts=(":1 :v 40 .", ":2 :v 3 .")), tmp_path)
    assert isinstance(outcome, Equal), str(outcome)
    assert outcome.answers == Counter({("91",): 1})  # 1, 2, and 2; at both times 40 and 3


@pytest.mark.parametrize("function", ["SUM", "MAX"])
@pytest.mark.parametrize("number", ["99999999999999999999", "0.00000000000000000001"])
def test_constants_that_64_bits_do_not_hold_are_refused(
    function: str, number: str, tmp_path: Path
) -> None:
    query = ask(f"{function}(?n) AS ?s", "x v m", lines=(f"VALUES ?n {{ {number} }}",))
    outcome = compare_case(make_case((Map("s", S_ID, (), (V_N,)),), query, s=ROWS), tmp_path)
    assert isinstance(outcome, Refused)
    assert outcome.reason == f"the constant {number} is aggregated"


def test_the_largest_of_64_bits_is_aggregated(tmp_path: Path) -> None:
    query = ask("MAX(?n) AS ?s", "x v m", lines=("VALUES ?n { 9223372036854775807 }",))
    outcome = compare_case(make_case((Map("s", S_ID, (), (V_N,)),), query, s=ROWS), tmp_path)
    assert isinstance(outcome, Equal), str(outcome)
    assert outcome.answers == Counter({("9223372036854775807",): 1})


def test_a_text_is_a_constant_of_one_map_and_a_column_of_another(tmp_path: Path) -> None:
    maps = (Map("s", S_ID, (), (("v", 'rr:constant "high"'), ("v", 'rr:column "a"'), W_N)),)
    query = ask("?x, ?n", "x v n", lines=("OPTIONAL { GRAPH ?t { ?x :w ?u FILTER(?u > 2) } }",))
    outcome = compare_case(make_case(maps, query, s=ROWS), tmp_path)
    assert isinstance(outcome, Equal), str(outcome)
    assert outcome.answers.total() == 6
