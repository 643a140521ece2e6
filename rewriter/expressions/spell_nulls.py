"""NULL that is selected, as an expression of a row that has a type."""

from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, ColumnType, DateType, TimestampType
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import Scope, SqlRefusal, find_name
from ontoweir.mappings.sql_expressions.read_row_expression import read_row_expression
from ontoweir.rewriter.expressions.spell_constants import find_column
from ontoweir.rewriter.nulls.type_null import sample

if TYPE_CHECKING:
    from sqlglot import exp


def spell_nulls(tree: "exp.Query", catalog: Catalog) -> None:
    """Let each NULL that a SELECT shows be computed of a column, in place: CAST(NULL AS type), and,
    in a part of a UNION, NULL of the type that another part shows at its place.

    Raises:
        SqlRefusal: no other part says of which type it is.
    """
    from sqlglot import exp

    for select in list(tree.find_all(exp.Select)):
        for place, item in enumerate(select.expressions):
            value = item.unalias().unnest()
            cast = isinstance(value, exp.Cast) and isinstance(value.this, exp.Null)
            if not cast and not isinstance(value, exp.Null):
                continue
            like = _sample_of(value.to) if cast else _find_like(select, place, catalog)
            column: exp.Expr | None = find_column(select, catalog)
            groups = select.args.get("group") is not None or _aggregates(select)
            if column is None or (like is None and _united(select) is None):
                continue  # it is refused where it is read
            if like is None:
                raise SqlRefusal(
                    "NULL in a part of UNION, of which no other part shows a column there",
                    why="all values of a column are of one type",
                    fix="write its type, as in CAST(NULL AS BIGINT)",
                    line=line_of(item) or line_of(select),
                )
            never: exp.Expr = exp.NEQ(this=column.copy(), expression=column.copy())
            if groups:  # of the row of a group
                never = exp.LT(this=exp.Count(this=exp.Star()), expression=exp.Literal.number(0))
            made = exp.Case(ifs=[exp.If(this=never, true=like)])
            names = [e.alias for e in select.expressions]
            called = "NULL" if "NULL" not in names else f"NULL {place + 1}"
            item.replace(exp.alias_(made, item.alias or called, quoted=True))


def _united(select: "exp.Select") -> "exp.Expr | None":
    """The outermost UNION that a SELECT is a part of (None: it is none)."""
    from sqlglot import exp

    found, around = None, select.parent
    while isinstance(around, (exp.Union, exp.Subquery, exp.Paren)):
        found = around if isinstance(around, exp.Union) else found
        around = around.parent
    return found


def _find_like(select: "exp.Select", place: int, catalog: Catalog) -> "exp.Expr | None":
    """A constant of the type that another part shows at a place."""
    from sqlglot import exp

    united = _united(select)
    for part in [] if united is None else united.find_all(exp.Select):
        if _united(part) is not united or place >= len(part.expressions):
            continue
        value = part.expressions[place].unalias().unnest()
        if isinstance(value, (exp.Literal, exp.Boolean)):
            return value.copy()
        if isinstance(value, (exp.Cast, exp.TryCast)) and (made := _sample_of(value.to)):
            return made
        absent = isinstance(value, exp.Null)
        kind = None if absent else _type_of(value, part, catalog)
        if kind is not None:
            return sample(kind)
    return None


def _aggregates(select: "exp.Select") -> bool:
    """Whether a SELECT has aggregates, and so groups."""
    from sqlglot import exp

    found = [a for e in select.expressions for a in e.find_all(exp.AggFunc)]
    return any(a.find_ancestor(exp.Window, exp.Select) is select for a in found)


def _type_of(value: "exp.Expr", part: "exp.Select", catalog: Catalog) -> ColumnType | None:
    """The type of an expression of a row of the declared tables of FROM."""
    from sqlglot import exp

    named = {c.alias.lower() for c in part.root().find_all(exp.CTE)}
    places = [part.args.get("from_"), *(part.args.get("joins") or ())]
    tables = {}
    for item in [p.this for p in places if p is not None]:
        known = [*catalog.streams, *catalog.relations]
        name = find_name(item.name, known) if isinstance(item, exp.Table) else None
        if name is not None and name.lower() not in named:
            tables[item.alias_or_name] = catalog.table(name)
    try:
        return read_row_expression(value.copy(), Scope(catalog, tables)).type
    except SqlRefusal:
        return None


def _sample_of(kind: "exp.DataType") -> "exp.Expr | None":
    """A constant of a type of SQL."""
    from sqlglot import exp

    text = exp.DataType.Type
    if kind.this in exp.DataType.TEXT_TYPES:
        return exp.Literal.string("")
    if kind.this is text.BOOLEAN:
        return exp.true()
    if kind.this is text.DATE:
        return sample(DateType())
    if kind.this in exp.DataType.TEMPORAL_TYPES:
        return sample(TimestampType())
    if kind.this in exp.DataType.NUMERIC_TYPES:
        return exp.Cast(this=exp.Literal.number(0), to=kind.copy())
    return None
