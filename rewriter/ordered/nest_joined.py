"""LAG and the like beside static relations: of the rows of the stream that meet these."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Relation, Stream
from ontoweir.mappings.sql.read_scope import Scope
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.latest_rows import is_plain, resolve
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.joins.own_nodes import is_place, list_own, list_windows

if TYPE_CHECKING:
    from sqlglot import exp

_PLAIN = frozenset({"expressions", "from_", "joins", "where", "windows"})
_JOINED = frozenset({"this", "on", "side", "kind"})


def nest_joined(tree: "exp.Query", catalog: Catalog) -> None:
    """`FROM (SELECT *, LAG(x) OVER (…) AS w FROM s WHERE EXISTS (SELECT 1 FROM r WHERE r.id = s.k))
    AS s JOIN r ON r.id = s.k` for `LAG(s.x) OVER (…) … FROM s JOIN r ON r.id = s.k`, in place:
    where a key of each static relation is compared, so that a row meets one at most, and the
    windows are of columns of the stream. A LEFT JOIN keeps all rows.

    Args:
        tree: the query, with names as they were written.
        catalog: the tables.
    """
    from sqlglot import exp

    for select in list(tree.find_all(exp.Select)):
        windows = list_windows(select)
        if windows and _looks_at_rows(windows) and select.args.get("joins"):
            _nest(select, windows, catalog)


def _looks_at_rows(windows: "Sequence[exp.Expr]") -> bool:
    """Whether they are of rows before or after a row, or of all until then; none is of a span of
    time, or a place."""
    from sqlglot import exp

    kinds = (exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue, exp.NthValue)
    for window in windows:
        spec, call = window.args.get("spec"), window.this
        call = call.this if isinstance(call, (exp.IgnoreNulls, exp.RespectNulls)) else call
        rows = spec is not None and str(spec.args.get("kind") or "").upper() == "ROWS"
        rows |= spec is None and isinstance(call, exp.AggFunc) and bool(window.args.get("order"))
        if is_place(window) or not (isinstance(call, kinds) or rows):
            return False
    return True


def _nest(select: "exp.Select", windows: "Sequence[exp.Expr]", catalog: Catalog) -> None:
    from sqlglot import exp

    scope, start, joins = list_tables(select, catalog), select.args["from_"], select.args["joins"]
    tables = [start.this, *(j.this for j in joins)]
    first = start.this.alias_or_name
    of = {t.alias_or_name: scope.tables.get(t.alias_or_name) for t in tables}
    stream = of.get(first)
    if {k for k, v in select.args.items() if v} - _PLAIN or len(of) != len(tables):
        return
    if not isinstance(stream, Stream) or stream.versions or select.args.get("windows"):
        return
    if not all(isinstance(t, exp.Table) and is_plain(t) for t in tables):
        return
    if not all(isinstance(of[j.this.alias_or_name], Relation) for j in joins):
        return
    said = _read_joins(select, scope, joins)
    columns = [(c, resolve(scope, c)) for c in list_own(select, exp.Column)]
    if said is None or any(o is None or c.is_star for c, o in columns):
        return
    if any(isinstance(e.unalias(), exp.Star) for e in select.expressions):
        return
    read = {o[0] for w in windows for c in w.find_all(exp.Column) if (o := resolve(scope, c))}
    if read - {first}:
        return
    inside, met = said
    if not all(_is_one(of[a], a, conditions, scope) for a, conditions in met.items()):
        return
    for item in select.expressions:
        if not isinstance(item, (exp.Alias, exp.Column)):
            item.replace(exp.alias_(item.copy(), item.sql("spark"), quoted=True))
    for column, found in columns:
        assert found is not None
        column.set("table", exp.to_identifier(found[0], quoted=True))
    rows = exp.select("*").from_(start.this.copy())
    for number, window in enumerate(windows, 1):
        name = f"window {number} of rows"
        rows.select(exp.alias_(window.copy(), name, quoted=True), copy=False)
        window.replace(exp.column(name, first, quoted=True))
    there = [
        exp.Exists(this=exp.select("1").from_(table.copy()).where(*met[table.alias_or_name]))
        for table in tables[1:]
        if any(j.this is table and not j.args.get("side") for j in joins)
    ]
    if inside or there:
        rows.where(*(c.copy() for c in inside), *there, copy=False)
    start.set("this", rows.subquery(first))
    if (where := select.args.get("where")) is not None:
        left = [c.copy() for c in split_conjuncts(where.this) if not any(c is i for i in inside)]
        select.set("where", exp.Where(this=exp.and_(*left)) if left else None)


def _read_joins(
    select: "exp.Select", scope: Scope, joins: "Sequence[exp.Expr]"
) -> "tuple[list[exp.Expr], dict[str, list[exp.Expr]]] | None":
    """The conditions of WHERE on the stream alone, and those on each relation (None: others)."""
    from sqlglot import exp

    met: dict[str, list[exp.Expr]] = {j.this.alias_or_name: [] for j in joins}
    outer = set[str]()
    for join in joins:
        side, kind = (str(join.args.get(k) or "").upper() for k in ("side", "kind"))
        if {k for k, v in join.args.items() if v} - _JOINED or side not in ("", "LEFT"):
            return None
        if kind not in ("", "INNER", "CROSS", "OUTER"):
            return None
        outer |= {join.this.alias_or_name} if side else set()
    inside = list[exp.Expr]()
    where = select.args.get("where")
    parts: list[tuple[str | None, exp.Expr]] = [
        (j.this.alias_or_name, c)
        for j in joins
        if (on := j.args.get("on")) is not None
        for c in split_conjuncts(on)
    ]
    parts += [(None, c) for c in (split_conjuncts(where.this) if where is not None else ())]
    for join_of, condition in parts:
        if condition.find(exp.Query):
            return None
        found = [resolve(scope, c) for c in condition.find_all(exp.Column)]
        if any(f is None for f in found):
            return None
        named = {f[0] for f in found if f is not None} & met.keys()
        if len(named) > 1 or (join_of is not None and not named <= {join_of}):
            return None
        alias = join_of if join_of is not None else next(iter(named), None)
        if alias is None:
            inside.append(condition)
        elif alias in outer and join_of is None:
            return None
        else:
            met[alias].append(condition)
    return inside, met


def _is_one(relation: object, alias: str, conditions: "Sequence[exp.Expr]", scope: Scope) -> bool:
    """Whether a row meets one of the relation at most: a key of it equals columns of others."""
    from sqlglot import exp

    assert isinstance(relation, Relation)
    equal = set[str]()
    for condition in conditions:
        one = condition.unnest()
        if not isinstance(one, exp.EQ):
            continue
        for side, other in ((one.this, one.expression), (one.expression, one.this)):
            mine = resolve(scope, side.unnest())
            read = {f[0] for c in other.find_all(exp.Column) if (f := resolve(scope, c))}
            if mine is not None and mine[0] == alias and alias not in read:
                equal.add(mine[1])
    return any({*key} <= equal for key in relation.keys)
