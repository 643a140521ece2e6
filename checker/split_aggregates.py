"""Split an aggregate query into queries that are decided and run on their own ([A] section 8.2).

[A]: a query with several aggregates is bounded iff each of them is. COUNT, SUM and AVG need the
same matches, and share one part; a minimum, a maximum or distinct values need less than all
matches (π), and a median needs the values themselves: each is a part of its own.
"""

from dataclasses import dataclass, replace

from ontoweir.rewriter.aggregation import Aggregate, AggregateFunction
from ontoweir.rewriter.spj import Fold, FoldFunction, LiteralOutput, SpjQuery, SpjUnion


@dataclass(frozen=True, slots=True)
class AggregatePart:
    """Aggregates that are computed of one union of grouped matches.

    `union`: its variables are the group's, then the argument of COUNT DISTINCT and MEDIAN, whose
    values are counted one by one; the arguments of the others are its queries' folds.
    """

    aggregates: tuple[Aggregate, ...]
    union: SpjUnion


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
    for aggregate in union.aggregation.aggregates:
        key: object
        match aggregate.function:
            case AggregateFunction.COUNT | AggregateFunction.SUM | AggregateFunction.AVG:
                key = None
            case _:
                key = (aggregate.function, aggregate.argument)
        groups.setdefault(key, []).append(aggregate)
    return tuple(
        AggregatePart(tuple(members), _part(union, union.aggregation.group, tuple(members)))
        for members in groups.values()
    )


def _part(union: SpjUnion, group: tuple[str, ...], aggregates: tuple[Aggregate, ...]) -> SpjUnion:
    first = aggregates[0]
    variables = group
    if first.function.holistic and first.argument is not None:
        variables = tuple(dict.fromkeys((*group, first.argument)))
    return SpjUnion(
        name=union.name,
        variables=variables,
        disjuncts=tuple(_grouped(q, variables, aggregates) for q in union.disjuncts),
        distinct=not first.function.duplicate_sensitive,
        source=union.source,
    )


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
        assert isinstance(output, LiteralOutput)  # check_aggregates saw to it
        folds[Fold(aggregate.argument, function, output.value)] = None
    return replace(query, outputs=tuple((v, outputs[v]) for v in variables), folds=tuple(folds))
