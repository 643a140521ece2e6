"""Which columns of streams queries join, and how long rows come after those that they join."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import permutations
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, FloatType
from ontoweir.rewriter.model.spj import Attribute, Compare, Op, SpjQuery, SpjUnion
from ontoweir.rewriter.views.find_origins import find_origins

if TYPE_CHECKING:
    from ontoweir.runtime.measure.measured import MeasuredLag, MeasuredStream


@dataclass(frozen=True, slots=True, order=True)
class Join:
    """Rows of `stream` join those of `behind`: its `column` has their value of `to`."""

    stream: str
    column: str
    behind: str
    to: str


def find_joins(unions: Iterable[SpjUnion], catalog: Catalog) -> tuple[Join, ...]:
    """The joins of columns of two streams, or of two columns of one, from both sides.

    Args:
        unions: queries, unfolded.
        catalog: the tables.
    """
    return tuple(sorted({join for union in unions for join in _list_joins(union, catalog)}))


def measure_lags(
    joins: Iterable[Join], measured: "Mapping[str, MeasuredStream]"
) -> "dict[Join, MeasuredLag | None]":
    """How long rows come after those that they join (None: there are too many values to tell, or
    rows that came too late to be looked at)."""
    from ontoweir.runtime.measure.measure_lag import measure_lag

    found: dict[Join, MeasuredLag | None] = {}
    for join in joins:
        one, other = measured[join.stream], measured[join.behind]
        mine, others = one.spans.get(join.column), other.spans.get(join.to)
        told = mine is not None and others is not None and not one.left_out + other.left_out
        lag = measure_lag(mine, others) if told and mine and others else None
        once = one.columns[join.column].most_rows == 1
        found[join] = lag if lag is None else replace(lag, one=once)
    return found


def _list_joins(union: SpjUnion, catalog: Catalog) -> Iterator[Join]:
    views = {view.name: view for view in union.views}
    for query in union.disjuncts:
        tables = {o.alias: o.table for o in query.occurrences}
        for equal in _equate(query):
            for left, right in permutations(equal, 2):
                if left.alias == right.alias:
                    continue
                for stream, column in find_origins(tables[left.alias], left.column, views):
                    for behind, to in find_origins(tables[right.alias], right.column, views):
                        if (stream, column) == (behind, to):
                            continue  # how far rows of one value are apart is told of the column
                        if _is_column(stream, column, catalog) and _is_column(behind, to, catalog):
                            yield Join(stream, column, behind, to)
    for block in union.blocks:
        for inner in block.queries:
            yield from _list_joins(inner, catalog)


def _equate(query: SpjQuery) -> Iterable[set[Attribute]]:
    """The classes of equal attributes."""
    classes: dict[Attribute, set[Attribute]] = {}
    for condition in query.conditions:
        match condition:
            case Compare(left=left, op=Op.EQ, right=Attribute() as right, offset=0):
                both = classes.get(left, {left}) | classes.get(right, {right})
                classes.update(dict.fromkeys(both, both))
            case _:
                pass
    return {id(c): c for c in classes.values()}.values()


def _is_column(name: str, column: str, catalog: Catalog) -> bool:
    """Whether it is a column of a stream, of values that are compared exactly."""
    stream = catalog.streams.get(name)
    if stream is None or stream.versions is not None:
        return False
    found = stream.column(column)
    return found is not None and not isinstance(found.type, FloatType)
