"""Buckets of time in SPARQL: `GROUP BY (ow:tumble(?t, "PT1H"^^xsd:dayTimeDuration) AS ?hour)`."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import rdflib

from ontoweir.mappings.model.column_types import epoch_us, parse_instant
from ontoweir.mappings.model.parse_duration import parse_duration
from ontoweir.mappings.model.sliding_buckets import SlidingBuckets, make_sliding
from ontoweir.mappings.model.time_bucket import TimeBucket, slide_panes
from ontoweir.rewriter.buckets.read_width import read_width
from ontoweir.rewriter.model.query import Iri, Literal, NamedBuckets, Term, Variable
from ontoweir.rewriter.sparql.read_terms import Refuse, Terms
from ontoweir.rewriter.syntax.node import Node

NAMESPACE = "urn:ontoweir:"
_FUNCTIONS = {f"{NAMESPACE}tumble": False, f"{NAMESPACE}tumbleEnd": True}
_SLIDING = {
    f"{NAMESPACE}{name}{end}": (name == "cumulate", bool(end))
    for name in ("hop", "cumulate")
    for end in ("", "End")
}
"""Whether they grow, and whether it is where they end."""
_WHY = "a group of times is a bucket of the time of a GRAPH"
_FIX = (
    'write GROUP BY (ow:tumble(?t, "PT1H"^^xsd:dayTimeDuration) AS ?hour), with PREFIX ow: '
    '<urn:ontoweir:>; a third argument is a time zone such as "Europe/Berlin" (of days, weeks, '
    "months and years), or a dateTime at which a bucket begins; (ow:hop(?t, slide, size) AS "
    "?start), (ow:cumulate(?t, step, size) AS ?start), and where these end, (ow:hopEnd(…) AS ?end)"
)


def read_sparql_buckets(
    name: str, call: Node, terms: Terms, refuse: Refuse, line: int | None
) -> NamedBuckets:
    """The bucket that a function call of GROUP BY is, as a variable.

    Args:
        name: of the variable.
        call: the call, as rdflib parses it.
        terms: reads IRIs and literals.
        refuse: makes the error.
        line: where it stands.

    Raises:
        QueryError: it is another function, or its arguments are not a time and a duration.
    """
    function = terms.read(call["iri"], line)
    known = function.value if isinstance(function, Iri) else ""
    if known not in (*_FUNCTIONS, *_SLIDING):
        raise refuse(f"GROUP BY <{known}>(…)", _WHY, _FIX, line)
    given = [unwrap(part) for part in call.get("expr", ())]
    if known in _SLIDING:
        sliding = None
        if len(given) in (3, 4) and isinstance(given[0], rdflib.Variable):
            sliding = _read_sliding([terms.read(g) for g in given[1:]], grows=_SLIDING[known][0])
        if sliding is None:
            what = f"ow:{known.removeprefix(NAMESPACE)} without a time, a step and a size"
            raise refuse(what, _WHY, _FIX, line)
        panes = slide_panes(sliding, ends=_SLIDING[known][1])
        return NamedBuckets(name, Variable(str(given[0])), panes)
    if len(given) not in (2, 3) or not isinstance(given[0], rdflib.Variable):
        raise refuse("ow:tumble without a time and a width", _WHY, _FIX, line)
    width = terms.read(given[1])
    more = terms.read(given[2]) if len(given) == 3 else None
    buckets = read_width(width, more)
    if buckets is None:
        shown = width.lexical if isinstance(width, Literal) else str(width)
        raise refuse(f"the width {shown} of a bucket", _WHY, _FIX, line)
    return NamedBuckets(name, Variable(str(given[0])), TimeBucket(buckets, _FUNCTIONS[known]))


def find_bucket(expression: object, terms: Terms, times: Collection[Variable]) -> Node | None:
    """The call of an expression of SELECT that is the bucket of the time of a GRAPH."""
    call = unwrap(expression)
    if not isinstance(call, Node) or call.name != "Function":
        return None
    function = terms.read(call["iri"])
    given = [unwrap(part) for part in call.get("expr", ())][:1]
    timed = bool(given) and isinstance(given[0], rdflib.Variable)
    known = isinstance(function, Iri) and function.value in _FUNCTIONS
    return call if known and timed and Variable(str(given[0])) in times else None


def list_times(node: object) -> Iterator[Variable]:
    """The variables of every GRAPH of a pattern."""
    if isinstance(node, Node):
        term = node.get("term")
        if node.name == "GraphGraphPattern" and isinstance(term, rdflib.Variable):
            yield Variable(str(term))
        node = list(node.values())
    for part in node if isinstance(node, list) else ():
        yield from list_times(part)


@dataclass(frozen=True, slots=True)
class NamedSession:
    """Sessions by a time, with a gap (µs); `name`: what is called so is where they begin."""

    name: str
    time: Variable
    gap_us: int


def read_sparql_session(
    condition: object,
    times: Collection[Variable],
    terms: Terms,
    refuse: Refuse,
    line: int | None,
) -> NamedSession | None:
    """The sessions that `(ow:session(?t, gap) AS ?name)` of GROUP BY asks for, by one of the times
    of GRAPHs; None: it is something else.

    Raises:
        QueryError: its arguments are not a time and a duration.
    """
    if not isinstance(condition, Node):
        return None
    call = unwrap(condition["expr"]) if condition.name == "GroupAs" else condition
    if not isinstance(call, Node) or call.name != "Function":
        return None
    function = terms.read(call["iri"], line)
    if not isinstance(function, Iri) or function.value != f"{NAMESPACE}session":
        return None
    given = [unwrap(part) for part in call.get("expr", ())]
    gap, named = None, "var" in condition and len(given) == 2
    time = Variable(str(given[0])) if given and isinstance(given[0], rdflib.Variable) else None
    if named and time in times:
        length = terms.read(given[1])
        if isinstance(length, Literal) and length.lexical.startswith("P"):
            gap = parse_duration(length.lexical)
    if gap is None or gap <= 0 or time is None:
        raise refuse(
            "ow:session without the time of a GRAPH, a gap and a name",
            "a session is a run of rows of one key, each at most a gap after the one before",
            'write GROUP BY ?user (ow:session(?t, "PT30M"^^xsd:dayTimeDuration) AS ?begin)',
            line,
        )
    return NamedSession(str(condition["var"]), time, gap)


def _read_sliding(given: Sequence[Term], *, grows: bool) -> SlidingBuckets | None:
    """Buckets that overlap, of a step, a size and a time at which one begins (default: 1970)."""
    if not all(isinstance(g, Literal) for g in given):
        return None
    slide, size, *more = (g.lexical for g in given if isinstance(g, Literal))
    durations = [parse_duration(d) if d.startswith("P") else None for d in (slide, size)]
    try:
        origin = epoch_us(parse_instant(more[0])) if more else 0
    except ValueError:
        return None
    return make_sliding(durations[0], durations[1], origin, grows=grows)


def unwrap(node: object) -> object:
    """An expression without the levels that rdflib puts around it."""
    while isinstance(node, Node) and set(node) == {"expr"}:
        node = node["expr"]
    return node
