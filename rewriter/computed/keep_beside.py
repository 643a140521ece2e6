"""ASOF JOIN by what static relations say of a row, as that of rows that have it among their
columns."""

from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Relation, Stream
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import Scope
from ontoweir.rewriter.computed.keep_computed import ReadRows
from ontoweir.rewriter.earlier.read_asof import is_asof
from ontoweir.rewriter.joins.absence_trees import TIME, AbsenceTrees
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.latest_rows import is_plain, resolve
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.joins.own_nodes import list_own
from ontoweir.rewriter.latest.join_latest import join_latest
from ontoweir.rewriter.subqueries.column_names import free_name

if TYPE_CHECKING:
    from sqlglot import exp


def keep_beside(
    tree: "exp.Query", catalog: Catalog, read: ReadRows
) -> "tuple[exp.Query, Catalog] | None":
    """A query whose `FROM s JOIN r ON r.id = s.id ASOF JOIN t ON t.k = r.k AND s.ts >= t.ts` is
    over a stream of the rows of s with those of r, and the catalog with that (None: there is none).

    Args:
        tree: the query, whose names are as they were written.
        catalog: the tables.
        read: makes the stream.
    """
    from sqlglot import exp

    made, before = tree.copy(), catalog
    for select in list(made.find_all(exp.Select)):
        join_latest(select, catalog)
        scope = list_tables(select, catalog)
        beside = _find_beside(select, scope)
        if beside:
            catalog = _read(select, beside, scope, catalog, read)
    return None if catalog is before else (made, catalog)


def _find_beside(select: "exp.Select", scope: Scope) -> "list[exp.Expr]":
    """The inner joins of static relations with the one stream of FROM, if an ASOF JOIN is by a
    column of theirs."""
    from sqlglot import exp

    start, joins = select.args.get("from_"), list(select.args.get("joins") or ())
    if start is None or any(item.is_star for item in select.expressions):
        return []
    if any(j.args.get("using") for j in joins):
        return []
    host = scope.tables.get(start.this.alias_or_name)
    if not is_plain(start.this) or not isinstance(host, Stream) or host.versions:
        return []
    found: dict[str, exp.Expr] = {}
    for join in joins:
        plain = not join.args.get("side") and not join.args.get("method") and is_plain(join.this)
        kind = str(join.args.get("kind") or "INNER").upper()
        table = scope.tables.get(join.this.alias_or_name)
        if plain and kind in ("INNER", "CROSS") and isinstance(table, Relation):
            found[join.this.alias_or_name] = join
    equal = [
        c
        for join in joins
        if is_asof(join) and join.args.get("on") is not None
        for c in split_conjuncts(join.args["on"])
        if isinstance(c, exp.EQ)
    ]
    of = [resolve(scope, side) for c in equal for side in (c.this, c.expression)]
    return list(found.values()) if any(o is not None and o[0] in found for o in of) else []


def _read(
    select: "exp.Select",
    beside: "list[exp.Expr]",
    scope: Scope,
    catalog: Catalog,
    read: ReadRows,
) -> Catalog:
    """Let a SELECT be over the rows with what is beside them, in place."""
    from sqlglot import exp

    start = select.args["from_"]
    host, aliases = start.this.alias_or_name, {j.this.alias_or_name for j in beside}
    stream = scope.tables[host]
    assert isinstance(stream, Stream)
    inside = {
        c.table.lower()
        for j in beside
        if j.args.get("on") is not None
        for c in list(j.args["on"].find_all(exp.Column))
    }
    if not inside <= {a.lower() for a in (host, *aliases)}:
        return catalog
    columns = [c for c in list_own(select, exp.Column) if not _is_within(c, beside)]
    used = [of for c in columns if (of := resolve(scope, c)) is not None]
    names = {of: of[1] for of in used if of[0] == host and of[1] != stream.timestamp}
    for of in dict.fromkeys(o for o in used if o[0] in aliases):
        names[of] = free_name(f"{of[0]}.{of[1]}", list(names.values()))
    time = f"{TIME} 0"
    shown = [
        exp.alias_(exp.column(column, alias, quoted=True), name, quoted=True)
        for (alias, column), name in names.items()
    ]
    stamp = exp.column(stream.timestamp, host, quoted=True)
    rows = exp.Select(expressions=[*shown, exp.alias_(stamp, time, quoted=True)])
    rows.set("from_", start.copy())
    rows.set("joins", [j.copy() for j in beside])
    trees = AbsenceTrees((rows,), (*names.values(), time), (time,), (), (), True, line_of(select))
    (made, _), catalog = read(trees, catalog, f"{stream.name} with {', '.join(sorted(aliases))}")
    for item in list(select.expressions):
        if isinstance(item, exp.Column):
            item.replace(exp.alias_(item.copy(), item.name, quoted=True))
    for column in [c for c in list_own(select, exp.Column) if not _is_within(c, beside)]:
        own = resolve(scope, column)
        if own is not None and own[0] in (host, *aliases):
            name = names.get(own, catalog.streams[made].timestamp)
            column.replace(exp.column(name, host, quoted=True))
    select.set("joins", [j for j in select.args["joins"] if not any(j is b for b in beside)])
    alias = exp.TableAlias(this=exp.to_identifier(host, quoted=True))
    start.set("this", exp.Table(this=exp.to_identifier(made, quoted=True), alias=alias))
    return catalog


def _is_within(column: "exp.Expr", joins: "list[exp.Expr]") -> bool:
    from sqlglot import exp

    return any(column.find_ancestor(exp.Join) is j for j in joins)
