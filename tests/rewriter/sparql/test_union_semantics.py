"""The branches of a query together have the query's own matches, as rdflib's engine counts them."""

import re
from collections import Counter
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

import pytest
import rdflib
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rdflib.plugins.sparql import evaluate
from rdflib.plugins.sparql.parserutils import CompValue
from rdflib.plugins.sparql.sparql import QueryContext
from rdflib.query import ResultRow
from rdflib.term import Node

from ontoweir.errors import QueryError
from ontoweir.rewriter.model.query import (
    ClassAtom,
    ConjunctiveQuery,
    Filter,
    Iri,
    Literal,
    Term,
    ValueFilter,
    Variable,
)
from ontoweir.rewriter.model.spj import Op
from ontoweir.rewriter.sparql.parse_query import parse_query

E = "http://e/"
XSD = "http://www.w3.org/2001/XMLSchema#"
PREFIXES = f"PREFIX : <{E}>\nPREFIX xsd: <{XSD}>\n"
Row = dict[str, Node]

things = st.sampled_from((":a", ":b", ":c"))
numbers = st.sampled_from(("1", "2", "3"))
edges = st.tuples(things, st.sampled_from((":p", ":q")), things)
values = st.tuples(things, st.sampled_from((":v", ":w")), numbers)
classes = st.tuples(things, st.just("a"), st.sampled_from((":A", ":B")))
graphs = st.lists(st.one_of(edges, values, values, classes), min_size=1, max_size=10)

subjects = st.sampled_from(("?x", "?x", "?y", ":a"))
steps = st.recursive(
    st.sampled_from((":p", ":q", "^:p", "^:q")),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("/".join), st.tuples(inner, inner).map("|".join)
    ).map("({})".format),
    max_leaves=3,
)
triples = st.one_of(
    st.tuples(subjects, st.just("a"), st.sampled_from((":A", ":B"))).map(" ".join),
    st.tuples(subjects, steps, subjects).map(" ".join),
    st.tuples(subjects, st.sampled_from((":v", ":w")), st.sampled_from(("?n", "?m", "2"))).map(
        " ".join
    ),
    st.tuples(subjects, st.just("(:v|:w)"), st.sampled_from(("?n", "?m"))).map(" ".join),
)
ORDERS = ("<", "<=", "=", ">=", ">", "!=")
orders = st.sampled_from(ORDERS)
sums = st.sampled_from(("?n", "?m", "?n", "?m", "?n + 1", "?m - 1", "2", "1 + 1"))
comparisons = st.one_of(
    st.tuples(sums, orders, sums).map(" ".join).filter(lambda text: "?" in text),
    st.tuples(st.sampled_from(("?n", "?m")), st.sampled_from(("IN", "NOT IN"))).map(
        lambda pair: f"{pair[0]} {pair[1]} (1, 3)"
    ),
    st.sampled_from(("?x = :a", "?x != ?y", "?y IN (:a, :b)")),
)
formulas = st.recursive(
    comparisons,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(" && ".join),
        st.tuples(inner, inner).map(" || ".join),
        inner.map("!({})".format),
    ).map("({})".format),
    max_leaves=4,
)
inline = st.sampled_from(
    (
        "VALUES ?n { 1 2 }",
        "VALUES ?x { :a :b :a }",
        "VALUES (?x ?n) { (:a 1) (:b 2) }",
        "VALUES ?k { 1 1 }",
        "VALUES ?n { 2.0 }",
        "VALUES ?m { :a 3 }",
    )
)


@st.composite
def groups(draw: st.DrawFn, depth: int = 2) -> str:
    """A group of patterns, VALUES, UNION and FILTER."""
    parts = draw(st.lists(triples, min_size=1, max_size=2))
    text = " . ".join(parts) + " ."
    if depth and draw(st.booleans()):
        inner = draw(st.lists(groups(depth=depth - 1), min_size=1, max_size=2))
        text += " " + " UNION ".join(f"{{ {g} }}" for g in inner)
    if draw(st.integers(0, 3)) == 0:
        text += " " + draw(inline)
    if depth == 2 and draw(st.integers(0, 5)) == 0:
        text = f"BIND({draw(numbers)} AS ?m) {text}"
    if draw(st.booleans()):
        text += f" FILTER({draw(formulas)})"
    return text


def matches(query: ConjunctiveQuery, graph: rdflib.Graph) -> Counter[tuple[Node, ...]]:
    """All matches of a conjunctive query, by definition."""
    rows: list[Row] = [{}]
    for atom in query.atoms:
        if isinstance(atom, ClassAtom):
            wanted = (atom.term, Iri(str(rdflib.RDF.type)), Iri(atom.cls))
        else:
            wanted = (atom.subject, Iri(atom.prop), atom.object)  # type: ignore[assignment]
        rows = [
            new
            for row in rows
            for triple in graph
            if (new := bind(row, wanted, triple)) is not None
        ]
    fixed = {v.name: make(t) for v, t in query.constants}
    found = (r | fixed for r in rows if all(holds(f, r) for f in query.filters))
    return Counter(tuple(r[v.name] for v in query.head) for r in found)


def make(term: Term) -> Node:
    match term:
        case Variable():
            raise AssertionError
        case Iri(value=value):
            return rdflib.URIRef(value)
        case Literal():
            datatype = rdflib.URIRef(term.datatype) if term.datatype else None
            return rdflib.Literal(term.lexical, datatype=datatype, lang=term.language)


def bind(row: Row, wanted: tuple[Term, ...], triple: tuple[Node, ...]) -> Row | None:
    row = dict(row)
    for term, node in zip(wanted, triple, strict=True):
        if isinstance(term, Variable):
            if row.setdefault(term.name, node) != node:
                return None
        elif make(term) != node:
            return None
    return row


def holds(f: Filter, row: Row) -> bool:
    """A comparison, by SPARQL 1.1 section 17.3: False where it is an error."""
    assert isinstance(f, ValueFilter)
    left = row[f.left.name]
    right = row[f.right.name] if isinstance(f.right, Variable) else make(f.right)
    if isinstance(left, rdflib.Literal) and isinstance(right, rdflib.Literal):
        a, b = Decimal(left), Decimal(right) + Decimal(f.offset)
        return {
            Op.LT: a < b,
            Op.LE: a <= b,
            Op.EQ: a == b,
            Op.GE: a >= b,
            Op.GT: a > b,
            Op.NE: a != b,
        }[f.op]
    if Decimal(f.offset) or f.op not in (Op.EQ, Op.NE):
        return False
    return (left == right) == (f.op is Op.EQ)


def join_exactly(ctx: QueryContext, join: CompValue) -> list[Any]:
    """SPARQL 1.1 section 18.5: rdflib's own loses duplicates on the right, and lets filters on
    the right see what the left binds."""
    right = list(evaluate.evalPart(ctx, join.p2))
    return [a.merge(b) for a in evaluate.evalPart(ctx, join.p1) for b in right if a.compatible(b)]


def expected(text: str, graph: rdflib.Graph, names: Iterable[str]) -> Counter[tuple[Node, ...]]:
    """The answers of rdflib's engine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluate, "evalJoin", join_exactly)
        rows = [row for row in graph.query(text) if isinstance(row, ResultRow)]
        return Counter(tuple(row[name] for name in names) for row in rows)


REFUSED = re.compile(
    "not in every branch|in no pattern of its group|is bound already|comparison of sums"
    "|selects no variable|has more than 500 branches"
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(graphs, groups(), st.booleans())
def test_the_branches_have_the_matches_of_the_query(
    data: list[tuple[str, str, str]], group: str, distinct: bool
) -> None:
    graph = rdflib.Graph()
    graph.parse(
        data=f"@prefix : <{E}> .\n" + "\n".join(f"{' '.join(t)} ." for t in data), format="turtle"
    )
    text = PREFIXES + f"SELECT {'DISTINCT ' if distinct else ''}* {{ {group} }}"
    try:
        branches = parse_query(text, name="q", file="q.rq")
    except QueryError as error:
        # What rdflib would answer with unbound variables, or calls invalid; all else is a bug.
        if not REFUSED.search(str(error)):
            raise
        return
    found: Counter[tuple[Node, ...]] = Counter()
    for branch in branches:
        found += matches(branch, graph)
    if distinct:
        found = Counter(dict.fromkeys(found, 1))
    assert found == expected(text, graph, [v.name for v in branches[0].head])
