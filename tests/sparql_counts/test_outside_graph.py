"""Patterns outside GRAPH over streams: each case with its answers, counted by hand, and compared
with rdflib's over the merge of all triples so far, at every timestamp."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ontoweir.errors import QueryError
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from tests.sparql_counts.case import Atom, Branch, Case, Map, Query, Row, Table
from tests.sparql_counts.compare_answers import Equal, Refused, compare_case
from tests.sparql_counts.replay_case import prepare_job, replay_case
from tests.sparql_counts.test_named_counts import S_ID, R, S, U, make_case, read_atom
from tests.sparql_counts.write_case import write_case

O_S, O_U = (f'rr:template "http://o/{name}/{{id}}/{{ts}}"' for name in "su")
V, W, T = ("v", 'rr:column "n"'), ("w", 'rr:column "a"'), ("t", 'rr:column "ts"')
OBSERVATIONS = Map("s", O_S, ("A",), (V, W, T))
"""Subjects with the time in them, so that a triple comes at one time only."""
KEYED = (replace(S, keys=(("id",),)), U, R)
"""(id, ts) is a key: a subject is one row."""
LASTING = (replace(S, keys=(("id",),), lasting=True), U, R)
ROWS: tuple[Row, ...] = ((0, 1, 5, "x"), (0, 2, 7, "y"), (1, 1, 5, "x"), (2, 1, 6, "x"))
AFTER = '"2020-01-01T00:05:00"^^xsd:dateTime'


def outside(head: str, *atoms: str, lines: tuple[str, ...] = (), distinct: bool = False) -> Query:
    """A query of patterns outside GRAPH; "x v n @t" is in GRAPH ?t."""
    names = tuple(f"({part})" if " " in part else part for part in head.split(", "))
    group = tuple(n for n in names if n[0] == "?") if any(n[0] == "(" for n in names) else ()
    read: list[Atom] = []
    for text in atoms:
        pattern, _, time = text.partition(" @")
        read.append(read_atom(pattern, time))
    return Query(names, (Branch(tuple(read), lines),), distinct, group)


@pytest.mark.parametrize("tables", [(S, U, R), KEYED], ids=["no key", "a key with the timestamp"])
@pytest.mark.parametrize(
    ("query", "answers"),
    [
        pytest.param(
            outside("?n", "x v n"), {("5",): 2, ("6",): 1, ("7",): 1}, id="each triple once"
        ),
        pytest.param(
            outside("?n, ?a", "x v n", "x w a"),
            {("5", "x"): 2, ("6", "x"): 1, ("7", "y"): 1},
            id="a star",
        ),
        pytest.param(
            outside("?n", "x v n", "x t r", lines=(f"FILTER(?r >= {AFTER})",)),
            {("5",): 1, ("6",): 1},
            id="a time that the mapping binds, with a limit",
        ),
        pytest.param(
            outside(
                "?n, ?m",
                "x v n",
                "x w a",
                "x t r",
                "y v m",
                "y w a",
                "y t q",
                lines=("FILTER(?r < ?q)",),
            ),
            {("5", "5"): 1, ("5", "6"): 2},
            id="one before the other",
        ),
        pytest.param(
            outside(
                "?n, ?m",
                "x v n",
                "x t r",
                "y v m",
                "y t q",
                lines=('FILTER(?q - ?r = "PT10M"^^xsd:dayTimeDuration)',),
            ),
            {("5", "6"): 1, ("7", "6"): 1},
            id="ten minutes apart",
        ),
        pytest.param(
            outside("?n, ?m", "x v n", "x t r", "y v m @t1", lines=("FILTER(?r < ?t1)",)),
            {("5", "5"): 1, ("7", "5"): 1, ("5", "6"): 2, ("7", "6"): 1},
            id="beside GRAPH",
        ),
        pytest.param(
            outside("?a, COUNT(*) AS ?c, MAX(?n) AS ?d", "x v n", "x w a"),
            {("x", "3", "6"): 1, ("y", "1", "7"): 1},
            id="counted",
        ),
        pytest.param(
            outside("?m", "x t r", "y t r", "y v m", "x w a", lines=('FILTER(?a = "y")',)),
            {("5",): 1, ("7",): 1},
            id="at the same time",
        ),
    ],
)
def test_observations(
    tables: tuple[Table, ...],
    query: Query,
    answers: dict[tuple[str, ...], int],
    tmp_path: Path,
) -> None:
    _check(make_case((OBSERVATIONS,), query, tables=tables, s=ROWS), answers, tmp_path)


def _check(case: Case, answers: dict[tuple[str, ...], int], folder: Path) -> None:
    outcome = compare_case(case, folder)
    assert isinstance(outcome, Equal), str(outcome)
    assert outcome.answers == Counter(answers)


PLACES = Map("s", S_ID, ("A",), (V, W))
"""Subjects that come again at other times."""
AGAIN: tuple[Row, ...] = ((0, 1, 5, "x"), (1, 1, 6, "x"), (1, 1, 5, "x"), (2, 2, 5, "y"))


@pytest.mark.parametrize(
    ("query", "answers"),
    [
        pytest.param(
            outside("?n, ?a", "x v n", "x w a", distinct=True),
            {("5", "x"): 1, ("6", "x"): 1, ("5", "y"): 1},
            id="a value and a word of different rows",
        ),
        pytest.param(
            outside("?n, ?m", "x v n", "x v m", distinct=True),
            {("5", "5"): 1, ("6", "6"): 1, ("5", "6"): 1, ("6", "5"): 1},
            id="two values of different times",
        ),
        pytest.param(outside("MAX(?n) AS ?c", "x v n"), {("6",): 1}, id="the greatest"),
    ],
)
def test_what_comes_again_is_a_set(
    query: Query, answers: dict[tuple[str, ...], int], tmp_path: Path
) -> None:
    _check(make_case((PLACES,), query, s=AGAIN), answers, tmp_path)


def test_what_comes_again_is_counted_once(tmp_path: Path) -> None:
    known = (replace(S, ranges=(("id", 0, 3), ("n", 0, 9))), U, R)
    case = make_case((PLACES,), outside("?n", "x v n"), tables=known, s=AGAIN)
    _check(case, {("5",): 2, ("6",): 1}, tmp_path)


@pytest.mark.parametrize("head", ["?n", "COUNT(*) AS ?c"])
def test_what_comes_again_of_any_value_is_remembered_for_ever(head: str, tmp_path: Path) -> None:
    case = make_case((PLACES,), outside(head, "x v n"), s=AGAIN)
    write_case(case, tmp_path)
    workspace = Workspace(load_project(tmp_path, environ={}))
    assert workspace.check(workspace.compile("q")).plans is None


def test_a_key_of_one_timestamp_does_not_help(tmp_path: Path) -> None:
    case = make_case((PLACES,), outside("?n", "x v n"), tables=KEYED, s=AGAIN[:1])
    outcome = compare_case(case, tmp_path)
    assert isinstance(outcome, Refused)


def test_a_key_of_the_whole_stream_does(tmp_path: Path) -> None:
    rows: tuple[Row, ...] = ((0, 1, 5, "x"), (1, 2, 6, "x"), (1, 3, 5, "x"))
    case = make_case((PLACES,), outside("?n", "x v n"), tables=LASTING, s=rows)
    _check(case, {("5",): 2, ("6",): 1}, tmp_path)
    workspace = Workspace(load_project(tmp_path, environ={}))
    rests = [str(d) for d in workspace.check(workspace.compile("q")).declarations]
    assert any("(id)" in text for text in rests), rests


def test_two_maps_that_make_the_same_triple_at_one_time(tmp_path: Path) -> None:
    maps = (
        Map("SELECT id, n, a, ts FROM s WHERE n > 4", O_S, ("A",)),
        Map("SELECT id, n, a, ts FROM s WHERE n < 7", O_S, ("A",), (V,)),
    )
    query = outside("?n", "x a A", "x v n")
    _check(make_case(maps, query, s=ROWS), {("5",): 2, ("6",): 1}, tmp_path)


def test_two_maps_that_make_the_same_triple_at_two_times(tmp_path: Path) -> None:
    maps = (
        Map("s", 'rr:template "http://o/{id}"', ("A",)),
        Map("u", 'rr:template "http://o/{id}"', ("A",)),
    )
    both = (LASTING[0], replace(U, keys=(("id",),), lasting=True), R)
    known = tuple(replace(t, ranges=(("id", 0, 3),)) if t.stream else t for t in both)
    query = outside("COUNT(*) AS ?c", "x a A")
    u: tuple[Row, ...] = ((1, 1, 5, "x"), (2, 3, 5, "x"))
    case = make_case(maps, query, tables=known, s=ROWS[:2], u=u)
    _check(case, {("3",): 1}, tmp_path)


STATIC = Map("r", S_ID, ("A",), (("v", 'rr:column "m"'),))
BOTH = (Map("s", S_ID, ("A",), (V,)), STATIC)


def test_a_predicate_of_static_and_streamed_triples_is_matched_by_both(tmp_path: Path) -> None:
    case = make_case(
        BOTH,
        outside("?n", "x v n", distinct=True),
        s=((1, 1, 5, "x"),),
        u=((0, 1, 1, "x"),),
        r=((7, 9, "x"),),
    )
    _check(case, {("5",): 1, ("9",): 1}, tmp_path)
    warnings: list[str] = []
    Workspace(load_project(tmp_path, environ={}), on_warning=warnings.append).compile("q")
    assert any("statically" in w and "from streams" in w for w in warnings), warnings


def test_static_triples_are_not_counted_again(tmp_path: Path) -> None:
    maps = (
        Map("s", O_S, (), (T, V, ("P", 'rr:template "http://e/{id}"'))),
        Map("r", S_ID, ("A",)),
        Map("s", 'rr:template "http://e/{id}"', ("A",)),
    )
    tables = (LASTING[0], U, R)
    query = outside("?n", "x v n", "x P y", "y a A")
    rows: tuple[Row, ...] = ((0, 1, 5, "x"), (1, 2, 6, "x"))
    case = make_case(maps, query, tables=tables, s=rows, r=((1, 0, "x"), (1, 1, "x")))
    _check(case, {("5",): 1, ("6",): 1}, tmp_path)


def test_a_part_that_always_holds_is_not_counted_with_one_that_does_not(tmp_path: Path) -> None:
    case = make_case(BOTH, outside("?n", "x v n"), tables=LASTING, s=ROWS[:2], r=((7, 9, "x"),))
    outcome = compare_case(case, tmp_path)
    assert isinstance(outcome, Refused)
    assert "always holds" in outcome.reason


@pytest.mark.parametrize(
    ("lines", "word"),
    [
        (('FILTER(?n <= "PT5M"^^xsd:dayTimeDuration)',), "duration"),
        (("FILTER(?r < ?n)",), "used as a time"),
        (("FILTER(?t1 < ?n)",), "used as a time"),
        (('FILTER(?r - ?n < "PT5M"^^xsd:dayTimeDuration)',), "used as a time"),
        (("FILTER(?r > 5)",), "a time with a number"),
    ],
)
def test_what_is_no_time_is_not_compared_as_one(
    lines: tuple[str, ...], word: str, tmp_path: Path
) -> None:
    query = outside("?n", "x v n", "x t r", "y a A @t1", lines=lines)
    case = make_case((OBSERVATIONS,), query, s=ROWS)
    write_case(case, tmp_path)
    outcome = compare_case(case, tmp_path)
    assert isinstance(outcome, Refused)
    assert word in outcome.reason


def test_a_time_as_a_constant(tmp_path: Path) -> None:
    query = Query(
        ("?n",),
        (
            Branch(
                (
                    Atom("", "?x", ("v",), "?n"),
                    Atom("", "?x", ("t",), AFTER),
                )
            ),
        ),
    )
    _check(make_case((OBSERVATIONS,), query, s=ROWS), {("5",): 1}, tmp_path)


def test_an_observation_by_its_name(tmp_path: Path) -> None:
    name = "<http://o/s/1/2020-01-01T00%3A05%3A00>"
    query = Query(("?n",), (Branch((Atom("", name, ("v",), "?n"),)),))
    _check(make_case((OBSERVATIONS,), query, s=ROWS), {("5",): 1}, tmp_path)


def test_what_is_disjoint_at_one_time_may_hold_at_two(tmp_path: Path) -> None:
    maps = (
        Map("SELECT * FROM s WHERE n > 5", S_ID, ("A",)),
        Map("SELECT * FROM s WHERE n < 6", S_ID, ("B",)),
    )
    query = outside("?x", "x a A", "x a B", distinct=True)
    case = make_case(maps, query, s=ROWS, axioms=(":A owl:disjointWith :B .",))
    _check(case, {("http://e/1",): 1}, tmp_path)


def _replay(query: Query, folder: Path, names: list[str], *changes: tuple[str, str]) -> Any:
    """The answers of a query whose text is changed: of each, its row, multiplicity and minute."""
    write_case(make_case((OBSERVATIONS,), query, tables=KEYED, s=ROWS), folder)
    text = (folder / "q.rq").read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (folder / "q.rq").write_text(f"PREFIX ow: <urn:ontoweir:>\n{text}", encoding="utf-8")
    workspace = Workspace(load_project(folder, environ={}))
    compiled = workspace.compile("q")
    found = replay_case(workspace, compiled, prepare_job(workspace, compiled), names)
    return {(*row, n, at.minute) for at, rows in found.items() for row, n in rows.items()}


MOMENTS = [f"2020-01-01T00:{minute:02}:00" for minute in (0, 5, 10)]


def test_a_time_that_the_mapping_binds_is_shown(tmp_path: Path) -> None:
    shown = _replay(outside("?n, ?r", "x v n", "x t r"), tmp_path, ["n", "r"])
    first, second, third = MOMENTS
    assert shown == {
        ("5", first, 1, 0),
        ("7", first, 1, 0),
        ("5", second, 1, 5),
        ("6", third, 1, 10),
    }


def test_a_subject_with_its_time_is_shown(tmp_path: Path) -> None:
    shown = _replay(outside("?x", "x v n", distinct=True), tmp_path, ["x"])
    times = ((1, 0), (2, 0), (1, 5), (1, 10))
    assert shown == {
        (f"http://o/s/{id}/2020-01-01T00%3A{minute:02}%3A00", 1, minute) for id, minute in times
    }


def test_groups_of_a_time_that_the_mapping_binds(tmp_path: Path) -> None:
    shown = _replay(outside("?r, COUNT(*) AS ?c", "x v n", "x t r"), tmp_path, ["r", "c"])
    first, second, third = MOMENTS
    assert shown == {(first, "2", 1, 0), (second, "1", 1, 5), (third, "1", 1, 10)}


def test_the_greatest_of_a_time(tmp_path: Path) -> None:
    shown = _replay(outside("?r, MAX(?n) AS ?c", "x v n", "x t r"), tmp_path, ["r", "c"])
    first, second, third = MOMENTS
    assert shown == {(first, "7", 1, 0), (second, "5", 1, 5), (third, "6", 1, 10)}


def test_the_latest_time(tmp_path: Path) -> None:
    shown = _replay(outside("?a, MAX(?r) AS ?c", "x w a", "x t r"), tmp_path, ["a", "c"])
    assert ("x", MOMENTS[2], 1, 10) in shown


def test_the_minute_of_a_time(tmp_path: Path) -> None:
    query = outside("?n, ?h", "x v n", "x t r", lines=("BIND(MINUTES(?r) AS ?h)",))
    shown = _replay(query, tmp_path, ["n", "h"])
    assert shown == {("5", "0", 1, 0), ("7", "0", 1, 0), ("5", "5", 1, 5), ("6", "10", 1, 10)}


def test_a_sliding_window_ends_what_is_outside_graph(tmp_path: Path) -> None:
    window = 'FILTER(?r > NOW() - "PT10M"^^xsd:dayTimeDuration)'
    query = outside("?n, ?m", "x v n", "x t r", "y v m", lines=(window,))
    shown = _replay(query, tmp_path, ["n", "m"])
    pairs = {(n, m) for n, m, *_ in shown}
    assert ("5", "6") in pairs  # 5 of minute 5, until 15
    assert {at for n, m, _, at in shown if (n, m) == ("7", "6")} == set()  # 7 ended at 10


def test_buckets_of_a_time_that_the_mapping_binds(tmp_path: Path) -> None:
    shown = _replay(
        outside("?n, COUNT(*) AS ?c", "x v n", "x t r"),
        tmp_path,
        ["n", "b", "c"],
        ("GROUP BY ?n", 'GROUP BY ?n (ow:tumble(?r, "PT10M"^^xsd:dayTimeDuration) AS ?b)'),
        ("SELECT ?n", "SELECT ?n ?b"),
    )
    assert shown == {("5", MOMENTS[0], "2", 1, 10), ("7", MOMENTS[0], "1", 1, 10)}


def test_a_bucket_is_of_a_time(tmp_path: Path) -> None:
    with pytest.raises(QueryError, match="used as a time"):
        _replay(
            outside("?a, COUNT(*) AS ?c", "x v n", "x w a"),
            tmp_path,
            ["a", "b", "c"],
            ("GROUP BY ?a", 'GROUP BY ?a (ow:tumble(?n, "PT10M"^^xsd:dayTimeDuration) AS ?b)'),
            ("SELECT ?a", "SELECT ?a ?b"),
        )


@pytest.mark.parametrize("distinct", [False, True])
def test_the_bucket_of_each_solution(distinct: bool, tmp_path: Path) -> None:
    shown = _replay(
        outside("?n", "x v n @t1", distinct=distinct),
        tmp_path,
        ["b", "n"],
        ("?n\n", '(ow:tumble(?t1, "PT10M"^^xsd:dayTimeDuration) AS ?b) ?n\n'),
    )
    first, _, third = MOMENTS
    again = () if distinct else ((first, "5", 1, 5),)
    told = {(first, "5", 1, 0), (first, "7", 1, 0), (third, "6", 1, 10), *again}
    assert shown == told
