"""The first rows of each key in an order, of several streams: ROW_NUMBER() over UNION ALL."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from ontoweir.rewriter.model.aggregation import FirstRows, Numbering, Standing
from ontoweir.rewriter.model.spj import LiteralOutput, SpjUnion
from ontoweir.rewriter.nulls.null_places import NullPlaces
from ontoweir.rewriter.ties.note_ties import note_ties, show_order

if TYPE_CHECKING:
    from sqlglot import exp

_HIDDEN = "of the first: "
_SIDE = f"{_HIDDEN}side"


def first_of_union(
    rows: "exp.Select", window: "exp.Window", read: "Callable[..., SpjUnion]"
) -> SpjUnion | None:
    """The rows of each key with number 1, of all that came (None: they are of one stream, or the
    key or the order is no column).

    Rows that are equal in the order of ROW_NUMBER follow each other by the sides of UNION ALL, and
    then by what they show.

    Args:
        rows: the rows, of a UNION ALL, without their number.
        window: ROW_NUMBER, RANK or DENSE_RANK, by a key, in an order.
        read: reads a query, of which the columns at some places may be NULL.
    """
    from sqlglot import exp

    keys, order = window.args["partition_by"], window.args["order"].expressions
    asked = [*keys, *(o.this for o in order)]
    if not all(isinstance(column, exp.Column) for column in asked):
        return None
    wide, count = rows.copy(), len(rows.expressions)
    alone = isinstance(window.this, exp.RowNumber)
    if alone:
        asked.append(_number_sides(wide))
    for n, column in enumerate(asked):
        wide.append("expressions", exp.alias_(column.copy(), f"{_HIDDEN}{n}", quoted=True))
    made = read(wide, NullPlaces(shown=frozenset(range(len(wide.expressions)))))
    if not is_of_streams(made):
        return None
    shown, hidden = made.variables[:count], made.variables[count:]
    by = [
        (name, bool(o.args.get("desc")), bool(o.args.get("nulls_first")))
        for name, o in zip(hidden[len(keys) :], order, strict=False)
    ]
    if alone:
        rest = [v for v in shown if any(_is_column(dict(q.outputs)[v]) for q in made.disjuncts)]
        by += [(name, False, True) for name in (hidden[-1], *rest)]
        said = ["the side of UNION ALL", *(e.alias_or_name for e in rows.expressions)]
        made = note_ties(made, show_order(window.args["order"]), said)
    numbering = Numbering.ROWS if alone else Numbering.RANKS
    first = FirstRows(numbering, 1, tuple(by))
    return replace(made, standing=Standing(hidden[: len(keys)], hidden=hidden, first=first))


def is_of_streams(union: SpjUnion) -> bool:
    """Whether a query is of the rows of several streams, as they come."""
    beyond = union.ends or union.begins or union.blocks or union.aggregation or union.distinct
    return not beyond and union.standing is None and len(union.disjuncts) > 1


def _number_sides(rows: "exp.Select") -> "exp.Column":
    """A column that tells the sides of the UNION ALL apart, in place."""
    from sqlglot import exp

    todo = [rows.args["from_"].this.this]
    number = 0
    while todo:
        side = todo.pop(0).unnest()
        if isinstance(side, exp.Union):
            todo[:0] = [side.this, side.expression]
            continue
        side.append("expressions", exp.alias_(exp.Literal.number(number), _SIDE, quoted=True))
        number += 1
    return exp.column(_SIDE, quoted=True)


def _is_column(output: object) -> bool:
    return isinstance(output, LiteralOutput)
