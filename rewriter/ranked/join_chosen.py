"""Numbered rows that a register chooses, as rows joined with it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Relation, Stream
from ontoweir.mappings.sql.read_scope import SqlRefusal, column_names, find_name
from ontoweir.rewriter.greatest.compare_extremes import compare_extremes
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.latest_rows import is_plain
from ontoweir.rewriter.joins.own_nodes import is_number, list_own, list_windows
from ontoweir.rewriter.joins.read_later import read_later
from ontoweir.rewriter.latest.compare_all import compare_all
from ontoweir.rewriter.latest.name_later import name_later

if TYPE_CHECKING:
    from sqlglot import exp

_PLAIN = frozenset({"expressions", "from_", "where", "qualify", "windows", "distinct", "order"})
_INNER = frozenset({"expressions", "from_", "where"})


@dataclass(frozen=True, slots=True)
class _Chosen:
    """A condition, the rows of a relation by which it is true, what is said of these, and the
    columns of the stream that this reads."""

    condition: "exp.Expr"
    table: "exp.Table"
    said: "Sequence[exp.Expr]"
    columns: frozenset[str]


def join_chosen(tree: "exp.Query", catalog: Catalog) -> "exp.Query":
    """FROM s CROSS JOIN r WHERE r.id = s.k for FROM s WHERE s.k IN (SELECT id FROM r), or EXISTS,
    where rows of a stream are numbered by columns, or there is no later one of their key, and a key
    of the relation is compared, so that a row meets one at most; in place.

    Where there is no later one, the register looks at the key alone, so that it chooses all rows of
    a key or none, and the rows that are chosen are numbered.

    Args:
        tree: the query, whose names are as they were written.
        catalog: the tables.
    """
    from sqlglot import exp

    for select in list(tree.find_all(exp.Select)):
        start, where = select.args.get("from_"), select.args.get("where")
        table = None if start is None else start.this
        plain = {k for k, v in select.args.items() if v} <= _PLAIN
        if not plain or where is None or not isinstance(table, exp.Table) or not is_plain(table):
            continue
        stream = catalog.streams.get(find_name(table.name, catalog.streams) or "")
        if stream is None or stream.versions is not None:
            continue
        found: list[_Chosen] = []
        for condition in split_conjuncts(where.this):
            made = _read(condition, table.alias_or_name, stream, catalog, len(found))
            found += [] if made is None else [made]
        if found and (_is_numbered(select) or _number(select, stream, found, catalog)):
            _join(select, table.alias_or_name, stream, found)
    return tree


def _is_numbered(select: "exp.Select") -> bool:
    """Whether its rows are numbered by columns."""
    from sqlglot import exp

    distinct = select.args.get("distinct")
    if distinct is not None:
        return distinct.args.get("on") is not None
    windows = list_windows(select)
    parts = [p for w in windows for p in w.args.get("partition_by") or ()]
    plain = all(isinstance(p, exp.Column) for p in parts)
    return bool(windows) and plain and all(map(is_number, windows))


def _read(
    condition: "exp.Expr", alias: str, stream: Stream, catalog: Catalog, number: int
) -> _Chosen | None:
    """The condition as rows of a relation, of which a row of the stream meets one at most."""
    from sqlglot import exp

    asked, compared = condition.unnest(), list[exp.Expr]()
    inner: exp.Expr | None = None
    if isinstance(asked, exp.Exists):
        inner = asked.this
    elif isinstance(asked, exp.In) and asked.args.get("query") is not None:
        inner = asked.args["query"].unnest()
    if not isinstance(inner, exp.Select) or {k for k, v in inner.args.items() if v} - _INNER:
        return None
    table = inner.args["from_"].this if inner.args.get("from_") is not None else None
    if not isinstance(table, exp.Table) or not is_plain(table):
        return None
    relation = catalog.relations.get(find_name(table.name, catalog.relations) or "")
    if relation is None or inner.find(exp.AggFunc, exp.Window):
        return None
    own, named = table.alias_or_name.lower(), f"{table.alias_or_name} chosen {number + 1}"
    if isinstance(asked, exp.In):
        value = asked.this.unnest()
        values = value.expressions if isinstance(value, exp.Tuple) else [value]
        if len(values) != len(inner.expressions):
            return None
        sides = zip(inner.expressions, values, strict=True)
        compared = [exp.EQ(this=i.unalias().copy(), expression=v.copy()) for i, v in sides]
    where = inner.args.get("where")
    inside = [] if where is None else [c.copy() for c in split_conjuncts(where.this)]
    outer = {id(c) for eq in compared for c in eq.expression.find_all(exp.Column)}
    read = set[str]()
    said = [*compared, *inside]
    if any(s.find(exp.Query) for s in said):
        return None
    for column in [c for s in said for c in s.find_all(exp.Column)]:
        mine = find_name(column.name, [*column_names(relation)])
        theirs = find_name(column.name, [*column_names(stream)])
        of = column.table.lower()
        if mine is not None and id(column) not in outer and of in ("", own):
            column.set("table", exp.to_identifier(named, quoted=True))
        elif theirs is not None and of in ("", alias.lower()):
            column.set("table", exp.to_identifier(alias, quoted=True))
            read.add(theirs)
        else:
            return None
    keyed = {n for s in said if (n := _equal(s, named, relation)) is not None}
    if not any({*key} <= keyed for key in relation.keys):
        return None
    made = exp.Table(this=exp.to_identifier(relation.name, quoted=True))
    made.set("alias", exp.TableAlias(this=exp.to_identifier(named, quoted=True)))
    return _Chosen(condition, made, said, frozenset(read))


def _equal(condition: "exp.Expr", alias: str, relation: Relation) -> str | None:
    """The column of the relation that equals a value of the stream's row, or a constant."""
    from sqlglot import exp

    one = condition.unnest()
    if not isinstance(one, exp.EQ):
        return None
    for side, other in ((one.this.unnest(), one.expression), (one.expression.unnest(), one.this)):
        mine = isinstance(side, exp.Column) and side.table == alias
        if mine and all(c.table != alias for c in other.find_all(exp.Column)):
            return find_name(side.name, [c.name for c in relation.columns])
    return None


def _number(
    select: "exp.Select", stream: Stream, found: Sequence[_Chosen], catalog: Catalog
) -> bool:
    """Number the rows beside which there is no later one of their key; whether they are such."""
    from sqlglot import exp

    rows, where = select.copy(), select.args["where"]
    chosen = [c.condition for c in found]
    rest = [c.copy() for c in split_conjuncts(where.this) if not any(c is d for d in chosen)]
    if not rest or list_windows(select) or select.args.get("distinct"):
        return False
    rows.set("where", exp.Where(this=exp.and_(*rest)))
    try:
        compare_all(rows, catalog)
        name_later(rows)
        compare_extremes(rows, catalog)
    except SqlRefusal:
        return False
    latest = read_later(rows, catalog)
    if latest is None or latest.key is None or not isinstance(latest.tree, exp.Select):
        return False
    keys = [latest.tree.selects[n].unalias() for n in latest.key]
    names = {find_name(k.name, [*column_names(stream)]) for k in keys}
    if not all(c.columns <= names for c in found):
        return False
    time = exp.Ordered(this=exp.column(stream.timestamp), desc=True, nulls_first=False)
    window = exp.Window(
        this=exp.Rank(),
        partition_by=[k.copy() for k in keys],
        order=exp.Order(expressions=[time]),
    )
    left = latest.tree.args.get("where")
    kept = [*chosen, *([] if left is None else split_conjuncts(left.this))]
    where.set("this", exp.and_(*kept, copy=False))
    one = exp.EQ(this=window, expression=exp.Literal.number(1))
    select.set("qualify", exp.Qualify(this=one))
    return True


def _join(select: "exp.Select", alias: str, stream: Stream, found: Sequence[_Chosen]) -> None:
    """Put the relations into FROM, and what is said of them into the place of the conditions."""
    from sqlglot import exp

    names = [*column_names(stream)]
    for one in found:
        one.condition.replace(exp.paren(exp.and_(*one.said)))
        select.append("joins", exp.Join(this=one.table, kind="CROSS"))
    items: list[exp.Expr] = []
    for item in select.expressions:
        star = isinstance(item, exp.Star) and not any(item.args.values())
        items.append(exp.Column(this=exp.Star(), table=exp.to_identifier(alias)) if star else item)
    select.set("expressions", items)
    for column in list_own(select, exp.Column):
        name = find_name(column.name, names) if not column.args.get("table") else None
        if name is not None:
            column.set("table", exp.to_identifier(alias, quoted=True))
