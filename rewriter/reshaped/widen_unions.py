"""Numbers of several types in one column of a UNION, in their common type."""

from typing import TYPE_CHECKING

from ontoweir.mappings.expressions.build import DIGITS
from ontoweir.mappings.model.catalog import (
    Catalog,
    ColumnType,
    DecimalType,
    FloatType,
    IntType,
    Relation,
    Stream,
)
from ontoweir.mappings.sql.read_literal import read_literal
from ontoweir.mappings.sql.read_scope import Scope, SqlRefusal, find_name
from ontoweir.mappings.sql_expressions.read_row_expression import read_row_expression

if TYPE_CHECKING:
    from sqlglot import exp

_PLAIN = {"expressions", "from_", "joins", "where", "kind"}
_WHOLE = 20
"""Digits of an int of 64 bits, in Spark's DECIMAL(20, 0)."""


def widen_unions(tree: "exp.Query", catalog: Catalog) -> "exp.Query":
    """A query whose UNIONs show numbers of one type in each column; it is changed in place.

    As in Spark, ints beside decimals are decimals, and beside doubles both are doubles; a decimal
    has as many digits as its values need (Spark's decimals of other sizes have the same values). A
    column stays as it is, and is refused where it is read, if a decimal would need more digits than
    there are, if the type of a part is not known here (as of groups), and where a UNION or DISTINCT
    inside of a UNION ALL removes duplicates of one type before they are cast.

    Args:
        tree: the query, before its subqueries are merged.
        catalog: the tables.
    """
    from sqlglot import exp

    for union in [u for u in tree.find_all(exp.Union) if not _is_inside(u)]:
        parts = _list_parts(union, is_set=bool(union.args.get("distinct")))
        if parts is None or len({len(part.expressions) for part in parts}) != 1:
            continue
        for place in range(len(parts[0].expressions)):
            _widen(parts, place, catalog)
    return tree


def _is_inside(union: "exp.Union") -> bool:
    """Whether it is a part of a set operation."""
    from sqlglot import exp

    around = union.parent
    while isinstance(around, exp.Subquery) and not around.alias:
        around = around.parent
    return isinstance(around, exp.SetOperation)


def _list_parts(query: "exp.Expr", *, is_set: bool) -> "list[exp.Select] | None":
    """The SELECTs of a UNION, of rows each by itself (None: there is something else)."""
    from sqlglot import exp

    if isinstance(query, exp.Select):
        allowed = _PLAIN | ({"distinct"} if is_set else set())
        distinct = query.args.get("distinct")
        if {k for k, v in query.args.items() if v} - allowed or (distinct and distinct.args["on"]):
            return None
        called = (exp.AggFunc, exp.Window, exp.Star)
        return None if any(e.find(*called) for e in query.expressions) else [query]
    if isinstance(query, exp.Subquery) and not query.alias:
        return _list_parts(query.this, is_set=is_set)
    if type(query) is not exp.Union or (query.args.get("distinct") and not is_set):
        return None
    sides = [_list_parts(s, is_set=is_set) for s in (query.this, query.expression)]
    return None if sides[0] is None or sides[1] is None else [*sides[0], *sides[1]]


def _widen(parts: "list[exp.Select]", place: int, catalog: Catalog) -> None:
    from sqlglot import exp

    items = [part.expressions[place] for part in parts]
    values = [item.unalias() for item in items]
    known = [
        None if isinstance(v.unnest(), exp.Null) else _type_of(v, part, catalog)
        for v, part in zip(values, parts, strict=True)
    ]
    shown = [k for k, v in zip(known, values, strict=True) if not isinstance(v.unnest(), exp.Null)]
    common = find_common(shown)
    if common is None:
        return
    for item, value, kind in zip(items, values, known, strict=True):
        if kind is None or type(kind) is type(common):
            continue
        name = item.alias_or_name or value.sql("spark")
        item.replace(exp.alias_(_cast(value, common), name, quoted=True))


def find_common(kinds: list[ColumnType | None]) -> ColumnType | None:
    """The type of numbers of several types (None: it is one type, or there is none)."""
    decimals, whole = list[DecimalType](), 0
    types = set[type]()
    for kind in kinds:
        types.add(type(kind))
        match kind:
            case IntType():
                whole = max(whole, _WHOLE)
            case DecimalType(precision=precision, scale=scale):
                decimals.append(kind)
                whole = max(whole, precision - scale)
            case FloatType():
                pass
            case _:
                return None
    if len(types) < 2:
        return None
    if FloatType in types:
        return FloatType()
    scale = max(d.scale for d in decimals)
    return DecimalType(whole + scale, scale) if whole + scale <= DIGITS else None


def _cast(value: "exp.Expr", kind: ColumnType) -> "exp.Expr":
    """A value in a wider type: a constant is written as one of it."""
    from sqlglot import exp

    inner = value.unnest()
    number = inner.this.unnest() if isinstance(inner, exp.Neg) else inner
    if isinstance(number, exp.Literal):
        mark = "e0" if isinstance(kind, FloatType) else ".0"
        made: exp.Expr = exp.Literal.number(f"{number.name}{mark}")
        return exp.Neg(this=made) if isinstance(inner, exp.Neg) else made
    if isinstance(kind, DecimalType):
        return exp.cast(value.copy(), f"decimal({kind.precision}, {kind.scale})")
    return exp.cast(value.copy(), "double")


def _type_of(value: "exp.Expr", part: "exp.Select", catalog: Catalog) -> ColumnType | None:
    """The type of an expression of a row of the tables of FROM, and of subqueries that show it."""
    from sqlglot import exp

    inner = value.unnest()
    number = inner.this.unnest() if isinstance(inner, exp.Neg) else inner
    if isinstance(number, exp.Literal) and not number.is_string:
        if "e" in number.name.lower():
            return FloatType()
        if not number.name.isdigit():
            whole, _, behind = number.name.partition(".")
            return DecimalType(len(whole) + len(behind), len(behind))
        small = isinstance(read_literal(number), int) and int(number.name) < 2**63
        return IntType() if small else None
    tables = _list_tables(part, catalog)
    if tables is None:
        return None
    try:
        return read_row_expression(value.copy(), Scope(catalog, tables)).type
    except SqlRefusal:
        return None


def _list_tables(select: "exp.Select", catalog: Catalog) -> dict[str, Stream | Relation] | None:
    """The tables of FROM and its joins by their aliases (None: there is something else)."""
    from sqlglot import exp

    named = {c.alias.lower() for c in select.root().find_all(exp.CTE)}
    places = [select.args.get("from_"), *(select.args.get("joins") or ())]
    tables: dict[str, Stream | Relation] = {}
    for item in [p.this for p in places if p is not None]:
        known = [*catalog.streams, *catalog.relations]
        name = find_name(item.name, known) if isinstance(item, exp.Table) else None
        if name is None or name.lower() in named:
            return None
        tables[item.alias_or_name] = catalog.table(name)
    return tables
