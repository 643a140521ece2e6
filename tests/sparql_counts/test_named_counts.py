"""What is counted where a row is not a triple: each case with its answers, counted by hand."""

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from ontoweir.errors import QueryError
from ontoweir.pipeline.pipeline import CompiledQuery, Workspace
from ontoweir.project.project import load_project
from tests.sparql_counts.ask_rdflib import Answers
from tests.sparql_counts.case import Atom, Branch, Case, Map, Query, Row, Table
from tests.sparql_counts.compare_answers import Equal, Refused, compare_case
from tests.sparql_counts.write_case import write_case, write_query

S = Table("s", (("id", "int"), ("n", "int"), ("a", "string")), stream=True)
U = Table("u", (("id", "int"), ("k", "int"), ("b", "string")), stream=True)
R = Table("r", (("id", "int"), ("m", "int"), ("c", "string")), stream=False)
S_ID, S_N = 'rr:template "http://e/{id}"', 'rr:template "http://e/{n}"'
V_N, W_A = ("v", 'rr:column "n"'), ("w", 'rr:column "a"')


@dataclass(frozen=True, slots=True)
class Named:
    """A case, and its answers at the end, counted by hand."""

    case: Case
    answers: dict[tuple[str, ...], int]


W_N = ("w", 'rr:column "n"')
W_EN = ("w", 'rr:column "a" ; rr:language "en"')
W_DECIMAL = ("w", 'rr:column "n" ; rr:datatype <http://www.w3.org/2001/XMLSchema#decimal>')


def make_case(
    maps: tuple[Map, ...],
    query: Query,
    axioms: tuple[str, ...] = (),
    tables: tuple[Table, ...] = (S, U, R),
    **rows: tuple[Row, ...],
) -> Case:
    """A case over the streams s and u and the relation r; rows of a stream begin with the step."""
    return Case(tables, maps, query, {t.name: rows.get(t.name, ()) for t in tables}, axioms)


def ask(head: str, *atoms: str, lines: tuple[str, ...] = (), time: str = "t") -> Query:
    """A query whose atoms are all in one GRAPH; "x a A", "x v n" are patterns of variables."""
    names = tuple(f"({part})" if " " in part else part for part in head.split(", "))
    group = tuple(n for n in names if n[0] == "?") if any(n[0] == "(" for n in names) else ()
    return Query(names, (Branch(tuple(read_atom(a, time) for a in atoms), lines),), group=group)


def read_atom(text: str, time: str) -> Atom:
    """A pattern: "x a A" or "x v n"."""
    subject, predicate, other = text.split()
    if predicate == "a":
        return Atom(time, f"?{subject}", (f"a {other}",))
    return Atom(time, f"?{subject}", (predicate,), f"?{other}")


CASES = {
    "a subject map that is no key": Named(
        make_case(
            (Map("s", S_ID, ("A",)),),
            ask("?x", "x a A"),
            s=((0, 1, 1, "x"), (0, 1, 2, "x"), (0, 2, 1, "x")),
        ),
        {("http://e/1",): 1, ("http://e/2",): 1},
    ),
    "twin: at two times the same triple is two": Named(
        make_case(
            (Map("s", S_ID, ("A",)),),
            ask("?x", "x a A"),
            s=((0, 1, 1, "x"), (1, 1, 2, "x"), (1, 1, 3, "x")),
        ),
        {("http://e/1",): 2},
    ),
    "twin: projection counts solutions, not triples": Named(
        make_case(
            (Map("s", S_ID, (), (V_N,)),),
            ask("?x", "x v n"),
            s=((0, 1, 1, "x"), (0, 1, 2, "x"), (0, 1, 2, "y")),
        ),
        {("http://e/1",): 2},
    ),
    "a table of sensors, its roads no key": Named(
        make_case(
            (
                Map("r", 'rr:template "http://road/{c}"', ("A",), (("v", 'rr:column "m"'),)),
                Map("s", S_ID, (), (("P", 'rr:template "http://road/{a}"'),)),
            ),
            ask("?x, ?n", "x P y", "y v n"),
            s=((0, 1, 1, "ring"), (0, 2, 1, "ring"), (0, 3, 1, "quay")),
            r=(*((i, 50, "ring") for i in range(5)), *((i, 30, "quay") for i in range(5, 10))),
        ),
        {("http://e/1", "50"): 1, ("http://e/2", "50"): 1, ("http://e/3", "30"): 1},
    ),
    "two maps that make one triple": Named(
        make_case(
            (
                Map("SELECT * FROM s WHERE n > 1", S_ID, ("A",)),
                Map("SELECT * FROM s WHERE n < 3", S_ID, ("A",)),
            ),
            ask("?x", "x a A"),
            tables=(Table("s", S.columns, stream=True, keys=(("id",),)),),
            s=((0, 1, 2, "x"), (0, 2, 1, "x"), (0, 3, 3, "x")),
        ),
        {("http://e/1",): 1, ("http://e/2",): 1, ("http://e/3",): 1},
    ),
    "filters that exclude each other, on a column that the triple does not show": Named(
        make_case(
            (
                Map("SELECT * FROM s WHERE n = 1", S_ID, ("A",)),
                Map("SELECT * FROM s WHERE n = 2", S_ID, ("A",)),
            ),
            ask("?x", "x a A"),
            tables=(Table("s", S.columns, stream=True, keys=(("id", "n"),)),),
            s=((0, 5, 1, "x"), (0, 5, 2, "x")),
        ),
        {("http://e/5",): 1},
    ),
    "twin: a key that the triple does show": Named(
        make_case(
            (
                Map("SELECT * FROM s WHERE n = 1", S_ID, (), (V_N,)),
                Map("SELECT * FROM s WHERE n = 2", S_ID, (), (V_N,)),
            ),
            ask("?x", "x v n"),
            tables=(Table("s", S.columns, stream=True, keys=(("id", "n"),)),),
            s=((0, 5, 1, "x"), (0, 5, 2, "x")),
        ),
        {("http://e/5",): 2},
    ),
    "SQL whose rows repeat": Named(
        make_case(
            (Map("SELECT id, n FROM s UNION ALL SELECT n AS id, n FROM s", S_ID, ("A",)),),
            ask("?x", "x a A"),
            tables=(Table("s", S.columns, stream=True, keys=(("id",),)),),
            s=((0, 1, 1, "x"), (0, 2, 1, "x")),
        ),
        {("http://e/1",): 1, ("http://e/2",): 1},
    ),
    "SQL that joins a table in which several rows match": Named(
        make_case(
            (Map("SELECT s.id FROM s JOIN r ON s.n = r.m", S_ID, ("A",)),),
            ask("?x", "x a A"),
            tables=(Table("s", S.columns, stream=True, keys=(("id",),)), R),
            s=((0, 1, 7, "x"), (0, 2, 8, "x")),
            r=((1, 7, "x"), (2, 7, "y"), (3, 8, "x")),
        ),
        {("http://e/1",): 1, ("http://e/2",): 1},
    ),
    "a template that collides": Named(
        make_case(
            (Map("s", 'rr:template "http://e/{id}{n}"', ("A",)),),
            ask("?x", "x a A"),
            tables=(Table("s", S.columns, stream=True, keys=(("id", "n"),)),),
            s=((0, 1, 11, "x"), (0, 11, 1, "x"), (0, 1, 1, "x")),
        ),
        {("http://e/111",): 1, ("http://e/11",): 1},
    ),
    "NULL makes no triple": Named(
        make_case(
            (Map("s", S_ID, ("A",), (V_N, W_A)),),
            ask("?x, ?n", "x a A", "x v n"),
            s=((0, 1, None, "x"), (0, 1, 2, None), (0, None, 3, "y"), (0, 2, None, "z")),
        ),
        {("http://e/1", "2"): 1},
    ),
    "two properties of a subject that is no key": Named(
        make_case(
            (Map("s", S_ID, (), (V_N, W_A)),),
            ask("?x, ?n, ?a", "x v n", "x w a"),
            s=((0, 1, 1, "x"), (0, 1, 2, "y"), (0, 1, 2, "y"), (1, 1, 3, "z")),
        ),
        {
            ("http://e/1", "1", "x"): 1,
            ("http://e/1", "1", "y"): 1,
            ("http://e/1", "2", "x"): 1,
            ("http://e/1", "2", "y"): 1,
            ("http://e/1", "3", "z"): 1,
        },
    ),
    "twin: two properties of a key": Named(
        make_case(
            (Map("s", S_ID, (), (V_N, W_A)),),
            ask("?x, ?n, ?a", "x v n", "x w a"),
            tables=(Table("s", S.columns, stream=True, keys=(("id",),)),),
            s=((0, 1, 1, "x"), (0, 2, 2, "y"), (1, 1, 3, "z")),
        ),
        {
            ("http://e/1", "1", "x"): 1,
            ("http://e/2", "2", "y"): 1,
            ("http://e/1", "3", "z"): 1,
        },
    ),
    "keys of two sources that overlap": Named(
        make_case(
            (
                Map("s", S_ID, ("A",), (V_N,)),
                Map("u", S_ID, ("A",), (("z", 'rr:column "k"'),)),
            ),
            ask("?x", "x a A"),
            tables=tuple(Table(t.name, t.columns, stream=True, keys=(("id",),)) for t in (S, U)),
            s=((0, 1, 1, "x"), (0, 2, 1, "x")),
            u=((0, 1, 5, "x"), (0, 3, 5, "x"), (1, 1, 5, "x")),
        ),
        {("http://e/1",): 2, ("http://e/2",): 1, ("http://e/3",): 1},
    ),
    "a star whose properties come from two sources": Named(
        make_case(
            (
                Map("s", S_ID, ("A",), (V_N,)),
                Map("u", S_ID, ("A",), (("z", 'rr:column "k"'),)),
            ),
            ask("?x, ?n, ?m", "x a A", "x v n", "x z m"),
            tables=tuple(Table(t.name, t.columns, stream=True, keys=(("id",),)) for t in (S, U)),
            s=((0, 1, 1, "x"), (0, 2, 1, "x"), (1, 3, 1, "x")),
            u=((0, 1, 5, "x"), (1, 2, 5, "x")),
        ),
        {("http://e/1", "1", "5"): 1},
    ),
    "a class of which one row has two subclasses": Named(
        make_case(
            (
                Map("SELECT * FROM s WHERE n > 1", S_ID, ("A",)),
                Map("SELECT * FROM s WHERE n < 3", S_ID, ("B",)),
                Map("SELECT * FROM s WHERE n = 9", S_ID, ("C",)),
            ),
            ask("?x", "x a D"),
            tuple(f":{c} rdfs:subClassOf :D ." for c in "ABC"),
            tables=(Table("s", S.columns, stream=True, keys=(("id",),)),),
            s=((0, 1, 2, "x"), (0, 2, 9, "x"), (0, 3, 1, "x")),
        ),
        {("http://e/1",): 1, ("http://e/2",): 1, ("http://e/3",): 1},
    ),
    "a class by a domain: one subject, several objects": Named(
        make_case(
            (Map("s", S_ID, (), (("P", S_N),)),),
            ask("?x", "x a A"),
            (":P rdfs:domain :A .",),
            s=((0, 1, 1, "x"), (0, 1, 2, "x")),
        ),
        {("http://e/1",): 1},
    ),
    "a property and its inverse, both mapped": Named(
        make_case(
            (
                Map("s", S_ID, (), (("P", S_N),)),
                Map("s", S_N, (), (("Q", S_ID),)),
            ),
            ask("?x, ?y", "x P y"),
            (":P owl:inverseOf :Q .",),
            tables=(Table("s", S.columns, stream=True, keys=(("id",),)),),
            s=((0, 1, 2, "x"), (0, 2, 1, "x")),
        ),
        {("http://e/1", "http://e/2"): 1, ("http://e/2", "http://e/1"): 1},
    ),
    "one IRI from a static and a streamed source": Named(
        make_case(
            (Map("s", S_ID, ("A",), (V_N,)), Map("r", S_ID, ("A",))),
            ask("?x, ?n", "x a A", "x v n"),
            tables=(
                Table("s", S.columns, stream=True, keys=(("id",),)),
                Table("r", R.columns, stream=False, keys=(("id",),)),
            ),
            s=((0, 1, 1, "x"), (0, 2, 2, "x")),
            r=((1, 1, "x"), (3, 3, "x")),
        ),
        {("http://e/1", "1"): 1, ("http://e/2", "2"): 1},
    ),
    "a triple in two graphs of FROM": Named(
        make_case(
            (Map("s", S_ID, ("A",), graph="g"), Map("s", S_ID, ("A",), graph="h")),
            Query(("?x",), (Branch((read_atom("x a A", "t"),)),), graphs=("g", "h")),
            tables=(Table("s", S.columns, stream=True, keys=(("id",),)),),
            s=((0, 1, 1, "x"),),
        ),
        {("http://e/1",): 1},
    ),
    "aggregates of a subject that is no key": Named(
        make_case(
            (Map("s", S_ID, (), (V_N,)),),
            ask("?x, COUNT(*) AS ?c, SUM(?n) AS ?d, AVG(?n) AS ?e", "x v n"),
            s=((0, 1, 10, "x"), (0, 1, 10, "y"), (0, 1, 20, "z"), (1, 1, 10, "x"), (1, 1, 10, "y")),
        ),
        {("http://e/1", "3", "40", "13.33333333"): 1},
    ),
    "a join over time of subjects that are no keys": Named(
        make_case(
            (Map("s", S_ID, ("A",)), Map("u", S_ID, ("B",))),
            Query(
                ("?x",),
                (
                    Branch(
                        (read_atom("x a A", "t1"), read_atom("x a B", "t2")),
                        ("FILTER(?t1 < ?t2)",),
                    ),
                ),
            ),
            s=((0, 1, 1, "x"), (0, 1, 2, "x"), (1, 1, 1, "x")),
            u=((1, 1, 1, "x"), (1, 1, 2, "x"), (2, 1, 3, "x")),
        ),
        {("http://e/1",): 3},
    ),
    "UNION and VALUES do repeat answers": Named(
        make_case(
            (Map("s", S_ID, ("A", "B"), (V_N,)),),
            Query(
                ("?x",),
                (
                    Branch((read_atom("x a A", "t"),)),
                    Branch(
                        (read_atom("x a B", "t"), read_atom("x v n", "t")),
                        ("VALUES ?n { 1 1 }",),
                    ),
                ),
            ),
            s=((0, 1, 1, "x"), (0, 1, 1, "y")),
        ),
        {("http://e/1",): 3},
    ),
    "UNDEF in VALUES is joined with any value": Named(
        make_case(
            (Map("s", S_ID, ("A",), (V_N,)),),
            ask(
                "?x",
                "x v n",
                lines=("VALUES (?x ?n) { (<http://e/1> UNDEF) (UNDEF 1) (UNDEF 5) }",),
            ),
            s=((0, 1, 1, "x"), (0, 2, 2, "x"), (1, 2, 1, "y")),
        ),
        {("http://e/1",): 2, ("http://e/2",): 1},
    ),
    "a row of UNDEF alone is the empty solution": Named(
        make_case(
            (Map("s", S_ID, ("A",), (V_N,)),),
            ask("?x", "x v n", lines=("VALUES ?n { 1 UNDEF UNDEF }",)),
            s=((0, 1, 1, "x"), (0, 2, 2, "x")),
        ),
        {("http://e/1",): 3, ("http://e/2",): 2},
    ),
}

ONE = "rr:constant :1"
PARENT = 'rr:parentTriplesMap <#M0> ; rr:joinCondition [ rr:child "a" ; rr:parent "c" ]'
KEYED = (Table("s", S.columns, stream=True, keys=(("id",),)),)
CASES |= {
    "a key that is NULL is no key": Named(
        make_case(
            (Map("s", S_N, ("A",)),),
            ask("?x", "x a A"),
            tables=(Table("s", S.columns, stream=True, keys=(("id", "n"),)),),
            s=((0, None, 1, "x"), (0, None, 1, "x"), (0, 2, 1, "y")),
        ),
        {("http://e/1",): 1},
    ),
    "a constant that a static and a streamed source make": Named(
        make_case(
            (Map("s", ONE, ("A",), (V_N,)), Map("r", ONE, ("A",))),
            ask("?x, ?n", "x a A", "x v n"),
            s=((0, 1, 1, "x"), (0, 2, 2, "x")),
            r=((1, 1, "x"),),
        ),
        {("http://e/1", "1"): 1, ("http://e/1", "2"): 1},
    ),
    "a constant of a stream beside a template of a static relation": Named(
        make_case(
            (
                Map("s", ONE, ("B",)),
                Map("r", 'rr:template "http://e/{m}"', ("B",)),
                Map("s", S_ID, (), (V_N,)),
            ),
            ask("?x, ?n", "x a B", "x v n"),
            s=((0, 1, 1, "x"), (0, 2, 2, "x"), (1, 3, 3, "x")),
            r=((1, 1, "x"), (2, 2, "x"), (3, 2, "x")),
        ),
        {("http://e/1", "1"): 1, ("http://e/2", "2"): 1},
    ),
    "a constant that two streams make": Named(
        make_case(
            (Map("s", ONE, ("A",)), Map("u", ONE, ("A",))),
            ask("?x", "x a A"),
            s=((0, 1, 1, "x"), (0, 2, 2, "x")),
            u=((0, 1, 1, "x"), (1, 2, 2, "x")),
        ),
        {("http://e/1",): 2},
    ),
    "a symmetric property": Named(
        make_case(
            (Map("s", S_ID, (), (("P", S_N),)),),
            ask("?x, ?y", "x P y"),
            (":P owl:inverseOf :P .",),
            tables=KEYED,
            s=((0, 1, 1, "x"), (0, 2, 3, "x"), (0, 3, 2, "x")),
        ),
        {
            ("http://e/1", "http://e/1"): 1,
            ("http://e/2", "http://e/3"): 1,
            ("http://e/3", "http://e/2"): 1,
        },
    ),
    "a property by two paths of the hierarchy": Named(
        make_case(
            (Map("s", S_ID, (), (("P", S_N), ("Q", S_N))),),
            ask("?x, ?y", "x R y"),
            (":P rdfs:subPropertyOf :R .", ":Q rdfs:subPropertyOf :R ."),
            tables=KEYED,
            s=((0, 1, 2, "x"),),
        ),
        {("http://e/1", "http://e/2"): 1},
    ),
    "rr:joinCondition with a parent that is no key": Named(
        make_case(
            (
                Map("r", 'rr:template "http://e/{m}"'),
                Map(
                    "s",
                    S_ID,
                    (),
                    (("P", PARENT),),
                ),
            ),
            ask("?x, ?y", "x P y"),
            tables=(*KEYED, R),
            s=((0, 1, 1, "x"),),
            r=((1, 7, "x"), (2, 7, "x"), (3, 8, "x"), (4, 9, "y")),
        ),
        {("http://e/1", "http://e/7"): 1, ("http://e/1", "http://e/8"): 1},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_each_answer_is_counted_as_sparql_counts(name: str, tmp_path: Path) -> None:
    named = CASES[name]
    outcome = compare_case(named.case, tmp_path)
    assert isinstance(outcome, Equal), f"{name}: {outcome}"
    expected: Answers = Counter(named.answers)
    assert outcome.answers == expected  # what rdflib says is what was counted by hand


TERMS = {
    "a number and a text": (W_N, W_A),
    "a text with and without a language": (W_A, W_EN),
    "numbers of two datatypes": (W_N, W_DECIMAL),
}


@pytest.mark.parametrize("head", ["DISTINCT ?b", "COUNT(DISTINCT ?b) AS ?c"])
@pytest.mark.parametrize("terms", TERMS)
def test_terms_of_one_text_are_two(terms: str, head: str, tmp_path: Path) -> None:
    query = ask(head.removeprefix("DISTINCT "), "x w b")
    query = replace(query, distinct=head.startswith("DISTINCT"))
    case = make_case((Map("s", S_ID, (), TERMS[terms]),), query, tables=KEYED, s=((0, 1, 1, "1"),))
    assert isinstance(compare_case(case, tmp_path), Equal)


@pytest.mark.parametrize("terms", TERMS)
def test_groups_of_terms_of_one_text_are_refused(terms: str, tmp_path: Path) -> None:
    query = ask("?b, COUNT(*) AS ?c", "x w b")
    case = make_case((Map("s", S_ID, (), TERMS[terms]),), query, tables=KEYED, s=((0, 1, 1, "1"),))
    outcome = compare_case(case, tmp_path)
    assert isinstance(outcome, Refused)
    assert "GROUP BY ?b: its values are" in outcome.reason


WINDOW = 'FILTER(?t > NOW() - "PT10M"^^xsd:dayTimeDuration)'


@pytest.mark.parametrize("terms", TERMS)
def test_changes_of_terms_of_one_text_are_refused(terms: str, tmp_path: Path) -> None:
    """A text could stand for two answers of a set; of a bag, it is counted how many there are."""
    kinds = compile_window("DISTINCT", TERMS[terms], tmp_path / "set")
    assert isinstance(kinds, str)
    assert "SELECT DISTINCT ?b, as changes: its values are" in kinds
    assert isinstance(compile_window("", TERMS[terms], tmp_path / "bag"), CompiledQuery)


def test_changes_of_terms_that_differ_in_text_are_not(tmp_path: Path) -> None:
    other = ("w", 'rr:template "http://e/{n}"')
    assert isinstance(compile_window("DISTINCT", (W_N, other), tmp_path), CompiledQuery)
    assert isinstance(compile_window("DISTINCT", (W_N,), tmp_path / "one"), CompiledQuery)


def compile_window(
    distinct: str, terms: tuple[tuple[str, str], ...], folder: Path
) -> CompiledQuery | str:
    """What is made of a query over a sliding window, or why it is refused."""
    query = replace(ask("?b", "x w b", lines=(WINDOW,)), distinct=bool(distinct))
    folder.mkdir(exist_ok=True)
    write_case(make_case((Map("s", S_ID, (), terms),), query, tables=KEYED), folder)
    (folder / "q.rq").write_text(write_query(query), encoding="utf-8")
    try:
        return Workspace(load_project(folder, environ={})).compile("q")
    except QueryError as error:
        return str(error)


def test_groups_of_terms_that_differ_in_kind_and_text(tmp_path: Path) -> None:
    query = ask("?b, COUNT(*) AS ?c, SUM(?n) AS ?s", "x w b", "x v n")
    terms = (W_N, ("w", 'rr:template "http://e/{n}"'), V_N)
    rows = ((0, 1, 1, "1"), (0, 2, 1, "1"), (1, 1, 1, "1"), (1, 2, 2, "http://e/1"))
    case = make_case((Map("s", S_ID, (), terms),), query, tables=KEYED, s=rows)
    outcome = compare_case(case, tmp_path)
    assert isinstance(outcome, Equal), str(outcome)
    assert outcome.answers == Counter(
        {
            ("1", "3", "3"): 1,
            ("2", "1", "2"): 1,
            ("http://e/1", "3", "3"): 1,
            ("http://e/2", "1", "2"): 1,
        }
    )


@pytest.mark.parametrize("number", ["1", "1.234", "12345678"])
@pytest.mark.parametrize("kind", ["decimal(6,2)", "int"])
def test_a_constant_beside_a_number(number: str, kind: str, tmp_path: Path) -> None:
    """An IRI is a constant in one map; in the other, made from a number whose type may not have
    it."""
    table = Table("r", (("id", "int"), ("e", kind)), stream=False)
    maps = (
        Map("r", 'rr:template "http://e/{e}"', ("A",)),
        Map("r", f"rr:constant <http://e/{number}>", ("A",)),
        Map("s", S_ID, (), (V_N,)),
    )
    query = Query(("?x",), (Branch((read_atom("x a A", ""), read_atom("y v n", "t"))),))
    rows: dict[str, tuple[Row, ...]]
    rows = {"s": ((0, 1, 1, "x"),), "r": ((1, 1 if kind == "int" else "1.0"), (2, None), (3, 2))}
    case = replace(make_case(maps, query, tables=(S, table)), rows=rows)
    outcome = compare_case(case, tmp_path)
    assert isinstance(outcome, Equal), str(outcome)
    iris = {f"http://e/{n}" for n in (1, 2, number)}
    assert outcome.answers == Counter({(iri,): 1 for iri in iris})


def test_numbers_of_two_datatypes_are_in_a_list(tmp_path: Path) -> None:
    terms = (W_N, W_DECIMAL)
    query = ask("?x", "x w n", lines=("FILTER(?n IN (1, 2))",))
    case = make_case((Map("s", S_ID, (), terms),), query, tables=KEYED, s=((0, 1, 1, "1"),))
    outcome = compare_case(case, tmp_path)
    assert isinstance(outcome, Equal), str(outcome)
    assert outcome.answers == Counter({("http://e/1",): 2})


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        ("99999999999999999999", "integer"),
        ("-9223372036854775809", "integer"),
        ("12345678.5", "decimal"),
        ("1.505", "decimal"),
    ],
)
@pytest.mark.parametrize("only", [False, True])
def test_a_constant_that_no_row_can_have(
    number: str, kind: str, only: bool, tmp_path: Path
) -> None:
    """A constant of a static map is beyond what the type of a stream's column holds."""
    column = "int" if kind == "integer" else "decimal(5,2)"
    maps = (
        Map("s", S_ID, (), (V_N,)),
        Map("r", S_ID, (), (("v", f'rr:constant "{number}"^^xsd:{kind}'),)),
    )
    tables = Table("s", (("id", "int"), ("n", column)), stream=True), R
    query = ask("?x, ?n", "x v n", lines=(f"FILTER(?n = {number})",) if only else ())
    value = "2" if kind == "integer" else "2.5"
    rows: dict[str, tuple[Row, ...]] = {"s": ((0, 1, value), (1, 2, value)), "r": ((1, 1, "x"),)}
    outcome = compare_case(replace(make_case(maps, query, tables=tables), rows=rows), tmp_path)
    assert isinstance(outcome, Equal), str(outcome)
    made = {} if only else {("http://e/1", value): 1, ("http://e/2", value): 1}
    assert outcome.answers == Counter({("http://e/1", number): 2, **made})
