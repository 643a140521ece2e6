"""Aggregate SELECTs within a SPARQL query, and SELECT DISTINCT where solutions count: each is a
query of its own, whose rows are patterns."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Protocol
from urllib.parse import quote

from ontoweir.errors import QueryError, Source
from ontoweir.mappings.model.time_bucket import CalendarBuckets, Moments
from ontoweir.rewriter.groups.lift_aggregates import list_aggregates
from ontoweir.rewriter.model.aggregation import AggregateFunction
from ontoweir.rewriter.model.query import ANSWERS, ConjunctiveQuery, InnerSelect, Variable
from ontoweir.rewriter.syntax.locate_tokens import Tokens
from ontoweir.rewriter.syntax.node import Node
from ontoweir.rewriter.windows.window import BEGINS, ENDS

_CLAUSES = frozenset({"EXISTS", "MINUS", "OPTIONAL"})


@dataclass(frozen=True, slots=True)
class _Span:
    """Such a SELECT in a text: from its SELECT to before the brace that closes it."""

    start: int
    end: int
    line: int


class Parse(Protocol):
    """Parses a query, of its text."""

    def __call__(self, text: str, /, *, name: str) -> tuple[ConjunctiveQuery, ...]: ...


def cut_subselects(
    tokens: Tokens,
    query: Node,
    parse: Parse,
    file: str,
    *,
    name: str,
    values: frozenset[str],
) -> tuple[str, tuple[InnerSelect, ...]]:
    """The text of a query without such SELECTs in it, and these.

    A row of such a SELECT is a subject of a property for each of its variables, in the graph of the
    time at which it is final: in the text, that pattern is in its place, on the same lines.

    Args:
        tokens: of the query.
        query: the query, as it is parsed.
        parse: parses a query.
        file: where it stands.
        name: of the query.
        values: properties of rows that are values, and no times.

    Raises:
        QueryError: one is inside GRAPH, or wrong itself.
    """
    text = tokens.text
    spans = list(_find(query, tokens, file)) if query.name == "SelectQuery" else []
    if not spans:
        return text, ()
    taken = {t.text[1:] for t in tokens.tokens if t.kind == "var"}
    head = next(t.offset for t in tokens.tokens if t.text.upper() == "SELECT")
    made: list[InnerSelect] = []
    pieces, done = list[str](), 0
    for number, span in enumerate(spans, 1):
        alone = text[:head] + _blank(text[head : span.start]) + text[span.start : span.end]
        called = f"{name}_{number}"
        inner = _make_inner(parse(alone, name=called), called, text, taken)
        times = tuple(t for t in inner.times if inner.predicate(t) not in values)
        inner = replace(inner, times=times, values=values)
        pattern = _write_pattern(inner)
        lines = text.count("\n", span.start, span.end)
        pieces += [text[done : span.start], pattern, "\n" * lines]
        done = span.end
        made.append(inner)
    return "".join((*pieces, text[done:])), tuple(made)


def _write_pattern(inner: InnerSelect) -> str:
    """The pattern of a row; each of its times is that of a graph in which the row is, too."""
    shown = [v for v in inner.variables if v not in inner.times]
    subject = f"?{inner.row.name} a <{inner.predicate('')}>"
    body = "; ".join((subject, *(f"<{inner.predicate(v)}> ?{v}" for v in shown)))
    times = (f"GRAPH ?{t} {{ ?{inner.row.name} a <{inner.predicate(t)}> }}" for t in inner.times)
    return " ".join((f"GRAPH ?{inner.at.name} {{ {body} }}", *times))


def made_variables(inner: Sequence[InnerSelect]) -> frozenset[Variable]:
    """The variables of the patterns that stand for SELECTs, which the query does not name."""
    return frozenset(v for one in inner for v in (one.row, one.at))


def _find(query: Node, tokens: Tokens, file: str) -> Iterator[_Span]:
    """The SELECTs to be cut that are in no other one, in order."""
    counts = not _is_set(query)
    _, *starts = (n for n, t in enumerate(tokens.tokens) if t.text.upper() == "SELECT")
    end = -1
    for (inner, inside), start in zip(_walk(query["where"], ()), starts, strict=True):
        token = tokens.tokens[start]
        distinct = counts and inner.get("modifier") == "DISTINCT"
        if token.offset < end or not (distinct or _aggregates(inner)):
            continue
        if "GraphGraphPattern" in inside:
            what = "aggregates" if _aggregates(inner) else "DISTINCT"
            raise QueryError(
                f"a subquery with {what} inside GRAPH",
                why="its answers are final at times of their own, which are not that of the graph",
                fix="write it outside GRAPH, with a GRAPH in its pattern",
                source=Source(file, token.line),
            )
        depth, at = 1, start
        while depth:
            at += 1
            depth += {"{": 1, "}": -1}.get(tokens.tokens[at].text, 0)
        end = tokens.tokens[at].offset
        _refuse_clauses(tokens, range(start, at), "DISTINCT" if distinct else "aggregates", file)
        yield _Span(token.offset, end, token.line)


def _refuse_clauses(tokens: Tokens, places: range, what: str, file: str) -> None:
    """Raise QueryError for what is beside the solutions that such a SELECT is made of."""
    for n in places:
        token = tokens.tokens[n]
        if token.kind != "word" or (word := token.text.upper()) not in _CLAUSES:
            continue
        no = word == "EXISTS" and tokens.tokens[n - 1].text.upper() == "NOT"
        raise QueryError(
            f"{'NOT ' if no else ''}{word} in a subquery with {what}",
            why="its rows would be final at another time than those that it is made of",
            fix="write the query in SQL, where subqueries have it; or give the subquery a window, "
            "FILTER(?t > NOW() - …); or make a property of what is looked for, by a triples map",
            source=Source(file, token.line),
        )


def _walk(node: object, inside: tuple[str, ...]) -> Iterator[tuple[Node, tuple[str, ...]]]:
    """The SELECTs within a part of a query, each before those in it, and what is around each."""
    if isinstance(node, Node):
        if node.name == "SubSelect":
            yield node, inside
        for part in node.values():
            yield from _walk(part, (*inside, node.name))
    elif isinstance(node, list | tuple):
        for part in node:
            yield from _walk(part, inside)


def _aggregates(inner: Node) -> bool:
    """Whether a SELECT has groups."""
    shown = inner.get("projection", "*")
    calls = [] if shown == "*" else list_aggregates([item.get("expr") for item in shown])
    return "groupby" in inner or "having" in inner or bool(calls)


def _is_set(query: Node) -> bool:
    """Whether duplicates among the solutions of its pattern do not count."""
    if not _aggregates(query):
        return bool(query.get("modifier") == "DISTINCT")
    if "groupby" in query or "having" in query:
        return False
    shown = query.get("projection", "*")
    calls = [] if shown == "*" else list_aggregates([item.get("expr") for item in shown])
    return all(
        c.name in ("Aggregate_Min", "Aggregate_Max") or c.get("distinct") == "DISTINCT"
        for c in calls
    )


def _blank(text: str) -> str:
    """As many lines, and nothing in them."""
    return "\n" * text.count("\n")


def _make_inner(
    branches: tuple[ConjunctiveQuery, ...], name: str, text: str, taken: set[str]
) -> InnerSelect:
    """`text`: of the query around it; `taken`: the names of its variables, and of those made."""
    shown, group = _list_variables(branches[0])
    row, at = (
        next(n for n in (f"_{what}{k}" for k in count(1)) if n not in taken)
        for what in ("row", "final")
    )
    taken |= {row, at}
    return InnerSelect(
        branches,
        tuple(shown),
        f"{ANSWERS}{quote(name)}/",
        Variable(row),
        Variable(at),
        text,
        tuple(_list_times(branches[0], group)),
    )


def _list_variables(branch: ConjunctiveQuery) -> tuple[Sequence[str], Sequence[str]]:
    """What a SELECT shows, and what of that tells its rows apart."""
    if branch.aggregation is not None:
        return branch.aggregation.columns, branch.aggregation.group
    times = [b.name for b in branch.buckets]
    head = [v.name for v in branch.head]
    if branch.computation is not None:
        head = [name for name in branch.computation.variables if name not in times]
    shown = [name for name in (*head, *times) if not name.startswith((BEGINS, ENDS))]
    return shown, shown


def _list_times(branch: ConjunctiveQuery, group: Sequence[str]) -> Iterator[str]:
    """The variables of the group that may be a fixed time before that at which it is final; of a
    session the time of its last row."""
    aggregation = branch.aggregation
    if aggregation is not None and aggregation.session_us is not None:
        moments = {b.name for b in branch.buckets if isinstance(b.bucket.buckets, Moments)}
        for made in aggregation.aggregates:
            last = made.function is AggregateFunction.MAX and made.argument in moments
            if last and made.name in aggregation.columns:
                yield made.name
        return
    for named in branch.buckets:
        bucket = named.bucket
        if named.name not in group:
            continue
        if bucket.sliding is not None:
            if bucket.ends or not bucket.sliding.grows:
                yield named.name
        elif bucket.ends or not isinstance(bucket.buckets, CalendarBuckets):
            yield named.name
