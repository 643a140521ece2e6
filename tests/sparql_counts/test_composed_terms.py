"""Groups of windows beside others, by the names and terms of their variables: what a subquery, or
NOT EXISTS in braces, names alike is another variable; terms of other kinds are not equal."""

from pathlib import Path
from random import Random
from typing import Any

import pytest

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.model.normal_form import Statistics
from ontoweir.errors import QueryError
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.run.prepare_jobs import load_relations, make_job
from ontoweir.runtime.spark.start_session import start_session
from tests.runtime.in_process import replay_here
from tests.sparql_counts.case import Case, Map, Query, Table
from tests.sparql_counts.test_computed_absence import PREFIXES, make_case
from tests.sparql_counts.test_joined_solutions import run_seed
from tests.sparql_counts.write_case import write_case

WINDOW = 'FILTER(?{t} > NOW() - "PT{m}M"^^xsd:dayTimeDuration)'


def _rows(t: str, triple: str, minutes: int = 20) -> str:
    return f"GRAPH ?{t} {{ {triple} }} {WINDOW.format(t=t, m=minutes)}"


def _count(x: str, of: str, t: str, name: str, v: str = "?v") -> str:
    rows = _rows(t, f"{x} {of} {v}")
    return f"{{ SELECT {x} (COUNT(*) AS {name}) {{ {rows} }} GROUP BY {x} }}"


FIRST = (
    "{ GRAPH ?t { ?x :n ?n } FILTER NOT EXISTS { GRAPH ?u { ?x :n NAME } FILTER(?u > ?t) } } "
    f"?x :f ?m . {_count('?x', ':p', 'b', '?c')}"
)
"""The latest of each key in braces, beside a static pattern that binds ?m."""
HIDDEN = [
    # a subquery has an ?x of its own: the ?x of OPTIONAL has no value before it
    (
        f"{_count('?k', ':n', 'a', '?c', '?x')} OPTIONAL {{ {_rows('b', '?x :p ?v')} }} "
        f"{_rows('d', '?x :m ?q')}"
    ),
    # the ?m in braces is not the one beside them
    FIRST.replace("NAME", "?m"),
]


@pytest.mark.parametrize("where", HIDDEN)
def test_what_would_be_of_another_variable_is_refused(where: str, tmp_path: Path) -> None:
    write_case(make_case(Random(0)), tmp_path)
    (tmp_path / "q.rq").write_text(f"{PREFIXES}SELECT ?c {{ {where} }}", encoding="utf-8")
    with pytest.raises(QueryError):
        Workspace(load_project(tmp_path, environ={})).compile("q")


@pytest.mark.parametrize(
    ("names", "where"),
    [
        # ?v is one in the subqueries, another in OPTIONAL
        (
            ("x", "c", "v", "d"),
            (
                f"{_count('?x', ':n', 'a', '?c')} OPTIONAL {{ {_rows('b', '?x :p ?v')} }} "
                f"{_count('?x', ':m', 'e', '?d')}"
            ),
        ),
        (("x", "n", "m", "c"), FIRST.replace("NAME", "?w")),
    ],
)
def test_names_of_their_own_are_answered(
    names: tuple[str, ...], where: str, tmp_path: Path
) -> None:
    head = " ".join(f"?{n}" for n in names)
    text = f"{PREFIXES}SELECT {head} {{ {where} }}"
    told = {run_seed(s, tmp_path / str(s), lambda _: (text, names)) for s in range(3)}
    assert told <= {"with answers", "without"}
    assert "with answers" in told


OPTIONAL = f"OPTIONAL {{ {_count('?x', ':m', 'e', '?d')} }}"
INNER = f"{{ SELECT ?x ?n ?d {{ {_rows('b', '?x :n ?n')} {OPTIONAL} }} }}"
"""A subquery whose ?d may have no value."""
BOUND = f"{_count('?x', ':p', 'a', '?c')} {_rows('b', '?x :n ?n')} {OPTIONAL}"


@pytest.mark.parametrize(
    ("head", "names", "where"),
    [
        ("?x (COUNT(?o) AS ?k)", ("x", "k"), f"{BOUND} BIND(?d + 1 AS ?o) }} GROUP BY ?x"),
        (
            "?x (COUNT(?d) AS ?k)",
            ("x", "k"),
            f"{INNER} {_count('?x', ':p', 'a', '?c')} }} GROUP BY ?x",
        ),
        ("?x ?n ?d ?c", ("x", "n", "d", "c"), f"{INNER} {_count('?x', ':p', 'a', '?c')} }}"),
    ],
)
def test_what_has_no_value_is_not_counted(
    head: str, names: tuple[str, ...], where: str, tmp_path: Path
) -> None:
    text = f"{PREFIXES}SELECT {head} {{ {where}"
    told = {run_seed(s, tmp_path / str(s), lambda _: (text, names)) for s in range(6)}
    assert told <= {"with answers", "without"}
    assert "with answers" in told


@pytest.mark.parametrize(
    ("head", "where"),
    [
        # what has no value is compatible with any number
        ("?x ?d", f"{INNER} {_count('?x', ':p', 'a', '?d')} }}"),
        # an error in an aggregate is one of the whole group
        ("(SUM(?d) AS ?k)", f"{INNER} {_count('?x', ':p', 'a', '?c')} }}"),
        ("(COUNT(?d + 1) AS ?k)", f"{BOUND} }}"),
        ("(MAX(?o) AS ?k)", f"{BOUND} BIND(?d + 1 AS ?o) }}"),
    ],
)
def test_what_may_have_no_value_is_refused(head: str, where: str, tmp_path: Path) -> None:
    write_case(make_case(Random(0)), tmp_path)
    (tmp_path / "q.rq").write_text(f"{PREFIXES}SELECT {head} {{ {where}", encoding="utf-8")
    with pytest.raises(QueryError):
        Workspace(load_project(tmp_path, environ={})).compile("q")


def _write_texts(folder: Path, query: str) -> Workspace:
    """A project of texts, plain and of a language, of one key."""
    tables, maps = [], []
    for name in "su":
        tables.append(Table(name, (("id", "int"), ("w", "string")), stream=True))
        objects = (
            (f"{name}w", 'rr:column "w"'),
            (f"{name}e", 'rr:column "w" ; rr:language "en"'),
        )
        maps.append(Map(name, 'rr:template "http://e/{id}"', (), objects))
    rows: Any = {"s": ((0, 1, "b"), (0, 1, "a"), (1, 1, "a"), (2, 1, "c")), "u": ((0, 1, "a"),)}
    write_case(Case(tuple(tables), tuple(maps), Query(("?x",), ()), rows), folder)
    (folder / "q.rq").write_text(PREFIXES + query, encoding="utf-8")
    return Workspace(load_project(folder, environ={}))


@pytest.mark.parametrize("said", ["?k = ?l", "?k != ?l", "?k < ?l"])
@pytest.mark.parametrize("p", ["sw", "se"])
def test_texts_of_languages_are_equal_to_such_alone(said: str, p: str, tmp_path: Path) -> None:
    where = f"{{ SELECT ?l (COUNT(*) AS ?c) {{ {_rows('a', '?x :ue ?l')} }} GROUP BY ?l }}"
    query = f"SELECT ?l ?c {{ {where} {_rows('b', f'?x :{p} ?k')} FILTER({said}) }}"
    workspace = _write_texts(tmp_path, query)
    if p == "se" and "<" not in said:
        assert workspace.compile("q").union.joined is not None
        return
    with pytest.raises(QueryError, match="a text of a language in an expression"):
        workspace.compile("q")


@pytest.mark.parametrize(("once", "first"), [("", "a b"), ("DISTINCT ", "a b")])
def test_lists_of_windows_beside_others(once: str, first: str, tmp_path: Path) -> None:
    listed = f"(GROUP_CONCAT({once}?w) AS ?c)"
    inner = f"{{ SELECT ?x {listed} {{ {_rows('a', '?x :sw ?w', 10)} }} GROUP BY ?x }}"
    query = f"SELECT ?x ?c {{ {inner} {_rows('b', '?x :uw ?k')} }}"
    workspace = _write_texts(tmp_path, query)
    compiled = workspace.compile("q")
    assert compiled.union.joined is not None
    verdict = check_query(compiled.union, workspace.project.catalog)
    job = make_job(workspace, compiled, verdict, Statistics())[0]
    statics = load_relations(workspace, [compiled], start_session)
    with pytest.MonkeyPatch.context() as patch:
        rows, _ = replay_here(patch, job, tmp_path / "1.parquet", statics=statics)
    second = "a b" if once else "a a b"
    came = [row["c"] for row in rows if row.get("op", "+") == "+"]
    assert came == [first, *([] if once else [second]), "a c"]
