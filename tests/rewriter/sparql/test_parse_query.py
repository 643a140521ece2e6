"""What a SPARQL query means, and what is said about one outside the language."""

import re
from datetime import timedelta

import pytest

from ontoweir.errors import QueryError, Source
from ontoweir.rewriter.model.aggregation import Aggregate, AggregateFunction, Aggregation
from ontoweir.rewriter.model.query import (
    ClassAtom,
    ConjunctiveQuery,
    Filter,
    Iri,
    Literal,
    PropertyAtom,
    TimeFilter,
    ValueFilter,
    Variable,
)
from ontoweir.rewriter.model.spj import Op
from ontoweir.rewriter.sparql.parse_query import parse_query
from ontoweir.rewriter.ucq.show_ucq import format_cq

PREFIXES = "PREFIX : <http://e/>\nPREFIX xsd: <http://www.w3.org/2001/XMLSchema#>\n"
XSD = "http://www.w3.org/2001/XMLSchema#"
T1, T2, V, W, X = (Variable(n) for n in ("t1", "t2", "v", "w", "x"))


def parse(text: str) -> ConjunctiveQuery:
    return parse_query(PREFIXES + text, name="q", file="q.rq")[0]


def test_patterns_and_their_lines() -> None:
    query = parse(
        """SELECT DISTINCT ?x ?v WHERE {
  ?x a :A ;
     :p :b ,
        [ :q "hei"@no ] .
  GRAPH ?t1 {
    ?x :v ?v .
  }
}"""
    )
    b = Variable("_b0")
    assert query.distinct
    assert query.head == (X, V)
    assert query.source == Source("q.rq", 3)
    assert query.atoms == (
        ClassAtom("http://e/A", X, None, Source("q.rq", 4)),
        PropertyAtom("http://e/p", X, Iri("http://e/b"), None, Source("q.rq", 5)),
        PropertyAtom("http://e/p", X, b, None, Source("q.rq", 5)),
        PropertyAtom("http://e/q", b, Literal("hei", None, "no"), None, Source("q.rq", 6)),
        PropertyAtom("http://e/v", X, V, T1, Source("q.rq", 8)),
    )


def test_star_selects_values_in_order_but_no_times_and_no_blank_nodes() -> None:
    query = parse("SELECT * { GRAPH ?t1 { ?x :v ?v . _:c :p ?x } }")
    assert query.head == (X, V)
    assert not query.distinct


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("?v > 3", ValueFilter(V, Op.GT, Literal("3", XSD + "integer"))),
        ("?v < -2.5", ValueFilter(V, Op.LT, Literal("-2.5", XSD + "decimal"))),
        ("3 < ?v", ValueFilter(V, Op.GT, Literal("3", XSD + "integer"))),
        ("?v - 1 < 3", ValueFilter(V, Op.LT, Literal("4", XSD + "decimal"))),
        ("?v <= ?w + 3", ValueFilter(V, Op.LE, W, "3")),
        ("?v - ?w > 1.5", ValueFilter(V, Op.GT, W, "1.5")),
        ("-?v < 2", ValueFilter(V, Op.GT, Literal("-2", XSD + "integer"))),
        ("?v != ?w", ValueFilter(V, Op.NE, W, "0")),
        ("?x = :a", ValueFilter(X, Op.EQ, Iri("http://e/a"))),
        (":a != ?x", ValueFilter(X, Op.NE, Iri("http://e/a"))),
        ('?v = "on"', ValueFilter(V, Op.EQ, Literal("on"))),
        ("(?t1 < ?t2)", TimeFilter(T1, Op.LT, T2)),
        (
            '?t2 - ?t1 <= "PT30M"^^xsd:dayTimeDuration',
            TimeFilter(T2, Op.LE, T1, timedelta(minutes=30)),
        ),
        (
            '?t2 >= ?t1 + "-P1DT0.5S"^^xsd:dayTimeDuration',
            TimeFilter(T2, Op.GE, T1, -timedelta(days=1, milliseconds=500)),
        ),
        (
            '"PT1H"^^xsd:dayTimeDuration > ?t2 - ?t1',
            TimeFilter(T2, Op.LT, T1, timedelta(hours=1)),
        ),
        (
            '?t1 >= "2014-08-04T00:00:00"^^xsd:dateTime',
            TimeFilter(T1, Op.GE, Literal("2014-08-04T00:00:00", XSD + "dateTime")),
        ),
    ],
)
def test_a_filter_means(text: str, expected: Filter) -> None:
    patterns = "GRAPH ?t1 { ?x :p ?v } GRAPH ?t2 { ?x :p ?w }"
    query = parse(f"SELECT ?x {{ {patterns}\n FILTER({text}) }}")
    (found,) = query.filters
    assert found.source == Source("q.rq", 4)
    assert (found.left, found.op, found.right, found.offset) == (
        expected.left,
        expected.op,
        expected.right,
        expected.offset,
    )


def test_conjunctions_and_several_filters_are_one_list_with_lines() -> None:
    query = parse("SELECT ?x {\n?x :p ?v FILTER(?v > 1 &&\n?v < 9)\n{ FILTER(?w != 3) ?x :p ?w } }")
    assert [(f.op, f.source) for f in query.filters] == [
        (Op.NE, Source("q.rq", 6)),
        (Op.GT, Source("q.rq", 4)),
        (Op.LT, Source("q.rq", 5)),
    ]


TIMED = "SELECT ?x {\nGRAPH ?t { ?x :p ?v } GRAPH ?u { ?x :p ?w }\nFILTER(%s) }"
MANY = f"\nSELECT ?x {{ ?x :p ?v VALUES ?v {{ {' '.join(map(str, range(501)))} }} }}"
VALUE = "SELECT ?x {\n?x :p ?v . ?x :p ?w\nFILTER(%s) }"


@pytest.mark.parametrize(
    ("text", "line", "named"),
    [
        ("SELECT ?x {\n?x a ?c }", 4, "rdf:type without a class"),
        ("SELECT ?x {\n?x ?p ?c }", 4, "?p as a predicate"),
        (TIMED % "?t < 3", 5, "comparing a time with a number: ?t and 3"),
        (TIMED % "?t < ?z", 5, "?z is in a FILTER but in no pattern"),
        (TIMED % '?t < "PT3M"^^xsd:dayTimeDuration', 5, "?t is compared with a duration"),
        (TIMED % '?t - ?u < "PT3M"', 5, 'comparing the time ?t with "PT3M"'),
        (TIMED % '?t - ?u < "P1Y"^^xsd:duration', 5, "'P1Y' is not a duration"),
        (TIMED % '?t < "today"^^xsd:dateTime', 5, "'today' is not an xsd:dateTime"),
        ("SELECT ?x { GRAPH ?t {\n?x :p ?t } }", 4, "comparing a time with a value"),
        ("SELECT ?x\n?z { ?x :p ?v }", 4, "?z is in SELECT but in no pattern"),
        (VALUE % "?t < 3", 5, "?t is in a FILTER but in no pattern"),
        (VALUE % "?v < ?t", 5, "if it is a time, GRAPH ?t { … }"),
        (VALUE % '?v < "PT3M"^^xsd:dayTimeDuration', 5, "?v is compared with a duration"),
        (VALUE % ":f(?v) < 3", 5, "a function call"),
        (VALUE % "?v + ?w < 2", 5, "a comparison of sums of variables"),
        (VALUE % "1 < 2", 5, "a comparison of constants"),
        (VALUE % "?x < :a", 5, "IRIs have no order"),
        (VALUE % '?v < "abc"^^xsd:integer', 5, "'abc' is not a number"),
        ("SELECT ?x { ?x :p ?v\nFILTER NOT EXISTS { ?x :q ?v } }", 4, "FILTER NOT EXISTS"),
        ("SELECT ?x {\nGRAPH :g { ?x :p ?v } }", 4, "GRAPH with an IRI"),
        ("SELECT ?x { ?x :p ?v\nGRAPH ?t { } }", 4, "GRAPH ?t has no pattern"),
        ("SELECT ?x { ?x :p ?v\nOPTIONAL { ?x :q ?z } }", 4, "OPTIONAL"),
        ("SELECT ?x { ?x :p ?v\nMINUS { ?x :q ?v } }", 4, "MINUS"),
        ("SELECT ?x { ?x :p ?v\nSERVICE :s { ?x :q ?v } }", 4, "SERVICE"),
        ("SELECT ?x {\n{ SELECT REDUCED ?x { ?x :p ?v } } }", 4, "SELECT REDUCED in a subq"),
        ("SELECT ?x {\n{ SELECT ?x { ?x :p ?v } LIMIT 3 } }", 4, "LIMIT or OFFSET in a subquery"),
        (
            "SELECT ?x {\n{ SELECT ?x { ?x :p ?v } GROUP BY ?x } }",
            4,
            "GROUP BY without an aggregate",
        ),
        (
            "SELECT ?x { { SELECT ?x\n(STR(?v) AS ?n) { ?x :p ?v } } }",
            3,
            "an expression in",
        ),
        (
            "SELECT ?x { ?x :q ?v\n{ SELECT ?x { ?x :p ?v } } }",
            4,
            "?v within a subquery and",
        ),
        ("SELECT ?v {\n{ SELECT ?x { ?x :p ?v } } }", 4, "add ?v to the SELECT of the subquery"),
        (VALUE % "!(?v + 1)", 5, "a FILTER that is not a comparison"),
        (VALUE % "?v IN ()", 5, "IN with an empty list"),
        (VALUE % "?v NOT IN ()", 5, "NOT IN with an empty list"),
        (VALUE % "?v = (?w < 3)", 5, "a truth value as a number"),
        ("SELECT ?x { ?x :p ?v\n{ FILTER(?v > 3) ?x :p ?w } }", 4, "move the FILTER out of"),
        ("SELECT ?x ?v { { ?x :p ?v }\nUNION { ?x :q ?w } }", 3, "not in every branch of UNION"),
        ("SELECT ?x { { ?x :p ?v }\nUNION { } }", 3, "a branch of the query has no pattern"),
        ("SELECT ?x {\nGRAPH ?t { { ?x :p ?v } UNION { } } }", 4, "GRAPH ?t has no pattern"),
        ("SELECT ?x { ?x :p ?v\nVALUES (?v ?x) { (1) } }", 4, "2 variables and a row of 1 values"),
        ("SELECT ?x { ?x :p ?v\nVALUES ?v { } }", 4, "VALUES without values"),
        ("SELECT ?x { GRAPH ?t { ?x :p ?v }\nVALUES ?t { 1 } }", 4, "the time ?t in VALUES"),
        ("SELECT ?x { ?x :p ?v\nBIND(1 AS ?v) }", 4, "BIND of ?v, which is bound already"),
        ("SELECT ?x {\n?x :p -2.5 }", 4, "the number -2.5 cannot be read"),
        ("SELECT ?x {\n?x :p+ ?v }", 4, "the property path +"),
        ("SELECT ?x {\n?x (:p/:q)* ?v }", 4, "the property path *"),
        ("SELECT ?x {\n?x :p? ?v }", 4, "the property path ?"),
        ("SELECT ?x {\n?x !:p ?v }", 4, "the property path !"),
        ("SELECT ?x {\n?x a/:p ?v }", 4, "rdf:type without a class"),
        (MANY, 4, "more than 500 branches"),
        ("SELECT ?x { ?x :p ?v }\nORDER BY ?x", 4, "ORDER BY"),
        ("SELECT ?x { ?x :p ?v }\nLIMIT 3", 4, "LIMIT"),
        ("SELECT ?x { ?x :p ?v }\nOFFSET 3", 4, "OFFSET"),
        ("SELECT ?x\nFROM NAMED :g { ?x :p ?v }", 4, "FROM NAMED"),
        ("SELECT ?x { GRAPH ?t { ?x :p ?v } }\nORDER BY DESC(?t)", 4, "ORDER BY"),
        ("SELECT ?x { GRAPH ?t { ?x :p ?v } GRAPH ?u { ?x :p 1 } }\nORDER BY ?t", 4, "ORDER BY"),
        ("SELECT (?b AS ?a) (?v AS ?b) { ?x :p ?v }", 3, "?b is used before it is computed"),
        ("SELECT (?a + 1 AS ?a) { ?x :p ?v }", 3, "?a is used before it is computed"),
        ("\nCONSTRUCT { [] :p ?v } WHERE { ?x :p ?v }", 4, "in CONSTRUCT"),
        ("\nSELECT * { }", 4, "the query has no pattern"),
        ("\nSELECT * { :a :p [] }", 4, "the query selects no variable"),
        ("SELECT ?x {\n?x foo:p ?v }", 4, "the prefix foo: is not declared"),
        ("SELECT ?x {\n?x <p> ?v }", 4, "the IRI <p> is relative"),
        ("SELECT ?x {\n?x :p ?v", 4, "a { is not closed"),
        ("SELECT ?x {\n?x :p ?v ?z }", 4, "syntax error at '?z'"),
        ("SELECT ?x {\n?x :p 'a }", 4, "syntax error"),
    ],
)
def test_what_is_outside_the_language_is_refused_by_name(text: str, line: int, named: str) -> None:
    with pytest.raises(QueryError) as caught:
        parse(text)
    assert named in str(caught.value)
    assert str(caught.value).startswith(f"q.rq:{line}: ")
    assert caught.value.why
    assert caught.value.fix


def test_an_empty_query_is_refused() -> None:
    with pytest.raises(QueryError, match="the query is empty"):
        parse_query("# nothing\n", name="q", file="q.rq")[0]


def test_base_and_relative_prefixes() -> None:
    text = "BASE <http://b/> PREFIX p: <x#> SELECT ?x { ?x <q> p:a }"
    (atom,) = parse_query(text, name="q", file="q.rq")[0].atoms
    assert isinstance(atom, PropertyAtom)
    assert (atom.prop, atom.object) == ("http://b/q", Iri("http://b/x#a"))


def branches(text: str) -> list[str]:
    found = parse_query(PREFIXES + text, name="q", file="q.rq")
    assert len({q.branch for q in found}) == len(found)
    assert len({q.head for q in found}) == 1
    return [format_cq(q).removeprefix("q") for q in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{ ?x a :A } UNION { ?x a :B }", [":A(?x)", ":B(?x)"]),
        ("GRAPH ?t { { ?x a :A } UNION { ?x a :B } }", [":A(?x)@?t", ":B(?x)@?t"]),
        (
            "{ GRAPH ?t { ?x a :A } } UNION { GRAPH ?u { ?x a :B } }",
            [":A(?x)@?t", ":B(?x)@?u"],
        ),
        ("?x :p/:q :a", [":p(?x, ?_p0), :q(?_p0, <http://e/a>)"]),
        ("?x ^:p ?y", [":p(_, ?x)"]),
        ("?x ^(:p/:q) :a", [":p(<http://e/a>, ?_p0), :q(?_p0, ?x)"]),
        (
            "?x (:p|^:q)/:r :a",
            [":p(?x, ?_p0), :r(?_p0, <http://e/a>)", ":q(?_p0, ?x), :r(?_p0, <http://e/a>)"],
        ),
        ("?x :p ?v FILTER(?v IN (1, 2))", [':p(?x, ?v), ?v = "1"', ':p(?x, ?v), ?v = "2"']),
        ("?x :p ?v FILTER(?v NOT IN (1, 2))", [':p(?x, ?v), ?v <> "1", ?v <> "2"']),
        ("?x :p ?v FILTER(!(?v < 3 || ?v = 5))", [':p(?x, ?v), ?v >= "3", ?v <> "5"']),
        ("?x :p ?v FILTER(?v < 3 || ?v < 5)", [':p(?x, ?v), ?v < "5"']),
        ("?x :p ?v FILTER(?v > 3 && ?v > 5)", [':p(?x, ?v), ?v > "5"']),
        ("?x :p ?v FILTER(?v < 3 || ?v > 5)", [':p(?x, ?v), ?v < "3"', ':p(?x, ?v), ?v > "5"']),
        (
            "?x :p ?v . ?x :q ?w FILTER(?v < 3 || ?w > 5)",
            [
                ':p(?x, ?v), :q(?x, _), ?v < "3"',
                ':p(?x, ?v), :q(?x, ?w), ?w > "5", ?v >= "3"',
            ],
        ),
        (
            "{ ?x :p ?v } UNION { ?x :q ?w } FILTER(?v < 3 || ?w > 5)",
            [':p(?x, ?v), ?v < "3"', ':q(?x, ?w), ?w > "5"'],
        ),
        ("{ ?x :p ?v } UNION { ?x :q ?w } FILTER(!(?v < 3))", [':p(?x, ?v), ?v >= "3"']),
        ("?x :p ?v VALUES ?v { 1 :a }", [':p(?x, "1"^^:integer)', ":p(?x, <http://e/a>)"]),
        ("?x :p ?v BIND(-2 AS ?w) FILTER(?v > ?w + 1)", [':p(?x, ?v), ?v > "-1"']),
        ("?x :p ?v VALUES ?w { 1 2 } FILTER(?w > 1)", [":p(?x, _)"]),
        ("?x :p ?v . ?x :q ?w FILTER(?v + 3 < ?w - 2)", [":p(?x, ?v), :q(?x, ?w), ?v < ?w - 5"]),
        ("?x :p ?v FILTER(?v < 1 && ?v > 2)", [':p(?x, ?v), ?v < "1", ?v > "2"']),
        ("?x :p ?v VALUES ?w { 1 } FILTER(?w > 1)", [":p(?x, _), ?x <> ?x"]),
    ],
)
def test_the_branches_of_a_union(text: str, expected: list[str]) -> None:
    found = [b.replace("^^:integer", "") for b in branches(f"SELECT ?x {{ {text} }}")]
    assert found == [f"(?x) :- {e.replace('^^:integer', '')}" for e in expected]


def test_under_set_semantics_the_branches_of_a_filter_may_overlap() -> None:
    text = "SELECT DISTINCT ?x { ?x :p ?v . ?x :q ?w FILTER(?v < ?w || ?w > ?v + 5 || ?v = 1) }"
    assert [b.partition("), ?")[2] for b in branches(text)] == ["v < ?w", 'v = "1"^^:integer']


def test_times_are_compared_in_alternatives_too() -> None:
    text = (
        "SELECT ?x { GRAPH ?t { ?x a :A } GRAPH ?u { ?x a :B } "
        'FILTER(?t < ?u || ?t > ?u + "PT5M"^^xsd:dayTimeDuration) }'
    )
    atoms = "(?x) :- :A(?x)@?t, :B(?x)@?u, "
    assert branches(text) == [f"{atoms}?t < ?u", f"{atoms}?t > ?u + 0:05:00"]


def test_an_answer_may_be_a_constant() -> None:
    text = "SELECT ?x ?k { { ?x a :A BIND(1 AS ?k) } UNION { ?x a :B BIND(2.5 AS ?k) } }"
    assert branches(text) == [
        '(?x, ?k = "1"^^:integer) :- :A(?x)',
        '(?x, ?k = "2.5"^^:decimal) :- :B(?x)',
    ]


def test_aggregates_and_their_groups() -> None:
    (query,) = parse_query(
        PREFIXES
        + """SELECT ?g (COUNT(*) AS ?n) (SUM(?v) AS ?s)
  (COUNT(DISTINCT ?w) AS ?d) (MEDIAN(?v) AS ?m)
{ GRAPH ?t { ?g :p ?v ; :q ?w } } GROUP BY ?g""",
        name="q",
        file="q.rq",
    )
    assert query.aggregation == Aggregation(
        ("g",),
        (
            Aggregate("n", AggregateFunction.COUNT, None, Source("q.rq", 3)),
            Aggregate("s", AggregateFunction.SUM, "v", Source("q.rq", 3)),
            Aggregate("d", AggregateFunction.COUNT_DISTINCT, "w", Source("q.rq", 4)),
            Aggregate("m", AggregateFunction.MEDIAN, "v", Source("q.rq", 4)),
        ),
        ("g", "n", "s", "d", "m"),
    )
    # the matches are those of the characteristic query, counted as one of the four needs it
    assert [v.name for v in query.head] == ["g", "v", "w"]
    assert not query.distinct


def test_sample_is_the_least_value() -> None:
    """It may be any: so it is the same one in every run."""
    found = []
    for name in ("MIN", "sample"):
        text = f"SELECT ({name}(?v) AS ?n) (MEDIAN(?v) AS ?m) {{ GRAPH ?t {{ ?x :p ?v }} }}"
        found.append(parse(text).aggregation)
    assert found[0] == found[1] is not None


@pytest.mark.parametrize("having", ["", " HAVING(COUNT(*) > 2)"])
def test_groups_of_buckets_need_no_aggregate(having: str) -> None:
    text = """SELECT ?h { GRAPH ?t { ?x :p ?v } } GROUP BY
(<urn:ontoweir:tumble>(?t, "PT1H"^^<http://www.w3.org/2001/XMLSchema#dayTimeDuration>) AS ?h)"""
    aggregation = parse(text + having).aggregation
    assert aggregation is not None
    assert aggregation.columns == ("h",)
    assert [a.function for a in aggregation.aggregates] == [AggregateFunction.COUNT]


@pytest.mark.parametrize(
    ("select", "head", "distinct"),
    [
        ("(COUNT(*) AS ?n)", [], False),
        ("(COUNT(?v) AS ?n)", [], False),
        ("(MAX(?v) AS ?n)", ["v"], True),
        ("(MIN(?v) AS ?n) (COUNT(DISTINCT ?x) AS ?k)", ["v", "x"], True),
        ("(MAX(?v) AS ?n) (AVG(?v) AS ?k)", ["v"], False),
    ],
)
def test_multiplicities_matter_where_an_aggregate_counts_them(
    select: str, head: list[str], distinct: bool
) -> None:
    query = parse(f"SELECT {select} {{ GRAPH ?t {{ ?x :p ?v }} }}")
    assert [v.name for v in query.head] == head
    assert query.distinct is distinct


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("SELECT *\n{ ?x :p ?v } GROUP BY ?x", 4, "SELECT * with GROUP BY"),
        ("SELECT ?x { ?x :p ?v }\nGROUP BY ?x", 4, "GROUP BY without an aggregate"),
        ("SELECT ?v\n(MAX(?x) AS ?m) { ?x :p ?v }", 3, "neither grouped nor aggregated"),
        ("SELECT (MAX(?v) AS ?m) { ?x :p ?v }\nGROUP BY ?x", 4, "not in SELECT"),
        ("SELECT ?x (MAX(?v) AS ?m) {\n?x :p ?v } GROUP BY ?x ?y", 4, "not in SELECT"),
        ("SELECT (MAX(?v) AS ?m) { ?x :p ?v }\nGROUP BY (?v + 1)", 4, "GROUP BY an expression"),
        ("SELECT\n(SUM(?v) / ?x AS ?m) { ?x :p ?v }", 4, "is neither grouped nor aggregated"),
        ("SELECT\n(COUNT(DISTINCT *) AS ?m) { ?x :p ?v }", 4, "COUNT(DISTINCT *)"),
        ("SELECT\n(COUNT(?z) AS ?m) { ?x :p ?v }", 4, "?z is in SELECT but in no pattern"),
        (
            "SELECT (COUNT(*) AS ?m) { ?x :p ?v }\nHAVING (?m > 3)",
            4,
            "in HAVING, is neither",
        ),
        ("SELECT\n(COUNT(?x) AS ?x) { ?x :p ?v }", 4, "?x names an aggregate"),
        ("SELECT (MAX(?v) AS ?m) (MIN(?v) AS ?m) {\n?x :p ?v }", 3, "?m is two columns"),
        ("SELECT ?x {\n?x :p ?v FILTER(MEDIAN(?v) > 3) }", 4, "aggregate MEDIAN in FILTER"),
    ],
)
def test_aggregates_outside_the_language_are_refused_by_name(
    text: str, line: int, what: str
) -> None:
    with pytest.raises(QueryError, match=re.escape(what)) as caught:
        parse(text)
    assert caught.value.source == Source("q.rq", line)
