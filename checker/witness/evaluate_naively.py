"""The relational answer over a few rows: what a witness is confirmed by.

It works on the query as unfolded and shares nothing with normal forms, plans or the run-time.
"""

import operator
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from fractions import Fraction
from math import ceil, floor
from typing import Any, TypeAlias, assert_never

from ontoweir.mappings.model.catalog import Stream
from ontoweir.rewriter.algebra.equality_classes import condition_attributes
from ontoweir.rewriter.model.aggregation import Aggregate, AggregateFunction
from ontoweir.rewriter.model.spj import (
    BlankOutput,
    Condition,
    Constant,
    ConstantOutput,
    IriOutput,
    IsNull,
    LiteralOutput,
    NotNull,
    NullOutput,
    Occurrence,
    OneOf,
    Op,
    Output,
    SpjQuery,
    SpjUnion,
    TemplateLiteralOutput,
    View,
    ViewBranch,
    output_attributes,
)
from ontoweir.rewriter.model.watch_time import tick

Tuple: TypeAlias = Mapping[str, Any]
Test: TypeAlias = Callable[[Mapping[str, Tuple]], bool]
Instance: TypeAlias = Mapping[str, Sequence[Tuple]]
"""Rows of every table, by name; a row maps column names (timestamps too) to values."""

MAX_STEPS = 400_000
"""How many partial matches an evaluation may look at: half a second."""

MAX_IN_ALL = 2_000_000
"""How many all evaluations of one search may look at (`counting_steps`): some three seconds."""

_in_all: ContextVar[list[int] | None] = ContextVar("in_all", default=None)


@contextmanager
def counting_steps() -> Iterator[None]:
    """All evaluations inside look at MAX_IN_ALL partial matches at most, together."""
    token = _in_all.set([0])
    try:
        yield
    finally:
        _in_all.reset(token)


class TooLongError(Exception):
    """An evaluation, or all of a search, looked at too much: nothing is known of it."""


class RepeatedError(Exception):
    """Rows with different marks make one row of a view, which then has no mark of its own."""


def evaluate_naively(union: SpjUnion, instance: Instance) -> Counter[tuple[Any, ...]]:
    """All answers with their multiplicities (all one under DISTINCT)."""
    answers: Counter[tuple[Any, ...]] = Counter()
    for (answer, _), count in count_matches(union, instance, lambda _: 0).items():
        answers[answer] += count
    return Counter(dict.fromkeys(answers, 1)) if union.distinct else answers


def count_matches(
    union: SpjUnion, instance: Instance, mark: Callable[[Tuple], int]
) -> Counter[tuple[tuple[Any, ...], int]]:
    """All matches of all disjuncts, counted by their answers and their marks: a match has those of
    all rows that it is made of, as bits.

    Raises:
        TooLongError: there are too many matches to look at.
        RepeatedError: a row of a distinct view is made of rows with different marks.
    """
    matches: Counter[tuple[tuple[Any, ...], int]] = Counter()
    if union.views:
        instance, mark = add_views_naively(union.views, instance, mark)
    for query in union.disjuncts:
        _count(query, instance, mark, matches)
    return matches


def add_views_naively(
    views: Sequence[View], instance: Instance, mark: Callable[[Tuple], int]
) -> tuple[Instance, Callable[[Tuple], int]]:
    """The rows with those of views, each with the marks of the rows that it is made of."""
    tables = dict(instance)
    marks: dict[int, int] = {}

    def marked(row: Tuple) -> int:
        return marks[id(row)] if id(row) in marks else mark(row)

    for view in views:
        made: Counter[tuple[tuple[Any, ...], int]] = Counter()
        for branch in view.branches:
            _count_branch(branch, tables, marked, made)
        names = [c.name for c in view.table.columns]
        if isinstance(view.table, Stream):
            names.append(view.table.timestamp)
        if view.distinct and len({content for content, _ in made}) < len(made):
            raise RepeatedError
        always: Counter[tuple[tuple[Any, ...], int]] = Counter()
        for branch in view.without:
            _count_branch(branch, tables, marked, always)
        held = {content for content, _ in always}
        rows: list[Tuple] = []
        for (content, bits), count in made.items():
            if held and content[: len(view.table.columns)] in held:
                continue
            for _ in range(1 if view.distinct else count):
                rows.append(dict(zip(names, content, strict=True)))
                marks[id(rows[-1])] = bits
        tables[view.name] = rows
    return tables, marked


def _count_branch(
    branch: ViewBranch,
    instance: Instance,
    mark: Callable[[Tuple], int],
    made: Counter[tuple[tuple[Any, ...], int]],
) -> None:
    query = branch.query
    if branch.time is not None:
        query = replace(query, outputs=(*query.outputs, ("time", LiteralOutput(branch.time))))
    counts: Counter[tuple[tuple[Any, ...], int]] = Counter()
    _count(query, instance, mark, counts)
    for (values, marked), count in counts.items():
        given = iter(values)
        content = [c.value if isinstance(c, Constant) else next(given) for c in branch.columns]
        made[(*content, *given), marked] += count


def aggregate_naively(
    union: SpjUnion, instance: Instance
) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    """The groups of an aggregate query, each with the values of its aggregates."""
    assert union.aggregation is not None
    place = {name: n for n, name in enumerate(union.variables)}
    matches = evaluate_naively(replace(union, distinct=False), instance)
    groups: dict[tuple[Any, ...], Counter[tuple[Any, ...]]] = {}
    for row, count in matches.items():
        key = tuple(row[place[v]] for v in union.aggregation.group)
        groups.setdefault(key, Counter())[row] += count
    return {
        key: tuple(aggregate_rows(a, place, rows) for a in union.aggregation.aggregates)
        for key, rows in groups.items()
    }


def aggregate_rows(
    aggregate: Aggregate, place: Mapping[str, int], rows: Counter[tuple[Any, ...]]
) -> Any:
    """The value of an aggregate over rows, counted, whose variables are in some places."""
    if aggregate.argument is None:
        return rows.total()
    if aggregate.second is not None:
        return _relate(aggregate, rows, place[aggregate.argument], place[aggregate.second])
    values: Counter[Any] = Counter()
    for row, count in rows.items():
        if (value := row[place[aggregate.argument]]) is not None:
            values[value] = 1 if aggregate.function.adds_distinct else values[value] + count
    counts = (AggregateFunction.COUNT, AggregateFunction.COUNT_DISTINCT)
    if not values and aggregate.function not in counts:
        return None
    match aggregate.function:
        case AggregateFunction.COUNT:
            return values.total()
        case AggregateFunction.COUNT_DISTINCT:
            return len(values)
        case AggregateFunction.MIN | AggregateFunction.MAX:
            return (min if aggregate.function is AggregateFunction.MIN else max)(values)
        case AggregateFunction.SUM | AggregateFunction.SUM_DISTINCT:
            return sum(Fraction(v) * count for v, count in values.items())
        case AggregateFunction.AVG | AggregateFunction.AVG_DISTINCT:
            return sum(Fraction(v) * count for v, count in values.items()) / values.total()
        case AggregateFunction.VAR_POP | AggregateFunction.VAR_SAMP:
            sample = aggregate.function is AggregateFunction.VAR_SAMP
            n, total = values.total(), sum(Fraction(v) * k for v, k in values.items())
            squares = sum(Fraction(v) ** 2 * k for v, k in values.items())
            return None if n == sample else (squares - total**2 / n) / (n - sample)
        case AggregateFunction.COVAR_POP | AggregateFunction.REGR_SXX:
            raise AssertionError("it has a second argument")
        case AggregateFunction.QUANTILE:
            assert aggregate.fraction is not None
            number = max(ceil(aggregate.fraction * values.total()), 1)
            return sorted(values.elements())[number - 1]
        case AggregateFunction.PERCENTILE:
            assert aggregate.fraction is not None
            every = sorted(Fraction(v) for v in values.elements())
            above = aggregate.fraction * (len(every) - 1)
            low, high = every[floor(above)], every[ceil(above)]
            return low + (high - low) * (above - floor(above))
        case AggregateFunction.LIST | AggregateFunction.LIST_DISTINCT:
            assert aggregate.listing is not None
            return aggregate.listing.write(values, once=aggregate.function.name != "LIST")
        case AggregateFunction.MEDIAN:
            ordered = sorted(Fraction(v) for v in values.elements())
            return (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2
        case _:
            assert_never(aggregate.function)


def _relate(
    aggregate: Aggregate, rows: Counter[tuple[Any, ...]], first: int, second: int
) -> Fraction | float | None:
    """An aggregate of two arguments, whose values are in two places: of what has both."""
    there = [(r[first], r[second], k) for r, k in rows.items() if None not in (r[first], r[second])]
    pairs = [(Fraction(x), Fraction(y), k) for x, y, k in there]
    n = sum(k for *_, k in pairs)
    if aggregate.function is AggregateFunction.COUNT or not n:
        return n if aggregate.function is AggregateFunction.COUNT else None
    total, other = (sum((p[i] * p[2] for p in pairs), Fraction(0)) for i in (0, 1))
    if aggregate.function is AggregateFunction.AVG:
        return total / n
    if aggregate.function is AggregateFunction.REGR_SXX:
        return sum((x * x * k for x, _, k in pairs), Fraction(0)) - total * total / n
    return sum((x * y * k for x, y, k in pairs), Fraction(0)) / n - total * other / (n * n)


def _count(
    query: SpjQuery,
    instance: Instance,
    mark: Callable[[Tuple], int],
    counts: Counter[tuple[tuple[Any, ...], int]],
) -> None:
    """Add the matches of a query, table after table: which rows of two tables go together is
    tested once for each pair, and rows that nothing asks for any more are forgotten."""
    if not all(instance.get(o.table) for o in query.occurrences):
        return  # nothing is joined with no rows
    query = replace(query, occurrences=_order(query))
    order = [o.alias for o in query.occurrences]
    candidates, together = _pair_rows(query, instance)
    shown = {a.alias for _, o in query.outputs for a in output_attributes(o)}
    shown |= {o.value.alias for _, o in query.outputs if isinstance(o, NullOutput)}
    last = [
        len(order) if alias in shown else max((later for later, _ in pairs), default=0)
        for alias, pairs in zip(order, together, strict=True)
    ]
    states: Counter[tuple[tuple[int, ...], int]] = Counter({((), 0): 1})
    steps = 0
    for depth, rows in enumerate(candidates):
        marks = [mark(row) for row in rows]
        earlier = [(e, m) for e in range(depth) for later, m in together[e] if later == depth]
        kept = [last[e] > depth for e in range(depth + 1)]
        after: Counter[tuple[tuple[int, ...], int]] = Counter()
        for (chosen, marked), count in states.items():
            rest = (1 << len(rows)) - 1
            for e, masks in earlier:
                rest &= masks[chosen[e]]
            steps += rest.bit_count() + 1
            add_steps(steps, rest.bit_count() + 1)
            start = tuple(c if keep else 0 for c, keep in zip(chosen, kept, strict=False))
            while rest:
                bit = rest & -rest
                rest ^= bit
                place = bit.bit_length() - 1
                own = place if kept[depth] else 0
                after[(*start, own), marked | marks[place]] += count
        states = after
    for (chosen, marked), count in states.items():
        row = {a: rows[c] for a, rows, c in zip(order, candidates, chosen, strict=True)}
        counts[tuple(_render(o, row) for _, o in query.outputs), marked] += count


def add_steps(mine: int, more: int) -> None:
    """Count work: `mine` of an evaluation so far, of which `more` is new.

    Raises TooLongError: there is too much.
    """
    tick()
    total = _in_all.get()
    if total is not None:
        total[0] += more
    if mine > MAX_STEPS or (total is not None and total[0] > MAX_IN_ALL):
        raise TooLongError


def _order(query: SpjQuery) -> tuple[Occurrence, ...]:
    """The occurrences, those that are compared with each other one after the other."""
    near: dict[str, set[str]] = {o.alias: set() for o in query.occurrences}
    for c in query.conditions:
        aliases = {a.alias for a in condition_attributes(c)}
        for alias in aliases:
            near[alias] |= aliases - {alias}
    waiting = list(query.occurrences)
    placed: list[Occurrence] = []
    while waiting:
        there = {o.alias for o in placed}
        one = max(waiting, key=lambda o: (len(near[o.alias] & there), -len(near[o.alias] - there)))
        waiting.remove(one)
        placed.append(one)
    return tuple(placed)


def _pair_rows(
    query: SpjQuery, instance: Instance
) -> tuple[list[list[Tuple]], list[list[tuple[int, list[int]]]]]:
    """For each occurrence the rows that pass its own conditions; and, for each later one that it is
    compared with, which rows of that go with each of its own, as bits."""
    order = [o.alias for o in query.occurrences]
    tests: dict[tuple[int, ...], list[Test]] = {}
    for c in query.conditions:
        places = tuple(sorted({order.index(a.alias) for a in condition_attributes(c)}))
        tests.setdefault(places, []).append(_test(c))
    candidates = []
    for n, occurrence in enumerate(query.occurrences):
        rows, mine = instance.get(occurrence.table, ()), tests.get((n,), [])
        candidates.append([r for r in rows if all(test({order[n]: r}) for test in mine)])
    together: list[list[tuple[int, list[int]]]] = [[] for _ in order]
    for places, both in tests.items():
        if len(places) < 2:
            continue
        first, second = places
        masks = []
        for one in candidates[first]:
            tick()
            mask = 0
            for n, other in enumerate(candidates[second]):
                row = {order[first]: one, order[second]: other}
                if all(test(row) for test in both):
                    mask |= 1 << n
            masks.append(mask)
        together[first].append((second, masks))
    return candidates, together


def _test(c: Condition) -> Test:
    """What a row of every table must pass; comparisons with NULL do not hold."""
    if isinstance(c, NotNull):
        alias, column = c.attribute.alias, c.attribute.column
        return lambda row: row[alias].get(column) is not None
    if isinstance(c, OneOf):
        alias, column, values = c.attribute.alias, c.attribute.column, c.values
        return lambda row: row[alias].get(column) in values
    if isinstance(c, IsNull):
        alias, column = c.attribute.alias, c.attribute.column
        return lambda row: row[alias].get(column) is None
    left, name = c.left.alias, c.left.column
    compare = _OPERATORS[c.op]
    if isinstance(c.right, Constant):
        constant: Any = c.right.value

        def with_constant(row: Mapping[str, Tuple]) -> bool:
            content = row[left].get(name)
            return content is not None and bool(compare(content, constant))

        return with_constant
    other, right, offset = c.right.alias, c.right.column, c.offset

    def with_another(row: Mapping[str, Tuple]) -> bool:
        content, partner = row[left].get(name), row[other].get(right)
        if content is None or partner is None:
            return False
        if offset:
            partner = partner + (float(offset) if isinstance(partner, float) else offset)
        return bool(compare(content, partner))

    return with_another


_OPERATORS: dict[Op, Callable[[Any, Any], Any]] = {
    Op.LT: operator.lt,
    Op.LE: operator.le,
    Op.EQ: operator.eq,
    Op.GE: operator.ge,
    Op.GT: operator.gt,
    Op.NE: operator.ne,
}


def _render(output: Output, row: Mapping[str, Tuple]) -> Any:
    match output:
        case LiteralOutput(value=a):
            return row[a.alias].get(a.column)
        case ConstantOutput(value=value):
            return value
        case NullOutput():
            return None
        case IriOutput(parts=parts) | TemplateLiteralOutput(parts=parts) | BlankOutput(parts=parts):
            return "".join(
                p if isinstance(p, str) else str(row[p.alias].get(p.column)) for p in parts
            )
