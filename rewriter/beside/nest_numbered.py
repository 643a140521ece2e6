"""Numbered rows of static relations and a stream, as the relations with its latest rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.sql.read_scope import Scope
from ontoweir.rewriter.beside.nest_correlated import number_latest
from ontoweir.rewriter.differences.name_columns import qualify
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.latest_rows import is_plain
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.joins.own_nodes import is_number
from ontoweir.rewriter.joins.read_latest import equals_one, named_windows

if TYPE_CHECKING:
    from sqlglot import exp


@dataclass(frozen=True, slots=True)
class Pairs:
    """A LEFT JOIN of static relations with a stream called `alias`: `local` is said of its rows,
    and columns of it are `equal` to those of the relations."""

    join: "exp.Join"
    alias: str
    local: "tuple[exp.Expr, ...]"
    equal: "Mapping[exp.Expr, exp.Expr]"

    def put(self, select: "exp.Select", rows: "exp.Select", on: "Sequence[exp.Expr]") -> None:
        """A subquery in the place of the stream, in a copy of the SELECT; in place."""
        from sqlglot import exp

        join = next(j for j in select.args["joins"] if j.args.get("side"))
        named = exp.TableAlias(this=exp.to_identifier(self.alias, quoted=True))
        join.set("this", exp.Subquery(this=rows, alias=named))
        join.set("on", exp.and_(*(c.copy() for c in on)))


def read_pairs(tree: "exp.Select", catalog: Catalog) -> Pairs | None:
    """The LEFT JOIN of a SELECT over static relations with a stream, whose WHERE is of the
    relations alone (None: it is something else)."""
    from sqlglot import exp

    scope = list_tables(tree, catalog)
    joins = tree.args.get("joins") or ()
    outer = [j for j in joins if j.args.get("side")]
    if len(outer) != 1 or len(scope.tables) != 1 + len(joins) or outer[0].args.get("using"):
        return None
    join, on = outer[0], outer[0].args.get("on")
    alias = join.this.alias_or_name
    streams = [a for a, t in scope.tables.items() if isinstance(t, Stream)]
    left = str(join.args.get("side")).upper() == "LEFT" and not join.args.get("method")
    if not left or join.args.get("kind") or streams != [alias] or on is None:
        return None
    said = [qualify(c, scope) for c in split_conjuncts(on)]
    where = tree.args.get("where")
    around = None if where is None else qualify(where.this, scope)
    if any(c is None or c.find(exp.Query) for c in said):
        return None
    if where is not None and (around is None or around.find(exp.Query) or _reads(around, alias)):
        return None
    conditions = [c for c in said if c is not None]
    local = [c for c in conditions if all(n.table == alias for n in c.find_all(exp.Column))]
    equal: dict[exp.Expr, exp.Expr] = {}
    for one in (c for c in conditions if c not in local):
        sides = [one.this.unnest(), one.expression.unnest()] if isinstance(one, exp.EQ) else []
        mine = [s for s in sides if isinstance(s, exp.Column) and s.table == alias]
        others = [s for s in sides if isinstance(s, exp.Column) and s.table != alias]
        if len(mine) != 1 or len(others) != 1 or mine[0] in equal:
            return None
        equal[mine[0]] = others[0]
    return Pairs(join, alias, tuple(local), equal) if equal else None


def nest_numbered(tree: "exp.Select", catalog: Catalog) -> "exp.Select":
    """LEFT JOIN (the latest row of each key) for LEFT JOIN s … QUALIFY ROW_NUMBER() OVER (PARTITION
    BY r.k ORDER BY s.ts DESC) = 1, and for DISTINCT ON (r.k) … ORDER BY r.k, s.ts DESC, where each
    row of the relations is numbered by itself; else as it is."""
    from sqlglot import exp

    pairs, found = read_pairs(tree, catalog), _find_number(tree)
    if pairs is None or found is None:
        return tree
    parted, order = found
    scope, alias = list_tables(tree, catalog), pairs.alias
    stream = scope.tables[alias]
    assert isinstance(stream, Stream)
    keys, time = [qualify(k, scope) for k in parted], qualify(order, scope)
    if time is None or not tells_rows(keys, pairs.equal, scope, alias):
        return tree
    if time != exp.column(stream.timestamp, alias, quoted=True):
        return tree
    rows = exp.Select(expressions=[exp.Star()])
    rows.set("from_", exp.From(this=pairs.join.this.copy()))
    if pairs.local:
        rows.where(*(c.copy() for c in pairs.local), copy=False)
    number_latest(rows, list(pairs.equal), time)
    made = tree.copy()
    for key in ("qualify", "order", "distinct"):
        made.set(key, None)
    made.set("expressions", [e for e in made.expressions if not is_number(e.unalias())])
    equal = [exp.EQ(this=own.copy(), expression=of.copy()) for own, of in pairs.equal.items()]
    pairs.put(made, rows, equal)
    return made


def _find_number(tree: "exp.Select") -> "tuple[list[exp.Expr], exp.Expr] | None":
    """By what rows are numbered, and in which order, from the last one on (None: they are not)."""
    from sqlglot import exp

    distinct, said = tree.args.get("distinct"), tree.args.get("qualify")
    order = tree.args.get("order")
    if any(tree.args.get(k) for k in ("group", "having", "limit", "with_")):
        return None
    if distinct is not None and distinct.args.get("on") and said is None:
        keys = list(distinct.args["on"].expressions)
        ordered = [] if order is None else list(order.expressions)
        names = {o.this.sql("spark", normalize=True) for o in ordered[: len(keys)]}
        if {k.sql("spark", normalize=True) for k in keys} != names:
            return None
        if len(ordered) != len(keys) + 1 or not ordered[-1].args.get("desc"):
            return None
        return keys, ordered[-1].this
    if said is None or distinct is not None or order is not None:
        return None
    window = equals_one(said.this, named_windows(tree))
    if window is None or window.args.get("spec") or isinstance(window.this, exp.DenseRank):
        return None
    ordered = list(window.args["order"].expressions) if window.args.get("order") else []
    if len(ordered) != 1 or not ordered[0].args.get("desc"):
        return None
    return list(window.args.get("partition_by") or ()), ordered[0].this


def _reads(condition: "exp.Expr", alias: str) -> bool:
    from sqlglot import exp

    return any(c.table == alias for c in condition.find_all(exp.Column))


def tells_rows(
    keys: "Sequence[exp.Expr | None]",
    equal: "Mapping[exp.Expr, exp.Expr]",
    scope: Scope,
    alias: str,
) -> bool:
    """Whether a key of each relation is among some columns, and nothing else of the stream called
    `alias` than what is `equal` to the relations' columns."""
    from sqlglot import exp

    columns = [k for k in keys if isinstance(k, exp.Column)]
    if len(columns) < len(keys) or any(k.table == alias and k not in equal for k in columns):
        return False
    own = {(k.table, k.name) for k in columns if k.table != alias}
    return all(
        any({(a, c) for c in key} <= own for key in t.keys)
        for a, t in scope.tables.items()
        if a != alias
    )


def open_around(tree: "exp.Select", catalog: Catalog) -> "exp.Select":
    """SELECT … FROM r LEFT JOIN s … QUALIFY … = 1 for SELECT … FROM (SELECT …, ROW_NUMBER() … AS n
    FROM r LEFT JOIN s …) WHERE n = 1 that shows columns of it; else as it is."""
    from sqlglot import exp

    start, where = tree.args.get("from_"), tree.args.get("where")
    inside = None if start is None else start.this
    if not isinstance(inside, exp.Subquery) or not isinstance(inside.this, exp.Select):
        return tree
    inner, more = inside.this, {k for k, v in tree.args.items() if v}
    if more - {"expressions", "from_", "where"} or where is None or not is_plain(inside):
        return tree
    window = equals_one(where.this, named_windows(inner))
    if inner.args.get("qualify") or window is None or read_pairs(inner, catalog) is None:
        return tree
    named = {e.alias_or_name.lower(): e.unalias() for e in inner.expressions}
    items: list[exp.Expr] = []
    for item in tree.expressions:
        column = item.unalias()
        of = named.get(column.name.lower()) if isinstance(column, exp.Column) else None
        if of is None or isinstance(of, exp.Window) or of.is_star:
            return tree
        items.append(exp.alias_(of.copy(), item.alias_or_name, quoted=True))
    made = inner.copy()
    made.set("expressions", items)
    one = exp.EQ(this=window.copy(), expression=exp.Literal.number(1))
    made.set("qualify", exp.Qualify(this=one))
    return made
