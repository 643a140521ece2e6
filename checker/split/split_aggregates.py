"""Split an aggregate query into queries that are decided and run on their own ([A] section 8.2).

[A]: a query with several aggregates is bounded iff each of them is. COUNT, SUM and AVG need the
same matches, and share one part; a minimum, a maximum or distinct values need less than all
matches (π), and a median needs the values themselves: each is a part of its own.

In SQL an argument may be NULL in a match, and its aggregate then passes over it: such an argument
has parts of its own, of the matches where it has a value. Where no part has all matches, one more
says which groups there are: those of which nothing else is known have no values.
"""

from dataclasses import dataclass, replace

from ontoweir.rewriter.algebra.equality_classes import valued_attributes
from ontoweir.rewriter.model.aggregation import Aggregate, AggregateFunction
from ontoweir.rewriter.model.spj import (
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

    `union`: its variables are the group's, then the argument of COUNT DISTINCT and MEDIAN, whose
    values are counted one by one; the arguments of the others are its queries' folds. `over`: the
    argument that has a value in its matches, and may have none in others (None: its matches are
    all there are).
    """

    aggregates: tuple[Aggregate, ...]
    union: SpjUnion
    over: str | None = None


_EXISTENCE = Aggregate("", AggregateFunction.COUNT_DISTINCT, None)
"""Not shown: one for every group."""


_FOLDS = {
    AggregateFunction.SUM: FoldFunction.SUM,
    AggregateFunction.AVG: FoldFunction.SUM,
    AggregateFunction.MIN: FoldFunction.MIN,
    AggregateFunction.MAX: FoldFunction.MAX,
}


def split_aggregates(union: SpjUnion) -> tuple[AggregatePart, ...]:
    """The parts of an aggregate query, in the order of their first aggregates."""
    assert union.aggregation is not None
    groups: dict[object, list[Aggregate]] = {}
    overs: dict[object, str | None] = {}
    for aggregate in union.aggregation.aggregates:
        over = aggregate.argument if _may_be_null(union, aggregate.argument) else None
        key: object
        match aggregate.function:
            case AggregateFunction.COUNT | AggregateFunction.SUM | AggregateFunction.AVG:
                key = over
            case _:
                key = (aggregate.function, aggregate.argument)
        groups.setdefault(key, []).append(aggregate)
        overs[key] = over
    if None not in overs.values():
        groups[_EXISTENCE], overs[_EXISTENCE] = [_EXISTENCE], None
    group = union.aggregation.group
    return tuple(
        AggregatePart(tuple(members), _part(union, group, tuple(members), overs[key]), overs[key])
        for key, members in groups.items()
    )


def _may_be_null(union: SpjUnion, argument: str | None) -> bool:
    """Whether some match may have no value of an argument."""
    if argument is None:
        return False
    for query in union.disjuncts:
        output = dict(query.outputs)[argument]
        valued = {a for c in query.conditions for a in valued_attributes(c)}
        if isinstance(output, NullOutput) or not valued.issuperset(output_attributes(output)):
            return True
    return False


def _part(
    union: SpjUnion, group: tuple[str, ...], aggregates: tuple[Aggregate, ...], over: str | None
) -> SpjUnion:
    first = aggregates[0]
    variables = group
    if first.function.holistic and first.argument is not None:
        variables = tuple(dict.fromkeys((*group, first.argument)))
    queries = [q if over is None else _present(q, over) for q in union.disjuncts]
    return SpjUnion(
        name=union.name,
        variables=variables,
        disjuncts=tuple(_grouped(q, variables, aggregates) for q in queries),
        distinct=not first.function.duplicate_sensitive,
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
    query: SpjQuery, variables: tuple[str, ...], aggregates: tuple[Aggregate, ...]
) -> SpjQuery:
    outputs = dict(query.outputs)
    folds: dict[Fold, None] = {}
    for aggregate in aggregates:
        function = _FOLDS.get(aggregate.function)
        if function is None or aggregate.argument is None:
            continue
        output = outputs[aggregate.argument]
        assert isinstance(output, LiteralOutput | NullOutput)  # check_aggregates saw to it
        folds[Fold(aggregate.argument, function, output.value)] = None
    return replace(query, outputs=tuple((v, outputs[v]) for v in variables), folds=tuple(folds))
