"""GRAPH ?t over what always holds: at every timestamp of a stream, each once; counted by hand."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from ontoweir.errors import QueryError
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from tests.sparql_counts.case import Branch, Case, Map, Query, Row
from tests.sparql_counts.compare_answers import Equal, Refused, compare_case
from tests.sparql_counts.test_named_counts import S_ID, ask, make_case, read_atom
from tests.sparql_counts.write_case import write_case

ROWS: dict[str, tuple[Row, ...]] = {
    "s": ((0, 1, 1, "x"), (0, 2, 1, "x"), (1, 3, 1, "x")),
    "u": ((2, 9, 9, "x"), (2, 9, 8, "x")),
    "r": ((1, 1, "x"), (1, 2, "x"), (7, 1, "x")),
}
"""Of u nothing is mapped; its timestamp is one that exists."""
BOTH = (Map("s", S_ID, ("A",)), Map("r", S_ID, ("A",), (("v", 'rr:column "m"'),)))
LATER = Query(
    ("?x", "?y"),
    (Branch((read_atom("x a A", "t"), read_atom("y v n", "r")), ("FILTER(?t < ?r)",)),),
)


@pytest.mark.parametrize(
    ("query", "answers"),
    [
        pytest.param(
            ask("?x", "x a A"),
            {("http://e/1",): 3, ("http://e/7",): 3, ("http://e/2",): 1, ("http://e/3",): 1},
            id="a class of a static and a streamed source",
        ),
        pytest.param(
            replace(ask("?x", "x a A"), distinct=True),
            {(f"http://e/{n}",): 1 for n in (1, 2, 3, 7)},
            id="twin: SELECT DISTINCT",
        ),
        pytest.param(
            ask("?x, ?n", "x a A", "x v n"),
            {("http://e/1", "1"): 3, ("http://e/1", "2"): 3, ("http://e/7", "1"): 3},
            id="joined with static triples",
        ),
        pytest.param(ask("COUNT(*) AS ?c", "x a A"), {("8",): 1}, id="counted"),
        pytest.param(ask("SUM(?n) AS ?c", "x v n"), {("12",): 1}, id="static triples alone"),
        pytest.param(
            LATER,
            {
                ("http://e/1", "http://e/1"): 6,
                ("http://e/1", "http://e/7"): 3,
                ("http://e/7", "http://e/1"): 6,
                ("http://e/7", "http://e/7"): 3,
                ("http://e/2", "http://e/1"): 4,
                ("http://e/2", "http://e/7"): 2,
                ("http://e/3", "http://e/1"): 2,
                ("http://e/3", "http://e/7"): 1,
            },
            id="at two times, one after the other",
        ),
        pytest.param(
            ask("?x", "x a A", lines=('FILTER(?t > "2020-01-01T00:00:00"^^xsd:dateTime)',)),
            {("http://e/1",): 2, ("http://e/7",): 2, ("http://e/3",): 1},
            id="at some times",
        ),
    ],
)
@pytest.mark.parametrize("keyed", [False, True])
def test_what_always_holds_is_in_every_graph(
    query: Query, answers: dict[tuple[str, ...], int], keyed: bool, tmp_path: Path
) -> None:
    case = replace(make_case(BOTH, query), rows=ROWS)
    if keyed:
        keys = {"s": (("id",),), "u": (("id", "k"),), "r": (("id", "m"),)}
        case = replace(case, tables=tuple(replace(t, keys=keys[t.name]) for t in case.tables))
    outcome = compare_case(case, tmp_path)
    assert isinstance(outcome, Equal), str(outcome)
    assert outcome.answers == Counter(answers)


def test_facts_are_in_every_graph(tmp_path: Path) -> None:
    case = replace(make_case(BOTH[:1], ask("?x", "x a B")), rows=ROWS, facts=(":8 a :B .",))
    outcome = compare_case(case, tmp_path)
    assert isinstance(outcome, Equal), str(outcome)
    assert outcome.answers == Counter({("http://e/8",): 3})


UNION = Query(
    ("?x",), (Branch((read_atom("x v n", ""),)), Branch((read_atom("x a A", "t"),))), distinct=True
)
"""What always holds, and what holds at timestamps."""


def make_union(*maps: Map, query: Query = UNION, facts: tuple[str, ...] = ()) -> Case:
    return replace(make_case(maps, query), rows=ROWS, facts=facts)


@pytest.mark.parametrize(
    ("case", "answers"),
    [
        pytest.param(make_union(*BOTH), {"1", "2", "3", "7"}, id="static rows"),
        pytest.param(
            make_union(
                BOTH[0],
                query=replace(
                    UNION, branches=(Branch((read_atom("x a B", ""),)), UNION.branches[1])
                ),
                facts=(":8 a :B .",),
            ),
            {"1", "2", "3", "8"},
            id="facts",
        ),
    ],
)
def test_what_always_holds_is_answered_from_the_first_timestamp_on(
    case: Case, answers: set[str], tmp_path: Path
) -> None:
    outcome = compare_case(case, tmp_path)
    assert isinstance(outcome, Equal), str(outcome)
    assert outcome.answers == Counter({(f"http://e/{n}",): 1 for n in answers})


def test_the_greatest_of_what_always_holds_and_of_what_holds_at_times(tmp_path: Path) -> None:
    maps = Map("s", S_ID, ("A",), (("v", 'rr:column "id"'),)), BOTH[1]
    branches = Branch((read_atom("x v n", ""),)), Branch((read_atom("x v n", "t"),))
    case = make_union(*maps, query=Query(("(MAX(?n) AS ?c)",), branches))
    outcome = compare_case(case, tmp_path)
    assert isinstance(outcome, Equal), str(outcome)
    assert outcome.answers == Counter({("3",): 1})


@pytest.mark.parametrize("head", ["?x", "(COUNT(*) AS ?c)"])
def test_what_always_holds_is_not_counted_with_what_holds_at_times(
    head: str, tmp_path: Path
) -> None:
    query = replace(UNION, head=(head,), distinct=False)
    outcome = compare_case(make_union(*BOTH, query=query), tmp_path)
    assert isinstance(outcome, Refused)
    assert "one part of the query always holds" in outcome.reason


def _refusal(case: Case, folder: Path) -> str:
    write_case(replace(case, query=ask("?x", "x a A")), folder)
    with pytest.raises(QueryError) as raised:
        Workspace(load_project(folder, environ={})).compile("q")
    assert raised.value.source is not None
    return str(raised.value)


def test_times_of_different_units(tmp_path: Path) -> None:
    case = make_case(BOTH, LATER)
    first, *others = case.tables
    tables = (replace(first, unit="1 minute"), *others)
    outcome = compare_case(replace(case, tables=tables, rows=ROWS), tmp_path)
    assert isinstance(outcome, Equal), str(outcome)


def test_no_stream_no_time(tmp_path: Path) -> None:
    case = replace(make_case(BOTH[1:], LATER), rows=ROWS)
    alone = replace(case, tables=tuple(t for t in case.tables if not t.stream))
    assert "the project has no stream" in _refusal(alone, tmp_path)
