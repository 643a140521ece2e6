"""The bag of answers that rdflib's SPARQL engine finds, after every timestamp.

Each timestamp is a named graph; the default graph has what always holds, and what has held at any
timestamp so far. rdflib does not compare differences of times: in the query a time is a whole
number of seconds, and so are durations, and the objects of `:t`, which mappings make of a stream's
timestamp. Of a join, rdflib 7.6 takes the right side as a set, so that of `VALUES ?n { 1 1 }` one
is lost; here both sides are bags, as section 18.5 of SPARQL 1.1 has it. Its IN compares terms, so
that the decimal 1.0 is not IN (1, 2); section 17.4.1.9 has =, which is what is asked here. Its
GRAPH leaves the graph with its first solution, where EXISTS is evaluated in the default graph then;
here all solutions are found before one is given. Its && is an error where a part is; section 17.2
has false where another part is false, which is what is asked here. Of OPTIONAL after VALUES it
forgets what VALUES binds when it looks whether there is no match; here it does not (18.5). FILTERs
beside a subquery in OPTIONAL see what is around it here, as they do in 18.2.2.6, and those of an
OPTIONAL in another one, and of a group in EXISTS, all variables of their own group. Of GROUP
BY over nothing it makes a group; there is none (18.5.1).
"""

import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, TypeAlias
from unittest.mock import patch

from rdflib import BNode, Dataset, Graph, Literal, URIRef, Variable
from rdflib.plugins.sparql import evaluate, parser, prepareQuery
from rdflib.plugins.sparql.evalutils import _ebv, _join
from rdflib.plugins.sparql.operators import EBV
from rdflib.plugins.sparql.parserutils import CompValue
from rdflib.plugins.sparql.sparql import Query, QueryContext, SPARQLError

from tests.sparql_counts.close_graph import Triple
from tests.sparql_counts.read_graphs import Graphs

Answer: TypeAlias = tuple[str, ...]
Answers: TypeAlias = Counter[Answer]
HOLDS_AT = URIRef("urn:holds-at")
TIME = URIRef("http://e/t")
_EVALUATE_GRAPH = evaluate.evalGraph
_EVALUATE_GROUPS = evaluate.evalAggregateJoin
_TIME = re.compile(r"GRAPH \?(\w+) \{")
_AGGREGATES = re.compile(r"^(SELECT .*\))\n", re.MULTILINE)
_IN = re.compile(r"\?(\w+) IN \((\S+), (\S+)\)")
_AVERAGE = re.compile(r"\((AVG\([^()]+\)) AS")
_FROM = re.compile(r"FROM \S+\n")
_DURATION = re.compile(
    r'"P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?)?"\^\^xsd:dayTimeDuration'
)
_MOMENT = re.compile(r'"([^"]*)"\^\^xsd:dateTime')


def translate_query(text: str) -> Query:
    """The query as it is asked of rdflib; its times are those of the named graphs.

    Of a query with aggregates and no GROUP BY, the last column is the number of matches.
    """
    if "GROUP BY" not in text:
        text = _AGGREGATES.sub(r"\1 (COUNT(*) AS ?matches)\n", text)
    text = _FROM.sub("", text)
    text = _IN.sub(r"(?\1 = \2 || ?\1 = \3)", text)
    text = _AVERAGE.sub(r"(xsd:double(\1) AS", text)
    text = _DURATION.sub(_write_duration, text)
    text = _MOMENT.sub(lambda m: str(_seconds(datetime.fromisoformat(m[1]))), text)
    text = _TIME.sub(r"?\1_graph <urn:holds-at> ?\1 . GRAPH ?\1_graph {", text)
    with patch.object(parser.ConditionalAndExpression, "evalfn", _connect_and):
        return prepareQuery(text)


def _connect_and(expression: Any, context: object) -> Any:
    """&&, which is false where a part is, whatever the errors in others."""
    parts = [expression.expr, *(expression.other or ())]
    if expression.other is None:
        return parts[0]
    error = None
    for part in parts:
        try:
            if not EBV(part):
                return Literal(False)
        except SPARQLError as raised:
            error = raised
    if error is not None:
        raise error
    return Literal(True)


def ask_rdflib(query: Query, graphs: Graphs) -> Iterator[tuple[datetime, Answers]]:
    """The answers over all that was known at each timestamp, which is what NOW() is."""
    dataset = Dataset()
    for triple in graphs.static:
        dataset.default_graph.add(triple)
    for moment, triples in graphs.at.items():
        name = URIRef(f"urn:at:{_seconds(moment)}")
        graph = Graph(store=dataset.store, identifier=name)
        for triple in map(_count_time, triples):
            graph.add(triple)
            dataset.default_graph.add(triple)
        dataset.default_graph.add((name, HOLDS_AT, Literal(_seconds(moment))))
        with patch.object(QueryContext, "now", _seconds(moment)):
            answers = _count(dataset, query)
        yield moment, answers


def _count_time(triple: Triple) -> Triple:
    """A triple of `:t` with a number of seconds."""
    subject, predicate, value = triple
    if predicate != TIME or not isinstance(value, Literal):
        return triple
    return subject, predicate, Literal(_seconds(datetime.fromisoformat(str(value))))


def answer_static(query: Query, graphs: Graphs) -> Answers:
    """The answers over what always holds, for a query without GRAPH."""
    dataset = Dataset()
    for triple in graphs.static:
        dataset.default_graph.add(triple)
    return _count(dataset, query)


def _count(dataset: Dataset, query: Query) -> Answers:
    found: Answers = Counter()
    with (
        patch.object(evaluate, "evalJoin", _join_bags),
        patch.object(evaluate, "evalGraph", _evaluate_graph),
        patch.object(evaluate, "evalLeftJoin", _evaluate_optional),
        patch.object(evaluate, "evalFilter", _filter_solutions),
        patch.object(evaluate, "evalAggregateJoin", _evaluate_groups),
    ):
        result: Any = dataset.query(query)
        if result.askAnswer is not None:
            return Counter({(str(result.askAnswer).lower(),): 1})
        for row in result:
            found[tuple(write_cell(term) for term in row)] += 1
    return found


def _join_bags(ctx: QueryContext, join: CompValue) -> Any:
    left, right = evaluate.evalPart(ctx, join.p1), evaluate.evalPart(ctx, join.p2)
    return _join(list(left), list(right))


def _evaluate_graph(ctx: QueryContext, part: CompValue) -> Any:
    def listed(inner: QueryContext, pattern: CompValue) -> Any:
        return list(evaluate_part(inner, pattern))

    evaluate_part = evaluate.evalPart
    with patch.object(evaluate, "evalPart", listed):
        return list(_EVALUATE_GRAPH(ctx, part))


def _evaluate_groups(ctx: QueryContext, join: CompValue) -> Any:
    """Groups of rows: there are none of nothing, but where no key is written."""
    found = list(_EVALUATE_GROUPS(ctx, join))
    return found if join.p.expr is None else [group for group in found if len(group)]


def _evaluate_optional(ctx: QueryContext, join: CompValue) -> Any:
    """The left side's variables are those of VALUES too; a subquery is found by itself."""
    if join.p2.name == "ToMultiSet" and join.p2.p.name != "values":
        found = list(evaluate.evalPart(ctx, join.p2))
        return list(_join_optional(ctx, join, found))
    if join.p1._vars is not None:
        join.p1["_vars"] = join.p1._vars | set(_list_values(join.p1))
    return list(_find_optional(ctx, join))


def _find_optional(ctx: QueryContext, join: CompValue) -> Iterator[Any]:
    """rdflib's evalLeftJoin, whose FILTERs see all variables of both sides, as those of groups do
    there: it forgets those that are bound around both."""
    own = _list_scope(join.p1) | _list_scope(join.p2)
    for one in evaluate.evalPart(ctx, join.p1):
        found = False
        for other in evaluate.evalPart(ctx.thaw(one), join.p2):
            if _ebv(join.expr, other.forget(ctx, _except=own)):
                found = True
                yield other.merge(one)
        if found:
            continue
        alone = join.p1._vars
        inner = () if alone is None else evaluate.evalPart(ctx.thaw(one.remember(alone)), join.p2)
        if not any(_ebv(join.expr, other) for other in inner):
            yield one


def _filter_solutions(ctx: QueryContext, part: CompValue) -> Iterator[Any]:
    """rdflib's evalFilter, which sees all variables of its group, also where that is in EXISTS."""
    own = _list_scope(part.p)
    for one in evaluate.evalPart(ctx, part.p):
        if _ebv(part.expr, one if part.no_isolated_scope else one.forget(ctx, _except=own)):
            yield one


def _list_scope(part: object) -> set[Any]:
    """The variables that a pattern may give values to (18.2.1)."""
    if isinstance(part, Variable):
        return {part}
    if isinstance(part, list | tuple):
        return set[Any]().union(*map(_list_scope, part))
    if not isinstance(part, CompValue):
        return set()
    if part.name == "Project":
        return {*part.PV}
    if part.name == "values":
        return {*_list_values(part)}
    inner = [part[name] for name in ("p", "p1", "triples", "term", "var") if name in part]
    return _list_scope([*inner, part.p2 if part.name != "Minus" and "p2" in part else None])


def _join_optional(ctx: QueryContext, join: CompValue, found: list[Any]) -> Iterator[Any]:
    for one in evaluate.evalPart(ctx, join.p1):
        pairs = [one.merge(other) for other in found if one.compatible(other)]
        kept = [pair for pair in pairs if _ebv(join.expr, pair)]
        yield from kept or [one]


def _list_values(part: object) -> Iterator[Any]:
    """The variables of VALUES in a pattern."""
    if not isinstance(part, CompValue):
        return
    for row in part.res or () if part.name == "values" else ():
        yield from row
    for inner in part.values():
        yield from _list_values(inner)


def write_cell(term: object) -> str:
    """A term or a value of the pipeline's as text: of numbers one form for each value; of doubles,
    ten digits."""
    match term.toPython() if isinstance(term, Literal) else term:
        case BNode() as node:
            return f"_:{node}"
        case bool() as value:
            return str(value).lower()
        case float() as value:
            return format(Decimal(f"{value:.10g}").normalize(), "f")
        case Decimal() as value:
            return format(value.normalize(), "f") if value else "0"
        case datetime() as value:
            shown = value.replace(tzinfo=None).isoformat()
            return shown.rstrip("0") if "." in shown else shown
        case date() as value:
            return value.isoformat()
        case value:
            return str(value)


def _write_duration(found: re.Match[str]) -> str:
    """A duration as a number of seconds."""
    units = zip(found.groups(), (86_400, 3_600, 60, 1), strict=True)
    return format(sum((Decimal(text) * unit for text, unit in units if text), Decimal(0)), "f")


def _seconds(moment: datetime) -> int | Decimal:
    """A time as a number of seconds, with a fraction where it has one."""
    whole = int(moment.replace(tzinfo=UTC, microsecond=0).timestamp())
    return whole + Decimal(moment.microsecond) / 1_000_000 if moment.microsecond else whole
