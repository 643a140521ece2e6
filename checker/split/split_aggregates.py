"""Split an aggregate query into queries that are decided and run on their own ([A] section 8.2).

[A]: a query with several aggregates is bounded iff each of them is. COUNT, SUM and AVG need the
same matches, and share one part; a minimum, a maximum or distinct values need less than all
matches (π), and a median needs the values themselves: each is a part of its own.

In SQL an argument may be NULL in a match, and its aggregate then passes over it: such an argument
has parts of its own, of the matches where it has a value. Where no part has all matches, one more
says which groups there are: those of which nothing else is known have no values.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from ontoweir.mappings.model.expression import Call, Field, Function, Value
from ontoweir.rewriter.algebra.equality_classes import valued_attributes
from ontoweir.rewriter.buckets.make_column import NEVER
from ontoweir.rewriter.model.aggregation import Aggregate, AggregateFunction, ClosedValues
from ontoweir.rewriter.model.spj import (
    Attribute,
    Fold,
    FoldFunction,
    LiteralOutput,
    NotNull,
    NullOutput,
    SpjQuery,
    SpjUnion,
    output_attributes,
)


@dataclass(frozen=True, slots=True)
class AggregatePart:
    """Aggregates that are computed of one union of grouped matches.

    `union`: its variables are the group's, of sliding windows when rows leave these, then the
    argument of COUNT DISTINCT, MEDIAN and QUANTILE, whose values are counted one by one; the
    arguments of the others are its queries' folds. `over`: the arguments that have a value in its
    matches, and may have none in others ((): its matches are all there are). `once`: a group has
    at most one match, by a key; the union's variables are then the group's and all arguments whose
    values matter, and nothing is folded. `group`: the variables of the query's groups. `watches`:
    its matches are no group's, but the rows that say which values are closed.
    `slides`: they come and go with sliding windows. `cancels`: groups are told only while the one
    sum is greater than 0, so that matches which end at one time and add up to 0 say nothing.
    """

    aggregates: tuple[Aggregate, ...]
    union: SpjUnion
    over: tuple[str, ...] = ()
    once: bool = False
    group: tuple[str, ...] = ()
    watches: bool = False
    slides: bool = False
    cancels: bool = False

    @property
    def added(self) -> tuple[str, ...]:
        """The argument whose values, floats, are added one by one, or of which, texts, one is
        chosen; of covariances, both."""
        return next((q.added for q in self.union.disjuncts), ())

    @property
    def chosen(self) -> str | None:
        """The argument, a text, of which the least or the greatest is chosen (None: it has no such
        one)."""
        first = self.aggregates[0]
        return first.argument if first.function.chooses and self.added else None

    @property
    def keys(self) -> tuple[str, ...]:
        """The variables that tell its rows apart."""
        return self.group if self.added else self.union.variables

    @property
    def closes(self) -> bool:
        """Whether its matches are all there are: a bucket of time closes its groups, or they are of
        sliding windows."""
        return self.slides or any(query.closing is not None for query in self.union.disjuncts)

    @property
    def counts_values(self) -> bool:
        """Whether its matches are distinct values (or groups), each emitted once."""
        if self.once or self.closes:
            return False
        return self.aggregates[0].function is AggregateFunction.COUNT_DISTINCT


_EXISTENCE = Aggregate("", AggregateFunction.COUNT_DISTINCT, None)
"""Not shown: one for every group."""


_FOLDS = {
    AggregateFunction.SUM: FoldFunction.SUM,
    AggregateFunction.AVG: FoldFunction.SUM,
    AggregateFunction.MIN: FoldFunction.MIN,
    AggregateFunction.MAX: FoldFunction.MAX,
}


def split_aggregates(
    union: SpjUnion,
    unrepeated: Collection[str] = (),
    closing: Sequence[Attribute] = (),
    singly: Collection[str] = (),
    closed: Sequence[ClosedValues] = (),
) -> tuple[AggregatePart, ...]:
    """The parts of an aggregate query, in the order of their first aggregates.

    `unrepeated`: names of COUNT DISTINCT whose values never repeat in a group, so that it is COUNT.
    `closing`: of every disjunct, the bucket of time by which groups are final and forgotten. Every
    part then has all matches, as what would tell which ones it has seen could not be forgotten. So
    has every part of sliding windows, with when each leaves them, and begins to be shown.
    `closed`: of every disjunct, the rule by which groups are final instead.
    `singly`: names of aggregates of floats and texts (list_singly). Matches bring their values one
    by one: to SUM and AVG, which add them exactly, and to MIN and MAX, which keep one; no partial
    match has a sum of them, or one in the place of others.
    """
    assert union.aggregation is not None
    groups: dict[object, list[Aggregate]] = {}
    overs: dict[object, tuple[str, ...]] = {}
    added: dict[object, tuple[str, ...]] = {}
    for aggregate in union.aggregation.aggregates:
        if aggregate.name in unrepeated:
            aggregate = replace(aggregate, function=AggregateFunction.COUNT)
        over = aggregate.arguments if _may_be_null(union, aggregate) else ()
        key: object
        match aggregate.function:
            case _ if aggregate.function.chooses and aggregate.name in singly:
                key = (aggregate.function, aggregate.argument)
                added[key] = aggregate.arguments
            case _ if _adds_floats(aggregate, singly):
                key = (AggregateFunction.SUM, *aggregate.arguments)
                added[key] = aggregate.arguments
            case AggregateFunction.COUNT | AggregateFunction.SUM | AggregateFunction.AVG:
                key = over
            case (
                AggregateFunction.MEDIAN
                | AggregateFunction.QUANTILE
                | AggregateFunction.PERCENTILE
                | AggregateFunction.SUM_DISTINCT
                | AggregateFunction.AVG_DISTINCT
                | AggregateFunction.LIST
                | AggregateFunction.LIST_DISTINCT
            ):
                key = (AggregateFunction.QUANTILE, aggregate.argument)
            case _:
                key = (aggregate.function, aggregate.argument)
        groups.setdefault(key, []).append(aggregate)
        overs[key] = over
    if () not in overs.values():
        groups[_EXISTENCE], overs[_EXISTENCE] = [_EXISTENCE], ()
    group, edges = union.aggregation.group, (*union.ends, *union.begins)
    marks: list[Attribute | None] = list(closing)
    if union.ends:
        ends = (output_attributes(dict(q.outputs)[union.ends[0]]) for q in union.disjuncts)
        # what never leaves is in its groups for ever, and they are never forgotten
        marks = [None if first.column == NEVER.name else first for first, *_ in ends]
    if closed:
        marks = [Attribute(one.alias, next(iter(one.rule.columns), "")) for one in closed]
    if marks:
        queries = zip(union.disjuncts, marks, strict=True)
        union = replace(union, disjuncts=tuple(replace(q, closing=c) for q, c in queries))
    if closed:
        both = zip(union.disjuncts, closed, strict=True)
        union = replace(union, disjuncts=tuple(replace(q, closed=c) for q, c in both))
    return tuple(
        AggregatePart(
            tuple(members),
            _part(union, (*group, *edges), tuple(members), overs[key], added.get(key, ())),
            overs[key],
            group=group,
            slides=bool(union.ends),
            cancels=bool(union.ends) and len(groups) == 1 and not added and _cancels(union),
        )
        for key, members in groups.items()
    )


def _cancels(union: SpjUnion) -> bool:
    """Whether groups have one sum alone, and are told only while it is greater than 0."""
    made = union.aggregation
    if made is None or len(made.aggregates) != 1 or made.around is not None:
        return False
    (one,) = made.aggregates
    match made.having:
        case Call(Function.GREATER, (Field(column=name), Value(value=0))):
            return one.function is AggregateFunction.SUM and name == one.name
        case _:
            return False


def _adds_floats(aggregate: Aggregate, singly: Collection[str]) -> bool:
    function = aggregate.function
    if function.varies or aggregate.second is not None:
        return True
    return function.adds and aggregate.name in singly


def split_once(union: SpjUnion) -> tuple[AggregatePart, ...]:
    """The parts of an aggregate query whose groups have at most one match each: that one, and
    which of the arguments that may be NULL have a value in it."""
    assert union.aggregation is not None
    groups: dict[tuple[str, ...], list[Aggregate]] = {(): []}
    for aggregate in union.aggregation.aggregates:
        over = aggregate.arguments if _may_be_null(union, aggregate) else ()
        groups.setdefault(over, []).append(aggregate)
    return tuple(
        AggregatePart(tuple(members), _part_once(union, members, over), over, once=True)
        for over, members in groups.items()
    )


def _part_once(union: SpjUnion, aggregates: Sequence[Aggregate], over: tuple[str, ...]) -> SpjUnion:
    assert union.aggregation is not None
    counts = (AggregateFunction.COUNT, AggregateFunction.COUNT_DISTINCT)
    valued = (v for a in aggregates if a.function not in counts for v in a.arguments)
    variables = tuple(dict.fromkeys((*union.aggregation.group, *valued)))
    queries = list(union.disjuncts)
    for argument in over:
        queries = [_present(q, argument) for q in queries]
    outputs = [tuple((v, dict(q.outputs)[v]) for v in variables) for q in queries]
    return SpjUnion(
        name=union.name,
        variables=variables,
        disjuncts=tuple(replace(q, outputs=o) for q, o in zip(queries, outputs, strict=True)),
        distinct=False,
        source=union.source,
    )


def _may_be_null(union: SpjUnion, aggregate: Aggregate) -> bool:
    """Whether some match may have no value of an argument."""
    for query in union.disjuncts:
        outputs = [dict(query.outputs)[argument] for argument in aggregate.arguments]
        valued = {a for c in query.conditions for a in valued_attributes(c)}
        for output in outputs:
            if isinstance(output, NullOutput) or not valued.issuperset(output_attributes(output)):
                return True
    return False


def _part(
    union: SpjUnion,
    group: tuple[str, ...],
    aggregates: tuple[Aggregate, ...],
    over: tuple[str, ...],
    added: tuple[str, ...],
) -> SpjUnion:
    first = aggregates[0]
    variables = group
    closes = bool(union.ends) or any(q.closing is not None for q in union.disjuncts)
    kept = first.function.holistic or (closes and not first.function.duplicate_sensitive)
    if kept or added:
        variables = tuple(dict.fromkeys((*group, *first.arguments)))
    queries = list(union.disjuncts)
    for argument in over:
        queries = [_present(q, argument) for q in queries]
    # of what tells groups apart, and of values that are counted one by one, each is kept
    counted = variables if first.function.holistic else group
    queries = [
        q if q.closed is None else replace(q, closed=replace(q.closed, kept=counted))
        for q in queries
    ]
    return SpjUnion(
        name=union.name,
        variables=variables,
        disjuncts=tuple(_grouped(q, variables, aggregates, added, closes) for q in queries),
        distinct=not first.function.duplicate_sensitive and not closes and not added,
        source=union.source,
    )


def _present(query: SpjQuery, over: str) -> SpjQuery:
    """The matches where a variable has a value: none where it is NULL, which is a contradiction."""
    output = dict(query.outputs)[over]
    attributes = (output.value,) if isinstance(output, NullOutput) else output_attributes(output)
    valued = {a for c in query.conditions for a in valued_attributes(c)}
    more = tuple(NotNull(a) for a in dict.fromkeys(attributes) if a not in valued)
    return replace(query, conditions=(*query.conditions, *more))


def _grouped(
    query: SpjQuery,
    variables: tuple[str, ...],
    aggregates: tuple[Aggregate, ...],
    added: tuple[str, ...],
    closes: bool,
) -> SpjQuery:
    outputs = dict(query.outputs)
    shown = tuple((v, outputs[v]) for v in variables)
    if added:
        return replace(query, outputs=shown, folds=(), added=added)
    folds: dict[Fold, None] = {}
    for aggregate in aggregates:
        function = _FOLDS.get(aggregate.function)
        if function is None or aggregate.argument is None:
            continue
        if closes and not aggregate.function.duplicate_sensitive:
            continue  # it is among the outputs
        output = outputs[aggregate.argument]
        assert isinstance(output, LiteralOutput | NullOutput)  # check_aggregates saw to it
        folds[Fold(aggregate.argument, function, output.value)] = None
    chosen = tuple(n for a in aggregates if closes and a.function.chooses for n in a.arguments)
    return replace(query, outputs=shown, folds=tuple(folds), chosen=chosen)
