"""Unfolding: end results against a naive evaluation of the materialised triples."""

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from itertools import product
from pathlib import Path

import duckdb
import pytest

from ontoweir.errors import OntoweirError, QueryError
from ontoweir.mappings.compile.load_mappings import load_mappings
from ontoweir.mappings.model.assertion import MappingSet
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.ontology.tbox import Basic, Because, Exists, NamedClass, Role
from ontoweir.project.project import load_project
from ontoweir.rewriter.model.query import (
    Atom,
    ClassAtom,
    ConjunctiveQuery,
    Filter,
    Iri,
    Literal,
    PropertyAtom,
    Term,
    TimeFilter,
    ValueFilter,
    Variable,
)
from ontoweir.rewriter.model.spj import Op, SpjUnion
from ontoweir.rewriter.sparql.parse_query import parse_query
from ontoweir.rewriter.sql.print_sql import print_sql
from ontoweir.rewriter.unfold.unfold_query import Observer, unfold_query

TOML = """
[project]
mappings = ["m.ttl"]
[streams.traffic]
source = { format = "parquet", path = "traffic" }
timestamp = { column = "ts", unit = "5 minutes" }
max_per_timestamp = 449
keys = [["report_id", "ts"]]
references = [{ columns = ["report_id"], relation = "sensor", to = ["report_id"] }]
[streams.traffic.columns]
report_id = "int"
vehicle_count = { type = "int", min = 0, max = 200 }
road_type = { type = "string", enum = ["MAJOR_ROAD", "STREET"] }
avg_speed = "decimal(5,1)"
[streams.weather]
source = { format = "parquet", path = "weather" }
timestamp = { column = "at", unit = "20 minutes" }
[streams.weather.columns]
station = "string"
temp = "double"
[relations.sensor]
source = { format = "csv", path = "sensor.csv" }
keys = [["report_id"]]
[relations.sensor.columns]
report_id = "int"
street = "string"
city = "string"
"""
TTL = """@prefix rr: <http://www.w3.org/ns/r2rml#> .
@prefix : <http://ex.org/> .
<#Traffic> rr:logicalTable [ rr:tableName "traffic" ] ;
  rr:subjectMap [ rr:template "http://ex.org/reading/{report_id}" ; rr:class :Reading ] ;
  rr:predicateObjectMap [ rr:predicate :count ; rr:objectMap [ rr:column "vehicle_count" ] ] ;
  rr:predicateObjectMap [ rr:predicate :speed ; rr:objectMap [ rr:column "avg_speed" ] ] ;
  rr:predicateObjectMap [ rr:predicate :roadType ; rr:objectMap [ rr:column "road_type" ] ] ;
  rr:predicateObjectMap [ rr:predicate :by ;
    rr:objectMap [ rr:template "http://ex.org/sensor/{report_id}" ] ] .
<#Busy> rr:logicalTable [ rr:sqlQuery \"\"\"
    SELECT t.report_id AS id FROM traffic t JOIN sensor s ON t.report_id = s.report_id
    WHERE t.vehicle_count > 50 AND s.city = 'Aarhus'\"\"\" ] ;
  rr:subjectMap [ rr:template "http://ex.org/reading/{id}" ; rr:class :Busy ] .
<#Weather> rr:logicalTable [ rr:tableName "weather" ] ;
  rr:subjectMap [ rr:template "http://ex.org/station/{station}" ] ;
  rr:predicateObjectMap [ rr:predicate :temp ; rr:objectMap [ rr:column "temp" ] ] .
<#Sensor> rr:logicalTable [ rr:tableName "sensor" ] ;
  rr:subjectMap [ rr:template "http://ex.org/sensor/{report_id}" ; rr:class :Sensor ] ;
  rr:predicateObjectMap [ rr:predicate :inStreet ;
    rr:objectMap [ rr:template "http://ex.org/street/{city}/{street}" ] ] ;
  rr:predicateObjectMap [ rr:predicate :name ; rr:objectMap [ rr:column "\\"street\\"" ] ] .
"""
EX = "http://ex.org/"
INTEGER = "http://www.w3.org/2001/XMLSchema#integer"
TRAFFIC: list[tuple[int, int, int | None, str | None, str | None]] = [
    (0, 1, 10, "STREET", "50.0"),
    (0, 2, 60, "MAJOR_ROAD", "31.5"),
    (1, 1, 70, "STREET", None),
    (1, 2, None, "MAJOR_ROAD", "30.0"),
    (7, 1, 60, "STREET", "20.5"),
    (7, 3, 60, None, "20.5"),
]
SENSOR = [(1, "Gade", "Aarhus"), (2, "Ring", "Aarhus"), (3, "Gade", "Odense"), (4, "B", "Odense")]
X, Y, Z, S, C, D = (Variable(n) for n in "xyzscd")
T, U = Variable("t"), Variable("u")


class Tree:
    """A hierarchy given by hand: Busy ⊑ Reading, ∃by ⊑ Reading, ∃by⁻ ⊑ Sensor, by ⊑ about."""

    classes = frozenset({EX + "Reading", EX + "Busy", EX + "Sensor", EX + "Unmapped"})
    object_properties = frozenset({EX + "by", EX + "about", EX + "observed", EX + "inStreet"})
    data_properties = frozenset({EX + "count", EX + "speed"})

    def subconcepts(self, basic: Basic) -> tuple[tuple[Basic, tuple[Because, ...]], ...]:
        by = Role(EX + "by")
        below: dict[Basic, list[Basic]] = {
            NamedClass(EX + "Reading"): [NamedClass(EX + "Busy"), Exists(by)],
            NamedClass(EX + "Sensor"): [Exists(by.inverted())],
        }
        return (
            (basic, ()),
            *((b, (Because(f"SubClassOf({b} {basic})"),)) for b in below.get(basic, [])),
        )

    def subroles(self, role: Role) -> tuple[tuple[Role, tuple[Because, ...]], ...]:
        why = (Because("SubObjectPropertyOf"),)
        below = {
            Role(EX + "about"): Role(EX + "by"),
            Role(EX + "observed"): Role(EX + "by", inverse=True),
        }
        found = ((below[role], why),) if role in below else ()
        return ((role, ()), *found)

    def are_disjoint(self, a: Basic, b: Basic) -> bool:
        return False

    def are_disjoint_roles(self, a: Role, b: Role) -> bool:
        return False

    def is_irreflexive(self, role: Role) -> bool:
        return False

    def knows(self, iri: str) -> bool:
        return iri in self.classes | self.object_properties | self.data_properties


@pytest.fixture
def world(tmp_path: Path) -> tuple[Catalog, MappingSet]:
    (tmp_path / "ontoweir.toml").write_text(TOML)
    (tmp_path / "m.ttl").write_text(TTL)
    project = load_project(tmp_path, environ={})
    return project.catalog, load_mappings(project.mappings, project.catalog)


def triples() -> Iterator[tuple[int | None, str, str, str | None]]:
    """(step or None for always, subject, predicate, object or None for a class)."""
    cities = {i: c for i, _, c in SENSOR}
    for ts, i, count, road, speed in TRAFFIC:
        reading, sensor = f"{EX}reading/{i}", f"{EX}sensor/{i}"
        yield from ((ts, reading, "Reading", None), (ts, reading, "by", sensor))
        yield from ((ts, reading, "about", sensor), (ts, sensor, "observed", reading))
        for name, value in (("count", count), ("roadType", road), ("speed", speed)):
            if value is not None:
                yield ts, reading, name, str(value)
        if count is not None and count > 50 and cities[i] == "Aarhus":
            yield ts, reading, "Busy", None
    for i, street, city in SENSOR:
        yield None, f"{EX}sensor/{i}", "Sensor", None
        yield None, f"{EX}sensor/{i}", "inStreet", f"{EX}street/{city}/{street}"
        yield None, f"{EX}sensor/{i}", "name", street


def evaluate(query: ConjunctiveQuery) -> Counter[tuple[str, ...]]:
    """The bag of answers, by trying everything."""
    facts = list(dict.fromkeys(triples()))
    steps = sorted({ts for ts, *_ in TRAFFIC})
    times = sorted({a.time.name for a in query.atoms if a.time is not None})
    found: Counter[tuple[str, ...]] = Counter()
    for choice in product(steps, repeat=len(times)):
        clock = dict(zip(times, choice, strict=True))
        rows: list[dict[str, str]] = [{}]
        for atom in query.atoms:
            at = None if atom.time is None else clock[atom.time.name]
            rows = [
                new
                for row in rows
                for when, s, p, o in facts
                if (when is None or when == at) and (new := bind(row, atom, s, p, o)) is not None
            ]
        for row in rows:
            if all(holds(f, row, clock) for f in query.filters):
                row = row | {v.name: text_of(term) for v, term in query.constants}
                found[tuple(row[v.name] for v in query.head)] += 1
    return Counter(dict.fromkeys(found, 1)) if query.distinct else found


def text_of(term: Iri | Literal) -> str:
    return term.value if isinstance(term, Iri) else term.lexical


def bind(row: dict[str, str], atom: Atom, s: str, p: str, o: str | None) -> dict[str, str] | None:
    name = atom.cls if isinstance(atom, ClassAtom) else atom.prop
    if name != EX + p or isinstance(atom, ClassAtom) != (o is None):
        return None
    terms: list[tuple[Term, str]] = (
        [(atom.term, s)]
        if isinstance(atom, ClassAtom)
        else [(atom.subject, s), (atom.object, o or "")]
    )
    row = dict(row)
    for term, value in terms:
        match term:
            case Variable(name=variable):
                if row.setdefault(variable, value) != value:
                    return None
            case Iri(value=text) | Literal(lexical=text):
                if text != value:
                    return None
    return row


def holds(f: Filter, row: dict[str, str], clock: dict[str, int]) -> bool:
    ops = {
        "<": "__lt__",
        "<=": "__le__",
        "=": "__eq__",
        ">=": "__ge__",
        ">": "__gt__",
        "<>": "__ne__",
    }
    if isinstance(f, TimeFilter):
        assert isinstance(f.right, Variable)
        left = timedelta(minutes=5 * clock[f.left.name])
        right = timedelta(minutes=5 * clock[f.right.name]) + f.offset
        return bool(getattr(left, ops[f.op.value])(right))
    value = row[f.left.name]
    if isinstance(f.right, Variable):
        other = row[f.right.name]
    else:
        other = f.right.lexical if isinstance(f.right, Literal) else f.right.value
    try:
        return bool(getattr(float(value), ops[f.op.value])(float(other) + float(f.offset)))
    except ValueError:
        return bool(getattr(value, ops[f.op.value])(other))


def run(union: SpjUnion, catalog: Catalog) -> Counter[tuple[str, ...]]:
    """The printed SQL's answers in DuckDB."""
    db = duckdb.connect()
    db.execute(
        "create table traffic(ts timestamp, report_id int, vehicle_count int, road_type text, "
        "avg_speed decimal(5,1))"
    )
    db.execute("create table sensor(report_id int, street text, city text)")
    db.executemany(
        "insert into traffic values (timestamp '1970-01-01' + to_minutes(5 * ?::int), ?, ?, ?, ?)",
        TRAFFIC,
    )
    db.executemany("insert into sensor values (?, ?, ?)", SENSOR)
    rows = db.execute(print_sql(union, catalog)).fetchall()
    return Counter(tuple(str(v) for v in row) for row in rows)


def prop(name: str, s: Term, o: Term, time: Variable | None = T) -> PropertyAtom:
    return PropertyAtom(EX + name, s, o, time)


def cls(name: str, s: Term, time: Variable | None = T) -> ClassAtom:
    return ClassAtom(EX + name, s, time)


def cq(
    head: tuple[Variable, ...],
    *atoms: Atom,
    filters: tuple[Filter, ...] = (),
    distinct: bool = False,
) -> ConjunctiveQuery:
    return ConjunctiveQuery("q", head, atoms, filters, distinct)


MIN = timedelta(minutes=1)
N50 = Literal("50", INTEGER)
QUERIES: dict[str, ConjunctiveQuery] = {
    "one atom": cq((X, C), prop("count", X, C)),
    "reading counts once": cq((X,), cls("Reading", X)),
    "star": cq((X, C, D), cls("Reading", X), prop("count", X, C), prop("speed", X, D)),
    "star to static": cq(
        (X, Z), prop("by", X, S), prop("inStreet", S, Z, None), prop("count", X, C)
    ),
    "static within graph": cq((X,), prop("by", X, S), cls("Sensor", S)),
    "static in graph only": cq((Z,), prop("by", X, S), prop("name", S, Z)),
    "static alone": cq((S, Z), prop("inStreet", S, Z, None)),
    "busy": cq((X,), cls("Busy", X)),
    "busy and typed": cq((X, Y), cls("Busy", X), prop("roadType", X, Y)),
    "superproperty": cq((X, S), prop("about", X, S)),
    "inverse": cq((X, S), prop("observed", S, X)),
    "constant iri": cq((C,), prop("count", Iri(EX + "reading/1"), C)),
    "constant object": cq((X,), prop("inStreet", X, Iri(EX + "street/Aarhus/Gade"), None)),
    "constant literal": cq((X,), prop("count", X, Literal("60", INTEGER))),
    "constant of another template": cq((X,), prop("by", X, Iri(EX + "reading/1"))),
    "templates apart": cq((X,), prop("by", X, S), prop("by", S, Y)),
    "value filter": cq((X,), prop("count", X, C), filters=(ValueFilter(C, Op.GT, N50),)),
    "value offset": cq(
        (X, Y),
        prop("count", X, C),
        prop("count", Y, D, U),
        filters=(ValueFilter(C, Op.LT, D, "-40"),),
    ),
    "two values, one reading": cq(
        (X,), prop("count", X, C), prop("count", X, D), filters=(ValueFilter(C, Op.LT, D),)
    ),
    "iri not equal": cq(
        (X, Y), prop("by", X, S), prop("by", Y, Z), filters=(ValueFilter(S, Op.NE, Z),)
    ),
    "street not equal": cq(
        (X, Y),
        prop("inStreet", X, S, None),
        prop("inStreet", Y, Z, None),
        filters=(ValueFilter(S, Op.NE, Z),),
    ),
    "shared street": cq((X, Y), prop("inStreet", X, S, None), prop("inStreet", Y, S, None)),
    "iri equal constant": cq(
        (X,), prop("by", X, S), filters=(ValueFilter(S, Op.EQ, Iri(EX + "sensor/2")),)
    ),
    "literal join": cq((X, Y), prop("count", X, C), prop("count", Y, C, U)),
    "literals of two types": cq((X,), prop("count", X, C), prop("speed", X, C)),
    **{
        f"t {op.value} u + {m}": cq(
            (X, Y),
            prop("count", X, C),
            prop("count", Y, D, U),
            filters=(TimeFilter(T, op, U, m * MIN),),
        )
        for op in Op
        for m in (0, 5, 31, -31, 30, -7)
    },
}


@pytest.mark.parametrize("distinct", [False, True], ids=["bag", "set"])
@pytest.mark.parametrize("name", QUERIES)
def test_printed_sql_computes_what_the_triples_say(
    name: str, distinct: bool, world: tuple[Catalog, MappingSet]
) -> None:
    catalog, mappings = world
    q = QUERIES[name]
    query = ConjunctiveQuery(q.name, q.head, q.atoms, q.filters, distinct)
    union = unfold_query([query], mappings, catalog, Tree())
    assert run(union, catalog) == evaluate(query)


@pytest.mark.parametrize(
    ("name", "tables"),
    [
        ("star", ["traffic"]),
        ("static within graph", ["traffic"]),  # a foreign key joins, nothing is used
        ("star to static", ["traffic", "sensor"]),  # used: stays
        ("literal join", ["traffic", "traffic"]),  # no key is equated: stays
        ("two values, one reading", None),  # count < count of one row: contradiction
        ("templates apart", None),
        ("constant of another template", None),
        ("literals of two types", None),
        ("t = u + 31", None),
    ],
)
def test_joins_are_removed_exactly_when_keys_allow(
    name: str, tables: list[str] | None, world: tuple[Catalog, MappingSet]
) -> None:
    union = unfold_query([QUERIES[name]], world[1], world[0], Tree())
    found = [[o.table for o in d.occurrences] for d in union.disjuncts]
    assert found == ([] if tables is None else [tables])


def test_empty_union_prints_a_query_without_rows(world: tuple[Catalog, MappingSet]) -> None:
    warnings: list[str] = []
    union = unfold_query(
        [cq((X,), cls("Unmapped", X))],
        world[1],
        world[0],
        Tree(),
        observer=Observer(on_warning=lambda text, _: warnings.append(text)),
    )
    assert union.disjuncts == ()
    assert run(union, world[0]) == Counter()
    assert "Unmapped" in warnings[0]


def test_provenance_names_mapping_and_axiom(world: tuple[Catalog, MappingSet]) -> None:
    sql = print_sql(unfold_query([QUERIES["superproperty"]], world[1], world[0], Tree()), world[0])
    assert "mapping <#Traffic>" in sql
    assert "SubObjectPropertyOf" in sql
    assert "m.ttl:3" in sql


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (cq((X,), cls("Readin", X)), "did you mean http://ex.org/Reading"),
        (cq((X,), cls("Reading", X, None)), "outside GRAPH"),
        (
            cq((X,), prop("count", X, C), filters=(ValueFilter(C, Op.EQ, Literal("a")),)),
            "compares a number with a string",
        ),
        (
            cq((X,), prop("by", X, S), filters=(ValueFilter(S, Op.LT, Iri(EX + "a")),)),
            "only by = and !=",
        ),
        (
            cq((X,), cls("Sensor", X, None), filters=(TimeFilter(T, Op.GT, Literal("2014")),)),
            "the time of no pattern",
        ),
        (cq((T,), prop("count", X, C)), "occurs in no pattern"),
        (
            cq(
                (X,), prop("count", X, C), prop("temp", Y, D, U), filters=(TimeFilter(T, Op.LT, U),)
            ),
            "one grid",
        ),
        (
            cq((X,), prop("count", X, C), filters=(TimeFilter(T, Op.LT, Literal("soon")),)),
            "not a point in time",
        ),
    ],
)
def test_bad_queries_are_refused(
    query: ConjunctiveQuery, message: str, world: tuple[Catalog, MappingSet]
) -> None:
    with pytest.raises(QueryError, match=message) as caught:
        unfold_query([query], world[1], world[0], Tree())
    assert isinstance(caught.value, OntoweirError)
    assert str(caught.value).count("; ") >= 2


def test_time_constants_become_steps(world: tuple[Catalog, MappingSet]) -> None:
    query = cq(
        (X,),
        prop("count", X, C),
        filters=(TimeFilter(T, Op.GE, Literal("1970-01-01T00:31:00Z")),),
    )
    union = unfold_query([query], world[1], world[0], Tree())
    assert run(union, world[0]) == Counter({(EX + "reading/1",): 1, (EX + "reading/3",): 1})


UNIONS = {
    "union": "?x ?c { GRAPH ?t { { ?x :count ?c } UNION { ?x :count ?c } } }",
    "union of graphs": "?x { { GRAPH ?t { ?x a :Busy } } UNION { GRAPH ?t { ?x a :Reading } } }",
    "alternative path": "?s { GRAPH ?t { ?x :by|:about ?s } }",
    "sequence path": "?x ?w { GRAPH ?t { ?x :by/:inStreet ?w } }",
    "inverse path": "?s { GRAPH ?t { ?s ^:by/:count ?c } }",
    "or": "?x { GRAPH ?t { ?x :count ?c ; :speed ?d } FILTER(?c > 50 || ?d > 40) }",
    "or of one value": "?x { GRAPH ?t { ?x :count ?c } FILTER(?c > 50 || ?c < 65) }",
    "not": "?x { GRAPH ?t { ?x :count ?c ; :speed ?d } FILTER(!(?c > 50 && ?d > 40)) }",
    "in": "?x { GRAPH ?t { ?x :count ?c } FILTER(?c IN (10, 60, 11)) }",
    "not in": "?x { GRAPH ?t { ?x :count ?c } FILTER(?c NOT IN (10, 70)) }",
    "iri in": "?x { GRAPH ?t { ?x :by ?s } FILTER(?s IN (<http://ex.org/sensor/1>, :other)) }",
    "values": "?x ?c { GRAPH ?t { ?x :count ?c } VALUES ?c { 60 70 60 } }",
    "values of nothing": "?x ?k { GRAPH ?t { ?x a :Busy } VALUES ?k { 1 :a 1 } }",
    "values of an iri": "?x ?s { VALUES ?s { <http://ex.org/sensor/2> } GRAPH ?t { ?x :by ?s } }",
    "bind": '?x ?k { { GRAPH ?t { ?x a :Busy } BIND("b" AS ?k) } '
    "UNION { GRAPH ?t { ?x :count ?c } BIND(:c AS ?k) } }",
    "times": "?x ?y { GRAPH ?t { ?x :count ?c } GRAPH ?u { ?y :speed ?d } "
    'FILTER(?t < ?u || ?t > ?u + "PT15M"^^xsd:dayTimeDuration || ?t = ?u && ?c > 50) }',
    "never": "?x { GRAPH ?t { ?x :count ?c } VALUES ?k { 1 } FILTER(?k > 2) }",
}


@pytest.mark.parametrize("distinct", [False, True], ids=["bag", "set"])
@pytest.mark.parametrize("name", UNIONS)
def test_unions_compute_what_their_branches_say(
    name: str, distinct: bool, world: tuple[Catalog, MappingSet]
) -> None:
    prologue = f"PREFIX : <{EX}> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> SELECT "
    text = prologue + ("DISTINCT " if distinct else "") + UNIONS[name]
    branches = parse_query(text, name="q", file="q.rq")
    expected: Counter[tuple[str, ...]] = Counter()
    for branch in branches:
        expected += evaluate(branch)
    if distinct:
        expected = Counter(dict.fromkeys(expected, 1))
    union = unfold_query(branches, world[1], world[0], Tree())
    assert run(union, world[0]) == expected
    assert bool(expected) == (name != "never")
