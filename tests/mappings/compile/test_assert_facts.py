"""An ontology's facts answer queries together with the rows: the printed SQL against brute force.

The oracle knows triples only: those of the rows, the facts, and what the axioms add to both.
"""

import random
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from ontoweir.checker.verdict.verdict import Tier
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.rewriter.model.query import ClassAtom, ConjunctiveQuery, Iri, Literal, Term, Variable
from ontoweir.rewriter.sql.print_sql import print_sql

E = "http://ex.org/"
TOML = """
[project]
ontology = ["o.ttl"]
mappings = ["m.ttl"]
queries = ["q.rq"]
[streams.s]
source = { format = "csv", path = "s.csv" }
timestamp = { column = "ts", unit = "1 minute" }
max_per_timestamp = 9
keys = [["id", "ts"]]
columns = { id = "int", v = { type = "int", min = 0, max = 9 } }
[relations.r]
source = { format = "csv", path = "r.csv" }
columns = { id = "int", name = "string", level = "int", other = "int" }
"""
MAPPING = """@prefix rr: <http://www.w3.org/ns/r2rml#> .
@prefix : <http://ex.org/> .
<#R> rr:logicalTable [ rr:tableName "r" ] ;
  rr:subjectMap [ rr:template "http://ex.org/{id}" ; rr:class :Sensor ] ;
  rr:predicateObjectMap [ rr:predicate :name ; rr:objectMap [ rr:column "name" ] ] ,
    [ rr:predicate :level ; rr:objectMap [ rr:column "level" ] ] ,
    [ rr:predicate :near ; rr:objectMap [ rr:template "http://ex.org/{other}" ] ] .
<#S> rr:logicalTable [ rr:tableName "s" ] ;
  rr:subjectMap [ rr:template "http://ex.org/{id}" ] ;
  rr:predicateObjectMap [ rr:predicate :value ; rr:objectMap [ rr:column "v" ] ] .
"""
ONTOLOGY = """@prefix : <http://ex.org/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:name a owl:DatatypeProperty . :level a owl:DatatypeProperty . :value a owl:DatatypeProperty .
:near a owl:ObjectProperty , owl:SymmetricProperty ; rdfs:domain :Placed .
:beside rdfs:subPropertyOf :near .
:Good rdfs:subClassOf :Sensor .
"""
QUERIES = [
    "?x a :Good",
    "?x a :Sensor",
    "?x a :Placed",
    "?x a :Sensor ; :name ?y",
    "?x :near ?y",
    "?x a :Good ; :near ?y",
    "?x :near ?z . ?z :near ?y",
    "?x :level ?z . ?y :level ?z",
    "?x :level 1 ; a :Sensor",
    '?x :name "a" ; :near ?y . ?y a :Sensor',
    ":1 :near ?x",
    "?x :beside ?y . ?y :name ?z",
]
Triple = tuple[str, ...]


def project(folder: Path, ontology: str, query: str) -> Workspace:
    for name, text in (
        ("ontoweir.toml", TOML),
        ("m.ttl", MAPPING),
        ("o.ttl", ontology),
        ("q.rq", f"PREFIX : <{E}>\n{query}"),
    ):
        (folder / name).write_text(text)
    return Workspace(load_project(folder, environ={}), strict=True)


def rows_of(draw: random.Random) -> list[tuple[int | str | None, ...]]:
    return [
        (i, draw.choice(("a", "b", None)), draw.choice((0, 1, None)), draw.choice((0, 1, 2, None)))
        for i in draw.sample(range(4), 3)
    ]


def facts_of(draw: random.Random) -> list[str]:
    found = []
    for _ in range(draw.randint(1, 5)):
        a, b = f":{draw.randrange(5)}", f":{draw.randrange(5)}"
        found.append(
            draw.choice(
                (
                    f"{a} a :Good .",
                    f"{a} a :Sensor .",
                    f"{a} :near {b} .",
                    f"{a} :beside {b} .",
                    f'{a} :name "{draw.choice("ab")}" .',
                    f"{a} :level {draw.randrange(2)} .",
                )
            )
        )
    return found


def triples(rows: list[tuple[int | str | None, ...]], facts: list[str]) -> set[Triple]:
    found: set[Triple] = set()
    for i, name, level, other in rows:
        found.add(("Sensor", f"{E}{i}"))
        found |= {("name", f"{E}{i}", str(name))} if name is not None else set()
        found |= {("level", f"{E}{i}", str(level))} if level is not None else set()
        found |= {("near", f"{E}{i}", f"{E}{other}")} if other is not None else set()
    for fact in facts:
        subject, predicate, value, _ = fact.split()
        value = value.strip('"') if value[0] != ":" else E + value[1:]
        if predicate == "a":
            found.add((value.removeprefix(E), E + subject[1:]))
        else:
            found.add((predicate[1:], E + subject[1:], value))
    found |= {("near", *t[1:]) for t in found if t[0] == "beside"}
    found |= {("near", t[2], t[1]) for t in found if t[0] == "near"}
    found |= {("Placed", t[1]) for t in found if t[0] == "near"}
    found |= {("Sensor", t[1]) for t in found if t[0] == "Good"}
    return found


def answers(query: ConjunctiveQuery, data: set[Triple]) -> set[Triple]:
    def text(term: Term, env: dict[Variable, str]) -> str | None:
        match term:
            case Variable():
                return env.get(term)
            case Iri(value=value) | Literal(lexical=value):
                return value

    def join(place: int, env: dict[Variable, str]) -> Iterator[Triple]:
        if place == len(query.atoms):
            yield tuple(env[v] for v in query.head)
            return
        atom = query.atoms[place]
        is_class = isinstance(atom, ClassAtom)
        name = atom.cls if isinstance(atom, ClassAtom) else atom.prop
        terms = (atom.term,) if isinstance(atom, ClassAtom) else (atom.subject, atom.object)
        for found in data:
            if (E + found[0], len(found) == 2) != (name, is_class):
                continue
            new = dict(env)
            for term, value in zip(terms, found[1:], strict=True):
                if text(term, new) not in (None, value):
                    break
                if isinstance(term, Variable):
                    new[term] = value
            else:
                yield from join(place + 1, new)

    return set(join(0, {}))


@pytest.mark.parametrize("body", QUERIES)
def test_sql_gives_what_the_triples_say(body: str, tmp_path: Path) -> None:
    head = "?x ?y" if "?y" in body else "?x"
    for seed in range(12):
        draw = random.Random(f"{body}{seed}")
        rows, facts = rows_of(draw), facts_of(draw)
        text = f"SELECT DISTINCT {head} WHERE {{ {body} }}"
        workspace = project(tmp_path, ONTOLOGY + "\n".join(facts), text)
        compiled = workspace.compile("q")
        sql = print_sql(compiled.union, workspace.project.catalog, dialect="duckdb")
        with duckdb.connect() as connection:
            connection.execute("CREATE TABLE r (id INT, name TEXT, level INT, other INT)")
            connection.executemany("INSERT INTO r VALUES (?, ?, ?, ?)", rows)
            found = {tuple(map(str, row)) for row in connection.execute(sql).fetchall()}
        assert found == answers(compiled.branches[0], triples(rows, facts)), (facts, rows, sql)
        assert workspace.check(compiled).tier in (Tier.STATELESS, Tier.UNSATISFIABLE)


FACTS = ONTOLOGY + ":1 a :Good .\n"


def test_a_query_of_facts_alone_reads_no_table(tmp_path: Path) -> None:
    workspace = project(tmp_path, FACTS, "SELECT ?x WHERE { ?x a :Good }")
    compiled = workspace.compile("q")
    (disjunct,) = compiled.union.disjuncts
    assert disjunct.occurrences == ()
    sql = print_sql(compiled.union, workspace.project.catalog)
    line = FACTS.count("\n")
    assert sql == (
        f"-- fact ClassAssertion(:Good :1) ({tmp_path / 'o.ttl'}:{line})\n"
        "SELECT\n  'http://ex.org/1' AS x"
    )
    verdict = workspace.check(compiled)
    assert verdict.tier is Tier.STATELESS
    assert verdict.bound is not None
    assert verdict.bound.rows == 0


def test_static_facts_hold_in_every_state(tmp_path: Path) -> None:
    text = "SELECT ?x ?v WHERE { GRAPH ?t { ?x a :Good ; :value ?v } }"
    workspace = project(tmp_path, FACTS, text)
    (disjunct,) = workspace.compile("q").union.disjuncts
    assert [o.table for o in disjunct.occurrences] == ["s"]
    assert "\n  id = 1" in print_sql(workspace.compile("q").union, workspace.project.catalog)


def test_a_fact_that_is_written_twice_counts_once(tmp_path: Path) -> None:
    again = FACTS + ":1 a :Good , :Sensor ."
    workspace = project(tmp_path, again, "SELECT ?x WHERE { ?x a :Sensor FILTER(?x = :1) }")
    union = workspace.compile("q").union
    (view,) = union.views
    assert [o.table for q in union.disjuncts for o in q.occurrences] == [view.name]
    assert [[o.table for o in b.occurrences] for b in view.branches] == [["r"], []]
    printed = print_sql(union, workspace.project.catalog, dialect="duckdb")
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE r (id INT, name TEXT, level INT, other INT)")
        assert connection.execute(printed).fetchall() == [(f"{E}1",)]
        connection.execute("INSERT INTO r VALUES (1, 'a', 0, 0), (1, 'b', 0, 0)")
        assert connection.execute(printed).fetchall() == [(f"{E}1",)]


def test_triples_of_a_stream_that_may_come_again_count_once(tmp_path: Path) -> None:
    query = "SELECT ?x WHERE { ?x a :Good ; :value ?v }"
    whole = project(tmp_path, FACTS, query).compile("q").union
    query = query.replace("; :value ?v", ". { SELECT DISTINCT ?x ?v { ?x :value ?v } }")
    sets = project(tmp_path, FACTS, query).compile("q").union
    assert [d.outputs for d in whole.disjuncts] == [d.outputs for d in sets.disjuncts]
    assert [b.stream for b in whole.blocks] == [b.stream for b in sets.blocks]


SEES = """:sees a owl:ObjectProperty .
:Good rdfs:subClassOf [ owl:onProperty :sees ; owl:someValuesFrom owl:Thing ] .
"""


def test_answers_that_an_axiom_makes_equal_keep_their_columns(tmp_path: Path) -> None:
    text = "SELECT DISTINCT ?x ?y WHERE { ?x :sees ?z . ?y :sees ?z }"
    workspace = project(tmp_path, FACTS + SEES, text)
    (disjunct,) = workspace.compile("q").union.disjuncts
    assert [name for name, _ in disjunct.outputs] == ["x", "y"]
    assert len({output for _, output in disjunct.outputs}) == 1
