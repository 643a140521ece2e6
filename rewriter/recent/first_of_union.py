"""The first rows of each key in an order, of several streams: ROW_NUMBER() over UNION ALL."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import IntType
from ontoweir.mappings.model.column_types import XSD
from ontoweir.rewriter.model.aggregation import FirstRows, Numbering, Standing
from ontoweir.rewriter.model.spj import ConstantOutput, LiteralOutput, SpjUnion
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
    for n, column in enumerate(asked):
        wide.append("expressions", exp.alias_(column.copy(), f"{_HIDDEN}{n}", quoted=True))
    made = read(wide, NullPlaces(shown=frozenset(range(len(wide.expressions)))))
    if not is_of_streams(made):
        return None
    shown, hidden = made.variables[:count], made.variables[count:]
    by = [
        (name, bool(o.args.get("desc")), bool(o.args.get("nulls_first")))
        for name, o in zip(hidden[len(keys) :], order, strict=True)
    ]
    numbering = Numbering.RANKS
    if isinstance(window.this, exp.RowNumber):
        numbering = Numbering.ROWS
        made = _number_sides(made)
        rest = [v for v in shown if any(_is_column(dict(q.outputs)[v]) for q in made.disjuncts)]
        by += [(name, False, True) for name in (_SIDE, *rest)]
        said = ["the side of UNION ALL", *(e.alias_or_name for e in rows.expressions)]
        made, hidden = note_ties(made, show_order(window.args["order"]), said), (*hidden, _SIDE)
    first = FirstRows(numbering, 1, tuple(by))
    return replace(made, standing=Standing(hidden[: len(keys)], hidden=hidden, first=first))


def is_of_streams(union: SpjUnion) -> bool:
    """Whether a query is of the rows of several streams, as they come."""
    beyond = union.ends or union.begins or union.blocks or union.aggregation or union.distinct
    return not beyond and union.standing is None and len(union.disjuncts) > 1


def _number_sides(union: SpjUnion) -> SpjUnion:
    """The query with a variable that tells its disjuncts apart."""
    disjuncts = []
    for number, query in enumerate(union.disjuncts):
        side = ConstantOutput(str(number), False, f"{XSD}integer", kind=IntType())
        disjuncts.append(replace(query, outputs=(*query.outputs, (_SIDE, side))))
    return replace(union, variables=(*union.variables, _SIDE), disjuncts=tuple(disjuncts))


def _is_column(output: object) -> bool:
    return isinstance(output, LiteralOutput)
