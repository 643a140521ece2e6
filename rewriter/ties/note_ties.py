"""What is said of rows that an order leaves equal."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ontoweir.mappings.sql.show_sql import show_sql
from ontoweir.rewriter.model.spj import SpjUnion

if TYPE_CHECKING:
    from sqlglot import exp


def note_ties(union: SpjUnion, order: str, rest: Sequence[str]) -> SpjUnion:
    """The query, which says by which columns rows follow each other that its order leaves equal.

    SQL and SPARQL let any of them be the first; here it is the same one in a replay, a range of it
    and live.

    Args:
        union: the query.
        order: how rows are ordered, as it is written: `ORDER BY n DESC`.
        rest: the columns by which such rows are ordered, ascending, NULL first.
    """
    said = describe_ties(order, ", ".join(rest))
    return union if said in union.ties else replace(union, ties=(*union.ties, said))


def describe_ties(order: str, rest: str) -> str:
    """What is said of rows that an order leaves equal."""
    return f"rows that are equal in {order} follow each other by {rest}"


def show_order(order: "exp.Order") -> str:
    """An order as it is said: `ORDER BY n DESC`."""
    falls = (" DESC" if item.args.get("desc") else "" for item in order.expressions)
    items = (show_sql(item.this) for item in order.expressions)
    return f"ORDER BY {', '.join(i + f for i, f in zip(items, falls, strict=True))}"


def list_ties(union: SpjUnion) -> tuple[str, ...]:
    """What is said of equal rows, of a query and of those that it reads, each once."""
    return tuple(dict.fromkeys(_walk(union)))


def _walk(union: SpjUnion) -> Iterator[str]:
    yield from union.ties
    for block in union.blocks:
        yield from _walk(block.union)
    for part in () if union.joined is None else union.joined.parts:
        yield from _walk(part.query)
